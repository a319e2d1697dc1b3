//! The hot loop: one connection, one event after the other.
//!
//! Must not know: other connections, or who reads the counters. Per event it takes no lock,
//! allocates nothing, formats nothing and talks to nobody; per statement it reads the clock once.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::time::{sleep_until, timeout};

use crate::driver::{Driver, DriverError, Reply, Session, Sockets};
use crate::model::Request;
use crate::workload::{Generator, Program};

use super::connect::{Backoff, stand, with_statement};
use super::patience::Patience;
use super::recorder::{Span, Tally};
use super::state::ThreadState;

/// How often an event is tried in all when the server asks for another try.
pub(super) const MAX_ATTEMPTS: u32 = 100;

/// After so many failed events in a row a connection counts as failing, and pauses.
const FAILING_AFTER: u32 = 10;

/// How long a server may take to say goodbye.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

/// What a worker begins with.
pub(super) struct Start<D: Driver> {
    /// One for all workers of a thread.
    pub(super) origin: Rc<Origin<D>>,
    pub(super) session: D::Session,
    pub(super) generator: Generator,
    /// The worker's place in [`ThreadState`].
    pub(super) place: usize,
}

/// What is sent, and what it takes to make a connection anew.
pub(super) struct Origin<D> {
    pub(super) driver: D,
    pub(super) sockets: Rc<Sockets>,
    pub(super) program: Arc<Program>,
    pub(super) handles_max: usize,
    pub(super) connect_limit: Duration,
}

/// Sends events from the start of the load to the end of the window. When it returns, nothing of
/// it is open.
///
/// A thousand of these futures pass through the caches of a load thread again and again, so they
/// are kept small: what happens seldom (a refused event, a lost connection, the end) is boxed.
pub(super) fn run<D: Driver>(start: Start<D>, thread: Rc<ThreadState>) -> impl Future<Output = ()> {
    let load = thread.window().load;
    let Start { origin, session, generator, place } = start;
    let patience = origin.driver.read_timeout().map(|limit| Box::new(Patience::new(limit)));
    let mut worker = Worker {
        line: Line { origin, session: Some(session), patience },
        generator,
        thread,
        place,
        request: Request::default(),
        due: load,
        start: load,
        free: load,
        now: load,
        attempts: 0,
        is_measured: false,
        tally: Tally::default(),
        failures: Failures::default(),
    };
    let begin = Box::pin(sleep_until(load.into()));
    async move {
        begin.await;
        worker.events().await;
        Box::pin(worker.leave()).await;
    }
}

/// One connection and all that its events need. Buffers are kept from event to event.
struct Worker<D: Driver> {
    line: Line<D>,
    generator: Generator,
    thread: Rc<ThreadState>,
    place: usize,
    request: Request,
    /// When the event under way was due to start.
    due: Instant,
    /// When its first statement was sent.
    start: Instant,
    /// Closed loop: since when the connection has had nothing to do, and so the next event's due
    /// time. What is done until it can be sent, a new connection for one, counts as its response
    /// time.
    free: Instant,
    /// The last reading of the clock: a statement begins where the one before it ended.
    now: Instant,
    /// How often the event under way was tried.
    attempts: u32,
    /// Whether it belongs to the window.
    is_measured: bool,
    /// Its statements that were answered in this try.
    tally: Tally,
    failures: Failures,
}

/// The connection, and what it takes to make it anew.
struct Line<D: Driver> {
    origin: Rc<Origin<D>>,
    session: Option<D::Session>,
    /// Absent where a reply is waited for to the end.
    patience: Option<Box<Patience>>,
}

/// Failed events in a row, and the pauses after too many of them.
#[derive(Default)]
struct Failures {
    in_a_row: u32,
    backoff: Backoff,
}

/// Why an event did not end well.
enum Broken {
    /// The server refused it; the connection stands.
    Refused(DriverError),
    /// The connection is gone.
    Lost,
}

impl<D: Driver> Worker<D> {
    async fn events(&mut self) {
        self.now = Instant::now();
        while let Some(due) = self.next_due().await {
            (self.due, self.start) = (due, self.now);
            self.thread.opened(self.place, due);
            let outcome = self.event().await;
            self.thread.closed(self.place);
            self.free = self.now;
            match outcome {
                Ok(()) => self.succeeded(),
                Err(Broken::Refused(error)) => Box::pin(self.refused(&error)).await,
                Err(Broken::Lost) => Box::pin(self.reconnect()).await,
            }
        }
    }

    /// When the next event is due, or was: it is sent at once. `None` at the end.
    async fn next_due(&mut self) -> Option<Instant> {
        // A driver whose replies are always there must not keep the thread to itself.
        tokio::task::consume_budget().await;
        let Some(pacer) = self.thread.pacer() else {
            return Some(self.free).filter(|free| *free < self.thread.window().end);
        };
        let due = pacer.arrival(self.place, self.now).await;
        self.now = Instant::now();
        due
    }

    /// One event with all its tries, within one sample of response time.
    async fn event(&mut self) -> Result<(), Broken> {
        self.is_measured = self.thread.window().contains(self.due);
        self.attempts = 0;
        loop {
            self.attempts += 1;
            let Err(error) = self.attempt().await else {
                self.thread.recorder().event(self.span(), self.tally);
                return Ok(());
            };
            self.note(&error);
            if is_loss(&error) {
                return Err(Broken::Lost);
            }
            Box::pin(self.roll_back()).await?;
            if !error.is_retryable() || self.attempts == MAX_ATTEMPTS {
                return Err(Broken::Refused(error));
            }
            if self.is_measured {
                self.thread.recorder().rolled_back(self.tally);
            }
        }
    }

    /// The statements of an event, once, with fresh draws.
    async fn attempt(&mut self) -> Result<(), DriverError> {
        self.generator.begin_event();
        self.tally = Tally::default();
        for step in 0..self.line.origin.program.len() {
            self.generator.write(step, &mut self.request);
            let answer = self.line.send(&self.request, self.now).await;
            self.answered(step, answer)?;
        }
        Ok(())
    }

    fn answered(
        &mut self,
        step: usize,
        answer: Result<Reply, DriverError>,
    ) -> Result<(), DriverError> {
        let before = std::mem::replace(&mut self.now, Instant::now());
        let kind = self.line.origin.program.kind(step);
        match answer {
            Ok(reply) => {
                self.tally.count(reply);
                let service = self.is_measured.then(|| self.now - before);
                self.thread.recorder().statement(kind, service);
                Ok(())
            }
            Err(error) => {
                self.thread.recorder().statement_failed(kind, self.is_measured);
                Err(self.line.named(error, &self.request))
            }
        }
    }

    /// Ends the transaction that failed. The server may refuse that; then there was none.
    async fn roll_back(&mut self) -> Result<(), Broken> {
        self.request.clear();
        self.request.text.push_str("ROLLBACK");
        let answer = self.line.send(&self.request, self.now).await;
        self.now = Instant::now();
        self.thread.recorder().rollback();
        match answer {
            Err(error) if is_loss(&error) => {
                self.note(&error);
                Err(Broken::Lost)
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn succeeded(&mut self) {
        if self.failures.in_a_row > 0 {
            self.failures = Failures::default();
            self.thread.recovered(self.place);
        }
    }

    /// After too many failed events in a row the connection is reported and pauses: a server
    /// that refuses everything is not to be flooded.
    async fn refused(&mut self, error: &DriverError) {
        self.failures.in_a_row += 1;
        if self.failures.in_a_row < FAILING_AFTER {
            return;
        }
        self.thread.failing(self.place, error);
        let pause = self.failures.backoff.next_pause();
        self.rest(pause).await;
        // This pause is ours, not the server's: no event of a closed loop was due in it.
        self.free = self.now;
    }

    /// Replaces a lost connection; gives up only at the end of the window.
    async fn reconnect(&mut self) {
        self.line.session = None;
        let mut backoff = Backoff::default();
        while self.now < self.thread.window().end {
            self.rest(backoff.next_pause()).await;
            let left = self.thread.window().end.saturating_duration_since(self.now);
            let result = self.line.stand(left, self.place).await;
            self.now = Instant::now();
            match result {
                Some(Ok(session)) => {
                    self.line.session = Some(session);
                    self.thread.recorder().reconnected(self.now);
                    return;
                }
                Some(Err(error)) => {
                    self.thread.recorder().connection_refused(self.now, &error);
                    self.thread.noticed(&error);
                }
                None => break,
            }
        }
        self.free = self.thread.window().end;
    }

    async fn rest(&mut self, pause: Duration) {
        let until = (self.now + pause).min(self.thread.window().end);
        sleep_until(until.into()).await;
        self.now = Instant::now();
    }

    /// The event under way, as if it ended now.
    fn span(&self) -> Span {
        Span { due: self.due, start: self.start, end: self.now }
    }

    fn note(&self, error: &DriverError) {
        self.thread.recorder().error(self.span(), error);
        self.thread.noticed(error);
    }

    async fn leave(self) {
        match self.line.session {
            Some(session) => _ = timeout(CLOSE_LIMIT, session.close()).await,
            None => self.thread.ended_without_connection(),
        }
    }
}

impl<D: Driver> Line<D> {
    /// Sends a statement, which began at `began`.
    async fn send(&mut self, request: &Request, began: Instant) -> Result<Reply, DriverError> {
        let Self { session, patience, .. } = self;
        let session = session.as_mut();
        let session = session.expect("a lost connection is replaced before the next event");
        let mut sending = pin!(session.send(request));
        poll_fn(|context| match (sending.as_mut().poll(context), &mut *patience) {
            (Poll::Pending, Some(patience)) => patience.poll(began, context).map(Err),
            (polled, _) => polled,
        })
        .await
    }

    /// An error that no further try will mend, with the statement that met it.
    fn named(&self, error: DriverError, request: &Request) -> DriverError {
        if error.is_retryable() {
            return error;
        }
        let prepared = request.slot.and_then(|slot| self.origin.program.prepared().get(slot));
        with_statement(error, prepared.unwrap_or(&request.text))
    }

    /// A new session, in the time that is left; `None` when that is over.
    async fn stand(&self, left: Duration, place: usize) -> Option<Result<D::Session, DriverError>> {
        let Origin { driver, sockets, program, handles_max, connect_limit } = &*self.origin;
        let standing = async {
            let session = stand(driver, program, *handles_max, *connect_limit).await?;
            session.join(sockets, place)
        };
        timeout(left, standing).await.ok()
    }
}

fn is_loss(error: &DriverError) -> bool {
    matches!(error, DriverError::Lost { .. } | DriverError::Protocol { .. })
}
