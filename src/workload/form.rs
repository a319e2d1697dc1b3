//! How a workload is written: what stands in a `[[workload]]` section of a matrix, in the files
//! of the built-in workloads, and in a manifest.
//!
//! Must not know: places in a file. What is wrong is said with the names of workload, group and
//! statement; a matrix, whose author wants places, is read by `matrix`.

use serde::{Deserialize, Serialize};

use crate::model::{
    Column, Count, Flag, Group, OwnTable, ReadType, Statement, StatementKind, Touches, Workload,
};

use super::form_value::{CountForm, RowsForm, ValueForm};
use super::statement::{ListDraft, Spot, StatementDraft, statement, touches, unfounded, written};

/// A [`Workload`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadForm {
    name: String,
    #[serde(default, skip_serializing_if = "is_default")]
    transaction: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    groups_before_transaction: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    prepared: Option<bool>,
    group: Vec<GroupForm>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    table: Vec<TableForm>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat: Option<CountForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<String>,
    statement: Vec<StatementForm>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatementForm {
    name: String,
    sql: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    values: Vec<ValueForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<ListForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    access: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read_type: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListForm {
    sql: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    values: Vec<ValueForm>,
    separator: String,
    repeat: CountForm,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableForm {
    name: String,
    ddl: String,
    rows: RowsForm,
    column: Vec<ColumnForm>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnForm {
    name: String,
    value: ValueForm,
}

/// What `access` and `read_type` of a statement may be.
pub const ACCESS: &[(&str, Touches)] =
    &[("read", Touches::Reads), ("write", Touches::Writes), ("none", Touches::Nothing)];
/// See [`ACCESS`].
pub const READ_TYPES: &[(&str, ReadType)] =
    &[("point", ReadType::PointSelect), ("range", ReadType::RangeSelect)];

impl From<&Workload> for WorkloadForm {
    fn from(workload: &Workload) -> Self {
        Self {
            name: workload.name.clone(),
            transaction: workload.is_transaction,
            groups_before_transaction: workload.groups_before_transaction,
            prepared: (!workload.has_handles).then_some(false),
            group: workload.groups.iter().map(Into::into).collect(),
            table: workload.tables.iter().map(Into::into).collect(),
        }
    }
}

impl From<&Group> for GroupForm {
    fn from(group: &Group) -> Self {
        Self {
            repeat: Some(CountForm(group.repeat)),
            when: group.when.map(|flag| flag.name().to_owned()),
            statement: group.statements.iter().map(Into::into).collect(),
        }
    }
}

impl From<&Statement> for StatementForm {
    fn from(statement: &Statement) -> Self {
        let draft = written(statement);
        let values = |values: &[_]| values.iter().map(ValueForm::of_statement).collect();
        let list = |list: ListDraft| ListForm {
            values: values(&list.values),
            sql: list.sql,
            separator: list.separator,
            repeat: CountForm(list.repeat),
        };
        let is_told_by_sql = touches(&draft.sql) == statement.touches;
        let access = name_of(ACCESS, statement.touches).filter(|_| !is_told_by_sql);
        Self {
            name: draft.kind.name().to_owned(),
            values: values(&draft.values),
            list: draft.list.map(list),
            access,
            read_type: statement.read_type.and_then(|of| name_of(READ_TYPES, of)),
            sql: draft.sql,
        }
    }
}

impl From<&OwnTable> for TableForm {
    fn from(table: &OwnTable) -> Self {
        let column = |column: &Column| ColumnForm {
            name: column.name.clone(),
            value: ValueForm::of_column(&column.value),
        };
        Self {
            name: table.name.clone(),
            ddl: table.ddl.clone(),
            rows: RowsForm(table.rows),
            column: table.columns.iter().map(column).collect(),
        }
    }
}

/// A table as it would be written, on one line.
pub(super) fn table_text(table: &OwnTable) -> String {
    serde_json::to_string(&TableForm::from(table)).expect("texts and numbers can be written")
}

impl WorkloadForm {
    /// The workload that is written here; `is_built_in` is not.
    ///
    /// # Errors
    /// The first thing that is wrong, as a sentence.
    pub fn read(self, is_built_in: bool) -> Result<Workload, String> {
        let named = |message: String| format!("workload `{}`: {message}", self.name);
        let tables = self.table.into_iter().map(TableForm::read).collect::<Result<_, _>>();
        let groups = self.group.into_iter().map(GroupForm::read).collect::<Result<_, _>>();
        let workload = Workload {
            is_built_in,
            is_transaction: self.transaction,
            groups_before_transaction: self.groups_before_transaction,
            has_handles: self.prepared.unwrap_or(true),
            groups: groups.map_err(named)?,
            tables: tables.map_err(named)?,
            name: self.name,
        };
        match super::unknown_tables(&workload).first() {
            Some(table) => {
                Err(format!("workload `{}` has no table of its own `{table}`", workload.name))
            }
            None if workload.groups.is_empty() => {
                Err(format!("workload `{}` has no group", workload.name))
            }
            None => Ok(workload),
        }
    }
}

impl GroupForm {
    fn read(self) -> Result<Group, String> {
        let when = self.when.map(|name| {
            Flag::from_name(&name).ok_or_else(|| format!("`{name}` is no option that is on or off"))
        });
        let statements = self.statement.into_iter().map(StatementForm::read);
        let statements: Vec<Statement> = statements.collect::<Result<_, _>>()?;
        if let Some((place, generator)) = unfounded(&statements).first() {
            let name = statements[*place].kind.name();
            return Err(format!("statement `{name}` has `{generator}`, and no `id` before it"));
        }
        let repeat = self.repeat.map_or(Count::Fixed(1), |CountForm(count)| count);
        Ok(Group { repeat, when: when.transpose()?, statements })
    }
}

impl StatementForm {
    fn read(self) -> Result<Statement, String> {
        let named = |message: String| format!("statement `{}`: {message}", self.name);
        let kind = StatementKind::new(&self.name)
            .ok_or_else(|| named(format!("its name must be {}", StatementKind::RULE)))?;
        let values = |values: Vec<ValueForm>| {
            values.into_iter().map(ValueForm::statement).collect::<Result<Vec<_>, _>>()
        };
        let list = self.list.map(|list| {
            Ok::<_, String>(ListDraft {
                sql: list.sql,
                values: values(list.values)?,
                separator: list.separator,
                repeat: list.repeat.0,
            })
        });
        let access = self.access.as_deref().map(|name| value_of(ACCESS, name));
        let read_type = self.read_type.as_deref().map(|name| value_of(READ_TYPES, name));
        let draft = StatementDraft {
            kind,
            sql: self.sql,
            values: values(self.values).map_err(named)?,
            list: list.transpose().map_err(named)?,
            touches: access.transpose().map_err(named)?,
            read_type: read_type.transpose().map_err(named)?,
        };
        statement(draft).map_err(|faults| {
            let words = faults.iter().map(|fault| {
                let what = match fault.spot {
                    Spot::Sql => "its SQL",
                    Spot::Values => "it",
                    Spot::List | Spot::ListSql | Spot::ListValues => "its list",
                };
                format!("{what} {}", fault.message)
            });
            named(words.collect::<Vec<_>>().join("; "))
        })
    }
}

impl TableForm {
    fn read(self) -> Result<OwnTable, String> {
        let column = |column: ColumnForm| {
            Ok::<_, String>(Column { name: column.name, value: column.value.column()? })
        };
        let columns: Result<Vec<Column>, String> = self.column.into_iter().map(column).collect();
        let columns = columns.map_err(|message| format!("table `{}`: {message}", self.name))?;
        let table = OwnTable { name: self.name, ddl: self.ddl, rows: self.rows.0, columns };
        match super::own_tables::faults(&table).into_iter().next() {
            Some(fault) => Err(format!("table `{}`: {} {}", table.name, fault.key, fault.message)),
            None => Ok(table),
        }
    }
}

fn name_of<T: PartialEq>(names: &[(&str, T)], value: T) -> Option<String> {
    names.iter().find(|(_, known)| *known == value).map(|(name, _)| (*name).to_owned())
}

fn value_of<T: Copy>(names: &[(&str, T)], name: &str) -> Result<T, String> {
    let found = names.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| format!("`{name}` is not known here"))
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
