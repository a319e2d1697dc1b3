//! One connection of the server: bytes in, answers out.
//!
//! Must not know: sockets. Source of the formats: "Connection Phase" and "Command Phase" in the
//! client/server protocol pages of the MySQL manual.

use super::answers::{self, VERSION};
use super::packet::{CHARSET, Mode, TYPE_VAR_STRING, Writer, column};
use super::replies::{Kind, Replies};

/// Longest packet that is taken; sysbench's longest INSERT is half of it.
const PACKET_MAX: usize = 1 << 20;

const CLIENT_DEPRECATE_EOF: u32 = 0x0100_0000;
/// LONG_PASSWORD, FOUND_ROWS, LONG_FLAG, CONNECT_WITH_DB, PROTOCOL_41, INTERACTIVE,
/// TRANSACTIONS, SECURE_CONNECTION, MULTI_STATEMENTS, MULTI_RESULTS, PS_MULTI_RESULTS,
/// PLUGIN_AUTH, CONNECT_ATTRS, PLUGIN_AUTH_LENENC_CLIENT_DATA, DEPRECATE_EOF.
const CAPABILITIES: u32 = 0x013F_A60F;
/// Twenty bytes that a client mixes into its password; nothing is done with the result.
const NONCE: &[u8; 20] = b"gridbench-null-nonce";

const COM_QUIT: u8 = 0x01;
const COM_INIT_DB: u8 = 0x02;
const COM_QUERY: u8 = 0x03;
const COM_FIELD_LIST: u8 = 0x04;
const COM_STATISTICS: u8 = 0x09;
const COM_PING: u8 = 0x0E;
const COM_CHANGE_USER: u8 = 0x11;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_SEND_LONG_DATA: u8 = 0x18;
const COM_STMT_CLOSE: u8 = 0x19;
const COM_STMT_RESET: u8 = 0x1A;
const COM_SET_OPTION: u8 = 0x1B;
const COM_RESET_CONNECTION: u8 = 0x1F;

/// What a packet is answered with.
#[derive(Debug)]
pub(super) enum Answer<'a> {
    /// Bytes that all connections share.
    Shared(&'a [u8]),
    /// Bytes made for this packet.
    Own(Vec<u8>),
    /// These bytes, and the end of the connection.
    Last(Vec<u8>),
    /// Nothing.
    Silence,
    /// The client said goodbye.
    Goodbye,
}

/// What the server knows of a client.
#[derive(Debug, Default)]
pub(super) struct Connection {
    is_logged_in: bool,
    deprecate_eof: bool,
    /// Statements prepared so far.
    prepared: u32,
}

/// The first packet of a connection.
pub(super) fn greeting() -> Vec<u8> {
    let [c0, c1, c2, c3] = CAPABILITIES.to_le_bytes();
    let mut payload = vec![10];
    payload.extend_from_slice(VERSION.as_bytes());
    payload.extend_from_slice(&[0, 1, 0, 0, 0]);
    payload.extend_from_slice(&NONCE[..8]);
    payload.extend_from_slice(&[0, c0, c1, CHARSET, 0x02, 0x00, c2, c3, 21]);
    payload.extend_from_slice(&[0; 10]);
    payload.extend_from_slice(&NONCE[8..]);
    payload.extend_from_slice(b"\0mysql_native_password\0");
    let mut writer = Writer::new(0);
    writer.packet(&payload);
    writer.into_bytes()
}

/// What stands at the front of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Front<'a> {
    /// A packet, and what follows it.
    Packet { sequence: u8, payload: &'a [u8], rest: &'a [u8] },
    /// The beginning of one.
    Part,
    /// One that is longer than is taken.
    TooLong,
}

impl<'a> Front<'a> {
    pub(super) fn of(input: &'a [u8]) -> Self {
        let [a, b, c, sequence, ref rest @ ..] = *input else { return Self::Part };
        let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
        match rest.split_at_checked(length) {
            _ if length > PACKET_MAX => Self::TooLong,
            None => Self::Part,
            Some((payload, rest)) => Self::Packet { sequence, payload, rest },
        }
    }
}

/// The end of a connection that sent too much.
pub(super) fn too_long() -> Vec<u8> {
    error(1153, "08S01", "a packet of more than a megabyte is not taken here")
}

impl Connection {
    /// Takes a packet of the client.
    pub(super) fn answer<'a>(
        &mut self,
        sequence: u8,
        payload: &[u8],
        replies: &'a Replies,
    ) -> Answer<'a> {
        if !self.is_logged_in {
            return self.login(sequence, payload);
        }
        let Some((&command, body)) = payload.split_first() else {
            return Answer::Last(error(1047, "08S01", "an empty packet"));
        };
        let mode = self.mode(command == COM_STMT_EXECUTE);
        match command {
            COM_QUERY => match Kind::of(body) {
                Some(kind) => Answer::Shared(replies.get(kind, mode)),
                None => Answer::Own(answers::to_query(&String::from_utf8_lossy(body), mode)),
            },
            COM_STMT_EXECUTE => match body.first().and_then(|code| Kind::of_code(*code)) {
                Some(kind) => Answer::Shared(replies.get(kind, mode)),
                None => Answer::Own(error(1243, "HY000", "an unknown prepared statement")),
            },
            COM_STMT_PREPARE => Answer::Own(self.prepare(body)),
            COM_QUIT => Answer::Goodbye,
            COM_STMT_CLOSE | COM_STMT_SEND_LONG_DATA => Answer::Silence,
            COM_PING | COM_INIT_DB | COM_CHANGE_USER | COM_STMT_RESET | COM_RESET_CONNECTION => {
                Answer::Shared(replies.get(Kind::Nothing, mode))
            }
            COM_FIELD_LIST | COM_SET_OPTION => Answer::Own(end(mode)),
            COM_STATISTICS => {
                let mut writer = Writer::new(1);
                writer.packet(b"Uptime: 1  Threads: 1  Questions: 0");
                Answer::Own(writer.into_bytes())
            }
            _ => Answer::Own(error(1047, "08S01", "this command is not known here")),
        }
    }

    /// Everybody is let in; of the response only the client's capabilities are read.
    fn login<'a>(&mut self, sequence: u8, payload: &[u8]) -> Answer<'a> {
        let [c0, c1, c2, c3, ..] = *payload else {
            return Answer::Last(error(1043, "08S01", "a broken handshake"));
        };
        let shared = u32::from_le_bytes([c0, c1, c2, c3]) & CAPABILITIES;
        self.is_logged_in = true;
        self.deprecate_eof = shared & CLIENT_DEPRECATE_EOF != 0;
        let mut writer = Writer::new(sequence.wrapping_add(1));
        writer.ok(0);
        Answer::Own(writer.into_bytes())
    }

    /// The kind of a statement is the lowest byte of its number: nothing is kept of it.
    fn prepare(&mut self, sql: &[u8]) -> Vec<u8> {
        // BEGIN too, as MariaDB does.
        let Some(kind) = Kind::of(sql) else {
            return error(1295, "HY000", "this is not supported as a prepared statement here");
        };
        self.prepared = self.prepared.wrapping_add(1);
        let [n0, n1, n2, ..] = self.prepared.to_le_bytes();
        let columns = kind.columns();
        let parameters = vec![column("?", TYPE_VAR_STRING); parameters(sql)];
        let [c0, c1, ..] = columns.len().to_le_bytes();
        let [p0, p1, ..] = parameters.len().to_le_bytes();
        let mut writer = Writer::new(1);
        writer.packet(&[0, kind.code(), n0, n1, n2, c0, c1, p0, p1, 0, 0, 0]);
        for definitions in [parameters, columns] {
            for definition in &definitions {
                writer.packet(definition);
            }
            if !definitions.is_empty() && !self.deprecate_eof {
                writer.eof();
            }
        }
        writer.into_bytes()
    }

    fn mode(&self, binary: bool) -> Mode {
        Mode { deprecate_eof: self.deprecate_eof, binary }
    }
}

fn end(mode: Mode) -> Vec<u8> {
    let mut writer = Writer::new(1);
    writer.end_of_rows(mode);
    writer.into_bytes()
}

fn error(code: u16, sqlstate: &str, message: &str) -> Vec<u8> {
    let mut writer = Writer::new(1);
    writer.error(code, sqlstate, message);
    writer.into_bytes()
}

/// Question marks outside of quotes.
fn parameters(sql: &[u8]) -> usize {
    let mut quote = None;
    let mut count = 0;
    for byte in sql {
        match (quote, byte) {
            (Some(open), byte) if open == *byte => quote = None,
            (None, b'\'' | b'"' | b'`') => quote = Some(*byte),
            (None, b'?') => count += 1,
            _ => {}
        }
    }
    count.min(usize::from(u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged_in(capabilities: u32) -> Connection {
        let mut connection = Connection::default();
        let payload = [&capabilities.to_le_bytes()[..], &[0; 28]].concat();
        let replies = Replies::new();
        let answer = connection.answer(1, &payload, &replies);
        assert!(matches!(answer, Answer::Own(bytes) if bytes == b"\x07\0\0\x02\0\0\0\x02\0\0\0"));
        connection
    }

    #[test]
    fn a_prepared_statement_tells_its_parameters_and_columns() {
        let mut connection = logged_in(CLIENT_DEPRECATE_EOF);
        let bytes = connection.prepare(b"SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?");
        assert_eq!(bytes[..4], [12, 0, 0, 1]);
        assert_eq!(bytes[9..13], [1, 0, 2, 0], "one column, two parameters");
        assert_eq!(parameters(b"SELECT '?', \"?\", `?`, ?"), 1);
    }

    #[test]
    fn begin_and_commit_can_be_prepared() {
        let mut connection = logged_in(0);
        assert_eq!(connection.prepare(b"BEGIN")[4], 0);
        assert_eq!(connection.prepare(b"COMMIT")[4], 0);
    }

    #[test]
    fn bytes_that_no_client_sends_are_answered_or_end_the_connection() {
        let replies = Replies::new();
        for capabilities in [0, u32::MAX] {
            for command in 0..=u8::MAX {
                for body in [&b""[..], b"\xff", b"SELECT", b"\0\0\0\0\0\0\0\0\0"] {
                    let mut connection = logged_in(capabilities);
                    connection.answer(0, &[&[command], body].concat(), &replies);
                }
            }
        }
        assert!(matches!(Connection::default().answer(1, b"x", &replies), Answer::Last(_)));
    }

    #[test]
    fn packets_are_cut_where_they_end() {
        let packet = Front::Packet { sequence: 5, payload: b"ab", rest: b"\x01" };
        assert_eq!(Front::of(b"\x02\0\0\x05ab\x01"), packet);
        assert_eq!(Front::of(b"\x02\0\0\x05a"), Front::Part);
        assert_eq!(Front::of(b"\x02\0"), Front::Part);
        assert_eq!(Front::of(b"\0\0\xff\0"), Front::TooLong);
    }
}
