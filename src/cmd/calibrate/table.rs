//! A calibration as a table.
//!
//! Must not know: how it was measured.

use super::record::{CellRecord, Figures, Record};
use crate::model::{Bytes, counted};
use crate::ui::{Align, Table, figures};

const HEADERS: [(&str, Align); 9] = [
    ("workload", Align::Left),
    ("statements", Align::Left),
    ("connections", Align::Right),
    ("client", Align::Left),
    ("QPS", Align::Right),
    ("QPS/core", Align::Right),
    ("core", Align::Right),
    ("CPU/query", Align::Right),
    ("memory", Align::Right),
];

/// What the columns mean, for whoever reads the table without the manual.
const LEGEND: &str = "\
QPS/core: queries per second of the client's processor time. core: how much of a processor the
client used; below 100 % the server was the limit, and QPS/core, not QPS, is what the client can
drive. Medians of the rounds; memory is the peak of all rounds. Ratios: ours to the other's.
";

/// From here on other processes are said to disturb; less than this is any idle system.
const DISTURBED_PERCENT: u64 = 10;

/// The table, with ratios where two clients were measured.
pub(super) fn render(record: &Record) -> String {
    let has_other = record.cells.iter().any(|cell| cell.client != "native");
    let mut headers = HEADERS.to_vec();
    if has_other {
        headers.extend([("QPS ratio", Align::Right), ("QPS/core ratio", Align::Right)]);
    }
    let mut table = Table::new(&headers);
    for cell in &record.cells {
        let mut row = row(cell);
        let other = record.cells.iter().find(|other| other.is_beside(cell));
        if has_other {
            let other = other.filter(|_| cell.client == "native");
            let both = cell.figures.zip(other.and_then(|other| other.figures));
            row.extend(both.map(|(ours, theirs)| ratios(ours, theirs)).unwrap_or_default());
        }
        table.row(row);
    }
    format!("{}\n{LEGEND}{}", table.render(), disturbance(record))
}

/// A sentence where others took so much of the client's processors that the figures are lower
/// than this machine's.
fn disturbance(record: &Record) -> String {
    let figures = record.cells.iter().filter_map(|cell| cell.figures?.others_percent);
    match figures.max() {
        Some(percent @ DISTURBED_PERCENT..) => format!(
            "\nOther processes took up to {percent} % of the client's processor meanwhile: all \
             figures are lower\nthan this machine can do, and ratios are uncertain. Stop them and \
             calibrate again.\n"
        ),
        _ => String::new(),
    }
}

fn row(cell: &CellRecord) -> Vec<String> {
    let mut row = vec![
        cell.workload.to_owned(),
        format!("{}, {}", cell.statements, counted(cell.tables, "table")),
        cell.connections.to_string(),
        cell.client.to_owned(),
    ];
    match cell.figures {
        None => row.extend(std::iter::repeat_n("failed".to_owned(), HEADERS.len() - row.len())),
        Some(figures) => row.extend([
            figures::count(figures.qps),
            figures::count(figures.queries_per_cpu_s),
            format!("{} %", figures.core_use_percent),
            format!("{:.2} us", figures.cpu_ns_per_query as f64 / 1_000.0),
            figures::bytes(Bytes(figures.memory_peak_bytes)),
        ]),
    }
    row
}

fn ratios(ours: Figures, theirs: Figures) -> [String; 2] {
    let pairs = [(ours.qps, theirs.qps), (ours.queries_per_cpu_s, theirs.queries_per_cpu_s)];
    pairs.map(|(ours, theirs)| match theirs {
        0 => String::new(),
        theirs => format!("{:.2}", ours as f64 / theirs as f64),
    })
}
