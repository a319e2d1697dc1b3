//! Rows as the statements and files that carry them.
//!
//! Must not know: connections.

use std::ops::RangeInclusive;

use crate::workload::rows::Rows;

/// Size at which a multi-row INSERT is sent, as sysbench's: about 2,700 rows.
const INSERT_BYTES: usize = 512 << 10;
/// More than the longest row.
const ROW_BYTES_MAX: usize = 256;
/// Rows in one LOAD DATA: about 10 MB, a transaction that every server can hold.
const FILE_ROWS: u64 = 50_000;
/// Size of the pieces in which a file is sent.
const PIECE_BYTES: usize = 256 << 10;

/// Writes the INSERT of the rows from the start of `ids` on, until it is full; returns the id
/// that comes next.
pub(super) fn insert(
    rows: &Rows,
    table: &str,
    ids: RangeInclusive<u64>,
    insert: &mut String,
) -> u64 {
    let end = *ids.end();
    insert.clear();
    insert.reserve(INSERT_BYTES + ROW_BYTES_MAX);
    insert.push_str("INSERT INTO ");
    insert.push_str(table);
    insert.push_str(" (id, k, c, pad) VALUES ");
    let head = insert.len();
    for id in ids {
        if insert.len() >= INSERT_BYTES {
            return id;
        }
        if insert.len() > head {
            insert.push(',');
        }
        rows.write_values(id, insert);
    }
    end + 1
}

/// The LOAD DATA of the rows from the start of `ids` on, at most [`FILE_ROWS`], and its file.
pub(super) fn file(rows: &Rows, table: &str, ids: RangeInclusive<u64>) -> (String, Lines) {
    // The bytes are digits, dashes, tabs and line feeds: the same in every character set.
    let sql = format!(
        "LOAD DATA LOCAL INFILE 'gridbench' INTO TABLE {table} CHARACTER SET latin1 \
         FIELDS TERMINATED BY '\\t' LINES TERMINATED BY '\\n' (id, k, c, pad)"
    );
    let next = *ids.start();
    let end = next.saturating_add(FILE_ROWS).min(ids.end() + 1);
    (sql, Lines { rows: rows.clone(), next, end })
}

/// A file of rows, made piece by piece.
#[derive(Debug)]
pub(super) struct Lines {
    rows: Rows,
    next: u64,
    end: u64,
}

impl Lines {
    /// The id after the last one.
    pub(super) fn end(&self) -> u64 {
        self.end
    }
}

impl Iterator for Lines {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if self.next == self.end {
            return None;
        }
        let mut piece = String::with_capacity(PIECE_BYTES + ROW_BYTES_MAX);
        while self.next < self.end && piece.len() < PIECE_BYTES {
            self.rows.write_line(self.next, &mut piece);
            self.next += 1;
        }
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Dataset;

    #[test]
    fn inserts_list_every_row_once_and_end_at_their_size() {
        let dataset = Dataset { tables: 1, table_size: 6_000, charset: "utf8mb4".into(), seed: 1 };
        let rows = Rows::new(&dataset, 1);
        let mut insert = String::new();
        let mut starts = vec![1];
        let mut listed = 0;
        while let Some(next) = starts.last().copied().filter(|next| *next <= 6_000) {
            starts.push(super::insert(&rows, "sbtest1", next..=6_000, &mut insert));
            let head = format!("INSERT INTO sbtest1 (id, k, c, pad) VALUES ({next},");
            assert!(insert.starts_with(&head), "{}", &insert[..80]);
            assert!(insert.ends_with("')") && insert.len() < INSERT_BYTES + ROW_BYTES_MAX);
            listed += insert.matches("'),(").count() + 1;
        }
        assert_eq!(listed, 6_000);
        assert!(starts.len() == 4, "{starts:?}");
        assert_eq!(starts.last(), Some(&6_001));
    }

    #[test]
    fn files_list_every_row_once_in_pieces() {
        let dataset = Dataset { tables: 1, table_size: 60_000, charset: "utf8mb4".into(), seed: 1 };
        let rows = Rows::new(&dataset, 1);
        let (mut next, mut id) = (1, 0);
        while next <= 60_000 {
            let (_, lines) = file(&rows, "sbtest1", next..=60_000);
            next = lines.end();
            for piece in lines {
                assert!(piece.len() < PIECE_BYTES + ROW_BYTES_MAX);
                for line in piece.lines() {
                    id += 1;
                    assert!(line.starts_with(&format!("{id}\t")), "{line}");
                }
            }
            assert_eq!(next, id + 1);
        }
        assert_eq!(id, 60_000);
    }
}
