//! Whether all rows of a run are there, whole, and agree with each other.
//!
//! Must not know: what was done to the server.

use std::collections::{BTreeMap, BTreeSet};

use crate::workspace::{Workspace, number};

type Row = BTreeMap<String, String>;

/// How many rows of the latest run are missing: of trials that were planned, of seconds that were
/// measured. What is there must be whole, in order, and add up.
pub(crate) fn lost(workspace: &Workspace) -> u64 {
    let directory = workspace.directory();
    for file in std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "csv") {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.ends_with('\n'), "{} ends in the middle of a line", file.display());
        }
    }
    let manifest = std::fs::read(directory.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let plan = &manifest["plan"];
    let repeats = plan["protocol"]["repeats"].as_u64().unwrap();
    let planned = plan["cells"].as_array().unwrap().len() as u64 * repeats;
    // Each line has as many fields as its header, or reading it fails.
    let [cells, intervals, statements, errors] =
        ["cells.csv", "intervals.csv", "statements.csv", "errors.csv"]
            .map(|file| workspace.rows(file));
    let known: BTreeSet<&str> = cells.iter().map(|cell| cell["trial"].as_str()).collect();
    assert_eq!(known.len(), cells.len(), "a trial has one row");
    let mut lost = planned - cells.len() as u64;
    for cell in &cells {
        let of_cell = |rows: &[Row]| -> Vec<Row> {
            rows.iter().filter(|row| row["trial"] == cell["trial"]).cloned().collect()
        };
        let (intervals, statements) = (of_cell(&intervals), of_cell(&statements));
        if cell["measured_us"].is_empty() {
            assert!(intervals.is_empty() && cell["status"] != "done", "{cell:?}");
            continue;
        }
        lost += seconds_lost(cell, &intervals);
        assert_they_add_up(cell, &intervals);
        assert_statements_add_up(cell, &statements);
        let counted: u64 = of_cell(&errors).iter().map(|row| number(row, "count")).sum();
        assert_eq!(counted, number(cell, "errors"));
    }
    lost
}

/// Seconds of the window without a row; each row is where it belongs.
fn seconds_lost(cell: &Row, intervals: &[Row]) -> u64 {
    let measured_us = number(cell, "measured_us");
    let mut due = BTreeSet::from_iter((1..=measured_us.div_ceil(1_000_000)).map(|second| {
        let elapsed_us = (second * 1_000_000).min(measured_us);
        (elapsed_us, elapsed_us - (second - 1) * 1_000_000)
    }));
    for row in intervals {
        let place = (number(row, "elapsed_us"), number(row, "length_us"));
        assert!(due.remove(&place), "a second that is none of the window's: {row:?}");
    }
    due.len() as u64
}

/// An event counts in `cells.csv` by its begin and in `intervals.csv` by its end: they differ by
/// what was open at either end of the window, one event on a connection.
fn assert_they_add_up(cell: &Row, intervals: &[Row]) {
    let (events, queries) = (number(cell, "events"), number(cell, "queries"));
    let in_seconds: u64 = intervals.iter().map(|row| number(row, "events")).sum();
    let open = number(cell, "concurrency");
    assert!(events.abs_diff(in_seconds) <= open, "{events} events, {in_seconds} by the second");
    // Every event of these workloads has as many statements as the others.
    let of_event = statements_of_event(cell);
    assert_eq!(queries, events * of_event);
    for row in intervals {
        assert_eq!(number(row, "queries"), number(row, "events") * of_event, "{row:?}");
    }
}

fn statements_of_event(cell: &Row) -> u64 {
    let (events, queries) = (number(cell, "events"), number(cell, "queries"));
    // No workload here has more.
    queries.checked_div(events).unwrap_or(20)
}

/// Statements were answered in events that ended well, in tries that were repeated, and in events
/// that failed or never ended.
fn assert_statements_add_up(cell: &Row, statements: &[Row]) {
    let sum = |column| statements.iter().map(|row| number(row, column)).sum::<u64>();
    let (answered, refused) = (sum("count"), sum("errors"));
    let [events, queries, retried, errors, unfinished] =
        ["events", "queries", "queries_retried", "errors", "events_unfinished"]
            .map(|column| number(cell, column));
    // A trial that is stopped leaves an event on each connection.
    let open = unfinished.max(number(cell, "concurrency"));
    let most = queries + retried + (errors + open) * (statements_of_event(cell) - 1);
    assert!((queries + retried..=most).contains(&answered), "{answered} of {most}: {cell:?}");
    assert!(refused <= errors, "{refused} statements with an error, {errors} errors");
    let of = |kind| statements.iter().find(|row| row["statement"] == kind).unwrap();
    assert_eq!(number(of("commit"), "count"), events, "an event ends with its COMMIT");
}
