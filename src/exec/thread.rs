//! One load thread: a current-thread runtime, on which all its connections are one local task.
//!
//! Must not know: the other load threads, or what becomes of the numbers. It talks to the
//! coordinator once a session, once a second and once at its end, never per event.

use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::mpsc::Sender;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use tokio::runtime::LocalOptions;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use crate::driver::{Driver, DriverError, Session, Sockets};
use crate::model::Pace;
use crate::stats::Histogram;
use crate::workload::Generator;

use super::TrialSetup;
use super::client::{ClientUse, Reading, watch_lateness};
use super::connect::stand;
use super::pacer::Pacer;
use super::recorder::{Second, Totals};
use super::rota::Rota;
use super::schedule::{Schedule, Share};
use super::scheduling::arrange;
use super::state::ThreadState;
use super::window::Window;
use super::worker;

/// Which processors load threads have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadCpus {
    /// So many, and the server does not use them.
    Own(u32),
    /// So many, and the server uses them too.
    Shared(u32),
}

/// How many load threads serve so many connections. With processors of their own one on each;
/// where the server shares them one less, so that a reply finds a processor free of its reader.
/// With very many connections it is one on each there too: one thread would compete with
/// hundreds of the server's, and get the share of one. No thread has fewer than eight
/// connections: one that seldom has two replies to read at once only adds wake-ups.
pub fn default_load_threads(cpus: LoadCpus, concurrency: u32) -> u32 {
    let by_processors = match cpus {
        LoadCpus::Own(cpus) => cpus,
        LoadCpus::Shared(cpus) if concurrency >= cpus.saturating_mul(CROWD) => cpus,
        LoadCpus::Shared(cpus) => cpus.saturating_sub(1),
    };
    let by_connections = concurrency.div_ceil(8);
    by_processors.min(by_connections).max(1)
}

/// Connections for each processor that make a crowd of server threads: on two processors a second
/// load thread brought a tenth at 64 connections, a fifth at 256 and a quarter at 1024, for a
/// tenth more processor time per query.
const CROWD: u32 = 128;

/// Connections that all threads together have under way at a time: below the backlog of
/// pending connections that servers set themselves (50 to 80 in MySQL and MariaDB).
const CONNECTING_AT_ONCE: u32 = 32;

/// How often the workers of a thread may have their turn before the runtime looks at its timers:
/// a few hundred replies, a few milliseconds.
const TURNS: u32 = 8;

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
    /// A second of the warm-up is over; so many statements were answered since the load began.
    Warmed { second: u32, sent: u64 },
    /// A second of the window is over, or was begun when the trial was stopped.
    Second(Second),
    /// The thread is about to end; on `Err` it could not do its work, and says why.
    Ended { result: Result<Box<ThreadEnd>, String> },
}

/// What a load thread leaves behind.
#[derive(Debug, Default)]
pub(super) struct ThreadEnd {
    pub(super) totals: Totals,
    pub(super) client: ClientUse,
    /// In an open loop.
    pub(super) pace: Option<Pace>,
    pub(super) unfinished: u64,
    pub(super) oldest_unfinished_us: Option<u64>,
    pub(super) youngest_unfinished_us: Option<u64>,
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

    /// How many connections this thread has.
    pub(super) fn connections(&self) -> usize {
        self.streams().count()
    }

    fn streams(&self) -> impl Iterator<Item = u32> + use<D> {
        (self.number..self.setup.concurrency).step_by(self.threads as usize)
    }

    fn run(self) -> Result<Box<ThreadEnd>, String> {
        arrange(self.setup.policy, &self.setup.cpus, (self.number, self.threads))
            .map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .event_interval(TURNS)
            .build_local(LocalOptions::default())
            .map_err(|error| format!("the runtime of a load thread cannot start: {error}"))?;
        let result = runtime.block_on(self.drive());
        // Sessions may need the runtime to say goodbye when they are dropped.
        let handle = runtime.handle().clone();
        let _context = handle.enter();
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
        let pacer = self.pacer(window, sessions.len())?;
        let state = Rc::new(ThreadState::new(&self, window, pacer));
        let TrialSetup { program, handles_max, connect_limit, seed, concurrency, .. } = &self.setup;
        let sockets = Rc::new(Sockets::new(sessions.len()).map_err(no_sockets)?);
        let origin = Rc::new(worker::Origin {
            sockets: Rc::clone(&sockets),
            driver: self.driver.clone(),
            program: program.clone(),
            handles_max: *handles_max,
            connect_limit: *connect_limit,
        });
        let mut workers = Vec::with_capacity(sessions.len());
        for (place, (stream, session)) in sessions.into_iter().enumerate() {
            let session = session.join(&sockets, place).map_err(|error| error.to_string())?;
            let stream = u64::from(stream);
            let generator = Generator::among(program.clone(), *seed, stream, *concurrency);
            let origin = origin.clone();
            let start = worker::Start { origin, session, generator, place };
            workers.push(worker::run(start, state.clone()));
        }
        let rota = Rota::new(sockets, workers.into_iter()).map_err(no_sockets)?;
        let mut tasks = JoinSet::new();
        tasks.spawn_local(async { rota.await.map_err(no_sockets) });
        let watched = state.clone();
        tasks.spawn_local(async move {
            // Without a file for a timer the lateness stays unknown, and the load goes on.
            let _ = watch_lateness(|| watched.window(), watched.lateness()).await;
            Ok(())
        });
        if state.pacer().is_some() {
            let state = state.clone();
            tasks.spawn_local(async move {
                match state.pacer() {
                    Some(pacer) => pacer.run().await.map_err(no_timer),
                    None => Ok(()),
                }
            });
        }
        self.supervise(&state, tasks).await
    }

    /// The open loop of this thread, if there is one.
    fn pacer(&self, window: Window, workers: usize) -> Result<Option<Pacer>, String> {
        let Some(open) = self.setup.open_loop else { return Ok(None) };
        let (threads, connections) = (self.threads, self.setup.concurrency);
        let share = Share { thread: self.number, threads, connections };
        let schedule = Schedule::new(open, self.setup.seed, share);
        Pacer::new(schedule, window, (workers, threads)).map(Some).map_err(no_timer)
    }

    /// The sessions of this thread, each with the number of its connection.
    async fn connect(&self) -> Result<Vec<(u32, D::Session)>, String> {
        let at_once = (CONNECTING_AT_ONCE / self.threads).max(1) as usize;
        let mut streams = self.streams();
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
        state: &ThreadState,
        mut tasks: JoinSet<Result<(), String>>,
    ) -> Result<Box<ThreadEnd>, String> {
        let mut timeline = Timeline::new(state.window(), self.setup.run_delay);
        while Instant::now() < timeline.window.deadline {
            tokio::select! {
                biased;
                changed = self.control.changed() => match (changed, *self.control.borrow()) {
                    (Ok(()), Control::Load(window)) => {
                        state.set_window(window);
                        timeline.set_window(window);
                    }
                    (Ok(()), Control::Stand) => {}
                    (Ok(()), Control::Stop) | (Err(_), _) => break,
                },
                () = sleep_until(timeline.next.into()) => self.tick(&mut timeline, state),
                joined = tasks.join_next() => match joined {
                    None => break,
                    Some(Ok(result)) => result?,
                    Some(Err(error)) => return Err(format!("a connection panicked: {error}")),
                }
            }
        }
        self.tick(&mut timeline, state);
        let last = state.recorder().take_last(Instant::now());
        last.into_iter().for_each(|second| self.tell(Message::Second(second)));
        Ok(Box::new(state.end(timeline.client_use(state.lateness().take()))))
    }

    fn tick(&self, timeline: &mut Timeline, state: &ThreadState) {
        let now = Instant::now();
        if let Some(second) = timeline.advance(now) {
            let sent = state.recorder().sent();
            self.tell(Message::Warmed { second, sent });
        }
        for second in state.recorder().take_finished(now) {
            self.tell(Message::Second(second));
        }
    }

    fn tell(&self, message: Message) {
        // A coordinator that went away has also closed the control channel, which ends us.
        let _ = self.outbox.send(message);
    }
}

/// The instants at which a load thread looks up: the seconds of the warm-up, the start of the
/// window, the end of each of its seconds, the deadline. Reads what the thread has taken at both
/// ends of the window.
struct Timeline {
    window: Window,
    next: Instant,
    /// Whole seconds of the warm-up that are over.
    warmed: u32,
    run_delay: fn() -> Option<Duration>,
    at_start: Option<Reading>,
    at_end: Option<Reading>,
}

impl Timeline {
    fn new(window: Window, run_delay: fn() -> Option<Duration>) -> Self {
        let mut timeline =
            Self { window, next: window.start, warmed: 0, run_delay, at_start: None, at_end: None };
        timeline.set_window(window);
        timeline
    }

    fn set_window(&mut self, window: Window) {
        self.window = window;
        self.next = self.warmed_at().min(window.start);
    }

    /// When the next second of the warm-up is over.
    fn warmed_at(&self) -> Instant {
        self.window.load + Window::INTERVAL * (self.warmed + 1)
    }

    /// Sets the next instant; which second of the warm-up is over, if one is.
    fn advance(&mut self, now: Instant) -> Option<u32> {
        if now < self.window.start {
            let second = (now >= self.warmed_at()).then_some(self.warmed);
            self.warmed += u32::from(second.is_some());
            self.next = self.warmed_at().min(self.window.start);
            return second;
        }
        if now >= self.window.start && self.at_start.is_none() {
            self.at_start = Some(Reading::now(self.run_delay));
        }
        if now >= self.window.end && self.at_end.is_none() {
            self.at_end = Some(Reading::now(self.run_delay));
        }
        self.next = match now.checked_duration_since(self.window.start) {
            None => self.window.start,
            Some(_) if now >= self.window.end => self.window.deadline,
            Some(elapsed) => {
                let second = elapsed.as_nanos() / Window::INTERVAL.as_nanos();
                self.window.end_of(u32::try_from(second).unwrap_or(u32::MAX))
            }
        };
        None
    }

    fn client_use(&self, lateness: Histogram) -> ClientUse {
        match (self.at_start, self.at_end) {
            (Some(start), Some(end)) => end.since(start, lateness),
            _ => ClientUse { lateness, ..ClientUse::default() },
        }
    }
}

fn no_sockets(error: io::Error) -> String {
    format!("a load thread cannot wait for its connections: {error}")
}

fn no_timer(error: io::Error) -> String {
    format!("an open loop needs a timer of the system, and there is none: {error}")
}

/// Resolves when the thread is asked to end, or nobody is left to ask it.
async fn stopped(control: &mut watch::Receiver<Control>) {
    let _ = control.wait_for(|control| matches!(control, Control::Stop)).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_is_left_to_the_server_and_each_thread_has_connections_to_serve() {
        use LoadCpus::{Own, Shared};
        let cases = [
            (Shared(1), 64, 1),
            (Shared(2), 64, 1),
            (Shared(2), 255, 1),
            (Shared(2), 256, 2),
            (Shared(16), 1024, 15),
            (Shared(16), 2048, 16),
            (Shared(16), 32, 4),
            (Shared(0), 0, 1),
            (Own(1), 64, 1),
            (Own(2), 64, 2),
            (Own(2), 8, 1),
            (Own(16), 1, 1),
        ];
        for (cpus, concurrency, threads) in cases {
            assert_eq!(default_load_threads(cpus, concurrency), threads, "{cpus:?}");
        }
    }
}
