//! A run as lines, for a log: each trial as it begins and ends, and now and then where it is.
//!
//! Must not know: the clock.

use std::time::Duration;

use super::event::{Level, RunEvent, TrialPhase};
use super::tracker::Tracker;
use super::words::{self, clean, doing, ended_words, label, left_words, second_words, seconds};
use super::{Printer, Sink};
use crate::model::{TrialStatus, counted};
use crate::ui::printer::Style;

/// How often a line repeats where a long step is: never sooner than this, and ten times in the
/// window of a trial.
const EVERY: Duration = Duration::from_secs(10);
const TIMES: u32 = 10;

/// The lines of a run, from its facts.
#[derive(Debug, Default)]
pub struct PlainLines {
    tracker: Tracker,
    said: Duration,
}

impl PlainLines {
    /// The line that a fact is worth, with what it is told in.
    pub fn line(&mut self, at: Duration, event: &RunEvent) -> Option<(Style, String)> {
        if matches!(event, RunEvent::Step { words } if *words == self.tracker.step) {
            return None;
        }
        self.tracker.take(at, event);
        let line = kept(&self.tracker, at, event).or_else(|| self.passing(at, event))?;
        self.said = at;
        Some(line)
    }

    /// What a bar would show in place.
    fn passing(&self, at: Duration, event: &RunEvent) -> Option<(Style, String)> {
        let tracker = &self.tracker;
        let every = (tracker.duration / TIMES).max(EVERY);
        let is_due = |every: Duration| at.saturating_sub(self.said) >= every;
        // The last second is told when the trial is about to end, which is told at once.
        let is_measuring =
            tracker.trial.as_ref().is_some_and(|trial| trial.phase == TrialPhase::Measuring);
        let place = || match &tracker.trial {
            Some(trial) => {
                let label = label(&trial.cell, trial.repetition, tracker.has_repeats);
                let (position, doing) = (position(tracker), doing(trial, tracker, at));
                format!("{position} {label:<width$} {doing}", width = width(tracker))
            }
            None => String::new(),
        };
        let words = match event {
            RunEvent::Step { words } => clean(words),
            RunEvent::TrialStarted { cell, repetition } => {
                let label = label(cell, *repetition, tracker.has_repeats);
                let (position, left) = (position(tracker), left_words(tracker, at));
                let (width, gone) = (width(tracker), seconds(at));
                format!("{position} {label:<width$} begins; {gone} gone, {left}")
            }
            RunEvent::Loading(rows) if is_due(EVERY) => {
                let since = tracker.loading.as_ref().map_or(at, |(_, since)| *since);
                words::loading_words(rows, at.saturating_sub(since))
            }
            RunEvent::Connecting { .. } if is_due(EVERY) => place(),
            RunEvent::Second(second) if is_due(every) && is_measuring => {
                let errors = tracker.trial.as_ref().map_or(0, |trial| trial.errors);
                format!("{}  {}", place(), second_words(second, errors).join("  "))
            }
            _ => return None,
        };
        Some((Style::Plain, words))
    }
}

/// A line that stays wherever a run is shown.
pub(super) fn kept(tracker: &Tracker, at: Duration, event: &RunEvent) -> Option<(Style, String)> {
    match event {
        RunEvent::Started(outline) => {
            let trials = counted(outline.waiting, "trial");
            let before = match tracker.ended {
                0 => String::new(),
                done => format!(", {} measured before", figure(done)),
            };
            let left = left_words(tracker, at);
            Some((Style::Plain, format!("run {}: {trials}{before}, {left}", outline.run)))
        }
        RunEvent::Said { level: Level::Notice, words } => Some((Style::Plain, clean(words))),
        RunEvent::Said { level: Level::Warning, words } => Some((Style::Warning, clean(words))),
        RunEvent::Serving { url, stop_token } => {
            let stop = format!("curl -d token={stop_token} {}", stop_address(url));
            Some((Style::Plain, format!("watch    {url}\nstop     {stop}")))
        }
        RunEvent::TrialEnded { cell, repetition, ending } => {
            let label = label(cell, *repetition, tracker.has_repeats);
            let (position, words) = (position(tracker), clean(&ended_words(ending)));
            let line = format!("{position} {label:<width$} {words}", width = width(tracker));
            Some(match ending.status {
                TrialStatus::Failed { .. } => (Style::Failure, line),
                TrialStatus::Interrupted => (Style::Warning, line),
                TrialStatus::Done => (Style::Plain, line),
            })
        }
        _ => None,
    }
}

/// Where to ask for the end of what is watched there.
fn stop_address(url: &str) -> String {
    let root = url.split('?').next().unwrap_or(url);
    format!("{}/stop", root.trim_end_matches('/'))
}

/// `[ 12/140]`.
fn position(tracker: &Tracker) -> String {
    let digits = tracker.trials.to_string().len();
    format!("[{:>digits$}/{}]", tracker.position(), tracker.trials)
}

/// How wide the names of cells are, so that figures stand in line.
fn width(tracker: &Tracker) -> usize {
    let repeats = if tracker.has_repeats { " #1".len() } else { 0 };
    (tracker.label_width + repeats).min(48)
}

fn figure(number: u64) -> String {
    crate::ui::figures::count(number)
}

/// Prints them.
pub(super) struct Plain {
    printer: Printer,
    lines: PlainLines,
}

impl Plain {
    pub(super) fn new(printer: Printer) -> Self {
        Self { printer, lines: PlainLines::default() }
    }
}

impl Sink for Plain {
    fn take(&mut self, at: Duration, event: &RunEvent) {
        if let Some((style, line)) = self.lines.line(at, event) {
            self.printer.styled(style, &line);
        }
    }
}
