//! The page model as JSON against the list in FORMAT.md, name by name.
//!
//! Must not know: templates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use gridbench::report::{Dossier, model_json};

use super::fixtures::{published, rehearsal, small_run};
use super::report;

/// Names by the place where they stand: `` for the top, `measured.protocol`, `scenarios[].rows[]`.
type Names = BTreeMap<String, BTreeSet<String>>;

/// What FORMAT.md lists between these two headings: each table's first column under the place
/// that its header names.
pub(crate) fn listed(from: &str, to: &str) -> Names {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("FORMAT.md");
    let text = std::fs::read_to_string(path).unwrap();
    let section = text.split_once(from).unwrap().1.split_once(to).unwrap().0;
    let mut names = Names::new();
    let mut places: Option<Vec<String>> = None;
    for line in section.lines() {
        let Some(cell) = line.strip_prefix("| ").and_then(|line| line.split(" | ").next()) else {
            places = places.filter(|_| line.starts_with('|'));
            continue;
        };
        let quoted: Vec<String> = cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        match &places {
            None if cell == "name" => places = Some(vec![String::new()]),
            None => places = Some(quoted),
            Some(places) => {
                for place in places {
                    names.entry(place.clone()).or_default().extend(quoted.iter().cloned());
                }
            }
        }
    }
    names
}

/// The names of a document's objects, each under its place.
pub(crate) fn collect(value: &Value, place: &str, names: &mut Names) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                names.entry(place.to_owned()).or_default().insert(name.clone());
                let inner = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                collect(field, &inner, names);
            }
        }
        Value::Array(items) => {
            items.iter().for_each(|item| collect(item, &format!("{place}[]"), names));
        }
        _ => {}
    }
}

#[test]
fn the_json_has_the_names_that_the_format_lists_and_no_others() {
    let mut names = Names::new();
    let whole = report::Whole::new();
    let tables = [small_run(), rehearsal(), published("full-cache")];
    for dossier in tables.iter().map(Dossier::bare).chain([whole.dossier()]) {
        let text = model_json(&dossier);
        assert!(text.ends_with("}\n"), "a text file ends in one line end");
        collect(&serde_json::from_str(&text).unwrap(), "", &mut names);
    }
    // The format lists a row's spec once, under the name that templates use.
    let spec = names.remove("scenarios[].rows[].spec").unwrap();
    for place in ["accounts[].rows[].spec", "accounts[].curves[].spec"] {
        assert_eq!(names.remove(place), Some(spec.clone()), "{place}");
    }
    names.insert("row.spec".to_owned(), spec);
    // A row of an account has the names of the scenario's row, and more.
    let row = names["scenarios[].rows[]"].clone();
    let account = names.get_mut("accounts[].rows[]").unwrap();
    assert!(account.is_superset(&row));
    account.retain(|name| !row.contains(name));
    let listed = listed("## Page model\n", "### Filters\n");
    assert_eq!(names, listed);
}

#[test]
fn an_unknown_is_null_and_a_number_is_whole() {
    let model: Value = serde_json::from_str(&model_json(&Dossier::bare(&small_run()))).unwrap();
    assert_eq!(model["published"], Value::Null);
    assert_eq!(model["scenarios"][0]["rows"][1]["qps_milli"], Value::Null);
    assert_eq!(model["scenarios"][0]["rows"][0]["qps_milli"], 1_000_000);
    assert_eq!(model["measured"]["protocol"]["seed"], 20_251_210);
}
