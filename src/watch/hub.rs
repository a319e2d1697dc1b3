//! What the run's thread and the server's share: the state, and what readers were told of it.
//!
//! The run pays for a fact a lock and a few stores. All else (snapshots, what changed, JSON) is
//! the server's, once a second at most, and only where somebody reads. Must not know: sockets.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::{Notify, broadcast};

use super::page;
use super::state::LiveState;
use super::wire::{Snapshot, json};
use super::words::Tongue;
use crate::ui::{RunEvent, Sink};

/// How old what readers are told may be.
pub(super) const EVERY: Duration = Duration::from_secs(1);
/// A reader that is so many seconds behind is let go: it comes again, and is told all of it.
const BEHIND_MAX: usize = 16;

/// The facts of a run on their way to its readers. Clones share them.
#[derive(Clone)]
pub struct Hub(Arc<Shared>);

struct Shared {
    live: Mutex<Live>,
    /// The run is over.
    over: Notify,
}

struct Live {
    state: LiveState,
    at: Duration,
    told: Instant,
    is_over: bool,
}

impl Hub {
    /// For a run that is about to tell its first fact.
    pub fn new() -> Self {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let unix_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let state = LiveState::new(unix_ms);
        let live = Live { state, at: Duration::ZERO, told: Instant::now(), is_over: false };
        Self(Arc::new(Shared { live: Mutex::new(live), over: Notify::new() }))
    }

    fn lock(&self) -> MutexGuard<'_, Live> {
        self.0.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many trials are on disk.
    pub(super) fn ended(&self) -> u64 {
        self.lock().state.ended()
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// Waits for the end of the run.
    pub(super) async fn over(&self) {
        let over = self.0.over.notified();
        if !self.is_over() {
            over.await;
        }
    }

    fn snapshot(&self) -> Snapshot {
        let live = self.lock();
        let at = if live.is_over { live.at } else { live.at + live.told.elapsed() };
        live.state.snapshot(at)
    }
}

impl Default for Hub {
    fn default() -> Self {
        Self::new()
    }
}

impl Sink for Hub {
    fn take(&mut self, at: Duration, event: &RunEvent) {
        let mut live = self.lock();
        live.state.take(at, event);
        (live.at, live.told) = (at, Instant::now());
        if matches!(event, RunEvent::Ended(_)) {
            live.is_over = true;
            self.0.over.notify_one();
        }
    }
}

/// A server-sent event: its name, its id, what it says.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) name: &'static str,
    pub(super) id: u64,
    pub(super) data: Arc<str>,
}

/// What readers were told last, and who listens for more. Of the server's thread alone.
pub(super) struct Board {
    hub: Hub,
    told: Mutex<Told>,
    listeners: broadcast::Sender<Message>,
}

struct Told {
    id: u64,
    when: Instant,
    snapshot: Arc<Snapshot>,
    /// It as JSON, once somebody wanted it.
    json: Option<Arc<str>>,
    /// Its page, in the languages in which somebody wanted it.
    pages: BTreeMap<Tongue, Arc<str>>,
}

impl Board {
    pub(super) fn new(hub: Hub) -> Self {
        let snapshot = Arc::new(hub.snapshot());
        let told =
            Told { id: 0, when: Instant::now(), snapshot, json: None, pages: BTreeMap::new() };
        let (listeners, _) = broadcast::channel(BEHIND_MAX);
        Self { hub, told: Mutex::new(told), listeners }
    }

    /// The run's state, not older than a second.
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.fresh().snapshot)
    }

    /// It as JSON.
    pub(super) fn json(&self) -> Arc<str> {
        self.fresh().json()
    }

    /// Its page, made once however many ask.
    ///
    /// # Errors
    /// The template has a fault: ours.
    pub(super) fn page(&self, tongue: Tongue) -> Result<Arc<str>, minijinja::Error> {
        let mut told = self.fresh();
        if let Some(page) = told.pages.get(&tongue) {
            return Ok(Arc::clone(page));
        }
        let page: Arc<str> = page::page(&told.snapshot, tongue)?.into();
        told.pages.insert(tongue, Arc::clone(&page));
        Ok(page)
    }

    /// It as the first event of a stream, and what will follow.
    pub(super) fn listen(&self) -> (Message, broadcast::Receiver<Message>) {
        let mut told = self.fresh();
        let message = Message { name: "state", id: told.id, data: told.json() };
        (message, self.listeners.subscribe())
    }

    /// Tells those who listen what changed.
    pub(super) fn tick(&self) {
        if self.listeners.receiver_count() > 0 {
            self.renew(&mut self.lock(), "change");
        }
    }

    /// Tells them for the last time, and lets them go.
    pub(super) fn end(&self) {
        self.renew(&mut self.lock(), "end");
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fresh(&self) -> MutexGuard<'_, Told> {
        let mut told = self.lock();
        let is_old = told.when.elapsed() >= EVERY || told.snapshot.run.is_empty();
        if is_old || (told.snapshot.now.outcome.is_none() && self.hub.is_over()) {
            self.renew(&mut told, "change");
        }
        told
    }

    /// Takes the state anew, and tells those who listen what is different.
    fn renew(&self, told: &mut Told, name: &'static str) {
        let snapshot = self.hub.snapshot();
        let told_before = Arc::clone(&told.snapshot);
        let has_shape = told_before.cells.len() == snapshot.cells.len();
        if !has_shape {
            // The run has only now said what it is about to do.
            self.send(told, "state", json(&snapshot));
        }
        if name == "end" || (has_shape && snapshot != *told_before) {
            let before = if has_shape { &*told_before } else { &snapshot };
            self.send(told, name, json(&snapshot.since(before)));
        }
        told.when = Instant::now();
        (told.snapshot, told.json) = (Arc::new(snapshot), None);
        told.pages.clear();
    }

    fn send(&self, told: &mut Told, name: &'static str, data: String) {
        told.id += 1;
        // Nobody may be listening.
        let _ = self.listeners.send(Message { name, id: told.id, data: data.into() });
    }
}

impl Told {
    fn json(&mut self) -> Arc<str> {
        let snapshot = &self.snapshot;
        Arc::clone(self.json.get_or_insert_with(|| json(&**snapshot).into()))
    }
}
