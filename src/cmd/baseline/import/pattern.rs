//! What a file's name says: `{spec}-{scenario}-{concurrency}.txt`.
//!
//! Must not know: what is in the file.

use std::path::Path;

use super::catalogue::Catalogue;
use super::facts::{Facts, spec};

/// Of `{*}` no more than this: each more would multiply the ways to read a name.
const WILD_MAX: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Spec,
    Scenario,
    Concurrency,
    Tables,
    TableSize,
    Wild,
}

const FIELDS: [(&str, Field); 6] = [
    ("spec", Field::Spec),
    ("scenario", Field::Scenario),
    ("concurrency", Field::Concurrency),
    ("tables", Field::Tables),
    ("table_size", Field::TableSize),
    ("*", Field::Wild),
];

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Literal(String),
    Field(Field),
}

/// A pattern of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    text: String,
    parts: Vec<Part>,
}

impl Pattern {
    /// Reads a pattern; `Err` says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((literal, after)) = rest.split_once('{') {
            if !literal.is_empty() {
                parts.push(Part::Literal(literal.to_owned()));
            }
            let (name, after) = after.split_once('}').ok_or("a brace is not closed")?;
            let field = FIELDS.iter().find(|(known, _)| *known == name).map(|(_, field)| *field);
            let field = field.ok_or_else(|| {
                let names = FIELDS.map(|(name, _)| format!("{{{name}}}")).join(", ");
                format!("there is no {{{name}}}; there is {names}")
            })?;
            let part = Part::Field(field);
            let before = parts.iter().filter(|other| **other == part).count();
            if before >= if field == Field::Wild { WILD_MAX } else { 1 } {
                return Err(format!("{{{name}}} stands in it too often"));
            }
            parts.push(part);
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        Ok(Self { text: text.to_owned(), parts })
    }

    /// What the name says; a pattern with slashes is held against as many folders. `Err` where
    /// it does not fit, or in more than one way.
    pub(super) fn read(&self, path: &Path, catalogue: &Catalogue) -> Result<Facts, String> {
        let names: Vec<String> =
            path.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        let depth = self.text.matches('/').count() + 1;
        let name = names[names.len().saturating_sub(depth)..].join("/");
        let mut found = Vec::new();
        matches(&self.parts, &name, &Facts::default(), catalogue, &mut found);
        found.sort();
        found.dedup();
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(format!("the name `{name}` does not have the form {}", self.text)),
            _ => Err(format!("the name `{name}` has the form {} in several ways", self.text)),
        }
    }
}

/// Collects every way in which the rest of a name fits the rest of a pattern.
fn matches(
    parts: &[Part],
    rest: &str,
    facts: &Facts,
    catalogue: &Catalogue,
    found: &mut Vec<Facts>,
) {
    let Some((part, parts)) = parts.split_first() else {
        if rest.is_empty() {
            found.push(facts.clone());
        }
        return;
    };
    match part {
        Part::Literal(literal) => {
            if let Some(rest) = rest.strip_prefix(literal.as_str()) {
                matches(parts, rest, facts, catalogue, found);
            }
        }
        Part::Field(field) => {
            // Anything may be nothing.
            let shortest = usize::from(*field != Field::Wild);
            let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]).skip(shortest);
            for (value, rest) in ends.map(|end| rest.split_at(end)) {
                // A number goes as far as its digits.
                let is_cut = *field != Field::Wild
                    && value.ends_with(|c: char| c.is_ascii_digit())
                    && rest.starts_with(|c: char| c.is_ascii_digit());
                if let (false, Some(facts)) = (is_cut, with(facts, *field, value, catalogue)) {
                    matches(parts, rest, &facts, catalogue, found);
                }
            }
        }
    }
}

/// The facts with one more; `None` where the text cannot be it.
fn with(facts: &Facts, field: Field, value: &str, catalogue: &Catalogue) -> Option<Facts> {
    let mut facts = facts.clone();
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    match field {
        Field::Spec => facts.spec = Some(spec(value)?.id.to_string()),
        Field::Scenario => facts.scenario = Some(catalogue.named(value)?.id.to_string()),
        Field::Concurrency if is_number => facts.concurrency = Some(value.parse().ok()?),
        Field::Tables if is_number => facts.tables = Some(value.parse().ok()?),
        Field::TableSize if is_number => facts.table_size = Some(value.parse().ok()?),
        Field::Concurrency | Field::Tables | Field::TableSize => return None,
        Field::Wild => {}
    }
    Some(facts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::KeepArgs;

    fn catalogue() -> Catalogue {
        let keep = KeepArgs {
            name: "mine/a".to_owned(),
            title: None,
            date: None,
            origin: None,
            class: None,
            template: String::new(),
            define: vec!["range=oltp_read_only".to_owned()],
            replace: false,
            skip_unreadable: false,
        };
        Catalogue::of(Path::new("/nonexistent"), &keep).unwrap()
    }

    fn read(pattern: &str, path: &str) -> Result<(String, String, u32), String> {
        let facts = Pattern::parse(pattern).unwrap().read(Path::new(path), &catalogue())?;
        let text = |text: Option<String>| text.unwrap_or_default();
        Ok((text(facts.spec), text(facts.scenario), facts.concurrency.unwrap_or(0)))
    }

    #[test]
    fn a_name_tells_spec_scenario_and_connections() {
        let expected = ("2c4g".to_owned(), "read-only-range".to_owned(), 64);
        let dashes = "{spec}-{scenario}-{concurrency}.txt";
        assert_eq!(read(dashes, "out/2c4g-read-only-range-64.txt").unwrap(), expected);
        let folders = "{spec}/{scenario}/{concurrency}{*}.log";
        assert_eq!(read(folders, "o/2c4g/read-only-range/64-b.log").unwrap(), expected);
        let before = read("{*}-{scenario}", "x-write-only").unwrap();
        assert_eq!(before.1, "write-only");
        let either = read("{*}{scenario}", "read-only-range").unwrap_err();
        assert!(either.contains("several ways"), "{either}");
    }

    #[test]
    fn a_name_that_does_not_fit_is_told() {
        let dashes = "{spec}-{scenario}-{concurrency}.txt";
        for name in ["", "2c4g-other-64.txt", "2c4g-write-only-x.txt", "2c4g-write-only-64.log"] {
            assert!(read(dashes, name).unwrap_err().contains("does not have the form"), "{name}");
        }
        let twice = read("{concurrency}{*}{tables}", "1-23").unwrap_err();
        assert!(twice.contains("several ways"), "{twice}");
    }

    #[test]
    fn a_bad_pattern_is_told() {
        for (bad, part) in [("{spec", "closed"), ("{x}", "there is no"), ("{spec}{spec}", "often")]
        {
            assert!(Pattern::parse(bad).unwrap_err().contains(part), "{bad}");
        }
        assert!(Pattern::parse("{*}{*}{*}").unwrap_err().contains("too often"));
    }
}
