//! A table of the document read key by key: what is asked for is known, the rest is a fault.
//!
//! Must not know: which keys a file has.

use super::diagnostic::{Fault, Faults, Place};
use super::document::{Node, Table, Value};
use super::value::{Read, suggestion};

/// A value and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) place: Place,
}

/// One table under reading. Faults go to the shared list; reading never stops at one.
pub(crate) struct Section<'a> {
    /// Dotted path for messages; empty for the document itself.
    path: String,
    table: &'a Table,
    pub(crate) place: Place,
    faults: &'a Faults,
    known: Vec<&'static str>,
}

/// The elements of an array of tables.
pub(crate) struct Sections<'a> {
    pub(crate) items: Vec<Section<'a>>,
    /// False where an element was unreadable or there were too many.
    pub(crate) complete: bool,
}

impl<'a> Section<'a> {
    /// The document itself.
    pub(crate) fn root(table: &'a Table, faults: &'a Faults) -> Self {
        let place = Place { source: 0, start: 0, end: 0 };
        Self { path: String::new(), table, place, faults, known: Vec::new() }
    }

    /// The value of a key that may be absent. A faulty value counts as absent.
    pub(crate) fn optional<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Node) -> Read<T>,
    ) -> Option<Located<T>> {
        self.known.push(key);
        let node = &self.table.get(key)?.node;
        match read(node) {
            Ok(value) => Some(Located { value, place: node.place }),
            Err(wrongs) => {
                for wrong in wrongs {
                    let message = format!("`{}` {}", self.path_of(key), wrong.message);
                    let place = wrong.place.unwrap_or(node.place);
                    let fault = Fault::new(wrong.code, message).at(place, wrong.label);
                    self.faults.push(match wrong.help {
                        Some(help) => fault.help(help),
                        None => fault,
                    });
                }
                None
            }
        }
    }

    /// The value of a key that must be there; `example` is what the help shows.
    pub(crate) fn required<T>(
        &mut self,
        key: &'static str,
        example: &str,
        read: impl FnOnce(&Node) -> Read<T>,
    ) -> Option<Located<T>> {
        if !self.has(key) {
            self.missing(key, &format!("add a line such as `{key} = {example}`"));
        }
        self.optional(key, read)
    }

    /// A table below this one; absent is a fault.
    pub(crate) fn section(&mut self, key: &'static str) -> Option<Section<'a>> {
        if !self.has(key) {
            self.missing(key, &format!("add a section [{}]", self.path_of(key)));
        }
        self.optional_section(key)
    }

    /// A table below this one that may be absent.
    pub(crate) fn optional_section(&mut self, key: &'static str) -> Option<Section<'a>> {
        self.known.push(key);
        let node = &self.table.get(key)?.node;
        match &node.value {
            Value::Table(table) => Some(self.below(key, table, node.place)),
            other => {
                let message = format!("`{}` must be a table", self.path_of(key));
                let label = format!("this is {}", other.type_name());
                self.faults.push(Fault::new("type", message).at(node.place, label));
                None
            }
        }
    }

    /// An array of tables, `[[key]]`; absent is an empty one.
    pub(crate) fn sections(&mut self, key: &'static str, limit: usize) -> Sections<'a> {
        self.known.push(key);
        let Some(entry) = self.table.get(key) else {
            return Sections { items: Vec::new(), complete: true };
        };
        let header = format!("[[{}]]", self.path_of(key));
        let Value::Array(nodes) = &entry.node.value else {
            let message = format!("`{}` must be written as {header}", self.path_of(key));
            let label = format!("this is {}", entry.node.value.type_name());
            self.faults.push(Fault::new("type", message).at(entry.key_place, label));
            return Sections { items: Vec::new(), complete: false };
        };
        let mut complete = true;
        if nodes.len() > limit {
            let message = format!("{} {header} where {limit} are the limit", nodes.len());
            let place = nodes[limit].place;
            self.faults.push(Fault::new("limit", message).at(place, "one too many"));
            complete = false;
        }
        let mut items = Vec::new();
        for node in nodes.iter().take(limit) {
            if let Value::Table(table) = &node.value {
                items.push(self.below(key, table, node.place));
            } else {
                let message = format!("each element of `{}` must be a table", self.path_of(key));
                let label = format!("this is {}", node.value.type_name());
                self.faults.push(Fault::new("type", message).at(node.place, label));
                complete = false;
            }
        }
        Sections { items, complete }
    }

    /// Every table below this one under its name, with the name's place: whatever they are called.
    pub(crate) fn named(self) -> Vec<(String, Place, Section<'a>)> {
        let mut sections = Vec::new();
        for entry in &self.table.entries {
            match &entry.node.value {
                Value::Table(table) => {
                    let section = self.below(&entry.key, table, entry.node.place);
                    sections.push((entry.key.clone(), entry.key_place, section));
                }
                other => {
                    let message = format!("`{}` must be a table", self.path_of(&entry.key));
                    let label = format!("this is {}", other.type_name());
                    self.fault(Fault::new("type", message).at(entry.node.place, label));
                }
            }
        }
        sections
    }

    /// The value of a key that may be absent, unread.
    pub(crate) fn node(&mut self, key: &'static str) -> Option<&'a Node> {
        self.known.push(key);
        Some(&self.table.get(key)?.node)
    }

    /// Where the value of a key stands, or the section where there is none.
    pub(crate) fn place_of(&self, key: &str) -> Place {
        self.table.get(key).map_or(self.place, |entry| entry.node.place)
    }

    /// Whether the key stands here, with whatever value.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    pub(crate) fn fault(&self, fault: Fault) {
        self.faults.push(fault);
    }

    /// Says that a key is missing.
    pub(crate) fn missing(&self, key: &str, help: &str) {
        let message = format!("`{}` is missing", self.path_of(key));
        let label = if self.path.is_empty() { "not in this file" } else { "not in this section" };
        self.faults.push(Fault::new("missing", message).at(self.place, label).help(help));
    }

    /// Every key that nobody asked for is a fault.
    pub(crate) fn finish(self) {
        let unknown = |key: &str| !self.known.contains(&key);
        for entry in self.table.entries.iter().filter(|entry| unknown(&entry.key)) {
            let message = format!("unknown key `{}`", self.path_of(&entry.key));
            let fault = Fault::new("unknown-key", message)
                .at(entry.key_place, "not a key of this version")
                .help(suggestion(&entry.key, &self.known));
            self.faults.push(fault);
        }
    }

    /// A table that stands as (or within) the value of a key.
    pub(crate) fn below(&self, key: &str, table: &'a Table, place: Place) -> Section<'a> {
        Section { path: self.path_of(key), table, place, faults: self.faults, known: Vec::new() }
    }

    /// The key with the names of the tables that it stands in.
    pub(crate) fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}
