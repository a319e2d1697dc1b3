//! Texts that stand in the targets file, or that it says where to find.
//!
//! Must not know: whose they are.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::written::{Node, Read as ReadValue, Value, Wrong, string, suggestion, wrong_type};

/// A user name, a password, a host: what is longer is another file.
const MAX_BYTES: u64 = 65_536;

/// Where a text comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TextSource {
    /// Written in the file.
    Literal(String),
    /// `{ env = "NAME" }`
    Env(String),
    /// `{ file = "PATH" }`
    File(String),
    /// `{ command = ["PROGRAM", "ARGUMENT"] }`
    Command(Vec<String>),
}

/// Reads a text, or where it comes from.
pub(super) fn text_source(node: &Node) -> ReadValue<TextSource> {
    const KEYS: &[&str] = &["env", "file", "command"];
    let table = match &node.value {
        Value::String(text) => return Ok(TextSource::Literal(text.clone())),
        Value::Table(table) => table,
        _ => {
            let expected = "a string, { env = \"NAME\" }, { file = \"PATH\" } or { command = \
                            [\"PROGRAM\"] }";
            return wrong_type(node, expected);
        }
    };
    if let Some(entry) = table.entries.iter().find(|entry| !KEYS.contains(&entry.key.as_str())) {
        let message = format!("knows no `{}`", entry.key);
        let wrong = Wrong::new("unknown-key", message, "not a source of texts");
        return wrong.help(suggestion(&entry.key, KEYS)).within(entry.key_place).alone();
    }
    let [entry] = &table.entries[..] else {
        let message = "has exactly one of `env`, `file`, `command`";
        return Wrong::new("source", message, "not one").alone();
    };
    match entry.key.as_str() {
        "env" => env_name(&entry.node).map(TextSource::Env),
        "file" => string(&entry.node).map(|path| TextSource::File(path.to_owned())),
        _ => words(&entry.node).map(TextSource::Command),
    }
    .map_err(|wrongs| {
        let at = |wrong: Wrong| Wrong {
            message: format!("`{}` {}", entry.key, wrong.message),
            place: wrong.place.or(Some(entry.node.place)),
            ..wrong
        };
        wrongs.into_iter().map(at).collect()
    })
}

/// The system's calls would panic on another name.
fn env_name(node: &Node) -> ReadValue<String> {
    let name = string(node)?;
    if name.is_empty() || name.contains(['=', '\0']) {
        return Wrong::new("source", "is no name of an environment variable", "this").alone();
    }
    Ok(name.to_owned())
}

fn words(node: &Node) -> ReadValue<Vec<String>> {
    let Value::Array(items) = &node.value else {
        return wrong_type(node, "a list of a program and its arguments");
    };
    if items.is_empty() {
        return Wrong::new("source", "is empty", "name a program").alone();
    }
    items.iter().map(|item| string(item).map(str::to_owned)).collect()
}

/// Fetches each source once: a command may ask its user something.
pub(super) struct Texts<'a> {
    /// From which relative paths of files start.
    directory: &'a Path,
    known: BTreeMap<TextSource, Result<String, String>>,
}

impl<'a> Texts<'a> {
    pub(super) fn new(directory: &'a Path) -> Self {
        Self { directory, known: BTreeMap::new() }
    }

    /// The text, without the line end that files and commands put behind it. An empty literal is
    /// an empty text: nothing else takes its place.
    pub(super) fn fetch(&mut self, source: &TextSource) -> Result<String, String> {
        if let Some(known) = self.known.get(source) {
            return known.clone();
        }
        let text = match source {
            TextSource::Literal(text) => Ok(text.clone()),
            TextSource::Env(name) => from_environment(name),
            TextSource::File(path) => from_file(&self.directory.join(path)),
            TextSource::Command(words) => from_command(words),
        };
        let text = text.and_then(|text| match text.contains('\0') {
            true => Err("there is a NUL in it".to_owned()),
            false => Ok(text),
        });
        self.known.insert(source.clone(), text.clone());
        text
    }

    /// Of these, the files that others than their owner can read.
    pub(super) fn open_files<'s>(
        &self,
        sources: impl Iterator<Item = &'s TextSource>,
    ) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = sources
            .filter_map(|source| match source {
                TextSource::File(path) => Some(self.directory.join(path)),
                _ => None,
            })
            .filter(|path| is_open(path))
            .collect();
        files.sort();
        files.dedup();
        files
    }
}

/// Whether others than its owner can read a file.
pub(super) fn is_open(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o044 != 0)
}

fn from_environment(name: &str) -> Result<String, String> {
    match std::env::var(name) {
        Ok(text) => Ok(text),
        Err(std::env::VarError::NotPresent) => {
            Err(format!("the environment variable {name} is not set"))
        }
        Err(std::env::VarError::NotUnicode(_)) => {
            Err(format!("the environment variable {name} is not UTF-8"))
        }
    }
}

fn from_file(path: &Path) -> Result<String, String> {
    let opened = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    short_text(opened).map(without_line_end).map_err(|why| format!("{}: {why}", path.display()))
}

/// Standard input and error are the user's, so that the command can ask.
fn from_command(words: &[String]) -> Result<String, String> {
    let (program, arguments) = words.split_first().ok_or("`command` is empty")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::inherit()).stdout(Stdio::piped());
    let started = command.spawn();
    let mut child = started.map_err(|error| format!("cannot run `{program}`: {error}"))?;
    let text = child.stdout.take().map(short_text);
    let ended = child.wait().map_err(|error| format!("`{program}`: {error}"))?;
    if !ended.success() {
        return Err(format!("`{program}` ended with {ended}"));
    }
    let text = text.unwrap_or_else(|| Ok(String::new()));
    text.map(without_line_end).map_err(|why| format!("`{program}`: {why}"))
}

fn short_text(from: impl Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    from.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("more than {MAX_BYTES} bytes, which is no such text"));
    }
    String::from_utf8(bytes).map_err(|_| "what is not UTF-8".to_owned())
}

fn without_line_end(mut text: String) -> String {
    let end = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text));
    let length = end.unwrap_or(&text).len();
    text.truncate(length);
    text
}
