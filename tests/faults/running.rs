//! A run under way, what becomes of it, and its row in the table of faults.
//!
//! Must not know: what is done to the server.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::rows;
use crate::workspace::{Workspace, number};

/// Nothing of a run takes longer.
const PATIENCE: Duration = Duration::from_secs(90);

/// What a trial may take beside warm-up and window: connecting, looks at the server, rows.
const AROUND_S: f64 = 8.0;
/// How long events that are open at the end are waited for.
const DRAIN_S: f64 = 10.0;
/// Where the server is silent then: the last look at it, and the question what it is now.
const ASKING_S: f64 = 5.0 + 2.0;

/// A run under way.
pub(crate) struct Running<'a> {
    workspace: &'a Workspace,
    child: Child,
    lines: Receiver<String>,
    told: Vec<Value>,
}

/// What became of it.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    /// All that it told, line by line.
    pub(crate) said: String,
    /// From the begin of the first trial to its end.
    pub(crate) took_s: f64,
    planned_s: f64,
    pub(crate) row: BTreeMap<String, String>,
    errors: Vec<BTreeMap<String, String>>,
    pub(crate) page: String,
    /// Seconds of the window without a query.
    pub(crate) silent_seconds: usize,
    trouble: String,
    /// Why its numbers are not of the class of the matrix.
    pub(crate) refused: Option<String>,
}

impl<'a> Running<'a> {
    /// Starts the run and waits until the first second of its window is over.
    pub(crate) fn start(workspace: &'a Workspace, more: &[&str]) -> Self {
        let head = ["run", "small.toml", "--targets", "targets.toml", "--yes", "--progress"];
        let mut command = workspace.command(&[&head[..], &["json"], more].concat());
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let mut running = Self { workspace, child, lines, told: Vec::new() };
        running.wait_for("second");
        running
    }

    /// The process of gridbench.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it tells of no end yet.
    pub(crate) fn is_measuring(&mut self) -> bool {
        while let Ok(line) = self.lines.try_recv() {
            self.hear(&line);
        }
        !self.told.iter().any(|fact| fact["event"] == "trial_ended" || fact["phase"] == "draining")
    }

    fn wait_for(&mut self, event: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.told.last().is_none_or(|fact| fact["event"] != event) {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|error| panic!("{error}: {:#?}", self.told));
            self.hear(&line);
        }
    }

    fn hear(&mut self, line: &str) {
        let plain = || Value::String(line.to_owned());
        self.told.push(serde_json::from_str(line).unwrap_or_else(|_| plain()));
    }

    /// Waits for the end of it all.
    pub(crate) fn end(mut self) -> Ended {
        let deadline = Instant::now() + PATIENCE + Duration::from_secs(self.window_s() as u64);
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => self.hear(&line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let _ = self.child.kill();
                    panic!("it does not end: {:#?}", self.told);
                }
            }
        }
        let status = self.child.wait().unwrap();
        let page = self.workspace.directory().join("pages/page.md");
        let (took_s, row) = (self.took_s(), self.workspace.rows("cells.csv").remove(0));
        let silent = |second: &BTreeMap<String, String>| {
            second["queries"] == "0" && second["length_us"] == "1000000"
        };
        let of_row = |other: &BTreeMap<String, String>| other["trial"] == row["trial"];
        let server = self.workspace.rows("server.csv");
        let refused = self.told.iter().find(|fact| fact["event"] == "refused");
        let ended = Ended {
            refused: refused.map(|fact| fact["reason"].as_str().unwrap().to_owned()),
            code: status.code(),
            said: format!("{:#?}", self.told),
            took_s,
            planned_s: self.window_s(),
            errors: self.workspace.rows("errors.csv"),
            page: std::fs::read_to_string(page).unwrap(),
            silent_seconds: self
                .workspace
                .rows("intervals.csv")
                .iter()
                .filter(|s| silent(s))
                .count(),
            trouble: server
                .iter()
                .find(|s| of_row(s))
                .map_or(String::new(), |s| s["trouble"].clone()),
            row,
        };
        assert!(took_s <= ended.allowed_s(), "late: {took_s} s of {}", ended.allowed_s());
        ended
    }

    /// Warm-up and window together.
    fn window_s(&self) -> f64 {
        let begun = self.told.iter().find(|fact| fact["event"] == "run_started").unwrap();
        ["warmup_ms", "duration_ms"].map(|key| begun[key].as_f64().unwrap()).iter().sum::<f64>()
            / 1e3
    }

    fn took_s(&self) -> f64 {
        let at = |event| {
            let fact = self.told.iter().find(|fact| fact["event"] == event);
            let fact = fact.unwrap_or_else(|| panic!("no {event}: {:#?}", self.told));
            fact["unix_ms"].as_f64().unwrap() / 1e3
        };
        at("trial_ended") - at("trial_started")
    }
}

impl Ended {
    /// Prints the row of the table of faults; no row of the run may be missing.
    pub(crate) fn tell(&self, server: &str, fault: &str, workspace: &Workspace) {
        let lost = rows::lost(workspace);
        let asking = if self.is_silent() { ", 7 s of asking" } else { "" };
        let words = format!(
            "FAULT | {server} | {fault} | {} | yes (planned {:.0} s and 10 s of drain at the \
             most{asking}, took {:.1} s) | rows lost {lost} |\n",
            self.summary(),
            self.planned_s,
            self.took_s
        );
        // Not through a macro, whose words a passing test keeps to itself.
        let _ = std::io::stderr().write_all(words.as_bytes());
        assert_eq!(lost, 0, "{words}");
    }

    /// What the run said, in one line.
    fn summary(&self) -> String {
        let row = &self.row;
        let mut said = vec![format!("{}, exit {}", row["status"], self.code.unwrap_or(-1))];
        said.extend(self.errors.iter().map(|error| {
            let seconds = |column: &str| error[column].parse::<f64>().map_or(-1.0, |us| us / 1e6);
            let (first, last) = (seconds("first_us"), seconds("last_us"));
            let (count, code) = (&error["count"], &error["code"]);
            let what = if code == "0" { "lost connection" } else { code };
            format!("{count} x {what} at {first:.1} to {last:.1} s")
        }));
        for (column, words) in [("reconnects", "reconnects"), ("events_unfinished", "events open")]
        {
            if number(row, column) > 0 {
                said.push(format!("{} {words}", row[column]));
            }
        }
        if self.silent_seconds > 0 {
            said.push(format!("{} s without an answer", self.silent_seconds));
        }
        let others = [&self.trouble, &row["reason"]]
            .into_iter()
            .chain(&self.refused)
            .filter(|words| !words.is_empty());
        said.extend(others.cloned());
        said.join("; ").replace('|', "\\|").replace('\n', " ")
    }

    fn is_silent(&self) -> bool {
        self.row["reason"].contains("did not answer")
    }

    fn allowed_s(&self) -> f64 {
        let asking_s = if self.is_silent() { ASKING_S } else { 0.0 };
        self.planned_s + DRAIN_S + AROUND_S + asking_s
    }

    /// It measured to the end, with errors or not.
    pub(crate) fn assert_done(&self) {
        let status = self.row["status"].as_str();
        assert_eq!((self.code, status), (Some(0), "done"), "{}", self.said);
    }

    /// The error of this code; its first and last second of the window.
    pub(crate) fn error(&self, code: &str) -> (u64, f64, f64) {
        let error = self.errors.iter().find(|error| error["code"] == code);
        let error = error.unwrap_or_else(|| panic!("no {code}: {:?} {}", self.errors, self.said));
        let second = |column: &str| number(error, column) as f64 / 1e6;
        (number(error, "count"), second("first_us"), second("last_us"))
    }
}
