//! The tables of a workload of one's own, made beside the dataset's: created, filled, counted.
//!
//! Must not know: workloads, or the dataset's own tables. A table of its own in the same schema
//! says which of them we made and which are complete; any other table is left alone.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::driver::DriverError;
use crate::driver::adapter::Admin;
use crate::model::{Endpoint, Interrupt, OwnTable};
use crate::workload::own_tables::{OwnTableRows, fingerprint, insert};

use super::verify::NO_SUCH_TABLE;
use super::{LoadError, crew};

/// The table that says which own tables we made.
pub const OWN_STATE_TABLE: &str = "gridbench_own_tables";

/// Text of one INSERT: small enough for every `max_allowed_packet`.
const INSERT_BYTES: usize = 256 << 10;
const LOCK_WAIT_SECS: u32 = 3;
const COMPLETE: &str = "complete";
const LOADING: &str = "loading";
/// Complete once, and written to since.
const CHANGED: &str = "changed";

/// The tables of a schema that runs made for workloads, and the table that says so, last. One
/// that somebody has made anew under such a name is not among them.
pub(super) async fn owned_names(
    admin: &mut Admin,
    database: &str,
) -> Result<Vec<String>, LoadError> {
    let sql = format!("SELECT name, definition FROM `{database}`.{OWN_STATE_TABLE} ORDER BY name");
    let rows = admin.rows(&sql).await.map_err(|e| failed(database, "reading its state", e))?;
    let mut names = Vec::new();
    for row in rows {
        let [Some(name), Some(made)] = &row[..] else { continue };
        let is_ours = made.is_empty()
            || match definition(admin, database, name).await {
                Ok(found) => found == *made,
                Err(DriverError::Server { code: NO_SUCH_TABLE, .. }) => false,
                Err(error) => return Err(failed(database, "reading a definition", error)),
            };
        names.extend(is_ours.then(|| name.clone()));
    }
    names.push(OWN_STATE_TABLE.to_owned());
    Ok(names)
}

/// The tables of a schema that are noted as made for workloads, and the table that says so; empty
/// where there is none.
pub(super) async fn made_names(
    admin: &mut Admin,
    database: &str,
) -> Result<Vec<String>, LoadError> {
    let rows = admin.rows(&format!("SELECT name FROM `{database}`.{OWN_STATE_TABLE}")).await;
    let rows = match rows {
        Err(DriverError::Server { code: NO_SUCH_TABLE, .. }) => return Ok(Vec::new()),
        rows => rows.map_err(|error| failed(database, "reading its state", error))?,
    };
    let names = rows.into_iter().filter_map(|row| row.into_iter().next().flatten());
    Ok(names.chain([OWN_STATE_TABLE.to_owned()]).collect())
}

async fn connect(endpoint: &Endpoint, database: &str) -> Result<Admin, LoadError> {
    let doing = || format!("loading own tables of `{database}`, connecting");
    let connected = Admin::connect(endpoint).await;
    connected.map_err(|error| LoadError::connecting(doing(), (endpoint, database), error))
}

/// How the server tells a table, without how far its numbers have come.
async fn definition(admin: &mut Admin, database: &str, name: &str) -> Result<String, DriverError> {
    let rows = admin.rows(&format!("SHOW CREATE TABLE `{database}`.`{name}`")).await?;
    let told = rows.into_iter().next().and_then(|row| row.into_iter().nth(1).flatten());
    Ok(without_counter(&told.unwrap_or_default()))
}

/// Own tables, and what their rows follow from.
#[derive(Debug, Clone, Copy)]
pub struct OwnTables<'a> {
    /// Each name once.
    pub tables: &'a [OwnTable],
    /// The dataset's seed.
    pub seed: u64,
    /// Rows in each table of the dataset, for tables that have as many.
    pub table_size: u64,
    /// Whether those that are marked as changed are made anew.
    pub anew: bool,
    /// Whether a table that is used again is read once, so that the server has it in its cache.
    pub into_cache: bool,
}

/// Own tables that stand complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnTablesReport {
    /// Tables that were complete.
    pub reused: usize,
    /// Of these the ones that are marked as changed, and are used as they are.
    pub changed: Vec<String>,
    /// Tables that were made.
    pub made: usize,
    /// Rows in those.
    pub rows: u64,
    /// Wall-clock time of it all.
    pub elapsed: Duration,
}

/// Sees to it that the tables stand complete in the endpoint's schema, which must be there. A
/// table of ours that is not complete, has another definition or another number of rows is made
/// anew; values that a workload has changed are not looked at.
///
/// `observe` is told the table under way, its rows so far, and all its rows.
///
/// # Errors
/// See [`LoadError`]. After each of them a further call goes on from the tables that are complete.
pub fn ensure_own_tables(
    endpoint: &Endpoint,
    own: &OwnTables<'_>,
    interrupt: &Interrupt,
    observe: &mut dyn FnMut(&str, u64, u64),
) -> Result<OwnTablesReport, LoadError> {
    let started = Instant::now();
    let database = endpoint.database.clone().unwrap_or_default();
    let runtime = crew::runtime()?;
    runtime.block_on(async {
        let admin = connect(endpoint, &database).await?;
        let mut work = Work { admin, database, own, interrupt };
        let mut report = OwnTablesReport {
            reused: 0,
            changed: Vec::new(),
            made: 0,
            rows: 0,
            elapsed: Duration::ZERO,
        };
        let standing = work.open().await?;
        for table in own.tables {
            let rows = table.row_count(own.table_size);
            if work.is_sound(table, &standing).await? {
                report.reused += 1;
                let made = standing.get(&table.name).filter(|made| made.state == CHANGED);
                report.changed.extend(made.map(|_| table.name.clone()));
                if own.into_cache {
                    let sql = format!("CHECKSUM TABLE `{}`", table.name);
                    work.run(&sql, &format!("reading {} into the cache", table.name)).await?;
                }
            } else {
                work.make(table, observe).await?;
                report.made += 1;
                report.rows += rows;
            }
        }
        work.admin.close().await;
        report.elapsed = started.elapsed();
        Ok(report)
    })
}

/// Notes that somebody is about to write to own tables in the endpoint's schema; blocks until that
/// is on disk.
///
/// # Errors
/// What the server said; the tables have to stand.
pub fn mark_own_changed(endpoint: &Endpoint, tables: &[String]) -> Result<(), LoadError> {
    let database = endpoint.database.clone().unwrap_or_default();
    let names: Vec<String> = tables.iter().map(|name| format!("'{name}'")).collect();
    let sql = format!(
        "UPDATE {OWN_STATE_TABLE} SET state = '{CHANGED}' WHERE state = '{COMPLETE}' AND name IN \
         ({})",
        names.join(", ")
    );
    crew::runtime()?.block_on(async {
        let mut admin = connect(endpoint, &database).await?;
        let noted = admin.execute(&sql).await;
        noted.map_err(|error| failed(&database, "noting that they are changed", error))?;
        admin.close().await;
        Ok(())
    })
}

/// The tables that we made, by name.
type Standing = BTreeMap<String, Made>;

/// A table that we made.
struct Made {
    fingerprint: String,
    /// As the server told it when it was created; empty where we were killed before it was noted.
    definition: String,
    state: String,
}

/// One connection at work in the schema.
struct Work<'a> {
    admin: Admin,
    database: String,
    own: &'a OwnTables<'a>,
    interrupt: &'a Interrupt,
}

impl Work<'_> {
    /// Makes sure that nobody else does the same, and reads what stands.
    async fn open(&mut self) -> Result<Standing, LoadError> {
        // The lock is held until the connection ends.
        self.run("SET SESSION wait_timeout = 2147483", "setting wait_timeout").await?;
        let name: String = format!("gridbench own:{}", self.database).chars().take(64).collect();
        let sql = format!("SELECT GET_LOCK('{}', {LOCK_WAIT_SECS})", name.replace('\'', "''"));
        if self.scalar(&sql, "taking its lock").await?.as_deref() != Some("1") {
            let (database, address) = (self.database.clone(), self.admin.address());
            return Err(LoadError::Busy { database, address });
        }
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS {OWN_STATE_TABLE} (name VARCHAR(64) NOT NULL PRIMARY KEY, \
             fingerprint CHAR(64) NOT NULL, definition LONGTEXT NOT NULL, \
             state VARCHAR(16) NOT NULL) /*! ENGINE = innodb */"
        );
        self.run(&sql, "creating its state table").await?;
        let sql = format!("SELECT name, fingerprint, definition, state FROM {OWN_STATE_TABLE}");
        let rows = self.admin.rows(&sql).await;
        let rows = rows.map_err(|error| failed(&self.database, "reading its state", error))?;
        let mut standing = Standing::new();
        for row in rows {
            if let [Some(name), Some(fingerprint), Some(definition), Some(state)] = &row[..] {
                let [fingerprint, definition, state] =
                    [fingerprint, definition, state].map(String::clone);
                standing.insert(name.clone(), Made { fingerprint, definition, state });
            }
        }
        Ok(standing)
    }

    /// Whether the table stands as it should. One that is there and not ours is an error.
    async fn is_sound(&mut self, table: &OwnTable, standing: &Standing) -> Result<bool, LoadError> {
        let name = &table.name;
        let sql = format!(
            "SELECT COUNT(*) FROM information_schema.tables \
             WHERE table_schema = DATABASE() AND table_name = '{name}'"
        );
        let is_there = self.number(&sql, &format!("looking for {name}")).await? > 0;
        let Some(made) = standing.get(name).filter(|_| is_there) else {
            return if is_there { Err(self.foreign(name)) } else { Ok(false) };
        };
        // Somebody may have dropped ours and made another one of that name.
        if !made.definition.is_empty() && made.definition != self.definition(name).await? {
            return Err(self.foreign(name));
        }
        let is_whole = made.state == COMPLETE || made.state == CHANGED && !self.own.anew;
        let is_same = is_whole && made.fingerprint == self.fingerprint(table);
        let rows = table.row_count(self.own.table_size);
        Ok(is_same && self.count(table).await? == rows)
    }

    fn foreign(&self, name: &str) -> LoadError {
        LoadError::Foreign {
            database: self.database.clone(),
            address: self.admin.address(),
            found: format!("it holds a table `{name}` that gridbench did not make"),
        }
    }

    async fn definition(&mut self, name: &str) -> Result<String, LoadError> {
        let told = definition(&mut self.admin, &self.database, name).await;
        told.map_err(|error| failed(&self.database, &format!("reading {name}'s definition"), error))
    }

    /// Makes a table, ours or new, from nothing.
    async fn make(
        &mut self,
        table: &OwnTable,
        observe: &mut dyn FnMut(&str, u64, u64),
    ) -> Result<(), LoadError> {
        let name = &table.name;
        self.mark(table, "", LOADING).await?;
        self.run(&format!("DROP TABLE IF EXISTS `{name}`"), &format!("dropping {name}")).await?;
        self.run(&table.ddl, &format!("running `{}`", table.ddl)).await?;
        let definition = self.definition(name).await?;
        self.mark(table, &definition, LOADING).await?;
        let rows = table.row_count(self.own.table_size);
        self.fill(table, rows, observe).await?;
        let found = self.count(table).await?;
        if found != rows {
            let (database, table) = (self.database.clone(), name.clone());
            return Err(LoadError::Count { database, table, found, expected: rows });
        }
        self.mark(table, &definition, COMPLETE).await
    }

    async fn fill(
        &mut self,
        table: &OwnTable,
        rows: u64,
        observe: &mut dyn FnMut(&str, u64, u64),
    ) -> Result<(), LoadError> {
        let (content, head) = (OwnTableRows::new(table, self.own.seed), insert(table));
        let doing = format!("filling {}", table.name);
        let mut sql = head.clone();
        for number in 1..=rows {
            if sql.len() > head.len() {
                sql.push(',');
            }
            content.write_values(number, &mut sql);
            if sql.len() < INSERT_BYTES && number < rows {
                continue;
            }
            if self.interrupt.is_requested() {
                return Err(LoadError::Interrupted);
            }
            self.run(&sql, &doing).await?;
            sql.truncate(head.len());
            observe(&table.name, number, rows);
        }
        Ok(())
    }

    async fn mark(
        &mut self,
        table: &OwnTable,
        definition: &str,
        state: &str,
    ) -> Result<(), LoadError> {
        let definition = definition.replace('\\', "\\\\").replace('\'', "''");
        let sql = format!(
            "REPLACE INTO {OWN_STATE_TABLE} (name, fingerprint, definition, state) \
             VALUES ('{}', '{}', '{definition}', '{state}')",
            table.name,
            self.fingerprint(table)
        );
        self.run(&sql, "writing its state").await
    }

    fn fingerprint(&self, table: &OwnTable) -> String {
        fingerprint(table, self.own.seed, self.own.table_size)
    }

    async fn count(&mut self, table: &OwnTable) -> Result<u64, LoadError> {
        let name = &table.name;
        self.number(&format!("SELECT COUNT(*) FROM `{name}`"), &format!("counting {name}")).await
    }

    async fn number(&mut self, sql: &str, doing: &str) -> Result<u64, LoadError> {
        let text = self.scalar(sql, doing).await?;
        Ok(text.and_then(|text| text.parse().ok()).unwrap_or(0))
    }

    async fn scalar(&mut self, sql: &str, doing: &str) -> Result<Option<String>, LoadError> {
        let answer = self.admin.scalar(sql).await;
        answer.map_err(|error| failed(&self.database, doing, error))
    }

    async fn run(&mut self, sql: &str, doing: &str) -> Result<(), LoadError> {
        let answer = self.admin.execute(sql).await;
        answer.map(drop).map_err(|error| failed(&self.database, doing, error))
    }
}

/// An error while doing something to the tables.
fn failed(database: &str, doing: &str, error: DriverError) -> LoadError {
    LoadError::new(format!("loading own tables of `{database}`, {doing}"), database, error)
}

/// Without `AUTO_INCREMENT=7`, which inserts move on.
fn without_counter(definition: &str) -> String {
    const COUNTER: &str = " AUTO_INCREMENT=";
    match definition.split_once(COUNTER) {
        None => definition.to_owned(),
        Some((before, after)) => {
            before.to_owned() + after.trim_start_matches(|c: char| c.is_ascii_digit())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_does_not_depend_on_the_rows() {
        let told = "CREATE TABLE `t` (\n  `id` int AUTO_INCREMENT\n) ENGINE=InnoDB";
        let grown = format!("{told} AUTO_INCREMENT=207 DEFAULT CHARSET=utf8mb4");
        assert_eq!(without_counter(&grown), format!("{told} DEFAULT CHARSET=utf8mb4"));
        assert_eq!(without_counter(told), told);
    }
}
