//! A trial becomes a measurement: connect, warm up, measure, drain.
//!
//! Must not know: files, templates, or which driver moves the bytes.
//!
//! - `trial`: the coordinator, on the caller's thread: phases, deadline, what threads report.
//! - `thread`: one load thread: its runtime, its sessions, its clock ticks.
//! - `state`: what the connections of one load thread share.
//! - `connect`: a session stands when it is logged in and its statements are prepared.
//! - `rota`: which worker is polled when.
//! - `worker`: the hot loop of one connection.
//! - `schedule`, `pacer`: an open loop's due times, and who is free to start what is due.
//! - `alarm`: waking at an instant, to the microsecond.
//! - `recorder`: the counters of one load thread; `sum`: those of all as a measurement.
//! - `probe`: what the server counts meanwhile.
//! - `window`: which instant belongs to which phase.
//! - `sysbench`: the other engine: a trial is one run of the real program.
//! - `scheduling`, `client`: where load threads run, what they took, whether they were the limit.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::driver::Driver;
use crate::model::{
    CellId, Interrupt, Interval, Measurement, OpenLoop, StatementKind, TrialStatus,
};
use crate::stats::Histogram;
use crate::workload::Program;

mod alarm;
mod client;
mod connect;
mod pacer;
mod patience;
mod probe;
mod recorder;
mod rota;
mod schedule;
mod scheduling;
mod state;
mod sum;
mod sysbench;
mod thread;
mod trial;
mod window;
mod worker;

pub use probe::{Looks, Probe, ProcessReader};
pub use scheduling::LoadPolicy;
pub use sysbench::{SysbenchSetup, run_sysbench};
pub use thread::{LoadCpus, default_load_threads};

/// Measures one trial. It blocks until the trial is over, and it never fails: what could not be
/// measured is a measurement whose status says why, with what was counted until then.
///
/// The trial ends on time whatever the server does: `connect_limit` bounds each step of
/// connecting, `drain_limit` what is still open after the window, and an interrupt ends it at
/// once.
pub fn run_trial<D: Driver>(
    driver: &D,
    setup: &TrialSetup,
    interrupt: &Interrupt,
    observe: &mut dyn FnMut(TrialEvent<'_>),
) -> TrialOutput {
    trial::run(driver, setup, interrupt, observe)
}

/// The seed of one trial: another one for each cell and repetition of a run, the same whenever
/// the run is replayed. FNV-1a over the cell's name, folded into the run's seed.
pub fn trial_seed(run_seed: u64, cell: &CellId, repetition: u32) -> u64 {
    const OFFSET_BASIS: u64 = 0xCBF2_9CE4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01B3;
    let name = format!("{cell}/{repetition}");
    let hash =
        name.bytes().fold(OFFSET_BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    run_seed ^ hash
}

/// What is to be measured, and for how long.
#[derive(Debug, Clone)]
pub struct TrialSetup {
    /// What one event does.
    pub program: Arc<Program>,
    /// Connections, each with one statement under way at most.
    pub concurrency: u32,
    /// How many prepared statements a connection may hold at a time, at least one. Where the
    /// program has more, they are prepared as they come up, and closed in turn.
    pub handles_max: usize,
    /// Load before the window, not counted.
    pub warmup: Duration,
    /// The longest that the load before the window may take to become level; no longer than
    /// `warmup`: it takes that.
    pub warmup_max: Duration,
    /// How far from level a rate may be, as a share of its mean.
    pub level: f64,
    /// The measured window.
    pub duration: Duration,
    /// How long after the window open events are waited for.
    pub drain_limit: Duration,
    /// How long a connection may take to be made, and then each of its statements to be prepared.
    pub connect_limit: Duration,
    /// From which, with the number of a connection, every draw of that connection follows.
    pub seed: u64,
    /// Threads among which the connections are shared evenly; at most `concurrency` are started.
    pub load_threads: u32,
    /// When events are due; `None`: closed loop.
    pub open_loop: Option<OpenLoop>,
    /// Processors for the load threads, one each where there are enough, all for all otherwise.
    /// Empty: wherever this process may run.
    pub cpus: Vec<u32>,
    /// The load threads' scheduling policy.
    pub policy: LoadPolicy,
    /// How long the calling thread has been ready to run, since it began, without a processor;
    /// `None` where that is not known. The system tells it in a file, and this module reads
    /// none: who sets up a trial brings the reader. It is called twice by each load thread.
    pub run_delay: fn() -> Option<Duration>,
}

/// What an observer sees while a trial runs.
#[derive(Debug)]
pub enum TrialEvent<'a> {
    /// One more session stands and is prepared.
    Connected {
        /// How many stand by now.
        sessions: u32,
    },
    /// The load begins now; what of it is measured is known already.
    Window {
        /// From when.
        start: Instant,
        /// To when.
        end: Instant,
    },
    /// A phase begins.
    Phase(Phase),
    /// A second of the window is over, and every load thread has told what it counted.
    Interval(&'a Interval),
}

/// The phases of a trial, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Sessions are made and statements prepared.
    Connect,
    /// Load that is not counted.
    Warmup,
    /// Load that is counted.
    Measure,
    /// No event starts; open ones are waited for.
    Drain,
}

/// A measurement and the distributions behind it.
#[derive(Debug, Clone)]
pub struct TrialOutput {
    /// The numbers.
    pub measurement: Measurement,
    /// Response time of the events that [`Measurement::events`] counts.
    pub latency: Histogram,
    /// Service time of the same events.
    pub service: Histogram,
    /// Service time of statements, for each kind of the program.
    pub statement_latency: Vec<(StatementKind, Histogram)>,
    /// What was sent in all phases together.
    pub sent: Sent,
}

/// What a trial sent from its first connection to its last, to be held against what the server
/// counted meanwhile.
#[derive(Debug, Clone, Default)]
pub struct Sent {
    /// Statements that were answered, also with an error; empty where that is not known.
    pub statements: Vec<(StatementKind, u64)>,
    /// ROLLBACKs after errors.
    pub rollbacks: u64,
    /// Statements that ended with an error, or with a lost connection.
    pub failed: u64,
}

impl TrialOutput {
    /// A trial that could not even start: nothing was counted.
    pub fn failed(reason: &str) -> Self {
        let measurement = Measurement {
            status: TrialStatus::Failed { reason: reason.to_owned() },
            warmup_us: None,
            warmup_level: None,
            measured_us: 0,
            events: 0,
            queries: 0,
            queries_read: 0,
            queries_write: 0,
            queries_other: 0,
            queries_retried: 0,
            errors: Vec::new(),
            reconnects: 0,
            events_unfinished: 0,
            oldest_unfinished_us: None,
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
            load_threads: 0,
        };
        let (latency, service) = (Histogram::new(), Histogram::new());
        Self { measurement, latency, service, statement_latency: Vec::new(), sent: Sent::default() }
    }
}
