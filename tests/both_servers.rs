//! Everything that gridbench does to a server, on MariaDB and on MySQL: managed by gridbench or
//! named by a targets file, every workload, text and prepared statements, both engines.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

#[path = "common/mod.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod common;
#[path = "common/mysql.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod mysql;
#[path = "common/workspace.rs"]
mod workspace;

use std::path::PathBuf;

use gridbench::model::{Address, Endpoint, Secret};
use gridbench::workload::builtins;
use workspace::{Workspace, number, said};

/// Every built-in workload is a scenario.
fn matrix() -> String {
    let mut text = r#"
format = 1
name = "all"
title = "All"
protocol = { duration = "1s", warmup = "100ms", concurrency = [4] }
[dataset]
class = "full-cache"
rule = [{ table_size = 1000, tables = 2 }]
[[spec]]
cpu = 1
memory = "1GB"
"#
    .to_owned();
    for workload in builtins() {
        let name = workload.name();
        text += &format!("[[scenario]]\nid = \"{name}\"\nworkload = \"{name}\"\n");
    }
    text
}

/// How many trials ended well, and each with numbers that fit together.
fn all_done(workspace: &Workspace) -> usize {
    let rows = workspace.rows("cells.csv");
    for row in &rows {
        assert_eq!(row["status"], "done", "{row:?}");
        assert!(number(row, "events") > 0 && number(row, "queries") >= number(row, "events"));
    }
    rows.len()
}

#[test]
fn every_workload_runs_on_both_servers_with_both_engines() {
    for server in mysql::families() {
        let workspace = Workspace::new(&server.endpoint(), &matrix());
        let short = ["--set", "protocol.duration=300ms"];
        for statements in ["text", "prepared"] {
            let statements = format!("protocol.statements={statements}");
            let run = workspace.run(&[&short[..], &["--set", &statements]].concat());
            assert_eq!(run.status.code(), Some(0), "{}", said(&run));
            assert_eq!(all_done(&workspace), builtins().len());
        }
        // Its scripts one by one are tests/sysbench_engine's.
        let some = ["oltp_read_write", "oltp_delete", "select_random_points"];
        let mut run = vec!["--engine", "sysbench", "--set", "protocol.warmup=1s"];
        let only = some.map(|name| format!("scenario={name}"));
        only.iter().for_each(|only| run.extend(["--only", only]));
        let run = workspace.run(&run);
        assert_eq!(run.status.code(), Some(0), "{}", said(&run));
        assert_eq!(all_done(&workspace), some.len());
        let clean = ["clean", "small.toml", "--targets", "targets.toml", "--yes"];
        let clean = workspace.command(&clean).output().unwrap();
        assert_eq!(clean.status.code(), Some(0), "{}", said(&clean));
    }
}

#[test]
fn a_managed_server_of_each_family_carries_a_run() {
    let mut programs: Vec<PathBuf> = vec![common::find("mariadbd")];
    match mysql::find() {
        Ok(program) => programs.push(program),
        Err(why) => mysql::skipped("a managed MySQL", &why),
    }
    let nowhere = Address::Unix("/none".into());
    let workspace = Workspace::new(&Endpoint::new(nowhere, "u", Secret::new("")), &matrix());
    for program in programs {
        let program = program.display().to_string();
        for engine in ["native", "sysbench"] {
            let run = ["run", "small.toml", "--data-dir", "data", "--server", &program];
            let less = ["--engine", engine, "--only", "scenario=oltp_read_write"];
            let less = [&less[..], &["--set", "protocol.warmup=1s"]].concat();
            let run = workspace.command(&[&run[..], &less].concat()).output().unwrap();
            assert_eq!(run.status.code(), Some(0), "{program}: {}", said(&run));
            assert_eq!(all_done(&workspace), 1);
        }
    }
}
