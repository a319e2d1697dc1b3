//! The numbers of one trial.
//!
//! Must not know: how they were taken, or where they are stored. Times are integers in
//! microseconds; an unknown is `None`, never 0.

use super::{MilliRate, StatementKind};

/// How a trial ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrialStatus {
    /// The whole window was measured.
    Done,
    /// It could not be measured; one sentence says why.
    Failed {
        /// Why, as the server or the system said it.
        reason: String,
    },
    /// The user stopped it.
    Interrupted,
}

/// What one trial measured. Counts and times cover the measured window only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measurement {
    /// How it ended; the figures of a trial that is not done are never published.
    pub status: TrialStatus,
    /// Length of the warm-up; `None` where the load did not begin, or the engine does not say.
    pub warmup_us: Option<u64>,
    /// Whether it ended because the rate was level; `None` where its length was fixed.
    pub warmup_level: Option<bool>,
    /// Length of the measured window as the clock saw it.
    pub measured_us: u64,
    /// Events that began in the window and ended well.
    pub events: u64,
    /// Statements that the server answered, BEGIN and COMMIT included, retries excluded.
    pub queries: u64,
    /// Of them, those that returned a result set.
    pub queries_read: u64,
    /// Of them, those that changed rows.
    pub queries_write: u64,
    /// Of them, the rest: BEGIN, COMMIT, an UPDATE that changed nothing.
    pub queries_other: u64,
    /// Statements answered within events that were rolled back and tried again.
    pub queries_retried: u64,
    /// Errors by server code.
    pub errors: Vec<ErrorCount>,
    /// Connections that were lost and replaced.
    pub reconnects: u64,
    /// Events still open when the drain limit passed.
    pub events_unfinished: u64,
    /// Age of the oldest of them.
    pub oldest_unfinished_us: Option<u64>,
    /// Response time of events: from the intended start to the last reply.
    pub latency: Option<LatencySummary>,
    /// Service time of the same events: from the real start to the last reply.
    pub service: Option<LatencySummary>,
    /// What an open loop asked for; `None` in a closed loop.
    pub pace: Option<Pace>,
    /// One row per statement kind that was sent.
    pub statements: Vec<StatementStats>,
    /// One row per second of the window.
    pub intervals: Vec<Interval>,
    /// Processor time of the load threads in the window.
    pub client_cpu_us: Option<u64>,
    /// Of them, that of the load thread that took most.
    pub client_cpu_max_us: Option<u64>,
    /// How long load threads were ready to run in the window and waited for a processor.
    pub client_run_delay_us: Option<u64>,
    /// How late a timer of a load thread fired, 99th percentile: how long a reply may have lain
    /// unread.
    pub timer_lateness_p99_us: Option<u64>,
    /// The same, the worst case.
    pub timer_lateness_max_us: Option<u64>,
    /// What the load threads can drive of this workload, by the machine's last calibration;
    /// `None` where none was made for it.
    pub client_ceiling_qps: Option<MilliRate>,
    /// Whether the client was what limited the rate; `None` where that is not known.
    pub client_bound: Option<bool>,
    /// Number of load threads.
    pub load_threads: u32,
}

impl Measurement {
    /// Whether an open loop's rate was met; `None` in a closed loop, and where nothing was due.
    pub fn rate_met(&self) -> Option<bool> {
        let due = self.pace.map(|pace| pace.events_due).filter(|due| *due > 0)?;
        Some(u128::from(self.events) * 100 >= u128::from(due) * Pace::MET_PERCENT)
    }
}

/// What the schedule of an open loop held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Events that were due in the window.
    pub events_due: u64,
    /// Of them, those that no connection was free to start: the backlog was full, or the
    /// window ended before their turn came.
    pub events_dropped: u64,
}

impl Pace {
    /// A rate is met when at least this share of the events that were due ended well.
    pub const MET_PERCENT: u128 = 99;
}

/// How often a server error was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorCount {
    /// The server's error code; 0 for a lost connection.
    pub code: u16,
    /// How often.
    pub count: u64,
    /// The first message of that code.
    pub message: String,
    /// From the start of the window to the first and the last of them, microseconds; `None` where
    /// it is not known.
    pub span_us: Option<(u64, u64)>,
}

impl ErrorCount {
    /// Server errors after which an event is rolled back and tried again, as sysbench tries it:
    /// deadlock, lock wait time-out, record changed since last read.
    pub const RETRIED: [u16; 3] = [1213, 1205, 1020];

    /// What servers refuse only connections with: too many, access denied, the host is blocked or
    /// not allowed, too many of this user. No event is under way then.
    const CONNECTING: [u16; 5] = [1040, 1045, 1129, 1130, 1203];

    /// The code of errors after which an event was tried again, where it is not known which of
    /// [`Self::RETRIED`] each of them was. No server has it.
    pub const NOT_TOLD_APART: u16 = u16::MAX;

    /// Whether each of these errors ended its event, which then counts nowhere.
    pub fn ends_events(&self) -> bool {
        let goes_on = Self::RETRIED.iter().chain(&Self::CONNECTING).any(|code| *code == self.code);
        !goes_on && self.code != Self::NOT_TOLD_APART
    }
}

/// A latency distribution in seven numbers, microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatencySummary {
    /// Number of samples.
    pub count: u64,
    /// Smallest.
    pub min_us: u64,
    /// Arithmetic mean.
    pub mean_us: u64,
    /// Median.
    pub p50_us: u64,
    /// 95th percentile.
    pub p95_us: u64,
    /// 99th percentile.
    pub p99_us: u64,
    /// Largest.
    pub max_us: u64,
}

/// Count and latency of one statement kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementStats {
    /// Which statement.
    pub kind: StatementKind,
    /// Answered without error.
    pub count: u64,
    /// Answered with an error.
    pub errors: u64,
    /// Service time, from send to the last byte of the reply.
    pub latency: Option<LatencySummary>,
}

/// One second of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interval {
    /// From the start of the measured window to the end of this interval.
    pub elapsed_us: u64,
    /// Length of this interval.
    pub length_us: u64,
    /// Events that ended in it.
    pub events: u64,
    /// Statements answered in it.
    pub queries: u64,
    /// Errors in it.
    pub errors: u64,
    /// 95th percentile of the events that ended in it.
    pub p95_us: Option<u64>,
}
