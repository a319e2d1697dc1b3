//! Whether tables hold what they should, and what they weigh.
//!
//! Must not know: how they are filled.

use std::collections::BTreeSet;

use crate::driver::DriverError;
use crate::driver::adapter::Admin;
use crate::model::{Checksum, Dataset, Interrupt};
use crate::workload::schema as names;

use super::LoadError;
use super::batch::Chunk;
use super::schema::Home;
use super::state::Standing;

/// Up to here every row is counted; above, the count would read the whole dataset from disk,
/// and the highest id has to do.
const COUNTED_ROWS_MAX: u64 = 5_000_000;

/// "Table does not exist".
pub(super) const NO_SUCH_TABLE: u16 = 1146;

/// The tables that were completed and still hold as many rows as they should, from the first id
/// to the last one.
pub(super) async fn sound_tables(
    admin: &mut Admin,
    home: &Home,
    standing: &Standing,
    interrupt: &Interrupt,
) -> Result<BTreeSet<u32>, LoadError> {
    let mut sound = BTreeSet::new();
    for (number, _) in standing.complete.range(1..=home.dataset.tables) {
        if interrupt.is_requested() {
            return Err(LoadError::Interrupted);
        }
        match is_sound(admin, &home.dataset, *number).await {
            Ok(true) => drop(sound.insert(*number)),
            Ok(false) | Err(DriverError::Server { code: NO_SUCH_TABLE, .. }) => {}
            Err(error) => {
                return Err(home.failed(&format!("verifying {}", names::table(*number)), error));
            }
        }
    }
    Ok(sound)
}

async fn is_sound(admin: &mut Admin, dataset: &Dataset, number: u32) -> Result<bool, DriverError> {
    let size = dataset.table_size;
    let is_counted = dataset.rows() <= COUNTED_ROWS_MAX;
    let count = if is_counted { "COUNT(*)" } else { "MAX(id)" };
    let sql = format!("SELECT MIN(id), MAX(id), {count} FROM {}", names::table(number));
    let rows = admin.rows(&sql).await?;
    let found: Vec<Option<u64>> = rows.first().map_or_else(Vec::new, |row| numbers(row));
    Ok(found == [Some(1), Some(size), Some(size)])
}

/// Lowest and highest id of a chunk's rows and their checksum, as the server computes them. Rows
/// outside of the table's ids count with the first and last chunk.
pub(super) async fn chunk_found(
    admin: &mut Admin,
    dataset: &Dataset,
    number: u32,
    chunk: Chunk,
) -> Result<(u64, u64, Checksum), DriverError> {
    let Chunk { first, last } = chunk;
    let condition = match (first == 1, last == dataset.table_size) {
        (true, true) => "1 = 1".to_owned(),
        (true, false) => format!("id <= {last}"),
        (false, true) => format!("id >= {first}"),
        (false, false) => format!("id BETWEEN {first} AND {last}"),
    };
    let rows = admin.rows(&names::checksum_query(dataset, number, &condition)).await?;
    let found = rows.first().map_or_else(Vec::new, |row| numbers(row));
    let number = |column: usize| found.get(column).copied().flatten().unwrap_or(0);
    let crc_xor = u32::try_from(number(4)).unwrap_or(0);
    let checksum = Checksum { rows: number(2), crc_sum: number(3), crc_xor };
    Ok((number(0), number(1), checksum))
}

/// The columns of a row that are whole numbers.
fn numbers(row: &[Option<String>]) -> Vec<Option<u64>> {
    row.iter().map(|text| text.as_deref()?.parse().ok()).collect()
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
