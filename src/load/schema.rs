//! The dataset's schema: whose it is, and which of its tables are complete.
//!
//! Must not know: rows.

use std::collections::BTreeSet;

use crate::driver::DriverError;
use crate::driver::adapter::Admin;
use crate::model::{Dataset, Endpoint};
use crate::workload::schema as names;

use super::LoadError;

/// The table that says whose the schema is and what is complete. It is the one table beside
/// `sbtest1..` in a dataset's schema.
pub const STATE_TABLE: &str = "gridbench_dataset";

const FINGERPRINT: &str = "fingerprint";
const LOADING: &str = "loading";
const COMPLETE: &str = "complete";

/// Tables that one statement marks.
const MARKS_MAX: usize = 1_000;
/// A connection that has just ended keeps its lock until the server has noticed.
const LOCK_WAIT_SECS: u32 = 3;

/// A dataset and the place where it lives.
#[derive(Debug, Clone)]
pub(super) struct Home {
    pub(super) dataset: Dataset,
    pub(super) database: String,
    /// Its endpoint, with the schema as database.
    pub(super) endpoint: Endpoint,
    fingerprint: String,
}

/// What was found in the schema.
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// Numbers of the tables that the state table calls complete.
    pub(super) complete: BTreeSet<u32>,
    /// Names of the tables that are there.
    pub(super) tables: BTreeSet<String>,
}

impl Home {
    pub(super) fn new(endpoint: &Endpoint, dataset: &Dataset) -> Self {
        let named = endpoint.database.clone();
        let database = named.unwrap_or_else(|| names::database(dataset));
        let endpoint = Endpoint { database: Some(database.clone()), ..endpoint.clone() };
        let fingerprint = names::fingerprint(dataset);
        Self { dataset: dataset.clone(), database, endpoint, fingerprint }
    }

    /// Connects, makes sure that nobody else loads, and that the schema is there and ours.
    pub(super) async fn open(&self) -> Result<(Admin, Standing), LoadError> {
        let charset = &self.dataset.charset;
        let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if charset.is_empty() || !charset.bytes().all(known) {
            return Err(LoadError::Charset { charset: charset.clone() });
        }
        let endpoint = Endpoint { database: None, ..self.endpoint.clone() };
        let mut admin =
            Admin::connect(&endpoint).await.map_err(|e| self.failed("connecting", e))?;
        self.lock(&mut admin).await?;
        self.create_schema(&mut admin).await.map_err(|e| self.failed("creating its schema", e))?;
        let use_schema = format!("USE `{}`", self.database);
        self.run(&mut admin, &use_schema, "opening its schema").await?;
        let standing = self.standing(&mut admin).await?;
        Ok((admin, standing))
    }

    /// An advisory lock, held until the connection ends; however long that is.
    async fn lock(&self, admin: &mut Admin) -> Result<(), LoadError> {
        self.run(admin, "SET SESSION wait_timeout = 2147483", "setting wait_timeout").await?;
        let sql = format!("SELECT GET_LOCK('gridbench:{}', {LOCK_WAIT_SECS})", self.database);
        let got = admin.scalar(&sql).await.map_err(|e| self.failed("taking its lock", e))?;
        if got.as_deref() == Some("1") {
            return Ok(());
        }
        Err(LoadError::Busy { database: self.database.clone(), address: admin.address() })
    }

    /// Gives the lock back; where that fails, the end of the connection does it.
    pub(super) async fn unlock(&self, admin: &mut Admin) {
        let _ = admin.scalar(&format!("SELECT RELEASE_LOCK('gridbench:{}')", self.database)).await;
    }

    /// Creates the schema, or gives an empty one the dataset's character set.
    async fn create_schema(&self, admin: &mut Admin) -> Result<(), DriverError> {
        let Self { database, dataset: Dataset { charset, .. }, .. } = self;
        let sql = format!(
            "SELECT default_character_set_name FROM information_schema.schemata \
             WHERE schema_name = '{database}'"
        );
        match admin.scalar(&sql).await? {
            None => {
                let sql = format!("CREATE DATABASE `{database}` CHARACTER SET {charset}");
                admin.execute(&sql).await?;
            }
            Some(found) if found != *charset && self.tables(admin).await?.is_empty() => {
                let sql = format!("ALTER DATABASE `{database}` CHARACTER SET {charset}");
                admin.execute(&sql).await?;
            }
            Some(_) => {}
        }
        Ok(())
    }

    async fn tables(&self, admin: &mut Admin) -> Result<Vec<String>, DriverError> {
        let rows = admin.rows(&format!("SHOW TABLES FROM `{}`", self.database)).await?;
        Ok(rows.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect())
    }

    /// Reads the state table, or makes it in an empty schema; refuses any other schema.
    async fn standing(&self, admin: &mut Admin) -> Result<Standing, LoadError> {
        let failed = |e| self.failed("reading its state", e);
        let mut tables = BTreeSet::from_iter(self.tables(admin).await.map_err(failed)?);
        if !tables.remove(STATE_TABLE) {
            if let Some(name) = tables.first() {
                let found = format!("it holds `{name}`, which gridbench did not make");
                return Err(self.foreign(admin, found));
            }
            let sql = format!(
                "CREATE TABLE {STATE_TABLE} (item VARCHAR(64) NOT NULL PRIMARY KEY, \
                 state VARCHAR(255) NOT NULL) /*! ENGINE = innodb */"
            );
            self.run(admin, &sql, "creating its state table").await?;
        }
        let rows = admin.rows(&format!("SELECT item, state FROM {STATE_TABLE}")).await;
        let rows = rows.map_err(failed)?;
        self.standing_of(admin, &rows, tables).await
    }

    /// What the rows of the state table mean.
    async fn standing_of(
        &self,
        admin: &mut Admin,
        rows: &[Vec<Option<String>>],
        tables: BTreeSet<String>,
    ) -> Result<Standing, LoadError> {
        let mut standing = Standing { complete: BTreeSet::new(), tables };
        let mut fingerprint = None;
        for row in rows {
            let [Some(item), Some(state)] = row.as_slice() else { continue };
            if item == FINGERPRINT {
                fingerprint = Some(state.as_str());
            } else if state == COMPLETE {
                let number = item.strip_prefix("sbtest").map(str::parse::<u32>);
                standing.complete.extend(number.into_iter().flatten());
            }
        }
        match fingerprint {
            Some(found) if found == self.fingerprint => Ok(standing),
            // Made by a run that was killed before its first word.
            None if standing.tables.is_empty() && rows.is_empty() => {
                self.mark(admin, FINGERPRINT, &self.fingerprint).await?;
                Ok(standing)
            }
            _ => {
                let found = "it holds a dataset with another fingerprint (another seed, \
                             character set or version of gridbench)";
                Err(self.foreign(admin, found.to_owned()))
            }
        }
    }

    /// Notes that these tables are about to be made anew.
    pub(super) async fn mark_loading(
        &self,
        admin: &mut Admin,
        tables: &[u32],
    ) -> Result<(), LoadError> {
        let row = |table: &u32| format!("('{}', '{LOADING}')", names::table(*table));
        for tables in tables.chunks(MARKS_MAX) {
            let rows: Vec<String> = tables.iter().map(row).collect();
            let sql = format!("REPLACE INTO {STATE_TABLE} (item, state) VALUES {}", rows.join(","));
            self.run(admin, &sql, "writing its state").await?;
        }
        Ok(())
    }

    /// Notes that a table is complete.
    pub(super) async fn mark_complete(
        &self,
        admin: &mut Admin,
        table: &str,
    ) -> Result<(), LoadError> {
        self.mark(admin, table, COMPLETE).await
    }

    async fn mark(&self, admin: &mut Admin, item: &str, state: &str) -> Result<(), LoadError> {
        let sql = format!("REPLACE INTO {STATE_TABLE} (item, state) VALUES ('{item}', '{state}')");
        self.run(admin, &sql, "writing its state").await
    }

    async fn run(&self, admin: &mut Admin, sql: &str, doing: &str) -> Result<(), LoadError> {
        admin.execute(sql).await.map(drop).map_err(|error| self.failed(doing, error))
    }

    fn foreign(&self, admin: &Admin, found: String) -> LoadError {
        LoadError::Foreign { database: self.database.clone(), address: admin.address(), found }
    }

    /// An error while doing something to the dataset.
    pub(super) fn failed(&self, doing: &str, error: DriverError) -> LoadError {
        let doing = format!("loading dataset `{}`, {doing}", self.database);
        LoadError::new(doing, &self.database, error)
    }
}
