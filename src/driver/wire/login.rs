//! Handshake: the cold path, on mysql_common's packets.
//!
//! Must not know: statements. Source of the exchange: "Connection Phase" in the MySQL manual.

use std::sync::Arc;

use mysql_common::constants::CapabilityFlags;
use mysql_common::packets::{HandshakeResponse, SslRequest};
use mysql_common::proto::MySerialize;
use rustls::ClientConfig;

use super::auth::{authenticate, password};
use super::greeting::Greeting;
use super::packets::{PacketFault, Packets};
use super::socket::Bytes;
use super::stream::Stream;
use crate::driver::tls;
use crate::model::{Address, Endpoint, TlsMode};

/// What we can do; the server's own flags are the other half.
pub(super) const WANTED: CapabilityFlags = IN_A_HANDSHAKE
    .union(CapabilityFlags::CLIENT_LONG_FLAG)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF);

/// What decides about the form of the handshake alone.
const IN_A_HANDSHAKE: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41
    .union(CapabilityFlags::CLIENT_LONG_PASSWORD)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA);

/// What lies between two ends of a connection, so that it cannot be passed on.
const OF_A_CONNECTION: CapabilityFlags = CapabilityFlags::CLIENT_SSL
    .union(CapabilityFlags::CLIENT_COMPRESS)
    .union(CapabilityFlags::CLIENT_ZSTD_COMPRESSION_ALGORITHM)
    .union(CapabilityFlags::CLIENT_CONNECT_ATTRS)
    .union(CapabilityFlags::CLIENT_CONNECT_WITH_DB);

/// Largest packet that we say we take: the protocol's default.
const MAX_ALLOWED_PACKET: u32 = 16 * 1024 * 1024;
/// utf8mb4_general_ci, whose number fits into a byte.
const COLLATION: u8 = 45;

/// A server that has said who it is.
#[derive(Debug)]
pub(super) struct Greeted {
    greeting: Greeting,
    sequence: u8,
}

/// How it let us in.
#[derive(Debug)]
pub(super) struct LoggedIn {
    /// What both sides can do.
    pub(super) shared: CapabilityFlags,
    /// The plug-in that the account uses.
    pub(super) plugin: String,
}

impl Greeted {
    /// Waits for a server's first packet.
    pub(super) async fn read(stream: &mut Stream) -> Result<Self, PacketFault> {
        let mut packets = Packets::new(stream);
        let greeting = packets.read().await?;
        if greeting.first() == Some(&0xFF) {
            return Err(packets.server_error(&greeting));
        }
        // Whatever comes before the answer was not sent by who will be asked.
        packets.end()?;
        let sequence = packets.sequence();
        let greeting = Greeting::parse(&greeting).ok_or_else(|| PacketFault::broken("greeting"))?;
        Ok(Self { greeting, sequence })
    }

    /// A greeting for a client whose connection is to be carried on this one.
    pub(super) fn to_pass_on(&self) -> Vec<u8> {
        self.greeting.to_pass_on(OF_A_CONNECTION)
    }

    /// Encrypts the connection as the endpoint says, and logs in with what we can do ourselves.
    pub(super) async fn enter(
        self,
        stream: &mut Stream,
        endpoint: &Endpoint,
        config: Option<Arc<ClientConfig>>,
    ) -> Result<LoggedIn, PacketFault> {
        self.enter_with(stream, endpoint, config, WANTED).await
    }

    /// The same with what another client can do, as the first bytes of its answer say.
    pub(super) async fn enter_for(
        self,
        stream: &mut Stream,
        endpoint: &Endpoint,
        config: Option<Arc<ClientConfig>>,
        answer: [u8; 4],
    ) -> Result<LoggedIn, PacketFault> {
        let theirs = CapabilityFlags::from_bits_truncate(u32::from_le_bytes(answer));
        let wanted = IN_A_HANDSHAKE | (theirs - OF_A_CONNECTION);
        self.enter_with(stream, endpoint, config, wanted).await
    }

    async fn enter_with(
        self,
        stream: &mut Stream,
        endpoint: &Endpoint,
        config: Option<Arc<ClientConfig>>,
        mut wanted: CapabilityFlags,
    ) -> Result<LoggedIn, PacketFault> {
        let Self { greeting, mut sequence } = self;
        if endpoint.database.is_some() {
            wanted |= CapabilityFlags::CLIENT_CONNECT_WITH_DB;
        }
        let mut shared = wanted & greeting.capabilities;
        let is_offered = greeting.capabilities.contains(CapabilityFlags::CLIENT_SSL);
        match config {
            Some(config) if is_offered => {
                shared |= CapabilityFlags::CLIENT_SSL;
                sequence = encrypt(stream, endpoint, config, (shared, sequence)).await?;
            }
            _ if endpoint.tls.mode.is_demanded() && !stream.is_private() => {
                let words = "the server offers no TLS, which `tls` demands; give it a certificate \
                             (ssl_cert, ssl_key), or say tls = \"preferred\" or \"off\"";
                return Err(PacketFault::Tls(words.to_owned()));
            }
            _ => {}
        }
        let mut packets = Packets::go_on(stream, sequence);
        let data = greeting.plugin.gen_data(password(endpoint), &greeting.nonce);
        let response = HandshakeResponse::new(
            data.as_deref(),
            (8, 0, 0),
            Some(endpoint.user.as_bytes()),
            endpoint.database.as_deref().map(str::as_bytes),
            Some(greeting.plugin.borrow()),
            shared,
            None,
            MAX_ALLOWED_PACKET,
        );
        let mut bytes = Vec::new();
        response.serialize(&mut bytes);
        packets.write(&bytes).await?;
        let Greeting { plugin, nonce, .. } = greeting;
        let plugin = authenticate(&mut packets, endpoint, plugin, nonce).await?;
        packets.end()?;
        let plugin = String::from_utf8_lossy(plugin.as_bytes()).into_owned();
        Ok(LoggedIn { shared, plugin })
    }
}

/// Asks for encryption, and begins it. Returns the number of the next packet.
async fn encrypt(
    stream: &mut Stream,
    endpoint: &Endpoint,
    config: Arc<ClientConfig>,
    (shared, sequence): (CapabilityFlags, u8),
) -> Result<u8, PacketFault> {
    let name = tls::server_name(endpoint).map_err(PacketFault::Tls)?;
    let mut packets = Packets::go_on(stream, sequence);
    let mut bytes = Vec::new();
    SslRequest::new(shared, MAX_ALLOWED_PACKET, COLLATION).serialize(&mut bytes);
    packets.write(&bytes).await?;
    let sequence = packets.sequence();
    let encrypted = stream.encrypt(config, name).await;
    encrypted.map_err(|error| PacketFault::Tls(tls::explain(&error, endpoint)))?;
    Ok(sequence)
}

/// What connections of this endpoint are encrypted with; `None`: with nothing.
pub(super) fn encryption(endpoint: &Endpoint) -> Result<Option<Arc<ClientConfig>>, String> {
    match (endpoint.tls.mode, &endpoint.address) {
        (TlsMode::Off, _) | (_, Address::Unix(_)) => Ok(None),
        _ => tls::client_config(&endpoint.tls).map(Some),
    }
}
