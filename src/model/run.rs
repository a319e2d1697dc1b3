//! What a run is, beside its numbers: all that its manifest keeps.
//!
//! Must not know: JSON, paths, the clock.

use super::{DatasetRecord, Host, Plan, ServerInfo, SpecId};

/// The description of a run; with the rows of its cells it yields a result set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDescription {
    /// gridbench's version.
    pub tool_version: String,
    /// The revision it was built from, where known.
    pub tool_revision: Option<String>,
    /// Start, milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: i64,
    /// The command line, word by word; it never holds a secret.
    pub command: Vec<String>,
    /// SHA-256 of the matrix file, lower-case hexadecimal.
    pub matrix_sha256: String,
    /// What was to be measured, in order.
    pub plan: Plan,
    /// Where gridbench ran.
    pub host: Host,
    /// What carried the load: `native` is gridbench's own client, `sysbench 1.0.20` that program.
    pub driver: String,
    /// Scheduling policy of the load threads, for example `SCHED_BATCH`.
    pub load_policy: String,
    /// One record for each spec whose server was reached.
    pub servers: Vec<ServerRecord>,
}

/// The server that stood for a spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerRecord {
    /// Which spec.
    pub spec: SpecId,
    /// Whether gridbench started it.
    pub managed: bool,
    /// What it said of itself.
    pub info: ServerInfo,
    /// Processors it was bound to; empty where it was not.
    pub cpus: Vec<u32>,
    /// Processors the load threads were bound to meanwhile; empty where they were not.
    pub load_cpus: Vec<u32>,
    /// Bytes that the dataset takes there, as the server counts them.
    pub dataset_bytes: Option<u64>,
    /// What was not the same when the run went on after an interruption, and was accepted; empty
    /// where nothing changed.
    pub changes: Vec<String>,
    /// The dataset before the first trial; `None` in runs that an older gridbench wrote.
    pub dataset: Option<DatasetRecord>,
}
