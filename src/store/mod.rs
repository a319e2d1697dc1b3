//! Results on disk: run directories and baselines, both read as one shape.
//!
//! Must not know: servers, templates, the terminal. A run directory holds
//!
//! | file | holds |
//! |---|---|
//! | `manifest.json` | what the run is: plan, host, servers, versions |
//! | `matrix.toml` | the matrix as run |
//! | `cells.csv` | a row per trial, failures included |
//! | `intervals.csv` | a row per second and trial |
//! | `statements.csv` | a row per trial and statement kind |
//! | `errors.csv` | a row per trial and error code |
//! | `server.csv` | a row per trial: what the server did in the measured window |
//! | `server_seconds.csv` | a row per second and trial of the same |
//! | `commands.csv` | a row per trial and kind of command: sent by us, counted by the server |
//! | `latency.hdr` | whole distributions, as a HdrHistogram log |
//! | `pages/` | what was rendered from it |
//!
//! A trial is written to `cells.csv` last and synced. So at any moment a trial that stands
//! there is whole in all files, and what the other files hold of any other trial is ignored,
//! and cut off before the next one is written.

use std::path::Path;

use crate::model::{Cell, Evidence, Measurement, PlannedSpec, ResultSet, StatementKind};
use crate::stats::Histogram;

#[cfg(test)]
mod any_rows;
pub mod baseline;
mod clock;
mod counts;
mod csv_table;
mod disk;
mod environment;
mod error;
mod latency;
mod layout;
mod lines;
mod manifest;
mod proof;
mod repeats;
mod rows;
mod run_dir;
mod select;
mod server_rows;
#[cfg(test)]
mod testing;
mod trial;
mod wire;
mod wire_dataset;
mod wire_scenario;

pub use clock::{is_date, rfc3339};
pub use disk::read_file;
pub use error::{Fault, Faults, StoreError, UnknownName, nearest};
pub use latency::{StoredHistogram, TimeOf};
pub use run_dir::{RunDir, runs};
pub use trial::StoredTrial;

/// A trial as it ended, to be written.
#[derive(Debug, Clone, Copy)]
pub struct TrialRecord<'a> {
    /// Which cell of the plan.
    pub cell: &'a Cell,
    /// Its spec as it was measured.
    pub spec: &'a PlannedSpec,
    /// From 1.
    pub repetition: u32,
    /// When it began (before its connections and warm-up), milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: i64,
    /// Its numbers.
    pub measurement: &'a Measurement,
    /// Service time of its events.
    pub service: &'a Histogram,
    /// Response time of events.
    pub latency: &'a Histogram,
    /// Service time of each statement kind that was sent.
    pub statement_latency: &'a [(StatementKind, Histogram)],
    /// What the server did meanwhile; `None` where nobody looked.
    pub evidence: Option<&'a Evidence>,
}

/// The results of a name that was typed: a run's directory, its name under `out`, or a
/// baseline's `set/table`.
///
/// # Errors
/// [`StoreError::Unknown`] lists what there is, the baselines and the latest runs first.
pub fn resolve(out: &Path, name: &str) -> Result<ResultSet, StoreError> {
    let not_a_run = match RunDir::open(out, name) {
        Err(error @ (StoreError::Unknown(_) | StoreError::NotARun { .. })) => error,
        run => return run?.results(),
    };
    match (baseline::read(out, name), not_a_run) {
        (Err(StoreError::Unknown(unknown)), StoreError::Unknown(_)) => {
            let known = unknown.known.into_iter().chain(runs(out)).collect();
            Err(UnknownName { sought: "run or baseline", known, ..unknown }.into())
        }
        (Err(StoreError::Unknown(_)), not_a_run) => Err(not_a_run),
        (baseline, _) => baseline,
    }
}

/// The baseline that a run's matrix names; `None` for a run that names none, and for a baseline.
///
/// # Errors
/// As [`resolve`].
pub fn baseline_of(out: &Path, name: &str) -> Result<Option<String>, StoreError> {
    match RunDir::open(out, name) {
        Ok(run) => Ok(run.description().plan.matrix.baseline.clone()),
        Err(StoreError::Unknown(_)) => resolve(out, name).map(|_| None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_resolved_by_name_and_path_and_a_baseline_by_set_and_table() {
        let out = tempfile::tempdir().unwrap();
        let run = RunDir::create(out.path(), &testing::description(), b"").unwrap();
        let by_name = resolve(out.path(), run.name()).unwrap();
        assert_eq!(by_name, run.results().unwrap());
        assert_eq!(by_name.cells.len(), 4);
        assert_eq!(resolve(Path::new("x"), run.path().to_str().unwrap()).unwrap(), by_name);
        assert_eq!(resolve(out.path(), "tdsql-c-2025-12/full-cache").unwrap().cells.len(), 70);
    }

    #[test]
    fn an_unknown_name_is_answered_with_baselines_and_runs() {
        let out = tempfile::tempdir().unwrap();
        RunDir::create(out.path(), &testing::description(), b"").unwrap();
        let error = resolve(out.path(), "2025-12-10T161835Z-full").unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no run or baseline named `2025-12-10T161835Z-full`; did you mean \
             `2025-12-10T161835Z-full-cache`?\nthere is:\n  tdsql-c-2025-12/full-cache\n  \
             tdsql-c-2025-12/large-dataset\n  2025-12-10T161835Z-full-cache"
        );
        let nothing = out.path().join("nothing");
        std::fs::create_dir(&nothing).unwrap();
        let error = resolve(out.path(), nothing.to_str().unwrap()).unwrap_err().to_string();
        assert!(error.ends_with("nothing is not a run: it has no manifest.json"), "{error}");
    }
}
