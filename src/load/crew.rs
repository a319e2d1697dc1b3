//! Loaders side by side: each a thread with a runtime and a connection of its own.
//!
//! Must not know: how a step is done.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::driver::adapter::Admin;
use crate::model::Interrupt;

use super::board::Board;
use super::loader::{Loader, Shared};
use super::schema::Home;
use super::{LoadError, LoadEvent, LoadProgress, LoadStage};

/// How often progress is told.
const TICK: Duration = Duration::from_millis(100);

/// Those who load together.
pub(super) struct Crew<'a> {
    pub(super) home: &'a Home,
    pub(super) board: &'a Board,
    pub(super) interrupt: &'a Interrupt,
    pub(super) loaders: u32,
    /// Whether rows travel as files; false from the first that the server refuses.
    pub(super) takes_files: &'a AtomicBool,
    pub(super) may_skip_log: bool,
}

/// What a loader says.
enum Word {
    Retrying(String),
    Ended(Result<(), LoadError>),
}

impl Crew<'_> {
    /// Does all steps of the board; the first error stops all loaders. Returns the last progress.
    pub(super) fn load(
        &self,
        progress: LoadProgress,
        observe: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Result<LoadProgress, LoadError> {
        let failed = AtomicBool::new(false);
        let stop = || self.interrupt.is_requested() || failed.load(Ordering::Relaxed);
        let (rows_done, bytes_done) = (AtomicU64::new(progress.rows_done), AtomicU64::new(0));
        let shared = Shared {
            home: self.home,
            stop: &stop,
            takes_files: self.takes_files,
            may_skip_log: self.may_skip_log,
            rows_done: &rows_done,
            bytes_done: &bytes_done,
        };
        let (word, words) = mpsc::channel();
        thread::scope(|scope| {
            let mut first_error = None;
            for number in 0..self.loaders.max(1) {
                let (word, shared, failed) = (word.clone(), &shared, &failed);
                let named = thread::Builder::new().name(format!("loader-{number}"));
                let spawned = named.spawn_scoped(scope, move || {
                    let result = self.work(shared, &word);
                    failed.fetch_or(result.is_err(), Ordering::Relaxed);
                    // The receiver outlives every loader.
                    let _ = word.send(Word::Ended(result));
                });
                if let Err(error) = spawned {
                    failed.store(true, Ordering::Relaxed);
                    first_error = Some(LoadError::System { message: error.to_string() });
                    break;
                }
            }
            drop(word);
            listen(&words, &shared, progress, observe, first_error)
        })
    }

    /// One loader: does steps until there are none.
    fn work(&self, shared: &Shared<'_>, word: &mpsc::Sender<Word>) -> Result<(), LoadError> {
        let tell = |text: String| {
            // The receiver outlives every loader.
            let _ = word.send(Word::Retrying(text));
        };
        runtime()?.block_on(async {
            let mut loader = Loader::connect(shared, &tell).await?;
            let mut current = None;
            while let Some(step) = self.board.next(current, shared.stop) {
                current = Some(step.table());
                match loader.run(&step).await {
                    Ok(done) => self.board.done(&step, done),
                    Err(error) => {
                        if error == LoadError::Interrupted {
                            self.kill(&loader.admin).await;
                        }
                        return Err(error);
                    }
                }
            }
            loader.admin.close().await;
            if self.interrupt.is_requested() { Err(LoadError::Interrupted) } else { Ok(()) }
        })
    }

    /// Ends the statement that was given up, so that the next run need not wait for it. Best
    /// effort: a server that does not listen is not waited for.
    async fn kill(&self, given_up: &Admin) {
        if let Ok(mut admin) = Admin::connect(&self.home.endpoint).await {
            let _ = admin.execute(&format!("KILL {}", given_up.id())).await;
            admin.close().await;
        }
    }
}

/// Tells progress until all loaders have ended.
fn listen(
    words: &mpsc::Receiver<Word>,
    shared: &Shared<'_>,
    mut progress: LoadProgress,
    observe: &mut dyn FnMut(LoadEvent<'_>),
    mut first_error: Option<LoadError>,
) -> Result<LoadProgress, LoadError> {
    loop {
        let word = words.recv_timeout(TICK);
        progress.rows_done = shared.rows_done.load(Ordering::Relaxed);
        progress.bytes_sent = shared.bytes_done.load(Ordering::Relaxed);
        let all_rows = progress.rows_done >= progress.rows_total;
        progress.stage = if all_rows { LoadStage::Indexes } else { LoadStage::Rows };
        observe(LoadEvent::Progress(progress));
        match word {
            Ok(Word::Ended(Err(error))) => keep_first(&mut first_error, error),
            Ok(Word::Retrying(reason)) => observe(LoadEvent::Retrying { reason: &reason }),
            Ok(Word::Ended(Ok(()))) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    first_error.map_or(Ok(progress), Err)
}

/// Keeps the error that explains the others: those who were told to stop are not the cause.
fn keep_first(first: &mut Option<LoadError>, error: LoadError) {
    if matches!(first, None | Some(LoadError::Interrupted)) {
        *first = Some(error);
    }
}

/// A runtime for this thread.
pub(super) fn runtime() -> Result<Runtime, LoadError> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let built = builder.enable_all().build();
    built.map_err(|error| LoadError::System { message: error.to_string() })
}
