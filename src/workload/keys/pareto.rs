//! The 80/20 law: `a + floor(n u^p)`, p = ln h / ln(1 - h).
//!
//! Must not know: any other law.

use rand_xoshiro::rand_core::Rng;

use crate::workload::random;

/// `--rand-pareto-h`, default 0.2: 80 % of the draws fall on the first 20 % of the ids.
const H: f64 = 0.2;

/// `--rand-type=pareto` over `1..=n`.
#[derive(Debug, Clone)]
pub(super) struct Pareto {
    n: u64,
    power: f64,
}

impl Pareto {
    pub(super) fn new(n: u64) -> Self {
        Self { n, power: H.ln() / (1.0 - H).ln() }
    }

    #[inline]
    pub(super) fn draw(&self, random: &mut impl Rng) -> u64 {
        let offset = self.n as f64 * random::fraction(random).powf(self.power);
        (1 + offset as u64).min(self.n)
    }
}
