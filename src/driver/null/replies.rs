//! The answers to the statements of the workloads, built once.
//!
//! Must not know: connections.

use super::packet::{Mode, TYPE_NEWDECIMAL, TYPE_STRING, Writer, column, row};

/// Rows that a range of sysbench's `range_size` returns.
const RANGE_ROWS: u64 = 100;
/// Rows that an IN list of sysbench's `random_points` returns.
const POINT_ROWS: u64 = 10;

/// What a statement is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// BEGIN, COMMIT, SET and all that returns nothing: OK.
    Nothing,
    /// UPDATE, DELETE, INSERT: OK, one row changed.
    Changed,
    /// One row of `c`.
    Point,
    /// A hundred rows of `c`.
    Range,
    /// One row of `SUM(k)`.
    Sum,
    /// One row of `count(k)`.
    Count,
    /// Ten whole rows.
    Rows,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Nothing,
        Self::Changed,
        Self::Point,
        Self::Range,
        Self::Sum,
        Self::Count,
        Self::Rows,
    ];

    /// By its first bytes; `None` for a query that no workload has.
    pub(super) fn of(sql: &[u8]) -> Option<Self> {
        let sql = sql.trim_ascii_start();
        let word_end = sql.iter().position(|byte| !byte.is_ascii_alphabetic());
        let (word, rest) = sql.split_at(word_end.unwrap_or(sql.len()));
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        if is("SELECT") {
            return Self::of_select(rest);
        }
        if is("UPDATE") || is("DELETE") || is("INSERT") || is("REPLACE") {
            return Some(Self::Changed);
        }
        let shows = is("SHOW") || is("DESCRIBE") || is("DESC") || is("EXPLAIN") || is("WITH");
        (!shows && !word.is_empty()).then_some(Self::Nothing)
    }

    /// What follows SELECT in the reads of the workloads.
    fn of_select(rest: &[u8]) -> Option<Self> {
        let begins = |prefix: &str| {
            let head = rest.get(..prefix.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(prefix.as_bytes()))
        };
        if begins(" SUM(k) FROM ") {
            return Some(Self::Sum);
        }
        if begins(" DISTINCT c FROM ") {
            return Some(Self::Range);
        }
        // sysbench breaks the line after these.
        if begins(" count(k)") {
            return Some(Self::Count);
        }
        if begins(" id, k, c, pad") {
            return Some(Self::Rows);
        }
        const COLUMN: &str = " c FROM ";
        const CONDITION: &str = " WHERE id";
        if !begins(COLUMN) {
            return None;
        }
        let table = &rest[COLUMN.len()..];
        let condition = &table[table.iter().position(|byte| *byte == b' ')?..];
        match condition.get(CONDITION.len()) {
            Some(b'=') => Some(Self::Point),
            Some(b' ') => Some(Self::Range),
            _ => None,
        }
    }

    /// The kind with this number, which [`Self::code`] gave out.
    pub(super) fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    pub(super) fn code(self) -> u8 {
        self as u8
    }

    /// The definitions of the columns that it returns.
    pub(super) fn columns(self) -> Vec<Vec<u8>> {
        match self {
            Self::Nothing | Self::Changed => Vec::new(),
            Self::Point | Self::Range => vec![column("c", TYPE_STRING)],
            Self::Sum => vec![column("SUM(k)", TYPE_NEWDECIMAL)],
            Self::Count => vec![column("count(k)", TYPE_NEWDECIMAL)],
            Self::Rows => ["id", "k", "c", "pad"].map(|name| column(name, TYPE_STRING)).into(),
        }
    }

    fn rows(self) -> Vec<Vec<String>> {
        match self {
            Self::Nothing | Self::Changed => Vec::new(),
            Self::Point => vec![vec![c(0)]],
            Self::Range => (0..RANGE_ROWS).map(|number| vec![c(number)]).collect(),
            Self::Sum => vec![vec!["1250000".to_owned()]],
            Self::Count => vec![vec!["60".to_owned()]],
            Self::Rows => (1..=POINT_ROWS).map(whole_row).collect(),
        }
    }
}

/// Every answer in every mode.
#[derive(Debug)]
pub(super) struct Replies(Vec<Vec<u8>>);

impl Replies {
    pub(super) fn new() -> Self {
        let modes = (0..4).map(|bits| Mode { deprecate_eof: bits & 1 != 0, binary: bits & 2 != 0 });
        Self(modes.flat_map(|mode| Kind::ALL.map(|kind| reply(kind, mode))).collect())
    }

    /// The whole answer, packets and all.
    pub(super) fn get(&self, kind: Kind, mode: Mode) -> &[u8] {
        let mode = usize::from(mode.deprecate_eof) | usize::from(mode.binary) << 1;
        &self.0[mode * Kind::ALL.len() + kind as usize]
    }
}

fn reply(kind: Kind, mode: Mode) -> Vec<u8> {
    let mut writer = Writer::new(1);
    match kind {
        Kind::Nothing => writer.ok(0),
        Kind::Changed => writer.ok(1),
        Kind::Point | Kind::Range | Kind::Sum | Kind::Count | Kind::Rows => {
            writer.columns(&kind.columns(), mode);
            for values in kind.rows() {
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                writer.packet(&row(&values, mode));
            }
            writer.end_of_rows(mode);
        }
    }
    writer.into_bytes()
}

fn whole_row(number: u64) -> Vec<String> {
    let (c, id) = (c(number), number.to_string());
    let pad = c[..59].to_owned();
    vec![id.clone(), id, c, pad]
}

/// Ten groups of eleven digits, in ascending order of `number`.
fn c(number: u64) -> String {
    let groups = (0..10_u64).map(|group| {
        let digits = (number + 1) * 100_000_007 + group * 7_654_321;
        format!("{:011}", digits % 100_000_000_000)
    });
    groups.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_known_by_their_first_bytes() {
        let cases = [
            ("SELECT c FROM sbtest12 WHERE id=7", Some(Kind::Point)),
            ("select c from sbtest1 where id=?", Some(Kind::Point)),
            ("SELECT c FROM sbtest1 WHERE id BETWEEN 1 AND 100", Some(Kind::Range)),
            ("SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c", Some(Kind::Range)),
            ("SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 1 AND 2", Some(Kind::Range)),
            ("SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN 1 AND 100", Some(Kind::Sum)),
            ("\n  SELECT id, k, c, pad\n FROM sbtest1 WHERE k IN (1, 2)", Some(Kind::Rows)),
            ("SELECT count(k) FROM sbtest1 WHERE k BETWEEN 1 AND 6", Some(Kind::Count)),
            ("UPDATE sbtest1 SET k=k+1 WHERE id=1", Some(Kind::Changed)),
            ("DELETE FROM sbtest1 WHERE id=1", Some(Kind::Changed)),
            ("INSERT INTO sbtest1 (id, k, c, pad) VALUES (1, 2, 'a', 'b')", Some(Kind::Changed)),
            ("BEGIN", Some(Kind::Nothing)),
            ("SET NAMES utf8mb4", Some(Kind::Nothing)),
            ("SELECT @@version", None),
            ("SELECT c FROM", None),
            ("SHOW TABLES", None),
            ("", None),
        ];
        for (sql, kind) in cases {
            assert_eq!(Kind::of(sql.as_bytes()), kind, "{sql}");
        }
    }

    #[test]
    fn a_row_of_c_is_119_characters_and_a_range_ascends() {
        let rows = Kind::Range.rows();
        assert_eq!(rows.len(), 100);
        assert!(rows.iter().all(|row| row[0].len() == 119));
        assert!(rows.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_code_names_its_kind() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of_code(kind.code()), Some(kind));
        }
        assert_eq!(Kind::of_code(99), None);
    }
}
