//! Where a run is, from the facts that were told: which trial of how many, what it does, how long
//! the rest will take.
//!
//! Must not know: the clock (whoever asks says what time it is), who shows it.

use std::time::Duration;

use super::event::{LoadingRows, RunEvent, SecondFigures, TrialEnding, TrialPhase};
use crate::model::{CellId, TrialStatus};

/// The place of a run. All times are since its first fact.
#[derive(Debug, Clone, Default)]
pub struct Tracker {
    /// Trials of the whole run, those from before it was cut short included.
    pub trials: u64,
    /// Those of them that are over; one that was interrupted is not.
    pub ended: u64,
    /// Those of them that failed, in this session.
    pub failed: u64,
    /// The trial under way.
    pub trial: Option<CurrentTrial>,
    /// The step under way, where it is no trial.
    pub step: String,
    /// The dataset that is being made, and since when.
    pub loading: Option<(LoadingRows, Duration)>,
    /// Whether anything but the sole dataset of a `load` is told here.
    pub has_trials: bool,
    /// Whether cells have more than one trial.
    pub has_repeats: bool,
    /// Load before the window of each trial.
    pub warmup: Duration,
    /// The window of each trial.
    pub duration: Duration,
    /// The longest name of a cell.
    pub label_width: usize,
    /// The number of the trial that was over, or interrupted, last.
    number: u64,
    specs_waiting: u64,
    /// Since when a spec is prepared; `None` where its trials are under way.
    preparing: Option<Duration>,
    prepared: Total,
    /// When the trial before this one was over, or the spec ready.
    mark: Option<Duration>,
    measured: Total,
}

/// How often something was done, and how long it took in all.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    count: u32,
    time: Duration,
}

impl Total {
    fn add(&mut self, time: Duration) {
        self.count += 1;
        self.time += time;
    }

    fn mean(self) -> Option<Duration> {
        self.time.checked_div(self.count)
    }
}

/// The trial under way.
#[derive(Debug, Clone)]
pub struct CurrentTrial {
    /// Its number among all trials of the run, from 1.
    pub number: u64,
    /// Which cell.
    pub cell: CellId,
    /// From 1.
    pub repetition: u32,
    /// What it does.
    pub phase: TrialPhase,
    /// Since when.
    pub since: Duration,
    /// Connections that stand, and how many there will be.
    pub sessions: (u32, u32),
    /// The second that was measured last.
    pub last: Option<SecondFigures>,
    /// Errors so far.
    pub errors: u64,
}

/// How long a run will still take, as far as one can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLeft {
    /// So long.
    pub time: Duration,
    /// Whether it is a lower bound: no trial was measured yet, so it has nothing but windows.
    pub is_bound: bool,
}

impl Tracker {
    /// A fact, so long after the first.
    pub fn take(&mut self, at: Duration, event: &RunEvent) {
        match event {
            RunEvent::Started(outline) => {
                let done: usize = outline.cells.iter().map(|cell| cell.done.len()).sum();
                self.ended = done as u64;
                self.number = self.ended;
                self.trials = self.ended + outline.waiting;
                self.specs_waiting = outline.specs_waiting;
                self.has_trials = true;
                self.has_repeats = outline.cells.iter().any(|cell| cell.trials > 1);
                (self.warmup, self.duration) = (outline.warmup, outline.duration);
                let widths = outline.cells.iter().map(|cell| cell.id.to_string().len());
                self.label_width = widths.max().unwrap_or(0);
            }
            RunEvent::SpecStarted { .. } => {
                self.specs_waiting = self.specs_waiting.saturating_sub(1);
                self.preparing = Some(at);
            }
            RunEvent::Step { words } => {
                self.step.clone_from(words);
                self.loading = None;
            }
            RunEvent::Loading(rows) => {
                let since = self.loading.as_ref().map_or(at, |(_, since)| *since);
                self.loading = Some((rows.clone(), since));
            }
            RunEvent::TrialStarted { cell, repetition } => self.begin(at, cell, *repetition),
            RunEvent::TrialEnded { ending, .. } => self.end(at, ending),
            RunEvent::LeftOut { cells } => {
                self.trials = self.trials.saturating_sub(cells.len() as u64);
            }
            RunEvent::Connecting { .. } | RunEvent::Phase(_) | RunEvent::Second(_) => {
                self.go_on(at, event);
            }
            RunEvent::Said { .. } | RunEvent::Refused { .. } | RunEvent::Serving { .. } => {}
            RunEvent::Ended(_) => (self.trial, self.loading) = (None, None),
        }
    }

    /// The number of the trial under way, else of the one that was over last.
    pub fn position(&self) -> u64 {
        self.trial.as_ref().map_or(self.number, |trial| trial.number)
    }

    /// What of the run is over, in percent.
    pub fn percent(&self) -> u64 {
        (self.ended * 100).checked_div(self.trials).unwrap_or(0)
    }

    /// How long the rest takes, where it is as what was measured so far: trials with all that is
    /// between them, and what comes before the first of each spec. It counts down while a trial
    /// runs, and a trial that takes longer holds it still. `None` when nothing is left.
    pub fn left(&self, at: Duration) -> Option<TimeLeft> {
        let waiting = u32::try_from(self.trials.saturating_sub(self.ended)).unwrap_or(u32::MAX);
        if waiting == 0 {
            return None;
        }
        let each = self.measured.mean().unwrap_or(self.warmup + self.duration);
        let gone = self.mark.map_or(Duration::ZERO, |mark| at.saturating_sub(mark));
        let trials = each.saturating_mul(waiting - 1).saturating_add(each.saturating_sub(gone));
        let specs = u32::try_from(self.specs_waiting).unwrap_or(u32::MAX);
        let prepare = self.prepared.mean().unwrap_or_default();
        let here = self.preparing.map_or(Duration::ZERO, |since| {
            let rows = self.loading.as_ref().and_then(|(rows, since)| rows_left(rows, at - *since));
            prepare.saturating_sub(at.saturating_sub(since)).max(rows.unwrap_or_default())
        });
        let time = trials.saturating_add(prepare.saturating_mul(specs)).saturating_add(here);
        Some(TimeLeft { time, is_bound: self.measured.count == 0 })
    }

    fn begin(&mut self, at: Duration, cell: &CellId, repetition: u32) {
        if let Some(since) = self.preparing.take() {
            self.prepared.add(at.saturating_sub(since));
            self.mark = None;
        }
        self.mark.get_or_insert(at);
        self.loading = None;
        self.trial = Some(CurrentTrial {
            number: self.ended + 1,
            cell: cell.clone(),
            repetition,
            phase: TrialPhase::Connecting,
            since: at,
            sessions: (0, cell.concurrency),
            last: None,
            errors: 0,
        });
    }

    fn end(&mut self, at: Duration, ending: &TrialEnding) {
        self.number = self.ended + 1;
        self.ended += u64::from(ending.status != TrialStatus::Interrupted);
        // Further repetitions, of which nobody knows before how many there will be.
        self.trials = self.trials.max(self.ended);
        self.failed += u64::from(matches!(ending.status, TrialStatus::Failed { .. }));
        // What failed took no usual time.
        if let (TrialStatus::Done, Some(mark)) = (&ending.status, self.mark) {
            self.measured.add(at.saturating_sub(mark));
        }
        if self.trial.take().is_some() {
            self.mark = Some(at);
        }
        self.step.clear();
    }

    fn go_on(&mut self, at: Duration, event: &RunEvent) {
        let Some(trial) = &mut self.trial else { return };
        match event {
            RunEvent::Connecting { sessions, concurrency } => {
                trial.sessions = (*sessions, *concurrency);
            }
            RunEvent::Phase(phase) => (trial.phase, trial.since) = (*phase, at),
            RunEvent::Second(second) => {
                trial.errors += second.errors;
                trial.last = Some(*second);
            }
            _ => {}
        }
    }
}

/// How many rows a second are sent, where it is known.
pub(super) fn rows_per_second(rows: &LoadingRows, since: Duration) -> Option<u64> {
    let sent = u128::from(rows.rows_done.saturating_sub(rows.rows_found));
    let rate = sent * 1_000 / since.as_millis().max(1);
    u64::try_from(rate).ok().filter(|rate| *rate > 0)
}

/// How long the rest of the rows takes.
pub(super) fn rows_left(rows: &LoadingRows, since: Duration) -> Option<Duration> {
    let left = rows.rows_total.saturating_sub(rows.rows_done);
    Some(Duration::from_secs(left / rows_per_second(rows, since)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ScenarioId, SpecId};
    use crate::ui::progress::event::{Outline, OutlineCell};

    fn cell(spec: &str) -> CellId {
        let (spec, scenario) = (SpecId::new(spec).unwrap(), ScenarioId::new("s").unwrap());
        CellId { spec, scenario, concurrency: 8 }
    }

    fn started(waiting: u64, specs_waiting: u64, done: usize) -> Tracker {
        let done = vec![crate::model::MilliRate(1); done];
        let outline = Outline {
            cells: vec![OutlineCell { id: cell("a"), trials: 1, done }],
            waiting,
            specs_waiting,
            warmup: Duration::from_secs(60),
            duration: Duration::from_secs(600),
            ..Outline::default()
        };
        let mut tracker = Tracker::default();
        tracker.take(Duration::ZERO, &RunEvent::Started(Box::new(outline)));
        tracker
    }

    fn ending(status: TrialStatus) -> TrialEnding {
        TrialEnding { status, qps: None, tps: None, p95_us: None, errors: 0, doubts: Vec::new() }
    }

    /// A trial of the spec, from one second to another.
    fn trial(tracker: &mut Tracker, (from, to): (u64, u64), status: TrialStatus) {
        let (cell, repetition) = (cell("a"), 1);
        let begin = RunEvent::TrialStarted { cell: cell.clone(), repetition };
        tracker.take(Duration::from_secs(from), &begin);
        let end = RunEvent::TrialEnded { cell, repetition, ending: ending(status) };
        tracker.take(Duration::from_secs(to), &end);
    }

    fn left(tracker: &Tracker, at: u64) -> (u64, bool) {
        let left = tracker.left(Duration::from_secs(at)).expect("something is left");
        (left.time.as_secs(), left.is_bound)
    }

    #[test]
    fn before_anything_is_measured_windows_are_a_lower_bound() {
        let mut tracker = started(35, 1, 0);
        assert_eq!(left(&tracker, 0), (35 * 660, true));
        let begin = RunEvent::TrialStarted { cell: cell("a"), repetition: 1 };
        tracker.take(Duration::from_secs(100), &begin);
        assert_eq!(left(&tracker, 100), (35 * 660, true));
        assert_eq!(left(&tracker, 700), (34 * 660 + 60, true), "it counts down in a trial");
        assert_eq!(left(&tracker, 900), (34 * 660, true), "and is held where that takes longer");
    }

    #[test]
    fn what_was_measured_says_what_trials_and_loads_take() {
        let mut tracker = started(4, 2, 0);
        tracker.take(Duration::ZERO, &RunEvent::SpecStarted { spec: cell("a").spec });
        trial(&mut tracker, (100, 800), TrialStatus::Done);
        trial(&mut tracker, (850, 1_600), TrialStatus::Done);
        // Two trials took 1,500 s with what is between them, and the load 100 s.
        assert_eq!(left(&tracker, 1_600), (2 * 750 + 100, false));
        tracker.take(Duration::from_secs(1_600), &RunEvent::SpecStarted { spec: cell("b").spec });
        assert_eq!(left(&tracker, 1_640), (2 * 750 - 40 + 60, false));
        assert_eq!((tracker.percent(), tracker.position()), (50, 2));
        trial(&mut tracker, (1_700, 2_450), TrialStatus::Done);
        trial(&mut tracker, (2_450, 3_200), TrialStatus::Done);
        assert_eq!(tracker.left(Duration::from_secs(3_200)), None);
    }

    #[test]
    fn what_failed_at_once_makes_nobody_hope() {
        let mut tracker = started(3, 0, 1);
        trial(&mut tracker, (0, 700), TrialStatus::Done);
        let failed = TrialStatus::Failed { reason: "no".to_owned() };
        trial(&mut tracker, (700, 701), failed);
        assert_eq!(left(&tracker, 701), (700, false));
        assert_eq!((tracker.ended, tracker.trials, tracker.failed), (3, 4, 1));
        trial(&mut tracker, (701, 1_401), TrialStatus::Done);
        trial(&mut tracker, (1_401, 2_101), TrialStatus::Done);
        assert_eq!((tracker.ended, tracker.trials), (5, 5), "a further repetition");
    }

    #[test]
    fn what_was_interrupted_is_not_over() {
        let mut tracker = started(2, 0, 0);
        trial(&mut tracker, (0, 300), TrialStatus::Interrupted);
        assert_eq!((tracker.position(), tracker.ended, tracker.trials), (1, 0, 2));
    }

    #[test]
    fn what_the_ladder_leaves_out_is_not_waited_for() {
        let mut tracker = started(10, 0, 0);
        let left_out = |trials| RunEvent::LeftOut { cells: vec![cell("a"); trials] };
        tracker.take(Duration::ZERO, &left_out(4));
        assert_eq!(left(&tracker, 0), (6 * 660, true));
        tracker.take(Duration::ZERO, &left_out(40));
        assert_eq!(tracker.left(Duration::ZERO), None);
    }
}
