//! `gridbench show`: results on the terminal, with small charts.

use super::{Failure, Outcome};
use crate::audit::{AuditOptions, audit, audit_trials};
use crate::cli::ShowArgs;
use crate::report::{Screen, screen};
use crate::stats::{CompareOptions, compare};
use crate::store::{self, RunDir, StoreError};
use crate::ui::Printer;

/// A difference of at most this share is none, as in `diff`.
const THRESHOLD: f64 = 0.05;

pub(super) fn run(arguments: &ShowArgs, printer: Printer) -> Result<Outcome, Failure> {
    let (out, name) = (&arguments.out, &arguments.source);
    let run = match RunDir::open(out, name) {
        Err(StoreError::Unknown(_) | StoreError::NotARun { .. }) => None,
        run => Some(run?),
    };
    let results = match &run {
        Some(run) => run.results()?,
        None => store::resolve(out, name)?,
    };
    let (mut trials, mut seconds) = (Vec::new(), Vec::new());
    let mut findings = audit(&results, &[], &AuditOptions::default());
    let mut comparison = None;
    if let Some(run) = &run {
        (trials, seconds) = (run.trials()?, run.intervals()?);
        findings.extend(audit_trials(&results, &run.counts()?));
        if let Some(baseline) = &run.description().plan.matrix.baseline {
            let options = CompareOptions::with_threshold(THRESHOLD);
            comparison = Some(compare(&results, &store::resolve(out, baseline)?, &options));
        }
    }
    let shown = Screen {
        results: &results,
        trials: &trials,
        seconds: &seconds,
        comparison: comparison.as_ref(),
        findings: &findings,
    };
    printer.data(&screen(&shown))?;
    Ok(Outcome::Done)
}
