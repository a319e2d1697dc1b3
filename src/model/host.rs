//! The machine that gridbench runs on.
//!
//! Must not know: how these figures are read.

use super::Bytes;

/// What this host has; the limits of a managed server, and a line of every page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Processors this process may use.
    pub cpus: u32,
    /// The processor's name as the system prints it.
    pub cpu_model: String,
    /// Memory, or the control group's limit where that is lower.
    pub memory: Bytes,
    /// How the first processor's clock is governed; `None` where the system does not say.
    pub governor: Option<String>,
    /// Processors that the control groups allow, in thousandths; `None` without a quota.
    pub cpu_quota_milli: Option<u64>,
    /// Kernel release.
    pub kernel: String,
    /// Free space where datasets go; `None` where it is not known.
    pub disk_free: Option<Bytes>,
}
