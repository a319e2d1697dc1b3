//! How bytes move: what the hot loop needs of a connection, and the one set of errors that
//! every implementation reports.
//!
//! Must not know: workloads, phases, results. [`adapter`] is the implementation over
//! mysql_async; dispatch is static, so another one costs the hot loop nothing.

use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::model::{ErrorCount, Request};

pub mod adapter;
mod files;
mod handles;
pub mod null;
mod refusal;
mod sockets;
mod tls;
pub mod wire;

pub use files::raise_open_files;
pub use sockets::{Arrivals, Sockets};

/// Opens sessions to one endpoint.
pub trait Driver: Clone + Send + Sync + 'static {
    /// A connection of this driver. Not `Send`: it lives and dies on its load thread.
    type Session: Session;

    /// Connects and logs in.
    fn connect(&self) -> impl Future<Output = Result<Self::Session, DriverError>>;

    /// How long a reply may take before the connection counts as lost; `None`: for ever.
    fn read_timeout(&self) -> Option<Duration> {
        None
    }
}

/// One connection, one statement under way at most.
pub trait Session {
    /// Says which statements [`Request::slot`] names, by their place in the list, and how many
    /// of them may stand prepared at a time (at least one). None stands yet.
    fn expect_statements(&mut self, statements: &Arc<[String]>, handles_max: usize);

    /// The session's socket joins those of its load thread, under a number that is free. From now
    /// on what waits for the session is not woken: who listens to `sockets` polls it. A session
    /// that goes on waking needs none of this.
    fn join(self, _sockets: &Rc<Sockets>, _number: usize) -> Result<Self, DriverError>
    where
        Self: Sized,
    {
        Ok(self)
    }

    /// Prepares the statement of a slot, if it does not stand. Where as many stand as may, the
    /// one used least recently is closed for it. A statement without parameters of a kind that
    /// the server does not prepare will be sent as text, as sysbench does.
    fn prepare(&mut self, slot: usize) -> impl Future<Output = Result<(), DriverError>>;

    /// Sends one statement and reads its whole reply; rows are counted and dropped. The
    /// statement of a slot is prepared first, if it does not stand.
    fn send(&mut self, request: &Request) -> impl Future<Output = Result<Reply, DriverError>>;

    /// Says goodbye and closes the connection.
    fn close(self) -> impl Future<Output = ()>;
}

/// What a server answered to one statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reply {
    /// Whether it was a result set, even an empty one.
    pub result_set: bool,
    /// Rows of the result set.
    pub rows: u64,
    /// Rows that the statement changed.
    pub affected_rows: u64,
    /// Warnings that the server counted.
    pub warnings: u16,
}

/// Why a statement or a connection failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// The server answered with an error; the connection stands.
    #[error("server error {code} ({sqlstate}): {message}")]
    Server {
        /// The server's error code.
        code: u16,
        /// Five characters of SQLSTATE.
        sqlstate: String,
        /// The server's words.
        message: String,
    },
    /// No connection could be made, or it was lost.
    #[error("connection to {address}: {message}")]
    Lost {
        /// Transport and address.
        address: String,
        /// What the system said.
        message: String,
    },
    /// The bytes were not what the protocol allows.
    #[error("{address} broke the protocol: {message}")]
    Protocol {
        /// Transport and address.
        address: String,
        /// What was wrong.
        message: String,
    },
}

/// Error codes after which the server closes the connection: shutdown, session killed (three
/// spellings), idle for too long.
const ENDING_CODES: [u16; 5] = [1053, 1927, 3169, 4031, 1080];

impl DriverError {
    /// Whether the server has no room for another prepared statement
    /// (ER_MAX_PREPARED_STMT_COUNT_REACHED).
    fn is_out_of_handles(&self) -> bool {
        matches!(self, Self::Server { code: 1461, .. })
    }

    /// Errors after which the event is tried again.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Server { code, .. } if ErrorCount::RETRIED.contains(code))
    }

    /// Whether the server prepares no statement of that kind (ER_UNSUPPORTED_PS): MySQL does not
    /// prepare BEGIN, MariaDB does.
    fn is_not_preparable(&self) -> bool {
        matches!(self, Self::Server { code: 1295, .. })
    }

    /// The server's code; 0 where the connection itself failed.
    pub fn code(&self) -> u16 {
        match self {
            Self::Server { code, .. } => *code,
            Self::Lost { .. } | Self::Protocol { .. } => 0,
        }
    }
}
