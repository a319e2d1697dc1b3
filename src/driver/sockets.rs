//! Which sockets of a load thread have something to read.
//!
//! Must not know: what is read, or who waits for it. The runtime's own bookkeeping of a socket
//! (its readiness, the task that waits, that task's place in a queue) is a dozen lines of memory
//! for each connection, and a thousand connections drive each other's out of the caches between
//! two replies. Here it is one byte and a number.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

/// How many arrivals are asked for at a time: few enough that timers are looked at between.
const ARRIVALS: usize = 64;

/// The sockets of one load thread by number; as a file it is readable when one of them is.
#[derive(Debug)]
pub struct Sockets {
    epoll: Epoll,
    inputs: Box<[Cell<Input>]>,
}

/// What is known of a socket's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    /// All that came was read; the kernel tells when more comes.
    Empty,
    /// Something came.
    Some,
    /// Something came, and nothing else will: of the end there is no further telling.
    Last,
}

/// Room for what [`Sockets::arrivals`] finds.
#[derive(Debug)]
pub struct Arrivals(Vec<EpollEvent>);

impl Default for Arrivals {
    fn default() -> Self {
        Self(vec![EpollEvent::empty(); ARRIVALS])
    }
}

impl Sockets {
    /// For so many.
    ///
    /// # Errors
    /// Where no more files can be opened.
    pub fn new(count: usize) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        Ok(Self { epoll, inputs: vec![Cell::new(Input::Empty); count].into() })
    }

    /// Calls `arrived` with the number of each socket to which something came, or which took
    /// what it had not taken before; whether there may be more of them.
    ///
    /// # Errors
    /// The system's.
    pub fn arrivals(
        &self,
        room: &mut Arrivals,
        mut arrived: impl FnMut(usize),
    ) -> io::Result<bool> {
        let count = match self.epoll.wait(&mut room.0, EpollTimeout::ZERO) {
            Ok(count) => count,
            Err(Errno::EINTR) => return Ok(true),
            Err(errno) => return Err(errno.into()),
        };
        for event in &room.0[..count] {
            let number = event.data() as usize;
            self.note(number, event.events());
            arrived(number);
        }
        Ok(count == room.0.len())
    }

    fn note(&self, number: usize, events: EpollFlags) {
        let ends = EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLHUP | EpollFlags::EPOLLERR;
        if events.intersects(ends) {
            self.inputs[number].set(Input::Last);
        } else if events.contains(EpollFlags::EPOLLIN) && self.inputs[number].get() == Input::Empty
        {
            self.inputs[number].set(Input::Some);
        }
    }

    /// A socket that does not block gets this number, which is free. It leaves when it is closed.
    pub(super) fn add(&self, socket: impl AsFd, number: usize) -> io::Result<()> {
        self.inputs[number].set(Input::Empty);
        let event = EpollEvent::new(arrival(), number as u64);
        Ok(self.epoll.add(socket, event)?)
    }

    /// The socket with this number took nothing more; from now on it is told, too, when it does.
    pub(super) fn is_full(&self, socket: impl AsFd, number: usize) -> io::Result<()> {
        let mut event = EpollEvent::new(arrival() | EpollFlags::EPOLLOUT, number as u64);
        Ok(self.epoll.modify(socket, &mut event)?)
    }

    /// Whether it is worth while to read.
    pub(super) fn has_input(&self, number: usize) -> bool {
        self.inputs[number].get() != Input::Empty
    }

    /// A read did not fill its buffer.
    pub(super) fn was_emptied(&self, number: usize) {
        if self.inputs[number].get() == Input::Some {
            self.inputs[number].set(Input::Empty);
        }
    }

    /// A read found nothing at all.
    pub(super) fn was_empty(&self, number: usize) {
        self.inputs[number].set(Input::Empty);
    }
}

impl AsRawFd for Sockets {
    fn as_raw_fd(&self) -> RawFd {
        self.epoll.0.as_raw_fd()
    }
}

/// Once for each arrival, not as long as there is something to read: one telling is enough, as
/// a read that does not fill its buffer has read everything.
fn arrival() -> EpollFlags {
    EpollFlags::EPOLLIN | EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLET
}
