//! How well a mean is known from its repeats, and which repeat does not belong to the others.
//!
//! Must not know: what the values are of. Callers pass logarithms where they want ratios.

use super::special::student_quantile;
use super::verdict::CONFIDENCE;

/// Fewer repeats say nothing of their own scatter.
const LEAST_FOR_INTERVAL: usize = 3;

/// Fewer repeats have no majority that one of them could stand apart from.
const LEAST_FOR_OUTLIERS: usize = 5;

/// Student's t interval of the mean: mean -+ t s / sqrt(n), s the standard deviation with n - 1
/// in the denominator, t the two-sided quantile of n - 1 degrees of freedom (Student, Biometrika
/// 6, 1908). `confidence` is a share: 0.95. Low and high in the unit of the values; `None` for
/// fewer than three of them, for one that is not a number, and for a confidence outside (0, 1).
pub fn mean_interval(values: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let possible = confidence > 0.0 && confidence < 1.0;
    if values.len() < LEAST_FOR_INTERVAL || !possible || !values.iter().all(|v| v.is_finite()) {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (squares / (n - 1.0) / n).sqrt();
    let half = student_quantile(n - 1.0, 1.0 - confidence) * error;
    Some((mean - half, mean + half))
}

/// Which values lie apart from the others: those with a modified z-score
/// |0.6745 (x - median) / MAD| above 3.5, MAD the median of the distances from the median
/// (B. Iglewicz and D. C. Hoaglin, How to Detect and Handle Outliers, 1993). In the order of the
/// values; none of fewer than five, and none where one is not a number.
///
/// Where more than half of the values are equal, MAD is 0 and every other distance is infinitely
/// many of them: then whatever differs from the median is flagged, and equal values are not.
pub fn outliers(values: &[f64]) -> Vec<bool> {
    const SCALE: f64 = 0.6745;
    const BOUND: f64 = 3.5;
    if values.len() < LEAST_FOR_OUTLIERS || !values.iter().all(|value| value.is_finite()) {
        return vec![false; values.len()];
    }
    let centre = middle(values.to_vec());
    let distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    let spread = middle(distances.clone());
    distances.iter().map(|distance| SCALE * distance > BOUND * spread).collect()
}

/// The median of at least one value; of an even number, the mean of the two middle ones.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let upper = values.len() / 2;
    if values.len() % 2 == 1 {
        return values[upper];
    }
    f64::midpoint(values[upper - 1], values[upper])
}

/// Where a rate lies with [`CONFIDENCE`], as logarithms: [`mean_interval`] of those of its repeats.
pub fn rate_interval(rates: &[f64]) -> Option<(f64, f64)> {
    let logs: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
    mean_interval(&logs, CONFIDENCE)
}

/// Half of such an interval, as a share of the rate: 0.02 is 2 %.
pub fn half_width((low, high): (f64, f64)) -> f64 {
    ((high - low) / 2.0).exp() - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_needs_three_values_and_a_confidence() {
        assert_eq!(mean_interval(&[1.0, 2.0], 0.95), None);
        assert_eq!(mean_interval(&[1.0, 2.0, f64::INFINITY], 0.95), None);
        assert_eq!(mean_interval(&[1.0, 2.0, 3.0], 1.0), None);
        assert_eq!(mean_interval(&[1.0, 2.0, 3.0], 0.0), None);
        assert_eq!(mean_interval(&[2.0; 4], 0.99), Some((2.0, 2.0)));
    }

    #[test]
    fn one_value_far_from_the_others_is_flagged_and_four_values_have_no_others() {
        let flagged = outliers(&[10.0, 11.0, 9.0, 10.5, 90.0]);
        assert_eq!(flagged, [false, false, false, false, true]);
        assert_eq!(outliers(&[10.0, 11.0, 9.0, 90.0]), [false; 4]);
        assert_eq!(outliers(&[10.0, 11.0, 9.0, 10.5, f64::NAN]), [false; 5]);
        assert_eq!(outliers(&[]), Vec::<bool>::new());
    }

    #[test]
    fn where_most_are_equal_whatever_differs_is_flagged() {
        let flagged = outliers(&[7.0, 7.0, 7.0, 7.001, 7.0]);
        assert_eq!(flagged, [false, false, false, true, false]);
        assert_eq!(outliers(&[7.0; 6]), [false; 6]);
    }
}
