//! A workload that a matrix declares, with a table of its own, through the program on a real
//! server: what is sent, what is kept, and what the server refuses.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

#[expect(dead_code, reason = "these tests use a part of it")]
mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::Server;
use gridbench::driver::adapter::Admin;
use gridbench::load::{Owned, drop_owned};
use gridbench::model::{Address, Dataset, Endpoint};
use tempfile::TempDir;

const HEAD: &str = r#"
format = 1
name = "own"
title = "Own"
[protocol]
duration = "300ms"
warmup = "50ms"
concurrency = [3]
[dataset]
class = "full-cache"
[[dataset.rule]]
table_size = 500
tables = 2
[[spec]]
cpu = 1
memory = "1GB"
[[scenario]]
id = "s"
workload = "own"
"#;

/// A read of the own table, two writes to it that belong together, and one to the dataset.
const WORKLOAD: &str = r#"
[[workload]]
name = "own"
transaction = true
[[workload.table]]
name = "visits"
ddl = """CREATE TABLE visits (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, page INT NOT NULL, who VARCHAR(20) NOT NULL,
  at DATETIME NOT NULL, KEY (page))"""
rows = 2_000
column = [
  { name = "page", value = { generator = "integer", min = 1, max = 100, keys = "zipfian" } },
  { name = "who", value = { generator = "one_of", values = ["it's me", "宽", "x"] } },
  { name = "at", value = { generator = "timestamp", from = "2026-01-01", to = "2026-01-02" } },
]
[[workload.group]]
repeat = 2
[[workload.group.statement]]
name = "find"
sql = "SELECT who FROM visits WHERE id = ?"
values = [{ generator = "id", table = "visits", keys = "pareto" }]
[[workload.group.statement]]
name = "rename"
sql = "UPDATE visits SET who = ?, at = ? WHERE id = ?"
values = [
  { generator = "one_of", values = ["it's you"] },
  { generator = "timestamp", from = "2027-01-01", to = "2027-01-02" },
  "same_id",
]
[[workload.group]]
[[workload.group.statement]]
name = "visit"
sql = "INSERT INTO visits (page, who, at) VALUES {list}"
[workload.group.statement.list]
sql = "(?, ?, NOW())"
values = [{ generator = "sequence", start = 1_000 }, { generator = "letters", length = 7 }]
repeat = 3
[[workload.group]]
[[workload.group.statement]]
name = "touch"
sql = "UPDATE sbtest{table} SET k = k + 1 WHERE id = ?"
values = ["id"]
"#;

/// A folder with a matrix and a targets file, and the server that it names.
struct Site {
    folder: TempDir,
    endpoint: Endpoint,
}

impl Site {
    fn new(server: &Server, matrix: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let endpoint = server.endpoint();
        let Address::Tcp { host, port } = &endpoint.address else { unreachable!("it is TCP") };
        let targets = format!("[defaults]\nuser = \"root\"\nhost = \"{host}\"\nport = {port}\n");
        fs::write(folder.path().join("t.toml"), targets).unwrap();
        fs::write(folder.path().join("m.toml"), matrix).unwrap();
        Self { folder, endpoint }
    }

    /// The program's own words, and the run that it made.
    fn run(&self, out: &str, arguments: &[&str]) -> (Output, String) {
        self.gridbench("run", &[&["--out", out], arguments].concat())
    }

    fn gridbench(&self, command: &str, arguments: &[&str]) -> (Output, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_gridbench"))
            .args([command, "m.toml", "--targets", "t.toml"])
            // The server is not this test's alone.
            .args(["--yes"].iter().filter(|_| matches!(command, "run" | "load")))
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr.clone()).unwrap();
        (output, said)
    }

    fn rows(&self, out: &str, file: &str) -> Vec<BTreeMap<String, String>> {
        let runs = fs::read_dir(self.folder.path().join(out)).unwrap();
        rows(&runs.last().unwrap().unwrap().path().join(file))
    }

    fn ask(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut admin = Admin::connect(&self.endpoint).await.unwrap();
            let rows = admin.rows(sql).await.unwrap();
            admin.close().await;
            rows
        })
    }

    /// The first column of the first row.
    fn scalar(&self, sql: &str) -> String {
        self.ask(sql).swap_remove(0).swap_remove(0).unwrap()
    }

    /// The schema of the dataset.
    fn schema(&self) -> String {
        self.scalar(
            "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'sbtest%'",
        )
    }
}

fn rows(file: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(file).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn a_workload_with_its_own_table_is_loaded_sent_and_counted_in_both_modes() {
    let server = Server::start(common::LARGE_PACKETS);
    let site = Site::new(&server, &format!("{HEAD}{WORKLOAD}"));
    for mode in ["text", "prepared"] {
        let set = format!("protocol.statements={mode}");
        let (output, said) = site.run(mode, &["--set", &set]);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("0 found complete, 1 made"), "{said}");
        let cells = site.rows(mode, "cells.csv");
        let number = |column: &str| -> u64 { cells[0][column].parse().unwrap() };
        let events = number("events");
        assert!(events > 0);
        // BEGIN, twice a read and a write, an INSERT, an UPDATE of the dataset, COMMIT.
        assert_eq!((number("queries"), number("queries_read")), (8 * events, 2 * events));
        let names: Vec<String> =
            site.rows(mode, "statements.csv").iter().map(|row| row["statement"].clone()).collect();
        assert_eq!(names, ["begin", "find", "rename", "visit", "touch", "commit"]);
        let schema = site.schema();
        let renamed = format!("SELECT COUNT(*) FROM {schema}.visits WHERE who = 'it''s you'");
        assert_ne!(site.scalar(&renamed), "0");
        let twice = format!(
            "SELECT COUNT(*) - COUNT(DISTINCT page) FROM {schema}.visits WHERE page >= 1000"
        );
        assert_eq!(site.scalar(&twice), "0", "each number of the sequence comes once");
    }
}

fn has_visits(owned: &Owned) -> bool {
    owned.tables.iter().any(|table| table.name == "visits")
}

#[test]
fn an_own_table_is_the_same_on_every_server_and_used_again_while_it_is_whole() {
    let matrix = format!("{HEAD}{WORKLOAD}");
    // The INSERT is taken out: the number of rows stays.
    let matrix = matrix.replace("INSERT INTO visits (page, who, at) VALUES {list}", "DO {list}");
    let matrix = matrix.replace("(?, ?, NOW())", "(? + LENGTH(?))");
    let mut sums = Vec::new();
    for _ in 0..2 {
        let server = Server::start(common::LARGE_PACKETS);
        let site = Site::new(&server, &matrix);
        for found in ["0 found complete, 1 made with 2,000 rows", "1 found complete, 0 made"] {
            let (output, said) = site.run("out", &[]);
            assert!(output.status.success() && said.contains(found), "{said}");
        }
        let dataset = Dataset { tables: 2, table_size: 500, charset: "utf8mb4".into(), seed: 1 };
        let sum = "SELECT SUM(CRC32(CONCAT(id, page))) FROM";
        sums.push(site.scalar(&format!("{sum} {}.visits", site.schema())));
        let dropped = drop_owned(&site.endpoint, &dataset).unwrap().unwrap();
        assert!(has_visits(&dropped) && dropped.is_schema_dropped);
        assert!(site.ask("SHOW DATABASES LIKE 'sbtest%'").is_empty());
    }
    assert_eq!(sums[0], sums[1]);
}

#[test]
fn a_table_that_gridbench_did_not_make_is_left_alone() {
    let server = Server::start(common::LARGE_PACKETS);
    let plain = HEAD.replace("workload = \"own\"", "workload = \"oltp_read_only\"");
    let site = Site::new(&server, &plain);
    assert!(site.run("first", &[]).0.status.success());
    let schema = site.schema();
    site.ask(&format!("CREATE TABLE {schema}.visits AS SELECT 42 AS answer"));
    fs::write(site.folder.path().join("m.toml"), format!("{HEAD}{WORKLOAD}")).unwrap();
    let (output, said) = site.run("second", &[]);
    assert_eq!(output.status.code(), Some(3), "{said}");
    let cells = site.rows("second", "cells.csv");
    assert!(cells[0]["reason"].contains("`visits` that gridbench did not make"), "{cells:?}");
    assert_eq!(site.scalar(&format!("SELECT answer FROM {schema}.visits")), "42");
    let dataset = Dataset { tables: 2, table_size: 500, charset: "utf8mb4".into(), seed: 1 };
    let dropped = drop_owned(&site.endpoint, &dataset).unwrap().unwrap();
    assert!(!has_visits(&dropped) && !dropped.is_schema_dropped);
    assert_eq!(site.scalar(&format!("SELECT answer FROM {schema}.visits")), "42");
    let tables = site.ask(&format!("SHOW TABLES FROM {schema} LIKE 'gridbench_own_tables'"));
    assert!(tables.is_empty(), "{tables:?}");
}

#[test]
fn a_table_that_somebody_made_anew_under_our_name_is_left_alone() {
    let server = Server::start(common::LARGE_PACKETS);
    let site = Site::new(&server, &format!("{HEAD}{WORKLOAD}"));
    assert!(site.run("first", &[]).0.status.success());
    let schema = site.schema();
    site.ask(&format!("DROP TABLE {schema}.visits"));
    site.ask(&format!("CREATE TABLE {schema}.visits AS SELECT 42 AS answer"));
    let (output, said) = site.run("second", &[]);
    assert_eq!(output.status.code(), Some(3), "{said}");
    let cells = site.rows("second", "cells.csv");
    assert!(cells[0]["reason"].contains("`visits` that gridbench did not make"), "{cells:?}");
    let dataset = Dataset { tables: 2, table_size: 500, charset: "utf8mb4".into(), seed: 1 };
    let dropped = drop_owned(&site.endpoint, &dataset).unwrap().unwrap();
    assert!(!has_visits(&dropped), "{dropped:?}");
    assert_eq!(site.scalar(&format!("SELECT answer FROM {schema}.visits")), "42");
}

#[test]
fn a_statement_that_the_server_refuses_is_named_in_the_servers_words() {
    let server = Server::start(common::LARGE_PACKETS);
    let statement = "SELECT nothing FROM sbtest{table} WHERE id = ?";
    let workload = format!(
        "[[workload]]\nname = \"own\"\n[[workload.group]]\n[[workload.group.statement]]\n\
         name = \"wrong\"\nsql = \"{statement}\"\nvalues = [\"id\"]\n"
    );
    let site = Site::new(&server, &format!("{HEAD}{workload}"));
    for (mode, words) in [("text", "WHERE id = "), ("prepared", "FROM sbtest1 WHERE id = ?")] {
        let (output, said) = site.run(mode, &["--set", &format!("protocol.statements={mode}")]);
        assert_eq!(output.status.code(), Some(3), "{said}");
        let reason = &site.rows(mode, "cells.csv")[0]["reason"];
        assert!(reason.contains("Unknown column"), "{reason}");
        assert!(reason.contains("SELECT nothing FROM sbtest"), "{reason}");
        assert!(reason.contains(words), "{reason}");
    }
}

/// Writes to its own table alone.
const VISITOR: &str = r#"
[[scenario]]
id = "d"
workload = "oltp_update_index"
[[workload]]
name = "own"
[[workload.table]]
name = "visits"
ddl = "CREATE TABLE visits (id INT NOT NULL PRIMARY KEY, who VARCHAR(20) NOT NULL)"
rows = 300
column = [
  { name = "id", value = "row_id" },
  { name = "who", value = { generator = "one_of", values = ["me"] } },
]
[[workload.group]]
[[workload.group.statement]]
name = "rename"
sql = "UPDATE visits SET who = ? WHERE id = ?"
values = [{ generator = "one_of", values = ["you"] }, { generator = "id", table = "visits" }]
"#;

#[test]
fn what_a_trial_changed_is_made_anew_and_nothing_else() {
    let server = Server::start(common::LARGE_PACKETS);
    let head = HEAD.replace("concurrency = [3]", "concurrency = [1, 2]");
    let site = Site::new(&server, &format!("{head}{VISITOR}"));
    let by_cell = ["--set", "dataset.refresh=cell"];
    let (plan, said) = site.gridbench("plan", &by_cell);
    let plan = String::from_utf8_lossy(&plan.stdout).into_owned();
    assert!(plan.contains("1 reload of a dataset and 2 of an own table before"), "{plan} {said}");
    // Two levels of each: `s` changes its own table twice, then `d` the dataset.
    let (output, said) = site.run("cell", &by_cell);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("1 made with 300 rows").count(), 3, "{said}");
    assert_eq!(said.matches(" loaded: 1,000 rows").count(), 2, "{said}");
    // What the last two trials left.
    let (_, said) = site.run("never", &["--only", "scenario=s"]);
    assert!(said.contains("was changed by run") && said.contains("cell 1c1g/d/2"), "{said}");
    assert!(said.contains("1 found complete") && !said.contains("changed since made"), "{said}");
    let (_, said) = site.run("again", &["--only", "scenario=d"]);
    assert!(said.contains("changed since made, and used as left: visits"), "{said}");
    let (_, said) = site.run("anew", &[&by_cell[..], &["--only", "scenario=s"]].concat());
    assert!(!said.contains("changed since") && !said.contains("was changed by"), "{said}");
}
