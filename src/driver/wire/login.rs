//! Handshake and authentication: the cold path, on mysql_common's packets.
//!
//! Must not know: statements. Source of the exchange: "Connection Phase" in the MySQL manual;
//! `client_ed25519` in MariaDB's.

use mysql_common::constants::CapabilityFlags;
use mysql_common::crypto;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse};
use mysql_common::proto::MySerialize;

use super::packets::{PacketFault, Packets};
use crate::model::Endpoint;

/// What we can do; the server's own flags are the other half.
const WANTED: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41
    .union(CapabilityFlags::CLIENT_LONG_PASSWORD)
    .union(CapabilityFlags::CLIENT_LONG_FLAG)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF);

/// Largest packet that we say we take: the protocol's default.
const MAX_ALLOWED_PACKET: u32 = 16 * 1024 * 1024;

/// caching_sha2_password's words.
const FAST_AUTH_OK: u8 = 0x03;
const FULL_AUTH: u8 = 0x04;
const REQUEST_PUBLIC_KEY: u8 = 0x02;

/// Logs in; tells which capabilities both sides share.
pub(super) async fn login(
    packets: &mut Packets<'_>,
    endpoint: &Endpoint,
) -> Result<CapabilityFlags, PacketFault> {
    let greeting = packets.read().await?;
    if greeting.first() == Some(&0xFF) {
        return Err(packets.server_error(&greeting));
    }
    let handshake: HandshakePacket<'_> =
        ParseBuf(&greeting).parse(()).map_err(|_| PacketFault::broken("greeting"))?;
    let mut wanted = WANTED;
    if endpoint.database.is_some() {
        wanted |= CapabilityFlags::CLIENT_CONNECT_WITH_DB;
    }
    let shared = wanted & handshake.capabilities();
    let plugin = match handshake.auth_plugin() {
        Some(AuthPlugin::Other(_)) | None => AuthPlugin::MysqlNativePassword,
        Some(plugin) => plugin.into_owned(),
    };
    let nonce = handshake.nonce();
    let password = password(endpoint);
    let data = plugin.gen_data(password, &nonce);
    let response = HandshakeResponse::new(
        data.as_deref(),
        (8, 0, 0),
        Some(endpoint.user.as_bytes()),
        endpoint.database.as_deref().map(str::as_bytes),
        Some(plugin.borrow()),
        shared,
        None,
        MAX_ALLOWED_PACKET,
    );
    let mut bytes = Vec::new();
    response.serialize(&mut bytes);
    packets.write(&bytes).await?;
    authenticate(packets, endpoint, plugin, nonce).await?;
    Ok(shared)
}

fn password(endpoint: &Endpoint) -> Option<&str> {
    Some(endpoint.password.reveal()).filter(|password| !password.is_empty())
}

/// Answers until the server says yes or no; the plug-in may be changed once.
async fn authenticate(
    packets: &mut Packets<'_>,
    endpoint: &Endpoint,
    mut plugin: AuthPlugin<'static>,
    mut nonce: Vec<u8>,
) -> Result<(), PacketFault> {
    let mut switched = false;
    loop {
        let packet = packets.read().await?;
        match (packet.first(), &plugin) {
            (Some(0x00), _) => return Ok(()),
            (Some(0xFF), _) => return Err(packets.server_error(&packet)),
            (Some(0xFE), _) if !switched => {
                switched = true;
                let request: AuthSwitchRequest<'_> = ParseBuf(&packet)
                    .parse(())
                    .map_err(|_| PacketFault::broken("change of authentication"))?;
                nonce = request.plugin_data().to_vec();
                plugin = request.auth_plugin().into_owned();
                let data = answer(&plugin, endpoint, &nonce)?;
                packets.write(&data).await?;
            }
            (Some(0x01), AuthPlugin::CachingSha2Password) => match packet.get(1) {
                Some(&FAST_AUTH_OK) => {}
                Some(&FULL_AUTH) => send_password(packets, endpoint, &nonce).await?,
                _ => return Err(PacketFault::broken("authentication")),
            },
            _ => return Err(PacketFault::broken("authentication")),
        }
    }
}

fn answer(
    plugin: &AuthPlugin<'_>,
    endpoint: &Endpoint,
    nonce: &[u8],
) -> Result<Vec<u8>, PacketFault> {
    match plugin {
        AuthPlugin::MysqlNativePassword | AuthPlugin::CachingSha2Password | AuthPlugin::Ed25519 => {
            let data = plugin.gen_data(password(endpoint), nonce);
            Ok(data.map(|data| data.to_vec()).unwrap_or_default())
        }
        other => {
            let name = String::from_utf8_lossy(other.as_bytes()).into_owned();
            Err(PacketFault::Plugin(name))
        }
    }
}

/// The whole password: in the clear where nobody can read along, else under the server's key.
async fn send_password(
    packets: &mut Packets<'_>,
    endpoint: &Endpoint,
    nonce: &[u8],
) -> Result<(), PacketFault> {
    let mut secret = endpoint.password.reveal().as_bytes().to_vec();
    secret.push(0);
    if packets.is_private() {
        return packets.write(&secret).await;
    }
    packets.write(&[REQUEST_PUBLIC_KEY]).await?;
    let packet = packets.read().await?;
    let key = match packet.split_first() {
        Some((0x01, key)) => key,
        Some((0xFF, _)) => return Err(packets.server_error(&packet)),
        _ => return Err(PacketFault::broken("public key")),
    };
    if nonce.is_empty() || !key.starts_with(b"-----BEGIN") {
        return Err(PacketFault::broken("public key"));
    }
    for (index, byte) in secret.iter_mut().enumerate() {
        *byte ^= nonce[index % nonce.len()];
    }
    packets.write(&crypto::encrypt(&secret, key)).await
}
