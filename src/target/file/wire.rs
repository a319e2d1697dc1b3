//! The targets file as it is written, each value with its place.
//!
//! Must not know: what follows from the values.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use toml::Spanned;

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// What targets do not say themselves.
    pub(super) defaults: Option<Place>,
    /// By spec, or `"*"`.
    #[serde(default)]
    pub(super) target: BTreeMap<Spanned<String>, Spanned<Place>>,
}

/// `[defaults]`, or one `[target.SPEC]`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    pub(super) host: Option<Spanned<String>>,
    pub(super) port: Option<Spanned<i64>>,
    pub(super) socket: Option<Spanned<String>>,
    pub(super) user: Option<Spanned<String>>,
    pub(super) password: Option<Spanned<PasswordSource>>,
    pub(super) database: Option<Spanned<String>>,
}

/// Where a password comes from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PasswordSource {
    /// Written in the file.
    Literal(String),
    /// `{ env = "NAME" }`
    Env(String),
    /// `{ file = "PATH" }`
    File(String),
    /// `{ command = ["PROGRAM", "ARGUMENT"] }`
    Command(Vec<String>),
}

impl PasswordSource {
    /// Whether the file itself gives a password away.
    pub(super) fn is_literal(&self) -> bool {
        matches!(self, Self::Literal(text) if !text.is_empty())
    }
}

impl<'de> Deserialize<'de> for PasswordSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SourceVisitor)
    }
}

/// By hand: serde's untagged enums would say "did not match any variant".
struct SourceVisitor;

impl<'de> Visitor<'de> for SourceVisitor {
    type Value = PasswordSource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, { env = \"NAME\" }, { file = \"PATH\" } or { command = [\"...\"] }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<PasswordSource, E> {
        Ok(PasswordSource::Literal(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PasswordSource, A::Error> {
        const KEYS: &[&str] = &["env", "file", "command"];
        let one_key =
            || de::Error::custom("`password` has exactly one of `env`, `file`, `command`");
        let key = map.next_key::<String>()?.ok_or_else(one_key)?;
        let source = match key.as_str() {
            "env" => PasswordSource::Env(map.next_value()?),
            "file" => PasswordSource::File(map.next_value()?),
            "command" => PasswordSource::Command(map.next_value()?),
            other => return Err(de::Error::unknown_field(other, KEYS)),
        };
        match map.next_key::<String>()? {
            Some(_) => Err(one_key()),
            None => Ok(source),
        }
    }
}
