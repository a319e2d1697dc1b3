//! One thread, one epoll loop, thousands of connections.
//!
//! Must not know: what a packet means.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

use super::connection::{Answer, Connection, Front, greeting, too_long};
use super::replies::Replies;
use crate::model::Interrupt;

/// Bytes that one read may bring, for all connections together.
const INPUT_BYTES: usize = 64 * 1024;
/// Events taken from the system at once.
const EVENTS: usize = 1024;
/// How often the wish to stop is looked at, in milliseconds.
const POLL_MS: u16 = 50;
/// Told once when something arrives, not again and again until it is read: with a thousand
/// connections the system would otherwise look at each of them twice.
const ARRIVAL: EpollFlags = EpollFlags::EPOLLIN.union(EpollFlags::EPOLLET);
/// In place of a connection's number.
const LISTENER: u64 = u64::MAX;

/// A server on the loopback interface that answers every statement at once. The thread that
/// calls [`Self::serve`] is the whole of it: bind that thread to a processor, and the server is.
#[derive(Debug)]
pub struct NullServer {
    listener: TcpListener,
    address: SocketAddr,
    epoll: Epoll,
    /// By number; `None` where one ended.
    clients: Vec<Option<Client>>,
    free: Vec<usize>,
    /// Whether new connections wait because no file is left for them.
    is_full: bool,
    replies: Replies,
    served: Served,
}

/// What a server has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Served {
    /// Connections that were made.
    pub connections: u64,
    /// Packets that were answered, logins included.
    pub answers: u64,
}

#[derive(Debug)]
struct Client {
    stream: TcpStream,
    connection: Connection,
    /// The beginning of a packet whose end has not come.
    partial: Vec<u8>,
    /// What the socket did not take yet; while there is any, nothing more is read.
    pending: Vec<u8>,
    is_ending: bool,
}

/// Whether a connection goes on.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Go,
    End,
}

impl NullServer {
    /// Listens on 127.0.0.1 at this port; 0 takes a free one.
    ///
    /// # Errors
    /// The port is taken, or the system refuses a socket.
    pub fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        epoll.add(&listener, EpollEvent::new(EpollFlags::EPOLLIN, LISTENER))?;
        Ok(Self {
            listener,
            address,
            epoll,
            clients: Vec::new(),
            free: Vec::new(),
            is_full: false,
            replies: Replies::new(),
            served: Served::default(),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until the interrupt is requested.
    ///
    /// # Errors
    /// The system refuses to wait for events. What a single client does ends that client only.
    pub fn serve(mut self, interrupt: &Interrupt) -> io::Result<Served> {
        let mut events = vec![EpollEvent::empty(); EVENTS];
        let mut input = vec![0; INPUT_BYTES];
        while !interrupt.is_requested() {
            let count = match self.epoll.wait(&mut events, EpollTimeout::from(POLL_MS)) {
                Ok(count) => count,
                Err(Errno::EINTR) => continue,
                Err(errno) => return Err(errno.into()),
            };
            for event in &events[..count] {
                match usize::try_from(event.data()) {
                    Ok(number) if event.data() != LISTENER => self.serve_one(number, &mut input),
                    _ => self.accept()?,
                }
            }
        }
        Ok(self.served)
    }

    fn serve_one(&mut self, number: usize, input: &mut [u8]) {
        let Some(client) = self.clients.get_mut(number).and_then(Option::as_mut) else { return };
        let was_blocked = !client.pending.is_empty();
        let next = if was_blocked {
            client.flush(&self.replies, &mut self.served)
        } else {
            client.read(input, &self.replies, &mut self.served)
        };
        let is_blocked = !client.pending.is_empty();
        let next = match next {
            Ok(Next::Go) if was_blocked != is_blocked => {
                let wanted = if is_blocked { EpollFlags::EPOLLOUT } else { ARRIVAL };
                let mut event = EpollEvent::new(wanted, number as u64);
                self.epoll.modify(&client.stream, &mut event).map(|()| Next::Go).ok()
            }
            next => next.ok(),
        };
        if next != Some(Next::Go) {
            self.end(number);
        }
    }

    /// Takes all connections that wait.
    fn accept(&mut self) -> io::Result<()> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => self.greet(stream),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if is_out_of_files(&error) => {
                    self.is_full = true;
                    return Ok(self.epoll.delete(&self.listener)?);
                }
                // A client that went away before it was taken.
                Err(_) => {}
            }
        }
    }

    /// A client with which even this fails is gone already.
    fn greet(&mut self, stream: TcpStream) {
        let client = Client {
            stream,
            connection: Connection::default(),
            partial: Vec::new(),
            pending: Vec::new(),
            is_ending: false,
        };
        let number = self.free.pop().unwrap_or(self.clients.len());
        match client.begin(&self.epoll, number) {
            Ok(()) if number == self.clients.len() => self.clients.push(Some(client)),
            Ok(()) => self.clients[number] = Some(client),
            Err(_) if number < self.clients.len() => self.free.push(number),
            Err(_) => {}
        }
        self.served.connections += 1;
    }

    fn end(&mut self, number: usize) {
        // Closing a socket takes it out of the epoll set.
        self.clients[number] = None;
        self.free.push(number);
        if self.is_full {
            let event = EpollEvent::new(EpollFlags::EPOLLIN, LISTENER);
            self.is_full = self.epoll.add(&self.listener, event).is_err();
        }
    }
}

impl Client {
    fn begin(&self, epoll: &Epoll, number: usize) -> io::Result<()> {
        self.stream.set_nonblocking(true)?;
        self.stream.set_nodelay(true)?;
        // The buffer of a new socket takes a greeting whole.
        (&self.stream).write_all(&greeting())?;
        Ok(epoll.add(&self.stream, EpollEvent::new(ARRIVAL, number as u64))?)
    }

    /// Reads and answers until nothing is left, or the socket takes no more answers.
    fn read(
        &mut self,
        input: &mut [u8],
        replies: &Replies,
        served: &mut Served,
    ) -> io::Result<Next> {
        loop {
            let length = match self.stream.read(input) {
                Ok(0) => return Ok(Next::End),
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Next::Go),
                Err(error) => return Err(error),
            };
            let next = if self.partial.is_empty() {
                self.take(&input[..length], replies, served)?
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(&input[..length]);
                self.take(&whole, replies, served)?
            };
            let is_drained = length < input.len();
            if is_drained || next == Next::End || !self.pending.is_empty() {
                return Ok(next);
            }
        }
    }

    /// Answers whole packets while the socket takes the answers, and keeps what is left.
    fn take(
        &mut self,
        mut input: &[u8],
        replies: &Replies,
        served: &mut Served,
    ) -> io::Result<Next> {
        while self.pending.is_empty() {
            let (sequence, payload) = match Front::of(input) {
                Front::Packet { sequence, payload, rest } => {
                    input = rest;
                    (sequence, payload)
                }
                Front::Part => break,
                Front::TooLong => {
                    self.is_ending = true;
                    return self.send(&too_long());
                }
            };
            served.answers += 1;
            match self.connection.answer(sequence, payload, replies) {
                Answer::Shared(bytes) => self.send(bytes)?,
                Answer::Own(bytes) => self.send(&bytes)?,
                Answer::Last(bytes) => {
                    self.is_ending = true;
                    return self.send(&bytes);
                }
                Answer::Silence => Next::Go,
                Answer::Goodbye => return Ok(Next::End),
            };
        }
        self.partial.extend_from_slice(input);
        Ok(Next::Go)
    }

    /// Sends now what the socket takes, and keeps the rest.
    fn send(&mut self, bytes: &[u8]) -> io::Result<Next> {
        let written = if self.pending.is_empty() { self.write(bytes)? } else { 0 };
        self.pending.extend_from_slice(&bytes[written..]);
        Ok(self.next())
    }

    /// Goes on where the socket was full: with the answer, then with the packets behind it.
    fn flush(&mut self, replies: &Replies, served: &mut Served) -> io::Result<Next> {
        let mut pending = std::mem::take(&mut self.pending);
        let written = self.write(&pending)?;
        pending.drain(..written);
        self.pending = pending;
        if !self.pending.is_empty() || self.is_ending {
            return Ok(self.next());
        }
        let waiting = std::mem::take(&mut self.partial);
        self.take(&waiting, replies, served)
    }

    fn next(&self) -> Next {
        if self.is_ending && self.pending.is_empty() { Next::End } else { Next::Go }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.stream.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            other => other,
        }
    }
}

fn is_out_of_files(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw);
    matches!(code, Some(Errno::EMFILE | Errno::ENFILE | Errno::ENOBUFS | Errno::ENOMEM))
}
