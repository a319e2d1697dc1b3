//! The document as written: TOML values with their places, and the overrides merged into it.
//!
//! Must not know: which keys exist.

use crate::model::{counted, on_a_deep_stack};
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::diagnostic::{Fault, Faults, Place, SourceText};

/// Nested tables and arrays; the deepest format needs four.
const MAX_DEPTH: usize = 16;

/// A table: its entries in the order of the source.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_place: Place,
    pub(crate) node: Node,
}

/// A value with its place.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) place: Place,
}

/// What TOML knows.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    String(String),
    /// Saturated where it does not fit: every range that we accept is far smaller.
    Integer(i128),
    Float(f64),
    Boolean(bool),
    Datetime,
    Array(Vec<Node>),
    Table(Table),
}

impl Value {
    /// With its article, for a sentence.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::String(_) => "a string",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Boolean(_) => "a boolean",
            Self::Datetime => "a date",
            Self::Array(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

impl Table {
    /// Parses a file's text; every syntax error becomes a fault.
    pub(crate) fn parse(text: &str, faults: &Faults) -> Self {
        let (table, found) = on_a_deep_stack(|| {
            let found = Faults::default();
            let (table, errors) = DeTable::parse_recoverable(text);
            for error in &errors {
                found.push(syntax_fault(0, 0, text, error));
            }
            let origin = Origin { source: 0, offset: 0, faults: &found };
            (origin.table(table.get_ref(), 0), found)
        });
        for fault in found.into_vec() {
            faults.push(fault);
        }
        table
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Merges one `KEY=VALUE`, which is the text of source number `source`.
    pub(crate) fn set(&mut self, source: usize, text: &str) -> Result<(), Fault> {
        let whole = Place::new(source, 0..text.len());
        let Some((path, value)) = text.split_once('=') else {
            return Err(Fault::new("override", "an override without `=`")
                .at(whole, "no `=` here")
                .help("write KEY=VALUE, for example protocol.duration=20s"));
        };
        let node = override_value(source, path.len() + 1, value)?;
        let segments = segments(source, path);
        if segments.iter().any(|(name, _)| name.is_empty()) || segments.len() > MAX_DEPTH {
            return Err(Fault::new("override", "an override without a proper key")
                .at(Place::new(source, 0..path.len()), "not a key")
                .help("write the key as in the file, for example protocol.duration=20s"));
        }
        set_in_table(self, &segments, node)
    }
}

/// Where parsed values come from.
struct Origin<'a> {
    source: usize,
    offset: usize,
    faults: &'a Faults,
}

impl Origin<'_> {
    fn place(&self, span: Range<usize>) -> Place {
        Place::new(self.source, span.start + self.offset..span.end + self.offset)
    }

    fn table(&self, table: &DeTable<'_>, depth: usize) -> Table {
        let mut entries: Vec<Entry> = table
            .iter()
            .map(|(key, value)| Entry {
                key: key.get_ref().clone().into_owned(),
                key_place: self.place(key.span()),
                node: self.node(value, depth + 1),
            })
            .collect();
        entries.sort_by_key(|entry| entry.key_place);
        Table { entries }
    }

    /// The parser bounds nesting and dots by themselves, not their product: what is deeper than
    /// any real file is a fault and is not walked.
    fn node(&self, value: &Spanned<DeValue<'_>>, depth: usize) -> Node {
        let place = self.place(value.span());
        if depth > MAX_DEPTH {
            self.faults.push(Fault::new("syntax", "nested too deep").at(place, "here"));
            return Node { value: Value::Boolean(false), place };
        }
        let value = match value.get_ref() {
            DeValue::String(text) => Value::String(text.clone().into_owned()),
            DeValue::Integer(integer) => Value::Integer(
                i128::from_str_radix(integer.as_str(), integer.radix()).unwrap_or(i128::MAX),
            ),
            DeValue::Float(float) => Value::Float(float.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(boolean) => Value::Boolean(*boolean),
            DeValue::Datetime(_) => Value::Datetime,
            DeValue::Array(items) => {
                Value::Array(items.iter().map(|item| self.node(item, depth + 1)).collect())
            }
            DeValue::Table(table) => Value::Table(self.table(table, depth)),
        };
        Node { value, place }
    }
}

fn syntax_fault(source: usize, offset: usize, text: &str, error: &toml::de::Error) -> Fault {
    let span = error.span().unwrap_or(0..0);
    let end = span.end.min(text.len());
    let place = Place::new(source, span.start.min(end) + offset..end + offset);
    Fault::new("syntax", format!("not TOML: {}", error.message())).at(place, "here")
}

/// A TOML value, or a bare text, which counts as a string.
fn override_value(source: usize, offset: usize, text: &str) -> Result<Node, Fault> {
    let offset = offset + text.len() - text.trim_start().len();
    let text = text.trim();
    let place = Place::new(source, offset..offset + text.len());
    on_a_deep_stack(|| match DeValue::parse(text) {
        Ok(value) => {
            let faults = Faults::default();
            let node = Origin { source, offset, faults: &faults }.node(&value, 0);
            faults.into_vec().pop().map_or(Ok(node), Err)
        }
        Err(error) if text.starts_with(['[', '{', '"', '\'']) => {
            Err(syntax_fault(source, offset, text, &error))
        }
        Err(_) => Ok(Node { value: Value::String(text.to_owned()), place }),
    })
}

fn segments(source: usize, path: &str) -> Vec<(String, Place)> {
    let mut start = 0;
    let mut segments = Vec::new();
    for segment in path.split('.') {
        let place = Place::new(source, start..start + segment.len());
        segments.push((segment.trim().to_owned(), place));
        start += segment.len() + 1;
    }
    segments
}

fn set_in_table(table: &mut Table, path: &[(String, Place)], node: Node) -> Result<(), Fault> {
    let Some(((key, place), rest)) = path.split_first() else { return Ok(()) };
    let index = match table.entries.iter().position(|entry| entry.key == *key) {
        Some(index) => index,
        None => {
            let empty = Node { value: Value::Table(Table::default()), place: *place };
            table.entries.push(Entry { key: key.clone(), key_place: *place, node: empty });
            table.entries.len() - 1
        }
    };
    let entry = &mut table.entries[index];
    if rest.is_empty() {
        entry.key_place = *place;
        entry.node = node;
        return Ok(());
    }
    set_in_node(&mut entry.node, (key, *place), rest, node)
}

/// Goes on in a table, or in the element of a list that a number names (from 0).
fn set_in_node(
    target: &mut Node,
    parent: (&str, Place),
    path: &[(String, Place)],
    node: Node,
) -> Result<(), Fault> {
    match &mut target.value {
        Value::Table(table) => set_in_table(table, path, node),
        Value::Array(items) => {
            let Some(((index, place), rest)) = path.split_first() else { return Ok(()) };
            let known = counted(items.len(), "element");
            let Some(item) = index.parse().ok().and_then(|at: usize| items.get_mut(at)) else {
                return Err(Fault::new("override", "no such element of a list")
                    .at(*place, format!("`{}` has {known}", parent.0))
                    .help("name one by its number, from 0: spec.0.cpu=4"));
            };
            if rest.is_empty() {
                *item = node;
                return Ok(());
            }
            set_in_node(item, (index, *place), rest, node)
        }
        other => Err(Fault::new("override", "an override below a plain value")
            .at(parent.1, format!("`{}` is {}, not a table", parent.0, other.type_name()))),
    }
}

/// The sources that faults may point into: the file, then each override.
pub(crate) fn sources(name: &str, text: &str, overrides: &[String]) -> Vec<SourceText> {
    let mut sources = vec![SourceText::new(name, text)];
    sources.extend(overrides.iter().map(|text| SourceText::new("--set", &format!("{text}\n"))));
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(document: &str, text: &str) -> Result<Table, Fault> {
        let faults = Faults::default();
        let mut table = Table::parse(document, &faults);
        assert!(faults.is_empty());
        table.set(1, text).map(|()| table)
    }

    #[test]
    fn an_override_replaces_adds_and_reaches_into_lists() {
        let table = set("a.b = 1\n", "a.b=20s").unwrap();
        let Value::Table(inner) = &table.get("a").unwrap().node.value else { panic!("a table") };
        assert!(
            matches!(&inner.get("b").unwrap().node.value, Value::String(text) if text == "20s")
        );
        assert!(set("", "x.y.z=[1, 2]").unwrap().get("x").is_some());
        assert!(set("[[s]]\nk = 1\n", "s.0.k=2").is_ok());
        assert!(set("[[s]]\nk = 1\n", "s.1.k=2").is_err());
        assert!(set("k = 1\n", "k.l=2").is_err());
        assert!(set("", "noequals").is_err());
        assert!(set("", "a..b=1").is_err());
        assert!(set("", "a=[64").is_err());
    }

    #[test]
    fn a_hostile_depth_is_refused_and_not_walked() {
        let deep = [
            format!("{}a = 1\n", "a.".repeat(400_000)),
            format!("[{}a]\n", "a.".repeat(400_000)),
            format!("a = {}\n", "[".repeat(900_000)),
            format!("a = {}\n", "{a=".repeat(300_000)),
            format!("a = {{ {}a = 1 }}\n", "a.".repeat(400_000)),
            format!("a = [\n{{ {}a = 1 }}\n]", "a.".repeat(400_000)),
            format!("{}a = 1 {}", format!("a{} = {{", ".a".repeat(70)).repeat(70), "}".repeat(70)),
        ];
        for text in deep {
            let faults = Faults::default();
            Table::parse(&text, &faults);
            assert!(!faults.is_empty(), "{}", &text[..20]);
        }
    }
}
