//! A comparison as a table, Markdown, CSV or JSON.
//!
//! A rehearsal is named before the first cell. Must not know: how verdicts come about.

use serde::Serialize;

use super::markdown;
use crate::model::{CellComparison, Comparison, counted};
use crate::stats::{NOT_MEASURED, geometric_mean_ratio, verdict_counts};
use crate::ui::{Align, Table, figures};

const REHEARSAL: &str =
    "Rehearsal: memory and data were shrunk, so no cell can be compared and no ratio is given.";

/// Aligned columns for a terminal, with the summary.
pub fn comparison_table(comparison: &Comparison) -> String {
    let mut table = Table::new(&[
        ("scenario", Align::Left),
        ("spec", Align::Left),
        ("concurrency", Align::Right),
        ("trials", Align::Right),
        ("measured QPS", Align::Right),
        ("baseline QPS", Align::Right),
        ("ratio", Align::Right),
        ("95 % interval", Align::Left),
        ("p", Align::Right),
        ("verdict", Align::Left),
        ("note", Align::Left),
    ]);
    for cell in shown(comparison) {
        table.row(texts(cell).to_vec());
    }
    let opening = comparison_opening(comparison);
    format!("{opening}\n\n{}\n{}\n", table.render(), comparison_summary(comparison))
}

/// A Markdown table with the summary.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let mut rows = vec![
        "| Scenario | Spec | Concurrency | Trials | Measured QPS | Baseline QPS | Ratio \
         | 95 % interval | p | Verdict | Note |"
            .to_owned(),
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | --- | --- |".to_owned(),
    ];
    for cell in shown(comparison) {
        let texts = texts(cell).map(|text| markdown::escape(&text));
        rows.push(format!("| {} |", texts.join(" | ")));
    }
    let opening = markdown::escape(&comparison_opening(comparison));
    let table = markdown::align_table(&rows.join("\n"));
    format!("{opening}\n\n{table}\n\n{}\n", comparison_summary(comparison))
}

/// A row per cell; an unknown is empty. QPS has two decimals at most, the ratio four.
pub fn comparison_csv(comparison: &Comparison) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let rows = comparison.cells.iter().map(csv_row);
    for row in std::iter::once(COLUMNS.map(str::to_owned)).chain(rows) {
        writer.write_record(row).expect("writing a row to memory cannot fail");
    }
    let bytes = writer.into_inner().expect("memory can always be flushed");
    String::from_utf8(bytes).expect("rows are made of UTF-8 texts")
}

/// One object: both names, the threshold, the cells, the summary.
pub fn comparison_json(comparison: &Comparison) -> String {
    let whole = WholeComparison {
        measured: &comparison.measured,
        baseline: &comparison.baseline,
        threshold_percent: percent(comparison.threshold),
        noise_percent: comparison.noise.map(percent),
        rehearsal: comparison.rehearsal,
        geometric_mean_ratio: geometric_mean_ratio(comparison),
        verdicts: verdict_counts(comparison).iter().map(|(v, n)| (v.name(), *n)).collect(),
        cells: comparison.cells.iter().map(CellObject::from).collect(),
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
            format!("Geometric mean of {}: {mean:.4}; {cells}.", counted(compared, "ratio"))
        }
        None => format!("No ratio; {cells}."),
    }
}

/// The first line: what stands against what, or that nothing can.
pub fn comparison_opening(comparison: &Comparison) -> String {
    let Comparison { measured, baseline, threshold, noise, rehearsal, .. } = comparison;
    let noise = noise.map_or_else(String::new, |noise| format!(", noise {} %", percent(noise)));
    match rehearsal {
        true => format!("{REHEARSAL} ({measured} against {baseline})"),
        false => {
            format!("{measured} against {baseline}, threshold {} %{noise}", percent(*threshold))
        }
    }
}

/// A share in percent, without the last bits of the division that made it.
fn percent(share: f64) -> f64 {
    (share * 1e8).round() / 1e6
}

/// The cells that a reader wants: what our side never set out to measure is counted in the
/// summary, and stands in CSV and JSON.
fn shown(comparison: &Comparison) -> impl Iterator<Item = &CellComparison> {
    comparison.cells.iter().filter(|cell| cell.note.as_deref() != Some(NOT_MEASURED))
}

fn texts(cell: &CellComparison) -> [String; 11] {
    let dash = || "-".to_owned();
    [
        cell.scenario.to_string(),
        cell.spec.to_string(),
        concurrency(cell.concurrency),
        trials(cell.trials),
        cell.measured.map_or_else(dash, figures::rate),
        cell.baseline.map_or_else(dash, figures::rate),
        cell.ratio.map_or_else(dash, |ratio| format!("{ratio:.3}")),
        cell.interval.map_or_else(dash, |(low, high)| format!("{low:.3} to {high:.3}")),
        cell.p.map_or_else(dash, chance),
        cell.verdict.name().to_owned(),
        cell.note.clone().unwrap_or_default(),
    ]
}

/// `5` where both sides agree, `5/1` where they do not.
fn trials((ours, theirs): (u32, u32)) -> String {
    if ours == theirs { ours.to_string() } else { format!("{ours}/{theirs}") }
}

/// Three decimals, and no 0: there is no such chance.
fn chance(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

/// `64` where both sides agree, `128/64` where they do not.
fn concurrency((ours, theirs): (Option<u32>, Option<u32>)) -> String {
    let text = |level: Option<u32>| level.map_or_else(|| "-".to_owned(), |n| n.to_string());
    if ours == theirs { text(ours) } else { format!("{}/{}", text(ours), text(theirs)) }
}

const COLUMNS: [&str; 15] = [
    "scenario",
    "spec",
    "concurrency_measured",
    "concurrency_baseline",
    "qps_measured",
    "qps_baseline",
    "trials_measured",
    "trials_baseline",
    "ratio",
    "ratio_low",
    "ratio_high",
    "p_adjusted",
    "floor",
    "verdict",
    "note",
];

fn csv_row(cell: &CellComparison) -> [String; 15] {
    let level = |level: Option<u32>| level.map(|level| level.to_string()).unwrap_or_default();
    let share = |share: Option<f64>| share.map(|of| format!("{of:.4}")).unwrap_or_default();
    [
        cell.scenario.to_string(),
        cell.spec.to_string(),
        level(cell.concurrency.0),
        level(cell.concurrency.1),
        cell.measured.map(figures::rate).unwrap_or_default(),
        cell.baseline.map(figures::rate).unwrap_or_default(),
        cell.trials.0.to_string(),
        cell.trials.1.to_string(),
        share(cell.ratio),
        share(cell.interval.map(|(low, _)| low)),
        share(cell.interval.map(|(_, high)| high)),
        cell.p.map(|p| format!("{p:.6}")).unwrap_or_default(),
        share(Some(cell.floor)),
        cell.verdict.name().to_owned(),
        cell.note.clone().unwrap_or_default(),
    ]
}

#[derive(Debug, Serialize)]
struct WholeComparison<'a> {
    measured: &'a str,
    baseline: &'a str,
    threshold_percent: f64,
    noise_percent: Option<f64>,
    rehearsal: bool,
    geometric_mean_ratio: Option<f64>,
    verdicts: std::collections::BTreeMap<&'static str, usize>,
    cells: Vec<CellObject>,
}

#[derive(Debug, Serialize)]
struct CellObject {
    scenario: String,
    spec: String,
    concurrency_measured: Option<u32>,
    concurrency_baseline: Option<u32>,
    qps_measured: Option<f64>,
    qps_baseline: Option<f64>,
    trials_measured: u32,
    trials_baseline: u32,
    ratio: Option<f64>,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    p_adjusted: Option<f64>,
    floor: f64,
    verdict: &'static str,
    note: Option<String>,
}

impl From<&CellComparison> for CellObject {
    fn from(cell: &CellComparison) -> Self {
        let rounded = |value: f64, unit: f64| (value * unit).round() / unit;
        Self {
            scenario: cell.scenario.to_string(),
            spec: cell.spec.to_string(),
            concurrency_measured: cell.concurrency.0,
            concurrency_baseline: cell.concurrency.1,
            qps_measured: cell.measured.map(|rate| rounded(rate.per_second(), 100.0)),
            qps_baseline: cell.baseline.map(|rate| rounded(rate.per_second(), 100.0)),
            trials_measured: cell.trials.0,
            trials_baseline: cell.trials.1,
            ratio: cell.ratio.map(|ratio| rounded(ratio, 10_000.0)),
            ratio_low: cell.interval.map(|(low, _)| rounded(low, 10_000.0)),
            ratio_high: cell.interval.map(|(_, high)| rounded(high, 10_000.0)),
            p_adjusted: cell.p.map(|p| rounded(p, 1e6)),
            floor: rounded(cell.floor, 10_000.0),
            verdict: cell.verdict.name(),
            note: cell.note.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{MilliRate, ScenarioId, SpecId, Verdict};

    fn comparison() -> Comparison {
        let cell = |spec: &str, measured: Option<u64>, verdict| CellComparison {
            spec: SpecId::new(spec).unwrap(),
            scenario: ScenarioId::new("write-only").unwrap(),
            concurrency: (measured.map(|_| 128), Some(64)),
            measured: measured.map(MilliRate),
            baseline: Some(MilliRate(200_000)),
            trials: (if measured.is_some() { 5 } else { 0 }, 5),
            ratio: measured.map(|rate| rate as f64 / 200_000.0),
            interval: measured.map(|_| (0.49, 0.512)),
            p: measured.map(|_| 0.0079),
            floor: 0.07,
            verdict,
            note: Some("a|\"b\"".to_owned()),
        };
        Comparison {
            measured: "run".to_owned(),
            baseline: "set/table".to_owned(),
            threshold: 0.07,
            noise: None,
            rehearsal: false,
            cells: vec![
                cell("2c4g", Some(100_456), Verdict::Regressed),
                cell("4c8g", None, Verdict::Missing),
            ],
        }
    }

    #[test]
    fn the_table_says_what_stands_against_what_and_ends_with_the_summary() {
        let lines = [
            "run against set/table, threshold 7 %",
            "",
            "scenario    spec  concurrency  trials  measured QPS  baseline QPS  ratio  \
             95 % interval       p  verdict    note",
            "write-only  2c4g       128/64       5        100.46           200  0.502  \
             0.490 to 0.512  0.008  regressed  a|\"b\"",
            "write-only  4c8g         -/64     0/5             -           200      -  \
             -                   -  missing    a|\"b\"",
            "",
            "Geometric mean of 1 ratio: 0.5023; 1 regressed, 1 missing.",
        ];
        assert_eq!(comparison_table(&comparison()).lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn markdown_escapes_what_would_end_a_cell() {
        let text = comparison_markdown(&comparison());
        let row = "| write-only | 4c8g |        -/64 |    0/5 |            - |          200 |     \
                   - | -              |     - | missing   | a\\|\"b\" |";
        assert!(text.lines().any(|line| line == row), "{text}");
    }

    #[test]
    fn csv_and_json_leave_the_unknown_empty() {
        let csv = comparison_csv(&comparison());
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines[0], COLUMNS.join(","));
        let first = "write-only,2c4g,128,64,100.46,200,5,5,0.5023,0.4900,0.5120,0.007900,\
                     0.0700,regressed,\"a|\"\"b\"\"\"";
        assert_eq!(lines[1], first);
        assert_eq!(lines[2], "write-only,4c8g,,64,,200,0,5,,,,,0.0700,missing,\"a|\"\"b\"\"\"");
        let json: serde_json::Value =
            serde_json::from_str(&comparison_json(&comparison())).unwrap();
        assert_eq!(json["cells"][1]["qps_measured"], serde_json::Value::Null);
        assert_eq!(json["verdicts"]["missing"], 1);
        assert_eq!(json["threshold_percent"], 7.0);
    }

    #[test]
    fn a_csv_without_cells_has_its_columns_still() {
        let empty = Comparison { cells: Vec::new(), ..comparison() };
        assert_eq!(comparison_csv(&empty).trim_end(), COLUMNS.join(","));
        assert_eq!(comparison_summary(&empty), "No ratio; no cells.");
    }

    #[test]
    fn a_rehearsal_is_named_in_the_first_line() {
        let rehearsal = Comparison { rehearsal: true, ..comparison() };
        for text in [comparison_table(&rehearsal), comparison_markdown(&rehearsal)] {
            assert!(text.starts_with("Rehearsal:"), "{text}");
        }
    }
}
