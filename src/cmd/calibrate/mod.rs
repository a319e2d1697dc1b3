//! `gridbench calibrate`: what this machine's client can drive, against a server that answers at
//! once; beside another client where one is named.
//!
//! Must not know: how a client or the server works. The server has a processor of its own, and
//! each measurement is a process of its own on the other ones, so that its processor time and
//! its memory are its own too. Clients take turns within a cell: what the machine does meanwhile
//! hits them alike.

mod ceiling;
mod child;
pub(super) mod part;
mod record;
mod setting;
mod sysbench;
mod table;

pub(super) use ceiling::Ceilings;

use crate::model::counted;
use anyhow::{Context, anyhow};

use super::{Failure, Outcome, signals};
use crate::cli::{CalibrateArgs, CalibrateFormat};
use crate::driver::null::NullServer;
use crate::driver::raise_open_files;
use crate::ui::Printer;
use child::ServerProcess;
use record::{CellRecord, Record};
use setting::{Cell, Setting};

/// Measures (or, with `--serve`, only serves).
pub(super) fn run(arguments: &CalibrateArgs, printer: Printer) -> Result<Outcome, Failure> {
    if arguments.serve {
        return serve(arguments.port, printer);
    }
    let setting = Setting::read(arguments)?;
    if setting.server_cpu == setting.client_cpus[0] {
        printer.talk("one processor only: server and client share it, and the figures are lower");
    }
    let server = ServerProcess::start(setting.server_cpu, arguments.port)?;
    let mut record = Record::begin(&setting, &arguments.out);
    for cell in &setting.cells {
        printer.talk(&format!("measuring {}", cell.sentence(&setting)));
        record.cells.extend(measure(cell, &setting, server.port, printer));
    }
    match arguments.format {
        CalibrateFormat::Table => printer.data(&table::render(&record))?,
        CalibrateFormat::Json => printer.data(&record.json()?)?,
    }
    let path = record.keep(&arguments.out)?;
    printer.talk(&format!("kept in {}", path.display()));
    let has_failed = record.cells.iter().any(|cell| cell.failed_rounds > 0);
    Ok(if has_failed { Outcome::SomeFailed } else { Outcome::Done })
}

/// The rounds of a cell, clients in turn; one record for each client. A measurement that fails
/// is said and counted, and the others go on.
fn measure(cell: &Cell, setting: &Setting, port: u16, printer: Printer) -> Vec<CellRecord> {
    let mut rounds = vec![Vec::new(); setting.clients.len()];
    for _ in 0..setting.rounds {
        for (client, rounds) in setting.clients.iter().zip(&mut rounds) {
            match child::measure(client, cell, setting, port) {
                Ok(round) => rounds.push(round),
                Err(error) => printer.talk(&format!("  {} failed: {error:#}", client.name())),
            }
        }
    }
    let record = |(client, rounds)| CellRecord::new(cell, client, setting.rounds, rounds);
    setting.clients.iter().zip(rounds).map(record).collect()
}

fn serve(port: u16, printer: Printer) -> Result<Outcome, Failure> {
    raise_open_files()?;
    let interrupt = signals::listen().context("cannot listen for Ctrl-C")?;
    let server = NullServer::bind(port)
        .with_context(|| format!("cannot listen on port {port}"))
        .map_err(Failure::input)?;
    let address = server.address();
    printer.data(&format!("{} {}\n", address.ip(), address.port()))?;
    printer.talk(&format!(
        "serving until Ctrl-C; connect with: mariadb --host={} --port={} --user=root",
        address.ip(),
        address.port()
    ));
    let served = server.serve(&interrupt).map_err(|error| anyhow!("the server ended: {error}"))?;
    printer.talk(&format!(
        "{}, {}",
        counted(served.connections, "connection"),
        counted(served.answers, "answer")
    ));
    Ok(Outcome::Done)
}
