//! Whether two sets of repeats differ, by how much, and what is left of many such findings.
//!
//! Everything here is by ranks, because a rate's repeats follow no law that could be assumed.
//! Callers pass logarithms where they want ratios. Must not know: what was measured, or what a
//! verdict is.

use super::special::{normal_above, normal_quantile};

/// Up to so many values of both sides together the distribution of ranks is counted, not
/// approximated: C(60, 30) is the largest that 64 bits hold with room.
const EXACT_UP_TO: usize = 60;

/// Slack of a comparison with a confidence that no binary fraction meets: 1 - 0.9 is a little
/// less than the 0.1 that three against three repeats give exactly.
const SLACK: f64 = 1e-12;

/// The two-sided p of the Wilcoxon-Mann-Whitney test that both sides are drawn from one
/// distribution: twice the smaller tail, at most 1. `None` where a side is empty or a value is
/// not a number.
///
/// Up to 60 values together it is exact, with ties too: all C(n + m, n) ways to choose ranks are
/// counted by their sum of mid-ranks (E. L. Lehmann, Nonparametrics, 1975, sections 1.2 and 1.4;
/// the counting is that of B. Streitberg and J. Roehmel, Statistical Software Newsletter 12,
/// 1986). Without ties that is scipy's `mannwhitneyu(method="exact")`. Beyond 60 values it is the
/// normal approximation with correction for ties and continuity, as scipy's
/// `method="asymptotic"`.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<f64> {
    let ranked = Ranked::of(a, b)?;
    let p = if ranked.len() <= EXACT_UP_TO { ranked.exact() } else { ranked.approximate() };
    Some(p.clamp(0.0, 1.0))
}

/// The smallest p that [`mann_whitney`] can give for so many repeats: 2 / C(n + m, n), reached
/// where all of one side lie above all of the other. 1 where a side is empty.
pub fn least_p(n: usize, m: usize) -> f64 {
    (2.0 / choose(n + m, n.min(m))).min(1.0)
}

/// By how much `b` lies above `a`: the median of all differences b - a (J. L. Hodges and E. L.
/// Lehmann, Ann. Math. Statist. 34, 1963). Of logarithms it is the logarithm of a ratio. `None`
/// where a side is empty or a value is not a number.
pub fn hodges_lehmann(a: &[f64], b: &[f64]) -> Option<f64> {
    let differences = differences(a, b)?;
    let middle = differences.len() / 2;
    let upper = *differences.get(middle)?;
    let odd = differences.len() % 2 == 1;
    Some(if odd { upper } else { f64::midpoint(differences[middle - 1], upper) })
}

/// The interval of the shift from `a` to `b` that belongs to the Mann-Whitney test: from the
/// k-th smallest to the k-th largest of all differences b - a, k the largest for which the
/// chance of fewer than k wins, P(U <= k - 1), is at most (1 - confidence) / 2 (M. Hollander and
/// D. A. Wolfe, Nonparametric Statistical Methods, 2nd ed., section 4.3). `confidence` is a
/// share: 0.95.
///
/// It covers the shift at least as often as it says: the distribution is that without ties, and
/// it is exact up to 60 values together, beyond that the normal approximation. `None` where so
/// few repeats cannot give that confidence, where a side is empty or a value is not a number.
pub fn shift_interval(a: &[f64], b: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let differences = differences(a, b)?;
    let rank = shift_rank(a.len(), b.len(), confidence)?;
    let low = *differences.get(rank.checked_sub(1)?)?;
    let high = *differences.get(differences.len() - rank)?;
    (low <= high).then_some((low, high))
}

/// Adjusted p-values, in the given order: the least false discovery rate at which each of the
/// findings would still be one (Y. Benjamini and Y. Hochberg, J. R. Statist. Soc. B 57, 1995;
/// adjusted as scipy's `false_discovery_control`). Each p is between 0 and 1.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&left, &right| p[right].total_cmp(&p[left]));
    let mut adjusted = vec![1.0; p.len()];
    let mut least = 1.0_f64;
    for (passed, &index) in order.iter().enumerate() {
        let rank = (p.len() - passed) as f64;
        least = least.min(p[index] * (p.len() as f64 / rank));
        adjusted[index] = least;
    }
    adjusted
}

/// C(n, k), exact while it is below 2^53.
fn choose(n: usize, k: usize) -> f64 {
    (1..=k).fold(1.0, |product, i| product * (n - k + i) as f64 / i as f64)
}

fn sound(a: &[f64], b: &[f64]) -> bool {
    !a.is_empty() && !b.is_empty() && a.iter().chain(b).all(|value| value.is_finite())
}

/// All b - a in ascending order.
fn differences(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    if !sound(a, b) {
        return None;
    }
    let mut all: Vec<f64> = b.iter().flat_map(|b| a.iter().map(move |a| b - a)).collect();
    all.sort_unstable_by(f64::total_cmp);
    Some(all)
}

/// k of [`shift_interval`], at least 1.
fn shift_rank(n: usize, m: usize, confidence: f64) -> Option<usize> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let outside = 1.0 - confidence;
    let rank = if n + m <= EXACT_UP_TO {
        let few = n.min(m);
        let ranks: Vec<usize> = (1..=n + m).collect();
        let counts = sums(&ranks, few);
        let all = counts.iter().sum::<u64>() as f64;
        let mut below = 0;
        let mut fits = |count: &u64| {
            below += count;
            below as f64 / all <= outside / 2.0 + SLACK
        };
        counts.iter().skip(few * (few + 1) / 2).take_while(|count| fits(count)).count()
    } else {
        let (n, m) = (n as f64, m as f64);
        let deviation = (n * m * (n + m + 1.0) / 12.0).sqrt();
        (n * m / 2.0 - normal_quantile(outside) * deviation).floor().max(0.0) as usize
    };
    (rank > 0 && 2 * rank <= n * m).then_some(rank)
}

/// How many ways there are to choose `few` of these ranks, by their sum.
fn sums(ranks: &[usize], few: usize) -> Vec<u64> {
    let most: usize = ranks.iter().sum();
    let mut ways = vec![vec![0_u64; most + 1]; few + 1];
    ways[0][0] = 1;
    let mut seen = 0;
    for (index, &rank) in ranks.iter().enumerate() {
        seen += rank;
        for chosen in (1..=few.min(index + 1)).rev() {
            let (without, with) = ways.split_at_mut(chosen);
            let (from, to) = (&without[chosen - 1], &mut with[0]);
            for sum in rank..=seen {
                to[sum] += from[sum - rank];
            }
        }
    }
    ways.pop().unwrap_or_default()
}

/// Both sides' values as doubled mid-ranks, which are whole numbers.
struct Ranked {
    /// Of all values, ascending.
    doubled: Vec<usize>,
    /// Number of values of each side.
    sides: (usize, usize),
    /// Sum of the first side's doubled mid-ranks.
    first: usize,
    /// Sum of t^3 - t over the groups of t equal values.
    ties: f64,
}

impl Ranked {
    fn of(a: &[f64], b: &[f64]) -> Option<Self> {
        if !sound(a, b) {
            return None;
        }
        let tagged = a.iter().map(|&value| (value, true));
        let mut all: Vec<_> = tagged.chain(b.iter().map(|&value| (value, false))).collect();
        all.sort_by(|left, right| left.0.total_cmp(&right.0));
        let mut ranked =
            Self { doubled: Vec::new(), sides: (a.len(), b.len()), first: 0, ties: 0.0 };
        for group in all.chunk_by(|left, right| left.0 == right.0) {
            let rank = 2 * ranked.doubled.len() + group.len() + 1;
            ranked.first += rank * group.iter().filter(|(_, is_first)| *is_first).count();
            ranked.doubled.extend(group.iter().map(|_| rank));
            let size = group.len() as f64;
            ranked.ties += size * size * size - size;
        }
        Some(ranked)
    }

    fn len(&self) -> usize {
        self.doubled.len()
    }

    fn exact(&self) -> f64 {
        let (n, m) = self.sides;
        let all: usize = self.doubled.iter().sum();
        let (few, sum) = if n <= m { (n, self.first) } else { (m, all - self.first) };
        let counts = sums(&self.doubled, few);
        let below: u64 = counts[..=sum].iter().sum();
        let above: u64 = counts[sum..].iter().sum();
        let total = below + above - counts[sum];
        2.0 * below.min(above) as f64 / total as f64
    }

    fn approximate(&self) -> f64 {
        let (n, m) = (self.sides.0 as f64, self.sides.1 as f64);
        let wins = (self.first as f64 - n * (n + 1.0)) / 2.0;
        let total = n + m;
        let spread = (total + 1.0) - self.ties / (total * (total - 1.0));
        let deviation = (n * m / 12.0 * spread).sqrt();
        if deviation <= 0.0 {
            return 1.0;
        }
        let most = wins.max(n * m - wins);
        2.0 * normal_above((most - n * m / 2.0 - 0.5) / deviation)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn repeats() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec((0_i32..40).prop_map(f64::from), 1..12)
    }

    #[test]
    fn three_against_three_can_give_a_tenth_and_four_against_four_a_thirtyfifth() {
        assert_eq!(least_p(3, 3), 0.1);
        assert_eq!(least_p(4, 4), 2.0 / 70.0);
        assert_eq!(least_p(1, 1), 1.0);
        assert_eq!(least_p(0, 9), 1.0);
        assert_eq!(mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), Some(0.1));
        assert_eq!(shift_interval(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0.9), Some((1.0, 5.0)));
        assert_eq!(shift_interval(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 0.95), None);
    }

    #[test]
    fn what_cannot_be_ranked_has_no_answer() {
        for (a, b) in [(&[][..], &[1.0][..]), (&[1.0], &[]), (&[f64::NAN], &[1.0])] {
            assert_eq!(mann_whitney(a, b), None);
            assert_eq!(hodges_lehmann(a, b), None);
            assert_eq!(shift_interval(a, b, 0.5), None);
        }
        assert_eq!(shift_interval(&[1.0], &[1.0], 1.0), None);
        assert_eq!(mann_whitney(&[3.0; 5], &[3.0; 9]), Some(1.0));
        assert_eq!(mann_whitney(&[3.0; 50], &[3.0; 90]), Some(1.0));
        assert_eq!(mann_whitney(&[-0.0], &[0.0]), Some(1.0));
        assert_eq!(benjamini_hochberg(&[]), Vec::<f64>::new());
    }

    /// Of all ways to deal tied values to two sides, at most that share may have that p.
    #[test]
    fn with_ties_too_a_level_is_never_exceeded() {
        let values = [1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 5.0, 5.0];
        let mut found = Vec::new();
        for mask in (0_u32..256).filter(|mask| mask.count_ones() == 3) {
            let side = |on| {
                let kept = (0..8).filter(move |bit| (mask >> bit & 1 == 1) == on);
                kept.map(|bit| values[bit]).collect::<Vec<_>>()
            };
            found.push(mann_whitney(&side(true), &side(false)).unwrap());
        }
        assert_eq!(found.len(), 56);
        for level in &found {
            let as_small = found.iter().filter(|p| *p <= level).count();
            assert!(as_small as f64 <= level * 56.0 + 1e-9, "{as_small} of 56 at {level}");
        }
    }

    #[test]
    fn sixty_values_are_counted_without_overflow() {
        let low: Vec<f64> = (0..30).map(f64::from).collect();
        let high: Vec<f64> = (30..60).map(f64::from).collect();
        let p = mann_whitney(&low, &high).unwrap();
        assert!((p / least_p(30, 30) - 1.0).abs() < 1e-12, "{p}");
    }

    proptest! {
        #[test]
        fn the_sides_may_be_swapped(a in repeats(), b in repeats()) {
            prop_assert_eq!(mann_whitney(&a, &b), mann_whitney(&b, &a));
            let (there, back) = (hodges_lehmann(&a, &b).unwrap(), hodges_lehmann(&b, &a).unwrap());
            prop_assert_eq!(there, -back);
            let swapped = shift_interval(&b, &a, 0.9).map(|(low, high)| (-high, -low));
            prop_assert_eq!(shift_interval(&a, &b, 0.9), swapped);
        }

        #[test]
        fn p_lies_between_the_least_and_one(a in repeats(), b in repeats()) {
            let p = mann_whitney(&a, &b).unwrap();
            prop_assert!(p <= 1.0 && p >= least_p(a.len(), b.len()) * (1.0 - 1e-12));
        }

        #[test]
        fn a_shift_moves_the_estimate_and_its_interval_alike(
            a in repeats(), b in repeats(), by in -100_i32..100,
        ) {
            let by = f64::from(by);
            let moved: Vec<f64> = b.iter().map(|value| value + by).collect();
            let shift = hodges_lehmann(&a, &b).unwrap();
            prop_assert_eq!(hodges_lehmann(&a, &moved), Some(shift + by));
            let interval = shift_interval(&a, &b, 0.9).map(|(low, high)| (low + by, high + by));
            prop_assert_eq!(shift_interval(&a, &moved, 0.9), interval);
            if let Some((low, high)) = shift_interval(&a, &b, 0.9) {
                prop_assert!(low <= shift && shift <= high);
            }
        }

        #[test]
        fn an_interval_without_zero_is_a_small_p(a in repeats(), b in repeats()) {
            // Distinct values: only then do test and interval rest on one distribution.
            let a: Vec<f64> = a.iter().zip(0_u8..).map(|(v, i)| v + f64::from(i) / 64.0).collect();
            let b: Vec<f64> =
                b.iter().zip(0_u8..).map(|(v, i)| v + f64::from(i) / 64.0 + 1.0 / 128.0).collect();
            let distinct = |values: &[f64]| {
                let mut sorted = values.to_vec();
                sorted.sort_by(f64::total_cmp);
                sorted.windows(2).all(|pair| pair[0] < pair[1])
            };
            prop_assume!(distinct(&[a.clone(), b.clone()].concat()));
            let excludes = shift_interval(&a, &b, 0.9).is_some_and(|(l, h)| l > 0.0 || h < 0.0);
            prop_assert_eq!(excludes, mann_whitney(&a, &b).unwrap() <= 0.1 + 1e-9);
        }

        #[test]
        fn adjusting_keeps_the_order_and_makes_nothing_smaller(
            p in prop::collection::vec(0.0..=1.0, 0..30),
        ) {
            let adjusted = benjamini_hochberg(&p);
            for (left, raw) in adjusted.iter().zip(&p) {
                prop_assert!(*left >= *raw && *left <= 1.0);
                for (right, other) in adjusted.iter().zip(&p) {
                    prop_assert!(raw > other || left <= right);
                }
            }
        }
    }
}
