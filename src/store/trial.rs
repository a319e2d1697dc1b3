//! A trial as `cells.csv` holds it, checked.
//!
//! Must not know: files, CSV.

use crate::model::{CellId, ErrorCount, Evidence, MilliRate, TrialStatus};

use super::clock;
use super::rows::{CellRow, Status};
use super::wire::{Invalid, scenario_id, spec_id};

/// One row of `cells.csv`: what a page or a chart needs of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTrial {
    /// Unique in the run, in the order of measurement; the key of the other files.
    pub number: u64,
    /// Which cell.
    pub cell: CellId,
    /// From 1.
    pub repetition: u32,
    /// When it began (before its connections and warm-up), milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: i64,
    /// How it ended.
    pub status: TrialStatus,
    /// Statements per second; always there when the trial is done.
    pub qps: Option<MilliRate>,
    /// Events per second.
    pub tps: Option<MilliRate>,
    /// 95th percentile of events' response time.
    pub p95_us: Option<u64>,
    /// 99th percentile of it.
    pub p99_us: Option<u64>,
    /// Events that were still open when the drain ended.
    pub events_unfinished: u64,
    /// Errors by code, as `errors.csv` holds them.
    pub errors: Vec<ErrorCount>,
    /// Whether an open loop's rate was met; `None` in a closed loop.
    pub rate_met: Option<bool>,
    /// Whether the client was what limited the rate, where that is known.
    pub client_bound: Option<bool>,
    /// Whether the warm-up ended because the rate was level; `None` where its length was fixed.
    pub warmup_level: Option<bool>,
    /// Whether the rate was level over the window; `None` where it had too few whole seconds.
    pub steady: Option<bool>,
    /// Statements in the lowest whole second.
    pub qps_lowest_second: Option<MilliRate>,
    /// The 5th percentile of the whole seconds.
    pub qps_p5_second: Option<MilliRate>,
    /// What the server did meanwhile, without the seconds; `None` where nobody looked.
    pub evidence: Option<Evidence>,
}

impl TryFrom<CellRow> for StoredTrial {
    type Error = Invalid;

    fn try_from(row: CellRow) -> Result<Self, Invalid> {
        if row.status == Status::Done && row.qps_milli.is_none() {
            return Err(Invalid("a trial that is done must have a qps_milli".to_owned()));
        }
        let started_unix_ms = clock::parse_rfc3339(&row.started_utc).ok_or_else(|| {
            Invalid(format!("column started_utc: `{}` is no time", row.started_utc))
        })?;
        Ok(Self {
            number: row.trial,
            cell: CellId {
                spec: spec_id(&row.spec)?,
                scenario: scenario_id(&row.scenario)?,
                concurrency: row.concurrency,
            },
            repetition: row.repetition,
            started_unix_ms,
            status: match row.status {
                Status::Done => TrialStatus::Done,
                Status::Failed => TrialStatus::Failed { reason: row.reason },
                Status::Interrupted => TrialStatus::Interrupted,
            },
            qps: row.qps_milli.map(MilliRate),
            tps: row.tps_milli.map(MilliRate),
            p95_us: row.latency_p95_us,
            p99_us: row.latency_p99_us,
            events_unfinished: row.events_unfinished.unwrap_or(0),
            errors: Vec::new(),
            rate_met: row.rate_met,
            client_bound: row.client_bound,
            warmup_level: row.warmup_level,
            steady: row.steady,
            qps_lowest_second: row.qps_lowest_second_milli.map(MilliRate),
            qps_p5_second: row.qps_p5_second_milli.map(MilliRate),
            evidence: None,
        })
    }
}
