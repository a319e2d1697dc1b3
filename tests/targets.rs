//! Runs on servers that a targets file names: what it says is done, what it hides stays hidden.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

#[path = "common/certificates.rs"]
mod certificates;
mod common;
#[path = "common/mysql.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod mysql;
#[path = "common/sql.rs"]
mod sql;
#[path = "common/workspace.rs"]
mod workspace;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use certificates::Authority;
use common::Server;
use gridbench::driver::adapter::AsyncDriver;
use gridbench::driver::wire::WireDriver;
use gridbench::driver::{Driver, Session};
use gridbench::model::{Endpoint, Secret};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;
use sql::sql;
use workspace::{Workspace, number, said};

const MATRIX: &str = r#"
format = 1
name = "small"
title = "Small"
protocol = { duration = "1s", warmup = "200ms", concurrency = [4] }
[dataset]
class = "full-cache"
rule = [{ table_size = 1000, tables = 2 }]
[[spec]]
cpu = 1
memory = "1GB"
[[scenario]]
id = "reads"
workload = "oltp_read_only"
"#;

fn selects(server: &Server) -> u64 {
    let rows = sql(&server.endpoint(), &["SHOW GLOBAL STATUS LIKE 'Com_select'"]);
    rows[0][1].as_ref().unwrap().parse().unwrap()
}

fn workspace(server: &Server, targets: &str, matrix: &str) -> Workspace {
    let workspace = Workspace::new(&server.endpoint(), matrix);
    fs::write(workspace.path("targets.toml"), targets).unwrap();
    workspace
}

fn manifest(workspace: &Workspace) -> Value {
    serde_json::from_slice(&fs::read(workspace.directory().join("manifest.json")).unwrap()).unwrap()
}

#[test]
fn what_a_target_says_is_done_and_stands_in_the_results() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path(), "authority");
    let files = [folder.path().join("cert.pem"), folder.path().join("key.pem")];
    authority.sign((&files[0], &files[1]), &["localhost", "127.0.0.1"], false);
    let options = [
        format!("--ssl-ca={}", authority.file.display()),
        format!("--ssl-cert={}", files[0].display()),
        format!("--ssl-key={}", files[1].display()),
    ];
    for server in mysql::each(&options.each_ref().map(String::as_str)) {
        let made = "CREATE USER bench IDENTIFIED BY 'p' REQUIRE SSL";
        let grants = ["GRANT ALL ON `mine_1c1g`.* TO bench", "CREATE DATABASE mine_1c1g"];
        sql(&server.socket_endpoint(), &[made, grants[0], grants[1]]);
        let (port, ca) = (server.port, authority.file.display());
        let targets = format!(
            "[target.'*c*g']\nendpoints = ['127.0.0.1:{port}', 'localhost:{port}']\n\
             user = 'bench'\npassword = 'p'\ndatabase = 'mine_{{spec}}'\n\
             tls = 'verify-identity'\ntls_ca = '{ca}'\ncharset = 'latin1'\n\
             init = ['SET SESSION sort_buffer_size = 1000000', 'SET @marked = 1']\n\
             connect_timeout = '5s'\nread_timeout = '5s'\nstatement_timeout = '4s'\n"
        );
        let workspace = workspace(&server, &targets, MATRIX);
        let run = workspace.run(&[]);
        assert_eq!(run.status.code(), Some(0), "{}", said(&run));
        let seen = &manifest(&workspace)["servers"][0];
        let address = format!("tcp://127.0.0.1:{port}, tcp://localhost:{port}");
        assert_eq!(seen["address"], address.as_str());
        assert!(seen["tls"].as_str().unwrap().contains("TLSv1.3"), "{seen}");
        assert!(seen["auth_plugin"].as_str().unwrap().contains("password"), "{seen}");
        for command in workspace.rows("commands.csv") {
            assert_eq!(command["sent"], command["seen"], "one server is counted once");
        }
        let check = workspace.command(&["check", "1c1g", "--targets", "targets.toml"]);
        let check = String::from_utf8({ check }.output().unwrap().stdout).unwrap();
        assert!(check.contains("login       ") && check.contains("transport   TCP"), "{check}");
        assert_eq!(check.matches("TLSv1.3").count(), 2, "each address: {check}");
        // What a session is told reaches the server's sessions, and a fault in it is told.
        let wrong = targets.replace("SET @marked = 1", "SET @@no_such_variable = 1");
        fs::write(workspace.path("targets.toml"), wrong).unwrap();
        let run = workspace.run(&[]);
        assert_eq!(run.status.code(), Some(2), "{}", said(&run));
        assert!(said(&run).contains("no_such_variable"), "{}", said(&run));
    }
}

#[test]
fn connections_take_turns_among_servers_and_their_counters_are_added() {
    let pair = [Server::start(&[]), Server::start(&["--server-id=2"])];
    let target = |places: &str| format!("[target.'*']\n{places}\nuser = 'root'\npassword = ''\n");
    let [one, other] = pair.each_ref().map(|server| format!("'127.0.0.1:{}'", server.port));
    let both = target(&format!("endpoints = [{one}, {other}]"));
    let workspace = workspace(&pair[0], &both, MATRIX);
    let run = workspace.run(&[]);
    assert_eq!(run.status.code(), Some(3), "{}", said(&run));
    let told = format!("tcp://127.0.0.1:{} holds 0 of 2,000 rows", pair[1].port);
    let reason = &workspace.rows("cells.csv")[0]["reason"];
    assert!(reason.contains(&told), "{reason}");
    // As a cluster would have it.
    fs::write(workspace.path("other.toml"), target(&format!("endpoints = [{other}]"))).unwrap();
    let load = ["load", "small.toml", "--targets", "other.toml", "--yes"];
    assert_eq!(workspace.command(&load).output().unwrap().status.code(), Some(0));
    let before = pair.each_ref().map(selects);
    let run = workspace.run(&[]);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    let queries = number(&workspace.rows("cells.csv")[0], "queries");
    for (server, before) in pair.iter().zip(before) {
        let share = selects(server) - before;
        assert!(share > queries / 4, "each has its share: {share} of {queries}");
    }
    for command in workspace.rows("commands.csv") {
        assert_eq!(command["sent"], command["seen"], "{command:?}");
    }
}

#[test]
fn a_reply_that_does_not_come_in_time_costs_its_connection() {
    for server in mysql::each(&[]) {
        let targets = format!(
            "[target.'*']\nhost = '127.0.0.1'\nport = {}\nuser = 'root'\npassword = ''\n\
             read_timeout = '500ms'\n",
            server.port
        );
        let workspace = workspace(&server, &targets, MATRIX);
        assert_eq!(workspace.run(&[]).status.code(), Some(0));
        let long = ["run", "small.toml", "--targets", "targets.toml", "--yes", "--set"];
        let long = [&long[..], &["protocol.duration=5s"]].concat();
        let run = workspace.command(&long).spawn().unwrap();
        let pid = Pid::from_raw(i32::try_from(server.process.id()).unwrap());
        std::thread::sleep(Duration::from_millis(2_500));
        kill(pid, Signal::SIGSTOP).unwrap();
        std::thread::sleep(Duration::from_millis(1_500));
        kill(pid, Signal::SIGCONT).unwrap();
        let run = run.wait_with_output().unwrap();
        assert_eq!(run.status.code(), Some(0), "{}", said(&run));
        let row = workspace.rows("cells.csv").pop().unwrap();
        assert!(number(&row, "reconnects") >= 4, "{row:?}");
        let errors = workspace.rows("errors.csv");
        let lost = errors.iter().find(|error| error["code"] == "0").unwrap();
        assert!(lost["first_message"].contains("no reply within 0.5 s"), "{lost:?}");
    }
}

#[test]
fn a_statement_that_runs_away_is_ended_by_the_server() {
    let own = r#"
[[scenario]]
id = "slow"
workload = "slow"
[[workload]]
name = "slow"
[[workload.group]]
[[workload.group.statement]]
name = "burn"
sql = "SELECT SUM(a.k * b.k + c.k) FROM sbtest{table} a, sbtest{table} b, sbtest{table} c"
"#;
    let matrix = MATRIX.split("[[scenario]]").next().unwrap().to_owned() + own;
    for server in mysql::each(&[]) {
        let targets = |more: &str| {
            let port = server.port;
            format!(
                "[target.'*']\nhost = '127.0.0.1'\nport = {port}\nuser = 'root'\npassword = ''\n\
                 {more}\n"
            )
        };
        let workspace = workspace(&server, &targets("statement_timeout = '300ms'"), &matrix);
        let run = workspace.run(&[]);
        let errors = workspace.rows("errors.csv");
        let is_ended = |code: &str| code == "1969" || code == "3024";
        assert!(errors.iter().any(|error| is_ended(&error["code"])), "{errors:?} {}", said(&run));
        // Of itself, a run leaves nothing behind that outlives its trial.
        fs::write(workspace.path("targets.toml"), targets("")).unwrap();
        let run = workspace.run(&[]);
        let row = workspace.rows("cells.csv").pop().unwrap();
        assert_eq!(number(&row, "events_unfinished"), 4, "{}", said(&run));
        let end = std::time::Instant::now() + Duration::from_secs(10);
        let busy = || {
            let list = sql(&server.endpoint(), &["SHOW FULL PROCESSLIST"]);
            list.iter().filter(|row| format!("{row:?}").contains("SELECT SUM")).count()
        };
        while busy() > 0 {
            assert!(std::time::Instant::now() < end, "it runs on at the server");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

#[test]
fn an_empty_password_in_the_file_wins_over_the_environment() {
    let server = Server::start(&[]);
    let grants = ["full", "bare"].map(|user| format!("GRANT ALL ON *.* TO {user}"));
    let made = ["CREATE USER full IDENTIFIED BY 'of-the-environment'", "CREATE USER bare"];
    sql(&server.endpoint(), &[made[0], made[1], &grants[0], &grants[1]]);
    for (user, line, is_in) in [
        ("full", "", true),
        ("full", "password = ''", false),
        ("bare", "password = ''", true),
        ("bare", "", false),
    ] {
        let targets = format!(
            "[target.'*']\nhost = '127.0.0.1'\nport = {}\nuser = '{user}'\n{line}\n",
            server.port
        );
        let workspace = workspace(&server, &targets, MATRIX);
        let mut check = workspace.command(&["check", "1c1g", "--targets", "targets.toml"]);
        let check = check.env("GRIDBENCH_PASSWORD", "of-the-environment").output().unwrap();
        assert_eq!(check.status.success(), is_in, "{user} {line}: {}", said(&check));
    }
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}

#[test]
fn no_password_is_in_anything_that_gridbench_writes_or_says() {
    const CANARY: &str = "canary-5f0c'9e\"bird";
    let server = Server::start(&[]);
    let quoted = CANARY.replace('\'', "''");
    let made = format!("CREATE USER bench IDENTIFIED BY '{quoted}'");
    sql(&server.endpoint(), &[&made, "GRANT ALL ON *.* TO bench"]);
    let sources = [
        "\"\"\"canary-5f0c'9e\"bird\"\"\"",
        "{ env = \"CANARY\" }",
        "{ file = \"secret\" }",
        "{ command = [\"cat\", \"secret\"] }",
    ];
    for source in sources {
        let targets = |port: u16| {
            format!(
                "[defaults]\nuser = 'bench'\nhost = '127.0.0.1'\nport = {port}\n\
                 password = {source}\n"
            )
        };
        let workspace = workspace(&server, &targets(server.port), MATRIX);
        fs::write(workspace.path("secret"), format!("{CANARY}\n")).unwrap();
        fs::write(workspace.path("nowhere.toml"), targets(common::free_port())).unwrap();
        fs::write(workspace.path("wrong.toml"), targets(server.port) + "tsl = 'off'\n").unwrap();
        fs::write(workspace.path("refused.toml"), targets(server.port) + "database = 'a.b'\n")
            .unwrap();
        let target = |file| ["--targets", file];
        let commands: [(&[&str], &str); 9] = [
            (&["plan", "small.toml"], "targets.toml"),
            (&["check", "small.toml", "--format", "json"], "targets.toml"),
            (&["check", "1c1g"], "nowhere.toml"),
            (&["check", "1c1g"], "wrong.toml"),
            (&["run", "small.toml", "--yes", "--progress", "plain"], "targets.toml"),
            (&["run", "small.toml", "--yes", "--progress", "json"], "refused.toml"),
            (&["run", "small.toml", "--yes", "--engine", "sysbench"], "targets.toml"),
            (&["run", "small.toml", "--yes", "--rehearse"], "nowhere.toml"),
            (&["clean", "small.toml", "--yes"], "targets.toml"),
        ];
        let mut said = Vec::new();
        // From where it comes makes a difference to little.
        let from_the_file = source.starts_with('"');
        let is_run = |(command, file): &(&[&str], &str)| {
            from_the_file || (command[0], *file) == ("run", "targets.toml")
        };
        for (command, file) in commands.into_iter().filter(is_run) {
            let mut command = workspace.command(&[command, &target(file)].concat());
            let child = command.env("CANARY", CANARY).env("RUST_BACKTRACE", "full").spawn();
            let child = child.unwrap();
            // Everybody can read how a process was called.
            for _ in 0..20 {
                said.extend(called(child.id()));
                std::thread::sleep(Duration::from_millis(20));
            }
            let output = child.wait_with_output().unwrap();
            said.extend([output.stdout, output.stderr]);
        }
        assert!(said.iter().any(|said| !said.is_empty()));
        let written = files(&workspace.path("results"));
        assert!(written.len() > 20, "{written:?}");
        said.extend(written.iter().map(|file| fs::read(file).unwrap()));
        for bytes in said {
            let text = String::from_utf8_lossy(&bytes);
            let is_there = ["canary-5f0c", "9e\"bird"].iter().any(|part| text.contains(part));
            assert!(!is_there, "{source}: {text}");
        }
    }
}

/// The command lines of a process and of those that it started.
fn called(pid: u32) -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
        let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        let is_child = status.contains(&format!("\nPPid:\t{pid}\n"));
        if is_child || entry.file_name().to_string_lossy() == pid.to_string() {
            lines.extend(fs::read(entry.path().join("cmdline")));
        }
    }
    lines
}

#[test]
fn any_printable_password_lets_both_clients_in() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for server in mysql::each(&[]) {
        for _ in 0..40 {
            let password = "\\PC{1,60}".new_tree(&mut runner).unwrap().current();
            let quoted = password.replace('\\', "\\\\").replace('\'', "''");
            let made = format!("CREATE USER bench IDENTIFIED BY '{quoted}'");
            sql(&server.endpoint(), &["DROP USER IF EXISTS bench", &made]);
            let secret = Secret::new(password.clone());
            let bench = Endpoint::new(server.endpoint().address, "bench", secret);
            runtime.block_on(async {
                let lean = WireDriver::new(&bench).connect().await;
                lean.unwrap_or_else(|error| panic!("{password:?}: {error}")).close().await;
                let other = AsyncDriver::new(&bench).connect().await;
                other.unwrap_or_else(|error| panic!("{password:?}: {error}")).close().await;
            });
        }
    }
}
