//! A run that can be watched: the live page, and who may stop the run from there.
//!
//! Must not know: what is on the page, how it is served.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;

use crate::cmd::Failure;
use crate::cmd::dossier::Records;
use crate::model::Interrupt;
use crate::report::{self, Layout};
use crate::store::RunDir;
use crate::target::host;
use crate::ui::{Printer, Progress, RunEvent};
use crate::watch::{self, Hub, Listener, Served, Server, Token, Tokens};

/// Takes the place that was typed, before anything is begun.
///
/// # Errors
/// Exit code 2, with the remedy, where it cannot be had.
pub(super) fn listen(address: Option<&str>) -> Result<Option<Listener>, Failure> {
    address.map(watch::listen).transpose().map_err(Failure::input)
}

/// Serves a run there until what is returned is dropped; says where, and how to stop it.
pub(super) fn serve(
    listener: Option<Listener>,
    directory: &RunDir,
    interrupt: &Interrupt,
    (progress, printer): (&mut Progress, Printer),
) -> Result<Option<Server>, Failure> {
    let Some(listener) = listener else { return Ok(None) };
    let is_loopback = listener.is_loopback();
    if !is_loopback {
        printer.warn(&format!(
            "--serve {}: other machines can reach it, over plain HTTP; whoever has the link reads \
             along, whoever has the stop token ends the run",
            listener.address()
        ));
    }
    let read = if is_loopback { None } else { Some(Token::random()?) };
    let stop = Token::random()?;
    let hub = Hub::new();
    let path = directory.path().to_owned();
    let served = Served {
        hub: hub.clone(),
        interrupt: interrupt.clone(),
        report: Arc::new(move || render(&path).map_err(|failure| failure.to_string())),
        tokens: Tokens { read, stop: stop.clone() },
    };
    let server = Server::start(listener, served, host::name().as_deref());
    let server = server.context("cannot serve the live page")?;
    progress.add(Box::new(hub));
    let (url, stop_token) = (server.url().to_owned(), stop.reveal().to_owned());
    progress.tell(&RunEvent::Serving { url, stop_token });
    Ok(Some(server))
}

/// The report of what is on disk so far.
fn render(directory: &Path) -> Result<String, Failure> {
    let path = directory.canonicalize()?;
    let out = path.parent().unwrap_or(&path);
    let run = RunDir::open(out, &path.to_string_lossy())?;
    let records = Records::of_run(out, &run)?;
    Ok(report::render_dossier(&records.dossier(), &Layout::report())?)
}
