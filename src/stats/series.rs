//! What a trial's seconds say of it: whether the rate stood level, and how low it fell.
//!
//! Must not know: what happens in a second, or what follows from an unlevel trial.

/// Fewer seconds have no two halves worth comparing.
const LEAST_SECONDS: usize = 4;

/// How far a series of rates is from level, as shares of its mean: 0.02 is 2 %, upwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Mean of the second half less that of the first, divided by the mean of all; of an odd
    /// number of seconds the middle one is in neither half.
    pub halves: f64,
    /// Change from the first second to the last along the line of least squares, divided by the
    /// mean.
    pub slope: f64,
}

impl Level {
    /// Whether neither figure is further from 0 than `bound`, a share.
    pub fn is_within(&self, bound: f64) -> bool {
        self.halves.abs() <= bound && self.slope.abs() <= bound
    }
}

/// How level these rates of equally long seconds are; `None` of fewer than four, and where
/// their mean is 0 or not a number.
///
/// The slope is that of ordinary least squares over the index of the second,
/// sum (i - i_mean) (r - r_mean) / sum (i - i_mean)^2, times the number of steps.
pub fn level(rates: &[f64]) -> Option<Level> {
    let mean = mean(rates);
    if rates.len() < LEAST_SECONDS || mean == 0.0 || !mean.is_finite() {
        return None;
    }
    let half = rates.len() / 2;
    let (first, second) = (&rates[..half], &rates[rates.len() - half..]);
    let steps = (rates.len() - 1) as f64;
    let from_middle = |index: usize| index as f64 - steps / 2.0;
    let indexed = || rates.iter().enumerate();
    let along: f64 = indexed().map(|(index, rate)| from_middle(index) * (rate - mean)).sum();
    let across: f64 = indexed().map(|(index, _)| from_middle(index).powi(2)).sum();
    Some(Level {
        halves: (self::mean(second) - self::mean(first)) / mean,
        slope: along / across * steps / mean,
    })
}

fn mean(rates: &[f64]) -> f64 {
    rates.iter().sum::<f64>() / rates.len() as f64
}

/// How low the rate fell in single seconds, in the unit of the rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stalls {
    /// The lowest second.
    pub lowest: f64,
    /// The 5th percentile of the seconds by nearest rank: the second at place ceil(0.05 n) in
    /// ascending order.
    pub p5: f64,
}

/// How low these rates of equally long seconds fell; `None` of none.
pub fn stalls(rates: &[f64]) -> Option<Stalls> {
    let mut sorted = rates.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let place = (sorted.len() * 5).div_ceil(100).checked_sub(1)?;
    Some(Stalls { lowest: *sorted.first()?, p5: *sorted.get(place)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_rate_is_level_and_a_rising_one_is_not() {
        let steady = level(&[100.0; 9]).unwrap();
        assert_eq!(steady, Level { halves: 0.0, slope: 0.0 });
        assert!(steady.is_within(0.0));
        let rising = level(&[90.0, 95.0, 100.0, 105.0, 110.0]).unwrap();
        assert!((rising.halves - 0.15).abs() < 1e-12, "{rising:?}");
        assert!((rising.slope - 0.2).abs() < 1e-12, "{rising:?}");
        assert!(rising.is_within(0.21) && !rising.is_within(0.19) && !rising.is_within(0.1));
    }

    #[test]
    fn a_fall_counts_as_a_rise_does() {
        let falling = level(&[110.0, 105.0, 100.0, 95.0, 90.0]).unwrap();
        assert!(falling.halves < 0.0 && falling.slope < 0.0 && !falling.is_within(0.1));
    }

    #[test]
    fn too_short_and_empty_series_say_nothing() {
        assert_eq!(level(&[1.0, 2.0, 3.0]), None);
        assert_eq!(level(&[0.0; 8]), None);
        assert_eq!(level(&[1.0, 1.0, 1.0, f64::NAN]), None);
        assert_eq!(stalls(&[]), None);
    }

    #[test]
    fn the_fifth_percentile_is_a_second_that_was() {
        assert_eq!(stalls(&[5.0, 3.0, 4.0]), Some(Stalls { lowest: 3.0, p5: 3.0 }));
        let rates: Vec<f64> = (1..=21).rev().map(f64::from).collect();
        assert_eq!(stalls(&rates), Some(Stalls { lowest: 1.0, p5: 2.0 }));
        assert_eq!(stalls(&rates[..20]), Some(Stalls { lowest: 2.0, p5: 2.0 }));
    }
}
