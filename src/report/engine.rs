//! The engine behind layouts and tables: what a template sees, how its text is escaped, which
//! files it may take in.
//!
//! Every template gets the same filters and the same strictness; text is escaped by the format,
//! so that a title can never become markup. Must not know: results, pages, documents.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value,
    escape_formatter,
};
use serde::Serialize;

use super::error::{RenderError, template_error};
use super::filters::{self, FILTERS};
use super::{markdown, rst};
use crate::model::on_a_deep_stack;

/// The built-in files; a user's template may include or extend them by these names.
const BUILT_IN: [(&str, &str); 38] = [
    ("tdsql-c-en.md", include_str!("../../templates/tdsql-c-en.md")),
    ("tdsql-c-en.html", include_str!("../../templates/tdsql-c-en.html")),
    ("tdsql-c-zh.md", include_str!("../../templates/tdsql-c-zh.md")),
    ("tdsql-c-zh.html", include_str!("../../templates/tdsql-c-zh.html")),
    ("comparison.html", include_str!("../../templates/comparison.html")),
    ("comparison.md", include_str!("../../templates/comparison.md")),
    ("figures-latency.html", include_str!("../../templates/figures-latency.html")),
    ("figures-latency.md", include_str!("../../templates/figures-latency.md")),
    ("figures-latency.rst", include_str!("../../templates/figures-latency.rst")),
    ("figures-transposed.html", include_str!("../../templates/figures-transposed.html")),
    ("figures-transposed.md", include_str!("../../templates/figures-transposed.md")),
    ("figures-transposed.rst", include_str!("../../templates/figures-transposed.rst")),
    ("latency.html", include_str!("../../templates/latency.html")),
    ("latency.md", include_str!("../../templates/latency.md")),
    ("layout.html", include_str!("../../templates/layout.html")),
    ("layout.md", include_str!("../../templates/layout.md")),
    ("page.css", include_str!("../../templates/page.css")),
    ("page.html", include_str!("../../templates/page.html")),
    ("report.css", include_str!("../../templates/report.css")),
    ("report.html", include_str!("../../templates/report.html")),
    ("report.js", include_str!("../../templates/report.js")),
    ("report.md", include_str!("../../templates/report.md")),
    ("report-words.txt", include_str!("../../templates/report-words.txt")),
    ("table-latency.html", include_str!("../../templates/table-latency.html")),
    ("table-latency.md", include_str!("../../templates/table-latency.md")),
    ("table-latency.rst", include_str!("../../templates/table-latency.rst")),
    ("table-tdsql-c.html", include_str!("../../templates/table-tdsql-c.html")),
    ("table-tdsql-c.md", include_str!("../../templates/table-tdsql-c.md")),
    ("table-tdsql-c.rst", include_str!("../../templates/table-tdsql-c.rst")),
    ("table-transposed.html", include_str!("../../templates/table-transposed.html")),
    ("table-transposed.md", include_str!("../../templates/table-transposed.md")),
    ("table-transposed.rst", include_str!("../../templates/table-transposed.rst")),
    ("table.html", include_str!("../../templates/table.html")),
    ("table.md", include_str!("../../templates/table.md")),
    ("table.rst", include_str!("../../templates/table.rst")),
    ("transposed.html", include_str!("../../templates/transposed.html")),
    ("transposed.md", include_str!("../../templates/transposed.md")),
    ("words.txt", include_str!("../../templates/words.txt")),
];

/// No template is longer than this; a longer file is something else.
const TEMPLATE_BYTES_MAX: u64 = 1 << 20;

/// Steps that a template may take: five hundred times what a report of 490 trials takes. Loops
/// within loops without an end are over some time.
const FUEL: u64 = 1_000_000_000;

/// What the Markdown of a template is read by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// GitHub's Markdown.
    Github,
    /// MDX, to which braces are code.
    Mdx,
}

/// Whether there is such a built-in file.
pub(super) fn is_built_in(file: &str) -> bool {
    BUILT_IN.iter().any(|(known, _)| *known == file)
}

/// Prints a built-in file.
pub(super) fn print_built_in(
    file: &str,
    context: &(impl Serialize + Sync),
    dialect: Dialect,
) -> Result<String, RenderError> {
    let built_in = |name: &str| format!("built-in template {name}");
    on_a_deep_stack(|| print(file, &environment(None, dialect), context, built_in))
}

/// Prints a user's file.
pub(super) fn print_file(
    path: &Path,
    context: &(impl Serialize + Sync),
    dialect: Dialect,
) -> Result<String, RenderError> {
    let unreadable = |reason: String| RenderError::Unreadable { path: path.to_owned(), reason };
    let source = read(path).map_err(unreadable)?;
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.ok_or_else(|| unreadable("it has no file name".to_owned()))?;
    let file_of = |included: &str| match is_built_in(included) {
        true if included != name && !folder.join(included).exists() => {
            format!("built-in template {included}")
        }
        _ => path.with_file_name(included).display().to_string(),
    };
    on_a_deep_stack(|| {
        let mut environment = environment(Some(folder.clone()), dialect);
        environment
            .add_template_owned(name.clone(), source.clone())
            .map_err(|error| template_error(&error, file_of, &known_names(context)))?;
        print(&name, &environment, context, file_of)
    })
}

fn print(
    name: &str,
    environment: &Environment<'_>,
    context: &impl Serialize,
    file_of: impl Fn(&str) -> String,
) -> Result<String, RenderError> {
    environment
        .get_template(name)
        .and_then(|template| template.render(Value::from(Serde(context))))
        .map(|text| format!("{}\n", text.trim_end()))
        .map_err(|error| template_error(&error, file_of, &known_names(context)))
}

/// The engine as every template finds it.
fn environment(folder: Option<PathBuf>, dialect: Dialect) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(whitespace());
    // Errors then name the undefined field and its place.
    environment.set_debug(true);
    environment.set_fuel(Some(FUEL));
    environment.set_auto_escape_callback(move |name| {
        match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("html") => AutoEscape::Html,
            Some("md") if dialect == Dialect::Mdx => AutoEscape::Custom(MDX.into()),
            Some("md") => AutoEscape::Custom(MARKDOWN.into()),
            Some("rst") => AutoEscape::Custom(RST.into()),
            _ => AutoEscape::None,
        }
    });
    environment.set_formatter(format_value);
    environment.set_loader(move |name| load(folder.as_deref(), name));
    filters::register(&mut environment);
    environment
}

/// A line that holds only a block leaves nothing behind.
fn whitespace() -> SyntaxConfig {
    SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .expect("the default delimiters are distinct")
}

const MARKDOWN: &str = "markdown";
const MDX: &str = "mdx";
const RST: &str = "rst";

fn format_value(output: &mut Output, state: &mut State, value: &Value) -> Result<(), Error> {
    let escape: fn(&str) -> String = match state.auto_escape() {
        AutoEscape::Custom(name) if *name == MARKDOWN => markdown::escape,
        AutoEscape::Custom(name) if *name == MDX => markdown::escape_mdx,
        AutoEscape::Custom(name) if *name == RST => rst::escape,
        _ => return escape_formatter(output, state, value),
    };
    let text = if value.is_none() { String::new() } else { value.to_string() };
    let text = if value.is_safe() { text } else { escape(&text) };
    output.write_str(&text).map_err(Error::from)
}

/// A file that a template includes: of its own folder, else a built-in one.
fn load(folder: Option<&Path>, name: &str) -> Result<Option<String>, Error> {
    let refused = |reason: String| Error::new(ErrorKind::InvalidOperation, reason);
    if let Some(folder) = folder
        && let Some(path) = inside(folder, name).map_err(refused)?
    {
        return read(&path).map(Some).map_err(|reason| refused(format!("`{name}`: {reason}")));
    }
    let built_in = BUILT_IN.iter().find(|(known, _)| *known == name);
    Ok(built_in.map(|(_, source)| (*source).to_owned()))
}

/// The file of that name in the folder, links followed; `None` if there is none.
fn inside(folder: &Path, name: &str) -> Result<Option<PathBuf>, String> {
    let outside =
        || format!("`{name}` is outside the template's folder {}; copy it there", folder.display());
    // Text alone decides first, so that nothing outside is even looked at.
    let plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\\');
    if !name.split('/').all(plain) {
        return Err(outside());
    }
    let Ok(path) = folder.join(name).canonicalize() else { return Ok(None) };
    let folder = folder.canonicalize().map_err(|error| error.to_string())?;
    if path.starts_with(folder) { Ok(Some(path)) } else { Err(outside()) }
}

/// The text of a template's file; an error says what is wrong with the file.
pub(super) fn read(path: &Path) -> Result<String, String> {
    let mut text = Vec::new();
    let mut file =
        File::open(path).map_err(|error| error.to_string())?.take(TEMPLATE_BYTES_MAX + 1);
    file.read_to_end(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > TEMPLATE_BYTES_MAX {
        return Err("it is longer than 1 MiB, too long for a template".to_owned());
    }
    String::from_utf8(text).map_err(|_| "it is not UTF-8 text".to_owned())
}

/// What a template may name, for "did you mean".
fn known_names(context: &impl Serialize) -> Vec<String> {
    let mut names: BTreeSet<String> = FILTERS.iter().map(|(name, _)| (*name).to_owned()).collect();
    if let Ok(value) = serde_json::to_value(context) {
        collect_keys(&value, &mut names);
    }
    names.into_iter().collect()
}

fn collect_keys(value: &serde_json::Value, names: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, field) in fields {
                names.insert(name.clone());
                collect_keys(field, names);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect_keys(item, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_template_goes_on_for_ever() {
        let mut environment = environment(None, Dialect::Github);
        assert_eq!(environment.fuel(), Some(FUEL));
        environment.set_fuel(Some(FUEL / 1_000));
        let loops = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}";
        let error = environment.render_str(loops, ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfFuel);
    }
}
