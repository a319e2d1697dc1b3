//! Rows as the statements and files that carry them, and their checksum.
//!
//! Must not know: connections.

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::{Checksum, Param};
use crate::workload::rows::Rows;

/// Rows that are in a table altogether or not at all: about 10 MB, a transaction that every server
/// can hold and that is soon done again.
pub(super) const CHUNK_ROWS: u64 = 50_000;

/// Size at which a multi-row INSERT is sent, as sysbench's: about 2,700 rows.
const INSERT_BYTES: usize = 512 << 10;
/// Rows of a prepared INSERT: so many that a statement costs no more than its rows.
const PREPARED_ROWS: u64 = 250;
/// More than the longest row.
const ROW_BYTES_MAX: usize = 256;
/// Size of the pieces in which a file is sent.
const PIECE_BYTES: usize = 256 << 10;

/// Rows of consecutive ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Chunk {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Chunk {
    /// The chunks of a table, in order.
    pub(super) fn all(table_size: u64) -> impl Iterator<Item = Self> {
        (0..table_size.div_ceil(CHUNK_ROWS)).map(move |index| {
            let first = index * CHUNK_ROWS + 1;
            Self { first, last: (first + CHUNK_ROWS - 1).min(table_size) }
        })
    }

    pub(super) fn rows(self) -> u64 {
        self.last - self.first + 1
    }

    fn ids(self) -> RangeInclusive<u64> {
        self.first..=self.last
    }
}

/// What was sent of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sent {
    pub(super) checksum: Checksum,
    /// Bytes of statements or files.
    pub(super) bytes: u64,
}

/// The INSERT that is prepared for a table: one text, whatever the rows.
pub(super) fn prepared_insert(table: &str) -> String {
    let rows = vec!["(?,?,?,?)"; PREPARED_ROWS as usize];
    format!("INSERT INTO {table} (id, k, c, pad) VALUES {}", rows.join(","))
}

/// The INSERTs of a chunk, one after the other.
pub(super) struct Inserts<'a> {
    rows: &'a Rows,
    table: &'a str,
    next: u64,
    last: u64,
    /// No statement is longer.
    bytes_max: usize,
    line: String,
    pub(super) sent: Sent,
}

impl<'a> Inserts<'a> {
    /// `packet_max`: the largest statement that the server takes.
    pub(super) fn new(rows: &'a Rows, table: &'a str, chunk: Chunk, packet_max: usize) -> Self {
        let bytes_max = packet_max.min(INSERT_BYTES);
        let (next, last) = (chunk.first, chunk.last);
        Self { rows, table, next, last, bytes_max, line: String::new(), sent: Sent::default() }
    }

    /// Replaces text and parameters by those of the next prepared INSERT; false where too few rows
    /// are left for one, or the server takes no statement of that size.
    pub(super) fn next_params(&mut self, text: &mut String, params: &mut Vec<Param>) -> bool {
        let end = self.next + PREPARED_ROWS;
        if end > self.last + 1 || self.bytes_max < PREPARED_ROWS as usize * ROW_BYTES_MAX {
            return false;
        }
        text.clear();
        params.clear();
        for id in self.next..end {
            let counted = (&mut self.line, &mut self.sent.checksum);
            self.rows.write_checked_params(id, (text, params), counted);
        }
        self.next = end;
        // Beside its texts a row has two integers, and a byte before each text.
        self.sent.bytes += text.len() as u64 + PREPARED_ROWS * (2 * 8 + 2);
        true
    }

    /// Replaces the text by the next INSERT; false where there is none.
    pub(super) fn write_next(&mut self, text: &mut String) -> bool {
        if self.next > self.last {
            return false;
        }
        text.clear();
        text.reserve(self.bytes_max);
        text.push_str("INSERT INTO ");
        text.push_str(self.table);
        text.push_str(" (id, k, c, pad) VALUES ");
        let head = text.len();
        while self.next <= self.last
            && (text.len() == head || text.len() + ROW_BYTES_MAX <= self.bytes_max)
        {
            if text.len() > head {
                text.push(',');
            }
            let counted = (&mut self.line, &mut self.sent.checksum);
            self.rows.write_checked_values(self.next, text, counted);
            self.next += 1;
        }
        self.sent.bytes += text.len() as u64;
        true
    }
}

/// The LOAD DATA of a chunk, its file, and where the file says what has become of it.
pub(super) fn file(rows: &Rows, table: &str, chunk: Chunk) -> (String, Lines, Arc<Mutex<Sent>>) {
    // The bytes are digits, dashes, tabs and line feeds: the same in every character set.
    let sql = format!(
        "LOAD DATA LOCAL INFILE 'gridbench' INTO TABLE {table} CHARACTER SET latin1 \
         FIELDS TERMINATED BY '\t' LINES TERMINATED BY '\n' (id, k, c, pad)"
    );
    let sent = Arc::default();
    let (next, last) = chunk.ids().into_inner();
    (sql, Lines { rows: rows.clone(), next, last, sent: Arc::clone(&sent) }, sent)
}

/// A file of rows, made piece by piece.
#[derive(Debug)]
pub(super) struct Lines {
    rows: Rows,
    next: u64,
    last: u64,
    sent: Arc<Mutex<Sent>>,
}

impl Iterator for Lines {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if self.next > self.last {
            return None;
        }
        let mut piece = String::with_capacity(PIECE_BYTES + ROW_BYTES_MAX);
        let mut checksum = Checksum::default();
        while self.next <= self.last && piece.len() < PIECE_BYTES {
            self.rows.write_line(self.next, &mut piece, &mut checksum);
            self.next += 1;
        }
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.checksum.merge(checksum);
        sent.bytes += piece.len() as u64;
        drop(sent);
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Dataset;

    fn rows() -> Rows {
        let dataset = Dataset { tables: 1, table_size: 60_000, charset: "utf8mb4".into(), seed: 1 };
        Rows::new(&dataset, 1)
    }

    #[test]
    fn chunks_hold_every_row_once() {
        for table_size in [1, 49_999, 50_000, 50_001, 175_000] {
            let chunks: Vec<Chunk> = Chunk::all(table_size).collect();
            assert_eq!(chunks.iter().map(|chunk| chunk.rows()).sum::<u64>(), table_size);
            assert_eq!(chunks.first().map(|chunk| chunk.first), Some(1));
            assert_eq!(chunks.last().map(|chunk| chunk.last), Some(table_size));
            assert!(chunks.windows(2).all(|pair| pair[0].last + 1 == pair[1].first));
            assert!(chunks.iter().all(|chunk| chunk.rows() <= CHUNK_ROWS));
        }
    }

    #[test]
    fn inserts_list_every_row_of_a_chunk_once_and_end_at_their_size() {
        let rows = rows();
        let chunk = Chunk { first: 101, last: 6_100 };
        for (packet_max, statements) in [(1 << 30, 3), (100_000, 12), (10, 6_000)] {
            let mut inserts = Inserts::new(&rows, "sbtest1", chunk, packet_max);
            let (mut text, mut listed, mut number, mut bytes) = (String::new(), 0, 0, 0);
            while inserts.write_next(&mut text) {
                let head = format!("INSERT INTO sbtest1 (id, k, c, pad) VALUES ({},", 101 + listed);
                assert!(text.starts_with(&head), "{}", &text[..80]);
                assert!(text.ends_with("')"));
                assert!(text.len() <= packet_max.clamp(ROW_BYTES_MAX, INSERT_BYTES));
                listed += text.matches("'),(").count() + 1;
                number += 1;
                bytes += text.len() as u64;
            }
            assert_eq!((listed, number), (6_000, statements));
            let checksum = rows.checksum(101..=6_100);
            assert_eq!(inserts.sent, Sent { checksum, bytes });
        }
    }

    #[test]
    fn prepared_inserts_take_whole_statements_and_leave_the_rest_to_text() {
        let rows = rows();
        let chunk = Chunk { first: 101, last: 1_000 };
        let mut inserts = Inserts::new(&rows, "sbtest1", chunk, 1 << 20);
        let (mut text, mut params, mut statements) = (String::new(), Vec::new(), 0);
        let marks = prepared_insert("sbtest1").matches('?').count();
        while inserts.next_params(&mut text, &mut params) {
            assert_eq!(params.len(), marks);
            assert_eq!(params[0], Param::Int(101 + 250 * statements));
            statements += 1;
        }
        assert_eq!(statements, 3);
        assert!(inserts.write_next(&mut text) && !inserts.write_next(&mut text));
        assert!(text.contains("VALUES (851,"), "{}", &text[..80]);
        assert_eq!(inserts.sent.checksum, rows.checksum(101..=1_000));
        let mut small = Inserts::new(&rows, "sbtest1", chunk, 60_000);
        assert!(!small.next_params(&mut text, &mut params));
    }

    #[test]
    fn a_file_lists_every_row_of_a_chunk_once_in_pieces() {
        let rows = rows();
        let chunk = Chunk { first: 50_001, last: 60_000 };
        let (sql, lines, sent) = file(&rows, "sbtest1", chunk);
        assert!(sql.contains("INTO TABLE sbtest1 "), "{sql}");
        let (mut id, mut bytes) = (50_000, 0);
        for piece in lines {
            assert!(piece.len() < PIECE_BYTES + ROW_BYTES_MAX);
            bytes += piece.len() as u64;
            for line in piece.lines() {
                id += 1;
                assert!(line.starts_with(&format!("{id}\t")), "{line}");
            }
        }
        assert_eq!(id, 60_000);
        let checksum = rows.checksum(50_001..=60_000);
        assert_eq!(*sent.lock().unwrap(), Sent { checksum, bytes });
    }
}
