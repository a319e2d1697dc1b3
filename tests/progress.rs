//! Where a run is, as it is told: lines, JSON, the foot of a terminal; and on a real terminal.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

mod common {
    pub(crate) mod terminal;
}

use std::fmt::Write;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::terminal::Terminal;
use gridbench::model::{Bytes, CellId, MilliRate, ScenarioId, SpecId, TrialStatus};
use gridbench::ui::{
    JsonLines, Level, LoadingRows, Look, Outline, OutlineCell, OutlineSpec, PlainLines, RunEnding,
    RunEvent, SecondFigures, Style, Tracker, TrialEnding, TrialPhase, screen,
};

fn cell(scenario: &str, concurrency: u32) -> CellId {
    let spec = SpecId::new("4c16g").unwrap();
    CellId { spec, scenario: ScenarioId::new(scenario).unwrap(), concurrency }
}

/// Five trials, one of them measured before.
fn outline() -> RunEvent {
    let cells = [("read-only", 64), ("read-only", 128), ("read-write-range", 64), ("write", 64)];
    let cells = cells.map(|(scenario, concurrency)| OutlineCell {
        id: cell(scenario, concurrency),
        trials: 1,
        done: if concurrency == 128 { vec![MilliRate(9_000_000)] } else { Vec::new() },
    });
    RunEvent::Started(Box::new(Outline {
        run: "2026-12-01T070000Z-published".to_owned(),
        directory: "results/2026-12-01T070000Z-published".to_owned(),
        title: "Published".to_owned(),
        rehearsal: None,
        specs: vec![OutlineSpec {
            id: SpecId::new("4c16g").unwrap(),
            cpu: 4,
            memory: Bytes(16 * Bytes::GB),
            skipped: None,
        }],
        scenarios: vec![(ScenarioId::new("read-only").unwrap(), None)],
        cells: cells.to_vec(),
        waiting: 4,
        specs_waiting: 1,
        warmup: Duration::from_secs(60),
        duration: Duration::from_secs(600),
    }))
}

fn second(second: u64, errors: u64) -> RunEvent {
    let (qps, tps) = (Some(MilliRate(10_234_500)), Some(MilliRate(639_600)));
    RunEvent::Second(SecondFigures { second, qps, tps, p95_us: Some(12_300), errors })
}

fn ended(scenario: &str, status: TrialStatus, doubts: &[&str]) -> RunEvent {
    let is_done = status == TrialStatus::Done;
    let ending = TrialEnding {
        status,
        qps: is_done.then_some(MilliRate(10_100_000)),
        tps: is_done.then_some(MilliRate(631_250)),
        p95_us: is_done.then_some(12_100),
        errors: if is_done { 1_204 } else { 0 },
        doubts: doubts.iter().map(|doubt| (*doubt).to_owned()).collect(),
    };
    RunEvent::TrialEnded { cell: cell(scenario, 64), repetition: 1, ending }
}

fn said(level: Level, words: &str) -> RunEvent {
    RunEvent::Said { level, words: words.to_owned() }
}

fn begun(scenario: &str) -> RunEvent {
    RunEvent::TrialStarted { cell: cell(scenario, 64), repetition: 1 }
}

fn loading(rows_done: u64) -> RunEvent {
    RunEvent::Loading(LoadingRows {
        spec: "4c16g".to_owned(),
        stage: "loading rows".to_owned(),
        rows_done,
        rows_found: 0,
        rows_total: 2_500_000,
        bytes_sent: rows_done * 195,
    })
}

/// What a run tells, and when in milliseconds.
fn script() -> Vec<(u64, RunEvent)> {
    let step = |words: &str| RunEvent::Step { words: words.to_owned() };
    let (spec, scenario) = (SpecId::new("4c16g").unwrap(), ScenarioId::new("write").unwrap());
    let mut script = vec![
        (0, outline()),
        (1, RunEvent::SpecStarted { spec: spec.clone() }),
        (2, step("4c16g: starting the server")),
        (3_000, step("4c16g: verifying rows")),
        (3_500, step("4c16g: verifying rows")),
        (4_000, loading(0)),
        (8_000, loading(400_000)),
        (15_000, loading(1_100_000)),
        (28_000, said(Level::Notice, "4c16g: dataset sbtest_a loaded")),
        (30_000, begun("read-only")),
        (30_010, RunEvent::Phase(TrialPhase::Connecting)),
        (30_100, RunEvent::Connecting { sessions: 1, concurrency: 64 }),
        (42_000, RunEvent::Connecting { sessions: 40, concurrency: 64 }),
        (43_000, RunEvent::Phase(TrialPhase::WarmingUp)),
        (103_000, RunEvent::Phase(TrialPhase::Measuring)),
    ];
    script.extend((1..=600).map(|n| (103_000 + n * 1_000, second(n, u64::from(n == 70) * 2))));
    let lost = "the server went away: \u{1b}[2J\"quoted\"\r\nand a second line";
    script.extend([
        (703_100, RunEvent::Phase(TrialPhase::Draining)),
        (703_200, ended("read-only", TrialStatus::Done, &[])),
        (703_300, begun("read-write-range")),
        (705_000, RunEvent::Phase(TrialPhase::Measuring)),
        (706_000, said(Level::Warning, "4c16g: schema sbtest_a also holds \u{9b}2Jorders")),
        (1_305_000, ended("read-write-range", TrialStatus::Done, &["client-bound"])),
        (1_305_100, begun("write")),
        (1_306_000, ended("write", TrialStatus::Failed { reason: lost.to_owned() }, &[])),
        (1_306_001, RunEvent::LeftOut { cells: vec![cell("write", 128)] }),
        (1_306_002, RunEvent::Refused { spec, scenario, reason: "not full-cache: 2 %".to_owned() }),
        (1_307_000, RunEvent::Ended(RunEnding::SomeFailed)),
    ]);
    script
}

fn at(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn a_log_has_each_trial_as_it_begins_and_ends_and_now_and_then_where_it_is() {
    let mut lines = PlainLines::default();
    let mut log = String::new();
    for (millis, event) in script() {
        if let Some((style, line)) = lines.line(at(millis), &event) {
            let mark = if style == Style::Plain { ' ' } else { '!' };
            writeln!(log, "{millis:>7} {mark} {line}").unwrap();
        }
    }
    assert!(log.lines().count() < 40, "{log}");
    assert!(!log.contains(['\u{1b}', '\u{9b}', '\r']), "{log:?}");
    insta::assert_snapshot!("plain", log);
}

#[test]
fn programs_get_an_object_a_line() {
    let mut lines = JsonLines::new(1_796_107_000_000);
    let mut log = String::new();
    for (millis, event) in script() {
        let Some(line) = lines.line(at(millis), &event) else { continue };
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert!(!line.contains('\n') && value["event"].is_string(), "{line}");
        assert_eq!(value["unix_ms"], 1_796_107_000_000_u64 + millis);
        if value["event"] != "second" || value["second"] == 70 {
            log += &line;
            log.push('\n');
        }
    }
    insta::assert_snapshot!("json", log);
}

#[test]
fn the_foot_of_a_terminal_says_what_fits() {
    let mut tracker = Tracker::default();
    let mut script = script().into_iter().peekable();
    let mut text = String::new();
    for moment in [2_500, 16_000, 42_500, 60_000, 173_500, 703_150, 1_000_000, 1_306_500] {
        while let Some((millis, event)) = script.next_if(|(millis, _)| *millis <= moment) {
            tracker.take(at(millis), &event);
        }
        for width in [130, 80, 40, 20] {
            let look = Look { width, has_colour: false, is_unicode: width != 80 };
            let lines = screen(&tracker, at(moment), look);
            assert!(lines.iter().all(|line| line.chars().count() < width), "{width}: {lines:?}");
            writeln!(text, "{moment:>7} {width:>3} |{}\n            |{}", lines[0], lines[1])
                .unwrap();
        }
    }
    insta::assert_snapshot!("screen", text);
}

#[test]
fn colours_are_there_only_where_they_are_wanted() {
    let mut tracker = Tracker::default();
    script().iter().take(300).for_each(|(millis, event)| tracker.take(at(*millis), event));
    let lines = |has_colour| {
        let look = Look { width: 100, has_colour, is_unicode: true };
        screen(&tracker, at(400_000), look).concat()
    };
    assert!(lines(true).contains("\u{1b}[31merrors 2\u{1b}[0m"), "{}", lines(true));
    assert!(!lines(false).contains('\u{1b}'), "{}", lines(false));
}

const MATRIX: &str = r#"
format = 1
name = "tiny"
title = "Tiny"
template = "tdsql-c-en"
protocol = { duration = "2s", warmup = "1s", concurrency = [2] }
dataset = { class = "full-cache", rule = [{ table_size = 1000, tables = 2 }] }
spec = [{ cpu = 1, memory = "1GB" }]
scenario = [
  { id = "reads", workload = "oltp_point_select" },
  { id = "writes", workload = "oltp_insert" },
]
"#;

fn gridbench(folder: &tempfile::TempDir, arguments: &[&str]) -> Command {
    fs::write(folder.path().join("m.toml"), MATRIX).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridbench"));
    command.args(arguments).current_dir(folder.path());
    command.env_remove("NO_COLOR").env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn a_terminal_is_redrawn_in_place_and_left_whole_after_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = gridbench(&folder, &["run", "m.toml"]);
    let mut terminal = Terminal::start(&mut command, (24, 72));
    terminal.sees("2/2");
    let shown = terminal.sees("measuring 1s of 2s  QPS");
    let rows: Vec<&str> = shown.lines().collect();
    let place = rows.iter().position(|row| row.contains(" left")).unwrap();
    assert!(rows.iter().filter(|row| row.starts_with("2/2  ━━━")).count() == 1, "{shown}");
    assert!(rows.iter().any(|row| row.starts_with("[1/2] 1c1g/reads/2")), "{shown}");
    assert!(place > 0 && !rows[place - 1].starts_with("1/2"), "nothing is left behind:\n{shown}");
    assert!(terminal.has_colour());
    terminal.press_ctrl_c();
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(130), "{shown}");
    assert!(shown.contains("[2/2] 1c1g/writes/2 interrupted"), "{shown}");
    assert!(!shown.contains("measuring") && !shown.contains("━"), "{shown}");
}

#[test]
fn forty_columns_without_colour_are_enough() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = gridbench(&folder, &["run", "m.toml", "--only", "scenario=reads"]);
    let mut terminal = Terminal::start(command.env("NO_COLOR", "1"), (30, 40));
    let shown = terminal.sees("1c1g/reads/2  measuring");
    assert!(shown.lines().any(|row| row.starts_with("1/1   0 %") && row.ends_with("left")));
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("measuring"), "{shown}");
    assert!(!terminal.has_colour());
}

#[test]
fn a_terminal_that_takes_nothing_holds_up_no_trial() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(&mut gridbench(&folder, &["run", "m.toml"]), (24, 90));
    terminal.sees("1c1g/reads/2  ");
    terminal.hold(true);
    let is_measured = || {
        let runs = fs::read_dir(folder.path().join("results")).unwrap();
        let rows = runs.map(|run| fs::read_to_string(run.unwrap().path().join("cells.csv")));
        rows.map(Result::unwrap_or_default).any(|rows| rows.matches(",done,").count() == 2)
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_measured() {
        assert!(Instant::now() < deadline, "the run waits for its terminal");
        std::thread::yield_now();
    }
    terminal.hold(false);
    let (code, shown) = terminal.ends();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("[2/2] 1c1g/writes/2 QPS"), "{shown}");
}

#[test]
fn every_voice_is_kept_through_a_whole_run() {
    let folder = tempfile::tempdir().unwrap();
    let only = ["run", "m.toml", "--only", "scenario=reads", "--progress"];
    let run = |mode: &str| {
        let ended = gridbench(&folder, &[&only[..], &[mode]].concat()).output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{mode}: {ended:?}");
        assert!(String::from_utf8(ended.stdout).unwrap().contains("QPS @ concurrency"));
        String::from_utf8(ended.stderr).unwrap()
    };
    let mut events = Vec::new();
    for line in run("json").lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        events.push(value["event"].as_str().unwrap().to_owned());
    }
    for event in ["run_started", "trial_started", "phase", "second", "trial_ended", "line"] {
        assert!(events.iter().any(|told| told == event), "{event}: {events:?}");
    }
    assert_eq!(events.last().unwrap(), "run_ended");
    assert_eq!(run("none"), "");
    // A pipe is no terminal: the bar is lines there, without anything that is not text.
    for mode in ["plain", "bar"] {
        let lines = run(mode);
        assert!(lines.contains("[1/1] 1c1g/reads/2 begins; "), "{lines}");
        assert!(lines.contains("[1/1] 1c1g/reads/2 QPS"), "{lines}");
        assert!(!lines.contains(['\u{1b}', '\r']), "{lines:?}");
    }
}

#[test]
fn what_goes_wrong_is_told_even_where_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let run = ["run", "m.toml", "--server-port", &port, "--progress", "none"];
    let ended = gridbench(&folder, &run).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(3), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    assert!(lines[0].starts_with("[1/2] 1c1g/reads/2  FAILED: "), "{said}");
    assert!(lines[1].contains(&port), "{said}");
    assert!(lines[2].starts_with("warning: some cells failed"), "{said}");
}
