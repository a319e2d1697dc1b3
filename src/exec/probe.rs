//! Looks at the server while a trial runs: before the load, at each second of the measured
//! window, and after it.
//!
//! Must not know: what is sent meanwhile, or what a count means. It has a thread and a connection
//! of its own; a server that does not answer it costs evidence, never the trial.

use std::collections::BTreeSet;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::window::{Window, micros};
use crate::driver::DriverError;
use crate::driver::adapter::Admin;
use crate::model::{Counter, Counters, Endpoint, Evidence, ProcessUse, ServerUse};

/// How long one look may take, a new connection for it included.
const LOOK_LIMIT: Duration = Duration::from_secs(5);

/// Less of the window than this is no evidence of the whole.
const COVERED_PERCENT: u64 = 75;

/// Reads what the server's process has used; only where it is on this host.
pub type ProcessReader = Box<dyn Fn() -> Option<ProcessUse> + Send>;

/// A thread that looks at a server.
#[derive(Debug)]
pub struct Probe {
    orders: Sender<Order>,
    thread: JoinHandle<Looks>,
}

/// What was seen, in the order of time.
#[derive(Debug, Default)]
pub struct Looks {
    looks: Vec<Look>,
    window: Option<(Instant, Instant)>,
    trouble: Option<String>,
}

/// What a server had counted at one instant.
#[derive(Debug, Clone, Copy)]
struct Look {
    at: Instant,
    counters: Counters,
    process: Option<ProcessUse>,
}

enum Order {
    /// Look at each second between these.
    Window(Instant, Instant),
    /// Look once more, and end.
    Stop,
}

impl Probe {
    /// Looks once, then waits for orders. It returns when that first look is over, well or not.
    pub fn start(endpoint: &Endpoint, process: Option<ProcessReader>) -> io::Result<Self> {
        let endpoints = endpoint.each().map(|each| Endpoint { database: None, ..each });
        let servers: Vec<Server> =
            endpoints.map(|endpoint| Server { endpoint, admin: None }).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (orders, inbox) = channel();
        let (ready, is_ready) = channel();
        let thread = Builder::new().name("probe".to_owned()).spawn(move || {
            let mut watch = Watch { runtime, servers, process, seen: Looks::default() };
            watch.tell_apart();
            watch.look();
            // Nobody listens where the trial has ended already.
            let _ = ready.send(());
            watch.obey(&inbox);
            watch.seen
        })?;
        let _ = is_ready.recv();
        Ok(Self { orders, thread })
    }

    /// Tells when the measured window is.
    pub fn window(&self, start: Instant, end: Instant) {
        // A probe that has ended has said why.
        let _ = self.orders.send(Order::Window(start, end));
    }

    /// Looks once more and ends; what was seen.
    pub fn stop(self) -> Looks {
        let _ = self.orders.send(Order::Stop);
        let panicked = || Looks { trouble: Some("the probe panicked".into()), ..Looks::default() };
        self.thread.join().unwrap_or_else(|_| panicked())
    }
}

struct Watch {
    runtime: Runtime,
    /// Each server once.
    servers: Vec<Server>,
    process: Option<ProcessReader>,
    seen: Looks,
}

struct Server {
    endpoint: Endpoint,
    admin: Option<Admin>,
}

impl Server {
    /// A connection that stands, or a new one.
    async fn admin(&mut self) -> Result<&mut Admin, DriverError> {
        if self.admin.is_none() {
            self.admin = Some(Admin::connect(&self.endpoint).await?);
        }
        Ok(self.admin.as_mut().expect("it was connected a moment ago"))
    }
}

impl Watch {
    fn obey(&mut self, inbox: &Receiver<Order>) {
        let mut next: Option<Instant> = None;
        loop {
            let order = match next {
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => inbox.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match order {
                Ok(Order::Window(start, end)) => {
                    self.seen.window = Some((start, end));
                    next = Some(start);
                }
                Ok(Order::Stop) => break,
                Err(RecvTimeoutError::Timeout) => {
                    self.look();
                    next = self.seen.window.and_then(|window| tick(window, Instant::now()));
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        self.look();
        for admin in self.servers.iter_mut().filter_map(|server| server.admin.take()) {
            self.runtime.block_on(admin.close());
        }
    }

    /// Of several addresses, leaves one for each server: what leads to the same one would count
    /// it twice.
    fn tell_apart(&mut self) {
        if self.servers.len() < 2 {
            return;
        }
        let Self { runtime, servers, .. } = self;
        let identities = runtime.block_on(async {
            let asked = async {
                let mut identities = Vec::new();
                for server in servers.iter_mut() {
                    identities.push(server.admin().await?.identity().await?);
                }
                Ok::<_, DriverError>(identities)
            };
            timeout(LOOK_LIMIT, asked).await
        });
        let Ok(Ok(identities)) = identities else {
            return self.fail("cannot tell the servers of `endpoints` apart".to_owned());
        };
        let mut known = BTreeSet::new();
        let mut identities = identities.into_iter();
        servers.retain(|_| identities.next().is_some_and(|identity| known.insert(identity)));
    }

    fn look(&mut self) {
        let Self { runtime, servers, .. } = self;
        let counters = runtime.block_on(async {
            let look = async {
                let mut sum: Option<Counters> = None;
                for server in servers.iter_mut() {
                    let counters = server.admin().await?.counters().await?;
                    sum = Some(sum.map_or(counters, |sum| sum.plus(&counters)));
                }
                Ok::<_, DriverError>(sum.unwrap_or_default())
            };
            timeout(LOOK_LIMIT, look).await
        });
        match counters {
            Ok(Ok(counters)) => {
                let process = self.process.as_ref().and_then(|read| read());
                self.seen.looks.push(Look { at: Instant::now(), counters, process });
            }
            Ok(Err(error)) => self.fail(format!("cannot read the server's counters: {error}")),
            Err(_) => self.fail(format!("no counters within {} s", LOOK_LIMIT.as_secs())),
        }
    }

    /// The first trouble is told; the next look tries a new connection.
    fn fail(&mut self, words: String) {
        self.servers.iter_mut().for_each(|server| server.admin = None);
        self.seen.trouble.get_or_insert(words);
    }
}

/// The first whole second of the window after `now`, its end included.
fn tick((start, end): (Instant, Instant), now: Instant) -> Option<Instant> {
    let passed = now.saturating_duration_since(start).as_nanos() / Window::INTERVAL.as_nanos();
    let passed = u32::try_from(passed).unwrap_or(u32::MAX);
    let next = start.checked_add(Window::INTERVAL.checked_mul(passed.checked_add(1)?)?)?;
    let next = next.min(end);
    (next > now).then_some(next)
}

impl Looks {
    /// What was done in the measured window; empty where it never began.
    pub fn evidence(&self) -> Evidence {
        let mut evidence = Evidence { trouble: self.trouble.clone(), ..Evidence::default() };
        let Some((start, end)) = self.window else { return evidence };
        let late = end + Window::INTERVAL;
        let mut inside: Vec<&Look> =
            self.looks.iter().filter(|look| start <= look.at && look.at < late).collect();
        // The look at the end of the window comes a little after it; what comes after that one
        // sees the drain.
        if let Some(last) = inside.iter().position(|look| look.at >= end) {
            inside.truncate(last + 1);
        }
        for pair in inside.windows(2) {
            let elapsed = pair[1].at.saturating_duration_since(start);
            evidence.seconds.push((micros(elapsed), pair[1].since(pair[0])));
        }
        if let [first, .., last] = inside[..] {
            evidence.window = last.since(first);
        }
        if let Some(words) = self.restarted(start) {
            evidence.trouble = Some(words);
        }
        let length = micros(end - start);
        if evidence.window.length_us.saturating_mul(100) < length.saturating_mul(COVERED_PERCENT) {
            evidence.trouble.get_or_insert_with(|| {
                let looked_at = evidence.window.length_us / 1_000;
                format!("looked at {looked_at} of {} ms of the window", length / 1_000)
            });
        }
        evidence
    }

    /// When the server's counters went back, if they did: a server counts from its start.
    fn restarted(&self, start: Instant) -> Option<String> {
        let questions = |look: &Look| look.counters.get(Counter::Questions);
        let went_back = |pair: &&[Look]| questions(&pair[1]) < questions(&pair[0]);
        let look = &self.looks.windows(2).find(went_back)?[1];
        let when = match look.at.checked_duration_since(start) {
            Some(after) => format!("at most {:.1} s into the window", after.as_secs_f64()),
            None => "before the window".to_owned(),
        };
        Some(format!("the server was started again {when}"))
    }

    /// What was done from before the load until after it.
    pub fn whole(&self) -> Option<ServerUse> {
        let (first, last) = (self.looks.first()?, self.looks.last()?);
        (first.at < last.at).then(|| last.since(first))
    }
}

impl Look {
    fn since(&self, earlier: &Self) -> ServerUse {
        ServerUse {
            length_us: micros(self.at - earlier.at),
            counters: self.counters.since(&earlier.counters),
            process: self.process.zip(earlier.process).and_then(|(now, then)| now.since(&then)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_taken_at_whole_seconds_of_the_window_and_at_its_end() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let window = (start, at(2_500));
        for (now, next) in [(0, 1_000), (20, 1_000), (1_000, 2_000), (2_100, 2_500)] {
            assert_eq!(tick(window, at(now)), Some(at(next)), "{now}");
        }
        assert_eq!(tick(window, at(2_500)), None);
        assert_eq!(tick(window, at(9_000)), None);
    }

    #[test]
    fn the_window_is_what_lies_between_its_first_and_its_last_look() {
        let start = Instant::now() + Duration::from_secs(10);
        let look = |millis: i64, pages: u64| {
            let offset = Duration::from_millis(millis.unsigned_abs());
            let at = if millis < 0 { start - offset } else { start + offset };
            let mut counters = Counters::default();
            counters.set(Counter::PagesRead, Some(pages));
            let process = Some(ProcessUse { cpu_us: pages * 10, ..ProcessUse::default() });
            Look { at, counters, process }
        };
        let times = [(-500, 0), (1, 70), (1_001, 75), (2_003, 90), (2_400, 95), (9_000, 99)];
        let looks = times.map(|(millis, pages)| look(millis, pages)).to_vec();
        let window = Some((start, start + Duration::from_secs(2)));
        let looks = Looks { looks, window, trouble: None };
        let evidence = looks.evidence();
        assert_eq!(evidence.window.length_us, 2_002_000);
        assert_eq!(evidence.window.pages_read(), Some(20));
        assert_eq!(evidence.window.process.map(|used| used.cpu_us), Some(200));
        let seconds: Vec<_> =
            evidence.seconds.iter().map(|(at, used)| (*at, used.pages_read())).collect();
        assert_eq!(seconds, [(1_001_000, Some(5)), (2_003_000, Some(15))]);
        assert_eq!(looks.whole().and_then(|used| used.pages_read()), Some(99));
        assert_eq!(evidence.trouble, None);
        assert_eq!(Looks::default().evidence(), Evidence::default());
    }

    #[test]
    fn one_look_is_no_evidence_and_half_of_the_window_is_told() {
        let start = Instant::now();
        let end = start + Duration::from_secs(2);
        let evidence = |times: &[u64]| {
            let at = |millis: &u64| start + Duration::from_millis(*millis);
            let look =
                |millis| Look { at: at(millis), counters: Counters::default(), process: None };
            let looks = times.iter().map(look).collect();
            Looks { looks, window: Some((start, end)), trouble: None }.evidence()
        };
        let one = evidence(&[1, 3_100]);
        assert_eq!((one.window, one.seconds.len()), (ServerUse::default(), 0));
        assert_eq!(one.trouble.as_deref(), Some("looked at 0 of 2000 ms of the window"));
        let half = evidence(&[0, 1_000]);
        assert_eq!(half.window.length_us, 1_000_000);
        assert_eq!(half.trouble.as_deref(), Some("looked at 1000 of 2000 ms of the window"));
        assert_eq!(evidence(&[0, 1_000, 2_050]).trouble, None);
    }

    #[test]
    fn a_server_that_was_started_again_is_told_with_the_time() {
        let start = Instant::now() + Duration::from_secs(10);
        let look = |(offset_ms, questions): (i64, u64)| {
            let offset = Duration::from_millis(offset_ms.unsigned_abs());
            let mut counters = Counters::default();
            counters.set(Counter::Questions, Some(questions));
            let at = if offset_ms < 0 { start - offset } else { start + offset };
            Look { at, counters, process: None }
        };
        let trouble = |looks: &[(i64, u64)]| {
            let looks = looks.iter().copied().map(look).collect();
            let window = Some((start, start + Duration::from_secs(2)));
            Looks { looks, window, trouble: Some("lost".to_owned()) }.evidence().trouble.unwrap()
        };
        let told = "the server was started again";
        assert_eq!(
            trouble(&[(0, 500), (1_000, 900), (1_940, 7)]),
            format!("{told} at most 1.9 s into the window")
        );
        assert_eq!(trouble(&[(-90, 500), (-20, 7), (9, 8)]), format!("{told} before the window"));
        assert_eq!(trouble(&[(0, 500), (1_000, 500), (2_000, 501)]), "lost");
    }
}
