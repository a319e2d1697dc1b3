//! What two sets of rates say of each other: ratio, interval, chance, and one word.
//!
//! Must not know: cells, or what was measured. All of it is done on logarithms, so that a factor
//! is a distance.

use super::interval::mean_interval;
use super::significance::{
    benjamini_hochberg, hodges_lehmann, least_p, mann_whitney, shift_interval,
};
use crate::model::Verdict;

/// The share of comparisons between equal things that may be called a difference.
pub const SIGNIFICANCE: f64 = 0.05;
/// Of every interval.
pub const CONFIDENCE: f64 = 0.95;

/// What can be said of two sets of rates before the other cells are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Findings {
    /// Ours divided by theirs.
    pub ratio: f64,
    /// Where the ratio lies with [`CONFIDENCE`].
    pub interval: Option<(f64, f64)>,
    /// Of the rank test alone; `None` where theirs is one published number.
    pub p: Option<f64>,
    /// Whether so many repeats can show a difference at all.
    pub has_power: bool,
}

impl Findings {
    /// The same, theirs divided by ours.
    pub(super) fn inverse(self) -> Self {
        let interval = self.interval.map(|(low, high)| (high.recip(), low.recip()));
        Self { ratio: self.ratio.recip(), interval, ..self }
    }
}

/// Compares what was measured twice. `None` where a side is empty or has no positive rate.
pub fn two_samples(ours: &[f64], theirs: &[f64]) -> Option<Findings> {
    let (ours, theirs) = (logarithms(ours)?, logarithms(theirs)?);
    let interval = shift_interval(&theirs, &ours, CONFIDENCE);
    Some(Findings {
        ratio: factor(hodges_lehmann(&theirs, &ours)?),
        interval: interval.map(|(low, high)| (factor(low), factor(high))),
        p: mann_whitney(&theirs, &ours),
        has_power: least_p(ours.len(), theirs.len()) <= SIGNIFICANCE,
    })
}

/// Holds what was measured against one number whose own noise nobody knows.
pub fn one_sample(ours: &[f64], ours_shown: f64, published: f64) -> Option<Findings> {
    let logs = logarithms(ours)?;
    let base = logarithms(&[published])?[0];
    let interval = mean_interval(&logs, CONFIDENCE);
    Some(Findings {
        ratio: ours_shown / published,
        interval: interval.map(|(low, high)| (factor(low - base), factor(high - base))),
        p: None,
        has_power: interval.is_some(),
    })
}

/// Back from the logarithm, without the last bits that its way there and back has cost.
fn factor(logarithm: f64) -> f64 {
    (logarithm.exp() * 1e12).round() / 1e12
}

fn logarithms(rates: &[f64]) -> Option<Vec<f64>> {
    let is_rate = |rate: &f64| rate.is_finite() && *rate > 0.0;
    (!rates.is_empty() && rates.iter().all(is_rate))
        .then(|| rates.iter().map(|rate| rate.ln()).collect())
}

/// The chances of all comparisons that were made together, adjusted for each other. What can show
/// nothing with so few repeats takes no part, whatever its rates are.
pub fn adjusted(findings: &[Option<Findings>]) -> Vec<Option<f64>> {
    let p_of = |of: &Option<Findings>| of.filter(|of| of.has_power).and_then(|of| of.p);
    let tested: Vec<f64> = findings.iter().filter_map(p_of).collect();
    let mut adjusted = benjamini_hochberg(&tested).into_iter();
    findings.iter().map(|of| p_of(of).and_then(|_| adjusted.next())).collect()
}

/// The word for it. `floor` is the larger of threshold and noise: a difference of at most this
/// share is none, and one above it is one only where chance does not explain it.
pub fn verdict(findings: &Findings, adjusted_p: Option<f64>, floor: f64) -> Verdict {
    // A hair of slack: 95 against 100 is 5 %, whatever the last bit says.
    let floor = floor + 1e-9;
    let Findings { ratio, interval, p, .. } = *findings;
    let is_above = |value: f64| value > 1.0 + floor;
    let is_below = |value: f64| value < 1.0 - floor;
    // A median that its own interval does not hold is of values that say two things.
    let trusted = interval.filter(|(low, high)| (*low..=*high).contains(&ratio));
    if trusted.is_some_and(|(low, high)| !is_below(low) && !is_above(high)) {
        return Verdict::Within;
    }
    let (improved, regressed) = match p {
        Some(_) => {
            let is_real = adjusted_p.is_some_and(|p| p <= SIGNIFICANCE);
            (is_real && is_above(ratio), is_real && is_below(ratio))
        }
        None => (
            trusted.is_some_and(|(low, _)| is_above(low)),
            trusted.is_some_and(|(_, high)| is_below(high)),
        ),
    };
    match (improved, regressed) {
        (true, _) => Verdict::Improved,
        (_, true) => Verdict::Regressed,
        _ => Verdict::Inconclusive,
    }
}

/// The fewest repeats on each side with which one changed cell among `cells` can be told from
/// chance, when all others are unchanged.
pub fn repeats_for_one_in(cells: usize) -> usize {
    let shows = |n: &usize| least_p(*n, *n) * cells.max(1) as f64 <= SIGNIFICANCE;
    (1..=60).find(shows).unwrap_or(60)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: [f64; 5] = [100.0, 101.0, 99.0, 100.5, 99.5];

    fn judged(ours: &[f64], theirs: &[f64], floor: f64) -> Verdict {
        let findings = two_samples(ours, theirs).unwrap();
        verdict(&findings, adjusted(&[Some(findings)])[0], floor)
    }

    fn times(factor: f64) -> Vec<f64> {
        OLD.iter().map(|rate| rate * factor).collect()
    }

    #[test]
    fn a_difference_must_be_larger_than_the_floor_and_than_chance() {
        assert_eq!(judged(&times(0.9), &OLD, 0.05), Verdict::Regressed);
        assert_eq!(judged(&times(1.1), &OLD, 0.05), Verdict::Improved);
        assert_eq!(judged(&times(1.02), &OLD, 0.05), Verdict::Within, "real, and small");
        assert_eq!(judged(&times(1.04), &OLD, 0.05), Verdict::Inconclusive, "it may be 6 %");
        assert_eq!(judged(&OLD, &OLD, 0.05), Verdict::Within, "the interval lies inside");
        assert_eq!(judged(&OLD, &OLD, 0.001), Verdict::Inconclusive, "it does not");
        assert_eq!(judged(&times(0.9)[..3], &OLD[..3], 0.05), Verdict::Inconclusive, "3 of each");
        assert_eq!(judged(&[50.0], &[100.0], 0.05), Verdict::Inconclusive, "1 of each");
        let noisy = [60.0, 95.0, 130.0, 70.0, 110.0];
        assert_eq!(judged(&noisy, &OLD, 0.05), Verdict::Inconclusive);
    }

    #[test]
    fn against_one_number_the_whole_interval_must_lie_beyond_the_floor() {
        let judged = |ours: &[f64], published, floor| {
            verdict(&one_sample(ours, ours[0], published).unwrap(), None, floor)
        };
        assert_eq!(judged(&OLD, 120.0, 0.05), Verdict::Regressed);
        assert_eq!(judged(&OLD, 80.0, 0.05), Verdict::Improved);
        assert_eq!(judged(&OLD, 100.0, 0.05), Verdict::Within);
        assert_eq!(judged(&OLD, 105.5, 0.05), Verdict::Inconclusive, "it straddles the floor");
        assert_eq!(judged(&OLD[..2], 200.0, 0.05), Verdict::Inconclusive, "2 have no interval");
        let two_states = [106.0, 50.0, 50.1, 50.2, 50.3];
        assert_eq!(judged(&two_states, 100.0, 0.05), Verdict::Inconclusive, "a median outside");
    }

    #[test]
    fn what_can_show_nothing_takes_no_part_in_the_adjustment() {
        let powerful = two_samples(&times(0.9), &OLD);
        let powerless = two_samples(&[50.0], &[100.0]);
        let adjusted = adjusted(&[powerless, powerful, None]);
        assert_eq!((adjusted[0], adjusted[2]), (None, None));
        assert!((adjusted[1].unwrap() - 2.0 / 252.0).abs() < 1e-12);
    }

    #[test]
    fn one_cell_among_many_needs_more_repeats() {
        assert_eq!(repeats_for_one_in(1), 4);
        assert_eq!(repeats_for_one_in(5), 5);
        assert_eq!(repeats_for_one_in(70), 7);
    }

    #[test]
    fn what_is_no_rate_says_nothing() {
        assert_eq!(two_samples(&[], &OLD), None);
        assert_eq!(two_samples(&[0.0], &OLD), None);
        assert_eq!(one_sample(&OLD, 100.0, 0.0), None);
    }
}
