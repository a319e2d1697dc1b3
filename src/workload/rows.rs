//! The content of a row: a pure function of seed, table, id and table size.
//!
//! Must not know: SQL, or how rows reach a server.

use std::ops::RangeInclusive;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;

use crate::model::{Checksum, Dataset, KeyLaw, Param};

use super::keys::KeyDistribution;
use super::random::{self, C_LEN, PAD_LEN};
use super::text::{push_ascii, push_integer};

/// A row of `sbtestN`; its id is known to whoever asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// `1..=table_size` by the "special" law, prepare's default in sysbench 1.0.20.
    pub k: u64,
    /// Ten groups of eleven digits, joined by dashes.
    pub c: [u8; C_LEN],
    /// Five such groups.
    pub pad: [u8; PAD_LEN],
}

/// The rows of one table. Each row has a SplitMix64 of its own, started at
/// `mix(mix(mix(seed) ^ table) ^ id)`, so that any row can be made without those before it.
#[derive(Debug, Clone)]
pub struct Rows {
    base: u64,
    keys: KeyDistribution,
}

impl Rows {
    /// The rows of the table of that number, from 1.
    pub fn new(dataset: &Dataset, table: u32) -> Self {
        Self {
            base: random::mix(random::mix(dataset.seed) ^ u64::from(table)),
            keys: KeyDistribution::new(KeyLaw::Special, dataset.table_size),
        }
    }

    /// The row with that id.
    #[inline]
    pub fn row(&self, id: u64) -> Row {
        let mut random = SplitMix64::seed_from_u64(random::mix(self.base ^ id));
        let mut row = Row { k: self.keys.draw(&mut random), c: [0; C_LEN], pad: [0; PAD_LEN] };
        random::fill_digit_groups(&mut random, &mut row.c);
        random::fill_digit_groups(&mut random, &mut row.pad);
        row
    }

    /// Appends `(id,k,'c','pad')`, the row as an INSERT lists it.
    pub fn write_values(&self, id: u64, text: &mut String) {
        self.row(id).write(id, VALUES, text);
    }

    /// Appends the row as a line of four fields with tabs between, as LOAD DATA reads it, and
    /// counts it in the checksum.
    pub fn write_line(&self, id: u64, text: &mut String, checksum: &mut Checksum) {
        let start = text.len();
        self.row(id).write(id, LINE, text);
        checksum.add(crc32fast::hash(&text.as_bytes()[start..text.len() - 1]));
    }

    /// Appends `(id,k,'c','pad')` and counts the row in the checksum; `line` is scratch.
    pub fn write_checked_values(
        &self,
        id: u64,
        text: &mut String,
        (line, checksum): (&mut String, &mut Checksum),
    ) {
        let row = self.row(id);
        row.write(id, VALUES, text);
        line.clear();
        row.write(id, LINE, line);
        checksum.add(crc32fast::hash(&line.as_bytes()[..line.len() - 1]));
    }

    /// Appends the row as four parameters of an INSERT, the texts of which go to `text`, and counts
    /// it in the checksum; `line` is scratch.
    pub fn write_checked_params(
        &self,
        id: u64,
        (text, params): (&mut String, &mut Vec<Param>),
        (line, checksum): (&mut String, &mut Checksum),
    ) {
        let row = self.row(id);
        let (c, pad) = (text.len(), text.len() + C_LEN);
        push_ascii(text, &row.c);
        push_ascii(text, &row.pad);
        params.extend([
            // An id of INTEGER, and a k that is no larger than the largest id.
            Param::Int(id as i64),
            Param::Int(row.k as i64),
            Param::Text { start: c, len: C_LEN },
            Param::Text { start: pad, len: PAD_LEN },
        ]);
        line.clear();
        row.write(id, LINE, line);
        checksum.add(crc32fast::hash(&line.as_bytes()[..line.len() - 1]));
    }

    /// The checksum of these rows, as a server that holds them would compute it.
    pub fn checksum(&self, ids: RangeInclusive<u64>) -> Checksum {
        let mut checksum = Checksum::default();
        let mut line = String::new();
        for id in ids {
            line.clear();
            self.write_line(id, &mut line, &mut checksum);
        }
        checksum
    }
}

/// What stands before, between and after the fields of a row in a list of values.
const VALUES: [&str; 5] = ["(", ",", ",'", "','", "')"];
/// In a line.
const LINE: [&str; 5] = ["", "\t", "\t", "\t", "\n"];

impl Row {
    /// Appends the fields with these texts before, between and after them.
    #[inline]
    fn write(&self, id: u64, between: [&str; 5], text: &mut String) {
        let [before_id, before_k, before_c, before_pad, after] = between;
        text.push_str(before_id);
        push_integer(text, id);
        text.push_str(before_k);
        push_integer(text, self.k);
        text.push_str(before_c);
        push_ascii(text, &self.c);
        text.push_str(before_pad);
        push_ascii(text, &self.pad);
        text.push_str(after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dataset(table_size: u64, seed: u64) -> Dataset {
        Dataset { tables: 3, table_size, charset: "utf8mb4".into(), seed }
    }

    fn values(dataset: &Dataset, table: u32, id: u64) -> String {
        let mut text = String::new();
        Rows::new(dataset, table).write_values(id, &mut text);
        text
    }

    #[test]
    fn a_row_is_as_recorded() {
        // Changing this means changing `schema::ROW_FORMAT`.
        let rows = [(1, 1), (1, 2), (2, 1)].map(|(t, id)| values(&dataset(25_000, 1), t, id));
        insta::assert_snapshot!(rows.join("\n"));
    }

    #[test]
    fn a_line_holds_the_same_fields_as_a_list_of_values() {
        let rows = Rows::new(&dataset(25_000, 1), 1);
        let mut line = String::new();
        rows.write_line(4, &mut line, &mut Checksum::default());
        let fields: Vec<&str> = line.trim_end_matches('\n').split('\t').collect();
        let [id, k, c, pad] = fields[..] else { panic!("{line}") };
        assert_eq!(values(&dataset(25_000, 1), 1, 4), format!("({id},{k},'{c}','{pad}')"));
    }

    #[test]
    fn however_rows_are_written_their_checksum_is_that_of_their_lines() {
        let rows = Rows::new(&dataset(1_000, 1), 2);
        let (mut text, mut line, mut checksum) =
            (String::new(), String::new(), Checksum::default());
        for id in 5..=44 {
            rows.write_checked_values(id, &mut text, (&mut line, &mut checksum));
        }
        assert_eq!(checksum, rows.checksum(5..=44));
        assert_eq!(text, (5..=44).map(|id| values(&dataset(1_000, 1), 2, id)).collect::<String>());

        let (mut texts, mut params, mut of_params) = <(String, Vec<Param>, Checksum)>::default();
        for id in 5..=44 {
            let sink = (&mut texts, &mut params);
            rows.write_checked_params(id, sink, (&mut line, &mut of_params));
        }
        assert_eq!(of_params, checksum);
        let value = |param: &Param| match *param {
            Param::Int(integer) => integer.to_string(),
            Param::Text { start, len } => format!("'{}'", &texts[start..start + len]),
        };
        let lists = params.chunks(4).map(|row| row.iter().map(value).collect::<Vec<_>>());
        let lists: String = lists.map(|row| format!("({})", row.join(","))).collect();
        assert_eq!(lists, text);

        // CRC-32 of "123456789" as every description of it has it.
        assert_eq!(crc32fast::hash(b"123456789"), 0xcbf4_3926);
        let row = rows.row(7);
        let [c, pad] = [&row.c[..], &row.pad[..]].map(|text| String::from_utf8_lossy(text));
        let line = format!("7\t{}\t{c}\t{pad}", row.k);
        let mut one = Checksum::default();
        one.add(crc32fast::hash(line.as_bytes()));
        assert_eq!(rows.checksum(7..=7), one);
    }

    #[test]
    fn a_row_depends_on_seed_table_id_and_table_size_and_on_nothing_else() {
        let original = values(&dataset(25_000, 1), 2, 77);
        assert_eq!(values(&Dataset { tables: 9, ..dataset(25_000, 1) }, 2, 77), original);
        for other in [
            values(&dataset(25_000, 2), 2, 77),
            values(&dataset(25_000, 1), 3, 77),
            values(&dataset(25_000, 1), 2, 78),
            values(&dataset(50_000, 1), 2, 77),
        ] {
            assert_ne!(other, original);
        }
    }

    #[test]
    fn values_have_the_shapes_of_sysbench() {
        let rows = Rows::new(&dataset(1_000, 5), 1);
        for id in 1..=1_000 {
            let row = rows.row(id);
            assert!((1..=1_000).contains(&row.k));
            assert_eq!((row.c.len(), row.pad.len()), (119, 59));
            for (place, byte) in row.c.iter().chain([b'-'].iter()).chain(&row.pad).enumerate() {
                assert_eq!(*byte == b'-', place % 12 == 11, "{place}");
                assert!(*byte == b'-' || byte.is_ascii_digit());
            }
        }
    }

    #[test]
    fn no_two_rows_of_a_table_are_alike() {
        let rows = Rows::new(&dataset(20_000, 9), 1);
        let distinct: std::collections::BTreeSet<_> =
            (1..=20_000).map(|id| rows.row(id).c).collect();
        assert_eq!(distinct.len(), 20_000);
    }
}
