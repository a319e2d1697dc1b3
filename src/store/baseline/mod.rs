//! Baselines: published numbers under a name, from `OUT/baselines/SET/` or built in.
//!
//! Must not know: how anything was measured. A set is a directory with an `about.toml` and a
//! CSV file for each table. A set on disk wins over the built-in one of the same name.

use std::io;
use std::path::{Path, PathBuf};

use crate::model::ResultSet;

use super::disk::read_file;
use super::error::{Fault, Faults, StoreError, UnknownName};

mod about;
mod table;
mod write;

pub use about::{About, AboutTable};
pub use write::write;

/// A table of a hundred thousand cells.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The sets that travel in the binary: name, file, content.
const BUILT_IN: [(&str, &str, &[u8]); 3] = [
    (
        "tdsql-c-2025-12",
        about::FILE,
        include_bytes!("../../../results/baselines/tdsql-c-2025-12/about.toml"),
    ),
    (
        "tdsql-c-2025-12",
        "full-cache.csv",
        include_bytes!("../../../results/baselines/tdsql-c-2025-12/full-cache.csv"),
    ),
    (
        "tdsql-c-2025-12",
        "large-dataset.csv",
        include_bytes!("../../../results/baselines/tdsql-c-2025-12/large-dataset.csv"),
    ),
];

/// A line of `gridbench baseline list`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineEntry {
    /// `set/table`: what [`read`] takes.
    pub name: String,
    /// The page's title.
    pub title: String,
    /// How many numbers it has.
    pub cells: usize,
    /// `YYYY-MM-DD`.
    pub date: String,
    /// Who published it, and where.
    pub origin: String,
    /// Where it is kept.
    pub place: Place,
}

/// Where a set is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In this binary.
    BuiltIn,
    /// In this directory.
    Directory(PathBuf),
}

/// A set by name, not yet read.
#[derive(Debug)]
struct Set {
    name: String,
    place: Place,
}

/// Every table of every set, by set name and then in the order of its about file.
///
/// # Errors
/// The faults of all sets at once.
pub fn list(out: &Path) -> Result<Vec<BaselineEntry>, StoreError> {
    let mut entries = Vec::new();
    let mut faults = Vec::new();
    for set in sets(out)? {
        match set.entries() {
            Ok(of_set) => entries.extend(of_set),
            Err(StoreError::Baseline(of_set)) => faults.extend(of_set.0),
            Err(other) => return Err(other),
        }
    }
    if faults.is_empty() { Ok(entries) } else { Err(Faults(faults).into()) }
}

/// The results of a table, named `set/table`.
///
/// # Errors
/// [`StoreError::Unknown`] lists the tables that there are; [`StoreError::Baseline`] holds
/// every fault of the set's files.
pub fn read(out: &Path, name: &str) -> Result<ResultSet, StoreError> {
    let (set_name, table_name) = name.split_once('/').unwrap_or((name, ""));
    let Some(set) = sets(out)?.into_iter().find(|set| set.name == set_name) else {
        return Err(unknown(out, name));
    };
    let about = set.about()?;
    match about.tables.iter().find(|table| table.name == table_name) {
        Some(table) => set.table(&about, table),
        None => Err(unknown(out, name)),
    }
}

/// Where a set is from, and what is known of it.
///
/// # Errors
/// As [`read`].
pub fn about(out: &Path, set: &str) -> Result<About, StoreError> {
    match sets(out)?.into_iter().find(|known| known.name == set) {
        Some(set) => set.about(),
        None => Err(unknown(out, set)),
    }
}

fn unknown(out: &Path, name: &str) -> StoreError {
    // A set that cannot be read has its own error, when it is asked for.
    let sets = sets(out).unwrap_or_default().into_iter();
    let tables = |set: Set| {
        let about = set.about().ok()?;
        Some(about.tables.into_iter().map(move |table| format!("{}/{}", set.name, table.name)))
    };
    let known = sets.filter_map(tables).flatten().collect();
    UnknownName { sought: "baseline", name: name.to_owned(), known }.into()
}

/// Every set by name, those on disk first where both have one.
fn sets(out: &Path) -> Result<Vec<Set>, StoreError> {
    let directory = out.join("baselines");
    let mut sets = Vec::new();
    match std::fs::read_dir(&directory) {
        Ok(entries) => {
            for entry in entries {
                let path = entry.map_err(StoreError::io("read", &directory))?.path();
                if path.join(about::FILE).is_file() {
                    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    sets.push(Set { name, place: Place::Directory(path) });
                }
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(StoreError::io("read", &directory)(error)),
    }
    for (name, _, _) in BUILT_IN {
        if !sets.iter().any(|set| set.name == name) {
            sets.push(Set { name: name.to_owned(), place: Place::BuiltIn });
        }
    }
    sets.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(sets)
}

impl Set {
    fn about(&self) -> Result<About, StoreError> {
        let text = self.text(about::FILE)?;
        about::parse(&self.label(about::FILE), &self.name, &text, self.place.clone())
            .map_err(|faults| Faults(faults).into())
    }

    fn table(&self, about: &About, table: &AboutTable) -> Result<ResultSet, StoreError> {
        let text = self.text(&table.file)?;
        table::parse(&self.label(&table.file), &text, about, table)
            .map_err(|faults| Faults(faults).into())
    }

    fn entries(&self) -> Result<Vec<BaselineEntry>, StoreError> {
        let about = self.about()?;
        let mut entries = Vec::new();
        for table in &about.tables {
            let results = self.table(&about, table)?;
            entries.push(BaselineEntry {
                name: results.name,
                title: results.title,
                cells: results.cells.len(),
                date: table.date.clone(),
                origin: table.origin.clone(),
                place: about.place.clone(),
            });
        }
        Ok(entries)
    }

    fn text(&self, file: &str) -> Result<String, StoreError> {
        let bytes = match &self.place {
            Place::Directory(path) => {
                let path = path.join(file);
                read_file(&path, FILE_BYTES_MAX).map_err(StoreError::io("read", &path))?
            }
            Place::BuiltIn => {
                let ours = |(set, name, _): &&(&str, &str, _)| *set == self.name && *name == file;
                let found = BUILT_IN.iter().find(ours).map(|(_, _, bytes)| bytes.to_vec());
                found.expect("a built-in set has every file that its about file names")
            }
        };
        String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
            let message = "this is not UTF-8".to_owned();
            Faults(vec![Fault { file: self.label(file), line: Some(line), message }]).into()
        })
    }

    /// A file as messages name it.
    fn label(&self, file: &str) -> String {
        match &self.place {
            Place::Directory(path) => path.join(file).display().to_string(),
            Place::BuiltIn => format!("built-in {}/{file}", self.name),
        }
    }
}

#[cfg(test)]
mod tests;
