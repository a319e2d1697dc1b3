//! Connections to an endpoint, made one after the other: its addresses take turns.
//!
//! Must not know: what is sent over them.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;

use super::login::{Greeted, LoggedIn, encryption};
use super::packets::PacketFault;
use super::stream::Stream;
use crate::driver::{DriverError, ENDING_CODES, refusal};
use crate::model::Endpoint;

/// Everything that opening a connection needs; one for all connections of an endpoint.
#[derive(Debug)]
pub(in crate::driver) struct Connector {
    /// One for each address.
    endpoints: Vec<Arc<Endpoint>>,
    turn: AtomicUsize,
    encryption: OnceLock<Result<Option<Arc<ClientConfig>>, String>>,
}

impl Connector {
    pub(in crate::driver) fn new(endpoint: &Endpoint) -> Self {
        Self {
            endpoints: endpoint.each().map(Arc::new).collect(),
            turn: AtomicUsize::new(0),
            encryption: OnceLock::new(),
        }
    }

    /// The address whose turn it is.
    pub(super) fn next(&self) -> Arc<Endpoint> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        Arc::clone(&self.endpoints[turn % self.endpoints.len()])
    }

    /// The first address: administration knows no other.
    pub(super) fn first(&self) -> &Arc<Endpoint> {
        &self.endpoints[0]
    }

    /// A connection to one of the addresses, and the server's first words on it.
    pub(super) async fn reach(
        &self,
        endpoint: &Endpoint,
    ) -> Result<(Stream, Greeted), PacketFault> {
        let mut stream = Stream::connect(&endpoint.address).await?;
        let greeted = Greeted::read(&mut stream).await?;
        Ok((stream, greeted))
    }

    /// What connections are encrypted with; its files are read when it is first asked for.
    pub(super) fn encryption(&self) -> Result<Option<Arc<ClientConfig>>, PacketFault> {
        let known = self.encryption.get_or_init(|| encryption(self.first()));
        known.clone().map_err(PacketFault::Tls)
    }

    /// Connects to one of the addresses and logs in.
    pub(super) async fn enter(
        &self,
        endpoint: &Endpoint,
    ) -> Result<(Stream, LoggedIn), PacketFault> {
        let config = self.encryption()?;
        let entering = async {
            let (mut stream, greeted) = self.reach(endpoint).await?;
            let logged_in = greeted.enter(&mut stream, endpoint, config).await?;
            Ok((stream, logged_in))
        };
        match endpoint.session.connect_timeout {
            None => entering.await,
            Some(limit) => tokio::time::timeout(limit, entering).await.unwrap_or_else(|_| {
                let words = format!("no answer within {} s", limit.as_secs_f64());
                Err(PacketFault::Io(io::Error::new(io::ErrorKind::TimedOut, words)))
            }),
        }
    }
}

/// A fault of a connection that was to be made, with what mends it.
pub(super) fn not_connected(endpoint: &Endpoint, fault: PacketFault) -> DriverError {
    refusal::explained(driver_error(endpoint, fault), endpoint)
}

/// A fault of a connection that stood.
pub(super) fn broken(endpoint: &Endpoint, fault: PacketFault) -> DriverError {
    match driver_error(endpoint, fault) {
        DriverError::Server { code, message, .. } if ENDING_CODES.contains(&code) => {
            DriverError::Lost {
                address: endpoint.address.to_string(),
                message: format!("server error {code}: {message}"),
            }
        }
        error => error,
    }
}

pub(super) fn lost(endpoint: &Endpoint, error: &io::Error) -> DriverError {
    DriverError::Lost { address: endpoint.address.to_string(), message: error.to_string() }
}

fn driver_error(endpoint: &Endpoint, fault: PacketFault) -> DriverError {
    let address = || endpoint.address.to_string();
    match fault {
        PacketFault::Io(error) => DriverError::Lost {
            address: address(),
            message: refusal::of_the_system(&error, endpoint),
        },
        PacketFault::Tls(message) => DriverError::Lost { address: address(), message },
        PacketFault::Broken(message) => DriverError::Protocol { address: address(), message },
        PacketFault::Plugin(name) => DriverError::Lost {
            address: address(),
            message: format!(
                "the account {} wants authentication by {name}, which is not spoken here; \
                 use mysql_native_password, caching_sha2_password or ed25519",
                endpoint.user
            ),
        },
        PacketFault::Server(error) => DriverError::Server {
            code: error.code,
            // As every client library does where a server left it out.
            sqlstate: match error.sqlstate.is_empty() {
                true => "HY000".to_owned(),
                false => String::from_utf8_lossy(&error.sqlstate).into_owned(),
            },
            message: String::from_utf8_lossy(&error.message).into_owned(),
        },
    }
}
