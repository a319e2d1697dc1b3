//! The least that a client can do: a bare epoll loop on one thread that sends prepared bytes and
//! looks at packet headers until the reply ends. No runtime, no timers, no histograms, no draws.
//! What `driver::wire` costs beyond this is what its comforts cost.
//!
//! Must not know: any server but [`super::NullServer`], whose replies it trusts.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::time::{ClockId, clock_gettime};
use preempt_rt::sched::{IntoSchedParams, Pid, Scheduler, set_scheduler};

use crate::driver::wire::encode;
use crate::model::Request;

const INPUT_BYTES: usize = 64 * 1024;
const EVENTS: usize = 1024;
const POLL_MS: u16 = 50;
/// Header and first byte of a packet: all that is looked at.
const HEAD: usize = 5;

/// What the floor is to do.
#[derive(Debug, Clone)]
pub struct FloorSetup {
    /// Where the server is.
    pub address: SocketAddr,
    /// Connections, each with one statement under way.
    pub connections: usize,
    /// Prepared on each connection, in the order of the slots that `event` names.
    pub prepared: Vec<String>,
    /// The statements of an event, sent over and over as they are.
    pub event: Vec<Request>,
    /// How long.
    pub duration: Duration,
}

/// What it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloorCount {
    /// Events whose last reply came.
    pub events: u64,
    /// Replies that came.
    pub queries: u64,
    /// Time from the first statement to the end.
    pub elapsed: Duration,
    /// Processor time of this thread in it.
    pub cpu: Duration,
}

/// Drives the load on this thread.
///
/// # Errors
/// The socket's, and `InvalidData` where the server is not the null server.
///
/// # Panics
/// If `event` is empty, or names a slot that `prepared` has not.
pub fn drive(setup: &FloorSetup) -> io::Result<FloorCount> {
    // As the load threads do, so that the two differ in nothing but what they do. Where it is
    // forbidden the load is as valid.
    let priority = 0.into_sched_params();
    let _ = set_scheduler(Pid::current_thread(), Scheduler::SCHED_BATCH, priority);
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    let mut lines = Vec::new();
    let mut handles = Vec::new();
    for number in 0..setup.connections {
        let mut stream = TcpStream::connect(setup.address)?;
        handles = open(&mut stream, &setup.prepared)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        // No reply fills the input: what has arrived is read whole, and one telling is enough.
        let arrival = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
        epoll.add(&stream, EpollEvent::new(arrival, number as u64))?;
        lines.push(Line { stream, step: 0, reply: ReplyEnd::default() });
    }
    let event: Vec<Vec<u8>> = setup.event.iter().map(|r| statement(r, &handles)).collect();
    let (start, cpu_start) = (Instant::now(), cpu_time()?);
    for line in &mut lines {
        line.stream.write_all(&event[0])?;
    }
    let (events, queries) = turn(&epoll, &mut lines, &event, start + setup.duration)?;
    let cpu = cpu_time()?.saturating_sub(cpu_start);
    Ok(FloorCount { events, queries, elapsed: start.elapsed(), cpu })
}

/// The loop itself; returns events and queries.
fn turn(
    epoll: &Epoll,
    lines: &mut [Line],
    event: &[Vec<u8>],
    end: Instant,
) -> io::Result<(u64, u64)> {
    let mut ready = vec![EpollEvent::empty(); EVENTS];
    let mut input = vec![0; INPUT_BYTES];
    let (mut events, mut queries) = (0, 0);
    while Instant::now() < end {
        let count = match epoll.wait(&mut ready, EpollTimeout::from(POLL_MS)) {
            Ok(count) => count,
            Err(Errno::EINTR) => continue,
            Err(errno) => return Err(errno.into()),
        };
        for ready in &ready[..count] {
            let line = &mut lines[ready.data() as usize];
            let length = line.stream.read(&mut input)?;
            if length == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if !line.reply.feed(&input[..length])? {
                continue;
            }
            queries += 1;
            line.step += 1;
            if line.step == event.len() {
                line.step = 0;
                events += 1;
            }
            line.stream.write_all(&event[line.step])?;
        }
    }
    Ok((events, queries))
}

struct Line {
    stream: TcpStream,
    step: usize,
    reply: ReplyEnd,
}

/// Finds the end of a reply by its packet headers.
#[derive(Debug, Default)]
struct ReplyEnd {
    stage: Stage,
    skip: usize,
    head: [u8; HEAD],
    head_length: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    #[default]
    First,
    Columns(u8),
    Rows,
    /// Only the rest of the last packet is missing.
    Last,
}

impl ReplyEnd {
    /// Whether the reply ends with these bytes.
    fn feed(&mut self, mut input: &[u8]) -> io::Result<bool> {
        loop {
            let skipped = self.skip.min(input.len());
            self.skip -= skipped;
            input = &input[skipped..];
            if self.skip == 0 && self.stage == Stage::Last {
                self.stage = Stage::First;
                return Ok(true);
            }
            if input.is_empty() {
                return Ok(false);
            }
            if self.head_length == 0 && input.len() >= HEAD {
                self.head.copy_from_slice(&input[..HEAD]);
                input = &input[HEAD..];
            } else {
                let taken = (HEAD - self.head_length).min(input.len());
                self.head[self.head_length..self.head_length + taken]
                    .copy_from_slice(&input[..taken]);
                self.head_length += taken;
                input = &input[taken..];
                if self.head_length < HEAD {
                    return Ok(false);
                }
                self.head_length = 0;
            }
            self.judge()?;
        }
    }

    fn judge(&mut self) -> io::Result<()> {
        let [a, b, c, _, first] = self.head;
        let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
        self.skip = length.saturating_sub(1);
        self.stage = match (self.stage, first) {
            (_, 0xFF) => return Err(not_ours("an error")),
            (Stage::First, 0) => Stage::Last,
            (Stage::First, columns) => Stage::Columns(columns),
            (Stage::Columns(0..=1), _) => Stage::Rows,
            (Stage::Columns(left), _) => Stage::Columns(left - 1),
            (Stage::Rows, 0xFE) => Stage::Last,
            (stage, _) => stage,
        };
        Ok(())
    }
}

/// Logs in without an account and prepares; returns the numbers of the statements, which the
/// null server gives out alike on every connection.
fn open(stream: &mut TcpStream, prepared: &[String]) -> io::Result<Vec<u32>> {
    // PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, DEPRECATE_EOF.
    const CAPABILITIES: u32 = 0x0100_A200;
    read_packet(stream)?;
    let mut response = Vec::new();
    encode::packet(1, &mut response, |out| {
        out.extend_from_slice(&CAPABILITIES.to_le_bytes());
        out.extend_from_slice(&[0, 0, 0, 1, 45]);
        out.extend_from_slice(&[0; 23]);
        out.extend_from_slice(b"root\0\0");
    });
    stream.write_all(&response)?;
    read_packet(stream)?;
    prepared.iter().map(|sql| prepare(stream, sql)).collect()
}

fn prepare(stream: &mut TcpStream, sql: &str) -> io::Result<u32> {
    let mut request = Vec::new();
    encode::prepare(sql, &mut request);
    stream.write_all(&request)?;
    let answer = read_packet(stream)?;
    let [0, n0, n1, n2, n3, columns, _, parameters, _, ..] = answer[..] else {
        return Err(not_ours("no prepared statement"));
    };
    for _ in 0..usize::from(columns) + usize::from(parameters) {
        read_packet(stream)?;
    }
    Ok(u32::from_le_bytes([n0, n1, n2, n3]))
}

fn statement(request: &Request, handles: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    match request.slot {
        None => encode::query(&request.text, &mut bytes),
        Some(slot) => encode::execute(handles[slot], request, &mut bytes),
    }
    bytes
}

fn read_packet(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut header = [0; 4];
    stream.read_exact(&mut header)?;
    let [a, b, c, _] = header;
    let mut payload = vec![0; usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16];
    stream.read_exact(&mut payload)?;
    match payload.first() {
        Some(0xFF) | None => Err(not_ours("an error")),
        Some(_) => Ok(payload),
    }
}

fn not_ours(what: &str) -> io::Error {
    let message =
        format!("the server answered with {what}: the floor runs on the null server only");
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn cpu_time() -> io::Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?.into())
}
