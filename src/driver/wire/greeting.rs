//! A server's first packet.
//!
//! Must not know: sockets, passwords. Read here and not by mysql_common, which panics on some
//! lengths that a stranger may claim. Source of the format: "Protocol::HandshakeV10" in the MySQL
//! manual.

use mysql_common::constants::CapabilityFlags;
use mysql_common::packets::AuthPlugin;

/// The only version of the protocol that any server in use speaks.
const VERSION: u8 = 10;
/// Bytes of the nonce, in two parts.
const NONCE: usize = 20;

/// What a login needs of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Greeting {
    /// The server's version, without its final NUL.
    version: Vec<u8>,
    /// The server's number of this connection.
    connection: u32,
    /// What the server can do.
    pub(super) capabilities: CapabilityFlags,
    /// The server's default plug-in, which need not be the account's own: with another than
    /// these two the server will ask for a change.
    pub(super) plugin: AuthPlugin<'static>,
    pub(super) nonce: Vec<u8>,
}

impl Greeting {
    /// `None` where these bytes are no greeting of a server in use.
    pub(super) fn parse(packet: &[u8]) -> Option<Self> {
        let (&version, rest) = packet.split_first()?;
        let end_of_name = rest.iter().position(|byte| *byte == 0)?;
        let name = rest[..end_of_name].to_vec();
        let (connection, rest) = rest[end_of_name + 1..].split_first_chunk()?;
        let (first_part, rest) = rest.split_at_checked(8)?;
        let (fixed, rest) = rest.split_at_checked(19)?;
        // Filler, two bytes of capabilities, collation, status, two more, length, reserve.
        let [_, c0, c1, _, _, _, c2, c3, nonce_length, ..] = *fixed else { return None };
        let capabilities =
            CapabilityFlags::from_bits_truncate(u32::from_le_bytes([c0, c1, c2, c3]));
        if version != VERSION || !capabilities.contains(CapabilityFlags::CLIENT_PROTOCOL_41) {
            return None;
        }
        let second_part = usize::from(nonce_length).saturating_sub(8).max(13);
        let second_part = match capabilities.contains(CapabilityFlags::CLIENT_SECURE_CONNECTION) {
            true => second_part,
            false => 0,
        };
        let (second_part, plugin) = rest.split_at_checked(second_part)?;
        let mut nonce = [first_part, second_part].concat();
        // The last byte is a NUL.
        nonce.resize(NONCE, 0);
        let plugin = match AuthPlugin::from_bytes(plugin) {
            AuthPlugin::CachingSha2Password => AuthPlugin::CachingSha2Password,
            _ => AuthPlugin::MysqlNativePassword,
        };
        let connection = u32::from_le_bytes(*connection);
        Some(Self { version: name, connection, capabilities, plugin, nonce })
    }

    /// The same server to a client that is let in whatever it answers, without what must not come
    /// between us and the server.
    pub(super) fn to_pass_on(&self, without: CapabilityFlags) -> Vec<u8> {
        let [c0, c1, c2, c3] = (self.capabilities - without).bits().to_le_bytes();
        let mut packet = vec![VERSION];
        packet.extend_from_slice(&self.version);
        packet.push(0);
        packet.extend_from_slice(&self.connection.to_le_bytes());
        packet.extend_from_slice(&[b'x'; 8]);
        // utf8mb4_general_ci; autocommit.
        packet.extend_from_slice(&[0, c0, c1, 45, 2, 0, c2, c3, NONCE as u8 + 1]);
        packet.extend_from_slice(&[0; 10]);
        packet.extend_from_slice(&[b'x'; NONCE - 8]);
        packet.extend_from_slice(b"\0mysql_native_password\0");
        packet
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// MariaDB 10.11.
    const MARIADB: &[u8] = b"\x0a5.5.5-10.11.11-MariaDB\0\x08\0\0\0abcdefgh\0\xfe\xf7\x2d\x02\0\
        \xff\x81\x15\0\0\0\0\0\0\x1d\0\0\0ijklmnopqrst\0mysql_native_password\0";

    #[test]
    fn a_greeting_tells_capabilities_plugin_and_nonce() {
        let greeting = Greeting::parse(MARIADB).unwrap();
        assert_eq!(greeting.nonce, b"abcdefghijklmnopqrst");
        assert_eq!(greeting.plugin, AuthPlugin::MysqlNativePassword);
        assert!(greeting.capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF));
        assert!(!greeting.capabilities.contains(CapabilityFlags::CLIENT_LONG_PASSWORD));
        let name = b"mysql_native_password\0";
        let other = |plugin: &[u8]| [MARIADB.strip_suffix(name).unwrap(), plugin].concat();
        let sha2 = Greeting::parse(&other(b"caching_sha2_password")).unwrap();
        assert_eq!(sha2.plugin, AuthPlugin::CachingSha2Password);
        for plugin in [&b"mysql_clear_password\0"[..], b"parsec\0", b""] {
            let greeting = Greeting::parse(&other(plugin)).unwrap();
            assert_eq!(greeting.plugin, AuthPlugin::MysqlNativePassword);
        }
    }

    #[test]
    fn what_is_passed_on_is_the_same_server() {
        let greeting = Greeting::parse(MARIADB).unwrap();
        let without = CapabilityFlags::CLIENT_SSL | CapabilityFlags::CLIENT_COMPRESS;
        let passed = Greeting::parse(&greeting.to_pass_on(without)).unwrap();
        assert_eq!((passed.version, passed.connection), (b"5.5.5-10.11.11-MariaDB".to_vec(), 8));
        assert_eq!(passed.capabilities, greeting.capabilities - without);
        assert_eq!(passed.plugin, AuthPlugin::MysqlNativePassword);
    }

    #[test]
    fn a_greeting_that_ends_early_is_none() {
        for length in 0..MARIADB.len() - b"mysql_native_password\0".len() {
            assert_eq!(Greeting::parse(&MARIADB[..length]), None, "{length}");
        }
    }

    proptest! {
        #[test]
        fn no_damage_is_a_panic(place in 0..MARIADB.len(), bytes in any::<[u8; 3]>()) {
            let mut packet = MARIADB.to_vec();
            for (byte, damage) in packet[place..].iter_mut().zip(bytes) {
                *byte = damage;
            }
            if let Some(greeting) = Greeting::parse(&packet) {
                prop_assert_eq!(greeting.nonce.len(), NONCE);
            }
        }
    }
}
