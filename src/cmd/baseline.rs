//! `gridbench baseline`.

use super::{Failure, Outcome};
use crate::cli::BaselineArgs;
use crate::ui::Printer;

pub(super) fn run(_arguments: &BaselineArgs, _printer: Printer) -> Result<Outcome, Failure> {
    Err(anyhow::anyhow!("not written yet").into())
}
