//! sysbench as a program: its command line, what it prints, and what that means.
//!
//! Must not know: processes, files, or who asked. What it prints is input like any other: no
//! byte of it may make the reader panic.
//!
//! - `command`: a trial as arguments of `sysbench ... run`, and what it cannot run.
//! - `reader`: its output, line by line as it comes or whole from a file, as [`Run`]s.
//! - `line`: what one line is.
//! - `block`: the figures of a report, at a checkpoint or at the end.
//! - `invoked`: a command line that stands in a saved output.
//! - `trouble`: what went wrong, in its own words, with the remedy.

mod block;
mod command;
mod decimal;
mod invoked;
mod line;
mod reader;
mod trouble;
mod version;

pub use block::{Block, BlockLatency};
pub use command::{CommandLine, Invocation, Refused, refusals, unreachable};
pub use decimal::scaled;
pub use invoked::Invoked;
pub use line::{HistogramRow, IntervalLine, QueueLine};
pub use reader::{Message, Reader, Run, Seen, parse};
pub use trouble::{remedy, words};
pub use version::Version;
