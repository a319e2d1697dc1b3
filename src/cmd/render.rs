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
