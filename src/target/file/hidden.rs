//! The text of a targets file as it may be shown.
//!
//! Must not know: what is wrong with it.

use crate::written::{Table, Value};

const KEY: &str = "password";

/// The same text, as long, with stars for every password: also where the file is no TOML, so that
/// what is a password can only be guessed by its line.
pub(super) fn without_secrets(text: &str, table: &Table) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut hide = |start: usize, end: usize| {
        for byte in bytes.iter_mut().take(end).skip(start).filter(|byte| **byte != b'\n') {
            *byte = b'*';
        }
    };
    let mut start = 0;
    // From a password to the end of its line; in a text of several lines, to the end of the file.
    let mut is_hidden = false;
    for line in text.split_inclusive('\n') {
        let at = line.to_ascii_lowercase().find(KEY);
        let from = match at {
            _ if is_hidden => Some(0),
            Some(at) => line[at..].find(['=', '"', '\'']).map(|sign| at + sign + 1),
            None => None,
        };
        if let Some(from) = from {
            hide(start + from, start + line.len());
            is_hidden |= line.contains("\"\"\"") || line.contains("'''");
        }
        start += line.len();
    }
    for entry in secrets(table) {
        hide(entry.0, entry.1);
    }
    // Only whole characters were hidden, each byte of them.
    String::from_utf8(bytes).unwrap_or_default()
}

fn secrets(table: &Table) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    for entry in &table.entries {
        match &entry.node.value {
            Value::Table(inner) if entry.key != KEY => places.extend(secrets(inner)),
            _ if entry.key == KEY => places.push((entry.node.place.start, entry.node.place.end)),
            _ => {}
        }
    }
    places
}
