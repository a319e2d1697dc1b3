//! `about.toml`: where a set of published numbers is from, and what is known of its method.
//!
//! Must not know: the numbers.

use serde::Deserialize;
use toml::Spanned;

use crate::model::{DatasetClass, Scenario};
use crate::store::clock;
use crate::store::error::Fault;
use crate::store::wire::Invalid;
use crate::store::wire_scenario::ScenarioWire;

use super::Place;

/// The file's name in a set's directory.
pub(super) const FILE: &str = "about.toml";

const FORMAT: u32 = 1;

/// Where a set is from, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The set's name: its directory's.
    pub name: String,
    /// A heading.
    pub title: String,
    /// Who published it, and where.
    pub origin: String,
    /// `YYYY-MM-DD`.
    pub date: String,
    /// What is known of how it was measured, a sentence or two each.
    pub known: Vec<String>,
    /// What is not known.
    pub unknown: Vec<String>,
    /// Its tables; at least one.
    pub tables: Vec<AboutTable>,
    /// The scenarios of all tables, in the order of a page.
    pub scenarios: Vec<Scenario>,
    /// Where it is kept.
    pub place: Place,
}

/// One page's numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AboutTable {
    /// The part of the name after the slash.
    pub name: String,
    /// The file in the set's directory.
    pub file: String,
    /// The page's title.
    pub title: String,
    /// Name of the layout that renders it.
    pub template: String,
    /// What the page claims about data and cache.
    pub class: DatasetClass,
    /// `YYYY-MM-DD`; the set's where the table has none.
    pub date: String,
    /// Who published it, and where; the set's where the table has none.
    pub origin: String,
    /// What is known of how it was measured, beyond what is known of the set.
    pub known: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AboutWire {
    format: Spanned<u32>,
    name: Spanned<String>,
    title: String,
    origin: String,
    date: Spanned<String>,
    #[serde(default)]
    known: Vec<String>,
    #[serde(default)]
    unknown: Vec<String>,
    table: Vec<TableWire>,
    scenario: Vec<Spanned<ScenarioWire>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableWire {
    name: Spanned<String>,
    file: Spanned<String>,
    title: String,
    template: String,
    class: Spanned<String>,
    date: Option<Spanned<String>>,
    origin: Option<String>,
    #[serde(default)]
    known: Vec<String>,
}

/// Reads the text of a set that must have this name. All faults at once, except that a text
/// which is not TOML, or lacks a key, has only that one.
pub(super) fn parse(file: &str, set: &str, text: &str, place: Place) -> Result<About, Vec<Fault>> {
    let wire: AboutWire = toml::from_str(text).map_err(|error| vec![syntax(file, text, &error)])?;
    let mut checker = Checker { file, text, faults: Vec::new() };
    if *wire.format.get_ref() != FORMAT {
        checker.fault(&wire.format, format!("this gridbench reads format {FORMAT}"));
    }
    if wire.name.get_ref() != set {
        checker.fault(&wire.name, format!("the name must be the directory's, `{set}`"));
    }
    checker.date(&wire.date);
    let date = wire.date.into_inner();
    let tables = checker.tables(wire.table, (&date, &wire.origin));
    let scenarios = checker.scenarios(wire.scenario);
    if !checker.faults.is_empty() {
        return Err(checker.faults);
    }
    Ok(About {
        name: set.to_owned(),
        title: wire.title,
        origin: wire.origin,
        date,
        known: wire.known,
        unknown: wire.unknown,
        tables,
        scenarios,
        place,
    })
}

/// The parser's own words, which show the place with a caret.
fn syntax(file: &str, text: &str, error: &toml::de::Error) -> Fault {
    let line = error.span().map(|span| line_of(text, span.start));
    Fault { file: file.to_owned(), line, message: error.to_string().trim_end().to_owned() }
}

fn line_of(text: &str, offset: usize) -> u64 {
    let before = text.as_bytes().iter().take(offset);
    before.filter(|byte| **byte == b'\n').count() as u64 + 1
}

struct Checker<'a> {
    file: &'a str,
    text: &'a str,
    faults: Vec<Fault>,
}

impl Checker<'_> {
    fn fault<T>(&mut self, at: &Spanned<T>, message: String) {
        let line = Some(line_of(self.text, at.span().start));
        self.faults.push(Fault { file: self.file.to_owned(), line, message });
    }

    fn date(&mut self, date: &Spanned<String>) {
        if !clock::is_date(date.get_ref()) {
            self.fault(date, format!("`{}` is not a date such as 2025-12-10", date.get_ref()));
        }
    }

    fn tables(
        &mut self,
        wires: Vec<TableWire>,
        (set_date, set_origin): (&str, &str),
    ) -> Vec<AboutTable> {
        let mut tables: Vec<AboutTable> = Vec::new();
        for wire in wires {
            let (name, file) = (wire.name.get_ref(), wire.file.get_ref());
            if name.is_empty() || name.contains(['/', ' ']) {
                self.fault(&wire.name, format!("`{name}` is no name: no slash, no blank"));
            } else if tables.iter().any(|table| table.name == *name) {
                self.fault(&wire.name, format!("there are two tables named `{name}`"));
            }
            if file.contains(['/', '\\']) || file.starts_with('.') {
                self.fault(&wire.file, format!("`{file}` must be a file beside this one"));
            }
            let class = DatasetClass::from_name(wire.class.get_ref());
            if class.is_none() {
                let message = "the class must be `full-cache` or `larger-than-memory`".to_owned();
                self.fault(&wire.class, message);
            }
            if let Some(date) = &wire.date {
                self.date(date);
            }
            tables.push(AboutTable {
                name: wire.name.into_inner(),
                file: wire.file.into_inner(),
                title: wire.title,
                template: wire.template,
                class: class.unwrap_or(DatasetClass::FullCache),
                date: wire.date.map_or_else(|| set_date.to_owned(), Spanned::into_inner),
                origin: wire.origin.unwrap_or_else(|| set_origin.to_owned()),
                known: wire.known,
            });
        }
        tables
    }

    fn scenarios(&mut self, wires: Vec<Spanned<ScenarioWire>>) -> Vec<Scenario> {
        let mut scenarios: Vec<Scenario> = Vec::new();
        for wire in wires {
            let at = Spanned::new(wire.span(), ());
            match Scenario::try_from(wire.into_inner()) {
                Ok(scenario) if scenarios.iter().any(|known| known.id == scenario.id) => {
                    self.fault(&at, format!("there are two scenarios named `{}`", scenario.id));
                }
                Ok(scenario) => scenarios.push(scenario),
                Err(Invalid(message)) => self.fault(&at, message),
            }
        }
        scenarios
    }
}
