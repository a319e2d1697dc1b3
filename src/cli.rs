//! The command line exactly as typed.
//!
//! Must not know: what any of it does.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Measures a declared matrix of OLTP scenarios on MySQL-compatible servers and renders the
/// published page from what it measured.
#[derive(Debug, Parser)]
#[command(name = "gridbench", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done; 1 our fault or the machine's; 2 the input is wrong; \
3 some cells failed, the rest is on disk; 4 regression; 5 stale page; 130 interrupted, resumable.";

/// The subcommands: stations on the line from a matrix to a page.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what a matrix would measure: cells, dataset sizes, time, disk, and what cannot run here
    Plan(PlanArgs),
    /// Measure a matrix and keep the results
    Run(Box<RunArgs>),
    /// Render a run or a baseline as a page
    Render(RenderArgs),
    /// Hold a run against a baseline, cell by cell
    Diff(DiffArgs),
    /// List and show named results
    Baseline(BaselineArgs),
}

/// How a matrix file is read: shared by all subcommands that take one.
#[derive(Debug, Args)]
pub struct MatrixArgs {
    /// The matrix file, for example matrices/quickstart.toml
    #[arg(value_name = "MATRIX")]
    pub matrix: PathBuf,
    /// Only these cells: spec=ID, scenario=ID or concurrency=N; repeat to narrow (different
    /// keys) or widen (the same key)
    #[arg(long, value_name = "KEY=VALUE")]
    pub only: Vec<String>,
    /// Replace a value of the file, for example protocol.duration=20s
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Shrink memory and data by one factor and shorten the trials: a whole matrix in minutes
    #[arg(long)]
    pub rehearse: bool,
    /// Where each spec's server is; without it, gridbench runs servers of its own
    #[arg(long, value_name = "FILE")]
    pub targets: Option<PathBuf>,
    /// Where gridbench's own servers keep their data
    #[arg(long, value_name = "DIR", default_value = ".gridbench")]
    pub data_dir: PathBuf,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
}

/// `gridbench plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Which matrix, how.
    #[command(flatten)]
    pub matrix: MatrixArgs,
    /// How to print the plan
    #[arg(long, value_enum, default_value_t = PlanFormat::Table)]
    pub format: PlanFormat,
}

/// How a plan is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// Aligned columns.
    Table,
    /// One object.
    Json,
    /// A row per cell.
    Csv,
}

/// `gridbench run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Which matrix, how.
    #[command(flatten)]
    pub matrix: MatrixArgs,
    /// Go on with a run that was cut short; without a name, the latest of this matrix
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "latest")]
    pub resume: Option<String>,
    /// The mysqld or mariadbd to start; without it, the one that is found
    #[arg(long, value_name = "PATH")]
    pub server: Option<PathBuf>,
    /// TCP port of the managed server; without it, a free one
    #[arg(long, value_name = "PORT")]
    pub server_port: Option<u16>,
}

/// `gridbench render`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// A run (its directory or name) or a baseline such as tdsql-c-2025-12/full-cache
    #[arg(value_name = "RUN|BASELINE")]
    pub source: String,
    /// A built-in layout by name, or a template file of your own
    #[arg(long, value_name = "NAME|FILE")]
    pub template: Option<String>,
    /// The page's format; without it, what the file of --template or --output ends in, else md
    #[arg(long, value_enum)]
    pub format: Option<PageFormat>,
    /// Write the page to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Compare with the file named by --output instead of writing it; exit 5 if it differs
    #[arg(long, requires = "output")]
    pub check: bool,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
}

/// The formats of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PageFormat {
    /// Markdown.
    Md,
    /// One self-contained HTML file.
    Html,
}

/// `gridbench diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The run (or baseline) that is held up
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The baseline (or run) that it is held against; without it, the one its matrix names
    #[arg(value_name = "BASELINE")]
    pub baseline: Option<String>,
    /// A difference of at most this many percent is no difference
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    pub threshold: f64,
    /// How to print the comparison
    #[arg(long, value_enum, default_value_t = DiffFormat::Table)]
    pub format: DiffFormat,
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
}

/// `gridbench baseline`.
#[derive(Debug, Args)]
pub struct BaselineArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub command: BaselineCommand,
    /// Where results are kept
    #[arg(long, value_name = "DIR", default_value = "results", global = true)]
    pub out: PathBuf,
}

/// The subcommands of `gridbench baseline`.
#[derive(Debug, Subcommand)]
pub enum BaselineCommand {
    /// List all baselines, on disk and built in
    List,
    /// Show where a baseline is from, and its numbers
    Show {
        /// For example tdsql-c-2025-12 or tdsql-c-2025-12/full-cache
        name: String,
    },
}
