//! `gridbench history` over run directories whose numbers are known: what is told, when, how it
//! ends.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Output};

use gridbench::matrix::{ExpandOptions, Source, expand, parse};
use gridbench::model::{
    Bytes, Flavour, Host, Measurement, Plan, Rehearsal, RunDescription, ServerInfo, ServerRecord,
    SpecId, TrialStatus,
};
use gridbench::stats::Histogram;
use gridbench::store::{RunDir, TrialRecord};

const MATRIX: &str = r#"
format   = 1
name     = "nightly"
title    = "Every night"
protocol = { duration = "60s", warmup = "5s", concurrency = [16] }
[dataset]
class = "full-cache"
rule  = [{ table_size = 25_000, tables = 10 }]
[[spec]]
cpu    = 2
memory = "4GB"
[[scenario]]
id       = "point"
workload = "oltp_point_select"
[[scenario]]
id       = "write"
workload = "oltp_write_only"
"#;

const DAY_MS: i64 = 86_400_000;

/// A folder with a matrix file and runs of it, one a day from 2026-01-01.
struct Folder(tempfile::TempDir);

/// How a run was, beside its rates.
#[derive(Clone, Copy)]
struct Night {
    version: &'static str,
    cpus: u32,
    rehearsal: bool,
}

const PLAIN: Night = Night { version: "8.0.36", cpus: 2, rehearsal: false };

impl Folder {
    fn new() -> Self {
        // In memory where the system has such a place: syncs cost nothing there.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        fs::write(folder.path().join("m.toml"), MATRIX).unwrap();
        Self(folder)
    }

    /// Adds the run of a day with these rates of its two scenarios.
    fn add(&self, day: i64, rates: [u64; 2], night: Night) {
        let about = description(day, night);
        let out = self.0.path().join("results");
        let mut run = RunDir::create(&out, &about, MATRIX.as_bytes()).unwrap();
        for (cell, rate) in about.plan.cells.iter().zip(rates) {
            let measurement = measurement(rate);
            let record = TrialRecord {
                cell,
                spec: about.plan.spec(cell),
                repetition: 1,
                started_unix_ms: about.started_unix_ms,
                measurement: &measurement,
                service: &Histogram::new(),
                latency: &Histogram::new(),
                statement_latency: &[],
                evidence: None,
            };
            run.append(&record).unwrap();
        }
    }

    /// Days with a little noise; both rates fall by a tenth with the 11th.
    fn add_days(&self, days: std::ops::Range<i64>, night: impl Fn(i64) -> Night) {
        for day in days {
            let noise = [3, 7, 1, 9, 4, 6, 2, 8][usize::try_from(day).unwrap() % 8];
            let level = if day < 10 { 1_000 } else { 900 };
            self.add(day, [level + noise, 2 * level + 9 - noise], night(day));
        }
    }

    fn history(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridbench"));
        let command = command.arg("history").args(arguments).current_dir(self.0.path());
        command.output().unwrap()
    }

    fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.history(arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout(&["nightly", "--format", "json"])).unwrap()
    }

    fn code(&self, arguments: &[&str]) -> i32 {
        self.history(arguments).status.code().unwrap()
    }
}

fn plan() -> Plan {
    let matrix = parse(&Source { name: "m.toml", bytes: MATRIX.as_bytes() }, &[]).unwrap();
    let options =
        ExpandOptions { published: BTreeMap::new(), only: Vec::new(), rehearse: false, host: None };
    expand(matrix, &options).unwrap()
}

fn description(day: i64, night: Night) -> RunDescription {
    let mut plan = plan();
    plan.rehearsal = night.rehearsal.then_some(Rehearsal { factor: 100 });
    let server = ServerRecord {
        changes: Vec::new(),
        spec: SpecId::new("2c4g").unwrap(),
        managed: false,
        info: ServerInfo {
            tls: None,
            auth_plugin: None,
            round_trip_us: None,
            version: night.version.into(),
            flavour: Flavour::of_version(night.version),
            address: "tcp://10.0.0.2:3306".into(),
            variables: BTreeMap::new(),
        },
        cpus: Vec::new(),
        load_cpus: Vec::new(),
        dataset_bytes: None,
        dataset: None,
    };
    RunDescription {
        tool_version: "0.1.0".into(),
        tool_revision: None,
        started_unix_ms: 1_767_225_600_000 + day * DAY_MS,
        command: Vec::new(),
        matrix_sha256: String::new(),
        plan,
        host: Host {
            cpus: night.cpus,
            cpu_model: "A processor".into(),
            memory: Bytes(8_000_000_000),
            governor: None,
            cpu_quota_milli: None,
            kernel: "6.1".into(),
            disk_free: None,
        },
        driver: "native".into(),
        load_policy: "SCHED_BATCH".into(),
        servers: vec![server],
    }
}

/// A second at this rate.
fn measurement(rate: u64) -> Measurement {
    Measurement {
        warmup_us: None,
        warmup_level: None,
        status: TrialStatus::Done,
        measured_us: 1_000_000,
        events: rate / 4,
        queries: rate,
        queries_read: rate,
        queries_write: 0,
        queries_other: 0,
        queries_retried: 0,
        errors: Vec::new(),
        reconnects: 0,
        events_unfinished: 0,
        oldest_unfinished_us: None,
        latency: None,
        service: None,
        pace: None,
        statements: Vec::new(),
        intervals: Vec::new(),
        client_cpu_us: None,
        client_cpu_max_us: None,
        client_run_delay_us: None,
        timer_lateness_p99_us: None,
        timer_lateness_max_us: None,
        client_ceiling_qps: None,
        client_bound: None,
        load_threads: 1,
    }
}

fn upgraded(day: i64) -> Night {
    Night { version: if day < 10 { "8.0.36" } else { "8.0.37" }, ..PLAIN }
}

#[test]
fn a_change_of_all_cells_is_one_alert_with_its_reason() {
    let folder = Folder::new();
    folder.add_days(0..14, upgraded);
    folder.add(20, [1, 1], Night { rehearsal: true, ..PLAIN });
    let text = folder.stdout(&["m.toml"]);
    insta::assert_snapshot!("alert-text", text);
    assert_eq!(text, folder.stdout(&["nightly"]), "by its name as by its file");
    insta::assert_snapshot!("alert-md", folder.stdout(&["nightly", "--format", "md"]));
    let json = folder.json();
    assert_eq!(json["rehearsals_left_out"], 1);
    let alerts = json["alerts"].as_array().unwrap();
    assert_eq!((alerts.len(), &alerts[0]["date"]), (1, &"2026-01-13".into()));
    let changes = alerts[0]["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 2);
    for change in changes {
        let reasons = change["reasons"].as_array().unwrap();
        assert!(reasons.len() == 1 && reasons[0]["name"] == "server.version", "{change}");
        assert_eq!(change["since"], "2026-01-11T000000Z-nightly");
        assert_eq!((&change["holds"], &change["series"]), (&true.into(), &1.into()));
        assert!((change["change_percent"].as_f64().unwrap() + 10.0).abs() < 0.5, "{change}");
    }
}

#[test]
fn only_the_run_that_shows_a_change_first_fails() {
    let folder = Folder::new();
    let fails = ["nightly", "--fail-on-change"];
    folder.add_days(0..12, upgraded);
    assert_eq!(folder.code(&fails), 0, "two runs are no level");
    folder.add_days(12..13, upgraded);
    assert_eq!((folder.code(&fails), folder.code(&["nightly"])), (4, 0));
    let told = folder.json()["alerts"].clone();
    folder.add_days(13..14, upgraded);
    assert_eq!(folder.code(&fails), 0, "it was told");
    assert_eq!(folder.json()["alerts"], told, "once, and as it was");
}

#[test]
fn a_change_for_the_better_fails_nothing() {
    let folder = Folder::new();
    for day in 0..13 {
        let rate = 1_000 + u64::try_from(day % 5).unwrap();
        let rate = if day < 10 { rate } else { rate * 2 };
        folder.add(day, [rate, rate], PLAIN);
    }
    let output = folder.history(&["nightly", "--fail-on-change"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("2 cells faster.") && text.contains("Nothing that a run keeps"),
        "{text}"
    );
}

#[test]
fn another_client_splits_the_series_and_it_is_said() {
    let folder = Folder::new();
    folder.add_days(0..14, |day| Night { cpus: if day < 10 { 2 } else { 4 }, ..upgraded(day) });
    let text = folder.stdout(&["nightly"]);
    insta::assert_snapshot!("split-text", text);
    let json = folder.json();
    let split = &json["splits"][0];
    assert_eq!(split["before"], "2026-01-10T000000Z-nightly");
    let reasons = split["reasons"].as_array().unwrap();
    assert!(reasons.len() == 1 && reasons[0]["name"] == "client.cpus", "{split}");
    assert_eq!(json["cells"][0]["series"][1]["is_too_short"], true);
}

#[test]
fn csv_has_a_row_for_each_cell_and_run() {
    let folder = Folder::new();
    folder.add_days(0..13, upgraded);
    let csv = folder.stdout(&["nightly", "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 26);
    let told: Vec<_> = rows.iter().filter(|row| !row["change_since"].is_empty()).collect();
    assert_eq!(told.len(), 2);
    for row in told {
        assert_eq!((&row["date"][..], &row["holds"][..]), ("2026-01-13", "true"));
        assert!(row["change_percent"].starts_with("-9.") || row["change_percent"].contains("-10"));
    }
}

#[test]
fn few_runs_say_that_they_are_too_few_and_none_which_matrices_have_some() {
    let folder = Folder::new();
    folder.add_days(0..3, upgraded);
    let text = folder.stdout(&["nightly"]);
    assert!(text.contains("too short: a change needs 10 runs at least"), "{text}");
    let unknown = folder.history(&["nightli"]);
    assert_eq!(unknown.status.code(), Some(2));
    let words = String::from_utf8(unknown.stderr).unwrap();
    assert!(words.contains("no matrix with runs named `nightli`; did you mean `nightly`?"));
    fs::write(folder.0.path().join("bad.toml"), "format = 1\n").unwrap();
    assert_eq!(folder.code(&["bad.toml"]), 2);
}

#[test]
fn a_run_that_cannot_be_read_is_an_error_unless_it_is_of_another_matrix() {
    let folder = Folder::new();
    folder.add_days(0..2, upgraded);
    let odd = |name: &str| {
        let path = folder.0.path().join("results").join(name);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("manifest.json"), "{\"format_version\": 99}").unwrap();
    };
    odd("2020-01-01T000000Z-other");
    assert_eq!(folder.code(&["nightly"]), 0);
    odd("2020-01-01T000000Z-nightly");
    assert_eq!(folder.code(&["nightly"]), 2);
}
