//! The facts of a run folded into what a page shows.
//!
//! Must not know: the clock, threads, readers.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::wire::{
    CellState, LineKind, Now, Snapshot, WireCell, WireLine, WireScenario, WireSecond, WireSpec,
    WireTrial,
};
use crate::model::{CellId, MilliRate, ScenarioId, SpecId, TrialStatus};
use crate::stats::median;
use crate::ui::{
    CurrentTrial, Level, LoadingRows, Outline, OutlineCell, RunEnding, RunEvent, Tracker,
    TrialEnding, TrialPhase, ended_words,
};

/// Ten minutes of seconds.
const SECONDS_MAX: usize = 600;
const LINES_MAX: usize = 500;
/// A line is cut off after so many characters.
const LINE_MAX: usize = 2_000;

/// What is known of a run so far.
#[derive(Debug, Default)]
pub(super) struct LiveState {
    started_unix_ms: u64,
    outline: Outline,
    tracker: Tracker,
    cells: Vec<LiveCell>,
    seconds: VecDeque<WireSecond>,
    log: VecDeque<WireLine>,
    /// How many seconds and lines there were, those that were let go included.
    counted: (u64, u64),
    ending: Option<RunEnding>,
}

#[derive(Debug)]
struct LiveCell {
    id: CellId,
    trials: u32,
    rates: Vec<u64>,
    p95_us: Option<u64>,
    mark: Option<Mark>,
}

/// What is said of a cell beside its figures.
#[derive(Debug)]
enum Mark {
    Failed(String),
    Refused(String),
    LeftOut,
}

impl LiveState {
    /// Of a run whose first fact is told then, milliseconds since 1970-01-01 UTC.
    pub(super) fn new(started_unix_ms: u64) -> Self {
        Self { started_unix_ms, ..Self::default() }
    }

    /// How many trials are on disk.
    pub(super) fn ended(&self) -> u64 {
        self.tracker.ended
    }

    /// A fact, so long after the first.
    pub(super) fn take(&mut self, at: Duration, event: &RunEvent) {
        match event {
            RunEvent::Step { words } if *words != self.tracker.step => {
                self.say(at, LineKind::Step, words);
            }
            RunEvent::Said { level: Level::Notice, words } => {
                self.say(at, LineKind::Notice, words);
            }
            RunEvent::Said { level: Level::Warning, words } => {
                self.say(at, LineKind::Warning, words);
            }
            RunEvent::Refused { spec, scenario, reason } => {
                self.say(at, LineKind::Warning, &format!("{spec} {scenario}: {reason}"));
            }
            _ => {}
        }
        self.tracker.take(at, event);
        match event {
            RunEvent::Started(outline) => self.begin(outline),
            RunEvent::Second(second) => {
                self.counted.0 += 1;
                self.seconds.push_back(WireSecond {
                    number: self.counted.0,
                    gone_ms: millis(at),
                    trial: self.tracker.position(),
                    qps_milli: milli(second.qps),
                    p95_us: second.p95_us,
                    errors: second.errors,
                });
                keep_last(&mut self.seconds, SECONDS_MAX);
            }
            RunEvent::TrialEnded { cell, repetition, ending } => {
                self.end(at, (cell, *repetition), ending);
            }
            RunEvent::LeftOut { cells } => self
                .mark(|cell| cells.contains(&cell.id) && cell.rates.is_empty(), || Mark::LeftOut),
            RunEvent::Refused { spec, scenario, reason } => self.mark(
                |cell| cell.id.spec == *spec && cell.id.scenario == *scenario,
                || Mark::Refused(reason.clone()),
            ),
            RunEvent::Ended(ending) => self.ending = Some(ending.clone()),
            _ => {}
        }
    }

    /// All of it as it is now.
    pub(super) fn snapshot(&self, at: Duration) -> Snapshot {
        let Outline { run, directory, title, rehearsal, specs, scenarios, .. } = &self.outline;
        Snapshot {
            run: run.clone(),
            directory: directory.clone(),
            title: title.clone(),
            rehearsal_factor: *rehearsal,
            started_unix_ms: self.started_unix_ms,
            specs: specs
                .iter()
                .map(|spec| WireSpec {
                    id: spec.id.to_string(),
                    cpu: spec.cpu,
                    memory_bytes: spec.memory.0,
                    skipped: spec.skipped.clone(),
                })
                .collect(),
            scenarios: scenarios
                .iter()
                .map(|(id, title)| WireScenario { id: id.to_string(), title: title.clone() })
                .collect(),
            cells: self.cells(),
            now: self.now(at),
            seconds: self.seconds.iter().cloned().collect(),
            log: self.log.iter().cloned().collect(),
        }
    }

    fn begin(&mut self, outline: &Outline) {
        // What no cell is of has no place on the page.
        let mut outline = outline.clone();
        let cells = &outline.cells;
        outline.scenarios.retain(|(id, _)| cells.iter().any(|cell| cell.id.scenario == *id));
        let cell = |of: &OutlineCell| LiveCell {
            id: of.id.clone(),
            trials: of.trials,
            rates: of.done.iter().map(|MilliRate(milli)| *milli).collect(),
            p95_us: None,
            mark: None,
        };
        self.cells = outline.cells.iter().map(cell).collect();
        self.outline = outline;
    }

    fn end(&mut self, at: Duration, (id, repetition): (&CellId, u32), ending: &TrialEnding) {
        let kind = match ending.status {
            TrialStatus::Done => LineKind::Done,
            TrialStatus::Failed { .. } => LineKind::Failed,
            TrialStatus::Interrupted => LineKind::Warning,
        };
        let label = match self.tracker.has_repeats || repetition > 1 {
            true => format!("{id} #{repetition}"),
            false => id.to_string(),
        };
        let words = ended_words(ending);
        let words: Vec<&str> = words.split_whitespace().collect();
        self.say(at, kind, &format!("{label}: {}", words.join(" ")));
        let Some(cell) = self.cells.iter_mut().find(|cell| cell.id == *id) else { return };
        match (&ending.status, ending.qps) {
            (TrialStatus::Done, Some(MilliRate(qps))) => {
                cell.rates.push(qps);
                cell.p95_us = ending.p95_us;
                cell.mark = None;
            }
            (TrialStatus::Failed { reason }, _) => cell.mark = Some(Mark::Failed(cut(reason))),
            _ => {}
        }
    }

    fn mark(&mut self, is_meant: impl Fn(&LiveCell) -> bool, mark: impl Fn() -> Mark) {
        let meant = self.cells.iter_mut().filter(|cell| is_meant(cell));
        meant.for_each(|cell| cell.mark = Some(mark()));
    }

    fn say(&mut self, at: Duration, kind: LineKind, words: &str) {
        self.counted.1 += 1;
        let (number, gone_ms, words) = (self.counted.1, millis(at), cut(words));
        self.log.push_back(WireLine { number, gone_ms, kind, words });
        keep_last(&mut self.log, LINES_MAX);
    }

    fn cells(&self) -> Vec<WireCell> {
        let rates: Vec<Option<u64>> = self.cells.iter().map(|cell| median(&cell.rates)).collect();
        let mut peaks: BTreeMap<(&SpecId, &ScenarioId), Option<u64>> = BTreeMap::new();
        for (cell, rate) in self.cells.iter().zip(&rates) {
            let peak = peaks.entry((&cell.id.spec, &cell.id.scenario)).or_default();
            *peak = (*peak).max(*rate);
        }
        let peak = |cell: &LiveCell| peaks[&(&cell.id.spec, &cell.id.scenario)];
        let cells = self.cells.iter().zip(rates);
        cells.map(|(cell, qps)| self.cell(cell, qps, peak(cell))).collect()
    }

    fn cell(&self, cell: &LiveCell, qps: Option<u64>, peak: Option<u64>) -> WireCell {
        let (state, reason) = self.state_of(cell);
        WireCell {
            spec: cell.id.spec.to_string(),
            scenario: cell.id.scenario.to_string(),
            concurrency: cell.id.concurrency,
            state,
            trials: cell.trials,
            measured: u32::try_from(cell.rates.len()).unwrap_or(u32::MAX),
            qps_milli: qps,
            p95_us: cell.p95_us,
            is_peak: qps.is_some() && qps == peak,
            reason,
        }
    }

    fn state_of(&self, cell: &LiveCell) -> (CellState, Option<String>) {
        if self.tracker.trial.as_ref().is_some_and(|trial| trial.cell == cell.id) {
            return (CellState::Running, None);
        }
        match &cell.mark {
            Some(Mark::Failed(reason)) if cell.rates.is_empty() => {
                (CellState::Failed, Some(reason.clone()))
            }
            Some(Mark::Refused(reason)) => (CellState::Refused, Some(reason.clone())),
            Some(Mark::LeftOut) => (CellState::LeftOut, None),
            _ if cell.rates.is_empty() => (CellState::Waiting, None),
            _ => (CellState::Done, None),
        }
    }

    fn now(&self, at: Duration) -> Now {
        let left = self.tracker.left(at).filter(|_| self.ending.is_none());
        Now {
            gone_ms: millis(at),
            left_ms: left.map(|left| millis(left.time)),
            left_is_bound: left.is_some_and(|left| left.is_bound),
            trials: self.tracker.trials,
            ended: self.tracker.ended,
            failed: self.tracker.failed,
            step: match &self.tracker.loading {
                Some((rows, _)) => loading_words(rows),
                None => self.tracker.step.clone(),
            },
            trial: self.tracker.trial.as_ref().map(|trial| self.trial(trial, at)),
            outcome: self.ending.as_ref().map(RunEnding::name),
            reason: match &self.ending {
                Some(RunEnding::Failed { reason }) => Some(cut(reason)),
                _ => None,
            },
        }
    }

    fn trial(&self, trial: &CurrentTrial, at: Duration) -> WireTrial {
        let whole = match trial.phase {
            TrialPhase::WarmingUp => Some(self.tracker.warmup),
            TrialPhase::Measuring => Some(self.tracker.duration),
            TrialPhase::Connecting | TrialPhase::Draining => None,
        };
        WireTrial {
            number: trial.number,
            spec: trial.cell.spec.to_string(),
            scenario: trial.cell.scenario.to_string(),
            concurrency: trial.cell.concurrency,
            repetition: trial.repetition,
            phase: trial.phase.words(),
            phase_ms: millis(at.saturating_sub(trial.since)),
            phase_of_ms: whole.filter(|whole| !whole.is_zero()).map(millis),
            sessions: trial.sessions.0,
            errors: trial.errors,
            qps_milli: trial.last.and_then(|last| milli(last.qps)),
            tps_milli: trial.last.and_then(|last| milli(last.tps)),
            p95_us: trial.last.and_then(|last| last.p95_us),
        }
    }
}

fn loading_words(rows: &LoadingRows) -> String {
    let percent = (rows.rows_done * 100).checked_div(rows.rows_total).unwrap_or(100);
    format!("{}: {} {percent} %", rows.spec, rows.stage)
}

fn keep_last<T>(all: &mut VecDeque<T>, max: usize) {
    while all.len() > max {
        all.pop_front();
    }
}

fn cut(words: &str) -> String {
    words.chars().take(LINE_MAX).collect()
}

fn milli(rate: Option<MilliRate>) -> Option<u64> {
    rate.map(|MilliRate(milli)| milli)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::SecondFigures;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn said(words: &str) -> RunEvent {
        RunEvent::Said { level: Level::Notice, words: words.to_owned() }
    }

    #[test]
    fn what_a_long_run_leaves_behind_is_bounded() {
        let mut state = LiveState::new(0);
        for number in 1..=2_000 {
            let (qps, p95_us) = (Some(MilliRate(number)), None);
            let second = SecondFigures { second: number, qps, tps: qps, p95_us, errors: 0 };
            state.take(at(number), &RunEvent::Second(second));
            state.take(at(number), &said(&"x".repeat(5_000)));
        }
        let snapshot = state.snapshot(at(2_000));
        let ends = |first: u64, last: u64| (Some(first), Some(last));
        let numbers: Vec<u64> = snapshot.seconds.iter().map(|of| of.number).collect();
        assert_eq!((numbers.first().copied(), numbers.last().copied()), ends(1_401, 2_000));
        let numbers: Vec<u64> = snapshot.log.iter().map(|of| of.number).collect();
        assert_eq!((numbers.first().copied(), numbers.last().copied()), ends(1_501, 2_000));
        assert!(snapshot.log.iter().all(|line| line.words.len() == LINE_MAX));
    }

    #[test]
    fn a_step_that_is_told_twice_is_one_line_and_only_what_is_new_is_a_change() {
        let mut state = LiveState::new(0);
        let step = RunEvent::Step { words: "1c1g: verifying rows".to_owned() };
        state.take(at(1), &step);
        let before = state.snapshot(at(1));
        state.take(at(2), &step);
        state.take(at(2), &said("found"));
        let after = state.snapshot(at(2));
        let change = after.since(&before);
        assert_eq!((before.log.len(), change.log.len()), (1, 1));
        assert_eq!(change.log[0].words, "found");
        assert_eq!((change.cells.len(), change.seconds.len()), (0, 0));
        assert_eq!(after.since(&after).log, []);
    }
}
