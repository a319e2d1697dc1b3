//! A validated matrix: axes, the dataset of each spec, protocol, exclusions.
//!
//! Must not know: the file it came from. Its invariants: ids are unique, every spec has a
//! dataset, every exclusion matches a cell.

use super::{Dataset, DatasetClass, Protocol, Refresh, Scenario, ScenarioId, Spec, SpecId};

/// Everything that one matrix file declares, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    /// Short name: part of a run's directory name.
    pub name: String,
    /// The page's title.
    pub title: String,
    /// `set/table` of the baseline that its numbers are held against.
    pub baseline: Option<String>,
    /// Name of the layout that renders it.
    pub template: String,
    /// How each cell is measured.
    pub protocol: Protocol,
    /// What the page claims about data and cache.
    pub class: DatasetClass,
    /// When data that writes have changed is made anew.
    pub refresh: Refresh,
    /// In the order of the file: the order of the page's rows, each with its dataset.
    pub specs: Vec<(Spec, Dataset)>,
    /// In the order of the file: the order of the page's tables.
    pub scenarios: Vec<Scenario>,
    /// What is not measured.
    pub exclusions: Vec<Exclusion>,
}

/// Cells that are not measured, with the reason that the plan shows. Absent parts match all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exclusion {
    /// Only this spec.
    pub spec: Option<SpecId>,
    /// Only this scenario.
    pub scenario: Option<ScenarioId>,
    /// Only this concurrency.
    pub concurrency: Option<u32>,
    /// Why.
    pub reason: String,
}

/// How a rehearsal differs from the real thing: one factor for memory and data, short trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rehearsal {
    /// Memory, buffer pool and rows per table are divided by this.
    pub factor: u64,
}
