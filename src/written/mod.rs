//! Files that people write: TOML in which every value has its place, and every fault is told at
//! once, with the lines that it points at.
//!
//! Must not know: what any of these files means, or where it lies.

mod diagnostic;
mod document;
mod section;
mod value;

pub use diagnostic::Diagnostics;
pub(crate) use diagnostic::{Fault, Faults, Place, SourceText};
pub(crate) use document::{Node, Table, Value, sources};
pub(crate) use section::{Located, Section};
pub(crate) use value::{
    Read, Wrong, boolean, charset, duration, duration_text, id, integer, integer_u32, named,
    nearest, place_in, signed, size, size_text, string, suggestion, text, wrong_type,
};

use diagnostic::line_and_column;

/// A file's bytes under the name that diagnostics show.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Usually the path as typed.
    pub name: &'a str,
    /// The file as read.
    pub bytes: &'a [u8],
}

impl<'a> Source<'a> {
    /// The text, if it is one and no larger than such a file may be.
    pub(crate) fn text(
        &self,
        kind: &'static str,
        bytes_max: usize,
    ) -> Result<&'a str, Diagnostics> {
        if self.bytes.len() > bytes_max {
            let (size, limit) = (self.bytes.len() as u64, bytes_max as u64);
            let message = format!("{} is {}", self.name, size_text(size));
            let help = format!("a {kind} file has at most {}", size_text(limit));
            let fault = Fault::new("limit", message).help(help);
            return Err(Diagnostics::new(kind, vec![SourceText::new(self.name, "")], vec![fault]));
        }
        std::str::from_utf8(self.bytes).map_err(|error| self.not_utf8(kind, error.valid_up_to()))
    }

    fn not_utf8(&self, kind: &'static str, offset: usize) -> Diagnostics {
        let mut shown = String::with_capacity(self.bytes.len());
        for chunk in self.bytes.utf8_chunks() {
            shown.push_str(chunk.valid());
            shown.extend(chunk.invalid().iter().map(|_| '?'));
        }
        let (line, column) = line_and_column(&shown, offset);
        let byte = self.bytes.get(offset).copied().unwrap_or_default();
        let message = format!(
            "not UTF-8: byte 0x{byte:02x} at offset {offset}, line {line}, column {column}"
        );
        let fault = Fault::new("not-utf8", message)
            .at(Place { source: 0, start: offset, end: offset + 1 }, "this byte")
            .help("save the file as UTF-8");
        Diagnostics::new(kind, vec![SourceText::new(self.name, &shown)], vec![fault])
    }
}
