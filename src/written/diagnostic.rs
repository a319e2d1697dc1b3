//! Faults of a written file, all at once, each with its place, a code and a way out.
//!
//! Must not know: what the file means.

use crate::model::counted;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource};

/// Every fault of one file and of the overrides that were given with it.
#[derive(Debug)]
pub struct Diagnostics {
    kind: &'static str,
    sources: Vec<SourceText>,
    faults: Vec<Fault>,
}

/// Faults beyond this number are counted, not shown.
const MAX_SHOWN: usize = 50;
/// A longer line is named by its number instead of being shown.
const MAX_LINE_BYTES: usize = 160;
const WIDTH_COLUMNS: usize = 96;

/// A text that faults point into, made safe for a terminal without moving any byte.
#[derive(Debug, Clone)]
pub(crate) struct SourceText {
    name: String,
    text: Arc<str>,
}

/// A span of bytes in one of the sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) source: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// One fault.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    code: &'static str,
    message: String,
    labels: Vec<(Place, String)>,
    help: Option<String>,
}

/// Where faults are gathered while a file is read.
#[derive(Debug, Default)]
pub(crate) struct Faults(RefCell<Vec<Fault>>);

impl Diagnostics {
    /// `kind`: what the file is, in one word, for the codes of its faults.
    pub(crate) fn new(
        kind: &'static str,
        sources: Vec<SourceText>,
        mut faults: Vec<Fault>,
    ) -> Self {
        assert!(!faults.is_empty(), "diagnostics hold at least one fault");
        faults.sort_by_key(|fault| fault.labels.first().map(|(place, _)| *place));
        Self { kind, sources, faults }
    }

    /// How many faults were found.
    pub fn count(&self) -> usize {
        self.faults.len()
    }

    /// Every fault with the lines it points at, and a closing line with their number.
    pub fn render(&self, color: bool) -> String {
        let theme =
            if color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_width(WIDTH_COLUMNS)
            .with_links(false)
            .with_break_words(false)
            .without_syntax_highlighting();
        let mut text = String::new();
        for fault in self.faults.iter().take(MAX_SHOWN) {
            if handler.render_report(&mut text, &self.view(fault)).is_err() {
                text.push_str(&fault.message);
            }
            text.push('\n');
        }
        text.push_str(&self.closing());
        text
    }

    fn closing(&self) -> String {
        let name = self.sources.first().map_or(self.kind, |source| source.name.as_str());
        let faults = counted(self.count(), "fault");
        match self.count().checked_sub(MAX_SHOWN) {
            Some(more) if more > 0 => format!("{faults} in {name}, {more} of them not shown"),
            _ => format!("{faults} in {name}"),
        }
    }

    /// A fault as miette sees it: labels in one source, or none where lines are too long.
    fn view(&self, fault: &Fault) -> View {
        let mut view = View {
            code: format!("{}::{}", self.kind, fault.code),
            message: printable(&fault.message),
            labels: Vec::new(),
            help: fault.help.as_deref().map(printable),
            source: None,
        };
        let Some(&(first, _)) = fault.labels.first() else { return view };
        let source = &self.sources[first.source];
        let is_long = |place: &Place| !self.is_presentable(self.shown(*place));
        if fault.labels.iter().any(|(place, _)| is_long(place)) {
            let (line, column) = line_and_column(&source.text, first.start);
            view.message = format!("{} ({}:{line}:{column})", view.message, source.name);
            return view;
        }
        view.source = Some(NamedSource::new(&source.name, Arc::clone(&source.text)));
        for (place, label) in &fault.labels {
            if place.source == first.source {
                let place = self.shown(*place);
                let span = (place.start, place.end - place.start);
                view.labels.push(LabeledSpan::new_with_span(Some(printable(label)), span));
            } else {
                let other = &self.sources[place.source];
                let (line, column) = line_and_column(&other.text, place.start);
                let note = format!("{}:{line}:{column}: {label}", other.name);
                view.help = Some(view.help.map_or(note.clone(), |help| format!("{help}\n{note}")));
            }
        }
        view
    }

    /// Of a place that is longer than a screen is high, such as a statement of many lines, the
    /// first line that says something.
    fn shown(&self, place: Place) -> Place {
        let text = &self.sources[place.source].text[place.start..place.end];
        if text.len() <= MAX_LINE_BYTES {
            return place;
        }
        let mut start = place.start;
        for line in text.split_inclusive('\n') {
            if line.contains(|c: char| c.is_alphanumeric()) {
                let indent = line.len() - line.trim_start().len();
                return Place {
                    start: start + indent,
                    end: start + line.trim_end().len(),
                    ..place
                };
            }
            start += line.len();
        }
        place
    }

    /// Whether the lines at a place, with the ones beside them, are short enough to show.
    fn is_presentable(&self, place: Place) -> bool {
        let text = self.sources[place.source].text.as_bytes();
        let start = place.start.saturating_sub(3 * MAX_LINE_BYTES);
        let end = (place.end + 3 * MAX_LINE_BYTES).min(text.len());
        place.end - place.start <= MAX_LINE_BYTES
            && text[start..end].split(|byte| *byte == b'\n').all(|line| line.len() < MAX_LINE_BYTES)
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

impl SourceText {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        Self { name: printable(name), text: inert(text).into() }
    }
}

impl Place {
    pub(crate) fn new(source: usize, span: std::ops::Range<usize>) -> Self {
        Self { source, start: span.start, end: span.end.max(span.start) }
    }
}

impl Fault {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), labels: Vec::new(), help: None }
    }

    /// Points at a place; the first label decides where the fault stands.
    pub(crate) fn at(mut self, place: Place, label: impl Into<String>) -> Self {
        self.labels.push((place, label.into()));
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl Faults {
    pub(crate) fn push(&self, fault: Fault) {
        self.0.borrow_mut().push(fault);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    pub(crate) fn into_vec(self) -> Vec<Fault> {
        self.0.into_inner()
    }
}

#[derive(Debug)]
struct View {
    code: String,
    message: String,
    labels: Vec<LabeledSpan>,
    help: Option<String>,
    source: Option<NamedSource<Arc<str>>>,
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for View {}

impl Diagnostic for View {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.code))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.source.as_ref().map(|source| source as &dyn miette::SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

/// From 1; a column is counted in characters.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
    (line, column)
}

/// Escapes control characters, so that a file cannot drive the terminal, and cuts long texts.
fn printable(text: &str) -> String {
    const MAX_CHARS: usize = 400;
    let mut safe = String::new();
    for (index, character) in text.chars().enumerate() {
        match character {
            _ if index == MAX_CHARS => {
                safe.push('…');
                break;
            }
            '\n' => safe.push('\n'),
            control if control.is_control() => safe.extend(control.escape_debug()),
            other => safe.push(other),
        }
    }
    safe
}

/// Replaces control characters by as many bytes of question marks: offsets stay true.
fn inert(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => safe.push('\n'),
            '\t' | '\r' => safe.push(' '),
            control if control.is_control() => safe.push_str(&"??"[..control.len_utf8()]),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str, span: std::ops::Range<usize>) -> Diagnostics {
        let fault = Fault::new("x", "wrong").at(Place::new(0, span), "here");
        Diagnostics::new("test", vec![SourceText::new("m.toml", text)], vec![fault])
    }

    #[test]
    fn a_file_cannot_drive_the_terminal() {
        let rendered = one("a = \"\u{1b}[31m\u{9b}2J\"\r\n", 0..1).render(false);
        assert!(!rendered.contains(['\u{1b}', '\u{9b}', '\r']), "{rendered:?}");
        assert!(rendered.contains("m.toml:1:1"), "{rendered}");
    }

    #[test]
    fn a_very_long_line_is_named_and_not_shown() {
        let text = format!("a = 1\nb = \"{}\"\n", "x".repeat(500_000));
        let rendered = one(&text, 6..7).render(false);
        assert!(rendered.len() < 1_000, "{} bytes", rendered.len());
        assert!(rendered.contains("m.toml:2:1"), "{rendered}");
    }

    #[test]
    fn many_faults_are_counted_and_the_first_are_shown() {
        let fault = || Fault::new("x", "wrong").at(Place::new(0, 0..1), "here");
        let faults = (0..60).map(|_| fault()).collect();
        let rendered =
            Diagnostics::new("test", vec![SourceText::new("m.toml", "a\n")], faults).to_string();
        assert_eq!(rendered.matches("x").count(), 50);
        assert!(rendered.ends_with("60 faults in m.toml, 10 of them not shown"), "{rendered}");
    }
}
