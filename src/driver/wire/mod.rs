//! The lean client: a statement is encoded into a buffer that is kept, its reply is scanned and
//! counted, and nothing of it is built.
//!
//! Must not know: workloads, phases, results.

mod auth;
mod connect;
pub(super) mod encode;
mod greeting;
mod key;
mod login;
mod packets;
mod relay;
pub mod scan;
mod session;
mod socket;
mod stream;

pub(super) use connect::Connector;
pub(super) use relay::Relay;
pub use session::{WireDriver, WireSession};
