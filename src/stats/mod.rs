//! Numbers in, numbers out.
//!
//! Must not know: files, servers, time.

mod compare;
mod histogram;
mod interval;
mod series;
mod significance;
mod special;
mod summary;

pub use compare::*;
pub use histogram::Histogram;
pub use interval::*;
pub use series::*;
pub use significance::*;
pub use summary::*;
