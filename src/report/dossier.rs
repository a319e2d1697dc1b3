//! Results with all that belongs to them: every trial, its seconds, what an audit found, how they
//! stand against a baseline. What `show` and the report of a run are made of.
//!
//! Must not know: files, languages, or how any of it is printed.

use std::collections::BTreeMap;

use crate::audit::Finding;
use crate::model::{
    CellComparison, Comparison, Interval, ResultCell, ResultSet, RunDescription, ScenarioId,
    SpecId, TrialStatus,
};
use crate::store::{StoredHistogram, StoredTrial};

/// The seconds of trials, by the trial's number.
pub type Seconds = BTreeMap<u64, Vec<Interval>>;

/// Everything that is known; published numbers have neither a description nor trials.
#[derive(Debug, Clone, Copy)]
pub struct Dossier<'a> {
    /// The tables.
    pub results: &'a ResultSet,
    /// How the run came about.
    pub description: Option<&'a RunDescription>,
    /// Every trial behind them.
    pub trials: &'a [StoredTrial],
    /// The seconds of these.
    pub seconds: &'a Seconds,
    /// The distributions of these.
    pub histograms: &'a [StoredHistogram],
    /// The cells beside their baseline, where there is one.
    pub comparison: Option<&'a Comparison>,
    /// What an audit found.
    pub findings: &'a [Finding],
}

impl<'a> Dossier<'a> {
    /// Of tables of which nothing else is known.
    pub fn bare(results: &'a ResultSet) -> Self {
        Self {
            results,
            description: None,
            trials: &[],
            seconds: const { &Seconds::new() },
            histograms: &[],
            comparison: None,
            findings: &[],
        }
    }

    /// The trials of a scenario on a spec that are done, in the order of measurement.
    pub(super) fn done(
        &self,
        spec: &'a SpecId,
        scenario: &'a ScenarioId,
    ) -> impl Iterator<Item = &'a StoredTrial> {
        self.trials.iter().filter(move |trial| {
            trial.status == TrialStatus::Done
                && trial.cell.spec == *spec
                && trial.cell.scenario == *scenario
        })
    }

    /// The trials behind a cell's number.
    pub(super) fn behind(&self, cell: &'a ResultCell) -> impl Iterator<Item = &'a StoredTrial> {
        let of_level = |trial: &&StoredTrial| Some(trial.cell.concurrency) == cell.concurrency;
        self.done(&cell.spec, &cell.scenario).filter(of_level)
    }

    /// Statements in each whole second of a trial; its last second may be shorter, and then its
    /// count says nothing.
    pub(super) fn queries_by_second(&self, trial: u64) -> Vec<u64> {
        let of_trial = self.seconds.get(&trial).into_iter().flatten();
        of_trial.filter(|second| second.length_us >= 1_000_000).map(|of| of.queries).collect()
    }

    /// The concurrencies at which a scenario was measured, ascending.
    pub(super) fn levels(&self, scenario: &ScenarioId) -> Vec<u32> {
        let trials = self.trials.iter().filter(|trial| trial.cell.scenario == *scenario);
        let mut levels: Vec<u32> = trials.map(|trial| trial.cell.concurrency).collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    /// A cell beside its baseline.
    pub(super) fn compared(&self, cell: &ResultCell) -> Option<&'a CellComparison> {
        self.comparison?.cells.iter().find(|other| {
            other.spec == cell.spec
                && other.scenario == cell.scenario
                && (other.concurrency.0.is_none() || other.concurrency.0 == cell.concurrency)
        })
    }

    /// The places in `findings` of those that are about a cell.
    pub(super) fn findings_of(&self, cell: &ResultCell) -> Vec<usize> {
        let is_about = |finding: &Finding| {
            finding.cells.iter().any(|of| {
                of.table == self.results.name
                    && of.spec == cell.spec
                    && of.scenario == cell.scenario
                    && (of.concurrency.is_none() || of.concurrency == cell.concurrency)
            })
        };
        let numbered = self.findings.iter().enumerate();
        numbered.filter(|(_, finding)| is_about(finding)).map(|(place, _)| place).collect()
    }
}
