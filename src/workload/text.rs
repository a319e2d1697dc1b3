//! Integers and digits as text, without allocation.
//!
//! Must not know: SQL.

/// Appends `value` in decimal.
pub(super) fn push_integer(text: &mut String, value: u64) {
    let mut digits = [0u8; 20];
    let start = write_decimal(value, &mut digits);
    push_ascii(text, &digits[start..]);
}

/// Appends `value` in decimal, with its sign.
pub(super) fn push_signed(text: &mut String, value: i64) {
    if value < 0 {
        text.push('-');
    }
    push_integer(text, value.unsigned_abs());
}

/// Appends bytes that are known to be ASCII.
pub(super) fn push_ascii(text: &mut String, bytes: &[u8]) {
    text.push_str(std::str::from_utf8(bytes).expect("the caller passes ASCII"));
}

/// Fills `digits` from its end, two at a time; returns where the number starts.
fn write_decimal(mut value: u64, digits: &mut [u8; 20]) -> usize {
    let mut start = digits.len();
    while value >= 10 {
        start -= 2;
        digits[start..start + 2].copy_from_slice(&PAIRS[(value % 100) as usize]);
        value /= 100;
        if value == 0 {
            return start;
        }
    }
    digits[start - 1] = b'0' + value as u8;
    start - 1
}

/// `00` to `99`.
pub(super) const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0u8; 2]; 100];
    let mut n = 0;
    while n < 100 {
        pairs[n] = [b'0' + (n / 10) as u8, b'0' + (n % 10) as u8];
        n += 1;
    }
    pairs
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_print_as_the_standard_library_prints_them() {
        for value in [0, 1, 9, 10, 99, 100, 12_345, u64::from(u32::MAX), u64::MAX] {
            let mut text = String::from("x");
            push_integer(&mut text, value);
            assert_eq!(text, format!("x{value}"));
        }
        for value in [i64::MIN, -10, -1, 0, 7, i64::MAX] {
            let mut text = String::from("x");
            push_signed(&mut text, value);
            assert_eq!(text, format!("x{value}"));
        }
    }
}
