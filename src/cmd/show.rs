//! `gridbench show`: results on the terminal, with small charts.

use anyhow::{Context, anyhow};

use super::dossier::Records;
use super::pages::write_report;
use super::{Failure, Outcome};
use crate::cli::ShowArgs;
use crate::report::screen;
use crate::store::{RunDir, StoreError};
use crate::ui::Printer;

pub(super) fn run(arguments: &ShowArgs, printer: Printer) -> Result<Outcome, Failure> {
    if arguments.open {
        return open_report(arguments, printer);
    }
    let records = Records::read(&arguments.out, &arguments.source)?;
    printer.data(&screen(&records.dossier()))?;
    Ok(Outcome::Done)
}

/// Writes the report into the run's directory, so that a page stands where its numbers stand.
fn open_report(arguments: &ShowArgs, printer: Printer) -> Result<Outcome, Failure> {
    let ShowArgs { source, out, .. } = arguments;
    let run = match RunDir::open(out, source) {
        Err(StoreError::Unknown(_) | StoreError::NotARun { .. }) => {
            return Err(Failure::input(anyhow!(
                "{source} is no run under {}; of published numbers make a page with \
                 `gridbench render {source} --template report -o FILE.html`",
                out.display()
            )));
        }
        run => run?,
    };
    let dir = run.path().join("pages");
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let page = write_report(&Records::of_run(out, &run)?, &dir)?;
    printer.talk(&format!("report   {}", page.display()));
    let opened = open::that_detached(&page);
    opened.with_context(|| {
        format!("no program here opens a page; open {} by hand", page.display())
    })?;
    Ok(Outcome::Done)
}
