//! Numbers in, numbers out.
//!
//! Must not know: files, servers, time.

mod compare;
mod compare_options;
mod histogram;
mod interval;
mod series;
mod significance;
mod special;
mod summary;
mod verdict;

pub use compare::*;
pub use compare_options::*;
pub use histogram::Histogram;
pub use interval::*;
pub use series::*;
pub use significance::*;
pub use summary::*;
pub use verdict::*;
