//! `gridbench plan`: what a matrix would measure, and what that takes.
//!
//! Must not know: how anything is measured.

mod estimate;
mod table;
mod wire;

use super::matrix_source::load_plan;
use super::run::engine::LoadEngine;
use super::{Failure, Outcome};
use crate::cli::{PlanArgs, PlanFormat};
use crate::target::read_targets;
use crate::ui::Printer;
use estimate::Estimate;

/// Prints the plan of a matrix.
pub(super) fn run(arguments: &PlanArgs, printer: Printer) -> Result<Outcome, Failure> {
    let loaded = load_plan(&arguments.matrix)?;
    let targets = arguments.matrix.targets.as_deref().map(read_targets).transpose();
    let targets = targets.map_err(Failure::input)?;
    let engine = LoadEngine::choose(arguments.sysbench.as_deref(), &loaded.plan, targets.as_ref());
    let refused = engine.err().map(|refused| refused.to_string());
    let managed_on = arguments.matrix.targets.is_none().then_some(&loaded.host);
    let estimate = Estimate::of(&loaded.plan, managed_on);
    let text = match arguments.format {
        PlanFormat::Table => {
            table::render(&loaded.plan, &estimate, (managed_on, refused.as_deref()))
        }
        PlanFormat::Json => wire::json(&loaded.plan, &estimate, refused.as_deref())?,
        PlanFormat::Csv => wire::csv(&loaded.plan)?,
    };
    printer.data(&text)?;
    if let (PlanFormat::Csv, Some(refused)) = (arguments.format, refused) {
        printer.talk(&refused);
    }
    Ok(Outcome::Done)
}
