//! The named generators: what each takes, and the value that it stands for.
//!
//! Must not know: where a name and its arguments were written.

use crate::model::{ColumnValue, Constant, Content, KeyLaw, Value};

use super::timestamp;

/// Longest string of `digits` and `letters`.
pub const MAX_LENGTH: u64 = 10_000;
/// Most values of `one_of`.
pub const MAX_CONSTANTS: usize = 1_000;

/// What a generator may be given; absent where nothing was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    /// Name of an own table.
    pub table: Option<String>,
    /// A key law.
    pub keys: Option<KeyLaw>,
    /// The smallest integer.
    pub min: Option<i64>,
    /// The largest integer.
    pub max: Option<i64>,
    /// The first number of a sequence.
    pub start: Option<i64>,
    /// Characters of a string.
    pub length: Option<u32>,
    /// What is chosen from.
    pub values: Option<Vec<Constant>>,
    /// The first point in time.
    pub from: Option<String>,
    /// The last point in time.
    pub to: Option<String>,
}

/// The keys of [`Arguments`].
pub const KEYS: [&str; 9] =
    ["table", "keys", "min", "max", "start", "length", "values", "from", "to"];

/// Why arguments make no value; of which key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentFault {
    /// The key at fault; it may be one that is missing.
    pub key: &'static str,
    /// The rest of a sentence that begins with the key: "is missing".
    pub message: String,
}

/// A generator: its name, the keys that it needs, the keys that it may have.
struct Generator {
    name: &'static str,
    needs: &'static [&'static str],
    takes: &'static [&'static str],
}

const fn plain(name: &'static str) -> Generator {
    Generator { name, needs: &[], takes: &[] }
}

/// What stands in statements alone.
const OF_STATEMENTS: &[Generator] = &[
    Generator { name: "id", needs: &[], takes: &["table", "keys"] },
    plain("segment_id"),
    plain("same_id"),
    plain("range_end"),
    plain("delta_end"),
    plain("no_id"),
    plain("k"),
    Generator { name: "sequence", needs: &[], takes: &["start"] },
];

/// What stands in the columns of own tables alone.
const OF_COLUMNS: &[Generator] = &[plain("row_id")];

/// What stands in both.
const OF_BOTH: &[Generator] = &[
    plain("c"),
    plain("pad"),
    Generator { name: "integer", needs: &["min", "max"], takes: &["keys"] },
    Generator { name: "digits", needs: &["length"], takes: &[] },
    Generator { name: "letters", needs: &["length"], takes: &[] },
    Generator { name: "one_of", needs: &["values"], takes: &[] },
    Generator { name: "timestamp", needs: &["from", "to"], takes: &[] },
];

/// The names that a statement's value may have.
pub fn statement_names() -> Vec<&'static str> {
    OF_STATEMENTS.iter().chain(OF_BOTH).map(|generator| generator.name).collect()
}

/// The names that a column's value may have.
pub fn column_names() -> Vec<&'static str> {
    OF_COLUMNS.iter().chain(OF_BOTH).map(|generator| generator.name).collect()
}

/// The value of a statement that a generator stands for. The name is one of
/// [`statement_names`].
///
/// # Errors
/// Everything that is wrong with the arguments.
pub fn statement_value(name: &str, of: &Arguments) -> Result<Value, Vec<ArgumentFault>> {
    check(OF_STATEMENTS.iter().chain(OF_BOTH), name, of)?;
    Ok(match name {
        "id" => Value::Id { table: of.table.clone(), keys: of.keys },
        "segment_id" => Value::SegmentId,
        "same_id" => Value::SameId,
        "range_end" => Value::RangeEnd,
        "delta_end" => Value::DeltaEnd,
        "no_id" => Value::NoId,
        "k" => Value::K,
        "sequence" => Value::Sequence { start: of.start.unwrap_or(1) },
        _ => Value::Content(content(name, of)?),
    })
}

/// The value of a column that a generator stands for. The name is one of [`column_names`].
///
/// # Errors
/// Everything that is wrong with the arguments.
pub fn column_value(name: &str, of: &Arguments) -> Result<ColumnValue, Vec<ArgumentFault>> {
    check(OF_COLUMNS.iter().chain(OF_BOTH), name, of)?;
    match name {
        "row_id" => Ok(ColumnValue::RowId),
        _ => Ok(ColumnValue::Content(content(name, of)?)),
    }
}

/// The name and the arguments that stand for this value of a statement.
pub(super) fn of_statement_value(value: &Value) -> (&'static str, Arguments) {
    let none = Arguments::default();
    match value {
        Value::Id { table, keys } => {
            ("id", Arguments { table: table.clone(), keys: *keys, ..none })
        }
        Value::SegmentId => ("segment_id", none),
        Value::SameId => ("same_id", none),
        Value::RangeEnd => ("range_end", none),
        Value::DeltaEnd => ("delta_end", none),
        Value::NoId => ("no_id", none),
        Value::K => ("k", none),
        Value::Sequence { start } => ("sequence", Arguments { start: Some(*start), ..none }),
        Value::Content(content) => of_content(content),
    }
}

/// The name and the arguments that stand for this value of a column.
pub(super) fn of_column_value(value: &ColumnValue) -> (&'static str, Arguments) {
    match value {
        ColumnValue::RowId => ("row_id", Arguments::default()),
        ColumnValue::Content(content) => of_content(content),
    }
}

fn of_content(content: &Content) -> (&'static str, Arguments) {
    let none = Arguments::default();
    let time = |seconds: i64| {
        Some(timestamp::text(seconds).iter().map(|byte| char::from(*byte)).collect::<String>())
    };
    match content {
        Content::C => ("c", none),
        Content::Pad => ("pad", none),
        Content::Integer { min, max, keys } => {
            ("integer", Arguments { min: Some(*min), max: Some(*max), keys: Some(*keys), ..none })
        }
        Content::Digits(length) => ("digits", Arguments { length: Some(*length), ..none }),
        Content::Letters(length) => ("letters", Arguments { length: Some(*length), ..none }),
        Content::OneOf(values) => ("one_of", Arguments { values: Some(values.clone()), ..none }),
        Content::Timestamp { from, to } => {
            ("timestamp", Arguments { from: time(*from), to: time(*to), ..none })
        }
    }
}

fn content(name: &str, of: &Arguments) -> Result<Content, Vec<ArgumentFault>> {
    let length = of.length.unwrap_or_default();
    Ok(match name {
        "c" => Content::C,
        "pad" => Content::Pad,
        "integer" => integer(of)?,
        "digits" => Content::Digits(length),
        "letters" => Content::Letters(length),
        "one_of" => one_of(of.values.clone().unwrap_or_default())?,
        _ => between_times(of)?,
    })
}

fn integer(of: &Arguments) -> Result<Content, Vec<ArgumentFault>> {
    let (min, max) = (of.min.unwrap_or_default(), of.max.unwrap_or_default());
    let count = i128::from(max) - i128::from(min) + 1;
    // Beyond 2^53 the laws, which count in floating point, could not hit every number.
    if !(1..=1 << 53).contains(&count) {
        let message = if count < 1 {
            "is below `min`"
        } else {
            "is too far from `min`: 2^53 numbers are the limit"
        };
        return fault("max", message);
    }
    Ok(Content::Integer { min, max, keys: of.keys.unwrap_or(KeyLaw::Uniform) })
}

fn one_of(values: Vec<Constant>) -> Result<Content, Vec<ArgumentFault>> {
    if values.is_empty() || values.len() > MAX_CONSTANTS {
        return fault("values", &format!("must have 1 to {MAX_CONSTANTS} values"));
    }
    let is_plain = |value: &Constant| match value {
        Constant::Integer(_) => true,
        // How a backslash is read depends on the server's SQL mode.
        Constant::Text(text) => !text.contains(|c: char| c.is_control() || c == '\\'),
    };
    if !values.iter().all(is_plain) {
        return fault("values", "must be without backslashes and control characters");
    }
    Ok(Content::OneOf(values))
}

fn between_times(of: &Arguments) -> Result<Content, Vec<ArgumentFault>> {
    let time = |key: &'static str, text: &Option<String>| {
        let text = text.as_deref().unwrap_or_default();
        timestamp::parse(text).ok_or_else(|| ArgumentFault {
            key,
            message: "must be a time such as 2026-11-30 or 2026-11-30 20:17:49".to_owned(),
        })
    };
    match (time("from", &of.from), time("to", &of.to)) {
        (Ok(from), Ok(to)) if from <= to => Ok(Content::Timestamp { from, to }),
        (Ok(_), Ok(_)) => fault("to", "is before `from`"),
        (from, to) => Err(from.err().into_iter().chain(to.err()).collect()),
    }
}

fn fault<T>(key: &'static str, message: &str) -> Result<T, Vec<ArgumentFault>> {
    Err(vec![ArgumentFault { key, message: message.to_owned() }])
}

/// Whether everything that the generator needs is there, and nothing that it has no use for.
fn check<'a>(
    mut known: impl Iterator<Item = &'a Generator>,
    name: &str,
    of: &Arguments,
) -> Result<(), Vec<ArgumentFault>> {
    let generator = known.find(|generator| generator.name == name);
    let generator = generator.expect("the caller has looked the name up");
    let mut faults = Vec::new();
    for key in KEYS {
        let message = match (of.has(key), generator.needs.contains(&key)) {
            (false, true) => format!("is missing: `{name}` needs it"),
            (true, false) if !generator.takes.contains(&key) => match name_list(generator) {
                takes if takes.is_empty() => format!("is not for `{name}`, which takes nothing"),
                takes => format!("is not for `{name}`, which takes {takes}"),
            },
            _ => continue,
        };
        faults.push(ArgumentFault { key, message });
    }
    let length = of.length.map(u64::from);
    if length.is_some_and(|length| !(1..=MAX_LENGTH).contains(&length)) {
        let message = format!("must be between 1 and {MAX_LENGTH}");
        faults.push(ArgumentFault { key: "length", message });
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn name_list(generator: &Generator) -> String {
    let keys = generator.needs.iter().chain(generator.takes);
    keys.map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

impl Arguments {
    fn has(&self, key: &str) -> bool {
        match key {
            "table" => self.table.is_some(),
            "keys" => self.keys.is_some(),
            "min" => self.min.is_some(),
            "max" => self.max.is_some(),
            "start" => self.start.is_some(),
            "length" => self.length.is_some(),
            "values" => self.values.is_some(),
            "from" => self.from.is_some(),
            _ => self.to.is_some(),
        }
    }
}
