//! The terminal: data on stdout, talk on stderr, tables, figures with units.
//!
//! Must not know: where a number came from. The only module that prints.

pub mod figures;
mod printer;
mod progress;
mod table;

pub use printer::Printer;
pub use progress::{LoadingRows, Progress};
pub use table::{Align, Table};
