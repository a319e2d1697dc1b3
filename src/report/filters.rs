//! The filters that templates use to print the page model's numbers.
//!
//! A number that is `none` prints as `-`; an undefined one is an error, like everywhere in a
//! template. Must not know: pages, files.

use std::time::Duration;

use minijinja::{AutoEscape, Environment, Error, ErrorKind, State, Value};

use super::markdown;
use crate::model::{Bytes, MilliRate};
use crate::ui::figures;

/// Name of each filter with what it makes of which unit, in the order of the documentation.
pub const FILTERS: [(&str, &str); 14] = [
    ("whole", "digits alone: 25000 -> 25000"),
    ("rate", "thousandths per second as published: 44613740 -> 44613.74"),
    ("count", "groups of three digits: 25000 -> 25,000"),
    ("bytes", "bytes with a decimal unit: 1531250000 -> 1.53 GB"),
    ("gigabytes", "bytes in units of 10^9, exactly: 4000000000 -> 4"),
    ("seconds", "milliseconds in seconds, exactly: 600000 -> 600"),
    ("milliseconds", "microseconds in milliseconds, two decimals at most: 1534 -> 1.53"),
    ("duration", "milliseconds with units: 308000 -> 5m 08s"),
    ("percent", "millionths as a share: 50000 -> 5 %"),
    ("tenths", "millionths in percent, one decimal: 12345 -> 1.2 %"),
    ("change", "a ratio in millionths as a change: 1031000 -> +3.1 %"),
    ("chinese_numeral", "1 to 9999 in Chinese: 12 -> 十二; other numbers stay as they are"),
    ("code", "a line of a block of code: as it is, in Markdown without escapes"),
    ("align_table", "a block of Markdown rows with its columns padded to equal width"),
];

/// Adds all of [`FILTERS`].
pub(super) fn register(environment: &mut Environment<'_>) {
    environment.add_filter("whole", |value: &Value| figure("whole", value, |n| n.to_string()));
    environment.add_filter("rate", |value: &Value| figure("rate", value, rate));
    environment.add_filter("count", |value: &Value| figure("count", value, figures::count));
    environment.add_filter("bytes", |value: &Value| figure("bytes", value, bytes));
    environment.add_filter("gigabytes", |value: &Value| figure("gigabytes", value, gigabytes));
    environment.add_filter("seconds", |value: &Value| figure("seconds", value, seconds));
    environment
        .add_filter("milliseconds", |value: &Value| figure("milliseconds", value, milliseconds));
    environment.add_filter("duration", |value: &Value| figure("duration", value, duration));
    environment.add_filter("percent", |value: &Value| figure("percent", value, percent));
    environment.add_filter("tenths", |value: &Value| figure("tenths", value, tenths));
    environment.add_filter("change", |value: &Value| figure("change", value, change));
    environment.add_filter("chinese_numeral", |value: &Value| {
        figure("chinese_numeral", value, chinese_numeral)
    });
    environment.add_filter("code", code);
    environment.add_filter("align_table", |block: String| {
        Value::from_safe_string(markdown::align_table(&block))
    });
}

/// Applies a formatter to a whole number.
fn figure(filter: &str, value: &Value, format: fn(u64) -> String) -> Result<String, Error> {
    if value.is_none() {
        return Ok("-".to_owned());
    }
    if value.is_undefined() {
        // The engine's own error names the field that was meant.
        value.get_attr(filter)?;
    }
    let number = u64::try_from(value.clone()).map_err(|_| {
        let detail = format!("the filter `{filter}` takes a whole number, not `{value}`");
        Error::new(ErrorKind::InvalidOperation, detail)
    })?;
    Ok(format(number))
}

fn rate(milli: u64) -> String {
    figures::rate(MilliRate(milli))
}

fn bytes(size: u64) -> String {
    figures::bytes(Bytes(size))
}

fn gigabytes(size: u64) -> String {
    decimal(size, 9)
}

fn seconds(millis: u64) -> String {
    decimal(millis, 3)
}

fn milliseconds(micros: u64) -> String {
    // Micro to milli is the same factor as milli to one: 1534 us -> "1.53".
    figures::rate(MilliRate(micros))
}

fn duration(millis: u64) -> String {
    figures::duration(Duration::from_millis(millis))
}

fn percent(millionths: u64) -> String {
    format!("{} %", decimal(millionths, 4))
}

fn tenths(millionths: u64) -> String {
    let tenths = millionths.saturating_add(500) / 1_000;
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// A line of code: nothing in an indented block of Markdown is markup but the end of a line.
fn code(state: &State<'_, '_>, text: String) -> Value {
    let line: String =
        text.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
    match state.auto_escape() {
        AutoEscape::Custom(_) => Value::from_safe_string(line),
        AutoEscape::Html | AutoEscape::None | AutoEscape::Json | _ => Value::from(line),
    }
}

/// To a tenth of a percent, half away from 0, and with its sign.
fn change(millionths: u64) -> String {
    let change = i128::from(millionths) - 1_000_000;
    let tenths = (change.abs() + 500) / 1_000;
    let sign = match (change.signum(), tenths) {
        (_, 0) => "",
        (1, _) => "+",
        _ => "-",
    };
    format!("{sign}{}.{} %", tenths / 10, tenths % 10)
}

/// `number / 10^digits`, exactly, without trailing zeros.
fn decimal(number: u64, digits: u32) -> String {
    let unit = 10_u64.pow(digits);
    let width = digits as usize;
    let text = format!("{}.{:0width$}", number / unit, number % unit);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `三`, `十二`, `一百零五`: the numerals of headings.
fn chinese_numeral(number: u64) -> String {
    const DIGITS: [&str; 10] = ["零", "一", "二", "三", "四", "五", "六", "七", "八", "九"];
    const PLACES: [(u64, &str); 4] = [(1_000, "千"), (100, "百"), (10, "十"), (1, "")];
    if !(1..10_000).contains(&number) {
        return number.to_string();
    }
    let mut text = String::new();
    let mut gap = false;
    for (place, name) in PLACES {
        let digit = number / place % 10;
        if digit == 0 {
            gap = !text.is_empty();
            continue;
        }
        if gap {
            text.push_str(DIGITS[0]);
            gap = false;
        }
        // Ten to nineteen begin with the place alone: 十二, not 一十二.
        if !(text.is_empty() && place == 10 && digit == 1) {
            text.push_str(DIGITS[digit as usize]);
        }
        text.push_str(name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_numerals_read_as_they_are_spoken() {
        let cases = [
            (1, "一"),
            (10, "十"),
            (12, "十二"),
            (20, "二十"),
            (21, "二十一"),
            (100, "一百"),
            (105, "一百零五"),
            (110, "一百一十"),
            (1_001, "一千零一"),
            (1_010, "一千零一十"),
            (9_999, "九千九百九十九"),
            (0, "0"),
            (10_000, "10000"),
        ];
        for (number, text) in cases {
            assert_eq!(chinese_numeral(number), text, "{number}");
        }
    }

    #[test]
    fn exact_decimals_lose_their_trailing_zeros() {
        assert_eq!(gigabytes(4_000_000_000), "4");
        assert_eq!(gigabytes(1_500_000_000), "1.5");
        assert_eq!(gigabytes(512_000_000), "0.512");
        assert_eq!(seconds(600_000), "600");
        assert_eq!(seconds(1_250), "1.25");
        assert_eq!(milliseconds(1_534), "1.53");
        assert_eq!(percent(50_000), "5 %");
        assert_eq!(percent(12_500), "1.25 %");
    }

    #[test]
    fn a_change_has_its_sign_unless_it_is_none() {
        let cases = [
            (1_031_000, "+3.1 %"),
            (876_000, "-12.4 %"),
            (1_000_000, "0.0 %"),
            (1_000_499, "0.0 %"),
            (999_500, "-0.1 %"),
            (0, "-100.0 %"),
            (25_000_000, "+2400.0 %"),
        ];
        for (millionths, text) in cases {
            assert_eq!(change(millionths), text, "{millionths}");
        }
        assert!(change(u64::MAX).starts_with('+'));
    }

    #[test]
    fn every_listed_filter_is_known_to_a_template() {
        let mut environment = Environment::new();
        register(&mut environment);
        for (name, _) in FILTERS {
            let template = format!("{{{{ 1 | {name} }}}}");
            assert!(environment.render_str(&template, ()).is_ok(), "{name}");
        }
    }

    #[test]
    fn nothing_prints_as_a_dash_and_text_is_refused() {
        let mut environment = Environment::new();
        register(&mut environment);
        assert_eq!(environment.render_str("{{ none | rate }}", ()).unwrap(), "-");
        let error = environment.render_str("{{ 'x' | rate }}", ()).unwrap_err();
        assert!(error.to_string().contains("takes a whole number, not `x`"), "{error}");
    }
}
