//! The report model: everything that the report of a run can say.
//!
//! Wire types, as in [`super::model`]: integers with the unit in the name, an unknown is `none`.
//! Must not know: languages, charts, or how a number is printed.

use serde::Serialize;

use super::model::{PageModel, RowPart, SpecPart};

/// A report. Its fields, and those of the page model, are a template's top-level names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportModel {
    /// The published layout's part.
    #[serde(flatten)]
    pub page: PageModel,
    /// Whether nothing speaks against publishing the numbers.
    pub may_publish: bool,
    /// What does, the gravest first; and what a reader must know all the same.
    pub reasons: Vec<ReasonPart>,
    /// How the run came about; `none` for published numbers.
    pub origin: Option<OriginPart>,
    /// Name of the baseline that the cells are held against.
    pub baseline: Option<String>,
    /// For each scenario of the page, in its order, what a table of the published layout lacks.
    pub accounts: Vec<AccountPart>,
    /// What an audit found.
    pub findings: Vec<FindingPart>,
    /// Every trial, in the order of measurement.
    pub trials: Vec<TrialPart>,
    /// Client and servers: what two measurements must have in common to be compared, first.
    pub environment: Vec<FactPart>,
}

/// Something that a reader must know before the numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReasonPart {
    /// `rehearsal`, `published`, `failed`, `refused`, `unmeasured`, `missing`, `incomplete`,
    /// `findings`, `client-bound`, `noted`, `failed-trials`, `changed` or `shared-machine`.
    pub kind: &'static str,
    /// Whether the numbers may not be published because of it.
    pub forbids: bool,
    /// How many cells, trials or findings it is about.
    pub count: usize,
    /// The words of whoever found it; empty where the kind says all.
    pub words: String,
}

/// How a run came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OriginPart {
    /// When it began: `2026-12-01T06:42:09Z`.
    pub started: String,
    /// The command line, quoted for a shell.
    pub command: String,
    /// SHA-256 of the matrix file.
    pub matrix_sha256: String,
    /// The revision of gridbench that measured, where known.
    pub tool_revision: Option<String>,
    /// Processors, processor, memory and kernel of the client's machine.
    pub host: HostPart,
    /// Whether servers and datasets are gridbench's own, on the client's machine.
    pub is_managed: bool,
}

/// The client's machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostPart {
    /// Processors that the client may use.
    pub cpus: u32,
    /// The processor's name.
    pub cpu_model: String,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Kernel release.
    pub kernel: String,
}

/// A scenario, as far as the page's table does not say it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccountPart {
    /// The scenario's id.
    pub id: String,
    /// For each row of its table, in that order.
    pub rows: Vec<AccountRowPart>,
    /// For each spec that was measured at more than one concurrency.
    pub curves: Vec<CurvePart>,
}

impl AccountPart {
    /// Whether some spec has a row for each concurrency.
    pub(super) fn is_by_level(&self) -> bool {
        self.rows.windows(2).any(|pair| pair[0].row.spec.id == pair[1].row.spec.id)
    }
}

/// A row of a table with what speaks for and against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccountRowPart {
    /// The row as the page prints it.
    #[serde(flatten)]
    pub row: RowPart,
    /// `improved`, `regressed`, `within`, `inconclusive`, `missing` or `not-comparable`; `none`
    /// without a baseline.
    pub verdict: Option<&'static str>,
    /// Statements per second in the baseline, in thousandths.
    pub baseline_qps_milli: Option<u64>,
    /// Concurrency in the baseline.
    pub baseline_concurrency: Option<u32>,
    /// Rate over the baseline's, millionths.
    pub ratio_ppm: Option<u64>,
    /// Half of the width of the rate's 95 % interval, millionths of the rate; `none` where the
    /// trials are too few to have one.
    pub half_width_ppm: Option<u64>,
    /// Response time of events, over all trials behind the number.
    pub latency: Option<LatencyPart>,
    /// Numbers of the findings about the cell.
    pub findings: Vec<usize>,
}

/// A distribution of response times, microseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LatencyPart {
    /// Median.
    pub p50_us: u64,
    /// 95th percentile.
    pub p95_us: u64,
    /// 99th percentile.
    pub p99_us: u64,
    /// 99.9th percentile.
    pub p999_us: u64,
    /// The longest.
    pub max_us: u64,
}

/// The rate of a spec over the concurrencies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CurvePart {
    /// The instance size.
    pub spec: SpecPart,
    /// In ascending order of concurrency.
    pub points: Vec<PointPart>,
}

/// The rate at one concurrency: the median of its trials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PointPart {
    /// Connections.
    pub concurrency: u32,
    /// Statements per second, in thousandths.
    pub qps_milli: u64,
    /// Whether this is the one that the page prints.
    pub is_published: bool,
}

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingPart {
    /// From 1; rows refer to it.
    pub number: usize,
    /// Which check.
    pub code: &'static str,
    /// What follows, in English.
    pub sentence: String,
    /// The arithmetic.
    pub arithmetic: String,
}

/// A trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrialPart {
    /// Its number in `cells.csv`.
    pub number: u64,
    /// The instance size's id.
    pub spec: String,
    /// The scenario's id.
    pub scenario: String,
    /// Connections.
    pub concurrency: u32,
    /// From 1.
    pub repetition: u32,
    /// `done`, `failed` or `interrupted`.
    pub status: &'static str,
    /// Why it failed; empty where it did not.
    pub reason: String,
    /// Statements per second, in thousandths.
    pub qps_milli: Option<u64>,
    /// 95th percentile of events' response time, microseconds.
    pub p95_us: Option<u64>,
    /// 99th percentile of it.
    pub p99_us: Option<u64>,
    /// Errors by code, with the first message of each.
    pub errors: Vec<ErrorPart>,
    /// The whole seconds of the window, in so many pieces that a page can show them.
    pub pieces: Vec<PiecePart>,
    /// Seconds in which the rate was below half of the trial's own: from and to, in seconds from
    /// the start of the window.
    pub stalls: Vec<StallPart>,
}

/// Errors of one code in a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorPart {
    /// The server's code; 0 for a lost connection.
    pub code: u16,
    /// How often.
    pub count: u64,
    /// The first message.
    pub message: String,
    /// From the start of the window to the first one, microseconds.
    pub first_us: Option<u64>,
    /// To the last one.
    pub last_us: Option<u64>,
}

/// Seconds in a row, by the fewest and the most statements that one of them answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PiecePart {
    /// The first of them begins there, seconds from the start of the window.
    pub from_s: usize,
    /// The last of them ends there.
    pub to_s: usize,
    /// Statements in the lowest of them.
    pub lowest: u64,
    /// In the highest.
    pub highest: u64,
}

/// Seconds in a row in which little was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StallPart {
    /// The first of them begins there, seconds from the start of the window.
    pub from_s: usize,
    /// The last of them ends there.
    pub to_s: usize,
}

/// Something of the environment, on some or all specs' servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FactPart {
    /// Its dotted name, for example `server.version`.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The specs where it is so; empty where it is so everywhere.
    pub specs: Vec<String>,
}
