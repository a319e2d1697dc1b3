//! Connecting with mysql_async, and its errors in our words.
//!
//! Must not know: what is sent over the connection.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mysql_async::{Conn, DriverError as AsyncError, Error, IoError, Opts, OptsBuilder};

use crate::driver::{DriverError, ENDING_CODES};
use crate::model::{self, Endpoint};

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
    address: Address,
}

/// mysql_async's options print their password.
impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Connector {
    pub(super) fn new(endpoint: &Endpoint) -> Self {
        Self { opts: opts(endpoint), address: Address(endpoint.address.to_string().into()) }
    }

    pub(super) fn address(&self) -> Address {
        self.address.clone()
    }

    /// Connects and logs in, in [`CONNECT_TIMEOUT`] at most.
    pub(super) async fn connect(&self) -> Result<Conn, DriverError> {
        match tokio::time::timeout(CONNECT_TIMEOUT, Conn::new(self.opts.clone())).await {
            Ok(Ok(conn)) => Ok(conn),
            Ok(Err(Error::Server(error))) => Err(server(error)),
            Ok(Err(error)) => Err(self.address.error(error)),
            Err(_) => {
                let message = format!("no answer within {} s", CONNECT_TIMEOUT.as_secs());
                Err(DriverError::Lost { address: self.address.to_string(), message })
            }
        }
    }
}

fn opts(endpoint: &Endpoint) -> Opts {
    let builder = OptsBuilder::default()
        .user(Some(endpoint.user.as_str()))
        .pass(Some(endpoint.password.reveal()))
        .db_name(endpoint.database.as_deref())
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
        let opts = super::opts(&endpoint(tcp));
        assert_eq!((opts.ip_or_hostname(), opts.tcp_port()), ("127.0.0.1", 3307));
        assert_eq!((opts.socket(), opts.prefer_socket()), (None, false));

        let opts = super::opts(&endpoint(model::Address::Unix("/tmp/x.sock".into())));
        assert_eq!(opts.socket(), Some("/tmp/x.sock"));
    }

    #[test]
    fn connecting_asks_the_server_nothing_and_no_handle_is_closed() {
        let opts = super::opts(&endpoint(model::Address::Unix("/tmp/x.sock".into())));
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
