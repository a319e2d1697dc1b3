//! Two result sets beside each other, cell by cell: a pure function.
//!
//! The verdict knows the threshold alone; noise is not judged here. Two numbers that do not
//! mean the same thing get no ratio, so that nobody can quote one. Must not know: how a
//! comparison is printed, or what follows from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{
    CellComparison, Comparison, MilliRate, OpenLoop, Protocol, ResultCell, ResultSet, ResultSource,
    Scenario, ScenarioId, SpecId, Verdict,
};

/// Holds `measured` against `baseline`. A difference of at most `threshold` (0.05 is 5 %) of
/// the baseline's number is [`Verdict::Within`].
///
/// Cells meet by scenario and spec. Where a side has several concurrencies, equal ones meet
/// first; if none are equal, the two highest rates meet, for a published number is a peak.
pub fn compare(measured: &ResultSet, baseline: &ResultSet, threshold: f64) -> Comparison {
    let sides = Sides { measured, baseline, threshold };
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
    Comparison {
        measured: measured.name.clone(),
        baseline: baseline.name.clone(),
        threshold,
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
    let mut seen = std::collections::BTreeSet::new();
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
    threshold: f64,
}

impl Sides<'_> {
    fn cell(&self, pair: &Pair) -> CellComparison {
        let (ours, theirs) = (pair.ours, pair.theirs);
        let measured = ours.and_then(|cell| cell.qps);
        let mut notes = self.missing_notes(pair);
        let obstacle = self.obstacle(pair);
        let (verdict, ratio) = match (measured, theirs.qps, &obstacle) {
            (_, _, Some(_)) => (Verdict::NotComparable, None),
            (Some(our), Some(their), None) => {
                let (verdict, ratio) = self.verdict(our, their);
                // Other data is another question: the ratio stands, and no verdict follows.
                let is_alike = ours.is_some_and(|ours| shape(ours) == shape(theirs));
                (if is_alike { verdict } else { Verdict::NotComparable }, ratio)
            }
            _ => (Verdict::Missing, None),
        };
        notes.extend(obstacle);
        if let Some(ours) = ours.filter(|_| notes.is_empty()) {
            notes.extend(differences(ours, theirs));
            notes.extend(self.engines_note());
            notes.extend(ours.note.clone());
            notes.extend(theirs.note.clone());
        }
        CellComparison {
            spec: theirs.spec.clone(),
            scenario: theirs.scenario.clone(),
            concurrency: (ours.and_then(|cell| cell.concurrency), theirs.concurrency),
            measured,
            baseline: theirs.qps,
            ratio,
            verdict,
            note: joined(&notes),
        }
    }

    fn ours_only(&self, cell: &ResultCell) -> CellComparison {
        let rehearsal = self.rehearsal_note();
        let verdict = match rehearsal {
            Some(_) => Verdict::NotComparable,
            None => Verdict::Missing,
        };
        let mut notes = vec!["the baseline has no such cell".to_owned()];
        notes.extend(cell.note.clone());
        notes.extend(rehearsal);
        CellComparison {
            spec: cell.spec.clone(),
            scenario: cell.scenario.clone(),
            concurrency: (cell.concurrency, None),
            measured: cell.qps,
            baseline: None,
            ratio: None,
            verdict,
            note: joined(&notes),
        }
    }

    fn verdict(&self, ours: MilliRate, theirs: MilliRate) -> (Verdict, Option<f64>) {
        let (ours, theirs) = (ours.per_second(), theirs.per_second());
        let ratio = ours / theirs;
        // A hair of slack: 95 against 100 is 5 %, whatever the last bit says.
        let within = (ours - theirs).abs() <= self.threshold * theirs + theirs * 1e-9;
        let verdict = match within {
            true => Verdict::Within,
            false if ours > theirs => Verdict::Improved,
            false => Verdict::Regressed,
        };
        (verdict, Some(ratio))
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
