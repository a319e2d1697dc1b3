//! HTML as the built-in layouts write it: headings with ids, tables, paragraphs.
//!
//! Must not know: what a table means. It is no browser: it follows tags, and takes text that is
//! not well-formed as it comes.

use super::page::{Document, PageTable};

/// Reads any text.
pub(super) fn document(text: &str) -> Document {
    let mut reader = Reader::default();
    let (mut rest, mut line) = (text, 1_u64);
    while let Some((before, after)) = rest.split_once('<') {
        reader.text(before);
        line += newlines(before);
        // A comparison sign that opens no tag.
        let Some((tag, next)) = after.split_once('>') else { break };
        reader.tag(tag, line);
        line += newlines(tag);
        rest = next;
    }
    // A page that begins as a whole one has to end as one.
    let has_end = !text.contains("<html") || text.contains("</html>");
    reader.finish(text.lines().count() as u64, has_end)
}

fn newlines(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

#[derive(Default)]
struct Reader {
    document: Document,
    /// The text since the last tag that ends one.
    text: String,
    heading: String,
    scenario: Option<String>,
    table: Option<PageTable>,
    row: Vec<String>,
    row_line: u64,
    /// Within a style, a script or a note's number: no text.
    hidden: u32,
}

impl Reader {
    fn text(&mut self, text: &str) {
        if self.hidden == 0 {
            self.text += text;
        }
    }

    /// The text collected so far, with its entities read and its blanks made one.
    fn take_text(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        entities(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn tag(&mut self, tag: &str, line: u64) {
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(|c| c.is_alphanumeric())
            .collect::<String>()
            .to_lowercase();
        let ends = tag.starts_with('/');
        match (name.as_str(), ends) {
            ("style" | "script" | "sup", false) => self.hidden += 1,
            ("style" | "script" | "sup", true) => self.hidden = self.hidden.saturating_sub(1),
            ("h1" | "h2" | "h3" | "h4", false) => {
                self.flush();
                let id = attribute(tag, "id");
                self.scenario = id.and_then(|id| id.strip_prefix("scenario-").map(str::to_owned));
            }
            ("h1" | "h2" | "h3" | "h4", true) => {
                self.heading = self.take_text();
                let heading = self.heading.clone();
                self.document.title.get_or_insert(heading);
            }
            ("table", false) => {
                self.flush();
                self.table = Some(PageTable {
                    line,
                    heading: self.heading.clone(),
                    scenario: self.scenario.clone(),
                    ..PageTable::default()
                });
            }
            ("table", true) => self.document.tables.extend(self.table.take()),
            ("tr", false) => (self.row, self.row_line) = (Vec::new(), line),
            ("tr", true) => self.end_row(),
            ("td" | "th", false) => self.text.clear(),
            ("td" | "th", true) => {
                let text = self.take_text();
                self.row.push(text);
            }
            ("p" | "title" | "caption" | "li" | "dd" | "dt", _) => self.flush(),
            // A rehearsal's mark stands in the title, as small print.
            ("small", false) => self.text.push(' '),
            _ => {}
        }
    }

    fn end_row(&mut self) {
        let row = std::mem::take(&mut self.row);
        let Some(table) = &mut self.table else { return };
        if table.header.is_empty() {
            table.header = row;
        } else {
            table.rows.push((self.row_line, row));
        }
    }

    fn flush(&mut self) {
        let text = self.take_text();
        if !text.is_empty() {
            self.document.texts.push(text);
        }
    }

    fn finish(mut self, last_line: u64, has_end: bool) -> Document {
        self.flush();
        let is_cut = self.table.is_some() || !has_end;
        self.document.cut = is_cut.then_some(last_line);
        self.document.tables.extend(self.table.take());
        self.document
    }
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let start = tag.split_once(&format!("{name}=\""))?.1;
    start.split_once('"').map(|(value, _)| value)
}

/// The entities that minijinja writes.
fn entities(text: &str) -> String {
    let known = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#x2f;", "/"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    known.iter().fold(text.to_owned(), |text, (entity, sign)| text.replace(entity, sign))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_table_has_its_headings_scenario_and_no_notes() {
        let text = "<style>p > q { x }</style><h1>T &amp; x</h1>\n\
            <p>Published on\n 2025-12-10</p>\n\
            <h3 id=\"scenario-a\">Scenario 1: A</h3><table class=\"figures\">\n\
            <caption>c</caption><tr><th>a</th><th>b</th></tr>\n\
            <tr><th>1</th><td>2<sup><a>1</a></sup></td></tr></table>";
        let document = document(text);
        assert_eq!(document.title.as_deref(), Some("T & x"));
        assert_eq!(document.texts, ["Published on 2025-12-10", "c"]);
        let table = &document.tables[0];
        assert_eq!((table.line, table.scenario.as_deref()), (4, Some("a")));
        assert_eq!(table.header, ["a", "b"]);
        assert_eq!(table.rows, [(6, vec!["1".to_owned(), "2".to_owned()])]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(
            text in any::<String>(),
            tags in "(<|>|/|td|tr|table|h1|sup| id=\"|\"|a|\n){0,40}",
        ) {
            let _ = (document(&text), document(&tags));
        }
    }
}
