//! Markdown as the built-in layouts write it: headings, tables of one line a row, paragraphs.
//!
//! Must not know: what a table means.

use super::page::{Document, PageTable};

/// Reads any text; what is no heading and no table is text.
pub(super) fn document(text: &str) -> Document {
    let mut document = Document::default();
    let mut heading = String::new();
    let mut table: Option<PageTable> = None;
    let mut paragraph = String::new();
    for (line, number) in text.lines().zip(1_u64..) {
        let line = line.trim();
        if let Some(cells) = cells(line) {
            let table = table.get_or_insert_with(|| PageTable {
                line: number,
                heading: heading.clone(),
                ..PageTable::default()
            });
            take_row(table, number, cells);
            continue;
        }
        document.tables.extend(table.take());
        if line.is_empty() || line.starts_with('#') {
            flush(&mut document.texts, &mut paragraph);
        }
        if let Some(title) = line.strip_prefix('#') {
            heading = plain(title.trim_start_matches('#').trim());
            document.title.get_or_insert_with(|| heading.clone());
        } else if !line.is_empty() {
            if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph += &plain(line);
        }
    }
    // The layouts end each line, and each row with a bar.
    let is_cut = table.is_some() && !text.ends_with(['\n', '|']);
    document.cut = is_cut.then(|| text.lines().count() as u64);
    document.tables.extend(table);
    flush(&mut document.texts, &mut paragraph);
    document
}

fn flush(texts: &mut Vec<String>, paragraph: &mut String) {
    if !paragraph.is_empty() {
        texts.push(std::mem::take(paragraph));
    }
}

fn take_row(table: &mut PageTable, line: u64, cells: Vec<String>) {
    let is_delimiter =
        |cell: &String| cell.contains('-') && cell.bytes().all(|byte| matches!(byte, b'-' | b':'));
    if table.header.is_empty() {
        table.header = cells;
    } else if !(table.rows.is_empty() && cells.iter().all(is_delimiter)) {
        table.rows.push((line, cells));
    }
}

/// The cells of a row; `None` for a line that is none.
fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.strip_prefix('|')?;
    let mut cells = vec![String::new()];
    let mut signs = inner.chars();
    while let Some(sign) = signs.next() {
        let cell = cells.last_mut()?;
        match sign {
            '\\' => cell.extend(std::iter::once('\\').chain(signs.next())),
            '|' => cells.push(String::new()),
            sign => cell.push(sign),
        }
    }
    // What follows the last bar is no cell.
    if cells.last().is_some_and(|last| last.trim().is_empty()) {
        cells.pop();
    }
    Some(cells.iter().map(|cell| plain(without_notes(cell.trim()).trim())).collect())
}

/// Without `[^1]` at its end.
fn without_notes(cell: &str) -> &str {
    match cell.rsplit_once("[^") {
        Some((before, note)) if note.ends_with(']') => before,
        _ => cell,
    }
}

/// A text without escapes and emphasis.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => plain.extend(signs.next()),
            '*' | '`' => {}
            sign => plain.push(sign),
        }
    }
    plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_table_stands_under_its_heading_without_markup() {
        let text = "# T \\| &amp; x\n\nPublished on\n2025-12-10\n\n## A\n\n| a  | b |\n|---|--:|\n\
            | 1 \\| 2 | 3[^1] |\n| - | |\n\nend\n";
        let document = document(text);
        assert_eq!(document.title.as_deref(), Some("T | & x"));
        assert_eq!(document.texts, ["Published on 2025-12-10", "end"]);
        let table = &document.tables[0];
        assert_eq!((table.line, table.heading.as_str()), (8, "A"));
        assert_eq!(table.header, ["a", "b"]);
        assert_eq!(table.rows[0], (10, vec!["1 | 2".to_owned(), "3".to_owned()]));
        assert_eq!(table.rows[1].1[0], "-");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>(), rows in "[|#\\\\\\[\\]^ a\n-]{0,60}") {
            let _ = (document(&text), document(&rows));
        }
    }
}
