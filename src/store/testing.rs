//! Runs, trials and rows for the tests of this module.
//!
//! Must not know: files.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::option;
use proptest::prelude::*;

use crate::model::{
    Arrivals, Bytes, Cell, CellId, Checksum, CommandCount, Counter, Counters, Dataset,
    DatasetClass, DatasetRecord, Engine, ErrorCount, Evidence, Exclusion, Flavour, Host, Interval,
    KeyLaw, Ladder, Matrix, Measurement, MilliRate, OpenLoop, Pace, Plan, PlannedSpec, ProcessUse,
    Protocol, Publish, Refresh, Rehearsal, RunDescription, Scenario, ScenarioId, ServerInfo,
    ServerRecord, ServerUse, Skip, Spec, SpecId, StatementKind, StatementMode, StatementStats,
    TableCheck, TrialStatus, Workload, WorkloadOptions,
};
use crate::stats::Histogram;
use crate::workload::{WorkloadForm, builtin};

use super::TrialRecord;

/// Two specs, two scenarios, two levels, two repeats: eight cells, sixteen trials.
pub(super) fn description() -> RunDescription {
    RunDescription {
        tool_version: "0.1.0".into(),
        tool_revision: None,
        started_unix_ms: 1_765_383_515_007,
        command: vec!["gridbench".into(), "run".into(), "m.toml".into()],
        matrix_sha256: "00ff".into(),
        plan: plan(),
        host: Host {
            cpus: 2,
            cpu_model: "A processor".into(),
            memory: Bytes(8_000_000_000),
            governor: None,
            cpu_quota_milli: None,
            kernel: "6.1".into(),
            disk_free: Some(Bytes(5)),
        },
        driver: "a driver".into(),
        load_policy: "SCHED_BATCH".into(),
        servers: Vec::new(),
    }
}

fn plan() -> Plan {
    let specs = [spec(2, 4), spec(4, 8)];
    let scenarios = vec![
        scenario("read-only-range", "oltp_read_only"),
        scenario("write-only", "oltp_write_only"),
    ];
    let protocol = Protocol {
        duration: Duration::from_secs(2),
        warmup: Duration::from_millis(500),
        warmup_max: None,
        level_ppm: Protocol::LEVEL_PPM,
        repeats: 2,
        until: None,
        stop_after_falling: None,
        is_aa: false,
        concurrency: Ladder::Levels(vec![64, 128]),
        publish: Publish::Peak,
        statements: StatementMode::Text,
        keys: KeyLaw::Uniform,
        seed: 7,
        open_loop: None,
        engine: Engine::Native,
    };
    let mut cells = Vec::new();
    for (s, spec) in specs.iter().enumerate() {
        for (c, scenario) in scenarios.iter().enumerate() {
            for concurrency in [64, 128] {
                let id =
                    CellId { spec: spec.id.clone(), scenario: scenario.id.clone(), concurrency };
                cells.push(Cell { id, spec: s, scenario: c });
            }
        }
    }
    let matrix = Matrix {
        name: "full-cache".into(),
        title: "Full-cache test".into(),
        baseline: Some("tdsql-c-2025-12/full-cache".into()),
        template: "tdsql-c-en".into(),
        protocol: protocol.clone(),
        class: DatasetClass::FullCache,
        refresh: Refresh::Scenario,
        specs: specs.iter().map(|spec| (spec.clone(), dataset(25_000))).collect(),
        scenarios,
        exclusions: Vec::new(),
    };
    let specs = specs.into_iter().map(planned).collect();
    Plan { matrix, protocol, rehearsal: None, specs, cells, excluded: Vec::new() }
}

fn spec(cpu: u32, gigabytes: u64) -> Spec {
    let id = SpecId::new(&format!("{cpu}c{gigabytes}g")).unwrap();
    Spec { id, cpu, memory: Bytes(gigabytes * Bytes::GB) }
}

/// A workload that a matrix declared, with every generator.
fn own_workload() -> Workload {
    let text = r#"
        name = "own"
        transaction = true
        [[group]]
        repeat = 3
        when = "range_selects"
        [[group.statement]]
        name = "find"
        sql = "SELECT '?' FROM t WHERE a IN (?, ?, ?, ?, ?) AND b = ? AND {list}"
        access = "none"
        read_type = "range"
        values = [
            { generator = "id", table = "t", keys = "pareto" }, "same_id", "range_end", "delta_end",
            { generator = "sequence", start = -7 },
            { generator = "one_of", values = [-1, "it's"] },
        ]
        [group.statement.list]
        sql = "c = ?"
        values = ["segment_id"]
        separator = " OR "
        repeat = "random_points"
        [[table]]
        name = "t"
        ddl = "CREATE TABLE t (a INT)"
        rows = "table_size"
        [[table.column]]
        name = "a"
        value = "row_id"
        [[table.column]]
        name = "b"
        value = { generator = "integer", min = -5, max = 5, keys = "zipfian" }
        [[table.column]]
        name = "c"
        value = { generator = "digits", length = 3 }
        [[table.column]]
        name = "d"
        value = { generator = "timestamp", from = "1999-01-01", to = "2027-01-01" }
        [[table.column]]
        name = "e"
        value = "pad"
    "#;
    toml::from_str::<WorkloadForm>(text).unwrap().read(false).unwrap()
}

fn point_select() -> StatementKind {
    StatementKind::new("point_select").unwrap()
}

fn scenario(id: &str, workload: &str) -> Scenario {
    let id = ScenarioId::new(id).unwrap();
    let workload = builtin(workload).unwrap();
    Scenario { id, title: None, workload, options: WorkloadOptions::default() }
}

fn dataset(table_size: u64) -> Dataset {
    Dataset { tables: 250, table_size, charset: "utf8mb4".into(), seed: 7 }
}

fn planned(spec: Spec) -> PlannedSpec {
    PlannedSpec {
        cpus: spec.cpu,
        memory: spec.memory,
        buffer_pool: spec.buffer_pool(),
        dataset: dataset(25_000),
        published_dataset: dataset(25_000),
        skip: None,
        spec,
    }
}

/// A server of a spec.
pub(super) fn server(spec: &str, version: &str) -> ServerRecord {
    ServerRecord {
        spec: SpecId::new(spec).unwrap(),
        managed: true,
        info: ServerInfo {
            tls: None,
            auth_plugin: None,
            round_trip_us: Some(55),
            version: version.into(),
            flavour: Flavour::of_version(version),
            address: "tcp://127.0.0.1:3307".into(),
            variables: BTreeMap::from([("log_bin".into(), "0".into())]),
        },
        cpus: vec![0, 1],
        load_cpus: vec![2],
        changes: Vec::new(),
        dataset_bytes: Some(1),
        dataset: None,
    }
}

/// What a trial of a sample run yielded, with everything that a record borrows.
#[derive(Debug, Clone)]
pub(super) struct SampleTrial {
    cell: usize,
    repetition: u32,
    pub(super) measurement: Measurement,
    pub(super) latency: Histogram,
    pub(super) service: Histogram,
    pub(super) statement_latency: Vec<(StatementKind, Histogram)>,
    pub(super) evidence: Evidence,
}

impl SampleTrial {
    /// Two seconds at this rate, a tenth of it events.
    pub(super) fn done(run: &RunDescription, cell: usize, repetition: u32, qps: u64) -> Self {
        let latency = histogram(&[900, 1_500, 40_000]);
        let service = histogram(&[800, 1_400, 30_000]);
        let statement = histogram(&[80, 120]);
        assert!(cell < run.plan.cells.len());
        let half = |elapsed_us, p95_us| Interval {
            elapsed_us,
            length_us: 1_000_000,
            events: qps / 10,
            queries: qps,
            errors: 1,
            p95_us,
        };
        let measurement = Measurement {
            status: TrialStatus::Done,
            warmup_us: Some(500_000),
            warmup_level: Some(true),
            measured_us: 2_000_000,
            events: qps / 5,
            queries: qps * 2,
            queries_read: qps,
            queries_write: 0,
            queries_other: qps,
            queries_retried: 3,
            errors: vec![deadlocks()],
            reconnects: 0,
            events_unfinished: 0,
            oldest_unfinished_us: None,
            latency: latency.summary(),
            service: service.summary(),
            pace: Some(Pace { events_due: qps / 5 + 1, events_dropped: 1 }),
            statements: vec![StatementStats {
                kind: point_select(),
                count: 2,
                errors: 0,
                latency: statement.summary(),
            }],
            intervals: vec![half(1_000_000, Some(1_500)), half(2_000_000, None)],
            client_cpu_us: Some(12_345),
            client_cpu_max_us: Some(12_345),
            client_run_delay_us: Some(678),
            timer_lateness_p99_us: Some(90),
            timer_lateness_max_us: Some(1_200),
            client_ceiling_qps: Some(MilliRate(123_456_789)),
            client_bound: Some(false),
            load_threads: 1,
        };
        let statement_latency = vec![(point_select(), statement)];
        let evidence = evidence(qps);
        Self { cell, repetition, measurement, latency, service, statement_latency, evidence }
    }

    /// Nothing was measured.
    pub(super) fn failed(run: &RunDescription, cell: usize, repetition: u32, why: &str) -> Self {
        let mut trial = Self::done(run, cell, repetition, 0);
        trial.measurement = Measurement {
            status: TrialStatus::Failed { reason: why.into() },
            warmup_us: None,
            warmup_level: None,
            measured_us: 0,
            errors: Vec::new(),
            latency: None,
            service: None,
            pace: None,
            statements: Vec::new(),
            intervals: Vec::new(),
            client_cpu_us: None,
            client_cpu_max_us: None,
            client_run_delay_us: None,
            timer_lateness_p99_us: None,
            timer_lateness_max_us: None,
            client_ceiling_qps: None,
            client_bound: None,
            ..trial.measurement
        };
        trial.latency = Histogram::new();
        trial.service = Histogram::new();
        trial.statement_latency.clear();
        trial.evidence = Evidence { trouble: Some("gone".into()), ..Evidence::default() };
        trial
    }

    pub(super) fn record<'a>(&'a self, run: &'a RunDescription) -> TrialRecord<'a> {
        let cell = &run.plan.cells[self.cell];
        TrialRecord {
            cell,
            spec: run.plan.spec(cell),
            repetition: self.repetition,
            started_unix_ms: run.started_unix_ms + 1_000,
            measurement: &self.measurement,
            latency: &self.latency,
            service: &self.service,
            statement_latency: &self.statement_latency,
            evidence: Some(&self.evidence),
        }
    }
}

/// A server that read a page for each query.
fn deadlocks() -> ErrorCount {
    let message = "Deadlock found, \"try\"\nagain \\".into();
    ErrorCount { code: 1213, count: 2, message, span_us: Some((120_000, 1_900_000)) }
}

fn evidence(qps: u64) -> Evidence {
    let mut counters = Counters::default();
    [Counter::PagesRead, Counter::Questions].iter().for_each(|of| counters.set(*of, Some(qps)));
    let process = Some(ProcessUse { cpu_us: 5, disk_read_bytes: None, disk_write_bytes: Some(1) });
    let window = ServerUse { length_us: 1_000_100, counters, process };
    let commands = vec![CommandCount { counter: Counter::ComSelect, sent: qps, seen: None }];
    let seconds = vec![(1_000_200, window)];
    Evidence { window, seconds, commands, uncertain: 1, trouble: None }
}

fn histogram(samples_us: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    samples_us.iter().for_each(|us| histogram.record(Duration::from_micros(*us)));
    histogram
}

/// Any texts and figures in a plan of this shape.
pub(super) fn any_description() -> impl Strategy<Value = RunDescription> {
    let texts = (any::<String>(), any::<String>(), option::of(any::<String>()));
    let figures = (any::<u64>(), any::<u32>(), option::of(1..99_u64), 0..1_000_000_u64);
    let kinds = (any::<bool>(), 0..2_usize, 0..2_usize, 0..5_usize);
    let server = option::of(("[0-9]{1,2}[.][0-9](-MariaDB)?", any::<String>()));
    let moment = -60_000_000_000_000..200_000_000_000_000_i64;
    (texts, figures, kinds, server, moment).prop_map(|(texts, figures, kinds, of, moment)| {
        let mut run = description();
        run.started_unix_ms = moment;
        (run.plan.matrix.title, run.host.cpu_model, run.plan.matrix.baseline) = texts.clone();
        (run.tool_revision, run.command) = (texts.2.clone(), vec![texts.0.clone(), texts.1]);
        vary_plan(&mut run.plan, texts.0, figures);
        run.plan.specs[1].skip = texts.2.map(|reason| Skip { reason });
        let (published, publish, statements, keys) = kinds;
        let protocol = &mut run.plan.protocol;
        if published {
            protocol.concurrency = Ladder::Published;
        }
        protocol.publish = Publish::ALL[publish];
        protocol.statements = StatementMode::ALL[statements];
        protocol.keys = KeyLaw::ALL[keys];
        protocol.engine = Engine::ALL[publish];
        if let Some((version, value)) = of {
            let mut server = server_with(&version, value.clone());
            server.dataset_bytes = figures.2;
            server.dataset = figures.2.map(|rows| any_dataset(rows, value));
            run.servers.push(server);
        }
        run
    })
}

fn any_dataset(rows: u64, text: String) -> DatasetRecord {
    let checksum = Checksum { rows, crc_sum: u64::MAX - rows, crc_xor: u32::MAX / 3 };
    let table = |number| TableCheck { number, first_id: 0, last_id: rows, checksum };
    DatasetRecord {
        database: text.clone(),
        rows_sent: rows,
        route: rows.is_multiple_of(2).then(|| text.clone()),
        changed_by: rows.is_multiple_of(3).then_some(text),
        tables: (1..=u32::try_from(rows % 4).unwrap()).map(table).collect(),
    }
}

fn server_with(version: &str, value: String) -> ServerRecord {
    let mut record = server("4c8g", version);
    record.info.variables.insert("init_connect".into(), value);
    record
}

fn vary_plan(plan: &mut Plan, text: String, figures: (u64, u32, Option<u64>, u64)) {
    let (big, small, maybe, millis) = figures;
    plan.matrix.scenarios[0].title = Some(text.clone());
    plan.matrix.scenarios[1].options.range_size = small;
    plan.matrix.scenarios[1].options.skip_trx = true;
    if small % 2 == 0 {
        plan.matrix.scenarios[1].workload = Arc::new(own_workload());
    }
    plan.specs[0].dataset.seed = big;
    plan.specs[0].published_dataset.table_size = big;
    plan.protocol.duration = Duration::from_millis(millis);
    plan.protocol.repeats = small;
    plan.protocol.open_loop = maybe.map(|milli| OpenLoop {
        rate: MilliRate(milli),
        arrivals: Arrivals::ALL[usize::from(milli % 2 == 0)],
    });
    plan.rehearsal = maybe.map(|factor| Rehearsal { factor });
    let spec = Some(plan.specs[0].spec.id.clone());
    let rule = Exclusion { spec, scenario: None, concurrency: Some(small), reason: text };
    plan.matrix.exclusions.push(rule.clone());
    let id = plan.cells.pop().expect("the sample plan has cells").id;
    plan.excluded.push((id, rule));
}
