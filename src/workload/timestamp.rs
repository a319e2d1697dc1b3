//! Points in time as SQL writes them, `2026-11-30 20:17:49`, and as seconds since 1970-01-01.
//!
//! Must not know: time zones; a second is what the text says. Both ways are H. Hinnant's
//! algorithms for the proleptic Gregorian calendar.

/// Bytes of a time's text.
pub(super) const LEN: usize = 19;

const DAY_SECS: i64 = 86_400;

/// Reads `2026-11-30` or `2026-11-30 20:17:49`, of the years 1000 to 9999, which are DATETIME's.
pub(super) fn parse(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(' ').unwrap_or((text, "00:00:00"));
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let days = days_of(year, month, day);
    let seconds = days * DAY_SECS + hour * 3_600 + minute * 60 + second;
    let is_real = year >= 1_000
        && (1..=12).contains(&month)
        && date_of(days) == (year, month, day)
        && hour < 24
        && minute < 60
        && second < 60;
    is_real.then_some(seconds)
}

/// Three numbers of so many digits each.
fn numbers(text: &str, separator: char, digits: [usize; 3]) -> Option<[i64; 3]> {
    let mut numbers = [0; 3];
    let mut words = text.split(separator);
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let word = words.next()?;
        let is_number = word.len() == digits && word.bytes().all(|byte| byte.is_ascii_digit());
        *number = if is_number { word.parse().ok()? } else { return None };
    }
    words.next().is_none().then_some(numbers)
}

/// The text of a second of the years 1000 to 9999.
pub(super) fn text(seconds: i64) -> [u8; LEN] {
    let (year, month, day) = date_of(seconds.div_euclid(DAY_SECS));
    let second = seconds.rem_euclid(DAY_SECS);
    let mut text = *b"0000-00-00 00:00:00";
    let places = [
        (0, 4, year),
        (5, 2, month),
        (8, 2, day),
        (11, 2, second / 3_600),
        (14, 2, second / 60 % 60),
        (17, 2, second % 60),
    ];
    for (start, digits, mut number) in places {
        for place in (start..start + digits).rev() {
            text[place] = b'0' + (number % 10) as u8;
            number /= 10;
        }
    }
    text
}

/// Days from 1970-01-01 to a date.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The date so many days after 1970-01-01.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let month_of_year = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month_of_year <= 2);
    (year, month_of_year, day_of_year - (153 * month + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_seconds_are_read_and_written() {
        let cases = [
            ("1970-01-01 00:00:00", 0),
            ("1969-12-31 23:59:59", -1),
            ("2000-02-29 12:00:00", 951_825_600),
            ("2026-11-30 20:17:49", 1_796_069_869),
            ("9999-12-31 23:59:59", 253_402_300_799),
            ("1000-01-01 00:00:00", -30_610_224_000),
        ];
        for (words, seconds) in cases {
            assert_eq!(parse(words), Some(seconds), "{words}");
            assert_eq!(&text(seconds), words.as_bytes());
        }
        assert_eq!(parse("2026-11-30"), parse("2026-11-30 00:00:00"));
    }

    #[test]
    fn every_day_of_four_centuries_is_read_back() {
        for day in 0..146_097 {
            let words = text(day * DAY_SECS);
            assert_eq!(parse(std::str::from_utf8(&words).unwrap()), Some(day * DAY_SECS));
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for words in [
            "",
            "2026",
            "2026-2-1",
            "2026-02-30",
            "1900-02-29",
            "2026-13-01",
            "0999-01-01",
            "2026-01-01 24:00:00",
            "2026-01-01T00:00:00",
            "2026-01-01 00:00",
            "+026-01-01",
            "2026-01-01 00:00:00 ",
            "2026-01-01-01",
            "2026-00-10",
        ] {
            assert_eq!(parse(words), None, "{words}");
        }
    }
}
