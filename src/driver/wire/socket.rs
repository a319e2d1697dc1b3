//! The socket of a session: the runtime's until the session joins its load thread.
//!
//! Must not know: packets, encryption.

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

/// Bytes that come and go.
pub(super) trait Bytes {
    /// Whether what is sent can be read by nobody between us and the server.
    fn is_private(&self) -> bool;

    /// Whether it is so because it is encrypted.
    fn is_encrypted(&self) -> bool {
        false
    }

    /// Writes what is taken at once, possibly nothing.
    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Reads what is there; 0 at the end.
    fn poll_read(&mut self, context: &mut Context<'_>, input: &mut [u8])
    -> Poll<io::Result<usize>>;

    /// Writes some of the bytes, waiting until any is taken.
    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;
}

/// TCP or Unix, as the endpoint says.
#[derive(Debug)]
pub(super) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
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

    /// Whoever waits for it from now on is polled by who listens to `sockets`.
    pub(super) fn join(self, sockets: &Rc<Sockets>, number: usize) -> io::Result<Joined> {
        let socket = match self {
            Self::Tcp(stream) => System::Tcp(stream.into_std()?),
            Self::Unix(stream) => System::Unix(stream.into_std()?),
        };
        sockets.add(&socket, number)?;
        Ok(Joined { socket, sockets: Rc::clone(sockets), number })
    }
}

impl Bytes for Socket {
    fn is_private(&self) -> bool {
        matches!(self, Self::Unix(_))
    }

    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        at_once(match self {
            Self::Tcp(stream) => stream.try_write(bytes),
            Self::Unix(stream) => stream.try_write(bytes),
        })
    }

    /// `poll_read` and not `try_read`: after a read that did not fill the buffer tokio knows that
    /// the socket is empty, and the next poll waits without asking the system again.
    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        input: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let stream: Pin<&mut (dyn AsyncRead + Unpin)> = match self {
            Self::Tcp(stream) => Pin::new(stream),
            Self::Unix(stream) => Pin::new(stream),
        };
        let mut buffer = ReadBuf::new(input);
        stream.poll_read(context, &mut buffer).map_ok(|()| buffer.filled().len())
    }

    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }
}

/// A socket among those of its load thread.
#[derive(Debug)]
pub(super) struct Joined {
    socket: System,
    sockets: Rc<Sockets>,
    number: usize,
}

/// A socket that no runtime knows.
#[derive(Debug)]
enum System {
    Tcp(net::TcpStream),
    Unix(unix::net::UnixStream),
}

impl Joined {
    /// The same among others, under another number.
    pub(super) fn join(self, sockets: &Rc<Sockets>, number: usize) -> io::Result<Self> {
        sockets.add(&self.socket, number)?;
        Ok(Self { socket: self.socket, sockets: Rc::clone(sockets), number })
    }
}

impl Bytes for Joined {
    fn is_private(&self) -> bool {
        matches!(self.socket, System::Unix(_))
    }

    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        at_once(self.socket.write(bytes))
    }

    /// Reads what is there, where anything may be: after a read that did not fill the buffer the
    /// socket is empty until the next telling.
    fn poll_read(&mut self, _: &mut Context<'_>, input: &mut [u8]) -> Poll<io::Result<usize>> {
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

    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
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

impl System {
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

impl AsFd for System {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(socket) => socket.as_fd(),
            Self::Unix(socket) => socket.as_fd(),
        }
    }
}

/// What was written without waiting.
fn at_once(written: io::Result<usize>) -> io::Result<usize> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        other => other,
    }
}
