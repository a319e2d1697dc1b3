//! `gridbench run`.

use super::{Failure, Outcome};
use crate::cli::RunArgs;
use crate::ui::Printer;

pub(super) fn run(_arguments: &RunArgs, _printer: Printer) -> Result<Outcome, Failure> {
    Err(anyhow::anyhow!("not written yet").into())
}
