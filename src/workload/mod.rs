//! What one event does, and what a row holds: workloads as data, sysbench 1.0.20's among them.
//!
//! Must not know: connections, time, errors. A [`Program`] is the immutable statement table of
//! a scenario on a dataset; a [`Generator`] writes its statements for one connection.

mod builtin;
mod content;
mod form;
mod form_value;
mod generator;
pub mod generators;
pub mod keys;
pub mod own_tables;
mod program;
pub mod random;
pub mod rows;
pub mod schema;
mod sql;
pub mod statement;
mod text;
mod timestamp;

pub use builtin::{builtin, builtins};
pub use form::{ACCESS, READ_TYPES, WorkloadForm};
pub use form_value::TABLE_SIZE;
pub use generator::Generator;
pub use program::Program;

use crate::model::{Value, Workload};

/// The own tables that its statements draw ids of, and that it does not have.
pub fn unknown_tables(workload: &Workload) -> Vec<&str> {
    let values = workload.statements().flat_map(|statement| statement.values());
    let named = values.filter_map(|value| match value {
        Value::Id { table: Some(name), .. } => Some(name.as_str()),
        _ => None,
    });
    named.filter(|name| workload.tables.iter().all(|table| table.name != *name)).collect()
}
