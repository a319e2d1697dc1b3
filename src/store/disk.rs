//! The few ways in which we read and write: a file whole, if it is of a size that it may have;
//! replace it whole, or add to its end.
//!
//! Must not know: what stands in a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use super::StoreError;

/// The bytes of a file.
///
/// # Errors
/// The system's; of a file that is larger than such a file may be, nothing is kept.
pub fn read_file(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let words = format!("it has more than {bytes_max} bytes, which no such file has");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, words));
    }
    Ok(bytes)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_a_size_that_it_may_not_have_is_refused_and_not_held() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 40).unwrap();
        let error = read_file(file.path(), 1_000).unwrap_err();
        assert!(error.to_string().contains("more than 1000 bytes"), "{error}");
        file.as_file().set_len(1_000).unwrap();
        assert_eq!(read_file(file.path(), 1_000).unwrap().len(), 1_000);
    }
}
