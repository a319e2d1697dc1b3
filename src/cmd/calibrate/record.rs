//! What a calibration found, and the file that keeps it.
//!
//! Must not know: how it was measured, or how it is shown.
//!
//! `<out>/calibration.json` is one object; the latest calibration replaces the one before.
//! Integers carry their unit in the name.
//!
//! | key | holds |
//! |---|---|
//! | `format` | 1 |
//! | `tool_version`, `tool_revision` | who measured; the revision may be null |
//! | `measured_at` | RFC 3339, UTC |
//! | `host` | `cpus`, `cpu_model`, `memory_bytes`, `kernel` |
//! | `server_cpu`, `client_cpus` | numbers of the processors |
//! | `duration_ms`, `load_threads`, `table_size` | of each measurement |
//! | `beside` | `client` and `version` of the other client; or null |
//! | `cells` | one object per workload, mode, connections and client |
//!
//! A cell holds `client` (`native`, `floor`, `sysbench`), `workload`, `statements`, `tables`,
//! `connections`, `failed_rounds`; `figures`, null where every round failed: the medians `qps`,
//! `queries_per_cpu_s` (queries per second of the client's processor time, which is what one core
//! can drive), `cpu_ns_per_query`, `core_use_percent` (of one processor, 100 means the client was
//! saturated), the largest `memory_peak_bytes` and the largest `others_percent` (of the client's
//! processors, taken by other processes or by the host of a virtual machine while a round ran; null
//! where unknown); and the `rounds` that succeeded: `queries`, `events`, `errors`, `measured_us`,
//! `cpu_us`, `memory_peak_bytes`, `others_percent`.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::setting::{Cell, Client, Setting, TABLE_SIZE};
use super::sysbench;
use crate::target::host;

/// The file's name among the results.
pub(super) const FILE: &str = "calibration.json";

/// See the table above.
#[derive(Debug, Serialize)]
pub(super) struct Record {
    format: u32,
    tool_version: &'static str,
    tool_revision: Option<&'static str>,
    measured_at: String,
    host: HostRecord,
    server_cpu: u32,
    client_cpus: Vec<u32>,
    duration_ms: u64,
    load_threads: u32,
    table_size: u64,
    beside: Option<Beside>,
    pub(super) cells: Vec<CellRecord>,
}

#[derive(Debug, Serialize)]
struct HostRecord {
    cpus: u32,
    cpu_model: String,
    memory_bytes: u64,
    kernel: String,
}

#[derive(Debug, Serialize)]
struct Beside {
    client: &'static str,
    version: Option<String>,
}

/// One client in one cell.
#[derive(Debug, Clone, Serialize)]
pub(super) struct CellRecord {
    pub(super) client: &'static str,
    pub(super) workload: &'static str,
    pub(super) statements: &'static str,
    pub(super) tables: u32,
    pub(super) connections: u32,
    pub(super) failed_rounds: u32,
    /// `None` where every round failed.
    pub(super) figures: Option<Figures>,
    rounds: Vec<Round>,
}

/// The medians of the rounds, and their largest memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Figures {
    pub(super) qps: u64,
    pub(super) queries_per_cpu_s: u64,
    pub(super) cpu_ns_per_query: u64,
    pub(super) core_use_percent: u64,
    pub(super) memory_peak_bytes: u64,
    pub(super) others_percent: Option<u64>,
}

/// One measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Round {
    pub(super) queries: u64,
    pub(super) events: u64,
    pub(super) errors: u64,
    pub(super) measured_us: u64,
    pub(super) cpu_us: u64,
    pub(super) memory_peak_bytes: u64,
    /// How much of the client's processors others took meanwhile; `None` where it is not known.
    #[serde(default)]
    pub(super) others_percent: Option<u64>,
}

impl Record {
    pub(super) fn begin(setting: &Setting, out: &Path) -> Self {
        let host = host::read(out);
        let beside = setting.clients.get(1).map(|client| Beside {
            client: client.name(),
            version: match client {
                Client::Sysbench(path) => sysbench::version(path),
                Client::Native | Client::Floor => None,
            },
        });
        Self {
            format: 1,
            tool_version: env!("CARGO_PKG_VERSION"),
            tool_revision: option_env!("GRIDBENCH_REVISION"),
            measured_at: format!("{:.3}", Timestamp::now()),
            host: HostRecord {
                cpus: host.cpus,
                cpu_model: host.cpu_model,
                memory_bytes: host.memory.0,
                kernel: host.kernel,
            },
            server_cpu: setting.server_cpu,
            client_cpus: setting.client_cpus.clone(),
            duration_ms: u64::try_from(setting.duration.as_millis()).unwrap_or(u64::MAX),
            load_threads: setting.load_threads,
            table_size: TABLE_SIZE,
            beside,
            cells: Vec::new(),
        }
    }

    pub(super) fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Writes to a temporary name, then renames.
    pub(super) fn keep(&self, out: &Path) -> Result<PathBuf> {
        let path = out.join(FILE);
        let temporary = out.join("calibration.json.new");
        let write = || {
            fs::create_dir_all(out)?;
            let mut file = File::create(&temporary)?;
            file.write_all(self.json()?.as_bytes())?;
            file.sync_all()?;
            fs::rename(&temporary, &path)?;
            anyhow::Ok(())
        };
        write().with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}

impl CellRecord {
    /// `wanted` rounds were begun; these of them succeeded.
    pub(super) fn new(cell: &Cell, client: &Client, wanted: u32, rounds: Vec<Round>) -> Self {
        let succeeded = u32::try_from(rounds.len()).unwrap_or(u32::MAX);
        Self {
            client: client.name(),
            workload: cell.workload.name(),
            statements: cell.statements.name(),
            tables: cell.tables,
            connections: cell.connections,
            failed_rounds: wanted.saturating_sub(succeeded),
            figures: Figures::of(&rounds),
            rounds,
        }
    }

    /// Whether two clients were measured in the same cell.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        let key = |cell: &Self| (cell.workload, cell.statements, cell.tables, cell.connections);
        key(self) == key(other) && self.client != other.client
    }
}

impl Figures {
    fn of(rounds: &[Round]) -> Option<Self> {
        let median_of = |figure: fn(&Round) -> u64| median(rounds.iter().map(figure).collect());
        Some(Self {
            memory_peak_bytes: rounds.iter().map(|round| round.memory_peak_bytes).max()?,
            qps: median_of(|round| per(round.queries, 1_000_000, round.measured_us)),
            queries_per_cpu_s: median_of(|round| per(round.queries, 1_000_000, round.cpu_us)),
            cpu_ns_per_query: median_of(|round| per(round.cpu_us, 1_000, round.queries)),
            core_use_percent: median_of(|round| per(round.cpu_us, 100, round.measured_us)),
            others_percent: rounds.iter().filter_map(|round| round.others_percent).max(),
        })
    }
}

/// `amount * scale / whole`, rounded; 0 where there is nothing to divide by.
fn per(amount: u64, scale: u64, whole: u64) -> u64 {
    let scaled = u128::from(amount) * u128::from(scale) + u128::from(whole / 2);
    u64::try_from(scaled.checked_div(u128::from(whole)).unwrap_or(0)).unwrap_or(u64::MAX)
}

/// The middle one; of an even number, the mean of the two in the middle.
fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    let middle = values.len() / 2;
    match values.get(middle) {
        None => 0,
        Some(upper) if values.len() % 2 == 1 => *upper,
        Some(upper) => values[middle - 1].midpoint(*upper),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::StatementMode;
    use crate::workload::builtins;

    #[test]
    fn medians_and_quotients_are_the_arithmetic_kind() {
        assert_eq!(median(vec![3, 1, 2]), 2);
        assert_eq!(median(vec![4, 1, 2, 3]), 2);
        assert_eq!(median(Vec::new()), 0);
        assert_eq!(per(10, 100, 3), 333);
        assert_eq!(per(u64::MAX, u64::MAX, 1), u64::MAX);
        assert_eq!(per(1, 1, 0), 0);
    }

    #[test]
    fn a_cell_is_the_median_of_its_rounds_and_their_largest_memory() {
        let cell = Cell {
            workload: &builtins()[0],
            statements: StatementMode::Text,
            tables: 1,
            connections: 8,
        };
        let round = |queries, memory_peak_bytes| Round {
            queries,
            events: queries,
            errors: 0,
            measured_us: 2_000_000,
            cpu_us: 1_000_000,
            memory_peak_bytes,
            others_percent: Some(memory_peak_bytes),
        };
        let rounds = vec![round(100_000, 7), round(300_000, 5), round(200_000, 6)];
        let record = CellRecord::new(&cell, &Client::Native, 4, rounds);
        let figures = Figures {
            qps: 100_000,
            queries_per_cpu_s: 200_000,
            cpu_ns_per_query: 5_000,
            core_use_percent: 50,
            memory_peak_bytes: 7,
            others_percent: Some(7),
        };
        assert_eq!((record.failed_rounds, record.figures), (1, Some(figures)));
        assert_eq!(CellRecord::new(&cell, &Client::Floor, 1, Vec::new()).figures, None);
    }
}
