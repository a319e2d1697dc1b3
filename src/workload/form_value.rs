//! How the values of a workload are written: a generator's name, or a table with its name and
//! arguments; a number, or an option's name.
//!
//! Must not know: statements.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::{ColumnValue, Constant, Count, KeyLaw, Number, OwnRows, Value};

use super::generators::{
    Arguments, column_names, column_value, of_column_value, of_statement_value, statement_names,
    statement_value,
};

/// A [`Count`]: a number, or an option's name.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountForm(pub(super) Count);

/// [`OwnRows`]: a number, or `table_size`.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowsForm(pub(super) OwnRows);

/// A generator: its name alone, or with arguments.
#[derive(Debug, Clone)]
pub(super) struct ValueForm(GeneratorForm);

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GeneratorForm {
    generator: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<ConstantForm>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
}

#[derive(Debug, Clone)]
struct ConstantForm(Constant);

/// How often something is repeated at most.
const MAX_REPEAT: u32 = 1_000;

/// What `rows` of an own table may say instead of a number.
pub const TABLE_SIZE: &str = "table_size";

impl ValueForm {
    pub(super) fn of_statement(value: &Value) -> Self {
        Self::of(of_statement_value(value))
    }

    pub(super) fn of_column(value: &ColumnValue) -> Self {
        Self::of(of_column_value(value))
    }

    fn of((name, arguments): (&str, Arguments)) -> Self {
        let constants = |values: Vec<Constant>| values.into_iter().map(ConstantForm).collect();
        Self(GeneratorForm {
            generator: name.to_owned(),
            table: arguments.table,
            keys: arguments.keys.map(|keys| keys.name().to_owned()),
            min: arguments.min,
            max: arguments.max,
            start: arguments.start,
            length: arguments.length,
            values: arguments.values.map(constants),
            from: arguments.from,
            to: arguments.to,
        })
    }

    pub(super) fn statement(self) -> Result<Value, String> {
        self.read(&statement_names(), statement_value)
    }

    pub(super) fn column(self) -> Result<ColumnValue, String> {
        self.read(&column_names(), column_value)
    }

    fn read<T>(
        self,
        names: &[&str],
        value: impl Fn(&str, &Arguments) -> Result<T, Vec<super::generators::ArgumentFault>>,
    ) -> Result<T, String> {
        let Self(form) = self;
        let name = form.generator;
        if !names.contains(&name.as_str()) {
            return Err(format!("`{name}` is no generator that can stand here"));
        }
        let keys = form
            .keys
            .as_deref()
            .map(|law| KeyLaw::from_name(law).ok_or_else(|| format!("`{law}` is no key law")));
        let arguments = Arguments {
            table: form.table,
            keys: keys.transpose()?,
            min: form.min,
            max: form.max,
            start: form.start,
            length: form.length,
            values: form.values.map(|values| values.into_iter().map(|value| value.0).collect()),
            from: form.from,
            to: form.to,
        };
        value(&name, &arguments).map_err(|faults| {
            let words = faults.iter().map(|fault| format!("`{}` {}", fault.key, fault.message));
            format!("`{name}`: {}", words.collect::<Vec<_>>().join(", "))
        })
    }
}

impl Serialize for CountForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Count::Fixed(count) => serializer.serialize_u32(count),
            Count::Option(number) => serializer.serialize_str(number.name()),
        }
    }
}

impl<'de> Deserialize<'de> for CountForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let count = |number: u64| {
            let number = u32::try_from(number).ok().filter(|number| *number <= MAX_REPEAT);
            number.map(|number| Self(Count::Fixed(number)))
        };
        let option = |name: &str| {
            let number = Number::from_name(name).filter(|number| number.is_count());
            number.map(|number| Self(Count::Option(number)))
        };
        deserializer.deserialize_any(NumberOrName {
            expected: "a number, or the name of an option that is one",
            number: count,
            name: option,
        })
    }
}

impl Serialize for RowsForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            OwnRows::Fixed(rows) => serializer.serialize_u64(rows),
            OwnRows::TableSize => serializer.serialize_str(TABLE_SIZE),
        }
    }
}

impl<'de> Deserialize<'de> for RowsForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrName {
            expected: "a number of rows, or \"table_size\"",
            number: |rows: u64| Some(Self(OwnRows::Fixed(rows))),
            name: |name: &str| (name == TABLE_SIZE).then_some(Self(OwnRows::TableSize)),
        })
    }
}

impl Serialize for ConstantForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Constant::Integer(integer) => serializer.serialize_i64(*integer),
            Constant::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for ConstantForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrName {
            expected: "an integer or a string",
            number: |number: u64| {
                // Below zero it comes as the same 64 bits.
                Some(Self(Constant::Integer(number.cast_signed())))
            },
            name: |text: &str| Some(Self(Constant::Text(text.to_owned()))),
        })
    }
}

impl Serialize for ValueForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(form) = self;
        let has_arguments = form.table.is_some()
            || form.keys.is_some()
            || form.min.is_some()
            || form.max.is_some()
            || form.start.is_some()
            || form.length.is_some()
            || form.values.is_some()
            || form.from.is_some()
            || form.to.is_some();
        if has_arguments {
            return form.serialize(serializer);
        }
        serializer.serialize_str(&form.generator)
    }
}

impl<'de> Deserialize<'de> for ValueForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrTable)
    }
}

/// Reads what is a number or a name.
struct NumberOrName<N, T> {
    expected: &'static str,
    number: N,
    name: T,
}

impl<'de, O, N, T> Visitor<'de> for NumberOrName<N, T>
where
    N: Fn(u64) -> Option<O>,
    T: Fn(&str) -> Option<O>,
{
    type Value = O;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<O, E> {
        let fault = || E::custom(format!("{number} is not {}", self.expected));
        (self.number)(number).ok_or_else(fault)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<O, E> {
        self.visit_u64(number.cast_unsigned())
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<O, E> {
        let fault = || E::custom(format!("`{name}` is not {}", self.expected));
        (self.name)(name).ok_or_else(fault)
    }
}

struct NameOrTable;

impl<'de> Visitor<'de> for NameOrTable {
    type Value = ValueForm;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a generator's name, or a table with `generator` and its arguments")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<ValueForm, E> {
        Ok(ValueForm(GeneratorForm { generator: name.to_owned(), ..GeneratorForm::default() }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ValueForm, A::Error> {
        GeneratorForm::deserialize(MapAccessDeserializer::new(map)).map(ValueForm)
    }
}
