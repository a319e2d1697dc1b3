//! The other engine: a trial is one run of the real sysbench.
//!
//! Must not know: files, how arguments are made, or what a page does with the numbers.
//!
//! - `process`: the child: its output as lines, its processor time, its end.
//! - `output`: what it printed as a measurement.
//! - `failure`: why there is none, in sysbench's words.

use std::path::PathBuf;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::model::{Interrupt, TrialStatus};
use crate::sysbench::{CommandLine, IntervalLine, Reader, Run, Seen, whole_seconds};

use super::{Phase, TrialEvent, TrialOutput};
use output::{Frame, interval};
use process::{End, Process};

mod failure;
mod output;
mod process;

/// How often the wish to stop and the clock are looked at.
const POLL: Duration = Duration::from_millis(50);
/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(5);

/// One trial of sysbench.
#[derive(Debug, Clone)]
pub struct SysbenchSetup {
    /// Its program: a path, or a name to be found on PATH.
    pub program: PathBuf,
    /// What it is told. The checkpoint in it ends the warm-up.
    pub command_line: CommandLine,
    /// Connections, each a thread of sysbench's.
    pub concurrency: u32,
    /// Load before the window; sysbench rounds it up to whole seconds.
    pub warmup: Duration,
    /// The measured window; the same.
    pub duration: Duration,
    /// Whether a rate is asked for: then latency has the time in the queue in it.
    pub is_open_loop: bool,
    /// How long connecting and preparing may take; sysbench itself gives up after 30 s.
    pub connect_limit: Duration,
    /// How long after the window it may take to end.
    pub drain_limit: Duration,
    /// Processors for it; empty: wherever this process may run.
    pub cpus: Vec<u32>,
}

impl SysbenchSetup {
    fn warmup_ms(&self) -> u64 {
        whole_seconds(self.warmup).saturating_mul(1_000)
    }

    fn load_time(&self) -> Duration {
        let seconds = whole_seconds(self.warmup) + whole_seconds(self.duration).max(1);
        Duration::from_secs(seconds)
    }
}

/// Measures one trial with sysbench. It blocks until the child has ended, and it never fails:
/// what could not be measured is a measurement whose status says why, with the seconds that were
/// seen until then.
///
/// The trial ends on time whatever server and child do: a child that overstays is terminated by
/// its process id, then killed; an interrupt does the same at once.
pub fn run_sysbench(
    setup: &SysbenchSetup,
    interrupt: &Interrupt,
    observe: &mut dyn FnMut(TrialEvent<'_>),
) -> TrialOutput {
    observe(TrialEvent::Phase(Phase::Connect));
    match Process::spawn(setup) {
        Ok(process) => Trial::new(setup, interrupt, observe, process).run(),
        Err(error) => TrialOutput::failed(&failure::not_started(&setup.program, &error)),
    }
}

/// Why a child is stopped before it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stop {
    Interrupted,
    /// It did not do that in time.
    Overdue(String),
}

struct Trial<'a> {
    setup: &'a SysbenchSetup,
    interrupt: &'a Interrupt,
    observe: &'a mut dyn FnMut(TrialEvent<'_>),
    process: Process,
    reader: Reader,
    /// When the interval before ended, milliseconds on sysbench's clock.
    interval_end_ms: u64,
    /// The child's processor time when the window began and when it was over.
    cpu: (Option<Duration>, Option<Duration>),
    has_ended: bool,
    deadline: Instant,
    stop: Option<Stop>,
}

impl<'a> Trial<'a> {
    fn new(
        setup: &'a SysbenchSetup,
        interrupt: &'a Interrupt,
        observe: &'a mut dyn FnMut(TrialEvent<'_>),
        process: Process,
    ) -> Self {
        Self {
            setup,
            interrupt,
            observe,
            process,
            reader: Reader::default(),
            interval_end_ms: setup.warmup_ms(),
            cpu: (None, None),
            has_ended: false,
            deadline: Instant::now() + setup.connect_limit,
            stop: None,
        }
    }

    fn run(mut self) -> TrialOutput {
        self.listen();
        let end = self.process.end();
        let runs = self.reader.finish();
        let run = runs.into_iter().next_back().unwrap_or_default();
        let status = status(&run, self.stop.as_ref(), &end);
        let cpu = self.cpu.0.zip(self.cpu.1).map(|(begin, end)| end.saturating_sub(begin));
        Frame { setup: self.setup, status, cpu }.output(&run)
    }

    /// Hears the child until it closes its output, or is killed.
    fn listen(&mut self) {
        loop {
            match self.process.lines.recv_timeout(POLL) {
                Ok(line) => self.take(&line),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.stop.is_none() {
                self.look_for_a_reason_to_stop();
            } else if Instant::now() >= self.deadline {
                self.process.signal(Signal::SIGKILL);
                return;
            }
        }
    }

    fn look_for_a_reason_to_stop(&mut self) {
        if self.interrupt.is_requested() {
            self.stop_with(Stop::Interrupted);
        } else if Instant::now() >= self.deadline {
            self.stop_with(Stop::Overdue(self.overdue()));
        }
    }

    fn overdue(&self) -> String {
        match self.cpu.0.is_some() || self.has_ended {
            true => format!("end within {} s of its window", self.setup.drain_limit.as_secs()),
            false => format!("come to its window within {:?}", self.setup.connect_limit),
        }
    }

    fn stop_with(&mut self, stop: Stop) {
        self.stop = Some(stop);
        self.deadline = Instant::now() + GRACE;
        self.process.signal(Signal::SIGTERM);
    }

    fn take(&mut self, line: &str) {
        let has_warmup = self.setup.warmup_ms() > 0;
        match self.reader.line(line) {
            Seen::Started => {
                self.deadline = Instant::now() + self.setup.load_time() + self.setup.drain_limit;
                let phase = if has_warmup { Phase::Warmup } else { Phase::Measure };
                (self.observe)(TrialEvent::Phase(phase));
                self.cpu.0 = self.process.cpu_time();
            }
            Seen::Checkpoint => {
                self.cpu.0 = self.process.cpu_time();
                (self.observe)(TrialEvent::Phase(Phase::Measure));
            }
            Seen::Interval(line) => self.take_interval(line),
            Seen::Ended if !self.has_ended => {
                self.has_ended = true;
                self.cpu.1 = self.process.cpu_time();
                (self.observe)(TrialEvent::Phase(Phase::Drain));
            }
            Seen::Ended | Seen::Nothing => {}
        }
    }

    fn take_interval(&mut self, line: IntervalLine) {
        if let Some(interval) = interval(&line, self.interval_end_ms, self.setup.warmup_ms()) {
            self.interval_end_ms = line.at_ms;
            (self.observe)(TrialEvent::Interval(&interval));
        }
    }
}

fn status(run: &Run, stop: Option<&Stop>, end: &End) -> TrialStatus {
    match stop {
        Some(Stop::Interrupted) => TrialStatus::Interrupted,
        Some(Stop::Overdue(what)) => {
            TrialStatus::Failed { reason: failure::overdue(what, run, end) }
        }
        None => match failure::of(run, end) {
            Some(reason) => TrialStatus::Failed { reason },
            None => TrialStatus::Done,
        },
    }
}
