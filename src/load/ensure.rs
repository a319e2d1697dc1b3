//! From whatever is in a schema to a dataset that stands complete.
//!
//! Must not know: how a step of loading is done.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tokio::runtime::Runtime;

use crate::driver::adapter::Admin;
use crate::model::{Bytes, Dataset, Endpoint, Interrupt, ROW_BYTES, TableCheck, counted};

use super::batch::Chunk;
use super::board::{Board, Unfinished};
use super::crew::{self, Crew};
use super::schema::Home;
use super::session::{self, LoadRoute};
use super::state::Standing;
use super::verify::{self, Unsound};
use super::{LoadError, LoadEvent, LoadOptions, LoadOutcome, LoadProgress, LoadReport, LoadStage};

/// How often a server may forget what it has committed.
const ROUNDS: u32 = 3;

/// Sees to it that the dataset stands complete on the server; blocks until it does.
///
/// The schema is the endpoint's `database`; without one, a schema of the dataset's own. A
/// schema that holds anything else is an error and stays as it is, unless `replace` says
/// otherwise. Tables whose row count or range of ids is no longer the dataset's are made anew where
/// somebody noted that he writes to it (`oltp_insert`, `oltp_delete`), and are told of; where
/// nobody did, the schema holds something else. Values that updates have changed are not looked
/// at, as sysbench does not either, but [`LoadReport::changed_by`] tells of them.
///
/// # Errors
/// See [`LoadError`]. After each of them a further call goes on where this one ended.
pub fn ensure(
    endpoint: &Endpoint,
    dataset: &Dataset,
    options: &LoadOptions,
    interrupt: &Interrupt,
    observe: &mut dyn FnMut(LoadEvent<'_>),
) -> Result<LoadReport, LoadError> {
    let home = Home::new(endpoint, dataset, "loading");
    let runtime = crew::runtime()?;
    Load { home, options, interrupt, runtime }.run(observe)
}

struct Load<'a> {
    home: Home,
    options: &'a LoadOptions,
    interrupt: &'a Interrupt,
    runtime: Runtime,
}

/// What is there, and what is not.
struct Found {
    admin: Admin,
    standing: Standing,
    unfinished: Vec<Unfinished>,
}

/// How the rows that were missing were sent.
struct Made {
    route: LoadRoute,
    bytes_sent: u64,
}

impl Load<'_> {
    fn run(&self, observe: &mut dyn FnMut(LoadEvent<'_>)) -> Result<LoadReport, LoadError> {
        let started = Instant::now();
        let rows_total = self.home.dataset.rows();
        let mut progress = LoadProgress {
            rows_done: 0,
            rows_found: 0,
            rows_total,
            bytes_sent: 0,
            stage: LoadStage::Verify,
        };
        observe(LoadEvent::Progress(progress));
        let mut found = self.runtime.block_on(self.find(observe))?;
        let rows = self.rows_missing(&found.unfinished);
        let outcome = match u32::try_from(found.unfinished.len()).unwrap_or(u32::MAX) {
            0 => LoadOutcome::Reused,
            _ if rows == rows_total => LoadOutcome::Loaded { rows },
            tables => LoadOutcome::Completed { tables, rows },
        };
        progress.rows_found = rows_total.saturating_sub(rows);
        progress.rows_done = progress.rows_found;
        let (mut route, mut bytes_sent) = (None, 0);
        for _ in 0..ROUNDS {
            if !found.unfinished.is_empty() {
                let made = self.make(&mut found, progress, observe)?;
                route = Some(made.route);
                bytes_sent += made.bytes_sent;
            }
            let changed_by = found.standing.changed_by;
            let (tables, dataset_bytes) = self.runtime.block_on(self.finish(found.admin))?;
            if tables.len() as u64 == u64::from(self.home.dataset.tables) {
                let (database, elapsed) = (self.home.database.clone(), started.elapsed());
                return Ok(LoadReport {
                    database,
                    outcome,
                    route,
                    bytes_sent,
                    changed_by,
                    is_counted: verify::is_counted(&self.home.dataset),
                    tables,
                    dataset_bytes,
                    elapsed,
                });
            }
            // The server has ended meanwhile, and has forgotten what it had said was done.
            found = self.runtime.block_on(self.find(observe))?;
        }
        Err(LoadError::Forgetful { database: self.home.database.clone() })
    }

    /// Opens the schema and tells the tables that have to be made, or completed, from the others.
    async fn find(&self, observe: &mut dyn FnMut(LoadEvent<'_>)) -> Result<Found, LoadError> {
        let home = &self.home;
        let (mut admin, mut standing) = home.open(self.options.replace, observe).await?;
        if self.options.refresh && standing.changed_by.is_some() {
            home.forget_all(&mut admin).await?;
            standing = home.standing(&mut admin).await?.unwrap_or_default();
        }
        let beside = home.beside(&mut admin).await?;
        if !beside.is_empty() {
            observe(LoadEvent::Beside { database: &home.database, names: &beside });
        }
        let verified = verify::verify(&mut admin, home, &standing, self.interrupt).await?;
        self.tell(&verified.unsound, &standing, &admin, observe)?;
        let sound = verified.sound;
        let unfinished = |number: u32| {
            // Chunks of a table that was complete tell nothing: other rows have come or gone.
            let was_complete = standing.complete.contains_key(&number);
            let chunks_in = standing.chunks_in(number, home.dataset.table_size);
            Unfinished { number, chunks_in: chunks_in.filter(|_| !was_complete) }
        };
        let missing = (1..=home.dataset.tables).filter(|number| !sound.contains(number));
        let unfinished: Vec<Unfinished> = missing.map(unfinished).collect();
        let anew = unfinished.iter().filter(|table| table.chunks_in.is_none());
        let is_known = |number: &u32| {
            standing.complete.contains_key(number) || standing.chunks.contains_key(number)
        };
        let anew: Vec<u32> = anew.map(|table| table.number).filter(is_known).collect();
        match anew.len() as u64 == u64::from(home.dataset.tables) {
            // Then nothing is left of what anybody has changed.
            true => {
                home.forget_all(&mut admin).await?;
                standing.changed_by = None;
            }
            false => home.forget(&mut admin, &anew).await?,
        }
        Ok(Found { admin, standing, unfinished })
    }

    /// Tells what is made anew, or refuses where nobody noted that he would change it.
    fn tell(
        &self,
        unsound: &[Unsound],
        standing: &Standing,
        admin: &Admin,
        observe: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Result<(), LoadError> {
        let may_change = standing.changed_by.is_some() || self.options.replace;
        let surprising: Vec<&Unsound> = unsound.iter().filter(|table| table.is_there).collect();
        if let (false, Some(first)) = (may_change, surprising.first()) {
            let others = match surprising.len() - 1 {
                0 => String::new(),
                others => format!(" (and {} like it)", counted(others, "table")),
            };
            let words = &first.words;
            return Err(LoadError::Foreign {
                database: self.home.database.clone(),
                address: admin.address(),
                found: format!(
                    "it is not the dataset that was loaded any more: {words}{others}, and no run \
                     noted that it writes to it"
                ),
            });
        }
        for Unsound { words, .. } in unsound {
            observe(LoadEvent::Unsound { found: words });
        }
        Ok(())
    }

    /// Rows that have to be sent.
    fn rows_missing(&self, unfinished: &[Unfinished]) -> u64 {
        let missing = |table: &Unfinished| {
            let chunks = table.chunks_in.iter().flatten();
            let rows_in: u64 = chunks.map(|(_, checksum)| checksum.rows).sum();
            self.home.dataset.table_size.saturating_sub(rows_in)
        };
        unfinished.iter().map(missing).sum()
    }

    fn make(
        &self,
        found: &mut Found,
        progress: LoadProgress,
        observe: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Result<Made, LoadError> {
        self.check_room(found)?;
        let unfinished = std::mem::take(&mut found.unfinished);
        let loaders = self.loaders(unfinished.len());
        let (route, may_skip_log) = self.runtime.block_on(async {
            let is_shared = self.shares_tables(unfinished.len());
            let route = match self.options.route {
                Some(route) => route,
                None => LoadRoute::choose(&mut found.admin, is_shared).await,
            };
            (route, session::may_skip_log(&mut found.admin).await)
        });
        let takes_files = AtomicBool::new(route == LoadRoute::Files);
        let board = Board::new(unfinished, self.home.dataset.table_size);
        let (home, interrupt) = (&self.home, self.interrupt);
        let crew = Crew {
            home,
            board: &board,
            interrupt,
            loaders,
            takes_files: &takes_files,
            may_skip_log,
        };
        let progress = crew.load(progress, observe)?;
        let is_refused = route == LoadRoute::Files && !takes_files.into_inner();
        let route = if is_refused { LoadRoute::InsertsAsFilesAreRefused } else { route };
        Ok(Made { route, bytes_sent: progress.bytes_sent })
    }

    /// No more than there is work for at a time.
    fn loaders(&self, tables: usize) -> u32 {
        let chunks = Chunk::all(self.home.dataset.table_size).count().saturating_mul(tables);
        self.options.loaders.clamp(1, u32::try_from(chunks).unwrap_or(u32::MAX).max(1))
    }

    /// Whether more loaders could be at work than there are tables. A prepared INSERT costs a
    /// server as much as a file, so then it is faster to let several into a table.
    fn shares_tables(&self, tables: usize) -> bool {
        let loaders = self.loaders(tables);
        let at_once = self.options.server_cpus.map_or(loaders, |cpus| cpus.min(loaders));
        let tables = u32::try_from(tables).unwrap_or(u32::MAX);
        tables < at_once
    }

    /// Whether what is missing fits on the server's disk. Tables that are made anew free as much as
    /// they take.
    fn check_room(&self, found: &Found) -> Result<(), LoadError> {
        let Some(free) = self.options.disk_free else { return Ok(()) };
        let (mut absent, mut begun) = (Vec::new(), Vec::new());
        for table in &found.unfinished {
            match (&table.chunks_in, found.standing.has_table(table.number)) {
                (Some(_), _) => begun.push(table.clone()),
                (None, true) => {}
                (None, false) => absent.push(table.number),
            }
        }
        let tables = u32::try_from(absent.len()).unwrap_or(u32::MAX);
        let absent = Dataset { tables, ..self.home.dataset.clone() }.disk_bytes();
        let begun = self.rows_missing(&begun).saturating_mul(ROW_BYTES);
        let needed = Bytes(absent.0.saturating_add(begun));
        if free < needed { Err(LoadError::NoRoom { needed, free }) } else { Ok(()) }
    }

    /// What the server found in each table, and what all of them weigh.
    async fn finish(&self, admin: Admin) -> Result<(Vec<TableCheck>, Option<u64>), LoadError> {
        let home = &self.home;
        let mut admin = admin;
        // While tables were loaded this connection had nothing to do; the server may have been
        // started anew.
        if admin.scalar("SELECT 1").await.is_err() {
            admin = home.connect_locked().await?;
        }
        let standing = home.standing(&mut admin).await?.unwrap_or_default();
        let tables = standing.complete.range(1..=home.dataset.tables);
        let tables = tables.map(|(_, check)| *check).collect();
        let bytes = verify::dataset_bytes(&mut admin, home).await?;
        home.close(admin).await;
        Ok((tables, bytes))
    }
}
