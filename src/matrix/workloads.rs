//! `[[workload]]`: workloads that a matrix declares, beside sysbench's.
//!
//! Must not know: which scenarios use them, or how their statements are sent.

use crate::written::{
    Fault, Located, Node, Place, Read, Section, boolean, id, integer_u32, place_in, string, text,
};
use std::sync::Arc;

use super::limits::{MAX_COLUMNS, MAX_GROUPS, MAX_OWN_TABLES, MAX_STATEMENTS, MAX_WORKLOADS};
use super::workload_values::{column, count, rows, statement_values};
use crate::model::{
    Column, ColumnValue, Count, Flag, Group, OwnRows, OwnTable, Statement, StatementKind, Workload,
};
use crate::workload::statement::{
    ListDraft, Spot, StatementDraft, StatementFault, statement, unfounded,
};
use crate::workload::{ACCESS, READ_TYPES, builtins, own_tables};

/// The workloads that a scenario may name.
pub(super) struct Workloads {
    /// Every declared name, with the workload where it could be read.
    declared: Vec<(String, Option<Arc<Workload>>)>,
}

impl Workloads {
    /// The workload that a scenario names; `None` where its declaration is faulty.
    pub(super) fn of(&self, node: &Node) -> Read<Option<Arc<Workload>>> {
        let built_in = builtins().iter().map(|workload| (workload.name(), Some(workload)));
        let declared =
            self.declared.iter().map(|(name, workload)| (name.as_str(), workload.as_ref()));
        let known: Vec<_> = built_in.chain(declared).collect();
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        place_in(&names, node).map(|place| known[place].1.cloned())
    }
}

/// Reads every `[[workload]]`.
pub(super) fn read(root: &mut Section<'_>) -> Workloads {
    let mut declared: Vec<(Located<String>, Option<Workload>)> = Vec::new();
    let mut tables: Vec<(Place, OwnTable)> = Vec::new();
    for mut section in root.sections("workload", MAX_WORKLOADS).items {
        let name = section.required("name", "\"transfer\"", id);
        let known = name.as_ref().is_none_or(|name| is_new(root, name, &declared));
        let workload = workload(section, name.as_ref(), &mut tables);
        if let (Some(name), true) = (name, known) {
            declared.push((name, workload));
        }
    }
    report_shared_tables(root, &tables);
    let declared = declared.into_iter().map(|(name, of)| (name.value, of.map(Arc::new)));
    Workloads { declared: declared.collect() }
}

fn is_new(
    root: &Section<'_>,
    name: &Located<String>,
    declared: &[(Located<String>, Option<Workload>)],
) -> bool {
    let twice = |message: String| {
        Fault::new("duplicate", message)
            .help("every workload needs a name of its own: `name = \"...\"`")
    };
    let earlier = declared.iter().find(|(other, _)| other.value == name.value);
    if let Some((earlier, _)) = earlier {
        root.fault(
            twice(format!("workload `{}` is declared twice", name.value))
                .at(name.place, "again here")
                .at(earlier.place, "first here"),
        );
    } else if builtins().iter().any(|workload| workload.name() == name.value) {
        root.fault(
            twice(format!("workload `{}` is one of sysbench's", name.value))
                .at(name.place, "this name is taken"),
        );
    } else {
        return true;
    }
    false
}

/// Workloads may share a table, but not have two under one name. `tables`: all that could be read,
/// each with the place of its workload.
fn report_shared_tables(root: &Section<'_>, tables: &[(Place, OwnTable)]) {
    let mut known: Vec<&(Place, OwnTable)> = Vec::new();
    for found in tables {
        let (place, table) = found;
        match known.iter().find(|(_, other)| other.name == table.name) {
            // Twice in one workload has been told.
            Some((of, other)) if other != table && of != place => root.fault(
                Fault::new("duplicate", format!("two tables named `{}`", table.name))
                    .at(*place, "the second belongs to this workload")
                    .help("declare it in the same words, or give it another name"),
            ),
            Some(_) => {}
            None => known.push(found),
        }
    }
}

/// `None` where something in it is faulty; all faults have been reported. `all_tables` gets its own
/// tables, with its place.
fn workload(
    mut section: Section<'_>,
    name: Option<&Located<String>>,
    all_tables: &mut Vec<(Place, OwnTable)>,
) -> Option<Workload> {
    let section_place = section.place;
    let transaction = section.optional("transaction", boolean);
    let groups_before = section.optional("groups_before_transaction", integer_u32(0..=100));
    let prepared = section.optional("prepared", boolean);
    let (names, tables) = own_tables(&mut section);
    let groups = groups(&mut section, &names);
    section.finish();
    let place = name.map_or(section_place, |name| name.place);
    all_tables.extend(tables.iter().flatten().map(|table| (place, table.clone())));
    Some(Workload {
        name: name?.value.clone(),
        is_built_in: false,
        is_transaction: transaction.is_some_and(|of| of.value),
        groups_before_transaction: groups_before.map_or(0, |of| of.value),
        has_handles: prepared.is_none_or(|of| of.value),
        groups: groups?,
        tables: tables?,
    })
}

fn groups(section: &mut Section<'_>, tables: &[String]) -> Option<Vec<Group>> {
    let sections = section.sections("group", MAX_GROUPS);
    if sections.items.is_empty() && sections.complete {
        section.missing("group", "add at least one section [[workload.group]]");
        return None;
    }
    let groups: Vec<_> = sections.items.into_iter().map(|of| group(of, tables)).collect();
    let groups: Option<Vec<Group>> = groups.into_iter().collect();
    groups.filter(|_| sections.complete)
}

fn group(mut section: Section<'_>, tables: &[String]) -> Option<Group> {
    let repeat = section.optional("repeat", count);
    let when = section.optional("when", flag);
    let is_read =
        (repeat.is_some() || !section.has("repeat")) && (when.is_some() || !section.has("when"));
    let sections = section.sections("statement", MAX_STATEMENTS);
    if sections.items.is_empty() && sections.complete {
        section.missing("statement", "add at least one section [[workload.group.statement]]");
    }
    let is_complete = sections.complete && !sections.items.is_empty();
    let read: Vec<(Place, Option<Statement>)> =
        sections.items.into_iter().map(|of| (of.place, one_statement(of, tables))).collect();
    let (places, statements): (Vec<Place>, Vec<Option<Statement>>) = read.into_iter().unzip();
    // What comes after a faulty one may refer to an id that it draws.
    let first: Vec<Statement> = statements.iter().map_while(Clone::clone).collect();
    let is_founded = report_unfounded(&section, &first, &places);
    let statements: Option<Vec<Statement>> = statements.into_iter().collect();
    section.finish();
    let repeat = repeat.map_or(Count::Fixed(1), |of| of.value);
    let when = when.map(|of| of.value);
    let group = Group { repeat, when, statements: statements? };
    (is_read && is_complete && is_founded).then_some(group)
}

/// Values that refer to an id which nothing has drawn. True where there are none.
fn report_unfounded(section: &Section<'_>, statements: &[Statement], places: &[Place]) -> bool {
    let found = unfounded(statements);
    for (place, generator) in &found {
        let name = statements[*place].kind.name();
        section.fault(
            Fault::new("generator", format!("`{generator}` without an id before it"))
                .at(places[*place], format!("nothing in this group draws one before `{name}`"))
                .help("put \"id\" before it, in this statement or an earlier one of its group"),
        );
    }
    found.is_empty()
}

fn flag(node: &Node) -> Read<Flag> {
    let names = Flag::ALL.iter().map(|flag| flag.name()).collect::<Vec<_>>();
    place_in(&names, node).map(|place| Flag::ALL[place])
}

fn one_statement(mut section: Section<'_>, tables: &[String]) -> Option<Statement> {
    let kind = section.required("name", "\"find_account\"", |node| string(node).map(str::to_owned));
    let kind = kind.and_then(|name| checked_kind(&section, &name));
    let example = "\"SELECT c FROM sbtest{table} WHERE id=?\"";
    let sql = section.required("sql", example, |node| string(node).map(str::to_owned));
    let values = statement_values(&mut section, "values", tables);
    let (list, is_list_whole, list_places) = list(&mut section, tables);
    let touches = section.optional("access", |node| one_of(ACCESS, node));
    let read_type = section.optional("read_type", |node| one_of(READ_TYPES, node));
    let is_read = (touches.is_some() || !section.has("access"))
        && (read_type.is_some() || !section.has("read_type"));
    let is_whole = is_list_whole && values.as_ref().is_some_and(|values| values.is_whole);
    let draft = match (sql, values, list) {
        (Some(sql), Some(values), Ok(list)) => Some(StatementDraft {
            // What is wrong with name and values has been said; the rest is looked at all the same.
            kind: kind.clone().unwrap_or_else(StatementKind::begin),
            sql: sql.value,
            values: values.values,
            list,
            touches: touches.map(|of| of.value),
            read_type: read_type.map(|of| of.value),
        }),
        _ => None,
    };
    let made = draft.and_then(|draft| report(&section, statement(draft), list_places));
    section.finish();
    made.filter(|_| is_read && is_whole && kind.is_some())
}

fn checked_kind(section: &Section<'_>, name: &Located<String>) -> Option<StatementKind> {
    let kind = StatementKind::new(&name.value);
    let is_taken = kind
        .as_ref()
        .is_some_and(|kind| *kind == StatementKind::begin() || *kind == StatementKind::commit());
    if is_taken {
        let message = format!("`{}` cannot be `{}`", section.path_of("name"), name.value);
        section.fault(
            Fault::new("name", message)
                .at(name.place, "this is what BEGIN and COMMIT are counted as")
                .help("write `transaction = true` for a transaction"),
        );
    } else if kind.is_none() {
        let message = format!("`{}` is not a statement's name", section.path_of("name"));
        section.fault(
            Fault::new("name", message).at(name.place, "not a name").help(StatementKind::RULE),
        );
    }
    kind.filter(|_| !is_taken)
}

/// Where the parts of a list stand: the list, its text, its values.
type ListPlaces = [Place; 3];

/// The list as far as it could be read, and whether that is all of it. `Err` where it is there and
/// its text or its values could not be read.
fn list(
    section: &mut Section<'_>,
    tables: &[String],
) -> (Result<Option<ListDraft>, ()>, bool, ListPlaces) {
    let place = section.place;
    let is_there = section.has("list");
    let Some(mut list) = section.optional_section("list") else {
        return (if is_there { Err(()) } else { Ok(None) }, !is_there, [place; 3]);
    };
    let sql = list.required("sql", "\"?\"", |node| string(node).map(str::to_owned));
    let values = statement_values(&mut list, "values", tables);
    let separator = list.optional("separator", |node| string(node).map(str::to_owned));
    let repeat = list.required("repeat", "10", count);
    let is_whole = repeat.is_some()
        && (separator.is_some() || !list.has("separator"))
        && values.as_ref().is_some_and(|values| values.is_whole);
    let places = [list.place, list.place_of("sql"), list.place_of("values")];
    list.finish();
    let draft = || {
        Some(ListDraft {
            sql: sql?.value,
            values: values?.values,
            separator: separator.map_or_else(|| ", ".to_owned(), |of| of.value),
            repeat: repeat.map_or(Count::Fixed(1), |of| of.value),
        })
    };
    (draft().map(Some).ok_or(()), is_whole, places)
}

/// Tells what is wrong with a statement, each at its place.
fn report(
    section: &Section<'_>,
    made: Result<Statement, Vec<StatementFault>>,
    [list, list_sql, list_values]: ListPlaces,
) -> Option<Statement> {
    let faults = match made {
        Ok(statement) => return Some(statement),
        Err(faults) => faults,
    };
    for found in faults {
        let (key, place) = match found.spot {
            Spot::Sql => ("sql", section.place_of("sql")),
            Spot::Values if section.has("values") => ("values", section.place_of("values")),
            Spot::Values => ("sql", section.place_of("sql")),
            Spot::List => ("list", list),
            Spot::ListSql => ("list.sql", list_sql),
            Spot::ListValues => ("list.values", list_values),
        };
        let message = format!("`{}` {}", section.path_of(key), found.message);
        let fault = Fault::new("statement", message).at(place, "this statement");
        section.fault(match found.help {
            Some(help) => fault.help(help),
            None => fault,
        });
    }
    None
}

/// The names of the own tables, and the tables where all could be read.
fn own_tables(section: &mut Section<'_>) -> (Vec<String>, Option<Vec<OwnTable>>) {
    let sections = section.sections("table", MAX_OWN_TABLES);
    let mut names: Vec<String> = Vec::new();
    let mut tables = Some(Vec::new());
    for mut section in sections.items {
        let name = section.required("name", "\"accounts\"", text);
        if let Some(name) = &name {
            report_twice(&section, name, &names);
            names.push(name.value.clone());
        }
        let table = own_table(section, name.map(|name| name.value));
        tables = tables.and_then(|mut tables| {
            tables.push(table?);
            Some(tables)
        });
    }
    (names, tables.filter(|_| sections.complete))
}

fn report_twice(section: &Section<'_>, name: &Located<String>, names: &[String]) {
    if names.contains(&name.value) {
        let message = format!("table `{}` is declared twice", name.value);
        section.fault(Fault::new("duplicate", message).at(name.place, "again here"));
    }
}

fn own_table(mut section: Section<'_>, name: Option<String>) -> Option<OwnTable> {
    let ddl = section
        .required("ddl", "\"CREATE TABLE accounts (...)\"", |node| string(node).map(str::to_owned));
    let rows = section.required("rows", "100_000", rows);
    let sections = section.sections("column", MAX_COLUMNS);
    let (mut columns, mut is_whole) = (Vec::new(), sections.complete);
    for mut section in sections.items {
        let name = section.required("name", "\"id\"", text);
        let value = column(&mut section);
        section.finish();
        is_whole &= name.is_some() && value.is_some();
        let value = value.unwrap_or(ColumnValue::RowId);
        columns.extend(name.map(|name| Column { name: name.value, value }));
    }
    // That there is none is told of a table that declares none.
    let has_columns = is_whole || !columns.is_empty();
    // What could be read is looked at, whatever is wrong with the rest.
    let table = OwnTable {
        name: name.clone().unwrap_or_default(),
        ddl: ddl.as_ref().map_or_else(String::new, |ddl| ddl.value.clone()),
        rows: rows.map_or(OwnRows::TableSize, |rows| rows.value),
        columns,
    };
    let is_read = |key: &str| match key {
        "name" => name.is_some(),
        "ddl" => ddl.is_some() && name.is_some(),
        "column" => has_columns,
        _ => true,
    };
    let mut faults = own_tables::faults(&table);
    faults.retain(|fault| is_read(fault.key));
    for fault in &faults {
        let message = format!("`{}` {}", section.path_of(fault.key), fault.message);
        let place = section.place_of(fault.key);
        section.fault(Fault::new("table", message).at(place, "here"));
    }
    section.finish();
    is_whole &= is_read("ddl") && rows.is_some() && faults.is_empty();
    is_whole.then_some(table)
}

/// The value of one of these names.
fn one_of<T: Copy>(all: &[(&str, T)], node: &Node) -> Read<T> {
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    place_in(&names, node).map(|place| all[place].1)
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;
    use crate::matrix::{Source, parse};
    use crate::workload::WorkloadForm;

    #[derive(Serialize)]
    struct Document {
        workload: [WorkloadForm; 1],
    }

    #[test]
    fn a_built_in_workload_declared_under_another_name_is_the_same() {
        for built_in in builtins() {
            let own =
                Workload { name: "own".to_owned(), is_built_in: false, ..(**built_in).clone() };
            let document = toml::to_string(&Document { workload: [(&own).into()] }).unwrap();
            let text = format!(
                "format = 1\nname = \"m\"\ntitle = \"M\"\n\
                 protocol = {{ duration = \"1s\", concurrency = [1] }}\n\
                 spec = [{{ cpu = 1, memory = \"1GB\" }}]\n\
                 scenario = [{{ id = \"s\", workload = \"own\" }}]\n\
                 [dataset]\nclass = \"full-cache\"\nrule = [{{ table_size = 9, tables = 9 }}]\n\
                 {document}"
            );
            let source = Source { name: &built_in.name, bytes: text.as_bytes() };
            let matrix = parse(&source, &[]).unwrap_or_else(|faults| panic!("{text}\n{faults}"));
            assert_eq!(*matrix.scenarios[0].workload, own);
        }
    }
}
