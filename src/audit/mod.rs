//! What results say of themselves by arithmetic alone: whether printed numbers can all be true
//! together, and be what they are called.
//!
//! A finding is no verdict of how a number came about; it names the numbers, the arithmetic and
//! what follows from it. METHODOLOGY.md lists the codes. Must not know: files, or how a finding
//! is printed.

use std::collections::BTreeMap;
use std::fmt;

use crate::model::{Bytes, ResultSet, ScenarioId, SpecId};

mod cells;
mod payload;
mod specs;
mod tables;
#[cfg(test)]
mod testing;
mod trials;
mod view;

pub use trials::audit_trials;

use view::View;

/// One thing that the arithmetic says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which check, one of [`CODES`].
    pub code: &'static str,
    /// The numbers it is about.
    pub cells: Vec<CellReference>,
    /// The arithmetic, with its figures and units.
    pub arithmetic: String,
    /// What follows.
    pub sentence: String,
}

/// Where a number stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellReference {
    /// Name of the result set: `tdsql-c-2025-12/full-cache`, or a run's directory.
    pub table: String,
    /// Which spec.
    pub spec: SpecId,
    /// Which scenario.
    pub scenario: ScenarioId,
    /// Connections, where the cell has a number.
    pub concurrency: Option<u32>,
}

/// `tdsql-c-2025-12/full-cache 88c710g read-only-range at 32`.
impl fmt::Display for CellReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.table, self.spec, self.scenario)?;
        self.concurrency.map_or(Ok(()), |level| write!(f, " at {level}"))
    }
}

/// What the arithmetic takes as given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditOptions {
    /// No round trip between client and server is shorter, microseconds. Stated, not measured.
    pub round_trip_us: u64,
    /// What the client's network carries, bits per second. Stated, not measured.
    pub bandwidth_bits: u64,
    /// What is known of the servers that were measured, by spec.
    pub servers: BTreeMap<SpecId, KnownServer>,
}

impl Default for AuditOptions {
    /// 100 us and 10 Gbit/s: both are what a client gets within one zone of a cloud, at best in
    /// the one and as a rule in the other case.
    fn default() -> Self {
        Self { round_trip_us: 100, bandwidth_bits: 10_000_000_000, servers: BTreeMap::new() }
    }
}

/// What is known of a server beyond its spec; where it is not, the published formulas stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KnownServer {
    /// Bytes of the loaded dataset, as the server counts them.
    pub data: Option<Bytes>,
    /// Its `innodb_buffer_pool_size`.
    pub buffer_pool: Option<Bytes>,
}

/// Every code, in the order of findings.
pub const CODES: &[&str] = &[
    cells::LITTLE,
    cells::BANDWIDTH,
    cells::RATIO,
    specs::ORDER,
    specs::CLASS,
    specs::REFUSED,
    specs::RANGE_ABOVE_POINT,
    tables::LARGER_FASTER,
    tables::LARGER_FASTER_SPEC,
    trials::INTERVALS,
    trials::PERCENTILES,
    trials::RETRIED,
    trials::COMMANDS,
    trials::CLIENT_BOUND,
    trials::FAILED,
];

/// Holds a table against arithmetic, and against those `beside` it that are of the same specs
/// and scenarios. Findings stand in the order of [`CODES`], then of the table's cells.
///
/// A table of the class larger-than-memory is held against cached ones beside it, not the other
/// way round, so that what two tables say together is said once. A rehearsal's numbers mean
/// nothing, and nothing is found in them.
pub fn audit(results: &ResultSet, beside: &[ResultSet], options: &AuditOptions) -> Vec<Finding> {
    let view = View { results, options };
    if view.is_rehearsal() {
        return Vec::new();
    }
    let mut findings = cells::check(&view);
    findings.extend(specs::check(&view));
    findings.extend(beside.iter().flat_map(|other| tables::check(&view, other)));
    findings
}

#[cfg(test)]
mod tests {
    use super::testing::{clean, options};
    use super::*;
    use crate::model::{DatasetClass, MilliRate, Rehearsal, ResultSource};

    #[test]
    fn a_clean_set_has_no_finding() {
        let cached = clean("s/cached", DatasetClass::FullCache);
        let large = clean("s/large", DatasetClass::LargerThanMemory);
        assert_eq!(audit(&cached, std::slice::from_ref(&large), &options()), []);
        assert_eq!(audit(&large, std::slice::from_ref(&cached), &options()), []);
    }

    #[test]
    fn a_rehearsal_has_none_whatever_it_holds() {
        let mut results = clean("s/cached", DatasetClass::FullCache);
        results.cells[0].qps = Some(MilliRate(u64::MAX / 1_000));
        assert_ne!(audit(&results, &[], &options()), []);
        results.source = ResultSource::Measured {
            run: "r".into(),
            date: "2026-01-02".into(),
            servers: Vec::new(),
            shared_machine: false,
            tool_version: "0".into(),
            engine: "native".into(),
            rehearsal: Some(Rehearsal { factor: 100 }),
        };
        assert_eq!(audit(&results, &[], &options()), []);
    }

    #[test]
    fn codes_are_distinct_and_plain() {
        let mut codes = CODES.to_vec();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), CODES.len());
        let plain = |code: &&str| code.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
        assert!(codes.iter().all(plain));
    }
}
