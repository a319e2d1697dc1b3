//! Figures as people read them: sizes, times, counts.
//!
//! Must not know: what is measured.

use std::time::Duration;

use crate::model::{Bytes, MilliRate, grouped};

/// `1.53 GB`, `20 MB`: decimal units, three significant digits at most.
pub fn bytes(size: Bytes) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB"];
    let mut value = size.0 as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{} {}", three_digits(value), units[unit])
}

/// `850ms`, `20s`, `5m 08s`, `3h 05m`, `2d 04h`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 if time.subsec_millis() > 0 => format!("{}ms", time.subsec_millis()),
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h {:02}m", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{}d {:02}h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

/// `44613.74`: at most two decimals, no trailing zeros, as the published tables print QPS.
pub fn rate(rate: MilliRate) -> String {
    let hundredths = (rate.0 + 5) / 10;
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// As printed, with blanks for the decimals that are not there, so that the points stand in line.
pub fn aligned_rate(rate: MilliRate) -> String {
    let text = self::rate(rate);
    match text.split_once('.') {
        Some((whole, decimals)) => format!("{whole}.{decimals:<2}"),
        None => text + "   ",
    }
}

/// `10 Gbit/s`, `17.53 Gbit/s`: decimal units, two decimals at most.
pub fn bit_rate(bits_per_second: u64) -> String {
    let units = [("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1_000)];
    let (name, unit) =
        units.into_iter().find(|(_, unit)| bits_per_second >= *unit).unwrap_or(units[2]);
    let text = format!("{:.2}", bits_per_second as f64 / unit as f64);
    format!("{} {name}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// `25,000`: groups of three digits.
pub fn count(number: u64) -> String {
    grouped(number)
}

/// `850 us`, `31.2 ms`, `1.25 s`: three significant digits at most.
pub fn latency(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} us"),
        1_000..999_500 => format!("{} ms", three_digits(micros as f64 / 1_000.0)),
        _ => format!("{} s", three_digits(micros as f64 / 1_000_000.0)),
    }
}

fn three_digits(value: f64) -> String {
    let decimals = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_decimal_with_three_digits() {
        let cases =
            [(0, "0 B"), (999, "999 B"), (1_531_250_000, "1.53 GB"), (19_600_000_000, "19.6 GB")];
        for (size, text) in cases {
            assert_eq!(bytes(Bytes(size)), text);
        }
    }

    #[test]
    fn bit_rates_have_two_decimals_at_most() {
        let cases = [
            (10_000_000_000, "10 Gbit/s"),
            (17_531_000_000, "17.53 Gbit/s"),
            (2_500_000, "2.5 Mbit/s"),
            (100, "0.1 kbit/s"),
        ];
        for (rate, text) in cases {
            assert_eq!(bit_rate(rate), text);
        }
    }

    #[test]
    fn times_have_two_units_at_most() {
        let cases = [(200, "200ms"), (20_000, "20s"), (308_000, "5m 08s"), (11_100_000, "3h 05m")];
        for (millis, text) in cases {
            assert_eq!(duration(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn rates_print_as_the_published_tables_do() {
        let cases = [(44_613_740, "44613.74"), (309_436_400, "309436.4"), (485_157_000, "485157")];
        for (milli, text) in cases {
            assert_eq!(rate(MilliRate(milli)), text);
        }
    }

    #[test]
    fn latencies_choose_their_unit() {
        let cases = [(850, "850 us"), (31_240, "31.2 ms"), (999_900, "1 s"), (1_250_000, "1.25 s")];
        for (micros, text) in cases {
            assert_eq!(latency(micros), text);
        }
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(80_000_000), "80,000,000");
        assert_eq!(count(25), "25");
    }
}
