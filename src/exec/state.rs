//! What the connections of one load thread share: the counters, the pacer, what is open.
//!
//! Must not know: sessions, or the other load threads.

use std::cell::{Cell, RefCell, RefMut};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use crate::driver::{Driver, DriverError};
use crate::stats::Histogram;

use super::client::ClientUse;
use super::pacer::Pacer;
use super::recorder::Recorder;
use super::thread::{LoadThread, Message, ThreadEnd};
use super::window::{Window, micros};

/// What the workers of one load thread share. They run on one thread, one at a time, and hold
/// none of it across an await.
pub(super) struct ThreadState {
    window: Cell<Window>,
    recorder: RefCell<Recorder>,
    /// When events are due; `None` in a closed loop.
    pacer: Option<Pacer>,
    /// By how much the thread's timer was late.
    lateness: RefCell<Histogram>,
    /// For each worker, when its open event was due: nanoseconds after the load began, plus one;
    /// 0 where none is open. Small, as each event writes it.
    open: Vec<Cell<u64>>,
    /// For each worker, whether all that it sends fails.
    failing: Vec<Cell<bool>>,
    without_connection: Cell<u32>,
    last_error: RefCell<Option<DriverError>>,
    thread: u32,
    outbox: Sender<Message>,
}

impl ThreadState {
    pub(super) fn new<D: Driver>(
        thread: &LoadThread<D>,
        window: Window,
        pacer: Option<Pacer>,
    ) -> Self {
        let workers = thread.connections();
        let kinds = thread.setup.program.kinds().len();
        Self {
            window: Cell::new(window),
            recorder: RefCell::new(Recorder::new(window, kinds)),
            pacer,
            lateness: RefCell::default(),
            open: vec![Cell::new(0); workers],
            failing: vec![Cell::new(false); workers],
            without_connection: Cell::new(0),
            last_error: RefCell::new(None),
            thread: thread.number,
            outbox: thread.outbox.clone(),
        }
    }

    /// When load begins and what of it is measured.
    pub(super) fn window(&self) -> Window {
        self.window.get()
    }

    /// The warm-up ends otherwise than was planned. Called before the window begins.
    pub(super) fn set_window(&self, window: Window) {
        self.window.set(window);
        self.recorder().set_window(window);
        if let Some(pacer) = &self.pacer {
            pacer.set_window(window);
        }
    }

    /// The counters, for a moment.
    pub(super) fn recorder(&self) -> RefMut<'_, Recorder> {
        self.recorder.borrow_mut()
    }

    /// When events are due; `None` in a closed loop.
    pub(super) fn pacer(&self) -> Option<&Pacer> {
        self.pacer.as_ref()
    }

    /// By how much the thread's timer was late.
    pub(super) fn lateness(&self) -> &RefCell<Histogram> {
        &self.lateness
    }

    /// A worker's event is under way; it was due then.
    pub(super) fn opened(&self, place: usize, due: Instant) {
        let after = due.saturating_duration_since(self.window().load).as_nanos();
        self.open[place].set(u64::try_from(after).unwrap_or(u64::MAX - 1) + 1);
    }

    /// A worker's event is over.
    pub(super) fn closed(&self, place: usize) {
        self.open[place].set(0);
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

    /// What this thread leaves behind.
    pub(super) fn end(&self, client: ClientUse) -> ThreadEnd {
        let due = |after: &Cell<u64>| after.get().checked_sub(1).map(Duration::from_nanos);
        let open: Vec<Duration> = self.open.iter().filter_map(due).collect();
        let loaded = self.window().load.elapsed();
        let age = |after: &Duration| micros(loaded.saturating_sub(*after));
        ThreadEnd {
            totals: self.recorder().take_totals(),
            client,
            pace: self.pacer.as_ref().map(Pacer::pace),
            unfinished: open.len() as u64,
            oldest_unfinished_us: open.iter().min().map(age),
            youngest_unfinished_us: open.iter().max().map(age),
            without_connection: self.without_connection.get(),
            last_error: self.last_error.borrow().as_ref().map(DriverError::to_string),
        }
    }
}
