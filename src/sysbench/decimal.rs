//! Decimal texts as whole numbers of a small unit, without a detour over floating point.
//!
//! Must not know: what is counted.

/// `12.345` with three places is 12345; what has more decimals is rounded to the nearest. `None`
/// for anything but digits with at most one point between them, and for what 64 bits cannot hold.
pub fn scaled(text: &str, places: u32) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) {
        return None;
    }
    let mut value = whole.parse::<u64>().ok()?;
    let mut decimals = decimals.bytes().map(|byte| u64::from(byte - b'0'));
    for _ in 0..places {
        value = value.checked_mul(10)?.checked_add(decimals.next().unwrap_or(0))?;
    }
    let rounds_up = decimals.next().is_some_and(|next| next >= 5);
    value.checked_add(u64::from(rounds_up))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_is_read_exactly_and_rounded_where_it_is_too_fine() {
        assert_eq!(scaled("44613.74", 3), Some(44_613_740));
        assert_eq!(scaled("10.0023", 6), Some(10_002_300));
        assert_eq!(scaled("0.0005", 3), Some(1));
        assert_eq!(scaled("0.00049", 3), Some(0));
        assert_eq!(scaled("7", 0), Some(7));
        for bad in ["", ".", "1.", ".5", "-1", "nan", "inf", "1e5", "1.2.3", "1,0", " 1"] {
            assert_eq!(scaled(bad, 3), None, "{bad}");
        }
        assert_eq!(scaled("18446744073709551615", 1), None);
        assert_eq!(scaled("18446744073709551615", 0), Some(u64::MAX));
    }
}
