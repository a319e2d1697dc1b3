//! Layouts: the built-in templates of pages, and those of users.
//!
//! Must not know: results, how a template is read.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::build::page_model;
use super::compared::ComparisonModel;
use super::dossier::Dossier;
use super::engine::{self, Dialect};
use super::error::{RenderError, nearest};
use super::run_page::ReportPage;

/// The built-in layouts: name, and what it is for.
pub const LAYOUTS: [(&str, &str); 5] = [
    ("tdsql-c-en", "TDSQL-C's published tables, in English"),
    ("tdsql-c-zh", "TDSQL-C's published tables, in Chinese"),
    ("transposed", "sizes as columns, QPS and TPS as rows"),
    ("latency", "QPS with the 95th and 99th percentile of response time"),
    (REPORT, "all that is known of a run: charts, doubts, seconds, environment; in two languages"),
];

/// The layout that says more than the page model does.
const REPORT: &str = "report";

/// The built-in layouts of comparisons: name, and what it is for.
pub const COMPARISONS: [(&str, &str); 1] =
    [("comparison", "old and new rates and times, their change and the verdict")];

/// Built-in layouts: name, and what it is for.
type Names = [(&'static str, &'static str)];

/// What a page is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Markdown with GitHub's tables and footnotes.
    Markdown,
    /// One self-contained HTML file.
    Html,
}

impl Format {
    /// The end of a file's name, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Html => "html",
        }
    }

    /// What the name of a file says, if it ends in `.md` or `.html`.
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?;
        [Self::Markdown, Self::Html].into_iter().find(|format| extension == format.extension())
    }
}

/// Which template prints the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// One of [`LAYOUTS`], or of [`COMPARISONS`] for a comparison.
    BuiltIn {
        /// Its name.
        name: String,
        /// Which of its two files.
        format: Format,
    },
    /// A user's file; its extension decides the format.
    File(PathBuf),
}

impl Layout {
    /// What a person means: a file if it ends like one or has a folder, else a built-in name.
    pub fn named(name: &str, format: Format) -> Self {
        let path = Path::new(name);
        if Format::of_path(path).is_some() || path.components().count() > 1 {
            return Self::File(path.to_owned());
        }
        Self::BuiltIn { name: name.to_owned(), format }
    }

    /// What its pages are written in; `None` for a file whose name does not say.
    pub fn format(&self) -> Option<Format> {
        match self {
            Self::BuiltIn { format, .. } => Some(*format),
            Self::File(path) => Format::of_path(path),
        }
    }

    /// Whether there is such a layout; what its template holds is seen when it prints.
    ///
    /// # Errors
    /// The name is not one of [`LAYOUTS`], or the file cannot be read.
    pub fn check(&self) -> Result<(), RenderError> {
        match self {
            Self::BuiltIn { name, .. } => check_name(name, &LAYOUTS),
            Self::File(path) => {
                check_format(path)?;
                let unreadable = |reason| RenderError::Unreadable { path: path.to_owned(), reason };
                engine::read(path).map(|_| ()).map_err(unreadable)
            }
        }
    }

    /// Whether its pages can say more than tables: then all that is known of the results is needed.
    pub fn tells_all(&self) -> bool {
        match self {
            Self::BuiltIn { name, .. } => name == REPORT,
            Self::File(_) => true,
        }
    }

    /// The report of a run, as one HTML file.
    pub fn report() -> Self {
        Self::BuiltIn { name: REPORT.to_owned(), format: Format::Html }
    }

    /// Prints results: a report, and a layout of a user's own, with all that is known of them.
    pub(super) fn print(&self, dossier: &Dossier<'_>) -> Result<String, RenderError> {
        match self.tells_all() {
            true => self.print_as(&ReportPage::of(dossier), &LAYOUTS),
            false => self.print_as(&page_model(dossier.results), &LAYOUTS),
        }
    }

    /// Prints a comparison model.
    pub(super) fn print_comparison(&self, page: &ComparisonModel) -> Result<String, RenderError> {
        self.print_as(page, &COMPARISONS)
    }

    fn print_as(
        &self,
        page: &(impl Serialize + Sync),
        names: &Names,
    ) -> Result<String, RenderError> {
        match self {
            Self::BuiltIn { name, format } => {
                check_name(name, names)?;
                let file = format!("{name}.{}", format.extension());
                engine::print_built_in(&file, page, Dialect::Github)
            }
            Self::File(path) => {
                check_format(path)?;
                engine::print_file(path, page, Dialect::Github)
            }
        }
    }
}

fn check_name(name: &str, names: &Names) -> Result<(), RenderError> {
    let names = names.iter().map(|(name, _)| *name);
    if names.clone().any(|known| known == name) {
        return Ok(());
    }
    Err(RenderError::UnknownLayout {
        name: name.to_owned(),
        known: names.clone().collect::<Vec<_>>().join(", "),
        nearest: nearest(name, names),
    })
}

/// A page's template ends in `.md` or `.html`.
fn check_format(path: &Path) -> Result<(), RenderError> {
    match Format::of_path(path) {
        Some(_) => Ok(()),
        None => Err(RenderError::UnknownFormat { path: path.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_an_end_or_a_folder_is_a_file() {
        let html = Format::Html;
        assert_eq!(Layout::named("mine.md", html), Layout::File("mine.md".into()));
        assert_eq!(Layout::named("a/b", html), Layout::File("a/b".into()));
        let built_in = Layout::BuiltIn { name: "tdsql-c-en".into(), format: html };
        assert_eq!(Layout::named("tdsql-c-en", html), built_in);
    }

    #[test]
    fn an_unknown_name_is_answered_with_all_names_and_the_nearest() {
        let text = check_name("tdsql-c-eng", &LAYOUTS).unwrap_err().to_string();
        assert_eq!(
            text,
            "there is no built-in layout `tdsql-c-eng`; there are tdsql-c-en, tdsql-c-zh, \
             transposed, latency, report; did you mean `tdsql-c-en`?"
        );
        assert!(check_name("tdsql-c-en", &LAYOUTS).is_ok());
    }

    #[test]
    fn every_layout_has_both_files() {
        for (name, _) in LAYOUTS.into_iter().chain(COMPARISONS) {
            for format in [Format::Markdown, Format::Html] {
                let file = format!("{name}.{}", format.extension());
                assert!(engine::is_built_in(&file), "{file}");
            }
        }
    }
}
