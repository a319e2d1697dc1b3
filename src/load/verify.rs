//! Whether tables hold what they should, and what they weigh.
//!
//! Must not know: how they are filled.

use std::collections::BTreeSet;

use crate::driver::DriverError;
use crate::driver::adapter::Admin;
use crate::model::Interrupt;
use crate::workload::schema as names;

use super::LoadError;
use super::schema::{Home, Standing};

/// Up to here every row is counted; above, the count would read the whole dataset from disk,
/// and the highest id has to do.
const COUNTED_ROWS_MAX: u64 = 5_000_000;

/// "Table does not exist".
const NO_SUCH_TABLE: u16 = 1146;

/// The tables that were completed and still hold as many rows as they should.
pub(super) async fn sound_tables(
    admin: &mut Admin,
    home: &Home,
    standing: &Standing,
    interrupt: &Interrupt,
) -> Result<BTreeSet<u32>, LoadError> {
    let mut sound = BTreeSet::new();
    for table in standing.complete.range(1..=home.dataset.tables) {
        if interrupt.is_requested() {
            return Err(LoadError::Interrupted);
        }
        match rows_found(admin, home, *table).await {
            Ok(found) if found == home.dataset.table_size => {
                sound.insert(*table);
            }
            Ok(_) => {}
            Err(DriverError::Server { code: NO_SUCH_TABLE, .. }) => {}
            Err(error) => {
                return Err(home.failed(&format!("verifying {}", names::table(*table)), error));
            }
        }
    }
    Ok(sound)
}

/// Rows in a table: counted if the dataset is small, the highest id otherwise; whichever of
/// the two is wrong, if one is.
pub(super) async fn rows_found(
    admin: &mut Admin,
    home: &Home,
    table: u32,
) -> Result<u64, DriverError> {
    let table = names::table(table);
    let counted = home.dataset.rows() <= COUNTED_ROWS_MAX;
    let count = if counted { "COUNT(*)" } else { "MAX(id)" };
    let rows = admin.rows(&format!("SELECT MAX(id), {count} FROM {table}")).await?;
    let number = |column: usize| {
        let text = rows.first().and_then(|row| row.get(column)?.as_deref());
        text.and_then(|text| text.parse().ok()).unwrap_or(0)
    };
    let highest = number(0);
    Ok(if highest == home.dataset.table_size { number(1) } else { highest })
}

/// Bytes of data and indexes of all `sbtest` tables, as the server counts them.
pub(super) async fn dataset_bytes(
    admin: &mut Admin,
    home: &Home,
) -> Result<Option<u64>, LoadError> {
    // MySQL 8 answers from a cache of up to a day; others do not know the variable.
    let _ = admin.execute("SET SESSION information_schema_stats_expiry = 0").await;
    let sql = format!(
        "SELECT SUM(data_length + index_length) FROM information_schema.tables \
         WHERE table_schema = '{}' AND table_name LIKE 'sbtest%'",
        home.database
    );
    let bytes = admin.scalar(&sql).await.map_err(|e| home.failed("reading its size", e))?;
    Ok(bytes.and_then(|bytes| bytes.parse().ok()))
}
