//! What the rows of a state table mean: whose the schema is, and what of the dataset is in.
//!
//! Must not know: connections.

use std::collections::{BTreeMap, BTreeSet};

use super::batch::Chunk;
use crate::model::{Checksum, TableCheck};
use crate::workload::schema as names;

/// Items of the state table beside those of tables and chunks.
pub(super) const FINGERPRINT: &str = "fingerprint";
pub(super) const SHAPE: &str = "shape";
pub(super) const SCHEMA: &str = "schema";
pub(super) const CHANGED: &str = "changed";

/// State of [`SCHEMA`] where gridbench created it.
pub(super) const CREATED: &str = "created";
/// Begins the state of a table that is complete.
const COMPLETE: &str = "complete";

/// What was found in a schema.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    /// Whose rows these are; `None` in a state table without its first row.
    pub(super) fingerprint: Option<String>,
    /// The same in words.
    pub(super) shape: Option<String>,
    /// Whether gridbench created the schema.
    pub(super) is_created: bool,
    /// Who first wrote to the dataset since it was loaded.
    pub(super) changed_by: Option<String>,
    /// Tables that are complete.
    pub(super) complete: BTreeMap<u32, TableCheck>,
    /// Chunks that are in, by table and first id.
    pub(super) chunks: BTreeMap<u32, BTreeMap<u64, Checksum>>,
    /// Names of the tables that are there, the state table excluded.
    pub(super) tables: BTreeSet<String>,
}

impl Standing {
    /// Reads the rows (item, state) of a state table. What cannot be read counts as not there: a
    /// table that nothing is known of is made anew.
    pub(super) fn read(rows: &[Vec<Option<String>>], tables: BTreeSet<String>) -> Self {
        let mut standing = Self { tables, ..Self::default() };
        for row in rows {
            let [Some(item), Some(state)] = row.as_slice() else { continue };
            match item.as_str() {
                FINGERPRINT => standing.fingerprint = Some(state.clone()),
                SHAPE => standing.shape = Some(state.clone()),
                SCHEMA => standing.is_created = state == CREATED,
                CHANGED => standing.changed_by = Some(state.clone()),
                item => standing.read_table(item, state),
            }
        }
        standing
    }

    fn read_table(&mut self, item: &str, state: &str) {
        match item.split_once('/') {
            None => {
                let check = names::table_number(item).and_then(|number| complete(number, state));
                self.complete.extend(check.map(|check| (check.number, check)));
            }
            Some((table, first)) => {
                let (number, first) = (names::table_number(table), first.parse().ok());
                if let (Some(number), Some(first), Some(checksum)) =
                    (number, first, Checksum::parse(state))
                {
                    self.chunks.entry(number).or_default().insert(first, checksum);
                }
            }
        }
    }

    pub(super) fn has_table(&self, number: u32) -> bool {
        self.tables.contains(&names::table(number))
    }

    /// The chunks of a table that are in; `None` where the table has to be made from its
    /// beginning: it is not there, or holds chunks that this gridbench would not have cut so.
    pub(super) fn chunks_in(
        &self,
        number: u32,
        table_size: u64,
    ) -> Option<BTreeMap<u64, Checksum>> {
        let marks = self.chunks.get(&number).filter(|_| self.has_table(number))?;
        let known: BTreeMap<u64, u64> =
            Chunk::all(table_size).map(|chunk| (chunk.first, chunk.rows())).collect();
        let fits = marks.iter().all(|(first, sum)| known.get(first) == Some(&sum.rows));
        fits.then(|| marks.clone())
    }
}

/// The item of a chunk.
pub(super) fn chunk_item(number: u32, chunk: Chunk) -> String {
    format!("{}/{}", names::table(number), chunk.first)
}

/// The state of a table that is complete.
pub(super) fn complete_state(check: &TableCheck) -> String {
    let TableCheck { first_id, last_id, checksum, .. } = check;
    format!("{COMPLETE} first={first_id} last={last_id} {checksum}")
}

fn complete(number: u32, state: &str) -> Option<TableCheck> {
    let (first_id, rest) =
        state.strip_prefix(COMPLETE)?.strip_prefix(" first=")?.split_once(' ')?;
    let (last_id, checksum) = rest.strip_prefix("last=")?.split_once(' ')?;
    Some(TableCheck {
        number,
        first_id: first_id.parse().ok()?,
        last_id: last_id.parse().ok()?,
        checksum: Checksum::parse(checksum)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(rows: &[(&str, &str)], tables: &[&str]) -> Standing {
        let row = |(item, state): &(&str, &str)| vec![Some((*item).into()), Some((*state).into())];
        let rows: Vec<Vec<Option<String>>> = rows.iter().map(row).collect();
        Standing::read(&rows, tables.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn a_state_is_read_as_it_was_written_and_nonsense_is_nothing() {
        let checksum = Checksum { rows: 9, crc_sum: 77, crc_xor: 5 };
        let check = TableCheck { number: 3, first_id: 1, last_id: 9, checksum };
        let item = chunk_item(2, Chunk { first: 50_001, last: 50_009 });
        let read = standing(
            &[
                (FINGERPRINT, "ab"),
                (SCHEMA, CREATED),
                (CHANGED, "run x"),
                ("sbtest3", &complete_state(&check)),
                (&item, &checksum.to_string()),
                ("sbtest4", "complete"),
                ("sbtest4/x", "rows=1 sum=1 xor=1"),
                ("sbtest04/1", "rows=1 sum=1 xor=1"),
                ("nonsense", "nonsense"),
            ],
            &[],
        );
        let expected = Standing {
            fingerprint: Some("ab".into()),
            is_created: true,
            changed_by: Some("run x".into()),
            complete: BTreeMap::from([(3, check)]),
            chunks: BTreeMap::from([(2, BTreeMap::from([(50_001, checksum)]))]),
            ..Standing::default()
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn chunks_count_only_in_a_table_that_is_there_and_if_they_were_cut_alike() {
        let whole = ("sbtest1/1", "rows=50000 sum=1 xor=00000001");
        let last = ("sbtest1/50001", "rows=10 sum=1 xor=00000001");
        let odd = ("sbtest1/50001", "rows=11 sum=1 xor=00000001");
        let first_ids = |rows: &[_], tables: &[_]| {
            let chunks = standing(rows, tables).chunks_in(1, 50_010)?;
            Some(chunks.into_keys().collect::<Vec<u64>>())
        };
        assert_eq!(first_ids(&[whole, last], &["sbtest1"]), Some(vec![1, 50_001]));
        assert_eq!(first_ids(&[last], &["sbtest1"]), Some(vec![50_001]));
        assert_eq!(first_ids(&[whole, odd], &["sbtest1"]), None);
        assert_eq!(first_ids(&[whole], &["sbtest2"]), None);
        assert_eq!(first_ids(&[], &["sbtest1"]), None);
    }
}
