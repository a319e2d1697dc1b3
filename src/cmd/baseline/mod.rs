//! `gridbench baseline`: what is kept under a name, and what is put there.
//!
//! Must not know: how a baseline is stored.

mod import;
mod show;

use super::{Failure, Outcome};
use crate::cli::{BaselineArgs, BaselineCommand};
use crate::ui::Printer;

pub(super) fn run(arguments: &BaselineArgs, printer: Printer) -> Result<Outcome, Failure> {
    let out = &arguments.out;
    match &arguments.command {
        BaselineCommand::List => printer.data(&show::list(out)?)?,
        BaselineCommand::Show { name } => printer.data(&show::show(out, name)?)?,
        BaselineCommand::Import(command) => import::run(command, out, printer)?,
    }
    Ok(Outcome::Done)
}
