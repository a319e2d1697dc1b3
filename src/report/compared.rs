//! The comparison model: two results beside each other, everything that a page of them can say.
//!
//! Wire types, as in [`super::model`]: integers with the unit in the name, an unknown is `none`.
//! Must not know: how verdicts come about, templates.

use serde::Serialize;

use super::build::{Notes, page_model};
use super::model::{
    MeasuredPart, NotePart, PageModel, PublishedPart, RehearsalPart, ScenarioPart, SpecPart,
};
use crate::model::{CellComparison, Comparison, MilliRate, ResultCell, ResultSet};
use crate::stats::{NOT_MEASURED, geometric_mean_ratio, verdict_counts};

/// A page of a comparison. Its fields are a template's top-level names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparisonModel {
    /// gridbench's version that makes the page.
    pub tool_version: &'static str,
    /// The results that are held up.
    pub new: ComparedPart,
    /// What they are held against.
    pub old: ComparedPart,
    /// Set when either side is a rehearsal; every layout must then say so.
    pub rehearsal: bool,
    /// A difference of at most this share is taken for none, millionths; cells may have their own.
    pub threshold_ppm: u64,
    /// The largest difference between equal things that an A/A run found, millionths.
    pub noise_ppm: Option<u64>,
    /// The geometric mean of the cells' ratios, millionths.
    pub mean_ratio_ppm: Option<u64>,
    /// How many cells got which verdict; verdicts that none got are absent.
    pub verdicts: Vec<VerdictPart>,
    /// The tables, in the order of the old page, then what only the new one has.
    pub scenarios: Vec<ComparedScenarioPart>,
    /// What rows refer to by `note_number`, in that order.
    pub notes: Vec<NotePart>,
}

/// One side: where its numbers are from, as in the page model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedPart {
    /// A run's directory name, or a baseline's.
    pub name: String,
    /// The title of its page.
    pub title: String,
    /// `full-cache` or `larger-than-memory`.
    pub class: &'static str,
    /// `YYYY-MM-DD`.
    pub date: String,
    /// Set for a rehearsal.
    pub rehearsal: Option<RehearsalPart>,
    /// Set for a baseline that somebody printed.
    pub published: Option<PublishedPart>,
    /// Set for a run.
    pub measured: Option<MeasuredPart>,
}

/// How often a verdict was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerdictPart {
    /// The verdict.
    pub name: &'static str,
    /// Cells that got it.
    pub count: usize,
}

/// A scenario and its cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedScenarioPart {
    /// Its id.
    pub id: String,
    /// What a heading calls it: `title`, `access` or `workload`.
    pub naming: &'static str,
    /// Its own title, if it has one.
    pub title: Option<String>,
    /// The workload's name.
    pub workload: String,
    /// `read-only`, `read-write` or `write-only`.
    pub access: &'static str,
    /// `range select` or `point select`; `none` where it reads nothing.
    pub read_type: Option<&'static str>,
    /// Whether only the id tells it from another scenario.
    pub same_name: bool,
    /// Whether some row has events per second on both sides.
    pub has_tps: bool,
    /// The cells.
    pub rows: Vec<ComparedRowPart>,
}

/// One cell of both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedRowPart {
    /// The instance size.
    pub spec: SpecPart,
    /// Its numbers in the new results.
    pub new: ComparedSidePart,
    /// Its numbers in the old ones.
    pub old: ComparedSidePart,
    /// New rate over old one, millionths, as the verdict takes it; `none` where it says nothing.
    pub ratio_ppm: Option<u64>,
    /// The same of the 95th percentiles.
    pub p95_ratio_ppm: Option<u64>,
    /// The verdict.
    pub verdict: &'static str,
    /// Which of the page's notes belongs to the row, from 1.
    pub note_number: Option<usize>,
}

/// The numbers of a cell on one side; each `none` where there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedSidePart {
    /// Connections.
    pub concurrency: Option<u32>,
    /// Statements per second, in thousandths.
    pub qps_milli: Option<u64>,
    /// Events per second, in thousandths.
    pub tps_milli: Option<u64>,
    /// 95th percentile of events' response time, microseconds.
    pub p95_us: Option<u64>,
    /// 99th percentile of it.
    pub p99_us: Option<u64>,
    /// Trials behind the numbers.
    pub trials: u32,
}

/// Everything that a template can say about `new` against `old`, which `comparison` compares.
pub fn comparison_model(
    comparison: &Comparison,
    new: &ResultSet,
    old: &ResultSet,
) -> ComparisonModel {
    let pages = Pages { new: page_model(new), old: page_model(old) };
    let mut notes = Notes::default();
    let mut scenarios: Vec<ComparedScenarioPart> = Vec::new();
    let shown = |cell: &&CellComparison| cell.note.as_deref() != Some(NOT_MEASURED);
    for cell in comparison.cells.iter().filter(shown) {
        let (Some(scenario), Some(spec)) = (pages.scenario(cell), pages.spec(cell)) else {
            continue;
        };
        let at = scenarios.iter().position(|part| part.id == scenario.id).unwrap_or_else(|| {
            scenarios.push(scenario_part(scenario));
            scenarios.len() - 1
        });
        let sides = (side(new, cell, cell.concurrency.0), side(old, cell, cell.concurrency.1));
        let row = row(cell, spec, sides, &mut notes);
        scenarios[at].has_tps |= row.new.tps_milli.is_some() && row.old.tps_milli.is_some();
        scenarios[at].rows.push(row);
    }
    let verdicts = verdict_counts(comparison).into_iter();
    ComparisonModel {
        tool_version: env!("CARGO_PKG_VERSION"),
        new: compared(pages.new),
        old: compared(pages.old),
        rehearsal: comparison.rehearsal,
        threshold_ppm: millionths(comparison.threshold),
        noise_ppm: comparison.noise.map(millionths),
        mean_ratio_ppm: geometric_mean_ratio(comparison).map(millionths),
        verdicts: verdicts
            .map(|(verdict, count)| VerdictPart { name: verdict.name(), count })
            .collect(),
        scenarios,
        notes: notes.list,
    }
}

/// Both sides as pages of their own.
struct Pages {
    new: PageModel,
    old: PageModel,
}

impl Pages {
    fn scenario(&self, cell: &CellComparison) -> Option<&ScenarioPart> {
        let mut all = self.old.scenarios.iter().chain(&self.new.scenarios);
        all.find(|part| part.id == cell.scenario.as_str())
    }

    fn spec(&self, cell: &CellComparison) -> Option<&SpecPart> {
        self.old.specs.iter().chain(&self.new.specs).find(|part| part.id == cell.spec.as_str())
    }
}

fn compared(page: PageModel) -> ComparedPart {
    ComparedPart {
        name: page.name,
        title: page.title,
        class: page.class,
        date: page.date,
        rehearsal: page.rehearsal,
        published: page.published,
        measured: page.measured,
    }
}

fn scenario_part(scenario: &ScenarioPart) -> ComparedScenarioPart {
    ComparedScenarioPart {
        id: scenario.id.clone(),
        naming: scenario.naming,
        title: scenario.title.clone(),
        workload: scenario.workload.clone(),
        access: scenario.access,
        read_type: scenario.read_type,
        same_name: scenario.same_name,
        has_tps: false,
        rows: Vec::new(),
    }
}

fn row(
    cell: &CellComparison,
    spec: &SpecPart,
    (new, old): (ComparedSidePart, ComparedSidePart),
    notes: &mut Notes,
) -> ComparedRowPart {
    ComparedRowPart {
        spec: spec.clone(),
        ratio_ppm: cell.ratio.map(millionths),
        // Where the rates say nothing of each other, neither do the times.
        p95_ratio_ppm: cell.ratio.and_then(|_| quotient_ppm(new.p95_us?, old.p95_us?)),
        verdict: cell.verdict.name(),
        note_number: cell.note.clone().map(|note| notes.number(Some(note))),
        new,
        old,
    }
}

/// The numbers of a cell on the side of `results`, where it has one at that concurrency.
fn side(results: &ResultSet, cell: &CellComparison, concurrency: Option<u32>) -> ComparedSidePart {
    let is_same = |other: &&ResultCell| {
        other.scenario == cell.scenario
            && other.spec == cell.spec
            && other.concurrency == concurrency
    };
    let found = results.cells.iter().find(is_same);
    let milli = |rate: Option<MilliRate>| rate.map(|rate| rate.0);
    ComparedSidePart {
        concurrency,
        qps_milli: found.and_then(|cell| milli(cell.qps)),
        tps_milli: found.and_then(|cell| milli(cell.tps)),
        p95_us: found.and_then(|cell| cell.p95_us),
        p99_us: found.and_then(|cell| cell.p99_us),
        trials: found.map_or(0, |cell| cell.trials),
    }
}

fn quotient_ppm(new: u64, old: u64) -> Option<u64> {
    let scaled = u128::from(new) * 1_000_000 + u128::from(old / 2);
    u64::try_from(scaled.checked_div(u128::from(old))?).ok()
}

/// A share that is 0 or more, in millionths.
fn millionths(share: f64) -> u64 {
    (share * 1e6).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotient_is_rounded_and_nothing_is_divided_by_nothing() {
        assert_eq!(quotient_ppm(3, 2), Some(1_500_000));
        assert_eq!(quotient_ppm(2, 3), Some(666_667));
        assert_eq!(quotient_ppm(0, 3), Some(0));
        assert_eq!(quotient_ppm(1, 0), None);
        assert_eq!(quotient_ppm(u64::MAX, 1), None);
        assert_eq!(millionths(0.05), 50_000);
    }
}
