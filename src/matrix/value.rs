//! Values that only a matrix has: from TOML to a name, a ratio, a rate, a ladder.
//!
//! Must not know: under which key a value stands, or what follows from it.

use super::limits::{CONCURRENCY, MAX_LEVELS, RATE};
use crate::model::{Ladder, MilliRate, SpecId, counted, grouped};
use crate::written::{Node, Place, Read, Value, Wrong, integer_u32, string, wrong_type};

/// `set/table`, each an id.
pub(super) fn baseline(node: &Node) -> Read<String> {
    let text = string(node)?;
    let is_name = text
        .split_once('/')
        .is_some_and(|(set, table)| SpecId::new(set).is_ok() && SpecId::new(table).is_ok());
    if is_name {
        return Ok(text.to_owned());
    }
    Wrong::new("baseline", "does not name a baseline", "not of the form set/table")
        .help("for example tdsql-c-2025-12/full-cache; `gridbench baseline list` shows them all")
        .alone()
}

/// A positive number up to 1000, kept in millionths so that what follows is exact.
pub(super) fn ratio_millionths(node: &Node) -> Read<u64> {
    let value = match node.value {
        Value::Integer(value) => value.clamp(-1, 1_001) as f64,
        Value::Float(value) => value,
        _ => return wrong_type(node, "a number"),
    };
    if (0.001..=1_000.0).contains(&value) {
        return Ok((value * 1e6).round() as u64);
    }
    Wrong::new("range", "must be between 0.001 and 1000", "out of range").alone()
}

/// Events per second, kept in thousandths. NaN and the infinities are in no range.
pub(super) fn rate(node: &Node) -> Read<MilliRate> {
    let value = match node.value {
        Value::Integer(value) => value as f64,
        Value::Float(value) => value,
        _ => return wrong_type(node, "a number of events per second"),
    };
    if RATE.contains(&value) {
        return Ok(MilliRate((value * 1e3).round() as u64));
    }
    let (low, high) = (RATE.start(), grouped(*RATE.end() as u64));
    let message = format!("must be between {low} and {high} events per second");
    Wrong::new("range", message, "out of range")
        .help("leave `rate` out for the closed loop: as many events as the server takes")
        .alone()
}

/// `"published"`, or levels in ascending order.
pub(super) fn ladder(node: &Node) -> Read<Ladder> {
    let items = match &node.value {
        Value::String(text) if text == "published" => return Ok(Ladder::Published),
        Value::Array(items) => items,
        Value::String(text) => {
            return Wrong::new("ladder", format!("cannot be \"{text}\""), "not a ladder")
                .help("write a list such as [32, 64, 128], or \"published\"")
                .alone();
        }
        _ => return wrong_type(node, "a list of integers, or \"published\""),
    };
    if items.is_empty() {
        return Wrong::new("ladder", "has no level", "an empty list")
            .help("for example [32, 64, 128]")
            .alone();
    }
    if items.len() > MAX_LEVELS {
        let label = counted(items.len(), "level");
        let message = format!("has more than {MAX_LEVELS} levels");
        return Wrong::new("ladder", message, label).alone();
    }
    let read = integer_u32(CONCURRENCY);
    let mut wrongs = Vec::new();
    let mut levels: Vec<u32> = Vec::new();
    for item in items {
        match read(item) {
            Ok(level) => {
                wrongs.extend(out_of_order(levels.last().copied(), level, item.place));
                levels.push(level);
            }
            Err(found) => wrongs
                .extend(found.into_iter().map(|wrong| Wrong { place: Some(item.place), ..wrong })),
        }
    }
    if wrongs.is_empty() { Ok(Ladder::Levels(levels)) } else { Err(wrongs) }
}

fn out_of_order(previous: Option<u32>, level: u32, place: Place) -> Option<Wrong> {
    let previous = previous.filter(|previous| *previous >= level)?;
    let (message, label) = if previous == level {
        ("names a level twice", format!("{level} again"))
    } else {
        ("is not in ascending order", format!("{level} after {previous}"))
    };
    let wrong = Wrong::new("ladder", message, label)
        .help("the ladder is climbed in this order: list each level once, ascending");
    Some(Wrong { place: Some(place), ..wrong })
}
