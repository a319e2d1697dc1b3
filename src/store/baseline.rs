//! Stand-in: replaced at merge.

use std::path::Path;

use super::StoreError;
use crate::model::{
    DatasetClass, MilliRate, ResultCell, ResultSet, ResultSource, ScenarioId, SpecId,
};

/// Reads a baseline's cells.
pub fn read(out: &Path, name: &str) -> Result<ResultSet, StoreError> {
    let path = out.join("baselines").join(format!("{name}.csv"));
    let mut reader = csv::Reader::from_path(&path)
        .map_err(|error| StoreError(format!("baseline {name}: {}: {error}", path.display())))?;
    let mut cells = Vec::new();
    for row in reader.records().flatten() {
        let number = |at: usize| row.get(at).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        let id = format!("{}c{}g", number(1), number(2));
        let (Ok(spec), Ok(scenario)) =
            (SpecId::new(&id), ScenarioId::new(row.get(0).unwrap_or_default()))
        else {
            continue;
        };
        cells.push(ResultCell {
            spec,
            scenario,
            concurrency: u32::try_from(number(3)).ok(),
            table_size: number(4),
            tables: number(5) as u32,
            qps: Some(MilliRate(0)),
            tps: None,
            p95_us: None,
            trials: 1,
            note: None,
        });
    }
    let source = ResultSource::Published { origin: String::new(), date: String::new() };
    Ok(ResultSet {
        name: name.to_owned(),
        title: String::new(),
        template: String::new(),
        class: DatasetClass::FullCache,
        source,
        scenarios: Vec::new(),
        specs: Vec::new(),
        cells,
    })
}
