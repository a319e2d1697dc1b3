//! Checks of a run's trials: whether its counts agree with each other, and what a reader of the
//! table must know of them.
//!
//! Must not know: rows, files.

use super::{CellReference, Finding};
use crate::model::{
    CommandCount, LatencySummary, ResultSet, ResultSource, Scenario, TrialCounts, TrialStatus,
};
use crate::ui::figures;

pub(super) const INTERVALS: &str = "INTERVALS";
pub(super) const PERCENTILES: &str = "PERCENTILES";
pub(super) const RETRIED: &str = "RETRIED";
pub(super) const COMMANDS: &str = "COMMANDS";
pub(super) const CLIENT_BOUND: &str = "CLIENT-BOUND";
pub(super) const FAILED: &str = "FAILED";

/// Another engine's seconds are rates with two decimals, and its counts may be sums of them.
const FOREIGN_SLACK: f64 = 0.001;

/// Holds the trials of a run against each other and against its scenarios. `results` are those
/// of the run; findings stand in the order of [`super::CODES`], then of the trials.
pub fn audit_trials(results: &ResultSet, trials: &[TrialCounts]) -> Vec<Finding> {
    let native = matches!(&results.source,
        ResultSource::Measured { engine, .. } if engine == "native");
    let of = |trial| Trial { results, trial, native };
    let done = || {
        let done = trials.iter().filter(|trial| trial.status == TrialStatus::Done);
        done.map(of)
    };
    let mut findings: Vec<Finding> = done().filter_map(|trial| trial.intervals()).collect();
    findings.extend(done().filter_map(|trial| trial.percentiles()));
    findings.extend(done().filter_map(|trial| trial.retried()));
    findings.extend(done().filter_map(|trial| trial.commands()));
    let bound: Vec<Trial<'_>> =
        done().filter(|trial| trial.trial.client_bound == Some(true)).collect();
    findings.extend(listed(
        CLIENT_BOUND,
        &bound,
        format!("trials: {} of {}", bound.len(), done().count()),
        "The client was the limit in these trials: their rates are lower bounds of the server's.",
    ));
    let failed: Vec<Trial<'_>> = trials
        .iter()
        .filter(|trial| matches!(trial.status, TrialStatus::Failed { .. }))
        .map(of)
        .collect();
    findings.extend(listed(
        FAILED,
        &failed,
        format!("trials: {} of {}", failed.len(), trials.len()),
        "These trials failed, and what is published stands on the others.",
    ));
    findings
}

/// One finding about several trials; none about none. A cell stands in it once.
fn listed(
    code: &'static str,
    trials: &[Trial<'_>],
    arithmetic: String,
    words: &str,
) -> Option<Finding> {
    let mut cells: Vec<CellReference> = Vec::new();
    for cell in trials.iter().map(Trial::reference) {
        if !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    let sentence = words.to_owned();
    (!cells.is_empty()).then_some(Finding { code, cells, arithmetic, sentence })
}

#[derive(Clone, Copy)]
struct Trial<'a> {
    results: &'a ResultSet,
    trial: &'a TrialCounts,
    native: bool,
}

impl<'a> Trial<'a> {
    fn scenario(&self) -> Option<&'a Scenario> {
        self.results.scenarios.iter().find(|of| of.id == self.trial.cell.scenario)
    }

    fn reference(&self) -> CellReference {
        let cell = &self.trial.cell;
        CellReference {
            table: self.results.name.clone(),
            spec: cell.spec.clone(),
            scenario: cell.scenario.clone(),
            concurrency: Some(cell.concurrency),
        }
    }

    fn finding(&self, code: &'static str, arithmetic: &str, words: &str) -> Finding {
        Finding {
            code,
            cells: vec![self.reference()],
            arithmetic: format!("repetition {}: {arithmetic}", self.trial.repetition),
            sentence: words.to_owned(),
        }
    }

    /// The seconds count events where they end, the total those that began in the window: they
    /// differ by at most one event of each connection, and by what lies outside of the seconds.
    fn intervals(&self) -> Option<Finding> {
        let trial = self.trial;
        let (queries, measured_us) = (trial.queries? as f64, trial.measured_us? as f64);
        if trial.seconds_us == 0 {
            return None;
        }
        let open =
            f64::from(trial.cell.concurrency) * f64::from(self.scenario()?.queries_per_event());
        let foreign = if self.native { 0.0 } else { FOREIGN_SLACK * queries };
        let slack = open + foreign;
        let seconds = trial.seconds_queries as f64;
        let outside = (measured_us - trial.seconds_us as f64).max(0.0) / measured_us.max(1.0);
        // In what lies outside of the seconds the rate may have been twice the mean.
        let missing = 2.0 * outside * queries;
        if seconds <= queries + slack && seconds + missing + slack >= queries {
            return None;
        }
        let arithmetic = format!(
            "queries: {} in its seconds, {} in all; at most {} are of open events",
            figures::count(trial.seconds_queries),
            figures::count(trial.queries?),
            figures::count(open as u64)
        );
        let words = "A trial's seconds and its total count the same statements, but for events \
                     that were open when the window began or ended: one of both is wrong.";
        Some(self.finding(INTERVALS, &arithmetic, words))
    }

    fn percentiles(&self) -> Option<Finding> {
        let named = [("response", self.trial.latency), ("service", self.trial.service)];
        let (of, wrong) = named
            .into_iter()
            .filter_map(|(name, summary)| Some((name, summary?)))
            .find(|(_, summary)| !is_ordered(summary))?;
        let LatencySummary { min_us, mean_us, p50_us, p95_us, p99_us, max_us, .. } = wrong;
        let arithmetic = format!(
            "{of} time, us: min {min_us}, p50 {p50_us}, p95 {p95_us}, p99 {p99_us}, max {max_us}, \
             mean {mean_us}"
        );
        let words = "Percentiles of one distribution rise from the smallest to the largest \
                     sample, and the mean lies between these: some of them are of something else.";
        Some(self.finding(PERCENTILES, &arithmetic, words))
    }

    fn retried(&self) -> Option<Finding> {
        let (queries, events) = (self.trial.queries?, self.trial.events?);
        let per_event = u64::from(self.scenario()?.queries_per_event());
        let own = events.saturating_mul(per_event);
        let more = queries.checked_sub(own)?;
        let slack = if self.native { 0.0 } else { FOREIGN_SLACK * queries as f64 };
        if more == 0 || more as f64 <= slack {
            return None;
        }
        let told = match self.trial.queries_retried {
            Some(told) => format!("; {} are told as retried", figures::count(told)),
            None => String::new(),
        };
        let arithmetic = format!(
            "queries - events x statements: {} - {} x {per_event} = {}{told}",
            figures::count(queries),
            figures::count(events),
            figures::count(more)
        );
        let words = "More statements are counted than events that ended well have: QPS holds \
                     statements of attempts that were repeated or failed.";
        Some(self.finding(RETRIED, &arithmetic, words))
    }
}

impl Trial<'_> {
    /// The server's own count of what we sent, over the whole trial.
    fn commands(&self) -> Option<Finding> {
        let uncertain = self.trial.uncertain;
        let differ =
            |of: &&CommandCount| of.seen.is_some_and(|seen| seen.abs_diff(of.sent) > uncertain);
        let wrong = self.trial.commands.iter().find(differ)?;
        let arithmetic = format!(
            "{}: {} sent, {} counted by the server; errors explain {}",
            wrong.counter.name(),
            figures::count(wrong.sent),
            figures::count(wrong.seen?),
            figures::count(uncertain)
        );
        let words = "The server counted other statements than were sent: somebody else used it \
                     meanwhile, or one of both counts wrong.";
        Some(self.finding(COMMANDS, &arithmetic, words))
    }
}

fn is_ordered(summary: &LatencySummary) -> bool {
    let LatencySummary { min_us, mean_us, p50_us, p95_us, p99_us, max_us, .. } = *summary;
    let rising = [min_us, p50_us, p95_us, p99_us, max_us].is_sorted();
    // The mean of a histogram is of its slots' middles, a thousandth of the value apart.
    let slack = max_us / 500 + 1;
    rising && mean_us + slack >= min_us && mean_us <= max_us.saturating_add(slack)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::{clean, codes, measured, trial};
    use crate::model::{Counter, DatasetClass};

    fn found(change: impl Fn(&mut TrialCounts)) -> Vec<Finding> {
        let results = measured(clean("run", DatasetClass::FullCache));
        let mut trial = trial(&results);
        change(&mut trial);
        audit_trials(&results, &[trial])
    }

    #[test]
    fn a_sound_trial_has_no_finding() {
        assert_eq!(found(|_| {}), []);
    }

    #[test]
    fn seconds_may_differ_by_the_open_events_alone() {
        // 64 connections with 16 statements each.
        assert_eq!(found(|trial| trial.seconds_queries += 64 * 16), []);
        assert_eq!(codes(&found(|trial| trial.seconds_queries += 64 * 16 + 1)), [INTERVALS]);
        assert_eq!(found(|trial| trial.seconds_queries -= 64 * 16), []);
        assert_eq!(codes(&found(|trial| trial.seconds_queries -= 64 * 16 + 1)), [INTERVALS]);
        // Half of the window without seconds, and half of the statements.
        let half = |trial: &mut TrialCounts| {
            trial.seconds_us /= 2;
            trial.seconds_queries /= 2;
        };
        assert_eq!(found(half), []);
        assert_eq!(found(|trial| (trial.seconds_us, trial.seconds_queries) = (0, 0)), []);
    }

    #[test]
    fn percentiles_that_fall_are_found_in_either_time() {
        let fall = |summary: &mut Option<LatencySummary>| {
            summary.as_mut().unwrap().p95_us = 100_000;
        };
        assert_eq!(codes(&found(|trial| fall(&mut trial.latency))), [PERCENTILES]);
        let findings = found(|trial| fall(&mut trial.service));
        assert_eq!(codes(&findings), [PERCENTILES]);
        assert!(findings[0].arithmetic.starts_with("repetition 1: service time"), "{findings:?}");
    }

    #[test]
    fn statements_beyond_those_of_events_are_found() {
        let findings = found(|trial| trial.queries = trial.queries.map(|queries| queries + 3));
        assert_eq!(codes(&findings), [RETRIED]);
        assert!(findings[0].arithmetic.contains(" = 3; 0 are told as retried"), "{findings:?}");
    }

    #[test]
    fn a_server_that_counted_other_statements_is_found() {
        let counted = |seen, uncertain| {
            found(|trial| {
                let counter = Counter::ComSelect;
                trial.commands = vec![CommandCount { counter, sent: 100, seen }];
                trial.uncertain = uncertain;
            })
        };
        assert_eq!(counted(Some(103), 3), []);
        assert_eq!(counted(None, 0), []);
        let findings = counted(Some(103), 2);
        assert_eq!(codes(&findings), [COMMANDS]);
        assert!(findings[0].arithmetic.contains("com_select: 100 sent, 103 counted"));
    }

    #[test]
    fn bound_and_failed_trials_are_listed_in_one_finding_each() {
        let results = measured(clean("run", DatasetClass::FullCache));
        let bound = TrialCounts { client_bound: Some(true), ..trial(&results) };
        let again = TrialCounts { repetition: 2, ..bound.clone() };
        let status = TrialStatus::Failed { reason: "gone".into() };
        let failed = TrialCounts { status, repetition: 3, ..bound.clone() };
        let findings = audit_trials(&results, &[bound, again, failed]);
        assert_eq!(codes(&findings), [CLIENT_BOUND, FAILED]);
        assert_eq!((findings[0].cells.len(), findings[1].cells.len()), (1, 1));
        assert_eq!(findings[0].arithmetic, "trials: 2 of 2");
        assert_eq!(findings[1].arithmetic, "trials: 1 of 3");
    }
}
