//! A run watched in a browser while it goes on.
//!
//! The run tells its facts to a [`Hub`], as to every other [`crate::ui::Sink`]; a thread of its own
//! serves what they add up to. Nothing that a reader does reaches the run but the wish to stop,
//! and that needs a token. Must not know: how anything is measured, where results are kept.
//!
//! - `address`: where to listen, and which names of it are believed.
//! - `state`: facts folded into what a page shows; `wire`: that as JSON, whole or what changed.
//! - `hub`: the state between the run's thread and the server's.
//! - `page`: the page; `words`: its words in both languages.
//! - `guard`: who may read, who may stop; `routes`: what is answered.
//! - `server`: the thread, the connections and their limits; `patience`: a socket that does not
//!   wait for ever for its reader.

mod address;
mod guard;
mod hub;
mod page;
mod patience;
mod routes;
mod server;
mod state;
mod wire;
mod words;

pub use address::{AddressError, DEFAULT_PORT, Listener, listen};
pub use guard::{Token, TokenError};
pub use hub::Hub;
pub use server::{Served, Server, Tokens};
