//! What an audit found, as text, Markdown or JSON.
//!
//! What was assumed is named before the first finding. Must not know: how a finding comes about.

use std::collections::BTreeSet;

use serde::Serialize;

use super::markdown;
use crate::audit::{AuditOptions, CellReference, Finding};
use crate::model::{ResultSet, ResultSource, counted};
use crate::ui::{figures, paragraph};

/// So many cells of a finding are named each; of more, what they have in common.
const NAMED_IN_FULL: usize = 2;

/// What was audited, with what was found.
#[derive(Debug, Clone, Copy)]
pub struct AuditReport<'a> {
    /// The name that was asked for.
    pub name: &'a str,
    /// The tables that were held up.
    pub tables: &'a [ResultSet],
    /// What the arithmetic took as given.
    pub options: &'a AuditOptions,
    /// What it says.
    pub findings: &'a [Finding],
}

/// Findings for a terminal: under each sentence the cells and figures that it is about.
pub fn audit_text(report: &AuditReport<'_>) -> String {
    let mut text = paragraph("", "", &audit_opening(report));
    for (code, sentence, findings) in groups(report) {
        text += &format!("\n{}", paragraph(&format!("{code}  "), "  ", sentence));
        for finding in findings {
            let words = format!("{}: {}", places(report, finding), finding.arithmetic);
            text += &paragraph("  - ", "    ", &words);
        }
    }
    text
}

/// The same as a Markdown table, with the sentences below it.
pub fn audit_markdown(report: &AuditReport<'_>) -> String {
    let mut text = markdown::escape(&audit_opening(report)) + "\n";
    if report.findings.is_empty() {
        return text;
    }
    text += "\n| Code | Cells | Arithmetic |\n| --- | --- | --- |\n";
    for finding in report.findings {
        let texts = [finding.code, &places(report, finding), &finding.arithmetic];
        text += &format!("| {} |\n", texts.map(markdown::escape).join(" | "));
    }
    text.push('\n');
    for (code, sentence, _) in groups(report) {
        text += &format!("- {code}: {}\n", markdown::escape(sentence));
    }
    text
}

/// One object: the name, the tables, what was assumed, the findings.
pub fn audit_json(report: &AuditReport<'_>) -> String {
    let whole = WholeAudit {
        name: report.name,
        tables: report.tables.iter().map(|table| table.name.as_str()).collect(),
        round_trip_us: report.options.round_trip_us,
        bandwidth_bits_per_second: report.options.bandwidth_bits,
        findings: report.findings.iter().map(FindingObject::from).collect(),
    };
    let text = serde_json::to_string_pretty(&whole).expect("plain fields always serialise");
    format!("{text}\n")
}

/// What was held up, what was found, and what was taken as given.
pub fn audit_opening(report: &AuditReport<'_>) -> String {
    let cells: usize = report.tables.iter().map(|table| table.cells.len()).sum();
    let tables = counted(report.tables.len(), "table");
    let found = match report.findings.len() {
        0 => "nothing found".to_owned(),
        count => counted(count, "finding"),
    };
    let opening = format!("{}: {tables}, {}, {found}.", report.name, counted(cells, "cell"));
    let source = |table: &ResultSet, wanted: fn(&ResultSource) -> bool| wanted(&table.source);
    let is_rehearsal =
        |source: &ResultSource| matches!(source, ResultSource::Measured { rehearsal: Some(_), .. });
    let is_shared = |source: &ResultSource| {
        matches!(source, ResultSource::Measured { shared_machine: true, .. })
    };
    if report.tables.iter().any(|table| source(table, is_rehearsal)) {
        return format!("{opening} A rehearsal: only the counts of its trials are held up.");
    }
    if report.tables.iter().any(|table| source(table, is_shared)) {
        return format!(
            "{opening} Client and server shared one machine: round trips and the network are not \
             held up."
        );
    }
    format!(
        "{opening} Stated, not measured: no round trip is shorter than {} us, the client's \
         network carries {}.",
        report.options.round_trip_us,
        figures::bit_rate(report.options.bandwidth_bits)
    )
}

/// Findings with one sentence, in the order of the first of them.
fn groups<'a>(report: &AuditReport<'a>) -> Vec<(&'static str, &'a str, Vec<&'a Finding>)> {
    let mut groups: Vec<(&'static str, &'a str, Vec<&'a Finding>)> = Vec::new();
    for finding in report.findings {
        let key = (finding.code, finding.sentence.as_str());
        match groups.iter_mut().find(|group| (group.0, group.1) == key) {
            Some(group) => group.2.push(finding),
            None => groups.push((key.0, key.1, vec![finding])),
        }
    }
    groups
}

/// Few cells in full; of more what they have in common, and how many they are.
fn places(report: &AuditReport<'_>, finding: &Finding) -> String {
    let cells = &finding.cells;
    let named = |cell: &CellReference| match report.tables.len() {
        1 => cell.to_string().replacen(&format!("{} ", cell.table), "", 1),
        _ => cell.to_string(),
    };
    if cells.len() <= NAMED_IN_FULL {
        return cells.iter().map(named).collect::<Vec<_>>().join(", ");
    }
    let common = |of: fn(&CellReference) -> &str| {
        let distinct: BTreeSet<&str> = cells.iter().map(of).collect();
        (distinct.len() == 1).then(|| of(&cells[0]).to_owned())
    };
    let table = common(|cell| &cell.table).filter(|_| report.tables.len() > 1);
    let parts = [table, common(|cell| cell.spec.as_str()), common(|cell| cell.scenario.as_str())];
    let mut words: Vec<String> = parts.into_iter().flatten().collect();
    words.push(format!("({})", counted(cells.len(), "cell")));
    words.join(" ")
}

#[derive(Debug, Serialize)]
struct WholeAudit<'a> {
    name: &'a str,
    tables: Vec<&'a str>,
    round_trip_us: u64,
    bandwidth_bits_per_second: u64,
    findings: Vec<FindingObject<'a>>,
}

#[derive(Debug, Serialize)]
struct FindingObject<'a> {
    code: &'a str,
    cells: Vec<CellObject<'a>>,
    arithmetic: &'a str,
    sentence: &'a str,
}

#[derive(Debug, Serialize)]
struct CellObject<'a> {
    table: &'a str,
    spec: &'a str,
    scenario: &'a str,
    concurrency: Option<u32>,
}

impl<'a> From<&'a Finding> for FindingObject<'a> {
    fn from(finding: &'a Finding) -> Self {
        let cell = |cell: &'a CellReference| CellObject {
            table: &cell.table,
            spec: cell.spec.as_str(),
            scenario: cell.scenario.as_str(),
            concurrency: cell.concurrency,
        };
        Self {
            code: finding.code,
            cells: finding.cells.iter().map(cell).collect(),
            arithmetic: &finding.arithmetic,
            sentence: &finding.sentence,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DatasetClass, Rehearsal, ScenarioId, SpecId};

    fn table(name: &str, source: ResultSource) -> ResultSet {
        ResultSet {
            environment: std::collections::BTreeMap::new(),
            noise_ppm: None,
            name: name.to_owned(),
            title: "A title".to_owned(),
            template: "tdsql-c-en".to_owned(),
            class: DatasetClass::FullCache,
            source,
            protocol: None,
            scenarios: Vec::new(),
            specs: Vec::new(),
            cells: Vec::new(),
        }
    }

    fn published() -> ResultSource {
        ResultSource::Published { origin: "us".to_owned(), date: "2026-01-02".to_owned() }
    }

    fn measured(shared_machine: bool, rehearsal: Option<Rehearsal>) -> ResultSource {
        ResultSource::Measured {
            run: "r".to_owned(),
            date: "2026-01-02".to_owned(),
            servers: Vec::new(),
            shared_machine,
            tool_version: "0".to_owned(),
            engine: "native".to_owned(),
            rehearsal,
        }
    }

    fn finding(cells: &[(&str, &str, &str)]) -> Finding {
        let cell = |(table, spec, scenario): &(&str, &str, &str)| CellReference {
            table: (*table).to_owned(),
            spec: SpecId::new(spec).unwrap(),
            scenario: ScenarioId::new(scenario).unwrap(),
            concurrency: Some(32),
        };
        Finding {
            code: "CODE",
            cells: cells.iter().map(cell).collect(),
            arithmetic: "1 | 2".to_owned(),
            sentence: "It follows.".to_owned(),
        }
    }

    fn text(of: fn(&AuditReport<'_>) -> String, tables: &[ResultSet], found: &[Finding]) -> String {
        let options = AuditOptions::default();
        of(&AuditReport { name: "s", tables, options: &options, findings: found })
    }

    #[test]
    fn the_opening_says_what_was_taken_as_given() {
        let opening = |source| text(audit_opening, &[table("s/a", source)], &[]);
        assert_eq!(
            opening(published()),
            "s: 1 table, 0 cells, nothing found. Stated, not measured: no round trip is shorter \
             than 100 us, the client's network carries 10 Gbit/s."
        );
        assert!(opening(measured(true, None)).ends_with("the network are not held up."));
        assert!(opening(measured(false, None)).contains("Stated, not measured"));
        let rehearsal = Some(Rehearsal { factor: 100 });
        assert!(opening(measured(true, rehearsal)).contains("A rehearsal: only the counts"));
    }

    #[test]
    fn cells_are_named_by_what_they_have_in_common() {
        let tables = [table("s/a", published()), table("s/b", published())];
        let place = |cells: &[(&str, &str, &str)], tables: &[ResultSet]| {
            let text = text(audit_markdown, tables, &[finding(cells)]);
            let row = text.lines().nth(4).unwrap().to_owned();
            row.split(" | ").nth(1).unwrap().to_owned()
        };
        let cells = [("s/a", "2c4g", "x"), ("s/a", "4c8g", "x"), ("s/a", "8c16g", "x")];
        assert_eq!(place(&cells[..1], &tables), "s/a 2c4g x at 32");
        assert_eq!(place(&cells[..2], &tables), "s/a 2c4g x at 32, s/a 4c8g x at 32");
        assert_eq!(place(&cells, &tables), "s/a x (3 cells)");
        assert_eq!(place(&cells[..1], &tables[..1]), "2c4g x at 32");
        assert_eq!(place(&cells, &tables[..1]), "x (3 cells)");
        assert_eq!(place(&[], &tables), "");
    }

    #[test]
    fn a_sentence_is_said_once_and_markdown_is_escaped() {
        let tables = [table("s/a", published())];
        let found = [finding(&[("s/a", "2c4g", "x")]), finding(&[("s/a", "4c8g", "x")])];
        let plain = text(audit_text, &tables, &found);
        assert_eq!(plain.matches("It follows.").count(), 1);
        let items = "  - 2c4g x at 32: 1 | 2\n  - 4c8g x at 32: 1 | 2\n";
        assert!(plain.ends_with(&format!("\nCODE  It follows.\n{items}")), "{plain}");
        let markdown = text(audit_markdown, &tables, &found);
        assert!(markdown.contains("| CODE | 4c8g x at 32 | 1 \\| 2 |\n\n- CODE: It follows.\n"));
    }
}
