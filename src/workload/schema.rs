//! Names, table definitions and the fingerprint of a dataset.
//!
//! Must not know: whether anything exists anywhere. Source of the texts: `oltp_common.lua` of
//! sysbench 1.0.20.

use sha2::{Digest, Sha256};

use crate::model::Dataset;

/// Changes whenever a row's content would: part of every fingerprint.
pub const ROW_FORMAT: u32 = 1;

/// The schema that holds a dataset, and nothing else: datasets that differ in anything stand
/// beside each other.
pub fn database(dataset: &Dataset) -> String {
    let fingerprint = fingerprint(dataset);
    format!("sbtest_{}x{}_{}", dataset.tables, dataset.table_size, &fingerprint[..6])
}

/// The n-th table, from 1.
pub fn table(number: u32) -> String {
    format!("sbtest{number}")
}

/// The definition of the n-th table, without the index on `k`.
pub fn create_table(number: u32) -> String {
    format!(
        "CREATE TABLE sbtest{number}(\n  id INTEGER NOT NULL AUTO_INCREMENT,\n  \
         k INTEGER DEFAULT '0' NOT NULL,\n  c CHAR(120) DEFAULT '' NOT NULL,\n  \
         pad CHAR(60) DEFAULT '' NOT NULL,\n  PRIMARY KEY (id)\n) /*! ENGINE = innodb */"
    )
}

/// The name of the n-th table's index on `k`.
pub fn index(number: u32) -> String {
    format!("k_{number}")
}

/// The index on `k`, made after the rows.
pub fn create_index(number: u32) -> String {
    format!("CREATE INDEX {} ON {}(k)", index(number), table(number))
}

/// SHA-256, in lower-case hexadecimal, of a text that names all that rows and tables follow
/// from.
pub fn fingerprint(dataset: &Dataset) -> String {
    let text = format!(
        "gridbench dataset\nrow_format={ROW_FORMAT}\ntables={}\ntable_size={}\ncharset={}\n\
         seed={}\n{}\n{}\n",
        dataset.tables,
        dataset.table_size,
        dataset.charset,
        dataset.seed,
        create_table(1),
        create_index(1),
    );
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dataset() -> Dataset {
        Dataset { tables: 250, table_size: 25_000, charset: "utf8mb4".into(), seed: 1 }
    }

    #[test]
    fn a_fingerprint_is_stable_and_depends_on_every_part() {
        let original = dataset();
        assert_eq!(fingerprint(&original), fingerprint(&dataset()));
        let others = [
            Dataset { tables: 251, ..dataset() },
            Dataset { table_size: 25_001, ..dataset() },
            Dataset { charset: "latin1".into(), ..dataset() },
            Dataset { seed: 2, ..dataset() },
        ];
        for other in others {
            assert_ne!(fingerprint(&other), fingerprint(&original), "{other:?}");
        }
    }

    #[test]
    fn a_schema_is_named_after_the_sizes_and_the_fingerprint() {
        let name = database(&dataset());
        assert!(name.starts_with("sbtest_250x25000_"), "{name}");
        assert_ne!(database(&Dataset { seed: 2, ..dataset() }), name);
    }
}
