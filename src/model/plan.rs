//! The plan: which cells are measured, in which order, on which dataset.
//!
//! Must not know: the clock, the host's files, or any server.

use std::time::Duration;

use super::{
    Access, Bytes, CellId, Changes, Dataset, DatasetClass, Exclusion, Matrix, OwnTable, Protocol,
    Refresh, Rehearsal, Scenario, Spec,
};

/// A matrix expanded: stable in order, the same for the same input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The matrix as validated (and, in a rehearsal, before it was shrunk).
    pub matrix: Matrix,
    /// How each cell is measured; a rehearsal's own where there is one.
    pub protocol: Protocol,
    /// Set when memory, data and trials are shrunk.
    pub rehearsal: Option<Rehearsal>,
    /// One for each spec that has cells, in the matrix's order.
    pub specs: Vec<PlannedSpec>,
    /// By spec, then scenario (those that only read first, those that only write last), then
    /// concurrency.
    pub cells: Vec<Cell>,
    /// Cells that the matrix excludes, with the reason.
    pub excluded: Vec<(CellId, Exclusion)>,
}

/// A spec as it will be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedSpec {
    /// The spec as published.
    pub spec: Spec,
    /// Cores that the server gets: the spec's, or as many as the host has in a rehearsal.
    pub cpus: u32,
    /// Memory that is assumed: the spec's, or shrunk by the rehearsal's factor.
    pub memory: Bytes,
    /// `innodb_buffer_pool_size` that follows.
    pub buffer_pool: Bytes,
    /// The dataset that will be loaded (shrunk, in a rehearsal).
    pub dataset: Dataset,
    /// The dataset as the rules give it: what the page prints.
    pub published_dataset: Dataset,
    /// Set where this host cannot hold the spec.
    pub skip: Option<Skip>,
}

/// Why a spec is not measured on this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip {
    /// One sentence with the figures.
    pub reason: String,
}

/// One point of the matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Spec, scenario and concurrency.
    pub id: CellId,
    /// Index into [`Plan::specs`].
    pub spec: usize,
    /// Index into the matrix's scenarios.
    pub scenario: usize,
}

/// One repetition of a cell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trial {
    /// Index into [`Plan::cells`].
    pub cell: usize,
    /// From 1.
    pub repetition: u32,
}

/// What is made anew between the trials of a spec.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refreshed {
    /// How often its dataset is.
    pub dataset: u32,
    /// Own tables, each as often as it is.
    pub own: Vec<String>,
}

impl Plan {
    /// The scenario of a cell.
    pub fn scenario(&self, cell: &Cell) -> &Scenario {
        &self.matrix.scenarios[cell.scenario]
    }

    /// The spec of a cell as it will be measured.
    pub fn spec(&self, cell: &Cell) -> &PlannedSpec {
        &self.specs[cell.spec]
    }

    /// What the page claims about data and cache.
    pub fn class(&self) -> DatasetClass {
        self.matrix.class
    }

    /// Cells whose spec this host can hold.
    pub fn runnable_cells(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(|cell| self.spec(cell).skip.is_none())
    }

    /// Every trial of the runnable cells in the order of measurement: by spec, then access (reads
    /// before writes, so that they find the data as it was loaded), then repetition, then cell, so
    /// that the repeats of one cell are spread over time.
    pub fn trials(&self) -> Vec<Trial> {
        (0..self.specs.len()).flat_map(|spec| self.trials_of(spec)).collect()
    }

    fn trials_of(&self, spec: usize) -> Vec<Trial> {
        let mut trials = Vec::new();
        if self.specs[spec].skip.is_some() {
            return trials;
        }
        let of_spec = self.cells.iter().enumerate().filter(|(_, cell)| cell.spec == spec);
        let of_spec: Vec<(usize, Access)> =
            of_spec.map(|(index, cell)| (index, self.scenario(cell).access())).collect();
        for access in Access::ALL {
            for repetition in 1..=self.protocol.repeats {
                let cells = of_spec.iter().filter(|(_, found)| *found == access);
                trials.extend(cells.map(|(cell, _)| Trial { cell: *cell, repetition }));
            }
        }
        trials
    }

    /// Whether a changed dataset is made anew before `trial`, which follows `previous` on the same
    /// server.
    pub fn refreshes(&self, previous: Option<&Trial>, trial: &Trial) -> bool {
        let scenario = |trial: &Trial| self.cells[trial.cell].scenario;
        match self.matrix.refresh {
            Refresh::Never => false,
            Refresh::Cell => true,
            Refresh::Scenario => previous.is_none_or(|one| scenario(one) != scenario(trial)),
        }
    }

    /// What a cell's trials change.
    pub fn changes(&self, cell: &Cell) -> Changes {
        self.scenario(cell).workload.changes(&self.own_tables())
    }

    /// What of the data of a spec is made anew, and how often, if nobody has changed it before.
    pub fn refreshed(&self, spec: usize) -> Refreshed {
        let mut refreshed = Refreshed::default();
        if self.matrix.refresh == Refresh::Never {
            return refreshed;
        }
        let (mut previous, mut changed) = (None, Changes::default());
        let trials = self.trials_of(spec);
        for trial in &trials {
            if self.refreshes(previous, trial) {
                refreshed.dataset += u32::from(changed.dataset);
                refreshed.own.append(&mut changed.own);
                changed.dataset = false;
            }
            let more = self.changes(&self.cells[trial.cell]);
            changed.dataset |= more.dataset;
            changed.own.extend(more.own);
            changed.own.sort_unstable();
            changed.own.dedup();
            previous = Some(trial);
        }
        refreshed
    }

    /// The own tables of all workloads of the matrix, each name once: also of those that are not
    /// measured now, so that what there is does not depend on what was measured before.
    pub fn own_tables(&self) -> Vec<OwnTable> {
        let mut tables: Vec<OwnTable> = Vec::new();
        for table in self.matrix.scenarios.iter().flat_map(|scenario| &scenario.workload.tables) {
            if tables.iter().all(|known| known.name != table.name) {
                tables.push(table.clone());
            }
        }
        tables
    }

    /// Time that the trials alone take: warm-up and measured window of each.
    pub fn measuring_time(&self) -> Duration {
        let trials = u32::try_from(self.trials().len()).unwrap_or(u32::MAX);
        (self.protocol.warmup + self.protocol.duration).saturating_mul(trials)
    }

    /// The distinct datasets that must be on disk, in the order of their first use.
    pub fn datasets(&self) -> Vec<&Dataset> {
        let mut distinct: Vec<&Dataset> = Vec::new();
        for spec in self.specs.iter().filter(|spec| spec.skip.is_none()) {
            if !distinct.contains(&&spec.dataset) {
                distinct.push(&spec.dataset);
            }
        }
        distinct
    }
}
