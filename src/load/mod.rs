//! Filling a dataset: sysbench's `prepare`, deterministic, in parallel, and resumable.
//!
//! Must not know: matrices, trials, screens. A dataset has a schema of its own, named by the
//! endpoint or else by `workload::schema::database`; the state table in it says whose it is and
//! which chunks of rows are in. A chunk and its mark are one transaction, so that no row is ever
//! there twice, whoever is killed.

mod batch;
mod board;
mod cache;
mod change;
mod clean;
mod crew;
mod ensure;
mod error;
mod extent;
mod loader;
mod own_tables;
mod schema;
mod session;
mod state;
mod verify;

use std::time::Duration;

pub use cache::fill_cache;
pub use change::mark_changed;
pub use clean::{Owned, OwnedTable, drop_owned, find_owned};
pub use ensure::ensure;
pub use error::LoadError;
pub use extent::rows_in;
pub use own_tables::{
    OWN_STATE_TABLE, OwnTables, OwnTablesReport, ensure_own_tables, mark_own_changed,
};
pub use schema::{STATE_TABLE, schema_of};
pub use session::LoadRoute;

use crate::model::{Bytes, TableCheck};

/// How to load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadOptions {
    /// Connections that load side by side, each on a thread of its own, in one table or in many. At
    /// least one is used.
    pub loaders: u32,
    /// Processors of the server; `None` where that is not known.
    pub server_cpus: Option<u32>,
    /// Room where the server keeps its data; `None` where that is not known. What is missing of
    /// the dataset must fit.
    pub disk_free: Option<Bytes>,
    /// How rows reach the server; `None`: as the server is asked and chosen for.
    pub route: Option<LoadRoute>,
    /// Whether the tables of a schema that holds something else are dropped.
    pub replace: bool,
    /// Whether a dataset that is marked as changed is made anew.
    pub refresh: bool,
}

impl Default for LoadOptions {
    /// One loader, and nothing is dropped.
    fn default() -> Self {
        Self {
            loaders: 1,
            server_cpus: None,
            disk_free: None,
            route: None,
            replace: false,
            refresh: false,
        }
    }
}

/// What is told while a dataset is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadEvent<'a> {
    /// How far it has come.
    Progress(LoadProgress),
    /// These tables of the schema are about to be dropped, because that was asked for.
    Replacing {
        /// The schema.
        database: &'a str,
        /// All its tables.
        tables: &'a [String],
    },
    /// These stand in the schema beside the dataset, and nobody here made them; they stay.
    Beside {
        /// The schema.
        database: &'a str,
        /// Their names, views as `view NAME`.
        names: &'a [String],
    },
    /// A table is not as it was loaded, which somebody may know, and is made anew.
    Unsound {
        /// What was found, and what should have been.
        found: &'a str,
    },
    /// A step failed for a reason that may pass, and is tried again.
    Retrying {
        /// What failed, and why.
        reason: &'a str,
    },
}

/// How far loading has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadProgress {
    /// Rows that the server took, those that were there already included.
    pub rows_done: u64,
    /// Those that were there already.
    pub rows_found: u64,
    /// Rows of the whole dataset.
    pub rows_total: u64,
    /// Bytes of statements or files that the server took.
    pub bytes_sent: u64,
    /// What is under way.
    pub stage: LoadStage,
}

/// What is under way while a dataset is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadStage {
    /// What is there is looked at.
    Verify,
    /// Rows are sent; tables whose rows are there get their index meanwhile.
    Rows,
    /// All rows are there; the last indexes and checksums are not.
    Indexes,
}

/// A dataset that stands complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadReport {
    /// The schema that holds it: the `database` of the endpoint that the load will use.
    pub database: String,
    /// What had to be done.
    pub outcome: LoadOutcome,
    /// How rows were sent; `None` where none were.
    pub route: Option<LoadRoute>,
    /// Bytes of statements or files that were sent.
    pub bytes_sent: u64,
    /// Who first wrote to it since it was loaded, as [`mark_changed`] was told.
    pub changed_by: Option<String>,
    /// Whether all rows of what was found were counted; a dataset that is too large for that was
    /// recognised by its first and last ids.
    pub is_counted: bool,
    /// What the server found in each table after loading it, in order.
    pub tables: Vec<TableCheck>,
    /// Data and indexes as the server counts them, the state table excluded; `None` if it
    /// does not say.
    pub dataset_bytes: Option<u64>,
    /// Wall-clock time of it all.
    pub elapsed: Duration,
}

/// What had to be done for a dataset to stand complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadOutcome {
    /// It was complete.
    Reused,
    /// A part was there; this much was missing.
    Completed {
        /// Tables that were not complete.
        tables: u32,
        /// Rows that were sent.
        rows: u64,
    },
    /// Nothing was there.
    Loaded {
        /// Rows in all tables.
        rows: u64,
    },
}
