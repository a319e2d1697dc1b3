//! reStructuredText: text that must not become markup.
//!
//! Must not know: pages, templates.

/// Escapes a text for a title, a sentence or a table's cell: it stays on one line and is shown
/// as it is, even where a line of its own would begin a list, a comment or a directive.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 2);
    if begins_structure(text) {
        escaped.push('\\');
    }
    let mut rest = text.chars().peekable();
    let mut is_first = true;
    while let Some(sign) = rest.next() {
        let is_marked = std::mem::replace(&mut is_first, false) && begins_structure(text);
        match sign {
            '\\' | '*' | '`' | '|' | '_' if !is_marked => escaped.extend(['\\', sign]),
            // Two colons at the end of a paragraph make the next one literal.
            ':' if rest.peek() == Some(&':') && !is_marked => escaped.push_str("\\:"),
            sign if sign.is_control() || sign == '\u{2028}' || sign == '\u{2029}' => {
                escaped.push(' ');
            }
            sign => escaped.push(sign),
        }
    }
    escaped
}

/// Whether the text would be more than a sentence at the beginning of a line: a bullet, a rule,
/// a comment, an enumerator such as `1.`, `(a)` or `iv)`.
fn begins_structure(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    if first.is_ascii_punctuation() || matches!(first, '•' | '‣' | '⁃') {
        return true;
    }
    let word = text.split(char::is_whitespace).next().unwrap_or_default();
    word.ends_with(['.', ')'])
        && word[..word.len() - 1].chars().all(|sign| sign.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_text_is_shown_and_not_obeyed() {
        let cases = [
            ("*a* `b` |c| d_", "\\*a\\* \\`b\\` \\|c\\| d\\_"),
            (".. raw:: html", "\\.. raw\\:: html"),
            ("- item", "\\- item"),
            ("-", "\\-"),
            ("\\", "\\\\"),
            ("1. one", "\\1. one"),
            ("iv) four", "\\iv) four"),
            ("(1) one", "\\(1) one"),
            ("8.0.40, 10.11", "8.0.40, 10.11"),
            ("ends with::", "ends with\\::"),
            ("two\r\nlines", "two  lines"),
            ("只读(range select)", "只读(range select)"),
            ("", ""),
        ];
        for (text, escaped) in cases {
            assert_eq!(escape(text), escaped);
        }
    }
}
