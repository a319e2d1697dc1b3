//! `latency.hdr`: the whole distribution of every trial, in HdrHistogram's own log format, so
//! that its tools read, merge and plot it.
//!
//! Must not know: which trials count. A line is an interval of the log: start in seconds since
//! 1970, length in seconds, largest value in microseconds, the histogram of microseconds in
//! compressed V2 encoding as Base64. Its tag is `TRIAL/SPEC/SCENARIO/CONCURRENCY/REPETITION/KIND`,
//! KIND being `event` (response time), `service` (service time of events) or a statement kind
//! (its service time).

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag,
};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};

use crate::model::StatementKind;
use crate::stats::Histogram;

use super::lines::leading_number;
use super::{StoreError, TrialRecord};

/// The file's name in a run directory.
pub(super) const FILE: &str = "latency.hdr";

const EVENT: &str = "event";
const SERVICE: &str = "service";

/// A distribution as it stands in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredHistogram {
    /// The trial's number in `cells.csv`.
    pub trial: u64,
    /// Of what it is the time.
    pub time_of: TimeOf,
    /// Microseconds.
    pub histogram: Histogram,
}

/// Which time a distribution holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeOf {
    /// Response time of events.
    Event,
    /// Service time of events.
    Service,
    /// Service time of that statement.
    Statement(StatementKind),
}

impl TimeOf {
    fn name(&self) -> &str {
        match self {
            Self::Event => EVENT,
            Self::Service => SERVICE,
            Self::Statement(kind) => kind.name(),
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        match name {
            EVENT => Some(Self::Event),
            SERVICE => Some(Self::Service),
            statement => StatementKind::new(statement).map(Self::Statement),
        }
    }
}

/// The lines before the first interval.
pub(super) fn header(started_unix_ms: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment(
            "[Values in microseconds; tag: trial/spec/scenario/concurrency/repetition/kind]",
        )
        .with_start_time(SystemTime::UNIX_EPOCH + since_epoch(started_unix_ms))
        .begin_log_with(&mut bytes, &mut V2DeflateSerializer::new())
        .expect("memory takes what is written");
    let legend =
        r#""StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram""#;
    bytes.extend_from_slice(legend.as_bytes());
    bytes.push(b'\n');
    bytes
}

/// The lines of a trial; a distribution without samples has none.
pub(super) fn render(trial: u64, record: &TrialRecord<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .begin_log_with(&mut bytes, &mut serializer)
        .expect("memory takes what is written");
    let events = [(TimeOf::Event, record.latency), (TimeOf::Service, record.service)];
    let statements =
        record.statement_latency.iter().map(|(kind, of)| (TimeOf::Statement(kind.clone()), of));
    for (time_of, histogram) in events.into_iter().chain(statements) {
        if histogram.count() == 0 {
            continue;
        }
        let tag = format!("{trial}/{}/{}/{}", record.cell.id, record.repetition, time_of.name());
        let tag = Tag::new(&tag).expect("an id has no comma, blank or line break");
        let start = since_epoch(record.started_unix_ms);
        let length = Duration::from_micros(record.measurement.measured_us);
        log.write_histogram(&hdr(histogram), start, length, Some(tag))
            .expect("memory takes a histogram of this width");
    }
    bytes
}

/// The distributions of these trials, in the order of the file.
pub(super) fn parse(
    path: &Path,
    bytes: &[u8],
    trials: &BTreeSet<u64>,
) -> Result<Vec<StoredHistogram>, StoreError> {
    let whole = super::lines::bytes_of_trials(bytes, trials, trial_of);
    let mut found = Vec::new();
    for line in super::lines::whole_lines(&bytes[..whole]) {
        let Some(trial) = trial_of(line.text) else { continue };
        let with_newline = &bytes[line.end - line.text.len() - 1..line.end];
        let entry = IntervalLogIterator::new(with_newline).next();
        let Some(Ok(LogEntry::Interval(interval))) = entry else {
            return Err(bad(path, line.number));
        };
        let stored = stored(trial, &interval).ok_or_else(|| bad(path, line.number))?;
        if trials.contains(&trial) {
            found.push(stored);
        }
    }
    Ok(found)
}

/// The trial that a line belongs to; `None` for comments and the legend.
pub(super) fn trial_of(line: &[u8]) -> Option<u64> {
    leading_number(line.strip_prefix(b"Tag=")?, b'/')
}

fn stored(trial: u64, interval: &IntervalLogHistogram<'_>) -> Option<StoredHistogram> {
    let tag = interval.tag()?;
    let time_of = TimeOf::from_name(tag.as_str().rsplit('/').next()?)?;
    let encoded = STANDARD.decode(interval.encoded_histogram()).ok()?;
    Some(StoredHistogram { trial, time_of, histogram: Histogram::from_bytes(&encoded)? })
}

fn bad(path: &Path, line: u64) -> StoreError {
    let message = "this is not an interval of a histogram log".to_owned();
    StoreError::Row { path: path.to_owned(), line, message }
}

fn hdr(histogram: &Histogram) -> Hdr<u64> {
    Deserializer::new()
        .deserialize(&mut histogram.to_bytes().as_slice())
        .expect("what a histogram has just written can be read")
}

fn since_epoch(unix_ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(unix_ms).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::testing;

    proptest! {
        #[test]
        fn no_line_makes_the_reader_panic(rest in ".{0,60}|[0-9a-zA-Z+/=,.:]{0,60}") {
            let line = format!("Tag=1/{rest}\n");
            let _ = parse(Path::new(FILE), line.as_bytes(), &BTreeSet::from([1]));
        }

        #[test]
        fn no_changed_byte_makes_the_reader_panic(at in 0..600_usize, byte in any::<u8>()) {
            let run = testing::description();
            let trial = testing::SampleTrial::done(&run, 0, 1, 44_000);
            let mut bytes = render(1, &trial.record(&run));
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = parse(Path::new(FILE), &bytes, &BTreeSet::from([1]));
        }
    }

    #[test]
    fn distributions_are_read_back_sample_by_sample() {
        let run = testing::description();
        let trial = testing::SampleTrial::done(&run, 0, 1, 44_000);
        let mut bytes = header(run.started_unix_ms);
        bytes.extend(render(7, &trial.record(&run)));
        bytes.extend(render(8, &trial.record(&run)));
        let read = parse(Path::new(FILE), &bytes, &BTreeSet::from([7])).unwrap();
        let statement = &trial.statement_latency[0];
        let expected = [
            (TimeOf::Event, &trial.latency),
            (TimeOf::Service, &trial.service),
            (TimeOf::Statement(statement.0.clone()), &statement.1),
        ];
        let read: Vec<_> =
            read.iter().map(|of| (of.trial, of.time_of.clone(), &of.histogram)).collect();
        assert_eq!(read, expected.map(|(time_of, histogram)| (7, time_of, histogram)));
    }

    #[test]
    fn a_whole_log_is_one_that_the_library_reads() {
        let run = testing::description();
        let trial = testing::SampleTrial::done(&run, 0, 1, 44_000);
        let mut bytes = header(run.started_unix_ms);
        bytes.extend(render(1, &trial.record(&run)));
        let entries: Vec<_> = IntervalLogIterator::new(&bytes).map(Result::unwrap).collect();
        assert!(matches!(entries[0], LogEntry::StartTime(_)), "{entries:?}");
        let LogEntry::Interval(interval) = &entries[1] else { panic!("{entries:?}") };
        assert_eq!(interval.tag().unwrap().as_str(), "1/2c4g/read-only-range/64/1/event");
        assert_eq!(interval.duration(), Duration::from_secs(2));
    }

    #[test]
    fn a_broken_line_is_named_unless_its_trial_does_not_count() {
        let bytes = b"#c\nTag=1/a/b/1/1/event,1.0,2.0,3.0,!!!\nTag=2/a/b/1/1/event,1.0";
        let error = parse(Path::new(FILE), bytes, &BTreeSet::from([1])).unwrap_err();
        assert_eq!(error.to_string(), "latency.hdr:2: this is not an interval of a histogram log");
        assert_eq!(parse(Path::new(FILE), bytes, &BTreeSet::from([9])).unwrap(), []);
    }
}
