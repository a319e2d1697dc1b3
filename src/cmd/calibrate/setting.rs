//! What was typed, checked: the cells, the clients, and which processor is whose.
//!
//! Must not know: how any of it is measured.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

use crate::cli::{CalibrateArgs, CalibrateRole};
use crate::cmd::Failure;
use crate::model::{StatementMode, Workload, counted};
use crate::workload::builtins;

/// Rows that ids are drawn from: the published full-cache dataset's. No row of it exists.
pub(super) const TABLE_SIZE: u64 = 25_000;

/// Tables without `--tables`: what is published, and what sysbench can still prepare.
const TABLES_TEXT: u32 = 250;
const TABLES_PREPARED: u32 = 10;

/// What a calibration measures.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) cells: Vec<Cell>,
    /// Ours first.
    pub(super) clients: Vec<Client>,
    pub(super) duration: Duration,
    pub(super) rounds: u32,
    pub(super) load_threads: u32,
    pub(super) server_cpu: u32,
    pub(super) client_cpus: Vec<u32>,
}

/// One line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) workload: &'static Arc<Workload>,
    pub(super) statements: StatementMode,
    pub(super) tables: u32,
    pub(super) connections: u32,
}

/// Who drives the load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Client {
    Native,
    Floor,
    Sysbench(PathBuf),
}

impl Setting {
    pub(super) fn read(arguments: &CalibrateArgs) -> Result<Self, Failure> {
        let cpus = allowed_cpus()?;
        let (server_cpu, others) = match cpus[..] {
            [] => return Err(anyhow!("the system names no processor for this process").into()),
            [only] => (only, vec![only]),
            [first, ref others @ ..] => (first, others.to_vec()),
        };
        if arguments.rounds == 0 || arguments.load_threads == 0 {
            return Err(Failure::input(anyhow!("--rounds and --load-threads: give 1 or more")));
        }
        let load_threads = arguments.load_threads as usize;
        let client_cpus = others[others.len().saturating_sub(load_threads)..].to_vec();
        let mut clients = vec![Client::Native];
        clients.extend(arguments.beside.as_deref().map(Client::of));
        Ok(Self {
            cells: cells(arguments)?,
            clients,
            duration: duration(&arguments.duration)?,
            rounds: arguments.rounds,
            load_threads: arguments.load_threads,
            server_cpu,
            client_cpus,
        })
    }
}

impl Cell {
    pub(super) fn sentence(&self, setting: &Setting) -> String {
        format!(
            "{}, {} statements on {}, {}, {} x {} ms",
            self.workload.name(),
            self.statements.name(),
            counted(self.tables, "table"),
            counted(self.connections, "connection"),
            setting.rounds,
            setting.duration.as_millis()
        )
    }
}

impl Client {
    fn of(name: &str) -> Self {
        match name {
            "floor" => Self::Floor,
            path => Self::Sysbench(path.into()),
        }
    }

    /// The name in tables and files.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Floor => "floor",
            Self::Sysbench(_) => "sysbench",
        }
    }

    pub(super) fn role(&self) -> CalibrateRole {
        match self {
            Self::Native => CalibrateRole::Native,
            Self::Floor => CalibrateRole::Floor,
            Self::Sysbench(_) => CalibrateRole::Sysbench,
        }
    }
}

fn cells(arguments: &CalibrateArgs) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for statements in &arguments.statements {
        let statements = statement_mode(statements)?;
        let tables = arguments.tables.unwrap_or(match statements {
            StatementMode::Text => TABLES_TEXT,
            StatementMode::Prepared => TABLES_PREPARED,
        });
        for name in &arguments.workloads {
            let workload = workload(name)?;
            for &connections in &arguments.connections {
                if connections == 0 || tables == 0 {
                    let fault = "--connections and --tables: give 1 or more";
                    return Err(Failure::input(anyhow!(fault)));
                }
                cells.push(Cell { workload, statements, tables, connections });
            }
        }
    }
    Ok(cells)
}

pub(super) fn workload(name: &str) -> Result<&'static Arc<Workload>, Failure> {
    builtins().iter().find(|workload| workload.name() == name).ok_or_else(|| {
        let names: Vec<&str> = builtins().iter().map(|workload| workload.name()).collect();
        let names = names.join(", ");
        Failure::input(anyhow!("--workloads {name}: give one of {names}"))
    })
}

pub(super) fn statement_mode(name: &str) -> Result<StatementMode, Failure> {
    let fault = || Failure::input(anyhow!("--statements {name}: give text or prepared"));
    StatementMode::from_name(name).ok_or_else(fault)
}

/// `200ms`, `5s`, `1m`.
fn duration(text: &str) -> Result<Duration, Failure> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit_ms = match unit {
        "ms" => Some(1),
        "s" => Some(1_000),
        "m" => Some(60_000),
        _ => None,
    };
    let number = number.parse::<u64>().ok();
    let millis = number.zip(unit_ms).and_then(|(number, unit_ms)| number.checked_mul(unit_ms));
    match millis {
        Some(millis @ 1..=3_600_000) => Ok(Duration::from_millis(millis)),
        _ => Err(Failure::input(anyhow!(
            "--duration {text}: give 1ms to 60m, for example 200ms, 5s or 1m"
        ))),
    }
}

/// The processors that this process may use, ascending.
fn allowed_cpus() -> Result<Vec<u32>, Failure> {
    let set = sched_getaffinity(Pid::from_raw(0))?;
    let allowed = (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false));
    Ok(allowed.filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_unit_and_bounds() {
        assert_eq!(duration("200ms").unwrap(), Duration::from_millis(200));
        assert_eq!(duration("5s").unwrap(), Duration::from_secs(5));
        for bad in ["", "5", "s", "0s", "61m", "99999999999999999999s", "-1s", "5 s"] {
            assert_eq!(duration(bad).unwrap_err().exit_code, 2, "{bad}");
        }
    }

    #[test]
    fn a_client_that_is_not_the_floor_is_a_path_to_sysbench() {
        assert_eq!(Client::of("floor"), Client::Floor);
        assert_eq!(Client::of("/usr/bin/sysbench").name(), "sysbench");
    }
}
