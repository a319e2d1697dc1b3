//! The directory in which one server program keeps its data, its log and its socket.
//!
//! Must not know: the server's options, or how it is started.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, DirBuilder, File};
use std::hash::{Hash, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::lock::Lock;
use super::{ServerBinary, TargetError, process};

/// `<data_dir>/<family>-<version>`, locked for this process, with nothing of an earlier one
/// left in it but the data and the logs.
#[derive(Debug)]
pub(super) struct Home {
    dir: PathBuf,
    log: PathBuf,
    socket: PathBuf,
    /// Set where the socket's path would be too long below `dir`.
    socket_dir: Option<PathBuf>,
    _lock: Lock,
}

/// A socket's path has 108 bytes with its final zero on Linux, 104 on macOS.
const MAX_SOCKET_BYTES: usize = 103;
const SOCKET: &str = "server.sock";
const PID_FILE: &str = "server.pid";
const DATA: &str = "data";
/// Begins the name of a data directory that is not complete.
const UNFINISHED: &str = "data.unfinished-";
/// How long a server that was left behind may take to end.
const LEFTOVER_LIMIT: Duration = Duration::from_secs(120);

impl Home {
    /// Creates it where it is missing (mode 0700), locks it, and clears away what a killed
    /// gridbench left: a running server, its socket, an unfinished data directory.
    pub(super) fn open(data_dir: &Path, binary: &ServerBinary) -> Result<Self, TargetError> {
        let dir = Self::of(data_dir, binary);
        create_private(&dir).map_err(TargetError::io("create", &dir))?;
        let dir = fs::canonicalize(&dir).map_err(TargetError::io("find", &dir))?;
        let lock = Lock::take(&dir)?;
        end_leftover(&dir)?;
        let (socket, socket_dir) = place_socket(&dir)?;
        let home = Self { log: dir.join("server.log"), dir, socket, socket_dir, _lock: lock };
        home.remove_traces().map_err(TargetError::io("clear", &home.dir))?;
        create_private(&home.temporary()).map_err(TargetError::io("create", &home.dir))?;
        Ok(home)
    }

    fn of(data_dir: &Path, binary: &ServerBinary) -> PathBuf {
        data_dir.join(format!("{}-{}", binary.flavour.name(), binary.number))
    }

    /// Whether there is a data directory that is complete; nothing is made or locked.
    pub(super) fn has_data(data_dir: &Path, binary: &ServerBinary) -> bool {
        Self::of(data_dir, binary).join(DATA).is_dir()
    }

    /// The directory itself.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The data directory; it exists only when it is complete.
    pub(super) fn data(&self) -> PathBuf {
        self.dir.join(DATA)
    }

    /// Where a data directory is made, to be renamed to [`Self::data`].
    pub(super) fn unfinished_data(&self) -> PathBuf {
        self.dir.join(format!("{UNFINISHED}{}", std::process::id()))
    }

    /// The log of the present start.
    pub(super) fn log(&self) -> &Path {
        &self.log
    }

    /// An empty log; the one before is kept under another name.
    pub(super) fn new_log(&self) -> Result<File, TargetError> {
        let log = self.log.as_path();
        if log.exists() {
            let kept = self.dir.join("server.log.previous");
            fs::rename(log, &kept).map_err(TargetError::io("rename", log))?;
        }
        let mut options = File::options();
        options.create(true).append(true).open(log).map_err(TargetError::io("create", log))
    }

    /// For the server's temporary tables: in a shared directory, another MariaDB that starts
    /// removes them.
    pub(super) fn temporary(&self) -> PathBuf {
        self.dir.join("tmp")
    }

    /// Holds the server's process id while it runs.
    pub(super) fn pid_file(&self) -> PathBuf {
        self.dir.join(PID_FILE)
    }

    /// Holds the accounts while the server starts.
    pub(super) fn accounts(&self) -> PathBuf {
        self.dir.join("accounts.sql")
    }

    /// The server's socket, in a directory that only this user can enter.
    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Removes what a server that is not running any more may have left.
    pub(super) fn remove_traces(&self) -> io::Result<()> {
        let mut socket_lock = self.socket.clone().into_os_string();
        socket_lock.push(".lock");
        for file in [&self.socket, Path::new(&socket_lock), &self.pid_file(), &self.accounts()] {
            remove(file)?;
        }
        if self.temporary().exists() {
            fs::remove_dir_all(self.temporary())?;
        }
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.remove_traces();
        if let Some(dir) = &self.socket_dir {
            let _ = fs::remove_dir(dir);
        }
    }
}

/// Ends a server that runs on this data although nobody holds the lock. Only a process whose
/// arguments name this data directory is one: ids are used again.
fn end_leftover(dir: &Path) -> Result<(), TargetError> {
    let text = fs::read_to_string(dir.join(PID_FILE)).unwrap_or_default();
    let Ok(pid) = text.trim().parse::<u32>() else { return Ok(()) };
    let ours = format!("--datadir={}", dir.join(DATA).display()).into_bytes();
    if !process::command_line(pid).is_some_and(|words| words.contains(&ours)) {
        return Ok(());
    }
    match process::end_stranger(pid, LEFTOVER_LIMIT) {
        Ok(true) => Ok(()),
        Ok(false) | Err(_) => Err(TargetError::Leftover { dir: dir.to_owned(), pid }),
    }
}

fn create_private(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// In `dir`, or where its path would be too long in a private directory with a short one. That
/// one's name follows from `dir`, so that what a killed gridbench left is found again.
fn place_socket(dir: &Path) -> Result<(PathBuf, Option<PathBuf>), TargetError> {
    let socket = dir.join(SOCKET);
    if socket.as_os_str().len() <= MAX_SOCKET_BYTES {
        return Ok((socket, None));
    }
    let mut hasher = DefaultHasher::new();
    dir.hash(&mut hasher);
    let name = format!("gridbench-{:016x}", hasher.finish());
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let parents = runtime.into_iter().filter(|dir| dir.is_absolute() && dir.is_dir());
    let mut short = parents.chain([PathBuf::from("/tmp")]).map(|parent| parent.join(&name));
    let fits = |dir: &PathBuf| dir.join(SOCKET).as_os_str().len() <= MAX_SOCKET_BYTES;
    let short = short.find(fits).unwrap_or_else(|| Path::new("/tmp").join(&name));
    match DirBuilder::new().mode(0o700).create(&short) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            check_private(&short).map_err(TargetError::io("use", &short))?;
        }
        result => result.map_err(TargetError::io("create", &short))?,
    }
    Ok((short.join(SOCKET), Some(short)))
}

/// /tmp is everybody's: a directory that stands there already must be ours alone.
fn check_private(dir: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(dir)?;
    let ours = metadata.uid() == nix::unistd::geteuid().as_raw();
    if metadata.is_dir() && ours && metadata.mode() & 0o077 == 0 {
        return Ok(());
    }
    let reason = "it exists and is not a private directory of this user; remove it";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Flavour;

    fn binary() -> ServerBinary {
        ServerBinary {
            path: "/usr/sbin/mysqld".into(),
            version: String::new(),
            number: "9.7.4".into(),
            flavour: Flavour::MySql,
        }
    }

    #[test]
    fn a_home_is_private_and_named_after_the_server() {
        let root = tempfile::tempdir().unwrap();
        let home = Home::open(root.path(), &binary()).unwrap();
        assert!(home.dir().ends_with("mysql-9.7.4"));
        assert_eq!(fs::metadata(home.dir()).unwrap().mode() & 0o777, 0o700);
        assert!(!home.data().exists());
        assert!(home.socket().starts_with(home.dir()));
    }

    #[test]
    fn a_long_path_gets_a_short_private_socket_that_goes_away_with_the_home() {
        let root = tempfile::tempdir().unwrap();
        let home = Home::open(&root.path().join("d".repeat(120)), &binary()).unwrap();
        let short = home.socket().parent().unwrap().to_owned();
        assert!(home.socket().as_os_str().len() <= MAX_SOCKET_BYTES);
        assert_eq!(fs::metadata(&short).unwrap().mode() & 0o777, 0o700);
        drop(home);
        assert!(!short.exists());
    }

    #[test]
    fn a_short_directory_that_others_can_enter_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("open");
        DirBuilder::new().mode(0o755).create(&dir).unwrap();
        assert!(check_private(&dir).is_err());
        let link = root.path().join("link");
        std::os::unix::fs::symlink(root.path(), &link).unwrap();
        assert!(check_private(&link).is_err());
    }

    #[test]
    fn traces_of_a_killed_run_are_cleared_and_strangers_are_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let dir = Home::open(root.path(), &binary()).unwrap().dir().to_owned();
        fs::create_dir_all(dir.join("data.unfinished-1/mysql")).unwrap();
        // The id of this very process: it runs, but it is no server of ours.
        fs::write(dir.join("server.pid"), std::process::id().to_string()).unwrap();
        for name in ["server.sock", "server.sock.lock", "accounts.sql"] {
            fs::write(dir.join(name), "").unwrap();
        }
        let home = Home::open(root.path(), &binary()).unwrap();
        let entries = fs::read_dir(home.dir()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut left: Vec<_> = entries.collect();
        left.sort();
        assert_eq!(left, ["lock", "tmp"]);
        drop(home);
        assert_eq!(fs::read_dir(dir).unwrap().count(), 0);
    }
}
