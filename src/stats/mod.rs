//! Numbers in, numbers out.
//!
//! Must not know: files, servers, time.

mod change_points;
mod compare;
mod compare_options;
mod histogram;
mod history;
mod interval;
mod series;
mod significance;
mod special;
mod summary;
mod verdict;

pub use change_points::*;
pub use compare::*;
pub use compare_options::*;
pub use histogram::Histogram;
pub use history::*;
pub use interval::*;
pub use series::*;
pub use significance::*;
pub use summary::*;
pub use verdict::*;
