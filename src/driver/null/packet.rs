//! How the server's packets are written.
//!
//! Must not know: who reads them. Source of the formats: the client/server protocol pages of the
//! MySQL and MariaDB manuals.

/// SERVER_STATUS_AUTOCOMMIT.
const STATUS: [u8; 2] = [0x02, 0x00];
/// utf8mb4_general_ci.
pub(super) const CHARSET: u8 = 45;

/// A row of one column of 119 characters, as `sbtest` has them in `c`.
pub(super) const TYPE_STRING: u8 = 0xFE;
/// The type of `SUM()` over integers.
pub(super) const TYPE_NEWDECIMAL: u8 = 0xF6;
/// What is asked when a client connects.
pub(super) const TYPE_VAR_STRING: u8 = 0xFD;

/// Which of the two protocols a reply is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mode {
    /// CLIENT_DEPRECATE_EOF: result sets close with an OK packet, definitions with nothing.
    pub(super) deprecate_eof: bool,
    /// Rows as COM_STMT_EXECUTE returns them.
    pub(super) binary: bool,
}

/// The packets of one reply, one after the other.
#[derive(Debug)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    sequence: u8,
}

impl Writer {
    /// A reply to a packet with the number before this one.
    pub(super) fn new(sequence: u8) -> Self {
        Self { bytes: Vec::new(), sequence }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(super) fn packet(&mut self, payload: &[u8]) {
        let [a, b, c, ..] = payload.len().to_le_bytes();
        self.bytes.extend_from_slice(&[a, b, c, self.sequence]);
        self.bytes.extend_from_slice(payload);
        self.sequence = self.sequence.wrapping_add(1);
    }

    pub(super) fn ok(&mut self, affected_rows: u8) {
        self.packet(&[0x00, affected_rows, 0, STATUS[0], STATUS[1], 0, 0]);
    }

    pub(super) fn eof(&mut self) {
        self.packet(&[0xFE, 0, 0, STATUS[0], STATUS[1]]);
    }

    pub(super) fn error(&mut self, code: u16, sqlstate: &str, message: &str) {
        let code = code.to_le_bytes();
        let head = [&[0xFF, code[0], code[1], b'#'], sqlstate.as_bytes()].concat();
        self.packet(&[&head, message.as_bytes()].concat());
    }

    /// Number of columns and their definitions.
    pub(super) fn columns(&mut self, columns: &[Vec<u8>], mode: Mode) {
        self.packet(&[u8::try_from(columns.len()).unwrap_or(0xFA)]);
        for column in columns {
            self.packet(column);
        }
        if !mode.deprecate_eof {
            self.eof();
        }
    }

    /// What closes a result set: an EOF, or an OK that looks like one.
    pub(super) fn end_of_rows(&mut self, mode: Mode) {
        if mode.deprecate_eof {
            self.packet(&[0xFE, 0, 0, STATUS[0], STATUS[1], 0, 0]);
        } else {
            self.eof();
        }
    }
}

/// The definition of a column.
pub(super) fn column(name: &str, kind: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in ["def", "sbtest", "sbtest1", "sbtest1", name, name] {
        text_value(text, &mut bytes);
    }
    let [l0, l1, ..] = 480_u32.to_le_bytes();
    bytes.extend_from_slice(&[0x0C, CHARSET, 0, l0, l1, 0, 0, kind, 0, 0, 0, 0, 0]);
    bytes
}

/// A row of texts, all of them present.
pub(super) fn row(values: &[&str], mode: Mode) -> Vec<u8> {
    let mut bytes = Vec::new();
    if mode.binary {
        // Header, and a bit per column for NULL, from the third bit on.
        bytes.resize(1 + (values.len() + 9) / 8, 0);
    }
    for value in values {
        text_value(value, &mut bytes);
    }
    bytes
}

/// A text with its length in front; cut at 64 KiB, which none of ours comes near.
fn text_value(text: &str, out: &mut Vec<u8>) {
    let length = text.len().min(0xFFFF);
    let [l0, l1, ..] = length.to_le_bytes();
    if length <= 0xFA {
        out.push(l0);
    } else {
        out.extend_from_slice(&[0xFC, l0, l1]);
    }
    out.extend_from_slice(&text.as_bytes()[..length]);
}
