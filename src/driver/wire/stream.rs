//! The socket of a session, and the buffers that all sessions of a thread share.
//!
//! Must not know: packets.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

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

/// TCP or Unix, as the endpoint says.
#[derive(Debug)]
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
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

    /// Whether what is sent can be read by nobody between us and the server.
    pub(super) fn is_private(&self) -> bool {
        matches!(self, Self::Unix(_))
    }

    /// Writes what the socket takes at once, possibly nothing.
    pub(super) fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        let written = match self {
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
        let mut buffer = ReadBuf::new(input);
        let polled = match self {
            Self::Tcp(stream) => Pin::new(stream).poll_read(context, &mut buffer),
            Self::Unix(stream) => Pin::new(stream).poll_read(context, &mut buffer),
        };
        polled.map_ok(|()| buffer.filled().len())
    }

    /// Writes some of the bytes, waiting until the socket takes any.
    pub(super) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }
}
