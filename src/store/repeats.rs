//! What the repetitions of a cell say of its number.
//!
//! Must not know: files, plans.

use std::collections::BTreeMap;

use crate::model::{CellId, TrialStatus, counted};
use crate::stats::{CONFIDENCE, mean_interval, outliers, two_samples};

use super::StoredTrial;

/// Whether noise cannot tell the second rates, which are higher, from the first: the intervals of
/// both overlap. Without an interval nothing is known of noise, and nothing is equal.
pub(super) fn equal(lower: &[f64], higher: &[f64]) -> bool {
    let interval = |rates: &[f64]| {
        let logs: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
        mean_interval(&logs, CONFIDENCE)
    };
    match (interval(lower), interval(higher)) {
        (Some((_, high)), Some((low, _))) => high >= low,
        _ => false,
    }
}

/// What a reader of the median must know of the trials behind it.
pub(super) fn doubts(done: &[&StoredTrial]) -> Vec<String> {
    let mut doubts = Vec::new();
    let unsteady = done.iter().filter(|trial| trial.steady == Some(false)).count();
    if unsteady > 0 {
        doubts.push(format!("not steady in {unsteady} of {}", counted(done.len(), "trial")));
    }
    let stalled = done.iter().filter_map(|trial| {
        let (lowest, rate) = (trial.qps_lowest_second?, trial.qps?);
        (lowest.0 < rate.0 / 2).then_some(lowest.0 * 100 / rate.0.max(1))
    });
    if let Some(lowest) = stalled.min() {
        doubts.push(format!("stalls: the lowest second had {lowest} % of the rate"));
    }
    let rates: Vec<f64> =
        done.iter().filter_map(|trial| trial.qps).map(|rate| rate.per_second()).collect();
    let flagged = outliers(&rates).into_iter().filter(|is_outlier| *is_outlier).count();
    if flagged > 0 {
        doubts.push(format!("{flagged} of {} an outlier, kept", counted(rates.len(), "trial")));
    }
    if let Some(command) = done.iter().find_map(|trial| {
        trial.evidence.as_ref().and_then(|evidence| evidence.disagreements().next())
    }) {
        let seen = command.seen.unwrap_or_default();
        let name = command.counter.name();
        doubts.push(format!("{name}: the server counted {seen}, we sent {}", command.sent));
    }
    doubts
}

/// The largest difference between odd and even repetitions of a cell, over all cells, in
/// millionths: two measurements of the same thing. `None` where no cell has both.
pub(super) fn noise_ppm(trials: &BTreeMap<&CellId, BTreeMap<u32, &StoredTrial>>) -> Option<u64> {
    let shift = |of_cell: &BTreeMap<u32, &StoredTrial>| {
        let side = |parity: u32| -> Vec<f64> {
            let done = of_cell.iter().filter(|(_, trial)| trial.status == TrialStatus::Done);
            let side = done.filter(|(repetition, _)| *repetition % 2 == parity);
            side.filter_map(|(_, trial)| trial.qps).map(|rate| rate.per_second()).collect()
        };
        two_samples(&side(0), &side(1)).map(|found| (found.ratio - 1.0).abs())
    };
    let largest = trials.values().filter_map(shift).reduce(f64::max)?;
    Some((largest * 1e6).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_equal_where_their_intervals_overlap() {
        let (low, high) = ([100.0, 101.0, 99.0], [101.0, 102.0, 100.0]);
        assert!(equal(&low, &high));
        assert!(!equal(&low, &[150.0, 151.0, 149.0]));
        assert!(!equal(&low[..1], &high), "one trial has no interval");
    }
}
