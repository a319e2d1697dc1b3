//! What is kept of a server during a trial, and what follows from it, on real servers.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

mod common;
#[path = "common/mysql.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod mysql;
#[path = "common/workspace.rs"]
mod workspace;

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use common::Server;
use gridbench::driver::adapter::Admin;
use workspace::{Workspace, number, said};

const MATRIX: &str = r#"
format = 1
name   = "small"
title  = "Small"
[protocol]
duration    = "2500ms"
warmup      = "300ms"
concurrency = [4]
[dataset]
class = "full-cache"
rule  = [{ table_size = 60_000, tables = 2 }]
[[spec]]
cpu    = 1
memory = "1GB"
[[scenario]]
id       = "read-only-range"
workload = "oltp_read_only"
[[scenario]]
id       = "mixed"
workload = "oltp_read_write"
[[scenario]]
id       = "write-only"
workload = "oltp_write_only"
"#;

/// One of each family, for one test alone: what others send would be counted too.
fn servers() -> Vec<Server> {
    let mysql = mysql::start(&[]);
    if let Err(reason) = &mysql {
        mysql::skipped("on MySQL", reason);
    }
    [Server::start(&[])].into_iter().chain(mysql).collect()
}

#[test]
fn the_server_counts_the_very_statements_that_were_sent() {
    for server in servers() {
        let workspace = Workspace::new(&server.endpoint(), MATRIX);
        for statements in ["text", "prepared"] {
            let output = workspace.run(&["--set", &format!("protocol.statements={statements}")]);
            assert_eq!(output.status.code(), Some(0), "{}", said(&output));
            let rows = workspace.rows("commands.csv");
            let scenarios: BTreeSet<&String> = rows.iter().map(|row| &row["scenario"]).collect();
            assert_eq!(scenarios.len(), 3, "{rows:?}");
            for row in &rows {
                let errors: u64 = workspace
                    .rows("server.csv")
                    .iter()
                    .filter(|of| of["trial"] == row["trial"])
                    .map(|of| number(of, "commands_uncertain"))
                    .sum();
                let (sent, seen) = (number(row, "sent"), number(row, "seen"));
                assert!(sent.abs_diff(seen) <= errors, "{statements}: {row:?}, {errors} errors");
                assert!(sent > 0 || row["counter"] == "com_rollback", "{row:?}");
            }
        }
    }
}

#[test]
fn each_trial_has_the_servers_counters_over_its_window_and_by_the_second() {
    let server = Server::start(&[]);
    let workspace = Workspace::new(&server.socket_endpoint(), MATRIX);
    let output = workspace.run(&["--only", "scenario=mixed"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let (rows, cells) = (workspace.rows("server.csv"), workspace.rows("cells.csv"));
    let (row, cell) = (&rows[0], &cells[0]);
    assert_eq!((rows.len(), row["trouble"].as_str()), (1, ""));
    let window = number(row, "window_us");
    assert!((2_000_000..3_400_000).contains(&window), "{window}");
    // The looks and the window lie within a round trip or two of each other, on a busy machine
    // within a look's own time; the rates are those of one load.
    let server_rate = number(row, "questions") as f64 / window as f64;
    let client_rate = number(cell, "queries") as f64 / number(cell, "measured_us") as f64;
    let ratio = server_rate / client_rate;
    assert!((0.5..2.0).contains(&ratio), "{server_rate} against {client_rate}");
    assert!(number(row, "hit_ratio_ppm") <= 1_000_000);
    assert!(number(row, "bytes_sent_per_1000_queries") > 10_000);
    let cpu_us = number(row, "cpu_us");
    assert!(0 < cpu_us && cpu_us < 64 * window, "a server of this host: {cpu_us}");
    let seconds = workspace.rows("server_seconds.csv");
    assert!((2..=4).contains(&seconds.len()), "{}", seconds.len());
    let total: u64 = seconds.iter().map(|second| number(second, "questions")).sum();
    assert_eq!(total, number(row, "questions"), "the pieces make the whole");
    let manifest = fs::read_to_string(workspace.directory().join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert!(manifest["servers"][0]["round_trip_us"].as_u64().unwrap() > 0);
}

#[test]
fn a_cached_dataset_on_too_small_a_pool_has_no_number_and_the_reason_has_the_figures() {
    let only = ["--only", "scenario=read-only-range"];
    let large = Server::start(&[]);
    let cached = Workspace::new(&large.endpoint(), MATRIX);
    assert_eq!(cached.run(&only).status.code(), Some(0));
    let page = fs::read_to_string(cached.directory().join("pages/page.md")).unwrap();
    assert!(!page.contains("not full-cache"), "{page}");

    let small = Server::start(&["--innodb-buffer-pool-size=8M"]);
    let workspace = Workspace::new(&small.endpoint(), MATRIX);
    let output = workspace.run(&only);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("1c1g read-only-range: not full-cache: "), "{}", said(&output));
    let run = workspace.directory().display().to_string();
    let audit = workspace.command(&["audit", &run, "--fail-on-findings"]).output().unwrap();
    assert_eq!(audit.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&audit.stdout).contains("REFUSED"));
    let page = fs::read_to_string(workspace.directory().join("pages/page.md")).unwrap();
    let note = page.lines().find(|line| line.contains("not full-cache")).unwrap_or(&page);
    assert!(note.contains("pages were read from disk in the window"), "{note}");
    assert!(note.contains("buffer pool 8 MB"), "{note}");
    // What was measured is kept all the same.
    assert!(number(&workspace.rows("cells.csv")[0], "qps_milli") > 0);

    let larger =
        workspace.run(&[&only[..], &["--set", "dataset.class=larger-than-memory"]].concat());
    assert_eq!(larger.status.code(), Some(0), "{}", said(&larger));
    let page = fs::read_to_string(workspace.directory().join("pages/page.md")).unwrap();
    assert!(!page.contains("not larger-than-memory"), "{page}");
}

#[test]
fn a_run_goes_on_only_on_the_server_that_it_began_with() {
    let server = Server::start(&[]);
    let matrix = MATRIX.replace("2500ms", "300ms").replace("60_000", "500");
    let workspace = Workspace::new(&server.endpoint(), &matrix);
    let output = workspace.run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let cells = workspace.directory().join("cells.csv");
    let whole = fs::read_to_string(&cells).unwrap();
    // As if it had been killed before its last trial.
    let kept: Vec<&str> = whole.lines().take(3).collect();
    fs::write(&cells, kept.join("\n") + "\n").unwrap();

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut admin = Admin::connect(&server.endpoint()).await.unwrap();
        admin.execute("SET GLOBAL innodb_io_capacity = 1234").await.unwrap();
        admin.close().await;
    });
    let refused = workspace.run(&["--resume"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    let words = said(&refused);
    assert!(words.contains("server.innodb_io_capacity `200` against `1234`"), "{words}");
    assert!(words.contains("--accept-changes"), "{words}");
    assert_eq!(fs::read_to_string(&cells).unwrap().lines().count(), 3, "nothing was measured");

    let accepted = workspace.run(&["--resume", "--accept-changes"]);
    assert_eq!(accepted.status.code(), Some(0), "{}", said(&accepted));
    assert_eq!(workspace.rows("cells.csv").len(), 3);
    let manifest = fs::read_to_string(workspace.directory().join("manifest.json")).unwrap();
    assert!(manifest.contains("innodb_io_capacity `200` against `1234`"), "{manifest}");
}

/// How often a run is killed: more of it with GRIDBENCH_TEST_KILLS.
fn kills() -> u32 {
    std::env::var("GRIDBENCH_TEST_KILLS").map_or(3, |text| text.parse().unwrap())
}

#[test]
fn a_run_that_is_killed_at_any_moment_goes_on_to_the_same_cells() {
    mysql::families().iter().for_each(|server| kill_and_resume(server));
}

fn kill_and_resume(server: &Server) {
    let matrix = MATRIX.replace("2500ms", "300ms").replace("300ms", "200ms");
    let matrix = matrix.replace("60_000", "500").replace("[4]", "[1, 2, 4]");
    let workspace = Workspace::new(&server.endpoint(), &matrix);
    let head = ["run", "small.toml", "--targets", "targets.toml", "--yes", "--set"];
    let head = [&head[..], &["protocol.repeats=2"]].concat();
    let mut run = workspace.command(&head).spawn().unwrap();
    let mut random = 88_172_645_463_325_252_u64;
    for kill in 0..kills() {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(Duration::from_millis(50 + random % 2_000));
        run.kill().unwrap();
        run.wait().unwrap();
        // A run that was killed before it had a directory begins anew.
        let has_run = workspace.path("results").is_dir()
            && workspace.directory().join("manifest.json").is_file();
        let resume = if has_run { &["--resume"][..] } else { &[] };
        run = workspace.command(&[&head[..], resume].concat()).spawn().unwrap();
        assert!(kill < 100);
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let output = workspace.command(&[&head[..], &["--resume"]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let cells = workspace.rows("cells.csv");
    let key = |row: &std::collections::BTreeMap<String, String>| {
        ["scenario", "concurrency", "repetition"].map(|column| row[column].clone())
    };
    let done: Vec<_> = cells.iter().filter(|row| row["status"] == "done").map(key).collect();
    let distinct: BTreeSet<_> = done.iter().cloned().collect();
    assert_eq!((done.len(), distinct.len()), (18, 18), "3 scenarios, 3 levels, 2 repetitions");
    let trials: BTreeSet<&String> = cells.iter().map(|row| &row["trial"]).collect();
    assert_eq!(trials.len(), cells.len());
    for file in ["intervals.csv", "statements.csv", "server.csv", "server_seconds.csv"] {
        // Every line is a whole row, and of a trial that stands.
        let rows = workspace.rows(file);
        assert!(rows.iter().all(|row| trials.contains(&row["trial"])), "{file}");
    }
}
