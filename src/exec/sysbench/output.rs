//! What a run of sysbench printed, as a measurement.
//!
//! Must not know: processes. sysbench prints rates with two decimals, times to a tenth of a
//! millisecond, and latencies to a hundredth; its histogram has slots 1.8 % apart. Nothing here
//! is finer than that.

use std::time::Duration;

use crate::exec::TrialOutput;
use crate::model::{
    ErrorCount, Interval, LatencySummary, Measurement, MilliRate, Pace, TrialStatus,
};
use crate::stats::Histogram;
use crate::sysbench::{Block, IntervalLine, Run};

use super::SysbenchSetup;

/// A client that took this share of all its processors had none left.
const CPU_BOUND_PERCENT: u128 = 90;

/// What is known of a run beside its output.
pub(super) struct Frame<'a> {
    pub(super) setup: &'a SysbenchSetup,
    pub(super) status: TrialStatus,
    /// Processor time of the child in the window.
    pub(super) cpu: Option<Duration>,
}

/// The second that a line tells of; `None` for one of no length. `begin_ms` is where the
/// interval before ended.
pub(super) fn interval(line: &IntervalLine, begin_ms: u64) -> Option<Interval> {
    let length_ms = line.at_ms.checked_sub(begin_ms).filter(|length| *length > 0)?;
    let count = |rate: MilliRate| {
        let counted = (u128::from(rate.0) * u128::from(length_ms) + 500_000) / 1_000_000;
        u64::try_from(counted).unwrap_or(u64::MAX)
    };
    Some(Interval {
        elapsed_us: line.at_ms.saturating_mul(1_000),
        length_us: length_ms.saturating_mul(1_000),
        events: count(line.tps),
        queries: count(line.qps),
        errors: count(line.errors),
        p95_us: line.percentile_us,
    })
}

/// All of a run.
fn intervals(run: &Run) -> Vec<Interval> {
    let mut begin_ms = 0;
    let mut intervals = Vec::new();
    for line in &run.intervals {
        if let Some(interval) = interval(line, begin_ms) {
            intervals.push(interval);
            begin_ms = line.at_ms;
        }
    }
    intervals
}

impl Frame<'_> {
    /// The measurement. One that is not done has what its seconds add up to.
    pub(super) fn output(self, run: &Run) -> TrialOutput {
        let intervals = intervals(run);
        let mut output = TrialOutput::failed("");
        let measurement = &mut output.measurement;
        measurement.load_threads = self.setup.concurrency;
        match run.whole_block().filter(|_| self.status == TrialStatus::Done) {
            Some(block) => {
                self.take_counts(measurement, run, block);
                output.latency = histogram(run);
                measurement.latency = latency(&output.latency, block);
                // Without a queue an event begins when it is due.
                if !self.setup.is_open_loop {
                    output.service = output.latency.clone();
                    measurement.service = measurement.latency;
                }
                self.take_client(measurement);
            }
            None => take_seconds(measurement, &intervals),
        }
        measurement.intervals = intervals;
        measurement.status = self.status;
        output
    }

    fn take_counts(&self, measurement: &mut Measurement, run: &Run, block: &Block) {
        measurement.measured_us = block.total_time_us.unwrap_or(0);
        measurement.events = block.events.unwrap_or(0);
        measurement.queries = block.queries.unwrap_or(0);
        measurement.queries_read = block.read.unwrap_or(0);
        measurement.queries_write = block.write.unwrap_or(0);
        measurement.queries_other = block.other.unwrap_or(0);
        measurement.reconnects = block.reconnects.unwrap_or(0);
        measurement.events_unfinished = block.unfinished.unwrap_or(0);
        measurement.errors = errors(block.ignored_errors.unwrap_or(0));
        measurement.pace = self.setup.is_open_loop.then(|| pace(run, measurement.events)).flatten();
    }

    fn take_client(&self, measurement: &mut Measurement) {
        let Some(cpu) = self.cpu else { return };
        let cpu_us = u64::try_from(cpu.as_micros()).unwrap_or(u64::MAX);
        measurement.client_cpu_us = Some(cpu_us);
        let cpus = self.setup.cpus.len() as u128;
        if cpus > 0 {
            let all_us = u128::from(measurement.measured_us) * cpus;
            let is_bound = u128::from(cpu_us) * 100 >= all_us * CPU_BOUND_PERCENT;
            measurement.client_bound = Some(is_bound);
        }
    }
}

/// sysbench counts what it ignored, and does not say which of the three codes it was.
fn errors(count: u64) -> Vec<ErrorCount> {
    if count == 0 {
        return Vec::new();
    }
    let message = "ignored by sysbench: 1213, 1205 or 1020, not told apart".to_owned();
    vec![ErrorCount { code: ErrorCount::NOT_TOLD_APART, count, message, span_us: None }]
}

/// What was due is what ended and what still waited: as the last line on the queue says.
fn pace(run: &Run, events: u64) -> Option<Pace> {
    let queue = run.queues.last()?;
    Some(Pace { events_due: events.saturating_add(queue.length), events_dropped: queue.length })
}

fn histogram(run: &Run) -> Histogram {
    let mut histogram = Histogram::new();
    for row in &run.histogram {
        histogram.record_many(Duration::from_micros(row.value_us), row.count);
    }
    histogram
}

/// Percentiles from the histogram; the ends and the mean as printed, which are finer.
fn latency(histogram: &Histogram, block: &Block) -> Option<LatencySummary> {
    let slots = histogram.summary()?;
    let printed = block.latency.unwrap_or_default();
    let min_us = printed.min_us.unwrap_or(slots.min_us);
    let max_us = printed.max_us.unwrap_or(slots.max_us).max(min_us);
    let within = |value: u64| value.clamp(min_us, max_us);
    Some(LatencySummary {
        count: slots.count,
        min_us,
        mean_us: printed.mean_us.unwrap_or(slots.mean_us),
        p50_us: within(slots.p50_us),
        p95_us: within(slots.p95_us),
        p99_us: within(slots.p99_us),
        max_us,
    })
}

fn take_seconds(measurement: &mut Measurement, intervals: &[Interval]) {
    let sum =
        |figure: fn(&Interval) -> u64| intervals.iter().map(figure).fold(0, u64::saturating_add);
    measurement.measured_us = sum(|interval| interval.length_us);
    measurement.events = sum(|interval| interval.events);
    measurement.queries = sum(|interval| interval.queries);
    measurement.errors = errors(sum(|interval| interval.errors));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysbench::{CommandLine, parse};

    fn setup(is_open_loop: bool) -> SysbenchSetup {
        SysbenchSetup {
            program: "sysbench".into(),
            warmup_line: None,
            command_line: CommandLine { arguments: Vec::new(), config: None },
            concurrency: 2,
            warmup: Duration::from_secs(1),
            duration: Duration::from_secs(2),
            is_open_loop,
            connect_limit: Duration::from_secs(1),
            drain_limit: Duration::from_secs(1),
            cpus: vec![0, 1],
        }
    }

    /// Two seconds: the shape of sysbench 1.0.20.
    const SAID: &str = "Threads started!\n\
        [ 1s ] thds: 2 tps: 100.00 qps: 1600.00 (r/w/o: 1400.00/0.00/200.00) lat (ms,95%): 1.00 \
        err/s: 1.00 reconn/s: 0.00\n\
        [ 1s ] queue length: 3, concurrency: 2\n\
        [ 2s ] thds: 2 tps: 102.00 qps: 1632.00 (r/w/o: 1428.00/0.00/204.00) lat (ms,95%): 1.02 \
        err/s: 0.00 reconn/s: 0.00\n\
        [ 2s ] queue length: 7, concurrency: 2\n\
        Latency histogram (values are in milliseconds)\n\
        \x20      value  ------------- distribution ------------- count\n\
        \x20      0.500 |****************************************   190\n\
        \x20      1.020 |**                                          12\n \n\
        SQL statistics:\n    queries performed:\n        read: 2828\n        write: 0\n\
        \x20       other: 404\n        total: 3232\n    transactions: 202 (100.95 per sec.)\n\
        queries: 3232 (1615.19 per sec.)\nignored errors: 1 (0.50 per sec.)\n\
        reconnects: 2 (1.00 per sec.)\n\nGeneral statistics:\n    total time:  2.0010s\n\
        total number of events:  202\n\nLatency (ms):\n         min:  0.40\n         avg:  0.51\n\
        \x20        max:  1.01\n         95th percentile:  1.02\n         sum:  103.00\n";

    fn measured(setup: &SysbenchSetup, status: TrialStatus, text: &str) -> TrialOutput {
        let run = parse(text.as_bytes()).pop().unwrap();
        Frame { setup, status, cpu: Some(Duration::from_millis(3_700)) }.output(&run)
    }

    #[test]
    fn counts_are_the_reports_and_percentiles_the_histograms() {
        let output = measured(&setup(false), TrialStatus::Done, SAID);
        let m = &output.measurement;
        assert_eq!((m.measured_us, m.events, m.queries), (2_001_000, 202, 3_232));
        assert_eq!((m.queries_read, m.queries_write, m.queries_other), (2_828, 0, 404));
        assert_eq!((m.errors[0].count, m.errors[0].ends_events(), m.reconnects), (1, false, 2));
        let lengths: Vec<_> = m.intervals.iter().map(|i| (i.elapsed_us, i.events)).collect();
        assert_eq!(lengths, [(1_000_000, 100), (2_000_000, 102)]);
        let latency = m.latency.unwrap();
        assert_eq!((latency.min_us, latency.mean_us, latency.max_us), (400, 510, 1_010));
        // The slot's middle lies above the largest sample.
        assert_eq!((latency.p50_us, latency.p95_us, latency.p99_us), (500, 1_010, 1_010));
        assert_eq!((latency.count, m.service), (202, m.latency));
        assert_eq!((m.client_cpu_us, m.client_bound), (Some(3_700_000), Some(true)));
        assert_eq!((m.pace, m.load_threads), (None, 2));
    }

    #[test]
    fn in_an_open_loop_the_queue_is_what_was_due_and_not_begun() {
        let output = measured(&setup(true), TrialStatus::Done, SAID);
        let pace = output.measurement.pace.unwrap();
        assert_eq!((pace.events_due, pace.events_dropped), (209, 7));
        assert_eq!(output.measurement.rate_met(), Some(false));
        assert_eq!((output.measurement.service, output.service.count()), (None, 0));
    }

    #[test]
    fn a_run_that_was_stopped_has_the_seconds_that_it_told() {
        let output = measured(&setup(false), TrialStatus::Interrupted, SAID);
        let m = &output.measurement;
        assert_eq!((m.measured_us, m.events, m.queries), (2_000_000, 202, 3_232));
        assert_eq!((m.status.clone(), m.latency), (TrialStatus::Interrupted, None));
    }
}
