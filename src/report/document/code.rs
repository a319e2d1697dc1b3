//! Which lines of a document are code, in which a marker is only shown: fenced blocks of
//! Markdown, literal blocks of reStructuredText.
//!
//! Must not know: what a marker is.

use super::DocumentKind;

/// A fence that is indented deeper than this, beyond where the code began, is code.
const FENCE_INDENT_MAX: usize = 3;

/// Goes through a document line by line.
#[derive(Debug)]
pub(super) struct CodeLines {
    kind: DocumentKind,
    open: Option<Block>,
    /// In how many quotations the last line stood.
    quotes: usize,
    /// Where the text of the list's item begins in which it stood; 0 outside of lists.
    item: usize,
}

/// A block of code that is open.
#[derive(Debug, Clone, Copy)]
enum Block {
    /// Until a fence of that sign and at least that length, not much deeper than that margin, or
    /// the end of the quotation or of the list's item in which it began.
    Fence { sign: char, length: usize, quotes: usize, item: usize, margin: usize },
    /// Until a line that is indented no deeper.
    Literal { indent: usize },
}

impl CodeLines {
    pub(super) fn new(kind: DocumentKind) -> Self {
        Self { kind, open: None, quotes: 0, item: 0 }
    }

    /// Whether the line is code or a fence; every line is to be shown once, in order.
    pub(super) fn is_code(&mut self, line: &str) -> bool {
        match self.kind {
            DocumentKind::Markdown | DocumentKind::Mdx => self.is_fenced(line),
            DocumentKind::Rst => self.is_literal(line),
            DocumentKind::Html => false,
        }
    }

    fn is_fenced(&mut self, line: &str) -> bool {
        if let Some(Block::Fence { sign, length, quotes, item, margin }) = self.open {
            let (depth, rest) = unquoted(line, quotes);
            let has_left = depth < quotes || (!rest.trim().is_empty() && indent(rest) < item);
            if !has_left {
                let fence = rest.trim();
                let is_fence = fence.len() >= length && fence.chars().all(|other| other == sign);
                if is_fence && indent(rest) <= margin + FENCE_INDENT_MAX {
                    self.open = None;
                }
                return true;
            }
            self.open = None;
        }
        let (quotes, quoted) = unquoted(line, usize::MAX);
        let (bullet, text) = without_bullets(quoted);
        let has_left = !quoted.trim().is_empty() && indent(quoted) < self.item;
        if bullet > 0 || has_left || quotes != self.quotes {
            // An item without text ends with the next empty line.
            self.item = if text.trim().is_empty() { 0 } else { bullet };
        }
        self.quotes = quotes;
        let fence = text.trim_start_matches([' ', '\t']);
        let Some(sign) = fence.chars().next().filter(|sign| matches!(sign, '`' | '~')) else {
            return false;
        };
        let length = fence.chars().take_while(|other| *other == sign).count();
        // Of backticks, what follows must not hold another: that is code within a sentence.
        if length < 3 || (sign == '`' && fence[length..].contains('`')) {
            return false;
        }
        let margin = quoted.len() - fence.len();
        self.open = Some(Block::Fence { sign, length, quotes, item: self.item, margin });
        true
    }

    fn is_literal(&mut self, line: &str) -> bool {
        let text = line.trim();
        if let Some(Block::Literal { indent: outer }) = self.open {
            if text.is_empty() || indent(line) > outer {
                return true;
            }
            self.open = None;
        }
        const OF_CODE: [&str; 4] =
            [".. code-block::", ".. code::", ".. sourcecode::", ".. parsed-literal::"];
        let begins = match text.starts_with("..") {
            true => OF_CODE.iter().any(|directive| text.starts_with(directive)),
            false => text.ends_with("::"),
        };
        if begins {
            self.open = Some(Block::Literal { indent: indent(line) });
        }
        false
    }
}

/// Blanks and tabs at the beginning, in bytes.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// How deep a line of Markdown stands in quotations, up to a depth, and what it quotes there.
fn unquoted(line: &str, depth_max: usize) -> (usize, &str) {
    let (mut depth, mut rest) = (0, line);
    while depth < depth_max {
        let Some(inner) = rest.trim_start_matches([' ', '\t']).strip_prefix('>') else { break };
        (depth, rest) = (depth + 1, inner.strip_prefix(' ').unwrap_or(inner));
    }
    (depth, rest)
}

/// Where the text of a list's item begins, 0 where the line begins none, and that text.
fn without_bullets(line: &str) -> (usize, &str) {
    let mut rest = line;
    loop {
        let text = rest.trim_start_matches([' ', '\t']);
        let digits = text.trim_start_matches(|sign: char| sign.is_ascii_digit());
        let after = match text.len() - digits.len() {
            0 => text.strip_prefix(['-', '*', '+']),
            1..=9 => digits.strip_prefix(['.', ')']),
            _ => None,
        };
        match after.filter(|after| after.starts_with([' ', '\t'])) {
            Some(after) => rest = after,
            None if rest.len() == line.len() => return (0, line),
            None => return (line.len() - text.len(), text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that are code, by number from 1.
    fn code(kind: DocumentKind, text: &str) -> Vec<usize> {
        let mut lines = CodeLines::new(kind);
        let numbered = text.lines().enumerate();
        numbered.filter(|(_, line)| lines.is_code(line)).map(|(at, _)| at + 1).collect()
    }

    #[test]
    fn a_fence_ends_with_one_of_its_sign_and_length() {
        let of = |text| code(DocumentKind::Markdown, text);
        assert_eq!(of("a\n```md\nx\n```\nb"), [2, 3, 4]);
        assert_eq!(of("````\n```\nx\n~~~~\n`````\nb"), [1, 2, 3, 4, 5]);
        assert_eq!(of("~~~ a`b\nx\n~~~\nb"), [1, 2, 3]);
        assert_eq!(of("```\nx\n``` y\nz"), [1, 2, 3, 4], "it is never closed");
        assert_eq!(of("``` a ``` b\nx"), [0; 0], "that is code within a sentence");
        assert_eq!(of("``\nx"), [0; 0]);
        assert_eq!(of("```\n> ```\nx\n```\nb"), [1, 2, 3, 4], "a quotation is code, too");
        assert_eq!(of("```\n    ```\nx\n```\nb"), [1, 2, 3, 4], "so is what is indented");
        assert_eq!(of("- a\n\n      ```\n      x\n      ```\nb"), [3, 4, 5]);
        assert_eq!(of("> > ~~~\n> > x\n> > ~~~\n> b"), [1, 2, 3]);
    }

    #[test]
    fn a_fence_ends_with_the_quotation_or_the_item_that_holds_it() {
        let of = |text| code(DocumentKind::Mdx, text);
        assert_eq!(of("> ```\n> x\nb"), [1, 2]);
        assert_eq!(of("- ```\n  x\n\n  ```\nb"), [1, 2, 3, 4]);
        assert_eq!(of("1. ```\n   x\nb"), [1, 2]);
        assert_eq!(of("- a\n  ```\n  x\nb"), [2, 3]);
        assert_eq!(of("- a\n\nb\n  ```\nx\n```\nb"), [4, 5, 6], "the list is over");
        assert_eq!(of("   ```\nx\n   ```\nb"), [1, 2, 3]);
    }

    #[test]
    fn a_literal_block_is_what_is_indented_deeper() {
        let of = |text| code(DocumentKind::Rst, text);
        assert_eq!(of("a::\n\n  x\n\n  y\nb"), [2, 3, 4, 5]);
        assert_eq!(of(".. code-block:: rst\n\n   x\n\nb"), [2, 3, 4]);
        assert_eq!(of(".. note::\n\n   x\n\nb"), [0; 0]);
        assert_eq!(of("a::\nb"), [0; 0]);
    }
}
