//! One statement on its way to a server, rebuilt in place for every round trip.
//!
//! Must not know: SQL, protocols, sockets.

use std::sync::Arc;

/// The kind of a statement: the name under which it is counted and its latency is kept. Cheap to
/// clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatementKind(Arc<str>);

impl StatementKind {
    /// What else has a distribution in a run's files, under these names.
    const RESERVED: [&str; 2] = ["event", "service"];
    /// The rule in words.
    pub const RULE: &str =
        "1 to 32 of a-z, 0-9 and '_', starting with a letter; not `event`, not `service`";

    /// The kind of that name; `None` where it does not keep to [`Self::RULE`].
    pub fn new(name: &str) -> Option<Self> {
        let is_known =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let is_name = (1..=32).contains(&name.len())
            && name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.bytes().all(is_known)
            && !Self::RESERVED.contains(&name);
        is_name.then(|| Self(name.into()))
    }

    /// `BEGIN`.
    pub fn begin() -> Self {
        Self("begin".into())
    }

    /// `COMMIT`.
    pub fn commit() -> Self {
        Self("commit".into())
    }

    /// The name in `statements.csv`.
    pub fn name(&self) -> &str {
        &self.0
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
    /// The SQL of a text query, or the bytes to which [`Param::Text`] refers.
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
    fn a_kind_has_a_name_that_no_other_distribution_has() {
        for name in ["point_select", "x", "a1_b"] {
            assert_eq!(StatementKind::new(name).unwrap().name(), name);
        }
        for name in ["", "event", "service", "Select", "1a", "a-b", "a/b", &"a".repeat(33)] {
            assert_eq!(StatementKind::new(name), None, "{name}");
        }
    }
}
