//! The page model: everything that a template can read, and nothing else.
//!
//! These are wire types: their field names are what templates of users say, so they change
//! only with a note in the changelog. Numbers are integers with the unit in the name; the
//! filters of [`super::filters`] turn them into text. An unknown is `none`, never 0.
//!
//! Must not know: languages, layouts, or how a number is printed.

use serde::Serialize;

/// One page. Its fields are a template's top-level names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PageModel {
    /// gridbench's version that makes the page.
    pub tool_version: &'static str,
    /// Name of the results: `tdsql-c-2025-12/full-cache`, or a run's directory name.
    pub name: String,
    /// The page's title as the matrix or the baseline gives it.
    pub title: String,
    /// What the page claims about data and cache: `full-cache` or `larger-than-memory`.
    pub class: &'static str,
    /// When the numbers were published or measured: `YYYY-MM-DD`.
    pub date: String,
    /// Set when the numbers are a rehearsal's; every layout must then say so.
    pub rehearsal: Option<RehearsalPart>,
    /// Set when the numbers were printed by somebody; otherwise `measured` is.
    pub published: Option<PublishedPart>,
    /// Set when gridbench measured the numbers; otherwise `published` is.
    pub measured: Option<MeasuredPart>,
    /// The instance sizes, in the order of a table's rows.
    pub specs: Vec<SpecPart>,
    /// The tables, in the order of the page.
    pub scenarios: Vec<ScenarioPart>,
    /// What rows refer to by `note_number`, in that order.
    pub notes: Vec<NotePart>,
}

/// How a rehearsal differs from the real thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RehearsalPart {
    /// Memory, buffer pool and rows per table were divided by this.
    pub factor: u64,
}

/// Where published numbers are from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublishedPart {
    /// Who printed them, and where.
    pub origin: String,
}

/// How measured numbers came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MeasuredPart {
    /// The run's directory name.
    pub run: String,
    /// `@@version` of each server that was measured, distinct; may be empty.
    pub servers: Vec<String>,
    /// Whether gridbench ran a server itself: then client and server shared one machine, and
    /// every layout must say so.
    pub shared_machine: bool,
    /// gridbench's version that measured.
    pub tool_version: String,
    /// What drove the load: `native`, or another program with its version; every layout must
    /// name another program.
    pub engine: String,
    /// How each cell was measured; `none` where the run did not keep it.
    pub protocol: Option<ProtocolPart>,
}

/// How each cell was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProtocolPart {
    /// The measured window of a trial, milliseconds.
    pub duration_ms: u64,
    /// Load before the window, not counted, milliseconds.
    pub warmup_ms: u64,
    /// The longest that a warm-up could take to become level, where it could take longer.
    pub warmup_max_ms: Option<u64>,
    /// Trials of each cell.
    pub repeats: u32,
    /// Set where further trials were made: half of the interval's width that ended them, in
    /// millionths of the rate.
    pub until_ppm: Option<u64>,
    /// Trials of a cell at most, where further ones were made.
    pub repeats_max: Option<u32>,
    /// After how many levels below the best one a ladder ended, where it could.
    pub stop_after_falling: Option<u32>,
    /// The ladder of concurrencies, ascending; empty where each cell took the baseline's own.
    pub levels: Vec<u32>,
    /// What of the ladder the page prints: `peak` or `all`.
    pub publish: &'static str,
    /// `text` or `prepared`.
    pub statements: &'static str,
    /// How row ids were drawn: `uniform`, `special`, `gaussian`, `pareto` or `zipfian`.
    pub keys: &'static str,
    /// From which every draw followed.
    pub seed: u64,
    /// Set in an open loop: events per second over all connections of a cell, in thousandths.
    pub rate_milli: Option<u64>,
    /// Set in an open loop: `poisson` or `fixed`.
    pub arrivals: Option<&'static str>,
}

/// An instance size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpecPart {
    /// Its id in the matrix, for example `2c4g`.
    pub id: String,
    /// Processor cores.
    pub cpu: u32,
    /// Memory in bytes; 4 GB is 4,000,000,000.
    pub memory_bytes: u64,
    /// Whether another spec of the page has the same cores and memory, so that only the id
    /// tells them apart.
    pub same_size: bool,
}

/// A scenario and its table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScenarioPart {
    /// Its id in the matrix, for example `read-only-range`.
    pub id: String,
    /// What a heading calls it: `title` (its own), `access` (composed by the layout from
    /// `access` and `read_type`) or `workload` (the script's name).
    pub naming: &'static str,
    /// Its own title, if the matrix gives one.
    pub title: Option<String>,
    /// sysbench's name of the script, for example `oltp_read_only`, or the matrix's own name.
    pub workload: String,
    /// What its statements do: `read-only`, `read-write` or `write-only`.
    pub access: &'static str,
    /// `range select` or `point select`; `none` where it reads nothing.
    pub read_type: Option<&'static str>,
    /// sysbench's options as its command line spells them (`range_selects=on`), where they change
    /// what the workload sends: the two that are on or off, then any number that is not the
    /// default.
    pub options: Vec<String>,
    /// Statements that one event sends, BEGIN and COMMIT included.
    pub queries_per_event: u32,
    /// How row ids were drawn; `none` for published numbers, and for a workload of the matrix's
    /// own, whose generators say it themselves.
    pub keys: Option<&'static str>,
    /// How many scenarios, from this one on, a table of scenarios shows under one name; 0 where
    /// this one stands under the name of an earlier one.
    pub group_rows: usize,
    /// Whether another scenario of the page has the same name and read type, so that only the
    /// id tells them apart.
    pub same_name: bool,
    /// The rows of its table, one or more for each spec.
    pub rows: Vec<RowPart>,
}

/// One row of a scenario's table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowPart {
    /// The instance size.
    pub spec: SpecPart,
    /// Connections; `none` where there is no number.
    pub concurrency: Option<u32>,
    /// Rows per table of the dataset; `none` where the results lack the cell, or its workload
    /// touches no such table.
    pub table_size: Option<u64>,
    /// Number of the dataset's tables; `none` as above.
    pub tables: Option<u32>,
    /// The workload's own tables, in the order of the matrix.
    pub own_tables: Vec<OwnTablePart>,
    /// Statements per second, in thousandths; `none` where there is no number.
    pub qps_milli: Option<u64>,
    /// Events per second, in thousandths; `none` where it is not known.
    pub tps_milli: Option<u64>,
    /// 95th percentile of events' response time, microseconds; `none` where it is not known.
    pub p95_us: Option<u64>,
    /// 99th percentile of it.
    pub p99_us: Option<u64>,
    /// Trials behind the number; 0 where the results lack the cell.
    pub trials: u32,
    /// Which of the page's notes belongs to the row, from 1; `none` where there is none.
    pub note_number: Option<usize>,
}

/// A table of a workload's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OwnTablePart {
    /// Its name.
    pub name: String,
    /// Rows in it.
    pub rows: u64,
}

/// A footnote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotePart {
    /// From 1.
    pub number: usize,
    /// What it says; `none` where the results only lack a number, which a layout says in its
    /// own language.
    pub text: Option<String>,
}
