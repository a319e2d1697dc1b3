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

    const DRAWS: u32 = 200_000;

    /// How often each of `bins` equal parts of `1..=n` was hit.
    fn histogram(law: KeyLaw, n: u64, bins: u64) -> Vec<u32> {
        let keys = KeyDistribution::new(law, n);
        let mut random = random::stream(20_251_210, 0);
        let mut counts = vec![0; bins as usize];
        for _ in 0..DRAWS {
            let id = keys.draw(&mut random);
            assert!((1..=n).contains(&id), "{law:?} drew {id} of {n}");
            counts[((id - 1) * bins / n) as usize] += 1;
        }
        counts
    }

    /// Chi-square of counts against probabilities; at 99 degrees of freedom 161 is p = 0.0001.
    fn chi_square(counts: &[u32], probability: impl Fn(usize) -> f64) -> f64 {
        let part = |(bin, count): (usize, &u32)| {
            let expected = probability(bin) * f64::from(DRAWS);
            (f64::from(*count) - expected).powi(2) / expected
        };
        counts.iter().enumerate().map(part).sum()
    }

    #[test]
    fn no_law_leaves_its_range() {
        for law in KeyLaw::ALL {
            for n in [1, 2, 3, 7, 100, 1_000_003] {
                histogram(*law, n, 1);
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
    fn uniform_hits_every_part_alike() {
        let counts = histogram(KeyLaw::Uniform, 1_000_000, 100);
        assert!(chi_square(&counts, |_| 0.01) < 161.0, "{counts:?}");
    }

    #[test]
    fn gaussian_is_the_mean_of_twelve_uniforms() {
        // Mean 1/2 and variance 1/144 of the range; 68.1 % within one deviation, 1/12.
        let counts = histogram(KeyLaw::Gaussian, 1_200_000, 1_200);
        let within: u32 = counts[500..700].iter().sum();
        let share = f64::from(within) / f64::from(DRAWS);
        assert!((share - 0.681).abs() < 0.006, "{share}");
        let moment = |power| {
            let part = |(bin, count): (usize, &u32)| {
                ((bin as f64 + 0.5) / 1_200.0 - 0.5).powi(power) * f64::from(*count)
            };
            counts.iter().enumerate().map(part).sum::<f64>() / f64::from(DRAWS)
        };
        assert!(moment(1).abs() < 0.001, "{}", moment(1));
        assert!((moment(2) * 144.0 - 1.0).abs() < 0.02, "{}", moment(2) * 144.0);
    }

    #[test]
    fn special_puts_three_quarters_on_the_upper_three_quarters_of_the_middle_percent() {
        // t = 10^6: the band starts at t/2 - d/2 = 495,000; u >= 1/4 leaves 497,500..505,000.
        let keys = KeyDistribution::new(KeyLaw::Special, 1_000_001);
        let mut random = random::stream(20_251_210, 1);
        let (mut inside, mut below, mut bins) = (0u32, 0u32, [0u32; 75]);
        for _ in 0..DRAWS {
            let offset = keys.draw(&mut random) - 1;
            below += u32::from((495_000..497_500).contains(&offset));
            if (497_500..505_000).contains(&offset) {
                inside += 1;
                bins[((offset - 497_500) / 100) as usize] += 1;
            }
        }
        // The bell adds what it has there: density 12 / sqrt(2 pi) x 0.75 % of a quarter.
        let bell = 0.25 * 4.787 * 0.0075;
        let share = f64::from(inside) / f64::from(DRAWS);
        assert!((share - 0.75 - bell).abs() < 0.004, "{share}");
        let share = f64::from(below) / f64::from(DRAWS);
        assert!((share - 0.25 * 4.787 * 0.0025).abs() < 0.001, "{share}");
        // Within the band every part is hit alike; 74 degrees of freedom, p = 0.0001.
        let expected = f64::from(inside) / 75.0;
        let chi: f64 = bins.iter().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
        assert!(chi < 128.0, "{chi}");
    }

    #[test]
    fn pareto_puts_four_fifths_on_the_first_fifth() {
        let counts = histogram(KeyLaw::Pareto, 1_000_000, 100);
        let first: u32 = counts[..20].iter().sum();
        assert!((f64::from(first) / f64::from(DRAWS) - 0.8).abs() < 0.004, "{first}");
        // P(id <= x n) = x^(1/p), p = ln 0.2 / ln 0.8.
        let root = 0.8f64.ln() / 0.2f64.ln();
        let share = |bin: usize| (bin as f64 / 100.0).powf(root);
        let chi = chi_square(&counts, |bin| share(bin + 1) - share(bin));
        assert!(chi < 161.0, "{chi}");
    }

    #[test]
    fn zipfian_draws_in_proportion_to_the_rank_to_the_minus_0_8() {
        let counts = histogram(KeyLaw::Zipfian, 100, 100);
        let weight = |bin: usize| (bin as f64 + 1.0).powf(-0.8);
        let total: f64 = (0..100).map(weight).sum();
        let chi = chi_square(&counts, |bin| weight(bin) / total);
        assert!(chi < 161.0, "{chi}");
    }
}
