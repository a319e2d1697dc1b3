//! A bell around the middle: `a + floor(mean of 12 draws of u n)`.
//!
//! Must not know: any other law.

use rand_xoshiro::rand_core::Rng;

use crate::workload::random;

/// Draws in one mean (`--rand-spec-iter`, default 12).
pub(super) const DRAWS: u32 = 12;

/// `--rand-type=gaussian` over `1..=n`.
#[derive(Debug, Clone)]
pub(super) struct Gaussian {
    n: u64,
}

impl Gaussian {
    pub(super) fn new(n: u64) -> Self {
        Self { n }
    }

    #[inline]
    pub(super) fn draw(&self, random: &mut impl Rng) -> u64 {
        (1 + (mean(random) * self.n as f64) as u64).min(self.n)
    }
}

/// The mean of twelve uniform draws, in [0, 1).
#[inline]
pub(super) fn mean(random: &mut impl Rng) -> f64 {
    let sum: f64 = (0..DRAWS).map(|_| random::fraction(random)).sum();
    sum / f64::from(DRAWS)
}
