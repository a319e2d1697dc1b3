//! Why a page could not be rendered, with the place in the template and the remedy.
//!
//! Must not know: which layouts are built in.

use std::error::Error as _;
use std::path::PathBuf;

use minijinja::{Error, ErrorKind};

/// Why a page could not be rendered: always the input's fault.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// No built-in layout has that name.
    #[error("there is no built-in layout `{name}`; there are {known}{}", did_you_mean(.nearest))]
    UnknownLayout {
        /// What was asked for.
        name: String,
        /// All names, ready to print.
        known: String,
        /// The nearest of them, if one is near.
        nearest: Option<String>,
    },
    /// The file's name does not say what it makes.
    #[error(
        "{}: a template's name ends in .md or .html, which decides how text is escaped",
        path.display()
    )]
    UnknownFormat {
        /// The template.
        path: PathBuf,
    },
    /// The template could not be read.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// The template.
        path: PathBuf,
        /// What the system said, or which limit was passed.
        reason: String,
    },
    /// The template is wrong.
    #[error("{place}: {message}{}", did_you_mean(.nearest))]
    Template {
        /// File and line.
        place: String,
        /// What is wrong, with the name of an undefined field.
        message: String,
        /// A known name near the unknown one.
        nearest: Option<String>,
    },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// Turns an engine's error into ours. `file_of` says how to print a template's name, `known`
/// are the names that a template may use.
pub(super) fn template_error(
    error: &Error,
    file_of: impl Fn(&str) -> String,
    known: &[String],
) -> RenderError {
    let cause = innermost(error);
    let place = match (cause.name().or(error.name()), cause.line().or(error.line())) {
        (Some(name), Some(line)) => format!("{}:{line}", file_of(name)),
        (Some(name), None) => file_of(name),
        (None, _) => "template".to_owned(),
    };
    let message = match cause.detail() {
        Some(detail) if speaks_for_itself(cause.kind()) => detail.to_owned(),
        Some(detail) => format!("{}: {detail}", cause.kind()),
        None => cause.kind().to_string(),
    };
    let nearest = quoted_name(cause).and_then(|name| nearest(&name, known.iter().map(|k| &**k)));
    RenderError::Template { place, message, nearest }
}

/// The error that others only pass on: of an included file, a block, a macro.
fn innermost(error: &Error) -> &Error {
    let mut cause = error;
    while let Some(inner) = cause.source().and_then(|source| source.downcast_ref::<Error>()) {
        cause = inner;
    }
    cause
}

fn speaks_for_itself(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::UndefinedError | ErrorKind::InvalidOperation | ErrorKind::TemplateNotFound
    )
}

/// The last part of the unknown name that an error speaks of.
fn quoted_name(error: &Error) -> Option<String> {
    let detail = error.detail()?;
    let expression = match error.kind() {
        ErrorKind::UndefinedError => detail.split('`').find(|part| !detail.starts_with(part))?,
        ErrorKind::UnknownFilter | ErrorKind::UnknownTest => detail.split(' ').nth(1)?,
        _ => return None,
    };
    expression.rsplit('.').next().map(str::to_owned)
}

/// The candidate that is most like `name`, if any is like it at all.
pub(super) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let scored = candidates.map(|candidate| (strsim::jaro_winkler(name, candidate), candidate));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.8).then(|| best.1.to_owned())
}
