//! Completions and manual pages: made of the command line, for every subcommand.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

use std::fs;
use std::process::{Command, Output};

fn gridbench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gridbench")).args(arguments).output().unwrap()
}

#[test]
fn each_shell_gets_completions_that_know_the_subcommands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = String::from_utf8(gridbench(&["completions", shell]).stdout).unwrap();
        for word in ["calibrate", "rehearse", "fail-on"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(gridbench(&["completions", "dos"]).status.code(), Some(2));
}

#[test]
fn there_is_a_manual_page_for_each_subcommand_with_its_examples() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("man");
    assert!(gridbench(&["man", place.to_str().unwrap()]).status.success());
    let page = |name: &str| fs::read_to_string(place.join(name)).unwrap();
    assert!(page("gridbench.1").contains("SUBCOMMANDS"));
    for name in ["plan", "run", "show", "render", "diff", "calibrate"] {
        assert!(page(&format!("gridbench-{name}.1")).contains("Examples:"), "{name}");
    }
    assert!(page("gridbench-baseline-import-csv.1").contains("CSV"));
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let refused = gridbench(&["man", file.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn show_opens_the_report_of_a_run_and_says_what_a_baseline_lacks() {
    let output = gridbench(&["show", "tdsql-c-2025-12/full-cache", "--open"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("--template report -o FILE.html"), "{said}");
}
