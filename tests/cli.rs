//! The program as its users meet it: real servers, real files, exit codes, what is left behind.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

#[path = "common/disk.rs"]
mod disk;

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use disk::SmallDisk;

const SCENARIOS: &[(&str, &str, u64)] = &[
    ("read-only-range", "oltp_read_only", 16),
    ("read-only-point", "oltp_read_only", 12),
    ("read-write-range", "oltp_read_write", 20),
    ("read-write-point", "oltp_read_write", 16),
    ("write-only", "oltp_write_only", 6),
];

/// A folder in which one test works, and in which its servers keep their data.
struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridbench"));
        command.args(arguments).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn gridbench(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command(arguments).output().unwrap())
    }

    /// The only run directory.
    fn run(&self) -> PathBuf {
        let entries = fs::read_dir(self.path("results")).unwrap();
        let mut runs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.pop().unwrap()
    }

    /// Rows of a CSV file of the run: column name -> value.
    fn rows(&self, file: &str) -> Vec<std::collections::BTreeMap<String, String>> {
        let mut reader = csv::Reader::from_path(self.run().join(file)).unwrap();
        reader.deserialize().map(Result::unwrap).collect()
    }

    /// Processes whose command line names this folder: servers that nobody stopped.
    fn servers(&self) -> Vec<String> {
        let mark = self.folder.path().to_str().unwrap().to_owned();
        let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let lines = processes.filter_map(|p| fs::read_to_string(p.path().join("cmdline")).ok());
        lines.filter(|line| line.contains(&mark) && line.contains("port")).collect()
    }

    fn is_quiet_within(&self, limit: Duration) -> bool {
        holds_within(limit, || self.servers().is_empty())
    }
}

/// Polls a condition that another process brings about.
fn holds_within(limit: Duration, condition: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < limit {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    condition()
}

struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ended {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    fn says(self, words: &str) -> Self {
        assert!(self.stderr.contains(words), "no {words:?} in:\n{}", self.stderr);
        self
    }
}

fn matrix(duration: &str, protocol: &str) -> String {
    let mut text = format!(
        r#"
format = 1
name = "tiny"
title = "Tiny"
template = "tdsql-c-en"
[protocol]
duration = "{duration}"
warmup = "100ms"
{protocol}
[dataset]
class = "full-cache"
[[dataset.rule]]
table_size = 1000
tables = 2
[[spec]]
cpu = 1
memory = "1GB"
"#
    );
    for (id, workload, _) in SCENARIOS {
        let ranges = !id.ends_with("point");
        text += &format!(
            "[[scenario]]\nid = \"{id}\"\nworkload = \"{workload}\"\nrange_selects = {ranges}\n"
        );
    }
    text
}

#[test]
fn a_matrix_becomes_rows_pages_and_a_comparison() {
    let space = Workspace::new();
    space.write("m.toml", &matrix("1s", "concurrency = [2, 4]"));
    let ended = space.gridbench(&["run", "m.toml"]).exits(0);
    assert!(ended.stdout.contains("1c1g"), "{}", ended.stdout);

    let rows = space.rows("cells.csv");
    assert_eq!(rows.len(), SCENARIOS.len() * 2);
    for row in &rows {
        let (_, _, per_event) = SCENARIOS.iter().find(|s| s.0 == row["scenario"]).unwrap();
        let number = |column: &str| -> u64 { row[column].parse().unwrap() };
        assert_eq!(row["status"], "done");
        assert!(number("events") > 0, "{row:?}");
        assert_eq!(number("queries"), number("events") * per_event, "{row:?}");
        assert!(number("latency_min_us") <= number("latency_p95_us"));
        assert!(number("latency_p95_us") <= number("latency_max_us"));
    }
    assert!(!space.rows("intervals.csv").is_empty());
    assert!(!space.rows("statements.csv").is_empty());

    let run = space.run();
    let name = run.file_name().unwrap().to_str().unwrap();
    for page in ["page.md", "page.html"] {
        let text = fs::read_to_string(run.join("pages").join(page)).unwrap();
        assert!(text.contains("Scenario 5: Write-Only"), "{page}");
        assert!(text.contains(name), "{page} does not say which run it shows");
    }
    let itself = space.gridbench(&["diff", name, name, "--format", "csv"]).exits(0);
    let powerless = "1 against 1 repeats can show nothing";
    assert_eq!(itself.stdout.matches(powerless).count(), SCENARIOS.len(), "{}", itself.stdout);
    space.gridbench(&["diff", name, name, "--fail-on", "missing"]).exits(0);
    space.gridbench(&["diff", name, name, "--fail-on", "missing,inconclusive"]).exits(4);
    let slip = ["diff", name, name, "--threshold", "write-onyl=3"];
    space.gridbench(&slip).exits(2).says("did you mean `write-only`");
    let slip = ["diff", name, name, "--across", "server.versoin"];
    space.gridbench(&slip).exits(2).says("did you mean `server.version`");
    space.gridbench(&["diff", name, name, "--noise", name]).exits(2).says("no A/A run");
    space.gridbench(&["diff", name]).exits(2).says("baseline");
    let audit = space.gridbench(&["audit", name]).exits(0);
    assert!(audit.stdout.starts_with(&format!("{name}: 1 table, 5 cells, ")), "{}", audit.stdout);
    for counted in ["INTERVALS", "PERCENTILES", "RETRIED", "FAILED"] {
        assert!(!audit.stdout.contains(counted), "{}", audit.stdout);
    }
    assert!(space.is_quiet_within(Duration::from_secs(5)), "{:?}", space.servers());
}

#[test]
fn prepared_statements_and_special_keys_send_the_same_mix() {
    let space = Workspace::new();
    let protocol = "concurrency = [3]\nstatements = \"prepared\"\nkeys = \"special\"";
    space.write("m.toml", &matrix("1s", protocol));
    space.gridbench(&["run", "m.toml"]).exits(0);
    for row in space.rows("cells.csv") {
        let (_, _, per_event) = SCENARIOS.iter().find(|s| s.0 == row["scenario"]).unwrap();
        let number = |column: &str| -> u64 { row[column].parse().unwrap() };
        assert_eq!(number("queries"), number("events") * per_event, "{row:?}");
    }
}

/// Starts a run and waits until its first trial is on disk.
fn start_until_first_row(space: &Workspace) -> Child {
    let mut child = space.command(&["run", "m.toml"]).stdout(Stdio::null()).spawn().unwrap();
    let row_is_there = || {
        let cells = fs::read_dir(space.path("results")).ok().and_then(|mut runs| runs.next());
        let cells = cells.and_then(Result::ok).map(|run| run.path().join("cells.csv"));
        cells.and_then(|path| fs::read_to_string(path).ok()).is_some_and(|t| t.lines().count() > 1)
    };
    if !holds_within(Duration::from_secs(120), row_is_there) {
        let _ = child.kill();
        panic!("no row: {:?}", Ended::of(child.wait_with_output().unwrap()).stderr);
    }
    child
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
}

#[test]
fn ctrl_c_keeps_what_is_measured_and_resume_measures_the_rest() {
    let space = Workspace::new();
    space.write("m.toml", &matrix("2s", "concurrency = [2]"));
    let child = start_until_first_row(&space);
    send(&child, Signal::SIGINT);
    Ended::of(child.wait_with_output().unwrap()).exits(130).says("--resume");
    assert!(space.servers().is_empty(), "{:?}", space.servers());
    let done_before = done(&space);
    assert!(done_before < SCENARIOS.len(), "the run was interrupted");

    space.gridbench(&["run", "m.toml", "--resume"]).exits(0);
    assert_eq!(done(&space), SCENARIOS.len());
    let resumed = space.gridbench(&["run", "m.toml", "--resume"]).exits(0);
    assert_eq!(done(&space), SCENARIOS.len(), "nothing is measured twice: {}", resumed.stderr);
}

#[test]
fn a_killed_run_leaves_no_server_and_is_resumed() {
    let space = Workspace::new();
    space.write("m.toml", &matrix("2s", "concurrency = [2]"));
    let child = start_until_first_row(&space);
    send(&child, Signal::SIGKILL);
    child.wait_with_output().unwrap();
    assert!(space.is_quiet_within(Duration::from_secs(30)), "{:?}", space.servers());
    assert!(done(&space) >= 1);
    space.gridbench(&["run", "m.toml", "--resume"]).exits(0);
    assert_eq!(done(&space), SCENARIOS.len());
}

#[test]
fn a_server_that_dies_fails_its_cells_and_the_other_specs_go_on() {
    let space = Workspace::new();
    let second = "[[spec]]\ncpu = 2\nmemory = \"1GB\"\n";
    space.write("m.toml", &(matrix("1s", "concurrency = [2]") + second));
    let child = start_until_first_row(&space);
    let home = fs::read_dir(space.path(".gridbench")).unwrap().next().unwrap().unwrap().path();
    let server = fs::read_to_string(home.join("server.pid")).unwrap();
    kill(Pid::from_raw(server.trim().parse().unwrap()), Signal::SIGKILL).unwrap();
    let ended = Ended::of(child.wait_with_output().unwrap()).exits(3);
    ended.says("SIGKILL").says("--resume measures them again");

    let rows = space.rows("cells.csv");
    assert_eq!(rows.len(), SCENARIOS.len() * 2);
    let failed = |row: &&std::collections::BTreeMap<String, String>| row["status"] == "failed";
    assert!(rows.iter().filter(failed).all(|row| row["spec"] == "1c1g"), "{rows:?}");
    assert!(rows.iter().any(|row| failed(&row)), "{rows:?}");
    let page = fs::read_to_string(space.run().join("pages/page.md")).unwrap();
    assert!(page.contains("failed: ") && !page.contains("the whole log"), "{page}");
}

#[test]
fn resume_refuses_another_plan() {
    let space = Workspace::new();
    space.write("m.toml", &matrix("500ms", "concurrency = [2]"));
    let only = ["--only", "scenario=write-only"];
    space.gridbench(&["run", "m.toml", only[0], only[1]]).exits(0);
    space.gridbench(&["run", "m.toml", "--resume"]).exits(2).says("planned otherwise");
    space.gridbench(&["run", "m.toml", "--resume", "nope"]).exits(2).says("nope");
}

fn done(space: &Workspace) -> usize {
    space.rows("cells.csv").iter().filter(|row| row["status"] == "done").count()
}

#[test]
fn a_matrix_that_cannot_be_read_is_named() {
    let space = Workspace::new();
    space.write("empty.toml", "");
    space.write("file", "");
    fs::create_dir(space.path("folder")).unwrap();
    for (path, words) in [
        ("empty.toml", "is empty"),
        ("folder", "directory"),
        ("missing.toml", "missing.toml"),
        ("file/inside.toml", "file/inside.toml"),
    ] {
        space.gridbench(&["plan", path]).exits(2).says(words);
        space.gridbench(&["run", path]).exits(2).says(words);
    }
    assert!(!space.path("results").exists(), "nothing was begun");
}

#[test]
fn an_unreadable_matrix_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let space = Workspace::new();
    space.write("m.toml", &matrix("1s", "concurrency = [2]"));
    fs::set_permissions(space.path("m.toml"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(space.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = space.command(&["plan", "m.toml"]);
    if nix::unistd::geteuid().is_root() {
        // root reads everything: become nobody, who must be able to run the program at all.
        let copy = space.path("gridbench");
        fs::copy(env!("CARGO_BIN_EXE_gridbench"), &copy).unwrap();
        command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(copy).args(["plan", "m.toml"]).current_dir(space.folder.path());
    }
    Ended::of(command.output().unwrap()).exits(2).says("ermission denied");
}

#[test]
fn a_server_that_is_not_there_is_answered_with_what_to_install() {
    let space = Workspace::new();
    space.write("m.toml", &matrix("1s", "concurrency = [2]"));
    space.gridbench(&["run", "m.toml", "--server", "nowhere/mysqld"]).exits(2).says("nowhere");
    let mut command = space.command(&["run", "m.toml", "--server", "folder"]);
    fs::create_dir(space.path("folder")).unwrap();
    Ended::of(command.output().unwrap()).exits(2).says("folder");
}

#[test]
fn a_port_in_use_is_named() {
    let space = Workspace::new();
    space.write("m.toml", &matrix("1s", "concurrency = [2]"));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    space.gridbench(&["run", "m.toml", "--server-port", &port]).exits(3).says(&port);
    assert!(space.servers().is_empty());
}

#[test]
fn a_target_that_refuses_is_told_before_anything_is_begun() {
    let space = Workspace::new();
    space.write("m.toml", &matrix("1s", "concurrency = [2]"));
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let targets = format!("[defaults]\nuser = \"u\"\nhost = \"127.0.0.1\"\nport = {free}\n");
    space.write("t.toml", &targets);
    let start = Instant::now();
    space.gridbench(&["run", "m.toml", "--targets", "t.toml"]).exits(2).says("refused");
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(!space.path("results").exists(), "nothing was begun");
}

#[test]
fn a_targets_file_with_a_fault_is_exit_2() {
    let space = Workspace::new();
    space.write("m.toml", &matrix("1s", "concurrency = [2]"));
    space.write("t.toml", "[target.other]\nhost = \"127.0.0.1\"\nuser = \"u\"\n");
    space.gridbench(&["run", "m.toml", "--targets", "t.toml"]).exits(2).says("1c1g");
    space.write("t.toml", "[defaults]\nhosst = \"127.0.0.1\"\n");
    space.gridbench(&["run", "m.toml", "--targets", "t.toml"]).exits(2).says("hosst");
}

#[test]
fn what_cannot_end_well_is_refused_before_anything_is_measured() {
    let space = Workspace::new();
    let text = matrix("1s", "concurrency = [2]").replace("cpu = 1\n", "cpu = 4000\n");
    space.write("large.toml", &text);
    space.gridbench(&["run", "large.toml"]).exits(2).says("nothing of this matrix can run here");
    space.write("m.toml", &matrix("1s", "concurrency = [2]"));
    let wrong = ["run", "m.toml", "--set", "template=tdsql-c-em"];
    space.gridbench(&wrong).exits(2).says("tdsql-c-en");
    space.gridbench(&["plan", "m.toml", "--targets", "none.toml"]).exits(2).says("none.toml");
    assert!(!space.path("results").exists(), "nothing was begun");
}

/// A matrix whose dataset takes some 200 MB.
fn large_matrix() -> String {
    matrix("1s", "concurrency = [2]").replace("table_size = 1000", "table_size = 400000")
}

#[test]
fn a_dataset_that_does_not_fit_is_refused_before_a_row_is_loaded() {
    let space = Workspace::new();
    space.write("m.toml", &large_matrix());
    let Some(_disk) = SmallDisk::mount(&space.path("small"), 250) else { return };
    space.gridbench(&["run", "m.toml", "--data-dir", "small"]).exits(3).says("MB are free");
    assert!(space.is_quiet_within(Duration::from_secs(5)), "{:?}", space.servers());
}

#[test]
fn a_disk_that_fills_up_under_the_server_fails_the_cells_and_stops_the_server() {
    let space = Workspace::new();
    space.write("m.toml", &large_matrix());
    let Some(disk) = SmallDisk::mount(&space.path("small"), 700) else { return };
    let child = space.command(&["run", "m.toml", "--data-dir", "small"]).spawn().unwrap();
    let loading = || {
        let homes = fs::read_dir(&disk.0).unwrap().filter_map(Result::ok);
        let mut data = homes.filter_map(|home| fs::read_dir(home.path().join("data")).ok());
        data.any(|mut data| {
            data.any(|entry| entry.unwrap().file_name().to_string_lossy().starts_with("sbtest_"))
        })
    };
    assert!(holds_within(Duration::from_secs(120), loading), "the load begins");
    disk.fill(0);
    let ended = Ended::of(child.wait_with_output().unwrap()).exits(3);
    assert!(ended.stderr.contains("ran out of disk space"), "{}", ended.stderr);
    assert!(space.is_quiet_within(Duration::from_secs(5)), "{:?}", space.servers());
    assert!(space.rows("cells.csv").iter().all(|row| row["status"] == "failed"));
}

#[test]
fn a_full_disk_under_the_results_is_told_and_nothing_is_torn() {
    let space = Workspace::new();
    space.write("m.toml", &matrix("500ms", "concurrency = [1, 2, 3, 4]"));
    let Some(_disk) = SmallDisk::mount(&space.path("results"), 1) else { return };
    let filler = space.path("results").join("filler");
    // Room for a manifest and the rows of some trials, not of all.
    fs::write(&filler, vec![0_u8; 940 * 1024]).unwrap();
    let ended = space.gridbench(&["run", "m.toml"]).exits(1);
    assert!(ended.stderr.contains("No space left"), "{}", ended.stderr);
    assert!(space.is_quiet_within(Duration::from_secs(5)), "{:?}", space.servers());
    fs::remove_file(filler).unwrap();
    space.gridbench(&["run", "m.toml", "--resume"]).exits(0);
    assert_eq!(done(&space), SCENARIOS.len() * 4);
}
