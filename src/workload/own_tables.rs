//! The tables of a workload of one's own: what is wrong with one, its rows, its fingerprint.
//!
//! Must not know: how rows reach a server, or whether a table exists anywhere.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use sha2::{Digest, Sha256};

use crate::model::{ColumnValue, OwnRows, OwnTable};

use super::content::Maker;
use super::generators::ArgumentFault;
use super::random;
use super::sql::{Token, cut, first_word};
use super::text::push_integer;

/// Rows that an own table may have.
pub const MAX_ROWS: u64 = 10_000_000_000;

/// Changes whenever a row's content would: part of every fingerprint.
const ROW_FORMAT: u32 = 1;

/// The rows of an own table: each a pure function of seed, table and number, so that any row can
/// be made without those before it.
#[derive(Debug, Clone)]
pub struct OwnTableRows {
    base: u64,
    columns: Vec<Column>,
}

#[derive(Debug, Clone)]
enum Column {
    RowId,
    Drawn(Maker),
}

impl OwnTableRows {
    /// The rows that follow from this seed.
    pub fn new(table: &OwnTable, seed: u64) -> Self {
        let name: u64 =
            table.name.bytes().fold(0, |hash, byte| random::mix(hash ^ u64::from(byte)));
        let column = |value: &ColumnValue| match value {
            ColumnValue::RowId => Column::RowId,
            ColumnValue::Content(content) => Column::Drawn(Maker::new(content)),
        };
        Self {
            base: random::mix(random::mix(seed) ^ name),
            columns: table.columns.iter().map(|of| column(&of.value)).collect(),
        }
    }

    /// Appends `(1,'a',...)`, the row of that number (from 1) as an INSERT lists it.
    pub fn write_values(&self, number: u64, text: &mut String) {
        let mut random = SplitMix64::seed_from_u64(random::mix(self.base ^ number));
        for (place, column) in self.columns.iter().enumerate() {
            text.push(if place == 0 { '(' } else { ',' });
            match column {
                Column::RowId => push_integer(text, number),
                Column::Drawn(maker) => maker.push_literal(&mut random, text),
            }
        }
        text.push(')');
    }
}

/// `INSERT INTO accounts (id, balance) VALUES `, to which rows are appended.
pub fn insert(table: &OwnTable) -> String {
    let names: Vec<String> = table.columns.iter().map(|of| format!("`{}`", of.name)).collect();
    format!("INSERT INTO `{}` ({}) VALUES ", table.name, names.join(", "))
}

/// SHA-256, in lower-case hexadecimal, of a text that names all that the table's rows follow from.
pub fn fingerprint(table: &OwnTable, seed: u64, table_size: u64) -> String {
    let text = format!(
        "gridbench own table\nrow_format={ROW_FORMAT}\nseed={seed}\nrows={}\n{}\n",
        table.row_count(table_size),
        super::form::table_text(table),
    );
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Everything that is wrong with a table, by the key of its section.
pub fn faults(table: &OwnTable) -> Vec<ArgumentFault> {
    let mut faults = Vec::new();
    let mut fault =
        |key, message: &str| faults.push(ArgumentFault { key, message: message.into() });
    if !is_name(&table.name) {
        fault("name", "must be 1 to 64 of a-z, 0-9 and '_', starting with a letter");
    }
    if table.name.starts_with("sbtest") || table.name.starts_with("gridbench") {
        fault(
            "name",
            "must not begin with `sbtest` or `gridbench`: those tables are the dataset's",
        );
    }
    match cut(&table.ddl) {
        Err(message) => fault("ddl", &message),
        Ok(tokens) if tokens.iter().any(|token| !matches!(token, Token::Text(_))) => {
            fault("ddl", "must have no parameter and no placeholder");
        }
        Ok(_) if !creates(&table.ddl, &table.name) => {
            fault("ddl", &format!("must begin with `CREATE TABLE {}`", table.name));
        }
        Ok(_) => {}
    }
    if matches!(table.rows, OwnRows::Fixed(rows) if !(1..=MAX_ROWS).contains(&rows)) {
        fault("rows", "must be between 1 and 10,000,000,000");
    }
    if table.columns.is_empty() {
        fault("column", "names none: at least one is filled");
    }
    for (place, column) in table.columns.iter().enumerate() {
        if !is_column_name(&column.name) {
            fault("column", &format!("names `{}`, which is no name of a column", column.name));
        }
        if table.columns[..place].iter().any(|other| other.name == column.name) {
            fault("column", &format!("names `{}` twice", column.name));
        }
    }
    faults
}

/// Whether a text can be the name of an own table.
fn is_name(name: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=64).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(is_known)
}

fn is_column_name(name: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=64).contains(&name.len()) && name.bytes().all(is_known)
}

/// Whether a statement creates the table of that name, and not only if nobody else has.
fn creates(ddl: &str, name: &str) -> bool {
    let mut words = ddl.split(|c: char| c.is_whitespace() || c == '(').filter(|w| !w.is_empty());
    let is_create = first_word(ddl) == "CREATE" && words.next().is_some();
    let is_table = words.next().is_some_and(|word| word.eq_ignore_ascii_case("TABLE"));
    is_create && is_table && words.next().is_some_and(|word| word.trim_matches('`') == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Constant, Content, KeyLaw};

    fn table() -> OwnTable {
        let column = |name: &str, value| crate::model::Column { name: name.into(), value };
        let drawn = |content| ColumnValue::Content(content);
        OwnTable {
            name: "accounts".into(),
            ddl: "CREATE TABLE accounts (id INT PRIMARY KEY, balance INT, state CHAR(9))".into(),
            rows: OwnRows::Fixed(1_000),
            columns: vec![
                column("id", ColumnValue::RowId),
                column(
                    "balance",
                    drawn(Content::Integer { min: 0, max: 99, keys: KeyLaw::Pareto }),
                ),
                column("state", drawn(Content::OneOf(vec![Constant::Text("it's".into())]))),
            ],
        }
    }

    fn row(table: &OwnTable, seed: u64, number: u64) -> String {
        let mut text = String::new();
        OwnTableRows::new(table, seed).write_values(number, &mut text);
        text
    }

    #[test]
    fn a_row_is_as_recorded_and_depends_on_seed_table_and_number() {
        // Changing this means changing `ROW_FORMAT`.
        let rows = [1, 2, 3].map(|number| row(&table(), 1, number));
        insta::assert_snapshot!(format!("{}{}", insert(&table()), rows.join(",")));
        let other = OwnTable { name: "others".into(), ..table() };
        let differs = |one: &OwnTable, seed| {
            (1..50).any(|number| row(one, seed, number) != row(&table(), 1, number))
        };
        assert!(differs(&other, 1) && differs(&table(), 2) && !differs(&table(), 1));
    }

    #[test]
    fn a_fingerprint_depends_on_definition_rows_columns_and_seed() {
        let original = fingerprint(&table(), 1, 10);
        assert_eq!(original, fingerprint(&table(), 1, 20), "the rows are its own");
        let mut fewer = table();
        fewer.columns.pop();
        for other in [
            fingerprint(&table(), 2, 10),
            fingerprint(&fewer, 1, 10),
            fingerprint(&OwnTable { rows: OwnRows::TableSize, ..table() }, 1, 10),
            fingerprint(&OwnTable { ddl: format!("{} ", table().ddl), ..table() }, 1, 10),
        ] {
            assert_ne!(other, original);
        }
    }

    #[test]
    fn what_is_wrong_with_a_table_is_said_by_its_key() {
        assert_eq!(faults(&table()), []);
        let keys = |table: OwnTable| -> Vec<&str> {
            faults(&table).iter().map(|fault| fault.key).collect()
        };
        let ddl = |ddl: &str| OwnTable { ddl: ddl.into(), ..table() };
        assert_eq!(keys(OwnTable { name: "sbtest1".into(), ..table() }), ["name", "ddl"]);
        assert_eq!(keys(OwnTable { name: "a`b".into(), ..table() }), ["name", "ddl"]);
        assert_eq!(keys(ddl("CREATE TABLE accounts (a INT); DROP TABLE x")), ["ddl"]);
        assert_eq!(keys(ddl("CREATE TABLE IF NOT EXISTS accounts (a INT)")), ["ddl"]);
        assert_eq!(keys(ddl("CREATE TABLE other (a INT)")), ["ddl"]);
        assert_eq!(keys(ddl("CREATE TABLE accounts (a INT DEFAULT ?)")), ["ddl"]);
        assert_eq!(keys(ddl("create table `accounts`(id int)")), [""; 0]);
        assert_eq!(keys(OwnTable { rows: OwnRows::Fixed(0), ..table() }), ["rows"]);
        assert_eq!(keys(OwnTable { columns: Vec::new(), ..table() }), ["column"]);
    }
}
