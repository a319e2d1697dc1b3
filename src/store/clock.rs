//! Moments as files and directory names spell them: UTC, RFC 3339, milliseconds.
//!
//! Must not know: what time it is.

use jiff::Timestamp;

/// `2025-12-10T16:18:35.000Z`. A moment outside the years -9999 to 9999 becomes their border.
pub fn rfc3339(unix_ms: i64) -> String {
    format!("{:.3}", timestamp(unix_ms))
}

/// Reads [`rfc3339`] and every other RFC 3339 text; `None` for anything else.
pub(super) fn parse_rfc3339(text: &str) -> Option<i64> {
    text.parse::<Timestamp>().ok().map(|moment| moment.as_millisecond())
}

/// `2025-12-10T161835Z`: sorts by time, and every file system takes it.
pub(super) fn directory_stamp(unix_ms: i64) -> String {
    timestamp(unix_ms).strftime("%Y-%m-%dT%H%M%SZ").to_string()
}

/// `2025-12-10`, in UTC.
pub(super) fn date(unix_ms: i64) -> String {
    timestamp(unix_ms).strftime("%Y-%m-%d").to_string()
}

/// Whether a text is a date of the calendar in the form `2025-12-10`.
pub fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

fn timestamp(unix_ms: i64) -> Timestamp {
    let border = if unix_ms < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(unix_ms).unwrap_or(border)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_survives_to_the_millisecond() {
        assert_eq!(rfc3339(1_765_383_515_007), "2025-12-10T16:18:35.007Z");
        assert_eq!(parse_rfc3339("2025-12-10T16:18:35.007Z"), Some(1_765_383_515_007));
        assert_eq!(parse_rfc3339("yesterday"), None);
        assert_eq!(directory_stamp(1_765_383_515_007), "2025-12-10T161835Z");
        assert_eq!(date(1_765_383_515_007), "2025-12-10");
        assert!(rfc3339(i64::MAX).starts_with("9999-12-3"));
    }

    #[test]
    fn a_date_is_a_day_of_the_calendar() {
        assert!(is_date("2025-12-10"));
        assert!(!is_date("2025-13-10") && !is_date("10.12.2025") && !is_date("2025-12-10T00"));
    }
}
