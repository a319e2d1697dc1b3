//! Whether tables hold what they should, and what they weigh.
//!
//! Must not know: how they are filled.

use std::collections::BTreeSet;

use crate::driver::DriverError;
use crate::driver::adapter::Admin;
use crate::model::{Checksum, Dataset, Interrupt, counted};
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

/// A table that was completed and is not as it was then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unsound {
    pub(super) number: u32,
    /// Whether it is there.
    pub(super) is_there: bool,
    /// What was found, and what should have been.
    pub(super) words: String,
}

/// What became of the tables that were completed.
#[derive(Debug, Default)]
pub(super) struct Verified {
    /// Those that still hold as many rows as they should, from the first id to the last one.
    pub(super) sound: BTreeSet<u32>,
    pub(super) unsound: Vec<Unsound>,
}

/// Whether all rows of a dataset are counted when it is looked at.
pub(super) fn is_counted(dataset: &Dataset) -> bool {
    dataset.rows() <= COUNTED_ROWS_MAX
}

/// Looks at every table that was completed.
pub(super) async fn verify(
    admin: &mut Admin,
    home: &Home,
    standing: &Standing,
    interrupt: &Interrupt,
) -> Result<Verified, LoadError> {
    let mut verified = Verified::default();
    for (number, _) in standing.complete.range(1..=home.dataset.tables) {
        if interrupt.is_requested() {
            return Err(LoadError::Interrupted);
        }
        match look(admin, &home.dataset, *number).await {
            Ok(None) => drop(verified.sound.insert(*number)),
            Ok(Some(unsound)) => verified.unsound.push(unsound),
            Err(error) => {
                return Err(home.failed(&format!("verifying {}", names::table(*number)), error));
            }
        }
    }
    Ok(verified)
}

/// `None`: the table is as it should be.
async fn look(
    admin: &mut Admin,
    dataset: &Dataset,
    number: u32,
) -> Result<Option<Unsound>, DriverError> {
    let (name, size) = (names::table(number), dataset.table_size);
    let count = if is_counted(dataset) { "COUNT(*)" } else { "MAX(id)" };
    let rows = admin.rows(&format!("SELECT MIN(id), MAX(id), {count} FROM {name}")).await;
    let rows = match rows {
        Err(DriverError::Server { code: NO_SUCH_TABLE, .. }) => {
            let words = format!("{name} is gone");
            return Ok(Some(Unsound { number, is_there: false, words }));
        }
        rows => rows?,
    };
    let found: Vec<Option<u64>> = rows.first().map_or_else(Vec::new, |row| numbers(row));
    if found == [Some(1), Some(size), Some(size)] {
        return Ok(None);
    }
    let number_of = |place: usize| found.get(place).copied().flatten().unwrap_or(0);
    let (first, last) = (number_of(0), number_of(1));
    let holds = match is_counted(dataset) {
        true => format!("{}, ids {first} to {last}", counted(number_of(2), "row")),
        false => format!("ids {first} to {last}"),
    };
    let words = format!("{name} holds {holds}; loaded were ids 1 to {size}, each once");
    Ok(Some(Unsound { number, is_there: true, words }))
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
