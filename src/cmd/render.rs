//! `gridbench render`: the page of a run or a baseline, or tables in documents ([`super::into`]).

use std::io;
use std::path::Path;

use anyhow::anyhow;

use super::dossier::Records;
use super::pages::{DOCUMENT_BYTES_MAX, at, write_page};
use super::{Failure, Outcome, into};
use crate::cli::{PageFormat, RenderArgs};
use crate::model::ResultSet;
use crate::report::{self, Format, Layout};
use crate::store::{self, read_file};
use crate::ui::Printer;

pub(super) fn run(arguments: &RenderArgs, printer: Printer) -> Result<Outcome, Failure> {
    let Some(source) = &arguments.source else {
        return into::run(arguments, printer);
    };
    let page = page(arguments, source)?;
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

fn page(arguments: &RenderArgs, source: &str) -> Result<String, Failure> {
    let records = || Records::read(&arguments.out, source);
    if arguments.model {
        return Ok(report::model_json(&records()?.dossier()));
    }
    let results = store::resolve(&arguments.out, source)?;
    let layout = layout(arguments, &results)?;
    let page = match layout.tells_all() {
        true => report::render_dossier(&records()?.dossier(), &layout),
        false => report::render(&results, &layout),
    };
    page.map_err(Failure::input)
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
        && layout.format().is_some_and(|own| own != typed)
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
    let old = match read_file(path, DOCUMENT_BYTES_MAX) {
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
    talk_stale(path, &String::from_utf8_lossy(&old), page, printer);
    Ok(Outcome::Stale)
}

/// Says that a file is not what it should be, and what differs.
pub(super) fn talk_stale(path: &Path, old: &str, new: &str, printer: Printer) {
    printer.talk(&format!("{}: stale; render without --check writes it anew", path.display()));
    match report::difference(old, new).trim_end() {
        "" => printer.talk("only ends of lines differ"),
        difference => printer.talk(difference),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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

    fn arguments(template: Option<&str>, format: Option<PageFormat>, output: &str) -> RenderArgs {
        RenderArgs {
            source: Some("a/b".to_owned()),
            template: template.map(str::to_owned),
            format,
            model: false,
            output: Some(output.into()),
            into: Vec::new(),
            check: false,
            out: "results".into(),
        }
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
