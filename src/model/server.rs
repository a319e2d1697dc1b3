//! Where a server is, how we log in, and what it said of itself.
//!
//! Must not know: how connections are made.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

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

/// How far a connection is encrypted, and what is asked of the server's certificate. The names
/// are those of MySQL's own clients (`--ssl-mode`), in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TlsMode {
    /// Clear text.
    #[default]
    Off,
    /// Encrypted where the server offers it; its certificate is not looked at.
    Preferred,
    /// Encrypted, or an error; the certificate is not looked at.
    Required,
    /// The certificate was signed by a known authority, whatever it is called.
    VerifyCa,
    /// It was, and it names the host that was asked for.
    VerifyIdentity,
}

impl TlsMode {
    /// Every mode, the least first.
    pub const ALL: &[Self] =
        &[Self::Off, Self::Preferred, Self::Required, Self::VerifyCa, Self::VerifyIdentity];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Preferred => "preferred",
            Self::Required => "required",
            Self::VerifyCa => "verify-ca",
            Self::VerifyIdentity => "verify-identity",
        }
    }

    /// Whether a connection in clear text is an error.
    pub fn is_demanded(self) -> bool {
        !matches!(self, Self::Off | Self::Preferred)
    }
}

/// How a connection is encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tls {
    /// Whether, and what is asked of the server.
    pub mode: TlsMode,
    /// PEM file of the authorities that may sign its certificate; `None`: the system's.
    pub ca: Option<PathBuf>,
    /// PEM files of the client's own certificate and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// What every new connection is told before it is used, and how long is waited for it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionOptions {
    /// Character set of the connection (`SET NAMES`); `None`: utf8mb4.
    pub charset: Option<String>,
    /// Statements that are sent first, in this order.
    pub init: Vec<String>,
    /// How long connecting and logging in may take; `None`: what whoever connects allows.
    pub connect_timeout: Option<Duration>,
    /// How long a reply of the load may take before its connection counts as lost; `None`: to the
    /// end of the trial.
    pub read_timeout: Option<Duration>,
    /// After how long the server ends a statement of the load itself; `None`: never.
    pub statement_timeout: Option<Duration>,
    /// The same where that is `None`, of a server that takes it.
    pub guard: Option<Duration>,
}

impl SessionOptions {
    /// The statements that a connection of the load begins with.
    pub fn statements(&self) -> Vec<String> {
        let names = self.charset.as_ref().map(|charset| format!("SET NAMES {charset}"));
        let timeout = self.statement_timeout.map(statement_timeout);
        names.into_iter().chain(timeout).chain(self.init.iter().cloned()).collect()
    }

    /// One more, which a server may refuse: not every one that speaks the protocol is known here.
    pub fn guard_statement(&self) -> Option<String> {
        self.guard.filter(|_| self.statement_timeout.is_none()).map(statement_timeout)
    }
}

/// One statement that every server takes, and of which each does the part that it knows: MySQL
/// since 5.7.8 ends a SELECT by `max_execution_time` (milliseconds), MariaDB since 10.1 any
/// statement by `max_statement_time` (seconds). MariaDB passes over comments of MySQL 5.7.
fn statement_timeout(limit: Duration) -> String {
    let (millis, seconds) = (limit.as_millis(), limit.as_secs_f64());
    format!(
        "SET @gridbench = NULL /*!50708 , SESSION max_execution_time = {millis} */ \
         /*M!100101 , SESSION max_statement_time = {seconds} */"
    )
}

/// Everything that a connection needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Where.
    pub address: Address,
    /// More ways to the same data; connections of the load take turns among all of them.
    pub others: Vec<Address>,
    /// Account name.
    pub user: String,
    /// Its password; may be empty.
    pub password: Secret,
    /// Schema to use after connecting; `None` for administration.
    pub database: Option<String>,
    /// How the connection is encrypted; never over a Unix socket.
    pub tls: Tls,
    /// What a new connection is told.
    pub session: SessionOptions,
}

impl Endpoint {
    /// An account at an address: no schema, clear text, nothing told.
    pub fn new(address: Address, user: impl Into<String>, password: Secret) -> Self {
        Self {
            address,
            others: Vec::new(),
            user: user.into(),
            password,
            database: None,
            tls: Tls::default(),
            session: SessionOptions::default(),
        }
    }

    /// One endpoint for each of its addresses.
    pub fn each(&self) -> impl Iterator<Item = Self> {
        let addresses = std::iter::once(&self.address).chain(&self.others);
        let at = |address: &Address| Self {
            address: address.clone(),
            others: Vec::new(),
            ..self.clone()
        };
        addresses.map(at)
    }

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

    /// Whether rows cost the server less as prepared multi-row INSERT than as LOAD DATA: measured
    /// on MariaDB 10.11 and MySQL 9.7.
    pub fn takes_inserts_cheaper(self) -> bool {
        match self {
            Self::MySql => false,
            Self::MariaDb => true,
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
    /// The plug-in that the load's connections log in by; `None` where it was not seen.
    pub auth_plugin: Option<String>,
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
        let address = Address::Tcp { host: "::1".into(), port: 3306 };
        let endpoint = Endpoint::new(address, "bench", Secret::new("hunter2"));
        assert!(!format!("{endpoint:?}").contains("hunter2"));
        assert_eq!(endpoint.address.to_string(), "tcp://[::1]:3306");
    }
}
