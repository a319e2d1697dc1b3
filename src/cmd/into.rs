//! `gridbench render --into`: tables and charts in documents of users, where markers name them.
//!
//! All documents are filled before the first is written, so that a fault in one leaves every one
//! as it is. Must not know: what a marker or a table looks like.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::dossier::Records;
use super::pages::{DOCUMENT_BYTES_MAX, at, write_page};
use super::render::talk_stale;
use super::{Failure, Outcome};
use crate::cli::RenderArgs;
use crate::model::ResultSet;
use crate::report::{self, DocumentKind, Place};
use crate::store::{self, Fault, Faults, StoreError, read_file};
use crate::ui::Printer;

/// A document as it is, and as it should be.
struct Filled {
    path: PathBuf,
    old: String,
    new: String,
    tables: usize,
}

pub(super) fn run(arguments: &RenderArgs, printer: Printer) -> Result<Outcome, Failure> {
    let mut sources =
        Sources { out: &arguments.out, known: BTreeMap::new(), whole: BTreeMap::new() };
    let mut filled = Vec::new();
    let mut faults = Vec::new();
    for path in &arguments.into {
        match sources.fill(path)? {
            Ok(document) => filled.push(document),
            Err(mut of_document) => faults.append(&mut of_document),
        }
    }
    if !faults.is_empty() {
        return Err(Failure::input(Faults(faults)));
    }
    let mut outcome = Outcome::Done;
    for document in &filled {
        if document.tables == 0 {
            printer.talk(&format!("{}: it has no marker", document.path.display()));
        } else if document.old == document.new {
            printer.talk(&format!("{}: {}, as it was", document.path.display(), document.count()));
        } else if arguments.check {
            talk_stale(&document.path, &document.old, &document.new, printer);
            outcome = Outcome::Stale;
        } else {
            write_page(&document.path, &document.new)?;
            printer.talk(&format!("wrote {}: {}", document.path.display(), document.count()));
        }
    }
    Ok(outcome)
}

impl Filled {
    fn count(&self) -> String {
        match self.tables {
            1 => "1 place".to_owned(),
            more => format!("{more} places"),
        }
    }
}

/// The results that markers name, each read once; an unknown name with what to say of it.
struct Sources<'a> {
    out: &'a Path,
    known: BTreeMap<String, Result<ResultSet, String>>,
    /// All that is known of those of which charts are drawn.
    whole: BTreeMap<String, Records>,
}

impl Sources<'_> {
    /// A document filled, or all of its faults; a failure is not the document's.
    fn fill(&mut self, path: &Path) -> Result<Result<Filled, Vec<Fault>>, Failure> {
        let fault = |line: Option<usize>, message: String| Fault {
            file: path.display().to_string(),
            line: line.map(|line| line as u64),
            message,
        };
        let Some(kind) = DocumentKind::of_path(path) else {
            let message = "a document's name ends in .md, .markdown, .mdx, .rst, .html or .htm";
            return Ok(Err(vec![fault(None, message.to_owned())]));
        };
        let bytes =
            read_file(path, DOCUMENT_BYTES_MAX).map_err(|error| Failure::input(at(path, error)))?;
        let Ok(old) = String::from_utf8(bytes) else {
            return Ok(Err(vec![fault(None, "it is not UTF-8 text".to_owned())]));
        };
        let places = match report::places(&old, kind) {
            Ok(places) => places,
            Err(wrong) => {
                let faults = wrong.into_iter().map(|wrong| fault(Some(wrong.line), wrong.message));
                return Ok(Err(faults.collect()));
            }
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let (mut tables, mut faults) = (Vec::new(), Vec::new());
        for place in &places {
            match self.table(place, kind, folder)? {
                Ok(table) => tables.push(table),
                Err(message) => faults.push(fault(Some(place.line), message)),
            }
        }
        if !faults.is_empty() {
            return Ok(Err(faults));
        }
        Ok(match report::fill(&old, kind, &places, &tables) {
            Ok(new) => Ok(Filled { path: path.to_owned(), old, new, tables: tables.len() }),
            Err(wrong) => Err(vec![fault(Some(wrong.line), wrong.message)]),
        })
    }

    /// The table of a place, or what is wrong with what it asks for.
    fn table(
        &mut self,
        place: &Place,
        kind: DocumentKind,
        folder: &Path,
    ) -> Result<Result<String, String>, Failure> {
        let name = &place.request.results;
        if !self.known.contains_key(name) {
            let results = match store::resolve(self.out, name) {
                Ok(results) => Ok(results),
                // What else there is would bury the place among other faults.
                Err(StoreError::Unknown(unknown)) => {
                    Err(unknown.to_string().lines().next().unwrap_or_default().to_owned())
                }
                Err(error) if error.is_input() => Err(error.to_string()),
                Err(error) => return Err(error.into()),
            };
            self.known.insert(name.clone(), results);
        }
        let Err(message) = &self.known[name] else {
            return self.found(place, kind, folder);
        };
        Ok(Err(message.clone()))
    }

    /// The same, of results that there are.
    fn found(
        &mut self,
        place: &Place,
        kind: DocumentKind,
        folder: &Path,
    ) -> Result<Result<String, String>, Failure> {
        let (request, name) = (&place.request, &place.request.results);
        if let Some(which) = request.chart {
            if !self.whole.contains_key(name) {
                self.whole.insert(name.clone(), Records::read(self.out, name)?);
            }
            let dossier = self.whole[name].dossier();
            let chart = report::chart(&dossier, request, which, kind);
            return Ok(chart.map_err(|error| error.to_string()));
        }
        Ok(match &self.known[name] {
            Ok(results) => report::table(results, &place.request, kind, folder)
                .map_err(|error| error.to_string()),
            Err(message) => Err(message.clone()),
        })
    }
}
