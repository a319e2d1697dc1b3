//! `gridbench load`, `gridbench clean` and `refresh` as their users meet them, on a server that a
//! targets file names.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use gridbench::load::STATE_TABLE;
use gridbench::model::{Address, Endpoint};
use tempfile::TempDir;

use super::common::Server;
use super::sql;

/// A folder with a matrix of two tables, and a server on which its data lives in one schema.
struct Workspace {
    folder: TempDir,
    endpoint: Endpoint,
}

impl Workspace {
    fn new(server: &Server, database: &str, scenarios: &[&str]) -> Self {
        let folder = TempDir::with_prefix("gridbench-test-").expect("a temporary folder");
        let endpoint = Endpoint { database: None, ..server.endpoint() };
        let Address::Tcp { port, .. } = &endpoint.address else { panic!("a port") };
        let targets = format!(
            "[defaults]\nuser = \"root\"\nhost = \"127.0.0.1\"\nport = {port}\n\
             database = \"{database}\"\n"
        );
        std::fs::write(folder.path().join("t.toml"), targets).expect("a targets file");
        let mut matrix = "format = 1\nname = \"m\"\ntitle = \"m\"\n[protocol]\n\
                          duration = \"200ms\"\nwarmup = \"50ms\"\nconcurrency = [1, 2]\n\
                          [dataset]\nclass = \"full-cache\"\n[[dataset.rule]]\n\
                          table_size = 1_000\ntables = 2\n[[spec]]\ncpu = 2\nmemory = \"4GB\"\n"
            .to_owned();
        for workload in scenarios {
            let id = workload.replace('_', "-");
            matrix += &format!("[[scenario]]\nid = \"{id}\"\nworkload = \"{workload}\"\n");
        }
        std::fs::write(folder.path().join("m.toml"), matrix).expect("a matrix");
        Self { folder, endpoint }
    }

    fn gridbench(&self, arguments: &[&str]) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridbench"));
        command.args(arguments).args(["m.toml", "--targets", "t.toml"]);
        // The server is not this test's alone.
        if matches!(arguments.first(), Some(&("run" | "load"))) {
            command.arg("--yes");
        }
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        Ended::of(&command.output().expect("gridbench runs"))
    }

    /// The manifest of the only run, or of the last one.
    fn manifest(&self) -> String {
        let runs = std::fs::read_dir(self.folder.path().join("results")).expect("runs");
        let mut runs: Vec<_> = runs.map(|run| run.expect("a run").path()).collect();
        runs.sort();
        let last: &Path = runs.last().expect("a run");
        std::fs::read_to_string(last.join("manifest.json")).expect("its manifest")
    }
}

struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ended {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        Self { code: output.status.code(), stdout, stderr }
    }

    #[track_caller]
    fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    fn prints(self, words: &str) -> Self {
        assert!(self.stdout.contains(words), "no {words:?} in:\n{}", self.stdout);
        self
    }

    #[track_caller]
    fn says(self, words: &str) -> Self {
        assert!(self.stderr.contains(words), "no {words:?} in:\n{}", self.stderr);
        self
    }

    /// How often it said something.
    fn count(&self, words: &str) -> usize {
        self.stderr.matches(words).count()
    }
}

#[test]
fn load_and_clean_do_alone_what_run_does_and_leaves() {
    let server = Server::shared();
    let space = Workspace::new(&server, "commands", &["oltp_read_only"]);
    space.gridbench(&["clean"]).exits(0).says("no dataset of this matrix");
    let loaded = space.gridbench(&["load", "--loaders", "3"]).exits(0);
    let loaded =
        loaded.says("dataset commands loaded: 2,000 rows").says("by multi-row INSERT, prepared");
    let sum = "SELECT CAST(SUM(CRC32(CONCAT_WS('\t', id, k, c, pad))) AS CHAR) FROM \
               commands.sbtest2";
    let sum = sql(&space.endpoint, &[sum]).expect("a sum");
    let loaded = loaded.prints("of the 4 GB of memory").prints("sbtest2  1,000");
    assert!(loaded.stdout.contains(&sum), "{}", loaded.stdout);
    space.gridbench(&["load"]).exits(0).says("found complete").prints(&sum);

    let list = space.gridbench(&["clean"]).exits(0).says("--yes");
    let list = list.prints("would drop commands").prints("3 tables, and the schema\nfingerprint ");
    list.prints("\nsbtest1            1,000\nsbtest2            1,000\ngridbench_dataset      -\n");
    space.gridbench(&["load"]).exits(0).says("found complete");
    space.gridbench(&["clean", "--yes"]).exits(0).prints("dropped commands");
    let schemas = "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'commands'";
    assert_eq!(sql(&space.endpoint, &[schemas]).as_deref(), Some("0"));
}

#[test]
fn replace_is_what_it_takes_to_load_into_a_schema_of_somebody_else() {
    let server = Server::shared();
    let space = Workspace::new(&server, "elses", &["oltp_read_only"]);
    let endpoint = &space.endpoint;
    sql(endpoint, &["CREATE DATABASE elses", "CREATE TABLE elses.orders (a INT)"]);
    for command in ["load", "run"] {
        let ended = space.gridbench(&[command]).exits(3).says("gridbench did not make");
        ended.says("add --replace");
    }
    space.gridbench(&["clean", "--yes"]).exits(0).says("no dataset of this matrix");
    assert_eq!(sql(endpoint, &["SELECT COUNT(*) FROM elses.orders"]).as_deref(), Some("0"));
    let run = space.gridbench(&["run", "--replace"]).exits(0);
    run.says("--replace drops from schema elses: orders").says("dataset elses loaded");
    let clean = space.gridbench(&["clean", "--yes"]).exits(0);
    assert!(!clean.stdout.contains("and the schema"), "gridbench did not create it");
}

#[test]
fn a_run_notes_who_changed_the_data_and_the_next_one_tells() {
    let server = Server::shared();
    let scenarios = ["oltp_write_only", "oltp_read_only", "oltp_read_write"];
    let space = Workspace::new(&server, "changed", &scenarios);
    let plan = space.gridbench(&["plan", "--format", "csv"]).exits(0).stdout;
    let planned: Vec<&str> = plan.lines().skip(1).filter_map(|row| row.split(',').nth(1)).collect();
    let order = ["oltp-read-only", "oltp-read-write", "oltp-write-only"];
    assert_eq!(planned, order.map(|id| [id, id]).concat());

    let first = space.gridbench(&["run"]).exits(0);
    assert_eq!(first.count("was changed by"), 0, "{}", first.stderr);
    let noted = format!("SELECT state FROM changed.{STATE_TABLE} WHERE item = 'changed'");
    let noted = sql(&space.endpoint, &[&noted]).expect("it is noted");
    assert!(noted.ends_with(", cell 2c4g/oltp-read-write/1"), "{noted}");
    assert!(space.manifest().contains("\"changed_by\": null"), "{}", space.manifest());

    let second = space.gridbench(&["run"]).exits(0).says(&format!("was changed by {noted}"));
    assert_eq!(second.count("dataset changed found complete"), 1, "{}", second.stderr);
    assert!(space.manifest().contains(&format!("\"changed_by\": \"{noted}\"")));
}

#[test]
fn refresh_makes_the_data_anew_before_what_would_find_it_changed() {
    let server = Server::shared();
    let scenarios = ["oltp_read_only", "oltp_read_write", "oltp_write_only"];
    let space = Workspace::new(&server, "refreshed", &scenarios);
    space.gridbench(&["load"]).exits(0);
    // Two levels of each: the first scenario that writes finds the data as it was.
    let by_scenario = space.gridbench(&["run", "--set", "dataset.refresh=scenario"]).exits(0);
    assert_eq!(by_scenario.count("dataset refreshed loaded"), 1, "{}", by_scenario.stderr);
    // The run before left it changed: anew at the start, then before each trial but the first that
    // follows one that wrote.
    let by_cell = space.gridbench(&["run", "--set", "dataset.refresh=cell"]).exits(0);
    assert_eq!(by_cell.count("dataset refreshed loaded"), 4, "{}", by_cell.stderr);
    assert!(space.manifest().contains("\"changed_by\": null"));
    let never = space.gridbench(&["run", "--set", "dataset.refresh=never"]).exits(0);
    assert_eq!(never.count("dataset refreshed loaded"), 0, "{}", never.stderr);
    assert!(never.stderr.contains("was changed by"), "{}", never.stderr);
    for word in ["sometimes", "Never"] {
        let set = format!("dataset.refresh={word}");
        space.gridbench(&["plan", "--set", &set]).exits(2).says("dataset.refresh");
    }
}

#[test]
fn clean_leaves_another_dataset_of_the_schema_and_says_so() {
    let server = Server::shared();
    let space = Workspace::new(&server, "another", &["oltp_read_only"]);
    space.gridbench(&["load", "--set", "protocol.seed=7"]).exits(0);
    let other = space.gridbench(&["clean", "--yes"]).exits(0);
    let other = other.says("no dataset of this matrix").prints("stays: another at tcp://");
    other.prints("seed 7; fingerprint").prints("than this matrix loads (2 tables x 1000 rows");
    let clean = space.gridbench(&["clean", "--yes", "--set", "protocol.seed=7"]).exits(0);
    clean.prints("dropped another");
}

#[test]
fn clean_names_a_refused_login_once_and_makes_nothing() {
    let server = Server::shared();
    let space = Workspace::new(&server, "login", &["oltp_read_only"]);
    let targets = space.folder.path().join("t.toml");
    let text = std::fs::read_to_string(&targets).expect("the targets file");
    let text = text.replace("user = \"root\"", "user = \"nobody\"\npassword = \"wrong\"");
    std::fs::write(&targets, text).expect("the targets file");
    // What is about to load looks at the server before it begins.
    for (command, code) in [("clean", 3), ("load", 2)] {
        let ended = space.gridbench(&[command]).exits(code);
        assert_eq!(ended.count("Access denied"), 1, "{}", ended.stderr);
        assert!(!ended.stderr.contains("no dataset"), "{}", ended.stderr);
        assert!(!ended.stderr.contains("nothing was dropped"), "{}", ended.stderr);
        if command == "clean" {
            ended.says("refused the login of `nobody`").says("see `user` and `password`");
        }
    }
    let mut clean = Command::new(env!("CARGO_BIN_EXE_gridbench"));
    clean.args(["clean", "m.toml", "--yes"]).current_dir(space.folder.path());
    let managed = Ended::of(&clean.output().expect("gridbench runs")).exits(0);
    managed.says("there is nothing to clean");
    let made = std::fs::read_dir(space.folder.path()).expect("the folder").count();
    assert_eq!(made, 2, "the matrix and the targets file, and no data directory");
}

#[test]
fn a_load_that_is_stopped_says_what_is_in_and_the_same_command_completes_it() {
    let server = Server::shared();
    let space = Workspace::new(&server, "stopped", &["oltp_read_only"]);
    let large = ["--set", "dataset.rule.0.table_size=200000", "--loaders", "1"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridbench"));
    command.args(["load", "m.toml", "--targets", "t.toml", "--yes"]).args(large);
    command.current_dir(space.folder.path()).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("gridbench runs");
    let tables = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'stopped' \
                  AND table_name = 'gridbench_dataset'";
    let chunks = format!("SELECT COUNT(*) FROM stopped.{STATE_TABLE} WHERE item LIKE 'sbtest1/%'");
    let is_begun = || {
        sql(&space.endpoint, &[tables]).as_deref() == Some("1")
            && sql(&space.endpoint, &[&chunks]).as_deref() != Some("0")
    };
    while !is_begun() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let pid = nix::unistd::Pid::from_raw(child.id().cast_signed());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).expect("it runs");
    let ended = Ended::of(&child.wait_with_output().expect("it ends")).exits(130);
    let ended = ended.says("2c4g: stopped: ").says("of 400,000 rows are in, and stay");
    ended.says("the same command goes on from there");
    let again = space.gridbench(&[&["load"], &large[..]].concat()).exits(0);
    again.says("dataset stopped completed: ");
}
