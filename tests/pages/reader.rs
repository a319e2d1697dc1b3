//! Reads a page back as headings and table rows, whatever its format.
//!
//! Deliberately naive and apart from the code under test: it knows the shape of HTML and
//! Markdown tables, not how gridbench writes them.

/// What stands on a page, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Block {
    /// The text of a heading.
    Heading(String),
    /// The texts of a row's cells; the row of a table's headers is one too.
    Row(Vec<String>),
}

/// Headings and rows of a page.
pub(crate) fn blocks(page: &str) -> Vec<Block> {
    if page.starts_with("<!doctype html>") { html_blocks(page) } else { markdown_blocks(page) }
}

fn markdown_blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix('#') {
            blocks.push(Block::Heading(heading.trim_start_matches('#').trim().to_owned()));
        } else if let Some(row) = line.strip_prefix('|') {
            let cells: Vec<String> =
                row.trim_end_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
            if !cells.iter().all(|cell| cell.trim_matches(':').starts_with("---")) {
                blocks.push(Block::Row(cells));
            }
        }
    }
    blocks
}

fn html_blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut row = Vec::new();
    let mut text = String::new();
    let body = page.split_once("<body").expect("a page has a body").1;
    for piece in body.split('<').skip(1) {
        let (tag, after) = piece.split_once('>').expect("every tag is closed");
        match tag.split(' ').next().unwrap_or_default() {
            "h1" | "h2" | "h3" | "td" | "th" => text.clear(),
            "/h1" | "/h2" | "/h3" => blocks.push(Block::Heading(plain(&text))),
            "/td" | "/th" => row.push(plain(&text)),
            "/tr" => blocks.push(Block::Row(std::mem::take(&mut row))),
            _ => {}
        }
        text.push_str(after);
    }
    blocks
}

fn plain(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
