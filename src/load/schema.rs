//! The dataset's schema: whose it is, and the table in it that says what is in.
//!
//! Must not know: rows, or what the state means beyond its text.

use std::collections::BTreeSet;

use crate::driver::DriverError;
use crate::driver::adapter::Admin;
use crate::model::{Dataset, Endpoint};
use crate::workload::schema as names;

use super::own_tables::made_names;
use super::state::{CHANGED, CREATED, FINGERPRINT, SCHEMA, SHAPE, Standing};
use super::{LoadError, LoadEvent};

/// The table that says whose the schema is and what is complete. It is the one table beside
/// `sbtest1..` in a dataset's schema.
pub const STATE_TABLE: &str = "gridbench_dataset";

/// Tables that one statement forgets.
const FORGOTTEN_MAX: usize = 1_000;
/// A connection that has just ended keeps its lock until the server has noticed.
const LOCK_WAIT_SECS: u32 = 3;
/// What every server keeps for itself.
const OWN_SCHEMAS: [&str; 4] = ["mysql", "sys", "performance_schema", "information_schema"];
/// No server takes a longer name of a schema.
const NAME_CHARS: usize = 64;
/// MySQL takes no longer name of a lock.
const LOCK_NAME_CHARS: usize = 64;
/// No longer than the state table's column.
const STATE_CHARS: usize = 250;

/// A dataset and the place where it lives.
#[derive(Debug, Clone)]
pub(super) struct Home {
    pub(super) dataset: Dataset,
    pub(super) database: String,
    /// Its endpoint, with the schema as database.
    pub(super) endpoint: Endpoint,
    fingerprint: String,
    /// What is done to it, as errors name it.
    purpose: &'static str,
}

/// The schema that holds a dataset: the endpoint's, else one of the dataset's own.
pub fn schema_of(endpoint: &Endpoint, dataset: &Dataset) -> String {
    endpoint.database.clone().unwrap_or_else(|| names::database(dataset))
}

impl Home {
    /// `purpose`: what is done to the dataset, for example `loading`.
    pub(super) fn new(endpoint: &Endpoint, dataset: &Dataset, purpose: &'static str) -> Self {
        let database = schema_of(endpoint, dataset);
        let endpoint = Endpoint { database: Some(database.clone()), ..endpoint.clone() };
        let fingerprint = names::fingerprint(dataset);
        Self { dataset: dataset.clone(), database, endpoint, fingerprint, purpose }
    }

    /// Connects, makes sure that nobody else loads, and that the schema is there and ours. With
    /// `replace` a schema of anybody else becomes ours: its tables are named, then dropped.
    pub(super) async fn open(
        &self,
        replace: bool,
        observe: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Result<(Admin, Standing), LoadError> {
        let charset = &self.dataset.charset;
        let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if charset.is_empty() || !charset.bytes().all(known) {
            return Err(LoadError::Charset { charset: charset.clone() });
        }
        let mut admin = self.connect_locked().await?;
        let is_created = self.create_schema(&mut admin).await?;
        let mut standing = self.standing(&mut admin).await?;
        if let Some(found) = self.objection(standing.as_ref()) {
            if !replace {
                let (database, address) = (self.database.clone(), admin.address());
                return Err(LoadError::Foreign { database, address, found });
            }
            self.drop_all(&mut admin, observe).await?;
            let is_ours = standing.is_some_and(|standing| standing.is_created);
            self.create_state(&mut admin, is_ours).await?;
            standing = self.standing(&mut admin).await?;
        } else if standing.as_ref().is_none_or(|standing| standing.fingerprint.is_none()) {
            self.create_state(&mut admin, is_created).await?;
            standing = self.standing(&mut admin).await?;
        }
        Ok((admin, standing.unwrap_or_default()))
    }

    /// Whether a fingerprint is this dataset's.
    pub(super) fn is_fingerprint(&self, found: &str) -> bool {
        found == self.fingerprint
    }

    /// Connects without choosing the schema, which need not be there, and takes its lock.
    pub(super) async fn connect_locked(&self) -> Result<Admin, LoadError> {
        if !may_hold_a_dataset(&self.database) {
            return Err(LoadError::NoSchema { database: self.database.clone() });
        }
        let endpoint = Endpoint { database: None, ..self.endpoint.clone() };
        let mut admin = self.connect(&endpoint).await?;
        // An advisory lock, held until the connection ends; however long that is.
        self.run(&mut admin, "SET SESSION wait_timeout = 2147483", "setting wait_timeout").await?;
        let sql = format!("SELECT GET_LOCK('{}', {LOCK_WAIT_SECS})", self.lock_name());
        let got = admin.scalar(&sql).await.map_err(|e| self.failed("taking its lock", e))?;
        if got.as_deref() == Some("1") {
            return Ok(admin);
        }
        Err(LoadError::Busy { database: self.database.clone(), address: admin.address() })
    }

    pub(super) async fn connect(&self, endpoint: &Endpoint) -> Result<Admin, LoadError> {
        let doing = || format!("{} dataset `{}`, connecting", self.purpose, self.database);
        let connected = Admin::connect(endpoint).await;
        connected.map_err(|e| LoadError::connecting(doing(), (endpoint, &self.database), e))
    }

    /// What stands in the schema beside the dataset, the state table and own tables of workloads:
    /// tables by name, views as `view NAME`.
    ///
    /// # Errors
    /// [`LoadError::View`]: a view under the name of one of the dataset's tables.
    pub(super) async fn beside(&self, admin: &mut Admin) -> Result<Vec<String>, LoadError> {
        let rows = admin.rows(&format!("SHOW FULL TABLES FROM `{}`", self.database)).await;
        let rows = rows.map_err(|e| self.failed("listing its tables", e))?;
        let made = made_names(admin, &self.database).await?;
        let mut others = Vec::new();
        for row in rows {
            let [Some(name), Some(kind)] = &row[..] else { continue };
            let of_dataset = names::table_number(name).is_some_and(|n| n <= self.dataset.tables);
            match (kind == "VIEW", of_dataset) {
                (true, true) => {
                    let (database, address) = (self.database.clone(), admin.address());
                    return Err(LoadError::View { database, address, name: name.clone() });
                }
                (true, false) => others.push(format!("view {name}")),
                (false, true) => {}
                (false, false) if name == STATE_TABLE || made.contains(name) => {}
                (false, false) => others.push(name.clone()),
            }
        }
        Ok(others)
    }

    /// Gives the lock back and closes; where that fails, the end of the connection does both.
    pub(super) async fn close(&self, mut admin: Admin) {
        let _ = admin.scalar(&format!("SELECT RELEASE_LOCK('{}')", self.lock_name())).await;
        admin.close().await;
    }

    fn lock_name(&self) -> String {
        let name = format!("gridbench:{}", self.database);
        quoted(&name.chars().take(LOCK_NAME_CHARS).collect::<String>())
    }

    /// Creates the schema, or gives an empty one the dataset's character set. Returns whether it
    /// was not there.
    async fn create_schema(&self, admin: &mut Admin) -> Result<bool, LoadError> {
        let Self { database, dataset: Dataset { charset, .. }, .. } = self;
        let found = match self.charset_of_schema(admin).await? {
            None => {
                let sql = format!("CREATE DATABASE `{database}` CHARACTER SET {charset}");
                self.run(admin, &sql, "creating its schema").await?;
                None
            }
            Some(found) if found != *charset && self.tables(admin).await?.is_empty() => {
                let sql = format!("ALTER DATABASE `{database}` CHARACTER SET {charset}");
                self.run(admin, &sql, "creating its schema").await?;
                Some(found)
            }
            found => found,
        };
        self.run(admin, &format!("USE `{database}`"), "opening its schema").await?;
        Ok(found.is_none())
    }

    /// The schema's character set; `None`: there is no such schema.
    pub(super) async fn charset_of_schema(
        &self,
        admin: &mut Admin,
    ) -> Result<Option<String>, LoadError> {
        let sql = format!(
            "SELECT default_character_set_name FROM information_schema.schemata \
             WHERE schema_name = '{}'",
            quoted(&self.database)
        );
        admin.scalar(&sql).await.map_err(|e| self.failed("looking for its schema", e))
    }

    /// Tables of the schema, views among them.
    async fn tables(&self, admin: &mut Admin) -> Result<BTreeSet<String>, LoadError> {
        let rows = admin.rows(&format!("SHOW TABLES FROM `{}`", self.database)).await;
        let rows = rows.map_err(|e| self.failed("listing its tables", e))?;
        Ok(rows.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect())
    }

    /// What is in the schema, which must be there; `None` where it has no state table, but others.
    pub(super) async fn standing(&self, admin: &mut Admin) -> Result<Option<Standing>, LoadError> {
        let mut tables = self.tables(admin).await?;
        if !tables.remove(STATE_TABLE) {
            return Ok(tables.is_empty().then(Standing::default));
        }
        let sql = format!("SELECT item, state FROM `{}`.{STATE_TABLE}", self.database);
        let rows = admin.rows(&sql).await.map_err(|e| self.failed("reading its state", e))?;
        Ok(Some(Standing::read(&rows, tables)))
    }

    /// Why the schema is not ours to fill, if it is not.
    fn objection(&self, standing: Option<&Standing>) -> Option<String> {
        let Some(standing) = standing else {
            return Some("it holds tables that gridbench did not make".to_owned());
        };
        match (&standing.fingerprint, &standing.shape) {
            (Some(found), _) if *found == self.fingerprint => None,
            // Empty, or made by a run that was killed before its first word.
            (None, _) if standing.tables.is_empty() => None,
            (_, Some(shape)) => {
                let asked = names::shape(&self.dataset);
                Some(if asked == *shape {
                    "it holds this dataset as another version of gridbench makes it".to_owned()
                } else {
                    format!("it holds another dataset: asked {asked}; found {shape}")
                })
            }
            _ => Some(
                "it holds a dataset with another fingerprint (another seed, character set or \
                 version of gridbench)"
                    .to_owned(),
            ),
        }
    }

    /// Drops every table of the schema, and nothing else, after naming them.
    async fn drop_all(
        &self,
        admin: &mut Admin,
        observe: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Result<(), LoadError> {
        let sql =
            format!("SHOW FULL TABLES FROM `{}` WHERE Table_type = 'BASE TABLE'", self.database);
        let rows = admin.rows(&sql).await.map_err(|e| self.failed("listing its tables", e))?;
        let mut names: Vec<String> =
            rows.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect();
        // The state table goes last: until then the schema is still known for what it was.
        names.sort_by_key(|name| name == STATE_TABLE);
        observe(LoadEvent::Replacing { database: &self.database, tables: &names });
        self.run(admin, "SET SESSION foreign_key_checks = 0", "replacing its tables").await?;
        for name in &names {
            self.drop_table(admin, name).await?;
        }
        let Self { database, dataset: Dataset { charset, .. }, .. } = self;
        let sql = format!("ALTER DATABASE `{database}` CHARACTER SET {charset}");
        self.run(admin, &sql, "setting its character set").await
    }

    pub(super) async fn drop_table(&self, admin: &mut Admin, name: &str) -> Result<(), LoadError> {
        let name = name.replace('`', "``");
        let sql = format!("DROP TABLE IF EXISTS `{}`.`{name}`", self.database);
        self.run(admin, &sql, &format!("dropping {name}")).await
    }

    /// Makes the state table and its first rows, which stand or stand not together.
    async fn create_state(&self, admin: &mut Admin, is_created: bool) -> Result<(), LoadError> {
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS {STATE_TABLE} (item VARCHAR(64) NOT NULL PRIMARY KEY, \
             state VARCHAR(255) NOT NULL) /*! ENGINE = innodb */"
        );
        self.run(admin, &sql, "creating its state table").await?;
        let schema: &[(&str, &str)] = if is_created { &[(SCHEMA, CREATED)] } else { &[] };
        self.write_identity(admin, schema).await
    }

    /// Notes whose rows these are, where that is not noted, and what else there is to note.
    pub(super) async fn write_identity(
        &self,
        admin: &mut Admin,
        others: &[(&str, &str)],
    ) -> Result<(), LoadError> {
        let shape = names::shape(&self.dataset);
        let mut rows = vec![(FINGERPRINT, self.fingerprint.as_str()), (SHAPE, shape.as_str())];
        rows.extend(others);
        let rows: Vec<String> =
            rows.iter().map(|(item, state)| format!("('{item}', '{}')", quoted(state))).collect();
        let rows = rows.join(", ");
        let sql = format!("INSERT IGNORE INTO {STATE_TABLE} (item, state) VALUES {rows}");
        self.run(admin, &sql, "writing its state").await
    }

    /// Forgets what was known of these tables and their chunks: they are made anew.
    pub(super) async fn forget(&self, admin: &mut Admin, tables: &[u32]) -> Result<(), LoadError> {
        for numbers in tables.chunks(FORGOTTEN_MAX) {
            let of_table = |number: &u32| {
                let table = names::table(*number);
                format!("item = '{table}' OR item LIKE '{table}/%'")
            };
            let conditions: Vec<String> = numbers.iter().map(of_table).collect();
            let sql = format!("DELETE FROM {STATE_TABLE} WHERE {}", conditions.join(" OR "));
            self.run(admin, &sql, "writing its state").await?;
        }
        Ok(())
    }

    /// Forgets everything but what the dataset is: all of it is made anew, and nobody has changed
    /// it.
    pub(super) async fn forget_all(&self, admin: &mut Admin) -> Result<(), LoadError> {
        let sql =
            format!("DELETE FROM {STATE_TABLE} WHERE item = '{CHANGED}' OR item LIKE 'sbtest%'");
        self.run(admin, &sql, "writing its state").await
    }

    /// Notes who writes to the dataset, unless somebody did before.
    pub(super) async fn mark_changed(&self, admin: &mut Admin, by: &str) -> Result<(), LoadError> {
        let by: String = by.chars().take(STATE_CHARS).collect();
        let sql = format!(
            "INSERT IGNORE INTO {STATE_TABLE} (item, state) VALUES ('{CHANGED}', '{}')",
            quoted(&by)
        );
        self.run(admin, &sql, "noting that it is changed").await
    }

    pub(super) async fn run(
        &self,
        admin: &mut Admin,
        sql: &str,
        doing: &str,
    ) -> Result<(), LoadError> {
        admin.execute(sql).await.map(drop).map_err(|error| self.failed(doing, error))
    }

    /// An error while doing something to the dataset.
    pub(super) fn failed(&self, doing: &str, error: DriverError) -> LoadError {
        let doing = format!("{} dataset `{}`, {doing}", self.purpose, self.database);
        LoadError::new(doing, &self.database, error)
    }
}

/// The text between the quotes of an SQL string.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "''")
}

/// Whether a name is one of a schema that can be created, and not the server's own.
fn may_hold_a_dataset(name: &str) -> bool {
    let is_own = OWN_SCHEMAS.iter().any(|own| own.eq_ignore_ascii_case(name));
    let is_known = |c: char| !c.is_control() && !"`/\\.".contains(c);
    let length = name.chars().count();
    !is_own && (1..=NAME_CHARS).contains(&length) && name.chars().all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_own_schemas_and_what_is_no_name_hold_no_dataset() {
        let long = "x".repeat(65);
        for name in ["mysql", "SYS", "Performance_Schema", "information_schema", "", "a`b", &long] {
            assert!(!may_hold_a_dataset(name), "{name}");
        }
        for name in ["sbtest", "my-shop", "mysql2", "\u{6570}\u{636e}"] {
            assert!(may_hold_a_dataset(name), "{name}");
        }
    }
}
