//! Stand-in: replaced at merge.

use std::path::Path;

use crate::model::{Bytes, Host};

/// What this host has.
pub fn read(_data_dir: &Path) -> Host {
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok())
        .unwrap_or(0);
    Host {
        cpus,
        cpu_model: String::new(),
        memory: Bytes(kib * 1024),
        kernel: String::new(),
        disk_free: Some(Bytes(70 * Bytes::GB)),
    }
}
