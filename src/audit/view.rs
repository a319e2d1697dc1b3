//! A result set as the checks walk through it.
//!
//! Must not know: any check.

use crate::model::{MilliRate, ResultCell, ResultSet, ResultSource, Scenario, Spec};

use super::{AuditOptions, CellReference, Finding};

/// A result set with what is assumed of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) results: &'a ResultSet,
    pub(super) options: &'a AuditOptions,
}

/// A cell that has a number, with its spec and scenario.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number<'a> {
    pub(super) table: &'a str,
    pub(super) cell: &'a ResultCell,
    pub(super) spec: &'a Spec,
    pub(super) scenario: &'a Scenario,
    pub(super) qps: MilliRate,
}

impl<'a> View<'a> {
    pub(super) fn is_rehearsal(&self) -> bool {
        matches!(self.results.source, ResultSource::Measured { rehearsal: Some(_), .. })
    }

    /// Whether no network stood between client and server.
    pub(super) fn is_shared_machine(&self) -> bool {
        matches!(self.results.source, ResultSource::Measured { shared_machine: true, .. })
    }

    /// Every cell that has a number, in the table's order.
    pub(super) fn numbers(&self) -> Vec<Number<'a>> {
        numbers(self.results)
    }

    /// Of each spec and scenario the cell with the highest rate, in the table's order; of equal
    /// ones the first.
    pub(super) fn peaks(&self) -> Vec<Number<'a>> {
        peaks(self.results)
    }
}

fn numbers(results: &ResultSet) -> Vec<Number<'_>> {
    let number = |cell| Number::of(results, cell);
    results.cells.iter().filter_map(number).collect()
}

/// As [`View::peaks`].
pub(super) fn peaks(results: &ResultSet) -> Vec<Number<'_>> {
    let mut peaks: Vec<Number<'_>> = Vec::new();
    for number in numbers(results) {
        let place = |peak: &&mut Number<'_>| {
            peak.spec.id == number.spec.id && peak.scenario.id == number.scenario.id
        };
        match peaks.iter_mut().find(place) {
            Some(peak) if number.qps > peak.qps => *peak = number,
            Some(_) => {}
            None => peaks.push(number),
        }
    }
    peaks
}

impl<'a> Number<'a> {
    fn of(results: &'a ResultSet, cell: &'a ResultCell) -> Option<Self> {
        let qps = cell.qps.filter(|qps| qps.0 > 0)?;
        let spec = results.specs.iter().find(|spec| spec.id == cell.spec)?;
        let scenario = results.scenarios.iter().find(|of| of.id == cell.scenario)?;
        Some(Self { table: &results.name, cell, spec, scenario, qps })
    }

    /// Rows of the whole dataset.
    pub(super) fn rows(&self) -> u64 {
        u64::from(self.cell.tables).saturating_mul(self.cell.table_size)
    }

    /// Events per second that the rate of statements comes to.
    pub(super) fn events_per_second(&self) -> f64 {
        self.qps.per_second() / f64::from(self.scenario.queries_per_event())
    }

    pub(super) fn reference(&self) -> CellReference {
        CellReference {
            table: self.table.to_owned(),
            spec: self.cell.spec.clone(),
            scenario: self.cell.scenario.clone(),
            concurrency: self.cell.concurrency,
        }
    }

    /// A finding about this number alone.
    pub(super) fn finding(self, code: &'static str, arithmetic: String, words: &str) -> Finding {
        Finding { code, cells: vec![self.reference()], arithmetic, sentence: words.to_owned() }
    }
}
