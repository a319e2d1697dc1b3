//! What a server says of itself and of our account, before anything is asked of it.
//!
//! Must not know: how it is asked, or what follows from it.

use super::ServerInfo;

/// A server as one connection sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examination {
    /// Version, transport, variables.
    pub info: ServerInfo,
    /// `CURRENT_USER()`: the account that the server took us for, as `user@host`.
    pub account: String,
    /// Which server it is among all: addresses with the same one lead to the same server.
    pub identity: String,
    /// From where the server sees our connection come: `host:port` over TCP, a name without a port
    /// over a socket; `None` where it does not say.
    pub comes_from: Option<String>,
    /// `SHOW GRANTS`, roles that are in effect included, a statement each.
    pub grants: Vec<String>,
    /// By how much the server's clock is ahead of ours (below 0: behind), milliseconds.
    pub clock_ahead_ms: i64,
    /// Connections of others.
    pub others: Others,
}

/// Who else is connected.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Others {
    /// Connections that are not ours.
    pub connections: u64,
    /// Accounts and how many connections each has, where the server lets us see them.
    pub accounts: Vec<(String, u64)>,
    /// Of them, servers that replicate from this one.
    pub replicas: u64,
    /// Whether this server replicates from another one.
    pub is_replica: bool,
}

/// What a plan needs of one server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Needs {
    /// Schema that is filled and asked.
    pub database: String,
    /// Connections of the load, at the most.
    pub connections: u32,
    /// Tables.
    pub tables: u32,
    /// Prepared statements of each connection, at the most; 0 for text.
    pub handles: u64,
    /// Whether the load writes.
    pub writes: bool,
    /// Bytes of the dataset's files.
    pub disk_bytes: u64,
    /// The buffer pool that the spec stands for.
    pub buffer_pool_bytes: Option<u64>,
}

/// How grave a remark is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gravity {
    /// It cannot work.
    Refused,
    /// It is done only when it is said to be meant (`--yes`).
    Guarded,
    /// A published number would be doubtful.
    Doubtful,
    /// Good to know.
    Known,
}

impl Gravity {
    /// The name in files and on screens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Guarded => "guarded",
            Self::Doubtful => "doubtful",
            Self::Known => "known",
        }
    }
}

/// One thing that an examination showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// How grave.
    pub gravity: Gravity,
    /// What is so.
    pub words: String,
    /// What mends it: a statement, a setting or an option; empty where nothing has to be done.
    pub remedy: String,
}
