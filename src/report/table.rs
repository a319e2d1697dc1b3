//! Tables for places in users' documents: what a marker asks for, printed by a template.
//!
//! Must not know: where in which document a table goes.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::document::{DocumentKind, Language, TableRequest};
use super::engine::{self, Dialect};
use super::error::RenderError;
use super::model::PageModel;
use super::page_model;
use crate::model::ResultSet;
use crate::store::nearest;

/// The built-in tables: name, and what it is for.
pub const TABLES: [(&str, &str); 3] = [
    ("tdsql-c", "TDSQL-C's published columns"),
    ("transposed", "sizes as columns, QPS and TPS as rows"),
    ("latency", "QPS with the 95th and 99th percentile of response time"),
];

/// Why there is no table: always the input's fault.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The results have no such scenario.
    #[error("{results} has no scenario `{scenario}`; it has {known}{meant}")]
    UnknownScenario {
        /// Name of the results.
        results: String,
        /// What was asked for.
        scenario: String,
        /// All ids, ready to print.
        known: String,
        /// "Did you mean", or nothing.
        meant: String,
    },
    /// There is nothing to draw.
    #[error(
        "{results} has nothing for a chart of kind={kind} of `{scenario}`: kind=specs takes a \
         rate, kind=curve trials at two concurrencies, kind=latency trials"
    )]
    NoChart {
        /// Name of the results.
        results: String,
        /// The scenario.
        scenario: String,
        /// What was asked for.
        kind: &'static str,
    },
    /// There is no such table.
    #[error("there is no built-in table `{name}`; there are {known}{meant}")]
    UnknownTable {
        /// What was asked for.
        name: String,
        /// All names, ready to print.
        known: String,
        /// "Did you mean", or nothing.
        meant: String,
    },
    /// A template of one's own does not fit the document.
    #[error("the template {} does not end in .{wanted}, which this document needs", path.display())]
    OtherFormat {
        /// The template.
        path: PathBuf,
        /// The end of a fitting one's name.
        wanted: &'static str,
    },
    /// The template is wrong.
    #[error(transparent)]
    Template(#[from] RenderError),
}

/// What a table's template can read: the page model, and what the marker says.
#[derive(Debug, Serialize)]
struct TableModel<'a> {
    #[serde(flatten)]
    page: &'a PageModel,
    lang: &'static str,
    caption: bool,
    several: bool,
}

/// The table that is asked for, as a document of this kind holds it; a template of one's own is
/// looked for from `folder`.
///
/// # Errors
/// See [`TableError`].
pub fn table(
    results: &ResultSet,
    request: &TableRequest,
    kind: DocumentKind,
    folder: &Path,
) -> Result<String, TableError> {
    let page = match &request.scenario {
        None => page_model(results),
        Some(id) => page_model(&one_scenario(results, id)?),
    };
    let model = TableModel {
        page: &page,
        lang: request.language.unwrap_or_else(|| own_language(results)).name(),
        caption: request.caption,
        several: request.scenario.is_none(),
    };
    let dialect = match kind {
        DocumentKind::Mdx => Dialect::Mdx,
        _ => Dialect::Github,
    };
    let extension = kind.template_extension();
    let name = request.template.as_deref().unwrap_or(TABLES[0].0);
    let path = Path::new(name);
    if path.extension().is_some() || path.components().count() > 1 {
        if path.extension().is_none_or(|own| own != extension) {
            return Err(TableError::OtherFormat { path: path.to_owned(), wanted: extension });
        }
        return Ok(engine::print_file(&folder.join(path), &model, dialect)?);
    }
    if !TABLES.iter().any(|(known, _)| *known == name) {
        let known = TABLES.map(|(known, _)| known);
        let meant = did_you_mean(name, &known);
        return Err(TableError::UnknownTable {
            name: name.to_owned(),
            known: known.join(", "),
            meant,
        });
    }
    Ok(engine::print_built_in(&format!("table-{name}.{extension}"), &model, dialect)?)
}

/// That of the results' own layout.
pub(super) fn own_language(results: &ResultSet) -> Language {
    match results.template.ends_with("-zh") {
        true => Language::Chinese,
        false => Language::English,
    }
}

/// The results as if they had this scenario alone.
fn one_scenario(results: &ResultSet, id: &str) -> Result<ResultSet, TableError> {
    let mut one = results.clone();
    one.scenarios.retain(|scenario| scenario.id.as_str() == id);
    one.cells.retain(|cell| cell.scenario.as_str() == id);
    if one.scenarios.is_empty() { Err(unknown_scenario(results, id)) } else { Ok(one) }
}

pub(super) fn unknown_scenario(results: &ResultSet, id: &str) -> TableError {
    let known: Vec<&str> = results.scenarios.iter().map(|of| of.id.as_str()).collect();
    TableError::UnknownScenario {
        results: results.name.clone(),
        scenario: id.to_owned(),
        known: known.join(", "),
        meant: did_you_mean(id, &known),
    }
}

fn did_you_mean(name: &str, known: &[&str]) -> String {
    nearest(name, known.iter().copied())
        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}
