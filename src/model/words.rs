//! Numbers in sentences: digits in groups, and a noun that agrees.
//!
//! Must not know: what is counted.

/// `25,000`: groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 table`, `25,000 tables`: every message that counts something is to say it so.
pub fn counted(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    format!("{} {}", grouped(number), plural(number, noun))
}

/// The noun alone, as it stands after that number.
pub fn plural(number: u64, noun: &str) -> String {
    let is_vowel = |c: char| "aeiou".contains(c);
    match noun.strip_suffix('y').filter(|stem| !stem.ends_with(is_vowel)) {
        _ if number == 1 => noun.to_owned(),
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_digits_stand_in_groups() {
        let texts = [0_u64, 1, 2, 25_000].map(|number| counted(number, "table"));
        assert_eq!(texts, ["0 tables", "1 table", "2 tables", "25,000 tables"]);
        assert_eq!(counted(2_usize, "concurrency"), "2 concurrencies");
        assert_eq!(
            (counted(1_u32, "query"), counted(3_u32, "key")),
            ("1 query".into(), "3 keys".into())
        );
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    }
}
