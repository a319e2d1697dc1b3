//! The reply scanner: counts what a server answers, and keeps none of it.
//!
//! Sans-IO and resumable at any byte: it is fed whatever arrived and says how much of it belonged
//! to the reply. Must not know: sockets, who asked, what a row holds. Source of the format: the
//! client/server protocol pages of the MySQL and MariaDB manuals (COM_QUERY response, OK, ERR and
//! EOF packets, text and binary result rows).

use crate::driver::Reply;

/// Longest payload of one packet; a longer one goes on in the next.
const PAYLOAD_MAX: usize = 0xFF_FFFF;
/// Bytes of a payload that decide what it is: header, two length-encoded integers, status flags
/// and warnings of an OK packet.
const PREFIX_MAX: usize = 1 + 9 + 9 + 2 + 2;
/// How much of an error's message is kept.
const MESSAGE_MAX: usize = 1024;
/// The server has another result after this one (SERVER_MORE_RESULTS_EXISTS).
const MORE_RESULTS: u16 = 0x0008;
/// More columns than any server sends (both families stop at 4096).
const COLUMNS_MAX: u64 = 0xFFFF;

/// Follows one reply after the other on one connection.
#[derive(Debug, Clone)]
pub struct Scanner {
    deprecate_eof: bool,
    state: State,
    reply: Reply,
    sequence: u8,
    /// Payload bytes of the current packet that are still to be skipped.
    skip: usize,
    /// Whether the next packet continues a payload of the longest size.
    continues: bool,
    /// Header and prefix of a packet that arrived in pieces.
    carry: [u8; 4 + PREFIX_MAX],
    carried: usize,
    /// Whether the packet under way ends the reply.
    is_last: bool,
    error: Option<Box<ServerError>>,
}

/// An error packet of the server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerError {
    /// The server's error code.
    pub code: u16,
    /// SQLSTATE; empty where the server sent none.
    pub sqlstate: Vec<u8>,
    /// The server's words, cut at a thousand bytes.
    pub message: Vec<u8>,
}

impl ServerError {
    /// ERR: header, code, `#` and SQLSTATE (not always, and never before the login), message.
    pub(super) fn parse(packet: &[u8]) -> Option<Self> {
        let [_, c0, c1, ref rest @ ..] = *packet else { return None };
        let (sqlstate, message) = match rest {
            [b'#', rest @ ..] if rest.len() >= 5 => rest.split_at(5),
            rest => (&[][..], rest),
        };
        Some(Self {
            code: u16::from_le_bytes([c0, c1]),
            sqlstate: sqlstate.to_vec(),
            message: message[..message.len().min(MESSAGE_MAX)].to_vec(),
        })
    }
}

/// What became of the bytes that were fed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scan {
    /// All bytes belonged to the reply, which is not whole yet.
    More,
    /// The reply is whole; so many bytes belonged to it.
    Done {
        /// Bytes of the input that belonged to the reply.
        consumed: usize,
        /// What was counted.
        reply: Reply,
    },
    /// The server answered with an error; so many bytes belonged to it.
    Failed {
        /// Bytes of the input that belonged to the reply.
        consumed: usize,
        /// What the server said.
        error: Box<ServerError>,
    },
}

/// Bytes that no server sends; the connection must be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ScanError {
    /// A packet out of order.
    #[error("packet {found} came where {expected} was due")]
    Sequence {
        /// The number that was due.
        expected: u8,
        /// The number that came.
        found: u8,
    },
    /// An empty payload where something had to stand.
    #[error("an empty packet where {0} was due")]
    Empty(&'static str),
    /// A payload that ends too early, or holds nonsense.
    #[error("a broken {0} packet")]
    Broken(&'static str),
    /// The server asks for a local file. It gets none.
    #[error("the server asked for a local file, which is refused")]
    LocalInfile,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The first packet of a result.
    First,
    /// So many column definitions are to come.
    Columns(u64),
    /// The EOF after the column definitions.
    ColumnsEnd,
    /// Rows, up to the closing packet.
    Rows,
}

impl Scanner {
    /// For a connection with or without CLIENT_DEPRECATE_EOF.
    pub fn new(deprecate_eof: bool) -> Self {
        Self {
            deprecate_eof,
            state: State::First,
            reply: Reply::default(),
            sequence: 1,
            skip: 0,
            continues: false,
            carry: [0; 4 + PREFIX_MAX],
            carried: 0,
            is_last: false,
            error: None,
        }
    }

    /// The next reply answers a request of so many packets, whose numbers it goes on with.
    pub fn answers(&mut self, packets: usize) {
        self.sequence = (packets % 256) as u8;
    }

    /// Takes what arrived. After `Done` or `Failed` the scanner expects the next reply.
    pub fn feed(&mut self, input: &[u8]) -> Result<Scan, ScanError> {
        let mut at = 0;
        loop {
            if self.skip > 0 {
                let taken = self.skip.min(input.len() - at);
                self.keep_message(&input[at..at + taken]);
                at += taken;
                self.skip -= taken;
                if self.skip > 0 {
                    return Ok(Scan::More);
                }
            }
            if self.is_last && !self.continues {
                return Ok(self.finish(at));
            }
            if self.state == State::Rows && self.carried == 0 && !self.continues {
                at += self.whole_rows(&input[at..]);
            }
            if !self.packet(input, &mut at)? {
                return Ok(Scan::More);
            }
        }
    }

    /// Counts the rows that are all there, which is most of what a server sends; returns their
    /// bytes. It stops at whatever is not plainly a row, and leaves that to [`Self::judge`].
    fn whole_rows(&mut self, input: &[u8]) -> usize {
        let mut rest = input;
        let mut sequence = self.sequence;
        let mut rows = 0;
        while let [a, b, c, number, first, ..] = *rest {
            let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
            let is_row = first < 0xFE && number == sequence && (1..PAYLOAD_MAX).contains(&length);
            let Some(next) = rest.get(4 + length..).filter(|_| is_row) else { break };
            rest = next;
            rows += 1;
            sequence = sequence.wrapping_add(1);
        }
        self.reply.rows += rows;
        self.sequence = sequence;
        input.len() - rest.len()
    }

    /// Reads header and prefix of the next packet; `false` when they are not all there yet.
    fn packet(&mut self, input: &[u8], at: &mut usize) -> Result<bool, ScanError> {
        let rest = &input[*at..];
        if self.carried == 0 && rest.len() >= 4 {
            let length = payload_length(rest);
            let prefix = length.min(PREFIX_MAX);
            if rest.len() >= 4 + prefix {
                *at += 4 + prefix;
                self.judge(rest[3], length, &rest[4..4 + prefix])?;
                return Ok(true);
            }
        }
        self.packet_in_pieces(input, at)
    }

    fn packet_in_pieces(&mut self, input: &[u8], at: &mut usize) -> Result<bool, ScanError> {
        if !self.carry_up_to(4, input, at) {
            return Ok(false);
        }
        let length = payload_length(&self.carry);
        let prefix = length.min(PREFIX_MAX);
        if !self.carry_up_to(4 + prefix, input, at) {
            return Ok(false);
        }
        self.carried = 0;
        let carry = self.carry;
        self.judge(carry[3], length, &carry[4..4 + prefix])?;
        Ok(true)
    }

    fn carry_up_to(&mut self, wanted: usize, input: &[u8], at: &mut usize) -> bool {
        let missing = wanted.saturating_sub(self.carried);
        let taken = missing.min(input.len() - *at);
        self.carry[self.carried..self.carried + taken].copy_from_slice(&input[*at..*at + taken]);
        self.carried += taken;
        *at += taken;
        taken == missing
    }

    /// Decides by number, length and prefix what a packet is.
    fn judge(&mut self, sequence: u8, length: usize, prefix: &[u8]) -> Result<(), ScanError> {
        if sequence != self.sequence && !self.is_last_word(sequence, prefix) {
            return Err(ScanError::Sequence { expected: self.sequence, found: sequence });
        }
        self.sequence = sequence.wrapping_add(1);
        self.skip = length - prefix.len();
        let is_continuation = std::mem::replace(&mut self.continues, length == PAYLOAD_MAX);
        if is_continuation {
            self.keep_message(prefix);
            return Ok(());
        }
        match self.state {
            State::First => self.first(length, prefix),
            State::Columns(left) => self.column(left, prefix),
            State::ColumnsEnd => match prefix.first() {
                Some(0xFE) if length < 9 => {
                    self.state = State::Rows;
                    Ok(())
                }
                Some(0xFF) => self.error(prefix),
                _ => Err(ScanError::Broken("EOF")),
            },
            State::Rows => self.row(length, prefix),
        }
    }

    /// A server that is about to close a connection says why without being asked, and so with a
    /// number of its own: the one before.
    fn is_last_word(&self, sequence: u8, prefix: &[u8]) -> bool {
        self.state == State::First
            && !self.continues
            && sequence == self.sequence.wrapping_sub(1)
            && prefix.first() == Some(&0xFF)
    }

    fn first(&mut self, length: usize, prefix: &[u8]) -> Result<(), ScanError> {
        match prefix.first() {
            None => Err(ScanError::Empty("a reply")),
            Some(0x00) => self.ok(prefix, "OK"),
            Some(0xFB) => Err(ScanError::LocalInfile),
            Some(0xFF) => self.error(prefix),
            Some(_) => {
                let mut rest = prefix;
                let columns = length_encoded(&mut rest).ok_or(ScanError::Broken("column count"))?;
                if columns == 0 || columns > COLUMNS_MAX || length > 9 {
                    return Err(ScanError::Broken("column count"));
                }
                self.reply.result_set = true;
                self.state = State::Columns(columns);
                Ok(())
            }
        }
    }

    fn column(&mut self, left: u64, prefix: &[u8]) -> Result<(), ScanError> {
        match (prefix.first(), left, self.deprecate_eof) {
            (None, ..) => return Err(ScanError::Empty("a column definition")),
            (Some(0xFF), ..) => return self.error(prefix),
            (_, 2.., _) => self.state = State::Columns(left - 1),
            (_, _, false) => self.state = State::ColumnsEnd,
            (_, _, true) => self.state = State::Rows,
        }
        Ok(())
    }

    fn row(&mut self, length: usize, prefix: &[u8]) -> Result<(), ScanError> {
        match prefix.first() {
            None => Err(ScanError::Empty("a row")),
            Some(0xFF) => self.error(prefix),
            Some(0xFE) if self.deprecate_eof && length < PAYLOAD_MAX => self.ok(prefix, "closing"),
            Some(0xFE) if !self.deprecate_eof && length < 9 => self.eof(prefix),
            Some(_) => {
                self.reply.rows += 1;
                Ok(())
            }
        }
    }

    /// OK: header, affected rows, last insert id, status flags, warnings.
    fn ok(&mut self, prefix: &[u8], what: &'static str) -> Result<(), ScanError> {
        let mut rest = &prefix[1..];
        let broken = ScanError::Broken(what);
        let affected = length_encoded(&mut rest).ok_or(broken)?;
        length_encoded(&mut rest).ok_or(broken)?;
        let [f0, f1, w0, w1, ..] = *rest else { return Err(broken) };
        self.reply.affected_rows = self.reply.affected_rows.saturating_add(affected);
        self.end_of_result([f0, f1], [w0, w1]);
        Ok(())
    }

    /// EOF: header, warnings, status flags.
    fn eof(&mut self, prefix: &[u8]) -> Result<(), ScanError> {
        let [_, w0, w1, f0, f1, ..] = *prefix else { return Err(ScanError::Broken("EOF")) };
        self.end_of_result([f0, f1], [w0, w1]);
        Ok(())
    }

    fn end_of_result(&mut self, flags: [u8; 2], warnings: [u8; 2]) {
        self.reply.warnings = self.reply.warnings.saturating_add(u16::from_le_bytes(warnings));
        self.state = State::First;
        self.is_last = u16::from_le_bytes(flags) & MORE_RESULTS == 0;
    }

    fn error(&mut self, prefix: &[u8]) -> Result<(), ScanError> {
        let error = ServerError::parse(prefix).ok_or(ScanError::Broken("error"))?;
        self.error = Some(Box::new(error));
        self.is_last = true;
        Ok(())
    }

    fn keep_message(&mut self, bytes: &[u8]) {
        if let Some(error) = &mut self.error {
            let room = MESSAGE_MAX.saturating_sub(error.message.len());
            error.message.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    /// The reply is whole: hands it out and expects the next one.
    fn finish(&mut self, consumed: usize) -> Scan {
        let reply = std::mem::take(&mut self.reply);
        let error = self.error.take();
        self.state = State::First;
        self.sequence = 1;
        self.is_last = false;
        match error {
            Some(error) => Scan::Failed { consumed, error },
            None => Scan::Done { consumed, reply },
        }
    }
}

/// The three-byte length of a packet header.
fn payload_length(header: &[u8]) -> usize {
    usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16
}

/// Takes a length-encoded integer from the front; `None` where there is none.
fn length_encoded(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    let width = match first {
        0..=0xFA => {
            *bytes = rest;
            return Some(u64::from(first));
        }
        0xFC => 2,
        0xFD => 3,
        0xFE => 8,
        _ => return None,
    };
    let (number, rest) = rest.split_at_checked(width)?;
    *bytes = rest;
    Some(number.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
}
