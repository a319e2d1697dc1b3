//! gridbench turns a declared matrix of OLTP measurements on MySQL-compatible servers into a
//! published page, and a published page into a claim that anyone can check.
//!
//! Modules, in reading order; each line of the table in ARCHITECTURE.md says what a module may
//! import, and `tests/tidy.rs` holds it:
//!
//! - [`model`]: the nouns, plain data.
//! - [`written`]: TOML in which every value has its place.
//! - [`matrix`]: a TOML file becomes a plan, or diagnostics with their places.
//! - [`workload`]: what one event does, and what a row holds.
//! - [`driver`]: how bytes move between us and a server.
//! - [`load`]: filling a dataset.
//! - [`stats`]: numbers in, numbers out.
//! - [`sysbench`]: that program's command line and output.
//! - [`exec`]: a trial becomes a measurement.
//! - [`target`]: where a spec lives: a managed server or an address.
//! - [`store`]: results on disk.
//! - [`audit`]: results held against arithmetic.
//! - [`report`]: results become pages.
//! - [`ui`]: the terminal.
//! - [`watch`]: a run in a browser while it goes on.
//! - [`cmd`] and [`cli`]: one file a subcommand, wiring the above.

pub mod audit;
pub mod cli;
pub mod cmd;
pub mod driver;
pub mod exec;
pub mod load;
pub mod matrix;
pub mod model;
pub mod report;
pub mod stats;
pub mod store;
pub mod sysbench;
pub mod target;
pub mod ui;
pub mod watch;
pub mod workload;
pub mod written;
