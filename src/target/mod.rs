//! Where a spec lives: a private server that gridbench starts, or an address from a file.
//!
//! - [`find_server`] finds a server program, [`ManagedServer`] runs one on a home of its own.
//! - [`read_targets`] reads where a site's own servers are, and how to log in.
//! - [`host::read`] says what this machine has.
//!
//! Must not know: matrices, workloads, results.

mod affinity;
mod error;
mod file;
mod find;
mod grants;
mod home;
pub mod host;
mod initialise;
mod judge;
mod lock;
mod managed;
mod process;
mod settings;
mod usage;

pub use affinity::cpus_apart_from;
pub use error::{LogExcerpt, TargetError};
pub use file::{Targets, read_targets};
pub use find::{ServerBinary, find_server};
pub use judge::judge;
pub use managed::ManagedServer;
pub use settings::{ServerSettings, effective_buffer_pool};
pub use usage::{process_use, server_process};
