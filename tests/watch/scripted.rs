//! A run whose facts a test tells, served.
//!
//! Must not know: what is asked of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use gridbench::model::{Bytes, CellId, Interrupt, MilliRate, ScenarioId, SpecId, TrialStatus};
use gridbench::ui::{
    Outline, OutlineCell, OutlineSpec, RunEvent, SecondFigures, Sink, TrialEnding, TrialPhase,
};
use gridbench::watch::{Hub, Served, Server, Token, Tokens, listen};
use serde_json::Value;

use crate::http::{Answer, get};

/// A run that a test tells, served.
pub(crate) struct Scripted {
    pub(crate) hub: Hub,
    pub(crate) server: Option<Server>,
    pub(crate) authority: String,
    pub(crate) interrupt: Interrupt,
    pub(crate) tokens: Tokens,
    pub(crate) reports: Arc<AtomicU32>,
    at: Duration,
}

impl Scripted {
    pub(crate) fn new(address: &str) -> Self {
        let listener = listen(address).unwrap();
        let port = listener.address().port();
        let read = if listener.is_loopback() { None } else { Some(Token::random().unwrap()) };
        let tokens = Tokens { read, stop: Token::random().unwrap() };
        let (hub, interrupt) = (Hub::new(), Interrupt::default());
        let reports = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&reports);
        let report = move || match counted.fetch_add(1, Ordering::SeqCst) {
            0 => Err("nothing is on disk yet".to_owned()),
            number => Ok(format!("<!doctype html><title>report {number}</title>")),
        };
        let served = Served {
            hub: hub.clone(),
            interrupt: interrupt.clone(),
            report: Arc::new(report),
            tokens: tokens.clone(),
        };
        let server = Some(Server::start(listener, served, None).unwrap());
        let (authority, at) = (format!("127.0.0.1:{port}"), Duration::ZERO);
        Self { hub, server, authority, interrupt, tokens, reports, at }
    }

    /// A run of one spec, one scenario with a title that is markup, and two levels.
    pub(crate) fn begun() -> Self {
        let mut run = Self::new("0");
        run.tell(&outline());
        run
    }

    pub(crate) fn tell(&mut self, event: &RunEvent) {
        self.at += Duration::from_secs(1);
        self.hub.take(self.at, event);
    }

    pub(crate) fn measure(&mut self, concurrency: u32, qps: u64) {
        self.tell(&RunEvent::TrialStarted { cell: cell(concurrency), repetition: 1 });
        self.tell(&RunEvent::Phase(TrialPhase::Measuring));
        self.tell(&second(1, qps));
        self.tell(&ended(concurrency, TrialStatus::Done, qps));
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        get(&self.authority, path)
    }

    /// The state, as soon as it is so.
    pub(crate) fn state(&self, is_so: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let state: Value = serde_json::from_str(&self.get("/state.json").body).unwrap();
            if is_so(&state) {
                return state;
            }
            assert!(Instant::now() < deadline, "{state:#}");
        }
    }
}

pub(crate) fn cell(concurrency: u32) -> CellId {
    let (spec, scenario) = (SpecId::new("1c1g").unwrap(), ScenarioId::new("reads").unwrap());
    CellId { spec, scenario, concurrency }
}

pub(crate) const MARKUP: &str =
    "<script>alert(1)</script><img src=x onerror=alert(2)>&\"'{{ 7 * 7 }}";

pub(crate) fn outline() -> RunEvent {
    let cells = [8, 16].map(|level| OutlineCell { id: cell(level), trials: 1, done: Vec::new() });
    RunEvent::Started(Box::new(Outline {
        run: "run".to_owned(),
        title: format!("{MARKUP} 宽 \u{202e}"),
        specs: vec![OutlineSpec {
            id: cell(8).spec,
            cpu: 1,
            memory: Bytes(Bytes::GB),
            skipped: None,
        }],
        scenarios: vec![(cell(8).scenario, Some(MARKUP.to_owned()))],
        cells: cells.to_vec(),
        waiting: 2,
        specs_waiting: 1,
        duration: Duration::from_secs(2),
        ..Outline::default()
    }))
}

pub(crate) fn second(second: u64, qps: u64) -> RunEvent {
    let qps = Some(MilliRate(qps * 1_000));
    RunEvent::Second(SecondFigures { second, qps, tps: qps, p95_us: Some(5_000), errors: 1 })
}

pub(crate) fn ended(concurrency: u32, status: TrialStatus, qps: u64) -> RunEvent {
    let is_done = status == TrialStatus::Done;
    let qps = is_done.then_some(MilliRate(qps * 1_000));
    let ending = TrialEnding {
        status,
        qps,
        tps: qps,
        p95_us: is_done.then_some(4_000),
        errors: 0,
        doubts: Vec::new(),
    };
    RunEvent::TrialEnded { cell: cell(concurrency), repetition: 1, ending }
}

/// The state that a page has after a change, as its script makes it.
pub(crate) fn apply(state: &mut Value, change: &Value) {
    for changed in change["cells"].as_array().unwrap() {
        let index = usize::try_from(changed["index"].as_u64().unwrap()).unwrap();
        state["cells"][index] = changed["cell"].clone();
    }
    state["now"] = change["now"].clone();
    for list in ["seconds", "log"] {
        let new = change[list].as_array().unwrap().clone();
        state[list].as_array_mut().unwrap().extend(new);
    }
}
