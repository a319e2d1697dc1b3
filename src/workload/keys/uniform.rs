//! Every id alike: `a + floor(u n)`.
//!
//! Must not know: any other law.

use rand_xoshiro::rand_core::Rng;

use crate::workload::random;

/// `--rand-type=uniform` over `1..=n`.
#[derive(Debug, Clone)]
pub(super) struct Uniform {
    n: u64,
}

impl Uniform {
    pub(super) fn new(n: u64) -> Self {
        Self { n }
    }

    #[inline]
    pub(super) fn draw(&self, random: &mut impl Rng) -> u64 {
        1 + random::below(random, self.n)
    }
}
