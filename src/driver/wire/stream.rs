//! A connection's bytes, in clear text or encrypted, and the buffers that all sessions of a thread
//! share.
//!
//! Must not know: packets.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};

use super::socket::{Bytes, Joined, Socket};
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

/// What a socket carries.
#[derive(Debug)]
pub(super) struct Stream<S = Socket> {
    socket: S,
    tls: Option<Box<ClientConnection>>,
}

impl Stream {
    pub(super) async fn connect(address: &Address) -> io::Result<Self> {
        Ok(Self { socket: Socket::connect(address).await?, tls: None })
    }

    /// Whoever waits for this stream from now on is polled by who listens to `sockets`.
    pub(super) fn join(self, sockets: &Rc<Sockets>, number: usize) -> io::Result<Stream<Joined>> {
        Ok(Stream { socket: self.socket.join(sockets, number)?, tls: self.tls })
    }

    /// From now on everything is encrypted.
    pub(super) async fn encrypt(
        &mut self,
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
    ) -> io::Result<()> {
        let tls = ClientConnection::new(config, name).map_err(io::Error::other)?;
        self.tls = Some(Box::new(tls));
        poll_fn(|context| self.poll_handshake(context)).await
    }

    fn poll_handshake(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { socket, tls: Some(tls) } = self else { return Poll::Ready(Ok(())) };
        loop {
            ready!(poll_flush(tls, socket, context))?;
            if !tls.is_handshaking() {
                return Poll::Ready(Ok(()));
            }
            match ready!(poll_receive(tls, socket, context)) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                Err(error) => {
                    // The server is told why, where it still listens.
                    let _ = poll_flush(tls, socket, context);
                    return Poll::Ready(Err(error));
                }
            }
        }
    }
}

impl Stream<Joined> {
    /// The same among other sockets, under another number.
    pub(super) fn join_others(self, sockets: &Rc<Sockets>, number: usize) -> io::Result<Self> {
        Ok(Self { socket: self.socket.join(sockets, number)?, tls: self.tls })
    }
}

impl<S: Bytes> Bytes for Stream<S> {
    fn is_private(&self) -> bool {
        self.is_encrypted() || self.socket.is_private()
    }

    fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self { socket, tls: Some(tls) } = self else { return self.socket.write_now(bytes) };
        let taken = tls.writer().write(bytes)?;
        // What the socket does not take now is sent before anything is read.
        match tls.write_tls(&mut Now(socket)) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(taken),
        }
    }

    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        input: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let Self { socket, tls: Some(tls) } = self else {
            return self.socket.poll_read(context, input);
        };
        loop {
            match tls.reader().read(input) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read),
            }
            if let Poll::Ready(Err(error)) = poll_flush(tls, socket, context) {
                return Poll::Ready(Err(error));
            }
            if ready!(poll_receive(tls, socket, context))? == 0 {
                return Poll::Ready(Ok(0));
            }
        }
    }

    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Self { socket, tls: Some(tls) } = self else {
            return self.socket.poll_write(context, bytes);
        };
        loop {
            let taken = tls.writer().write(bytes)?;
            match poll_flush(tls, socket, context) {
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                _ if taken > 0 => return Poll::Ready(Ok(taken)),
                Poll::Ready(Ok(())) => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

/// Sends all that is encrypted and was not sent yet.
fn poll_flush<S: Bytes>(
    tls: &mut ClientConnection,
    socket: &mut S,
    context: &mut Context<'_>,
) -> Poll<io::Result<()>> {
    while tls.wants_write() {
        match tls.write_tls(&mut Waiting { socket, context }) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
            Err(error) => return Poll::Ready(Err(error)),
            Ok(_) => {}
        }
    }
    Poll::Ready(Ok(()))
}

/// Takes in what came, encrypted; 0 at the end of the connection.
fn poll_receive<S: Bytes>(
    tls: &mut ClientConnection,
    socket: &mut S,
    context: &mut Context<'_>,
) -> Poll<io::Result<usize>> {
    match tls.read_tls(&mut Waiting { socket, context }) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
        Err(error) => Poll::Ready(Err(error)),
        Ok(read) => match tls.process_new_packets() {
            Ok(_) => Poll::Ready(Ok(read)),
            Err(error) => Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error))),
        },
    }
}

/// A socket as rustls wants it: it takes what it takes at once.
struct Now<'a, S>(&'a mut S);

impl<S: Bytes> Write for Now<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write_now(bytes)? {
            0 if !bytes.is_empty() => Err(io::ErrorKind::WouldBlock.into()),
            written => Ok(written),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The same where whoever polls is called again.
struct Waiting<'a, 'b, S> {
    socket: &'a mut S,
    context: &'a mut Context<'b>,
}

impl<S: Bytes> Write for Waiting<'_, '_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        or_would_block(self.socket.poll_write(self.context, bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<S: Bytes> Read for Waiting<'_, '_, S> {
    fn read(&mut self, input: &mut [u8]) -> io::Result<usize> {
        or_would_block(self.socket.poll_read(self.context, input))
    }
}

fn or_would_block(polled: Poll<io::Result<usize>>) -> io::Result<usize> {
    match polled {
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        Poll::Ready(result) => result,
    }
}
