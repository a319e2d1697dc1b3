//! What a run says when a server or a network fails in the middle of it: it ends on time, says what
//! happened and when, and keeps what it has.
//!
//! Each fault is done to a real server, in the measured window of a real run. Must not know: how a
//! trial is measured.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

#[path = "faults/breaking.rs"]
mod breaking;
#[expect(dead_code, reason = "each test file uses its part")]
mod common;
#[path = "common/mysql.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod mysql;
#[path = "faults/proxy.rs"]
mod proxy;
#[path = "common/workspace.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod workspace;

use std::collections::BTreeMap;
use std::process::Child;
use std::time::{Duration, Instant};

use gridbench::driver::adapter::Admin;
use gridbench::model::{Address, Endpoint, Secret};

use common::Server;
use proxy::Proxy;
use workspace::{Workspace, number, said};

/// Two seconds of warm-up, eight that are measured; ten of drain at the most.
const MATRIX: &str = r#"
format   = 1
name     = "small"
title    = "Small"
protocol = { duration = "8s", warmup = "1s", concurrency = [8] }
[dataset]
class = "full-cache"
rule  = [{ table_size = 1_000, tables = 2 }]
[[spec]]
cpu    = 1
memory = "1GB"
[[scenario]]
id       = "mixed"
workload = "oltp_read_write"
"#;

/// Nothing of a trial takes longer: connecting, warm-up, window, drain, and the looks around it.
const ON_TIME: Duration = Duration::from_secs(30);

/// A run under way.
struct Running<'a> {
    workspace: &'a Workspace,
    child: Child,
    began: Instant,
}

/// What became of it.
struct Ended {
    code: Option<i32>,
    said: String,
    took: Duration,
    row: BTreeMap<String, String>,
    errors: Vec<BTreeMap<String, String>>,
    page: String,
}

impl<'a> Running<'a> {
    /// Starts the run and waits until its trial is being measured: until the server has answered
    /// so much more than loading takes.
    fn start(workspace: &'a Workspace, server: &Endpoint, more: &[&str]) -> Self {
        let head = ["run", "small.toml", "--targets", "targets.toml", "--yes"];
        let child = workspace.command(&[&head[..], more].concat()).spawn().unwrap();
        let running = Self { workspace, child, began: Instant::now() };
        let deadline = Instant::now() + ON_TIME;
        let questions = || count(server, "SHOW GLOBAL STATUS LIKE 'Questions'");
        let before = questions();
        while questions() < before + 3_000 {
            assert!(Instant::now() < deadline, "the load does not begin");
            std::thread::sleep(Duration::from_millis(50));
        }
        // Past the warm-up.
        std::thread::sleep(Duration::from_millis(2_500));
        running
    }

    fn end(self) -> Ended {
        let output = self.child.wait_with_output().unwrap();
        let took = self.began.elapsed();
        let said = said(&output);
        let row = self.workspace.rows("cells.csv").remove(0);
        let page = self.workspace.directory().join("pages/page.md");
        let page = std::fs::read_to_string(page).unwrap();
        let errors = self.workspace.rows("errors.csv");
        assert!(took < ON_TIME, "ended after {took:?}: {said}");
        Ended { code: output.status.code(), said, took, row, errors, page }
    }
}

impl Ended {
    /// Prints the row of the table of faults.
    fn tell(&self, fault: &str) {
        let Self { code, took, row, errors, .. } = self;
        let errors: Vec<String> = errors
            .iter()
            .map(|error| {
                let (code, count) = (&error["code"], &error["count"]);
                let at = |column: &str| error[column].parse::<f64>().map_or(-1.0, |us| us / 1e6);
                format!("{code} x{count} {:.1}-{:.1} s", at("first_us"), at("last_us"))
            })
            .collect();
        let words = format!(
            "FAULT {fault} | exit {code:?} after {:.1} s | {} | queries {} reconnects {} | {} \
             | {}\n",
            took.as_secs_f64(),
            row["status"],
            row["queries"],
            row["reconnects"],
            errors.join(", "),
            row["reason"]
        );
        // Not through a macro, whose words a passing test keeps to itself.
        let _ = std::io::Write::write_all(&mut std::io::stderr(), words.as_bytes());
    }

    /// The error of this code; its first and last second of the window.
    fn error(&self, code: &str) -> (u64, f64, f64) {
        let error = self.errors.iter().find(|error| error["code"] == code);
        let error = error.unwrap_or_else(|| panic!("no {code}: {:?} {}", self.errors, self.said));
        let second = |column: &str| number(error, column) as f64 / 1e6;
        (number(error, "count"), second("first_us"), second("last_us"))
    }
}

fn sql(endpoint: &Endpoint, statements: &[&str]) -> Vec<Vec<Option<String>>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut admin = Admin::connect(endpoint).await.unwrap();
        let mut rows = Vec::new();
        for statement in statements {
            rows = admin.rows(statement).await.unwrap();
        }
        admin.close().await;
        rows
    })
}

fn count(endpoint: &Endpoint, statement: &str) -> u64 {
    let rows = sql(endpoint, &[statement]);
    rows[0].last().unwrap().as_ref().unwrap().parse().unwrap()
}

/// The ids of the connections of the load.
fn load_connections(endpoint: &Endpoint) -> Vec<String> {
    let rows = sql(endpoint, &["SHOW PROCESSLIST"]);
    let of_load = |row: &Vec<Option<String>>| {
        let database = row[3].clone().unwrap_or_default();
        database.starts_with("sbtest").then(|| row[0].clone().unwrap())
    };
    rows.iter().filter_map(of_load).collect()
}

fn tcp(port: u16, endpoint: &Endpoint) -> Endpoint {
    let address = Address::Tcp { host: "127.0.0.1".into(), port };
    Endpoint { address, ..endpoint.clone() }
}

#[test]
fn a_server_that_is_killed_and_comes_back_costs_the_seconds_that_it_was_gone() {
    let mut server = Server::start(&[]);
    let workspace = Workspace::new(&server.endpoint(), MATRIX);
    let long = ["--set", "protocol.duration=16s"];
    let run = Running::start(&workspace, &server.endpoint(), &long);
    server.kill();
    std::thread::sleep(Duration::from_secs(5));
    server.start_again(&[]);
    let ended = run.end();
    ended.tell("server killed, back after 5 s");
    let (lost, first, last) = ended.error("0");
    assert!(lost >= 8 && first > 0.2 && last < 16.0, "{lost} {first} {last}");
    assert_eq!((ended.code, ended.row["status"].as_str()), (Some(0), "done"), "{}", ended.said);
    assert!(number(&ended.row, "reconnects") >= 8);
    assert!(ended.page.contains("s into the window"), "{}", ended.page);
    assert!(ended.page.contains("started again"), "{}", ended.page);
    let zero = workspace.rows("intervals.csv").iter().filter(|of| of["queries"] == "0").count();
    assert!((3..=9).contains(&zero), "{zero} seconds without an answer");
}

#[test]
fn a_server_that_comes_back_with_other_settings_ends_the_spec() {
    let mut server = Server::start(&[]);
    let workspace = Workspace::new(&server.endpoint(), MATRIX);
    let twice = ["--set", "protocol.repeats=2"];
    let run = Running::start(&workspace, &server.endpoint(), &twice);
    server.kill();
    server.start_again(&["--innodb-buffer-pool-size=64M", "--sync-binlog=7"]);
    let ended = run.end();
    ended.tell("server restarted with other settings");
    assert_eq!(ended.code, Some(3), "{}", ended.said);
    let rows = workspace.rows("cells.csv");
    assert_eq!(rows.len(), 2, "every trial has its row");
    for row in rows {
        assert_eq!(row["status"], "failed");
        assert!(row["reason"].contains("innodb_buffer_pool_size"), "{}", row["reason"]);
    }
}

#[test]
fn a_server_that_hangs_leaves_a_hole_and_one_that_hangs_to_the_end_is_waited_for_no_longer() {
    let server = Server::start(&[]);
    let workspace = Workspace::new(&server.endpoint(), MATRIX);
    let run = Running::start(&workspace, &server.endpoint(), &[]);
    server.signal(nix::sys::signal::Signal::SIGSTOP);
    std::thread::sleep(Duration::from_secs(3));
    server.signal(nix::sys::signal::Signal::SIGCONT);
    let ended = run.end();
    ended.tell("server hangs for 3 s");
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    assert!(ended.page.contains("stalls"), "{}", ended.page);
    let longest = number(&ended.row, "latency_max_us");
    assert!(longest > 2_500_000, "the wait is in the response times: {longest}");

    let run = Running::start(&workspace, &server.endpoint(), &[]);
    server.signal(nix::sys::signal::Signal::SIGSTOP);
    let ended = run.end();
    ended.tell("server hangs to the end");
    server.signal(nix::sys::signal::Signal::SIGCONT);
    assert_eq!(number(&ended.row, "events_unfinished"), 8, "{}", ended.said);
    assert!(number(&ended.row, "oldest_unfinished_us") > 5_000_000);
}

#[test]
fn a_connection_that_is_killed_is_replaced_and_the_others_go_on() {
    let server = Server::start(&[]);
    let workspace = Workspace::new(&server.endpoint(), MATRIX);
    let run = Running::start(&workspace, &server.endpoint(), &[]);
    let victim = load_connections(&server.endpoint()).pop().unwrap();
    sql(&server.endpoint(), &[&format!("KILL {victim}")]);
    let ended = run.end();
    ended.tell("one connection killed");
    assert_eq!((ended.code, ended.row["status"].as_str()), (Some(0), "done"), "{}", ended.said);
    assert_eq!(number(&ended.row, "reconnects"), 1);
    assert_eq!(ended.error("0").0, 1);
}

#[test]
fn connections_that_are_reset_and_a_network_that_is_cut_are_told_with_their_time() {
    let server = Server::start(&[]);
    let Address::Tcp { port, .. } = server.endpoint().address else { unreachable!() };
    let proxy = Proxy::start(port);
    let workspace = Workspace::new(&tcp(proxy.port(), &server.endpoint()), MATRIX);
    let run = Running::start(&workspace, &server.endpoint(), &[]);
    proxy.reset();
    let ended = run.end();
    ended.tell("all connections reset");
    assert_eq!((ended.code, ended.row["status"].as_str()), (Some(0), "done"), "{}", ended.said);
    assert!(number(&ended.row, "reconnects") >= 8);
    let (_, first, last) = ended.error("0");
    assert!(last - first < 3.0, "{first} to {last} s");

    let run = Running::start(&workspace, &server.endpoint(), &[]);
    proxy.cut();
    let ended = run.end();
    ended.tell("network cut to the end");
    assert_eq!(number(&ended.row, "events_unfinished"), 8, "{}", ended.said);
}

#[test]
fn a_server_that_turns_read_only_is_told_in_its_own_words() {
    let server = Server::start(&[]);
    let account =
        ["CREATE USER 'bench'@'%' IDENTIFIED BY 'x'", "GRANT ALL ON `sbtest%`.* TO 'bench'@'%'"];
    sql(&server.endpoint(), &account);
    let bench = Endpoint { user: "bench".into(), password: Secret::new("x"), ..server.endpoint() };
    let workspace = Workspace::new(&bench, MATRIX);
    let run = Running::start(&workspace, &server.endpoint(), &[]);
    sql(&server.endpoint(), &["SET GLOBAL read_only = ON"]);
    let ended = run.end();
    ended.tell("server turns read-only");
    let (refused, first, _) = ended.error("1290");
    assert!(refused >= 8 && first > 0.2, "{refused} {first}");
    assert!(refused < 1_000, "a server that refuses everything is not flooded: {refused}");
    assert_eq!(ended.code, Some(3), "{}", ended.said);
    assert!(ended.took < Duration::from_secs(10), "nothing can be measured any more");
    let reason = &ended.row["reason"];
    assert!(reason.contains("1290") && reason.contains("server.read_only"), "{reason}");
}

const HOT: &str = r#"
[[scenario]]
id       = "hot"
workload = "hot"
[[workload]]
name = "hot"
transaction = true
[[workload.group]]
[[workload.group.statement]]
name   = "take"
sql    = "UPDATE sbtest{table} SET k = k + 1 WHERE id = ?"
values = [{ generator = "integer", min = 1, max = 4 }]
[[workload.group.statement]]
name   = "give"
sql    = "UPDATE sbtest{table} SET k = k - 1 WHERE id = ?"
values = [{ generator = "integer", min = 1, max = 4 }]
"#;

#[test]
fn deadlocks_by_the_thousand_are_rolled_back_tried_again_and_counted() {
    let server = Server::start(&[]);
    let matrix = MATRIX.split("[[scenario]]").next().unwrap().to_owned() + HOT;
    let matrix = matrix.replace("tables = 2", "tables = 1").replace("[8]", "[32]");
    let workspace = Workspace::new(&server.endpoint(), &matrix);
    let run = Running::start(&workspace, &server.endpoint(), &[]);
    let ended = run.end();
    ended.tell("deadlocks");
    let (deadlocks, ..) = ended.error("1213");
    assert!(deadlocks > 100, "{deadlocks}");
    assert_eq!((ended.code, ended.row["status"].as_str()), (Some(0), "done"), "{}", ended.said);
    assert!(number(&ended.row, "events") > 100);
}

#[test]
fn too_few_connections_in_mid_run_are_waited_for_with_growing_pauses() {
    let server = Server::start(&[]);
    let workspace = Workspace::new(&server.endpoint(), MATRIX);
    let run = Running::start(&workspace, &server.endpoint(), &[]);
    let mut orders: Vec<String> = vec!["SET GLOBAL max_connections = 10".to_owned()];
    orders.extend(load_connections(&server.endpoint()).iter().map(|id| format!("KILL {id}")));
    // Others take the places of the load.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut first = runtime.block_on(Admin::connect(&server.endpoint())).unwrap();
    for order in &orders {
        let _ = runtime.block_on(first.execute(order));
    }
    let mut others = vec![first];
    while let Ok(other) = runtime.block_on(Admin::connect(&server.endpoint())) {
        others.push(other);
        if others.len() > 12 {
            break;
        }
    }
    std::thread::sleep(Duration::from_secs(2));
    for other in others {
        runtime.block_on(other.close());
    }
    let ended = run.end();
    ended.tell("max_connections lowered");
    assert!(number(&ended.row, "reconnects") >= 8, "{}", ended.said);
    let late = number(&ended.row, "queries");
    assert!(late > 1_000, "they are back: {late}");
    let reason = &ended.row["reason"];
    assert!(reason.contains("server.max_connections `151` against `10`"), "{reason}");
}
