//! What can go wrong with results on disk, told so that the reader knows what to do next.
//!
//! Must not know: who asked for the results.

use crate::model::plural;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why results could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: a verb.
        action: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A trial could not be written; nothing of it is left in the files.
    #[error(
        "cannot write {}: {source}; this trial is lost, those before it ({kept}) are kept in \
         cells.csv: make room and go on with --resume",
        path.display()
    )]
    Append {
        /// The file that could not take its rows.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
        /// Trials that stand whole in `cells.csv`.
        kept: usize,
    },
    /// Another process writes to this run.
    #[error(
        "{} is being written by another gridbench; wait for it, or stop it and go on with --resume",
        path.display()
    )]
    Locked {
        /// The run's directory.
        path: PathBuf,
    },
    /// A row does not say what its column must say.
    #[error("{}:{line}: {message}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: u64,
        /// What is wrong with it.
        message: String,
    },
    /// A manifest is not one.
    #[error("{}: {message}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, with line and column or the name of the value.
        message: String,
    },
    /// A directory was named that holds no run.
    #[error("{} is not a run: it has no manifest.json", path.display())]
    NotARun {
        /// The directory.
        path: PathBuf,
    },
    /// No run and no baseline has this name.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// Files of a baseline are wrong, all faults at once.
    #[error(transparent)]
    Baseline(#[from] Faults),
}

impl StoreError {
    /// Whether the input is at fault (a name, a file's content) rather than the machine.
    pub fn is_input(&self) -> bool {
        !matches!(self, Self::Io { .. } | Self::Append { .. } | Self::Locked { .. })
    }

    pub(super) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}

/// A name that nothing has, with what there is instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct UnknownName {
    /// What was looked for, for example `run or baseline`.
    pub sought: &'static str,
    /// The name.
    pub name: String,
    /// What there is, the likeliest first.
    pub known: Vec<String>,
}

impl UnknownName {
    const SHOWN: usize = 12;

    /// The known name that is near enough to be what was meant.
    pub fn nearest(&self) -> Option<&str> {
        nearest(&self.name, self.known.iter().map(String::as_str))
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no {} named `{}`", self.sought, self.name)?;
        if let Some(nearest) = self.nearest() {
            write!(f, "; did you mean `{nearest}`?")?;
        }
        if self.known.is_empty() {
            return write!(f, "; there is none at all yet");
        }
        write!(f, "\nthere is:")?;
        for name in self.known.iter().take(Self::SHOWN) {
            write!(f, "\n  {name}")?;
        }
        match self.known.len().saturating_sub(Self::SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

/// The known name that is near enough to a mistyped one, or contains it whole.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const NEAR_ENOUGH: f64 = 0.8;
    let score = |candidate: &str| match candidate.contains(name) && name.len() > 2 {
        true => 1.0,
        false => strsim::jaro_winkler(name, candidate),
    };
    known
        .map(|candidate| (score(candidate), candidate))
        .filter(|(score, _)| *score >= NEAR_ENOUGH)
        // Not `max_by`: of equals the first wins, since the likeliest stands first.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, candidate)| candidate)
}

/// One fault in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The file, as far as it has a path.
    pub file: String,
    /// Its line, from 1, where there is one.
    pub line: Option<u64>,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// All faults of some files, in their order; at least one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    /// More are counted, not printed.
    const SHOWN: usize = 20;
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().take(Self::SHOWN).enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{fault}")?;
        }
        match self.0.len().saturating_sub(Self::SHOWN) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more {}", plural(more as u64, "fault")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_and_the_list() {
        let known = vec!["tdsql-c-2025-12/full-cache".to_owned(), "other/x".to_owned()];
        let unknown =
            UnknownName { sought: "baseline", name: "tdsql-c-2025/full-cache".into(), known };
        assert_eq!(
            unknown.to_string(),
            "there is no baseline named `tdsql-c-2025/full-cache`; did you mean \
             `tdsql-c-2025-12/full-cache`?\nthere is:\n  tdsql-c-2025-12/full-cache\n  other/x"
        );
        assert_eq!(nearest("zzz", ["full-cache"].into_iter()), None);
        assert_eq!(nearest("full-cache", ["a/full-cache"].into_iter()), Some("a/full-cache"));
    }

    #[test]
    fn more_than_twenty_faults_are_counted() {
        let fault = Fault { file: "x.csv".into(), line: Some(3), message: "bad".into() };
        let text = Faults(vec![fault; 23]).to_string();
        assert_eq!(text.lines().count(), 21);
        assert!(text.ends_with("x.csv:3: bad\nand 3 more faults"), "{text}");
    }
}
