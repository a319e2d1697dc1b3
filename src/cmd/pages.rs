//! Pages on disk: both of a run, or the one that was asked for.
//!
//! Must not know: what is on a page.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};

use super::Failure;
use super::dossier::Records;
use crate::model::ResultSet;
use crate::report::{self, Format, Layout};

/// A page, or a document that holds some: what is longer is neither.
pub(super) const DOCUMENT_BYTES_MAX: u64 = 256 << 20;

/// Writes the results' own layout in both formats into `dir`, which is made if it is missing;
/// returns the files.
pub(super) fn write(results: &ResultSet, dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let mut paths = Vec::new();
    for format in [Format::Markdown, Format::Html] {
        let layout = Layout::named(&results.template, format);
        // A user's template makes the one format that its name says.
        if layout.format() != Some(format) {
            continue;
        }
        let page = report::render(results, &layout).map_err(Failure::input)?;
        let path = dir.join(format!("page.{}", format.extension()));
        write_page(&path, &page)?;
        paths.push(path);
    }
    Ok(paths)
}

/// Writes the report of a run into `dir`; returns its file.
pub(super) fn write_report(records: &Records, dir: &Path) -> Result<PathBuf, Failure> {
    let page = report::render_dossier(&records.dossier(), &Layout::report());
    let path = dir.join("report.html");
    write_page(&path, &page.map_err(Failure::input)?)?;
    Ok(path)
}

/// Replaces the file as a whole: a reader sees the old page or the new one.
pub(super) fn write_page(path: &Path, page: &str) -> Result<(), Failure> {
    // A link stays a link, and what is not a file (/dev/null) is written to, not replaced.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let metadata = fs::metadata(path).ok();
    if metadata.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(Failure::input(anyhow!(
            "{} is a directory; name a file in it",
            path.display()
        )));
    }
    if metadata.is_some_and(|metadata| !metadata.is_file()) {
        return Ok(fs::write(path, page).map_err(|error| at(path, error))?);
    }
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    if !parent.is_dir() {
        return Err(Failure::input(anyhow!(
            "cannot write {}: the directory {} does not exist; make it first",
            path.display(),
            parent.display()
        )));
    }
    Ok(replace(path, page).map_err(|error| at(path, error))?)
}

fn replace(path: &Path, page: &str) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let written = fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(page.as_bytes()).and_then(|()| file.sync_all()))
        // What one may do with a file stays when its text is replaced.
        .and_then(|()| match fs::metadata(path) {
            Ok(old) => fs::set_permissions(&temporary, old.permissions()),
            Err(_) => Ok(()),
        })
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one to report; what is left of the file may be nothing.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// An error of the system with the file that it speaks of.
pub(super) fn at(path: &Path, error: io::Error) -> anyhow::Error {
    anyhow::Error::new(error).context(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DatasetClass, ResultSource};

    fn results() -> ResultSet {
        ResultSet {
            name: "a/b".to_owned(),
            title: "A title".to_owned(),
            template: "tdsql-c-en".to_owned(),
            class: DatasetClass::FullCache,
            source: ResultSource::Published { origin: "us".to_owned(), date: "2026-01-02".into() },
            protocol: None,
            environment: std::collections::BTreeMap::new(),
            noise_ppm: None,
            scenarios: Vec::new(),
            specs: Vec::new(),
            cells: Vec::new(),
        }
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> =
            entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn both_pages_are_written_into_a_folder_that_is_made_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let pages = folder.path().join("pages");
        for _ in 0..2 {
            let paths = write(&results(), &pages).unwrap();
            assert_eq!(paths, [pages.join("page.md"), pages.join("page.html")]);
            assert_eq!(names(&pages), ["page.html", "page.md"]);
        }
        assert!(fs::read_to_string(pages.join("page.md")).unwrap().starts_with("# A title\n"));
    }

    #[test]
    fn a_page_that_cannot_be_written_names_the_place_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let lost = write_page(&folder.path().join("no/page.md"), "x").unwrap_err();
        assert_eq!(lost.exit_code, 2);
        assert!(lost.to_string().contains("no does not exist; make it first"), "{lost}");
        let directory = write_page(folder.path(), "x").unwrap_err();
        assert_eq!(directory.exit_code, 2);
        assert!(directory.to_string().contains("is a directory; name a file in it"));
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_link_stays_a_link_when_its_page_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file.md"), folder.path().join("link.md"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink("file.md", &link).unwrap();
        write_page(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(link.is_symlink());
        write_page(Path::new("/dev/null"), "nothing").unwrap();
    }
}
