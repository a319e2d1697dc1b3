//! Datasets: how many tables of how many rows, and what that weighs.
//!
//! Must not know: SQL, or whether a dataset exists anywhere.

use super::Bytes;

/// Planned bytes of one `sbtest` row in InnoDB with utf8mb4 and the index on `k`: measured
/// between 238 and 250, of which 225 are the clustered index (73 rows to a 16 KiB page).
pub const ROW_BYTES: u64 = 245;

/// What the page claims about data and cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatasetClass {
    /// Everything fits in the buffer pool; no page is read from disk while measuring.
    FullCache,
    /// The data is larger than what can be cached.
    LargerThanMemory,
}

impl DatasetClass {
    /// The name in a matrix file.
    pub fn name(self) -> &'static str {
        match self {
            Self::FullCache => "full-cache",
            Self::LargerThanMemory => "larger-than-memory",
        }
    }

    /// The class of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::FullCache, Self::LargerThanMemory].into_iter().find(|class| class.name() == name)
    }
}

/// `tables` tables `sbtest1..` of `table_size` rows each, a pure function of the seed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dataset {
    /// Number of tables.
    pub tables: u32,
    /// Rows in each.
    pub table_size: u64,
    /// Character set of the schema.
    pub charset: String,
    /// From which every row follows.
    pub seed: u64,
}

impl Dataset {
    /// Rows in all tables.
    pub fn rows(&self) -> u64 {
        u64::from(self.tables).saturating_mul(self.table_size)
    }

    /// Room that the files take: InnoDB grows the file of a table by whole extents, ahead of what
    /// is in it. Measured on MariaDB 10.11: some 8 MiB more than the pages for a table of more
    /// than a megabyte, 128 KiB for a smaller one.
    pub fn disk_bytes(&self) -> Bytes {
        let table = self.table_size.saturating_mul(ROW_BYTES);
        let ahead = if table > Bytes::MB { 8 << 20 } else { 128 << 10 };
        Bytes(table.saturating_add(ahead).saturating_mul(u64::from(self.tables)))
    }

    /// Planned size of the pages: rows x [`ROW_BYTES`].
    pub fn planned_bytes(&self) -> Bytes {
        Bytes(self.rows().saturating_mul(ROW_BYTES))
    }
}
