//! Layouts: the built-in templates and those of users, and the engine that prints them.
//!
//! Every layout sees the same names, the same filters and the same strictness; text is escaped
//! by the format, so that a title can never become markup. Must not know: results.

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

use super::error::{RenderError, nearest, template_error};
use super::filters::{self, FILTERS};
use super::markdown;
use super::model::PageModel;

/// The built-in layouts: name, and what it is for.
pub const LAYOUTS: [(&str, &str); 2] = [
    ("tdsql-c-en", "TDSQL-C's published tables, in English"),
    ("tdsql-c-zh", "TDSQL-C's published tables, in Chinese"),
];

/// The files behind them; a user's template may include or extend them by these names.
const BUILT_IN: [(&str, &str); 6] = [
    ("tdsql-c-en.md", include_str!("../../templates/tdsql-c-en.md")),
    ("tdsql-c-en.html", include_str!("../../templates/tdsql-c-en.html")),
    ("tdsql-c-zh.md", include_str!("../../templates/tdsql-c-zh.md")),
    ("tdsql-c-zh.html", include_str!("../../templates/tdsql-c-zh.html")),
    ("page.html", include_str!("../../templates/page.html")),
    ("page.css", include_str!("../../templates/page.css")),
];

/// No template is longer than this; a longer file is something else.
const TEMPLATE_BYTES_MAX: u64 = 1 << 20;

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
    /// One of [`LAYOUTS`].
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
            Self::BuiltIn { name, .. } => check_name(name),
            Self::File(path) => source_of(path).map(|_| ()),
        }
    }

    /// Prints a page model.
    pub(super) fn print(&self, page: &PageModel) -> Result<String, RenderError> {
        match self {
            Self::BuiltIn { name, format } => {
                check_name(name)?;
                let file = format!("{name}.{}", format.extension());
                print(&file, environment(None), page, |name| format!("built-in template {name}"))
            }
            Self::File(path) => print_file(path, page),
        }
    }
}

fn check_name(name: &str) -> Result<(), RenderError> {
    let names = LAYOUTS.iter().map(|(name, _)| *name);
    if names.clone().any(|known| known == name) {
        return Ok(());
    }
    Err(RenderError::UnknownLayout {
        name: name.to_owned(),
        known: names.clone().collect::<Vec<_>>().join(", "),
        nearest: nearest(name, names),
    })
}

fn source_of(path: &Path) -> Result<String, RenderError> {
    if Format::of_path(path).is_none() {
        return Err(RenderError::UnknownFormat { path: path.to_owned() });
    }
    read(path).map_err(|reason| RenderError::Unreadable { path: path.to_owned(), reason })
}

fn print_file(path: &Path, page: &PageModel) -> Result<String, RenderError> {
    let source = source_of(path)?;
    let unreadable = |reason: String| RenderError::Unreadable { path: path.to_owned(), reason };
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.ok_or_else(|| unreadable("it has no file name".to_owned()))?;
    let file_of = |included: &str| match BUILT_IN.iter().any(|(known, _)| *known == included) {
        true if included != name && !folder.join(included).exists() => {
            format!("built-in template {included}")
        }
        _ => path.with_file_name(included).display().to_string(),
    };
    let mut environment = environment(Some(folder.clone()));
    environment
        .add_template_owned(name.clone(), source)
        .map_err(|error| template_error(&error, file_of, &known_names(page)))?;
    print(&name, environment, page, file_of)
}

fn print(
    name: &str,
    environment: Environment<'_>,
    page: &PageModel,
    file_of: impl Fn(&str) -> String,
) -> Result<String, RenderError> {
    environment
        .get_template(name)
        .and_then(|template| template.render(Value::from(Serde(page))))
        .map(|text| format!("{}\n", text.trim_end()))
        .map_err(|error| template_error(&error, file_of, &known_names(page)))
}

/// The engine as every layout finds it.
fn environment(folder: Option<PathBuf>) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(whitespace());
    // Errors then name the undefined field and its place.
    environment.set_debug(true);
    environment.set_auto_escape_callback(|name| match Format::of_path(Path::new(name)) {
        Some(Format::Html) => AutoEscape::Html,
        Some(Format::Markdown) => AutoEscape::Custom(MARKDOWN.into()),
        None => AutoEscape::None,
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

fn format_value(output: &mut Output, state: &mut State, value: &Value) -> Result<(), Error> {
    if *state.auto_escape() != AutoEscape::Custom(MARKDOWN.into()) {
        return escape_formatter(output, state, value);
    }
    let text = if value.is_none() { String::new() } else { value.to_string() };
    let text = if value.is_safe() { text } else { markdown::escape(&text) };
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

fn read(path: &Path) -> Result<String, String> {
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
fn known_names(page: &PageModel) -> Vec<String> {
    let mut names: BTreeSet<String> = FILTERS.iter().map(|(name, _)| (*name).to_owned()).collect();
    if let Ok(value) = serde_json::to_value(page) {
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
    fn a_name_with_an_end_or_a_folder_is_a_file() {
        let html = Format::Html;
        assert_eq!(Layout::named("mine.md", html), Layout::File("mine.md".into()));
        assert_eq!(Layout::named("a/b", html), Layout::File("a/b".into()));
        let built_in = Layout::BuiltIn { name: "tdsql-c-en".into(), format: html };
        assert_eq!(Layout::named("tdsql-c-en", html), built_in);
    }

    #[test]
    fn an_unknown_name_is_answered_with_all_names_and_the_nearest() {
        let text = check_name("tdsql-c-eng").unwrap_err().to_string();
        assert_eq!(
            text,
            "there is no built-in layout `tdsql-c-eng`; there are tdsql-c-en, tdsql-c-zh; \
             did you mean `tdsql-c-en`?"
        );
        assert!(check_name("tdsql-c-en").is_ok());
    }

    #[test]
    fn every_layout_has_both_files() {
        for (name, _) in LAYOUTS {
            for format in [Format::Markdown, Format::Html] {
                let file = format!("{name}.{}", format.extension());
                assert!(BUILT_IN.iter().any(|(known, _)| *known == file), "{file}");
            }
        }
    }
}
