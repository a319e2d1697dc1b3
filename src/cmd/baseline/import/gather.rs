//! Numbers into the cells of a table: of several runs of a level the median, of several levels
//! the peak, as a run's page has them.
//!
//! Must not know: where the numbers are from.

use std::collections::BTreeMap;

use super::Number;
use crate::model::{MilliRate, ResultCell, Scenario, ScenarioId, Spec, SpecId, counted};
use crate::stats::{median, peak};
use crate::store::Fault;

/// The parts of a result set, in the order in which they first appeared.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) scenarios: Vec<Scenario>,
    pub(super) specs: Vec<Spec>,
    pub(super) cells: Vec<ResultCell>,
    /// Where a number stands for several, a sentence each.
    pub(super) sentences: Vec<String>,
}

type Groups = BTreeMap<(ScenarioId, SpecId), Vec<Number>>;

/// One cell for each scenario and spec; a number on other data than the first of its cell is a
/// fault, and left out.
pub(super) fn gather(numbers: Vec<Number>, faults: &mut Vec<Fault>) -> Gathered {
    let mut gathered = Gathered::default();
    let mut order = Vec::new();
    let mut groups = Groups::new();
    for number in numbers {
        let key = (number.scenario.id.clone(), number.spec.id.clone());
        let group = groups.entry(key.clone()).or_default();
        if let Some(first) = group.first() {
            let data = |number: &Number| (number.tables, number.table_size);
            if data(first) != data(&number) {
                faults.push(other_data(first, &number));
                continue;
            }
        } else {
            order.push(key);
        }
        if !gathered.scenarios.contains(&number.scenario) {
            gathered.scenarios.push(number.scenario.clone());
        }
        if !gathered.specs.contains(&number.spec) {
            gathered.specs.push(number.spec.clone());
        }
        group.push(number);
    }
    for key in order {
        let (cell, sentence) = cell(&groups[&key]);
        gathered.cells.push(cell);
        gathered.sentences.extend(sentence);
    }
    gathered.sort();
    gathered
}

impl Gathered {
    /// Cells as a reader of the file will have them: by scenario, then spec.
    fn sort(&mut self) {
        let (scenarios, specs) = (&self.scenarios, &self.specs);
        self.cells.sort_by_key(|cell| {
            let scenario = scenarios.iter().position(|scenario| scenario.id == cell.scenario);
            (scenario, specs.iter().position(|spec| spec.id == cell.spec))
        });
    }
}

fn other_data(first: &Number, other: &Number) -> Fault {
    let message = format!(
        "{}/{} has {} of {} here, and {} of {} in {}:{}; give each dataset a table of \
         its own",
        other.spec.id,
        other.scenario.id,
        counted(other.tables, "table"),
        counted(other.table_size, "row"),
        first.tables,
        first.table_size,
        first.file,
        first.line
    );
    Fault { file: other.file.clone(), line: Some(other.line), message }
}

/// The cell of numbers that differ in level and repetition only.
fn cell(numbers: &[Number]) -> (ResultCell, Option<String>) {
    let mut levels: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for number in numbers {
        levels.entry(number.concurrency).or_default().push(number.qps.0);
    }
    let medians: Vec<(u32, Option<u64>)> =
        levels.iter().map(|(level, rates)| (*level, median(rates))).collect();
    let best = peak(&medians, |(_, rate)| *rate);
    let (concurrency, rate) = *best.expect("a group has a number, and every number a rate");
    let first = &numbers[0];
    let runs = levels.get(&concurrency).map_or(0, Vec::len);
    let mut words = Vec::new();
    if levels.len() > 1 {
        words.push(format!("the peak of {}, at {concurrency}", counted(levels.len(), "level")));
    }
    if runs > 1 {
        words.push(format!("the median of {}", counted(runs, "run")));
    }
    let place = format!("{}/{}", first.spec.id, first.scenario.id);
    let sentence = (!words.is_empty()).then(|| format!("{place}: {}", words.join(", ")));
    let cell = ResultCell {
        spec: first.spec.id.clone(),
        scenario: first.scenario.id.clone(),
        concurrency: Some(concurrency),
        table_size: first.table_size,
        tables: first.tables,
        qps: rate.map(MilliRate),
        tps: None,
        p95_us: None,
        p99_us: None,
        trials: 1,
        values: Vec::new(),
        note: None,
    };
    (cell, sentence)
}

#[cfg(test)]
mod tests {
    use super::super::facts::spec;
    use super::*;
    use crate::model::WorkloadOptions;
    use crate::workload::builtin;

    fn number(line: u64, size: &str, concurrency: u32, qps: u64, tables: u32) -> Number {
        Number {
            file: "x".to_owned(),
            line,
            spec: spec(size).unwrap(),
            scenario: Scenario {
                id: ScenarioId::new("s").unwrap(),
                title: None,
                workload: builtin("oltp_read_only").unwrap(),
                options: WorkloadOptions::default(),
            },
            concurrency,
            table_size: 100,
            tables,
            qps: MilliRate(qps),
        }
    }

    #[test]
    fn runs_become_their_median_and_levels_their_peak() {
        let numbers = vec![
            number(1, "4c8g", 64, 5, 1),
            number(2, "2c4g", 32, 100, 1),
            number(3, "2c4g", 64, 90, 1),
            number(4, "2c4g", 64, 300, 1),
            number(5, "2c4g", 64, 210, 1),
            number(6, "2c4g", 64, 999, 2),
        ];
        let mut faults = Vec::new();
        let gathered = gather(numbers, &mut faults);
        let cells: Vec<_> =
            gathered.cells.iter().map(|c| (c.spec.as_str(), c.concurrency, c.qps)).collect();
        let rate = |milli| Some(MilliRate(milli));
        assert_eq!(cells, [("4c8g", Some(64), rate(5)), ("2c4g", Some(64), rate(210))]);
        assert_eq!(
            gathered.sentences,
            ["2c4g/s: the peak of 2 levels, at 64, the median of 3 runs"]
        );
        assert_eq!(faults.len(), 1);
        let fault = faults[0].to_string();
        assert!(fault.starts_with("x:6: 2c4g/s has 2 tables of 100 rows here, and 1"), "{fault}");
    }
}
