//! What a page shows of which trials.

use super::*;
use crate::model::{
    Counter, Counters, ErrorCount, Evidence, Exclusion, Rehearsal, ServerUse, Skip,
};
use crate::store::testing::description;

/// A server that read nothing from disk.
fn looked_at() -> Evidence {
    let mut counters = Counters::default();
    counters.set(Counter::PagesRead, Some(0));
    counters.set(Counter::Questions, Some(1_000));
    let window = ServerUse { length_us: 1_000_000, counters, process: None };
    Evidence { window, ..Evidence::default() }
}

/// A trial of the cell with that place in the plan.
fn trial(number: u64, cell: usize, repetition: u32, status: TrialStatus, qps: u64) -> StoredTrial {
    let done = status == TrialStatus::Done;
    StoredTrial {
        number,
        cell: description().plan.cells[cell].id.clone(),
        repetition,
        started_unix_ms: 0,
        status,
        qps: done.then_some(MilliRate(qps)),
        tps: done.then_some(MilliRate(qps / 16)),
        p95_us: done.then_some(1_000 + qps),
        p99_us: done.then_some(2_000 + qps),
        events_unfinished: 0,
        errors: Vec::new(),
        rate_met: None,
        evidence: done.then(looked_at),
        steady: None,
        warmup_level: None,
        qps_lowest_second: None,
        qps_p5_second: None,
        client_bound: done.then_some(false),
    }
}

fn done(number: u64, cell: usize, repetition: u32, qps: u64) -> StoredTrial {
    trial(number, cell, repetition, TrialStatus::Done, qps)
}

fn failed(number: u64, cell: usize, repetition: u32) -> StoredTrial {
    let reason = format!("trial {number} broke");
    trial(number, cell, repetition, TrialStatus::Failed { reason }, 0)
}

/// One cell in a line: `2c4g/write-only 64: 1.5 x2 (note)`.
fn lines(run: &RunDescription, trials: &[StoredTrial]) -> Vec<String> {
    let line = |cell: ResultCell| {
        let number = match (cell.concurrency, cell.qps) {
            (Some(at), Some(qps)) => format!("{at}: {} x{}", qps.0, cell.trials),
            (Some(at), None) => format!("{at}: none"),
            (None, qps) => format!("none{}", if qps.is_some() { "?" } else { "" }),
        };
        let note = cell.note.map(|note| format!(" ({note})")).unwrap_or_default();
        format!("{}/{} {number}{note}", cell.spec, cell.scenario)
    };
    result_set("run", run, trials).cells.into_iter().map(line).collect()
}

#[test]
fn the_peak_of_the_medians_is_published() {
    let trials = [
        done(1, 0, 1, 100),
        done(2, 1, 1, 300),
        done(3, 0, 2, 500),
        done(4, 1, 2, 200),
        done(5, 4, 1, 9),
    ];
    let set = result_set("run", &description(), &trials);
    let cell = &set.cells[0];
    assert_eq!((cell.concurrency, cell.qps), (Some(64), Some(MilliRate(300))));
    assert_eq!((cell.trials, cell.p95_us, cell.note.as_deref()), (2, Some(1_300), None));
    assert_eq!(cell.p99_us, Some(2_300));
    assert_eq!(cell.tps, Some(MilliRate(18)));
    assert_eq!((cell.table_size, cell.tables), (25_000, 250));
    assert_eq!(
        lines(&description(), &trials)[1..],
        [
            "4c8g/read-only-range 64: 9 x1 (peak of 1 of 2 levels; 1 of 2 repetitions)",
            "2c4g/write-only none (not measured yet)",
            "4c8g/write-only none (not measured yet)",
        ]
    );
}

#[test]
fn a_number_that_the_client_bounded_or_whose_rate_was_not_met_is_published_with_that() {
    let mut run = description();
    run.plan.protocol.repeats = 1;
    let bound = StoredTrial { client_bound: Some(true), ..done(1, 0, 1, 100) };
    let missed = StoredTrial { rate_met: Some(false), ..done(2, 1, 1, 50) };
    let trials = [bound, missed];
    run.plan.protocol.publish = Publish::All;
    assert_eq!(
        lines(&run, &trials)[..2],
        [
            "2c4g/read-only-range 64: 100 x1 (client-bound: the client was the limit)",
            "2c4g/read-only-range 128: 50 x1 (the rate was not met)",
        ]
    );
    run.plan.protocol.publish = Publish::Peak;
    let note = "client-bound: the client was the limit";
    assert_eq!(lines(&run, &trials)[0], format!("2c4g/read-only-range 64: 100 x1 ({note})"));
}

#[test]
fn cells_come_by_scenario_and_spec_in_the_order_of_the_matrix() {
    let mut run = description();
    let in_order = lines(&run, &[]);
    run.plan.cells.reverse();
    assert_eq!(lines(&run, &[]), in_order);
    run.plan.matrix.specs.reverse();
    assert_eq!(lines(&run, &[])[0], "4c8g/read-only-range none (not measured yet)");
}

#[test]
fn a_cell_without_a_number_says_why() {
    let mut run = description();
    run.plan.specs[1].skip = Some(Skip { reason: "8 GB do not fit".into() });
    let interrupted = trial(4, 3, 1, TrialStatus::Interrupted, 0);
    let trials = [failed(1, 0, 1), failed(2, 1, 1), failed(3, 2, 1), interrupted];
    assert_eq!(
        lines(&run, &trials),
        [
            "2c4g/read-only-range none (failed: trial 2 broke)",
            "4c8g/read-only-range none (skipped: 8 GB do not fit)",
            "2c4g/write-only none (interrupted)",
            "4c8g/write-only none (skipped: 8 GB do not fit)",
        ]
    );
}

#[test]
fn a_trial_that_was_measured_again_counts_once_and_done_outlasts_failed() {
    let trials = [failed(1, 0, 1), done(2, 0, 1, 10), failed(3, 0, 2), done(4, 0, 2, 20)];
    assert_eq!(
        lines(&description(), &trials)[0],
        "2c4g/read-only-range 64: 15 x2 (peak of 1 of 2 levels)"
    );
    let trials = [done(1, 0, 1, 10), failed(2, 0, 1)];
    assert!(lines(&description(), &trials)[0].contains("64: 10 x1"));
}

#[test]
fn events_that_failed_or_hang_are_told_and_retried_ones_are_not() {
    let error = |code, count, message: &str| ErrorCount {
        code,
        count,
        message: message.into(),
        span_us: (code == 1644).then_some((3_200_000, 13_449_000)),
    };
    let mut trial = done(1, 0, 1, 10);
    trial.errors = vec![error(1213, 99, "Deadlock found")];
    let ladder = "2c4g/read-only-range 64: 10 x1 (peak of 1 of 2 levels; 1 of 2 repetitions";
    assert_eq!(lines(&description(), &[trial.clone()])[0], format!("{ladder})"));
    trial.errors.push(error(1644, 40, "no updates here\nmore"));
    trial.errors.push(error(0, 2, "connection to tcp://a:1: reset"));
    trial.events_unfinished = 3;
    assert_eq!(
        lines(&description(), &[trial])[0],
        format!(
            "{ladder}; 42 events failed, 3.2 to 13.4 s into the window, most with: 1644 no \
             updates here; \
             3 events still open after the drain)"
        )
    );
}

#[test]
fn a_refusal_comes_with_what_happened_meanwhile() {
    let mut trial = done(1, 0, 1, 10);
    let evidence = trial.evidence.as_mut().unwrap();
    evidence.window.counters.set(Counter::PagesRead, Some(500));
    evidence.trouble = Some("the server was started again at most 2.0 s into the window".into());
    let message = "connection closed".into();
    trial.errors = vec![ErrorCount { code: 0, count: 8, message, span_us: Some((0, 900_000)) }];
    let refused = &lines(&description(), &[trial])[0];
    let told = "8 events failed, 0.0 to 0.9 s into the window, most with: connection closed; the \
                server was started again at most 2.0 s into the window)";
    assert!(refused.contains("(not full-cache: 500 pages"), "{refused}");
    assert!(refused.ends_with(told), "{refused}");
}

#[test]
fn all_levels_are_published_where_the_matrix_says_so() {
    let mut run = description();
    run.plan.protocol.publish = Publish::All;
    run.plan.protocol.repeats = 1;
    let trials = [done(1, 0, 1, 10), failed(2, 1, 1)];
    assert_eq!(
        lines(&run, &trials)[..3],
        [
            "2c4g/read-only-range 64: 10 x1",
            "2c4g/read-only-range 128: none (failed: trial 2 broke)",
            "4c8g/read-only-range 64: none (not measured yet)",
        ]
    );
}

#[test]
fn excluded_cells_stay_on_the_page_and_cells_outside_the_plan_do_not() {
    let mut run = description();
    let plan = &mut run.plan;
    let rule = |reason: &str| Exclusion {
        spec: None,
        scenario: None,
        concurrency: None,
        reason: reason.to_owned(),
    };
    let excluded: Vec<_> = plan.cells.drain(4..6).map(|cell| (cell.id, rule("too big"))).collect();
    plan.excluded = excluded;
    assert_eq!(lines(&run, &[])[1], "4c8g/read-only-range none (excluded: too big)");
    run.plan.excluded.clear();
    run.plan.cells.truncate(2);
    let set = result_set("run", &run, &[]);
    assert_eq!(set.specs.len(), 1);
    assert_eq!(set.scenarios.len(), 1);
    assert_eq!(lines(&run, &[]), ["2c4g/read-only-range none (not measured yet)"]);
}

#[test]
fn a_rehearsal_is_marked_and_shows_the_dataset_of_the_matrix() {
    let mut run = description();
    run.plan.rehearsal = Some(Rehearsal { factor: 100 });
    run.plan.specs[0].dataset.table_size = 250;
    let set = result_set("run", &run, &[done(1, 0, 1, 10)]);
    let ResultSource::Measured { rehearsal, date, .. } = &set.source else {
        panic!("a run is measured");
    };
    assert_eq!((*rehearsal, date.as_str()), (Some(Rehearsal { factor: 100 }), "2025-12-10"));
    assert_eq!(set.cells[0].table_size, 25_000);
}
