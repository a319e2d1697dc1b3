//! One connection of the lean client.
//!
//! Must not know: what the statements are for.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use mysql_common::constants::CapabilityFlags;

use super::encode;
use super::login::login;
use super::packets::{PacketFault, Packets};
use super::scan::{Scan, Scanner, ServerError};
use super::stream::{Stream, with_buffers};
use crate::driver::{Driver, DriverError, Reply, Session};
use crate::model::{Endpoint, Request};

/// Opens lean sessions to one endpoint.
#[derive(Debug, Clone)]
pub struct WireDriver {
    endpoint: Arc<Endpoint>,
}

impl WireDriver {
    /// For this endpoint.
    pub fn new(endpoint: &Endpoint) -> Self {
        Self { endpoint: Arc::new(endpoint.clone()) }
    }
}

impl Driver for WireDriver {
    type Session = WireSession;

    async fn connect(&self) -> Result<WireSession, DriverError> {
        let endpoint = Arc::clone(&self.endpoint);
        let stream = Stream::connect(&endpoint.address).await;
        let mut stream = stream.map_err(|error| lost(&endpoint, &error))?;
        let shared = login(&mut Packets::new(&mut stream), &endpoint).await;
        let shared = shared.map_err(|fault| driver_error(&endpoint, fault))?;
        let deprecate_eof = shared.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF);
        let scanner = Scanner::new(deprecate_eof);
        Ok(WireSession { endpoint, stream, scanner, deprecate_eof, statements: Vec::new() })
    }
}

/// One connection: a socket, where its reply is, and the numbers of its prepared statements.
#[derive(Debug)]
pub struct WireSession {
    endpoint: Arc<Endpoint>,
    stream: Stream,
    scanner: Scanner,
    deprecate_eof: bool,
    statements: Vec<u32>,
}

impl Session for WireSession {
    async fn prepare(&mut self, sql: &str) -> Result<(), DriverError> {
        let prepared = self.prepare_statement(sql).await;
        let statement = prepared.map_err(|fault| driver_error(&self.endpoint, fault))?;
        self.statements.push(statement);
        Ok(())
    }

    async fn send(&mut self, request: &Request) -> Result<Reply, DriverError> {
        let rest = with_buffers(|buffers| {
            let output = &mut buffers.output;
            output.clear();
            match request.slot {
                None => encode::query(&request.text, output),
                Some(slot) => encode::execute(self.statements[slot], request, output),
            }
            let written = self.stream.write_now(output)?;
            // A socket that does not take a whole statement at once is the rare case.
            Ok(output[written..].to_vec())
        });
        let rest: Vec<u8> = rest.map_err(|error| lost(&self.endpoint, &error))?;
        if !rest.is_empty() {
            let written = Packets::new(&mut self.stream).write_raw(&rest).await;
            written.map_err(|fault| driver_error(&self.endpoint, fault))?;
        }
        poll_fn(|context| self.poll_reply(context)).await
    }

    async fn close(mut self) {
        const COM_QUIT: [u8; 5] = [1, 0, 0, 0, 1];
        // The connection ends either way.
        let _ = Packets::new(&mut self.stream).write_raw(&COM_QUIT).await;
    }
}

impl WireSession {
    fn poll_reply(&mut self, context: &mut Context<'_>) -> Poll<Result<Reply, DriverError>> {
        loop {
            let Self { stream, scanner, .. } = self;
            let polled = with_buffers(|buffers| {
                let read = match stream.poll_read(context, &mut buffers.input) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(PacketFault::Io(error))),
                    Poll::Ready(Ok(0)) => {
                        let end = io::Error::from(io::ErrorKind::UnexpectedEof);
                        return Poll::Ready(Err(PacketFault::Io(end)));
                    }
                    Poll::Ready(Ok(read)) => read,
                };
                Poll::Ready(scan(scanner, &buffers.input[..read]))
            });
            match polled {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(None)) => {}
                Poll::Ready(Ok(Some(reply))) => return Poll::Ready(Ok(reply)),
                Poll::Ready(Err(fault)) => {
                    return Poll::Ready(Err(driver_error(&self.endpoint, fault)));
                }
            }
        }
    }

    /// The reply to COM_STMT_PREPARE: number, columns, parameters, then their definitions.
    async fn prepare_statement(&mut self, sql: &str) -> Result<u32, PacketFault> {
        let mut packets = Packets::new(&mut self.stream);
        let mut bytes = Vec::new();
        encode::prepare(sql, &mut bytes);
        packets.write_raw(&bytes).await?;
        let first = packets.read().await?;
        let [0x00, n0, n1, n2, n3, c0, c1, p0, p1, ..] = first[..] else {
            return Err(match first.first() {
                Some(0xFF) => packets.server_error(&first),
                _ => PacketFault::broken("prepared statement"),
            });
        };
        for count in [u16::from_le_bytes([p0, p1]), u16::from_le_bytes([c0, c1])] {
            let end = u32::from(count > 0 && !self.deprecate_eof);
            for _ in 0..u32::from(count) + end {
                packets.read().await?;
            }
        }
        Ok(u32::from_le_bytes([n0, n1, n2, n3]))
    }
}

/// Feeds what arrived; `None` while the reply is not whole.
fn scan(scanner: &mut Scanner, input: &[u8]) -> Result<Option<Reply>, PacketFault> {
    let (consumed, answer) = match scanner.feed(input) {
        Ok(Scan::More) => return Ok(None),
        Ok(Scan::Done { consumed, reply }) => (consumed, Ok(Some(reply))),
        Ok(Scan::Failed { consumed, error }) => (consumed, Err(PacketFault::Server(error))),
        Err(error) => return Err(PacketFault::Broken(error.to_string())),
    };
    if consumed < input.len() {
        let more = input.len() - consumed;
        return Err(PacketFault::Broken(format!("{more} bytes after the end of the reply")));
    }
    answer
}

fn lost(endpoint: &Endpoint, error: &io::Error) -> DriverError {
    DriverError::Lost { address: endpoint.address.to_string(), message: error.to_string() }
}

fn driver_error(endpoint: &Endpoint, fault: PacketFault) -> DriverError {
    let address = || endpoint.address.to_string();
    match fault {
        PacketFault::Io(error) => lost(endpoint, &error),
        PacketFault::Broken(message) => DriverError::Protocol { address: address(), message },
        PacketFault::Plugin(name) => DriverError::Protocol {
            address: address(),
            message: format!(
                "the account {} wants authentication by {name}, which is not spoken here; \
                 use mysql_native_password, caching_sha2_password or ed25519",
                endpoint.user
            ),
        },
        PacketFault::Server(error) => server_error(*error),
    }
}

fn server_error(error: ServerError) -> DriverError {
    DriverError::Server {
        code: error.code,
        sqlstate: String::from_utf8_lossy(&error.sqlstate).into_owned(),
        message: String::from_utf8_lossy(&error.message).into_owned(),
    }
}
