//! Making one table: definition, rows, index, statistics, count.
//!
//! Must not know: how many tables there are, or threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::driver::DriverError;
use crate::driver::adapter::Admin;
use crate::workload::rows::Rows;
use crate::workload::schema as names;

use super::LoadError;
use super::batch;
use super::schema::Home;
use super::verify;

/// How often a statement that is under way looks whether it should stop.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// One connection that makes tables, one after the other.
pub(super) struct Loader<'a> {
    pub(super) admin: Admin,
    pub(super) home: &'a Home,
    /// Whether loading should come to an end.
    pub(super) stop: &'a (dyn Fn() -> bool + Sync),
    /// Rows that the server took.
    pub(super) rows_done: &'a AtomicU64,
    /// Whether the server takes LOAD DATA LOCAL, which costs it about half of what INSERT does.
    takes_files: bool,
}

impl<'a> Loader<'a> {
    /// Connects and prepares the session for loading.
    pub(super) async fn connect(
        home: &'a Home,
        stop: &'a (dyn Fn() -> bool + Sync),
        rows_done: &'a AtomicU64,
    ) -> Result<Self, LoadError> {
        let connected = Admin::connect(&home.endpoint).await;
        let mut admin = connected.map_err(|error| home.failed("connecting", error))?;
        let set = "SET SESSION autocommit = 1";
        admin.execute(set).await.map_err(|error| home.failed("preparing a session", error))?;
        // A server that does not know the variable does not take files either.
        let takes_files = admin.scalar("SELECT @@GLOBAL.local_infile").await.ok().flatten();
        let takes_files = takes_files.as_deref() == Some("1");
        Ok(Self { admin, home, stop, rows_done, takes_files })
    }

    /// Removes what an earlier attempt left.
    pub(super) async fn drop(&mut self, table: &str) -> Result<(), LoadError> {
        self.run(table, "replacing", &format!("DROP TABLE IF EXISTS {table}")).await
    }

    /// Makes the table of that number and name, and marks it complete.
    pub(super) async fn make(&mut self, number: u32, table: &str) -> Result<(), LoadError> {
        self.run(table, "creating", &names::create_table(number)).await?;
        self.fill(number, table).await?;
        self.run(table, "indexing", &names::create_index(number)).await?;
        self.run(table, "analysing", &format!("ANALYZE TABLE {table}")).await?;
        self.check(number, table).await?;
        self.home.mark_complete(&mut self.admin, table).await
    }

    /// Sends all rows in batches, each its own transaction.
    async fn fill(&mut self, number: u32, table: &str) -> Result<(), LoadError> {
        let rows = Rows::new(&self.home.dataset, number);
        let mut insert = String::new();
        let mut next = 1;
        while next <= self.home.dataset.table_size {
            let ids = next..=self.home.dataset.table_size;
            let taken = if self.takes_files {
                let (sql, lines) = batch::file(&rows, table, ids);
                next = lines.end();
                let sent = self.admin.load_data(&sql, lines);
                until(self.stop, sent).await
            } else {
                next = batch::insert(&rows, table, ids, &mut insert);
                until(self.stop, self.admin.execute(&insert)).await
            };
            let taken = taken?.map_err(|error| self.failed(table, "filling", error))?;
            self.rows_done.fetch_add(taken, Ordering::Relaxed);
        }
        Ok(())
    }

    async fn check(&mut self, number: u32, table: &str) -> Result<(), LoadError> {
        let found = verify::rows_found(&mut self.admin, self.home, number).await;
        let found = found.map_err(|error| self.failed(table, "counting", error))?;
        let expected = self.home.dataset.table_size;
        if found == expected {
            return Ok(());
        }
        let database = self.home.database.clone();
        Err(LoadError::Count { database, table: table.to_owned(), found, expected })
    }

    /// Runs a statement, unless or until loading should stop.
    async fn run(&mut self, table: &str, doing: &str, sql: &str) -> Result<(), LoadError> {
        let done = until(self.stop, self.admin.execute(sql)).await?;
        done.map(drop).map_err(|error| self.failed(table, doing, error))
    }

    fn failed(&self, table: &str, doing: &str, error: DriverError) -> LoadError {
        self.home.failed(&format!("{doing} {table}"), error)
    }
}

/// Waits for a statement, unless or until loading should stop.
async fn until<T>(
    stop: &(dyn Fn() -> bool + Sync),
    statement: impl Future<Output = T>,
) -> Result<T, LoadError> {
    let stopped = async {
        while !stop() {
            tokio::time::sleep(STOP_CHECK).await;
        }
    };
    tokio::select! {
        biased;
        () = stopped => Err(LoadError::Interrupted),
        done = statement => Ok(done),
    }
}
