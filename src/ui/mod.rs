//! The terminal: data on stdout, talk on stderr, tables, figures with units.
//!
//! Must not know: where a number came from. The only module that prints.

pub mod figures;
mod paragraph;
mod printer;
mod progress;
mod table;

pub use paragraph::paragraph;
pub use printer::{Printer, Style, Terminal, Voice};
pub use progress::{
    CurrentTrial, JsonLines, Level, LoadingRows, Look, Outline, OutlineCell, OutlineSpec,
    PlainLines, Progress, ProgressMode, RunEnding, RunEvent, SecondFigures, Sink, TimeLeft,
    Tracker, TrialEnding, TrialPhase, ended_words, left_words, screen,
};
pub use table::{Align, Table};
