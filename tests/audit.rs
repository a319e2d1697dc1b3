//! What an audit of the published tables finds: exactly this, and the page that documents it.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use gridbench::audit::CODES;

const SET: &str = "tdsql-c-2025-12";

fn gridbench(arguments: &[&str]) -> Output {
    let empty = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridbench"));
    command.arg("audit").args(arguments).current_dir(empty.path()).output().unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = gridbench(arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn methodology() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("METHODOLOGY.md")).unwrap()
}

#[test]
fn the_published_tables_have_these_findings_and_no_others() {
    insta::assert_snapshot!("published-text", stdout(&[SET]));
    let whole: serde_json::Value =
        serde_json::from_str(&stdout(&[SET, "--format", "json"])).unwrap();
    let findings = whole["findings"].as_array().unwrap();
    let count = |code: &str| findings.iter().filter(|finding| finding["code"] == code).count();
    let counts: Vec<(&str, usize)> =
        CODES.iter().map(|code| (*code, count(code))).filter(|(_, count)| *count > 0).collect();
    let expected = [
        ("LITTLE", 3),
        ("BANDWIDTH", 4),
        ("CLASS", 1),
        ("RANGE-ABOVE-POINT", 1),
        ("LARGER-FASTER", 5),
        ("LARGER-FASTER-SPEC", 1),
    ];
    assert_eq!(counts, expected);
    assert_eq!(findings.len(), expected.iter().map(|(_, count)| count).sum::<usize>());
}

#[test]
fn one_table_is_held_against_itself_alone() {
    insta::assert_snapshot!(
        "full-cache-json",
        stdout(&[&format!("{SET}/full-cache"), "--format", "json"])
    );
    let large = stdout(&[&format!("{SET}/large-dataset")]);
    assert!(large.contains("1 table, 70 cells, 6 findings"), "{large}");
    assert!(!large.contains("LARGER-FASTER"), "{large}");
}

#[test]
fn what_is_stated_decides_what_is_found() {
    let fast = [SET, "--rtt-floor", "20us", "--bandwidth", "25Gbit", "--format", "json"];
    let text = stdout(&fast);
    assert!(!text.contains("LITTLE") && !text.contains("BANDWIDTH"), "{text}");
    assert!(text.contains("\"bandwidth_bits_per_second\": 25000000000"), "{text}");
    let slow = stdout(&[SET, "--rtt-floor", "30us", "--bandwidth", "17.6Gbit"]);
    assert!(slow.contains("26.3 us") && !slow.contains("33.9 us"), "{slow}");
    assert!(slow.contains("22.59 Gbit/s, above 17.6 Gbit/s") && !slow.contains("17.53"), "{slow}");
}

#[test]
fn findings_are_information_unless_they_are_to_fail() {
    assert_eq!(gridbench(&[SET, "--fail-on-findings"]).status.code(), Some(4));
    assert_eq!(gridbench(&[SET]).status.code(), Some(0));
    assert_eq!(gridbench(&[SET, "--rtt-floor", "fast"]).status.code(), Some(2));
    let unknown = gridbench(&["tdsql-c"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("did you mean"));
}

#[test]
fn the_methodology_lists_every_code_and_what_the_published_pages_have() {
    let page = methodology();
    for code in CODES {
        assert!(page.contains(&format!("\n| `{code}` | ")), "METHODOLOGY.md does not list {code}");
    }
    let markdown = stdout(&[SET, "--format", "md"]);
    let table: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
    let table = table.join("\n");
    assert!(page.contains(&table), "METHODOLOGY.md holds another table than:\n{table}");
}
