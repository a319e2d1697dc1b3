//! The values of a declared workload: generators by name, with their arguments.
//!
//! Must not know: statements, or what a value becomes.

use super::limits::{MAX_STATEMENTS, REPEAT};
use crate::model::{ColumnValue, Constant, Count, KeyLaw, Number, OwnRows, Value, counted};
use crate::workload::TABLE_SIZE;
use crate::workload::generators::{
    ArgumentFault, Arguments, MAX_LENGTH, column_names, column_value, statement_names,
    statement_value,
};
use crate::workload::own_tables::MAX_ROWS;
use crate::written::{
    Fault, Node, Place, Read, Section, Value as Toml, Wrong, integer, integer_u32, named, place_in,
    signed, string, suggestion, wrong_type,
};

/// Values as far as they could be read.
pub(super) struct Listed {
    /// One for each that is listed: in the place of a faulty one another, so that they can be
    /// counted.
    pub(super) values: Vec<Value>,
    /// Whether none is faulty.
    pub(super) is_whole: bool,
}

/// The values that a key lists, those of a statement; absent is none. `None` where it is no list.
/// `tables` are the workload's own.
pub(super) fn statement_values(
    section: &mut Section<'_>,
    key: &'static str,
    tables: &[String],
) -> Option<Listed> {
    let Some(node) = section.node(key) else {
        return Some(Listed { values: Vec::new(), is_whole: true });
    };
    let Toml::Array(items) = &node.value else {
        let message = format!("`{}` must be a list of generators", section.path_of(key));
        let label = format!("this is {}", node.value.type_name());
        section.fault(Fault::new("type", message).at(node.place, label));
        return None;
    };
    if items.len() > MAX_STATEMENTS {
        let message = format!("`{}` has more than {MAX_STATEMENTS} values", section.path_of(key));
        let label = counted(items.len(), "value");
        section.fault(Fault::new("limit", message).at(node.place, label));
        return None;
    }
    let names = statement_names();
    let reader = Reader { section, key, names: &names, tables };
    let values = items.iter().map(|item| reader.read(item, statement_value));
    // All are read, so that each fault is told.
    let values: Vec<Option<Value>> = values.collect();
    let is_whole = values.iter().all(Option::is_some);
    let values = values.into_iter().map(|value| value.unwrap_or(Value::NoId)).collect();
    Some(Listed { values, is_whole })
}

/// The value of a column.
pub(super) fn column(section: &mut Section<'_>) -> Option<ColumnValue> {
    const KEY: &str = "value";
    let Some(node) = section.node(KEY) else {
        section.missing(KEY, "add what fills it, such as `value = \"row_id\"`");
        return None;
    };
    let names = column_names();
    Reader { section, key: KEY, names: &names, tables: &[] }.read(node, column_value)
}

/// A number of times, or the name of an option that is one.
pub(super) fn count(node: &Node) -> Read<Count> {
    let names: Vec<&str> =
        Number::ALL.iter().filter(|n| n.is_count()).map(|number| number.name()).collect();
    match &node.value {
        Toml::Integer(_) => integer_u32(REPEAT)(node).map(Count::Fixed),
        Toml::String(_) => {
            let place = place_in(&names, node)?;
            let option = Number::from_name(names[place]);
            Ok(Count::Option(option.expect("it is among the names of all options")))
        }
        _ => wrong_type(node, "a number, or the name of an option"),
    }
}

/// A number of rows, or `table_size`.
pub(super) fn rows(node: &Node) -> Read<OwnRows> {
    match &node.value {
        Toml::String(_) => place_in(&[TABLE_SIZE], node).map(|_| OwnRows::TableSize),
        _ => integer(1..=MAX_ROWS)(node).map(OwnRows::Fixed),
    }
}

/// Where generators are read: the key that they stand in, and what is known there.
struct Reader<'r, 'a> {
    section: &'r Section<'a>,
    key: &'static str,
    names: &'r [&'static str],
    tables: &'r [String],
}

type Make<T> = fn(&str, &Arguments) -> Result<T, Vec<ArgumentFault>>;

impl<'a> Reader<'_, 'a> {
    /// A generator's name, or a table with its arguments.
    fn read<T>(&self, node: &'a Node, make: Make<T>) -> Option<T> {
        let path = self.section.path_of(self.key);
        match &node.value {
            Toml::String(name) => self.read_name(name, node.place, make),
            Toml::Table(table) => {
                self.read_table(self.section.below(self.key, table, node.place), make)
            }
            other => {
                let message = format!("`{path}` must name generators");
                let label = format!("this is {}", other.type_name());
                self.section.fault(
                    Fault::new("type", message)
                        .at(node.place, label)
                        .help("write \"id\", or { generator = \"integer\", min = 1, max = 9 }"),
                );
                None
            }
        }
    }

    fn read_name<T>(&self, name: &str, place: Place, make: Make<T>) -> Option<T> {
        let path = self.section.path_of(self.key);
        if !self.names.contains(&name) {
            let message = format!("`{path}` has an unknown generator `{name}`");
            self.section.fault(
                Fault::new("generator", message)
                    .at(place, "not a generator that can stand here")
                    .help(suggestion(name, self.names)),
            );
            return None;
        }
        let faults = match make(name, &Arguments::default()) {
            Ok(value) => return Some(value),
            Err(faults) => faults,
        };
        let keys: Vec<&str> = faults.iter().map(|fault| fault.key).collect();
        let message = format!("`{path}`: `{name}` needs `{}`", keys.join("` and `"));
        let example = keys.iter().map(|key| format!(", {key} = ...")).collect::<String>();
        self.section.fault(
            Fault::new("generator", message)
                .at(place, "a name alone")
                .help(format!("write a table: {{ generator = \"{name}\"{example} }}")),
        );
        None
    }

    fn read_table<T>(&self, mut section: Section<'_>, make: Make<T>) -> Option<T> {
        let names = self.names;
        let name = section.required("generator", "\"integer\"", |node| place_in(names, node));
        let arguments = self.arguments(&mut section);
        let value = match (name, arguments) {
            (Some(name), Some(arguments)) => {
                let made = make(names[name.value], &arguments);
                for fault in made.as_ref().err().into_iter().flatten() {
                    let message = format!("`{}` {}", section.path_of(fault.key), fault.message);
                    let place = section.place_of(fault.key);
                    section.fault(Fault::new("generator", message).at(place, "here"));
                }
                made.ok()
            }
            _ => None,
        };
        section.finish();
        value
    }

    /// Every argument that a generator may have; `None` where one is faulty by itself.
    fn arguments(&self, section: &mut Section<'_>) -> Option<Arguments> {
        let tables: Vec<&str> = self.tables.iter().map(String::as_str).collect();
        let table = section.optional("table", |node| place_in(&tables, node));
        let keys = section.optional("keys", named(KeyLaw::ALL, KeyLaw::name));
        let min = section.optional("min", signed);
        let max = section.optional("max", signed);
        let start = section.optional("start", signed);
        let length = section.optional("length", integer_u32(1..=MAX_LENGTH));
        let values = section.optional("values", constants);
        let from = section.optional("from", |node| string(node).map(str::to_owned));
        let to = section.optional("to", |node| string(node).map(str::to_owned));
        let read = [
            ("table", table.is_some()),
            ("keys", keys.is_some()),
            ("min", min.is_some()),
            ("max", max.is_some()),
            ("start", start.is_some()),
            ("length", length.is_some()),
            ("values", values.is_some()),
            ("from", from.is_some()),
            ("to", to.is_some()),
        ];
        if read.iter().any(|(key, is_read)| section.has(key) && !is_read) {
            return None;
        }
        Some(Arguments {
            table: table.map(|place| self.tables[place.value].clone()),
            keys: keys.map(|keys| keys.value),
            min: min.map(|min| min.value),
            max: max.map(|max| max.value),
            start: start.map(|start| start.value),
            length: length.map(|length| length.value),
            values: values.map(|values| values.value),
            from: from.map(|from| from.value),
            to: to.map(|to| to.value),
        })
    }
}

/// Integers and strings.
fn constants(node: &Node) -> Read<Vec<Constant>> {
    let Toml::Array(items) = &node.value else {
        return wrong_type(node, "a list of integers and strings");
    };
    let mut wrongs = Vec::new();
    let mut constants = Vec::new();
    for item in items {
        match &item.value {
            Toml::String(text) => constants.push(Constant::Text(text.clone())),
            Toml::Integer(_) => match signed(item) {
                Ok(integer) => constants.push(Constant::Integer(integer)),
                Err(found) => wrongs.extend(found.into_iter().map(|of| of.within(item.place))),
            },
            other => {
                let label = format!("this is {}", other.type_name());
                let wrong = Wrong::new("type", "must hold integers and strings", label);
                wrongs.push(wrong.within(item.place));
            }
        }
    }
    if wrongs.is_empty() { Ok(constants) } else { Err(wrongs) }
}
