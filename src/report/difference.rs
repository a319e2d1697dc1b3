//! What changed between two texts, in few lines: enough to see why a page is stale.
//!
//! Must not know: pages, files.

use crate::model::plural;

/// Lines of a difference that are shown; the rest is counted.
const SHOWN_LINES_MAX: usize = 40;
/// Lines between the first and the last change that are matched up; more are shown as one block.
const MATCHED_LINES_MAX: usize = 2_000;

/// The changed lines, `-` old and `+` new, each group under its `@@ -LINE +LINE @@`; empty for
/// equal texts.
pub fn difference(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut lines = Vec::new();
    let mut next = (usize::MAX, usize::MAX);
    for change in changes(&old, &new) {
        if (change.old_line, change.new_line) != next {
            lines.push(format!("@@ -{} +{} @@", change.old_line + 1, change.new_line + 1));
        }
        lines.push(format!("{}{}", change.sign, change.text));
        next = match change.sign {
            '-' => (change.old_line + 1, change.new_line),
            _ => (change.old_line, change.new_line + 1),
        };
    }
    if lines.len() > SHOWN_LINES_MAX {
        let rest = lines.len() - SHOWN_LINES_MAX;
        lines.truncate(SHOWN_LINES_MAX);
        lines.push(format!("... and {rest} more {}", plural(rest as u64, "line")));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// One removed or added line, with the places where both texts stand.
struct Change<'a> {
    sign: char,
    text: &'a str,
    old_line: usize,
    new_line: usize,
}

fn changes<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Change<'a>> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = tail.take_while(|(a, b)| a == b).count();
    let old_middle = &old[start..old.len() - end];
    let new_middle = &new[start..new.len() - end];
    let common = match old_middle.len().max(new_middle.len()) > MATCHED_LINES_MAX {
        true => Vec::new(),
        false => common_lines(old_middle, new_middle),
    };
    let mut changes = Vec::new();
    let (mut a, mut b) = (0, 0);
    let ends = [(old_middle.len(), new_middle.len())];
    for (old_end, new_end) in common.into_iter().chain(ends) {
        for (line, text) in old_middle.iter().enumerate().take(old_end).skip(a) {
            let (old_line, new_line) = (start + line, start + b);
            changes.push(Change { sign: '-', text, old_line, new_line });
        }
        for (line, text) in new_middle.iter().enumerate().take(new_end).skip(b) {
            let (old_line, new_line) = (start + old_end, start + line);
            changes.push(Change { sign: '+', text, old_line, new_line });
        }
        (a, b) = (old_end + 1, new_end + 1);
    }
    changes
}

/// Places of a longest common subsequence, by the textbook's table.
fn common_lines(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let mut lengths = vec![0_u16; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            lengths[a * width + b] = if old[a] == new[b] {
                lengths[(a + 1) * width + b + 1] + 1
            } else {
                lengths[(a + 1) * width + b].max(lengths[a * width + b + 1])
            };
        }
    }
    let (mut a, mut b) = (0, 0);
    let mut places = Vec::new();
    while a < old.len() && b < new.len() {
        if old[a] == new[b] {
            places.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if lengths[(a + 1) * width + b] >= lengths[a * width + b + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_no_difference() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), "");
    }

    #[test]
    fn each_group_of_changes_stands_under_its_lines() {
        let old = "title\nsame\nold\nsame too\nend\n";
        let new = "Title\nsame\nnew\nnewer\nsame too\nend\nmore\n";
        assert_eq!(
            difference(old, new),
            "@@ -1 +1 @@\n-title\n+Title\n@@ -3 +3 @@\n-old\n+new\n+newer\n@@ -6 +7 @@\n+more\n"
        );
    }

    #[test]
    fn a_long_difference_is_cut_and_counted() {
        let old: String = (0..5_000).map(|line| format!("{line}\n")).collect();
        let text = difference(&old, "");
        assert_eq!(text.lines().count(), SHOWN_LINES_MAX + 1);
        assert!(text.ends_with("... and 4961 more lines\n"), "{text}");
    }
}
