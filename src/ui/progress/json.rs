//! A run as lines of JSON, one object each, for programs; FORMAT.md lists them.
//!
//! Must not know: the clock (it is told when the run began).

use std::time::Duration;

use serde::Serialize;

use super::event::{Level, LoadingRows, RunEnding, RunEvent, SecondFigures, TrialEnding};
use super::tracker::Tracker;
use super::{Printer, Sink};
use crate::model::{CellId, MilliRate, TrialStatus};
use crate::ui::printer::unix_ms;

/// What passes by is told once in so long.
const EVERY: Duration = Duration::from_secs(1);

/// The lines of a run, from its facts.
#[derive(Debug)]
pub struct JsonLines {
    tracker: Tracker,
    started_unix_ms: u64,
    /// When something that passes by was told last.
    passed: Option<Duration>,
}

/// A sentence as such a line.
pub(in crate::ui) fn said_line(unix_ms: u64, level: Level, words: &str) -> String {
    print(unix_ms, said(level, words))
}

impl JsonLines {
    /// For a run whose first fact is told then, milliseconds since 1970-01-01 UTC.
    pub fn new(started_unix_ms: u64) -> Self {
        Self { tracker: Tracker::default(), started_unix_ms, passed: None }
    }

    /// The line that a fact is worth, without its end.
    pub fn line(&mut self, at: Duration, event: &RunEvent) -> Option<String> {
        if matches!(event, RunEvent::Step { words } if *words == self.tracker.step) {
            return None;
        }
        self.tracker.take(at, event);
        if matches!(event, RunEvent::Loading(_) | RunEvent::Connecting { .. }) {
            if self.passed.is_some_and(|passed| at.saturating_sub(passed) < EVERY) {
                return None;
            }
            self.passed = Some(at);
        }
        let unix_ms = self.started_unix_ms.saturating_add(millis(at));
        Some(print(unix_ms, self.wire(at, event)))
    }

    fn wire<'a>(&self, at: Duration, event: &'a RunEvent) -> Wire<'a> {
        match event {
            RunEvent::Started(outline) => Wire::RunStarted {
                run: &outline.run,
                directory: &outline.directory,
                title: &outline.title,
                rehearsal_factor: outline.rehearsal,
                warmup_ms: millis(outline.warmup),
                duration_ms: millis(outline.duration),
                place: self.place(at),
            },
            RunEvent::SpecStarted { spec } => Wire::SpecStarted { spec: spec.as_str() },
            RunEvent::Step { words } => Wire::Step { words },
            RunEvent::Loading(LoadingRows {
                spec,
                stage,
                rows_done,
                rows_total,
                bytes_sent,
                ..
            }) => Wire::Loading {
                spec,
                stage,
                rows_done: *rows_done,
                rows_total: *rows_total,
                bytes_sent: *bytes_sent,
            },
            RunEvent::Said { level, words } => said(*level, words),
            RunEvent::TrialStarted { cell, repetition } => Wire::TrialStarted {
                trial: self.tracker.position(),
                cell: WireCell::of(cell, *repetition),
                place: self.place(at),
            },
            RunEvent::Connecting { sessions, concurrency } => Wire::Connecting {
                trial: self.tracker.position(),
                sessions: *sessions,
                concurrency: *concurrency,
            },
            RunEvent::Phase(phase) => {
                Wire::Phase { trial: self.tracker.position(), phase: phase.words() }
            }
            RunEvent::Second(SecondFigures { second, qps, tps, p95_us, errors }) => Wire::Second {
                trial: self.tracker.position(),
                second: *second,
                figures: WireFigures::of((*qps, *tps), *p95_us, *errors),
            },
            RunEvent::TrialEnded { cell, repetition, ending } => {
                self.ended(at, WireCell::of(cell, *repetition), ending)
            }
            RunEvent::LeftOut { cells } => Wire::LeftOut { left_out: cells.len() as u64 },
            RunEvent::Serving { url, stop_token } => Wire::Serving { url, stop_token },
            RunEvent::Refused { spec, scenario, reason } => {
                Wire::Refused { spec: spec.as_str(), scenario: scenario.as_str(), reason }
            }
            RunEvent::Ended(ending) => Wire::RunEnded {
                outcome: ending.name(),
                reason: match ending {
                    RunEnding::Failed { reason } => Some(reason),
                    _ => None,
                },
                place: self.place(at),
            },
        }
    }

    fn ended<'a>(&self, at: Duration, cell: WireCell<'a>, ending: &'a TrialEnding) -> Wire<'a> {
        let (status, reason) = match &ending.status {
            TrialStatus::Done => ("done", None),
            TrialStatus::Failed { reason } => ("failed", Some(reason.as_str())),
            TrialStatus::Interrupted => ("interrupted", None),
        };
        let known = matches!(ending.status, TrialStatus::Done);
        let rates = if known { (ending.qps, ending.tps) } else { (None, None) };
        Wire::TrialEnded {
            trial: self.tracker.position(),
            cell,
            status,
            reason,
            figures: WireFigures::of(rates, ending.p95_us.filter(|_| known), ending.errors),
            doubts: &ending.doubts,
            place: self.place(at),
        }
    }

    fn place(&self, at: Duration) -> WirePlace {
        let left = self.tracker.left(at);
        WirePlace {
            trials: self.tracker.trials,
            ended: self.tracker.ended,
            failed: self.tracker.failed,
            gone_ms: millis(at),
            left_ms: left.map(|left| millis(left.time)),
            left_is_bound: left.map(|left| left.is_bound),
        }
    }
}

/// Prints them.
pub(super) struct Json {
    printer: Printer,
    lines: JsonLines,
}

impl Json {
    pub(super) fn new(printer: Printer) -> Self {
        Self { printer, lines: JsonLines::new(unix_ms()) }
    }
}

impl Sink for Json {
    fn take(&mut self, at: Duration, event: &RunEvent) {
        if let Some(line) = self.lines.line(at, event) {
            self.printer.raw(&line);
        }
    }
}

/// A fact as a program reads it.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Wire<'a> {
    RunStarted {
        run: &'a str,
        directory: &'a str,
        title: &'a str,
        rehearsal_factor: Option<u64>,
        warmup_ms: u64,
        duration_ms: u64,
        place: WirePlace,
    },
    SpecStarted {
        spec: &'a str,
    },
    Step {
        words: &'a str,
    },
    Loading {
        spec: &'a str,
        stage: &'a str,
        rows_done: u64,
        rows_total: u64,
        bytes_sent: u64,
    },
    Line {
        level: &'static str,
        words: &'a str,
    },
    TrialStarted {
        trial: u64,
        cell: WireCell<'a>,
        place: WirePlace,
    },
    Connecting {
        trial: u64,
        sessions: u32,
        concurrency: u32,
    },
    Phase {
        trial: u64,
        phase: &'static str,
    },
    Second {
        trial: u64,
        second: u64,
        figures: WireFigures,
    },
    TrialEnded {
        trial: u64,
        cell: WireCell<'a>,
        status: &'static str,
        reason: Option<&'a str>,
        figures: WireFigures,
        doubts: &'a [String],
        place: WirePlace,
    },
    LeftOut {
        left_out: u64,
    },
    Refused {
        spec: &'a str,
        scenario: &'a str,
        reason: &'a str,
    },
    Serving {
        url: &'a str,
        stop_token: &'a str,
    },
    RunEnded {
        outcome: &'static str,
        reason: Option<&'a str>,
        place: WirePlace,
    },
}

#[derive(Serialize)]
struct WireCell<'a> {
    spec: &'a str,
    scenario: &'a str,
    concurrency: u32,
    repetition: u32,
}

impl<'a> WireCell<'a> {
    fn of(cell: &'a CellId, repetition: u32) -> Self {
        let CellId { spec, scenario, concurrency } = cell;
        let (spec, scenario) = (spec.as_str(), scenario.as_str());
        Self { spec, scenario, concurrency: *concurrency, repetition }
    }
}

#[derive(Serialize)]
struct WireFigures {
    qps_milli: Option<u64>,
    tps_milli: Option<u64>,
    p95_us: Option<u64>,
    errors: u64,
}

impl WireFigures {
    fn of(
        (qps, tps): (Option<MilliRate>, Option<MilliRate>),
        p95_us: Option<u64>,
        errors: u64,
    ) -> Self {
        let milli = |rate: Option<MilliRate>| rate.map(|MilliRate(milli)| milli);
        Self { qps_milli: milli(qps), tps_milli: milli(tps), p95_us, errors }
    }
}

#[derive(Serialize)]
struct WirePlace {
    trials: u64,
    ended: u64,
    failed: u64,
    gone_ms: u64,
    left_ms: Option<u64>,
    left_is_bound: Option<bool>,
}

/// With the time before it.
#[derive(Serialize)]
struct Line<'a> {
    unix_ms: u64,
    #[serde(flatten)]
    wire: Wire<'a>,
}

fn said(level: Level, words: &str) -> Wire<'_> {
    let level = match level {
        Level::Notice => "notice",
        Level::Warning => "warning",
    };
    Wire::Line { level, words }
}

fn print(unix_ms: u64, wire: Wire<'_>) -> String {
    let text = serde_json::to_string(&Line { unix_ms, wire });
    text.expect("plain fields always serialise")
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
