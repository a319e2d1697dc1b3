//! The engine `sysbench`: whole runs of the real program on a real server.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

mod common;
#[path = "common/workspace.rs"]
mod workspace;

use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use gridbench::driver::adapter::Admin;
use gridbench::model::{Endpoint, Secret};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use workspace::{Workspace, number, said};

const LIMIT: Duration = Duration::from_secs(60);

/// Waits for what another process brings about.
fn becomes<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

const MATRIX: &str = r#"
format = 1
name   = "small"
title  = "Small"
[protocol]
duration    = "2s"
warmup      = "1s"
concurrency = [4]
[dataset]
class = "full-cache"
rule  = [{ table_size = 1_000, tables = 2 }]
[[spec]]
cpu    = 1
memory = "1GB"
[[scenario]]
id       = "read-only-range"
workload = "oltp_read_only"
[[scenario]]
id       = "write-only"
workload = "oltp_write_only"
"#;

#[test]
fn a_plan_runs_with_the_real_sysbench_and_its_page_says_so() {
    let server = common::Server::shared();
    let workspace = Workspace::new(&server.endpoint(), MATRIX);
    let output = workspace.run(&["--engine", "sysbench"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let rows = workspace.rows("cells.csv");
    assert_eq!(rows.len(), 2);
    for (row, per_event) in rows.iter().zip([16, 6]) {
        assert_eq!(row["status"], "done");
        let (events, queries) = (number(row, "events"), number(row, "queries"));
        let retried = workspace.rows("errors.csv").iter().map(|e| number(e, "count")).sum::<u64>();
        assert!(queries >= events * per_event, "{queries} {events}");
        assert!(queries <= (events + retried) * per_event, "{queries} {events} {retried}");
        // The warm-up is not in it.
        let measured = number(row, "measured_us");
        assert!((1_900_000..2_600_000).contains(&measured), "{measured}");
        let [p50, p95, p99] =
            ["latency_p50_us", "latency_p95_us", "latency_p99_us"].map(|c| number(row, c));
        let (min, max) = (number(row, "latency_min_us"), number(row, "latency_max_us"));
        assert!(min <= p50 && p50 <= p95 && p95 <= p99 && p99 <= max);
        assert!(number(row, "client_cpu_us") > 0);
        assert_eq!(number(row, "load_threads"), 4);
    }
    let intervals = workspace.rows("intervals.csv");
    assert!(
        intervals.len() >= 2 && intervals.iter().all(|row| number(row, "length_us") >= 1_000_000)
    );
    let histograms = fs::read_to_string(workspace.directory().join("latency.hdr")).unwrap();
    assert_eq!(histograms.matches("/event,").count(), 2);
    let manifest = fs::read_to_string(workspace.directory().join("manifest.json")).unwrap();
    assert!(manifest.contains("\"driver\": \"sysbench 1."), "{manifest}");
    assert!(manifest.contains("\"engine\": \"sysbench\""));
    let page = fs::read_to_string(workspace.directory().join("pages/page.md")).unwrap();
    assert!(page.contains("- Engine: sysbench 1."), "{page}");
}

const OTHERS: &str = r#"
[[scenario]]
id       = "points"
workload = "select_random_points"
[[scenario]]
id       = "ranges"
workload = "select_random_ranges"
[[scenario]]
id       = "insert"
workload = "oltp_insert"
[[scenario]]
id                = "odd"
workload          = "oltp_read_write"
range_selects     = false
point_selects     = 3
index_updates     = 0
non_index_updates = 2
delete_inserts    = 2
"#;

#[test]
fn the_options_of_every_script_reach_the_program() {
    let server = common::Server::shared();
    let workspace = Workspace::new(&server.endpoint(), MATRIX);
    fs::write(workspace.path("small.toml"), format!("{MATRIX}{OTHERS}")).unwrap();
    let others = ["points", "ranges", "insert", "odd"].map(|id| format!("scenario={id}"));
    let mut more = vec!["--engine", "sysbench", "--set", "protocol.concurrency=[1]"];
    others.iter().for_each(|only| more.extend(["--only", only]));
    let output = workspace.run(&[&more[..], &["--set", "protocol.duration=1s"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let rows = workspace.rows("cells.csv");
    assert_eq!(rows.len(), 4);
    for row in rows {
        // 3 reads, 2 updates, 2 pairs of DELETE and INSERT, BEGIN and COMMIT.
        let per_event = if row["scenario"] == "odd" { 11 } else { 1 };
        assert_eq!(number(&row, "queries"), number(&row, "events") * per_event, "{row:?}");
    }
}

#[test]
fn a_diff_of_two_engines_says_so() {
    let server = common::Server::shared();
    let workspace = Workspace::new(&server.socket_endpoint(), MATRIX);
    let only = ["--only", "scenario=read-only-range", "--set", "protocol.duration=1s"];
    for (engine, out) in [("native", "a"), ("sysbench", "b")] {
        let output = workspace.run(&[&only[..], &["--engine", engine, "--out", out]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }
    let run = |out: &str| {
        let entry = fs::read_dir(workspace.path(out)).unwrap().next().unwrap().unwrap();
        entry.path().display().to_string()
    };
    let mut diff = workspace.command(&["diff", &run("b"), &run("a"), "--threshold", "99"]);
    let diff = diff.output().unwrap();
    let table = String::from_utf8_lossy(&diff.stdout).into_owned();
    assert!(table.contains("engine sysbench 1.0.20 against native"), "{table}");
}

#[test]
fn an_open_loop_has_a_rate_and_what_waited() {
    let server = common::Server::shared();
    let workspace = Workspace::new(&server.endpoint(), MATRIX);
    let rate = ["--set", "protocol.rate=50", "--only", "scenario=read-only-range"];
    let output = workspace.run(&[&rate[..], &["--engine", "sysbench"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let row = &workspace.rows("cells.csv")[0];
    let (events, due) = (number(row, "events"), number(row, "events_due"));
    assert!((40..=250).contains(&events), "{events}");
    assert_eq!(due, events + number(row, "events_dropped"));
    assert_eq!(row["service_p95_us"], "");
}

/// An account with a password that would show wherever it is kept.
fn account(server: &common::Server, password: &str) -> Endpoint {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut admin = Admin::connect(&server.endpoint()).await.unwrap();
        for statement in [
            format!("CREATE OR REPLACE USER canary@'%' IDENTIFIED BY '{password}'"),
            "GRANT ALL ON *.* TO canary@'%'".to_owned(),
        ] {
            admin.scalar(&statement).await.unwrap();
        }
        admin.close().await;
    });
    let (user, password) = ("canary".to_owned(), Secret::new(password));
    Endpoint { user, password, ..server.endpoint() }
}

/// Of a process and all that it started: id, command line, environment.
fn family(root: u32) -> Vec<(u32, String, String)> {
    let mut found = vec![root];
    let mut at = 0;
    while at < found.len() {
        let tasks =
            fs::read_dir(format!("/proc/{}/task", found[at])).into_iter().flatten().flatten();
        for task in tasks {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
        at += 1;
    }
    let read = |pid: u32, file: &str| {
        let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\0', " ")
    };
    found.into_iter().map(|pid| (pid, read(pid, "cmdline"), read(pid, "environ"))).collect()
}

/// The sysbench that a gridbench runs, once its load runs.
fn sysbench_of(gridbench: &Child) -> u32 {
    becomes("sysbench runs", || {
        let family = family(gridbench.id());
        family.into_iter().find(|(_, line, _)| line.contains("--report-interval")).map(|f| f.0)
    })
}

fn start(workspace: &Workspace, more: &[&str]) -> Child {
    let head = ["run", "small.toml", "--targets", "targets.toml", "--yes", "--engine", "sysbench"];
    workspace.command(&[&head[..], more].concat()).spawn().unwrap()
}

#[test]
fn a_password_is_in_no_command_line_and_in_no_environment_and_in_no_file() {
    const PASSWORD: &str = "canary it's #1 of 2, \\really";
    let server = common::Server::start(&[]);
    let workspace = Workspace::new(&account(&server, "plain"), MATRIX);
    let targets = fs::read_to_string(workspace.path("targets.toml")).unwrap();
    account(&server, &PASSWORD.replace('\\', "\\\\").replace('\'', "\\'"));
    let targets = targets.replace("'plain'", "{ env = \"CANARY\" }");
    fs::write(workspace.path("targets.toml"), targets).unwrap();
    let head = ["run", "small.toml", "--targets", "targets.toml", "--yes", "--engine", "sysbench"];
    let more = ["--only", "scenario=read-only-range"];
    let mut command = workspace.command(&[&head[..], &more].concat());
    let child = command.env("CANARY", PASSWORD).spawn().unwrap();
    let sysbench = sysbench_of(&child);
    let family = family(child.id());
    assert!(family.iter().any(|(pid, ..)| *pid == sysbench), "{family:?}");
    for (pid, line, environment) in &family {
        assert!(!line.contains("canary it"), "{line}");
        // gridbench was given it there; what it starts inherits its environment, as all do.
        let own = environment.matches("canary it").count();
        assert!(own <= 1, "{pid}: {environment}");
        assert!(!environment.contains("MYSQL_PWD"), "{environment}");
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(workspace.rows("cells.csv")[0]["status"], "done");
    assert!(!holds(&workspace.path(""), "canary it"));
}

/// Whether a file below the folder holds the text.
fn holds(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return holds(&path, text);
        }
        String::from_utf8_lossy(&fs::read(path).unwrap()).contains(text)
    })
}

#[test]
fn ctrl_c_ends_sysbench_and_the_run_goes_on_later() {
    let server = common::Server::shared();
    let workspace = Workspace::new(&server.endpoint(), MATRIX);
    let mut child = start(&workspace, &["--set", "protocol.duration=100s"]);
    let sysbench = sysbench_of(&child);
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let is_gone = fs::read_to_string(format!("/proc/{sysbench}/cmdline")).is_err();
    assert!(is_gone, "sysbench outlived its run");
    assert_eq!(workspace.rows("cells.csv")[0]["status"], "interrupted");
    let other = workspace.run(&["--resume"]);
    assert_eq!(other.status.code(), Some(2), "{}", said(&other));
    fs::remove_dir_all(workspace.path("results")).unwrap();

    let mut child = start(&workspace, &[]);
    sysbench_of(&child);
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let resumed = workspace.run(&["--engine", "sysbench", "--resume"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", said(&resumed));
    let done = workspace.rows("cells.csv").iter().filter(|row| row["status"] == "done").count();
    assert_eq!(done, 2);
}

#[test]
fn a_killed_sysbench_is_a_failed_cell_and_the_others_go_on() {
    let server = common::Server::shared();
    let workspace = Workspace::new(&server.endpoint(), MATRIX);
    let child = start(&workspace, &[]);
    kill(Pid::from_raw(sysbench_of(&child) as i32), Signal::SIGKILL).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let rows = workspace.rows("cells.csv");
    assert_eq!((rows[0]["status"].as_str(), rows[1]["status"].as_str()), ("failed", "done"));
    assert!(rows[0]["reason"].ends_with("sysbench was killed by SIGKILL"), "{:?}", rows[0]);
}

#[test]
fn a_killed_gridbench_leaves_no_sysbench_behind() {
    let server = common::Server::shared();
    let workspace = Workspace::new(&server.endpoint(), MATRIX);
    let mut child = start(&workspace, &["--set", "protocol.duration=1000s"]);
    let sysbench = sysbench_of(&child);
    child.kill().unwrap();
    child.wait().unwrap();
    let is_gone = |pid: u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.is_empty().then_some(())
    };
    becomes("sysbench ends", || is_gone(sysbench));
}

#[test]
fn well_known_troubles_come_with_their_remedy() {
    let server = common::Server::start(&["--max-prepared-stmt-count=20", "--max-connections=12"]);
    let workspace = Workspace::new(&server.endpoint(), MATRIX);
    let prepared = ["--set", "protocol.statements=prepared"];
    let output = workspace.run(&[&prepared[..], &["--engine", "sysbench"]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let reason = &workspace.rows("cells.csv")[0]["reason"];
    assert!(reason.contains("1461") && reason.contains("statements = \"text\""), "{reason}");
    let many = ["--set", "protocol.concurrency=[40]", "--engine", "sysbench"];
    let output = workspace.run(&many);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    let told = said(&output);
    assert!(told.contains("max_connections is 12") && told.contains("SET GLOBAL"), "{told}");
}

#[test]
fn what_sysbench_cannot_run_is_refused_before_anything_starts() {
    let server = common::Server::shared();
    let workspace = Workspace::new(&server.endpoint(), MATRIX);
    let odd = ["--set", "protocol.keys=zipfian", "--set", "protocol.rate=0.5"];
    let output = workspace.run(&[&odd[..], &["--engine", "sysbench"]].concat());
    assert_eq!(output.status.code(), Some(2));
    let words = said(&output);
    assert!(words.contains("zipfian") && words.contains("whole number"), "{words}");
    let absent = workspace.run(&["--engine", "sysbench", "--sysbench", "no-such-program"]);
    assert!(said(&absent).contains("there is no program `no-such-program`"));
    let native = workspace.run(&["--sysbench", "sysbench"]);
    assert!(said(&native).contains("add --engine sysbench"));
    assert!(!workspace.path("results").exists());
}

const OWN: &str = r#"
[[scenario]]
id       = "mine"
workload = "hot"
[[workload]]
name = "hot"
[[workload.group]]
[[workload.group.statement]]
name   = "find"
sql    = "SELECT k FROM sbtest{table} WHERE id = ?"
values = ["id"]
"#;

#[test]
fn a_plan_says_what_its_run_would_say_instead_of_starting() {
    let server = common::Server::shared();
    let workspace = Workspace::new(&server.endpoint(), MATRIX);
    fs::write(workspace.path("small.toml"), format!("{MATRIX}{OWN}")).unwrap();
    let more = ["--engine", "sysbench", "--set", "protocol.rate=0.5"];
    let run = workspace.run(&more);
    assert_eq!(run.status.code(), Some(2), "{}", said(&run));
    let plan = |more: &[&str]| {
        let head = ["plan", "small.toml", "--targets", "targets.toml"];
        let output = workspace.command(&[&head[..], more].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        (String::from_utf8(output.stdout.clone()).unwrap(), said(&output))
    };
    let run = said(&run);
    let sentences: Vec<&str> = run.trim_end().lines().map(str::trim).collect();
    assert_eq!(sentences.len(), 3, "{run}");
    let (table, _) = plan(&more);
    let (json, _) = plan(&[&more[..], &["--format", "json"]].concat());
    let (_, beside_csv) = plan(&[&more[..], &["--format", "csv"]].concat());
    for sentence in sentences {
        assert!(table.contains(sentence), "{sentence}: {table}");
        assert!(json.contains(&sentence.replace('"', "\\\"")), "{sentence}: {json}");
        assert!(beside_csv.contains(sentence), "{sentence}: {beside_csv}");
    }
    assert!(run.contains("scenario mine: `hot` is no script of sysbench's"), "{run}");
    assert!(!plan(&[]).0.contains("Refused"));
    let (absent, _) = plan(&["--engine", "sysbench", "--sysbench", "/nonexistent/sysbench"]);
    assert!(absent.contains("there is no program") && absent.contains("scenario mine"), "{absent}");
}

#[test]
fn a_password_with_both_kinds_of_quotes_is_told_or_refused_before_anything_runs() {
    let server = common::Server::start(&[]);
    let read = |password: &str| format!("password = '''{password}'''");
    let workspace = Workspace::new(&account(&server, "plain"), MATRIX);
    let targets = fs::read_to_string(workspace.path("targets.toml")).unwrap();
    account(&server, "a\\'b\"c#");
    let of = |password: &str| targets.replace("password = 'plain'", &read(password));
    fs::write(workspace.path("targets.toml"), of("a'b\"c#")).unwrap();
    let more = ["--engine", "sysbench", "--only", "scenario=read-only-range"];
    let output = workspace.run(&[&more[..], &["--set", "protocol.duration=1s"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    fs::remove_dir_all(workspace.path("results")).unwrap();

    fs::write(workspace.path("targets.toml"), of("a'b\" c")).unwrap();
    let output = workspace.run(&more);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("spec 1c1g: sysbench cannot read a password"), "{output:?}");
    assert!(!said(&output).contains("a'b\" c"), "{output:?}");
    assert!(!workspace.path("results").exists(), "nothing was begun");
}
