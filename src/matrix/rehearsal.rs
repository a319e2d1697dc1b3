//! A rehearsal: the whole matrix in minutes on a laptop, by one factor for memory and data.
//!
//! Must not know: servers, or how fast this host is.

use std::time::Duration;

use crate::model::{
    Bytes, Dataset, DatasetClass, Host, Matrix, PlannedSpec, Protocol, Rehearsal, Spec,
};

/// The factor of one matrix on one host, and what follows from it.
///
/// The budgets that these constants meet, at 100,000 rows loaded a second, 2.5 s for each
/// server's start and stop and 0.3 s for each trial beside its windows: the published
/// full-cache matrix (14 specs, 140 trials, one dataset) within 5 minutes, the published
/// large-dataset matrix (eight datasets) within 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shrink {
    factor: u64,
    /// No spec is given more than this.
    max_memory: Bytes,
}

/// The smallest buffer pool that is asked for. MySQL's own minimum is 5 MiB, that of MariaDB
/// (from 10.11.12) 6 MiB with pages of 16 KiB; a little is left for rounding.
const MIN_BUFFER_POOL: Bytes = Bytes(6_400_000);
/// Where the host is not known.
const ASSUMED_HOST_MEMORY: Bytes = Bytes(8 * Bytes::GB);
/// Planned bytes of all datasets together at which nothing more is gained by shrinking.
const ENOUGH_DATA: Bytes = Bytes(4 * Bytes::GB);
/// Pages that an InnoDB table takes beside its rows: space header, inodes, roots of the two
/// indexes and their last, half-filled pages. With few rows they outweigh the rows.
const TABLE_OVERHEAD: Bytes = Bytes(6 * 16_384);
/// Share of a pool that holds table pages: the rest is undo log, dictionary and free list.
const USABLE_POOL_PERCENT: u64 = 80;

impl Shrink {
    /// A ladder is cut to this many levels.
    pub(super) const LEVELS: usize = 2;
    /// A published concurrency is cut to this.
    pub(super) const MAX_LEVEL: u32 = 64;
    const WARMUP: Duration = Duration::from_millis(200);
    const DURATION: Duration = Duration::from_millis(500);

    /// The factor follows from the whole matrix, whatever part of it is selected, so that a
    /// part is rehearsed at the scale of the whole and finds its datasets.
    ///
    /// It is the smallest power of two at which the largest memory is at most half of the
    /// host's and all data is at most 4 GB, but never so large that the smallest buffer pool
    /// falls below what a server accepts or, in a full-cache matrix, below what the tables
    /// need; where it would, the largest factor that does not.
    pub(super) fn of(matrix: &Matrix, host: Option<&Host>) -> Self {
        let memory = host.map_or(ASSUMED_HOST_MEMORY, |host| host.memory);
        let max_memory = memory.shrunk(2);
        let comfortable = |factor: u64| {
            let largest = matrix.specs.iter().map(|(spec, _)| spec.memory.shrunk(factor)).max();
            largest.is_none_or(|largest| largest <= max_memory)
                && data(matrix, factor) <= u128::from(ENOUGH_DATA.0)
        };
        let wanted = (0..40).map(|power| 1u64 << power).find(|factor| comfortable(*factor));
        let wanted = wanted.unwrap_or(1 << 40);
        Self { factor: largest_possible(matrix, wanted), max_memory }
    }

    pub(super) fn rehearsal(self) -> Rehearsal {
        Rehearsal { factor: self.factor }
    }

    /// The spec with memory, pool and data shrunk, on as many cores as there are.
    pub(super) fn spec(self, planned: PlannedSpec, host: Option<&Host>) -> PlannedSpec {
        let cpus = host.map_or(planned.cpus, |host| planned.cpus.min(host.cpus.max(1)));
        let memory = planned.memory.shrunk(self.factor).min(self.max_memory);
        let buffer_pool =
            planned.buffer_pool.shrunk(self.factor).min(Bytes(self.max_memory.0 / 4 * 3));
        let dataset = shrunk(&planned.dataset, self.factor);
        PlannedSpec { cpus, memory, buffer_pool, dataset, ..planned }
    }

    /// Trials short enough that a matrix takes minutes; one of each.
    pub(super) fn protocol(full: Protocol) -> Protocol {
        Protocol {
            warmup: full.warmup.min(Self::WARMUP),
            duration: full.duration.min(Self::DURATION),
            warmup_max: None,
            repeats: 1,
            until: None,
            ..full
        }
    }
}

/// Rows are divided and rounded up, so that data which is larger than its pool stays so; the
/// number of tables stays.
fn shrunk(dataset: &Dataset, factor: u64) -> Dataset {
    Dataset { table_size: dataset.table_size.div_ceil(factor).max(1), ..dataset.clone() }
}

/// Planned bytes of the distinct datasets. They never differ only after shrinking.
fn data(matrix: &Matrix, factor: u64) -> u128 {
    let mut distinct: Vec<&Dataset> = matrix.specs.iter().map(|(_, dataset)| dataset).collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct.iter().map(|dataset| u128::from(shrunk(dataset, factor).planned_bytes().0)).sum()
}

/// `wanted`, or the largest smaller factor at which every server starts and every dataset of a
/// full-cache matrix is cached; 1 where there is none.
fn largest_possible(matrix: &Matrix, wanted: u64) -> u64 {
    let possible = |factor: u64| {
        matrix.specs.iter().all(|(spec, dataset)| fits(matrix.class, spec, dataset, factor))
    };
    if possible(wanted) {
        return wanted;
    }
    let (mut low, mut high) = (1, wanted);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if possible(middle) { low = middle } else { high = middle }
    }
    low
}

fn fits(class: DatasetClass, spec: &Spec, dataset: &Dataset, factor: u64) -> bool {
    let pool = spec.buffer_pool().shrunk(factor);
    let usable = Bytes(pool.0 / 100 * USABLE_POOL_PERCENT);
    pool >= MIN_BUFFER_POOL
        && (class != DatasetClass::FullCache || resident(&shrunk(dataset, factor)) <= usable)
}

/// What the dataset takes in a buffer pool when all of it is there.
fn resident(dataset: &Dataset) -> Bytes {
    let overhead = u64::from(dataset.tables).saturating_mul(TABLE_OVERHEAD.0);
    Bytes(dataset.planned_bytes().0.saturating_add(overhead))
}
