//! Whole packets, one after the other: for the handshake and for preparing, where a reply has to
//! be kept.
//!
//! Must not know: what a packet means.

use std::future::poll_fn;
use std::io;

use super::encode;
use super::scan::ServerError;
use super::socket::Bytes;
use super::stream::with_buffers;

/// The longest packet that the cold path takes: no greeting, key or column definition comes near.
const PACKET_MAX: usize = 1 << 20;

/// Why the cold path failed.
#[derive(Debug)]
pub(super) enum PacketFault {
    /// The socket.
    Io(io::Error),
    /// The server said no.
    Server(Box<ServerError>),
    /// What came is not what the protocol has there.
    Broken(String),
    /// An authentication that we do not speak.
    Plugin(String),
    /// The connection is not encrypted as it should be.
    Tls(String),
}

impl PacketFault {
    /// The server closed the connection.
    pub(super) fn hung_up() -> Self {
        let words = "the server closed the connection";
        Self::Io(io::Error::new(io::ErrorKind::UnexpectedEof, words))
    }

    pub(super) fn broken(what: &str) -> Self {
        Self::Broken(format!("a broken {what} packet"))
    }
}

impl From<io::Error> for PacketFault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads and writes packets of one exchange on a stream.
pub(super) struct Packets<'a> {
    stream: &'a mut dyn Bytes,
    /// Bytes that came and were not read yet.
    waiting: Vec<u8>,
    sequence: u8,
}

impl<'a> Packets<'a> {
    pub(super) fn new(stream: &'a mut dyn Bytes) -> Self {
        Self::go_on(stream, 0)
    }

    /// In the middle of an exchange: with the number of the next packet.
    pub(super) fn go_on(stream: &'a mut dyn Bytes, sequence: u8) -> Self {
        Self { stream, waiting: Vec::new(), sequence }
    }

    /// The number of the next packet.
    pub(super) fn sequence(&self) -> u8 {
        self.sequence
    }

    pub(super) fn is_private(&self) -> bool {
        self.stream.is_private()
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.stream.is_encrypted()
    }

    /// The payload of the next packet.
    pub(super) async fn read(&mut self) -> Result<Vec<u8>, PacketFault> {
        self.fill(4).await?;
        let [a, b, c, sequence] = [0, 1, 2, 3].map(|index| self.waiting[index]);
        let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
        if length > PACKET_MAX {
            return Err(PacketFault::Broken(format!("a packet of {length} bytes")));
        }
        self.fill(4 + length).await?;
        self.sequence = sequence.wrapping_add(1);
        let rest = self.waiting.split_off(4 + length);
        let mut packet = std::mem::replace(&mut self.waiting, rest);
        packet.drain(..4);
        Ok(packet)
    }

    /// Sends a payload as the next packet of the exchange.
    pub(super) async fn write(&mut self, payload: &[u8]) -> Result<(), PacketFault> {
        let mut bytes = Vec::with_capacity(payload.len() + 4);
        encode::packet(self.sequence, &mut bytes, |out| out.extend_from_slice(payload));
        self.sequence = self.sequence.wrapping_add(1);
        self.write_raw(&bytes).await
    }

    /// Sends bytes that are packets already.
    pub(super) async fn write_raw(&mut self, mut bytes: &[u8]) -> Result<(), PacketFault> {
        while !bytes.is_empty() {
            match poll_fn(|context| self.stream.poll_write(context, bytes)).await? {
                0 => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
                written => bytes = &bytes[written..],
            }
        }
        Ok(())
    }

    /// The exchange is over: nothing more may have come.
    pub(super) fn end(&self) -> Result<(), PacketFault> {
        match self.waiting.len() {
            0 => Ok(()),
            more => Err(PacketFault::Broken(format!("{more} bytes after the end of the reply"))),
        }
    }

    pub(super) fn server_error(&self, packet: &[u8]) -> PacketFault {
        match ServerError::parse(packet) {
            Some(error) => PacketFault::Server(Box::new(error)),
            None => PacketFault::broken("error"),
        }
    }

    async fn fill(&mut self, wanted: usize) -> Result<(), PacketFault> {
        while self.waiting.len() < wanted {
            let stream = &mut *self.stream;
            let waiting = &mut self.waiting;
            let read = poll_fn(|context| {
                with_buffers(|buffers| {
                    let polled = stream.poll_read(context, &mut buffers.input);
                    polled.map_ok(|read| {
                        waiting.extend_from_slice(&buffers.input[..read]);
                        read
                    })
                })
            });
            if read.await? == 0 {
                return Err(PacketFault::hung_up());
            }
        }
        Ok(())
    }
}
