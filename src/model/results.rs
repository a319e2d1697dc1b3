//! Results as a page sees them: a run or a baseline, one shape for both.
//!
//! Must not know: CSV, JSON, or templates.

use std::collections::{BTreeMap, BTreeSet};

use super::{DatasetClass, Protocol, Rehearsal, Scenario, ScenarioId, Spec, SpecId};

/// A rate in thousandths per second: 44613.74 QPS is `MilliRate(44_613_740)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MilliRate(pub u64);

impl MilliRate {
    /// `count` in `elapsed_us`, rounded to the nearest thousandth; `None` for an empty window.
    pub fn of(count: u64, elapsed_us: u64) -> Option<Self> {
        let scaled = u128::from(count) * 1_000_000_000 + u128::from(elapsed_us / 2);
        let rate = scaled.checked_div(u128::from(elapsed_us))?;
        u64::try_from(rate).ok().map(Self)
    }

    /// Per second.
    pub fn per_second(self) -> f64 {
        self.0 as f64 / 1_000.0
    }
}

/// Where results come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultSource {
    /// Printed by somebody; how exactly it was measured is not known.
    Published {
        /// Who and where.
        origin: String,
        /// `YYYY-MM-DD`.
        date: String,
    },
    /// Measured by gridbench.
    Measured {
        /// The run's directory name.
        run: String,
        /// `YYYY-MM-DD`.
        date: String,
        /// `@@version` of each server that was measured, distinct.
        servers: Vec<String>,
        /// Whether gridbench ran a server itself: then client and server shared one machine.
        shared_machine: bool,
        /// gridbench's version that measured.
        tool_version: String,
        /// What drove the load: `native`, or the other program with its version.
        engine: String,
        /// Set when it is a rehearsal: then every page and diff says so.
        rehearsal: Option<Rehearsal>,
    },
}

/// Texts by dotted names.
pub type Facts = BTreeMap<String, String>;

/// What is not the same in two sets of facts, by name: `server.version` with
/// ``server.version `8.0` against `9.7` ``.
pub fn fact_differences<'a>(ours: &'a Facts, theirs: &'a Facts) -> Vec<(&'a str, String)> {
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let value = |facts: &Facts, name: &str| {
        facts.get(name).map_or_else(|| "absent".to_owned(), |value| format!("`{value}`"))
    };
    let words =
        |name: &str| format!("{name} {} against {}", value(ours, name), value(theirs, name));
    let differs = names.into_iter().filter(|name| ours.get(*name) != theirs.get(*name));
    differs.map(|name| (name.as_str(), words(name))).collect()
}

/// A table of results with everything that a page needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultSet {
    /// `tdsql-c-2025-12/full-cache`, or a run's directory name.
    pub name: String,
    /// The page's title.
    pub title: String,
    /// Name of the layout that renders it.
    pub template: String,
    /// What the page claims about data and cache.
    pub class: DatasetClass,
    /// Where the numbers come from.
    pub source: ResultSource,
    /// How each cell was measured; `None` for published numbers.
    pub protocol: Option<Protocol>,
    /// For each spec that was reached, what two measurements must have in common to be compared,
    /// as `server.version = 8.0.36`; empty for published numbers.
    pub environment: BTreeMap<SpecId, Facts>,
    /// In an A/A run: the largest difference that it found between equal things, in millionths.
    pub noise_ppm: Option<u64>,
    /// In the order of the page's tables.
    pub scenarios: Vec<Scenario>,
    /// In the order of the page's rows.
    pub specs: Vec<Spec>,
    /// At most one published cell per spec and scenario where `publish` is the peak; every
    /// level otherwise. By scenario, then spec, then concurrency.
    pub cells: Vec<ResultCell>,
}

/// One published number with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultCell {
    /// Which spec.
    pub spec: SpecId,
    /// Which scenario.
    pub scenario: ScenarioId,
    /// Connections; `None` where a cell has no number (failed, or not measured).
    pub concurrency: Option<u32>,
    /// Rows per table, as the page prints it.
    pub table_size: u64,
    /// Number of tables, as the page prints it.
    pub tables: u32,
    /// Statements per second; `None` where there is no number.
    pub qps: Option<MilliRate>,
    /// Events per second.
    pub tps: Option<MilliRate>,
    /// 95th percentile of events' response time.
    pub p95_us: Option<u64>,
    /// 99th percentile of it.
    pub p99_us: Option<u64>,
    /// Trials behind the number; 1 for a published one.
    pub trials: u32,
    /// The QPS of each of them in the order of repetition; empty for a published number.
    pub values: Vec<MilliRate>,
    /// Why there is no number, or what is doubtful about it.
    pub note: Option<String>,
}

impl ResultCell {
    /// How the note begins of a cell whose data and cache are not of its class.
    pub fn refusal(class: DatasetClass) -> String {
        format!("not {}: ", class.name())
    }

    /// Whether it was measured and has no number because it is not of this class.
    pub fn is_refused(&self, class: DatasetClass) -> bool {
        let begins = |note: &String| note.starts_with(&Self::refusal(class));
        self.qps.is_none() && self.note.as_ref().is_some_and(begins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_rounded_to_thousandths() {
        assert_eq!(MilliRate::of(1, 3_000_000), Some(MilliRate(333)));
        assert_eq!(MilliRate::of(2, 3_000_000), Some(MilliRate(667)));
        assert_eq!(MilliRate::of(5, 0), None);
    }
}
