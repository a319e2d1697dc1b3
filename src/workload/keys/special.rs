//! sysbench 1.0.20's default: one quarter of the draws follow a bell over all ids, three
//! quarters fall on a narrow band around the middle.
//!
//! Must not know: any other law but the bell it mixes in.

use rand_xoshiro::rand_core::Rng;

use super::gaussian;
use crate::workload::random;

/// The band's width as a share of the ids (`--rand-spec-pct`, default 1 %).
const BAND_SHARE: f64 = 0.01;
/// 100 / (100 - `--rand-spec-res`), default 75: one draw in four is not special.
const RANGE_FACTOR: f64 = 4.0;

/// `--rand-type=special` over `1..=n`: r = 4 t u; if r < t then `a + t x (mean of 12)`, else
/// with d = t / 100: `a + floor(u (d + 1) + t/2 - d/2)`, u being the same draw. As u is then
/// at least 1/4, the lower quarter of the band is never hit.
#[derive(Debug, Clone)]
pub(super) struct Special {
    n: u64,
    t: f64,
    d: f64,
}

impl Special {
    pub(super) fn new(n: u64) -> Self {
        let t = (n - 1) as f64;
        Self { n, t, d: t * BAND_SHARE }
    }

    #[inline]
    pub(super) fn draw(&self, random: &mut impl Rng) -> u64 {
        let u = random::fraction(random);
        let offset = if RANGE_FACTOR * self.t * u < self.t {
            self.t * gaussian::mean(random)
        } else {
            u * (self.d + 1.0) + self.t / 2.0 - self.d / 2.0
        };
        (1 + offset as u64).min(self.n)
    }
}
