//! Datasets: how many tables of how many rows, and what that weighs.
//!
//! Must not know: SQL, or whether a dataset exists anywhere.

use std::fmt;

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

/// When a dataset that writes have changed is made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Refresh {
    /// Never: what writes left is measured on, as sysbench does.
    #[default]
    Never,
    /// Before the first trial of a scenario.
    Scenario,
    /// Before every trial.
    Cell,
}

impl Refresh {
    /// Every value, in the order in which help texts list them.
    pub const ALL: &'static [Self] = &[Self::Never, Self::Scenario, Self::Cell];

    /// The name in a matrix file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Scenario => "scenario",
            Self::Cell => "cell",
        }
    }

    /// The value of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.name() == name)
    }
}

/// Rows in three numbers that do not depend on their order, so that parts add up.
///
/// Each row counts with the CRC-32 (that of zlib, and of SQL's `CRC32()`) of the text
/// `id TAB k TAB c TAB pad`: the line that `mysql --batch` prints of it, without its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Checksum {
    /// How many rows.
    pub rows: u64,
    /// Sum of their CRC-32.
    pub crc_sum: u64,
    /// Exclusive or of their CRC-32.
    pub crc_xor: u32,
}

impl Checksum {
    /// Counts one more row.
    #[inline]
    pub fn add(&mut self, crc: u32) {
        self.merge(Self { rows: 1, crc_sum: u64::from(crc), crc_xor: crc });
    }

    /// Counts other rows too.
    #[inline]
    pub fn merge(&mut self, other: Self) {
        self.rows = self.rows.wrapping_add(other.rows);
        self.crc_sum = self.crc_sum.wrapping_add(other.crc_sum);
        self.crc_xor ^= other.crc_xor;
    }

    /// Reads what `Display` writes.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mut value = |key| words.next()?.strip_prefix(key);
        let rows = value("rows=")?.parse().ok()?;
        let crc_sum = value("sum=")?.parse().ok()?;
        let crc_xor = u32::from_str_radix(value("xor=")?, 16).ok()?;
        words.next().is_none().then_some(Self { rows, crc_sum, crc_xor })
    }
}

/// `rows=25000 sum=53687091200000 xor=00c0ffee`.
impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, crc_sum, crc_xor } = self;
        write!(f, "rows={rows} sum={crc_sum} xor={crc_xor:08x}")
    }
}

/// What the server found in one table when its rows were complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableCheck {
    /// The n-th table, from 1.
    pub number: u32,
    /// Lowest id.
    pub first_id: u64,
    /// Highest id.
    pub last_id: u64,
    /// All its rows.
    pub checksum: Checksum,
}

/// A dataset as it stood before the first trial on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetRecord {
    /// The schema that holds it.
    pub database: String,
    /// Rows that this run sent; 0 where all of them were found.
    pub rows_sent: u64,
    /// How they were sent, and why so; `None` where all of them were found.
    pub route: Option<String>,
    /// Run and cell that first wrote to it since it was loaded; `None`: nobody did.
    pub changed_by: Option<String>,
    /// What the server found in each table after loading it.
    pub tables: Vec<TableCheck>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_in_any_order() {
        let (mut whole, mut first, mut second) = <(Checksum, Checksum, Checksum)>::default();
        for crc in [7, 0xffff_ffff, 7, 1] {
            whole.add(crc);
            if crc == 7 { first.add(crc) } else { second.add(crc) }
        }
        second.merge(first);
        assert_eq!(second, whole);
        assert_eq!(whole, Checksum { rows: 4, crc_sum: 0x1_0000_000e, crc_xor: 0xffff_fffe });
    }

    #[test]
    fn a_checksum_is_read_as_it_was_written_and_nothing_else_is() {
        let checksum = Checksum { rows: 25_000, crc_sum: u64::MAX, crc_xor: 0xc0_ffee };
        assert_eq!(checksum.to_string(), "rows=25000 sum=18446744073709551615 xor=00c0ffee");
        assert_eq!(Checksum::parse(&checksum.to_string()), Some(checksum));
        for bad in ["", "rows=1", "rows=1 sum=x xor=0", "rows=1 sum=1 xor=0 x", "sum=1 rows=1"] {
            assert_eq!(Checksum::parse(bad), None, "{bad:?}");
        }
    }
}
