//! Taking a dataset off a server: what gridbench marked as its own, and nothing else.
//!
//! Must not know: whether anybody wants that.

use crate::driver::adapter::Admin;
use crate::model::{Dataset, Endpoint};
use crate::workload::schema as names;

use super::LoadError;
use super::crew::runtime;
use super::own_tables::{OWN_STATE_TABLE, owned_names};
use super::schema::{Home, STATE_TABLE};
use super::state::Standing;

/// What of a schema gridbench marked as its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned {
    /// The schema.
    pub database: String,
    /// Which dataset it holds.
    pub fingerprint: String,
    /// The same in words; `None` where the state does not say.
    pub shape: Option<String>,
    /// Whether that is the dataset that was asked for: only then anything of it is dropped.
    pub is_asked: bool,
    /// Its tables, the state table last.
    pub tables: Vec<OwnedTable>,
    /// Whether the schema goes too: gridbench created it, and nothing else is in it.
    pub is_schema_dropped: bool,
}

/// A table that gridbench made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedTable {
    /// Its name.
    pub name: String,
    /// Rows when it was complete; `None` where it is not, or is none of the dataset's.
    pub rows: Option<u64>,
}

/// What [`drop_owned`] would drop, or another dataset that stands in the schema and stays; `None`
/// where there is no schema, or gridbench has marked nothing in it. Nothing is changed.
///
/// # Errors
/// What the server said, or [`LoadError::Busy`].
pub fn find_owned(endpoint: &Endpoint, dataset: &Dataset) -> Result<Option<Owned>, LoadError> {
    let home = Home::new(endpoint, dataset, "cleaning");
    runtime()?.block_on(async {
        let mut admin = home.connect_locked().await?;
        let owned = owned(&home, &mut admin).await?;
        home.close(admin).await;
        Ok(owned)
    })
}

/// Drops what gridbench marked as its own, if it is of this dataset; returns what that was, or what
/// stays. What a kill leaves is still marked.
///
/// # Errors
/// What the server said, or [`LoadError::Busy`].
pub fn drop_owned(endpoint: &Endpoint, dataset: &Dataset) -> Result<Option<Owned>, LoadError> {
    let home = Home::new(endpoint, dataset, "cleaning");
    runtime()?.block_on(async {
        let mut admin = home.connect_locked().await?;
        let owned = owned(&home, &mut admin).await?;
        if let Some(owned) = owned.as_ref().filter(|owned| owned.is_asked) {
            for table in &owned.tables {
                home.drop_table(&mut admin, &table.name).await?;
            }
            if owned.is_schema_dropped {
                let sql = format!("DROP DATABASE `{}`", home.database);
                home.run(&mut admin, &sql, "dropping its schema").await?;
            }
        }
        home.close(admin).await;
        Ok(owned)
    })
}

async fn owned(home: &Home, admin: &mut Admin) -> Result<Option<Owned>, LoadError> {
    if home.charset_of_schema(admin).await?.is_none() {
        return Ok(None);
    }
    let standing = home.standing(admin).await?;
    let Some(standing) = standing else { return Ok(None) };
    let Some(fingerprint) = standing.fingerprint.clone() else { return Ok(None) };
    let mut tables: Vec<u32> = standing
        .tables
        .iter()
        .filter_map(|name| names::table_number(name).filter(|number| is_owned(&standing, *number)))
        .collect();
    tables.sort_unstable();
    let mut tables: Vec<String> = tables.into_iter().map(names::table).collect();
    if standing.tables.contains(OWN_STATE_TABLE) {
        tables.extend(owned_names(admin, &home.database).await?);
        tables.retain(|name| standing.tables.contains(name));
    }
    let rows = |name: &String| {
        let check = standing.complete.get(&names::table_number(name)?)?;
        Some(check.checksum.rows)
    };
    let is_alone = tables.len() == standing.tables.len() && !has_programs(home, admin).await?;
    tables.push(STATE_TABLE.to_owned());
    let tables = tables.into_iter().map(|name| OwnedTable { rows: rows(&name), name }).collect();
    Ok(Some(Owned {
        database: home.database.clone(),
        is_asked: home.is_fingerprint(&fingerprint),
        fingerprint,
        is_schema_dropped: standing.is_created && is_alone,
        shape: standing.shape.clone(),
        tables,
    }))
}

/// Whether a table is one of the dataset that the state table speaks of.
fn is_owned(standing: &Standing, number: u32) -> bool {
    let tables = standing.shape.as_deref().and_then(names::tables_of_shape);
    tables.is_some_and(|tables| number <= tables)
        || standing.complete.contains_key(&number)
        || standing.chunks.contains_key(&number)
}

/// Whether somebody keeps routines or events in the schema.
async fn has_programs(home: &Home, admin: &mut Admin) -> Result<bool, LoadError> {
    for (table, column) in [("routines", "routine_schema"), ("events", "event_schema")] {
        let database = home.database.replace('\\', "\\\\").replace('\'', "''");
        let sql = format!(
            "SELECT COUNT(*) FROM information_schema.{table} WHERE {column} = '{database}'"
        );
        let count = admin.scalar(&sql).await;
        let count = count.map_err(|error| home.failed("looking for what else it holds", error))?;
        if count.as_deref() != Some("0") {
            return Ok(true);
        }
    }
    Ok(false)
}
