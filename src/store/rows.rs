//! The rows of a run's CSV files: one flat type a file, its fields the columns in order.
//!
//! Must not know: files. Integers carry their unit in the name; an unknown is empty, never 0.
//! The columns `trial` to `repetition` stand first in each file and say which trial a row
//! belongs to; `trial` is unique in a run, also when a cell is measured again.

use serde::{Deserialize, Serialize};

use crate::model::{
    ErrorCount, Interval, LatencySummary, Measurement, MilliRate, StatementStats, TrialStatus,
};
use crate::stats::{level, stalls};

use super::TrialRecord;
use super::clock;
use super::csv_table::{Row, text};

/// `cells.csv`: a row per trial, failures included.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CellRow {
    pub(super) trial: u64,
    pub(super) spec: String,
    pub(super) scenario: String,
    pub(super) concurrency: u32,
    pub(super) repetition: u32,
    pub(super) cpu: u32,
    pub(super) memory_bytes: u64,
    pub(super) status: Status,
    #[serde(with = "text")]
    pub(super) reason: String,
    pub(super) started_utc: String,
    pub(super) tables: u32,
    pub(super) table_size: u64,
    pub(super) published_tables: u32,
    pub(super) published_table_size: u64,
    pub(super) measured_us: Option<u64>,
    pub(super) events: Option<u64>,
    pub(super) queries: Option<u64>,
    pub(super) queries_read: Option<u64>,
    pub(super) queries_write: Option<u64>,
    pub(super) queries_other: Option<u64>,
    pub(super) queries_retried: Option<u64>,
    pub(super) errors: Option<u64>,
    pub(super) reconnects: Option<u64>,
    pub(super) events_unfinished: Option<u64>,
    pub(super) oldest_unfinished_us: Option<u64>,
    pub(super) qps_milli: Option<u64>,
    pub(super) tps_milli: Option<u64>,
    pub(super) latency_min_us: Option<u64>,
    pub(super) latency_mean_us: Option<u64>,
    pub(super) latency_p50_us: Option<u64>,
    pub(super) latency_p95_us: Option<u64>,
    pub(super) latency_p99_us: Option<u64>,
    pub(super) latency_max_us: Option<u64>,
    pub(super) service_min_us: Option<u64>,
    pub(super) service_mean_us: Option<u64>,
    pub(super) service_p50_us: Option<u64>,
    pub(super) service_p95_us: Option<u64>,
    pub(super) service_p99_us: Option<u64>,
    pub(super) service_max_us: Option<u64>,
    pub(super) events_due: Option<u64>,
    pub(super) events_dropped: Option<u64>,
    pub(super) rate_met: Option<bool>,
    pub(super) client_cpu_us: Option<u64>,
    pub(super) client_cpu_max_us: Option<u64>,
    pub(super) client_run_delay_us: Option<u64>,
    pub(super) timer_lateness_p99_us: Option<u64>,
    pub(super) timer_lateness_max_us: Option<u64>,
    pub(super) client_ceiling_qps_milli: Option<u64>,
    pub(super) client_bound: Option<bool>,
    pub(super) load_threads: u32,
    pub(super) steady: Option<bool>,
    pub(super) level_halves_ppm: Option<i64>,
    pub(super) level_slope_ppm: Option<i64>,
    pub(super) qps_lowest_second_milli: Option<u64>,
    pub(super) qps_p5_second_milli: Option<u64>,
    pub(super) warmup_us: Option<u64>,
    pub(super) warmup_level: Option<bool>,
}

/// How a trial ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Done,
    #[default]
    Failed,
    Interrupted,
}

impl CellRow {
    /// The row of a trial. Where no time was measured, nothing was counted either, and the
    /// counts are unknown. `level_ppm`: how far from level a steady rate may be.
    pub(super) fn of(trial: u64, record: &TrialRecord<'_>, level_ppm: u64) -> Self {
        let seconds = whole_seconds(&record.measurement.intervals);
        let (level, stalls) = (level(&seconds), stalls(&seconds));
        let ppm = |share: f64| (share * 1e6).round() as i64;
        let milli = |rate: f64| (rate * 1e3).round() as u64;
        let (planned, m) = (record.spec, record.measurement);
        let counted = |count: u64| (m.measured_us > 0).then_some(count);
        let rate = |count| MilliRate::of(count, m.measured_us).map(|MilliRate(milli)| milli);
        let latency = |part: fn(&LatencySummary) -> u64| m.latency.as_ref().map(part);
        let service = |part: fn(&LatencySummary) -> u64| m.service.as_ref().map(part);
        let (status, reason) = status(&m.status);
        Self {
            trial,
            spec: record.cell.id.spec.to_string(),
            scenario: record.cell.id.scenario.to_string(),
            concurrency: record.cell.id.concurrency,
            repetition: record.repetition,
            cpu: planned.spec.cpu,
            memory_bytes: planned.spec.memory.0,
            status,
            reason,
            started_utc: clock::rfc3339(record.started_unix_ms),
            tables: planned.dataset.tables,
            table_size: planned.dataset.table_size,
            published_tables: planned.published_dataset.tables,
            published_table_size: planned.published_dataset.table_size,
            measured_us: counted(m.measured_us),
            events: counted(m.events),
            queries: counted(m.queries),
            queries_read: counted(m.queries_read),
            queries_write: counted(m.queries_write),
            queries_other: counted(m.queries_other),
            queries_retried: counted(m.queries_retried),
            errors: counted(errors(m)),
            reconnects: counted(m.reconnects),
            events_unfinished: counted(m.events_unfinished),
            oldest_unfinished_us: m.oldest_unfinished_us,
            qps_milli: rate(m.queries),
            tps_milli: rate(m.events),
            latency_min_us: latency(|l| l.min_us),
            latency_mean_us: latency(|l| l.mean_us),
            latency_p50_us: latency(|l| l.p50_us),
            latency_p95_us: latency(|l| l.p95_us),
            latency_p99_us: latency(|l| l.p99_us),
            latency_max_us: latency(|l| l.max_us),
            service_min_us: service(|s| s.min_us),
            service_mean_us: service(|s| s.mean_us),
            service_p50_us: service(|s| s.p50_us),
            service_p95_us: service(|s| s.p95_us),
            service_p99_us: service(|s| s.p99_us),
            service_max_us: service(|s| s.max_us),
            events_due: m.pace.map(|pace| pace.events_due),
            events_dropped: m.pace.map(|pace| pace.events_dropped),
            rate_met: m.rate_met(),
            client_cpu_us: m.client_cpu_us,
            client_cpu_max_us: m.client_cpu_max_us,
            client_run_delay_us: m.client_run_delay_us,
            timer_lateness_p99_us: m.timer_lateness_p99_us,
            timer_lateness_max_us: m.timer_lateness_max_us,
            client_ceiling_qps_milli: m.client_ceiling_qps.map(|MilliRate(milli)| milli),
            client_bound: m.client_bound,
            load_threads: m.load_threads,
            steady: level.map(|level| level.is_within(level_ppm as f64 / 1e6)),
            level_halves_ppm: level.map(|level| ppm(level.halves)),
            level_slope_ppm: level.map(|level| ppm(level.slope)),
            qps_lowest_second_milli: stalls.map(|stalls| milli(stalls.lowest)),
            qps_p5_second_milli: stalls.map(|stalls| milli(stalls.p5)),
            warmup_us: m.warmup_us,
            warmup_level: m.warmup_level,
        }
    }
}

/// Statements per second of the seconds that are whole: the last one of a window may be shorter.
fn whole_seconds(intervals: &[Interval]) -> Vec<f64> {
    let whole = intervals.iter().filter(|interval| interval.length_us == 1_000_000);
    whole.map(|interval| interval.queries as f64).collect()
}

fn status(status: &TrialStatus) -> (Status, String) {
    match status {
        TrialStatus::Done => (Status::Done, String::new()),
        TrialStatus::Failed { reason } => (Status::Failed, reason.clone()),
        TrialStatus::Interrupted => (Status::Interrupted, String::new()),
    }
}

fn errors(measurement: &Measurement) -> u64 {
    measurement.errors.iter().map(|error| error.count).sum()
}

/// `intervals.csv`: a row per second and trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IntervalRow {
    pub(super) trial: u64,
    pub(super) spec: String,
    pub(super) scenario: String,
    pub(super) concurrency: u32,
    pub(super) repetition: u32,
    pub(super) elapsed_us: u64,
    pub(super) length_us: u64,
    pub(super) events: u64,
    pub(super) queries: u64,
    pub(super) errors: u64,
    pub(super) qps_milli: Option<u64>,
    pub(super) tps_milli: Option<u64>,
    pub(super) latency_p95_us: Option<u64>,
}

impl IntervalRow {
    pub(super) fn of(trial: u64, record: &TrialRecord<'_>, interval: &Interval) -> Self {
        let rate = |count| MilliRate::of(count, interval.length_us).map(|MilliRate(milli)| milli);
        Self {
            trial,
            spec: record.cell.id.spec.to_string(),
            scenario: record.cell.id.scenario.to_string(),
            concurrency: record.cell.id.concurrency,
            repetition: record.repetition,
            elapsed_us: interval.elapsed_us,
            length_us: interval.length_us,
            events: interval.events,
            queries: interval.queries,
            errors: interval.errors,
            qps_milli: rate(interval.queries),
            tps_milli: rate(interval.events),
            latency_p95_us: interval.p95_us,
        }
    }
}

impl From<IntervalRow> for Interval {
    fn from(row: IntervalRow) -> Self {
        Self {
            elapsed_us: row.elapsed_us,
            length_us: row.length_us,
            events: row.events,
            queries: row.queries,
            errors: row.errors,
            p95_us: row.latency_p95_us,
        }
    }
}

/// `statements.csv`: a row per trial and statement kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StatementRow {
    pub(super) trial: u64,
    pub(super) spec: String,
    pub(super) scenario: String,
    pub(super) concurrency: u32,
    pub(super) repetition: u32,
    pub(super) statement: String,
    pub(super) count: u64,
    pub(super) errors: u64,
    pub(super) latency_min_us: Option<u64>,
    pub(super) latency_mean_us: Option<u64>,
    pub(super) latency_p50_us: Option<u64>,
    pub(super) latency_p95_us: Option<u64>,
    pub(super) latency_p99_us: Option<u64>,
    pub(super) latency_max_us: Option<u64>,
}

impl StatementRow {
    pub(super) fn of(trial: u64, record: &TrialRecord<'_>, statement: &StatementStats) -> Self {
        let latency = |part: fn(&LatencySummary) -> u64| statement.latency.as_ref().map(part);
        Self {
            trial,
            spec: record.cell.id.spec.to_string(),
            scenario: record.cell.id.scenario.to_string(),
            concurrency: record.cell.id.concurrency,
            repetition: record.repetition,
            statement: statement.kind.name().to_owned(),
            count: statement.count,
            errors: statement.errors,
            latency_min_us: latency(|l| l.min_us),
            latency_mean_us: latency(|l| l.mean_us),
            latency_p50_us: latency(|l| l.p50_us),
            latency_p95_us: latency(|l| l.p95_us),
            latency_p99_us: latency(|l| l.p99_us),
            latency_max_us: latency(|l| l.max_us),
        }
    }
}

/// `errors.csv`: a row per trial and error code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ErrorRow {
    pub(super) trial: u64,
    pub(super) spec: String,
    pub(super) scenario: String,
    pub(super) concurrency: u32,
    pub(super) repetition: u32,
    pub(super) code: u16,
    pub(super) count: u64,
    #[serde(with = "text")]
    pub(super) first_message: String,
    pub(super) first_us: Option<u64>,
    pub(super) last_us: Option<u64>,
}

impl ErrorRow {
    pub(super) fn of(trial: u64, record: &TrialRecord<'_>, error: &ErrorCount) -> Self {
        Self {
            trial,
            spec: record.cell.id.spec.to_string(),
            scenario: record.cell.id.scenario.to_string(),
            concurrency: record.cell.id.concurrency,
            repetition: record.repetition,
            code: error.code,
            count: error.count,
            first_message: error.message.clone(),
            first_us: error.span_us.map(|(first, _)| first),
            last_us: error.span_us.map(|(_, last)| last),
        }
    }
}

impl From<ErrorRow> for ErrorCount {
    fn from(row: ErrorRow) -> Self {
        let span_us = row.first_us.zip(row.last_us);
        Self { code: row.code, count: row.count, message: row.first_message, span_us }
    }
}

impl Row for CellRow {
    const FILE: &'static str = "cells.csv";
}

impl Row for IntervalRow {
    const FILE: &'static str = "intervals.csv";
}

impl Row for StatementRow {
    const FILE: &'static str = "statements.csv";
}

impl Row for ErrorRow {
    const FILE: &'static str = "errors.csv";
}
