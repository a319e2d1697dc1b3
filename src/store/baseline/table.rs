//! A published table as CSV: a row per cell, every number as it was printed.
//!
//! Must not know: where the file is.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::model::{
    Bytes, MilliRate, ResultCell, ResultSet, ResultSource, Scenario, ScenarioId, Spec, SpecId,
};
use crate::store::csv_table::fields;
use crate::store::error::{Fault, nearest};

use super::{About, AboutTable};

/// The header of the file.
pub(super) const COLUMNS: [&str; 7] =
    ["scenario", "cpu", "memory_gb", "concurrency", "table_size", "tables", "qps"];

/// Reads a table; on failure with every fault of the file.
pub(super) fn parse(
    file: &str,
    text: &str,
    about: &About,
    table: &AboutTable,
) -> Result<ResultSet, Vec<Fault>> {
    let mut reader = Reader {
        scenarios: &about.scenarios,
        specs: Vec::new(),
        cells: Vec::new(),
        lines: BTreeMap::new(),
    };
    let mut faults = Vec::new();
    let mut lines = text.lines().zip(1_u64..);
    let header = lines.next().map_or("", |(header, _)| header);
    let mut fault = |line, message| {
        faults.push(Fault { file: file.to_owned(), line: Some(line), message });
    };
    if header != COLUMNS.join(",") {
        fault(1, format!("the columns must be {}", COLUMNS.join(",")));
    } else {
        for (row, line) in lines.filter(|(row, _)| !row.is_empty()) {
            if let Err(message) = reader.row(row, line) {
                fault(line, message);
            }
        }
        if reader.lines.is_empty() {
            fault(1, "there is no cell below the header".to_owned());
        }
    }
    if faults.is_empty() { Ok(reader.finish(about, table)) } else { Err(faults) }
}

struct Reader<'a> {
    scenarios: &'a [Scenario],
    /// In the order in which they first appear: the order of a page's rows.
    specs: Vec<Spec>,
    cells: Vec<ResultCell>,
    /// The line of each scenario and spec.
    lines: BTreeMap<(ScenarioId, SpecId), u64>,
}

impl Reader<'_> {
    fn row(&mut self, row: &str, line: u64) -> Result<(), String> {
        let record = fields(row.as_bytes()).ok_or("a quote is not closed")?;
        let texts: Vec<&str> = record.iter().collect();
        let [scenario, cpu, memory_gb, concurrency, table_size, tables, qps] = texts[..] else {
            return Err(format!("there should be {} fields, not {}", COLUMNS.len(), texts.len()));
        };
        let scenario = self.scenario(scenario)?;
        let spec = spec(positive("cpu", cpu)?, positive("memory_gb", memory_gb)?)?;
        let cell = ResultCell {
            spec: spec.id.clone(),
            scenario,
            concurrency: Some(positive("concurrency", concurrency)?),
            table_size: positive("table_size", table_size)?,
            tables: positive("tables", tables)?,
            qps: Some(rate(qps)?),
            tps: None,
            p95_us: None,
            p99_us: None,
            trials: 1,
            values: Vec::new(),
            note: None,
        };
        let key = (cell.scenario.clone(), cell.spec.clone());
        if let Some(first) = self.lines.get(&key) {
            return Err(format!("{} {} stands in line {first} already", key.0, key.1));
        }
        self.lines.insert(key, line);
        if !self.specs.contains(&spec) {
            self.specs.push(spec);
        }
        self.cells.push(cell);
        Ok(())
    }

    fn scenario(&self, name: &str) -> Result<ScenarioId, String> {
        let mut ids = self.scenarios.iter().map(|scenario| &scenario.id);
        if let Some(id) = ids.clone().find(|id| id.as_str() == name) {
            return Ok(id.clone());
        }
        let meant = nearest(name, ids.by_ref().map(ScenarioId::as_str))
            .map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
        Err(format!("about.toml has no scenario `{name}`{meant}"))
    }

    /// Cells by scenario, then spec.
    fn finish(mut self, about: &About, table: &AboutTable) -> ResultSet {
        let used =
            |scenario: &&Scenario| self.cells.iter().any(|cell| cell.scenario == scenario.id);
        let scenarios: Vec<Scenario> = self.scenarios.iter().filter(used).cloned().collect();
        let specs = self.specs;
        self.cells.sort_by_key(|cell| {
            let scenario = scenarios.iter().position(|scenario| scenario.id == cell.scenario);
            (scenario, specs.iter().position(|spec| spec.id == cell.spec))
        });
        ResultSet {
            name: format!("{}/{}", about.name, table.name),
            title: table.title.clone(),
            template: table.template.clone(),
            class: table.class,
            source: ResultSource::Published {
                origin: table.origin.clone(),
                date: table.date.clone(),
            },
            protocol: None,
            environment: BTreeMap::new(),
            noise_ppm: None,
            scenarios,
            specs,
            cells: self.cells,
        }
    }
}

fn spec(cpu: u32, memory_gb: u64) -> Result<Spec, String> {
    let id = SpecId::new(&format!("{cpu}c{memory_gb}g")).map_err(|error| error.to_string())?;
    let memory = memory_gb.checked_mul(Bytes::GB).map(Bytes);
    Ok(Spec { id, cpu, memory: memory.ok_or("column memory_gb: the number is too large")? })
}

/// A whole number from 1 on.
fn positive<T: FromStr + Default + PartialEq>(column: &str, text: &str) -> Result<T, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<T>() {
        Ok(number) if digits && number != T::default() => Ok(number),
        Err(_) if digits => Err(format!("column {column}: `{text}` is too large")),
        _ => Err(format!("column {column}: `{text}` is not a whole number from 1 on")),
    }
}

/// A decimal text with at most three decimals, exactly.
fn rate(text: &str) -> Result<MilliRate, String> {
    let bad = || format!("column qps: `{text}` is not a number with at most three decimals");
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || decimals.len() > 3 {
        return Err(bad());
    }
    let thousandths: u64 = format!("{decimals:0<3}").parse().map_err(|_| bad())?;
    let whole: u64 = whole.parse().map_err(|_| bad())?;
    match whole.checked_mul(1_000).and_then(|milli| milli.checked_add(thousandths)) {
        Some(0) => Err("column qps: 0 is no result; leave the row out".to_owned()),
        Some(milli) => Ok(MilliRate(milli)),
        None => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_rate_is_read_exactly_as_printed(whole in 1..10_000_000_u64, milli in 0..1_000_u64) {
            let printed = format!("{whole}.{milli:03}");
            prop_assert_eq!(rate(&printed), Ok(MilliRate(whole * 1_000 + milli)));
            prop_assert_eq!(rate(&whole.to_string()), Ok(MilliRate(whole * 1_000)));
        }

        #[test]
        fn no_text_makes_the_number_readers_panic(text in ".{0,30}|[0-9.]{0,40}") {
            let _ = rate(&text);
            let _ = positive::<u32>("cpu", &text);
        }
    }

    #[test]
    fn only_plain_decimals_are_rates() {
        assert_eq!(rate("309436.4"), Ok(MilliRate(309_436_400)));
        for bad in ["", ".5", "5.", "1.2345", "-1", "+1", "1e5", "1,000", "0", "0.000", "NaN"] {
            assert!(rate(bad).is_err(), "{bad}");
        }
        assert!(rate("18446744073709551615").is_err());
        assert_eq!(
            positive::<u32>("cpu", "4294967296").unwrap_err(),
            "column cpu: `4294967296` is too large"
        );
    }
}
