//! Latency distributions: recorded by one worker, merged at the end, saved whole.
//!
//! Must not know: what is being timed.

use std::time::Duration;

use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

use crate::model::LatencySummary;

/// A distribution of microseconds: three significant digits, from 1 us up, without a ceiling.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram(Hdr<u64>);

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    const SIGNIFICANT_DIGITS: u8 = 3;

    /// An empty distribution with room for an hour before it grows.
    pub fn new() -> Self {
        let mut hdr = Hdr::new_with_bounds(1, 3_600_000_000, Self::SIGNIFICANT_DIGITS)
            .expect("these bounds are valid by HdrHistogram's own rules");
        hdr.auto(true);
        Self(hdr)
    }

    /// Adds one sample; less than a microsecond counts as one.
    pub fn record(&mut self, sample: Duration) {
        self.record_many(sample, 1);
    }

    /// Adds so many samples of one value.
    pub fn record_many(&mut self, sample: Duration, count: u64) {
        const MICROS_MAX: u64 = u64::MAX / 2;
        let micros = u64::try_from(sample.as_micros()).unwrap_or(MICROS_MAX).clamp(1, MICROS_MAX);
        self.0.record_n(micros, count).expect("a resizing histogram takes any 63-bit value");
    }

    /// Adds all samples of another distribution; the order of merges does not matter.
    pub fn merge(&mut self, other: &Self) {
        self.0.add(&other.0).expect("a resizing histogram takes any other");
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The value at a percentile (0 to 100), always within `[min, max]`; `None` when empty.
    pub fn percentile_us(&self, percentile: f64) -> Option<u64> {
        if self.0.is_empty() {
            return None;
        }
        let value = self.0.value_at_percentile(percentile);
        Some(value.clamp(self.0.min(), self.0.max()))
    }

    /// The distribution in seven numbers; `None` when empty.
    pub fn summary(&self) -> Option<LatencySummary> {
        let at = |percentile| self.percentile_us(percentile);
        Some(LatencySummary {
            count: self.0.len(),
            min_us: at(0.0)?,
            mean_us: self.0.mean().round() as u64,
            p50_us: at(50.0)?,
            p95_us: at(95.0)?,
            p99_us: at(99.0)?,
            max_us: at(100.0)?,
        })
    }

    /// HdrHistogram's own V2 encoding, without compression.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2Serializer::new()
            .serialize(&self.0, &mut bytes)
            .expect("writing to memory does not fail for a histogram of this width");
        bytes
    }

    /// Reads [`Self::to_bytes`]; `None` for anything else.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut hdr: Hdr<u64> = Deserializer::new().deserialize(&mut bytes).ok()?;
        hdr.auto(true);
        Some(Self(hdr))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(samples: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        samples.iter().for_each(|&us| histogram.record(Duration::from_micros(us)));
        histogram
    }

    #[test]
    fn percentiles_lie_between_min_and_max() {
        let summary = of(&[1_001, 5_003, 1_000_007]).summary().unwrap();
        assert_eq!(summary.count, 3);
        assert!(summary.min_us <= summary.p50_us && summary.p50_us <= summary.p95_us);
        assert!(summary.p95_us <= summary.p99_us && summary.p99_us <= summary.max_us);
        assert!((1_000_000..=1_001_000).contains(&summary.max_us));
        assert_eq!(Histogram::new().summary(), None);
    }

    #[test]
    fn merging_is_free_of_order_and_survives_the_disk() {
        let (mut a, mut b) = (of(&[10, 7_200_000_000]), of(&[300_000_000_000]));
        assert!(b.summary().unwrap().max_us.abs_diff(300_000_000_000) < 300_000_000);
        let (left, right) = (a.clone(), b.clone());
        a.merge(&right);
        b.merge(&left);
        assert_eq!(a.summary(), b.summary());
        assert_eq!(Histogram::from_bytes(&a.to_bytes()).unwrap().summary(), a.summary());
        assert_eq!(Histogram::from_bytes(b"nonsense"), None);
    }
}
