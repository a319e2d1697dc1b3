//! Where a server is, how we log in, and what it said of itself.
//!
//! Must not know: how connections are made.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// A text that must not reach a log, a result or a page: its `Debug` is `***`, and it has no
/// `Display`.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the handshake only.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The transport and its address. Always explicit: an address never turns into a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// TCP to a host name or address.
    Tcp {
        /// Name, IPv4, or IPv6 without brackets.
        host: String,
        /// Port.
        port: u16,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "tcp://[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "tcp://{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Everything that a connection needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Where.
    pub address: Address,
    /// Account name.
    pub user: String,
    /// Its password; may be empty.
    pub password: Secret,
    /// Schema to use after connecting; `None` for administration.
    pub database: Option<String>,
}

impl Endpoint {
    /// Whether the server is on this machine, as far as the address tells.
    pub fn is_local(&self) -> bool {
        match &self.address {
            Address::Unix(_) => true,
            Address::Tcp { host, .. } => {
                matches!(host.as_str(), "localhost" | "::1") || host.starts_with("127.")
            }
        }
    }
}

/// Which family a server is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// Oracle's MySQL and what reports like it.
    MySql,
    /// MariaDB.
    MariaDb,
}

impl Flavour {
    /// The name in files and on screens.
    pub fn name(self) -> &'static str {
        match self {
            Self::MySql => "mysql",
            Self::MariaDb => "mariadb",
        }
    }

    /// Reads `@@version` or the output of `--version`.
    pub fn of_version(version: &str) -> Self {
        if version.to_ascii_lowercase().contains("mariadb") { Self::MariaDb } else { Self::MySql }
    }
}

/// What was observed on a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerInfo {
    /// `@@version`.
    pub version: String,
    /// Its family.
    pub flavour: Flavour,
    /// Transport and address that were used.
    pub address: String,
    /// Version and cipher of TLS, as the server says of our connection; `None`: clear text.
    pub tls: Option<String>,
    /// Round trip of the least statement, median; `None` where it was not measured.
    pub round_trip_us: Option<u64>,
    /// Variables that move results, by name.
    pub variables: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_never_prints_itself() {
        let endpoint = Endpoint {
            address: Address::Tcp { host: "::1".into(), port: 3306 },
            user: "bench".into(),
            password: Secret::new("hunter2"),
            database: None,
        };
        assert!(!format!("{endpoint:?}").contains("hunter2"));
        assert_eq!(endpoint.address.to_string(), "tcp://[::1]:3306");
    }
}
