//! One process of a calibration: the server, or one measurement of one client.
//!
//! Must not know: other processes of it, or how their figures are shown.

use std::io::{self, Read};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::resource::{UsageWho, getrusage};
use nix::unistd::Pid;

use super::record::Round;
use super::setting::{TABLE_SIZE, statement_mode, workload};
use super::sysbench;
use crate::cli::{CalibratePartArgs, CalibrateRole};
use crate::cmd::{Failure, Outcome};
use crate::driver::null::NullServer;
use crate::driver::null::floor::{self, FloorSetup};
use crate::driver::raise_open_files;
use crate::driver::wire::WireDriver;
use crate::exec::{LoadPolicy, TrialSetup, run_trial};
use crate::model::{
    Address, Dataset, Endpoint, Interrupt, KeyLaw, Measurement, Request, Scenario, ScenarioId,
    Secret, StatementMode, TrialStatus, WorkloadOptions,
};
use crate::target::host;
use crate::ui::Printer;
use crate::workload::{Generator, Program};

/// From which every draw follows.
pub(super) const SEED: u64 = 20_251_210;
/// How long the server may let a connection, or the last event, wait.
const LIMIT: Duration = Duration::from_secs(30);

/// Does what the role says; a measurement is one line of JSON on standard output.
pub(in crate::cmd) fn run(
    arguments: &CalibratePartArgs,
    printer: Printer,
) -> Result<Outcome, Failure> {
    bind(&arguments.cpus).context("cannot be bound to a processor")?;
    raise_open_files()?;
    let round = match arguments.role {
        CalibrateRole::Server => return serve(arguments.port, printer),
        CalibrateRole::Native => native(arguments)?,
        CalibrateRole::Floor => floor(arguments)?,
        CalibrateRole::Sysbench => sysbench::measure(arguments)?,
    };
    printer.data(&serde_json::to_string(&round)?)?;
    Ok(Outcome::Done)
}

/// This thread, and with it all that it will start.
fn bind(cpus: &[u32]) -> nix::Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu as usize)?;
    }
    if cpus.is_empty() { Ok(()) } else { sched_setaffinity(Pid::from_raw(0), &set) }
}

/// Serves until standard input ends: whoever started this is gone then.
fn serve(port: u16, printer: Printer) -> Result<Outcome, Failure> {
    let server = NullServer::bind(port).context("cannot listen")?;
    let interrupt = Interrupt::default();
    let asked = interrupt.clone();
    std::thread::spawn(move || {
        let _ = io::stdin().lock().read_to_end(&mut Vec::new());
        asked.request();
    });
    printer.data(&format!("{}\n", server.address().port()))?;
    server.serve(&interrupt)?;
    Ok(Outcome::Done)
}

fn native(arguments: &CalibratePartArgs) -> Result<Round, Failure> {
    let duration = Duration::from_millis(arguments.duration_ms);
    let setup = TrialSetup {
        program: Arc::new(program(arguments)?),
        concurrency: arguments.connections,
        handles_max: usize::MAX,
        // What begins in the window counts, also what of it ends later; a warm-up makes good for
        // that, as what began in it takes as much of the window and does not count.
        warmup: duration,
        warmup_max: Duration::ZERO,
        level: 0.05,
        duration,
        drain_limit: LIMIT,
        connect_limit: LIMIT,
        seed: SEED,
        load_threads: arguments.load_threads,
        open_loop: None,
        cpus: Vec::new(),
        policy: LoadPolicy::of(None),
        run_delay: host::thread_run_delay,
    };
    let driver = WireDriver::new(&endpoint(arguments.port));
    let output = run_trial(&driver, &setup, &Interrupt::default(), &mut |_| {});
    round_of(&output.measurement)
}

fn round_of(measurement: &Measurement) -> Result<Round, Failure> {
    if let TrialStatus::Failed { reason } = &measurement.status {
        return Err(anyhow!("{reason}").into());
    }
    // Longer events make a count by beginnings coarse: at worst each connection had just one.
    let event_us = measurement.latency.map_or(0, |latency| latency.mean_us);
    if event_us > measurement.measured_us / 2 {
        return Err(anyhow!(
            "an event takes {} ms here, more than half of the window; give a longer --duration",
            event_us / 1000
        )
        .into());
    }
    let cpu_us = measurement.client_cpu_us.context("this system tells no processor time")?;
    Ok(Round {
        queries: measurement.queries,
        events: measurement.events,
        errors: measurement.errors.iter().map(|error| error.count).sum(),
        measured_us: measurement.measured_us,
        cpu_us,
        memory_peak_bytes: memory_peak_bytes(UsageWho::RUSAGE_SELF)?,
        others_percent: None,
    })
}

fn floor(arguments: &CalibratePartArgs) -> Result<Round, Failure> {
    let program = Arc::new(program(arguments)?);
    let prepared = program.prepared().to_vec();
    let mut generator = Generator::new(Arc::clone(&program), SEED, 0);
    generator.begin_event();
    let event = (0..program.len()).map(|step| {
        let mut request = Request::default();
        generator.write(step, &mut request);
        request
    });
    let setup = FloorSetup {
        address: SocketAddr::from(([127, 0, 0, 1], arguments.port)),
        connections: arguments.connections as usize,
        prepared,
        event: event.collect(),
        duration: Duration::from_millis(arguments.duration_ms),
    };
    let count = floor::drive(&setup)?;
    Ok(Round {
        queries: count.queries,
        events: count.events,
        errors: 0,
        measured_us: micros(count.elapsed),
        cpu_us: micros(count.cpu),
        memory_peak_bytes: memory_peak_bytes(UsageWho::RUSAGE_SELF)?,
        others_percent: None,
    })
}

fn program(arguments: &CalibratePartArgs) -> Result<Program, Failure> {
    let (scenario, dataset) = load(arguments)?;
    let mode: StatementMode = statement_mode(&arguments.statements)?;
    Ok(Program::new(&scenario, &dataset, mode, KeyLaw::Uniform))
}

/// What every client sends, and the tables that it names.
pub(super) fn load(arguments: &CalibratePartArgs) -> Result<(Scenario, Dataset), Failure> {
    let scenario = Scenario {
        id: ScenarioId::new("calibration").context("this id is valid")?,
        title: None,
        workload: Arc::clone(workload(&arguments.workload)?),
        options: WorkloadOptions::default(),
    };
    let dataset = Dataset {
        tables: arguments.tables,
        table_size: TABLE_SIZE,
        charset: "utf8mb4".to_owned(),
        seed: SEED,
    };
    Ok((scenario, dataset))
}

/// The server that answers at once, whoever asks.
pub(super) fn endpoint(port: u16) -> Endpoint {
    let address = Address::Tcp { host: "127.0.0.1".to_owned(), port };
    let endpoint = Endpoint::new(address, "root", Secret::default());
    Endpoint { database: Some("sbtest".to_owned()), ..endpoint }
}

/// The largest resident size so far, of this process or of the children it has waited for.
pub(super) fn memory_peak_bytes(who: UsageWho) -> nix::Result<u64> {
    // Linux counts in KiB.
    Ok(u64::try_from(getrusage(who)?.max_rss()).unwrap_or(0) * 1024)
}

pub(super) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
