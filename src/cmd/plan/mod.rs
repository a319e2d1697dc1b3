//! `gridbench plan`: what a matrix would measure, and what that takes.
//!
//! Must not know: how anything is measured.

mod estimate;
mod table;
mod wire;

use super::matrix_source::load_plan;
use super::{Failure, Outcome};
use crate::cli::{PlanArgs, PlanFormat};
use crate::target::read_targets;
use crate::ui::Printer;
use estimate::Estimate;

/// Prints the plan of a matrix.
pub(super) fn run(arguments: &PlanArgs, printer: Printer) -> Result<Outcome, Failure> {
    let loaded = load_plan(&arguments.matrix)?;
    if let Some(path) = &arguments.matrix.targets {
        read_targets(path).map_err(Failure::input)?;
    }
    let managed_on = arguments.matrix.targets.is_none().then_some(&loaded.host);
    let estimate = Estimate::of(&loaded.plan, managed_on);
    let text = match arguments.format {
        PlanFormat::Table => table::render(&loaded.plan, &estimate, managed_on),
        PlanFormat::Json => wire::json(&loaded.plan, &estimate)?,
        PlanFormat::Csv => wire::csv(&loaded.plan)?,
    };
    printer.data(&text)?;
    Ok(Outcome::Done)
}
