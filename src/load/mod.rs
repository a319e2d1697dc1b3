//! Filling a dataset: sysbench's `prepare`, deterministic, in parallel, and resumable.
//!
//! Must not know: matrices, trials, screens. A dataset has a schema of its own, named by the
//! endpoint or else by `workload::schema::database`; the state table in it says what is
//! complete. A table that is not is made anew, so that no row is ever there twice.

mod batch;
mod cache;
mod crew;
mod error;
mod own_tables;
mod schema;
mod table;
mod verify;

use std::time::{Duration, Instant};

pub use cache::fill_cache;
pub use error::LoadError;
pub use own_tables::{
    OWN_STATE_TABLE, OwnTables, OwnTablesReport, drop_own_tables, ensure_own_tables,
};
pub use schema::STATE_TABLE;

use crate::driver::adapter::Admin;
use crate::model::{Bytes, Dataset, Endpoint, Interrupt};

use self::crew::Crew;
use self::schema::Home;

/// How to load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadOptions {
    /// Connections that load side by side, each on a thread of its own; a table is loaded by
    /// one of them. At least one is used, and never more than there are tables.
    pub loaders: u32,
    /// Room where the server keeps its data; `None` where that is not known. What is missing of
    /// the dataset must fit.
    pub disk_free: Option<Bytes>,
}

/// How far loading has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadProgress {
    /// Rows that the server took, those that were there already included.
    pub rows_done: u64,
    /// Rows of the whole dataset.
    pub rows_total: u64,
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
    /// All rows are there, the last indexes are not.
    Indexes,
}

/// A dataset that stands complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadReport {
    /// The schema that holds it: the `database` of the endpoint that the load will use.
    pub database: String,
    /// What had to be done.
    pub outcome: LoadOutcome,
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
    /// A part was complete; this many tables were made anew.
    Completed {
        /// Tables made anew.
        tables: u32,
        /// Rows in them.
        rows: u64,
    },
    /// Nothing was there.
    Loaded {
        /// Rows in all tables.
        rows: u64,
    },
}

/// Sees to it that the dataset stands complete on the server; blocks until it does.
///
/// The schema is the endpoint's `database`; without one, a schema of the dataset's own. A
/// schema that holds anything else is an error and stays as it is. Tables whose
/// row count is no longer the dataset's (`oltp_insert`, `oltp_delete`) are made anew; values
/// that updates have changed are not looked at, as sysbench does not either.
///
/// # Errors
/// See [`LoadError`]. After each of them a further call goes on where this one ended.
pub fn ensure(
    endpoint: &Endpoint,
    dataset: &Dataset,
    options: &LoadOptions,
    interrupt: &Interrupt,
    observe: &mut dyn FnMut(LoadProgress),
) -> Result<LoadReport, LoadError> {
    let started = Instant::now();
    let home = Home::new(endpoint, dataset);
    let runtime = crew::runtime()?;
    let mut progress =
        LoadProgress { rows_done: 0, rows_total: dataset.rows(), stage: LoadStage::Verify };
    observe(progress);

    let (mut admin, standing) = runtime.block_on(home.open())?;
    let sound = runtime.block_on(verify::sound_tables(&mut admin, &home, &standing, interrupt))?;
    let missing: Vec<u32> = (1..=dataset.tables).filter(|table| !sound.contains(table)).collect();
    let tables = u32::try_from(missing.len()).unwrap_or(u32::MAX);
    let rows = u64::from(tables) * dataset.table_size;
    progress.rows_done = dataset.rows().saturating_sub(rows);

    let outcome = match tables {
        0 => LoadOutcome::Reused,
        all if all == dataset.tables => LoadOutcome::Loaded { rows },
        tables => LoadOutcome::Completed { tables, rows },
    };
    if tables > 0 {
        check_room(dataset, tables, options.disk_free)?;
        runtime.block_on(home.mark_loading(&mut admin, &missing))?;
        Crew { home: &home, standing: &standing, interrupt, loaders: options.loaders }
            .load(missing, progress, observe)?;
    }
    let dataset_bytes = runtime.block_on(finish(admin, &home))?;
    let database = home.database.clone();
    Ok(LoadReport { database, outcome, dataset_bytes, elapsed: started.elapsed() })
}

/// Whether the tables that are missing fit on the server's disk.
fn check_room(dataset: &Dataset, tables: u32, free: Option<Bytes>) -> Result<(), LoadError> {
    let needed = Dataset { tables, ..dataset.clone() }.disk_bytes();
    match free {
        Some(free) if free < needed => Err(LoadError::NoRoom { needed, free }),
        _ => Ok(()),
    }
}

async fn finish(mut admin: Admin, home: &Home) -> Result<Option<u64>, LoadError> {
    let bytes = verify::dataset_bytes(&mut admin, home).await?;
    home.unlock(&mut admin).await;
    admin.close().await;
    Ok(bytes)
}
