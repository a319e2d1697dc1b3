//! A comparison as JUnit's XML, which build servers show: a test case for each cell.
//!
//! Must not know: how verdicts come about.

use std::fmt::Write as _;

use crate::model::{CellComparison, Comparison, Verdict};
use crate::ui::figures;

/// One suite. A cell with one of the verdicts in `failing` is a failure; else what carries no
/// verdict is skipped, with the reason.
pub fn comparison_junit(comparison: &Comparison, failing: &[Verdict]) -> String {
    let count = |name: &str| {
        let cells = comparison.cells.iter();
        cells.filter(|cell| element(cell.verdict, failing) == Some(name)).count()
    };
    let (failures, skipped) = (count("failure"), count("skipped"));
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuite name=\"{} against {}\" tests=\"{}\" failures=\"{failures}\" \
         skipped=\"{skipped}\">\n",
        escape(&comparison.measured),
        escape(&comparison.baseline),
        comparison.cells.len()
    );
    for cell in &comparison.cells {
        // Writing to a text cannot fail.
        let _ = write!(
            xml,
            "  <testcase classname=\"{}\" name=\"{}\"",
            escape(cell.scenario.as_str()),
            escape(&name(cell))
        );
        xml += &match element(cell.verdict, failing) {
            None => "/>\n".to_owned(),
            Some(element) => {
                let message = escape(&message(cell));
                format!(">\n    <{element} message=\"{message}\"/>\n  </testcase>\n")
            }
        };
    }
    xml + "</testsuite>\n"
}

fn element(verdict: Verdict, failing: &[Verdict]) -> Option<&'static str> {
    match verdict {
        failed if failing.contains(&failed) => Some("failure"),
        Verdict::Improved | Verdict::Within | Verdict::Regressed => None,
        Verdict::Inconclusive | Verdict::Missing | Verdict::NotComparable => Some("skipped"),
    }
}

fn name(cell: &CellComparison) -> String {
    match cell.concurrency.0.or(cell.concurrency.1) {
        Some(concurrency) => format!("{} at {concurrency}", cell.spec),
        None => cell.spec.to_string(),
    }
}

fn message(cell: &CellComparison) -> String {
    let mut message = cell.verdict.name().to_owned();
    if let (Some(ours), Some(theirs)) = (cell.measured, cell.baseline) {
        message += &format!(": {} QPS against {}", figures::rate(ours), figures::rate(theirs));
    }
    if let Some(ratio) = cell.ratio {
        message += &format!(", ratio {ratio:.3}");
    }
    match &cell.note {
        Some(note) => format!("{message}; {note}"),
        None => message,
    }
}

/// What stands in an attribute: markup escaped, what XML 1.0 cannot hold replaced.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' | '\r' | '\t' => escaped.push(' '),
            control if control.is_control() => escaped.push('\u{FFFD}'),
            '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{MilliRate, ScenarioId, SpecId};

    #[test]
    fn a_regression_fails_and_what_says_nothing_is_skipped() {
        let cell = |verdict, note: Option<&str>| CellComparison {
            spec: SpecId::new("2c4g").unwrap(),
            scenario: ScenarioId::new("write-only").unwrap(),
            concurrency: (Some(64), Some(64)),
            measured: Some(MilliRate(90_000)),
            baseline: Some(MilliRate(100_000)),
            trials: (5, 5),
            ratio: Some(0.9),
            interval: None,
            p: None,
            floor: 0.05,
            verdict,
            note: note.map(str::to_owned),
        };
        let comparison = Comparison {
            measured: "a<b".to_owned(),
            baseline: "c".to_owned(),
            threshold: 0.05,
            noise: None,
            rehearsal: false,
            cells: vec![
                cell(Verdict::Regressed, None),
                cell(Verdict::Within, None),
                cell(Verdict::Inconclusive, Some("too \"few\" & \u{1}")),
            ],
        };
        let lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuite name=\"a&lt;b against c\" tests=\"3\" failures=\"1\" skipped=\"1\">",
            "  <testcase classname=\"write-only\" name=\"2c4g at 64\">",
            "    <failure message=\"regressed: 90 QPS against 100, ratio 0.900\"/>",
            "  </testcase>",
            "  <testcase classname=\"write-only\" name=\"2c4g at 64\"/>",
            "  <testcase classname=\"write-only\" name=\"2c4g at 64\">",
            "    <skipped message=\"inconclusive: 90 QPS against 100, ratio 0.900; too \
             &quot;few&quot; &amp; \u{FFFD}\"/>",
            "  </testcase>",
            "</testsuite>",
        ];
        let xml = comparison_junit(&comparison, &[Verdict::Regressed]);
        assert_eq!(xml.lines().collect::<Vec<_>>(), lines);
        let strict = comparison_junit(&comparison, &[Verdict::Inconclusive]);
        assert!(strict.contains("failures=\"1\" skipped=\"0\""), "{strict}");
    }
}
