//! What the load threads left, added up to one measurement.
//!
//! Must not know: phases, or how the threads were told to end.

use std::sync::Arc;
use std::time::Duration;

use crate::model::{
    Interval, Measurement, Pace, StatementKind, StatementStats, TrialStatus, counted,
};
use crate::stats::Histogram;

use super::client::ClientUse;
use super::recorder::Totals;
use super::thread::ThreadEnd;
use super::window::micros;
use super::{Sent, TrialOutput, TrialSetup};

/// What the threads left, added up.
#[derive(Default)]
pub(super) struct Sum {
    totals: Totals,
    clients: Vec<ClientUse>,
    pace: Option<Pace>,
    unfinished: u64,
    oldest_unfinished_us: Option<u64>,
    youngest_unfinished_us: Option<u64>,
    without_connection: u32,
    last_error: Option<String>,
}

/// What the coordinator itself knows of a measurement.
pub(super) struct Frame {
    pub(super) status: TrialStatus,
    /// Load before the window; `None`: it did not begin.
    pub(super) warmup: Option<Duration>,
    /// Whether that ended because the rate was level; `None` where its length was fixed.
    pub(super) warmup_level: Option<bool>,
    pub(super) measured: Duration,
    pub(super) intervals: Vec<Interval>,
    pub(super) load_threads: u32,
    /// Those of the program.
    pub(super) kinds: Arc<[StatementKind]>,
}

impl Sum {
    pub(super) fn of(ends: Vec<ThreadEnd>) -> Self {
        let mut sum = Self::default();
        for end in ends {
            sum.totals.merge(end.totals);
            sum.clients.push(end.client);
            sum.pace = match (sum.pace, end.pace) {
                (Some(ours), Some(theirs)) => Some(Pace {
                    events_due: ours.events_due + theirs.events_due,
                    events_dropped: ours.events_dropped + theirs.events_dropped,
                }),
                (ours, theirs) => ours.or(theirs),
            };
            sum.unfinished += end.unfinished;
            sum.oldest_unfinished_us = sum.oldest_unfinished_us.max(end.oldest_unfinished_us);
            let youngest = sum.youngest_unfinished_us.into_iter().chain(end.youngest_unfinished_us);
            sum.youngest_unfinished_us = youngest.min();
            sum.without_connection += end.without_connection;
            sum.last_error = end.last_error.or(sum.last_error);
        }
        sum
    }

    /// Whether what was counted is a measurement.
    pub(super) fn status(&self, setup: &TrialSetup) -> TrialStatus {
        let words = self.last_error.as_deref();
        if self.without_connection == setup.concurrency {
            let words = words.unwrap_or("no reason was given");
            let reason = format!("the server was gone at the end of the window: {words}");
            return TrialStatus::Failed { reason };
        }
        if let Some(reason) = self.silence(setup) {
            return TrialStatus::Failed { reason };
        }
        if self.totals.events > 0 {
            return TrialStatus::Done;
        }
        let reason = match words {
            None if self.pace.is_some_and(|pace| pace.events_due == 0) => {
                "the rate is so low that no event was due in the window".to_owned()
            }
            Some(words) => format!("no event ended well; the last error: {words}"),
            None if self.unfinished == 0 => {
                "no event began in the window: each took longer than the window and the warm-up; \
                 measure for longer, or with fewer connections"
                    .to_owned()
            }
            None => format!(
                "no event that began in the window ended; still open {} ms after it: {}",
                setup.drain_limit.as_millis(),
                counted(self.unfinished, "event")
            ),
        };
        TrialStatus::Failed { reason }
    }

    /// Since when the server has not answered any more, if that is so: each connection has an event
    /// open or is lost, and each of these events is open for longer than any took that ended.
    fn silence(&self, setup: &TrialSetup) -> Option<String> {
        let age_us = self.youngest_unfinished_us?;
        let longest_us = self.totals.latency.percentile_us(100.0)?;
        let silent = self.unfinished + u64::from(self.without_connection);
        if silent < u64::from(setup.concurrency) || age_us <= longest_us {
            return None;
        }
        let ended = setup.duration + setup.drain_limit;
        let from = ended.saturating_sub(Duration::from_micros(age_us));
        Some(format!(
            "the server did not answer any more from {:.1} s into the window on; still open {} ms \
             after it: {}",
            from.as_secs_f64(),
            setup.drain_limit.as_millis(),
            counted(self.unfinished, "event")
        ))
    }

    pub(super) fn output(self, frame: Frame) -> TrialOutput {
        let client = ClientSum::of(&self.clients, frame.measured);
        let totals = self.totals;
        let mut statements = Vec::new();
        let mut statement_latency = Vec::new();
        let mut sent =
            Sent { failed: totals.failed, rollbacks: totals.rollbacks, ..Sent::default() };
        for (kind, of_kind) in frame.kinds.iter().zip(totals.kinds) {
            statements.push(StatementStats {
                kind: kind.clone(),
                count: of_kind.count,
                errors: of_kind.errors,
                latency: of_kind.latency.summary(),
            });
            sent.statements.push((kind.clone(), of_kind.sent));
            statement_latency.push((kind.clone(), of_kind.latency));
        }
        let measurement = Measurement {
            status: frame.status,
            warmup_us: frame.warmup.map(micros),
            warmup_level: frame.warmup_level,
            measured_us: micros(frame.measured),
            events: totals.events,
            queries: totals.queries.total(),
            queries_read: totals.queries.read,
            queries_write: totals.queries.write,
            queries_other: totals.queries.other,
            queries_retried: totals.queries_retried,
            errors: totals.errors.into_values().collect(),
            reconnects: totals.reconnects,
            events_unfinished: self.unfinished,
            oldest_unfinished_us: self.oldest_unfinished_us,
            latency: totals.latency.summary(),
            service: totals.service.summary(),
            pace: self.pace,
            statements,
            intervals: frame.intervals,
            client_cpu_us: client.cpu.map(micros),
            client_cpu_max_us: client.cpu_max.map(micros),
            client_run_delay_us: client.run_delay.map(micros),
            timer_lateness_p99_us: client.lateness.percentile_us(99.0),
            timer_lateness_max_us: client.lateness.percentile_us(100.0),
            client_ceiling_qps: None,
            client_bound: client.is_bound,
            load_threads: frame.load_threads,
        };
        let (latency, service) = (totals.latency, totals.service);
        TrialOutput { measurement, latency, service, statement_latency, sent }
    }
}

/// What all load threads took. What one of them does not know is not known of all.
struct ClientSum {
    cpu: Option<Duration>,
    cpu_max: Option<Duration>,
    run_delay: Option<Duration>,
    lateness: Histogram,
    /// Whether any of them was the limit.
    is_bound: Option<bool>,
}

impl ClientSum {
    fn of(clients: &[ClientUse], window: Duration) -> Self {
        let mut lateness = Histogram::new();
        clients.iter().for_each(|client| lateness.merge(&client.lateness));
        let some = (!clients.is_empty()).then_some(());
        let is_bound = |client: &ClientUse| client.is_bound(window);
        let bound: Option<Vec<bool>> = clients.iter().map(is_bound).collect();
        Self {
            cpu: some.and_then(|()| clients.iter().map(|client| client.cpu).sum()),
            cpu_max: clients.iter().filter_map(|client| client.cpu).max(),
            run_delay: some.and_then(|()| clients.iter().map(|client| client.run_delay).sum()),
            lateness,
            is_bound: some.and_then(|()| Some(bound?.contains(&true))),
        }
    }
}
