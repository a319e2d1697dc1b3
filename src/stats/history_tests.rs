//! Histories of runs whose numbers and environment are known.

use super::*;
use crate::model::{Bytes, DatasetClass, Protocol, Scenario, Spec, WorkloadOptions};

fn workload() -> Arc<Workload> {
    Arc::new(Workload {
        name: "oltp_read_only".to_owned(),
        is_built_in: true,
        is_transaction: true,
        groups_before_transaction: 0,
        has_handles: true,
        groups: Vec::new(),
        tables: Vec::new(),
    })
}

/// A run with scenarios `a` and `b` of one spec, at these rates.
fn run(number: usize, rates: [Option<u64>; 2]) -> ResultSet {
    let spec = SpecId::new("2c4g").unwrap();
    let scenario = |id: &str| ScenarioId::new(id).unwrap();
    let cell = |(id, rate): (&str, Option<u64>)| ResultCell {
        spec: spec.clone(),
        scenario: scenario(id),
        concurrency: rate.map(|_| 64),
        table_size: 25_000,
        tables: 250,
        qps: rate.map(|rate| MilliRate(rate * 1_000)),
        tps: None,
        p95_us: None,
        p99_us: None,
        trials: 1,
        values: Vec::new(),
        note: None,
    };
    let facts = [("server.version", "8.0.36"), ("client.cpus", "2"), ("protocol.warmup_ms", "5")];
    let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let options = WorkloadOptions::default();
    ResultSet {
        name: format!("run-{number}"),
        title: String::new(),
        template: String::new(),
        class: DatasetClass::FullCache,
        source: ResultSource::Measured {
            run: format!("run-{number}"),
            date: format!("2026-01-{:02}", number + 1),
            servers: Vec::new(),
            shared_machine: true,
            tool_version: "0.1.0".to_owned(),
            engine: "native".to_owned(),
            rehearsal: None,
        },
        protocol: Some(Protocol::for_tests()),
        environment: [(spec.clone(), facts.into())].into(),
        noise_ppm: None,
        scenarios: ["a", "b"]
            .map(|id| Scenario { id: scenario(id), title: None, workload: workload(), options })
            .into(),
        specs: vec![Spec { id: spec.clone(), cpu: 2, memory: Bytes(4 * Bytes::GB) }],
        cells: [("a", rates[0]), ("b", rates[1])].map(cell).into(),
    }
}

/// A rate with a little noise that is the same every time.
fn noisy(run: usize, rate: u64) -> Option<u64> {
    Some(rate + [3, 7, 1, 9, 4, 6, 2, 8][run % 8])
}

fn set(runs: &mut [ResultSet], name: &str, value: &str) {
    for run in runs {
        let facts = run.environment.values_mut().next().unwrap();
        facts.insert(name.to_owned(), value.to_owned());
    }
}

/// Fifteen runs; both cells fall by a tenth with the 11th.
fn with_a_step() -> Vec<ResultSet> {
    let rate = |number| if number < 10 { 1_000 } else { 900 };
    let rates = |number| [noisy(number, rate(number)), noisy(number + 3, 2 * rate(number))];
    (0..15).map(|number| run(number, rates(number))).collect()
}

fn words(changes: &[FactChange]) -> Vec<String> {
    changes.iter().map(ToString::to_string).collect()
}

#[test]
fn cells_that_change_together_are_one_alert_with_the_likely_reason() {
    let mut runs = with_a_step();
    set(&mut runs[10..], "server.version", "8.0.37");
    set(&mut runs[10..], "server.innodb_io_capacity", "200");
    let history = history(&runs);
    assert_eq!((history.runs.len(), history.cells.len(), history.splits.len()), (15, 2, 0));
    assert_eq!(history.alerts.len(), 1, "{:?}", history.alerts);
    let alert = &history.alerts[0];
    assert_eq!((alert.run, alert.changes.len()), (12, 2), "seen with the third run");
    for change in &alert.changes {
        assert_eq!((change.last_before, change.since), (9, 10));
        assert!((change.share() + 0.1).abs() < 0.005 && change.is_worse(), "{change:?}");
        let told =
            ["server.version `8.0.36` -> `8.0.37`", "server.innodb_io_capacity absent -> `200`"];
        assert_eq!(words(&change.reasons), told);
    }
}

#[test]
fn another_client_protocol_or_dataset_begins_a_further_series() {
    for name in ["client.cpus", "protocol.warmup_ms", "dataset.fingerprint", "connection.tls"] {
        let mut runs = with_a_step();
        set(&mut runs[10..], name, "4");
        let history = history(&runs);
        assert_eq!(history.alerts, [], "{name}: nothing to compare");
        assert_eq!(history.splits.len(), 1, "{:?}", history.splits);
        let split = &history.splits[0];
        assert_eq!((split.run, split.before, &split.cells[..]), (10, 9, &[0, 1][..]));
        assert_eq!(split.reasons.len(), 1);
        assert!(split.reasons[0].name == name && split.reasons[0].after.as_deref() == Some("4"));
        let lengths: Vec<usize> = history.cells[0].series.iter().map(|s| s.points.len()).collect();
        assert_eq!(lengths, [10, 5]);
    }
}

#[test]
fn what_decides_a_number_beside_the_environment_splits_too() {
    let split = |change: fn(&mut ResultSet)| {
        let mut runs = with_a_step();
        runs[14..].iter_mut().for_each(change);
        let splits = history(&runs).splits;
        assert_eq!(splits.len(), 1, "{splits:?}");
        words(&splits[0].reasons).join("; ")
    };
    let keys = split(|run| {
        let protocol = run.protocol.as_mut().unwrap();
        protocol.keys = crate::model::KeyLaw::Pareto;
    });
    assert_eq!(keys, "protocol.keys `uniform` -> `pareto`");
    let levels = split(|run| {
        let protocol = run.protocol.as_mut().unwrap();
        protocol.concurrency = Ladder::Levels(vec![64, 128]);
    });
    assert_eq!(levels, "protocol.concurrency `64` -> `64, 128`");
    let size = split(|run| run.specs[0].cpu = 3);
    assert_eq!(size, "spec.cpu `2` -> `3`");
    let work = split(|run| {
        for scenario in &mut run.scenarios {
            Arc::make_mut(&mut scenario.workload).is_transaction = false;
        }
    });
    assert_eq!(work, "scenario.statements changed");
}

#[test]
fn two_clients_that_take_turns_are_two_whole_series() {
    let mut runs: Vec<ResultSet> =
        (0..20).map(|number| run(number, [noisy(number, 1_000), None])).collect();
    for number in (1..20).step_by(2) {
        set(&mut runs[number..=number], "client.cpus", "4");
    }
    let history = history(&runs);
    let lengths: Vec<usize> = history.cells[0].series.iter().map(|s| s.points.len()).collect();
    assert_eq!((lengths, history.splits.len()), (vec![10, 10], 1), "told once");
    assert_eq!(history.cells.len(), 1, "a cell without any number has no history");
}

#[test]
fn levels_that_are_all_published_are_cells_of_their_own() {
    let mut runs = with_a_step();
    for run in &mut runs {
        run.protocol.as_mut().unwrap().publish = Publish::All;
        let mut more = run.cells.clone();
        more.iter_mut().for_each(|cell| cell.concurrency = Some(128));
        run.cells.extend(more);
    }
    let history = history(&runs);
    let levels: Vec<Option<u32>> = history.cells.iter().map(|cell| cell.concurrency).collect();
    assert_eq!(levels, [Some(64), Some(64), Some(128), Some(128)]);
    assert_eq!(history.alerts.iter().map(|alert| alert.changes.len()).sum::<usize>(), 4);
}

#[test]
fn nothing_comes_of_nothing() {
    let empty = history(&[]);
    assert!(empty.cells.is_empty() && empty.alerts.is_empty() && empty.runs.is_empty());
}
