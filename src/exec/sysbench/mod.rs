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
use crate::sysbench::{CommandLine, IntervalLine, Reader, Run, Seen};

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
    /// The run before the one that is measured; `None`: no warm-up.
    pub warmup_line: Option<CommandLine>,
    /// The run that is measured.
    pub command_line: CommandLine,
    /// Connections, each a thread of sysbench's.
    pub concurrency: u32,
    /// Load before the window, whole seconds.
    pub warmup: Duration,
    /// The measured window, whole seconds.
    pub duration: Duration,
    /// Whether a rate is asked for: then latency has the time in the queue in it.
    pub is_open_loop: bool,
    /// How long connecting and preparing may take; sysbench itself gives up after 30 s.
    pub connect_limit: Duration,
    /// How long after the end of its load a run may take to end.
    pub drain_limit: Duration,
    /// Processors for it; empty: wherever this process may run.
    pub cpus: Vec<u32>,
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
    if let Some(line) = &setup.warmup_line {
        let warmup = Stage { phase: Phase::Warmup, line, length: setup.warmup };
        let ended = warmup.run(setup, interrupt, observe);
        let status = match ended.status(failure::ended_badly) {
            TrialStatus::Done => None,
            TrialStatus::Failed { reason } => {
                Some(TrialStatus::Failed { reason: format!("in the warm-up {reason}") })
            }
            TrialStatus::Interrupted => Some(TrialStatus::Interrupted),
        };
        if let Some(status) = status {
            // Nothing of the window was seen.
            return Frame { setup, status, cpu: None }.output(&Run::default());
        }
    }
    let line = &setup.command_line;
    let measured = Stage { phase: Phase::Measure, line, length: setup.duration };
    let ended = measured.run(setup, interrupt, observe);
    Frame { setup, status: ended.status(failure::of), cpu: ended.cpu }.output(&ended.run)
}

/// One run of the program.
struct Stage<'a> {
    /// What begins with its load.
    phase: Phase,
    line: &'a CommandLine,
    length: Duration,
}

/// How a run went.
struct Ended {
    run: Run,
    /// Why it was stopped before it ended.
    stop: Option<Stop>,
    /// `Err`: it could not be started.
    end: Result<End, String>,
    /// Processor time of the child from the start of its load to its report.
    cpu: Option<Duration>,
}

/// Why a child is stopped before it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stop {
    Interrupted,
    /// It did not do that in time.
    Overdue(String),
}

impl Stage<'_> {
    fn run(
        &self,
        setup: &SysbenchSetup,
        interrupt: &Interrupt,
        observe: &mut dyn FnMut(TrialEvent<'_>),
    ) -> Ended {
        match Process::spawn(setup, self.line) {
            Ok(process) => Watch::new((setup, self), interrupt, observe, process).run(),
            Err(error) => Ended {
                run: Run::default(),
                stop: None,
                end: Err(failure::not_started(&setup.program, &error)),
                cpu: None,
            },
        }
    }
}

impl Ended {
    /// `judge` says what is wrong with a run that ended by itself.
    fn status(&self, judge: fn(&Run, &End) -> Option<String>) -> TrialStatus {
        let reason = match (&self.stop, &self.end) {
            (Some(Stop::Interrupted), _) => return TrialStatus::Interrupted,
            (_, Err(reason)) => Some(reason.clone()),
            (Some(Stop::Overdue(what)), Ok(end)) => Some(failure::overdue(what, &self.run, end)),
            (None, Ok(end)) => judge(&self.run, end),
        };
        reason.map_or(TrialStatus::Done, |reason| TrialStatus::Failed { reason })
    }
}

/// A run under way.
struct Watch<'a> {
    setup: &'a SysbenchSetup,
    stage: &'a Stage<'a>,
    interrupt: &'a Interrupt,
    observe: &'a mut dyn FnMut(TrialEvent<'_>),
    process: Process,
    reader: Reader,
    /// When the interval before ended, milliseconds on sysbench's clock.
    interval_end_ms: u64,
    /// The child's processor time when its load began and when it was over.
    cpu: (Option<Duration>, Option<Duration>),
    has_started: bool,
    has_ended: bool,
    deadline: Instant,
    stop: Option<Stop>,
}

impl<'a> Watch<'a> {
    fn new(
        (setup, stage): (&'a SysbenchSetup, &'a Stage<'a>),
        interrupt: &'a Interrupt,
        observe: &'a mut dyn FnMut(TrialEvent<'_>),
        process: Process,
    ) -> Self {
        Self {
            setup,
            stage,
            interrupt,
            observe,
            process,
            reader: Reader::default(),
            interval_end_ms: 0,
            cpu: (None, None),
            has_started: false,
            has_ended: false,
            deadline: Instant::now() + setup.connect_limit,
            stop: None,
        }
    }

    fn run(mut self) -> Ended {
        self.listen();
        let end = self.process.end();
        let run = self.reader.finish().into_iter().next_back().unwrap_or_default();
        let cpu = self.cpu.0.zip(self.cpu.1).map(|(begin, end)| end.saturating_sub(begin));
        Ended { run, stop: self.stop, end: Ok(end), cpu }
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
        match self.has_started {
            true => format!("end within {} s of its load", self.setup.drain_limit.as_secs()),
            false => format!("begin its load within {:?}", self.setup.connect_limit),
        }
    }

    fn stop_with(&mut self, stop: Stop) {
        self.stop = Some(stop);
        self.deadline = Instant::now() + GRACE;
        self.process.signal(Signal::SIGTERM);
    }

    fn take(&mut self, line: &str) {
        match self.reader.line(line) {
            Seen::Started => {
                self.has_started = true;
                self.deadline = Instant::now() + self.stage.length + self.setup.drain_limit;
                if self.stage.phase == Phase::Measure {
                    let start = Instant::now();
                    let end = start + self.stage.length;
                    (self.observe)(TrialEvent::Window { start, end });
                }
                (self.observe)(TrialEvent::Phase(self.stage.phase));
                self.cpu.0 = self.process.cpu_time();
            }
            Seen::Interval(line) if self.stage.phase == Phase::Measure => self.take_interval(line),
            Seen::Ended if !self.has_ended => {
                self.has_ended = true;
                self.cpu.1 = self.process.cpu_time();
                if self.stage.phase == Phase::Measure {
                    (self.observe)(TrialEvent::Phase(Phase::Drain));
                }
            }
            Seen::Ended | Seen::Interval(_) | Seen::Checkpoint | Seen::Nothing => {}
        }
    }

    fn take_interval(&mut self, line: IntervalLine) {
        if let Some(interval) = interval(&line, self.interval_end_ms) {
            self.interval_end_ms = line.at_ms;
            (self.observe)(TrialEvent::Interval(&interval));
        }
    }
}
