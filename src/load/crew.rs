//! Loaders side by side: each a thread with a runtime and a connection of its own.
//!
//! Must not know: how a table is made.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::driver::adapter::Admin;
use crate::model::Interrupt;
use crate::workload::schema as names;

use super::schema::{Home, Standing};
use super::table::Loader;
use super::{LoadError, LoadProgress, LoadStage};

/// How often progress is told.
const TICK: Duration = Duration::from_millis(100);

/// Those who load together.
pub(super) struct Crew<'a> {
    pub(super) home: &'a Home,
    pub(super) standing: &'a Standing,
    pub(super) interrupt: &'a Interrupt,
    pub(super) loaders: u32,
}

/// What they share.
struct Work {
    tables: Vec<u32>,
    next: AtomicUsize,
    rows_done: AtomicU64,
    failed: AtomicBool,
}

impl Crew<'_> {
    /// Makes these tables; the first error stops all loaders.
    pub(super) fn load(
        &self,
        tables: Vec<u32>,
        mut progress: LoadProgress,
        observe: &mut dyn FnMut(LoadProgress),
    ) -> Result<(), LoadError> {
        let loaders = tables.len().min(self.loaders.max(1) as usize);
        let work = Work {
            tables,
            next: AtomicUsize::new(0),
            rows_done: AtomicU64::new(progress.rows_done),
            failed: AtomicBool::new(false),
        };
        let (ended, ends) = mpsc::channel();
        thread::scope(|scope| {
            let mut first_error = None;
            for number in 0..loaders {
                let (ended, work) = (ended.clone(), &work);
                let named = thread::Builder::new().name(format!("loader-{number}"));
                let spawned = named.spawn_scoped(scope, move || {
                    let result = self.run(work);
                    work.failed.fetch_or(result.is_err(), Ordering::Relaxed);
                    // The receiver outlives every loader.
                    let _ = ended.send(result);
                });
                if let Err(error) = spawned {
                    work.failed.store(true, Ordering::Relaxed);
                    first_error = Some(LoadError::System { message: error.to_string() });
                    break;
                }
            }
            drop(ended);
            loop {
                progress.rows_done = work.rows_done.load(Ordering::Relaxed);
                let all_rows = progress.rows_done >= progress.rows_total;
                progress.stage = if all_rows { LoadStage::Indexes } else { LoadStage::Rows };
                observe(progress);
                match ends.recv_timeout(TICK) {
                    Ok(Err(error)) => keep_first(&mut first_error, error),
                    Ok(Ok(())) | Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            first_error.map_or(Ok(()), Err)
        })
    }

    /// One loader: takes tables until there are none.
    fn run(&self, work: &Work) -> Result<(), LoadError> {
        let stop = || self.interrupt.is_requested() || work.failed.load(Ordering::Relaxed);
        runtime()?.block_on(async {
            let mut loader = Loader::connect(self.home, &stop, &work.rows_done).await?;
            while let Some(table) = work.tables.get(work.next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = self.make(&mut loader, *table).await {
                    if error == LoadError::Interrupted {
                        self.kill(&loader.admin).await;
                    }
                    return Err(error);
                }
            }
            loader.admin.close().await;
            Ok(())
        })
    }

    async fn make(&self, loader: &mut Loader<'_>, number: u32) -> Result<(), LoadError> {
        let table = names::table(number);
        if self.standing.tables.contains(&table) {
            loader.drop(&table).await?;
        }
        loader.make(number, &table).await
    }

    /// Ends the statement that was given up, so that the next run need not wait for it. Best
    /// effort: a server that does not listen is not waited for.
    async fn kill(&self, given_up: &Admin) {
        if let Ok(mut admin) = Admin::connect(&self.home.endpoint).await {
            let _ = admin.execute(&format!("KILL {}", given_up.id())).await;
            admin.close().await;
        }
    }
}

/// Keeps the error that explains the others: those who were told to stop are not the cause.
fn keep_first(first: &mut Option<LoadError>, error: LoadError) {
    if matches!(first, None | Some(LoadError::Interrupted)) {
        *first = Some(error);
    }
}

/// A runtime for this thread.
pub(super) fn runtime() -> Result<Runtime, LoadError> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let built = builder.enable_all().build();
    built.map_err(|error| LoadError::System { message: error.to_string() })
}
