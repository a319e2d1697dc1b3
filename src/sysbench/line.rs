//! What one line of sysbench's output is.
//!
//! Must not know: the lines around it.

use crate::model::MilliRate;

use super::decimal::scaled;
use super::version::Version;

/// A line, told apart. Numbers that the line should have and has not (`nan`) are `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// `sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)`: a run begins.
    Version(Version),
    /// `Running the test with following options:`
    Options,
    /// `Number of threads: 64`
    Threads(u32),
    /// `Target transaction rate: 100/sec`
    Rate(u64),
    /// `Initializing random number generator from seed (7).`
    Seed(u64),
    /// `Threads started!`: all connections stand, the clock runs.
    Started,
    /// A second (or what was asked for) is over.
    Interval(IntervalLine),
    /// In an open loop, what waits at that time.
    Queue(QueueLine),
    /// `[ 5s ] Checkpoint report:`: the block that follows is not the last.
    Checkpoint,
    /// The title of the histogram.
    Histogram,
    /// One row of it.
    Row(HistogramRow),
    /// `SQL statistics:`: a block begins.
    Statistics,
    /// `key: value`, a line of a block.
    Figure(&'a str, &'a str),
    /// `FATAL: ...`, or other words that say what went wrong.
    Trouble(&'a str),
    /// An interval or a row of the histogram that is not whole.
    Torn,
    /// Anything else.
    Other,
}

/// `[ 10s ] thds: 64 tps: 1.00 qps: 20.00 (r/w/o: 14.00/4.00/2.00) lat (ms,95%): 1.00 ...`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntervalLine {
    /// From the start of the run, warm-up included; milliseconds.
    pub at_ms: u64,
    /// Threads that run.
    pub threads: u32,
    /// Events per second.
    pub tps: MilliRate,
    /// Queries per second.
    pub qps: MilliRate,
    /// The percentile that was asked for, microseconds; `None` where nothing ended.
    pub percentile_us: Option<u64>,
    /// Ignored errors per second.
    pub errors: MilliRate,
    /// Reconnects per second.
    pub reconnects: MilliRate,
}

/// `[ 10s ] queue length: 5, concurrency: 2`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLine {
    /// From the start of the run; milliseconds.
    pub at_ms: u64,
    /// Events that are due and not begun.
    pub length: u64,
    /// Events under way.
    pub concurrency: u64,
}

/// One slot of the histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistogramRow {
    /// The middle of the slot, microseconds; slots lie 1.8 % apart.
    pub value_us: u64,
    /// Events in it.
    pub count: u64,
}

/// What a line is; never fails.
pub(super) fn line(text: &str) -> Line<'_> {
    let text = text.trim();
    if text.starts_with('[') {
        return stamped(text);
    }
    if let Some(words) = trouble(text) {
        return Line::Trouble(words);
    }
    match text {
        "Running the test with following options:" => return Line::Options,
        "Threads started!" => return Line::Started,
        "SQL statistics:" => return Line::Statistics,
        "Latency histogram (values are in milliseconds)" => return Line::Histogram,
        _ => {}
    }
    if let Some(version) = Version::parse(text) {
        return Line::Version(version);
    }
    if let Some((left, right)) = text.split_once('|') {
        return row(left, right);
    }
    match text.split_once(':') {
        Some((key, value)) => keyed(key.trim(), value.trim()),
        None => seed(text).map_or(Line::Other, Line::Seed),
    }
}

fn keyed<'a>(key: &'a str, value: &'a str) -> Line<'a> {
    match key {
        "Number of threads" => value.parse().map_or(Line::Torn, Line::Threads),
        "Target transaction rate" => {
            let number = value.strip_suffix("/sec").and_then(|number| number.parse().ok());
            number.map_or(Line::Torn, Line::Rate)
        }
        _ => Line::Figure(key, value),
    }
}

/// `Initializing random number generator from seed (7).`
fn seed(text: &str) -> Option<u64> {
    let rest = text.strip_prefix("Initializing random number generator from seed (")?;
    rest.strip_suffix(").")?.parse().ok()
}

/// What says that something went wrong, as it says it.
fn trouble(text: &str) -> Option<&str> {
    const SIGNS: [&str; 5] = ["FATAL:", "ALERT:", "PANIC:", "ERROR:", "invalid option:"];
    let is_trouble = SIGNS.iter().any(|sign| text.starts_with(sign))
        || text.starts_with("Unknown command:")
        // A shell's word on a program that crashed.
        || text.starts_with("Segmentation fault");
    is_trouble.then_some(text)
}

/// A line that begins with a time: `[ 10s ]`, `[ 10.0s ]`.
fn stamped(text: &str) -> Line<'_> {
    let parts = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let Some((stamp, rest)) = parts else { return Line::Torn };
    let rest = rest.trim();
    let seconds = stamp.trim().strip_suffix('s');
    let Some(at_ms) = seconds.and_then(|seconds| scaled(seconds.trim(), 3)) else {
        return Line::Other;
    };
    if rest == "Checkpoint report:" {
        return Line::Checkpoint;
    }
    if rest.starts_with("thds:") {
        return interval(at_ms, rest).map_or(Line::Torn, Line::Interval);
    }
    if rest.starts_with("queue length:") {
        return queue(at_ms, rest).map_or(Line::Torn, Line::Queue);
    }
    trouble(rest).map_or(Line::Other, Line::Trouble)
}

fn interval(at_ms: u64, text: &str) -> Option<IntervalLine> {
    let rate = |key| scaled(after(text, key)?, 3).map(MilliRate);
    let latency = text.split_once("lat (ms,")?.1.split_once("):")?.1;
    Some(IntervalLine {
        at_ms,
        threads: after(text, "thds:")?.parse().ok()?,
        tps: rate("tps:")?,
        qps: rate("qps:")?,
        percentile_us: latency.split_whitespace().next().and_then(|word| scaled(word, 3)),
        errors: rate("err/s:")?,
        // The last of the line: cut off anywhere, the line lacks it or its decimals.
        reconnects: whole(after(text, "reconn/s:")?).map(MilliRate)?,
    })
    .map(|line| IntervalLine { percentile_us: line.percentile_us.filter(|us| *us > 0), ..line })
}

/// A number with both of its decimals.
fn whole(text: &str) -> Option<u64> {
    let (_, decimals) = text.split_once('.')?;
    (decimals.len() >= 2).then(|| scaled(text, 3)).flatten()
}

fn queue(at_ms: u64, text: &str) -> Option<QueueLine> {
    let number = |key| after(text, key)?.trim_end_matches(',').parse().ok();
    Some(QueueLine {
        at_ms,
        length: number("queue length:")?,
        concurrency: number("concurrency:")?,
    })
}

/// The word after a key.
fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.split_once(key)?.1.split_whitespace().next()
}

/// `       0.512 |*****                                    97`
fn row<'a>(left: &'a str, right: &'a str) -> Line<'a> {
    let Some(value_us) = scaled(left.trim(), 3) else { return Line::Other };
    let (stars, count) = right.rsplit_once(' ').unwrap_or(("?", ""));
    let is_bar = stars.bytes().all(|byte| matches!(byte, b'*' | b' '));
    match count.parse() {
        Ok(count) if is_bar => Line::Row(HistogramRow { value_us, count }),
        _ => Line::Torn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: &str = "[ 10s ] thds: 64 tps: 1.25 qps: 20.00 (r/w/o: 14.00/4.00/2.00) \
        lat (ms,95%): 1.06 err/s: 0.50 reconn/s: 0.00";

    #[test]
    fn an_interval_is_read_or_torn_wherever_it_is_cut() {
        let expected = IntervalLine {
            at_ms: 10_000,
            threads: 64,
            tps: MilliRate(1_250),
            qps: MilliRate(20_000),
            percentile_us: Some(1_060),
            errors: MilliRate(500),
            reconnects: MilliRate(0),
        };
        assert_eq!(line(INTERVAL), Line::Interval(expected));
        for end in 0..INTERVAL.len() {
            assert!(!matches!(line(&INTERVAL[..end]), Line::Interval(_)), "{end}");
        }
        let nan = INTERVAL.replace("): 1.06", "): -nan");
        let Line::Interval(read) = line(&nan) else { panic!("{nan}") };
        assert_eq!(read.percentile_us, None);
    }

    #[test]
    fn lines_are_told_apart() {
        assert_eq!(line("Number of threads: 64\r"), Line::Threads(64));
        assert_eq!(line("Target transaction rate: 100/sec"), Line::Rate(100));
        let seed = "Initializing random number generator from seed (7).";
        assert_eq!(line(seed), Line::Seed(7));
        assert_eq!(line("[ 5s ] Checkpoint report:"), Line::Checkpoint);
        let queue = QueueLine { at_ms: 3_000, length: 5, concurrency: 2 };
        assert_eq!(line("[ 3s ] queue length: 5, concurrency: 2"), Line::Queue(queue));
        let row = HistogramRow { value_us: 512, count: 97 };
        assert_eq!(
            line("       0.512 |****                                     97"),
            Line::Row(row)
        );
        assert_eq!(line("       0.512 |*******************"), Line::Torn);
        assert_eq!(line("   total time:   1.0023s"), Line::Figure("total time", "1.0023s"));
        assert_eq!(line("FATAL: error 2003: gone"), Line::Trouble("FATAL: error 2003: gone"));
        assert_eq!(line("Threads started!"), Line::Started);
        assert_eq!(line("WARNING: deprecated"), Line::Figure("WARNING", "deprecated"));
        assert_eq!(line(""), Line::Other);
    }
}
