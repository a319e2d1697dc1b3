//! Comparisons, case by case.

use super::*;
use crate::model::{Arrivals, Bytes, DatasetClass, Rehearsal, Spec, Workload, WorkloadOptions};

fn scenario(id: &str, options: WorkloadOptions) -> Scenario {
    let id = ScenarioId::new(id).unwrap();
    let workload = Workload {
        name: "oltp_read_only".to_owned(),
        is_built_in: true,
        is_transaction: true,
        groups_before_transaction: 0,
        has_handles: true,
        groups: Vec::new(),
        tables: Vec::new(),
    };
    Scenario { id, title: None, workload: Arc::new(workload), options }
}

fn at(threshold: f64) -> CompareOptions {
    CompareOptions::with_threshold(threshold)
}

/// Cells of spec `a` and scenario `s`, as (concurrency, QPS), each measured five times.
fn results(name: &str, cells: &[(u32, Option<u64>)]) -> ResultSet {
    let spec = SpecId::new("a").unwrap();
    let cell = |(concurrency, qps): &(u32, Option<u64>)| ResultCell {
        spec: spec.clone(),
        scenario: ScenarioId::new("s").unwrap(),
        concurrency: Some(*concurrency),
        table_size: 25_000,
        tables: 250,
        qps: qps.map(|qps| MilliRate(qps * 1_000)),
        tps: None,
        p95_us: None,
        p99_us: None,
        trials: 1,
        values: qps.map(|qps| vec![MilliRate(qps * 1_000); 5]).unwrap_or_default(),
        note: None,
    };
    ResultSet {
        name: name.to_owned(),
        title: String::new(),
        template: String::new(),
        class: DatasetClass::FullCache,
        source: ResultSource::Published { origin: String::new(), date: String::new() },
        protocol: None,
        environment: std::collections::BTreeMap::new(),
        noise_ppm: None,
        scenarios: vec![scenario("s", WorkloadOptions::default())],
        specs: vec![Spec { id: spec.clone(), cpu: 2, memory: Bytes(4 * Bytes::GB) }],
        cells: cells.iter().map(cell).collect(),
    }
}

fn open_loop(rate: MilliRate) -> Protocol {
    let open_loop = Some(OpenLoop { rate, arrivals: Arrivals::Fixed });
    Protocol { open_loop, ..Protocol::for_tests() }
}

fn rehearsed(results: ResultSet) -> ResultSet {
    measured(results, "native", Some(Rehearsal { factor: 100 }))
}

fn measured(mut results: ResultSet, engine: &str, rehearsal: Option<Rehearsal>) -> ResultSet {
    results.source = ResultSource::Measured {
        run: results.name.clone(),
        date: String::new(),
        servers: Vec::new(),
        shared_machine: true,
        tool_version: String::new(),
        engine: engine.to_owned(),
        rehearsal,
    };
    results
}

/// The one cell of ours at `qps` against 100 at the same concurrency.
fn verdict_of(qps: u64, threshold: f64) -> (Verdict, Option<f64>) {
    let ours = results("ours", &[(64, Some(qps))]);
    let comparison = compare(&ours, &results("theirs", &[(64, Some(100))]), &at(threshold));
    (comparison.cells[0].verdict, comparison.cells[0].ratio)
}

fn note(comparison: &Comparison, cell: usize) -> &str {
    comparison.cells[cell].note.as_deref().unwrap_or_default()
}

#[test]
fn two_engines_are_compared_and_named() {
    let side = |engine, qps| measured(results("r", &[(64, Some(qps))]), engine, None);
    let comparison = compare(&side("sysbench 1.0.20", 90), &side("native", 100), &at(0.05));
    assert_eq!(comparison.cells[0].verdict, Verdict::Regressed);
    assert_eq!(note(&comparison, 0), "engine sysbench 1.0.20 against native");
    let alike = compare(&side("native", 90), &side("native", 100), &at(0.05));
    assert_eq!(note(&alike, 0), "");
    let published = compare(&side("native", 90), &results("r", &[(64, Some(100))]), &at(0.05));
    assert_eq!(note(&published, 0), "");
}

#[test]
fn the_threshold_itself_is_still_within() {
    use Verdict::{Improved, Regressed, Within};
    let cases = [
        (100, 0.0, Within),
        (101, 0.0, Improved),
        (105, 0.05, Within),
        (95, 0.05, Within),
        (106, 0.05, Improved),
        (94, 0.05, Regressed),
        (71, 0.29, Within),
        (129, 0.29, Within),
    ];
    for (qps, threshold, verdict) in cases {
        let ratio = qps as f64 / 100.0;
        assert_eq!(verdict_of(qps, threshold), (verdict, Some(ratio)), "{qps} {threshold}");
    }
}

#[test]
fn a_rehearsal_on_either_side_compares_nothing() {
    let real = results("real", &[(64, Some(100)), (128, None)]);
    let toy = rehearsed(results("toy", &[(64, Some(900)), (32, Some(1))]));
    for (comparison, why) in [
        (compare(&toy, &real, &at(0.05)), "measured in a rehearsal"),
        (compare(&real, &toy, &at(0.05)), "the baseline is a rehearsal"),
    ] {
        assert!(comparison.rehearsal);
        assert_eq!(comparison.cells.len(), 3);
        for (index, cell) in comparison.cells.iter().enumerate() {
            assert_eq!((cell.verdict, cell.ratio), (Verdict::NotComparable, None));
            assert!(note(&comparison, index).contains(why), "{:?}", cell.note);
        }
        assert_eq!(geometric_mean_ratio(&comparison), None);
    }
}

#[test]
fn equal_concurrencies_meet_first_and_ours_alone_come_last() {
    let ours = results("ours", &[(32, Some(10)), (64, Some(20)), (128, Some(30))]);
    let theirs = results("theirs", &[(128, Some(30)), (256, Some(40)), (32, Some(10))]);
    let comparison = compare(&ours, &theirs, &at(0.05));
    let seen: Vec<_> = comparison.cells.iter().map(|c| (c.concurrency, c.verdict)).collect();
    assert_eq!(
        seen,
        [
            ((Some(128), Some(128)), Verdict::Within),
            ((None, Some(256)), Verdict::Missing),
            ((Some(32), Some(32)), Verdict::Within),
            ((Some(64), None), Verdict::Missing),
        ]
    );
    assert_eq!(note(&comparison, 1), "not measured");
    assert_eq!(note(&comparison, 3), "the baseline has no such cell");
}

#[test]
fn without_equal_concurrencies_the_peaks_meet_and_the_note_says_so() {
    let ours = results("ours", &[(32, Some(10)), (128, Some(30)), (256, None)]);
    let comparison = compare(&ours, &results("theirs", &[(64, Some(20))]), &at(0.05));
    assert_eq!(comparison.cells[0].ratio, Some(1.5));
    assert_eq!(note(&comparison, 0), "concurrency 128 against 64");
    assert_eq!(verdict_counts(&comparison)[&Verdict::Missing], 2);
}

#[test]
fn another_dataset_is_noted_and_another_size_or_workload_is_not_comparable() {
    let theirs = results("theirs", &[(64, Some(100))]);
    let mut ours = results("ours", &[(64, Some(100))]);
    ours.cells[0].tables = 10;
    let comparison = compare(&ours, &theirs, &at(0.05));
    assert_eq!(comparison.cells[0].verdict, Verdict::NotComparable);
    assert_eq!(comparison.cells[0].ratio, Some(1.0));
    assert_eq!(note(&comparison, 0), "tables 10 x 25000 against 250 x 25000");

    let mut ours = results("ours", &[(64, Some(100))]);
    ours.specs[0].cpu = 3;
    let comparison = compare(&ours, &theirs, &at(0.05));
    assert_eq!(comparison.cells[0].verdict, Verdict::NotComparable);
    assert_eq!(note(&comparison, 0), "`a` is another size in the baseline");

    let mut ours = results("ours", &[(64, Some(100))]);
    ours.scenarios[0].options.skip_trx = true;
    let comparison = compare(&ours, &theirs, &at(0.05));
    assert_eq!(comparison.cells[0].verdict, Verdict::NotComparable);
    assert_eq!(note(&comparison, 0), "`s` sends other statements in the baseline");
}

#[test]
fn a_rate_that_was_asked_for_is_not_held_against_one_that_was_reached() {
    let closed = results("closed", &[(64, Some(100))]);
    let mut paced = results("paced", &[(64, Some(100))]);
    paced.protocol = Some(open_loop(MilliRate(6_250)));
    for (comparison, words) in [
        (
            compare(&paced, &closed, &at(0.05)),
            "6.25 events/s (fixed) asked for here, no rate there",
        ),
        (
            compare(&closed, &paced, &at(0.05)),
            "no rate asked for here, 6.25 events/s (fixed) there",
        ),
    ] {
        assert_eq!(comparison.cells[0].verdict, Verdict::NotComparable);
        assert_eq!(note(&comparison, 0), words);
    }
    assert_eq!(compare(&paced, &paced, &at(0.05)).cells[0].verdict, Verdict::Within);
}

#[test]
fn a_cell_without_a_number_is_missing_with_its_reason() {
    let mut ours = results("ours", &[(64, None)]);
    ours.cells[0].concurrency = None;
    ours.cells[0].note = Some("the disk is full".to_owned());
    let comparison = compare(&ours, &results("theirs", &[(64, Some(100))]), &at(0.05));
    assert_eq!(comparison.cells[0].verdict, Verdict::Missing);
    assert_eq!(note(&comparison, 0), "no number: the disk is full");
}

#[test]
fn a_baseline_of_zero_has_no_ratio() {
    let ours = results("ours", &[(64, Some(1))]);
    let comparison = compare(&ours, &results("theirs", &[(64, Some(0))]), &at(0.05));
    assert_eq!(comparison.cells[0].verdict, Verdict::NotComparable);
    assert_eq!(comparison.cells[0].ratio, None);
}

#[test]
fn the_mean_of_ratios_is_geometric() {
    let ours = results("ours", &[(1, Some(200)), (2, Some(50)), (3, None)]);
    let theirs = results("theirs", &[(1, Some(100)), (2, Some(100)), (3, Some(1))]);
    let mean = geometric_mean_ratio(&compare(&ours, &theirs, &at(0.05))).unwrap();
    assert!((mean - 1.0).abs() < 1e-12, "{mean}");
}
