//! What `check` says of real servers, and what `run` and `load` refuse to begin with.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

#[expect(dead_code, reason = "each test file uses its part")]
mod common;
#[path = "common/mysql.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod mysql;
#[path = "common/sql.rs"]
mod sql;
#[path = "common/workspace.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod workspace;

use std::process::Output;

use gridbench::driver::adapter::Admin;
use gridbench::model::{Endpoint, Secret};
use serde_json::Value;

use common::Server;
use sql::sql;
use workspace::{Workspace, said};

const MATRIX: &str = r#"
format = 1
name = "small"
title = "Small"
protocol = { duration = "300ms", warmup = "100ms", concurrency = [2] }
[dataset]
class = "full-cache"
rule = [{ table_size = 100, tables = 2 }]
[[spec]]
cpu = 1
memory = "1GB"
[[scenario]]
id = "reads"
workload = "oltp_read_only"
[[scenario]]
id = "writes"
workload = "oltp_write_only"
"#;

fn account(server: &Server, grants: &[&str]) -> Endpoint {
    let mut statements = vec![
        "DROP USER IF EXISTS 'bench'@'%'".to_owned(),
        "CREATE USER 'bench'@'%' IDENTIFIED BY 'secret-of-bench'".to_owned(),
    ];
    statements.extend(grants.iter().map(|grant| format!("GRANT {grant} TO 'bench'@'%'")));
    sql(&server.endpoint(), &statements.iter().map(String::as_str).collect::<Vec<_>>());
    let password = Secret::new("secret-of-bench");
    Endpoint { user: "bench".into(), password, ..server.endpoint() }
}

fn check(workspace: &Workspace, more: &[&str]) -> (Output, Value) {
    let head = ["check", "small.toml", "--targets", "targets.toml", "--format", "json"];
    let output = workspace.command(&[&head[..], more].concat()).output().unwrap();
    let value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output, value)
}

/// The words of the remarks of this gravity.
fn remarks(seen: &Value, gravity: &str) -> Vec<String> {
    let remarks = seen[0]["remarks"].as_array().unwrap();
    let of = remarks.iter().filter(|remark| remark["gravity"] == gravity);
    let text = |remark: &Value, key: &str| remark[key].as_str().unwrap().to_owned();
    of.map(|of| format!("{} => {}", text(of, "words"), text(of, "remedy"))).collect()
}

#[test]
fn a_server_says_what_it_is_and_what_makes_a_number_doubtful() {
    for server in mysql::each(&[]) {
        let workspace = Workspace::new(&server.endpoint(), MATRIX);
        let (output, seen) = check(&workspace, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert!(seen[0]["round_trip_us"].as_u64().unwrap() > 0, "{seen}");
        assert!(seen[0]["clock_ahead_ms"].as_i64().unwrap().abs() < 1_000, "{seen}");
        let doubts = remarks(&seen, "doubtful").concat();
        assert!(doubts.contains("innodb_flush_log_at_trx_commit is 0, not 1"), "{doubts}");
        assert!(doubts.contains("innodb_buffer_pool_size is 134 MB"), "{doubts}");
        assert_eq!(remarks(&seen, "refused"), Vec::<String>::new());
        sql(&server.endpoint(), &["SET GLOBAL innodb_flush_log_at_trx_commit = 1"]);
        sql(&server.endpoint(), &["SET GLOBAL general_log = ON"]);
        let doubts = remarks(&check(&workspace, &[]).1, "doubtful").concat();
        assert!(!doubts.contains("flush_log") && doubts.contains("general_log"), "{doubts}");
        let text = workspace.command(&["check", "1c1g", "--targets", "targets.toml"]);
        let text = String::from_utf8({ text }.output().unwrap().stdout).unwrap();
        assert!(text.contains("account     root@"), "{text}");
        assert!(!workspace.path("results").exists(), "nothing was begun");
    }
}

#[test]
fn missing_privileges_are_named_with_the_statement_that_grants_them() {
    for server in mysql::each(&[]) {
        let bench = account(&server, &["SELECT, INSERT ON `sbtest%`.*"]);
        let workspace = Workspace::new(&bench, MATRIX);
        let (output, seen) = check(&workspace, &[]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        let refused = remarks(&seen, "refused").concat();
        let grant = refused.split("=> ").nth(1).unwrap().trim_end_matches(';');
        assert!(refused.contains("lacks UPDATE, DELETE, CREATE, DROP, ALTER, INDEX"), "{refused}");
        let run = workspace.run(&[]);
        assert_eq!(run.status.code(), Some(2), "{}", said(&run));
        assert!(said(&run).contains("GRANT SELECT, INSERT, UPDATE"), "{}", said(&run));
        assert!(!workspace.path("results").exists(), "nothing was begun");
        // What it says is what mends it.
        sql(&server.endpoint(), &[grant]);
        let run = workspace.run(&[]);
        assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    }
}

#[test]
fn a_server_that_others_use_is_left_alone_without_a_word_of_the_user() {
    for server in mysql::each(&[]) {
        let workspace = Workspace::new(&server.endpoint(), MATRIX);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let other = runtime.block_on(Admin::connect(&server.endpoint())).unwrap();
        for command in ["run", "load"] {
            let head = [command, "small.toml", "--targets", "targets.toml"];
            let refused = workspace.command(&head).output().unwrap();
            assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
            let words = said(&refused);
            assert!(words.contains("others have 1 connection here: root@"), "{words}");
            assert!(words.contains("--yes"), "{words}");
        }
        assert!(!workspace.path("results").exists(), "nothing was begun");
        runtime.block_on(other.close());
        let head = ["run", "small.toml", "--targets", "targets.toml"];
        let alone = workspace.command(&head).output().unwrap();
        assert_eq!(alone.status.code(), Some(0), "{}", said(&alone));
    }
}

#[test]
fn limits_that_cannot_hold_the_load_and_servers_that_take_no_writes_are_refused() {
    for server in mysql::each(&[]) {
        let bench = account(&server, &["ALL ON `sbtest%`.*"]);
        let workspace = Workspace::new(&bench, MATRIX);
        sql(&server.endpoint(), &["SET GLOBAL max_connections = 20"]);
        let (output, seen) = check(&workspace, &["--set", "protocol.concurrency=[64]"]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        let refused = remarks(&seen, "refused").concat();
        assert!(refused.contains("max_connections is 20"), "{refused}");
        assert!(refused.contains("SET GLOBAL max_connections = 68"), "{refused}");
        assert_eq!(check(&workspace, &[]).0.status.code(), Some(0));
        sql(&server.endpoint(), &["SET GLOBAL read_only = ON"]);
        let refused = remarks(&check(&workspace, &[]).1, "refused").concat();
        assert!(refused.contains("read_only is on"), "{refused}");
        let reads = remarks(&check(&workspace, &["--only", "scenario=reads"]).1, "doubtful");
        assert!(reads.concat().contains("read_only is on"), "{reads:?}");
        sql(&server.endpoint(), &["SET GLOBAL read_only = OFF"]);
    }
}

#[test]
fn a_target_that_the_file_does_not_name_is_the_inputs_fault() {
    let workspace = Workspace::new(&Server::shared().endpoint(), MATRIX);
    let file = "[target.2c4g]\nhost = \"127.0.0.1\"\nuser = \"u\"\n";
    std::fs::write(workspace.path("targets.toml"), file).unwrap();
    for (target, words) in [("4c8g", "[target.4c8g]"), ("small.toml", "[target.1c1g]")] {
        let head = ["check", target, "--targets", "targets.toml"];
        let output = workspace.command(&head).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains(words), "{}", said(&output));
    }
    let none = workspace.command(&["check", "2c4g"]).output().unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(said(&none).contains("--targets"), "{}", said(&none));
}
