//! `gridbench diff`: a run beside a baseline, cell by cell.

use anyhow::anyhow;

use super::{Failure, Outcome};
use crate::cli::{DiffArgs, DiffFormat};
use crate::model::Verdict;
use crate::report::{
    comparison_csv, comparison_json, comparison_markdown, comparison_opening, comparison_summary,
    comparison_table,
};
use crate::stats::compare;
use crate::store;
use crate::ui::Printer;

pub(super) fn run(arguments: &DiffArgs, printer: Printer) -> Result<Outcome, Failure> {
    let threshold = threshold(arguments.threshold)?;
    let baseline = baseline_name(arguments)?;
    let measured = store::resolve(&arguments.out, &arguments.run)?;
    let baseline = store::resolve(&arguments.out, &baseline)?;
    let comparison = compare(&measured, &baseline, threshold);
    match arguments.format {
        DiffFormat::Table => printer.data(&comparison_table(&comparison))?,
        DiffFormat::Md => printer.data(&comparison_markdown(&comparison))?,
        DiffFormat::Csv => printer.data(&comparison_csv(&comparison))?,
        DiffFormat::Json => printer.data(&comparison_json(&comparison))?,
    }
    if matches!(arguments.format, DiffFormat::Csv | DiffFormat::Json) {
        printer.talk(&comparison_opening(&comparison));
        printer.talk(&comparison_summary(&comparison));
    }
    let regressed = comparison.cells.iter().any(|cell| cell.verdict == Verdict::Regressed);
    Ok(if regressed { Outcome::Regression } else { Outcome::Done })
}

fn threshold(percent: f64) -> Result<f64, Failure> {
    if percent.is_finite() && percent >= 0.0 {
        return Ok(percent / 100.0);
    }
    Err(Failure::input(anyhow!("--threshold {percent}: give a percentage of 0 or more")))
}

/// The baseline that was typed, else the one that the run's matrix names.
fn baseline_name(arguments: &DiffArgs) -> Result<String, Failure> {
    if let Some(name) = &arguments.baseline {
        return Ok(name.clone());
    }
    let named = store::baseline_of(&arguments.out, &arguments.run)?;
    named.ok_or_else(|| {
        Failure::input(anyhow!(
            "`{run}` names no baseline; say which: `gridbench diff {run} BASELINE` \
             (`gridbench baseline list` shows them)",
            run = arguments.run
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_a_share_of_0_or_more() {
        assert_eq!(threshold(5.0).unwrap(), 0.05);
        assert_eq!(threshold(0.0).unwrap(), 0.0);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.1] {
            assert_eq!(threshold(bad).unwrap_err().exit_code, 2, "{bad}");
        }
    }
}
