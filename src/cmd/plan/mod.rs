//! `gridbench plan`.

use super::{Failure, Outcome};
use crate::cli::PlanArgs;
use crate::ui::Printer;

pub(super) fn run(_arguments: &PlanArgs, _printer: Printer) -> Result<Outcome, Failure> {
    Err(anyhow::anyhow!("not written yet").into())
}
