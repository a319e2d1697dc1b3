//! One statement on its way to a server, rebuilt in place for every round trip.
//!
//! Must not know: SQL, protocols, sockets.

/// The kind of a statement: how it is counted, and under which name its latency is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StatementKind {
    /// `BEGIN`.
    Begin,
    /// Primary-key lookup.
    PointSelect,
    /// `BETWEEN` range read.
    SimpleRange,
    /// `SUM()` over a range.
    SumRange,
    /// Range read with `ORDER BY`.
    OrderRange,
    /// Range read with `DISTINCT` and `ORDER BY`.
    DistinctRange,
    /// Update of the indexed column.
    IndexUpdate,
    /// Update of a column without index.
    NonIndexUpdate,
    /// Delete by primary key.
    Delete,
    /// Insert of one row.
    Insert,
    /// `COMMIT`.
    Commit,
}

impl StatementKind {
    /// Every kind, in the order in which tables list them.
    pub const ALL: [Self; 11] = [
        Self::Begin,
        Self::PointSelect,
        Self::SimpleRange,
        Self::SumRange,
        Self::OrderRange,
        Self::DistinctRange,
        Self::IndexUpdate,
        Self::NonIndexUpdate,
        Self::Delete,
        Self::Insert,
        Self::Commit,
    ];

    /// The name in `statements.csv`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::PointSelect => "point_select",
            Self::SimpleRange => "simple_range",
            Self::SumRange => "sum_range",
            Self::OrderRange => "order_range",
            Self::DistinctRange => "distinct_range",
            Self::IndexUpdate => "index_update",
            Self::NonIndexUpdate => "non_index_update",
            Self::Delete => "delete",
            Self::Insert => "insert",
            Self::Commit => "commit",
        }
    }

    /// The position in [`Self::ALL`]: an index into arrays with a place for each kind.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// A parameter of a prepared statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Param {
    /// A signed integer (sysbench's `SQL_TYPE_INT`, which all our integers fit).
    Int(i64),
    /// A text: this range of bytes of [`Request::text`].
    Text {
        /// Offset of the first byte.
        start: usize,
        /// Number of bytes.
        len: usize,
    },
}

/// One statement, ready to be sent. Buffers are kept and reused.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// `None`: send [`Self::text`] as a text query. `Some`: execute the handle that was
    /// prepared as the n-th (from 0) on this connection, with [`Self::params`].
    pub slot: Option<usize>,
    /// The SQL of a text query, or the bytes to which [`Param::Text`] refers. ASCII.
    pub text: String,
    /// The parameters of a prepared statement, in order.
    pub params: Vec<Param>,
}

impl Request {
    /// Empties the buffers and keeps their memory.
    pub fn clear(&mut self) {
        self.slot = None;
        self.text.clear();
        self.params.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kinds_index_is_its_place_in_the_list() {
        for (index, kind) in StatementKind::ALL.into_iter().enumerate() {
            assert_eq!(kind.index(), index);
        }
    }
}
