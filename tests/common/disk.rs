//! A disk that is small, so that a test can fill it.
//!
//! Must not know: who writes to it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file system of its own, gone when this is dropped.
pub(crate) struct SmallDisk(pub(crate) PathBuf);

impl SmallDisk {
    /// One of so many megabytes in a new folder; `None` (with the reason printed) where mounting
    /// is not permitted.
    pub(crate) fn mount(at: &Path, megabytes: u32) -> Option<Self> {
        fs::create_dir(at).expect("a new folder");
        let size = format!("size={megabytes}m");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(at);
        let why = match mount.output() {
            Ok(output) if output.status.success() => return Some(Self(at.to_owned())),
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        // Not through a macro, whose words a passing test keeps to itself.
        let _ = writeln!(io::stderr(), "SKIPPED a full disk: mounting one needs root: {why}");
        None
    }

    /// Writes a file until no more than so many megabytes are free.
    pub(crate) fn fill(&self, megabytes_free: u64) -> PathBuf {
        let path = self.0.join("filler");
        let mut filler = File::create(&path).expect("room for a name");
        let free = || {
            let disk = nix::sys::statvfs::statvfs(&self.0).expect("a mounted disk");
            disk.blocks_available() * disk.fragment_size()
        };
        while free() > megabytes_free << 20 && filler.write_all(&[0; 1 << 20]).is_ok() {}
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
