//! Documents of users in which markers name tables and charts: where the markers stand, and the
//! document with what stands between them replaced, and nothing else.
//!
//! Pure functions of texts. Must not know: results, files, how a table is printed.

mod code;
mod marker;

use std::ops::Range;
use std::path::Path;

pub use marker::{ChartKind, Language, TableRequest};

use code::CodeLines;
use marker::Marker;

/// What a document is written in; its name says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    /// Markdown: `.md`, `.markdown`.
    Markdown,
    /// Markdown with components: `.mdx`.
    Mdx,
    /// reStructuredText: `.rst`.
    Rst,
    /// HTML: `.html`, `.htm`.
    Html,
}

impl DocumentKind {
    /// What the name of a file says.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "md" | "markdown" => Some(Self::Markdown),
            "mdx" => Some(Self::Mdx),
            "rst" => Some(Self::Rst),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }

    /// The end of the name of a template whose tables fit into it.
    pub fn template_extension(self) -> &'static str {
        match self {
            Self::Markdown | Self::Mdx => "md",
            Self::Rst => "rst",
            Self::Html => "html",
        }
    }

    /// What begins and ends a comment on one line.
    fn comment(self) -> (&'static str, &'static str) {
        match self {
            Self::Markdown | Self::Html => ("<!--", "-->"),
            Self::Mdx => ("{/*", "*/}"),
            Self::Rst => ("..", ""),
        }
    }
}

/// A pair of markers in a document, with the table that the first one names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The line of the first marker, from 1.
    pub line: usize,
    /// What it asks for.
    pub request: TableRequest,
    /// The bytes between the lines of the two markers.
    inner: Range<usize>,
    /// What the first marker's line begins with: blanks and tabs.
    indent: String,
    /// How the first marker's line ends.
    newline: &'static str,
}

/// What is wrong with a marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkerFault {
    /// Its line, from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// The pairs of markers, in order.
///
/// # Errors
/// Every marker that is not one, is not known, or has no partner.
pub fn places(text: &str, kind: DocumentKind) -> Result<Vec<Place>, Vec<MarkerFault>> {
    let mut places: Vec<Place> = Vec::new();
    let mut faults = Vec::new();
    let mut open: Option<Place> = None;
    let mut code = CodeLines::new(kind);
    for line in lines(text) {
        // Between two markers everything is ours, code too.
        if open.is_none() && code.is_code(line.text) {
            continue;
        }
        let (indent, found) = match marker::read(line.text, kind) {
            Ok(Some(found)) => found,
            Ok(None) => continue,
            Err(message) => {
                faults.push(MarkerFault { line: line.number, message });
                continue;
            }
        };
        match (found, open.take()) {
            (Marker::Table(request), before) => {
                faults.extend(before.map(|place| without_end(&place)));
                let newline = if line.whole.ends_with("\r\n") { "\r\n" } else { "\n" };
                let indent = indent.to_owned();
                let inner = line.end..line.end;
                open = Some(Place { line: line.number, request, inner, indent, newline });
            }
            (Marker::End, Some(place)) => {
                places.push(Place { inner: place.inner.start..line.start, ..place });
                code = CodeLines::new(kind);
            }
            (Marker::End, None) => {
                let message =
                    "`gridbench:end` without a `gridbench:table` or `gridbench:chart` before it"
                        .to_owned();
                faults.push(MarkerFault { line: line.number, message });
            }
        }
    }
    faults.extend(open.map(|place| without_end(&place)));
    faults.sort_by_key(|fault| fault.line);
    if faults.is_empty() { Ok(places) } else { Err(faults) }
}

fn without_end(place: &Place) -> MarkerFault {
    let what = if place.request.chart.is_some() { "chart" } else { "table" };
    let message = format!("`gridbench:{what}` without a `gridbench:end` after it");
    MarkerFault { line: place.line, message }
}

/// The document with a table between each pair of markers. Every other byte stays.
///
/// # Errors
/// A table that holds a line which is a marker, and so would change what the document says.
pub fn fill(
    text: &str,
    kind: DocumentKind,
    places: &[Place],
    tables: &[String],
) -> Result<String, MarkerFault> {
    let mut filled = String::with_capacity(text.len());
    let mut kept = 0;
    for (place, table) in places.iter().zip(tables) {
        if table.lines().any(|line| !matches!(marker::read(line, kind), Ok(None))) {
            let message = "the template prints a marker of its own".to_owned();
            return Err(MarkerFault { line: place.line, message });
        }
        filled.push_str(&text[kept..place.inner.start]);
        // In all but HTML an empty line ends what stands before it.
        let gap = if kind == DocumentKind::Html { "" } else { place.newline };
        filled.push_str(gap);
        for line in table.lines() {
            if !line.is_empty() {
                filled.extend([place.indent.as_str(), line]);
            }
            filled.push_str(place.newline);
        }
        filled.push_str(if table.is_empty() { "" } else { gap });
        kept = place.inner.end;
    }
    filled.push_str(&text[kept..]);
    Ok(filled)
}

/// A line of a document.
struct Line<'a> {
    /// From 1.
    number: usize,
    /// Where it begins, in bytes.
    start: usize,
    /// Where the next one begins.
    end: usize,
    /// With its end.
    whole: &'a str,
    /// Without its end, and without a byte order mark.
    text: &'a str,
}

fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut end = 0;
    text.split_inclusive('\n').enumerate().map(move |(index, whole)| {
        let start = end;
        end += whole.len();
        let text = whole.strip_suffix('\n').unwrap_or(whole);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let text = if index == 0 { text.trim_start_matches('\u{feff}') } else { text };
        Line { number: index + 1, start, end, whole, text }
    })
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
