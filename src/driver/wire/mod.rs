//! The lean client: a statement is encoded into a buffer that is kept, its reply is scanned and
//! counted, and nothing of it is built.
//!
//! Must not know: workloads, phases, results.

pub(super) mod encode;
mod greeting;
mod key;
mod login;
mod packets;
pub mod scan;
mod session;
mod stream;

pub use session::{WireDriver, WireSession};
