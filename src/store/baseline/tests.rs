//! Sets of published numbers, on disk and built in, right and wrong.

use std::fs;

use super::*;
use crate::model::{DatasetClass, MilliRate, ResultSource};

fn built_in(name: &str) -> ResultSet {
    read(Path::new("/nonexistent"), name).unwrap()
}

/// A set `mine` in a results directory.
fn set_on_disk(out: &Path, about: &str, table: &str) {
    let directory = out.join("baselines/mine");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("about.toml"), about).unwrap();
    fs::write(directory.join("t.csv"), table).unwrap();
}

const ABOUT: &str = r#"format = 1
name = "mine"
title = "Mine"
origin = "Me"
date = "2026-01-02"
[[table]]
name = "t"
file = "t.csv"
title = "T"
template = "x"
class = "full-cache"
[[scenario]]
id = "read"
workload = "oltp_point_select"
[[scenario]]
id = "write"
workload = "oltp_write_only"
"#;

const TABLE: &str = "scenario,cpu,memory_gb,concurrency,table_size,tables,qps\n\
    write,4,8,64,100,1,5.5\nread,2,4,64,100,1,7\nread,4,8,64,100,1,6.125\n";

/// The faults of that set, without the directory.
fn faults(about: &str, table: &str) -> Vec<String> {
    let out = tempfile::tempdir().unwrap();
    set_on_disk(out.path(), about, table);
    let error = read(out.path(), "mine/t").unwrap_err();
    let prefix = format!("{}/", out.path().join("baselines/mine").display());
    assert!(error.is_input());
    error.to_string().replace(&prefix, "").lines().map(str::to_owned).collect()
}

#[test]
fn both_published_tables_are_built_in_with_70_cells_each() {
    for (name, class) in [
        ("tdsql-c-2025-12/full-cache", DatasetClass::FullCache),
        ("tdsql-c-2025-12/large-dataset", DatasetClass::LargerThanMemory),
    ] {
        let results = built_in(name);
        assert_eq!(results.name, name);
        assert_eq!(results.class, class);
        assert_eq!((results.specs.len(), results.scenarios.len()), (14, 5));
        assert_eq!(results.cells.len(), 70);
        let ids: Vec<_> = results.specs.iter().map(|spec| spec.id.as_str()).collect();
        assert_eq!((ids[0], ids[13]), ("2c4g", "88c710g"));
        let statements: Vec<_> =
            results.scenarios.iter().map(|scenario| scenario.queries_per_event()).collect();
        assert_eq!(statements, [16, 12, 20, 16, 6]);
        assert!(
            matches!(&results.source, ResultSource::Published { date, .. } if date == "2025-12-10")
        );
    }
    let first = &built_in("tdsql-c-2025-12/full-cache").cells[0];
    assert_eq!(first.qps, Some(MilliRate(44_613_740)));
    assert_eq!((first.concurrency, first.table_size, first.tables), (Some(64), 25_000, 250));
}

#[test]
fn every_number_of_a_published_table_comes_out_as_it_went_in() {
    for (name, file) in [
        ("tdsql-c-2025-12/full-cache", BUILT_IN[1].2),
        ("tdsql-c-2025-12/large-dataset", BUILT_IN[2].2),
    ] {
        let results = built_in(name);
        let mut text = "scenario,cpu,memory_gb,concurrency,table_size,tables,qps\n".to_owned();
        for cell in &results.cells {
            let spec = results.specs.iter().find(|spec| spec.id == cell.spec).unwrap();
            let milli = cell.qps.unwrap().0;
            let qps = format!("{}.{:03}", milli / 1_000, milli % 1_000);
            text += &format!(
                "{},{},{},{},{},{},{}\n",
                cell.scenario,
                spec.cpu,
                spec.memory.0 / 1_000_000_000,
                cell.concurrency.unwrap(),
                cell.table_size,
                cell.tables,
                qps.trim_end_matches('0').trim_end_matches('.'),
            );
        }
        assert_eq!(text.as_bytes(), file);
    }
}

#[test]
fn a_set_on_disk_wins_over_the_built_in_one() {
    let out = tempfile::tempdir().unwrap();
    set_on_disk(out.path(), ABOUT, TABLE);
    let ours = out.path().join("baselines/tdsql-c-2025-12");
    fs::rename(out.path().join("baselines/mine"), &ours).unwrap();
    fs::write(ours.join("about.toml"), ABOUT.replace("\"mine\"", "\"tdsql-c-2025-12\"")).unwrap();
    let entries = list(out.path()).unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].name.as_str(), entries[0].cells), ("tdsql-c-2025-12/t", 3));
    assert_eq!(entries[0].place, Place::Directory(ours));
}

#[test]
fn cells_come_by_scenario_of_the_about_file_and_spec_of_the_table() {
    let out = tempfile::tempdir().unwrap();
    set_on_disk(out.path(), ABOUT, TABLE);
    let results = read(out.path(), "mine/t").unwrap();
    let order: Vec<_> =
        results.cells.iter().map(|cell| format!("{} {}", cell.scenario, cell.spec)).collect();
    assert_eq!(order, ["read 4c8g", "read 2c4g", "write 4c8g"]);
    assert_eq!(list(out.path()).unwrap().len(), 3);
    assert_eq!(about(out.path(), "mine").unwrap().tables[0].date, "2026-01-02");
}

#[test]
fn an_unknown_baseline_is_answered_with_the_nearest() {
    let error = read(Path::new("/nonexistent"), "tdsql-c-2025-12/full-cash").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("did you mean `tdsql-c-2025-12/full-cache`?"), "{text}");
    assert!(text.ends_with("\n  tdsql-c-2025-12/large-dataset"), "{text}");
    let error = read(Path::new("/nonexistent"), "tdsql-c-2025-12").unwrap_err();
    assert!(error.to_string().contains("did you mean `tdsql-c-2025-12/full-cache`?"), "{error}");
}

#[test]
fn all_faults_of_a_table_are_named_with_their_lines() {
    let table = "scenario,cpu,memory_gb,concurrency,table_size,tables,qps\n\
        raed,2,4,64,100,1,7\nread,2,4,64,100,1,7.1234\nread,2,4,0,100,1,7\n\
        read,2,4,64,100,1\nread,2,4,64,100,1,7\nread,2,4,32,100,1,8\n\"read,2,4,64,100,1,7\n";
    assert_eq!(
        faults(ABOUT, table),
        [
            "t.csv:2: about.toml has no scenario `raed`: did you mean `read`?",
            "t.csv:3: column qps: `7.1234` is not a number with at most three decimals",
            "t.csv:4: column concurrency: `0` is not a whole number from 1 on",
            "t.csv:5: there should be 7 fields, not 6",
            "t.csv:7: read 2c4g stands in line 6 already",
            "t.csv:8: a quote is not closed",
        ]
    );
    assert_eq!(
        faults(ABOUT, "a,b\n")[0],
        "t.csv:1: the columns must be scenario,cpu,memory_gb,concurrency,table_size,tables,qps"
    );
    assert_eq!(faults(ABOUT, &TABLE[..57]), ["t.csv:1: there is no cell below the header"]);
}

#[test]
fn all_faults_of_an_about_file_are_named_with_their_lines() {
    let about = ABOUT
        .replace("format = 1", "format = 9")
        .replace("2026-01-02", "2026-02-30")
        .replace("\"t.csv\"", "\"../t.csv\"")
        .replace("\"full-cache\"", "\"cached\"")
        .replace("oltp_point_select", "oltp_point");
    assert_eq!(
        faults(&about, TABLE),
        [
            "about.toml:1: this gridbench reads format 1",
            "about.toml:5: `2026-02-30` is not a date such as 2025-12-10",
            "about.toml:8: `../t.csv` must be a file beside this one",
            "about.toml:11: the class must be `full-cache` or `larger-than-memory`",
            "about.toml:12: `oltp_point` is no workload",
        ]
    );
}

#[test]
fn an_about_file_that_is_not_toml_is_shown_with_a_caret() {
    let text = faults(&ABOUT.replace("title = \"Mine\"", "titel = \"Mine\""), TABLE).join("\n");
    assert!(text.starts_with("about.toml:3: TOML parse error at line 3"), "{text}");
    assert!(text.contains("^^^^^") && text.contains("unknown field `titel`"), "{text}");
}

#[test]
fn a_table_that_is_missing_or_not_utf8_is_named() {
    let out = tempfile::tempdir().unwrap();
    set_on_disk(out.path(), ABOUT, TABLE);
    let table = out.path().join("baselines/mine/t.csv");
    fs::write(&table, b"scenario\n\xff\n").unwrap();
    let error = read(out.path(), "mine/t").unwrap_err().to_string();
    assert!(error.ends_with("t.csv:2: this is not UTF-8"), "{error}");
    fs::remove_file(&table).unwrap();
    let error = read(out.path(), "mine/t").unwrap_err().to_string();
    assert!(error.starts_with("cannot read ") && error.contains("t.csv"), "{error}");
}
