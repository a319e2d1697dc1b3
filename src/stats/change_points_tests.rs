//! Series whose changes are known.

use super::*;

/// So many values around each level, each off by what it is told to be at most, as a share.
fn series(seed: u64, noise: f64, levels: &[(usize, f64)]) -> Vec<f64> {
    let mut draws = Draws(seed);
    // The sum of twelve uniform draws is nearly normal, with standard deviation 1.
    let mut normal = || {
        let uniform = |draw: u64| (draw >> 11) as f64 / (1_u64 << 53) as f64;
        (0..12).map(|_| uniform(draws.next())).sum::<f64>() - 6.0
    };
    let values = levels.iter().flat_map(|(count, level)| std::iter::repeat_n(*level, *count));
    values.map(|level| level * (1.0 + noise * normal())).collect()
}

fn places_of(values: &[f64]) -> Vec<usize> {
    positions(&change_points(values))
}

/// The statistic as the paper writes it, without anything kept.
fn plain_best(segment: &[f64]) -> Option<(usize, f64)> {
    let mean = |a: &[f64], b: &[f64]| {
        let sum: f64 = a.iter().map(|x| b.iter().map(|y| (x - y).abs()).sum::<f64>()).sum();
        sum / (a.len() * b.len()) as f64
    };
    let within = |a: &[f64]| mean(a, a) * a.len() as f64 / (a.len() as f64 - 1.0);
    let mut most: Option<(usize, f64)> = None;
    for place in LEAST_SEGMENT..segment.len() {
        for end in place + LEAST_SEGMENT..=segment.len() {
            let (x, y) = (&segment[..place], &segment[place..end]);
            let energy = 2.0 * mean(x, y) - within(x) - within(y);
            let (n, m) = (x.len() as f64, y.len() as f64);
            let q = n * m / (n + m) * energy;
            if most.is_none_or(|(_, most)| q > most) {
                most = Some((place, q));
            }
        }
    }
    most
}

#[test]
fn sums_that_are_kept_give_the_statistic_of_the_paper() {
    for seed in 0..50 {
        let values = series(seed, 0.1, &[(9, 100.0), (5, 110.0)]);
        let (place, q) = best(&values).unwrap();
        let (plain_place, plain_q) = plain_best(&values).unwrap();
        assert_eq!(place, plain_place, "{values:?}");
        assert!((q - plain_q).abs() < 1e-9 * plain_q.abs().max(1.0), "{q} {plain_q}");
    }
    assert_eq!(best(&[1.0, 1.0, 1.0, 2.0, 2.0]), None);
    assert_eq!(best(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]), Some((3, 3.0)));
}

#[test]
fn a_series_without_change_has_none() {
    assert_eq!(change_points(&[]), []);
    assert_eq!(change_points(&[100.0; 40]), []);
    assert_eq!(sightings(&[100.0; 40]), []);
    assert_eq!(change_points(&series(1, 0.02, &[(40, 100.0)])), []);
    let mut odd = vec![100.0; 20];
    odd[4] = f64::NAN;
    assert_eq!(change_points(&odd), []);
}

#[test]
fn a_step_is_found_where_it_is_and_told_when_it_can_be_known() {
    let values = series(2, 0.02, &[(15, 100.0), (15, 90.0)]);
    assert_eq!(places_of(&values), [15]);
    let told = sightings(&values);
    assert_eq!(told.len(), 1, "{told:?}");
    let Sighting { at, seen, before, after, p, holds } = told[0];
    assert_eq!((at, seen, holds), (15, 17, true), "three values are a level");
    assert!((before - 100.0).abs() < 1.0 && (after - 90.0).abs() < 3.0, "{before} {after}");
    assert!(p <= CHANCE, "{p}");
}

#[test]
fn two_steps_are_two_changes_up_or_down() {
    let down = series(3, 0.015, &[(15, 100.0), (12, 90.0), (15, 80.0)]);
    assert_eq!(places_of(&down), [15, 27]);
    let back = series(4, 0.015, &[(15, 100.0), (12, 90.0), (15, 100.0)]);
    assert_eq!(places_of(&back), [15, 27]);
    for values in [down, back] {
        let told = sightings(&values);
        let places: Vec<usize> = told.iter().map(|told| told.at).collect();
        assert_eq!(places, [15, 27], "{told:?}");
        assert!(told.iter().all(|told| told.holds && told.seen < told.at + 6), "{told:?}");
    }
}

#[test]
fn one_value_far_off_is_no_change_wherever_it_stands() {
    for place in 0..24 {
        let mut values = series(5, 0.02, &[(24, 100.0)]);
        values[place] = 50.0;
        assert_eq!(sightings(&values), [], "a spike at {place}");
    }
}

#[test]
fn a_series_is_too_short_until_its_order_can_be_improbable() {
    assert!(super::super::least_p(4, 5) > CHANCE && super::super::least_p(5, 5) <= CHANCE);
    let step = |before, after| places_of(&series(6, 0.001, &[(before, 100.0), (after, 50.0)]));
    assert!(step(4, 5).is_empty());
    assert_eq!(step(5, 6), [5]);
    assert_eq!(step(12, 3), [12]);
    assert!(step(12, 2).is_empty(), "two values are no level");
}

#[test]
fn what_was_told_stays_told_whatever_comes_later() {
    let values = series(7, 0.03, &[(14, 100.0), (10, 88.0), (14, 97.0)]);
    let key = |told: Sighting| (told.at, told.seen, told.before.to_bits(), told.after.to_bits());
    let whole: Vec<_> = sightings(&values).into_iter().map(key).collect();
    assert!(!whole.is_empty());
    for length in 0..values.len() {
        let part: Vec<_> = sightings(&values[..length]).into_iter().map(key).collect();
        let expected = whole.iter().copied().filter(|(_, seen, ..)| *seen < length);
        assert_eq!(part, expected.collect::<Vec<_>>(), "{length} values");
    }
}

/// How many of a hundred series of noise alone show a change: all their values together, and
/// whenever one of the 21 looks at a series that grows to thirty values found one.
#[test]
fn false_alarms_are_counted() {
    let noise: Vec<Vec<f64>> = (0..100).map(|seed| series(seed, 0.02, &[(30, 100.0)])).collect();
    let once = noise.iter().filter(|values| !change_points(values).is_empty()).count();
    let ever = noise.iter().filter(|values| !sightings(values).is_empty()).count();
    assert_eq!((once, ever), (0, 5));
}

/// Of forty series with a step of so many standard deviations in the middle of thirty values.
#[test]
fn steps_that_are_found_are_counted() {
    let found = |step: f64| {
        let of = |seed: u64| series(1_000 + seed, 0.02, &[(15, 100.0), (15, 100.0 - 2.0 * step)]);
        let near = |told: &Sighting| told.at.abs_diff(15) < LEAST_SEGMENT;
        (0..40).filter(|seed| sightings(&of(*seed)).iter().any(near)).count()
    };
    assert_eq!((found(1.0), found(2.0), found(4.0)), (5, 35, 40));
}

/// Forty values that fall by half a percent of the first with each, and their noise.
fn drift(seed: u64, noise: f64) -> Vec<f64> {
    let noise = series(seed, noise, &[(40, 100.0)]);
    let falling = |(value, run): (f64, u8)| value * (1.0 - 0.005 * f64::from(run));
    noise.into_iter().zip(0..).map(falling).collect()
}

/// A drift has no steps, and is told as some: each is a run of values that lies apart.
#[test]
fn a_slow_drift_is_told_as_steps_on_its_way() {
    let told = sightings(&drift(8, 0.01));
    let places: Vec<(usize, usize)> = told.iter().map(|told| (told.at, told.seen)).collect();
    assert_eq!(places, [(8, 13), (14, 21), (20, 24), (26, 31), (33, 38)]);
    assert!(told.iter().all(|told| told.after < told.before), "{told:?}");
}

#[test]
fn no_place_is_told_twice_however_a_series_goes_on() {
    for seed in 0..10 {
        let told = sightings(&drift(seed, 0.005 + 0.002 * seed as f64));
        let mut places: Vec<usize> = told.iter().map(|told| told.at).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), told.len(), "{told:?}");
    }
}
