//! Two result sets beside each other, cell by cell: a pure function.
//!
//! Two numbers that do not mean the same thing get no ratio, so that nobody can quote one. Must
//! not know: how a comparison is printed, or what follows from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{
    CellComparison, Comparison, MilliRate, OpenLoop, Protocol, ResultCell, ResultSet, ResultSource,
    Scenario, ScenarioId, SpecId, Verdict, fact_differences,
};

use super::compare_options::CompareOptions;
use super::verdict::{Findings, adjusted, one_sample, two_samples, verdict};

/// Holds `measured` against `baseline`.
///
/// Cells meet by scenario and spec. Where a side has several concurrencies, equal ones meet
/// first; if none are equal, the two highest rates meet, for a published number is a peak.
pub fn compare(measured: &ResultSet, baseline: &ResultSet, options: &CompareOptions) -> Comparison {
    let sides = Sides { measured, baseline, options };
    let ours = by_place(measured);
    let theirs = by_place(baseline);
    let mut cells = Vec::new();
    let mut ours_only = Vec::new();
    for place in places(baseline) {
        let our_cells = ours.get(&place).map_or(&[][..], Vec::as_slice);
        let their_cells = theirs.get(&place).map_or(&[][..], Vec::as_slice);
        let pairs = pairs(our_cells, their_cells);
        let left = our_cells.iter().filter(|cell| !pairs.iter().any(|pair| pair.has(cell)));
        ours_only.extend(left.map(|cell| sides.ours_only(cell)));
        cells.extend(pairs.iter().map(|pair| sides.cell(pair)));
    }
    cells.append(&mut ours_only);
    for place in places(measured).into_iter().filter(|place| !theirs.contains_key(place)) {
        cells.extend(ours[&place].iter().map(|cell| sides.ours_only(cell)));
    }
    let (mut cells, findings): (Vec<_>, Vec<_>) = cells.into_iter().unzip();
    for ((cell, of), p) in cells.iter_mut().zip(&findings).zip(adjusted(&findings)) {
        if let Some(of) = of {
            (cell.p, cell.verdict) = (p, verdict(of, p, cell.floor));
        }
    }
    Comparison {
        measured: measured.name.clone(),
        baseline: baseline.name.clone(),
        threshold: options.threshold,
        noise: sides.noise(),
        rehearsal: is_rehearsal(measured) || is_rehearsal(baseline),
        cells,
    }
}

/// The geometric mean of the ratios of all cells that could be compared; `None` without any.
pub fn geometric_mean_ratio(comparison: &Comparison) -> Option<f64> {
    let ratios: Vec<f64> = comparison.cells.iter().filter_map(|cell| cell.ratio).collect();
    if ratios.is_empty() {
        return None;
    }
    Some((ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp())
}

/// How many cells got each verdict; verdicts that none got are absent.
pub fn verdict_counts(comparison: &Comparison) -> BTreeMap<Verdict, usize> {
    let mut counts = BTreeMap::new();
    for cell in &comparison.cells {
        *counts.entry(cell.verdict).or_default() += 1;
    }
    counts
}

/// The note of a baseline's cell that our side does not have.
pub const NOT_MEASURED: &str = "not measured";

type Place<'a> = (&'a ScenarioId, &'a SpecId);

fn place(cell: &ResultCell) -> Place<'_> {
    (&cell.scenario, &cell.spec)
}

fn by_place(results: &ResultSet) -> BTreeMap<Place<'_>, Vec<&ResultCell>> {
    let mut places: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for cell in &results.cells {
        places.entry(place(cell)).or_default().push(cell);
    }
    places
}

/// Distinct places in the order of the results.
fn places(results: &ResultSet) -> Vec<Place<'_>> {
    let mut seen = BTreeSet::new();
    results.cells.iter().map(place).filter(|place| seen.insert(*place)).collect()
}

/// A cell of the baseline with ours, if we have one.
struct Pair<'a> {
    ours: Option<&'a ResultCell>,
    theirs: &'a ResultCell,
}

impl Pair<'_> {
    fn has(&self, cell: &ResultCell) -> bool {
        self.ours.is_some_and(|ours| std::ptr::eq(ours, cell))
    }
}

/// One pair for each cell of the baseline.
fn pairs<'a>(ours: &[&'a ResultCell], theirs: &[&'a ResultCell]) -> Vec<Pair<'a>> {
    let equal = |cell: &ResultCell| {
        let same = |other: &&&ResultCell| other.concurrency == cell.concurrency;
        cell.concurrency.and_then(|_| ours.iter().find(same).copied())
    };
    let mut pairs: Vec<Pair> =
        theirs.iter().map(|cell| Pair { ours: equal(cell), theirs: cell }).collect();
    if pairs.iter().all(|pair| pair.ours.is_none()) {
        let highest = pairs.iter_mut().max_by_key(|pair| pair.theirs.qps);
        if let Some(pair) = highest {
            pair.ours = ours.iter().max_by_key(|cell| cell.qps).copied();
        }
    }
    pairs
}

struct Sides<'a> {
    measured: &'a ResultSet,
    baseline: &'a ResultSet,
    options: &'a CompareOptions,
}

/// A cell, and what its numbers say where a verdict is to follow from them.
type Judged = (CellComparison, Option<Findings>);

impl Sides<'_> {
    fn cell(&self, pair: &Pair) -> Judged {
        let (ours, theirs) = (pair.ours, pair.theirs);
        let measured = ours.and_then(|cell| cell.qps);
        let mut notes = self.missing_notes(pair);
        let obstacle = self.obstacle(pair);
        let findings = match (ours, &obstacle) {
            (Some(ours), None) => findings(ours, theirs),
            _ => None,
        };
        // Other data is another question: the ratio stands, and no verdict follows.
        let is_alike = ours.is_some_and(|ours| shape(ours) == shape(theirs));
        let has_both = measured.is_some() && theirs.qps.is_some();
        let verdict = match findings {
            None if obstacle.is_none() && has_both => Verdict::Inconclusive,
            None if obstacle.is_none() => Verdict::Missing,
            _ => Verdict::NotComparable,
        };
        if verdict == Verdict::Inconclusive {
            notes.push("a trial of 0 QPS: no ratio follows".to_owned());
        }
        notes.extend(obstacle);
        if let Some(ours) = ours.filter(|_| notes.is_empty()) {
            notes.extend(differences(ours, theirs));
            notes.extend(self.engines_note());
            let [_, meant] = self.environment_differences(&theirs.spec);
            notes.extend((!meant.is_empty()).then(|| format!("across {}", meant.join(", "))));
            notes.extend(ours.note.clone());
            notes.extend(theirs.note.clone());
            notes.extend(findings.filter(|of| is_alike && !of.has_power).map(|_| powerless(pair)));
        }
        let cell = CellComparison {
            spec: theirs.spec.clone(),
            scenario: theirs.scenario.clone(),
            concurrency: (ours.and_then(|cell| cell.concurrency), theirs.concurrency),
            measured,
            baseline: theirs.qps,
            trials: (ours.map_or(0, |cell| cell.trials), theirs.trials),
            ratio: findings.map(|of| of.ratio),
            interval: findings.and_then(|of| of.interval),
            p: None,
            floor: self.floor(theirs),
            verdict,
            note: joined(&notes),
        };
        (cell, findings.filter(|_| is_alike))
    }

    /// The larger of a cell's threshold and the noise.
    fn floor(&self, cell: &ResultCell) -> f64 {
        let threshold = self.options.threshold_of(&cell.scenario, &cell.spec);
        self.noise().map_or(threshold, |noise| noise.max(threshold))
    }

    /// The largest difference between equal things that anybody has seen.
    fn noise(&self) -> Option<f64> {
        let of_side = |side: &ResultSet| side.noise_ppm.map(|ppm| ppm as f64 / 1e6);
        let known = [self.options.noise, of_side(self.measured), of_side(self.baseline)];
        known.into_iter().flatten().reduce(f64::max)
    }

    fn ours_only(&self, cell: &ResultCell) -> Judged {
        let rehearsal = self.rehearsal_note();
        let verdict = match rehearsal {
            Some(_) => Verdict::NotComparable,
            None => Verdict::Missing,
        };
        let mut notes = vec!["the baseline has no such cell".to_owned()];
        notes.extend(cell.note.clone());
        notes.extend(rehearsal);
        let cell = CellComparison {
            spec: cell.spec.clone(),
            scenario: cell.scenario.clone(),
            concurrency: (cell.concurrency, None),
            measured: cell.qps,
            baseline: None,
            trials: (cell.trials, 0),
            ratio: None,
            interval: None,
            p: None,
            floor: self.floor(cell),
            verdict,
            note: joined(&notes),
        };
        (cell, None)
    }

    /// Why there is no number on a side.
    fn missing_notes(&self, pair: &Pair) -> Vec<String> {
        let why = |cell: &ResultCell| match &cell.note {
            Some(note) => format!(": {note}"),
            None => String::new(),
        };
        let mut notes = Vec::new();
        match pair.ours {
            None => notes.push(NOT_MEASURED.to_owned()),
            Some(ours) if ours.qps.is_none() => notes.push(format!("no number{}", why(ours))),
            Some(_) => {}
        }
        if pair.theirs.qps.is_none() {
            notes.push(format!("no number in the baseline{}", why(pair.theirs)));
        }
        notes
    }

    /// Why the two numbers, if there were two, would not mean the same thing.
    fn obstacle(&self, pair: &Pair) -> Option<String> {
        let (scenario, spec) = (&pair.theirs.scenario, &pair.theirs.spec);
        if let Some(note) = self.rehearsal_note() {
            return Some(note);
        }
        let size =
            |side: &ResultSet| side.specs.iter().find(|s| s.id == *spec).map(|s| (s.cpu, s.memory));
        let work =
            |side: &ResultSet| side.scenarios.iter().find(|s| s.id == *scenario).map(work_of);
        let ours = pair.ours?;
        if size(self.measured) != size(self.baseline) {
            return Some(format!("`{spec}` is another size in the baseline"));
        }
        if work(self.measured) != work(self.baseline) {
            return Some(format!("`{scenario}` sends other statements in the baseline"));
        }
        if let Some(difference) = self.protocol_difference() {
            return Some(difference);
        }
        let [obstacles, _] = self.environment_differences(spec);
        if !obstacles.is_empty() {
            return Some(obstacles.join(", "));
        }
        let no_scale = ours.qps.is_some() && pair.theirs.qps == Some(MilliRate(0));
        no_scale.then(|| "the baseline's rate is 0".to_owned())
    }

    /// What was done otherwise, so that the rates answer two questions. Of published numbers only
    /// one thing is known: an open loop, whose rate is what was asked for, would have said so.
    fn protocol_difference(&self) -> Option<String> {
        let ours = self.measured.protocol.as_ref();
        let theirs = self.baseline.protocol.as_ref();
        let open = |side: Option<&Protocol>| side.and_then(|protocol| protocol.open_loop);
        if open(ours) != open(theirs) {
            let pace = |side| open(side).map_or_else(|| "no rate".to_owned(), pace_words);
            return Some(format!("{} asked for here, {} there", pace(ours), pace(theirs)));
        }
        let (ours, theirs) = (ours?, theirs?);
        if ours.statements != theirs.statements {
            let (our, their) = (ours.statements.name(), theirs.statements.name());
            return Some(format!("statements as {our} here, as {their} there"));
        }
        let (our, their) = (ours.keys.name(), theirs.keys.name());
        (our != their).then(|| format!("keys by the {our} law here, by the {their} law there"))
    }

    /// What the two were measured in or on that is not the same: that which forbids a comparison,
    /// and that which is meant to differ. Where one side does not know it, nothing is said.
    fn environment_differences(&self, spec: &SpecId) -> [Vec<String>; 2] {
        let sides = [self.measured, self.baseline].map(|side| side.environment.get(spec));
        let [Some(ours), Some(theirs)] = sides else {
            return [Vec::new(), Vec::new()];
        };
        let (meant, obstacles): (Vec<_>, Vec<_>) = fact_differences(ours, theirs)
            .into_iter()
            .partition(|(name, _)| self.options.is_across(name));
        [obstacles, meant].map(|told| told.into_iter().map(|(_, words)| words).collect())
    }

    /// Two clients may measure one server differently: the numbers are compared, and it is said.
    fn engines_note(&self) -> Option<String> {
        let (ours, theirs) = (engine_of(self.measured)?, engine_of(self.baseline)?);
        (ours != theirs).then(|| format!("engine {ours} against {theirs}"))
    }

    fn rehearsal_note(&self) -> Option<String> {
        let side = match (is_rehearsal(self.measured), is_rehearsal(self.baseline)) {
            (true, _) => "measured in a rehearsal",
            (false, true) => "the baseline is a rehearsal",
            (false, false) => return None,
        };
        Some(side.to_owned())
    }
}

/// What the two cells' numbers say of each other.
fn findings(ours: &ResultCell, theirs: &ResultCell) -> Option<Findings> {
    let rates = |cell: &ResultCell| -> Vec<f64> {
        cell.values.iter().map(|rate| rate.per_second()).collect()
    };
    let (our, their) = (ours.qps?.per_second(), theirs.qps?.per_second());
    match (&rates(ours)[..], &rates(theirs)[..]) {
        ([], []) => one_sample(&[our], our, their),
        (ours, []) => one_sample(ours, our, their),
        ([], theirs) => one_sample(theirs, their, our).map(Findings::inverse),
        (ours, theirs) => two_samples(ours, theirs),
    }
}

/// Why a verdict cannot follow, and what would help.
fn powerless(pair: &Pair) -> String {
    let trials = |cell: &ResultCell| cell.values.len();
    match (pair.ours.map_or(0, trials), trials(pair.theirs)) {
        (0, 0) => "two published numbers: nothing is known of their noise".to_owned(),
        (ours, 0) => format!("{ours} of 3 repeats that an interval needs"),
        (0, theirs) => format!("{theirs} of 3 repeats that an interval needs"),
        (ours, theirs) => {
            format!("{ours} against {theirs} repeats can show nothing; 4 against 4 could")
        }
    }
}

fn pace_words(open: OpenLoop) -> String {
    format!("{} events/s ({})", open.rate.per_second(), open.arrivals.name())
}

/// Whose load it was; a published number does not say.
fn engine_of(results: &ResultSet) -> Option<&str> {
    match &results.source {
        ResultSource::Measured { engine, .. } => Some(engine),
        ResultSource::Published { .. } => None,
    }
}

fn is_rehearsal(results: &ResultSet) -> bool {
    matches!(results.source, ResultSource::Measured { rehearsal: Some(_), .. })
}

/// What must be equal for two rates to mean the same: script, read type, statements per event.
fn work_of(scenario: &Scenario) -> impl PartialEq + use<> {
    (Arc::clone(&scenario.workload), scenario.read_type(), scenario.queries_per_event())
}

/// What else differs between the two cells.
fn differences(ours: &ResultCell, theirs: &ResultCell) -> Vec<String> {
    let mut notes = Vec::new();
    if let (Some(our), Some(their)) = (ours.concurrency, theirs.concurrency)
        && our != their
    {
        notes.push(format!("concurrency {our} against {their}"));
    }
    if shape(ours) != shape(theirs) {
        notes.push(format!("tables {} against {}", shape(ours), shape(theirs)));
    }
    notes
}

/// Tables x rows.
fn shape(cell: &ResultCell) -> String {
    format!("{} x {}", cell.tables, cell.table_size)
}

fn joined(notes: &[String]) -> Option<String> {
    (!notes.is_empty()).then(|| notes.join("; "))
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
