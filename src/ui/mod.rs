//! The terminal: data on stdout, talk on stderr, tables, figures with units.
//!
//! Must not know: where a number came from. The only module that prints.

pub mod figures;
mod paragraph;
mod printer;
mod progress;
mod table;

pub use paragraph::paragraph;
pub use printer::Printer;
pub use progress::{LoadingRows, Progress};
pub use table::{Align, Table};
