//! sysbench's laws for drawing an id from `1..=n`, each in a file of its own.
//!
//! Must not know: what the id is for. Notation of the formulas: a = 1, b = n, t = b - a, u
//! uniform in [0, 1). Every law stays in `1..=n`, also for n = 1; n = 0 counts as 1.

use rand_xoshiro::rand_core::Rng;

use crate::model::KeyLaw;

mod gaussian;
mod pareto;
mod special;
mod uniform;
mod zipfian;

/// A law with its bounds, ready to draw.
#[derive(Debug, Clone)]
pub struct KeyDistribution(Law);

#[derive(Debug, Clone)]
enum Law {
    Uniform(uniform::Uniform),
    Special(special::Special),
    Gaussian(gaussian::Gaussian),
    Pareto(pareto::Pareto),
    Zipfian(zipfian::Zipfian),
}

impl KeyDistribution {
    /// The law over `1..=n`.
    pub fn new(law: KeyLaw, n: u64) -> Self {
        let n = n.max(1);
        Self(match law {
            KeyLaw::Uniform => Law::Uniform(uniform::Uniform::new(n)),
            KeyLaw::Special => Law::Special(special::Special::new(n)),
            KeyLaw::Gaussian => Law::Gaussian(gaussian::Gaussian::new(n)),
            KeyLaw::Pareto => Law::Pareto(pareto::Pareto::new(n)),
            KeyLaw::Zipfian => Law::Zipfian(zipfian::Zipfian::new(n)),
        })
    }

    /// Draws an id.
    #[inline]
    pub fn draw(&self, random: &mut impl Rng) -> u64 {
        match &self.0 {
            Law::Uniform(law) => law.draw(random),
            Law::Special(law) => law.draw(random),
            Law::Gaussian(law) => law.draw(random),
            Law::Pareto(law) => law.draw(random),
            Law::Zipfian(law) => law.draw(random),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::random;

    const DRAWS: u32 = 1_000_000;

    /// A million draws over `1..=n`, counted between `edges` of `id - 1` (ascending, from 0 to
    /// n), are held against the probability that `id - 1` is below an edge, by chi-square at p =
    /// 0.0001. Bins in which fewer than ten draws are expected are joined with the next.
    fn check(law: KeyLaw, n: u64, edges: &[u64], below: impl Fn(u64) -> f64) {
        let keys = KeyDistribution::new(law, n);
        let mut random = random::stream(20_251_210, 0);
        let mut counts = vec![0u32; edges.len() - 1];
        for _ in 0..DRAWS {
            let id = keys.draw(&mut random);
            assert!((1..=n).contains(&id), "{law:?} drew {id} of {n}");
            counts[edges.partition_point(|edge| *edge < id) - 1] += 1;
        }
        let (mut chi, mut bins) = (0.0, 0u32);
        let (mut seen, mut expected) = (0.0, 0.0);
        for (bin, count) in counts.iter().enumerate() {
            seen += f64::from(*count);
            expected += (below(edges[bin + 1]) - below(edges[bin])) * f64::from(DRAWS);
            if expected >= 10.0 {
                chi += (seen - expected).powi(2) / expected;
                (bins, seen, expected) = (bins + 1, 0.0, 0.0);
            }
        }
        assert!(seen <= expected + 10.0, "{law:?}: {seen} in the last bin, not {expected}");
        let limit = chi_square_limit(bins - 1);
        assert!(chi < limit, "{law:?} over {n}: {chi} of {limit} in {bins} bins");
    }

    /// The value that chi-square passes with p = 0.0001 (Wilson and Hilferty): 161 at 99.
    fn chi_square_limit(degrees: u32) -> f64 {
        let ninth = 2.0 / (9.0 * f64::from(degrees));
        f64::from(degrees) * (1.0 - ninth + 3.719 * ninth.sqrt()).powi(3)
    }

    fn equal_edges(n: u64, bins: u64) -> Vec<u64> {
        (0..=bins).map(|edge| edge * n / bins).collect()
    }

    /// The probability that the mean of twelve uniform numbers is below x: Irwin and Hall's law.
    fn mean_of_twelve_below(x: f64) -> f64 {
        let x = 12.0 * x.clamp(0.0, 1.0);
        let (mut sum, mut choose, mut factorial) = (0.0, 1.0, 1.0);
        for k in 0..12u32 {
            let k = f64::from(k);
            if k <= x {
                sum += choose * (x - k).powi(12);
            }
            choose *= -(12.0 - k) / (k + 1.0);
            factorial *= k + 1.0;
        }
        sum / factorial
    }

    #[test]
    fn no_law_leaves_its_range() {
        for law in KeyLaw::ALL {
            for n in [1, 2, 3, 7, 100, 1_000_003] {
                let keys = KeyDistribution::new(*law, n);
                let mut random = random::stream(1, n);
                for _ in 0..50_000 {
                    assert!((1..=n).contains(&keys.draw(&mut random)), "{law:?} of {n}");
                }
            }
            let keys = KeyDistribution::new(*law, 0);
            assert_eq!(keys.draw(&mut random::stream(1, 1)), 1, "{law:?} of nothing");
        }
    }

    #[test]
    fn the_first_draws_of_every_law_are_as_recorded() {
        let draws = |law| {
            let keys = KeyDistribution::new(law, 1_000_000);
            let mut random = random::stream(7, 7);
            (0..6).map(|_| keys.draw(&mut random)).collect::<Vec<_>>()
        };
        let all: Vec<_> = KeyLaw::ALL.iter().map(|law| (law.name(), draws(*law))).collect();
        insta::assert_snapshot!(format!("{all:?}").replace("), (", "),\n("));
    }

    #[test]
    fn the_bell_that_tests_hold_the_laws_against_is_irwin_and_halls() {
        for (x, below) in [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (1.0 / 12.0, 1.0 / 479_001_600.0)] {
            assert!((mean_of_twelve_below(x) - below).abs() < 1e-7, "{x}");
        }
        // Variance 1/144: 68.3 % of a normal law lie within one deviation, 67.9 % of this one.
        let within = mean_of_twelve_below(7.0 / 12.0) - mean_of_twelve_below(5.0 / 12.0);
        assert!((within - 0.679).abs() < 0.001, "{within}");
    }

    #[test]
    fn uniform_hits_every_id_alike() {
        for (n, bins) in [(7, 7), (1_000, 1_000), (1_000_003, 100)] {
            check(KeyLaw::Uniform, n, &equal_edges(n, bins), |edge| edge as f64 / n as f64);
        }
    }

    #[test]
    fn gaussian_is_the_mean_of_twelve_uniforms() {
        for (n, bins) in [(7, 7), (1_000, 1_000), (1_200_000, 120)] {
            let below = |edge: u64| mean_of_twelve_below(edge as f64 / n as f64);
            check(KeyLaw::Gaussian, n, &equal_edges(n, bins), below);
        }
    }

    #[test]
    fn special_is_a_quarter_of_bell_and_three_quarters_of_band() {
        // t = 10^6: the band is 10,001 ids from t/2 - d/2 = 495,000 on, and as u is at least 1/4
        // its lower quarter is hit by the bell alone.
        let (n, t, d) = (1_000_001u64, 1e6, 1e4);
        let below = |edge: u64| {
            let in_band = (edge as f64 - (t / 2.0 - d / 2.0)) / (d + 1.0);
            0.25 * mean_of_twelve_below(edge as f64 / t) + (in_band.clamp(0.25, 1.0) - 0.25)
        };
        let around = (0..49).chain(51..=99).map(|part| part * 10_000);
        let band = (490_000..510_000).step_by(100);
        let mut edges: Vec<u64> = around.chain(band).chain([n]).collect();
        edges.sort_unstable();
        edges.dedup();
        check(KeyLaw::Special, n, &edges, below);
        assert!((below(505_000) - below(497_500) - 0.75).abs() < 0.01);
    }

    #[test]
    fn pareto_puts_four_fifths_on_the_first_fifth() {
        // P(id <= x n) = x^(1/p), p = ln 0.2 / ln 0.8.
        let root = 0.8f64.ln() / 0.2f64.ln();
        assert!((0.2f64.powf(root) - 0.8).abs() < 1e-12);
        for (n, bins) in [(7, 7), (1_000, 1_000), (1_000_003, 100)] {
            let below = |edge: u64| (edge as f64 / n as f64).powf(root);
            check(KeyLaw::Pareto, n, &equal_edges(n, bins), below);
        }
    }

    #[test]
    fn zipfian_draws_in_proportion_to_the_rank_to_the_minus_0_8() {
        for (n, bins) in [(7, 7), (1_000, 1_000), (100_000, 100)] {
            let mut sums = vec![0.0];
            for id in 1..=n {
                sums.push(sums[id as usize - 1] + (id as f64).powf(-0.8));
            }
            let below = |edge: u64| sums[edge as usize] / sums[n as usize];
            check(KeyLaw::Zipfian, n, &equal_edges(n, bins), below);
        }
    }
}
