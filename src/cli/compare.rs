//! `gridbench diff`, `history` and `audit`, exactly as typed.
//!
//! Must not know: what any of it does.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `gridbench diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The run (or baseline) that is held up
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The baseline (or run) that it is held against; without it, the one its matrix names
    #[arg(value_name = "BASELINE")]
    pub baseline: Option<String>,
    /// A difference of at most this many percent is none: 5, or NAME=5 for one scenario, one spec
    /// or SCENARIO/SPEC; repeat. Without a general one it is 5
    #[arg(long, value_name = "[NAME=]PERCENT")]
    pub threshold: Vec<String>,
    /// A difference no larger than this is noise: percent, or an A/A run (`run --aa`) that found it
    #[arg(long, value_name = "PERCENT|RUN")]
    pub noise: Option<String>,
    /// What of the environment is meant to differ, for example server.version, or server for all
    /// of it; repeat
    #[arg(long, value_name = "NAME")]
    pub across: Vec<String>,
    /// Which verdicts end with exit code 4
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [FailOn::Regressed])]
    pub fail_on: Vec<FailOn>,
    /// How to print the comparison
    #[arg(long, value_enum, default_value_t = DiffFormat::Table)]
    pub format: DiffFormat,
    /// Write a page of the comparison, too: old and new rates and times of each cell, their change
    /// and the verdict; the file's name ends in .md or .html
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// The page's template; without it, comparison, which is built in
    #[arg(long, value_name = "NAME|FILE", requires = "page")]
    pub template: Option<String>,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
}

/// How a comparison is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// Aligned columns.
    Table,
    /// A Markdown table.
    Md,
    /// A row per cell.
    Csv,
    /// One object.
    Json,
    /// JUnit's XML: a test case per cell, for a build server.
    Junit,
}

/// What `diff` fails on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A cell is slower, beyond threshold and chance.
    Regressed,
    /// The numbers of a cell carry no verdict.
    Inconclusive,
    /// A cell has a number on one side only.
    Missing,
    /// The numbers of a cell do not mean the same thing.
    NotComparable,
}

/// `gridbench history`.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// The matrix: its file, or its name as the runs keep it
    #[arg(value_name = "MATRIX")]
    pub matrix: String,
    /// How to print the history
    #[arg(long, value_enum, default_value_t = HistoryFormat::Table)]
    pub format: HistoryFormat,
    /// Exit with 4 where the newest run shows for the first time that a cell became slower
    #[arg(long)]
    pub fail_on_change: bool,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
}

/// How a history is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HistoryFormat {
    /// Aligned columns.
    Table,
    /// Markdown tables.
    Md,
    /// A row per cell and run.
    Csv,
    /// One object.
    Json,
}

/// `gridbench audit`.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// A run, a baseline, or a set of baselines, whose tables are held against each other too
    #[arg(value_name = "RUN|BASELINE")]
    pub source: String,
    /// No round trip between client and server is taken to be shorter
    #[arg(long, value_name = "TIME", default_value = "100us")]
    pub rtt_floor: String,
    /// What the client's network is taken to carry in a second
    #[arg(long, value_name = "BITS", default_value = "10Gbit")]
    pub bandwidth: String,
    /// How to print the findings
    #[arg(long, value_enum, default_value_t = AuditFormat::Table)]
    pub format: AuditFormat,
    /// Exit with 4 where something is found
    #[arg(long)]
    pub fail_on_findings: bool,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AuditFormat {
    /// Under each sentence the figures that it is about.
    Table,
    /// A Markdown table, with the sentences below it.
    Md,
    /// One object.
    Json,
}
