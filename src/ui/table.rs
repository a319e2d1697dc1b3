//! Tables of text whose columns stand straight under wide characters too.
//!
//! Must not know: what the cells mean.

use unicode_width::UnicodeWidthStr;

use super::plain;

/// On which side of its column a cell stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Rows under headers, two spaces between columns.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns and no rows.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let columns = columns.iter().map(|(name, align)| ((*name).to_owned(), *align)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row; it must have a cell for each column. What a cell holds may come from anywhere.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.columns.len(), "a row has a cell for each column");
        self.rows.push(cells.iter().map(|cell| plain(cell).into_owned()).collect());
    }

    /// The whole table, each line ended by a newline, without trailing spaces.
    pub fn render(&self) -> String {
        let headers: Vec<String> =
            self.columns.iter().map(|(name, _)| plain(name).into_owned()).collect();
        let mut widths: Vec<usize> = headers.iter().map(|name| name.width()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let mut text = String::new();
        for row in std::iter::once(&headers).chain(&self.rows) {
            text.push_str(self.line(row, &widths).trim_end());
            text.push('\n');
        }
        text
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, width), (_, align)) in cells.iter().zip(widths).zip(&self.columns) {
            let padding = " ".repeat(width - cell.width());
            match align {
                Align::Left => line.extend([cell, padding.as_str(), "  "]),
                Align::Right => line.extend([padding.as_str(), cell, "  "]),
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        let mut table = Table::new(&[("规格", Align::Left), ("QPS", Align::Right)]);
        table.row(vec!["2核4GB".into(), "1".into()]);
        table.row(vec!["x".into(), "22".into()]);
        assert_eq!(table.render(), "规格    QPS\n2核4GB    1\nx        22\n");
    }
}
