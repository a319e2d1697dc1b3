//! What the repetitions of a cell say of its number.
//!
//! Must not know: files, plans.

use std::collections::BTreeMap;

use crate::model::{CellId, TrialStatus, Until, counted};
use crate::stats::{half_width, outliers, rate_interval, two_samples};

use super::StoredTrial;

/// Of an interval that reaches further from its middle, an overlap shows ignorance, not equality.
const EQUAL_HALF_WIDTH: f64 = 0.05;

/// Whether noise cannot tell the second rates, which are higher, from the first: both are known
/// well, and their intervals overlap. Without an interval nothing is known of noise, and nothing
/// is equal.
pub(super) fn equal(lower: &[f64], higher: &[f64]) -> bool {
    match (rate_interval(lower), rate_interval(higher)) {
        (Some(lower), Some(higher)) => {
            [lower, higher].iter().all(|of| half_width(*of) <= EQUAL_HALF_WIDTH)
                && lower.1 >= higher.0
        }
        _ => false,
    }
}

/// What is to be said where further trials were to narrow the interval and did not.
pub(super) fn until_missed(rates: &[f64], until: Option<Until>) -> Option<String> {
    let until = until.filter(|until| rates.len() >= until.repeats_max as usize)?;
    let width = half_width(rate_interval(rates)?);
    (width > until.width_ppm as f64 / 1e6).then(|| {
        let percent = (width * 1e3).round() / 10.0;
        format!("known to {percent} % after all {}", counted(rates.len(), "trial"))
    })
}

/// What a reader of the median must know of the trials behind it.
pub(super) fn doubts(done: &[&StoredTrial]) -> Vec<String> {
    let mut doubts = Vec::new();
    let unsteady = done.iter().filter(|trial| trial.steady == Some(false)).count();
    if unsteady > 0 {
        doubts.push(format!("not steady in {unsteady} of {}", counted(done.len(), "trial")));
    }
    let unlevel = done.iter().filter(|trial| trial.warmup_level == Some(false)).count();
    if unlevel > 0 {
        let trials = counted(done.len(), "trial");
        doubts.push(format!("warm-up at its limit and not level in {unlevel} of {trials}"));
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
        doubts.push(format!(
            "{} among {}, kept",
            counted(flagged, "outlier"),
            counted(rates.len(), "trial")
        ));
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

/// With fewer in each half, an A/A run shows scatter, not the noise of medians.
const AA_REPEATS_MIN: usize = 3;

/// The largest difference between odd and even repetitions of a cell, over all cells, in
/// millionths: two measurements of the same thing. `None` where no cell has both.
pub(super) fn noise_ppm(trials: &BTreeMap<&CellId, BTreeMap<u32, &StoredTrial>>) -> Option<u64> {
    let shift = |of_cell: &BTreeMap<u32, &StoredTrial>| {
        let side = |parity: u32| -> Vec<f64> {
            let done = of_cell.iter().filter(|(_, trial)| trial.status == TrialStatus::Done);
            let side = done.filter(|(repetition, _)| *repetition % 2 == parity);
            side.filter_map(|(_, trial)| trial.qps).map(|rate| rate.per_second()).collect()
        };
        let (a, b) = (side(1), side(0));
        let is_enough = a.len().min(b.len()) >= AA_REPEATS_MIN;
        let found = is_enough.then(|| two_samples(&a, &b)).flatten()?;
        // Neither of the two is the base.
        Some(found.ratio.max(found.ratio.recip()) - 1.0)
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
        assert!(!equal(&[2_000.0, 2_100.0, 900.0], &[4_600.0, 4_700.0, 1_900.0]), "ignorance");
        assert!(!equal(&low[..1], &high), "one trial has no interval");
    }
}
