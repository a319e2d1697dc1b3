//! `gridbench render`.

use super::{Failure, Outcome};
use crate::cli::RenderArgs;
use crate::ui::Printer;

pub(super) fn run(_arguments: &RenderArgs, _printer: Printer) -> Result<Outcome, Failure> {
    Err(anyhow::anyhow!("not written yet").into())
}
