//! The figures of a report, as sysbench prints it at a checkpoint and at the end.
//!
//! Must not know: which of the two it is.

use crate::model::MilliRate;

use super::decimal::scaled;

/// One report. A figure that it lacks is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    /// The line of the output on which it begins, from 1.
    pub line: u64,
    /// Statements that returned a result set.
    pub read: Option<u64>,
    /// Statements that changed rows.
    pub write: Option<u64>,
    /// The rest: BEGIN, COMMIT, an UPDATE that changed nothing.
    pub other: Option<u64>,
    /// Their sum.
    pub queries: Option<u64>,
    /// Events.
    pub events: Option<u64>,
    /// Events per second, as printed: since the checkpoint before, if there is one.
    pub tps: Option<MilliRate>,
    /// Queries per second, as printed, over the same time.
    pub qps: Option<MilliRate>,
    /// Errors after which an event began again: 1213, 1205 and 1020 unless told otherwise.
    pub ignored_errors: Option<u64>,
    /// Connections lost and made anew.
    pub reconnects: Option<u64>,
    /// From the start of the run, not from a checkpoint; microseconds.
    pub total_time_us: Option<u64>,
    /// Events that a forced shutdown left unfinished.
    pub unfinished: Option<u64>,
    /// Latencies of events; `None` where there was none.
    pub latency: Option<BlockLatency>,
}

/// Latencies as the report prints them, microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockLatency {
    /// Smallest.
    pub min_us: Option<u64>,
    /// Arithmetic mean.
    pub mean_us: Option<u64>,
    /// Largest.
    pub max_us: Option<u64>,
    /// Which percentile, and its value.
    pub percentile: Option<(u32, u64)>,
}

impl Block {
    /// One that begins on that line.
    pub(super) fn at(line: u64) -> Self {
        Self { line, ..Self::default() }
    }

    /// Whether it has what a measurement needs: nothing of it was cut off.
    pub fn is_whole(&self) -> bool {
        let counts = [self.queries, self.events, self.ignored_errors, self.reconnects];
        let has_latency =
            self.events == Some(0) || self.latency.is_some_and(|l| l.max_us.is_some());
        counts.iter().all(Option::is_some)
            && [self.qps, self.tps].iter().all(Option::is_some)
            && self.total_time_us.is_some()
            && has_latency
    }

    /// Whether the printed rate is not what its counts make over its time, as a report after a
    /// checkpoint may be: that has the time of the whole run.
    pub fn contradicts_itself(&self) -> bool {
        let (Some(queries), Some(qps), Some(time_us)) =
            (self.queries, self.qps, self.total_time_us)
        else {
            return false;
        };
        let Some(MilliRate(counted)) = MilliRate::of(queries, time_us) else { return queries > 0 };
        // Time is printed to a tenth of a millisecond, and the rate is of a time a little shorter.
        qps.0.abs_diff(counted) > counted / 20 + 1_000
    }

    /// Takes a line `key: value`; one that is no figure of a report changes nothing.
    pub(super) fn take(&mut self, key: &str, value: &str) {
        let first = value.split_whitespace().next().unwrap_or("");
        let count = || first.parse::<u64>().ok();
        match key {
            "read" => set(&mut self.read, count()),
            "write" => set(&mut self.write, count()),
            "other" => set(&mut self.other, count()),
            "total" => set(&mut self.queries, count()),
            "transactions" => {
                set(&mut self.events, count());
                set(&mut self.tps, per_second(value));
            }
            "queries" => {
                set(&mut self.queries, count());
                set(&mut self.qps, per_second(value));
            }
            "ignored errors" => set(&mut self.ignored_errors, count()),
            "reconnects" => set(&mut self.reconnects, count()),
            "total number of events" => set(&mut self.events, count()),
            // The first name is 1.0's, the second 1.1's.
            "total time" | "time elapsed" => {
                let seconds = first.strip_suffix('s').and_then(|seconds| scaled(seconds, 6));
                set(&mut self.total_time_us, seconds);
            }
            "Number of unfinished transactions on forced shutdown" => {
                set(&mut self.unfinished, count());
            }
            _ => self.take_latency(key, scaled(value, 3)),
        }
    }

    fn take_latency(&mut self, key: &str, value_us: Option<u64>) {
        // Of no event sysbench prints a smallest latency of 2^64 ns.
        if value_us.is_none() || self.events.is_none_or(|events| events == 0) {
            return;
        }
        let mut latency = self.latency.unwrap_or_default();
        match key {
            "min" => set(&mut latency.min_us, value_us),
            "avg" => set(&mut latency.mean_us, value_us),
            "max" => set(&mut latency.max_us, value_us),
            _ => {
                let number = key.strip_suffix("th percentile").and_then(|n| n.parse().ok());
                let Some(number) = number else { return };
                set(&mut latency.percentile, value_us.map(|value| (number, value)));
            }
        }
        self.latency = Some(latency);
    }
}

/// The first of a kind counts: what a report says twice it says first where it means it.
fn set<T>(place: &mut Option<T>, value: Option<T>) {
    if place.is_none() {
        *place = value;
    }
}

/// `1760   (1754.02 per sec.)`
fn per_second(value: &str) -> Option<MilliRate> {
    let rate = value.split_once('(')?.1.strip_suffix(" per sec.)")?;
    scaled(rate, 3).map(MilliRate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_without_an_event_has_no_latency() {
        let mut block = Block::at(1);
        block.take("total number of events", "0");
        block.take("min", "18446744073709.55");
        assert_eq!(block.latency, None);
        let mut block = Block::at(1);
        block.take("transactions", "3      (1.50 per sec.)");
        block.take("min", "0.51");
        block.take("99th percentile", "1.06");
        let latency = block.latency.unwrap();
        assert_eq!((latency.min_us, latency.percentile), (Some(510), Some((99, 1_060))));
        assert_eq!((block.events, block.tps), (Some(3), Some(MilliRate(1_500))));
    }

    #[test]
    fn a_block_is_whole_when_its_times_stand_too() {
        let mut block = Block::at(1);
        for (key, value) in [
            ("transactions", "110    (109.63 per sec.)"),
            ("queries", "1760   (1754.02 per sec.)"),
            ("ignored errors", "2      (0.00 per sec.)"),
            ("reconnects", "0      (0.00 per sec.)"),
        ] {
            block.take(key, value);
            assert!(!block.is_whole());
        }
        block.take("time elapsed", "1.0023s");
        assert!(!block.is_whole());
        block.take("max", "12.34");
        assert!(block.is_whole() && !block.contradicts_itself());
        let lie = Block { qps: Some(MilliRate(999_999_000)), ..block.clone() };
        let no_time = Block { total_time_us: Some(0), ..block.clone() };
        assert!(lie.contradicts_itself() && no_time.contradicts_itself());
        assert_eq!(block.total_time_us, Some(1_002_300));
    }
}
