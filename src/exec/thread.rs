//! One load thread: a current-thread runtime on which its connections are local tasks.
//!
//! Must not know: the other load threads, or what becomes of the numbers. It talks to the
//! coordinator once a session, once a second and once at its end, never per event.

use std::cell::{Cell, RefCell, RefMut};
use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::mpsc::Sender;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};
use preempt_rt::sched::{IntoSchedParams, Pid, Scheduler, set_scheduler};
use tokio::sync::watch;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::sleep_until;

use crate::driver::{Driver, DriverError};
use crate::workload::Generator;

use super::TrialSetup;
use super::connect::stand;
use super::recorder::{Recorder, Second, Totals};
use super::window::{Window, micros};
use super::worker;

/// How many load threads serve a client with so many processors and connections: all but one
/// processor of two or more, and no thread for fewer than eight connections, since a thread
/// that seldom has two replies to read at once only adds wake-ups.
pub fn default_load_threads(host_cpus: u32, concurrency: u32) -> u32 {
    let by_processors = host_cpus.saturating_sub(1);
    let by_connections = concurrency.div_ceil(8);
    by_processors.min(by_connections).max(1)
}

/// Connections that all threads together have under way at a time: below the backlog of
/// pending connections that servers set themselves (50 to 80 in MySQL and MariaDB).
const CONNECTING_AT_ONCE: u32 = 32;

/// A name look-up that hangs in the system must not hold the end of a trial.
const SHUTDOWN_LIMIT: Duration = Duration::from_millis(100);

/// A load thread that is to be started.
pub(super) struct LoadThread<D: Driver> {
    pub(super) driver: D,
    pub(super) setup: TrialSetup,
    /// Which thread this is, from 0, of how many.
    pub(super) number: u32,
    pub(super) threads: u32,
    pub(super) control: watch::Receiver<Control>,
    pub(super) outbox: Sender<Message>,
}

/// What the coordinator asks for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Control {
    /// Connect, then wait.
    Stand,
    /// Send events.
    Load(Window),
    /// Drop everything and end.
    Stop,
}

/// What a load thread tells.
#[derive(Debug)]
pub(super) enum Message {
    /// One more session stands.
    SessionUp,
    /// All sessions of the thread stand.
    Ready,
    /// Every connection of this thread fails, in these words; or (`None`) no longer every one.
    Failing { thread: u32, words: Option<String> },
    /// A second of the window is over.
    Second(Second),
    /// The thread is about to end; on `Err` it could not do its work, and says why.
    Ended { result: Result<Box<ThreadEnd>, String> },
}

/// What a load thread leaves behind.
#[derive(Debug, Default)]
pub(super) struct ThreadEnd {
    pub(super) totals: Totals,
    /// Processor time in the window; `None` if the window did not pass.
    pub(super) cpu_us: Option<u64>,
    pub(super) unfinished: u64,
    pub(super) oldest_unfinished_us: Option<u64>,
    /// Connections that were lost and could not be replaced before the window ended.
    pub(super) without_connection: u32,
    /// The last error of any phase.
    pub(super) last_error: Option<String>,
}

impl<D: Driver> LoadThread<D> {
    /// Starts the thread; [`Message::Ended`] is its last word, whatever happens in it.
    pub(super) fn spawn(self) -> io::Result<JoinHandle<()>> {
        Builder::new().name(format!("load-{}", self.number)).spawn(move || {
            let outbox = self.outbox.clone();
            let result = catch_unwind(AssertUnwindSafe(|| self.run()))
                .unwrap_or_else(|_| Err("a load thread panicked; please report this".into()));
            // Without a coordinator nobody is left to tell.
            let _ = outbox.send(Message::Ended { result });
        })
    }

    fn run(self) -> Result<Box<ThreadEnd>, String> {
        yield_to_the_server();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| format!("the runtime of a load thread cannot start: {error}"))?;
        let tasks = LocalSet::new();
        let result = tasks.block_on(&runtime, self.drive());
        {
            // Sessions may need the runtime to say goodbye when they are dropped.
            let _context = runtime.enter();
            drop(tasks);
        }
        runtime.shutdown_timeout(SHUTDOWN_LIMIT);
        result
    }

    async fn drive(mut self) -> Result<Box<ThreadEnd>, String> {
        let mut control = self.control.clone();
        let sessions = tokio::select! {
            sessions = self.connect() => sessions?,
            () = stopped(&mut control) => return Ok(Box::default()),
        };
        self.tell(Message::Ready);
        let Some(window) = self.start().await else { return Ok(Box::default()) };
        let state = Rc::new(ThreadState::new(&self, window, sessions.len()));
        let mut workers = JoinSet::new();
        for (place, (stream, session)) in sessions.into_iter().enumerate() {
            let program = self.setup.program.clone();
            let generator = Generator::new(program.clone(), self.setup.seed, u64::from(stream));
            let start = worker::Start {
                driver: self.driver.clone(),
                program,
                handles_max: self.setup.handles_max,
                connect_limit: self.setup.connect_limit,
                session,
                generator,
                place,
            };
            workers.spawn_local(worker::run(start, window, state.clone()));
        }
        self.supervise(window, &state, workers).await
    }

    /// The sessions of this thread, each with the number of its connection.
    async fn connect(&self) -> Result<Vec<(u32, D::Session)>, String> {
        let at_once = (CONNECTING_AT_ONCE / self.threads).max(1) as usize;
        let mut streams = (self.number..self.setup.concurrency).step_by(self.threads as usize);
        let mut connecting = JoinSet::new();
        let mut sessions = Vec::new();
        loop {
            while connecting.len() < at_once {
                let Some(stream) = streams.next() else { break };
                connecting.spawn_local(self.stand(stream));
            }
            match connecting.join_next().await {
                None => break,
                Some(Ok(Ok(session))) => sessions.push(session),
                Some(Ok(Err(error))) => return Err(error.to_string()),
                Some(Err(error)) => return Err(format!("connecting panicked: {error}")),
            }
            self.tell(Message::SessionUp);
        }
        sessions.sort_unstable_by_key(|(stream, _)| *stream);
        Ok(sessions)
    }

    fn stand(
        &self,
        stream: u32,
    ) -> impl Future<Output = Result<(u32, D::Session), DriverError>> + use<D> {
        let (driver, setup) = (self.driver.clone(), self.setup.clone());
        async move {
            let TrialSetup { program, handles_max, connect_limit, .. } = &setup;
            Ok((stream, stand(&driver, program, *handles_max, *connect_limit).await?))
        }
    }

    /// Waits for the start; `None` if there will be none.
    async fn start(&mut self) -> Option<Window> {
        let heard = self.control.wait_for(|control| !matches!(control, Control::Stand)).await;
        match heard.as_deref() {
            Ok(Control::Load(window)) => Some(*window),
            Ok(Control::Stand | Control::Stop) | Err(_) => None,
        }
    }

    /// Keeps the time while the workers work, and takes down what they leave.
    async fn supervise(
        &mut self,
        window: Window,
        state: &ThreadState,
        mut workers: JoinSet<()>,
    ) -> Result<Box<ThreadEnd>, String> {
        let mut timeline = Timeline::new(window);
        while Instant::now() < window.deadline {
            tokio::select! {
                biased;
                () = stopped(&mut self.control) => break,
                () = sleep_until(timeline.next.into()) => self.tick(&mut timeline, state),
                joined = workers.join_next() => match joined {
                    None => break,
                    Some(Ok(())) => {}
                    Some(Err(error)) => return Err(format!("a connection panicked: {error}")),
                }
            }
        }
        self.tick(&mut timeline, state);
        Ok(Box::new(state.end(timeline.cpu_us())))
    }

    fn tick(&self, timeline: &mut Timeline, state: &ThreadState) {
        let now = Instant::now();
        timeline.advance(now);
        for second in state.recorder().take_finished(now) {
            self.tell(Message::Second(second));
        }
    }

    fn tell(&self, message: Message) {
        // A coordinator that went away has also closed the control channel, which ends us.
        let _ = self.outbox.send(message);
    }
}

/// The instants at which a load thread looks up: the start of the window, the end of each of
/// its seconds, the deadline. Reads the thread's processor time at both ends of the window.
struct Timeline {
    window: Window,
    next: Instant,
    cpu_at_start: Option<Duration>,
    cpu_at_end: Option<Duration>,
}

impl Timeline {
    fn new(window: Window) -> Self {
        Self { window, next: window.start, cpu_at_start: None, cpu_at_end: None }
    }

    fn advance(&mut self, now: Instant) {
        if now >= self.window.start && self.cpu_at_start.is_none() {
            self.cpu_at_start = thread_cpu_time();
        }
        if now >= self.window.end && self.cpu_at_end.is_none() {
            self.cpu_at_end = thread_cpu_time();
        }
        self.next = match now.checked_duration_since(self.window.start) {
            None => self.window.start,
            Some(_) if now >= self.window.end => self.window.deadline,
            Some(elapsed) => {
                let second = elapsed.as_nanos() / Window::INTERVAL.as_nanos();
                self.window.end_of(u32::try_from(second).unwrap_or(u32::MAX))
            }
        };
    }

    fn cpu_us(&self) -> Option<u64> {
        Some(micros(self.cpu_at_end?.saturating_sub(self.cpu_at_start?)))
    }
}

/// What the workers of one load thread share. They run on one thread, one at a time, and hold
/// none of it across an await.
pub(super) struct ThreadState {
    recorder: RefCell<Recorder>,
    /// For each worker, when its open event was due.
    open: Vec<Cell<Option<Instant>>>,
    /// For each worker, whether all that it sends fails.
    failing: Vec<Cell<bool>>,
    without_connection: Cell<u32>,
    last_error: RefCell<Option<DriverError>>,
    thread: u32,
    outbox: Sender<Message>,
}

impl ThreadState {
    fn new<D: Driver>(thread: &LoadThread<D>, window: Window, workers: usize) -> Self {
        let program = &thread.setup.program;
        let kinds = (0..program.len()).map(|step| program.kind(step));
        Self {
            recorder: RefCell::new(Recorder::new(window, kinds)),
            open: vec![Cell::new(None); workers],
            failing: vec![Cell::new(false); workers],
            without_connection: Cell::new(0),
            last_error: RefCell::new(None),
            thread: thread.number,
            outbox: thread.outbox.clone(),
        }
    }

    /// The counters, for a moment.
    pub(super) fn recorder(&self) -> RefMut<'_, Recorder> {
        self.recorder.borrow_mut()
    }

    /// A worker's event is under way; it was due then.
    pub(super) fn opened(&self, place: usize, due: Instant) {
        self.open[place].set(Some(due));
    }

    /// A worker's event is over.
    pub(super) fn closed(&self, place: usize) {
        self.open[place].set(None);
    }

    /// An error that may be the reason why a trial fails.
    pub(super) fn noticed(&self, error: &DriverError) {
        *self.last_error.borrow_mut() = Some(error.clone());
    }

    /// All that a worker sends fails.
    pub(super) fn failing(&self, place: usize, error: &DriverError) {
        if !self.failing[place].replace(true) && self.failing.iter().all(Cell::get) {
            self.tell_failing(Some(error.to_string()));
        }
    }

    /// An event of a worker succeeded after others had failed.
    pub(super) fn recovered(&self, place: usize) {
        let all_failed = self.failing.iter().all(Cell::get);
        self.failing[place].set(false);
        if all_failed {
            self.tell_failing(None);
        }
    }

    /// A worker ended with its connection lost.
    pub(super) fn ended_without_connection(&self) {
        self.without_connection.set(self.without_connection.get() + 1);
    }

    fn tell_failing(&self, words: Option<String>) {
        let _ = self.outbox.send(Message::Failing { thread: self.thread, words });
    }

    fn end(&self, cpu_us: Option<u64>) -> ThreadEnd {
        let open: Vec<Instant> = self.open.iter().filter_map(Cell::get).collect();
        ThreadEnd {
            totals: self.recorder().take_totals(),
            cpu_us,
            unfinished: open.len() as u64,
            oldest_unfinished_us: open.iter().min().map(|due| micros(due.elapsed())),
            without_connection: self.without_connection.get(),
            last_error: self.last_error.borrow().as_ref().map(DriverError::to_string),
        }
    }
}

/// Resolves when the thread is asked to end, or nobody is left to ask it.
async fn stopped(control: &mut watch::Receiver<Control>) {
    let _ = control.wait_for(|control| matches!(control, Control::Stop)).await;
}

/// Where client and server share processors, a thread that is woken for each reply would push
/// the server off its processor each time. Under SCHED_BATCH it waits for its turn, and finds
/// more replies when it comes. Linux grants this to everybody; where a sandbox forbids it, the
/// load is as valid as before, only dearer.
fn yield_to_the_server() {
    let priority = 0.into_sched_params();
    let _ = set_scheduler(Pid::current_thread(), Scheduler::SCHED_BATCH, priority);
}

fn thread_cpu_time() -> Option<Duration> {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).ok().map(Duration::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_is_left_and_each_thread_has_connections_to_serve() {
        let cases = [(1, 64, 1), (2, 64, 1), (16, 1024, 15), (16, 32, 4), (16, 1, 1), (0, 0, 1)];
        for (cpus, concurrency, threads) in cases {
            assert_eq!(default_load_threads(cpus, concurrency), threads);
        }
    }

    #[test]
    fn a_load_thread_runs_under_the_batch_policy() {
        let policy = std::thread::spawn(|| {
            yield_to_the_server();
            preempt_rt::sched::get_scheduler(Pid::current_thread())
        });
        assert_eq!(policy.join().unwrap().unwrap(), Scheduler::SCHED_BATCH);
    }
}
