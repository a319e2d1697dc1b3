//! Names, table definitions and the fingerprint of a dataset.
//!
//! Must not know: whether anything exists anywhere. Source of the texts: `oltp_common.lua` of
//! sysbench 1.0.20.

use sha2::{Digest, Sha256};

use crate::model::{Dataset, plural};

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

/// Which table a name is of; `None` if it is none of a dataset's.
pub fn table_number(name: &str) -> Option<u32> {
    let number = name.strip_prefix("sbtest")?.parse().ok()?;
    (number > 0 && name == table(number)).then_some(number)
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

/// The query for lowest id, highest id, number of rows, and sum and exclusive or of their CRC-32
/// ([`crate::model::Checksum`]), all as the server computes them, over the rows of the n-th table
/// for which `condition` holds. It reads the rows in the order of their ids.
pub fn checksum_query(dataset: &Dataset, number: u32, condition: &str) -> String {
    let line = match dataset.charset.as_str() {
        // CHAR is BINARY then, which is filled up with zeros.
        "binary" => "CONCAT_WS('\t', id, k, LEFT(c, 119), LEFT(pad, 59))",
        _ => "CONCAT_WS('\t', id, k, c, pad)",
    };
    // What is more than a byte wide would make other bytes of the same digits.
    let is_wide = ["ucs2", "utf16", "utf32"].iter().any(|name| dataset.charset.starts_with(name));
    let line = if is_wide { format!("CONVERT({line} USING latin1)") } else { line.to_owned() };
    format!(
        "SELECT MIN(id), MAX(id), COUNT(*), CAST(SUM(CRC32({line})) AS CHAR), \
         BIT_XOR(CRC32({line})) FROM {} FORCE INDEX (PRIMARY) WHERE {condition}",
        table(number)
    )
}

/// What a dataset is, in words that a person reads: `4 tables x 625000 rows, utf8mb4, seed 1`.
pub fn shape(dataset: &Dataset) -> String {
    let Dataset { tables, table_size, charset, seed } = dataset;
    // Not in groups: the number of tables is read back.
    let (of_tables, of_rows) = (plural(u64::from(*tables), "table"), plural(*table_size, "row"));
    format!("{tables} {of_tables} x {table_size} {of_rows}, {charset}, seed {seed}")
}

/// The number of tables in what [`shape`] made.
pub fn tables_of_shape(shape: &str) -> Option<u32> {
    shape.split(' ').next()?.parse().ok()
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
    fn only_a_datasets_own_tables_have_a_number() {
        for number in [1, 250, u32::MAX] {
            assert_eq!(table_number(&table(number)), Some(number));
        }
        for name in ["sbtest", "sbtest0", "sbtest01", "sbtest+1", "sbtest1x", "Sbtest1", "t1"] {
            assert_eq!(table_number(name), None, "{name}");
        }
    }

    #[test]
    fn a_shape_says_how_many_tables_there_are() {
        assert_eq!(shape(&dataset()), "250 tables x 25000 rows, utf8mb4, seed 1");
        assert_eq!(tables_of_shape(&shape(&dataset())), Some(250));
        assert_eq!(tables_of_shape("nonsense"), None);
    }

    #[test]
    fn a_schema_is_named_after_the_sizes_and_the_fingerprint() {
        let name = database(&dataset());
        assert!(name.starts_with("sbtest_250x25000_"), "{name}");
        assert_ne!(database(&Dataset { seed: 2, ..dataset() }), name);
    }
}
