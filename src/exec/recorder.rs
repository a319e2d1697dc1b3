//! What one load thread counts. All its workers run on that thread, so they share the recorder
//! without a lock; the coordinator merges what the threads hand over.
//!
//! Must not know: connections, or how a statement is sent.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::driver::{DriverError, Reply};
use crate::model::ErrorCount;
use crate::stats::Histogram;

use super::window::{Window, micros};

/// The counters of one load thread: the totals of the window, and the second under way.
#[derive(Debug)]
pub(super) struct Recorder {
    window: Window,
    totals: Totals,
    second: Second,
    second_ends: Instant,
    finished: Vec<Second>,
}

/// The totals of a window, of one load thread or of several.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) events: u64,
    pub(super) queries: Tally,
    pub(super) queries_retried: u64,
    pub(super) reconnects: u64,
    /// Statements that ended with an error, in any phase.
    pub(super) failed: u64,
    /// ROLLBACKs after them.
    pub(super) rollbacks: u64,
    pub(super) errors: BTreeMap<u16, ErrorCount>,
    /// Response time of events.
    pub(super) latency: Histogram,
    /// Service time of the same events.
    pub(super) service: Histogram,
    /// By the place of a kind in [`crate::workload::Program::kinds`].
    pub(super) kinds: Vec<KindTotals>,
}

/// What was seen of one statement kind.
#[derive(Debug, Default)]
pub(super) struct KindTotals {
    /// Answered in any phase, also with an error.
    pub(super) sent: u64,
    pub(super) count: u64,
    pub(super) errors: u64,
    /// Service time.
    pub(super) latency: Histogram,
}

/// What one second of the window saw; events and their statements count where they ended.
#[derive(Debug, Default)]
pub(super) struct Second {
    pub(super) index: u32,
    pub(super) events: u64,
    pub(super) queries: u64,
    pub(super) errors: u64,
    /// Response time of the events that ended in it.
    pub(super) latency: Histogram,
}

/// Statements answered, by what they turned out to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) read: u64,
    pub(super) write: u64,
    pub(super) other: u64,
}

/// When an event was due, when its first statement was sent, when its last reply was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) due: Instant,
    pub(super) start: Instant,
    pub(super) end: Instant,
}

impl Recorder {
    /// Nothing counted yet; so many kinds of statements will be.
    pub(super) fn new(window: Window, kinds: usize) -> Self {
        let kinds = (0..kinds).map(|_| KindTotals::default()).collect();
        let totals = Totals { kinds, ..Totals::default() };
        let second_ends = window.end_of(0);
        Self { window, totals, second: Second::default(), second_ends, finished: Vec::new() }
    }

    /// Another window, before it begins.
    pub(super) fn set_window(&mut self, window: Window) {
        self.window = window;
        self.second_ends = window.end_of(0);
    }

    /// Statements that were answered in any phase.
    pub(super) fn sent(&self) -> u64 {
        self.totals.kinds.iter().map(|kind| kind.sent).sum()
    }

    /// An event ended well: its statements are queries from now on.
    pub(super) fn event(&mut self, span: Span, tally: Tally) {
        let response = span.end - span.due;
        if self.window.contains(span.due) {
            self.totals.events += 1;
            self.totals.queries.add(tally);
            self.totals.latency.record(response);
            self.totals.service.record(span.end - span.start);
        }
        if self.window.contains(span.end) {
            self.advance(span.end);
            self.second.events += 1;
            self.second.queries += tally.total();
            self.second.latency.record(response);
        }
    }

    /// A statement was answered; `kind` is its kind's place, `service` is known of an event of
    /// the window.
    pub(super) fn statement(&mut self, kind: usize, service: Option<Duration>) {
        if let Some(totals) = self.totals.kinds.get_mut(kind) {
            totals.sent += 1;
            if let Some(service) = service {
                totals.count += 1;
                totals.latency.record(service);
            }
        }
    }

    /// A statement ended with an error, in an event of the window or in another one.
    pub(super) fn statement_failed(&mut self, kind: usize, measured: bool) {
        self.totals.failed += 1;
        if let Some(totals) = self.totals.kinds.get_mut(kind) {
            totals.sent += 1;
            totals.errors += u64::from(measured);
        }
    }

    /// A transaction was rolled back by us.
    pub(super) fn rollback(&mut self) {
        self.totals.rollbacks += 1;
    }

    /// An event of the window is rolled back; so many statements of it had been answered.
    pub(super) fn rolled_back(&mut self, answered: Tally) {
        self.totals.queries_retried += answered.total();
    }

    /// An error in an event that was due then, seen now.
    pub(super) fn error(&mut self, span: Span, error: &DriverError) {
        if self.window.contains(span.due) {
            let after = span.end.saturating_duration_since(self.window.start);
            self.totals.count_error(error, micros(after));
        }
        if self.window.contains(span.end) {
            self.advance(span.end);
            self.second.errors += 1;
        }
    }

    /// The server refused a connection that was to replace a lost one. Where none was there to
    /// refuse it, the loss is what is counted.
    pub(super) fn connection_refused(&mut self, now: Instant, error: &DriverError) {
        if self.window.contains(now) && matches!(error, DriverError::Server { .. }) {
            self.totals.count_error(error, micros(now - self.window.start));
            self.advance(now);
            self.second.errors += 1;
        }
    }

    /// A lost connection was replaced at this instant.
    pub(super) fn reconnected(&mut self, now: Instant) {
        if self.window.contains(now) {
            self.totals.reconnects += 1;
        }
    }

    /// Closes the seconds that are over by now and hands out all that were not yet.
    pub(super) fn take_finished(&mut self, now: Instant) -> std::vec::Drain<'_, Second> {
        self.advance(now);
        self.finished.drain(..)
    }

    /// The second under way, when nothing more is counted: a trial that is stopped keeps what it
    /// has seen. `None` outside the window.
    pub(super) fn take_last(&mut self, now: Instant) -> Option<Second> {
        self.window.contains(now).then(|| std::mem::take(&mut self.second))
    }

    /// The totals, when nothing more is counted.
    pub(super) fn take_totals(&mut self) -> Totals {
        std::mem::take(&mut self.totals)
    }

    fn advance(&mut self, now: Instant) {
        while now >= self.second_ends && self.second.index < self.window.intervals() {
            let next = Second { index: self.second.index + 1, ..Second::default() };
            self.second_ends = self.window.end_of(next.index);
            self.finished.push(std::mem::replace(&mut self.second, next));
        }
    }
}

impl Totals {
    /// Adds what another thread counted.
    pub(super) fn merge(&mut self, other: Self) {
        self.events += other.events;
        self.queries.add(other.queries);
        self.queries_retried += other.queries_retried;
        self.reconnects += other.reconnects;
        self.failed += other.failed;
        self.rollbacks += other.rollbacks;
        for (code, theirs) in other.errors {
            match self.errors.get_mut(&code) {
                Some(ours) => {
                    ours.count += theirs.count;
                    let spans = ours.span_us.into_iter().chain(theirs.span_us);
                    ours.span_us = spans.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
                }
                None => _ = self.errors.insert(code, theirs),
            }
        }
        self.latency.merge(&other.latency);
        self.service.merge(&other.service);
        self.kinds.resize_with(self.kinds.len().max(other.kinds.len()), KindTotals::default);
        for (ours, theirs) in self.kinds.iter_mut().zip(other.kinds) {
            ours.sent += theirs.sent;
            ours.count += theirs.count;
            ours.errors += theirs.errors;
            ours.latency.merge(&theirs.latency);
        }
    }

    fn count_error(&mut self, error: &DriverError, after_us: u64) {
        let code = error.code();
        let seen = self.errors.entry(code).or_insert_with(|| {
            let message = match error {
                DriverError::Server { message, .. } => message.clone(),
                DriverError::Lost { .. } | DriverError::Protocol { .. } => error.to_string(),
            };
            ErrorCount { code, count: 0, message, span_us: Some((after_us, after_us)) }
        });
        seen.count += 1;
        seen.span_us = seen.span_us.map(|(first, last)| (first, last.max(after_us)));
    }
}

impl Second {
    /// Adds what another thread counted in the same second.
    pub(super) fn merge(&mut self, other: &Self) {
        self.events += other.events;
        self.queries += other.queries;
        self.errors += other.errors;
        self.latency.merge(&other.latency);
    }
}

impl Tally {
    /// Counts one reply as sysbench does: a result set is a read, changed rows are a write.
    pub(super) fn count(&mut self, reply: Reply) {
        if reply.result_set {
            self.read += 1;
        } else if reply.affected_rows > 0 {
            self.write += 1;
        } else {
            self.other += 1;
        }
    }

    /// Statements in all.
    pub(super) fn total(self) -> u64 {
        self.read + self.write + self.other
    }

    fn add(&mut self, other: Self) {
        self.read += other.read;
        self.write += other.write;
        self.other += other.other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::window::tests::window;

    const ONE_READ: Tally = Tally { read: 1, write: 0, other: 0 };

    fn recorder(length_ms: u64) -> Recorder {
        Recorder::new(window(Duration::from_millis(length_ms)), 1)
    }

    fn at(recorder: &Recorder, millis: u64) -> Instant {
        recorder.window.start + Duration::from_millis(millis)
    }

    #[test]
    fn an_event_belongs_to_the_window_by_its_due_time_and_to_a_second_by_its_end() {
        let mut recorder = recorder(2000);
        let before = recorder.window.start - Duration::from_millis(5);
        let spans = [(before, 10), (at(&recorder, 10), 990), (at(&recorder, 990), 2500)];
        for (due, end_ms) in spans {
            let end = at(&recorder, end_ms);
            recorder.event(Span { due, start: due, end }, ONE_READ);
        }
        let end = recorder.window.end;
        let seconds: Vec<(u32, u64)> =
            recorder.take_finished(end).map(|second| (second.index, second.events)).collect();
        assert_eq!(seconds, [(0, 2), (1, 0)]);
        assert_eq!(recorder.take_totals().events, 2);
    }

    #[test]
    fn response_counts_from_the_due_time_and_service_from_the_real_start() {
        let mut recorder = recorder(1000);
        let (due, start, end) = (at(&recorder, 0), at(&recorder, 70), at(&recorder, 100));
        recorder.event(Span { due, start, end }, ONE_READ);
        let totals = recorder.take_totals();
        let near = |ms: u64| ms * 1000 - 100..=ms * 1000 + 100;
        assert!(near(100).contains(&totals.latency.percentile_us(50.0).unwrap()));
        assert!(near(30).contains(&totals.service.percentile_us(50.0).unwrap()));
    }

    #[test]
    fn seconds_are_closed_by_events_or_by_the_clock_and_handed_out_once() {
        let mut recorder = recorder(3500);
        let (due, end) = (at(&recorder, 0), at(&recorder, 2100));
        recorder.event(Span { due, start: due, end }, ONE_READ);
        let now = at(&recorder, 2200);
        assert_eq!(recorder.take_finished(now).count(), 2);
        let now = at(&recorder, 9000);
        let rest: Vec<(u32, u64)> =
            recorder.take_finished(now).map(|second| (second.index, second.events)).collect();
        assert_eq!(rest, [(2, 1), (3, 0)]);
        assert_eq!(recorder.take_finished(now).count(), 0);
    }

    #[test]
    fn replies_are_told_apart_as_sysbench_does() {
        let mut tally = Tally::default();
        let reply = Reply::default();
        tally.count(Reply { result_set: true, rows: 0, ..reply });
        tally.count(Reply { affected_rows: 1, ..reply });
        tally.count(reply);
        assert_eq!(tally, Tally { read: 1, write: 1, other: 1 });
    }

    #[test]
    fn merged_totals_keep_the_first_message_of_a_code() {
        let error = |message: &str| DriverError::Server {
            code: 1213,
            sqlstate: "40001".into(),
            message: message.into(),
        };
        let (mut one, mut two) = (Totals::default(), Totals::default());
        one.count_error(&error("first"), 70);
        two.count_error(&error("second"), 50);
        two.count_error(&error("third"), 60);
        one.merge(two);
        let seen = &one.errors[&1213];
        assert_eq!((seen.count, seen.message.as_str()), (3, "first"));
        assert_eq!(seen.span_us, Some((50, 70)));
    }
}
