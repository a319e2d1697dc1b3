//! `--only KEY=VALUE`: the same key widens, different keys narrow.
//!
//! Must not know: what a cell is measured with.

use super::expand::ExpandError;
use crate::model::{Matrix, ScenarioId, SpecId};
use crate::written::nearest;

/// The cells that were asked for; an empty list means all.
#[derive(Debug, Default)]
pub(super) struct Selection {
    specs: Vec<SpecId>,
    scenarios: Vec<ScenarioId>,
    levels: Vec<u32>,
}

const KEYS: [&str; 3] = ["spec", "scenario", "concurrency"];

impl Selection {
    /// Reads what was typed. Names must exist; whether a concurrency does is known later.
    pub(super) fn parse(only: &[String], matrix: &Matrix) -> Result<Self, ExpandError> {
        let mut selection = Self::default();
        for text in only {
            let Some((key, value)) = text.split_once('=') else {
                return Err(ExpandError::NotKeyValue { text: text.clone() });
            };
            let (key, value) = (key.trim(), value.trim());
            match key {
                "spec" => {
                    let known = matrix.specs.iter().map(|(spec, _)| &spec.id);
                    selection.specs.push(find(key, value, known, SpecId::as_str)?);
                }
                "scenario" => {
                    let known = matrix.scenarios.iter().map(|scenario| &scenario.id);
                    selection.scenarios.push(find(key, value, known, ScenarioId::as_str)?);
                }
                "concurrency" => {
                    let level = value.parse().ok().filter(|level| *level > 0);
                    selection.levels.push(
                        level.ok_or_else(|| ExpandError::NotConcurrency {
                            value: value.to_owned(),
                        })?,
                    );
                }
                _ => return Err(unknown_key(key)),
            }
        }
        Ok(selection)
    }

    pub(super) fn has_spec(&self, spec: &SpecId) -> bool {
        self.specs.is_empty() || self.specs.contains(spec)
    }

    pub(super) fn has_scenario(&self, scenario: &ScenarioId) -> bool {
        self.scenarios.is_empty() || self.scenarios.contains(scenario)
    }

    pub(super) fn has_level(&self, level: u32) -> bool {
        self.levels.is_empty() || self.levels.contains(&level)
    }

    /// A concurrency that was asked for must be one of the matrix's (ascending, distinct).
    pub(super) fn check_levels(&self, known: &[u32]) -> Result<(), ExpandError> {
        match self.levels.iter().find(|level| !known.contains(level)) {
            None => Ok(()),
            Some(level) => Err(ExpandError::UnknownValue {
                key: "concurrency".to_owned(),
                value: level.to_string(),
                hint: format!("known: {}", listed(known.iter().map(u32::to_string))),
            }),
        }
    }
}

fn find<'a, T: Clone + 'a>(
    key: &str,
    value: &str,
    known: impl Iterator<Item = &'a T> + Clone,
    name: impl Fn(&'a T) -> &'a str,
) -> Result<T, ExpandError> {
    if let Some(found) = known.clone().find(|id| name(id) == value) {
        return Ok(found.clone());
    }
    let names: Vec<&str> = known.map(name).collect();
    let hint = match nearest(value, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known: {}", listed(names.into_iter().map(str::to_owned))),
    };
    Err(ExpandError::UnknownValue { key: key.to_owned(), value: value.to_owned(), hint })
}

fn unknown_key(key: &str) -> ExpandError {
    let hint = match nearest(key, KEYS.into_iter()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known: {}", KEYS.join(", ")),
    };
    ExpandError::UnknownKey { key: key.to_owned(), hint }
}

/// The first twenty of a list.
fn listed(mut names: impl Iterator<Item = String>) -> String {
    let mut shown: Vec<String> = names.by_ref().take(20).collect();
    if names.next().is_some() {
        shown.push("...".to_owned());
    }
    shown.join(", ")
}
