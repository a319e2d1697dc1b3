//! What a reader is told of a run, whole or only what changed; FORMAT.md lists it.
//!
//! Must not know: how it was found out, how it travels.

use serde::Serialize;

/// All of it: `/state.json`, and the first event of every stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Snapshot {
    pub(super) run: String,
    /// Where its results are kept.
    pub(super) directory: String,
    pub(super) title: String,
    pub(super) rehearsal_factor: Option<u64>,
    pub(super) started_unix_ms: u64,
    pub(super) specs: Vec<WireSpec>,
    pub(super) scenarios: Vec<WireScenario>,
    pub(super) cells: Vec<WireCell>,
    pub(super) now: Now,
    pub(super) seconds: Vec<WireSecond>,
    pub(super) log: Vec<WireLine>,
}

/// What is not the same any more: cells by their place, seconds and lines that are new.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Change<'a> {
    pub(super) cells: Vec<ChangedCell<'a>>,
    pub(super) now: &'a Now,
    pub(super) seconds: &'a [WireSecond],
    pub(super) log: &'a [WireLine],
}

/// A cell that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ChangedCell<'a> {
    /// Its place in [`Snapshot::cells`].
    pub(super) index: usize,
    pub(super) cell: &'a WireCell,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct WireSpec {
    pub(super) id: String,
    pub(super) cpu: u32,
    pub(super) memory_bytes: u64,
    pub(super) skipped: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct WireScenario {
    pub(super) id: String,
    pub(super) title: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct WireCell {
    pub(super) spec: String,
    pub(super) scenario: String,
    pub(super) concurrency: u32,
    pub(super) state: CellState,
    /// Trials that the plan has of it, and those that were measured.
    pub(super) trials: u32,
    pub(super) measured: u32,
    /// The median of those.
    pub(super) qps_milli: Option<u64>,
    /// Of the last of those.
    pub(super) p95_us: Option<u64>,
    /// The highest rate of its scenario on its spec, so far.
    pub(super) is_peak: bool,
    /// Why it failed, or was refused.
    pub(super) reason: Option<String>,
}

/// What became of a cell so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CellState {
    Waiting,
    Running,
    Done,
    Failed,
    /// Measured, and not of the class of the matrix.
    Refused,
    /// Its ladder fell before it came to it.
    LeftOut,
}

/// Where the run is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(super) struct Now {
    pub(super) gone_ms: u64,
    pub(super) left_ms: Option<u64>,
    pub(super) left_is_bound: bool,
    pub(super) trials: u64,
    pub(super) ended: u64,
    pub(super) failed: u64,
    /// What is under way where it is no trial.
    pub(super) step: String,
    pub(super) trial: Option<WireTrial>,
    /// Set when the run is over.
    pub(super) outcome: Option<&'static str>,
    pub(super) reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct WireTrial {
    pub(super) number: u64,
    pub(super) spec: String,
    pub(super) scenario: String,
    pub(super) concurrency: u32,
    pub(super) repetition: u32,
    pub(super) phase: &'static str,
    /// How long it has been in that phase, and how long the phase takes, where that is known.
    pub(super) phase_ms: u64,
    pub(super) phase_of_ms: Option<u64>,
    pub(super) sessions: u32,
    pub(super) errors: u64,
    pub(super) qps_milli: Option<u64>,
    pub(super) tps_milli: Option<u64>,
    pub(super) p95_us: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct WireSecond {
    /// From 1, for each second that was measured.
    pub(super) number: u64,
    pub(super) gone_ms: u64,
    pub(super) trial: u64,
    pub(super) qps_milli: Option<u64>,
    pub(super) p95_us: Option<u64>,
    pub(super) errors: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct WireLine {
    /// From 1.
    pub(super) number: u64,
    pub(super) gone_ms: u64,
    pub(super) kind: LineKind,
    pub(super) words: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LineKind {
    Step,
    Notice,
    Warning,
    Done,
    Failed,
}

impl Snapshot {
    /// What a reader of the older state must be told.
    pub(super) fn since<'a>(&'a self, old: &Self) -> Change<'a> {
        let cells = self.cells.iter().zip(&old.cells).enumerate();
        let changed = cells.filter(|(_, (new, old))| new != old);
        let last = |number: Option<u64>| number.unwrap_or(0);
        let second = last(old.seconds.last().map(|second| second.number));
        let line = last(old.log.last().map(|line| line.number));
        Change {
            cells: changed.map(|(index, (cell, _))| ChangedCell { index, cell }).collect(),
            now: &self.now,
            seconds: &self.seconds[self.seconds.partition_point(|of| of.number <= second)..],
            log: &self.log[self.log.partition_point(|of| of.number <= line)..],
        }
    }
}

/// As it travels. `</` cannot end the script of a page that holds it.
pub(super) fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("plain fields always serialise");
    text.replace('<', "\\u003c")
}
