//! Which number stands for many: the median of repetitions, the peak of a ladder.
//!
//! Must not know: what the numbers are rates of.

/// The middle value; of an even number of values, the mean of the two middle ones, rounded
/// down. `None` of nothing. The order of the values does not matter.
pub fn median(values: &[u64]) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some(u64::midpoint(sorted[sorted.len() / 2 - 1], upper))
}

/// The level with the highest rate; of equal ones the first, so that on a ladder in ascending
/// order the fewest connections win. A level without a rate never wins. `None` where no level
/// has a rate.
pub fn peak<T>(levels: &[T], rate: impl Fn(&T) -> Option<u64>) -> Option<&T> {
    let rated = levels.iter().filter_map(|level| Some((rate(level)?, level)));
    rated.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, level)| level)
}

/// Whether a ladder's rates, in ascending order of concurrency, have fallen below their best at
/// each of its last `falling` levels or more. A level without a rate has not fallen.
pub fn has_fallen(rates: &[Option<u64>], falling: u32) -> bool {
    let Some(best) = peak(rates, |rate| *rate).copied().flatten() else { return false };
    let below = rates.iter().rev().take_while(|rate| rate.is_some_and(|rate| rate < best));
    below.count() >= falling as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_the_mean_of_the_two_middle_ones_rounded_down() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[7]), Some(7));
        assert_eq!(median(&[9, 1, 5]), Some(5));
        assert_eq!(median(&[4, 1]), Some(2));
        assert_eq!(median(&[8, 1, 100, 3]), Some(5));
        assert_eq!(median(&[u64::MAX, u64::MAX - 1]), Some(u64::MAX - 1));
    }

    #[test]
    fn a_ladder_has_fallen_when_its_last_levels_lie_below_the_best() {
        let rates = |list: &[u64]| list.iter().map(|rate| Some(*rate)).collect::<Vec<_>>();
        assert!(has_fallen(&rates(&[5, 9, 8, 7]), 2));
        assert!(has_fallen(&rates(&[5, 9, 7, 8]), 2), "below the best, if not falling further");
        assert!(!has_fallen(&rates(&[5, 9, 8]), 2));
        assert!(!has_fallen(&rates(&[5, 9, 8, 9]), 1), "back at the best");
        assert!(!has_fallen(&[Some(9), Some(8), None], 1));
        assert!(!has_fallen(&[], 1));
    }

    #[test]
    fn the_peak_is_the_highest_level_and_the_first_of_equals() {
        let levels = [(32, Some(5)), (64, Some(9)), (128, Some(9)), (256, None), (512, Some(1))];
        assert_eq!(peak(&levels, |level| level.1), Some(&(64, Some(9))));
        assert_eq!(peak(&levels[3..4], |level| level.1), None);
        assert_eq!(peak(&[] as &[(u32, Option<u64>)], |level| level.1), None);
    }
}
