//! Nothing of a run but what went wrong, and where it can be watched.
//!
//! Must not know: the clock.

use std::time::Duration;

use super::event::RunEvent;
use super::plain::kept;
use super::tracker::Tracker;
use super::{Printer, Sink};
use crate::ui::printer::Style;

/// Prints it.
pub(super) struct Quiet {
    printer: Printer,
    tracker: Tracker,
}

impl Quiet {
    pub(super) fn new(printer: Printer) -> Self {
        Self { printer, tracker: Tracker::default() }
    }
}

impl Sink for Quiet {
    fn take(&mut self, at: Duration, event: &RunEvent) {
        self.tracker.take(at, event);
        let line = kept(&self.tracker, at, event);
        // Where it can be watched was asked for.
        let is_asked = matches!(event, RunEvent::Serving { .. });
        if let Some((style, line)) = line.filter(|(style, _)| is_asked || *style != Style::Plain) {
            self.printer.styled(style, &line);
        }
    }
}
