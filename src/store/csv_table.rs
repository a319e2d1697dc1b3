//! CSV files that grow by appending and may have been cut off anywhere.
//!
//! Must not know: what the columns mean. A row is one line: line breaks in texts are escaped,
//! so that a line without its newline is a torn row, and nothing else is.

use std::path::Path;

use csv::StringRecord;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::StoreError;
use super::lines::{Line, whole_lines};

/// A type whose fields are the columns of a file.
pub(super) trait Row: Serialize + DeserializeOwned + Default {
    /// The file's name in a run directory.
    const FILE: &'static str;
}

/// The first line of the file, newline included.
pub(super) fn header<R: Row>() -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.serialize(R::default()).expect("a row is flat, and memory takes it");
    let mut bytes = writer.into_inner().expect("memory takes what is flushed");
    let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
    bytes.truncate(end);
    bytes
}

/// Rows as they are appended, a line each.
pub(super) fn render<R: Row>(rows: impl IntoIterator<Item = R>) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).expect("a row is flat, and memory takes it");
    }
    writer.into_inner().expect("memory takes what is flushed")
}

/// The rows of a file and where they end.
#[derive(Debug)]
pub(super) struct Rows<R> {
    /// Each with the number of its line, from 1.
    pub(super) rows: Vec<(u64, R)>,
    /// Bytes of the header and the whole rows; what follows is torn. 0: not even the header
    /// is whole.
    pub(super) whole_bytes: usize,
}

/// Reads a file. A last line without a newline or with too few or too many fields is torn and
/// left out; anything else that is not a row is an error.
pub(super) fn parse<R: Row>(path: &Path, bytes: &[u8]) -> Result<Rows<R>, StoreError> {
    let header = header::<R>();
    if header.starts_with(bytes) && bytes.len() < header.len() {
        return Ok(Rows { rows: Vec::new(), whole_bytes: 0 });
    }
    let at = |line: &Line<'_>, message: String| StoreError::Row {
        path: path.to_owned(),
        line: line.number,
        message,
    };
    let mut lines = whole_lines(bytes).peekable();
    let columns = fields(&header).expect("our own header is a row");
    let first = lines.next().unwrap_or(Line { number: 1, end: 0, text: b"" });
    if fields(first.text).as_ref() != Some(&columns) {
        let columns = columns.iter().collect::<Vec<_>>().join(",");
        return Err(at(&first, format!("the columns must be {columns}")));
    }
    let mut rows = Rows { rows: Vec::new(), whole_bytes: first.end };
    while let Some(line) = lines.next() {
        let record = fields(line.text).filter(|record| record.len() == columns.len());
        let Some(record) = record else {
            if lines.peek().is_none() && line.end == bytes.len() {
                break;
            }
            let fields = columns.len();
            return Err(at(&line, format!("this is not a row of {fields} fields in UTF-8")));
        };
        let row = record
            .deserialize(Some(&columns))
            .map_err(|error| at(&line, name(&error, &columns)))?;
        rows.rows.push((line.number, row));
        rows.whole_bytes = line.end;
    }
    Ok(rows)
}

/// The fields of one line; `None` where it is not one whole row of UTF-8.
pub(super) fn fields(line: &[u8]) -> Option<StringRecord> {
    // Hundreds of thousands of lines are numbers alone, and a reader for each of them takes a
    // hundred times as long as the line does.
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    if !text.is_empty() && !text.iter().any(|byte| matches!(byte, b'"' | b'\r' | b'\n')) {
        let text = std::str::from_utf8(text).ok()?;
        let mut record = StringRecord::with_capacity(text.len(), 16);
        text.split(',').for_each(|field| record.push_field(field));
        return Some(record);
    }
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(line.len().max(1))
        .from_reader(line);
    let mut record = StringRecord::new();
    let found = reader.read_record(&mut record).ok()?;
    // A quote that stays open would swallow the end of the line, and what a next line adds.
    let closed = line.iter().filter(|byte| **byte == b'"').count().is_multiple_of(2);
    (found && closed).then_some(record)
}

/// Says which column is wrong and how.
fn name(error: &csv::Error, columns: &StringRecord) -> String {
    let csv::ErrorKind::Deserialize { err, .. } = error.kind() else {
        return error.to_string();
    };
    match err.field().and_then(|field| columns.get(usize::try_from(field).ok()?)) {
        Some(column) => format!("column {column}: {}", err.kind()),
        None => err.kind().to_string(),
    }
}

/// Texts in a row: a backslash, a line feed and a carriage return are written `\\`, `\n`, `\r`.
pub(super) mod text {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(in crate::store) fn serialize<S: Serializer>(
        text: &str,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let escaped = text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
        serializer.serialize_str(&escaped)
    }

    pub(in crate::store) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<String, D::Error> {
        let escaped = String::deserialize(deserializer)?;
        unescape(&escaped).ok_or_else(|| de::Error::custom("a backslash that escapes nothing"))
    }

    fn unescape(escaped: &str) -> Option<String> {
        let mut text = String::with_capacity(escaped.len());
        let mut characters = escaped.chars();
        while let Some(character) = characters.next() {
            text.push(match character {
                '\\' => match characters.next()? {
                    '\\' => '\\',
                    'n' => '\n',
                    'r' => '\r',
                    _ => return None,
                },
                plain => plain,
            });
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::any_rows;
    use crate::store::rows::{CellRow, ErrorRow, IntervalRow, StatementRow};

    fn round_trip<R: Row + Clone + PartialEq + std::fmt::Debug>(rows: &[R]) {
        let mut bytes = header::<R>();
        bytes.extend(render(rows.iter().cloned()));
        assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), rows.len() + 1);
        let read = parse::<R>(Path::new(R::FILE), &bytes).unwrap();
        assert_eq!(read.whole_bytes, bytes.len());
        assert_eq!(read.rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>(), rows);
    }

    proptest! {
        #[test]
        fn rows_of_every_file_are_read_back_as_written(
            cells in prop::collection::vec(any_rows::any_cell_row(), 0..4),
            intervals in prop::collection::vec(any_rows::any_interval_row(), 0..4),
            statements in prop::collection::vec(any_rows::any_statement_row(), 0..4),
            errors in prop::collection::vec(any_rows::any_error_row(), 0..4),
        ) {
            round_trip::<CellRow>(&cells);
            round_trip::<IntervalRow>(&intervals);
            round_trip::<StatementRow>(&statements);
            round_trip::<ErrorRow>(&errors);
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut table = header::<ErrorRow>();
            table.extend(bytes);
            let _ = parse::<ErrorRow>(Path::new("errors.csv"), &table);
        }
    }

    fn table(lines: &[&str]) -> Vec<u8> {
        let mut bytes = header::<ErrorRow>();
        bytes.extend(lines.concat().bytes());
        bytes
    }

    fn parse_errors(lines: &[&str]) -> Result<usize, String> {
        let read = parse::<ErrorRow>(Path::new("errors.csv"), &table(lines));
        read.map(|read| read.rows.len()).map_err(|error| error.to_string())
    }

    const ROW: &str = "1,2c4g,s,64,1,1213,5,\"Deadlock, try\",9,12\n";

    #[test]
    fn a_torn_last_line_is_left_out() {
        assert_eq!(parse_errors(&[ROW, "1,2c4g,s,6"]), Ok(1));
        assert_eq!(parse_errors(&[ROW, "1,2c4g,s\n"]), Ok(1));
        assert_eq!(parse_errors(&[ROW, "\n"]), Ok(1));
        assert_eq!(parse_errors(&[ROW, "1,2c4g,s,64,1,1213,5,\"Dead\n"]), Ok(1));
        assert_eq!(parse_errors(&[ROW, ROW.trim_end()]), Ok(1));
    }

    #[test]
    fn a_bad_row_before_the_last_is_an_error_with_file_and_line() {
        let short = parse_errors(&[ROW, "1,2c4g,s\n", ROW]).unwrap_err();
        assert_eq!(short, "errors.csv:3: this is not a row of 10 fields in UTF-8");
        let open = parse_errors(&["1,2c4g,s,64,1,1213,5,\"Dead\n", ROW]).unwrap_err();
        assert_eq!(open, "errors.csv:2: this is not a row of 10 fields in UTF-8");
    }

    #[test]
    fn a_bad_value_is_an_error_that_names_the_column() {
        let number = parse_errors(&[ROW, "1,2c4g,s,many,1,1213,5,x,,\n"]).unwrap_err();
        assert_eq!(number, "errors.csv:3: column concurrency: invalid digit found in string");
        let escape = parse_errors(&["1,2c4g,s,64,1,1213,5,x\\y,,\n"]).unwrap_err();
        assert!(escape.contains("errors.csv:2: ") && escape.contains("backslash"), "{escape}");
    }

    #[test]
    fn other_columns_are_an_error_and_a_torn_header_is_not() {
        let other = parse::<ErrorRow>(Path::new("errors.csv"), b"a,b\n1,2\n").unwrap_err();
        assert!(other.to_string().starts_with("errors.csv:1: the columns must be trial,spec"));
        for length in 0..header::<ErrorRow>().len() {
            let torn = &header::<ErrorRow>()[..length];
            assert_eq!(parse::<ErrorRow>(Path::new("errors.csv"), torn).unwrap().whole_bytes, 0);
        }
    }
}
