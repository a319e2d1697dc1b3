//! A history of runs as text, Markdown, CSV or JSON.
//!
//! Must not know: how a change is found, or which runs there are.

use serde::Serialize;

use super::markdown;
use crate::model::{MilliRate, counted};
use crate::stats::{
    Alert, CellChange, CellHistory, CellSeries, FactChange, History, HistoryPoint, HistoryRun,
    SHORTEST_SERIES, Split,
};
use crate::ui::{Align, Table, figures, paragraph};

/// So many reasons are told in a sentence; of more, how many they are. JSON has all.
const TOLD_IN_FULL: usize = 6;

/// A matrix's history.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HistoryReport<'a> {
    /// The matrix's name.
    pub matrix: &'a str,
    /// Rehearsals of it, which are left out.
    pub rehearsals: usize,
    /// What its runs say.
    pub history: &'a History,
}

/// For a terminal: the alerts, the series, where they were split.
pub fn history_text(report: &HistoryReport<'_>) -> String {
    let mut text = paragraph("", "", &history_opening(report));
    for alert in &report.history.alerts {
        text += &format!("\n{}", paragraph("", "  ", &heading(report, alert)));
        let (columns, rows) = changes(report, alert);
        text +=
            &plain(&columns, rows).lines().map(|line| format!("  {line}\n")).collect::<String>();
        for reason in reasons(report, alert) {
            text += &paragraph("  ", "  ", &reason);
        }
    }
    if !report.history.cells.is_empty() {
        let (columns, rows) = series(report);
        text += &format!("\n{}", plain(&columns, rows));
    }
    for split in splits(report) {
        text += &format!("\n{}", paragraph("", "", &split));
    }
    text
}

/// The same in Markdown.
pub fn history_markdown(report: &HistoryReport<'_>) -> String {
    let mut text = markdown::escape(&history_opening(report)) + "\n";
    for alert in &report.history.alerts {
        text += &format!("\n{}\n", markdown::escape(&heading(report, alert)));
        let (columns, rows) = changes(report, alert);
        text += &format!("\n{}\n", marked(&columns, &rows));
        for reason in reasons(report, alert) {
            text += &format!("\n{}\n", markdown::escape(&reason));
        }
    }
    if !report.history.cells.is_empty() {
        let (columns, rows) = series(report);
        text += &format!("\n{}\n", marked(&columns, &rows));
    }
    for split in splits(report) {
        text += &format!("\n{}\n", markdown::escape(&split));
    }
    text
}

/// A row per cell and run; what is told of a change stands in the row of the run in which it was
/// first seen.
pub fn history_csv(report: &HistoryReport<'_>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write =
        |row: [String; 13]| writer.write_record(row).expect("writing to memory cannot fail");
    write(COLUMNS.map(str::to_owned));
    for (index, cell) in report.history.cells.iter().enumerate() {
        for (number, series) in cell.series.iter().enumerate() {
            for point in &series.points {
                let told = report.history.alerts.iter().filter(|alert| alert.run == point.run);
                let mut told = told.flat_map(|alert| &alert.changes);
                let change = told.find(|told| (told.cell, told.series) == (index, number));
                write(csv_row(report, (cell, number + 1), (point.run, point.qps), change));
            }
        }
    }
    let bytes = writer.into_inner().expect("memory can always be flushed");
    String::from_utf8(bytes).expect("rows are made of UTF-8 texts")
}

/// One object: the runs, the alerts, the cells with their series, the splits.
pub fn history_json(report: &HistoryReport<'_>) -> String {
    let history = report.history;
    let whole = WholeHistory {
        matrix: report.matrix,
        rehearsals_left_out: report.rehearsals,
        shortest_series: SHORTEST_SERIES,
        runs: history.runs.iter().map(|of| RunObject { name: &of.name, date: &of.date }).collect(),
        alerts: history.alerts.iter().map(|alert| alert_object(history, alert)).collect(),
        cells: history.cells.iter().map(|cell| cell_object(history, cell)).collect(),
        splits: history.splits.iter().map(|split| split_object(history, split)).collect(),
    };
    let text = serde_json::to_string_pretty(&whole).expect("plain fields always serialise");
    format!("{text}\n")
}

/// How many runs, from when to when, and how often something changed.
pub fn history_opening(report: &HistoryReport<'_>) -> String {
    let History { runs, cells, alerts, .. } = report.history;
    let span = match (runs.first(), runs.last()) {
        (Some(first), Some(last)) => format!(", {} to {}", first.date, last.date),
        _ => String::new(),
    };
    let alerts = match alerts.len() {
        0 => "no change".to_owned(),
        count => counted(count, "alert"),
    };
    let left_out = match report.rehearsals {
        0 => String::new(),
        count => format!("; {} left out", counted(count, "rehearsal")),
    };
    let (runs, cells) = (counted(runs.len(), "run"), counted(cells.len(), "cell"));
    format!("{}: {runs}{span}, {cells}, {alerts}{left_out}.", report.matrix)
}

type Columns = Vec<(&'static str, Align)>;

fn plain(columns: &[(&str, Align)], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new(columns);
    rows.into_iter().for_each(|row| table.row(row));
    table.render()
}

fn marked(columns: &[(&str, Align)], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let rule = |(_, align): &(&str, Align)| match align {
        Align::Left => "---".to_owned(),
        Align::Right => "---:".to_owned(),
    };
    let mut lines = vec![
        line(columns.iter().map(|(name, _)| (*name).to_owned()).collect()),
        line(columns.iter().map(rule).collect()),
    ];
    lines.extend(rows.iter().map(|row| line(row.iter().map(|t| markdown::escape(t)).collect())));
    markdown::align_table(&lines.join("\n"))
}

/// `2026-01-13 RUN: 2 cells slower, 1 cell faster.`
fn heading(report: &HistoryReport<'_>, alert: &Alert) -> String {
    let HistoryRun { name, date } = &report.history.runs[alert.run];
    let worse = alert.changes.iter().filter(|change| change.is_worse()).count();
    let told = [(worse, "slower"), (alert.changes.len() - worse, "faster")];
    let told = told.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> =
        told.map(|(count, how)| format!("{} {how}", counted(*count, "cell"))).collect();
    format!("{date} {name}: {}.", told.join(", "))
}

fn changes(report: &HistoryReport<'_>, alert: &Alert) -> (Columns, Vec<Vec<String>>) {
    let columns = vec![
        ("scenario", Align::Left),
        ("spec", Align::Left),
        ("concurrency", Align::Right),
        ("since", Align::Left),
        ("QPS before", Align::Right),
        ("QPS after", Align::Right),
        ("change", Align::Right),
        ("p", Align::Right),
        ("note", Align::Left),
    ];
    let row = |change: &CellChange| {
        let cell = &report.history.cells[change.cell];
        let note = if change.sighting.holds { "" } else { "not in all runs together" };
        vec![
            cell.scenario.to_string(),
            cell.spec.to_string(),
            concurrency(cell),
            report.history.runs[change.since].name.clone(),
            rate(change.sighting.before),
            rate(change.sighting.after),
            percent(change),
            format!("{:.3}", change.sighting.p),
            note.to_owned(),
        ]
    };
    (columns, alert.changes.iter().map(row).collect())
}

/// What changed where the new levels begin, each place once.
fn reasons(report: &HistoryReport<'_>, alert: &Alert) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for change in &alert.changes {
        let name = |run: usize| report.history.runs[run].name.as_str();
        let (before, since) = (name(change.last_before), name(change.since));
        let sentence = match change.reasons.is_empty() {
            true => format!("Nothing that a run keeps changed between {before} and {since}."),
            false => format!("Between {before} and {since}: {}.", listed(&change.reasons)),
        };
        if !told.contains(&sentence) {
            told.push(sentence);
        }
    }
    told
}

fn series(report: &HistoryReport<'_>) -> (Columns, Vec<Vec<String>>) {
    let columns = vec![
        ("scenario", Align::Left),
        ("spec", Align::Left),
        ("concurrency", Align::Right),
        ("series", Align::Right),
        ("from", Align::Left),
        ("to", Align::Left),
        ("runs", Align::Right),
        ("last QPS", Align::Right),
        ("changes", Align::Right),
        ("note", Align::Left),
    ];
    let row = |cell: &CellHistory, number: usize, series: &CellSeries| {
        let date = |point: Option<usize>| {
            point.map_or_else(String::new, |run| report.history.runs[run].date.clone())
        };
        let (first, last) = (series.points.first(), series.points.last());
        vec![
            cell.scenario.to_string(),
            cell.spec.to_string(),
            concurrency(cell),
            number.to_string(),
            date(first.map(|point| point.run)),
            date(last.map(|point| point.run)),
            series.points.len().to_string(),
            last.map_or_else(String::new, |point| figures::rate(point.qps)),
            series.changes.len().to_string(),
            short(series),
        ]
    };
    let of_cell = |cell: &CellHistory| -> Vec<Vec<String>> {
        cell.series.iter().zip(1..).map(|(series, number)| row(cell, number, series)).collect()
    };
    (columns, report.history.cells.iter().flat_map(of_cell).collect())
}

fn short(series: &CellSeries) -> String {
    match series.points.len() < SHORTEST_SERIES {
        true => format!("too short: a change needs {SHORTEST_SERIES} runs at least"),
        false => String::new(),
    }
}

fn splits(report: &HistoryReport<'_>) -> Vec<String> {
    let history = report.history;
    let split = |split: &Split| {
        let HistoryRun { name, date } = &history.runs[split.run];
        let cells = counted(split.cells.len(), "cell");
        let before = &history.runs[split.before].name;
        let reasons = listed(&split.reasons);
        format!("{date} {name} begins a further series of {cells}; against {before}: {reasons}.")
    };
    history.splits.iter().map(split).collect()
}

fn listed(reasons: &[FactChange]) -> String {
    let mut told: Vec<String> =
        reasons.iter().take(TOLD_IN_FULL).map(ToString::to_string).collect();
    if reasons.len() > TOLD_IN_FULL {
        told.push(format!("and {} more", reasons.len() - TOLD_IN_FULL));
    }
    told.join(", ")
}

fn concurrency(cell: &CellHistory) -> String {
    cell.concurrency.map_or_else(|| "peak".to_owned(), |level| level.to_string())
}

/// A rate per second that was computed; it is never negative.
fn rate(per_second: f64) -> String {
    figures::rate(MilliRate((per_second * 1_000.0).round() as u64))
}

fn percent(change: &CellChange) -> String {
    format!("{:+.1} %", change.share() * 100.0)
}

const COLUMNS: [&str; 13] = [
    "scenario",
    "spec",
    "concurrency",
    "series",
    "run",
    "date",
    "qps",
    "change_since",
    "qps_before",
    "qps_after",
    "change_percent",
    "p",
    "holds",
];

fn csv_row(
    report: &HistoryReport<'_>,
    (cell, series): (&CellHistory, usize),
    (run, qps): (usize, MilliRate),
    change: Option<&CellChange>,
) -> [String; 13] {
    let told = |text: &dyn Fn(&CellChange) -> String| change.map(text).unwrap_or_default();
    [
        cell.scenario.to_string(),
        cell.spec.to_string(),
        cell.concurrency.map(|level| level.to_string()).unwrap_or_default(),
        series.to_string(),
        report.history.runs[run].name.clone(),
        report.history.runs[run].date.clone(),
        figures::rate(qps),
        told(&|change| report.history.runs[change.since].name.clone()),
        told(&|change| rate(change.sighting.before)),
        told(&|change| rate(change.sighting.after)),
        told(&|change| format!("{:.2}", change.share() * 100.0)),
        told(&|change| format!("{:.3}", change.sighting.p)),
        told(&|change| change.sighting.holds.to_string()),
    ]
}

#[derive(Debug, Serialize)]
struct WholeHistory<'a> {
    matrix: &'a str,
    rehearsals_left_out: usize,
    shortest_series: usize,
    runs: Vec<RunObject<'a>>,
    alerts: Vec<AlertObject<'a>>,
    cells: Vec<CellObject<'a>>,
    splits: Vec<SplitObject<'a>>,
}

#[derive(Debug, Serialize)]
struct RunObject<'a> {
    name: &'a str,
    date: &'a str,
}

#[derive(Debug, Serialize)]
struct AlertObject<'a> {
    run: &'a str,
    date: &'a str,
    changes: Vec<ChangeObject<'a>>,
}

#[derive(Debug, Serialize)]
struct PlaceObject<'a> {
    scenario: &'a str,
    spec: &'a str,
    concurrency: Option<u32>,
}

#[derive(Debug, Serialize)]
struct ChangeObject<'a> {
    #[serde(flatten)]
    place: PlaceObject<'a>,
    series: usize,
    last_before: &'a str,
    since: &'a str,
    qps_before: f64,
    qps_after: f64,
    change_percent: f64,
    p: f64,
    holds: bool,
    reasons: Vec<FactObject<'a>>,
}

#[derive(Debug, Serialize)]
struct FactObject<'a> {
    name: &'a str,
    before: Option<&'a str>,
    after: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct CellObject<'a> {
    #[serde(flatten)]
    place: PlaceObject<'a>,
    series: Vec<SeriesObject<'a>>,
}

#[derive(Debug, Serialize)]
struct SeriesObject<'a> {
    is_too_short: bool,
    points: Vec<PointObject<'a>>,
}

#[derive(Debug, Serialize)]
struct PointObject<'a> {
    run: &'a str,
    qps: f64,
}

#[derive(Debug, Serialize)]
struct SplitObject<'a> {
    run: &'a str,
    before: &'a str,
    cells: Vec<PlaceObject<'a>>,
    reasons: Vec<FactObject<'a>>,
}

impl<'a> From<&'a FactChange> for FactObject<'a> {
    fn from(change: &'a FactChange) -> Self {
        let FactChange { name, before, after } = change;
        Self { name, before: before.as_deref(), after: after.as_deref() }
    }
}

fn place_object(cell: &CellHistory) -> PlaceObject<'_> {
    PlaceObject {
        scenario: cell.scenario.as_str(),
        spec: cell.spec.as_str(),
        concurrency: cell.concurrency,
    }
}

fn alert_object<'a>(history: &'a History, alert: &'a Alert) -> AlertObject<'a> {
    let HistoryRun { name, date } = &history.runs[alert.run];
    let changes = alert.changes.iter().map(|change| change_object(history, change)).collect();
    AlertObject { run: name, date, changes }
}

fn change_object<'a>(history: &'a History, change: &'a CellChange) -> ChangeObject<'a> {
    let rounded = |value: f64, unit: f64| (value * unit).round() / unit;
    ChangeObject {
        place: place_object(&history.cells[change.cell]),
        series: change.series + 1,
        last_before: &history.runs[change.last_before].name,
        since: &history.runs[change.since].name,
        qps_before: rounded(change.sighting.before, 1_000.0),
        qps_after: rounded(change.sighting.after, 1_000.0),
        change_percent: rounded(change.share() * 100.0, 100.0),
        p: rounded(change.sighting.p, 1_000.0),
        holds: change.sighting.holds,
        reasons: change.reasons.iter().map(FactObject::from).collect(),
    }
}

fn cell_object<'a>(history: &'a History, cell: &'a CellHistory) -> CellObject<'a> {
    let point = |of: &HistoryPoint| PointObject {
        run: &history.runs[of.run].name,
        qps: of.qps.per_second(),
    };
    let series = |series: &CellSeries| SeriesObject {
        is_too_short: series.points.len() < SHORTEST_SERIES,
        points: series.points.iter().map(point).collect(),
    };
    CellObject { place: place_object(cell), series: cell.series.iter().map(series).collect() }
}

fn split_object<'a>(history: &'a History, split: &'a Split) -> SplitObject<'a> {
    SplitObject {
        run: &history.runs[split.run].name,
        before: &history.runs[split.before].name,
        cells: split.cells.iter().map(|cell| place_object(&history.cells[*cell])).collect(),
        reasons: split.reasons.iter().map(FactObject::from).collect(),
    }
}
