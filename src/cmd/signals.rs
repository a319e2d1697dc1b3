//! Ctrl-C, SIGTERM and SIGHUP become a request to stop; asked again, the process ends at once.
//!
//! Must not know: what is under way.

use std::io;
use std::sync::mpsc;
use std::thread;

use tokio::signal::unix::{SignalKind, signal};

use crate::model::Interrupt;
use crate::ui::Printer;

/// Listens from now to the end of the process, on a thread of its own.
pub(super) fn listen() -> io::Result<Interrupt> {
    let interrupt = Interrupt::default();
    let seen = interrupt.clone();
    let (ready, is_ready) = mpsc::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async move {
            let streams = (
                signal(SignalKind::interrupt()),
                signal(SignalKind::terminate()),
                signal(SignalKind::hangup()),
            );
            let (mut interrupts, mut terminations, mut hangups) = match streams {
                (Ok(interrupts), Ok(terminations), Ok(hangups)) => {
                    let _ = ready.send(Ok(()));
                    (interrupts, terminations, hangups)
                }
                (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => {
                    let _ = ready.send(Err(error));
                    return;
                }
            };
            loop {
                tokio::select! {
                    Some(()) = interrupts.recv() => {}
                    Some(()) = terminations.recv() => {}
                    Some(()) = hangups.recv() => {}
                    else => return,
                }
                if seen.is_requested() {
                    end_at_once();
                }
                seen.request();
            }
        });
    })?;
    is_ready.recv().map_err(|_| io::Error::other("the signal thread ended"))??;
    Ok(interrupt)
}

/// What is on disk is whole at any moment, and servers of our own end with this process.
#[expect(clippy::exit, reason = "the second request does not wait for what the first began")]
fn end_at_once() -> ! {
    // Where a run is redrawn in place, the shell's prompt gets a line of its own.
    Printer::default().leave();
    std::process::exit(130)
}
