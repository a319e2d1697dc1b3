//! The counts of a run's trials, beside what a page needs of them.
//!
//! Must not know: what should follow from them.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{LatencySummary, TrialCounts};

use super::rows::{CellRow, IntervalRow};
use super::{RunDir, StoreError, select};

impl RunDir {
    /// The counts of every trial that stands behind the results, in the order of measurement:
    /// of a repetition that was measured again, the one that counts.
    pub fn counts(&self) -> Result<Vec<TrialCounts>, StoreError> {
        let trials = self.trials()?;
        let latest = select::latest(&trials);
        let kept: BTreeSet<u64> =
            latest.values().flat_map(|of| of.values()).map(|trial| trial.number).collect();
        let mut seconds: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for row in self.rows_of_trials::<IntervalRow>(|row| row.trial)? {
            let (length_us, queries) = seconds.entry(row.trial).or_default();
            *length_us = length_us.saturating_add(row.length_us);
            *queries = queries.saturating_add(row.queries);
        }
        let rows = self.cell_rows()?.rows.into_iter().map(|(_, row)| row);
        let pairs = trials.iter().zip(rows).filter(|(trial, _)| kept.contains(&trial.number));
        let counts = pairs.map(|(trial, row)| {
            let (seconds_us, seconds_queries) =
                seconds.get(&trial.number).copied().unwrap_or_default();
            TrialCounts {
                cell: trial.cell.clone(),
                repetition: trial.repetition,
                status: trial.status.clone(),
                measured_us: row.measured_us,
                events: row.events,
                queries: row.queries,
                queries_retried: row.queries_retried,
                latency: latency(&row),
                service: service(&row),
                seconds_us,
                seconds_queries,
                client_bound: row.client_bound,
                commands: trial.evidence.as_ref().map_or_else(Vec::new, |of| of.commands.clone()),
                uncertain: trial.evidence.as_ref().map_or(0, |of| of.uncertain),
            }
        });
        Ok(counts.collect())
    }
}

fn latency(row: &CellRow) -> Option<LatencySummary> {
    Some(LatencySummary {
        count: row.events?,
        min_us: row.latency_min_us?,
        mean_us: row.latency_mean_us?,
        p50_us: row.latency_p50_us?,
        p95_us: row.latency_p95_us?,
        p99_us: row.latency_p99_us?,
        max_us: row.latency_max_us?,
    })
}

fn service(row: &CellRow) -> Option<LatencySummary> {
    Some(LatencySummary {
        count: row.events?,
        min_us: row.service_min_us?,
        mean_us: row.service_mean_us?,
        p50_us: row.service_p50_us?,
        p95_us: row.service_p95_us?,
        p99_us: row.service_p99_us?,
        max_us: row.service_max_us?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TrialStatus;
    use crate::store::testing::{SampleTrial, description};

    #[test]
    fn counts_are_of_the_trials_that_count() {
        let out = tempfile::tempdir().unwrap();
        let about = description();
        let mut run = RunDir::create(out.path(), &about, b"").unwrap();
        run.append(&SampleTrial::failed(&about, 0, 1, "gone").record(&about)).unwrap();
        run.append(&SampleTrial::failed(&about, 1, 1, "gone").record(&about)).unwrap();
        let again = SampleTrial::done(&about, 0, 1, 1_000);
        run.append(&again.record(&about)).unwrap();
        let counts = run.counts().unwrap();
        assert_eq!(counts.len(), 2);
        assert!(matches!(counts[0].status, TrialStatus::Failed { .. }));
        assert_eq!((counts[0].queries, counts[0].seconds_us), (None, 0));
        let (done, measured) = (&counts[1], &again.measurement);
        assert_eq!(done.cell, about.plan.cells[0].id);
        assert_eq!((done.seconds_us, done.seconds_queries), (2_000_000, 2_000));
        assert_eq!((done.queries, done.queries_retried), (Some(2_000), Some(3)));
        assert_eq!(done.latency.unwrap().p99_us, measured.latency.unwrap().p99_us);
        assert_eq!(done.service.unwrap().max_us, measured.service.unwrap().max_us);
    }
}
