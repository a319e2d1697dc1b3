//! The few ways in which we write: replace a file whole, or add to its end.
//!
//! Must not know: what stands in a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::StoreError;

/// Writes to a temporary name beside `path`, syncs, renames, syncs the directory. What was
/// there stands untouched until the rename.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let temporary = path.with_file_name(name);
    let written = write_synced(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    if let Err(source) = written {
        // The error that is reported is the first one; a leftover is overwritten next time.
        let _ = std::fs::remove_file(&temporary);
        return Err(StoreError::io("write", path)(source));
    }
    sync_directory(path.parent().unwrap_or(Path::new(".")))
}

/// Makes the names in a directory durable.
pub(super) fn sync_directory(path: &Path) -> Result<(), StoreError> {
    File::open(path)
        .and_then(|directory| directory.sync_all())
        .map_err(StoreError::io("sync", path))
}

/// Adds to the end of an existing file and syncs. After a failure a part may stand there.
pub(super) fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}

/// Cuts a file to its first `length` bytes.
pub(super) fn cut(path: &Path, length: u64) -> Result<(), StoreError> {
    let cut = |file: File| file.set_len(length).and_then(|()| file.sync_data());
    OpenOptions::new().write(true).open(path).and_then(cut).map_err(StoreError::io("cut", path))
}

/// The length of a file.
pub(super) fn length(path: &Path) -> Result<u64, StoreError> {
    std::fs::metadata(path).map(|data| data.len()).map_err(StoreError::io("look at", path))
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
