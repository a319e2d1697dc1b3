//! Where a run is, told as it goes on: one stream of facts, and whoever shows them.
//!
//! Must not know: what a trial does, who looks at a page.
//!
//! - `event`: the facts, plain data.
//! - `tracker`: facts and the time become a place in the matrix and what is left.
//! - `bar`, `plain`, `json`, `quiet`: who shows them on this process's standard error.
//! - `words`: the sentences that more than one of them says.

use std::time::{Duration, Instant};

use super::Printer;

mod bar;
mod event;
mod json;
mod plain;
mod quiet;
mod tracker;
mod words;

pub use bar::{Look, screen};
pub use event::{
    Level, LoadingRows, Outline, OutlineCell, OutlineSpec, RunEnding, RunEvent, SecondFigures,
    TrialEnding, TrialPhase,
};
pub use json::JsonLines;
pub use plain::PlainLines;
pub use tracker::{CurrentTrial, TimeLeft, Tracker};
pub use words::{ended_words, left_words};

pub(super) use json::said_line;

/// How a run tells on standard error where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressMode {
    /// Redrawn in place, above it the lines that stay. Needs a terminal.
    Bar,
    /// Lines.
    Plain,
    /// An object a line.
    Json,
    /// Only what went wrong.
    None,
}

impl ProgressMode {
    /// What was asked for, as far as this terminal can show it; unasked, the bar where there is a
    /// terminal that can be redrawn.
    pub fn of(asked: Option<Self>, can_redraw: bool) -> Self {
        match asked.unwrap_or(Self::Bar) {
            Self::Bar if !can_redraw => Self::Plain,
            mode => mode,
        }
    }
}

/// Somebody who shows facts, or hands them on. It is called by the thread that drives the run, so
/// it must not wait for anything.
pub trait Sink {
    /// A fact, so long after the first.
    fn take(&mut self, at: Duration, event: &RunEvent);

    /// Takes off the screen what is redrawn; more facts may follow.
    fn rest(&mut self) {}

    /// Has something else printed, where it does not tear what is redrawn.
    fn aside(&mut self, print: &mut dyn FnMut()) {
        print();
    }
}

/// Who is told of a run.
pub struct Progress {
    sinks: Vec<Box<dyn Sink>>,
    started: Instant,
}

impl Progress {
    /// What is told on standard error, in that mode.
    pub fn new(printer: Printer, mode: ProgressMode) -> Self {
        let plain = || -> Box<dyn Sink> { Box::new(plain::Plain::new(printer)) };
        let sink: Box<dyn Sink> = match mode {
            ProgressMode::Bar => match bar::Bar::start(printer) {
                Ok(bar) => Box::new(bar),
                Err(_) => plain(),
            },
            ProgressMode::Plain => plain(),
            ProgressMode::Json => Box::new(json::Json::new(printer)),
            ProgressMode::None => Box::new(quiet::Quiet::new(printer)),
        };
        Self { sinks: vec![sink], started: Instant::now() }
    }

    /// Somebody else who is told from now on.
    pub fn add(&mut self, sink: Box<dyn Sink>) {
        self.sinks.push(sink);
    }

    /// Tells a fact.
    pub fn tell(&mut self, event: &RunEvent) {
        let at = self.started.elapsed();
        self.sinks.iter_mut().for_each(|sink| sink.take(at, event));
    }

    /// Tells a sentence that stays.
    pub fn line(&mut self, words: &str) {
        self.tell(&RunEvent::Said { level: Level::Notice, words: words.to_owned() });
    }

    /// Tells a sentence about something that went wrong.
    pub fn warn(&mut self, words: &str) {
        self.tell(&RunEvent::Said { level: Level::Warning, words: words.to_owned() });
    }

    /// Tells the step that is under way.
    pub fn step(&mut self, words: &str) {
        self.tell(&RunEvent::Step { words: words.to_owned() });
    }

    /// Prints something else meanwhile.
    pub fn aside<T>(&mut self, print: impl FnOnce() -> T) -> T {
        let mut print = Some(print);
        let mut printed = None;
        let mut once = || printed = print.take().map(|print| print());
        // Of all sinks only the first draws, and it calls this once.
        match self.sinks.first_mut() {
            Some(first) => first.aside(&mut once),
            None => once(),
        }
        printed.expect("a sink prints what it is given to print")
    }

    /// Takes off the screen what is redrawn.
    pub fn rest(&mut self) {
        self.sinks.iter_mut().for_each(|sink| sink.rest());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_needs_a_terminal_and_is_what_a_terminal_gets() {
        use ProgressMode::{Bar, Json, None as Nothing, Plain};
        assert_eq!(ProgressMode::of(None, true), Bar);
        assert_eq!(ProgressMode::of(None, false), Plain);
        assert_eq!(ProgressMode::of(Some(Bar), false), Plain);
        for asked in [Plain, Json, Nothing] {
            assert_eq!(ProgressMode::of(Some(asked), true), asked);
            assert_eq!(ProgressMode::of(Some(asked), false), asked);
        }
    }
}
