//! Connecting with mysql_async, and its errors in our words.
//!
//! Must not know: what is sent over the connection.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use futures_util::FutureExt;
use mysql_async::{Conn, DriverError as AsyncError, Error, IoError, Opts, OptsBuilder};

use crate::driver::wire::{self, Relay};
use crate::driver::{DriverError, ENDING_CODES, refusal};
use crate::model::{self, Endpoint, TlsMode};

/// A server that has not answered and let us in by then counts as not reachable.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The largest packet that is sent or accepted. mysql_async asks each server if it is not told.
const MAX_PACKET_BYTES: usize = 64 << 20;
/// Only a pool reads this; mysql_async asks each server if it is not told.
const WAIT_TIMEOUT_SECS: usize = 28_800;

/// Everything that opening a connection needs.
#[derive(Clone)]
pub(super) struct Connector {
    opts: Opts,
    /// Who encrypts and logs in where mysql_async cannot do it as the endpoint says.
    lean: Arc<wire::Connector>,
    endpoint: Arc<Endpoint>,
    address: Address,
}

/// mysql_async's options print their password.
impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Connector {
    /// `init`: what each connection begins with.
    pub(super) fn new(endpoint: &Endpoint, init: Vec<String>) -> Self {
        Self {
            opts: opts(endpoint, init),
            lean: Arc::new(wire::Connector::new(endpoint)),
            endpoint: Arc::new(endpoint.clone()),
            address: Address(endpoint.address.to_string().into()),
        }
    }

    pub(super) fn address(&self) -> Address {
        self.address.clone()
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Connects and logs in, in [`CONNECT_TIMEOUT`] at most where the endpoint does not say.
    pub(super) async fn connect(&self) -> Result<Conn, DriverError> {
        let limit = self.endpoint.session.connect_timeout.unwrap_or(CONNECT_TIMEOUT);
        tokio::time::timeout(limit, self.connect_in_time()).await.unwrap_or_else(|_| {
            let message = format!("no answer within {} s", limit.as_secs_f64());
            Err(DriverError::Lost { address: self.address.to_string(), message })
        })
    }

    async fn connect_in_time(&self) -> Result<Conn, DriverError> {
        let is_tcp = matches!(self.endpoint.address, model::Address::Tcp { .. });
        if is_tcp && self.endpoint.tls.mode != TlsMode::Off {
            return self.connect_carried().await;
        }
        match opened(self.opts.clone()).await {
            Ok(Ok(conn)) => Ok(conn),
            // What it does not speak, the lean client may.
            Ok(Err(Error::Driver(AsyncError::UnknownAuthPlugin { .. }))) => {
                self.connect_carried().await
            }
            Ok(Err(error)) => Err(self.not_connected(error)),
            Err(()) => Err(protocol(&self.address, "what it greets with is no server's greeting")),
        }
    }

    /// Over a connection that the lean client made: mysql_async has one meaning less of `tls` (it
    /// takes a certificate of another name for a wrong one), and one plug-in less.
    async fn connect_carried(&self) -> Result<Conn, DriverError> {
        let io = |error: io::Error| {
            let message = format!("no private socket for it: {error}");
            DriverError::Lost { address: self.address.to_string(), message }
        };
        let relay = Relay::open().map_err(io)?;
        let path = relay.socket().to_string_lossy().into_owned();
        let opts = OptsBuilder::from_opts(self.opts.clone())
            .user(None::<String>)
            .pass(None::<String>)
            .db_name(None::<String>)
            .socket(Some(path));
        let (carried, conn) = tokio::join!(relay.carry(&self.lean), opened(opts.into()));
        carried?;
        match conn {
            Ok(conn) => conn.map_err(|error| self.not_connected(error)),
            Err(()) => Err(protocol(&self.address, "its greeting cannot be passed on")),
        }
    }

    fn not_connected(&self, error: Error) -> DriverError {
        match error {
            Error::Server(error) => refusal::explained(server(error), &self.endpoint),
            Error::Io(IoError::Io(error)) => DriverError::Lost {
                address: self.address.to_string(),
                message: refusal::of_the_system(&error, &self.endpoint),
            },
            error => self.address.error(error),
        }
    }
}

/// mysql_async panics at some greetings that a stranger may send: that is `Err(())`.
async fn opened(opts: Opts) -> Result<mysql_async::Result<Conn>, ()> {
    AssertUnwindSafe(Conn::new(opts)).catch_unwind().await.map_err(|_| ())
}

fn opts(endpoint: &Endpoint, init: Vec<String>) -> Opts {
    let builder = OptsBuilder::default()
        .user(Some(endpoint.user.as_str()))
        .pass(Some(endpoint.password.reveal()))
        .db_name(endpoint.database.as_deref())
        .init(init)
        .prefer_socket(false)
        .stmt_cache_size(0)
        .tcp_nodelay(true)
        .max_allowed_packet(Some(MAX_PACKET_BYTES))
        .wait_timeout(Some(WAIT_TIMEOUT_SECS));
    match &endpoint.address {
        model::Address::Tcp { host, port } => {
            builder.ip_or_hostname(host.as_str()).tcp_port(*port).into()
        }
        model::Address::Unix(path) => builder.socket(Some(path.to_string_lossy())).into(),
    }
}

/// Transport and address as errors name them.
#[derive(Clone)]
pub(super) struct Address(Arc<str>);

impl Address {
    /// An error of a connection that stood.
    pub(super) fn error(&self, error: Error) -> DriverError {
        match error {
            Error::Server(error) if ENDING_CODES.contains(&error.code) => self.lost(error),
            Error::Server(error) => server(error),
            Error::Io(IoError::Io(error)) => self.lost(error),
            Error::Driver(error @ AsyncError::ConnectionClosed) => self.lost(error),
            other => protocol(self, &other.to_string()),
        }
    }

    fn lost(&self, message: impl fmt::Display) -> DriverError {
        DriverError::Lost { address: self.to_string(), message: message.to_string() }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(super) fn protocol(address: &Address, message: &str) -> DriverError {
    DriverError::Protocol { address: address.to_string(), message: message.to_owned() }
}

fn server(error: mysql_async::ServerError) -> DriverError {
    DriverError::Server { code: error.code, sqlstate: error.state, message: error.message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Secret;

    fn endpoint(address: model::Address) -> Endpoint {
        let endpoint = Endpoint::new(address, "bench", Secret::new("hunter2"));
        Endpoint { database: Some("sbtest".into()), ..endpoint }
    }

    #[test]
    fn an_address_stays_the_transport_that_was_asked_for() {
        let tcp = model::Address::Tcp { host: "127.0.0.1".into(), port: 3307 };
        let opts = super::opts(&endpoint(tcp), Vec::new());
        assert_eq!((opts.ip_or_hostname(), opts.tcp_port()), ("127.0.0.1", 3307));
        assert_eq!((opts.socket(), opts.prefer_socket()), (None, false));

        let opts = super::opts(&endpoint(model::Address::Unix("/tmp/x.sock".into())), Vec::new());
        assert_eq!(opts.socket(), Some("/tmp/x.sock"));
    }

    #[test]
    fn connecting_asks_the_server_nothing_and_no_handle_is_closed() {
        let opts = super::opts(&endpoint(model::Address::Unix("/tmp/x.sock".into())), Vec::new());
        assert!(opts.max_allowed_packet().is_some() && opts.wait_timeout().is_some());
        assert_eq!(opts.stmt_cache_size(), 0);
        assert!(opts.tcp_nodelay());
    }

    #[test]
    fn an_error_that_ends_the_connection_is_a_lost_connection() {
        let address = Address("tcp://db:3306".into());
        let error = |code| {
            let message = "words".to_owned();
            address.error(Error::Server(mysql_async::ServerError {
                code,
                message,
                state: "HY000".into(),
            }))
        };
        assert!(matches!(error(1213), DriverError::Server { code: 1213, .. }));
        let lost = DriverError::Lost {
            address: "tcp://db:3306".into(),
            message: "ERROR 1927 (HY000): words".into(),
        };
        assert_eq!(error(1927), lost);
    }

    #[test]
    fn a_driver_never_prints_its_password() {
        let unix = model::Address::Unix("/tmp/x.sock".into());
        let driver = crate::driver::adapter::AsyncDriver::new(&endpoint(unix));
        assert!(!format!("{driver:?}").contains("hunter2"));
    }
}
