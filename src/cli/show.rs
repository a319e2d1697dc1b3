//! `gridbench show`, `completions` and `man`, exactly as typed.
//!
//! Must not know: what any of it does.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// `gridbench show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A run (its directory or name) or a baseline such as tdsql-c-2025-12/full-cache
    #[arg(value_name = "RUN|BASELINE")]
    pub source: String,
    /// Write the report of the run anew and open it in a browser, instead of printing
    #[arg(long)]
    pub open: bool,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
}

/// `gridbench completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// For which shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `gridbench man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Where the pages are written, one for each subcommand; the directory is made if it is missing
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}
