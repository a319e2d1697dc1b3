//! How a dataset, as it stood before the trials, is written in `manifest.json`.
//!
//! Must not know: how its checksums came about.

use serde::{Deserialize, Serialize};

use crate::model::{Checksum, DatasetRecord, TableCheck};

use super::wire::Invalid;

/// A [`DatasetRecord`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DatasetRecordWire {
    database: String,
    rows_sent: u64,
    route: Option<String>,
    changed_by: Option<String>,
    /// A line for each, because there are hundreds: `1 first=1 last=9 rows=9 sum=123 xor=00c0ffee`.
    tables: Vec<String>,
}

impl From<&DatasetRecord> for DatasetRecordWire {
    fn from(record: &DatasetRecord) -> Self {
        Self {
            database: record.database.clone(),
            rows_sent: record.rows_sent,
            route: record.route.clone(),
            changed_by: record.changed_by.clone(),
            tables: record.tables.iter().map(table_text).collect(),
        }
    }
}

impl TryFrom<DatasetRecordWire> for DatasetRecord {
    type Error = Invalid;

    fn try_from(wire: DatasetRecordWire) -> Result<Self, Invalid> {
        let table = |text: &String| {
            table_check(text).ok_or_else(|| Invalid(format!("`{text}` is no check of a table")))
        };
        Ok(Self {
            tables: wire.tables.iter().map(table).collect::<Result<_, _>>()?,
            database: wire.database,
            rows_sent: wire.rows_sent,
            route: wire.route,
            changed_by: wire.changed_by,
        })
    }
}

fn table_text(check: &TableCheck) -> String {
    let TableCheck { number, first_id, last_id, checksum } = check;
    format!("{number} first={first_id} last={last_id} {checksum}")
}

fn table_check(text: &str) -> Option<TableCheck> {
    let (number, rest) = text.split_once(' ')?;
    let (first, rest) = rest.strip_prefix("first=")?.split_once(' ')?;
    let (last, checksum) = rest.strip_prefix("last=")?.split_once(' ')?;
    Some(TableCheck {
        number: number.parse().ok()?,
        first_id: first.parse().ok()?,
        last_id: last.parse().ok()?,
        checksum: Checksum::parse(checksum)?,
    })
}
