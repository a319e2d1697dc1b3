//! Which trial of a spec comes next: the plan's own order, less what the ladder leaves out, and
//! further repetitions where a rate is not known well enough.
//!
//! Must not know: servers, files.

use std::collections::BTreeSet;

use crate::model::{Access, Plan, Trial};
use crate::stats::{half_width, has_fallen, median, rate_interval};

/// The trials of one spec, as they are done.
pub(super) struct Rounds<'a> {
    plan: &'a Plan,
    /// Of this spec, in the plan's order.
    planned: Vec<Trial>,
    /// Measured, with the rate in thousandths per second.
    done: Vec<(Trial, u64)>,
    /// Not to be tried again in this session.
    tried: BTreeSet<Trial>,
}

impl<'a> Rounds<'a> {
    /// `done`: what is on disk already, of any spec.
    pub(super) fn new(plan: &'a Plan, spec: usize, done: &[(Trial, u64)]) -> Self {
        let is_ours = |trial: &Trial| plan.cells[trial.cell].spec == spec;
        let planned: Vec<Trial> = plan.trials().into_iter().filter(is_ours).collect();
        let done: Vec<(Trial, u64)> =
            done.iter().filter(|(trial, _)| is_ours(trial)).cloned().collect();
        let tried = done.iter().map(|(trial, _)| trial.clone()).collect();
        Self { plan, planned, done, tried }
    }

    /// The trial to measure now; `None` when there is nothing more to do.
    pub(super) fn next(&self) -> Option<Trial> {
        Access::ALL.into_iter().find_map(|access| {
            let planned = self.planned.iter().filter(|trial| self.access(trial) == access);
            let waits = |trial: &&Trial| !self.tried.contains(*trial) && !self.is_left_out(trial);
            let next = planned.clone().find(waits).cloned();
            next.or_else(|| self.further(planned.map(|trial| trial.cell).collect()))
        })
    }

    /// A trial was measured, at this rate, or could not be.
    pub(super) fn took(&mut self, trial: &Trial, qps_milli: Option<u64>) {
        self.tried.insert(trial.clone());
        self.done.extend(qps_milli.map(|qps| (trial.clone(), qps)));
    }

    /// The planned trials that are left out when no other is to be measured.
    pub(super) fn left_out(&self) -> Vec<&Trial> {
        let left = |trial: &&Trial| !self.tried.contains(*trial) && self.is_left_out(trial);
        self.planned.iter().filter(left).collect()
    }

    fn access(&self, trial: &Trial) -> Access {
        self.plan.scenario(&self.plan.cells[trial.cell]).access()
    }

    /// The next repetition of the first of these cells whose rate is not known well enough, those
    /// with the fewest trials first, so that further repetitions are spread over time too.
    fn further(&self, cells: BTreeSet<usize>) -> Option<Trial> {
        let until = self.plan.protocol.until?;
        let next = |cell: usize| {
            let rates = self.rates(cell);
            let tried = self.tried.iter().filter(|trial| trial.cell == cell);
            let last = tried.map(|trial| trial.repetition).max()?;
            let is_open = !rates.is_empty() && !is_narrow(&rates, until.width_ppm);
            let trial = Trial { cell, repetition: last + 1 };
            (is_open && last < until.repeats_max).then_some(trial)
        };
        cells.into_iter().filter_map(next).min_by_key(|trial| (trial.repetition, trial.cell))
    }

    fn rates(&self, cell: usize) -> Vec<u64> {
        let of_cell = self.done.iter().filter(|(trial, _)| trial.cell == cell);
        of_cell.map(|(_, qps)| *qps).collect()
    }

    /// Whether the ladder below this level has fallen often enough.
    fn is_left_out(&self, trial: &Trial) -> bool {
        let Some(falling) = self.plan.protocol.stop_after_falling else { return false };
        let cell = &self.plan.cells[trial.cell];
        let mut below: Vec<(u32, usize)> = Vec::new();
        for (index, other) in self.plan.cells.iter().enumerate() {
            let is_below = (other.spec, other.scenario) == (cell.spec, cell.scenario)
                && other.id.concurrency < cell.id.concurrency;
            below.extend(is_below.then_some((other.id.concurrency, index)));
        }
        below.sort_unstable();
        let rates: Vec<Option<u64>> =
            below.iter().map(|(_, index)| median(&self.rates(*index))).collect();
        // What was left out has no rate, and nothing above it is climbed to either.
        let known = rates.iter().take_while(|rate| rate.is_some()).count();
        let has_stopped = (1..=known).any(|levels| has_fallen(&rates[..levels], falling));
        self.rates(trial.cell).is_empty() && has_stopped
    }
}

/// Whether the interval of the rate reaches no further from its middle than this.
fn is_narrow(rates: &[u64], width_ppm: u64) -> bool {
    let rates: Vec<f64> = rates.iter().map(|rate| *rate as f64).collect();
    rate_interval(&rates).is_some_and(|of| half_width(of) <= width_ppm as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{ExpandOptions, Source, expand, parse};

    const MATRIX: &str = r#"
format = 1
name = "m"
title = "M"
template = "tdsql-c-en"
[protocol]
duration = "10s"
concurrency = [8, 16, 32, 64, 65, 66]
repeats = 2
[dataset]
class = "full-cache"
[[dataset.rule]]
table_size = 1000
tables = 1
[[spec]]
cpu = 1
memory = "1GB"
[[scenario]]
id = "read"
workload = "oltp_point_select"
[[scenario]]
id = "write"
workload = "oltp_insert"
"#;

    fn plan(set: &[&str]) -> Plan {
        let set: Vec<String> = set.iter().map(|text| (*text).to_owned()).collect();
        let source = Source { name: "m.toml", bytes: MATRIX.as_bytes() };
        let matrix = parse(&source, &set).unwrap_or_else(|_| panic!("a matrix without faults"));
        expand(matrix, &ExpandOptions::default()).unwrap()
    }

    /// What is measured, as `read/8/1`, where each cell has the rate that the function says.
    fn order(plan: &Plan, rate: impl Fn(&str, u32, u32) -> Option<u64>) -> Vec<String> {
        let mut rounds = Rounds::new(plan, 0, &[]);
        let mut order = Vec::new();
        while let Some(trial) = rounds.next() {
            let id = &plan.cells[trial.cell].id;
            order.push(format!("{}/{}/{}", id.scenario, id.concurrency, trial.repetition));
            let rate = rate(id.scenario.as_str(), id.concurrency, trial.repetition);
            rounds.took(&trial, rate);
            assert!(order.len() < 1_000, "it must end");
        }
        order
    }

    /// How many trials are left out in the end.
    fn left_out(plan: &Plan, rate: impl Fn(&str, u32, u32) -> Option<u64>) -> usize {
        let mut rounds = Rounds::new(plan, 0, &[]);
        while let Some(trial) = rounds.next() {
            let id = &plan.cells[trial.cell].id;
            rounds.took(&trial, rate(id.scenario.as_str(), id.concurrency, trial.repetition));
        }
        rounds.left_out().len()
    }

    #[test]
    fn without_rules_it_is_the_plans_order_and_what_failed_is_not_tried_again() {
        let plan = plan(&[]);
        let failing = order(&plan, |_, _, _| None);
        assert_eq!(failing.len(), 24);
        assert_eq!(failing[4..7], ["read/65/1", "read/66/1", "read/8/2"]);
        assert!(failing[12..].iter().all(|trial| trial.starts_with("write")));
    }

    #[test]
    fn a_ladder_that_fell_at_two_further_levels_is_not_climbed_further() {
        let plan = plan(&["protocol.stop_after_falling=2", "protocol.repeats=1"]);
        let falls = |scenario: &str, concurrency: u32, _| match (scenario, concurrency) {
            ("read", 8) => Some(900),
            ("read", _) => Some(500),
            (_, concurrency) => Some(u64::from(concurrency)),
        };
        let expected =
            ["read/8/1", "read/16/1", "read/32/1", "write/8/1", "write/16/1", "write/32/1"];
        let measured = order(&plan, falls);
        assert_eq!(measured[..6], expected);
        assert_eq!(measured.len(), 9, "the writes climb to the top, the reads nowhere again");
        assert_eq!(left_out(&plan, falls), 3);
        assert_eq!(left_out(&plan, |_, _, _| None), 0, "what failed was tried");
    }

    #[test]
    fn repeats_go_on_until_the_interval_is_narrow_or_the_cap_is_reached() {
        let plan =
            plan(&["protocol.until=2%", "protocol.repeats_max=6", "protocol.concurrency=[8]"]);
        let noisy = |scenario: &str, _, repetition: u32| match scenario {
            "read" => Some(1_000_000 + u64::from(repetition)),
            _ => Some(1_000_000 * u64::from(repetition)),
        };
        let measured = order(&plan, noisy);
        let count = |scenario: &str| measured.iter().filter(|of| of.starts_with(scenario)).count();
        assert_eq!(count("read"), 3, "two have no interval, three are close");
        assert_eq!(count("write"), 6);
    }

    #[test]
    fn what_is_on_disk_is_not_measured_again() {
        let plan = plan(&["protocol.repeats=1", "protocol.concurrency=[8, 16]"]);
        let done = [(Trial { cell: 0, repetition: 1 }, 5_000)];
        let next = Rounds::new(&plan, 0, &done).next().unwrap();
        assert_eq!(plan.cells[next.cell].id.concurrency, 16);
    }
}
