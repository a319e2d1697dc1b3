//! Bounds of everything that a matrix file may say, so that no file costs more than a blink.
//!
//! Must not know: how a fault is worded.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Bytes of a matrix file: a thousand specs with comments fit many times over.
pub const MAX_FILE_BYTES: usize = 1_000_000;

pub(super) const MAX_SPECS: usize = 1_000;
pub(super) const MAX_SCENARIOS: usize = 100;
pub(super) const MAX_LEVELS: usize = 64;
pub(super) const MAX_RULES: usize = 1_000;
pub(super) const MAX_EXCLUSIONS: usize = 1_000;
pub(super) const MAX_WORKLOADS: usize = 100;
pub(super) const MAX_GROUPS: usize = 100;
/// In one group, and values in one statement.
pub(super) const MAX_STATEMENTS: usize = 100;
/// In one event: a hundred times what sysbench sends.
pub(super) const MAX_QUERIES: u32 = 20_000;
pub(super) const MAX_OWN_TABLES: usize = 20;
pub(super) const MAX_COLUMNS: usize = 100;
/// Specs x scenarios x levels.
pub(super) const MAX_CELLS: usize = 100_000;
/// Tables x rows: 2.45 PB, beyond what anybody loads by accident.
pub(super) const MAX_ROWS: u64 = 10_000_000_000_000;
/// Warm-up against the measured window: more than this is a slip of the unit.
pub(super) const MAX_WARMUP_RATIO: u32 = 100;

pub(super) const CONCURRENCY: RangeInclusive<u64> = 1..=100_000;
pub(super) const TABLES: RangeInclusive<u64> = 1..=1_000_000;
/// `id` is INTEGER, as sysbench declares it.
pub(super) const TABLE_SIZE: RangeInclusive<u64> = 1..=2_147_483_647;
pub(super) const CPU: RangeInclusive<u64> = 1..=4_096;
/// The published buffer pool is memory less 500 MB: below 512 MB nothing is left of it.
pub(super) const MEMORY_BYTES: RangeInclusive<u64> = 512_000_000..=100_000_000_000_000;
pub(super) const REPEATS: RangeInclusive<u64> = 1..=1_000;
/// How often one event repeats a statement.
pub(super) const STATEMENT_COUNT: RangeInclusive<u64> = 0..=1_000;
/// How often a statement that is there is repeated.
pub(super) const REPEAT: RangeInclusive<u64> = 1..=1_000;
pub(super) const DELTA: RangeInclusive<u64> = 0..=1_000_000;
pub(super) const RANGE_SIZE: RangeInclusive<u64> = 1..=1_000_000;
pub(super) const DURATION: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(30 * 86_400);
/// Without a warm-up nothing is under way when the window opens, and what is when it closes still
/// counts: the rate would be too high by one event a connection.
pub(super) const WARMUP: RangeInclusive<Duration> =
    Duration::from_millis(10)..=Duration::from_secs(24 * 3_600);
/// Events per second of an open loop: from one in a thousand seconds to beyond any machine.
pub(super) const RATE: RangeInclusive<f64> = 0.001..=10_000_000.0;
