//! Small charts of text: a bar for one number, a row of blocks for many.
//!
//! Must not know: what the numbers are.

/// Eighths of a column, from one to eight.
const PARTS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
/// Eighths of a line.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A bar of a number beside the largest one, at most so many columns; whatever is more than
/// nothing shows something.
pub fn bar(value: u64, largest: u64, width: usize) -> String {
    let eighths = u128::from(value) * width as u128 * 8 / u128::from(largest.max(1));
    let eighths = usize::try_from(eighths).unwrap_or(usize::MAX).min(width * 8);
    let eighths = if value > 0 { eighths.max(1) } else { 0 };
    let mut text = "█".repeat(eighths / 8);
    text.extend((eighths % 8).checked_sub(1).map(|part| PARTS[part]));
    text
}

/// A block for each number, its height from 0 to the largest of them; a dot where there is none,
/// and a low line for 0, so that a stall is seen.
pub fn sparkline(values: &[Option<u64>]) -> String {
    let largest = values.iter().flatten().max().copied().unwrap_or(0).max(1);
    let level = |value: u64| {
        let level = u128::from(value) * 8 / u128::from(largest);
        LEVELS[usize::try_from(level).unwrap_or(8).clamp(1, 8) - 1]
    };
    let block = |value: &Option<u64>| match value {
        None => '·',
        Some(0) => '_',
        Some(value) => level(*value),
    };
    values.iter().map(block).collect()
}

/// At most so many numbers for these: each stands for its share of them by the lowest, because
/// what a series is looked at for are its holes.
pub fn lowest_of(values: &[u64], width: usize) -> Vec<Option<u64>> {
    let count = values.len().min(width);
    let part = |index: usize| {
        let (from, to) = (index * values.len() / count, (index + 1) * values.len() / count);
        values[from..to].iter().min().copied()
    };
    (0..count).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_has_eighths_and_shows_the_least() {
        let cases = [(0, ""), (1, "▏"), (50, "██"), (63, "██▌"), (100, "████"), (200, "████")];
        for (value, text) in cases {
            assert_eq!(bar(value, 100, 4), text, "{value}");
        }
        assert_eq!(bar(u64::MAX, u64::MAX, 2), "██");
        assert_eq!(bar(5, 0, 2), "██");
    }

    #[test]
    fn a_row_of_blocks_tells_nothing_zero_and_little_apart() {
        let values = [Some(100), Some(1), Some(0), None, Some(50)];
        assert_eq!(sparkline(&values), "█▁_·▄");
        assert_eq!(sparkline(&[]), "");
        assert_eq!(sparkline(&[Some(0)]), "_");
    }

    #[test]
    fn a_single_hole_survives_being_drawn_small() {
        let mut values = vec![100; 600];
        values[317] = 0;
        let small = lowest_of(&values, 20);
        assert_eq!(small.len(), 20);
        assert_eq!(small.iter().filter(|value| **value == Some(0)).count(), 1);
        assert_eq!(lowest_of(&values[..3], 20).len(), 3);
        assert!(lowest_of(&[], 20).is_empty());
    }
}
