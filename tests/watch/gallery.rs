//! A run of a whole published matrix, half way through, with all in it that a page must bear.
//!
//! Must not know: how it is looked at.

use std::time::Duration;

use gridbench::model::{Bytes, CellId, MilliRate, ScenarioId, SpecId, TrialStatus};
use gridbench::ui::{
    Level, Outline, OutlineCell, OutlineSpec, RunEvent, SecondFigures, TrialEnding, TrialPhase,
};

use crate::scripted::{MARKUP, Scripted};

const LEVELS: [u32; 7] = [32, 64, 128, 256, 512, 1_024, 1_500];
const SPECS: [(u32, u64); 8] =
    [(2, 4), (2, 8), (4, 16), (4, 24), (8, 32), (8, 64), (16, 96), (88, 710)];

/// Scenarios with their titles: none, a plain one, markup, 200 characters without a space, and a
/// mix of wide signs and others that run from right to left.
fn scenarios() -> Vec<(ScenarioId, Option<String>)> {
    let long = "x".repeat(200);
    let titles = [None, Some("Read only, points"), Some(MARKUP), Some(&long), Some("写入 مرحبا")];
    let ids = ["read-only-range", "read-only-point", "read-write-range", "long", "write-only"];
    let scenario = |(id, title): (&str, Option<&str>)| {
        (ScenarioId::new(id).unwrap(), title.map(str::to_owned))
    };
    ids.into_iter().zip(titles).map(scenario).collect()
}

fn spec((cpu, gigabytes): (u32, u64)) -> OutlineSpec {
    let skipped = "this machine has 2 processors, and the spec wants 88 of them";
    OutlineSpec {
        id: SpecId::new(&format!("{cpu}c{gigabytes}g")).unwrap(),
        cpu,
        memory: Bytes(gigabytes * Bytes::GB),
        skipped: (cpu == 88).then(|| skipped.to_owned()),
    }
}

fn cells(spec: &SpecId) -> Vec<CellId> {
    let mut cells = Vec::new();
    for (scenario, _) in scenarios() {
        let cell =
            |level| CellId { spec: spec.clone(), scenario: scenario.clone(), concurrency: level };
        cells.extend(LEVELS.map(cell));
    }
    cells
}

/// The rate of a level in the curve of its ladder, with noise that is the same every time.
fn rate(level: u32, second: u64) -> u64 {
    let base = 40_000_000.0 * f64::from(level) / (f64::from(level) + 150.0);
    let late = if level > 512 { 0.8 } else { 1.0 };
    (base * late) as u64 + second * 7_919 % 23 * 100_000
}

/// The run, half way through its third spec.
pub(crate) fn gallery() -> Scripted {
    let mut run = Scripted::new("0");
    let specs: Vec<OutlineSpec> = SPECS.map(spec).to_vec();
    let measured: Vec<&OutlineSpec> = specs.iter().filter(|of| of.skipped.is_none()).collect();
    let all = measured.iter().flat_map(|of| cells(&of.id));
    let outline = Outline {
        run: "2026-12-01T070000Z-published-full-cache".to_owned(),
        directory: "results/2026-12-01T070000Z-published-full-cache".to_owned(),
        title: format!("OLTP throughput with all data in cache {MARKUP}"),
        rehearsal: Some(50),
        specs: specs.clone(),
        scenarios: scenarios(),
        cells: all.map(|id| OutlineCell { id, trials: 2, done: Vec::new() }).collect(),
        waiting: (measured.len() * LEVELS.len() * 5 * 2) as u64,
        specs_waiting: measured.len() as u64,
        warmup: Duration::from_secs(60),
        duration: Duration::from_secs(600),
    };
    run.tell(&RunEvent::Started(Box::new(outline)));
    for (index, spec) in measured.iter().take(3).enumerate() {
        run.tell(&RunEvent::SpecStarted { spec: spec.id.clone() });
        run.tell(&RunEvent::Step { words: format!("{}: starting the server", spec.id) });
        let words =
            format!("{}: dataset sbtest_100x800000_1f2e3d loaded: 80,000,000 rows", spec.id);
        run.tell(&RunEvent::Said { level: Level::Notice, words });
        let until = if index == 2 { 18 } else { LEVELS.len() * 5 };
        for (number, cell) in cells(&spec.id).into_iter().take(until).enumerate() {
            measure(&mut run, &cell, (index == 1 && number == 9).then_some("lost connection"));
        }
    }
    let refused = ScenarioId::new("long").unwrap();
    let reason = "not full-cache: 2.1 % of the pages were read from disk".to_owned();
    run.tell(&RunEvent::Refused { spec: specs[1].id.clone(), scenario: refused, reason });
    run.tell(&RunEvent::LeftOut { cells: cells(&specs[2].id)[19..21].to_vec() });
    let words = format!("a name that is markup: {MARKUP} {}", "y".repeat(300));
    run.tell(&RunEvent::Said { level: Level::Warning, words });
    let cell = cells(&specs[2].id)[18].clone();
    run.tell(&RunEvent::TrialStarted { cell, repetition: 2 });
    run.tell(&RunEvent::Phase(TrialPhase::Measuring));
    (1..=9).for_each(|number| run.tell(&second(512, number)));
    run
}

fn second(level: u32, number: u64) -> RunEvent {
    let qps = rate(level, number);
    RunEvent::Second(SecondFigures {
        second: number,
        qps: Some(MilliRate(qps)),
        tps: Some(MilliRate(qps / 16)),
        p95_us: Some(u64::from(level) * 90 + number * 131 % 17 * 400),
        errors: u64::from(number == 3),
    })
}

fn measure(run: &mut Scripted, cell: &CellId, failure: Option<&str>) {
    run.tell(&RunEvent::TrialStarted { cell: cell.clone(), repetition: 1 });
    run.tell(&RunEvent::Phase(TrialPhase::Measuring));
    (1..=5).for_each(|number| run.tell(&second(cell.concurrency, number)));
    let status = match failure {
        Some(reason) => TrialStatus::Failed { reason: reason.to_owned() },
        None => TrialStatus::Done,
    };
    let qps = rate(cell.concurrency, 0);
    let ending = TrialEnding {
        status,
        qps: Some(MilliRate(qps)),
        tps: Some(MilliRate(qps / 16)),
        p95_us: Some(u64::from(cell.concurrency) * 90),
        errors: 3,
        doubts: Vec::new(),
    };
    run.tell(&RunEvent::TrialEnded { cell: cell.clone(), repetition: 1, ending });
}
