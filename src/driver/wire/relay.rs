//! Another library's connection, carried over one that was made here: whatever TLS and the login
//! ask of a client is answered in one place, for both clients.
//!
//! Must not know: which library it is, what is sent over the connection. The other client comes
//! over a private socket and is let in as it is; after that bytes go to and fro as they come.

use std::future::poll_fn;
use std::io;
use std::path::{Path, PathBuf};
use std::task::{Context, Poll, ready};

use tempfile::TempDir;
use tokio::net::UnixListener;

use super::connect::{Connector, not_connected};
use super::packets::{PacketFault, Packets};
use super::socket::{Bytes, Socket};
use super::stream::Stream;
use crate::driver::DriverError;

/// Bytes under way in one direction.
const FLOW_BYTES: usize = 64 * 1024;

/// OK: nothing changed, no id, autocommit, no warnings.
const OK: [u8; 7] = [0, 0, 0, 2, 0, 0, 0];

/// A socket in a folder that only this user may enter; both are gone when the client has come.
#[derive(Debug)]
pub(in crate::driver) struct Relay {
    listener: UnixListener,
    path: PathBuf,
    _folder: TempDir,
}

impl Relay {
    pub(in crate::driver) fn open() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("gridbench-").tempdir()?;
        let path = folder.path().join("socket");
        Ok(Self { listener: UnixListener::bind(&path)?, path, _folder: folder })
    }

    /// Where the client is to come to.
    pub(in crate::driver) fn socket(&self) -> &Path {
        &self.path
    }

    /// Logs in, lets the client in, and leaves a task of the runtime that carries bytes until
    /// either side ends.
    pub(in crate::driver) async fn carry(self, connector: &Connector) -> Result<(), DriverError> {
        let pump = self.join(connector).await;
        let mut pump = pump.map_err(|fault| not_connected(connector.first(), fault))?;
        // It ends with either side's connection, or with the runtime.
        tokio::spawn(async move { poll_fn(|context| pump.poll(context)).await });
        Ok(())
    }

    async fn join(self, connector: &Connector) -> Result<Pump, PacketFault> {
        let endpoint = connector.first();
        let config = connector.encryption()?;
        let (mut server, greeted) = connector.reach(endpoint).await?;
        let mut client = Socket::Unix(self.listener.accept().await?.0);
        let mut packets = Packets::new(&mut client);
        packets.write(&greeted.to_pass_on()).await?;
        let answer = packets.read().await?;
        let flags = answer.first_chunk().ok_or_else(|| PacketFault::broken("handshake"))?;
        greeted.enter_for(&mut server, endpoint, config, *flags).await?;
        packets.write(&OK).await?;
        Ok(Pump { server, client, up: Flow::default(), down: Flow::default() })
    }
}

/// Two connections that are one.
struct Pump {
    server: Stream,
    client: Socket,
    up: Flow,
    down: Flow,
}

impl Pump {
    /// Ready when either side has ended.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Self { server, client, up, down } = self;
        let up = up.poll(client, server, context);
        let down = down.poll(server, client, context);
        if up.is_ready() || down.is_ready() { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// What was read and not written yet.
struct Flow {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Default for Flow {
    fn default() -> Self {
        Self { bytes: vec![0; FLOW_BYTES].into(), start: 0, end: 0 }
    }
}

impl Flow {
    /// Carries what there is; ready at the end, whatever ended it.
    fn poll(
        &mut self,
        from: &mut dyn Bytes,
        to: &mut dyn Bytes,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            while self.start < self.end {
                let written = to.poll_write(context, &self.bytes[self.start..self.end]);
                match ready!(written)? {
                    0 => return Poll::Ready(Ok(())),
                    written => self.start += written,
                }
            }
            match ready!(from.poll_read(context, &mut self.bytes))? {
                0 => return Poll::Ready(Ok(())),
                read => (self.start, self.end) = (0, read),
            }
        }
    }
}
