//! A server that answers at once and knows nothing: what a client costs when the server costs
//! nothing. Any MySQL client can connect.
//!
//! Must not know: workloads, phases, results.
//!
//! - `server`: one thread, one epoll loop, thousands of connections.
//! - `connection`: bytes in, packets out; what each command is answered with.
//! - `replies`: the answers, built once.
//! - `answers`: what clients ask when they connect, built when it is asked.
//! - `packet`: how a packet is written.
//! - [`floor`]: the least that a client can do against such a server.

mod answers;
mod connection;
pub mod floor;
mod packet;
mod replies;
mod server;

pub use server::{NullServer, Served};
