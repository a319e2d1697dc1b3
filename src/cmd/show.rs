//! `gridbench show`: results on the terminal, with small charts.

use super::dossier::Records;
use super::{Failure, Outcome};
use crate::cli::ShowArgs;
use crate::report::screen;
use crate::ui::Printer;

pub(super) fn run(arguments: &ShowArgs, printer: Printer) -> Result<Outcome, Failure> {
    let records = Records::read(&arguments.out, &arguments.source)?;
    printer.data(&screen(&records.dossier()))?;
    Ok(Outcome::Done)
}
