//! A marker, as it is written: a comment on a line of its own, and the words in it.
//!
//! Must not know: other lines, results.

use super::DocumentKind;
use crate::store::nearest;

/// The language of a table's columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// English.
    English,
    /// Chinese.
    Chinese,
}

impl Language {
    /// `en` or `zh`.
    pub fn name(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }
}

/// Which chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartKind {
    /// A bar for each spec, beside the baseline's.
    Specs,
    /// Rates over concurrencies, a line for each spec.
    Curve,
    /// Response times of each spec.
    Latency,
}

impl ChartKind {
    const ALL: [Self; 3] = [Self::Specs, Self::Curve, Self::Latency];

    /// `specs`, `curve` or `latency`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Specs => "specs",
            Self::Curve => "curve",
            Self::Latency => "latency",
        }
    }
}

/// What a marker asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRequest {
    /// A run or a baseline, by name.
    pub results: String,
    /// Set where a chart is asked for instead of a table.
    pub chart: Option<ChartKind>,
    /// The id of one scenario; without it, the tables of all.
    pub scenario: Option<String>,
    /// A built-in table or a template file; without it, the published table.
    pub template: Option<String>,
    /// Without it, that of the results' own layout.
    pub language: Option<Language>,
    /// Whether a line below the table says where its numbers come from.
    pub caption: bool,
}

/// A marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Marker {
    Table(TableRequest),
    End,
}

const PREFIX: &str = "gridbench:";
const TABLE: &str = "gridbench:table";
const CHART: &str = "gridbench:chart";
const END: &str = "gridbench:end";
const KINDS: [&str; 3] = [TABLE, CHART, END];
const TABLE_KEYS: [&str; 4] = ["scenario", "template", "lang", "caption"];
const CHART_KEYS: [&str; 2] = ["scenario", "kind"];

/// The marker on a line with what the line begins with; `None` where there is none. An error
/// says what is wrong with a line that wants to be one.
pub(super) fn read(line: &str, kind: DocumentKind) -> Result<Option<(&str, Marker)>, String> {
    const BLANKS: [char; 2] = [' ', '\t'];
    let text = line.trim_start_matches(BLANKS);
    let indent = &line[..line.len() - text.len()];
    let (open, close) = kind.comment();
    let alone = || format!("a marker stands alone on its line: `{open} {PREFIX}... {close}`");
    if kind == DocumentKind::Mdx && after(text, "<!--").is_some() {
        return Err("in MDX a marker is `{/* gridbench:... */}`".to_owned());
    }
    let Some(words) = after(text, open) else {
        let is_inside = kind == DocumentKind::Html
            && line.match_indices(open).any(|(at, _)| after(&line[at..], open).is_some());
        return if is_inside { Err(alone()) } else { Ok(None) };
    };
    let words = words.trim_end_matches(BLANKS).strip_suffix(close).ok_or_else(alone)?;
    if !close.is_empty() && words.contains(close) {
        return Err(alone());
    }
    Ok(Some((indent, marker(&split(words)?)?)))
}

/// What follows the begin of a comment, if that is for us.
fn after<'a>(text: &'a str, open: &str) -> Option<&'a str> {
    let words = text.strip_prefix(open)?.trim_start_matches([' ', '\t']);
    words.starts_with(PREFIX).then_some(words)
}

fn marker(words: &[String]) -> Result<Marker, String> {
    match words.split_first() {
        Some((kind, [])) if kind == END => Ok(Marker::End),
        Some((kind, [more, ..])) if kind == END => {
            Err(format!("`{kind}` stands alone, without `{more}`"))
        }
        Some((kind, words)) if kind == TABLE => request(words, &TABLE_KEYS).map(Marker::Table),
        Some((kind, words)) if kind == CHART => match request(words, &CHART_KEYS)? {
            TableRequest { chart: None, .. } => Err(no_chart("nothing")),
            request => Ok(Marker::Table(request)),
        },
        first => {
            let kind = first.map(|(kind, _)| kind.as_str()).unwrap_or_default();
            let meant = did_you_mean(kind, &KINDS);
            Err(format!("there is no marker `{kind}`; there are {}{meant}", KINDS.join(", ")))
        }
    }
}

/// What the words after a marker's name ask for, with these keys.
fn request(words: &[String], keys: &[&str]) -> Result<TableRequest, String> {
    let mut request = TableRequest {
        results: String::new(),
        chart: None,
        scenario: None,
        template: None,
        language: None,
        caption: false,
    };
    let mut seen: Vec<&str> = Vec::new();
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            if !request.results.is_empty() {
                let first = &request.results;
                return Err(format!("one table has one name: `{first}` or `{word}`"));
            }
            request.results.clone_from(word);
            continue;
        };
        if seen.contains(&key) {
            return Err(format!("`{key}` stands there twice"));
        }
        seen.push(key);
        match key {
            _ if !keys.contains(&key) => {
                let meant = did_you_mean(key, keys);
                let known = keys.join(", ");
                return Err(format!("there is no key `{key}`; there are {known}{meant}"));
            }
            _ if value.is_empty() => {
                return Err(format!("`{key}` has no value"));
            }
            "scenario" => request.scenario = Some(value.to_owned()),
            "template" => request.template = Some(value.to_owned()),
            "lang" => request.language = Some(language(value)?),
            "caption" => request.caption = yes(value)?,
            _ => {
                let kind = ChartKind::ALL.into_iter().find(|kind| kind.name() == value);
                request.chart = Some(kind.ok_or_else(|| no_chart(value))?);
            }
        }
    }
    if request.results.is_empty() {
        return Err("say whose: `gridbench:table RUN|BASELINE`".to_owned());
    }
    Ok(request)
}

fn no_chart(value: &str) -> String {
    let known = ChartKind::ALL.map(ChartKind::name);
    let meant = did_you_mean(value, &known);
    format!("`kind` of a chart is one of {}, not `{value}`{meant}", known.join(", "))
}

fn language(value: &str) -> Result<Language, String> {
    let all = [Language::English, Language::Chinese];
    let found = all.into_iter().find(|language| language.name() == value);
    found.ok_or_else(|| format!("`lang` is en or zh, not `{value}`"))
}

fn yes(value: &str) -> Result<bool, String> {
    match value {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(format!("`caption` is yes or no, not `{value}`")),
    }
}

fn did_you_mean(name: &str, known: &[&str]) -> String {
    nearest(name, known.iter().copied())
        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// Words between blanks; a quoted part may hold blanks.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    for sign in text.chars() {
        match sign {
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            ' ' | '\t' if !is_quoted => words.extend(word.take()),
            sign => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    if is_quoted { Err("a quotation mark is not closed".to_owned()) } else { Ok(words) }
}
