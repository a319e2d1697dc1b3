//! `gridbench diff`: a run beside a baseline, cell by cell.

use std::path::Path;

use anyhow::anyhow;

use super::pages::write_page;
use super::{Failure, Outcome};
use crate::cli::{DiffArgs, DiffFormat, FailOn};
use crate::model::{CellComparison, ResultSet, ResultSource, Verdict};
use crate::report::{
    self, COMPARISONS, ComparisonModel, Format, Layout, comparison_csv, comparison_json,
    comparison_junit, comparison_markdown, comparison_opening, comparison_summary,
    comparison_table,
};
use crate::stats::{CompareOptions, compare, fact_names, threshold_names};
use crate::store::{self, nearest};
use crate::ui::Printer;

/// Used where no general threshold is typed, in percent.
const THRESHOLD_PERCENT: f64 = 5.0;

pub(super) fn run(arguments: &DiffArgs, printer: Printer) -> Result<Outcome, Failure> {
    let thresholds = thresholds(&arguments.threshold)?;
    let baseline = baseline_name(arguments)?;
    let measured = store::resolve(&arguments.out, &arguments.run)?;
    let baseline = store::resolve(&arguments.out, &baseline)?;
    let options = CompareOptions {
        noise: arguments.noise.as_deref().map(|text| noise(&arguments.out, text)).transpose()?,
        across: arguments.across.clone(),
        ..thresholds
    };
    check_names(&options, [&measured, &baseline])?;
    let comparison = compare(&measured, &baseline, &options);
    let failing: Vec<Verdict> = arguments.fail_on.iter().map(|on| verdict(*on)).collect();
    let page = match &arguments.page {
        Some(path) => {
            let model = report::comparison_model(&comparison, &measured, &baseline);
            Some(page(path, arguments.template.as_deref(), &model)?)
        }
        None => None,
    };
    match arguments.format {
        DiffFormat::Table => printer.data(&comparison_table(&comparison))?,
        DiffFormat::Md => printer.data(&comparison_markdown(&comparison))?,
        DiffFormat::Csv => printer.data(&comparison_csv(&comparison))?,
        DiffFormat::Json => printer.data(&comparison_json(&comparison))?,
        DiffFormat::Junit => printer.data(&comparison_junit(&comparison, &failing))?,
    }
    if !matches!(arguments.format, DiffFormat::Table | DiffFormat::Md) {
        printer.talk(&comparison_opening(&comparison));
        printer.talk(&comparison_summary(&comparison));
    }
    if let (Some(path), Some(page)) = (&arguments.page, page) {
        write_page(path, &page)?;
        printer.talk(&format!("wrote {}", path.display()));
    }
    let fails = |cell: &CellComparison| failing.contains(&cell.verdict);
    Ok(if comparison.cells.iter().any(fails) { Outcome::Regression } else { Outcome::Done })
}

/// The page of a comparison in the format that the file's name says.
fn page(path: &Path, template: Option<&str>, model: &ComparisonModel) -> Result<String, Failure> {
    let format = Format::of_path(path).ok_or_else(|| {
        Failure::input(anyhow!("--page {}: name a file that ends in .md or .html", path.display()))
    })?;
    let layout = Layout::named(template.unwrap_or(COMPARISONS[0].0), format);
    if layout.format().is_some_and(|own| own != format) {
        return Err(Failure::input(anyhow!(
            "--page {}: name a template that ends in .{}, too",
            path.display(),
            format.extension()
        )));
    }
    report::render_comparison(model, &layout).map_err(Failure::input)
}

fn verdict(on: FailOn) -> Verdict {
    match on {
        FailOn::Regressed => Verdict::Regressed,
        FailOn::Inconclusive => Verdict::Inconclusive,
        FailOn::Missing => Verdict::Missing,
        FailOn::NotComparable => Verdict::NotComparable,
    }
}

/// `5`, `NAME=5`, as shares.
fn thresholds(typed: &[String]) -> Result<CompareOptions, Failure> {
    let mut options = CompareOptions::with_threshold(THRESHOLD_PERCENT / 100.0);
    let mut has_general = false;
    for text in typed {
        let (name, percent) = match text.rsplit_once('=') {
            Some((name, percent)) if !name.is_empty() => (Some(name), percent),
            Some(_) => return Err(Failure::input(anyhow!("--threshold {text}: of what?"))),
            None => (None, text.as_str()),
        };
        let share = share(percent).ok_or_else(|| {
            Failure::input(anyhow!("--threshold {text}: give a percentage, 0 or more, below 100"))
        })?;
        let is_again = match name {
            None => std::mem::replace(&mut has_general, true),
            Some(name) => options.thresholds.iter().any(|(known, _)| known == name),
        };
        if is_again {
            return Err(Failure::input(anyhow!("--threshold {text}: it was given already")));
        }
        match name {
            None => options.threshold = share,
            Some(name) => options.thresholds.push((name.to_owned(), share)),
        }
    }
    Ok(options)
}

/// A percentage of 0 or more, below 100, as a share.
fn share(percent: &str) -> Option<f64> {
    let number = percent.strip_suffix('%').unwrap_or(percent).trim_end();
    let number: f64 = number.parse().ok()?;
    (0.0..100.0).contains(&number).then_some(number / 100.0)
}

/// A percentage, or what an A/A run found.
fn noise(out: &Path, text: &str) -> Result<f64, Failure> {
    if let Some(share) = share(text) {
        return Ok(share);
    }
    if text.trim_end_matches('%').parse::<f64>().is_ok() {
        let fault = anyhow!("--noise {text}: give a percentage, 0 or more, below 100, or a run");
        return Err(Failure::input(fault));
    }
    let results = store::resolve(out, text)?;
    if matches!(results.source, ResultSource::Measured { rehearsal: Some(_), .. }) {
        let fault = anyhow!("--noise {text}: a rehearsal's noise is not that of a measurement");
        return Err(Failure::input(fault));
    }
    let ppm = results.noise_ppm.ok_or_else(|| {
        Failure::input(anyhow!(
            "--noise {text}: that is no A/A run with 3 repeats in each half; make one with \
             `gridbench run MATRIX --aa`"
        ))
    })?;
    Ok(ppm as f64 / 1e6)
}

/// A name that matches nothing would be a threshold that never holds.
fn check_names(options: &CompareOptions, sides: [&ResultSet; 2]) -> Result<(), Failure> {
    let check = |option: &str, names: Vec<&String>, known: Vec<String>| {
        let Some(name) = names.into_iter().find(|name| !known.contains(name)) else {
            return Ok(());
        };
        let meant = nearest(name, known.iter().map(String::as_str))
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        Err(Failure::input(anyhow!("{option} {name}: neither side has that name{meant}")))
    };
    let thresholds = options.thresholds.iter().map(|(name, _)| name).collect();
    check("--threshold", thresholds, threshold_names(sides))?;
    check("--across", options.across.iter().collect(), fact_names(sides))
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
    fn thresholds_are_percentages_general_or_by_name() {
        let of = |typed: &[&str]| {
            thresholds(&typed.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(of(&[]).unwrap().threshold, 0.05);
        let options = of(&["3", "write-only=10%", "s/2c4g=0"]).unwrap();
        assert_eq!(options.threshold, 0.03);
        let named = [("write-only".to_owned(), 0.1), ("s/2c4g".to_owned(), 0.0)];
        assert_eq!(options.thresholds, named);
        for bad in ["NaN", "inf", "-0.1", "x", "s=", "s=-1", "", "=5", "5%%", "100", "1e308"] {
            assert_eq!(of(&[bad]).unwrap_err().exit_code, 2, "{bad}");
        }
        assert!(of(&["3", "4"]).is_err() && of(&["s=3", "s=4"]).is_err(), "one of them is a slip");
    }
}
