//! Bringing a dataset into the server's buffer pool, so that the first trial is not the one that
//! pays for reading the disk.
//!
//! Must not know: trials.

use std::cell::Cell;
use std::rc::Rc;

use tokio::task::{JoinSet, LocalSet};

use crate::driver::adapter::Admin;
use crate::model::{Dataset, Endpoint, Interrupt};
use crate::workload::schema as names;

use super::crew::runtime;
use super::schema::Home;
use super::{LoadError, LoadOptions};

/// Reads every page of every table and index once; blocks until it is done.
///
/// # Errors
/// [`LoadError::Interrupted`], or what the server said.
pub fn fill_cache(
    endpoint: &Endpoint,
    dataset: &Dataset,
    options: &LoadOptions,
    interrupt: &Interrupt,
) -> Result<(), LoadError> {
    let home = Rc::new(Home::new(endpoint, dataset, "caching"));
    let next = Rc::new(Cell::new(1));
    let tasks = LocalSet::new();
    tasks.block_on(&runtime()?, async {
        let mut readers = JoinSet::new();
        for _ in 0..options.loaders.clamp(1, dataset.tables) {
            readers.spawn_local(read(home.clone(), next.clone(), interrupt.clone()));
        }
        while let Some(ended) = readers.join_next().await {
            ended.map_err(|error| LoadError::System { message: error.to_string() })??;
        }
        Ok(())
    })
}

/// One reader: takes tables until there are none.
async fn read(home: Rc<Home>, next: Rc<Cell<u32>>, interrupt: Interrupt) -> Result<(), LoadError> {
    let step = "reading its tables";
    let connected = Admin::connect(&home.endpoint).await;
    let mut admin = connected.map_err(|error| home.failed(step, error))?;
    loop {
        let table = next.replace(next.get() + 1);
        if table > home.dataset.tables {
            admin.close().await;
            return Ok(());
        }
        if interrupt.is_requested() {
            return Err(LoadError::Interrupted);
        }
        let (name, index) = (names::table(table), names::index(table));
        for sql in [
            format!("SELECT SUM(LENGTH(pad)) FROM {name} FORCE INDEX (PRIMARY)"),
            format!("SELECT COUNT(k) FROM {name} FORCE INDEX ({index})"),
        ] {
            admin.scalar(&sql).await.map_err(|error| home.failed(step, error))?;
        }
    }
}
