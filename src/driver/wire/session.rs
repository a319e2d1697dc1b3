//! One connection of the lean client.
//!
//! Must not know: what the statements are for.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use mysql_common::constants::CapabilityFlags;

use super::connect::{Connector, broken, lost, not_connected};
use super::encode;
use super::packets::{PacketFault, Packets};
use super::scan::{Scan, Scanner};
use super::socket::{Bytes, Joined};
use super::stream::{Stream, with_buffers};
use crate::driver::handles::{Handles, Sql, Way};
use crate::driver::{Driver, DriverError, Reply, Session, Sockets, refusal};
use crate::model::{Endpoint, Request};

/// Opens lean sessions to one endpoint.
#[derive(Debug, Clone)]
pub struct WireDriver {
    connector: Arc<Connector>,
}

impl WireDriver {
    /// For this endpoint.
    pub fn new(endpoint: &Endpoint) -> Self {
        Self { connector: Arc::new(Connector::new(endpoint)) }
    }
}

impl Driver for WireDriver {
    type Session = WireSession;

    async fn connect(&self) -> Result<WireSession, DriverError> {
        let endpoint = self.connector.next();
        let entered = self.connector.enter(&endpoint).await;
        let (stream, logged_in) = entered.map_err(|fault| not_connected(&endpoint, fault))?;
        let deprecate_eof = logged_in.shared.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF);
        let mut session = WireSession {
            line: Line::Free(stream),
            scanner: Scanner::new(deprecate_eof),
            deprecate_eof,
            handles: Handles::default(),
            plugin: logged_in.plugin.into(),
            endpoint,
        };
        for sql in session.endpoint.session.statements() {
            session.begin(sql).await?;
        }
        if let Some(sql) = session.endpoint.session.guard_statement()
            && let Err(error @ (DriverError::Lost { .. } | DriverError::Protocol { .. })) =
                session.begin(sql).await
        {
            return Err(error);
        }
        Ok(session)
    }

    fn read_timeout(&self) -> Option<Duration> {
        self.connector.first().session.read_timeout
    }
}

/// One connection: a socket, where its reply is, and its prepared statements by their numbers.
#[derive(Debug)]
pub struct WireSession {
    endpoint: Arc<Endpoint>,
    line: Line,
    scanner: Scanner,
    deprecate_eof: bool,
    handles: Handles<u32>,
    plugin: Box<str>,
}

/// The bytes of a connection, before and after it joins a load thread.
#[derive(Debug)]
enum Line {
    Free(Stream),
    Joined(Stream<Joined>),
}

impl Bytes for Line {
    fn is_private(&self) -> bool {
        match self {
            Self::Free(stream) => stream.is_private(),
            Self::Joined(stream) => stream.is_private(),
        }
    }

    fn is_encrypted(&self) -> bool {
        match self {
            Self::Free(stream) => stream.is_encrypted(),
            Self::Joined(stream) => stream.is_encrypted(),
        }
    }

    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Joined(stream) => stream.write_now(bytes),
            Self::Free(stream) => stream.write_now(bytes),
        }
    }

    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        input: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Joined(stream) => stream.poll_read(context, input),
            Self::Free(stream) => stream.poll_read(context, input),
        }
    }

    fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Joined(stream) => stream.poll_write(context, bytes),
            Self::Free(stream) => stream.poll_write(context, bytes),
        }
    }
}

impl Session for WireSession {
    fn expect_statements(&mut self, statements: &Arc<[String]>, handles_max: usize) {
        self.handles = Handles::new(statements, handles_max);
    }

    fn join(self, sockets: &Rc<Sockets>, number: usize) -> Result<Self, DriverError> {
        let joined = match self.line {
            Line::Free(stream) => stream.join(sockets, number),
            Line::Joined(stream) => stream.join_others(sockets, number),
        };
        let stream = joined.map_err(|error| lost(&self.endpoint, &error))?;
        Ok(Self { line: Line::Joined(stream), ..self })
    }

    async fn prepare(&mut self, slot: usize) -> Result<(), DriverError> {
        if !matches!(self.handles.get(slot), Way::Unknown) {
            return Ok(());
        }
        let Some(sql) = self.handles.sql(slot) else {
            let fault = PacketFault::Broken("a slot that names no statement".to_owned());
            return Err(broken(&self.endpoint, fault));
        };
        let mut to_close = self.handles.make_room();
        loop {
            let replaced = self.replace(&sql, to_close).await;
            match replaced.map_err(|fault| broken(&self.endpoint, fault)) {
                Ok(handle) => {
                    self.handles.insert(slot, handle);
                    return Ok(());
                }
                Err(error) if error.is_not_preparable() && !sql.has_parameters() => {
                    self.handles.insert_text(slot);
                    return Ok(());
                }
                Err(error) => {
                    let gives_way = error.is_out_of_handles();
                    to_close = if gives_way { self.handles.give_up_one() } else { None };
                    if to_close.is_none() {
                        return Err(error);
                    }
                }
            }
        }
    }

    async fn send(&mut self, request: &Request) -> Result<Reply, DriverError> {
        if let Some(slot) = request.slot
            && matches!(self.handles.get(slot), Way::Unknown)
        {
            // In mid-run, and on the heap, so that the way past it stays small.
            Box::pin(self.prepare(slot)).await?;
        }
        let rest = self.write_now(request).map_err(|error| lost(&self.endpoint, &error))?;
        if !rest.is_empty() {
            Box::pin(self.write_rest(rest)).await?;
        }
        poll_fn(|context| self.poll_reply(context)).await
    }

    async fn close(mut self) {
        const COM_QUIT: [u8; 5] = [1, 0, 0, 0, 1];
        // The connection ends either way.
        let _ = Packets::new(&mut self.line).write_raw(&COM_QUIT).await;
    }
}

impl WireSession {
    /// The plug-in that the account logged in by.
    pub fn auth_plugin(&self) -> &str {
        &self.plugin
    }

    /// One of the statements that a connection begins with.
    async fn begin(&mut self, sql: String) -> Result<(), DriverError> {
        let request = Request { text: sql, ..Request::default() };
        match self.send(&request).await {
            Ok(_) => Ok(()),
            Err(error) => Err(refusal::of_a_beginning(error, &request.text)),
        }
    }

    /// Writes what the socket takes of a statement at once; returns the rest of it.
    fn write_now(&mut self, request: &Request) -> io::Result<Vec<u8>> {
        let Self { line, scanner, handles, .. } = self;
        let way = request.slot.map_or(Way::Text(&request.text), |slot| handles.get(slot));
        with_buffers(|buffers| {
            let output = &mut buffers.output;
            output.clear();
            match way {
                Way::Text(sql) => encode::query(sql, output),
                Way::Handle(statement) => encode::execute(*statement, request, output),
                Way::Unknown => unreachable!("it was prepared a moment ago"),
            }
            scanner.answers(encode::packets_in(output.len()));
            let written = line.write_now(output)?;
            // A socket that does not take a whole statement at once is the rare case.
            Ok(output[written..].to_vec())
        })
    }

    async fn write_rest(&mut self, rest: Vec<u8>) -> Result<(), DriverError> {
        let written = Packets::new(&mut self.line).write_raw(&rest).await;
        written.map_err(|fault| broken(&self.endpoint, fault))
    }

    fn poll_reply(&mut self, context: &mut Context<'_>) -> Poll<Result<Reply, DriverError>> {
        loop {
            let Self { line, scanner, .. } = self;
            let polled = with_buffers(|buffers| {
                let read = match line.poll_read(context, &mut buffers.input) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(PacketFault::Io(error))),
                    Poll::Ready(Ok(0)) => return Poll::Ready(Err(PacketFault::hung_up())),
                    Poll::Ready(Ok(read)) => read,
                };
                Poll::Ready(scan(scanner, &buffers.input[..read]))
            });
            match polled {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(None)) => {}
                Poll::Ready(Ok(Some(reply))) => return Poll::Ready(Ok(reply)),
                Poll::Ready(Err(fault)) => {
                    return Poll::Ready(Err(broken(&self.endpoint, fault)));
                }
            }
        }
    }

    /// Closes one statement and prepares another, in one go. The reply: number, columns,
    /// parameters, then their definitions.
    async fn replace(&mut self, sql: &Sql, to_close: Option<u32>) -> Result<u32, PacketFault> {
        let mut bytes = Vec::new();
        if let Some(statement) = to_close {
            encode::close(statement, &mut bytes);
        }
        encode::prepare(sql.as_str(), &mut bytes);
        let mut packets = Packets::new(&mut self.line);
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
        packets.end()?;
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
