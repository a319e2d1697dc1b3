//! What a plan takes: time, disk, connections, statement handles.
//!
//! Must not know: how it is shown. The speeds are assumptions that the output states.

use std::time::Duration;

use crate::model::{Bytes, Dataset, Host, Plan, PlannedSpec, Refreshed, SpecId, StatementMode};

/// Rows loaded in a second, index on `k` included: what two cores do.
pub(super) const LOAD_ROWS_PER_SECOND: u64 = 100_000;
/// Creating a table and its index, whatever its rows.
pub(super) const LOAD_TABLE: Duration = Duration::from_millis(15);
/// Beside its windows a trial connects, drains and writes its rows.
pub(super) const TRIAL_OVERHEAD: Duration = Duration::from_millis(300);
/// Starting and stopping a managed server.
pub(super) const SERVER_OVERHEAD: Duration = Duration::from_millis(2_500);

/// What the cells that can run here take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Estimate {
    /// Warm-up and measured windows.
    pub(super) measuring: Duration,
    /// Rows to load, each dataset once where gridbench runs the servers.
    pub(super) rows: u64,
    /// Tables that they are in.
    pub(super) tables: u32,
    /// Loading them, if nothing is there yet.
    pub(super) loading: Duration,
    /// How often a dataset is made anew because writes have changed it.
    pub(super) refreshes: u32,
    /// How often an own table is.
    pub(super) own_refreshes: u32,
    /// Making them anew.
    pub(super) refreshing: Duration,
    /// Between trials, and around servers.
    pub(super) overhead: Duration,
    /// Distinct datasets.
    pub(super) datasets: usize,
    /// Room that their files take.
    pub(super) disk: Bytes,
    /// The largest concurrency.
    pub(super) connections: u32,
    /// The spec with the smallest `max_connections` by the published formula, and that limit.
    pub(super) tightest: Option<(SpecId, u32)>,
    /// In prepared mode the trial whose statements exceed their room the most.
    pub(super) handles: Option<Handles>,
}

/// The prepared statements of all connections of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Handles {
    /// How many it has.
    pub(super) wanted: u64,
    /// How many its server is asked to hold.
    pub(super) room: u64,
    /// Its cell.
    pub(super) cell: String,
}

impl Estimate {
    /// `managed_on` is the host on which gridbench runs the servers; `None`: they are elsewhere,
    /// and each spec loads a dataset of its own.
    pub(super) fn of(plan: &Plan, managed_on: Option<&Host>) -> Self {
        let specs = || plan.specs.iter().filter(|spec| spec.skip.is_none());
        let datasets = match managed_on {
            Some(_) => plan.datasets(),
            None => specs().map(|spec| &spec.dataset).collect(),
        };
        let own = own_tables(plan, managed_on.is_some());
        let rows = datasets.iter().map(|dataset| dataset.rows()).chain(own.iter().copied());
        let rows = rows.fold(0u64, u64::saturating_add);
        let own = u32::try_from(own.len()).unwrap_or(u32::MAX);
        let tables = datasets.iter().fold(own, |sum, dataset| sum.saturating_add(dataset.tables));
        let trials = u32::try_from(plan.trials().len()).unwrap_or(u32::MAX);
        let servers = u32::try_from(managed_on.map_or(0, |_| specs().count())).unwrap_or(u32::MAX);
        let limit = |spec: &PlannedSpec| (spec.spec.id.clone(), spec.spec.max_connections());
        Self {
            measuring: plan.measuring_time(),
            rows,
            tables,
            loading: loading(rows, tables),
            refreshes: refreshes(plan).map(|(_, refreshed)| refreshed.dataset).sum(),
            own_refreshes: refreshes(plan)
                .map(|(_, refreshed)| u32::try_from(refreshed.own.len()).unwrap_or(u32::MAX))
                .sum(),
            refreshing: refreshes(plan).map(|(dataset, of)| refreshing(plan, dataset, &of)).sum(),
            overhead: TRIAL_OVERHEAD * trials + SERVER_OVERHEAD * servers,
            datasets: datasets.len(),
            disk: Bytes(
                datasets
                    .iter()
                    .fold(0u64, |sum, dataset| sum.saturating_add(dataset.disk_bytes().0)),
            ),
            connections: plan.runnable_cells().map(|cell| cell.id.concurrency).max().unwrap_or(0),
            tightest: specs().map(limit).min_by_key(|(_, connections)| *connections),
            handles: most_handles(plan),
        }
    }

    /// All of it.
    pub(super) fn total(&self) -> Duration {
        self.measuring + self.loading + self.refreshing + self.overhead
    }
}

fn loading(rows: u64, tables: u32) -> Duration {
    Duration::from_secs(rows.div_ceil(LOAD_ROWS_PER_SECOND)) + LOAD_TABLE * tables
}

/// What of each spec's data is made anew.
fn refreshes(plan: &Plan) -> impl Iterator<Item = (&Dataset, Refreshed)> {
    let specs = plan.specs.iter().enumerate().filter(|(_, planned)| planned.skip.is_none());
    specs.map(|(index, planned)| (&planned.dataset, plan.refreshed(index)))
}

fn refreshing(plan: &Plan, dataset: &Dataset, refreshed: &Refreshed) -> Duration {
    let own = plan.own_tables();
    let rows = |name: &String| {
        let table = own.iter().find(|table| table.name == *name);
        table.map_or(0, |table| table.row_count(dataset.table_size))
    };
    let own_tables: Duration = refreshed.own.iter().map(|name| loading(rows(name), 1)).sum();
    loading(dataset.rows(), dataset.tables) * refreshed.dataset + own_tables
}

/// Rows of each own table that is made, which stands beside the dataset: once for each distinct
/// one where gridbench runs the servers, else once for each spec.
fn own_tables(plan: &Plan, is_managed: bool) -> Vec<u64> {
    let mut seen = Vec::new();
    let mut rows = Vec::new();
    for spec in plan.specs.iter().filter(|spec| spec.skip.is_none()) {
        if is_managed && seen.contains(&&spec.dataset) {
            continue;
        }
        seen.push(&spec.dataset);
        let size = spec.dataset.table_size;
        rows.extend(plan.own_tables().iter().map(|table| table.row_count(size)));
    }
    rows
}

fn most_handles(plan: &Plan) -> Option<Handles> {
    if plan.protocol.statements != StatementMode::Prepared {
        return None;
    }
    plan.runnable_cells()
        .map(|cell| {
            let scenario = plan.scenario(cell);
            let tables = plan.spec(cell).dataset.tables;
            let per_connection = scenario.workload.handles(&scenario.options, tables);
            Handles {
                wanted: u64::from(cell.id.concurrency) * per_connection,
                room: plan.spec(cell).spec.prepared_statements(),
                cell: cell.id.to_string(),
            }
        })
        .max_by(|one, other| {
            let share =
                |of: &Handles, room: &Handles| u128::from(of.wanted) * u128::from(room.room);
            share(one, other).cmp(&share(other, one))
        })
}
