//! Results on a terminal: the tables with small charts, and what speaks against a number beside it.
//!
//! Must not know: how results are stored, or how wide the terminal is.

use std::collections::BTreeMap;

use super::dossier::Dossier;
use crate::model::{MilliRate, ResultCell, ResultSet, ResultSource, Scenario, counted};
use crate::ui::{Align, Table, bar, figures, lowest_of, paragraph, sparkline};

/// Columns of the bar of a rate, and of the seconds of a trial.
const BAR: usize = 12;
const SECONDS: usize = 24;

/// The whole text.
pub fn screen(screen: &Dossier<'_>) -> String {
    let mut text = opening(screen.results);
    for scenario in &screen.results.scenarios {
        text += &format!("\n{}\n", heading(scenario));
        text += &ScenarioView::new(screen, scenario).table();
    }
    text + &notes(screen)
}

fn opening(results: &ResultSet) -> String {
    let mut text = format!("{}\n", results.title);
    let mut fact = |label: &str, value: &str| text += &paragraph(label, "           ", value);
    fact("results    ", &results.name);
    match &results.source {
        ResultSource::Published { origin, date } => {
            fact("published  ", date);
            fact("origin     ", origin);
        }
        ResultSource::Measured { date, servers, tool_version, engine, rehearsal, .. } => {
            let by = match engine.as_str() {
                "native" => format!("gridbench {tool_version}"),
                other => format!("gridbench {tool_version}, engine {other}"),
            };
            fact("measured   ", &format!("{date} by {by}"));
            fact("server     ", &servers.join(", "));
            if let Some(rehearsal) = rehearsal {
                let factor = figures::count(rehearsal.factor);
                fact("REHEARSAL  ", &format!("memory and data are 1/{factor}: no measurement"));
            }
        }
    }
    if let Some(protocol) = &results.protocol {
        let (duration, warmup) = (protocol.duration, protocol.warmup);
        let words = format!(
            "{} after {} of warm-up, {}, {} statements, {} keys",
            figures::duration(duration),
            figures::duration(warmup),
            counted(protocol.repeats, "repeat"),
            protocol.statements.name(),
            protocol.keys.name()
        );
        fact("protocol   ", &words);
    }
    text
}

fn heading(scenario: &Scenario) -> String {
    let id = scenario.id.as_str();
    let name = scenario.title.as_deref().filter(|title| *title != id);
    let name = name.map_or_else(String::new, |title| format!("{title}, "));
    let queries = counted(scenario.queries_per_event(), "query");
    format!("{id}: {name}{}, {queries} an event", scenario.workload.name())
}

/// One scenario with all that belongs to its cells.
struct ScenarioView<'a> {
    screen: &'a Dossier<'a>,
    cells: Vec<&'a ResultCell>,
    /// The concurrencies of all trials of the scenario, ascending.
    levels: Vec<u32>,
    largest: u64,
    /// Whether a trial took long enough that its seconds say something.
    has_seconds: bool,
    /// Prints a rate: with its point in line with the others' where one of them has a point.
    rate: fn(MilliRate) -> String,
}

impl<'a> ScenarioView<'a> {
    fn new(screen: &'a Dossier<'a>, scenario: &'a Scenario) -> Self {
        let of_scenario = |cell: &&ResultCell| cell.scenario == scenario.id;
        let cells: Vec<_> = screen.results.cells.iter().filter(of_scenario).collect();
        let levels = screen.levels(&scenario.id);
        let largest = cells.iter().filter_map(|cell| cell.qps).max().map_or(0, |rate| rate.0);
        let has_seconds =
            screen.seconds.values().flatten().any(|second| second.length_us >= 1_000_000);
        let is_plain = cells.iter().all(|cell| cell.qps.is_none_or(|qps| qps.0 % 1_000 == 0));
        let rate = if is_plain { figures::rate } else { figures::aligned_rate };
        Self { screen, cells, levels, largest, has_seconds, rate }
    }

    fn table(&self) -> String {
        let has_trials = !self.screen.trials.is_empty();
        let has_ladder = self.levels.len() > 1;
        let ladder = match (self.levels.first(), self.levels.last()) {
            (Some(first), Some(last)) => format!("AT {first}..{last}"),
            _ => String::new(),
        };
        let mut columns = vec![
            ("SPEC", Align::Left),
            ("CONCURRENCY", Align::Right),
            ("TABLES", Align::Right),
            ("QPS", Align::Right),
            ("", Align::Left),
        ];
        if has_trials {
            columns.extend([("TPS", Align::Right), ("P95", Align::Right), ("P99", Align::Right)]);
        }
        if has_ladder {
            columns.push((ladder.as_str(), Align::Left));
        }
        if self.has_seconds {
            columns.push(("SECONDS", Align::Left));
        }
        if self.screen.comparison.is_some() {
            columns.extend([("BASELINE", Align::Right), ("VERDICT", Align::Left)]);
        }
        columns.push(("", Align::Left));
        let mut table = Table::new(&columns);
        for cell in &self.cells {
            table.row(self.row(cell, (has_trials, has_ladder)));
        }
        table.render()
    }

    fn row(&self, cell: &'a ResultCell, (has_trials, has_ladder): (bool, bool)) -> Vec<String> {
        let rate = |rate: Option<MilliRate>| rate.map(figures::rate).unwrap_or_default();
        let mut row = vec![
            cell.spec.to_string(),
            cell.concurrency.map(|level| level.to_string()).unwrap_or_default(),
            format!("{} x {}", cell.tables, figures::count(cell.table_size)),
            cell.qps.map_or_else(|| "-".to_owned(), self.rate),
            cell.qps.map_or_else(String::new, |qps| bar(qps.0, self.largest, BAR)),
        ];
        if has_trials {
            let time = |us: Option<u64>| us.map(figures::latency).unwrap_or_default();
            row.extend([rate(cell.tps), time(cell.p95_us), time(cell.p99_us)]);
        }
        if has_ladder {
            row.push(self.ladder(cell));
        }
        if self.has_seconds {
            row.push(self.seconds(cell));
        }
        if self.screen.comparison.is_some() {
            row.extend(self.verdict(cell));
        }
        row.push(self.marks(cell));
        row
    }

    /// The best rate of each level.
    fn ladder(&self, cell: &'a ResultCell) -> String {
        let mut best: BTreeMap<u32, u64> = BTreeMap::new();
        for trial in self.screen.done(&cell.spec, &cell.scenario) {
            let rate = best.entry(trial.cell.concurrency).or_default();
            *rate = (*rate).max(trial.qps.map_or(0, |qps| qps.0));
        }
        let levels: Vec<_> = self.levels.iter().map(|level| best.get(level).copied()).collect();
        sparkline(&levels)
    }

    /// The seconds of the last trial behind the number.
    fn seconds(&self, cell: &'a ResultCell) -> String {
        let Some(trial) = self.screen.behind(cell).last() else { return String::new() };
        let queries = self.screen.queries_by_second(trial.number);
        sparkline(&lowest_of(&queries, SECONDS))
    }

    fn verdict(&self, cell: &ResultCell) -> [String; 2] {
        let Some(compared) = self.screen.compared(cell) else { return Default::default() };
        let ratio = compared.ratio.map(|ratio| format!(" {:+.1} %", (ratio - 1.0) * 100.0));
        [
            compared.baseline.map(figures::rate).unwrap_or_default(),
            format!("{}{}", compared.verdict.name(), ratio.unwrap_or_default()),
        ]
    }

    /// `[1]` for a note, then the codes of what an audit found.
    fn marks(&self, cell: &ResultCell) -> String {
        let mut marks = Vec::new();
        if let Some(note) = &cell.note {
            let place = notes_of(self.screen.results).iter().position(|known| *known == note);
            marks.extend(place.map(|place| format!("[{}]", place + 1)));
        }
        for place in self.screen.findings_of(cell) {
            let code = self.screen.findings[place].code;
            if !marks.iter().any(|mark| mark == code) {
                marks.push(code.to_owned());
            }
        }
        marks.join(" ")
    }
}

/// Distinct notes in the order of the cells.
fn notes_of(results: &ResultSet) -> Vec<&String> {
    let mut notes: Vec<&String> = Vec::new();
    for note in results.cells.iter().filter_map(|cell| cell.note.as_ref()) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

fn notes(screen: &Dossier<'_>) -> String {
    let mut text = String::new();
    for (index, note) in notes_of(screen.results).iter().enumerate() {
        let label = format!("[{}] ", index + 1);
        let lead = if index == 0 { "\n" } else { "" };
        text += &format!("{lead}{}", paragraph(&label, "    ", note));
    }
    if !screen.findings.is_empty() {
        let found = counted(screen.findings.len(), "finding");
        text += &format!("\n{found} of the audit: gridbench audit {}\n", screen.results.name);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::model::{CellId, Interval, SpecId, TrialStatus};
    use crate::stats::{CompareOptions, compare};
    use crate::store::{StoredTrial, baseline};

    fn published(specs: &[&str]) -> ResultSet {
        let name = "tdsql-c-2025-12/full-cache";
        let mut results = baseline::read(Path::new("/nonexistent"), name).unwrap();
        results.scenarios.truncate(1);
        let is_kept = |spec: &SpecId| specs.contains(&spec.as_str());
        results.specs.retain(|spec| is_kept(&spec.id));
        let first = results.scenarios[0].id.clone();
        results.cells.retain(|cell| cell.scenario == first && is_kept(&cell.spec));
        results
    }

    fn trial(results: &ResultSet, number: u64, level: u32, qps: u64) -> StoredTrial {
        let (spec, scenario) = (results.specs[0].id.clone(), results.scenarios[0].id.clone());
        StoredTrial {
            number,
            cell: CellId { spec, scenario, concurrency: level },
            repetition: 1,
            started_unix_ms: 0,
            status: TrialStatus::Done,
            qps: Some(MilliRate(qps * 1_000)),
            tps: None,
            p95_us: None,
            p99_us: None,
            events_unfinished: 0,
            errors: Vec::new(),
            rate_met: None,
            client_bound: None,
            warmup_level: None,
            steady: None,
            qps_lowest_second: None,
            qps_p5_second: None,
            evidence: None,
        }
    }

    fn second(index: u64, queries: u64) -> Interval {
        let (elapsed_us, length_us) = ((index + 1) * 1_000_000, 1_000_000);
        Interval { elapsed_us, length_us, events: 0, queries, errors: 0, p95_us: None }
    }

    #[test]
    fn a_row_shows_rate_ladder_seconds_verdict_and_what_speaks_against_it() {
        let baseline = published(&["2c4g", "4c8g"]);
        let mut results = baseline.clone();
        results.cells[0].qps = Some(MilliRate(40_000_000));
        results.cells[0].note = Some("the rate fell by 70 % for \u{1b}[31m3 s".to_owned());
        results.cells[1].qps = None;
        let levels = [(1, 32, 20_000), (2, 64, 40_000), (3, 128, 30_000)];
        let trials = levels.map(|(number, level, qps)| trial(&results, number, level, qps));
        let queries = [40_000, 41_000, 0, 39_000, 20_000];
        let seconds = (0..).zip(queries).map(|(i, n)| second(i, n)).collect();
        let seconds = std::collections::BTreeMap::from([(2, seconds)]);
        let comparison = compare(&results, &baseline, &CompareOptions::with_threshold(0.05));
        let findings = crate::audit::audit(&results, &[], &crate::audit::AuditOptions::default());
        let text = screen(&Dossier {
            description: None,
            histograms: &[],
            results: &results,
            trials: &trials,
            seconds: &seconds,
            comparison: Some(&comparison),
            findings: &findings,
        });
        insta::assert_snapshot!(text);
    }
}
