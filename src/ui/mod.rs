//! The terminal: data on stdout, talk on stderr, tables, figures with units.
//!
//! Must not know: where a number came from. The only module that prints.

pub mod figures;
mod paragraph;
mod plain;
mod printer;
mod progress;
mod spark;
mod table;

pub use paragraph::paragraph;
pub use plain::plain;
pub use printer::{Printer, Style, Terminal, Voice};
pub use progress::{
    CurrentTrial, JsonLines, Level, LoadingRows, Look, Outline, OutlineCell, OutlineSpec,
    PlainLines, Progress, ProgressMode, RunEnding, RunEvent, SecondFigures, Sink, TimeLeft,
    Tracker, TrialEnding, TrialPhase, ended_words, left_words, screen,
};
pub use spark::{bar, lowest_of, sparkline};
pub use table::{Align, Table};
