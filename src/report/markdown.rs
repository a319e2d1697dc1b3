//! Markdown: text that must not become markup, and tables that are straight in the source too.
//!
//! Must not know: pages, templates.

use unicode_width::UnicodeWidthStr;

/// Escapes a text for a heading, a sentence or a table's cell: it stays on one line and is
/// shown as it is.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(sign) = rest.next() {
        match sign {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '|' | '`' | '*' | '[' | ']' | '#' | '~' | '$' => escaped.extend(['\\', sign]),
            // Inside a word an underscore is only an underscore.
            '_' if is_inside_word(before, rest.peek().copied()) => escaped.push('_'),
            '_' => escaped.push_str("\\_"),
            sign if sign.is_control() || sign == '\u{2028}' || sign == '\u{2029}' => {
                escaped.push(' ');
            }
            sign => escaped.push(sign),
        }
        before = Some(sign);
    }
    escaped
}

/// The same for MDX, which takes braces for code.
pub(super) fn escape_mdx(text: &str) -> String {
    escape(text).replace('{', "\\{").replace('}', "\\}")
}

fn is_inside_word(before: Option<char>, after: Option<char>) -> bool {
    before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric)
}

/// Pads the cells of table rows so that their columns stand straight in a fixed-width font.
/// A column is aligned as its delimiter row (`---:`) says. Lines that are no rows are dropped
/// if empty, and kept as they are otherwise.
pub(super) fn align_table(block: &str) -> String {
    let lines: Vec<&str> = block.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let rows: Vec<Option<Vec<&str>>> = lines.iter().map(|line| cells(line)).collect();
    let delimiter = rows.iter().flatten().find(|row| row.iter().all(|cell| is_delimiter(cell)));
    let right: Vec<bool> = delimiter
        .map(|row| row.iter().map(|cell| cell.ends_with(':')).collect())
        .unwrap_or_default();
    let mut widths: Vec<usize> = Vec::new();
    for row in rows.iter().flatten() {
        widths.resize(widths.len().max(row.len()), 3);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let straight = lines.iter().zip(&rows).map(|(line, row)| match row {
        Some(row) => straight_row(row, &widths, &right),
        None => (*line).to_owned(),
    });
    straight.collect::<Vec<_>>().join("\n")
}

fn straight_row(row: &[&str], widths: &[usize], right: &[bool]) -> String {
    let mut line = String::from("|");
    let dashes = row.iter().all(|cell| is_delimiter(cell));
    for (index, (cell, width)) in row.iter().zip(widths).enumerate() {
        let right = right.get(index).copied().unwrap_or(false);
        let padding = width - cell.width();
        let text = match (dashes, right) {
            (true, true) => format!("{}:", "-".repeat(width - 1)),
            (true, false) => "-".repeat(*width),
            (false, true) => format!("{}{cell}", " ".repeat(padding)),
            (false, false) => format!("{cell}{}", " ".repeat(padding)),
        };
        line.extend([" ", text.as_str(), " |"]);
    }
    line
}

fn is_delimiter(cell: &str) -> bool {
    let dashes = cell.trim_start_matches(':').trim_end_matches(':');
    !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-') && cell.len() >= 3
}

/// The cells of a row; `None` for a line that is no row. An escaped bar is part of its cell.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.strip_prefix('|')?.strip_suffix('|')?;
    let mut cells = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (index, byte) in inner.bytes().enumerate() {
        if byte == b'|' && !escaped {
            cells.push(inner[start..index].trim());
            start = index + 1;
        }
        escaped = byte == b'\\' && !escaped;
    }
    cells.push(inner[start..].trim());
    Some(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_text_is_shown_and_not_obeyed() {
        let cases = [
            ("a|b\\c", "a\\|b\\\\c"),
            ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
            ("two\r\nlines", "two  lines"),
            ("oltp_update_index", "oltp_update_index"),
            ("_x_ *y* `z`", "\\_x\\_ \\*y\\* \\`z\\`"),
            ("[a](b) # ~~c~~", "\\[a\\](b) \\# \\~\\~c\\~\\~"),
            ("只读(range select)", "只读(range select)"),
        ];
        for (text, escaped) in cases {
            assert_eq!(escape(text), escaped);
        }
    }

    #[test]
    fn braces_are_code_to_mdx_only() {
        assert_eq!(escape("{a} \\{"), "{a} \\\\{");
        assert_eq!(escape_mdx("{a} \\{ <b>"), "\\{a\\} \\\\\\{ &lt;b&gt;");
    }

    #[test]
    fn columns_stand_straight_under_wide_signs_and_escaped_bars() {
        let block = "\n| 规格 | QPS |\n\n| --- | ---: |\n| 2核\\|x | 1 |\n|  | 12345 |\n";
        let straight =
            "| 规格   |   QPS |\n| ------ | ----: |\n| 2核\\|x |     1 |\n|        | 12345 |";
        assert_eq!(align_table(block), straight);
    }

    #[test]
    fn what_is_no_row_is_left_alone() {
        assert_eq!(align_table("text\n|\n| a |"), "text\n|\n| a   |");
        assert_eq!(align_table(""), "");
    }
}
