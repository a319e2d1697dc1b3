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
use super::schema::Home;
use super::verify;

/// Size at which a multi-row INSERT is sent, as sysbench's: about 2,700 rows.
const INSERT_BYTES: usize = 512 << 10;
/// More than the longest row.
const ROW_BYTES_MAX: usize = 256;

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
    insert: String,
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
        let set = "SET SESSION autocommit = 1, unique_checks = 0, foreign_key_checks = 0";
        admin.execute(set).await.map_err(|error| home.failed("preparing a session", error))?;
        let insert = String::with_capacity(INSERT_BYTES + ROW_BYTES_MAX);
        Ok(Self { admin, home, stop, rows_done, insert })
    }

    /// Makes the table of that number anew and marks it complete.
    pub(super) async fn make(&mut self, number: u32) -> Result<(), LoadError> {
        let table = names::table(number);
        let home = self.home;
        home.mark_loading(&mut self.admin, &table).await?;
        self.run(&table, "replacing", &format!("DROP TABLE IF EXISTS {table}")).await?;
        self.run(&table, "creating", &names::create_table(number)).await?;
        self.fill(number, &table).await?;
        self.run(&table, "indexing", &names::create_index(number)).await?;
        self.run(&table, "analysing", &format!("ANALYZE TABLE {table}")).await?;
        self.check(number, &table).await?;
        home.mark_complete(&mut self.admin, &table).await
    }

    /// Sends all rows in INSERTs of [`INSERT_BYTES`], each its own transaction.
    async fn fill(&mut self, number: u32, table: &str) -> Result<(), LoadError> {
        let rows = Rows::new(&self.home.dataset, number);
        let mut next = 1;
        while next <= self.home.dataset.table_size {
            let mut insert = std::mem::take(&mut self.insert);
            next = write_insert(&rows, table, next..=self.home.dataset.table_size, &mut insert);
            let sent = self.run(table, "filling", &insert).await;
            self.insert = insert;
            self.rows_done.fetch_add(sent?, Ordering::Relaxed);
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
    async fn run(&mut self, table: &str, doing: &str, sql: &str) -> Result<u64, LoadError> {
        let stop = self.stop;
        let stopped = async {
            while !stop() {
                tokio::time::sleep(STOP_CHECK).await;
            }
        };
        let done = tokio::select! {
            biased;
            () = stopped => return Err(LoadError::Interrupted),
            done = self.admin.execute(sql) => done,
        };
        done.map_err(|error| self.failed(table, doing, error))
    }

    fn failed(&self, table: &str, doing: &str, error: DriverError) -> LoadError {
        self.home.failed(&format!("{doing} {table}"), error)
    }
}

/// Writes the INSERT of the rows from the start of `ids` on, until it is full; returns the id
/// that comes next.
fn write_insert(
    rows: &Rows,
    table: &str,
    ids: std::ops::RangeInclusive<u64>,
    insert: &mut String,
) -> u64 {
    let end = *ids.end();
    insert.clear();
    insert.push_str("INSERT INTO ");
    insert.push_str(table);
    insert.push_str(" (id, k, c, pad) VALUES ");
    let head = insert.len();
    for id in ids {
        if insert.len() >= INSERT_BYTES {
            return id;
        }
        if insert.len() > head {
            insert.push(',');
        }
        rows.write_values(id, insert);
    }
    end + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Dataset;

    #[test]
    fn inserts_list_every_row_once_and_end_at_their_size() {
        let dataset = Dataset { tables: 1, table_size: 6_000, charset: "utf8mb4".into(), seed: 1 };
        let rows = Rows::new(&dataset, 1);
        let mut insert = String::new();
        let mut starts = vec![1];
        let mut listed = 0;
        while let Some(next) = starts.last().copied().filter(|next| *next <= 6_000) {
            starts.push(write_insert(&rows, "sbtest1", next..=6_000, &mut insert));
            let head = format!("INSERT INTO sbtest1 (id, k, c, pad) VALUES ({next},");
            assert!(insert.starts_with(&head), "{}", &insert[..80]);
            assert!(insert.ends_with("')") && insert.len() < INSERT_BYTES + ROW_BYTES_MAX);
            listed += insert.matches("'),(").count() + 1;
        }
        assert_eq!(listed, 6_000);
        assert!(starts.len() == 4, "{starts:?}");
        assert_eq!(starts.last(), Some(&6_001));
    }
}
