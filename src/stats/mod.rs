//! Numbers in, numbers out.
//!
//! Must not know: files, servers, time.

mod compare;
mod histogram;
mod summary;

pub use compare::*;
pub use histogram::Histogram;
pub use summary::*;
