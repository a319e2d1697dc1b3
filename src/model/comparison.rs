//! Two result sets beside each other.
//!
//! Must not know: how either was measured or stored.

use super::{MilliRate, ScenarioId, SpecId};

/// What a comparison says of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Faster than the baseline by more than the threshold.
    Improved,
    /// Slower than the baseline by more than the threshold.
    Regressed,
    /// No further from the baseline than the threshold.
    Within,
    /// There is a number on one side only.
    Missing,
    /// The two numbers do not mean the same thing (a rehearsal against the real one).
    NotComparable,
}

impl Verdict {
    /// The name in files and on screens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Improved => "improved",
            Self::Regressed => "regressed",
            Self::Within => "within",
            Self::Missing => "missing",
            Self::NotComparable => "not-comparable",
        }
    }
}

/// One cell of both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct CellComparison {
    /// Which spec.
    pub spec: SpecId,
    /// Which scenario.
    pub scenario: ScenarioId,
    /// Concurrency on our side and on the baseline's.
    pub concurrency: (Option<u32>, Option<u32>),
    /// QPS on our side.
    pub measured: Option<MilliRate>,
    /// QPS in the baseline.
    pub baseline: Option<MilliRate>,
    /// Measured divided by baseline.
    pub ratio: Option<f64>,
    /// What follows.
    pub verdict: Verdict,
    /// What else must be known: other dataset, other concurrency, why it is missing.
    pub note: Option<String>,
}

/// All cells, in the order of the baseline's page; ours that it lacks come last.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Name of our side.
    pub measured: String,
    /// Name of the other.
    pub baseline: String,
    /// A difference of at most this share is `Within`: 0.05 is 5 %.
    pub threshold: f64,
    /// Set when either side is a rehearsal.
    pub rehearsal: bool,
    /// The cells.
    pub cells: Vec<CellComparison>,
}
