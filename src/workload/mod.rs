//! What one event does, and what a row holds: sysbench 1.0.20's statements and values as data.
//!
//! Must not know: connections, time, errors. A [`Program`] is the immutable statement table of
//! a scenario on a dataset; a [`Generator`] writes its statements for one connection.

mod generator;
pub mod keys;
mod program;
pub mod random;
pub mod rows;
pub mod schema;
mod statements;
mod text;

pub use generator::Generator;
pub use program::Program;
