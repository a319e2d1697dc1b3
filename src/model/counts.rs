//! What is kept of a trial's counts: enough to hold them against each other.
//!
//! Must not know: where they are stored, or what should follow from them.

use super::{CellId, CommandCount, LatencySummary, TrialStatus};

/// The counts of one trial, as its rows hold them; an unknown is `None`, never 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialCounts {
    /// Which cell.
    pub cell: CellId,
    /// From 1.
    pub repetition: u32,
    /// How it ended.
    pub status: TrialStatus,
    /// Length of the measured window, microseconds.
    pub measured_us: Option<u64>,
    /// Events that began in the window and ended well.
    pub events: Option<u64>,
    /// Statements of those events.
    pub queries: Option<u64>,
    /// Statements of events that were rolled back and tried again, where they are told apart.
    pub queries_retried: Option<u64>,
    /// Response time of the events.
    pub latency: Option<LatencySummary>,
    /// Service time of the same events.
    pub service: Option<LatencySummary>,
    /// Length of all its seconds together, microseconds.
    pub seconds_us: u64,
    /// Statements of all its seconds together.
    pub seconds_queries: u64,
    /// Whether the client was what limited the rate, where that is known.
    pub client_bound: Option<bool>,
    /// Commands as we sent them and as the server counted them; empty where nobody looked.
    pub commands: Vec<CommandCount>,
    /// Statements that ended with an error: the server may have counted them or not.
    pub uncertain: u64,
}
