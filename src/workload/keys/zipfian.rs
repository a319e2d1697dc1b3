//! Zipf's law with exponent 0.8: id i is drawn in proportion to `i^-0.8`, id 1 most often.
//!
//! Must not know: any other law. Method: rejection inversion (W. Hörmann, G. Derflinger,
//! "Rejection-inversion to generate variates from monotone discrete distributions", 1996), as
//! sysbench 1.1 has it: no table, a constant expected number of draws.

use rand_xoshiro::rand_core::Rng;

use crate::workload::random;

/// `--rand-zipfian-exp`, default 0.8.
const EXPONENT: f64 = 0.8;

/// `--rand-type=zipfian` over `1..=n`.
#[derive(Debug, Clone)]
pub(super) struct Zipfian {
    n: f64,
    /// Area under the hat up to the first id, and up to the last.
    area: (f64, f64),
    /// Distance to the next id below which no test is needed.
    squeeze: f64,
}

impl Zipfian {
    pub(super) fn new(n: u64) -> Self {
        let n = n as f64;
        Self {
            n,
            area: (integral(1.5) - 1.0, integral(n + 0.5)),
            squeeze: 2.0 - inverse_integral(integral(2.5) - density(2.0)),
        }
    }

    #[inline]
    pub(super) fn draw(&self, random: &mut impl Rng) -> u64 {
        let (first, last) = self.area;
        loop {
            let area = last + random::fraction(random) * (first - last);
            let x = inverse_integral(area);
            let id = (x + 0.5).floor().clamp(1.0, self.n);
            if id - x <= self.squeeze || area >= integral(id + 0.5) - density(id) {
                return id as u64;
            }
        }
    }
}

/// `x^-e`.
fn density(x: f64) -> f64 {
    x.powf(-EXPONENT)
}

/// An integral of the density: `(x^(1-e) - 1) / (1 - e)`.
fn integral(x: f64) -> f64 {
    (x.powf(1.0 - EXPONENT) - 1.0) / (1.0 - EXPONENT)
}

fn inverse_integral(area: f64) -> f64 {
    // Rounding may carry the base just below zero at the first id.
    (area * (1.0 - EXPONENT) + 1.0).max(0.0).powf(1.0 / (1.0 - EXPONENT))
}
