//! Trials -> what a page shows: the median of the repetitions, the peak of the ladder, and a
//! reason where there is no number.
//!
//! Must not know: files.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{
    CellId, Dataset, MilliRate, OwnTable, Plan, Publish, ResultCell, ResultSet, ResultSource,
    RunDescription, Scenario, ScenarioId, ServerRecord, Spec, SpecId, TrialStatus, Workload,
    counted,
};
use crate::stats::{has_fallen, median, peak};

use super::{StoredTrial, clock, environment, proof, repeats};

/// Everything of a plan, measured or not; specs and scenarios that `--only` left out of the
/// plan are left out here too.
pub(super) fn result_set(name: &str, run: &RunDescription, trials: &[StoredTrial]) -> ResultSet {
    let plan = &run.plan;
    let planned = |matches: &dyn Fn(&CellId) -> bool| {
        plan.cells.iter().any(|cell| matches(&cell.id))
            || plan.excluded.iter().any(|(id, _)| matches(id))
    };
    let matrix = &plan.matrix;
    let specs = matrix.specs.iter().map(|(spec, _)| spec);
    let specs: Vec<Spec> = specs.filter(|s| planned(&|id| id.spec == s.id)).cloned().collect();
    let scenarios = matrix.scenarios.iter();
    let scenarios: Vec<_> =
        scenarios.filter(|s| planned(&|id| id.scenario == s.id)).cloned().collect();
    let own_tables = plan.own_tables();
    let scenarios: Vec<Scenario> =
        scenarios.into_iter().map(|scenario| with_tables(scenario, &own_tables)).collect();
    let latest = latest(trials);
    let pairs =
        scenarios.iter().flat_map(|scenario| specs.iter().map(move |spec| (scenario, spec)));
    let cells = pairs.flat_map(|(scenario, spec)| {
        let server = run.servers.iter().find(|server| server.spec == spec.id);
        Pair { plan, server, spec: &spec.id, scenario: &scenario.id }.cells(&latest)
    });
    ResultSet {
        name: name.to_owned(),
        title: matrix.title.clone(),
        template: matrix.template.clone(),
        class: matrix.class,
        source: source(name, run),
        environment: run
            .servers
            .iter()
            .map(|server| (server.spec.clone(), environment::facts(run, server)))
            .collect(),
        noise_ppm: run.plan.protocol.is_aa.then(|| repeats::noise_ppm(&latest)).flatten(),
        protocol: Some(plan.protocol.clone()),
        cells: cells.collect(),
        scenarios,
        specs,
    }
}

/// A scenario whose workload carries every own table that it names, whichever workload of the
/// matrix declares it.
fn with_tables(scenario: Scenario, own: &[OwnTable]) -> Scenario {
    let named = scenario.workload.named(own);
    if named.iter().copied().eq(&scenario.workload.tables) {
        return scenario;
    }
    let tables = named.into_iter().cloned().collect();
    let workload = Arc::new(Workload { tables, ..(*scenario.workload).clone() });
    Scenario { workload, ..scenario }
}

fn source(name: &str, run: &RunDescription) -> ResultSource {
    let mut servers: Vec<String> = Vec::new();
    for server in &run.servers {
        if !servers.contains(&server.info.version) {
            servers.push(server.info.version.clone());
        }
    }
    ResultSource::Measured {
        run: name.to_owned(),
        date: clock::date(run.started_unix_ms),
        servers,
        shared_machine: run.servers.iter().any(|server| server.managed),
        tool_version: run.tool_version.clone(),
        engine: run.driver.clone(),
        rehearsal: run.plan.rehearsal,
    }
}

/// Of each cell and repetition the trial that counts: the last one that is done, otherwise the
/// last one.
pub(super) type Latest<'a> = BTreeMap<&'a CellId, BTreeMap<u32, &'a StoredTrial>>;

pub(super) fn latest(trials: &[StoredTrial]) -> Latest<'_> {
    let mut latest: Latest<'_> = BTreeMap::new();
    for trial in trials {
        let repetitions = latest.entry(&trial.cell).or_default();
        let kept = repetitions.entry(trial.repetition).or_insert(trial);
        if trial.status == TrialStatus::Done || kept.status != TrialStatus::Done {
            *kept = trial;
        }
    }
    latest
}

/// A spec under a scenario: one row of one of the page's tables.
struct Pair<'a> {
    plan: &'a Plan,
    server: Option<&'a ServerRecord>,
    spec: &'a SpecId,
    scenario: &'a ScenarioId,
}

/// One concurrency of a pair, with its trials.
struct Level<'a> {
    concurrency: u32,
    trials: Vec<&'a StoredTrial>,
    excluded: Option<&'a str>,
    /// Why its rate is not published, whatever it is.
    refused: Option<String>,
}

impl Pair<'_> {
    /// The peak, or every level; nothing for a pair that the plan does not have.
    fn cells(&self, latest: &Latest<'_>) -> Vec<ResultCell> {
        let levels = self.levels(latest);
        match self.plan.protocol.publish {
            Publish::All => {
                let has_stopped = self.has_stopped(&levels);
                levels.iter().map(|level| self.one_level(level, has_stopped)).collect()
            }
            Publish::Peak if levels.is_empty() => Vec::new(),
            Publish::Peak => vec![self.peak(&levels)],
        }
    }

    /// In ascending order.
    fn levels<'a>(&'a self, latest: &Latest<'a>) -> Vec<Level<'a>> {
        let ours = |id: &CellId| id.spec == *self.spec && id.scenario == *self.scenario;
        let planned = self.plan.cells.iter().map(|cell| (&cell.id, None));
        let excluded = self.plan.excluded.iter().map(|(id, by)| (id, Some(by.reason.as_str())));
        let level = |(id, excluded): (&CellId, Option<&'a str>)| {
            let trials: Vec<&StoredTrial> =
                latest.get(id).map(|of| of.values().copied().collect()).unwrap_or_default();
            let refused = match self.plan.rehearsal {
                Some(_) => None,
                None => proof::refuted(self.plan.class(), self.server, &trials),
            };
            Level { concurrency: id.concurrency, trials, excluded, refused }
        };
        let mut levels: Vec<Level<'a>> =
            planned.chain(excluded).filter(|(id, _)| ours(id)).map(level).collect();
        levels.sort_by_key(|level| level.concurrency);
        levels
    }

    fn one_level(&self, level: &Level<'_>, has_stopped: bool) -> ResultCell {
        let mut notes = self.doubts(level);
        if level.qps().is_none() {
            let is_left_out = has_stopped && level.trials.is_empty() && level.excluded.is_none();
            notes = vec![match is_left_out {
                true => "left out: the rate had fallen below".to_owned(),
                false => self.why_not(std::slice::from_ref(level)),
            }];
        }
        ResultCell { concurrency: Some(level.concurrency), ..self.cell(Some(level), notes) }
    }

    fn peak(&self, levels: &[Level<'_>]) -> ResultCell {
        let Some(highest) = peak(levels, Level::qps) else {
            return self.cell(None, vec![self.why_not(levels)]);
        };
        let (peak, equals) = self.within_noise(levels, highest);
        let wanted = levels.iter().filter(|level| level.excluded.is_none()).count();
        let measured = levels.iter().filter(|level| level.qps().is_some()).count();
        let ladder = (measured < wanted).then(|| match self.has_stopped(levels) {
            true => {
                let levels = counted(wanted, "level");
                format!("peak of the first {measured} of {levels}: the rate fell")
            }
            false => format!("peak of {measured} of {}", counted(wanted, "level")),
        });
        let told = ladder.into_iter().chain(equals).chain(self.doubts(peak));
        self.cell(Some(peak), told.collect())
    }

    /// The lowest of the levels next to the highest rate that noise cannot tell from it, and the
    /// sentence that says so. Without repeats nothing is known of noise.
    fn within_noise<'l, 'a>(
        &self,
        levels: &'l [Level<'a>],
        highest: &'l Level<'a>,
    ) -> (&'l Level<'a>, Option<String>) {
        let below = levels.iter().rev().skip_while(|level| !std::ptr::eq(*level, highest)).skip(1);
        let equal: Vec<&Level<'a>> =
            below.take_while(|level| repeats::equal(&level.rates(), &highest.rates())).collect();
        let Some(lowest) = equal.last() else { return (highest, None) };
        let mut names: Vec<String> =
            equal.iter().rev().map(|level| level.concurrency.to_string()).collect();
        names.push(highest.concurrency.to_string());
        let last = names.pop().unwrap_or_default();
        let listed = names.join(", ");
        let chosen = lowest.concurrency;
        (lowest, Some(format!("{listed} and {last} are equal within noise: {chosen} published")))
    }

    /// Whether the levels without a number are those that the protocol leaves out when the rate
    /// falls.
    fn has_stopped(&self, levels: &[Level<'_>]) -> bool {
        let levels = || levels.iter().filter(|level| level.excluded.is_none());
        let rates: Vec<Option<u64>> = levels().map(Level::qps).collect();
        let measured = rates.iter().take_while(|rate| rate.is_some()).count();
        let falling = self.plan.protocol.stop_after_falling;
        levels().skip(measured).all(|level| level.trials.is_empty())
            && falling.is_some_and(|falling| has_fallen(&rates[..measured], falling))
    }

    fn cell(&self, level: Option<&Level<'_>>, notes: Vec<String>) -> ResultCell {
        let dataset = self.dataset();
        let level = level.filter(|level| level.qps().is_some());
        ResultCell {
            spec: self.spec.clone(),
            scenario: self.scenario.clone(),
            concurrency: level.map(|level| level.concurrency),
            table_size: dataset.table_size,
            tables: dataset.tables,
            qps: level.and_then(Level::qps).map(MilliRate),
            tps: level.and_then(|l| l.median(|t| t.tps.map(|rate| rate.0))).map(MilliRate),
            p95_us: level.and_then(|l| l.median(|t| t.p95_us)),
            p99_us: level.and_then(|l| l.median(|t| t.p99_us)),
            trials: level
                .map_or(0, |level| u32::try_from(level.done().count()).unwrap_or(u32::MAX)),
            values: level
                .map(|level| level.done().filter_map(|trial| trial.qps).collect())
                .unwrap_or_default(),
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        }
    }

    /// What a reader of a level's number must know.
    fn doubts(&self, level: &Level<'_>) -> Vec<String> {
        let told = [self.repetitions(level), level.failed_events(), level.unfinished()];
        let told = told.into_iter().flatten().chain(level.limits());
        let done: Vec<&StoredTrial> = level.done().collect();
        let unproved = proof::not_looked_into(&done).filter(|_| self.plan.rehearsal.is_none());
        let class = self.plan.class().name();
        let unproved = unproved.map(|why| format!("not proved to be {class}: {why}"));
        let until = repeats::until_missed(&level.rates(), self.plan.protocol.until);
        told.chain(repeats::doubts(&done)).chain(until).chain(unproved).collect()
    }

    /// Says so where a number stands on fewer repetitions than the protocol wants.
    fn repetitions(&self, level: &Level<'_>) -> Option<String> {
        let (done, wanted) = (level.done().count(), self.plan.protocol.repeats);
        (done < wanted as usize).then(|| format!("{done} of {}", counted(wanted, "repetition")))
    }

    /// Why none of these levels has a number: what rules the cell out first, then what went
    /// wrong last.
    fn why_not(&self, levels: &[Level<'_>]) -> String {
        let planned = self.plan.specs.iter().find(|planned| planned.spec.id == *self.spec);
        if let Some(skip) = planned.and_then(|planned| planned.skip.as_ref()) {
            return format!("skipped: {}", skip.reason);
        }
        if let Some(reason) = levels.first().and_then(|level| level.excluded)
            && levels.iter().all(|level| level.excluded.is_some())
        {
            return format!("excluded: {reason}");
        }
        if let Some(refused) = levels.iter().find_map(Level::refusal) {
            return refused;
        }
        let trials = levels.iter().flat_map(|level| &level.trials);
        match trials.max_by_key(|trial| trial.number).map(|trial| &trial.status) {
            // A note is one line of a table; a server's log, where there is one, is in the rows.
            Some(TrialStatus::Failed { reason }) => {
                format!("failed: {}", reason.lines().next().unwrap_or_default())
            }
            Some(TrialStatus::Interrupted) => "interrupted".to_owned(),
            Some(TrialStatus::Done) | None => "not measured yet".to_owned(),
        }
    }

    /// As the page prints it: in a rehearsal too, what the matrix says.
    fn dataset(&self) -> &Dataset {
        let found = self.plan.matrix.specs.iter().find(|(spec, _)| spec.id == *self.spec);
        &found.expect("a pair's spec is one of the matrix's").1
    }
}

impl Level<'_> {
    fn done(&self) -> impl Iterator<Item = &StoredTrial> {
        self.trials.iter().copied().filter(|trial| trial.status == TrialStatus::Done)
    }

    /// What was the limit, or was not met: one repetition is enough to be told.
    fn limits(&self) -> impl Iterator<Item = String> + use<> {
        let any = |doubt: fn(&StoredTrial) -> bool| self.done().any(doubt);
        let bound = any(|trial| trial.client_bound == Some(true));
        let missed = any(|trial| trial.rate_met == Some(false));
        let bound = bound.then(|| "client-bound: the client was the limit".to_owned());
        bound.into_iter().chain(missed.then(|| "the rate was not met".to_owned()))
    }

    fn median(&self, figure: impl Fn(&StoredTrial) -> Option<u64>) -> Option<u64> {
        median(&self.done().filter_map(figure).collect::<Vec<_>>())
    }

    /// Events that the server refused or a lost connection ended: they count nowhere, so the
    /// rate is that of a lighter load than the scenario's.
    fn failed_events(&self) -> Option<String> {
        let errors = || self.done().flat_map(|trial| &trial.errors).filter(|e| e.ends_events());
        let worst = errors().max_by_key(|error| error.count)?;
        let failed: u64 = errors().map(|error| error.count).sum();
        let code = if worst.code == 0 { String::new() } else { format!("{} ", worst.code) };
        let words = worst.message.lines().next().unwrap_or_default();
        let spans = errors().filter_map(|error| error.span_us);
        let span = spans.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
        let when = span.map_or_else(String::new, |(first, last)| {
            let seconds = |us: u64| us as f64 / 1e6;
            format!(", {:.1} to {:.1} s into the window", seconds(first), seconds(last))
        });
        Some(format!("{} failed{when}, most with: {code}{words}", counted(failed, "event")))
    }

    /// Why its rate is not published, whatever it is, and what happened that may be why.
    fn refusal(&self) -> Option<String> {
        let refused = self.refused.clone()?;
        let evidence = self.done().filter_map(|trial| trial.evidence.as_ref());
        let trouble = evidence.filter_map(|of| of.trouble.clone()).next();
        let told = [Some(refused), self.failed_events(), trouble].into_iter().flatten();
        Some(told.collect::<Vec<_>>().join("; "))
    }

    fn unfinished(&self) -> Option<String> {
        let open: u64 = self.done().map(|trial| trial.events_unfinished).sum();
        (open > 0).then(|| format!("{} still open after the drain", counted(open, "event")))
    }

    /// Thousandths per second.
    fn qps(&self) -> Option<u64> {
        match self.refused {
            None => self.median(|trial| trial.qps.map(|rate| rate.0)),
            Some(_) => None,
        }
    }

    /// Statements per second of each trial.
    fn rates(&self) -> Vec<f64> {
        self.done().filter_map(|trial| trial.qps).map(|rate| rate.per_second()).collect()
    }
}

#[cfg(test)]
#[path = "select_tests.rs"]
mod tests;
