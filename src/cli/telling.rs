//! How a run tells where it is, exactly as typed.
//!
//! Must not know: what any of it does.

use clap::{Args, ValueEnum};

/// How a run tells where it is.
#[derive(Debug, Args)]
pub struct TellingArgs {
    /// How to tell on standard error where the run is; without it, bar on a terminal, else plain
    #[arg(long, value_enum, value_name = "MODE")]
    pub progress: Option<ProgressName>,
    /// Let the run be watched in a browser: HOST, HOST:PORT or PORT (0 takes a free one); without
    /// one, 127.0.0.1:8306. Beyond this machine only where ADDR says so
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:8306",
        value_parser = no_file)]
    pub serve: Option<String>,
}

/// What stands behind `--serve` is taken for its address, also a matrix that was meant to follow.
fn no_file(text: &str) -> Result<String, &'static str> {
    match text.contains('/') || text.ends_with(".toml") {
        true => Err("that is a file: name the matrix before --serve"),
        false => Ok(text.to_owned()),
    }
}

/// The forms in which it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProgressName {
    /// Redrawn in place; plain where there is no terminal.
    Bar,
    /// Lines: each trial as it begins and ends, and now and then where it is.
    Plain,
    /// An object a line, for programs.
    Json,
    /// Warnings alone.
    None,
}
