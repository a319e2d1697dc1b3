//! Two result sets beside each other.
//!
//! Must not know: how either was measured or stored.

use super::{MilliRate, ScenarioId, SpecId};

/// What a comparison says of one cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Faster than the baseline, by more than the threshold and beyond what chance explains.
    Improved,
    /// Slower than the baseline, by more than the threshold and beyond what chance explains.
    Regressed,
    /// No further from the baseline than the threshold, whatever chance did.
    Within,
    /// The numbers carry no verdict: too few repeats, or too much noise.
    Inconclusive,
    /// There is a number on one side only.
    Missing,
    /// The two numbers do not mean the same thing (a rehearsal against the real one).
    NotComparable,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 6] = [
        Self::Improved,
        Self::Regressed,
        Self::Within,
        Self::Inconclusive,
        Self::Missing,
        Self::NotComparable,
    ];

    /// The name in files and on screens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Improved => "improved",
            Self::Regressed => "regressed",
            Self::Within => "within",
            Self::Inconclusive => "inconclusive",
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
    /// Trials behind the two.
    pub trials: (u32, u32),
    /// Measured divided by baseline; of two measured sets the median of the ratios of all pairs of
    /// trials (Hodges and Lehmann).
    pub ratio: Option<f64>,
    /// Where the ratio lies with 95 % confidence; `None` where the trials are too few to say.
    pub interval: Option<(f64, f64)>,
    /// The chance of a difference like this between equal things, over all cells of the comparison
    /// (Mann and Whitney; adjusted by Benjamini and Hochberg); `None` against a published number.
    pub p: Option<f64>,
    /// A difference of at most this share carries no verdict: the threshold, or the noise.
    pub floor: f64,
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
    /// A difference of at most this share is `Within`: 0.05 is 5 %. Cells may have their own.
    pub threshold: f64,
    /// The largest difference that an A/A run found between equal things, where there was one.
    pub noise: Option<f64>,
    /// Set when either side is a rehearsal.
    pub rehearsal: bool,
    /// The cells.
    pub cells: Vec<CellComparison>,
}
