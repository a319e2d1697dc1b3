//! Runs of the program on a server of its own, watched, stopped and resumed.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::http::{Events, ask, connect, get};
use crate::scripted::apply;

const MATRIX: &str = r#"
format = 1
name = "tiny"
title = "Tiny"
template = "tdsql-c-en"
protocol = { duration = "2s", warmup = "200ms", concurrency = [2, 4] }
dataset = { class = "full-cache", rule = [{ table_size = 1000, tables = 2 }] }
spec = [{ cpu = 1, memory = "1GB" }]
scenario = [
  { id = "reads", workload = "oltp_point_select" },
  { id = "writes", workload = "oltp_insert" },
]
"#;

/// A run of the program on a server of its own, watched.
struct Run {
    folder: tempfile::TempDir,
    child: Child,
    authority: String,
    stop_token: String,
}

impl Run {
    fn command(folder: &tempfile::TempDir, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridbench"));
        command.args(["run", "m.toml", "--progress", "json"]).args(arguments);
        command.current_dir(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    fn start(matrix: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("m.toml"), matrix).unwrap();
        let mut child = Self::command(&folder, &["--serve", "127.0.0.1:0"]).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let serving = lines.by_ref().map(Result::unwrap).find(|line| line.contains("serving"));
        let serving: Value = serde_json::from_str(&serving.unwrap()).unwrap();
        // Somebody must read on, or the run would wait for that.
        std::thread::spawn(move || lines.count());
        let url = serving["url"].as_str().unwrap();
        let authority = url.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
        let stop_token = serving["stop_token"].as_str().unwrap().to_owned();
        Self { folder, child, authority, stop_token }
    }

    fn rates(&self) -> Vec<u64> {
        let results = std::fs::read_dir(self.folder.path().join("results")).unwrap();
        let run = results.map(|entry| entry.unwrap().path()).next().unwrap();
        let mut rows = csv::Reader::from_path(run.join("cells.csv")).unwrap();
        let rows = rows.deserialize::<std::collections::BTreeMap<String, String>>();
        let done = rows.map(Result::unwrap).filter(|row| row["status"] == "done");
        done.map(|row| row["qps_milli"].parse().unwrap()).collect()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_real_run_is_seen_to_finish_its_cells_and_is_stopped_and_resumed() {
    let mut run = Run::start(MATRIX);
    let mut events = Events::of(&run.authority);
    let mut state = events.next().unwrap().data;
    let is_first_done = |state: &Value| state["cells"][0]["state"] == "done";
    while state["cells"].as_array().unwrap().is_empty() || !is_first_done(&state) {
        let event = events.next().unwrap();
        match event.name.as_str() {
            "state" => state = event.data,
            _ => apply(&mut state, &event.data),
        }
    }
    assert_eq!(state["cells"].as_array().unwrap().len(), 4);
    assert!(state["seconds"].as_array().unwrap().len() >= 2, "{state:#}");
    assert!(state["cells"][0]["qps_milli"].as_u64().unwrap() > 0);
    let report = get(&run.authority, "/report");
    assert_eq!(report.status, 200);
    assert!(report.body.contains("<title>Tiny"), "{}", report.body);
    assert_eq!(ask(&run.authority, "POST /stop", &[], "").status, 401);
    assert_eq!(ask(&run.authority, "POST /stop", &[], "token=no").status, 403);
    assert!(run.child.try_wait().unwrap().is_none(), "it goes on");
    let token = format!("token={}", run.stop_token);
    assert_eq!(ask(&run.authority, "POST /stop", &[], &token).status, 202);
    let last = std::iter::from_fn(|| events.next()).last().unwrap();
    assert_eq!((last.name.as_str(), &last.data["now"]["outcome"]), ("end", &"interrupted".into()));
    assert_eq!(run.child.wait().unwrap().code(), Some(130));
    let manifest = run.folder.path().join("results");
    let kept = Command::new("grep").args(["-r", &run.stop_token]).arg(manifest).output().unwrap();
    assert!(kept.stdout.is_empty(), "the token is in no file");
    let resumed = Run::command(&run.folder, &["--resume"]).output().unwrap();
    assert_eq!(resumed.status.code(), Some(0), "{resumed:?}");
    assert_eq!(run.rates().len(), 4);
}

#[test]
fn fifty_readers_who_never_read_neither_stop_a_run_nor_hide_it() {
    let mut run = Run::start(&MATRIX.replace("[2, 4]", "[2]"));
    let mute: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut socket = connect(&run.authority);
            socket.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
            socket
        })
        .collect();
    let mut events = Events::of(&run.authority);
    let last = std::iter::from_fn(|| events.next()).last().unwrap();
    assert_eq!((last.name.as_str(), &last.data["now"]["outcome"]), ("end", &"done".into()));
    assert_eq!(run.child.wait().unwrap().code(), Some(0));
    assert_eq!(run.rates().len(), 2);
    drop(mute);
}

#[test]
fn a_place_that_cannot_be_had_is_told_before_anything_is_begun() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.toml"), MATRIX).unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (address, words) in [
        (port.as_str(), "is in use, perhaps by another run; name another port"),
        ("host:x", "is no address; write HOST, HOST:PORT or PORT"),
        ("m.toml", "that is a file: name the matrix before --serve"),
        ("192.0.2.1:80", "cannot listen at 192.0.2.1:80"),
        ("no-such-host.invalid", "no-such-host.invalid has no address"),
    ] {
        let ended = Run::command(&folder, &["--serve", address]).output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
    }
    assert!(!folder.path().join("results").exists(), "nothing was begun");
}
