//! A comparison as a table, Markdown, CSV or JSON.
//!
//! A rehearsal is named before the first cell. Must not know: how verdicts come about.

use serde::Serialize;

use super::markdown;
use crate::model::{CellComparison, Comparison};
use crate::stats::{geometric_mean_ratio, verdict_counts};
use crate::ui::{Align, Table, figures};

const REHEARSAL: &str =
    "Rehearsal: memory and data were shrunk, so no cell can be compared and no ratio is given.";

/// Aligned columns for a terminal, with the summary.
pub fn comparison_table(comparison: &Comparison) -> String {
    let mut table = Table::new(&[
        ("scenario", Align::Left),
        ("spec", Align::Left),
        ("concurrency", Align::Right),
        ("measured QPS", Align::Right),
        ("baseline QPS", Align::Right),
        ("ratio", Align::Right),
        ("verdict", Align::Left),
        ("note", Align::Left),
    ]);
    for cell in &comparison.cells {
        table.row(texts(cell).to_vec());
    }
    let opening = comparison_opening(comparison);
    format!("{opening}\n\n{}\n{}\n", table.render(), comparison_summary(comparison))
}

/// A Markdown table with the summary.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let mut rows = vec![
        "| Scenario | Spec | Concurrency | Measured QPS | Baseline QPS | Ratio | Verdict | Note |"
            .to_owned(),
        "| --- | --- | ---: | ---: | ---: | ---: | --- | --- |".to_owned(),
    ];
    for cell in &comparison.cells {
        let texts = texts(cell).map(|text| markdown::escape(&text));
        rows.push(format!("| {} |", texts.join(" | ")));
    }
    let opening = markdown::escape(&comparison_opening(comparison));
    let table = markdown::align_table(&rows.join("\n"));
    format!("{opening}\n\n{table}\n\n{}\n", comparison_summary(comparison))
}

/// A row per cell; an unknown is empty. QPS has two decimals at most, the ratio four.
pub fn comparison_csv(comparison: &Comparison) -> String {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.write_record(COLUMNS).expect("writing a flat row to memory cannot fail");
    for cell in &comparison.cells {
        writer.serialize(CellRow::from(cell)).expect("writing a flat row to memory cannot fail");
    }
    let bytes = writer.into_inner().expect("memory can always be flushed");
    String::from_utf8(bytes).expect("rows are made of UTF-8 texts")
}

/// One object: both names, the threshold, the cells, the summary.
pub fn comparison_json(comparison: &Comparison) -> String {
    let whole = WholeComparison {
        measured: &comparison.measured,
        baseline: &comparison.baseline,
        threshold_percent: comparison.threshold * 100.0,
        rehearsal: comparison.rehearsal,
        geometric_mean_ratio: geometric_mean_ratio(comparison),
        verdicts: verdict_counts(comparison).iter().map(|(v, n)| (v.name(), *n)).collect(),
        cells: comparison.cells.iter().map(CellRow::from).collect(),
    };
    let text = serde_json::to_string_pretty(&whole).expect("plain fields always serialise");
    format!("{text}\n")
}

/// One line: how the ratios lie on average, and how many cells got which verdict.
pub fn comparison_summary(comparison: &Comparison) -> String {
    let counts = verdict_counts(comparison);
    let verdicts: Vec<String> =
        counts.iter().map(|(verdict, count)| format!("{count} {}", verdict.name())).collect();
    let cells = match verdicts.is_empty() {
        true => "no cells".to_owned(),
        false => verdicts.join(", "),
    };
    match geometric_mean_ratio(comparison) {
        Some(mean) => {
            let compared = comparison.cells.iter().filter(|cell| cell.ratio.is_some()).count();
            format!("Geometric mean of {compared} ratios: {mean:.4}; {cells}.")
        }
        None => format!("No ratio; {cells}."),
    }
}

/// The first line: what stands against what, or that nothing can.
pub fn comparison_opening(comparison: &Comparison) -> String {
    let Comparison { measured, baseline, threshold, rehearsal, .. } = comparison;
    match rehearsal {
        true => format!("{REHEARSAL} ({measured} against {baseline})"),
        false => {
            let percent = (threshold * 1e8).round() / 1e6;
            format!("{measured} against {baseline}, threshold {percent} %")
        }
    }
}

fn texts(cell: &CellComparison) -> [String; 8] {
    let dash = || "-".to_owned();
    [
        cell.scenario.to_string(),
        cell.spec.to_string(),
        concurrency(cell.concurrency),
        cell.measured.map_or_else(dash, figures::rate),
        cell.baseline.map_or_else(dash, figures::rate),
        cell.ratio.map_or_else(dash, |ratio| format!("{ratio:.3}")),
        cell.verdict.name().to_owned(),
        cell.note.clone().unwrap_or_default(),
    ]
}

/// `64` where both sides agree, `128/64` where they do not.
fn concurrency((ours, theirs): (Option<u32>, Option<u32>)) -> String {
    let text = |level: Option<u32>| level.map_or_else(|| "-".to_owned(), |n| n.to_string());
    if ours == theirs { text(ours) } else { format!("{}/{}", text(ours), text(theirs)) }
}

#[derive(Debug, Serialize)]
struct WholeComparison<'a> {
    measured: &'a str,
    baseline: &'a str,
    threshold_percent: f64,
    rehearsal: bool,
    geometric_mean_ratio: Option<f64>,
    verdicts: std::collections::BTreeMap<&'static str, usize>,
    cells: Vec<CellRow>,
}

/// The fields of [`CellRow`]: written even where there is no cell.
const COLUMNS: [&str; 9] = [
    "scenario",
    "spec",
    "concurrency_measured",
    "concurrency_baseline",
    "qps_measured",
    "qps_baseline",
    "ratio",
    "verdict",
    "note",
];

#[derive(Debug, Serialize)]
struct CellRow {
    scenario: String,
    spec: String,
    concurrency_measured: Option<u32>,
    concurrency_baseline: Option<u32>,
    qps_measured: Option<f64>,
    qps_baseline: Option<f64>,
    ratio: Option<f64>,
    verdict: &'static str,
    note: Option<String>,
}

impl From<&CellComparison> for CellRow {
    fn from(cell: &CellComparison) -> Self {
        let rounded = |value: f64, unit: f64| (value * unit).round() / unit;
        Self {
            scenario: cell.scenario.to_string(),
            spec: cell.spec.to_string(),
            concurrency_measured: cell.concurrency.0,
            concurrency_baseline: cell.concurrency.1,
            qps_measured: cell.measured.map(|rate| rounded(rate.per_second(), 100.0)),
            qps_baseline: cell.baseline.map(|rate| rounded(rate.per_second(), 100.0)),
            ratio: cell.ratio.map(|ratio| rounded(ratio, 10_000.0)),
            verdict: cell.verdict.name(),
            note: cell.note.clone(),
        }
    }
}
