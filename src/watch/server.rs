//! The thread that serves a run: its connections, and what each of them may take.
//!
//! Must not know: what is answered.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use axum::Router;
use axum::http::HeaderValue;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::address::{Listener, authority};
use super::guard::Token;
use super::hub::{Board, EVERY, Hub};
use super::page;
use super::patience::Patient;
use super::routes::{App, router};
use crate::model::Interrupt;

/// Connections at a time; who comes when all are taken waits.
const CONNECTIONS_MAX: usize = 96;
/// Streams at a time; who comes when all are taken gets the seat of who came first.
const STREAMS_MAX: usize = 48;
/// What a request's head may take, in bytes and in time.
const HEAD_BYTES_MAX: usize = 16 << 10;
const HEAD_LIMIT: Duration = Duration::from_secs(10);
/// How long readers are given at the end to take the last event.
const FAREWELL: Duration = Duration::from_secs(1);
/// After an accept that failed, for example because no file may be opened any more.
const PAUSE: Duration = Duration::from_millis(200);

/// What is served.
#[derive(Clone)]
pub struct Served {
    /// What the run tells.
    pub hub: Hub,
    /// What is asked to stop it.
    pub interrupt: Interrupt,
    /// The report of what is on disk so far, or why there is none; it may take a while.
    pub report: Arc<dyn Fn() -> Result<String, String> + Send + Sync>,
    /// Who may what.
    pub tokens: Tokens,
}

/// Who may what.
#[derive(Debug, Clone)]
pub struct Tokens {
    /// Needed to read; `None`: everybody who reaches the address may.
    pub read: Option<Token>,
    /// Needed to stop the run.
    pub stop: Token,
}

/// A run that is served until this is closed or dropped.
pub struct Server {
    url: String,
    /// Dropped, it ends the server.
    until: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves at that place, on a thread of its own. `host` is this machine's name, for a link
    /// where it is served at all of its addresses.
    ///
    /// # Errors
    /// There is no thread, or nothing to wait on a socket with.
    pub fn start(listener: Listener, served: Served, host: Option<&str>) -> io::Result<Self> {
        let root = format!("http://{}/", authority(listener.address, host));
        let url = match &served.tokens.read {
            Some(token) => format!("{root}?token={}", token.reveal()),
            None => root,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let socket = {
            let _inside = runtime.enter();
            TcpListener::from_std(listener.socket.try_clone()?)?
        };
        let (until, closed) = oneshot::channel();
        let policy = page::policy();
        let app = Arc::new(App {
            board: Board::new(served.hub.clone()),
            served,
            is_loopback: listener.is_loopback(),
            seats: Seats::default(),
            policy: HeaderValue::from_str(&policy).map_err(io::Error::other)?,
            report: tokio::sync::Mutex::new(None),
        });
        let thread = Builder::new().name("watch".to_owned()).spawn(move || {
            runtime.block_on(serve(&socket, &app, closed));
            // A report that is being made does not hold up the end of the run.
            runtime.shutdown_background();
        })?;
        Ok(Self { url, until: Some(until), thread: Some(thread) })
    }

    /// Where a browser finds it, with the token that it needs there.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Tells readers the last of it, and ends.
    pub fn close(mut self) {
        self.end();
    }

    fn end(&mut self) {
        drop(self.until.take());
        if let Some(thread) = self.thread.take() {
            // A server that panicked has said so, and the run is over.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// Answers until the run is over or the server is closed.
async fn serve(socket: &TcpListener, app: &Arc<App>, mut closed: oneshot::Receiver<()>) {
    let routes = router(Arc::clone(app));
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = &mut closed => break,
            () = app.served.hub.over() => break,
            _ = ticks.tick() => app.board.tick(),
            Some(_) = connections.join_next() => {}
            accepted = accept(socket, &room) => {
                if let Some((connection, permit)) = accepted {
                    let routes = routes.clone();
                    connections.spawn(async move {
                        answer(connection, routes).await;
                        drop(permit);
                    });
                }
            }
        }
    }
    app.board.end();
    let all = async { while connections.join_next().await.is_some() {} };
    // Who has not taken it by then never will.
    let _ = timeout(FAREWELL, all).await;
}

/// The next connection, once there is room for one more.
async fn accept(
    socket: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await.ok()?;
    match socket.accept().await {
        Ok((connection, _)) => Some((connection, permit)),
        Err(_) => {
            sleep(PAUSE).await;
            None
        }
    }
}

/// One request and its answer. What is wrong with either is the reader's affair.
async fn answer(connection: TcpStream, routes: Router) {
    // Events are small, and are to arrive when they are sent.
    let _ = connection.set_nodelay(true);
    let connection = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(HEAD_BYTES_MAX)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .serve_connection(TokioIo::new(Patient::new(connection)), TowerToHyperService::new(routes));
    let _ = connection.await;
}

/// The seats of streams, in the order in which they were taken.
#[derive(Default)]
pub(super) struct Seats(Mutex<VecDeque<oneshot::Sender<()>>>);

/// A seat, kept until somebody needs it.
pub(super) struct Seat(oneshot::Receiver<()>);

impl Seats {
    /// Takes a seat; where all are taken, that of who has it longest.
    pub(super) fn take(&self) -> Seat {
        let (kept, seat) = oneshot::channel();
        let mut seats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seats.retain(|seat| !seat.is_closed());
        while seats.len() >= STREAMS_MAX {
            seats.pop_front();
        }
        seats.push_back(kept);
        Seat(seat)
    }
}

impl Seat {
    /// Waits until somebody else needs it.
    pub(super) async fn lost(&mut self) {
        // Nothing is ever sent: it ends when the other end is dropped.
        let _ = (&mut self.0).await;
    }
}
