//! Why a target cannot be had, in words that name the place and the remedy.
//!
//! Must not know: how the message is shown.

use crate::model::counted;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// What went wrong while finding, starting, stopping or naming a server.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// No server program in any of the usual places.
    #[error(
        "no MySQL or MariaDB server was found; looked for {names} in {searched}\n\
         install one:  Debian, Ubuntu: sudo apt-get install mariadb-server\n              \
         Fedora, RHEL:   sudo dnf install mariadb-server\n              \
         macOS:          brew install mariadb\n\
         or name one with --server PATH, or name a server that runs already with --targets FILE"
    )]
    ServerNotFound {
        /// The program names that were looked for.
        names: String,
        /// The directories that were searched.
        searched: String,
    },
    /// The program that was named is none that can be started.
    #[error("{} is not a MySQL or MariaDB server: {reason}", path.display())]
    NotAServer {
        /// As it was named.
        path: PathBuf,
        /// What was seen.
        reason: String,
    },
    /// Another gridbench works on the same data.
    #[error(
        "{} is in use by another gridbench{}; wait for it to end, or give this one a directory \
         of its own with --data-dir",
        dir.display(), owner(*pid)
    )]
    DataDirInUse {
        /// The server's home.
        dir: PathBuf,
        /// The other process, where it could be read.
        pid: Option<u32>,
    },
    /// A server that an earlier gridbench left behind does not end.
    #[error(
        "an earlier server (process {pid}) still runs on {} and does not end; stop it by hand",
        dir.display()
    )]
    Leftover {
        /// The server's home.
        dir: PathBuf,
        /// The server.
        pid: u32,
    },
    /// The port that was asked for is taken.
    #[error("port {port} on 127.0.0.1 cannot be used: {reason}; name another one, or none")]
    PortInUse {
        /// The port.
        port: u16,
        /// What the system said.
        reason: String,
    },
    /// The spec has more cores than this process may use.
    #[error("the server is to have {}, but this process may use {allowed}", counted(*asked, "cpu"))]
    TooFewCpus {
        /// Wanted.
        asked: u32,
        /// There.
        allowed: u32,
    },
    /// The server's program ended, or gave up, before it was told to.
    #[error("{what}: {how}{log}")]
    Ended {
        /// What it was doing.
        what: String,
        /// Its exit status, or how long it was waited for.
        how: String,
        /// What it said.
        log: LogExcerpt,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The system refused something.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// A verb.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl TargetError {
    /// For `map_err`: names what was being done, on what.
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }
}

fn owner(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

/// The lines of a server's log that say why it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogExcerpt {
    /// The log.
    pub path: PathBuf,
    /// Its last error lines; its last lines where none is an error.
    pub lines: Vec<String>,
}

/// How many lines are shown, and how long one may be (bytes).
const SHOWN_LINES: usize = 6;
const SHOWN_LINE_BYTES: usize = 400;
/// A log that a server fills with warnings is read from here before its end.
const READ_BYTES: u64 = 1 << 20;
/// The permission that Ubuntu's MySQL package denies outside its own directories.
const APPARMOR_PROFILE: &str = "/etc/apparmor.d/usr.sbin.mysqld";

impl LogExcerpt {
    /// Reads what a log of one start holds; an unreadable log gives no lines.
    pub(super) fn read(path: &Path) -> Self {
        let bytes = end_of(path).unwrap_or_default();
        Self { path: path.to_owned(), lines: telling_lines(&String::from_utf8_lossy(&bytes)) }
    }

    /// Whether a line contains a text.
    pub(super) fn mentions(&self, text: &str) -> bool {
        self.lines.iter().any(|line| line.contains(text))
    }
}

fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(READ_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(READ_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl fmt::Display for LogExcerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            write!(f, "\n  {line}")?;
        }
        if self.mentions("ermission denied") && Path::new(APPARMOR_PROFILE).exists() {
            let hint = "AppArmor may keep this server inside its package's own directories";
            write!(f, "\n  ({hint}: see {APPARMOR_PROFILE})")?;
        }
        write!(f, "\n  the whole log: {}", self.path.display())
    }
}

fn telling_lines(log: &str) -> Vec<String> {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    // "Aborting" follows every error and says nothing by itself.
    let is_error = |line: &&str| line.contains("ERROR") && !line.ends_with("[ERROR] Aborting");
    let mut shown: Vec<&str> = lines.iter().copied().filter(is_error).collect();
    if shown.is_empty() {
        shown = lines;
    }
    let skipped = shown.len().saturating_sub(SHOWN_LINES);
    shown[skipped..].iter().map(|line| shortened(line)).collect()
}

fn shortened(line: &str) -> String {
    let end = (0..=SHOWN_LINE_BYTES.min(line.len())).rev().find(|end| line.is_char_boundary(*end));
    line[..end.unwrap_or(0)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_error_lines_of_a_log_are_shown() {
        let mut log: String = (0..20).map(|n| format!("[ERROR] number {n}\n[Note] no\n")).collect();
        let lines = telling_lines(&log);
        assert_eq!((lines.len(), lines[5].as_str()), (6, "[ERROR] number 19"));
        log = "first\n\n0 [ERROR] Aborting\n".into();
        assert_eq!(telling_lines(&log), ["first", "0 [ERROR] Aborting"]);
        log = "first\nERROR: 1051  Unknown table\n0 [ERROR] Aborting\nlast".into();
        assert_eq!(telling_lines(&log), ["ERROR: 1051  Unknown table"]);
        assert!(telling_lines("").is_empty());
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let line = "ü".repeat(500);
        assert_eq!(telling_lines(&line)[0].chars().count(), 200);
    }

    #[test]
    fn no_server_found_says_what_to_install() {
        let text = TargetError::ServerNotFound { names: "a".into(), searched: "b".into() };
        let text = text.to_string();
        for part in ["apt-get install mariadb-server", "dnf install", "brew", "--server PATH"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
