//! `gridbench diff`.

use super::{Failure, Outcome};
use crate::cli::DiffArgs;
use crate::ui::Printer;

pub(super) fn run(_arguments: &DiffArgs, _printer: Printer) -> Result<Outcome, Failure> {
    Err(anyhow::anyhow!("not written yet").into())
}
