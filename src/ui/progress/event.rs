//! What happens in a run, as plain data, in the order in which it happens.
//!
//! Must not know: who shows it, the clock.

use std::time::Duration;

use crate::model::{
    Bytes, CellId, Interval, Measurement, MilliRate, ScenarioId, SpecId, TrialStatus, counted,
    grouped,
};

/// A fact of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEvent {
    /// The run begins, or goes on.
    Started(Box<Outline>),
    /// The server of a spec is about to be started, and its dataset made.
    SpecStarted {
        /// Which spec.
        spec: SpecId,
    },
    /// A step that is under way until the next fact.
    Step {
        /// Which, of what.
        words: String,
    },
    /// How far the dataset of a spec has come.
    Loading(LoadingRows),
    /// A sentence that stays.
    Said {
        /// How much it matters.
        level: Level,
        /// It.
        words: String,
    },
    /// A trial begins: its connections are about to be made.
    TrialStarted {
        /// Which cell.
        cell: CellId,
        /// From 1.
        repetition: u32,
    },
    /// So many connections of the trial stand.
    Connecting {
        /// How many stand.
        sessions: u32,
        /// How many there will be.
        concurrency: u32,
    },
    /// The trial has come to a phase.
    Phase(TrialPhase),
    /// A second of the measured window is over.
    Second(SecondFigures),
    /// A trial is over, and on disk.
    TrialEnded {
        /// Which cell.
        cell: CellId,
        /// From 1.
        repetition: u32,
        /// How.
        ending: TrialEnding,
    },
    /// Trials that will not be measured: the ladder fell before it came to them.
    LeftOut {
        /// The cell of each.
        cells: Vec<CellId>,
    },
    /// What was measured of a scenario on a spec is not of the class that the matrix claims.
    Refused {
        /// Which spec.
        spec: SpecId,
        /// Which scenario.
        scenario: ScenarioId,
        /// Why.
        reason: String,
    },
    /// The run can be watched.
    Serving {
        /// Where.
        url: String,
        /// What proves that somebody may stop it.
        stop_token: String,
    },
    /// The run is over; nothing follows.
    Ended(RunEnding),
}

/// What a run is about to do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    /// The run's name.
    pub run: String,
    /// Where its results are kept.
    pub directory: String,
    /// The page's title.
    pub title: String,
    /// By what memory and data are divided, in a rehearsal.
    pub rehearsal: Option<u64>,
    /// In the matrix's order.
    pub specs: Vec<OutlineSpec>,
    /// In the matrix's order, with the title that the matrix gives.
    pub scenarios: Vec<(ScenarioId, Option<String>)>,
    /// In the plan's order, those of skipped specs left out.
    pub cells: Vec<OutlineCell>,
    /// Trials that are to be measured now.
    pub waiting: u64,
    /// Specs that they are of.
    pub specs_waiting: u64,
    /// Load before the window of each.
    pub warmup: Duration,
    /// The window of each.
    pub duration: Duration,
}

/// A spec of an outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineSpec {
    /// Its name.
    pub id: SpecId,
    /// Processor cores.
    pub cpu: u32,
    /// Memory.
    pub memory: Bytes,
    /// Why it is not measured here.
    pub skipped: Option<String>,
}

/// A cell of an outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineCell {
    /// Which.
    pub id: CellId,
    /// Trials that the plan has of it.
    pub trials: u32,
    /// The rates of those that were measured before, when the run was cut short.
    pub done: Vec<MilliRate>,
}

/// How much a sentence matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Good to know.
    Notice,
    /// Something went wrong, or may.
    Warning,
}

/// How far the dataset of a spec has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadingRows {
    /// Which spec.
    pub spec: String,
    /// What is under way.
    pub stage: String,
    /// Rows that are in.
    pub rows_done: u64,
    /// Those of them that were found there.
    pub rows_found: u64,
    /// Rows of the whole dataset.
    pub rows_total: u64,
    /// Bytes that were sent for the others.
    pub bytes_sent: u64,
}

/// The phases of a trial that take time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialPhase {
    /// Connections are made.
    Connecting,
    /// Load that is not counted.
    WarmingUp,
    /// Load that is counted.
    Measuring,
    /// What is open is waited for.
    Draining,
}

impl TrialPhase {
    /// As people say it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::WarmingUp => "warming up",
            Self::Measuring => "measuring",
            Self::Draining => "draining",
        }
    }
}

/// A second of a measured window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecondFigures {
    /// Which one, from 1.
    pub second: u64,
    /// Statements per second.
    pub qps: Option<MilliRate>,
    /// Events per second.
    pub tps: Option<MilliRate>,
    /// 95th percentile of the events that ended in it.
    pub p95_us: Option<u64>,
    /// Errors in it.
    pub errors: u64,
}

impl From<&Interval> for SecondFigures {
    fn from(interval: &Interval) -> Self {
        Self {
            second: (interval.elapsed_us + 500_000) / 1_000_000,
            qps: MilliRate::of(interval.queries, interval.length_us),
            tps: MilliRate::of(interval.events, interval.length_us),
            p95_us: interval.p95_us,
            errors: interval.errors,
        }
    }
}

/// How a trial ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialEnding {
    /// Whether it was measured.
    pub status: TrialStatus,
    /// Statements per second.
    pub qps: Option<MilliRate>,
    /// Events per second.
    pub tps: Option<MilliRate>,
    /// 95th percentile of response time.
    pub p95_us: Option<u64>,
    /// Errors of all codes.
    pub errors: u64,
    /// What a reader must know before he believes the figures.
    pub doubts: Vec<String>,
}

impl From<&Measurement> for TrialEnding {
    fn from(measurement: &Measurement) -> Self {
        let window = measurement.measured_us;
        Self {
            status: measurement.status.clone(),
            qps: MilliRate::of(measurement.queries, window),
            tps: MilliRate::of(measurement.events, window),
            p95_us: measurement.latency.map(|latency| latency.p95_us),
            errors: measurement.errors.iter().map(|error| error.count).sum(),
            doubts: doubts_of(measurement),
        }
    }
}

fn doubts_of(measurement: &Measurement) -> Vec<String> {
    let mut doubts = Vec::new();
    if measurement.client_bound == Some(true) {
        doubts.push("client-bound".to_owned());
    }
    if let (Some(false), Some(pace)) = (measurement.rate_met(), measurement.pace) {
        let percent = u128::from(measurement.events) * 100 / u128::from(pace.events_due.max(1));
        let (due, dropped) = (counted(pace.events_due, "event"), grouped(pace.events_dropped));
        doubts.push(format!("rate not met: {percent} % of {due}, {dropped} dropped"));
    }
    doubts
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnding {
    /// All of it was measured.
    Done,
    /// Some cells failed, or have no number.
    SomeFailed,
    /// The user stopped it; it can be resumed.
    Interrupted,
    /// It could not go on.
    Failed {
        /// Why.
        reason: String,
    },
}

impl RunEnding {
    /// Its name where programs read it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::SomeFailed => "some-failed",
            Self::Interrupted => "interrupted",
            Self::Failed { .. } => "failed",
        }
    }
}
