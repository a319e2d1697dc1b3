//! Where a series of numbers changes its level: E-divisive with means, and each change told once.
//!
//! Must not know: what the numbers are of, or when they were taken.

use std::ops::Range;

/// A level has at least so many values: what fewer of them show is an outlier, not a level.
pub const LEAST_SEGMENT: usize = 3;

/// A change is one where chance alone would give it at most so often.
pub const CHANCE: f64 = 0.01;

/// Fewer values can show no change: of five against four the most extreme order is one of
/// C(9, 4) / 2 = 63, of five against five one of C(10, 5) / 2 = 126.
pub const SHORTEST_SERIES: usize = 10;

/// Orders that are drawn for the significance of a change.
const ROUNDS: u32 = 999;

/// So many of them that are as extreme as what was found, and it is none, whatever the rest says.
const ENOUGH: u32 = 10;

/// From which the orders follow: the same values have the same changes, on every machine.
const SEED: u64 = 0x6a09_e667_f3bc_c908;

/// A place where a level ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Index of the new level's first value.
    pub at: usize,
    /// The chance of a change like this in a series without one.
    pub p: f64,
}

/// A change as it looked when it was first seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sighting {
    /// Index of the new level's first value.
    pub at: usize,
    /// Index of the value with which it was first seen; what comes later plays no part.
    pub seen: usize,
    /// Median of the level before it.
    pub before: f64,
    /// Median of the new level, as far as it went then.
    pub after: f64,
    /// The chance of a change like this in a series without one.
    pub p: f64,
    /// Whether all values together show it too.
    pub holds: bool,
}

/// The change points of a whole series, in ascending order; none of a series that is shorter than
/// [`SHORTEST_SERIES`] or holds something that is not a number.
///
/// E-divisive (D. S. Matteson and N. A. James, J. Amer. Statist. Assoc. 109, 2014) with alpha = 1,
/// under which the statistic tells means apart, as MongoDB and Apache Otava (Hunter) take it for
/// benchmarks: D. Daly et al., ICPE 2020; M. Fleming et al., ICPE 2023. A segment is divided where
/// Q(X, Y) = nm / (n + m) E(X, Y) is largest over all X from its start, Y next to X, both of at
/// least [`LEAST_SEGMENT`] values; E is twice the mean distance between values of X and Y, less
/// the mean distance within X and within Y. Of all segments that with the largest Q is divided, as
/// long as the permutation test finds it: the share of orders, drawn within the segments, that
/// have a Q as large. Otava takes Student's t instead, which assumes a law of the noise and does
/// not count that the place was chosen for its difference; the permutation test needs neither,
/// and its price is that short series can show nothing.
///
/// Of 999 orders p is (1 + as large) / 1000; drawing stops at the tenth that is as large, where p
/// is their share (J. Besag and P. Clifford, Biometrika 78, 1991).
pub fn change_points(values: &[f64]) -> Vec<ChangePoint> {
    let mut found: Vec<ChangePoint> = Vec::new();
    while let Some(next) = division(values, &positions(&found)) {
        found.push(next);
        found.sort_by_key(|point| point.at);
    }
    found
}

/// Every change, told once: the series is read value by value as it grew, and a change is told
/// with the value that first makes it significant. A longer series tells the same first.
///
/// Of a level that has only just its least number of values, the first may belong to the level
/// before it, and make up the number: where it lies nearer to that one, the next value is awaited.
///
/// A change that was told divides the series from then on, at most two values from where it was
/// told, if later values make that the likelier place; only what lies between such places is
/// searched.
pub fn sightings(values: &[f64]) -> Vec<Sighting> {
    let mut told: Vec<(usize, Sighting)> = Vec::new();
    for length in SHORTEST_SERIES..=values.len() {
        let known = &values[..length];
        refine(known, &mut told);
        while let Some(point) = division(known, &places(&told)) {
            let bounds = places(&told);
            let whole = segments(length, &bounds).find(|range| range.contains(&point.at));
            let Some(Range { start, end }) = whole else { break };
            let (before, after) = (&known[start..point.at], &known[point.at..end]);
            if end == length && is_early(before, after) {
                break;
            }
            let sighting = Sighting {
                at: point.at,
                seen: length - 1,
                before: middle(before),
                after: middle(after),
                p: point.p,
                holds: false,
            };
            told.push((point.at, sighting));
        }
    }
    let whole = change_points(values);
    let holds = |at: usize| whole.iter().any(|point| point.at.abs_diff(at) < LEAST_SEGMENT);
    told.into_iter().map(|(at, told)| Sighting { holds: holds(at), ..told }).collect()
}

/// Whether the newest level, of the least size, is likely to begin with its second value.
fn is_early(before: &[f64], after: &[f64]) -> bool {
    let from = |level: &[f64]| (after[0] - middle(level)).abs();
    after.len() == LEAST_SEGMENT && from(before) < from(after)
}

fn positions(found: &[ChangePoint]) -> Vec<usize> {
    found.iter().map(|point| point.at).collect()
}

/// In ascending order.
fn places(told: &[(usize, Sighting)]) -> Vec<usize> {
    let mut places: Vec<usize> = told.iter().map(|(at, _)| *at).collect();
    places.sort_unstable();
    places
}

/// What lies between these bounds, which ascend.
fn segments(length: usize, bounds: &[usize]) -> impl Iterator<Item = Range<usize>> {
    let starts = std::iter::once(0).chain(bounds.iter().copied());
    let ends = bounds.iter().copied().chain(std::iter::once(length));
    starts.zip(ends).map(|(start, end)| start..end)
}

/// Moves each place to the likeliest one between its neighbours, if that is near: further off it
/// would be another change, and the first could be told again.
fn refine(known: &[f64], told: &mut [(usize, Sighting)]) {
    for index in 0..told.len() {
        let at = told[index].0;
        let others = || told.iter().map(|(other, _)| *other);
        let start = others().filter(|other| *other < at).max().unwrap_or(0);
        let end = others().filter(|other| *other > at).min().unwrap_or(known.len());
        let likeliest = best(&known[start..end]).map(|(place, _)| start + place);
        let is_near = |place: &usize| place.abs_diff(told[index].1.at) < LEAST_SEGMENT;
        if let Some(place) = likeliest.filter(is_near) {
            told[index].0 = place;
        }
    }
}

/// The next change of a series that is divided at these bounds already, if one is significant.
fn division(values: &[f64], bounds: &[usize]) -> Option<ChangePoint> {
    if values.len() < SHORTEST_SERIES || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let found = segments(values.len(), bounds)
        .filter_map(|range| best(&values[range.clone()]).map(|(at, q)| (range.start + at, q)));
    let (at, q) = found.reduce(|most, next| if next.1 > most.1 { next } else { most })?;
    let p = chance(values, bounds, q);
    (p <= CHANCE).then_some(ChangePoint { at, p })
}

/// How often the values in another order within their segments have a Q as large.
fn chance(values: &[f64], bounds: &[usize], q: f64) -> f64 {
    // The same sum in another order may differ in its last digits.
    let as_large = q * (1.0 - 1e-9);
    let mut values = values.to_vec();
    let mut draws = Draws(SEED);
    let mut count = 0;
    for round in 1..=ROUNDS {
        let mut is_as_large = false;
        for range in segments(values.len(), bounds) {
            let segment = &mut values[range];
            draws.shuffle(segment);
            is_as_large |= best(segment).is_some_and(|(_, drawn)| drawn >= as_large);
        }
        count += u32::from(is_as_large);
        if count == ENOUGH {
            return f64::from(count) / f64::from(round);
        }
    }
    f64::from(count + 1) / f64::from(ROUNDS + 1)
}

/// Where Q of a segment is largest, and what it is; `None` of a segment of less than two levels.
///
/// Distances are summed once: `within[end]`, those between all values from `place` to `end`,
/// grows from the last place to the first.
fn best(segment: &[f64]) -> Option<(usize, f64)> {
    let length = segment.len();
    let mut before = vec![0.0; length + 1];
    for end in 1..=length {
        let last = segment[end - 1];
        let added: f64 = segment[..end - 1].iter().map(|value| (value - last).abs()).sum();
        before[end] = before[end - 1] + added;
    }
    let mut within = vec![0.0; length + 1];
    let mut most: Option<(usize, f64)> = None;
    for place in (LEAST_SEGMENT..length).rev() {
        let mut row = 0.0;
        for end in place + 1..=length {
            row += (segment[end - 1] - segment[place]).abs();
            within[end] += row;
            if end - place < LEAST_SEGMENT {
                continue;
            }
            let between = before[end] - before[place] - within[end];
            let q = statistic((place, before[place]), (end - place, within[end]), between);
            if most.is_none_or(|(_, most)| q >= most) {
                most = Some((place, q));
            }
        }
    }
    most
}

/// Q of two sides, each as its size and the sum of distances within it.
fn statistic(x: (usize, f64), y: (usize, f64), between: f64) -> f64 {
    let (n, m) = (x.0 as f64, y.0 as f64);
    let pairs = |size: f64| size * (size - 1.0) / 2.0;
    let energy = 2.0 * between / (n * m) - x.1 / pairs(n) - y.1 / pairs(m);
    n * m / (n + m) * energy
}

/// The median of at least one value.
fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = sorted.len() / 2;
    match sorted.len() % 2 {
        1 => sorted[upper],
        _ => f64::midpoint(sorted[upper - 1], sorted[upper]),
    }
}

/// SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, OOPSLA 2014).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Fisher and Yates' shuffle.
    fn shuffle(&mut self, values: &mut [f64]) {
        for last in (1..values.len()).rev() {
            let drawn = (u128::from(self.next()) * (last as u128 + 1)) >> 64;
            values.swap(last, usize::try_from(drawn).unwrap_or(last));
        }
    }
}

#[cfg(test)]
#[path = "change_points_tests.rs"]
mod tests;
