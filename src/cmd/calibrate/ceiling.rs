//! What this machine's last calibration says of a workload: the most that a load thread drives.
//!
//! Must not know: how it was measured, or what is done about a trial that reached it.

use std::path::Path;

use serde::Deserialize;

use super::record::FILE;
use crate::model::{Host, MilliRate, Protocol, Scenario, WorkloadOptions};
use crate::store::read_file;

/// A cell answers for numbers of connections up to this many times as high or as low.
const REACH: f64 = 2.0;
/// Some rows for each of some scenarios.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The cells of the calibration that is kept beside a run's results.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::cmd) struct Ceilings {
    cells: Vec<KeptCell>,
}

impl Ceilings {
    /// Reads `<out>/calibration.json`. Without one, or where it was made on another machine,
    /// nothing is known. On `Err` a file is there and says nothing: one sentence with the remedy.
    pub(in crate::cmd) fn read(out: &Path, host: &Host) -> Result<Self, String> {
        let path = out.join(FILE);
        let Ok(bytes) = read_file(&path, FILE_BYTES_MAX) else { return Ok(Self::default()) };
        let kept: Kept = serde_json::from_slice(&bytes).map_err(|error| {
            let path = path.display();
            format!("{path} is not a calibration ({error}); make another: gridbench calibrate")
        })?;
        let KeptHost { cpus, cpu_model } = kept.host;
        let is_here = (cpus, cpu_model.as_str()) == (host.cpus, host.cpu_model.as_str());
        Ok(if is_here { Self { cells: kept.cells } } else { Self::default() })
    }

    /// What so many load threads drive of the scenario, if each has a processor; from the cell
    /// with the nearest number of connections. `None` where no cell is near: another workload or
    /// statement mode, options that change what an event sends, far fewer or more connections.
    pub(in crate::cmd) fn of(
        &self,
        scenario: &Scenario,
        protocol: &Protocol,
        (connections, load_threads): (u32, u32),
    ) -> Option<MilliRate> {
        if scenario.options != WorkloadOptions::default() {
            return None;
        }
        let is_alike = |cell: &&KeptCell| {
            cell.client == "native"
                && cell.workload == scenario.workload.name()
                && cell.statements == protocol.statements.name()
                && distance(cell.connections, connections) <= REACH
        };
        let nearest = self.cells.iter().filter(is_alike).min_by(|a, b| {
            let distance = |cell: &KeptCell| distance(cell.connections, connections);
            distance(a).total_cmp(&distance(b))
        })?;
        let per_thread = nearest.figures.as_ref()?.queries_per_cpu_s;
        per_thread.checked_mul(u64::from(load_threads))?.checked_mul(1_000).map(MilliRate)
    }
}

/// How many times as high the higher is.
fn distance(a: u32, b: u32) -> f64 {
    f64::from(a.max(b)) / f64::from(a.min(b).max(1))
}

/// What is read of `calibration.json`; see `record`.
#[derive(Debug, Deserialize)]
struct Kept {
    host: KeptHost,
    cells: Vec<KeptCell>,
}

#[derive(Debug, Deserialize)]
struct KeptHost {
    cpus: u32,
    cpu_model: String,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct KeptCell {
    client: String,
    workload: String,
    statements: String,
    connections: u32,
    figures: Option<KeptFigures>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct KeptFigures {
    queries_per_cpu_s: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Bytes, ScenarioId};
    use crate::workload::builtin;

    fn host(cpu_model: &str) -> Host {
        let kernel = "6.1".to_owned();
        let cpu_model = cpu_model.to_owned();
        Host {
            cpus: 2,
            cpu_model,
            memory: Bytes(1),
            governor: None,
            cpu_quota_milli: None,
            kernel,
            disk_free: None,
        }
    }

    fn scenario(workload: &str, range_selects: bool) -> Scenario {
        let id = ScenarioId::new("s").unwrap();
        let options = WorkloadOptions { range_selects, ..WorkloadOptions::default() };
        let workload = builtin(workload).unwrap();
        Scenario { id, title: None, workload, options }
    }

    const KEPT: &str = r#"{"format": 1, "host": {"cpus": 2, "cpu_model": "EPYC", "kernel": "x"},
        "cells": [
            {"client": "native", "workload": "oltp_read_only", "statements": "text",
             "connections": 64, "figures": {"queries_per_cpu_s": 200000}},
            {"client": "native", "workload": "oltp_read_only", "statements": "text",
             "connections": 256, "figures": {"queries_per_cpu_s": 150000}},
            {"client": "sysbench", "workload": "oltp_read_only", "statements": "text",
             "connections": 128, "figures": {"queries_per_cpu_s": 1}},
            {"client": "native", "workload": "oltp_write_only", "statements": "text",
             "connections": 64, "figures": null}]}"#;

    #[test]
    fn the_nearest_cell_of_the_workload_answers_for_each_load_thread() {
        let out = tempfile::tempdir().unwrap();
        std::fs::write(out.path().join(FILE), KEPT).unwrap();
        let ceilings = Ceilings::read(out.path(), &host("EPYC")).unwrap();
        let of = |workload, connections, threads| {
            ceilings.of(&scenario(workload, true), &Protocol::for_tests(), (connections, threads))
        };
        let read_only = |connections, threads| of("oltp_read_only", connections, threads);
        assert_eq!(read_only(64, 1), Some(MilliRate(200_000_000)));
        assert_eq!(read_only(100, 3), Some(MilliRate(600_000_000)));
        assert_eq!(read_only(500, 1), Some(MilliRate(150_000_000)));
        assert_eq!(read_only(513, 1), None, "too far from every cell");
        assert_eq!(read_only(31, 1), None);
        assert_eq!(of("oltp_write_only", 64, 1), None, "every round failed");
        assert_eq!(of("oltp_read_write", 64, 1), None);
        let points = scenario("oltp_read_only", false);
        assert_eq!(ceilings.of(&points, &Protocol::for_tests(), (64, 1)), None, "another event");
    }

    #[test]
    fn another_machines_calibration_says_nothing_and_a_broken_one_is_told() {
        let out = tempfile::tempdir().unwrap();
        assert_eq!(Ceilings::read(out.path(), &host("EPYC")), Ok(Ceilings::default()));
        let path = out.path().join(FILE);
        std::fs::write(&path, KEPT).unwrap();
        assert_eq!(Ceilings::read(out.path(), &host("Xeon")), Ok(Ceilings::default()));
        std::fs::write(&path, "{}").unwrap();
        let words = Ceilings::read(out.path(), &host("EPYC")).unwrap_err();
        assert!(words.contains("calibration.json") && words.contains("gridbench calibrate"));
    }
}
