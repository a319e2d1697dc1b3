//! `gridbench baseline import`, exactly as typed.
//!
//! Must not know: what any of it does.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What is imported.
#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// Saved output of sysbench 1.0 or 1.1, one or more runs in a file
    Sysbench(SysbenchImportArgs),
    /// A CSV file of any columns
    Csv(CsvImportArgs),
    /// A Markdown or HTML page in one of the published layouts
    Page(PageImportArgs),
}

/// Under which name it is kept, and what is said of it.
#[derive(Debug, Args)]
pub struct KeepArgs {
    /// The name: a set, and the table in it
    #[arg(long = "as", value_name = "SET/TABLE")]
    pub name: String,
    /// The page's title; without it, the page's own, else the name
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// When it was published, a day such as 2025-12-10; without it, the page's own date, else
    /// the files'
    #[arg(long, value_name = "DATE")]
    pub date: Option<String>,
    /// Who published it, and where; without it, the page's own words, else the files' names
    #[arg(long, value_name = "TEXT")]
    pub origin: Option<String>,
    /// What the numbers claim: full-cache or larger-than-memory; without it, what the page
    /// says, else full-cache
    #[arg(long, value_name = "CLASS")]
    pub class: Option<String>,
    /// The layout that renders it: tdsql-c-en, tdsql-c-zh, or a file that is there
    #[arg(long, value_name = "NAME|FILE", default_value = "tdsql-c-en")]
    pub template: String,
    /// A scenario that is neither in the set nor one of the published five, for example
    /// points=oltp_read_only,range_selects=off,point_selects=50; repeat for more
    #[arg(long, value_name = "ID=WORKLOAD[,OPTION=VALUE...]")]
    pub define: Vec<String>,
    /// Take the place of a table of that name
    #[arg(long)]
    pub replace: bool,
    /// Leave out what cannot be read, and say so; without it, one fault stops the import
    #[arg(long)]
    pub skip_unreadable: bool,
}

/// What the files do not say themselves. Where a file says something else than a flag, that is a
/// fault, and nobody is overruled.
#[derive(Debug, Args)]
pub struct FillArgs {
    /// The spec of all numbers, for example 2c4g; a name or column that says another is a fault
    #[arg(long, value_name = "SPEC")]
    pub spec: Option<String>,
    /// The scenario of all numbers, for example read-only-range; a name, column or text that
    /// says another is a fault
    #[arg(long, value_name = "ID")]
    pub scenario: Option<String>,
    /// The connections of all numbers; a name, column or text that says others is a fault
    #[arg(long, value_name = "N")]
    pub concurrency: Option<u32>,
    /// The tables of the dataset; a name, column or text that says others is a fault
    #[arg(long, value_name = "N")]
    pub tables: Option<u32>,
    /// The rows in each of them; a name, column or text that says others is a fault
    #[arg(long, value_name = "N")]
    pub table_size: Option<u64>,
}

/// `gridbench baseline import sysbench`.
#[derive(Debug, Args)]
pub struct SysbenchImportArgs {
    /// Files with what sysbench printed
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// What every number has.
    #[command(flatten)]
    pub fill: FillArgs,
    /// What a file's name says, for example {spec}-{scenario}-{concurrency}.txt; {tables},
    /// {table_size} and {*} (anything) may stand in it too
    #[arg(long, value_name = "PATTERN")]
    pub name_pattern: Option<String>,
    /// Take a run that was cut off before its report from its interval lines
    #[arg(long)]
    pub partial: bool,
    /// Where and how it is kept.
    #[command(flatten)]
    pub keep: KeepArgs,
}

/// `gridbench baseline import csv`.
#[derive(Debug, Args)]
pub struct CsvImportArgs {
    /// The file; its first line names the columns
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Which column is what: scenario, spec (or cpu and memory_gb), concurrency, table_size,
    /// tables, qps; for example qps=QPS,concurrency=threads
    #[arg(long, value_name = "NAME=COLUMN,...", value_delimiter = ',', required = true)]
    pub map: Vec<String>,
    /// What stands between two fields
    #[arg(long, value_name = "SIGN", default_value_t = ',')]
    pub delimiter: char,
    /// What every number has.
    #[command(flatten)]
    pub fill: FillArgs,
    /// Where and how it is kept.
    #[command(flatten)]
    pub keep: KeepArgs,
}

/// `gridbench baseline import page`.
#[derive(Debug, Args)]
pub struct PageImportArgs {
    /// A page that ends in .md or .html
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Where and how it is kept.
    #[command(flatten)]
    pub keep: KeepArgs,
}
