//! The command line exactly as typed.
//!
//! Must not know: what any of it does.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod calibrate;
mod check;
mod compare;
mod examples;
mod import;
mod show;
mod telling;

pub use calibrate::{CalibrateArgs, CalibrateFormat, CalibratePartArgs, CalibrateRole};
pub use check::{CheckArgs, CheckFormat};
pub use compare::{
    AuditArgs, AuditFormat, DiffArgs, DiffFormat, FailOn, HistoryArgs, HistoryFormat,
};
pub use import::{
    CsvImportArgs, FillArgs, ImportCommand, KeepArgs, PageImportArgs, SysbenchImportArgs,
};
pub use show::{CompletionsArgs, ManArgs, ShowArgs};
pub use telling::{ProgressName, TellingArgs};

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
3 some cells failed, the rest is on disk; 4 regression, or findings with --fail-on-findings or \
--fail-on-change; 5 stale page; 130 interrupted, resumable.";

/// The subcommands: stations on the line from a matrix to a page.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what a matrix would measure: cells, dataset sizes, time, disk, and what cannot run here
    #[command(after_help = examples::PLAN)]
    Plan(PlanArgs),
    /// Measure a matrix and keep the results
    #[command(after_help = examples::RUN)]
    Run(Box<RunArgs>),
    /// Look at a server before it is measured: what it is, what of it would stand in the way
    #[command(after_help = examples::CHECK)]
    Check(Box<CheckArgs>),
    /// Load the datasets of a matrix, without measuring
    #[command(after_help = examples::LOAD)]
    Load(Box<LoadArgs>),
    /// List the datasets of a matrix that gridbench loaded, and drop them with --yes
    #[command(after_help = examples::CLEAN)]
    Clean(Box<CleanArgs>),
    /// Print a run or a baseline on the terminal, with small charts
    #[command(after_help = examples::SHOW)]
    Show(ShowArgs),
    /// Render a run or a baseline as a page
    #[command(after_help = examples::RENDER)]
    Render(RenderArgs),
    /// Hold a run against a baseline, cell by cell
    #[command(after_help = examples::DIFF)]
    Diff(DiffArgs),
    /// Show what changed from run to run of a matrix, and with which run it was first seen
    #[command(after_help = examples::HISTORY)]
    History(HistoryArgs),
    /// Hold a run or a baseline against arithmetic: what its numbers say of themselves
    #[command(after_help = examples::AUDIT)]
    Audit(AuditArgs),
    /// List and show named results
    #[command(after_help = examples::BASELINE)]
    Baseline(BaselineArgs),
    /// Show what this machine's client can drive, against a server that answers at once
    #[command(after_help = examples::CALIBRATE)]
    Calibrate(CalibrateArgs),
    /// Print what a shell needs to complete commands and options
    #[command(after_help = examples::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Write the manual pages
    #[command(after_help = examples::MAN)]
    Man(ManArgs),
    /// One process of a calibration, started by it
    #[command(hide = true)]
    CalibratePart(CalibratePartArgs),
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
    /// Who drives the load; without it, what the file says, else native
    #[arg(long, value_enum)]
    pub engine: Option<EngineName>,
    /// Measure everything twice, in turns, to see how far apart two measurements of the same thing
    /// are: `diff --noise` takes that as its floor
    #[arg(long)]
    pub aa: bool,
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

/// Who drives the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// gridbench's own client.
    Native,
    /// The real sysbench, a run of it for each trial.
    Sysbench,
}

/// `gridbench plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Which matrix, how.
    #[command(flatten)]
    pub matrix: MatrixArgs,
    /// The program of engine sysbench; without it, the one on PATH
    #[arg(long, value_name = "PATH")]
    pub sysbench: Option<PathBuf>,
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
    /// Which server of our own.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Go on with --resume where server or dataset are not what they were; the results say so
    #[arg(long, requires = "resume")]
    pub accept_changes: bool,
    /// Go on where other clients are connected to a server of --targets, or replicas copy from it
    #[arg(long)]
    pub yes: bool,
    /// Drop all tables of a schema that holds something else than the dataset, after naming them
    #[arg(long)]
    pub replace: bool,
    /// The program of engine sysbench; without it, the one on PATH
    #[arg(long, value_name = "PATH")]
    pub sysbench: Option<PathBuf>,
    /// How it is told where the run is.
    #[command(flatten)]
    pub telling: TellingArgs,
}

/// Which server is started where no targets file names others.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// The mysqld or mariadbd to start; without it, the one that is found
    #[arg(long, value_name = "PATH")]
    pub server: Option<PathBuf>,
    /// TCP port of the managed server; without it, a free one
    #[arg(long, value_name = "PORT")]
    pub server_port: Option<u16>,
}

/// `gridbench load`.
#[derive(Debug, Args)]
pub struct LoadArgs {
    /// Which matrix, how.
    #[command(flatten)]
    pub matrix: MatrixArgs,
    /// Which server of our own.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Connections that load side by side, in one table or in many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub loaders: Option<u32>,
    /// Go on where other clients are connected to a server of --targets, or replicas copy from it
    #[arg(long)]
    pub yes: bool,
    /// Drop all tables of a schema that holds something else than the dataset, after naming them
    #[arg(long)]
    pub replace: bool,
}

/// `gridbench clean`.
#[derive(Debug, Args)]
pub struct CleanArgs {
    /// Which matrix, how.
    #[command(flatten)]
    pub matrix: MatrixArgs,
    /// Which server of our own.
    #[command(flatten)]
    pub server: ServerArgs,
    /// Drop what is listed
    #[arg(long)]
    pub yes: bool,
}

/// `gridbench render`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// A run (its directory or name) or a baseline such as tdsql-c-2025-12/full-cache
    #[arg(value_name = "RUN|BASELINE", required_unless_present = "into")]
    pub source: Option<String>,
    /// A built-in layout by name, or a template file of your own
    #[arg(long, value_name = "NAME|FILE")]
    pub template: Option<String>,
    /// The page's format; without it, what the file of --template or --output ends in, else md
    #[arg(long, value_enum)]
    pub format: Option<PageFormat>,
    /// Print the page model instead of a page: what a template can read, as JSON
    #[arg(long, conflicts_with_all = ["template", "format"])]
    pub model: bool,
    /// Write the page to this file instead of standard output
    #[arg(short, long, value_name = "FILE", group = "place")]
    pub output: Option<PathBuf>,
    /// Instead of a page, write tables into documents (Markdown, MDX, reStructuredText, HTML),
    /// where markers name them: <!-- gridbench:table RESULTS [scenario=ID] [template=NAME|FILE]
    /// [lang=en|zh] [caption=yes] --> and <!-- gridbench:end -->
    #[arg(long, value_name = "DOC", num_args = 1.., group = "place",
        conflicts_with_all = ["source", "template", "format", "model"])]
    pub into: Vec<PathBuf>,
    /// Compare with the files named by --output or --into instead of writing them; exit 5 if one
    /// differs
    #[arg(long, requires = "place")]
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
    /// Make a baseline of numbers that stand in files
    #[command(subcommand)]
    Import(Box<ImportCommand>),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn visible(command: &clap::Command) -> Vec<&clap::Command> {
        command.get_subcommands().filter(|sub| !sub.is_hide_set()).collect()
    }

    #[test]
    fn every_subcommand_shows_examples_that_can_be_typed() {
        let cli = Cli::command();
        let mut typed = 0;
        for subcommand in visible(&cli) {
            let help = subcommand.get_after_help().map(ToString::to_string).unwrap_or_default();
            let begin = format!("  gridbench {}", subcommand.get_name());
            let examples: Vec<&str> = help.lines().filter(|l| l.starts_with(&begin)).collect();
            assert!(!examples.is_empty(), "{}: {help}", subcommand.get_name());
            for example in examples {
                let parsed = Cli::try_parse_from(example.split_whitespace());
                assert!(parsed.is_ok(), "{example}: {:?}", parsed.err());
                typed += 1;
            }
        }
        assert!(typed > 20, "{typed}");
    }

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
