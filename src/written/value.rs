//! One value at a time: from TOML to a number, a size, a duration, a name, or to what is wrong.
//!
//! Must not know: under which key a value stands, or what follows from it.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::diagnostic::Place;
use super::document::{Node, Value};
use crate::model::{Bytes, SpecId, counted, grouped};

/// Characters of a free text: a title, a reason.
const MAX_TEXT_CHARS: usize = 200;

/// What a reader makes of a value: the value, or everything that is wrong with it.
pub(crate) type Read<T> = Result<T, Vec<Wrong>>;

/// A fault of a value, said without its key.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) code: &'static str,
    /// Goes on after the key: "is not a duration".
    pub(crate) message: String,
    pub(crate) label: String,
    pub(crate) help: Option<String>,
    /// The value's own place where this is absent.
    pub(crate) place: Option<Place>,
}

impl Wrong {
    pub(crate) fn new(
        code: &'static str,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Self {
        Self { code, message: message.into(), label: label.into(), help: None, place: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same of an element of the value.
    pub(crate) fn within(self, place: Place) -> Self {
        Self { place: Some(place), ..self }
    }

    pub(crate) fn alone<T>(self) -> Read<T> {
        Err(vec![self])
    }
}

pub(crate) fn wrong_type<T>(node: &Node, expected: &str) -> Read<T> {
    let label = format!("this is {}", node.value.type_name());
    Wrong::new("type", format!("must be {expected}"), label).alone()
}

pub(crate) fn boolean(node: &Node) -> Read<bool> {
    match node.value {
        Value::Boolean(value) => Ok(value),
        _ => wrong_type(node, "true or false"),
    }
}

/// Any text.
pub(crate) fn string(node: &Node) -> Read<&str> {
    match &node.value {
        Value::String(text) => Ok(text),
        _ => wrong_type(node, "a string"),
    }
}

/// One line of text that says something.
pub(crate) fn text(node: &Node) -> Read<String> {
    let text = string(node)?;
    if text.trim().is_empty() {
        return Wrong::new("text", "is empty", "nothing here").alone();
    }
    if text.chars().any(char::is_control) {
        return Wrong::new("text", "must be one line of text", "control character").alone();
    }
    if text.chars().count() > MAX_TEXT_CHARS {
        let message = format!("is longer than {MAX_TEXT_CHARS} characters");
        return Wrong::new("text", message, "too long").alone();
    }
    Ok(text.to_owned())
}

/// A text that obeys the rule of ids.
pub(crate) fn id(node: &Node) -> Read<String> {
    let text = string(node)?;
    match SpecId::new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Wrong::new("id", "is not an id", "not an id")
            .help("1 to 64 of a-z, 0-9, '-', '_' and '.', starting with a letter or digit")
            .alone(),
    }
}

/// The name of a character set as it stands in CREATE TABLE.
pub(crate) fn charset(node: &Node) -> Read<String> {
    let text = string(node)?;
    let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    if (1..=32).contains(&text.len()) && text.bytes().all(known) {
        return Ok(text.to_owned());
    }
    Wrong::new("charset", "is not a character set", "1 to 32 of a-z, 0-9 and '_'")
        .help("for example utf8mb4 or latin1")
        .alone()
}

/// An integer of a range.
pub(crate) fn integer(range: RangeInclusive<u64>) -> impl Fn(&Node) -> Read<u64> {
    move |node| {
        let Value::Integer(value) = node.value else { return wrong_type(node, "an integer") };
        match u64::try_from(value) {
            Ok(value) if range.contains(&value) => Ok(value),
            _ => {
                let (low, high) = (grouped(*range.start()), grouped(*range.end()));
                let message = format!("must be between {low} and {high}");
                Wrong::new("range", message, "out of range").alone()
            }
        }
    }
}

/// An integer of either sign.
pub(crate) fn signed(node: &Node) -> Read<i64> {
    let Value::Integer(value) = node.value else { return wrong_type(node, "an integer") };
    i64::try_from(value)
        .map_err(|_| vec![Wrong::new("range", "does not fit in 64 bits", "out of range")])
}

/// The same for what is kept in 32 bits.
pub(crate) fn integer_u32(range: RangeInclusive<u64>) -> impl Fn(&Node) -> Read<u32> {
    let read = integer(range);
    move |node| {
        read(node).map(|value| u32::try_from(value).expect("the range of a u32 key fits in a u32"))
    }
}

/// One of these values, by its name.
pub(crate) fn named<T: Copy>(
    all: &'static [T],
    name: impl Fn(T) -> &'static str,
) -> impl Fn(&Node) -> Read<T> {
    move |node| {
        let names: Vec<&str> = all.iter().map(|value| name(*value)).collect();
        place_in(&names, node).map(|place| all[place])
    }
}

/// The place of a text in a list of names.
pub(crate) fn place_in(names: &[&str], node: &Node) -> Read<usize> {
    let text = string(node)?;
    names.iter().position(|name| *name == text).ok_or_else(|| {
        let message = format!("cannot be `{text}`");
        let wrong = Wrong::new("name", message, "not one of the known names");
        vec![wrong.help(suggestion(text, names))]
    })
}

const SIZE_HELP: &str =
    "write 4GB or 512MB (decimal, as vendors count), or 4GiB or 512MiB (binary)";

/// A size with its unit.
pub(crate) fn size(range: RangeInclusive<u64>) -> impl Fn(&Node) -> Read<Bytes> {
    move |node| {
        let text = match &node.value {
            Value::String(text) => text,
            Value::Integer(_) | Value::Float(_) => {
                return Wrong::new("size", "is a size without a unit", "of what unit?")
                    .help(SIZE_HELP)
                    .alone();
            }
            _ => return wrong_type(node, "a size such as \"4GB\""),
        };
        let Some(bytes) = parse_size(text) else {
            return Wrong::new("size", "is not a size", "number and unit expected")
                .help(SIZE_HELP)
                .alone();
        };
        if range.contains(&bytes) {
            return Ok(Bytes(bytes));
        }
        let (low, high) = (size_text(*range.start()), size_text(*range.end()));
        let message = format!("must be between {low} and {high}");
        Wrong::new("range", message, "out of range").help(SIZE_HELP).alone()
    }
}

fn parse_size(text: &str) -> Option<u64> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(at);
    let unit: u128 = match unit.trim() {
        "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if fraction.is_empty() || fraction.len() > 6 {
        return None;
    }
    let scale = 10u128.pow(u32::try_from(fraction.len()).ok()?);
    let fraction = fraction.parse::<u128>().ok()? * unit;
    let bytes = u128::from(whole.parse::<u64>().ok()?) * unit + fraction / scale;
    if fraction.is_multiple_of(scale) { u64::try_from(bytes).ok() } else { None }
}

const DURATION_HELP: &str = "write 600s, 10m, 1h or 500ms";

/// A duration with its unit.
pub(crate) fn duration(range: RangeInclusive<Duration>) -> impl Fn(&Node) -> Read<Duration> {
    move |node| {
        let text = match &node.value {
            Value::String(text) => text,
            Value::Integer(_) | Value::Float(_) => {
                return Wrong::new("duration", "is a duration without a unit", "of what?")
                    .help(DURATION_HELP)
                    .alone();
            }
            _ => return wrong_type(node, "a duration such as \"600s\""),
        };
        let Some(duration) = parse_duration(text) else {
            return Wrong::new("duration", "is not a duration", "integer and unit expected")
                .help(DURATION_HELP)
                .alone();
        };
        if range.contains(&duration) {
            return Ok(duration);
        }
        let (low, high) = (duration_text(*range.start()), duration_text(*range.end()));
        let message = format!("must be between {low} and {high}");
        Wrong::new("range", message, "out of range").alone()
    }
}

fn parse_duration(text: &str) -> Option<Duration> {
    let at = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(at);
    let unit_ms = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit_ms).map(Duration::from_millis)
}

/// "did you mean `x`?", or all names where none is near.
pub(crate) fn suggestion(text: &str, known: &[&str]) -> String {
    match nearest(text, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => "nothing is known here".to_owned(),
        None => format!("known: {}", known.join(", ")),
    }
}

/// The known name that a slip of the finger would turn into this text, or that it begins.
pub(crate) fn nearest<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if text.len() > 64 {
        return None;
    }
    let text = text.to_lowercase();
    let allowed = (text.chars().count() / 3).clamp(1, 4);
    let distance = |name: &str| match text.len() >= 3 && name.starts_with(&text) {
        true => 1,
        false => strsim::osa_distance(&text, name),
    };
    known
        .map(|name| (distance(name), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `4 GB`, `512 MB`, `1.53 GB`: at most two decimals, rounded down.
pub(crate) fn size_text(bytes: u64) -> String {
    let units = [("TB", 1_000_000_000_000), ("GB", Bytes::GB), ("MB", Bytes::MB), ("kB", 1_000)];
    let Some((name, unit)) = units.into_iter().find(|(_, unit)| bytes >= *unit) else {
        return format!("{bytes} B");
    };
    let hundredths = u128::from(bytes) * 100 / u128::from(unit);
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    format!("{} {name}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// `600s`, `500ms`, `30 days`.
pub(crate) fn duration_text(duration: Duration) -> String {
    match (duration.as_secs(), duration.subsec_millis()) {
        (seconds, 0) if seconds >= 2 * 86_400 && seconds % 86_400 == 0 => {
            counted(seconds / 86_400, "day")
        }
        (seconds, 0) => format!("{seconds}s"),
        _ => format!("{}ms", duration.as_millis()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_decimal_or_binary_and_need_a_unit() {
        let cases = [
            ("4GB", Some(4_000_000_000)),
            ("1.5 GB", Some(1_500_000_000)),
            ("512MiB", Some(536_870_912)),
            ("1TB", Some(1_000_000_000_000)),
            ("0B", Some(0)),
            ("4", None),
            ("GB", None),
            ("4G", None),
            ("4.GB", None),
            ("-4GB", None),
            ("1.2.3GB", None),
            ("0.3B", None),
            ("99999999999999999999GB", None),
            ("18446744073709551615TB", None),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse_size(text), bytes, "{text}");
        }
    }

    #[test]
    fn durations_need_a_unit() {
        let cases = [
            ("600s", Some(600_000)),
            ("10m", Some(600_000)),
            ("1h", Some(3_600_000)),
            ("500ms", Some(500)),
            ("600", None),
            ("1h30m", None),
            ("-1s", None),
            ("18446744073709551615d", None),
        ];
        for (text, ms) in cases {
            assert_eq!(parse_duration(text), ms.map(Duration::from_millis), "{text}");
        }
    }

    #[test]
    fn a_slip_of_the_finger_finds_its_name_and_a_stranger_does_not() {
        let known = ["duration", "warmup", "repeats"];
        assert_eq!(nearest("durations", known.into_iter()), Some("duration"));
        assert_eq!(nearest("Warmup", known.into_iter()), Some("warmup"));
        assert_eq!(nearest("engine", known.into_iter()), None);
    }

    #[test]
    fn sizes_print_short() {
        assert_eq!(size_text(25_190_000_000), "25.19 GB");
        assert_eq!(size_text(4_000_000_000), "4 GB");
        assert_eq!(size_text(512_000_000), "512 MB");
        assert_eq!(size_text(17), "17 B");
    }
}
