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
