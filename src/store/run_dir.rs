//! A run's directory: created once, appended to trial by trial, read at any moment.
//!
//! Must not know: what a column means, or what is published of a ladder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::model::{
    CellId, CommandCount, ErrorCount, Evidence, Interval, ResultSet, RunDescription, ServerRecord,
    ServerUse,
};

use super::csv_table::{self, Row, Rows};
use super::latency::{self, StoredHistogram};
use super::layout::{ADDED_LATER, APPENDED, blocks, header, trial_of};
use super::lines::bytes_of_trials;
use super::rows::{CellRow, ErrorRow, IntervalRow};
use super::server_rows::{CommandRow, SecondRow, ServerRow};
use super::wire::Invalid;
use super::{
    StoreError, StoredTrial, TrialRecord, UnknownName, clock, disk, environment, manifest, select,
};

const LOCK: &str = ".lock";

/// A run's directory. Reading needs no lock; the first write takes one and keeps it.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    name: String,
    description: RunDescription,
    writer: Option<Writer>,
}

/// The right to append.
#[derive(Debug)]
struct Writer {
    lock: File,
    /// Number of the next trial.
    next: u64,
    /// Trials in `cells.csv`.
    kept: usize,
}

impl RunDir {
    /// Makes `OUT/<UTC time>-<matrix name>[-rehearsal]/` with `-2`, `-3` where that exists, and
    /// all files of it; the manifest last, so that a directory with one is complete.
    pub fn create(
        out: &Path,
        description: &RunDescription,
        matrix_toml: &[u8],
    ) -> Result<Self, StoreError> {
        std::fs::create_dir_all(out).map_err(StoreError::io("create", out))?;
        let (path, name) = new_directory(out, &stem(description))?;
        let mut run = Self { path, name, description: description.clone(), writer: None };
        if let Err(error) = run.fill(matrix_toml) {
            // Ours, minutes old at most, and no run yet; the first error is the one to report.
            let _ = std::fs::remove_dir_all(&run.path);
            return Err(error);
        }
        disk::sync_directory(out)?;
        Ok(run)
    }

    /// Opens a run by its directory or by its name under `out`.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] lists the runs that there are; [`StoreError::NotARun`] for a
    /// directory without manifest.
    pub fn open(out: &Path, name: &str) -> Result<Self, StoreError> {
        let candidates = [PathBuf::from(name), out.join(name)];
        if let Some(path) = candidates.iter().find(|path| path.join(manifest::FILE).is_file()) {
            return Self::open_path(path);
        }
        if let Some(path) = candidates.into_iter().find(|path| path.is_dir()) {
            return Err(StoreError::NotARun { path });
        }
        Err(UnknownName { sought: "run", name: name.to_owned(), known: runs(out) }.into())
    }

    /// The run of this matrix that was started last; `None` where there is none.
    pub fn latest(out: &Path, matrix_name: &str) -> Result<Option<Self>, StoreError> {
        Self::latest_that(out, matrix_name, |_| true)
    }

    /// The run of this matrix that was started last of those that fit, for example to leave
    /// rehearsals out.
    pub fn latest_that(
        out: &Path,
        matrix_name: &str,
        fits: impl Fn(&RunDescription) -> bool,
    ) -> Result<Option<Self>, StoreError> {
        let mut latest: Option<Self> = None;
        let part = slug(matrix_name);
        // Runs of other matrices are not even read: they may be of another version.
        for name in runs(out).into_iter().filter(|name| name.contains(&part)) {
            let run = Self::open_path(&out.join(name))?;
            let description = &run.description;
            let started = |run: &Self| run.description.started_unix_ms;
            let newer = latest.as_ref().is_none_or(|latest| started(latest) < started(&run));
            if description.plan.matrix.name == matrix_name && fits(description) && newer {
                latest = Some(run);
            }
        }
        Ok(latest)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its manifest says.
    pub fn description(&self) -> &RunDescription {
        &self.description
    }

    /// Takes the right to append, reads the manifest again and cuts off what a killed process
    /// left half-written. Called before the first trial, it tells early that another process
    /// is at work; every write calls it too. Does nothing where the right is already ours.
    pub fn lock(&mut self) -> Result<(), StoreError> {
        if self.writer.is_none() {
            let lock = take_lock(&self.path)?;
            self.description = manifest::read(&self.path)?;
            let (next, kept) = self.repair()?;
            self.writer = Some(Writer { lock, next, kept });
        }
        Ok(())
    }

    /// What of a server is not as this run has it from before; empty where the spec is new.
    pub fn server_changes(&self, record: &ServerRecord) -> Vec<String> {
        let known = self.description.servers.iter().find(|known| known.spec == record.spec);
        known
            .map_or_else(Vec::new, |known| environment::changes(&self.description, [known, record]))
    }

    /// Keeps what was observed of a server; a record of the same spec is replaced, and what it
    /// says of changes kept.
    pub fn set_server(&mut self, record: ServerRecord) -> Result<(), StoreError> {
        self.lock()?;
        let mut description = self.description.clone();
        match description.servers.iter_mut().find(|known| known.spec == record.spec) {
            Some(known) => {
                let changes = [std::mem::take(&mut known.changes), record.changes.clone()].concat();
                *known = ServerRecord { changes, ..record };
            }
            None => description.servers.push(record),
        }
        manifest::write(&self.path, &description)?;
        self.description = description;
        Ok(())
    }

    /// Writes a trial to all files and syncs them. After an error nothing of the trial counts,
    /// and what stood before it stands.
    pub fn append(&mut self, record: &TrialRecord<'_>) -> Result<(), StoreError> {
        self.lock()?;
        let planned = self.description.plan.cells.iter().any(|cell| cell.id == record.cell.id);
        assert!(planned, "{} is a cell of the plan in this run's manifest", record.cell.id);
        let writer = self.writer.as_mut().expect("lock() succeeded, so there is a writer");
        let blocks = blocks(writer.next, record, self.description.plan.protocol.level_ppm);
        let lengths = lengths(&self.path)?;
        for (file, block) in APPENDED.iter().zip(&blocks) {
            let path = self.path.join(file);
            if let Err(source) = disk::append(&path, block) {
                let kept = writer.kept;
                self.writer = None;
                // Best effort: what stays is cut by the next lock(), and no reader counts it.
                for (file, length) in APPENDED.iter().zip(lengths) {
                    let _ = disk::cut(&self.path.join(file), length);
                }
                return Err(StoreError::Append { path, source, kept });
            }
        }
        writer.next += 1;
        writer.kept += 1;
        Ok(())
    }

    /// Every trial in the order of measurement, failures included. A cell and repetition that
    /// was measured again after a failure is there twice.
    pub fn trials(&self) -> Result<Vec<StoredTrial>, StoreError> {
        let path = self.path.join(CellRow::FILE);
        let cells: BTreeSet<&CellId> =
            self.description.plan.cells.iter().map(|cell| &cell.id).collect();
        let mut errors: BTreeMap<u64, Vec<ErrorCount>> = BTreeMap::new();
        for row in self.rows_of_trials::<ErrorRow>(|row| row.trial)? {
            errors.entry(row.trial).or_default().push(row.into());
        }
        let mut evidence = self.evidence()?;
        let mut trials = Vec::new();
        for (line, row) in self.cell_rows()?.rows {
            let errors = errors.remove(&row.trial).unwrap_or_default();
            let evidence = evidence.remove(&row.trial);
            let trial =
                StoredTrial::try_from(row).and_then(|trial| match cells.contains(&trial.cell) {
                    true => Ok(StoredTrial { errors, evidence, ..trial }),
                    false => {
                        Err(Invalid(format!("`{}` is no cell of this run's plan", trial.cell)))
                    }
                });
            let path = path.clone();
            trials.push(trial.map_err(|Invalid(message)| StoreError::Row {
                path,
                line,
                message,
            })?);
        }
        Ok(trials)
    }

    /// What a page shows of this run.
    pub fn results(&self) -> Result<ResultSet, StoreError> {
        Ok(select::result_set(&self.name, &self.description, &self.trials()?))
    }

    /// The seconds of every trial in `cells.csv`, each with its trial's number.
    pub fn intervals(&self) -> Result<Vec<(u64, Interval)>, StoreError> {
        let rows = self.rows_of_trials::<IntervalRow>(|row| row.trial)?.into_iter();
        Ok(rows.map(|row| (row.trial, row.into())).collect())
    }

    /// The seconds of every trial as the server saw them, each with its trial's number and the
    /// time from the start of the window to its end.
    pub fn server_seconds(&self) -> Result<Vec<(u64, u64, ServerUse)>, StoreError> {
        let rows = self.rows_of_trials::<SecondRow>(|row| row.trial)?.into_iter();
        let second = |row: SecondRow| {
            let (elapsed_us, second) = row.second();
            (row.trial, elapsed_us, second)
        };
        Ok(rows.map(second).collect())
    }

    /// What is known of the server, by trial, without the seconds.
    fn evidence(&self) -> Result<BTreeMap<u64, Evidence>, StoreError> {
        let rows = self.rows_of_trials::<ServerRow>(|row| row.trial)?.into_iter();
        let mut evidence: BTreeMap<u64, Evidence> =
            rows.map(|row| (row.trial, row.evidence())).collect();
        for row in self.rows_of_trials::<CommandRow>(|row| row.trial)? {
            let trial = row.trial;
            let command = CommandCount::try_from(row).map_err(|Invalid(message)| {
                let path = self.path.join(CommandRow::FILE);
                StoreError::Row { path, line: trial, message }
            })?;
            evidence.entry(trial).or_default().commands.push(command);
        }
        Ok(evidence)
    }

    /// The distributions of every trial in `cells.csv`.
    pub fn histograms(&self) -> Result<Vec<StoredHistogram>, StoreError> {
        let path = self.path.join(latency::FILE);
        latency::parse(&path, &read(&path)?, &self.numbers()?)
    }

    fn open_path(path: &Path) -> Result<Self, StoreError> {
        let path = path.canonicalize().map_err(StoreError::io("open", path))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let description = manifest::read(&path)?;
        Ok(Self { path, name, description, writer: None })
    }

    fn fill(&mut self, matrix_toml: &[u8]) -> Result<(), StoreError> {
        let pages = self.path.join("pages");
        std::fs::create_dir(&pages).map_err(StoreError::io("create", &pages))?;
        disk::replace(&self.path.join("matrix.toml"), matrix_toml)?;
        for file in APPENDED {
            disk::replace(&self.path.join(file), &header(file, &self.description))?;
        }
        let lock = take_lock(&self.path)?;
        manifest::write(&self.path, &self.description)?;
        self.writer = Some(Writer { lock, next: 1, kept: 0 });
        Ok(())
    }

    /// Cuts torn rows and rows of trials that are not in `cells.csv`; returns the number of
    /// the next trial and how many there are.
    fn repair(&self) -> Result<(u64, usize), StoreError> {
        let cells = self.cell_rows()?;
        self.keep(CellRow::FILE, cells.whole_bytes)?;
        let numbers: BTreeSet<u64> = cells.rows.iter().map(|(_, row)| row.trial).collect();
        for file in APPENDED.into_iter().filter(|file| *file != CellRow::FILE) {
            let bytes = read(&self.path.join(file))?;
            let header = header(file, &self.description);
            let whole = match bytes.starts_with(&header) {
                true => bytes_of_trials(&bytes, &numbers, trial_of(file)).max(header.len()),
                false => bytes_of_trials(&bytes, &numbers, trial_of(file)),
            };
            self.keep(file, whole)?;
        }
        Ok((numbers.last().map_or(1, |last| last + 1), cells.rows.len()))
    }

    /// Cuts a file to its whole rows; without even a whole header it gets a new one.
    fn keep(&self, file: &str, whole_bytes: usize) -> Result<(), StoreError> {
        let path = self.path.join(file);
        if whole_bytes == 0 {
            return disk::replace(&path, &header(file, &self.description));
        }
        let whole = whole_bytes as u64;
        if disk::length(&path)? > whole { disk::cut(&path, whole) } else { Ok(()) }
    }

    pub(super) fn cell_rows(&self) -> Result<Rows<CellRow>, StoreError> {
        let path = self.path.join(CellRow::FILE);
        csv_table::parse(&path, &read(&path)?)
    }

    /// The rows of another file that belong to a trial in `cells.csv`.
    pub(super) fn rows_of_trials<R: Row>(
        &self,
        trial: fn(&R) -> u64,
    ) -> Result<Vec<R>, StoreError> {
        let path = self.path.join(R::FILE);
        let (bytes, numbers) = (read(&path)?, self.numbers()?);
        let whole = bytes_of_trials(&bytes, &numbers, trial_of(R::FILE));
        let rows = csv_table::parse::<R>(&path, &bytes[..whole])?.rows.into_iter();
        Ok(rows.map(|(_, row)| row).filter(|row| numbers.contains(&trial(row))).collect())
    }

    fn numbers(&self) -> Result<BTreeSet<u64>, StoreError> {
        Ok(self.cell_rows()?.rows.iter().map(|(_, row)| row.trial).collect())
    }
}

/// Names of the runs under a results directory, the latest first.
pub fn runs(out: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(out).into_iter().flatten().flatten();
    let runs = entries.filter(|entry| entry.path().join(manifest::FILE).is_file());
    let mut names: Vec<String> =
        runs.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable_by(|a, b| b.cmp(a));
    names
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Closing is not enough: a child that is being started shares the lock until it executes.
        let _ = self.lock.unlock();
    }
}

/// Rows of ten thousand trials of an hour each.
const FILE_BYTES_MAX: u64 = 4 << 30;

/// The bytes of a file; none of one that older runs lack.
fn read(path: &Path) -> Result<Vec<u8>, StoreError> {
    let is_optional = || ADDED_LATER.iter().any(|file| path.ends_with(file));
    match disk::read_file(path, FILE_BYTES_MAX) {
        Err(error) if error.kind() == ErrorKind::NotFound && is_optional() => Ok(Vec::new()),
        read => read.map_err(StoreError::io("read", path)),
    }
}

fn lengths(directory: &Path) -> Result<Vec<u64>, StoreError> {
    APPENDED.iter().map(|file| disk::length(&directory.join(file))).collect()
}

fn take_lock(directory: &Path) -> Result<File, StoreError> {
    let path = directory.join(LOCK);
    let mut options = File::options();
    let options = options.create(true).truncate(false).write(true);
    let lock = options.open(&path).map_err(StoreError::io("create", &path))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked { path: directory.to_owned() }),
        Err(TryLockError::Error(source)) => Err(StoreError::io("lock", &path)(source)),
    }
}

/// Makes a directory that was not there.
fn new_directory(out: &Path, stem: &str) -> Result<(PathBuf, String), StoreError> {
    let mut name = stem.to_owned();
    for next in 2_u32.. {
        let path = out.join(&name);
        match std::fs::create_dir(&path) {
            Ok(()) => return Ok((path, name)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                name = format!("{stem}-{next}");
            }
            Err(error) => return Err(StoreError::io("create", path)(error)),
        }
    }
    unreachable!("four thousand million runs do not start in one second")
}

fn stem(description: &RunDescription) -> String {
    let stamp = clock::directory_stamp(description.started_unix_ms);
    let rehearsal = if description.plan.rehearsal.is_some() { "-rehearsal" } else { "" };
    format!("{stamp}-{}{rehearsal}", slug(&description.plan.matrix.name))
}

/// A matrix's name as a part of a directory's.
fn slug(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars().map(|c| if plain(c) { c } else { '-' }).collect()
}

#[cfg(test)]
#[path = "run_dir_tests.rs"]
mod tests;
