//! Shares written as a percentage: `"2%"`, `"0.5%"`.
//!
//! Must not know: what they are shares of.

use crate::written::{Node, Read, Value, Wrong, wrong_type};
use std::ops::RangeInclusive;

/// A percentage with at most four decimals, as millionths in this range.
pub(super) fn percent(range: RangeInclusive<u64>) -> impl Fn(&Node) -> Read<u64> {
    move |node| {
        let text = match &node.value {
            Value::String(text) => text,
            Value::Integer(_) | Value::Float(_) => {
                return Wrong::new("percent", "is a share without a unit", "of what?")
                    .help("write it as a percentage in quotes, such as \"2%\"")
                    .alone();
            }
            _ => return wrong_type(node, "a percentage such as \"2%\""),
        };
        let Some(ppm) = parse(text) else {
            return Wrong::new("percent", "is not a percentage", "number and % expected")
                .help("for example \"2%\" or \"0.5%\", with at most four decimals")
                .alone();
        };
        if range.contains(&ppm) {
            return Ok(ppm);
        }
        let (low, high) = (*range.start() as f64 / 1e4, *range.end() as f64 / 1e4);
        let message = format!("must be between {low}% and {high}%");
        Wrong::new("range", message, "out of range").alone()
    }
}

fn parse(text: &str) -> Option<u64> {
    let number = text.strip_suffix('%')?.trim_end();
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !is_digits(whole) || !is_digits(decimals) || decimals.len() > 4 {
        return None;
    }
    let decimals: u64 = format!("{decimals:0<4}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(10_000)?.checked_add(decimals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_is_read_exactly() {
        for (text, ppm) in [("2%", 20_000), ("0.5 %", 5_000), ("12.3456%", 123_456)] {
            assert_eq!(parse(text), Some(ppm), "{text}");
        }
        for bad in ["2", "%", ".5%", "1.%", "-1%", "1e3%", "1.23456%", "99999999999999999999%"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
