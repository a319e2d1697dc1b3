//! The live page: a state as HTML that is whole without a script.
//!
//! Must not know: the run, sockets, who reads.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::wire::{
    CellState, LineKind, Now, Snapshot, WireCell, WireLine, WireScenario, WireSpec, WireTrial, json,
};
use super::words::Tongue;
use crate::model::{Bytes, grouped};
use crate::ui::figures;

const TEMPLATE: &str = include_str!("../../templates/live.html");
const STYLE: &str = include_str!("../../templates/live.css");
const SCRIPT: &str = include_str!("../../templates/live.js");

/// What a browser may do with the page: run its own script and style, and ask nobody but us.
pub(super) fn policy() -> String {
    let digest = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; \
         img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        digest(SCRIPT),
        digest(STYLE)
    )
}

/// The page of this state.
///
/// # Errors
/// The template has a fault: ours.
pub(super) fn page(snapshot: &Snapshot, tongue: Tongue) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the default delimiters are distinct"));
    environment.add_template("live.html", TEMPLATE)?;
    let view = View::of(snapshot, tongue);
    let page = environment.get_template("live.html")?.render(minijinja::context! {
        css => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        words_json => Value::from_safe_string(json(&tongue.words())),
        ..Value::from(minijinja::value::Serde(view))
    })?;
    Ok(page.trim_start().to_owned())
}

/// What the template reads.
#[derive(Serialize)]
struct View<'a> {
    lang: &'static str,
    other: &'static str,
    w: BTreeMap<&'static str, &'static str>,
    glyphs: BTreeMap<&'static str, &'static str>,
    title: &'a str,
    directory: &'a str,
    rehearsal: Option<String>,
    now: &'a Now,
    ending: String,
    place: String,
    label: String,
    doing: String,
    now_qps: String,
    now_tps: String,
    now_p95: String,
    now_errors: String,
    scenarios: &'a [WireScenario],
    rows: Vec<Row<'a>>,
    log: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    cpu: u32,
    memory: String,
    skipped: Option<&'a str>,
    /// For each scenario its levels.
    cells: Vec<Vec<Level>>,
}

#[derive(Serialize)]
struct Level {
    index: usize,
    concurrency: u32,
    state: CellState,
    is_peak: bool,
    rate: String,
    times: String,
    title: String,
}

#[derive(Serialize)]
struct Line<'a> {
    number: u64,
    kind: LineKind,
    time: String,
    words: &'a str,
}

impl<'a> View<'a> {
    fn of(snapshot: &'a Snapshot, tongue: Tongue) -> Self {
        let w = tongue.words();
        let now = &snapshot.now;
        let trial = now.trial.as_ref();
        let (lang, other) = match tongue {
            Tongue::English => (tongue.code(), Tongue::Chinese.code()),
            Tongue::Chinese => (tongue.code(), Tongue::English.code()),
        };
        Self {
            lang,
            other,
            ending: ending(now, &w),
            place: place(now, &w),
            label: trial.map(label).unwrap_or_default(),
            doing: doing(now, &w),
            glyphs: GLYPHS.into_iter().collect(),
            title: &snapshot.title,
            directory: &snapshot.directory,
            rehearsal: snapshot
                .rehearsal_factor
                .map(|factor| w["rehearsal"].replace("{}", &grouped(factor))),
            now,
            now_qps: rate(trial.and_then(|trial| trial.qps_milli)),
            now_tps: rate(trial.and_then(|trial| trial.tps_milli)),
            now_p95: latency(trial.and_then(|trial| trial.p95_us)),
            now_errors: trial.map_or_else(none, |trial| grouped(trial.errors)),
            scenarios: &snapshot.scenarios,
            rows: rows(snapshot, &w),
            log: snapshot.log.iter().rev().map(line).collect(),
            w,
        }
    }
}

type Words = BTreeMap<&'static str, &'static str>;

/// What stands for a state beside its word; the script has the same.
const GLYPHS: [(&str, &str); 6] = [
    ("waiting", "·"),
    ("running", "▶"),
    ("done", "✓"),
    ("failed", "✕"),
    ("refused", "∅"),
    ("left-out", "–"),
];

fn none() -> String {
    "–".to_owned()
}

fn rows<'a>(snapshot: &'a Snapshot, w: &Words) -> Vec<Row<'a>> {
    let mut levels: BTreeMap<(&str, &str), Vec<Level>> = BTreeMap::new();
    for (index, cell) in snapshot.cells.iter().enumerate() {
        let place = levels.entry((cell.spec.as_str(), cell.scenario.as_str())).or_default();
        place.push(level(index, cell, w));
    }
    let mut row = |spec: &'a WireSpec| {
        let ids = snapshot.scenarios.iter().map(|scenario| scenario.id.as_str());
        Row {
            id: &spec.id,
            cpu: spec.cpu,
            memory: figures::bytes(Bytes(spec.memory_bytes)),
            skipped: spec.skipped.as_deref(),
            cells: ids
                .map(|id| levels.remove(&(spec.id.as_str(), id)).unwrap_or_default())
                .collect(),
        }
    };
    snapshot.specs.iter().map(&mut row).collect()
}

fn level(index: usize, cell: &WireCell, w: &Words) -> Level {
    let has_times = cell.trials > 1 && cell.measured > 0;
    let p95 = cell.p95_us.map(|us| format!("{} {}", w["p95"], latency(Some(us))));
    Level {
        index,
        concurrency: cell.concurrency,
        state: cell.state,
        is_peak: cell.is_peak,
        rate: cell.qps_milli.map_or_else(String::new, |milli| rate(Some(milli))),
        times: if has_times { format!("{}/{}", cell.measured, cell.trials) } else { String::new() },
        title: cell.reason.clone().or(p95).unwrap_or_default(),
    }
}

fn line(of: &WireLine) -> Line<'_> {
    let all = of.gone_ms / 1_000;
    let time = format!("{}:{:02}:{:02}", all / 3_600, all / 60 % 60, all % 60);
    Line { number: of.number, kind: of.kind, time, words: &of.words }
}

fn ending(now: &Now, w: &Words) -> String {
    let Some(outcome) = now.outcome else { return String::new() };
    let name = format!("ended_{outcome}");
    let words = w.get(name.as_str()).copied().unwrap_or(outcome);
    match &now.reason {
        Some(reason) => format!("{words} {reason}"),
        None => words.to_owned(),
    }
}

fn place(now: &Now, w: &Words) -> String {
    let number = now.trial.as_ref().map_or(now.ended, |trial| trial.number);
    let (number, trials) = (grouped(number), grouped(now.trials));
    let mut parts = vec![
        format!("{number} {} {trials} {}", w["of"], w["trials"]),
        w["gone"].replace("{}", &duration(now.gone_ms, w)),
    ];
    if let Some(left) = now.left_ms {
        let how = if now.left_is_bound { w["at_least"] } else { w["about"] };
        parts.push(how.replace("{}", &duration(left, w)));
    }
    if now.failed > 0 {
        parts.push(w["failed_count"].replace("{}", &grouped(now.failed)));
    }
    parts.join("  ·  ")
}

fn label(trial: &WireTrial) -> String {
    let WireTrial { spec, scenario, concurrency, repetition, .. } = trial;
    match repetition {
        0 | 1 => format!("{spec}/{scenario}/{concurrency}"),
        number => format!("{spec}/{scenario}/{concurrency} #{number}"),
    }
}

fn doing(now: &Now, w: &Words) -> String {
    let Some(trial) = now.trial.as_ref().filter(|_| now.outcome.is_none()) else {
        let is_idle = now.step.is_empty() || now.outcome.is_some();
        return if is_idle { w["no_trial"].to_owned() } else { now.step.clone() };
    };
    let phase = w.get(trial.phase).copied().unwrap_or(trial.phase);
    match trial.phase_of_ms {
        _ if trial.phase == "connecting" => {
            format!("{phase} {}/{}", trial.sessions, trial.concurrency)
        }
        None => phase.to_owned(),
        Some(whole) => {
            let (gone, whole) = (duration(trial.phase_ms.min(whole), w), duration(whole, w));
            format!("{phase} {gone} {} {whole}", w["of"])
        }
    }
}

/// As [`figures::duration`] says it, in the page's language and without milliseconds.
fn duration(ms: u64, w: &Words) -> String {
    let text = figures::duration(Duration::from_secs(ms / 1_000));
    let mut words = String::new();
    for c in text.chars() {
        match c {
            'd' => words.push_str(w["day"]),
            'h' => words.push_str(w["hour"]),
            'm' => words.push_str(w["minute"]),
            's' => words.push_str(w["second"]),
            other => words.push(other),
        }
    }
    words
}

fn rate(milli: Option<u64>) -> String {
    milli.map_or_else(none, |milli| grouped((milli + 500) / 1_000))
}

fn latency(us: Option<u64>) -> String {
    us.map_or_else(none, |us| figures::latency(us).replace("us", "µs"))
}
