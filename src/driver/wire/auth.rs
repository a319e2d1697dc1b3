//! Authentication: what a plug-in wants, answered until the server says yes or no.
//!
//! Must not know: the rest of the handshake. Source of the exchange: "Authentication Phase" in the
//! MySQL manual; `client_ed25519` in MariaDB's.

use mysql_common::packets::AuthPlugin;
use mysql_common::scramble::create_response_for_ed25519;

use super::key;
use super::packets::{PacketFault, Packets};
use crate::model::Endpoint;

/// caching_sha2_password's words.
const FAST_AUTH_OK: u8 = 0x03;
const FULL_AUTH: u8 = 0x04;
const REQUEST_PUBLIC_KEY: u8 = 0x02;

/// Deprecated, but what MySQL may ask of an account that does not exist; without it the answer
/// would not be "access denied". It takes the password in the clear over TLS, else under the
/// server's key.
const SHA256_PASSWORD: &[u8] = b"sha256_password";
const SHA256_REQUEST_PUBLIC_KEY: u8 = 0x01;

/// Packets of a server that has not said yes or no by then say neither: the longest exchange
/// takes three.
const ANSWERS_MAX: usize = 8;

pub(super) fn password(endpoint: &Endpoint) -> Option<&str> {
    Some(endpoint.password.reveal()).filter(|password| !password.is_empty())
}

/// Answers until the server says yes or no; the plug-in may be changed once. Returns the plug-in
/// that it was in the end.
pub(super) async fn authenticate(
    packets: &mut Packets<'_>,
    endpoint: &Endpoint,
    mut plugin: AuthPlugin<'static>,
    mut nonce: Vec<u8>,
) -> Result<AuthPlugin<'static>, PacketFault> {
    let mut switched = false;
    for _ in 0..ANSWERS_MAX {
        let packet = packets.read().await?;
        match (packet.first(), &plugin) {
            (Some(0x00), _) => return Ok(plugin),
            (Some(0xFF), _) => return Err(packets.server_error(&packet)),
            (Some(0xFE), _) if !switched => {
                switched = true;
                let change = Change::parse(&packet)?;
                if change.plugin.as_bytes() == SHA256_PASSWORD {
                    send_sha256_password(packets, endpoint, &change.nonce).await?;
                } else {
                    packets.write(&change.answer(endpoint)?).await?;
                }
                (plugin, nonce) = (change.plugin, change.nonce);
            }
            (Some(0x01), AuthPlugin::CachingSha2Password) => match packet.get(1) {
                Some(&FAST_AUTH_OK) => {}
                Some(&FULL_AUTH) => send_password(packets, endpoint, &nonce).await?,
                _ => return Err(PacketFault::broken("authentication")),
            },
            _ => return Err(PacketFault::broken("authentication")),
        }
    }
    Err(PacketFault::broken("authentication"))
}

/// The server wants another plug-in than the one that was answered with.
struct Change {
    plugin: AuthPlugin<'static>,
    nonce: Vec<u8>,
}

impl Change {
    /// 0xFE, the plug-in's name up to a NUL, the nonce. All but ed25519 end the nonce with a NUL
    /// that does not belong to it; ed25519's 32 bytes are random to the last, and one in 256
    /// ends with a NUL of its own.
    fn parse(packet: &[u8]) -> Result<Self, PacketFault> {
        let [_, rest @ ..] = packet else { return Err(PacketFault::broken("authentication")) };
        if rest.is_empty() {
            // The change as it was before plug-ins had names.
            return Err(PacketFault::Plugin("mysql_old_password".to_owned()));
        }
        let mut parts = rest.splitn(2, |byte| *byte == 0);
        let (Some(name), Some(nonce)) = (parts.next(), parts.next()) else {
            return Err(PacketFault::broken("change of authentication"));
        };
        let plugin = AuthPlugin::from_bytes(name).into_owned();
        let nonce = match plugin {
            AuthPlugin::Ed25519 => nonce,
            _ => nonce.strip_suffix(&[0]).unwrap_or(nonce),
        };
        Ok(Self { nonce: nonce.to_vec(), plugin })
    }

    fn answer(&self, endpoint: &Endpoint) -> Result<Vec<u8>, PacketFault> {
        match &self.plugin {
            AuthPlugin::MysqlNativePassword | AuthPlugin::CachingSha2Password => {
                let data = self.plugin.gen_data(password(endpoint), &self.nonce);
                Ok(data.map(|data| data.to_vec()).unwrap_or_default())
            }
            // An empty password signs as any other does.
            AuthPlugin::Ed25519 => {
                let password = endpoint.password.reveal().as_bytes();
                Ok(create_response_for_ed25519(password, &self.nonce).to_vec())
            }
            // Above all no mysql_clear_password: a server that asks for it would get it.
            other => {
                let name = String::from_utf8_lossy(other.as_bytes()).into_owned();
                Err(PacketFault::Plugin(name))
            }
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
    send_encrypted(packets, secret, nonce, REQUEST_PUBLIC_KEY).await
}

async fn send_sha256_password(
    packets: &mut Packets<'_>,
    endpoint: &Endpoint,
    nonce: &[u8],
) -> Result<(), PacketFault> {
    let mut secret = endpoint.password.reveal().as_bytes().to_vec();
    secret.push(0);
    match secret.len() {
        1 => packets.write(&secret).await,
        // Its server side knows no other private transport.
        _ if packets.is_encrypted() => packets.write(&secret).await,
        _ => send_encrypted(packets, secret, nonce, SHA256_REQUEST_PUBLIC_KEY).await,
    }
}

/// Asks for the server's key, and sends the masked secret under it.
async fn send_encrypted(
    packets: &mut Packets<'_>,
    mut secret: Vec<u8>,
    nonce: &[u8],
    request: u8,
) -> Result<(), PacketFault> {
    packets.write(&[request]).await?;
    let packet = packets.read().await?;
    let pem = match packet.split_first() {
        Some((0x01, pem)) => pem,
        Some((0xFF, _)) => return Err(packets.server_error(&packet)),
        _ => return Err(PacketFault::broken("public key")),
    };
    // Without a nonce the password would go unmasked.
    if nonce.is_empty() {
        return Err(PacketFault::broken("authentication"));
    }
    for (byte, mask) in secret.iter_mut().zip(nonce.iter().cycle()) {
        *byte ^= mask;
    }
    let encrypted = key::encrypt(&secret, pem);
    packets.write(&encrypted.map_err(|why| PacketFault::Broken(why.to_owned()))?).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Address, Secret};

    fn endpoint(password: &str) -> Endpoint {
        Endpoint::new(Address::Unix("/tmp/x.sock".into()), "bench", Secret::new(password))
    }

    #[test]
    fn a_nonce_of_ed25519_keeps_a_nul_at_its_end() {
        let nonce = [&[7; 31][..], &[0]].concat();
        let packet = [&b"\xfeclient_ed25519\0"[..], &nonce].concat();
        let change = Change::parse(&packet).unwrap();
        assert_eq!(change.nonce, nonce);
        assert_eq!(change.answer(&endpoint("")).unwrap().len(), 64);
        let packet = [&b"\xfemysql_native_password\0"[..], &nonce].concat();
        assert_eq!(Change::parse(&packet).unwrap().nonce, [7; 31]);
    }

    #[test]
    fn a_server_that_asks_for_the_password_itself_does_not_get_it() {
        for name in ["mysql_clear_password", "mysql_old_password", "parsec", "dialog", ""] {
            let packet = [b"\xfe", name.as_bytes(), b"\0nonce\0"].concat();
            let answer = Change::parse(&packet).unwrap().answer(&endpoint("hunter2"));
            assert!(matches!(answer, Err(PacketFault::Plugin(found)) if found == name));
        }
        assert!(matches!(Change::parse(b"\xfe"), Err(PacketFault::Plugin(_))));
        assert!(matches!(Change::parse(b"\xfex"), Err(PacketFault::Broken(_))));
    }
}
