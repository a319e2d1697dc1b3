//! The statistics held against scipy's: tests/statistics/reference.py says how the values came.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

use gridbench::stats;
use serde_json::Value;

/// Every figure agrees to this share of itself.
const TOLERANCE: f64 = 1e-9;

fn cases(part: &str, at_least: usize) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("statistics/reference.json")).unwrap();
    let cases = all[part].as_array().unwrap().clone();
    assert!(cases.len() >= at_least, "{part}: {} cases", cases.len());
    cases
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn same(ours: f64, theirs: &Value, case: &Value) {
    let theirs = number(theirs);
    let far = (ours - theirs).abs();
    assert!(far <= TOLERANCE * theirs.abs(), "{ours} is not {theirs} in {case}");
}

/// For differences and intervals around 0, whose own size is no measure.
fn near(ours: f64, theirs: &Value, size: f64, case: &Value) {
    let theirs = number(theirs);
    assert!((ours - theirs).abs() <= TOLERANCE * size, "{ours} is not {theirs} in {case}");
}

#[test]
fn the_rank_test_its_shift_and_its_interval() {
    let (mut exact, mut tied, mut many, mut without) = (0, 0, 0, 0);
    for case in cases("two_samples", 90) {
        let (a, b) = (numbers(&case["a"]), numbers(&case["b"]));
        let size = a.iter().chain(&b).fold(1.0_f64, |most, value| most.max(value.abs()));
        match case["method"].as_str().unwrap() {
            "exact" => exact += 1,
            "permutations" => tied += 1,
            _ => many += 1,
        }
        same(stats::mann_whitney(&a, &b).unwrap(), &case["p"], &case);
        same(stats::mann_whitney(&b, &a).unwrap(), &case["p"], &case);
        near(stats::hodges_lehmann(&a, &b).unwrap(), &case["hodges_lehmann"], size, &case);
        for interval in case["intervals"].as_array().unwrap() {
            let ours = stats::shift_interval(&a, &b, number(&interval[0]));
            if interval[1].is_null() {
                without += 1;
                assert_eq!(ours, None, "{interval} in {case}");
                continue;
            }
            let (low, high) = ours.unwrap();
            near(low, &interval[1][0], size, &case);
            near(high, &interval[1][1], size, &case);
        }
    }
    assert!(exact >= 40 && tied >= 30 && many >= 12 && without >= 20);
}

#[test]
fn the_smallest_p_of_so_many_repeats() {
    for case in cases("least_p", 64) {
        let count = |key: &str| usize::try_from(case[key].as_u64().unwrap()).unwrap();
        same(stats::least_p(count("n"), count("m")), &case["p"], &case);
    }
}

#[test]
fn p_values_adjusted_for_their_number() {
    for case in cases("discovery", 15) {
        let adjusted = stats::benjamini_hochberg(&numbers(&case["p"]));
        let theirs = case["adjusted"].as_array().unwrap();
        assert_eq!(adjusted.len(), theirs.len());
        adjusted.iter().zip(theirs).for_each(|(ours, theirs)| same(*ours, theirs, &case));
    }
}

#[test]
fn intervals_of_a_mean() {
    for case in cases("means", 114) {
        let values = numbers(&case["values"]);
        let (low, high) = stats::mean_interval(&values, number(&case["confidence"])).unwrap();
        let half = f64::midpoint(high, -low);
        let width = number(&case["high"]) - number(&case["low"]);
        assert!((half * 2.0 / width - 1.0).abs() <= TOLERANCE, "{half} in {case}");
        same(low, &case["low"], &case);
        same(high, &case["high"], &case);
    }
}

#[test]
fn values_that_lie_apart() {
    let mut flagged = 0;
    for case in cases("outliers", 18) {
        let ours: Vec<Value> =
            stats::outliers(&numbers(&case["values"])).into_iter().map(Value::from).collect();
        flagged += ours.iter().filter(|value| **value == Value::Bool(true)).count();
        assert_eq!(Value::Array(ours), case["flagged"], "{case}");
    }
    assert!(flagged >= 8, "{flagged}");
}

#[test]
fn series_of_rates() {
    for case in cases("series", 33) {
        let rates = numbers(&case["rates"]);
        let stalls = stats::stalls(&rates).unwrap();
        same(stalls.lowest, &case["lowest"], &case);
        same(stalls.p5, &case["p5"], &case);
        let Some(level) = stats::level(&rates) else {
            assert!(case["slope"].is_null(), "{case}");
            continue;
        };
        near(level.halves, &case["halves"], 1.0, &case);
        near(level.slope, &case["slope"], 1.0, &case);
    }
}
