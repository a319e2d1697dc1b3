//! A session of the lean client that has joined the sockets of a thread: nobody wakes it, so each
//! step of it must come with a telling. On a server of a few lines, over TCP and a Unix socket.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use gridbench::driver::wire::{WireDriver, WireSession};
use gridbench::driver::{Arrivals, Driver, DriverError, Session, Sockets};
use gridbench::model::{Address, Endpoint, Request, Secret};

const LIMIT: Duration = Duration::from_secs(20);
/// More than the buffers of any socket hold.
const LONG: usize = 12 << 20;
const NUMBER: usize = 3;

/// What the server does with a statement.
#[derive(Clone, Copy)]
enum Act {
    /// Answers, byte by byte.
    Dribble,
    /// Answers each second packet: the first one's sender has to be patient.
    Late,
    /// Answers and hangs up at once.
    Last,
    /// Hangs up; what was sent and not read makes that a reset.
    Reset,
    /// Says what nobody asked for, and hangs up.
    LastWord,
}

#[test]
fn a_reply_in_pieces_is_read_to_its_end() {
    on_each_transport(Act::Dribble, |sockets, session| {
        for _ in 0..3 {
            assert_eq!(send(sockets, session, "DO 1").unwrap().affected_rows, 1);
        }
    });
}

#[test]
fn a_statement_that_no_socket_takes_at_once_is_written_to_its_end() {
    on_each_transport(Act::Late, |sockets, session| {
        for _ in 0..2 {
            let sql = "x".repeat(LONG);
            assert_eq!(send(sockets, session, &sql).unwrap().affected_rows, 1);
            assert_eq!(send(sockets, session, "DO 1").unwrap().affected_rows, 1);
        }
    });
}

#[test]
fn a_statement_is_prepared_on_the_way() {
    on_each_transport(Act::Late, |sockets, session| {
        session.expect_statements(&Arc::from(["DO 1".to_owned(), "DO 2".to_owned()]), 1);
        for slot in [0, 1, 1, 0] {
            let request = Request { slot: Some(slot), ..Request::default() };
            assert_eq!(until_done(sockets, session.send(&request)).unwrap().affected_rows, 1);
        }
    });
}

#[test]
fn an_end_that_came_with_the_reply_is_seen_by_the_next_statement() {
    on_each_transport(Act::Last, |sockets, session| {
        assert!(send(sockets, session, "DO 1").is_ok());
        assert!(matches!(send(sockets, session, "DO 1"), Err(DriverError::Lost { .. })));
    });
}

#[test]
fn a_connection_that_breaks_while_a_reply_is_due_is_lost() {
    on_each_transport(Act::Reset, |sockets, session| {
        assert!(matches!(send(sockets, session, "DO 1"), Err(DriverError::Lost { .. })));
    });
}

#[test]
fn what_came_while_nothing_was_asked_is_seen_by_the_next_statement() {
    on_each_transport(Act::LastWord, |sockets, session| {
        assert!(send(sockets, session, "DO 1").is_ok());
        // Its telling is used up before the next statement is sent.
        let mut arrivals = Arrivals::default();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(100) {
            sockets.arrivals(&mut arrivals, drop).unwrap();
            thread::sleep(Duration::from_millis(1));
        }
        assert!(matches!(send(sockets, session, "DO 1"), Err(DriverError::Lost { .. })));
    });
}

/// Joins a session, over each transport, and hands it to the check.
fn on_each_transport(act: Act, check: impl Fn(&Sockets, &mut WireSession)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let unix = UnixListener::bind(&path).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    thread::spawn(move || serve(unix.accept().unwrap().0, act));
    thread::spawn(move || serve(tcp.accept().unwrap().0, act));
    for address in [Address::Unix(path), Address::Tcp { host: "127.0.0.1".into(), port }] {
        let endpoint = Endpoint::new(address, "u", Secret::new(""));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let sockets = Rc::new(Sockets::new(NUMBER + 1).unwrap());
        let joined = runtime.block_on(async {
            WireDriver::new(&endpoint).connect().await.unwrap().join(&sockets, NUMBER)
        });
        let mut session = joined.unwrap();
        // From here on no runtime is needed.
        drop(runtime);
        check(&sockets, &mut session);
    }
}

fn send(
    sockets: &Sockets,
    session: &mut WireSession,
    sql: &str,
) -> Result<gridbench::driver::Reply, DriverError> {
    until_done(sockets, session.send(&Request { text: sql.into(), ..Request::default() }))
}

/// Polls once, and then only when something arrived.
fn until_done<F: Future>(sockets: &Sockets, future: F) -> F::Output {
    let begin = Instant::now();
    let mut future = pin!(future);
    let mut arrivals = Arrivals::default();
    let mut has_arrived = true;
    loop {
        if has_arrived
            && let Poll::Ready(output) =
                future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        {
            return output;
        }
        assert!(begin.elapsed() < LIMIT, "nobody told that it can go on");
        has_arrived = false;
        let tell = |number| has_arrived |= number == NUMBER;
        sockets.arrivals(&mut arrivals, tell).unwrap();
        if !has_arrived {
            thread::sleep(Duration::from_micros(200));
        }
    }
}

/// Protocol 4.1, transactions, authentication by plug-in, no EOF packets.
const CAPABILITIES: u32 = 0x0200 | 0x2000 | 0x8000 | 0x0008_0000 | 0x0100_0000;
const OK: &[u8] = &[0, 1, 0, 2, 0, 0, 0];

fn serve(mut stream: impl Read + Write, act: Act) -> io::Result<()> {
    stream.write_all(&packet(0, &greeting()))?;
    read(&mut stream)?;
    stream.write_all(&packet(2, &[0, 0, 0, 2, 0, 0, 0]))?;
    loop {
        if matches!(act, Act::Reset) {
            return stream.read_exact(&mut [0]);
        }
        let payload = read(&mut stream)?;
        let answer = match payload[0] {
            0x01 => return Ok(()),
            0x19 => continue,
            0x16 => packet(1, &[0; 12]),
            _ => packet(1, OK),
        };
        match act {
            Act::Dribble => {
                for byte in answer {
                    stream.write_all(&[byte])?;
                    thread::sleep(Duration::from_millis(1));
                }
            }
            Act::Late => {
                thread::sleep(Duration::from_millis(5));
                stream.write_all(&answer)?;
            }
            Act::Last => return stream.write_all(&answer),
            Act::LastWord => {
                stream.write_all(&answer)?;
                thread::sleep(Duration::from_millis(20));
                return stream.write_all(&packet(0, b"\xff\x1d\x04#08S01going away"));
            }
            Act::Reset => {}
        }
    }
}

/// The payload of the next packet.
fn read(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut header = [0; 4];
    stream.read_exact(&mut header)?;
    let mut payload = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    stream.read_exact(&mut payload)?;
    Ok(payload)
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, ..] = payload.len().to_le_bytes();
    [&[a, b, c, sequence], payload].concat()
}

fn greeting() -> Vec<u8> {
    let [c0, c1, c2, c3] = CAPABILITIES.to_le_bytes();
    let mut greeting = b"\x0a8.0.0\0\x01\0\0\0abcdefgh\0".to_vec();
    greeting.extend([c0, c1, 0xFF, 2, 0, c2, c3, 21]);
    greeting.extend([0; 10]);
    greeting.extend(b"abcdefghijkl\0mysql_native_password\0");
    greeting
}
