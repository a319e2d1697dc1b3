//! Lines of a file that may end in the middle of one.
//!
//! Must not know: what a line holds.

use std::collections::BTreeSet;

/// A line that has its newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// From 1.
    pub(super) number: u64,
    /// Offset of the byte after its newline.
    pub(super) end: usize,
    /// Without the newline.
    pub(super) text: &'a [u8],
}

/// The lines that are whole; a rest without newline is not one.
pub(super) fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut end = 0;
    bytes.split_inclusive(|byte| *byte == b'\n').zip(1_u64..).filter_map(move |(line, number)| {
        end += line.len();
        let text = line.strip_suffix(b"\n")?;
        Some(Line { number, end, text })
    })
}

/// Bytes up to the end of the last line that belongs to one of these trials. What follows was
/// written for a trial that did not come to stand in `cells.csv`.
pub(super) fn bytes_of_trials(
    bytes: &[u8],
    trials: &BTreeSet<u64>,
    trial_of: impl Fn(&[u8]) -> Option<u64>,
) -> usize {
    let known = |line: &Line<'_>| trial_of(line.text).is_some_and(|trial| trials.contains(&trial));
    whole_lines(bytes).filter(known).last().map_or(0, |line| line.end)
}

/// The number before a separator, where a line starts with one.
pub(super) fn leading_number(line: &[u8], separator: u8) -> Option<u64> {
    let digits = line.split(|byte| *byte == separator).next()?;
    if digits.len() == line.len() {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_without_newline_is_not_a_line() {
        let lines: Vec<_> = whole_lines(b"a\n\nbc\nd").collect();
        let of = |number, end, text| Line { number, end, text };
        assert_eq!(lines, [of(1, 2, b"a".as_slice()), of(2, 3, b""), of(3, 6, b"bc")]);
    }

    #[test]
    fn what_follows_the_last_line_of_a_known_trial_is_not_counted() {
        let trials = BTreeSet::from([1, 2]);
        let of = |line: &[u8]| leading_number(line, b',');
        assert_eq!(bytes_of_trials(b"trial,x\n1,a\n2,b\n3,c\n2", &trials, of), 16);
        assert_eq!(bytes_of_trials(b"trial,x\n3,c\n", &trials, of), 0);
        assert_eq!(leading_number(b"12", b','), None);
    }
}
