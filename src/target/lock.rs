//! One gridbench at a time in one directory.
//!
//! Must not know: what the directory holds.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::TargetError;

/// A lock file that is held. The system releases it when this process ends, however it ends;
/// the file's content only says who holds it.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Locks `dir`.
    ///
    /// # Errors
    /// [`TargetError::DataDirInUse`] with the holder's process id.
    pub(super) fn take(dir: &Path) -> Result<Self, TargetError> {
        let path = dir.join("lock");
        loop {
            let mut file = open(&path).map_err(TargetError::io("open", &path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let pid = read_pid(&mut file);
                    return Err(TargetError::DataDirInUse { dir: dir.to_owned(), pid });
                }
                Err(TryLockError::Error(error)) => {
                    return Err(TargetError::io("lock", &path)(error));
                }
            }
            // The former holder removes the file: what we locked may be a file without a name.
            if is_still_named(&file, &path) {
                write_pid(&mut file).map_err(TargetError::io("write", &path))?;
                return Ok(Self { path, _file: file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While it is still locked; who opened it meanwhile finds it without a name.
        let _ = fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn is_still_named(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(held), Ok(named)) => (held.dev(), held.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    writeln!(file, "{}", std::process::id())
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_lock_names_the_holder_and_a_released_one_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let first = Lock::take(dir.path()).unwrap();
        let refused = Lock::take(dir.path()).unwrap_err();
        let TargetError::DataDirInUse { pid, .. } = refused else { panic!("{refused}") };
        assert_eq!(pid, Some(std::process::id()));
        drop(first);
        assert!(!dir.path().join("lock").exists());
        drop(Lock::take(dir.path()).unwrap());
    }

    #[test]
    fn a_lock_file_that_nobody_holds_is_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("lock"), "99999999 and more text than a number").unwrap();
        let _lock = Lock::take(dir.path()).unwrap();
        let text = fs::read_to_string(dir.path().join("lock")).unwrap();
        assert_eq!(text, format!("{}\n", std::process::id()));
    }
}
