//! The house rules that a machine can hold: who imports whom, sizes, names, what is absent.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Module -> modules of ours that it may import. `cmd` and `cli` are the outermost ring.
const IMPORT_LAW: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("written", &["model"]),
    ("matrix", &["model", "workload", "written"]),
    ("workload", &["model"]),
    ("driver", &["model"]),
    ("load", &["model", "workload", "driver"]),
    ("stats", &["model"]),
    ("sysbench", &["model", "workload", "stats"]),
    ("exec", &["model", "workload", "driver", "load", "stats", "sysbench"]),
    ("target", &["model", "driver", "written"]),
    ("store", &["model", "workload", "stats"]),
    ("ui", &["model"]),
    ("audit", &["model", "workload", "ui"]),
    ("report", &["model", "stats", "store", "ui", "audit"]),
    ("watch", &["model", "stats", "ui"]),
    ("cli", &[]),
];

/// Module -> what it must not name: its ignorance is what keeps it testable.
const IGNORANCE: &[(&str, &[&str])] = &[
    ("model", &["serde", "tokio", "std::fs", "std::net", "std::io", "mysql_async"]),
    ("stats", &["serde::", "tokio", "std::fs", "std::net", "mysql_async"]),
    ("audit", &["serde", "tokio", "std::fs", "std::net", "mysql_async"]),
    ("workload", &["tokio", "std::fs", "std::net", "mysql_async"]),
    ("matrix", &["tokio", "std::net", "mysql_async", "std::fs"]),
    ("written", &["tokio", "std::net", "mysql_async", "std::fs", "serde"]),
    ("sysbench", &["serde", "tokio", "std::fs", "std::net", "std::process", "std::io"]),
    ("exec", &["std::fs", "minijinja", "serde", "mysql_async"]),
    ("load", &["minijinja", "serde"]),
    ("report", &["tokio", "mysql_async", "std::net"]),
    ("store", &["tokio", "mysql_async", "minijinja"]),
    ("ui", &["tokio", "mysql_async", "std::fs"]),
    ("watch", &["mysql_async"]),
];

const LINES_PER_FILE: usize = 500;
const COLUMNS: usize = 100;

struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    /// `src/model/spec.rs` -> `model`; `src/cli.rs` -> `cli`.
    fn module(&self) -> Option<String> {
        let inside = self.path.strip_prefix("src").ok()?;
        let first = inside.components().next()?.as_os_str().to_str()?;
        Some(first.trim_end_matches(".rs").to_owned())
    }

    /// Line number and text of every line that is not a comment.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate().map(|(index, line)| (index + 1, line));
        lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    fn at(&self, line: usize, fault: impl std::fmt::Display) -> String {
        format!("{}:{line}: {fault}", self.path.display())
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folders: &[&str]) -> Vec<Source> {
    let mut waiting: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
    let mut found = Vec::new();
    while let Some(folder) = waiting.pop() {
        let Ok(entries) = fs::read_dir(root().join(&folder)) else { continue };
        for entry in entries {
            let path = folder.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(root().join(&path)).unwrap();
                found.push(Source { path, text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(found.len() > 20, "the tidy tests must see the sources: {} found", found.len());
    found
}

fn all() -> Vec<Source> {
    sources(&["src", "tests", "benches", "examples"])
}

fn none(faults: &[String]) {
    assert!(faults.is_empty(), "faults: {}\n{}", faults.len(), faults.join("\n"));
}

/// The names that follow `crate::` in a line, braces opened: `use crate::{model, stats::X}`.
fn imported(line: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut names = Vec::new();
    for rest in line.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(list) => names.extend(list.split(',').map(name)),
            None => names.push(name(rest)),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[test]
fn modules_import_only_what_the_law_allows() {
    let known: BTreeSet<&str> = IMPORT_LAW.iter().map(|(module, _)| *module).collect();
    let mut faults = Vec::new();
    for source in sources(&["src"]) {
        let Some(module) = source.module() else { continue };
        if ["cmd", "main", "lib"].contains(&module.as_str()) {
            continue;
        }
        let Some((_, allowed)) = IMPORT_LAW.iter().find(|(name, _)| *name == module) else {
            faults.push(source.at(1, format!("module `{module}` has no line in the import law")));
            continue;
        };
        for (number, line) in source.code() {
            if line.ends_with("crate::{") {
                faults.push(source.at(number, "one `use crate::...` for each module"));
            }
            for name in imported(line) {
                let foreign = known.contains(name.as_str()) || name == "cmd";
                if foreign && name != module && !allowed.contains(&name.as_str()) {
                    faults.push(source.at(number, format!("{module} must not import {name}")));
                }
            }
        }
    }
    none(&faults);
}

#[test]
fn modules_do_not_name_what_they_must_not_know() {
    let mut faults = Vec::new();
    for source in sources(&["src"]) {
        let module = source.module().unwrap_or_default();
        let unknown = IGNORANCE.iter().find(|(name, _)| *name == module).map_or(&[][..], |i| i.1);
        for (number, line) in source.code() {
            for word in unknown.iter().filter(|word| line.contains(**word)) {
                faults.push(source.at(number, format!("{module} must not know {word}")));
            }
            if line.contains("anyhow") && !["cmd", "main"].contains(&module.as_str()) {
                faults.push(source.at(number, "anyhow belongs to cmd/"));
            }
        }
    }
    none(&faults);
}

#[test]
fn files_open_with_their_purpose_and_stay_readable() {
    let mut faults = Vec::new();
    for source in all() {
        if !source.text.starts_with("//! ") {
            faults.push(source.at(1, "opens with `//!`: what it holds, and what it must not know"));
        }
        let lines = source.text.lines().count();
        if lines > LINES_PER_FILE {
            faults.push(source.at(lines, format!("{lines} lines, at most {LINES_PER_FILE}")));
        }
        for (index, line) in source.text.lines().enumerate() {
            let columns = line.chars().count();
            if columns > COLUMNS {
                faults.push(source.at(index + 1, format!("{columns} columns, at most {COLUMNS}")));
            }
        }
    }
    none(&faults);
}

#[test]
fn nothing_is_left_for_later() {
    // Spelt in halves, so that this file does not find itself.
    let words = ["TO".to_owned() + "DO", "FIX".to_owned() + "ME", "#[ig".to_owned() + "nore"];
    let macros = ["todo".to_owned() + "!(", "unimplemented".to_owned() + "!("];
    let loose = ["#[al".to_owned() + "low(", "#![al".to_owned() + "low("];
    let mut faults = Vec::new();
    for source in all() {
        for (index, line) in source.text.lines().enumerate() {
            for word in words.iter().chain(&macros).chain(&loose) {
                if line.contains(word.as_str()) {
                    faults.push(source.at(index + 1, format!("`{word}` is not committed")));
                }
            }
        }
    }
    none(&faults);
}

#[test]
fn types_are_named_in_the_projects_own_words() {
    let banned = ["Test", "Job", "Task", "Benchmark"];
    let mut faults = Vec::new();
    for source in sources(&["src"]) {
        for (number, line) in source.code() {
            let mut words = line.split_whitespace().skip_while(|w| w.starts_with("pub"));
            let declares = matches!(words.next(), Some("struct" | "enum" | "trait" | "type"));
            let name = words.next().unwrap_or_default();
            if declares && banned.iter().any(|word| name.starts_with(word)) {
                faults.push(source.at(number, format!("`{name}` is not one of the words")));
            }
        }
    }
    none(&faults);
}

#[test]
fn what_reaches_disk_or_screen_has_an_order() {
    let mut faults = Vec::new();
    for source in sources(&[
        "src/store",
        "src/report",
        "src/cmd",
        "src/ui",
        "src/watch",
        "src/matrix",
        "src/model",
        "src/audit",
    ]) {
        for (number, line) in source.code() {
            if line.contains("HashMap") || line.contains("HashSet") {
                faults.push(source.at(number, "BTreeMap, BTreeSet or Vec: output has an order"));
            }
        }
    }
    none(&faults);
}

#[test]
fn every_dependency_stands_with_its_reason() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let mut inside = false;
    let mut previous = "";
    let mut faults = Vec::new();
    let mut seen = 0;
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.contains("dependencies]");
        } else if inside && line.contains(" = ") && !line.starts_with('#') {
            seen += 1;
            if !previous.starts_with('#') {
                faults.push(format!("Cargo.toml: no reason above `{line}`"));
            }
        }
        previous = line;
    }
    assert!(seen > 10, "the dependencies were not found");
    none(&faults);
}

/// Nouns that messages count; `model::counted` makes them agree with their number.
const COUNTED: &[&str] = &[
    "CPUs",
    "answers",
    "cells",
    "columns",
    "connections",
    "cpus",
    "elements",
    "events",
    "faults",
    "files",
    "levels",
    "queries",
    "ratios",
    "repetitions",
    "rows",
    "runs",
    "tables",
    "trials",
];

/// `{name} tables` with a variable before it; a limit has a name in capitals, a rate an `/s` or
/// decimals.
fn counts_by_hand(line: &str) -> bool {
    line.split('{').skip(1).filter_map(|piece| piece.split_once("} ")).any(|(name, rest)| {
        let rest = rest.strip_prefix("more ").unwrap_or(rest);
        let word = rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
        let after = &rest[word.len()..];
        let is_rate = ["/s", " a second", " per second"].iter().any(|end| after.starts_with(end));
        let is_limit = name.starts_with(|c: char| c.is_ascii_uppercase()) || name.contains('.');
        COUNTED.contains(&word) && !is_rate && !is_limit
    })
}

#[test]
fn what_is_counted_agrees_with_its_number() {
    assert!(counts_by_hand(r#""{faults} faults in {name}""#));
    assert!(counts_by_hand(r#""and {more} more faults""#));
    assert!(!counts_by_hand(r#""{} rows/s, {rate} events a second, {MAX_LEVELS} levels""#));
    let mut faults = Vec::new();
    for source in sources(&["src"]) {
        let product = source.text.find("#[cfg(test)]").unwrap_or(source.text.len());
        let last = source.text[..product].lines().count();
        for (number, line) in source.code().filter(|(number, _)| *number <= last) {
            if counts_by_hand(line) {
                faults.push(source.at(number, "say it with model::counted"));
            }
        }
    }
    none(&faults);
}

#[test]
fn no_file_carries_a_path_of_one_machine() {
    let homes = ["/ro".to_owned() + "ot/", "/ho".to_owned() + "me/", "/wo".to_owned() + "rk/"];
    let mut faults = Vec::new();
    for source in all() {
        for (number, line) in source.code() {
            if homes.iter().any(|home| line.contains(home.as_str())) {
                faults.push(source.at(number, "an absolute path of one machine"));
            }
        }
    }
    none(&faults);
}

#[test]
fn the_import_reader_reads_what_it_must() {
    assert_eq!(imported("use crate::model::Spec;"), ["model"]);
    assert_eq!(imported("use crate::{model, stats::X};"), ["model", "stats"]);
    assert_eq!(imported("let x = crate::store::read(crate::cmd::y);"), ["store", "cmd"]);
    assert!(imported("use std::fmt;").is_empty());
}
