//! Tables and trials in which nothing is found, to be changed by the tests of this module.
//!
//! Must not know: any check.

use std::sync::Arc;

use super::{AuditOptions, Finding};
use crate::model::{
    Bytes, CellId, DatasetClass, LatencySummary, MilliRate, ResultCell, ResultSet, ResultSource,
    Scenario, ScenarioId, Spec, SpecId, TrialCounts, TrialStatus, Workload, WorkloadOptions,
};

/// Rows, statements and rates of the five published scenarios, slowest first in each pair.
const SCENARIOS: [(&str, &str, bool, u64); 5] = [
    ("read-only-range", "oltp_read_only", true, 6_000_000),
    ("read-only-point", "oltp_read_only", false, 9_000_000),
    ("read-write-range", "oltp_read_write", true, 5_000_000),
    ("read-write-point", "oltp_read_write", false, 7_000_000),
    ("write-only", "oltp_write_only", true, 8_000_000),
];

pub(super) fn options() -> AuditOptions {
    AuditOptions::default()
}

/// One of the published scenarios.
pub(super) fn scenario(id: &str) -> Scenario {
    let (id, name, range_selects, _) = SCENARIOS.into_iter().find(|known| known.0 == id).unwrap();
    Scenario {
        id: ScenarioId::new(id).unwrap(),
        title: None,
        workload: workload(name),
        options: WorkloadOptions { range_selects, ..WorkloadOptions::default() },
    }
}

fn workload(name: &str) -> Arc<Workload> {
    crate::workload::builtin(name).unwrap()
}

/// Two specs and five scenarios at 64 connections; larger data is a fifth slower.
pub(super) fn clean(name: &str, class: DatasetClass) -> ResultSet {
    let specs: Vec<Spec> = [(2, 4), (4, 8)].into_iter().map(|(cpu, gb)| spec(cpu, gb)).collect();
    let scenarios: Vec<Scenario> = SCENARIOS.iter().map(|known| scenario(known.0)).collect();
    let (table_size, percent) = match class {
        DatasetClass::FullCache => (25_000, 100),
        DatasetClass::LargerThanMemory => (1_000_000, 80),
    };
    let mut cells = Vec::new();
    for (scenario, known) in scenarios.iter().zip(SCENARIOS) {
        for spec in &specs {
            cells.push(ResultCell {
                spec: spec.id.clone(),
                scenario: scenario.id.clone(),
                concurrency: Some(64),
                table_size,
                tables: 100,
                qps: Some(MilliRate(known.3 * u64::from(spec.cpu) / 2 * percent / 100)),
                tps: None,
                p95_us: None,
                p99_us: None,
                trials: 1,
                values: Vec::new(),
                note: None,
            });
        }
    }
    ResultSet {
        environment: std::collections::BTreeMap::new(),
        noise_ppm: None,
        name: name.to_owned(),
        title: "A title".to_owned(),
        template: "tdsql-c-en".to_owned(),
        class,
        source: ResultSource::Published { origin: "us".to_owned(), date: "2026-01-02".into() },
        protocol: None,
        scenarios,
        specs,
        cells,
    }
}

fn spec(cpu: u32, gigabytes: u64) -> Spec {
    let id = SpecId::new(&format!("{cpu}c{gigabytes}g")).unwrap();
    Spec { id, cpu, memory: Bytes(gigabytes * Bytes::GB) }
}

/// The same as a run's, over a network.
pub(super) fn measured(results: ResultSet) -> ResultSet {
    let source = ResultSource::Measured {
        run: results.name.clone(),
        date: "2026-01-02".into(),
        servers: vec!["8.0.36".into()],
        shared_machine: false,
        tool_version: "0.1.0".into(),
        engine: "native".into(),
        rehearsal: None,
    };
    ResultSet { source, ..results }
}

/// A sound trial of the first cell: a thousand events of 16 statements in two seconds.
pub(super) fn trial(results: &ResultSet) -> TrialCounts {
    let cell = &results.cells[0];
    let latency = LatencySummary {
        count: 1_000,
        min_us: 500,
        mean_us: 2_000,
        p50_us: 1_900,
        p95_us: 4_000,
        p99_us: 5_000,
        max_us: 9_000,
    };
    TrialCounts {
        cell: CellId { spec: cell.spec.clone(), scenario: cell.scenario.clone(), concurrency: 64 },
        repetition: 1,
        status: TrialStatus::Done,
        measured_us: Some(2_000_000),
        events: Some(1_000),
        queries: Some(16_000),
        queries_retried: Some(0),
        latency: Some(latency),
        service: Some(latency),
        seconds_us: 2_000_000,
        seconds_queries: 16_000,
        client_bound: Some(false),
        commands: Vec::new(),
        uncertain: 0,
    }
}

/// Sets the rate of a cell, in thousandths.
pub(super) fn set(results: &mut ResultSet, spec: &str, scenario: &str, qps_milli: u64) {
    let is_it =
        |cell: &&mut ResultCell| cell.spec.as_str() == spec && cell.scenario.as_str() == scenario;
    results.cells.iter_mut().find(is_it).unwrap().qps = Some(MilliRate(qps_milli));
}

/// The codes alone.
pub(super) fn codes(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.code).collect()
}
