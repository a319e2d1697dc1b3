//! The socket of a session, and the buffers that all sessions of a thread share.
//!
//! Must not know: packets.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::net;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use crate::driver::Sockets;
use crate::model::Address;

/// Bytes that one read may bring.
const INPUT_BYTES: usize = 64 * 1024;

/// Buffers of a load thread: between two awaits only one session uses them.
pub(super) struct Buffers {
    /// The statement that is being sent.
    pub(super) output: Vec<u8>,
    /// What arrived last.
    pub(super) input: Box<[u8]>,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::new(Buffers {
        output: Vec::with_capacity(1024),
        input: vec![0; INPUT_BYTES].into_boxed_slice(),
    });
}

/// Lends this thread's buffers for a moment in which nothing is awaited.
pub(super) fn with_buffers<T>(work: impl FnOnce(&mut Buffers) -> T) -> T {
    BUFFERS.with_borrow_mut(work)
}

/// TCP or Unix, as the endpoint says: the runtime's until the session joins its load thread.
#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Joined(Joined),
}

/// A socket among those of its load thread.
#[derive(Debug)]
pub(super) struct Joined {
    socket: Socket,
    sockets: Rc<Sockets>,
    number: usize,
}

#[derive(Debug)]
enum Socket {
    Tcp(net::TcpStream),
    Unix(unix::net::UnixStream),
}

impl Stream {
    pub(super) async fn connect(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp { host, port } => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                stream.set_nodelay(true)?;
                Ok(Self::Tcp(stream))
            }
            Address::Unix(path) => UnixStream::connect(path).await.map(Self::Unix),
        }
    }

    /// Whoever waits for this stream from now on is polled by who listens to `sockets`.
    pub(super) fn join(self, sockets: &Rc<Sockets>, number: usize) -> io::Result<Self> {
        let socket = match self {
            Self::Tcp(stream) => Socket::Tcp(stream.into_std()?),
            Self::Unix(stream) => Socket::Unix(stream.into_std()?),
            Self::Joined(Joined { socket, .. }) => socket,
        };
        sockets.add(&socket, number)?;
        Ok(Self::Joined(Joined { socket, sockets: Rc::clone(sockets), number }))
    }

    /// Whether what is sent can be read by nobody between us and the server.
    pub(super) fn is_private(&self) -> bool {
        matches!(self, Self::Unix(_) | Self::Joined(Joined { socket: Socket::Unix(_), .. }))
    }

    /// Writes what the socket takes at once, possibly nothing.
    pub(super) fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        let written = match self {
            Self::Joined(joined) => joined.socket.write(bytes),
            Self::Tcp(stream) => stream.try_write(bytes),
            Self::Unix(stream) => stream.try_write(bytes),
        };
        match written {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            other => other,
        }
    }

    /// Reads what is there. `poll_read` and not `try_read`: after a read that did not fill the
    /// buffer tokio knows that the socket is empty, and the next poll waits without asking the
    /// system again.
    pub(super) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        input: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let stream: Pin<&mut (dyn AsyncRead + Unpin)> = match self {
            Self::Joined(joined) => return joined.poll_read(input),
            Self::Tcp(stream) => Pin::new(stream),
            Self::Unix(stream) => Pin::new(stream),
        };
        let mut buffer = ReadBuf::new(input);
        stream.poll_read(context, &mut buffer).map_ok(|()| buffer.filled().len())
    }

    /// Writes some of the bytes, waiting until the socket takes any.
    pub(super) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Joined(joined) => joined.poll_write(bytes),
            Self::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }
}

impl Joined {
    /// Reads what is there, where anything may be: after a read that did not fill the buffer the
    /// socket is empty until the next telling.
    fn poll_read(&self, input: &mut [u8]) -> Poll<io::Result<usize>> {
        if !self.sockets.has_input(self.number) {
            return Poll::Pending;
        }
        match self.socket.read(input) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.sockets.was_empty(self.number);
                Poll::Pending
            }
            Ok(read) => {
                if read < input.len() {
                    self.sockets.was_emptied(self.number);
                }
                Poll::Ready(Ok(read))
            }
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    fn poll_write(&self, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.socket.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                match self.sockets.is_full(&self.socket, self.number) {
                    Ok(()) => Poll::Pending,
                    Err(error) => Poll::Ready(Err(error)),
                }
            }
            written => Poll::Ready(written),
        }
    }
}

impl Socket {
    fn read(&self, input: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(socket) => (&*socket).read(input),
            Self::Unix(socket) => (&*socket).read(input),
        }
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(socket) => (&*socket).write(bytes),
            Self::Unix(socket) => (&*socket).write(bytes),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(socket) => socket.as_fd(),
            Self::Unix(socket) => socket.as_fd(),
        }
    }
}
