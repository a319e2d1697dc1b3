//! Prepared mode on servers that have no room for every statement of every connection: error 1461
//! reaches nobody.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

#[expect(dead_code, reason = "these tests share no server with others")]
mod common;
#[expect(dead_code, reason = "these tests share no server with others")]
#[path = "common/mysql.rs"]
mod mysql;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::Server;
use gridbench::driver::adapter::{Admin, AsyncDriver};
use gridbench::driver::wire::WireDriver;
use gridbench::driver::{Driver, Session};
use gridbench::exec::{LoadPolicy, TrialSetup, run_trial};
use gridbench::load::{LoadOptions, ensure};
use gridbench::model::{
    Address, Dataset, Endpoint, Interrupt, KeyLaw, Measurement, Request, Scenario, ScenarioId,
    StatementMode, TrialStatus, WorkloadOptions,
};
use gridbench::workload::{Program, builtin};

/// Fewer than one connection of the mixed workloads would prepare.
const LIMIT: &str = "--max-prepared-stmt-count=50";

/// Both families with that limit.
fn servers() -> Vec<Server> {
    let mut servers = vec![Server::start(&[LIMIT])];
    match mysql::start(&[LIMIT]) {
        Ok(server) => servers.push(server),
        Err(reason) => mysql::skipped("on MySQL", &reason),
    }
    servers
}

fn ask(endpoint: &Endpoint, sql: &str) -> Vec<Vec<Option<String>>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut admin = Admin::connect(endpoint).await.unwrap();
        let rows = admin.rows(sql).await.unwrap();
        admin.close().await;
        rows
    })
}

/// A counter of the server.
fn status(endpoint: &Endpoint, name: &str) -> u64 {
    let rows = ask(endpoint, &format!("SHOW GLOBAL STATUS LIKE '{name}'"));
    rows[0][1].as_deref().unwrap().parse().unwrap()
}

#[test]
fn five_scenarios_run_through_the_program_without_error_1461() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = r#"
format = 1
name = "narrow"
title = "Narrow"
template = "tdsql-c-en"
[protocol]
duration = "1s"
warmup = "100ms"
concurrency = [4]
statements = "prepared"
[dataset]
class = "full-cache"
[[dataset.rule]]
table_size = 200
tables = 10
[[spec]]
cpu = 1
memory = "1GB"
[[scenario]]
id = "read-only-range"
workload = "oltp_read_only"
[[scenario]]
id = "read-only-point"
workload = "oltp_read_only"
range_selects = false
[[scenario]]
id = "read-write-range"
workload = "oltp_read_write"
[[scenario]]
id = "read-write-point"
workload = "oltp_read_write"
range_selects = false
[[scenario]]
id = "write-only"
workload = "oltp_write_only"
"#;
    fs::write(folder.path().join("m.toml"), matrix).unwrap();
    for (number, server) in servers().iter().enumerate() {
        let endpoint = server.endpoint();
        ask(&endpoint, "CREATE DATABASE sbtest");
        let Address::Tcp { host, port } = &endpoint.address else { unreachable!("it is TCP") };
        let targets =
            format!("[defaults]\nuser = \"{}\"\nhost = \"{host}\"\nport = {port}\n", endpoint.user);
        fs::write(folder.path().join("t.toml"), targets).unwrap();
        let out = format!("results-{number}");
        let output = Command::new(env!("CARGO_BIN_EXE_gridbench"))
            .args(["run", "m.toml", "--targets", "t.toml", "--yes", "--out", &out])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        assert!(said.contains("92 statements for each connection, 12 of them prepared"), "{said}");

        let runs = fs::read_dir(folder.path().join(out)).unwrap();
        let run = runs.last().unwrap().unwrap().path();
        let cells = rows(&run.join("cells.csv"));
        assert_eq!(cells.len(), 5);
        for row in cells {
            assert_eq!(row["status"], "done", "{row:?}");
            let number = |column: &str| -> u64 { row[column].parse().unwrap() };
            assert!(number("events") > 0 && number("queries") % number("events") == 0, "{row:?}");
        }
        let errors = rows(&run.join("errors.csv"));
        assert!(errors.iter().all(|row| row["code"] == "1213"), "{errors:?}");
        assert!(status(&endpoint, "Com_stmt_close") > 100, "statements were closed in turn");
    }
}

fn rows(file: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(file).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

fn setup(dataset: &Dataset, handles_max: usize) -> TrialSetup {
    let scenario = Scenario {
        id: ScenarioId::new("s").unwrap(),
        title: None,
        workload: builtin("oltp_read_write").unwrap(),
        options: WorkloadOptions::default(),
    };
    let program = Program::new(&scenario, dataset, StatementMode::Prepared, KeyLaw::Uniform);
    TrialSetup {
        program: Arc::new(program),
        concurrency: 4,
        handles_max,
        warmup: Duration::ZERO,
        warmup_max: Duration::ZERO,
        level: 0.05,
        duration: Duration::from_millis(500),
        drain_limit: Duration::from_secs(20),
        connect_limit: Duration::from_secs(20),
        seed: 1,
        load_threads: 1,
        open_loop: None,
        cpus: Vec::new(),
        policy: LoadPolicy::of(None),
        run_delay: || None,
    }
}

/// A trial of this driver; nothing but deadlocks goes wrong in it.
fn trial<D: Driver>(driver: &D, setup: &TrialSetup) -> Measurement {
    let output = run_trial(driver, setup, &Interrupt::default(), &mut |_| {});
    let measurement = output.measurement;
    assert_eq!(measurement.status, TrialStatus::Done);
    assert!(measurement.errors.iter().all(|error| error.code == 1213), "{measurement:?}");
    measurement
}

/// A server frees the handles of a connection some time after its end.
fn until_no_handle_stands(endpoint: &Endpoint) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while status(endpoint, "Prepared_stmt_count") > 0 {
        assert!(Instant::now() < deadline, "handles of closed connections stand");
    }
}

#[test]
fn a_server_with_less_room_than_was_promised_is_made_do_with_by_both_drivers() {
    for server in servers() {
        let dataset = Dataset { tables: 5, table_size: 200, charset: "utf8mb4".into(), seed: 1 };
        let options = LoadOptions { loaders: 1, ..LoadOptions::default() };
        let root = server.endpoint();
        let report = ensure(&root, &dataset, &options, &Interrupt::default(), &mut |_| {}).unwrap();
        let endpoint = Endpoint { database: Some(report.database), ..root };
        // There is room for 12 each.
        for handles_max in [15, 12, 1] {
            let setup = setup(&dataset, handles_max);
            trial(&WireDriver::new(&endpoint), &setup);
            until_no_handle_stands(&endpoint);
            trial(&AsyncDriver::new(&endpoint), &setup);
            until_no_handle_stands(&endpoint);
        }
    }
}

#[test]
fn a_handle_that_stands_is_used_again_and_one_that_gave_way_is_prepared_again() {
    for server in servers() {
        let endpoint = server.endpoint();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let counted = |sends: &[usize]| {
            let before = ["Com_stmt_prepare", "Com_stmt_close"].map(|name| status(&endpoint, name));
            let statements: Arc<[String]> = (0..5).map(|slot| format!("SELECT {slot}")).collect();
            runtime.block_on(async {
                let mut session = WireDriver::new(&endpoint).connect().await.unwrap();
                session.expect_statements(&statements, 3);
                for slot in sends {
                    let request = Request { slot: Some(*slot), ..Request::default() };
                    assert_eq!(session.send(&request).await.unwrap().rows, 1);
                }
                // Leaves without a goodbye: what the server closes then is no command.
                drop(session);
            });
            let after = ["Com_stmt_prepare", "Com_stmt_close"].map(|name| status(&endpoint, name));
            [after[0] - before[0], after[1] - before[1]]
        };
        assert_eq!(counted(&[0, 1, 2, 0, 1, 2, 2, 2]), [3, 0]);
        assert_eq!(counted(&[0, 1, 2, 3, 0]), [5, 2]);
        assert_eq!(counted(&[0, 1, 2, 0, 3, 0, 4, 0, 3]), [5, 2]);
    }
}
