//! Statements as bytes on the wire, written into a buffer that is kept.
//!
//! Must not know: sockets, replies. Source of the format: COM_QUERY, COM_STMT_PREPARE and
//! COM_STMT_EXECUTE in the client/server protocol pages of the MySQL and MariaDB manuals.

use crate::model::{Param, Request};

/// Longest payload of one packet; a longer one goes on in the next.
const PAYLOAD_MAX: usize = 0xFF_FFFF;

const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_CLOSE: u8 = 0x19;
const TYPE_LONGLONG: [u8; 2] = [0x08, 0x00];
const TYPE_VAR_STRING: [u8; 2] = [0xFD, 0x00];

/// Appends a text query.
pub(in crate::driver) fn query(sql: &str, out: &mut Vec<u8>) {
    packet(0, out, |out| {
        out.push(COM_QUERY);
        out.extend_from_slice(sql.as_bytes());
    });
}

/// Appends the request for a prepared statement.
pub(in crate::driver) fn prepare(sql: &str, out: &mut Vec<u8>) {
    packet(0, out, |out| {
        out.push(COM_STMT_PREPARE);
        out.extend_from_slice(sql.as_bytes());
    });
}

/// Appends the end of a statement, to which the server says nothing.
pub(super) fn close(statement: u32, out: &mut Vec<u8>) {
    packet(0, out, |out| {
        out.push(COM_STMT_CLOSE);
        out.extend_from_slice(&statement.to_le_bytes());
    });
}

/// Appends the execution of the statement that the server knows by this number. Parameter types
/// are always sent, so an execution does not lean on an earlier one.
pub(in crate::driver) fn execute(statement: u32, request: &Request, out: &mut Vec<u8>) {
    packet(0, out, |out| {
        out.push(COM_STMT_EXECUTE);
        out.extend_from_slice(&statement.to_le_bytes());
        // No cursor, one iteration.
        out.extend_from_slice(&[0, 1, 0, 0, 0]);
        if request.params.is_empty() {
            return;
        }
        // No parameter is NULL.
        out.resize(out.len() + request.params.len().div_ceil(8), 0);
        out.push(1);
        for param in &request.params {
            out.extend_from_slice(match param {
                Param::Int(_) => &TYPE_LONGLONG,
                Param::Text { .. } => &TYPE_VAR_STRING,
            });
        }
        for param in &request.params {
            match *param {
                Param::Int(number) => out.extend_from_slice(&number.to_le_bytes()),
                Param::Text { start, len } => {
                    length_encoded(len, out);
                    out.extend_from_slice(&request.text.as_bytes()[start..start + len]);
                }
            }
        }
    });
}

/// Appends a payload as one packet, or as several where it is longer than one can be.
pub(in crate::driver) fn packet(
    sequence: u8,
    out: &mut Vec<u8>,
    payload: impl FnOnce(&mut Vec<u8>),
) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    payload(out);
    let length = out.len() - start - 4;
    if length < PAYLOAD_MAX {
        out[start..start + 4].copy_from_slice(&header(length, sequence));
        return;
    }
    let whole = out.split_off(start + 4);
    out.truncate(start);
    let mut sequence = sequence;
    let mut rest = &whole[..];
    loop {
        let (part, next) = rest.split_at(rest.len().min(PAYLOAD_MAX));
        out.extend_from_slice(&header(part.len(), sequence));
        out.extend_from_slice(part);
        if part.len() < PAYLOAD_MAX {
            return;
        }
        rest = next;
        sequence = sequence.wrapping_add(1);
    }
}

/// In how many packets one payload travels, by the bytes of all of them.
pub(super) fn packets_in(bytes: usize) -> usize {
    bytes / (PAYLOAD_MAX + 4) + 1
}

fn header(length: usize, sequence: u8) -> [u8; 4] {
    let [a, b, c, ..] = length.to_le_bytes();
    [a, b, c, sequence]
}

fn length_encoded(number: usize, out: &mut Vec<u8>) {
    let bytes = (number as u64).to_le_bytes();
    match number {
        0..=0xFA => out.push(bytes[0]),
        0xFB..=0xFFFF => out.extend_from_slice(&[0xFC, bytes[0], bytes[1]]),
        0x1_0000..=0xFF_FFFF => out.extend_from_slice(&[0xFD, bytes[0], bytes[1], bytes[2]]),
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_query_is_header_command_and_sql() {
        let mut out = Vec::new();
        query("BEGIN", &mut out);
        assert_eq!(out, b"\x06\0\0\0\x03BEGIN");
    }

    #[test]
    fn an_execution_carries_types_and_values() {
        let request = Request {
            slot: Some(0),
            text: "abc".into(),
            params: vec![Param::Text { start: 1, len: 2 }, Param::Int(258)],
        };
        let mut out = Vec::new();
        execute(7, &request, &mut out);
        let expected =
            b"\x1b\0\0\0\x17\x07\0\0\0\0\x01\0\0\0\0\x01\xfd\0\x08\0\x02bc\x02\x01\0\0\0\0\0\0";
        assert_eq!(out, expected);
    }

    #[test]
    fn a_payload_of_the_longest_size_is_followed_by_an_empty_packet() {
        let mut out = Vec::new();
        packet(0, &mut out, |out| out.resize(out.len() + PAYLOAD_MAX, b'x'));
        assert_eq!(out[..4], [0xFF, 0xFF, 0xFF, 0]);
        assert_eq!(out[out.len() - 4..], [0, 0, 0, 1]);
        assert_eq!(out.len(), 4 + PAYLOAD_MAX + 4);
    }

    #[test]
    fn packets_are_counted_by_their_bytes() {
        let cases = [(0, 1), (PAYLOAD_MAX - 1, 1), (PAYLOAD_MAX, 2), (2 * PAYLOAD_MAX, 3)];
        for (length, packets) in cases {
            let mut out = Vec::new();
            packet(0, &mut out, |out| out.resize(out.len() + length, b'x'));
            assert_eq!(packets_in(out.len()), packets, "{length}");
            assert_eq!(usize::from(out[out.len() - length % PAYLOAD_MAX - 1]), packets - 1);
        }
    }

    #[test]
    fn a_statement_is_closed_by_its_number() {
        let mut out = Vec::new();
        close(258, &mut out);
        assert_eq!(out, b"\x05\0\0\0\x19\x02\x01\0\0");
    }

    #[test]
    fn lengths_are_encoded_in_one_three_four_or_nine_bytes() {
        for (number, first, width) in
            [(250, 250, 1), (251, 0xFC, 3), (65_536, 0xFD, 4), (16_777_216, 0xFE, 9)]
        {
            let mut out = Vec::new();
            length_encoded(number, &mut out);
            assert_eq!((out[0], out.len()), (first, width), "{number}");
        }
    }
}
