//! When the events of an open loop are due: computed ahead from the seed, the same schedule
//! however many threads share it.
//!
//! Must not know: clocks, connections, or whether anybody keeps to it.

use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::model::{Arrivals, OpenLoop};
use crate::workload::random;

/// The stream of the arrivals; connections have the streams from 0 up.
const STREAM: u64 = u64::MAX;

/// The arrivals of one thread, as times from the start of the load, ascending, without end.
/// The n-th arrival of the cell is dealt to connection `n mod connections`, and a thread takes
/// those of its connections: all together they are one process of the cell's rate.
#[derive(Debug)]
pub(super) struct Schedule {
    open: OpenLoop,
    random: Xoshiro256PlusPlus,
    share: Share,
    /// The number of the next arrival of the cell.
    number: u64,
    /// Nanoseconds up to the last one. Exact to a nanosecond for 100 days.
    last_ns: f64,
}

/// Whose connections a schedule is for: connection c belongs to thread `c mod threads`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) thread: u32,
    pub(super) threads: u32,
    pub(super) connections: u32,
}

impl Schedule {
    pub(super) fn new(open: OpenLoop, seed: u64, share: Share) -> Self {
        Self { open, random: random::stream(seed, STREAM), share, number: 0, last_ns: 0.0 }
    }

    /// The next arrival of the cell.
    fn draw(&mut self) -> Duration {
        const NANOS_PER_KILOSECOND: u128 = 1_000_000_000_000;
        let milli = self.open.rate.0.max(1);
        let nanos = match self.open.arrivals {
            // From the number, not from the arrival before: an error cannot add up.
            Arrivals::Fixed => {
                let nanos = u128::from(self.number) * NANOS_PER_KILOSECOND / u128::from(milli);
                u64::try_from(nanos).unwrap_or(u64::MAX)
            }
            Arrivals::Poisson => {
                let u = random::fraction(&mut self.random);
                self.last_ns += -(1.0 - u).ln() * (NANOS_PER_KILOSECOND as f64 / milli as f64);
                self.last_ns as u64
            }
        };
        self.number += 1;
        Duration::from_nanos(nanos)
    }
}

impl Iterator for Schedule {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let Share { thread, threads, connections } = self.share;
        loop {
            let connection = self.number % u64::from(connections.max(1));
            let arrival = self.draw();
            if connection % u64::from(threads.max(1)) == u64::from(thread) {
                return Some(arrival);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::MilliRate;

    fn schedule(arrivals: Arrivals, per_second: u64, share: Share) -> Schedule {
        let rate = MilliRate(per_second * 1_000);
        Schedule::new(OpenLoop { rate, arrivals }, 7, share)
    }

    fn whole(arrivals: Arrivals, per_second: u64) -> Schedule {
        schedule(arrivals, per_second, Share { thread: 0, threads: 1, connections: 64 })
    }

    #[test]
    fn a_fixed_rate_has_equal_gaps_and_does_not_drift() {
        let micros: Vec<u128> =
            whole(Arrivals::Fixed, 4_000).take(5).map(|due| due.as_micros()).collect();
        assert_eq!(micros, [0, 250, 500, 750, 1000]);
        // A third of a millisecond is no whole number of nanoseconds.
        let last = whole(Arrivals::Fixed, 3_000).nth(3_000_000).unwrap();
        assert_eq!(last, Duration::from_secs(1_000));
    }

    #[test]
    fn poisson_gaps_are_exponential_with_the_rates_reciprocal_as_their_mean() {
        let mut last = Duration::ZERO;
        let gaps: Vec<f64> = whole(Arrivals::Poisson, 1_000)
            .take(100_000)
            .map(|due| (due - std::mem::replace(&mut last, due)).as_secs_f64() * 1e3)
            .collect();
        let mean = gaps.iter().sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.02, "six standard errors: {mean}");
        for at in [0.1, 0.5, 1.0, 2.0, 4.0] {
            let share = gaps.iter().filter(|gap| **gap <= at).count() as f64 / 1e5;
            let expected = 1.0 - f64::exp(-at);
            assert!((share - expected).abs() < 0.01, "up to {at}: {share} for {expected}");
        }
    }

    #[test]
    fn the_shares_of_the_threads_are_the_schedule_of_the_cell() {
        for arrivals in [Arrivals::Fixed, Arrivals::Poisson] {
            let all: Vec<Duration> = whole(arrivals, 500).take(2_000).collect();
            let end = *all.last().unwrap();
            for (threads, connections) in [(2, 64), (3, 10), (4, 5)] {
                let mut shared: Vec<Duration> = (0..threads)
                    .map(|thread| Share { thread, threads, connections })
                    .flat_map(|share| schedule(arrivals, 500, share).take_while(|due| *due <= end))
                    .collect();
                shared.sort_unstable();
                assert_eq!(shared, all, "{threads} threads, {connections} connections");
            }
        }
    }

    #[test]
    fn another_seed_is_another_schedule() {
        let open = OpenLoop { rate: MilliRate(1_000), arrivals: Arrivals::Poisson };
        let share = Share { thread: 0, threads: 1, connections: 1 };
        let first = |seed| Schedule::new(open, seed, share).next();
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}
