//! Instance sizes and the published formulas that follow from them.
//!
//! Must not know: how a size is written in a file or on a screen.

use super::SpecId;

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

impl Bytes {
    /// 10^6 bytes: the unit in which the published formulas count.
    pub const MB: u64 = 1_000_000;
    /// 10^9 bytes: a published "GB".
    pub const GB: u64 = 1_000_000_000;

    /// Whole megabytes (10^6 bytes), rounded down.
    pub fn megabytes(self) -> u64 {
        self.0 / Self::MB
    }

    /// This size divided by a rehearsal's factor, rounded down.
    pub fn shrunk(self, factor: u64) -> Self {
        Self(self.0 / factor.max(1))
    }
}

/// An instance size: what a vendor sells under one line of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Unique in a matrix; `2c4g` unless the file says otherwise.
    pub id: SpecId,
    /// Processor cores.
    pub cpu: u32,
    /// Memory in decimal units: 4 GB is 4,000,000,000 bytes.
    pub memory: Bytes,
}

impl Spec {
    /// `innodb_buffer_pool_size` by the published default: `min(M - 500 MB, 3/4 M)`, M the
    /// memory with 1000 MB to the GB. Source: TDSQL-C for MySQL's parameter list.
    pub fn buffer_pool(&self) -> Bytes {
        let memory = self.memory.0;
        Bytes(memory.saturating_sub(500 * Bytes::MB).min(memory / 4 * 3))
    }

    /// `max_connections` by the published default: `min(M / 4 + 500, 100000)`, M in MB.
    pub fn max_connections(&self) -> u32 {
        let connections = (self.memory.megabytes() / 4 + 500).min(100_000);
        u32::try_from(connections).unwrap_or(100_000)
    }

    /// How many prepared statements a server of this size is asked to hold, whatever its
    /// `max_prepared_stmt_count` allows: as many as fit into a quarter of its memory (one of the
    /// mixed workload took 19 KB of MariaDB 10.11 and 28 KB of MySQL 9.7), and never fewer than
    /// both families allow unless told otherwise.
    pub fn prepared_statements(&self) -> u64 {
        const EACH_BYTES: u64 = 28_000;
        const DEFAULT_LIMIT: u64 = 16_382;
        (self.memory.0 / 4 / EACH_BYTES).max(DEFAULT_LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(cpu: u32, gigabytes: u64) -> Spec {
        let id = SpecId::new(&format!("{cpu}c{gigabytes}g")).unwrap();
        Spec { id, cpu, memory: Bytes(gigabytes * Bytes::GB) }
    }

    #[test]
    fn the_buffer_pool_is_three_quarters_of_memory_from_2_gb_on() {
        assert_eq!(spec(2, 4).buffer_pool(), Bytes(3_000 * Bytes::MB));
        assert_eq!(spec(88, 710).buffer_pool(), Bytes(532_500 * Bytes::MB));
        assert_eq!(spec(1, 1).buffer_pool(), Bytes(500 * Bytes::MB));
    }

    #[test]
    fn max_connections_grows_with_memory_up_to_100000() {
        assert_eq!(spec(2, 4).max_connections(), 1_500);
        assert_eq!(spec(88, 710).max_connections(), 100_000);
    }

    #[test]
    fn prepared_statements_take_a_quarter_of_the_memory_at_most() {
        assert_eq!(spec(2, 4).prepared_statements(), 35_714);
        assert_eq!(spec(32, 128).prepared_statements(), 1_142_857);
        assert_eq!(spec(1, 1).prepared_statements(), 16_382);
    }
}
