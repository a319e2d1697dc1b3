//! Sentences of a terminal's width.
//!
//! Must not know: what they say.

use unicode_width::UnicodeWidthStr;

use super::plain;

/// A paragraph of at most 96 columns, its first line behind a label, its further ones behind an
/// indent; each line ended by a newline. A word that is longer stays whole.
pub fn paragraph(label: &str, indent: &str, text: &str) -> String {
    const WIDTH: usize = 96;
    let mut lines = String::new();
    let mut line = label.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let word = &*plain(word);
        if !is_empty && line.width() + 1 + word.width() > WIDTH {
            lines += &line;
            lines.push('\n');
            indent.clone_into(&mut line);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line += word;
        is_empty = false;
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_96_columns_at_most_and_words_whole() {
        let text = paragraph("- ", "  ", &"word ".repeat(40));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() == 3 && lines.iter().all(|line| line.chars().count() <= 96), "{text}");
        assert!(lines[0].starts_with("- word") && lines[2].starts_with("  word"), "{text}");
        let long = "x".repeat(200);
        assert_eq!(paragraph("", "", &long), format!("{long}\n"));
    }
}
