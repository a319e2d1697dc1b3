//! How two result sets are compared: which difference is none, and what may differ.
//!
//! Must not know: how it was typed.

use crate::model::{Facts, ResultSet, ScenarioId, SpecId};

/// What a comparison is to hold on to.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOptions {
    /// A difference of at most this share is none: 0.05 is 5 %.
    pub threshold: f64,
    /// The same of some cells only, by `SCENARIO/SPEC`, `SCENARIO` or `SPEC`; the most specific
    /// one counts, and of two the scenario's.
    pub thresholds: Vec<(String, f64)>,
    /// The largest difference that an A/A run found between equal things.
    pub noise: Option<f64>,
    /// What of the environment is meant to differ: a name, or all that begin with it and a dot.
    pub across: Vec<String>,
}

impl CompareOptions {
    /// One threshold for all, nothing known of noise, nothing that may differ.
    pub fn with_threshold(threshold: f64) -> Self {
        Self { threshold, thresholds: Vec::new(), noise: None, across: Vec::new() }
    }

    /// The threshold of a cell.
    pub(super) fn threshold_of(&self, scenario: &ScenarioId, spec: &SpecId) -> f64 {
        let names = [format!("{scenario}/{spec}"), scenario.to_string(), spec.to_string()];
        let named = |name: &String| self.thresholds.iter().find(|(of, _)| of == name);
        names.iter().find_map(named).map_or(self.threshold, |(_, threshold)| *threshold)
    }

    /// Whether a fact is one that may differ.
    pub(super) fn is_across(&self, fact: &str) -> bool {
        self.across.iter().any(|name| covers(name, fact))
    }
}

fn covers(name: &str, fact: &str) -> bool {
    fact.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Every name that a threshold may have for these results.
pub fn threshold_names(sides: [&ResultSet; 2]) -> Vec<String> {
    let mut names = Vec::new();
    for side in sides {
        for scenario in &side.scenarios {
            names.push(scenario.id.to_string());
            names.extend(side.specs.iter().map(|spec| format!("{}/{}", scenario.id, spec.id)));
        }
        names.extend(side.specs.iter().map(|spec| spec.id.to_string()));
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// Every name of a fact of these results, and every beginning of one up to a dot.
pub fn fact_names(sides: [&ResultSet; 2]) -> Vec<String> {
    let facts = sides.into_iter().flat_map(|side| side.environment.values()).flat_map(Facts::keys);
    let mut names: Vec<String> = Vec::new();
    for fact in facts {
        let dots = fact.match_indices('.').map(|(at, _)| fact[..at].to_owned());
        names.extend(dots.chain([fact.clone()]));
    }
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_threshold_counts() {
        let (scenario, spec) = (ScenarioId::new("s").unwrap(), SpecId::new("2c4g").unwrap());
        let with = |names: &[(&str, f64)]| CompareOptions {
            thresholds: names.iter().map(|(name, share)| ((*name).to_owned(), *share)).collect(),
            ..CompareOptions::with_threshold(0.05)
        };
        let of = |names: &[(&str, f64)]| with(names).threshold_of(&scenario, &spec);
        assert_eq!(of(&[]), 0.05);
        assert_eq!(of(&[("2c4g", 0.1), ("other", 0.9)]), 0.1);
        assert_eq!(of(&[("2c4g", 0.1), ("s", 0.2)]), 0.2);
        assert_eq!(of(&[("s", 0.2), ("s/2c4g", 0.3)]), 0.3);
    }

    #[test]
    fn a_name_covers_what_begins_with_it_and_a_dot() {
        assert!(covers("server", "server.version") && covers("server.version", "server.version"));
        assert!(!covers("server.ver", "server.version") && !covers("serve", "server.version"));
    }
}
