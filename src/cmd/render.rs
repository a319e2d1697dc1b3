//! `gridbench render`: the page of a run or a baseline.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};

use super::{Failure, Outcome};
use crate::cli::{PageFormat, RenderArgs};
use crate::model::ResultSet;
use crate::report::{self, Format, Layout};
use crate::store;
use crate::ui::Printer;

pub(super) fn run(arguments: &RenderArgs, printer: Printer) -> Result<Outcome, Failure> {
    let results = store::resolve(&arguments.out, &arguments.source).map_err(Failure::input)?;
    let layout = layout(arguments, &results)?;
    let page = report::render(&results, &layout).map_err(Failure::input)?;
    match &arguments.output {
        None => printer.data(&page)?,
        Some(path) if arguments.check => return check(path, &page, printer),
        Some(path) => {
            write_page(path, &page)?;
            printer.talk(&format!("wrote {}", path.display()));
        }
    }
    Ok(Outcome::Done)
}

/// Writes the results' own layout in both formats into `dir`, which is made if it is missing;
/// returns the files.
pub(crate) fn write_pages(results: &ResultSet, dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let mut paths = Vec::new();
    for format in [Format::Markdown, Format::Html] {
        let layout = Layout::named(&results.template, format);
        let page = report::render(results, &layout).map_err(Failure::input)?;
        let path = dir.join(format!("page.{}", format.extension()));
        write_page(&path, &page)?;
        paths.push(path);
    }
    Ok(paths)
}

fn layout(arguments: &RenderArgs, results: &ResultSet) -> Result<Layout, Failure> {
    let typed = arguments.format.map(|format| match format {
        PageFormat::Md => Format::Markdown,
        PageFormat::Html => Format::Html,
    });
    let by_output = arguments.output.as_deref().and_then(Format::of_path);
    let name = arguments.template.as_deref().unwrap_or(&results.template);
    let layout = Layout::named(name, typed.or(by_output).unwrap_or(Format::Markdown));
    if let (Layout::File(path), Some(typed)) = (&layout, typed)
        && Format::of_path(path).is_some_and(|own| own != typed)
    {
        let extension = typed.extension();
        return Err(Failure::input(anyhow!(
            "--format {extension} does not fit the template {}; leave --format out, or name a \
             template that ends in .{extension}",
            path.display()
        )));
    }
    Ok(layout)
}

/// Whether the file holds this page; what differs goes to stderr.
fn check(path: &Path, page: &str, printer: Printer) -> Result<Outcome, Failure> {
    let old = match fs::read(path) {
        Ok(old) => old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            printer.talk(&format!("{}: missing; render without --check writes it", path.display()));
            return Ok(Outcome::Stale);
        }
        Err(error) => return Err(Failure::input(at(path, error))),
    };
    if old == page.as_bytes() {
        return Ok(Outcome::Done);
    }
    printer.talk(&format!("{}: stale; render without --check writes it anew", path.display()));
    let difference = report::difference(&String::from_utf8_lossy(&old), page);
    match difference.trim_end() {
        "" => printer.talk("only ends of lines differ"),
        difference => printer.talk(difference),
    }
    Ok(Outcome::Stale)
}

/// Replaces the file as a whole: a reader sees the old page or the new one.
fn write_page(path: &Path, page: &str) -> Result<(), Failure> {
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
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one to report; what is left of the file may be nothing.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn at(path: &Path, error: io::Error) -> anyhow::Error {
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
            scenarios: Vec::new(),
            specs: Vec::new(),
            cells: Vec::new(),
        }
    }

    fn arguments(template: Option<&str>, format: Option<PageFormat>, output: &str) -> RenderArgs {
        RenderArgs {
            source: "a/b".to_owned(),
            template: template.map(str::to_owned),
            format,
            output: Some(output.into()),
            check: false,
            out: "results".into(),
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
            let paths = write_pages(&results(), &pages).unwrap();
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

    #[test]
    fn a_page_is_stale_unless_every_byte_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.md");
        let printer = Printer::default();
        assert_eq!(check(&path, "new\n", printer).unwrap(), Outcome::Stale);
        for (old, outcome) in
            [("new\n", Outcome::Done), ("old\n", Outcome::Stale), ("new\r\n", Outcome::Stale)]
        {
            fs::write(&path, old).unwrap();
            assert_eq!(check(&path, "new\n", printer).unwrap(), outcome, "{old:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), old);
        }
        assert_eq!(check(folder.path(), "new\n", printer).unwrap_err().exit_code, 2);
    }

    #[test]
    fn the_format_is_what_was_typed_else_what_the_output_is_called() {
        let built_in = |format| Layout::BuiltIn { name: "tdsql-c-en".to_owned(), format };
        let cases = [
            (arguments(None, None, "x.html"), built_in(Format::Html)),
            (arguments(None, None, "x.txt"), built_in(Format::Markdown)),
            (arguments(None, Some(PageFormat::Md), "x.html"), built_in(Format::Markdown)),
            (arguments(Some("my/own.html"), None, "x.md"), Layout::File("my/own.html".into())),
        ];
        for (arguments, wanted) in cases {
            assert_eq!(layout(&arguments, &results()).unwrap(), wanted);
        }
        let clash = arguments(Some("own.html"), Some(PageFormat::Md), "x");
        assert_eq!(layout(&clash, &results()).unwrap_err().exit_code, 2);
    }
}
