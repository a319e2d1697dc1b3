//! A statement put together from what was written: its text, its values, its list.
//!
//! Must not know: in which file it was written.

use crate::model::{Count, List, Part, ReadType, Statement, StatementKind, Touches, Value};

use super::generators::of_statement_value;
use super::sql::{Token, cut, first_word};

/// A statement as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementDraft {
    /// Under which name it is counted.
    pub kind: StatementKind,
    /// Its text, with `?`, `{table}` and `{list}`.
    pub sql: String,
    /// What each `?` stands for.
    pub values: Vec<Value>,
    /// What `{list}` stands for.
    pub list: Option<ListDraft>,
    /// What it does to the data; `None`: what its first word says.
    pub touches: Option<Touches>,
    /// Which of the published read types it belongs to.
    pub read_type: Option<ReadType>,
}

/// The list of a statement as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListDraft {
    /// What is repeated, with `?` and `{table}`.
    pub sql: String,
    /// What each `?` stands for.
    pub values: Vec<Value>,
    /// What stands between two.
    pub separator: String,
    /// How often.
    pub repeat: Count,
}

/// What is wrong with a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementFault {
    /// Which part of it.
    pub spot: Spot,
    /// The rest of a sentence that begins with that part: "is empty".
    pub message: String,
    /// What to do about it.
    pub help: Option<&'static str>,
}

/// A part of a statement as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// Its text.
    Sql,
    /// Its values.
    Values,
    /// Its list as a whole.
    List,
    /// The list's text.
    ListSql,
    /// The list's values.
    ListValues,
}

const TABLE: &str = "table";
const LIST: &str = "list";

/// Puts a statement together.
///
/// # Errors
/// Everything that is wrong with it.
pub fn statement(draft: StatementDraft) -> Result<Statement, Vec<StatementFault>> {
    let touches = draft.touches.unwrap_or_else(|| touches(&draft.sql));
    let mut faults = Vec::new();
    let has_list = draft.list.is_some();
    let mut list = draft.list.and_then(|list| list_part(list, &mut faults));
    let mut values = Values::new(draft.values);
    let mut parts = Vec::new();
    let mut lists = 0;
    for token in tokens(&draft.sql, Spot::Sql, &mut faults) {
        match token {
            Token::Text(text) => parts.push(Part::Text(text.to_owned())),
            Token::Parameter => parts.extend(values.next()),
            Token::Placeholder(TABLE) => parts.push(Part::Table),
            Token::Placeholder(LIST) => {
                lists += 1;
                parts.extend(list.take().map(Part::List));
            }
            Token::Placeholder(name) => faults.push(unknown(name, Spot::Sql)),
        }
    }
    match (has_list, lists) {
        (true, 0) => {
            let message = "is not used".to_owned();
            let help = Some("write `{list}` where it belongs in the statement");
            faults.push(StatementFault { spot: Spot::List, message, help });
        }
        (false, 1..) => {
            let message = "has `{list}`, and there is no list".to_owned();
            let help = Some("say what is repeated: list = { sql = \"?\", values = [...], ... }");
            faults.push(StatementFault { spot: Spot::Sql, message, help });
        }
        (true, 2..) => {
            let message = "has `{list}` twice".to_owned();
            faults.push(StatementFault { spot: Spot::Sql, message, help: None });
        }
        _ => {}
    }
    faults.extend(values.misfit(Spot::Values));
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(Statement { kind: draft.kind, touches, read_type: draft.read_type, parts })
}

/// The statements of a group that refer to an id which nothing before them in the group draws,
/// each with the generator that does. What an earlier group drew may not be there, as a group
/// can be left out.
pub fn unfounded(statements: &[Statement]) -> Vec<(usize, &'static str)> {
    let mut is_drawn = false;
    let mut found = Vec::new();
    for (place, statement) in statements.iter().enumerate() {
        for value in statement.values() {
            is_drawn |= value.is_remembered();
            if value.refers_back() && !is_drawn {
                found.push((place, of_statement_value(value).0));
                break;
            }
        }
    }
    found
}

/// The text, the values and the list of a statement, as they would be written.
pub(super) fn written(statement: &Statement) -> StatementDraft {
    let mut draft = StatementDraft {
        kind: statement.kind.clone(),
        sql: String::new(),
        values: Vec::new(),
        list: None,
        touches: Some(statement.touches),
        read_type: statement.read_type,
    };
    for part in &statement.parts {
        match part {
            Part::List(list) => {
                draft.sql.push_str("{list}");
                let mut written = ListDraft {
                    sql: String::new(),
                    values: Vec::new(),
                    separator: list.separator.clone(),
                    repeat: list.repeat,
                };
                for part in &list.parts {
                    write_part(part, &mut written.sql, &mut written.values);
                }
                draft.list = Some(written);
            }
            other => write_part(other, &mut draft.sql, &mut draft.values),
        }
    }
    draft
}

fn write_part(part: &Part, sql: &mut String, values: &mut Vec<Value>) {
    match part {
        Part::Text(text) => sql.push_str(text),
        Part::Table => sql.push_str("{table}"),
        Part::Value(value) => {
            sql.push('?');
            values.push(value.clone());
        }
        Part::List(_) => unreachable!("no list stands in a list"),
    }
}

/// What the first word of a statement says that it does.
pub(super) fn touches(sql: &str) -> Touches {
    match first_word(sql).as_str() {
        "SELECT" | "WITH" | "SHOW" | "TABLE" | "VALUES" | "EXPLAIN" => Touches::Reads,
        "INSERT" | "UPDATE" | "DELETE" | "REPLACE" => Touches::Writes,
        _ => Touches::Nothing,
    }
}

fn list_part(draft: ListDraft, faults: &mut Vec<StatementFault>) -> Option<List> {
    let before = faults.len();
    let mut values = Values::new(draft.values);
    let mut parts = Vec::new();
    for token in tokens(&draft.sql, Spot::ListSql, faults) {
        match token {
            Token::Text(text) => parts.push(Part::Text(text.to_owned())),
            Token::Parameter => parts.extend(values.next()),
            Token::Placeholder(TABLE) => parts.push(Part::Table),
            Token::Placeholder(name) => faults.push(unknown(name, Spot::ListSql)),
        }
    }
    faults.extend(values.misfit(Spot::ListValues));
    let list = List { parts, separator: draft.separator, repeat: draft.repeat };
    (faults.len() == before).then_some(list)
}

fn tokens<'a>(sql: &'a str, spot: Spot, faults: &mut Vec<StatementFault>) -> Vec<Token<'a>> {
    cut(sql).unwrap_or_else(|message| {
        faults.push(StatementFault { spot, message, help: None });
        Vec::new()
    })
}

fn unknown(name: &str, spot: Spot) -> StatementFault {
    let help = match spot {
        Spot::Sql => "`{table}` is the number of the drawn table, `{list}` the list",
        _ => "`{table}` is the number of the drawn table",
    };
    let message = format!("has an unknown placeholder `{{{name}}}`");
    StatementFault { spot, message, help: Some(help) }
}

/// Values that are put in the places of parameters, counted.
struct Values {
    given: usize,
    rest: std::vec::IntoIter<Value>,
    parameters: usize,
}

impl Values {
    fn new(values: Vec<Value>) -> Self {
        Self { given: values.len(), rest: values.into_iter(), parameters: 0 }
    }

    /// The value of the next parameter, if there is one.
    fn next(&mut self) -> Option<Part> {
        self.parameters += 1;
        self.rest.next().map(Part::Value)
    }

    fn misfit(&self, spot: Spot) -> Option<StatementFault> {
        let (given, parameters) = (self.given, self.parameters);
        let plural = |count: usize, word: &str| match count {
            1 => format!("1 {word}"),
            _ => format!("{count} {word}s"),
        };
        (given != parameters).then(|| StatementFault {
            spot,
            message: format!(
                "has {} for {}",
                plural(given, "value"),
                plural(parameters, "parameter")
            ),
            help: Some("name one generator for each `?`, in order"),
        })
    }
}
