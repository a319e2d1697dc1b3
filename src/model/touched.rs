//! Which tables a workload names, and which of them it changes, as far as its SQL tells.
//!
//! Must not know: any server, or whether a table is there.

use super::{OwnTable, Part, Statement, Touches, Workload};

/// How every table of a dataset begins.
const DATASET_TABLE: &str = "sbtest";

/// What is not as it was loaded once a workload has run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// Tables of the dataset.
    pub dataset: bool,
    /// Own tables, by name, in the order of the matrix.
    pub own: Vec<String>,
}

impl Workload {
    /// Whether its statements name the tables `sbtest1..`.
    pub fn uses_dataset(&self) -> bool {
        self.statements().any(|statement| names(statement).iter().any(|name| is_dataset(name)))
    }

    /// Those of these own tables that its statements name; none of a script of sysbench's, whose
    /// columns may have such a name.
    pub fn named<'a>(&self, own: &'a [OwnTable]) -> Vec<&'a OwnTable> {
        if self.is_built_in {
            return Vec::new();
        }
        let names: Vec<String> = self.statements().flat_map(names).collect();
        let is_named = |table: &&OwnTable| names.iter().any(|name| is_table(name, table));
        own.iter().filter(is_named).collect()
    }

    /// What it changes, of the dataset and of these own tables. A statement that writes and names
    /// none of them may change any.
    pub fn changes(&self, own: &[OwnTable]) -> Changes {
        if self.is_built_in {
            return Changes { dataset: self.access().writes(), own: Vec::new() };
        }
        let is_known =
            |name: &String| is_dataset(name) || own.iter().any(|table| is_table(name, table));
        let mut targets: Vec<String> = Vec::new();
        for statement in self.statements().filter(|one| one.touches == Touches::Writes) {
            let found = targets_of(names(statement));
            let known: Vec<String> = found.into_iter().filter(is_known).collect();
            if known.is_empty() {
                let own = own.iter().map(|table| table.name.clone()).collect();
                return Changes { dataset: true, own };
            }
            targets.extend(known);
        }
        let is_target = |table: &&OwnTable| targets.iter().any(|name| is_table(name, table));
        Changes {
            dataset: targets.iter().any(|name| is_dataset(name)),
            own: own.iter().filter(is_target).map(|table| table.name.clone()).collect(),
        }
    }
}

fn is_dataset(name: &str) -> bool {
    name.get(..DATASET_TABLE.len()).is_some_and(|head| head.eq_ignore_ascii_case(DATASET_TABLE))
}

fn is_table(name: &str, table: &OwnTable) -> bool {
    name.eq_ignore_ascii_case(&table.name)
}

/// Of the names of a statement that writes those that may be what it writes to: of an INSERT the
/// words after INTO up to the first that ends the table's name, of the others what stands before
/// the values or the condition.
fn targets_of(names: Vec<String>) -> Vec<String> {
    let is_word = |name: &String, word: &str| name.eq_ignore_ascii_case(word);
    let ends: &[&str] = match names.first().map(|verb| verb.to_ascii_uppercase()).as_deref() {
        Some("INSERT" | "REPLACE") => &["VALUES", "VALUE", "SET", "SELECT", "TABLE", "WITH"],
        Some("UPDATE") => &["SET"],
        Some("DELETE") => &["WHERE", "ORDER", "LIMIT"],
        _ => &[],
    };
    let is_end = |name: &String| ends.iter().any(|end| is_word(name, end));
    names.into_iter().take_while(|name| !is_end(name)).collect()
}

/// Every bare word and every name in backticks, in order; what stands in quotes and comments is
/// passed over.
fn names(statement: &Statement) -> Vec<String> {
    let mut text = String::new();
    write(&statement.parts, &mut text);
    let mut names = Vec::new();
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '`' => {
                let name = rest[1..].split('`').next().unwrap_or_default();
                names.push(name.to_owned());
                name.len() + 2
            }
            '\'' | '"' => quoted(rest, first),
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '-' if rest.starts_with("-- ") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            other if is_of_name(other) => {
                let length = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
                names.push(rest[..length].to_owned());
                length
            }
            other => other.len_utf8(),
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    names
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The length of a string in quotes, those included.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let is_end = *c == quote && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// The text with a number for the table and a parameter for each value.
fn write(parts: &[Part], text: &mut String) {
    for part in parts {
        match part {
            Part::Text(sql) => text.push_str(sql),
            Part::Table => text.push('1'),
            Part::Value(_) => text.push('?'),
            Part::List(list) => write(&list.parts, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Group, OwnRows, StatementKind};

    fn table(name: &str) -> OwnTable {
        let rows = OwnRows::Fixed(1);
        OwnTable { name: name.to_owned(), ddl: String::new(), rows, columns: Vec::new() }
    }

    fn workload(statements: &[(&str, Touches)]) -> Workload {
        let statement = |(sql, touches): &(&str, Touches)| Statement {
            kind: StatementKind::new("x").unwrap(),
            touches: *touches,
            read_type: None,
            parts: match sql.split_once("{}") {
                None => vec![Part::Text((*sql).to_owned())],
                Some((before, after)) => {
                    vec![Part::Text(before.into()), Part::Table, Part::Text(after.into())]
                }
            },
        };
        let statements = statements.iter().map(statement).collect();
        let group = Group { repeat: crate::model::Count::Fixed(1), when: None, statements };
        Workload {
            name: "w".to_owned(),
            is_built_in: false,
            is_transaction: false,
            groups_before_transaction: 0,
            has_handles: true,
            groups: vec![group],
            tables: Vec::new(),
        }
    }

    #[test]
    fn what_a_statement_writes_to_is_told_from_what_it_reads() {
        let own = [table("accounts"), table("entries")];
        for (sql, dataset, changed) in [
            ("UPDATE accounts SET a = (SELECT 1 FROM entries)", false, &["accounts"][..]),
            ("insert into `entries` (a) SELECT id FROM accounts", false, &["entries"]),
            ("DELETE FROM x.entries WHERE a IN (SELECT id FROM accounts)", false, &["entries"]),
            ("UPDATE accounts JOIN entries USING (id) SET a = 1", false, &["accounts", "entries"]),
            ("REPLACE INTO sbtest{} VALUES ('accounts', \"it's entries\")", true, &[]),
            ("UPDATE sbtest3 /* accounts */ SET k = 1 -- entries", true, &[]),
            ("TRUNCATE others", true, &["accounts", "entries"]),
        ] {
            let found = workload(&[(sql, Touches::Writes)]).changes(&own);
            let own = changed.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(found, Changes { dataset, own }, "{sql}");
        }
        let reads = workload(&[("SELECT 1 FROM sbtest{}, entries", Touches::Reads)]);
        assert_eq!(reads.changes(&own), Changes::default());
    }

    #[test]
    fn a_table_is_named_by_a_whole_word_outside_of_quotes() {
        let own = [table("accounts"), table("entries")];
        let of = |sql: &str| {
            let workload = workload(&[(sql, Touches::Reads)]);
            let named: Vec<String> =
                workload.named(&own).iter().map(|table| table.name.clone()).collect();
            (workload.uses_dataset(), named)
        };
        assert_eq!(of("SELECT my_accounts, 'entries' FROM a"), (false, vec![]));
        assert_eq!(of("SELECT 1 FROM d.Entries e"), (false, vec!["entries".into()]));
        assert_eq!(of("SELECT 'sbtest' FROM t"), (false, vec![]));
        assert_eq!(of("SELECT 1 FROM sbtest{} JOIN accounts"), (true, vec!["accounts".into()]));
        assert_eq!(
            of("SELECT 'it\\'s entries', 1 FROM accounts"),
            (false, vec!["accounts".into()])
        );
    }
}
