//! Pages of comparisons: golden ones, their model against FORMAT.md, faults, and texts that would
//! be markup.
//!
//! Must not know: how a verdict comes about.

use std::collections::BTreeMap;
use std::path::Path;

use gridbench::model::{MilliRate, ResultSet};
use gridbench::report::{ComparisonModel, Format, Layout, comparison_model, render_comparison};
use gridbench::stats::{CompareOptions, compare};

use super::fixtures::{hostile, published, rehearsal, small_run};
use super::model::{collect, listed};
use super::texts::is_harmless;
use super::{FORMATS, hold};

fn comparison(format: Format) -> Layout {
    Layout::BuiltIn { name: "comparison".to_owned(), format }
}

fn model(new: &ResultSet, old: &ResultSet) -> ComparisonModel {
    let comparison = compare(new, old, &CompareOptions::with_threshold(0.05));
    comparison_model(&comparison, new, old)
}

fn page(new: &ResultSet, old: &ResultSet, format: Format) -> String {
    render_comparison(&model(new, old), &comparison(format)).unwrap()
}

/// The results with five trials behind each number, their rates and times changed cell by cell:
/// one slower, one faster, the others as they were.
fn repeated(mut results: ResultSet, name: &str, factors: &[u64]) -> ResultSet {
    results.name = name.to_owned();
    for (at, cell) in results.cells.iter_mut().enumerate() {
        let factor = factors.get(at).copied().unwrap_or(100);
        let Some(rate) = cell.qps else { continue };
        let rate = rate.0 * factor / 100;
        cell.qps = Some(MilliRate(rate));
        cell.tps = cell.tps.map(|tps| MilliRate(tps.0 * factor / 100));
        cell.p95_us = cell.p95_us.map(|time| time * 100 / factor);
        cell.trials = 5;
        cell.values = (0..5).map(|trial| MilliRate(rate - 200 + 100 * trial)).collect();
    }
    results
}

fn pair() -> (ResultSet, ResultSet) {
    let mut new = repeated(small_run(), "new", &[80, 100, 100, 120, 100, 100, 90, 150]);
    new.cells[8].concurrency = Some(128);
    (new, repeated(small_run(), "old", &[]))
}

#[test]
fn every_comparison_gives_its_golden_pages() {
    let (new, old) = pair();
    for format in FORMATS {
        let end = format.extension();
        hold(&format!("run.comparison.{end}"), &page(&new, &old, format));
        let rehearsed = page(&rehearsal(), &old, format);
        assert!(rehearsed.to_lowercase().contains("rehearsal, not a result"));
        hold(&format!("rehearsal.comparison.{end}"), &rehearsed);
    }
}

#[test]
fn the_verdicts_and_the_changes_are_those_of_the_cells() {
    let (new, old) = pair();
    let page = page(&new, &old, Format::Markdown);
    let verdicts: BTreeMap<&str, usize> =
        model(&new, &old).verdicts.iter().map(|verdict| (verdict.name, verdict.count)).collect();
    assert_eq!(verdicts["regressed"], 2);
    assert_eq!(verdicts["improved"], 2);
    let row = |spec: &str, verdict: &str| {
        let mut lines = page.lines().filter(|line| line.contains(spec) && line.contains(verdict));
        lines.next().unwrap().split('|').map(str::trim).collect::<Vec<_>>()
    };
    let slower = row("2-core 4 GB", "regressed");
    assert_eq!(slower[2..9], ["64", "1000", "800", "-", "-", "-20.0 %", "-"]);
    let with_tps = row("128-core 1024 GB", "-10.0 %");
    assert_eq!(with_tps[3..9], ["246.91", "222.22", "24.69", "27.43", "-10.0 %", "+11.1 %"]);
    assert!(page.contains("TPS old") && page.contains("QPS old"), "by what both sides have");
    assert!(page.contains(" 64 → 128 |"), "{page}");
}

#[test]
fn published_numbers_can_stand_on_either_side() {
    let (full, large) = (published("full-cache"), published("large-dataset"));
    for format in FORMATS {
        let page = page(&large, &full, format);
        assert_eq!(page.matches("not-comparable").count() % 70, 1, "each cell and the summary");
        assert_eq!(page.matches("As published by Tencent Cloud").count(), 2);
    }
}

#[test]
fn the_model_has_the_names_that_the_format_lists_and_no_others() {
    let (new, old) = pair();
    let mut names = BTreeMap::new();
    for model in [model(&new, &old), model(&published("full-cache"), &rehearsal())] {
        collect(&serde_json::to_value(&model).unwrap(), "", &mut names);
    }
    // What both models have is listed once, with the page model.
    names.retain(|place, _| {
        !place.ends_with(".spec") && !place.contains("measured") && place != "notes[]"
    });
    names.retain(|place, _| !place.ends_with("rehearsal") && !place.ends_with("published"));
    assert_eq!(names, listed("### Comparison page\n", "## Tables in documents\n"));
}

#[test]
fn a_template_of_ones_own_prints_a_comparison_and_its_faults_have_a_place() {
    let (new, old) = pair();
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.md");
    let print = |text: &str| {
        std::fs::write(&own, text).unwrap();
        render_comparison(&model(&new, &old), &Layout::File(own.clone()))
            .map_err(|error| error.to_string())
    };
    let text = "{{ new.name }} {{ scenarios[0].rows[0].ratio_ppm | change }}";
    assert_eq!(print(text).unwrap(), "new -20.0 %\n");
    for (text, told) in [
        ("\n{{ newer.name }}", "own.md:2: `newer` is undefined; did you mean `new`?"),
        ("{{ threshold_ppm | percents }}", "own.md:1: unknown filter: filter percents is unknown"),
        ("{% for x in %}", "own.md:1: syntax error: unexpected"),
    ] {
        let error = print(text).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
    let unknown = Layout::BuiltIn { name: "comparisons".to_owned(), format: Format::Html };
    let error = render_comparison(&model(&new, &old), &unknown).unwrap_err().to_string();
    assert!(error.ends_with("there are comparison; did you mean `comparison`?"), "{error}");
    let error = render_comparison(&model(&new, &old), &Layout::File(Path::new("x.txt").into()));
    assert!(error.unwrap_err().to_string().contains("ends in .md or .html"));
}

#[test]
fn no_text_of_either_side_becomes_markup() {
    for format in FORMATS {
        let old = repeated(hostile(), "<script>old</script> | **x**", &[]);
        let new = hostile();
        is_harmless(&page(&new, &old, format), format);
        assert_eq!(page(&new, &old, format), page(&new, &old, format));
    }
}
