//! Writes a run directory of the published size, 14 sizes in five scenarios at seven levels of ten
//! minutes each, with numbers that nobody measured: to time what reads it.
//!
//!     cargo run --release --example whole_run matrices/full-cache.toml OUT
//!     time gridbench render OUT/... --template report --format html -o report.html

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

use gridbench::matrix::{ExpandOptions, Source, expand, parse};
use gridbench::model::{
    Bytes, Host, Interval, Measurement, MilliRate, RunDescription, TrialStatus,
};
use gridbench::stats::Histogram;
use gridbench::store::{RunDir, TrialRecord};

const SECONDS: u64 = 600;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("usage: whole_run MATRIX OUT".into());
    };
    let bytes = std::fs::read(&path)?;
    let about = description(&path, &bytes)?;
    let mut run = RunDir::create(Path::new(&out), &about, &bytes)?;
    for (number, cell) in (0_u64..).zip(&about.plan.cells) {
        let rate = 20_000 + number * 997;
        let latency = latency(number);
        let measurement = measurement(rate, &latency);
        run.append(&TrialRecord {
            cell,
            spec: about.plan.spec(cell),
            repetition: 1,
            started_unix_ms: about.started_unix_ms,
            measurement: &measurement,
            service: &latency,
            latency: &latency,
            statement_latency: &[],
            evidence: None,
        })?;
    }
    let pages = run.path().display().to_string();
    std::io::Write::write_all(&mut std::io::stdout(), format!("{pages}\n").as_bytes())?;
    Ok(())
}

fn description(path: &str, bytes: &[u8]) -> Result<RunDescription, Box<dyn Error>> {
    let matrix = parse(&Source { name: path, bytes }, &[]);
    let matrix = matrix.map_err(|faults| faults.to_string())?;
    let options =
        ExpandOptions { published: BTreeMap::new(), only: Vec::new(), rehearse: false, host: None };
    Ok(RunDescription {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        tool_revision: None,
        started_unix_ms: 1_767_323_045_000,
        command: vec!["gridbench".to_owned(), "run".to_owned(), path.to_owned()],
        matrix_sha256: "00".repeat(32),
        plan: expand(matrix, &options)?,
        host: Host {
            cpus: 16,
            cpu_model: "none".to_owned(),
            memory: Bytes(64_000_000_000),
            governor: None,
            cpu_quota_milli: None,
            kernel: "none".to_owned(),
            disk_free: None,
        },
        driver: "native".to_owned(),
        load_policy: "SCHED_OTHER".to_owned(),
        servers: Vec::new(),
    })
}

fn latency(number: u64) -> Histogram {
    let mut latency = Histogram::new();
    for sample in 1..5_000 {
        latency.record(Duration::from_micros(500 + sample * (7 + number % 11)));
    }
    latency
}

fn measurement(rate: u64, latency: &Histogram) -> Measurement {
    let second = |at: u64| Interval {
        elapsed_us: (at + 1) * 1_000_000,
        length_us: 1_000_000,
        events: rate / 16,
        queries: rate - at * 7_919 % (rate / 9),
        errors: 0,
        p95_us: Some(9_000),
    };
    Measurement {
        status: TrialStatus::Done,
        warmup_us: Some(60_000_000),
        warmup_level: None,
        measured_us: SECONDS * 1_000_000,
        events: rate * SECONDS / 16,
        queries: rate * SECONDS,
        queries_read: rate * SECONDS,
        queries_write: 0,
        queries_other: 0,
        queries_retried: 0,
        errors: Vec::new(),
        reconnects: 0,
        events_unfinished: 0,
        oldest_unfinished_us: None,
        latency: latency.summary(),
        service: latency.summary(),
        pace: None,
        statements: Vec::new(),
        intervals: (0..SECONDS).map(second).collect(),
        client_cpu_us: None,
        client_cpu_max_us: None,
        client_run_delay_us: None,
        timer_lateness_p99_us: None,
        timer_lateness_max_us: None,
        client_ceiling_qps: Some(MilliRate(900_000_000)),
        client_bound: Some(false),
        load_threads: 4,
    }
}
