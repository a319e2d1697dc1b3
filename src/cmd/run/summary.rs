//! The end of a run: pages written, the numbers on the screen, what to do next.
//!
//! Must not know: how any of it was measured.

use crate::cmd::dossier::Records;
use crate::cmd::{Failure, Outcome, pages};
use crate::model::{Plan, ResultCell, ResultSet};
use crate::stats::{half_width, rate_interval};
use crate::store::RunDir;
use crate::ui::{Align, Printer, Table, figures};

pub(super) fn finish(
    directory: RunDir,
    plan: &Plan,
    outcome: Outcome,
    printer: Printer,
) -> Result<Outcome, Failure> {
    let results = directory.results()?;
    let dir = directory.path().join("pages");
    let written = pages::write(&results, &dir)?;
    let out = directory.path().parent().unwrap_or(directory.path());
    let report = pages::write_report(&Records::of_run(out, &directory)?, &dir)?;
    printer.data(&grid(&results, plan))?;
    let refused = refused(&results);
    refused.iter().for_each(|line| printer.warn(line));
    printer.talk("");
    for page in &written {
        printer.talk(&format!("page     {}", page.display()));
    }
    printer.talk(&format!("report   {}", report.display()));
    printer.talk(&format!("results  {}", directory.path().display()));
    if plan.matrix.baseline.is_some() {
        printer.talk(&format!("diff     gridbench diff {}", directory.path().display()));
    }
    match outcome {
        Outcome::Interrupted => printer.talk(&format!(
            "interrupted; go on with the same command and --resume {}",
            directory.name()
        )),
        Outcome::Done if !refused.is_empty() => {
            printer.warn("some cells have no number: they are not what the matrix calls them");
            return Ok(Outcome::SomeFailed);
        }
        Outcome::SomeFailed => printer.warn(
            "some cells failed; their reasons are in cells.csv, and --resume measures them again",
        ),
        _ => {}
    }
    Ok(outcome)
}

/// The cells that were measured and are not of the class that the matrix claims, with the reason.
fn refused(results: &ResultSet) -> Vec<String> {
    let is_refused = |cell: &&ResultCell| cell.is_refused(results.class);
    let line = |cell: &ResultCell| {
        let note = cell.note.as_deref().unwrap_or_default();
        format!("{} {}: {note}", cell.spec, cell.scenario)
    };
    results.cells.iter().filter(is_refused).map(line).collect()
}

/// Specs as rows, scenarios as columns, the published QPS and its concurrency in each cell.
fn grid(results: &ResultSet, plan: &Plan) -> String {
    let mut columns = vec![("spec", Align::Left)];
    columns.extend(results.scenarios.iter().map(|s| (s.id.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    for spec in &results.specs {
        let mut row = vec![spec.id.to_string()];
        for scenario in &results.scenarios {
            let of_cell = |c: &&ResultCell| c.spec == spec.id && c.scenario == scenario.id;
            let best = results.cells.iter().filter(of_cell).max_by_key(|cell| cell.qps);
            row.push(best.map_or_else(|| "-".to_owned(), cell_text));
        }
        table.row(row);
    }
    let mark = plan.rehearsal.map_or("", |_| "REHEARSAL, no measurement of these specs: ");
    format!("{mark}QPS @ concurrency\n{}", table.render())
}

fn cell_text(cell: &ResultCell) -> String {
    match (cell.qps, cell.concurrency) {
        (Some(qps), Some(concurrency)) => {
            format!("{}{} @{concurrency}", figures::rate(qps), width_text(cell))
        }
        _ => "-".to_owned(),
    }
}

/// ` ±2 %`: half of the interval of the rate, where there are enough repeats to have one.
fn width_text(cell: &ResultCell) -> String {
    let rates: Vec<f64> = cell.values.iter().map(|rate| rate.per_second()).collect();
    let width = |interval| format!(" ±{:.1} %", half_width(interval) * 100.0);
    rate_interval(&rates).map_or_else(String::new, width)
}
