//! Result sets for the page tests: the published tables, and a small one with every oddity.
//!
//! Must not know: templates.

use std::path::Path;

use gridbench::model::{
    Bytes, DatasetClass, Engine, KeyLaw, Ladder, MilliRate, Protocol, Publish, Rehearsal,
    ResultCell, ResultSet, ResultSource, Scenario, ScenarioId, Spec, SpecId, StatementMode,
    WorkloadOptions,
};
use gridbench::workload::builtin;

/// One row of a published CSV, as text.
#[derive(Debug, Clone)]
pub(crate) struct PublishedRow {
    pub(crate) scenario: String,
    pub(crate) cpu: String,
    pub(crate) memory_gb: String,
    pub(crate) concurrency: String,
    pub(crate) table_size: String,
    pub(crate) tables: String,
    pub(crate) qps: String,
}

/// The rows of `results/baselines/tdsql-c-2025-12/<table>.csv`.
pub(crate) fn published_rows(table: &str) -> Vec<PublishedRow> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/baselines/tdsql-c-2025-12");
    let mut reader = csv::Reader::from_path(folder.join(format!("{table}.csv"))).unwrap();
    let header = ["scenario", "cpu", "memory_gb", "concurrency", "table_size", "tables", "qps"];
    assert_eq!(reader.headers().unwrap(), &header[..]);
    let row = |record: csv::StringRecord| PublishedRow {
        scenario: record[0].to_owned(),
        cpu: record[1].to_owned(),
        memory_gb: record[2].to_owned(),
        concurrency: record[3].to_owned(),
        table_size: record[4].to_owned(),
        tables: record[5].to_owned(),
        qps: record[6].to_owned(),
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

/// A published table as a result set.
pub(crate) fn published(table: &str) -> ResultSet {
    let (title, template, class) = match table {
        "full-cache" => ("Full-cache test", "tdsql-c-en", DatasetClass::FullCache),
        _ => ("大数据集测试结果", "tdsql-c-zh", DatasetClass::LargerThanMemory),
    };
    let rows = published_rows(table);
    let mut results = ResultSet {
        name: format!("tdsql-c-2025-12/{table}"),
        title: title.to_owned(),
        template: template.to_owned(),
        class,
        source: ResultSource::Published {
            origin: "Tencent Cloud (TDSQL-C for MySQL)".to_owned(),
            date: "2025-12-10".to_owned(),
        },
        protocol: None,
        environment: std::collections::BTreeMap::new(),
        noise_ppm: None,
        scenarios: Vec::new(),
        specs: Vec::new(),
        cells: Vec::new(),
    };
    for row in &rows {
        let scenario = published_scenario(&row.scenario);
        let spec = spec(row.cpu.parse().unwrap(), row.memory_gb.parse().unwrap());
        results.cells.push(ResultCell {
            concurrency: Some(row.concurrency.parse().unwrap()),
            table_size: row.table_size.parse().unwrap(),
            tables: row.tables.parse().unwrap(),
            ..cell(&spec, &scenario, Some(milli(&row.qps)))
        });
        if !results.scenarios.contains(&scenario) {
            results.scenarios.push(scenario);
        }
        if !results.specs.contains(&spec) {
            results.specs.push(spec);
        }
    }
    results
}

/// A run of two specs and five scenarios, in another order than published, with missing cells,
/// notes, an unusual workload, and signs that mean something to Markdown and HTML.
pub(crate) fn small_run() -> ResultSet {
    let specs = vec![spec(2, 4), spec(128, 1_024)];
    let scenarios = vec![
        scenario("write-only", "oltp_write_only", None),
        scenario("index", "oltp_update_index", None),
        scenario("odd", "oltp_read_only", Some("<b>A|B</b> & \"C\" \\ _d_ 宽字符\nnext")),
        scenario("read-write-range", "oltp_read_write", None),
        Scenario {
            options: WorkloadOptions {
                range_selects: false,
                point_selects: 5,
                skip_trx: true,
                ..WorkloadOptions::default()
            },
            ..scenario("read-write-point", "oltp_read_write", None)
        },
    ];
    let mut cells = Vec::new();
    for (at, scenario) in scenarios.iter().enumerate() {
        for (row, spec) in specs.iter().enumerate() {
            let rate = MilliRate(1_000_000 * (at as u64 + 1) + 123_450 * row as u64);
            cells.push(cell(spec, scenario, Some(rate)));
        }
    }
    // Only one scenario has what pages of latency and of transactions print besides.
    for (cell, scale) in cells[6..8].iter_mut().zip(1..) {
        cell.tps = Some(MilliRate(123_456 * scale));
        (cell.p95_us, cell.p99_us) = (Some(12_345 * scale), Some(1_234_567 * scale));
    }
    // One failed, one that nobody measured, one that is doubtful.
    cells[1].qps = None;
    cells[1].concurrency = None;
    cells[1].note = Some("server error 1040: Too many <connections> | retry".to_owned());
    cells[2].note = Some("client_bound".to_owned());
    cells.remove(5);
    ResultSet {
        name: "20260102T030405Z-small".to_owned(),
        title: "Small <run> of *two* specs | 小型测试".to_owned(),
        template: "tdsql-c-en".to_owned(),
        class: DatasetClass::FullCache,
        source: measured(None),
        protocol: Some(protocol()),
        environment: std::collections::BTreeMap::new(),
        noise_ppm: None,
        scenarios,
        specs,
        cells,
    }
}

/// The same run as a rehearsal on a dataset that is larger than memory, each cell at the
/// concurrency of its baseline.
pub(crate) fn rehearsal() -> ResultSet {
    ResultSet {
        class: DatasetClass::LargerThanMemory,
        source: measured(Some(Rehearsal { factor: 1_000 })),
        protocol: Some(Protocol { concurrency: Ladder::Published, ..protocol() }),
        environment: std::collections::BTreeMap::new(),
        noise_ppm: None,
        ..small_run()
    }
}

/// The small run with titles, notes and names that mean something to every format, are written
/// from right to left, or are very long.
pub(crate) fn hostile() -> ResultSet {
    let mut results = small_run();
    let titles = [
        "<script>alert(1)</script> <!-- gridbench:end --> {/* gridbench:end */}",
        ".. gridbench:end\n.. raw:: html\n\n   <script>1</script>",
        "import {x} from 'y' {{ 7 * 7 }} {% raw %} $x^2$ | `a` ``` **b** | :sup:`c` d_ ::",
        "\u{202e}نص من اليمين\u{2066} עברית 宽字符 \u{1f469}\u{200d}\u{1f52c} e\u{301}",
        "\"quoted\" 'single' &amp; \\ \\| -- - * 1. # ~~~\u{0}\u{7}\u{2028}end",
    ];
    for (scenario, title) in results.scenarios.iter_mut().zip(titles) {
        scenario.title = Some(title.to_owned());
    }
    results.scenarios[0].title = Some(format!("{}{}", titles[0], "长".repeat(200)));
    results.title = titles.join(" ");
    results.name = "<script>r</script>|`name`".to_owned();
    for (cell, title) in results.cells.iter_mut().zip(titles) {
        cell.note = Some(title.to_owned());
    }
    // Two specs of one size, which only their ids tell apart.
    let long = SpecId::new(&format!("2c4g-{}_.x", "y".repeat(56))).unwrap();
    for cell in results.cells.iter_mut().filter(|cell| cell.spec == results.specs[1].id) {
        cell.spec = long.clone();
    }
    results.specs[1] = Spec { id: long, ..results.specs[0].clone() };
    if let ResultSource::Measured { run, servers, engine, .. } = &mut results.source {
        results.name.clone_into(run);
        *servers = titles.map(str::to_owned).to_vec();
        *engine = "<b>engine</b> | x".to_owned();
    }
    results
}

fn measured(rehearsal: Option<Rehearsal>) -> ResultSource {
    ResultSource::Measured {
        run: "20260102T030405Z-small".to_owned(),
        date: "2026-01-02".to_owned(),
        servers: vec!["8.0.40".to_owned(), "10.11.6-MariaDB".to_owned()],
        shared_machine: rehearsal.is_some(),
        tool_version: "0.1.0".to_owned(),
        engine: if rehearsal.is_some() { "sysbench 1.0.20" } else { "native" }.to_owned(),
        rehearsal,
    }
}

fn protocol() -> Protocol {
    Protocol {
        duration: std::time::Duration::from_millis(1_500),
        warmup: std::time::Duration::from_secs(60),
        warmup_max: None,
        level_ppm: Protocol::LEVEL_PPM,
        repeats: 3,
        until: None,
        stop_after_falling: None,
        is_aa: false,
        concurrency: Ladder::Levels(vec![32, 64]),
        publish: Publish::Peak,
        statements: StatementMode::Text,
        keys: KeyLaw::Uniform,
        seed: 20_251_210,
        open_loop: None,
        engine: Engine::Native,
    }
}

pub(crate) fn spec(cpu: u32, gigabytes: u64) -> Spec {
    let id = SpecId::new(&format!("{cpu}c{gigabytes}g")).unwrap();
    Spec { id, cpu, memory: Bytes(gigabytes * Bytes::GB) }
}

fn published_scenario(id: &str) -> Scenario {
    let workload = match id {
        "read-only-range" | "read-only-point" => "oltp_read_only",
        "read-write-range" | "read-write-point" => "oltp_read_write",
        _ => "oltp_write_only",
    };
    let mut scenario = scenario(id, workload, None);
    scenario.options.range_selects = !id.ends_with("point");
    scenario
}

fn scenario(id: &str, workload: &str, title: Option<&str>) -> Scenario {
    Scenario {
        id: ScenarioId::new(id).unwrap(),
        title: title.map(str::to_owned),
        workload: builtin(workload).unwrap(),
        options: WorkloadOptions::default(),
    }
}

pub(crate) fn cell(spec: &Spec, scenario: &Scenario, qps: Option<MilliRate>) -> ResultCell {
    ResultCell {
        spec: spec.id.clone(),
        scenario: scenario.id.clone(),
        concurrency: Some(64),
        table_size: 25_000,
        tables: 250,
        qps,
        tps: None,
        p95_us: None,
        p99_us: None,
        trials: 1,
        values: Vec::new(),
        note: None,
    }
}

/// `44613.74` as thousandths, exactly.
fn milli(text: &str) -> MilliRate {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    MilliRate(format!("{whole}{fraction:0<3}").parse().unwrap())
}
