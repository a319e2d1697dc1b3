//! The reply scanner: bytes of real servers, cut anywhere, and bytes that no server sends.
//! `GRIDBENCH_FUZZ_CASES=3000000 cargo test --release --test wire_scan` is the soak.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

use gridbench::driver::Reply;
use gridbench::driver::wire::scan::{Scan, ScanError, Scanner};
use proptest::prelude::*;

/// A packet with this number and payload.
fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, ..] = payload.len().to_le_bytes();
    [&[a, b, c, sequence], payload].concat()
}

fn packets(payloads: &[&[u8]]) -> Vec<u8> {
    // Numbers begin with 1, behind the client's own packet, and wrap at 256.
    let numbered = payloads.iter().zip(1_usize..);
    numbered.flat_map(|(payload, number)| packet((number % 256) as u8, payload)).collect()
}

/// `SELECT c FROM sbtest1 WHERE id=1` on MariaDB 10.11: the definition of its one column.
const COLUMN: &[u8] =
    b"\x03def\x06sbtest\x07sbtest1\x07sbtest1\x01c\x01c\x0c\x2d\0\xe0\x01\0\0\xfe\x01\0\0\0\0";
const EOF: &[u8] = b"\xfe\x00\x00\x02\x00";
const CLOSING_OK: &[u8] = b"\xfe\x00\x00\x02\x00\x00\x00";

fn result_set(deprecate_eof: bool, rows: usize) -> Vec<u8> {
    let row = [&[119_u8][..], &[b'1'; 119]].concat();
    let mut payloads: Vec<&[u8]> = vec![b"\x01", COLUMN];
    if !deprecate_eof {
        payloads.push(EOF);
    }
    payloads.extend(std::iter::repeat_n(row.as_slice(), rows));
    payloads.push(if deprecate_eof { CLOSING_OK } else { EOF });
    packets(&payloads)
}

/// Feeds in pieces of this many bytes; what came out, and how much was consumed in all.
fn in_pieces(deprecate_eof: bool, bytes: &[u8], size: usize) -> Result<(Scan, usize), ScanError> {
    let mut scanner = Scanner::new(deprecate_eof);
    let mut before = 0;
    for piece in bytes.chunks(size) {
        match scanner.feed(piece)? {
            Scan::More => before += piece.len(),
            scan @ (Scan::Done { consumed, .. } | Scan::Failed { consumed, .. }) => {
                return Ok((scan, before + consumed));
            }
        }
    }
    Ok((Scan::More, before))
}

#[track_caller]
fn counts(deprecate_eof: bool, bytes: &[u8], expected: Reply) {
    for size in [1, 2, 3, 5, 7, 64, bytes.len()] {
        let (scan, consumed) = in_pieces(deprecate_eof, bytes, size).unwrap();
        let Scan::Done { reply, .. } = scan else { panic!("{scan:?} in pieces of {size}") };
        assert_eq!((reply, consumed), (expected, bytes.len()), "in pieces of {size}");
    }
}

#[test]
fn an_ok_packet_counts_affected_rows_and_warnings() {
    // UPDATE that changed one row with two warnings, and text behind it.
    let ok = packets(&[b"\x00\x01\x00\x02\x00\x02\x00(Rows matched: 1  Changed: 1  Warnings: 0"]);
    counts(true, &ok, Reply { affected_rows: 1, warnings: 2, ..Reply::default() });
    let many = packets(&[b"\x00\xfc\x00\x01\xfd\x01\x02\x03\x02\x00\x00\x00"]);
    counts(false, &many, Reply { affected_rows: 256, ..Reply::default() });
}

#[test]
fn rows_are_counted_with_and_without_eof() {
    for rows in [0, 1, 100, 300] {
        let expected = Reply { result_set: true, rows: rows as u64, ..Reply::default() };
        counts(true, &result_set(true, rows), expected);
        counts(false, &result_set(false, rows), expected);
    }
}

#[test]
fn a_row_may_begin_like_the_end() {
    // Binary rows begin with 0; text rows with 0xFB for NULL, with 0 for an empty value.
    let rows: [&[u8]; 3] = [b"\x00\x00\x77", b"\xfb", b"\x00"];
    let mut payloads: Vec<&[u8]> = vec![b"\x01", COLUMN];
    payloads.extend(rows);
    payloads.push(CLOSING_OK);
    counts(true, &packets(&payloads), Reply { result_set: true, rows: 3, ..Reply::default() });
}

#[test]
fn a_row_of_16_megabytes_is_one_row() {
    const LONGEST: usize = 0xFF_FFFF;
    // The length of such a value takes nine bytes and begins with 0xFE, as a closing packet does.
    let value = [&b"\xfe\x00\x00\x00\x01\x00\x00\x00\x00"[..], &vec![b'x'; LONGEST - 9]].concat();
    let mut bytes = packets(&[b"\x01", COLUMN, &value, b"tail"]);
    bytes.extend(packet(5, CLOSING_OK));
    let (scan, consumed) = in_pieces(true, &bytes, 65_536).unwrap();
    let reply = Reply { result_set: true, rows: 1, ..Reply::default() };
    assert!(matches!(scan, Scan::Done { reply: found, .. } if found == reply), "{scan:?}");
    assert_eq!(consumed, bytes.len());
}

#[test]
fn an_error_keeps_code_state_and_words() {
    let error =
        packets(&[b"\xff\xbd\x04#40001Deadlock found when trying to get lock; try restarting"]);
    for size in [1, 4, 30, error.len()] {
        let (scan, consumed) = in_pieces(true, &error, size).unwrap();
        let Scan::Failed { error: found, .. } = scan else { panic!("{scan:?}") };
        assert_eq!((found.code, found.sqlstate.as_slice()), (1213, &b"40001"[..]));
        assert!(found.message.starts_with(b"Deadlock") && found.message.ends_with(b"restarting"));
        assert_eq!(consumed, error.len());
    }
    let in_rows = packets(&[b"\x01", COLUMN, b"\x01a", b"\xff\x25\x05#70100interrupted"]);
    let (scan, _) = in_pieces(true, &in_rows, in_rows.len()).unwrap();
    assert!(matches!(scan, Scan::Failed { error, .. } if error.code == 1317));
}

#[test]
fn more_results_belong_to_the_same_reply() {
    let more = b"\xfe\x00\x00\x0a\x00\x00\x00";
    let bytes = packets(&[b"\x01", COLUMN, b"\x01a", more, b"\x00\x02\x00\x02\x00\x00\x00"]);
    let expected = Reply { result_set: true, rows: 1, affected_rows: 2, warnings: 0 };
    counts(true, &bytes, expected);
}

#[test]
fn the_scanner_is_ready_for_the_next_reply() {
    let mut scanner = Scanner::new(true);
    for rows in [3, 0, 7] {
        let bytes = [result_set(true, rows), result_set(true, 1)].concat();
        let Ok(Scan::Done { consumed, reply }) = scanner.feed(&bytes) else { panic!("{rows}") };
        assert_eq!(reply.rows, rows as u64);
        assert_eq!(consumed, bytes.len() - result_set(true, 1).len());
    }
}

#[test]
fn nonsense_is_an_error() {
    let cases: [(&[u8], ScanError); 6] = [
        (
            &packet(2, b"\x00\x00\x00\x02\x00\x00\x00"),
            ScanError::Sequence { expected: 1, found: 2 },
        ),
        (&packet(1, b""), ScanError::Empty("a reply")),
        (&packet(1, b"\xfbsecret.csv"), ScanError::LocalInfile),
        (&packet(1, b"\x00\x01"), ScanError::Broken("OK")),
        (&packet(1, b"\xff\x01"), ScanError::Broken("error")),
        (&packet(1, b"\xfd\xff\xff\xff"), ScanError::Broken("column count")),
    ];
    for (bytes, expected) in cases {
        assert_eq!(in_pieces(true, bytes, bytes.len()), Err(expected), "{bytes:?}");
    }
}

/// Two thousand cases of each property, or as many as a soak asks for.
fn cases() -> ProptestConfig {
    let asked = std::env::var("GRIDBENCH_FUZZ_CASES").ok().and_then(|text| text.parse().ok());
    let cases = asked.unwrap_or(2_000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// A packet that might stand in a reply: mostly in order, and beginning with a byte that means
/// something; some claim more bytes than they have.
fn plausible() -> impl Strategy<Value = (Option<u8>, Option<u32>, Vec<u8>)> {
    let first = prop::sample::select(&b"\x00\x01\x02\xfb\xfc\xfd\xfe\xff"[..]);
    let payload = (first, prop::collection::vec(any::<u8>(), 0..30))
        .prop_map(|(first, rest)| [&[first], &rest[..]].concat());
    let payload = prop_oneof![
        4 => payload,
        2 => Just(CLOSING_OK.to_vec()),
        2 => Just(EOF.to_vec()),
        1 => Just(b"\xfe\x00\x00\x0a\x00\x00\x00".to_vec()),
        2 => Just(COLUMN.to_vec()),
        1 => Just(Vec::new()),
        1 => Just(b"\xff\xbd\x04#40001Deadlock".to_vec()),
    ];
    let sequence = prop::option::weighted(0.03, any::<u8>());
    let length =
        prop::option::weighted(0.03, prop_oneof![Just(0xFF_FFFF), 0_u32..200, 0_u32..0xFF_FFFF]);
    (sequence, length, payload)
}

/// All replies that these bytes hold, fed in pieces; one line each.
fn replies(deprecate_eof: bool, bytes: &[u8], size: usize) -> Vec<String> {
    let mut scanner = Scanner::new(deprecate_eof);
    let mut replies = Vec::new();
    for piece in bytes.chunks(size) {
        let mut rest = piece;
        loop {
            let consumed = match scanner.feed(rest) {
                Ok(Scan::More) => break,
                Ok(Scan::Done { consumed, reply }) => {
                    replies.push(format!("{reply:?}"));
                    consumed
                }
                Ok(Scan::Failed { consumed, error }) => {
                    assert!(error.message.len() <= 1024 && error.sqlstate.len() <= 5);
                    replies.push(format!("{error:?}"));
                    consumed
                }
                Err(error) => {
                    replies.push(error.to_string());
                    return replies;
                }
            };
            assert!(consumed <= rest.len());
            rest = &rest[consumed..];
            if rest.is_empty() {
                break;
            }
        }
    }
    replies
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn any_bytes_cut_anywhere_give_the_same_answer_and_no_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        size in 1_usize..50,
        deprecate_eof in any::<bool>(),
    ) {
        let whole = replies(deprecate_eof, &bytes, bytes.len().max(1));
        prop_assert_eq!(whole, replies(deprecate_eof, &bytes, size));
    }

    #[test]
    fn a_damaged_reply_gives_the_same_answer_and_no_panic(
        place in 0_usize..2_000,
        value in any::<u8>(),
        size in 1_usize..50,
        deprecate_eof in any::<bool>(),
    ) {
        let mut bytes = result_set(deprecate_eof, 12);
        let length = bytes.len();
        bytes[place % length] = value;
        let whole = in_pieces(deprecate_eof, &bytes, length);
        prop_assert_eq!(outcome(whole), outcome(in_pieces(deprecate_eof, &bytes, size)));
    }

    #[test]
    fn plausible_packets_cut_anywhere_give_the_same_answers_and_no_panic(
        parts in prop::collection::vec(plausible(), 1..12),
        size in 1_usize..50,
        deprecate_eof in any::<bool>(),
    ) {
        let mut bytes = Vec::new();
        let mut due = 1_u8;
        for (sequence, length, payload) in parts {
            let start = bytes.len();
            bytes.extend(packet(sequence.unwrap_or(due), &payload));
            if let Some(length) = length {
                bytes[start..start + 3].copy_from_slice(&length.to_le_bytes()[..3]);
            }
            due = due.wrapping_add(1);
            // What ends a reply in one of two states starts the numbers anew.
            if payload.first() == Some(&0xFF) || payload == CLOSING_OK {
                due = 1;
            }
        }
        let whole = replies(deprecate_eof, &bytes, bytes.len());
        prop_assert_eq!(whole, replies(deprecate_eof, &bytes, size));
    }
}

/// What must not depend on how the bytes were cut.
fn outcome(result: Result<(Scan, usize), ScanError>) -> String {
    match result {
        Ok((Scan::Done { reply, .. }, total)) => format!("{reply:?} {total}"),
        Ok((Scan::Failed { error, .. }, total)) => format!("{error:?} {total}"),
        Ok((Scan::More, _)) => "more".to_owned(),
        Err(error) => error.to_string(),
    }
}
