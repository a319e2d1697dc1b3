//! One connection that does the steps of loading, and what becomes of a step that fails.
//!
//! Must not know: which step is next, or threads.
//!
//! A chunk and its mark are one transaction: whoever is killed at whatever moment, either both
//! are there or neither is. So a step can always be done again.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::driver::DriverError;
use crate::driver::adapter::{Admin, Prepared};
use crate::model::{Checksum, TableCheck};
use crate::workload::rows::Rows;
use crate::workload::schema as names;

use super::LoadError;
use super::batch::{self, Chunk, Inserts, Sent};
use super::board::{Done, Step};
use super::schema::{Home, STATE_TABLE};
use super::session;
use super::state::{chunk_item, complete_state};
use super::verify;

/// How often a statement that is under way looks whether it should stop.
const STOP_CHECK: Duration = Duration::from_millis(50);
/// How often a step is tried in all: with the pauses below, for most of a minute, which is what a
/// server takes to come back after a crash.
const TRIES: u32 = 14;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What all loaders of a dataset share.
pub(super) struct Shared<'a> {
    pub(super) home: &'a Home,
    /// Whether loading should come to an end.
    pub(super) stop: &'a (dyn Fn() -> bool + Sync),
    /// Whether rows travel as files.
    pub(super) takes_files: &'a AtomicBool,
    /// Whether the binary log is off in these sessions, where that may be.
    pub(super) may_skip_log: bool,
    pub(super) rows_done: &'a AtomicU64,
    pub(super) bytes_done: &'a AtomicU64,
}

/// One connection that does steps, one after the other.
pub(super) struct Loader<'a> {
    pub(super) admin: Admin,
    shared: &'a Shared<'a>,
    /// Where a step that is tried again is told.
    retried: &'a dyn Fn(String),
    /// The largest statement that the server takes.
    packet_max: usize,
    /// The INSERT that stands prepared, and its table.
    prepared: Option<(u32, Prepared)>,
}

impl<'a> Loader<'a> {
    /// Connects and prepares the session for loading.
    pub(super) async fn connect(
        shared: &'a Shared<'a>,
        retried: &'a dyn Fn(String),
    ) -> Result<Self, LoadError> {
        let (admin, packet_max) = open(shared, 0, retried).await?;
        Ok(Self { admin, shared, retried, packet_max, prepared: None })
    }

    /// Does a step, again and again where it fails for a reason that passes.
    pub(super) async fn run(&mut self, step: &Step) -> Result<Done, LoadError> {
        let mut tried = 0;
        loop {
            match self.attempt(step, tried > 0).await {
                Err(error) if error.is_files_refused() && self.uses_files() => {
                    self.shared.takes_files.store(false, Ordering::Relaxed);
                    self.roll_back().await;
                }
                Err(error) if error.is_transient() && tried + 1 < TRIES => {
                    (self.retried)(error.to_string());
                    pause(self.shared.stop, tried).await?;
                    tried += 1;
                    if error.is_lost() {
                        self.reconnect(tried).await?;
                    } else {
                        self.roll_back().await;
                    }
                }
                done => return done,
            }
        }
    }

    async fn attempt(&mut self, step: &Step, is_repeated: bool) -> Result<Done, LoadError> {
        match *step {
            Step::Create { table } => self.create(table).await,
            Step::Fill { table, chunk } => {
                // It may be the answer to COMMIT that was lost.
                let known = match is_repeated {
                    true => self.done_before(table, chunk).await?,
                    false => None,
                };
                match known {
                    Some(done) => Ok(done),
                    None => self.fill(table, chunk).await,
                }
            }
            Step::Index { table } => self.index(table).await,
            Step::Check { table, chunk, expected } => self.check(table, chunk, expected).await,
            Step::Close { check } => self.close(&check).await,
        }
    }

    async fn create(&mut self, number: u32) -> Result<Done, LoadError> {
        let table = names::table(number);
        self.execute(number, "replacing", &format!("DROP TABLE IF EXISTS {table}")).await?;
        self.execute(number, "creating", &names::create_table(number)).await?;
        Ok(Done::Plain)
    }

    /// Sends a chunk and its mark, unless a transaction of ours that was given up for lost has come
    /// to its end after all.
    async fn fill(&mut self, number: u32, chunk: Chunk) -> Result<Done, LoadError> {
        match self.send(number, chunk).await {
            Err(error) if error.is_about_duplicates() => {
                self.roll_back().await;
                self.done_before(number, chunk).await?.ok_or(error)
            }
            done => done,
        }
    }

    /// Sends a chunk and its mark as one transaction.
    async fn send(&mut self, number: u32, chunk: Chunk) -> Result<Done, LoadError> {
        self.execute(number, "filling", "START TRANSACTION").await?;
        let (taken, sent) = match self.uses_files() {
            true => self.send_file(number, chunk).await?,
            false => self.send_inserts(number, chunk).await?,
        };
        if taken != chunk.rows() {
            let found = Checksum { rows: taken, ..Checksum::default() };
            return Err(self.content(number, chunk, (found, sent.checksum)));
        }
        let mark = format!(
            "INSERT INTO {STATE_TABLE} (item, state) VALUES ('{}', '{}')",
            chunk_item(number, chunk),
            sent.checksum
        );
        self.execute(number, "marking a chunk of", &mark).await?;
        self.execute(number, "committing", "COMMIT").await?;
        self.shared.rows_done.fetch_add(chunk.rows(), Ordering::Relaxed);
        self.shared.bytes_done.fetch_add(sent.bytes, Ordering::Relaxed);
        Ok(Done::Filled(sent.checksum))
    }

    async fn send_file(&mut self, number: u32, chunk: Chunk) -> Result<(u64, Sent), LoadError> {
        let rows = Rows::new(&self.shared.home.dataset, number);
        let (sql, lines, sent) = batch::file(&rows, &names::table(number), chunk);
        let taken = until(self.shared.stop, self.admin.load_data(&sql, lines)).await?;
        let taken = taken.map_err(|error| self.failed(number, "filling", error))?;
        let sent = *sent.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((taken, sent))
    }

    /// Sends a chunk by INSERTs: prepared ones, which cost the server as little as a file, and the
    /// rest as text.
    async fn send_inserts(&mut self, number: u32, chunk: Chunk) -> Result<(u64, Sent), LoadError> {
        let (rows, table) = (Rows::new(&self.shared.home.dataset, number), names::table(number));
        let mut inserts = Inserts::new(&rows, &table, chunk, self.packet_max);
        let (mut text, mut params, mut taken) = (String::new(), Vec::new(), 0);
        self.prepare(number).await?;
        while let Some((_, prepared)) = &self.prepared {
            if !inserts.next_params(&mut text, &mut params) {
                break;
            }
            let sent = self.admin.execute_prepared(prepared, &text, &params);
            let sent = until(self.shared.stop, sent).await?;
            taken += sent.map_err(|error| self.failed(number, "filling", error))?;
        }
        while inserts.write_next(&mut text) {
            taken += self.execute(number, "filling", &text).await?;
        }
        Ok((taken, inserts.sent))
    }

    /// Prepares the INSERT of a table, if the server has room for it; otherwise all goes as text.
    async fn prepare(&mut self, number: u32) -> Result<(), LoadError> {
        if self.prepared.as_ref().is_some_and(|(table, _)| *table == number) {
            return Ok(());
        }
        if let Some((_, prepared)) = self.prepared.take() {
            let closed = self.admin.close_prepared(prepared).await;
            closed.map_err(|error| self.failed(number, "filling", error))?;
        }
        let sql = batch::prepared_insert(&names::table(number));
        match until(self.shared.stop, self.admin.prepare(&sql)).await? {
            Ok(prepared) => self.prepared = Some((number, prepared)),
            Err(DriverError::Server { .. }) => {}
            Err(error) => return Err(self.failed(number, "filling", error)),
        }
        Ok(())
    }

    /// Whether a chunk is in, without being sent now.
    async fn done_before(&mut self, number: u32, chunk: Chunk) -> Result<Option<Done>, LoadError> {
        let checksum = self.mark_of(number, chunk).await?;
        if checksum.is_some() {
            self.shared.rows_done.fetch_add(chunk.rows(), Ordering::Relaxed);
        }
        Ok(checksum.map(Done::Filled))
    }

    /// What was sent of a chunk, if it is in.
    async fn mark_of(&mut self, number: u32, chunk: Chunk) -> Result<Option<Checksum>, LoadError> {
        let item = chunk_item(number, chunk);
        let sql = format!("SELECT state FROM {STATE_TABLE} WHERE item = '{item}'");
        let state = until(self.shared.stop, self.admin.scalar(&sql)).await?;
        let state = state.map_err(|error| self.failed(number, "looking at", error))?;
        Ok(state.and_then(|state| Checksum::parse(&state)))
    }

    async fn index(&mut self, number: u32) -> Result<Done, LoadError> {
        match self.execute(number, "indexing", &names::create_index(number)).await {
            // A run that was killed, or lost its connection, had come that far.
            Err(error) if error.is_duplicate_index() => Ok(Done::Plain),
            done => done.map(|_| Done::Plain),
        }
    }

    /// Compares what was sent of a chunk with what the server finds.
    async fn check(
        &mut self,
        number: u32,
        chunk: Chunk,
        expected: Checksum,
    ) -> Result<Done, LoadError> {
        let mut found = self.find(number, chunk).await?;
        let is_gone = found.2.rows == 0 && expected.rows > 0;
        if is_gone && self.mark_of(number, chunk).await?.is_none() {
            // A server that does not flush each commit has ended and forgotten this one.
            self.shared.rows_done.fetch_sub(chunk.rows(), Ordering::Relaxed);
            self.fill(number, chunk).await?;
            found = self.find(number, chunk).await?;
        }
        let (first_id, last_id, found) = found;
        if found == expected {
            return Ok(Done::Checked { first_id, last_id });
        }
        // The next run must not go on from what is wrong.
        self.shared.home.forget(&mut self.admin, &[number]).await?;
        Err(self.content(number, chunk, (found, expected)))
    }

    async fn find(&mut self, number: u32, chunk: Chunk) -> Result<(u64, u64, Checksum), LoadError> {
        let dataset = &self.shared.home.dataset;
        let found = verify::chunk_found(&mut self.admin, dataset, number, chunk);
        let found = until(self.shared.stop, found).await?;
        found.map_err(|error| self.failed(number, "checking", error))
    }

    async fn close(&mut self, check: &TableCheck) -> Result<Done, LoadError> {
        let (number, table) = (check.number, names::table(check.number));
        self.execute(number, "analysing", &format!("ANALYZE TABLE {table}")).await?;
        let state = complete_state(check);
        let mark =
            format!("REPLACE INTO {STATE_TABLE} (item, state) VALUES ('{table}', '{state}')");
        self.execute(number, "marking", &mark).await?;
        Ok(Done::Plain)
    }

    async fn reconnect(&mut self, tried: u32) -> Result<(), LoadError> {
        (self.admin, self.packet_max) = open(self.shared, tried, self.retried).await?;
        self.prepared = None;
        // It may have been forgotten with all else of the last second.
        self.shared.home.write_identity(&mut self.admin, &[]).await
    }

    fn uses_files(&self) -> bool {
        self.shared.takes_files.load(Ordering::Relaxed)
    }

    /// Ends a transaction that did not come to its end. Where that fails, the connection is lost,
    /// and with it the transaction.
    async fn roll_back(&mut self) {
        let _ = until(self.shared.stop, self.admin.execute("ROLLBACK")).await;
    }

    /// Runs a statement, unless or until loading should stop; returns the rows that it changed.
    async fn execute(&mut self, number: u32, doing: &str, sql: &str) -> Result<u64, LoadError> {
        let done = until(self.shared.stop, self.admin.execute(sql)).await?;
        done.map_err(|error| self.failed(number, doing, error))
    }

    fn content(
        &self,
        number: u32,
        chunk: Chunk,
        (found, expected): (Checksum, Checksum),
    ) -> LoadError {
        let (database, table) = (self.shared.home.database.clone(), names::table(number));
        LoadError::Content { database, table, first: chunk.first, found, expected }
    }

    fn failed(&self, number: u32, doing: &str, error: DriverError) -> LoadError {
        self.shared.home.failed(&format!("{doing} {}", names::table(number)), error)
    }
}

/// A session with the largest statement that its server takes; tried again where it fails for a
/// reason that passes, of which `tried` tries are spent.
async fn open(
    shared: &Shared<'_>,
    mut tried: u32,
    retried: &dyn Fn(String),
) -> Result<(Admin, usize), LoadError> {
    loop {
        match session::open(shared.home, shared.may_skip_log).await {
            Err(error) if error.is_transient() && tried + 1 < TRIES => {
                retried(error.to_string());
                pause(shared.stop, tried).await?;
                tried += 1;
            }
            done => return done,
        }
    }
}

/// Waits before another try, longer each time, unless or until loading should stop.
async fn pause(stop: &(dyn Fn() -> bool + Sync), tried: u32) -> Result<(), LoadError> {
    let pause = FIRST_PAUSE.saturating_mul(1 << tried.min(16)).min(LONGEST_PAUSE);
    until(stop, tokio::time::sleep(pause)).await
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
