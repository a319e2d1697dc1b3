//! The runs of one matrix in order: each cell's series, where it was split, what changed in it.
//!
//! Must not know: how runs are found, or how a history is printed.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::model::{
    Facts, Ladder, MilliRate, Publish, ReadType, ResultCell, ResultSet, ResultSource, ScenarioId,
    SpecId, Workload,
};

use super::change_points::{Sighting, sightings};

/// What happened to the cells of a matrix from run to run.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The runs, the oldest first; all else refers to them by index.
    pub runs: Vec<HistoryRun>,
    /// Cells with a number in some run, in the order in which they first had one.
    pub cells: Vec<CellHistory>,
    /// What changed, the oldest first; at most one for each run.
    pub alerts: Vec<Alert>,
    /// Where cells began a further series, and why.
    pub splits: Vec<Split>,
}

/// A run of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryRun {
    /// Its directory's name.
    pub name: String,
    /// `YYYY-MM-DD`.
    pub date: String,
}

/// One cell through all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CellHistory {
    /// Which scenario.
    pub scenario: ScenarioId,
    /// Which spec.
    pub spec: SpecId,
    /// Which concurrency; `None` where runs publish the peak, at whatever concurrency it is.
    pub concurrency: Option<u32>,
    /// Its series, by their first runs; runs of one environment are one series, also where others
    /// come between them.
    pub series: Vec<CellSeries>,
}

/// Numbers that may be compared, the oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct CellSeries {
    /// The numbers.
    pub points: Vec<HistoryPoint>,
    /// The changes; their indices are those of the points.
    pub changes: Vec<Sighting>,
}

/// What a cell was in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryPoint {
    /// Index of the run.
    pub run: usize,
    /// The published rate.
    pub qps: MilliRate,
}

/// Everything that was first seen with one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Alert {
    /// Index of the run.
    pub run: usize,
    /// The cells that changed.
    pub changes: Vec<CellChange>,
}

/// A change in one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct CellChange {
    /// Index of the cell.
    pub cell: usize,
    /// Index of its series.
    pub series: usize,
    /// Index of the last run of the level before.
    pub last_before: usize,
    /// Index of the first run of the new level.
    pub since: usize,
    /// The change as it was seen.
    pub sighting: Sighting,
    /// What else changed between those two runs.
    pub reasons: Vec<FactChange>,
}

impl CellChange {
    /// The change as a share of the level before: -0.1 is 10 % less.
    pub fn share(&self) -> f64 {
        self.sighting.after / self.sighting.before - 1.0
    }

    /// Whether the rate fell.
    pub fn is_worse(&self) -> bool {
        self.sighting.after < self.sighting.before
    }
}

/// Where cells began a further series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Index of the run.
    pub run: usize,
    /// Index of the run before it that has a number of these cells.
    pub before: usize,
    /// Indices of the cells.
    pub cells: Vec<usize>,
    /// What keeps the numbers apart.
    pub reasons: Vec<FactChange>,
}

/// Something that was not the same in two runs; without values, something that has no short name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactChange {
    /// Its dotted name.
    pub name: String,
    /// What it was before, if anything.
    pub before: Option<String>,
    /// What it is after, if anything.
    pub after: Option<String>,
}

impl fmt::Display for FactChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Option<String>| {
            value.as_ref().map_or_else(|| "absent".to_owned(), |value| format!("`{value}`"))
        };
        match (&self.before, &self.after) {
            (None, None) => write!(f, "{} changed", self.name),
            (before, after) => write!(f, "{} {} -> {}", self.name, text(before), text(after)),
        }
    }
}

/// The history of these runs of one matrix, the oldest first.
///
/// A number joins those that were measured alike: by one protocol, on one dataset, by one client
/// over one kind of connection. What the server is does not matter: that is what a history is for.
pub fn history(runs: &[ResultSet]) -> History {
    let mut tracks: Vec<Track<'_>> = Vec::new();
    let mut splits: Vec<Split> = Vec::new();
    for (run, results) in runs.iter().enumerate() {
        for (cell, qps) in results.cells.iter().filter_map(|cell| Some((cell, cell.qps?))) {
            let key = (&cell.scenario, &cell.spec, level(results, cell));
            let index = tracks.iter().position(|track| track.key == key).unwrap_or_else(|| {
                tracks.push(Track { key, series: Vec::new() });
                tracks.len() - 1
            });
            let measured = Measured::of(run, results, cell, qps);
            if let Some((before, reasons)) = tracks[index].add(measured) {
                note_split(&mut splits, Split { run, before, cells: vec![index], reasons });
            }
        }
    }
    let cells: Vec<CellHistory> = tracks.iter().map(Track::cell).collect();
    let alerts = alerts(&tracks, &cells);
    let run = |results: &ResultSet| HistoryRun { name: results.name.clone(), date: date(results) };
    History { runs: runs.iter().map(run).collect(), cells, alerts, splits }
}

/// Cells that are split at the same runs for the same reasons are told together.
fn note_split(splits: &mut Vec<Split>, split: Split) {
    let known = splits.iter_mut().find(|known| {
        (known.run, known.before) == (split.run, split.before) && known.reasons == split.reasons
    });
    match known {
        Some(known) => known.cells.extend(split.cells),
        None => splits.push(split),
    }
}

fn alerts(tracks: &[Track<'_>], cells: &[CellHistory]) -> Vec<Alert> {
    let mut alerts: Vec<Alert> = Vec::new();
    for (cell, (track, history)) in tracks.iter().zip(cells).enumerate() {
        for (series, found) in history.series.iter().enumerate() {
            for sighting in &found.changes {
                let measured = |at: usize| &track.series[series][at];
                let (last, first) = (measured(sighting.at - 1), measured(sighting.at));
                let change = CellChange {
                    cell,
                    series,
                    last_before: last.run,
                    since: first.run,
                    sighting: *sighting,
                    reasons: last.reasons(first),
                };
                let run = measured(sighting.seen).run;
                match alerts.iter_mut().find(|alert| alert.run == run) {
                    Some(alert) => alert.changes.push(change),
                    None => alerts.push(Alert { run, changes: vec![change] }),
                }
            }
        }
    }
    alerts.sort_by_key(|alert| alert.run);
    // Cells with one beginning stand together.
    alerts.iter_mut().for_each(|alert| alert.changes.sort_by_key(|change| change.since));
    alerts
}

/// A cell and what was measured of it, by series.
struct Track<'a> {
    key: (&'a ScenarioId, &'a SpecId, Option<u32>),
    series: Vec<Vec<Measured<'a>>>,
}

impl<'a> Track<'a> {
    /// Adds a number to the series that it belongs to. Where it begins a further one: the run
    /// before it, and what keeps the two apart.
    fn add(&mut self, measured: Measured<'a>) -> Option<(usize, Vec<FactChange>)> {
        let own = self.series.iter_mut().find(|series| series[0].is_alike(&measured));
        if let Some(series) = own {
            series.push(measured);
            return None;
        }
        let latest = self.series.iter().filter_map(|series| series.last());
        let before = latest.max_by_key(|before| before.run);
        let split = before.map(|before| (before.run, before.obstacles(&measured)));
        self.series.push(vec![measured]);
        split
    }

    fn cell(&self) -> CellHistory {
        let series = |measured: &Vec<Measured<'_>>| {
            let rates: Vec<f64> = measured.iter().map(|point| point.qps.per_second()).collect();
            let point = |of: &Measured<'_>| HistoryPoint { run: of.run, qps: of.qps };
            let points = measured.iter().map(point).collect();
            CellSeries { points, changes: sightings(&rates) }
        };
        CellHistory {
            scenario: self.key.0.clone(),
            spec: self.key.1.clone(),
            concurrency: self.key.2,
            series: self.series.iter().map(series).collect(),
        }
    }
}

/// A cell's number in a run, with how it came about.
struct Measured<'a> {
    run: usize,
    qps: MilliRate,
    facts: Facts,
    work: Option<(&'a Arc<Workload>, Option<ReadType>, u32)>,
}

impl<'a> Measured<'a> {
    fn of(run: usize, results: &'a ResultSet, cell: &ResultCell, qps: MilliRate) -> Self {
        let scenario = results.scenarios.iter().find(|known| known.id == cell.scenario);
        Self {
            run,
            qps,
            facts: facts(results, cell),
            work: scenario.map(|of| (&of.workload, of.read_type(), of.queries_per_event())),
        }
    }

    /// Whether two numbers answer one question.
    fn is_alike(&self, other: &Self) -> bool {
        self.obstacles(other).is_empty()
    }

    /// What keeps this number and a later one apart.
    fn obstacles(&self, later: &Self) -> Vec<FactChange> {
        let mut changes = differences(&self.facts, &later.facts, splits);
        if self.work != later.work {
            let name = "scenario.statements".to_owned();
            changes.push(FactChange { name, before: None, after: None });
        }
        changes
    }

    /// What may explain that a later number of the series is another one: the versions first.
    fn reasons(&self, later: &Self) -> Vec<FactChange> {
        let mut changes = differences(&self.facts, &later.facts, |name| !splits(name));
        changes.sort_by_key(|change| !change.name.ends_with("version"));
        changes
    }
}

/// Whether numbers with two values of a fact are two series.
fn splits(name: &str) -> bool {
    let explains = ["server.", "cell.", "gridbench."];
    !explains.iter().any(|beginning| name.starts_with(beginning))
}

fn differences(before: &Facts, after: &Facts, wanted: fn(&str) -> bool) -> Vec<FactChange> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let names = names.into_iter().filter(|name| wanted(name.as_str()));
    let change = |name: &String| {
        let (before, after) = (before.get(name).cloned(), after.get(name).cloned());
        (before != after).then(|| FactChange { name: name.clone(), before, after })
    };
    names.filter_map(change).collect()
}

/// What is known of how a cell was measured: the environment, and what else decides what its
/// number means.
fn facts(results: &ResultSet, cell: &ResultCell) -> Facts {
    let mut facts = results.environment.get(&cell.spec).cloned().unwrap_or_default();
    let mut add = |name: &str, value: String| _ = facts.insert(name.to_owned(), value);
    if let ResultSource::Measured { tool_version, engine, .. } = &results.source {
        add("gridbench.version", tool_version.clone());
        add("protocol.engine", engine.clone());
    }
    if let Some(protocol) = &results.protocol {
        add("protocol.statements", protocol.statements.name().to_owned());
        add("protocol.keys", protocol.keys.name().to_owned());
        if let Some(open) = protocol.open_loop {
            let rate = open.rate.per_second();
            add("protocol.rate", format!("{rate} events/s ({})", open.arrivals.name()));
        }
        if protocol.publish == Publish::Peak {
            add("protocol.concurrency", ladder(&protocol.concurrency));
        }
    }
    if let Some(spec) = results.specs.iter().find(|spec| spec.id == cell.spec) {
        add("spec.cpu", spec.cpu.to_string());
        add("spec.memory_bytes", spec.memory.0.to_string());
    }
    add("dataset.published", format!("{} x {}", cell.tables, cell.table_size));
    if let Some(concurrency) = cell.concurrency {
        add("cell.concurrency", concurrency.to_string());
    }
    facts
}

fn ladder(ladder: &Ladder) -> String {
    match ladder {
        Ladder::Levels(levels) => levels.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
        Ladder::Published => "published".to_owned(),
    }
}

/// What tells cells of one scenario and spec apart.
fn level(results: &ResultSet, cell: &ResultCell) -> Option<u32> {
    let is_peak = results.protocol.as_ref().is_none_or(|of| of.publish == Publish::Peak);
    cell.concurrency.filter(|_| !is_peak)
}

fn date(results: &ResultSet) -> String {
    match &results.source {
        ResultSource::Measured { date, .. } | ResultSource::Published { date, .. } => date.clone(),
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
