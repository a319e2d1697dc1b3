//! What a process of this host has used.
//!
//! Must not know: what the process is.

use std::path::Path;

use nix::unistd::{SysconfVar, sysconf};

use crate::model::ProcessUse;

/// Reads it from /proc; `None` where there is no such process, or no /proc. Reads and writes of
/// the disk are known to whoever may look into the process.
pub fn process_use(pid: u32) -> Option<ProcessUse> {
    let home = Path::new("/proc").join(pid.to_string());
    let stat = std::fs::read_to_string(home.join("stat")).ok()?;
    let ticks_per_second = sysconf(SysconfVar::CLK_TCK).ok()??;
    let cpu_us = cpu_us_of(&stat, u64::try_from(ticks_per_second).ok()?)?;
    let io = std::fs::read_to_string(home.join("io")).unwrap_or_default();
    Some(ProcessUse {
        cpu_us,
        disk_read_bytes: field_of(&io, "read_bytes"),
        disk_write_bytes: field_of(&io, "write_bytes"),
    })
}

/// The process that wrote this file of its process id, if it is a server and runs here.
pub fn server_process(pid_file: &Path) -> Option<u32> {
    let pid: u32 = std::fs::read_to_string(pid_file).ok()?.trim().parse().ok()?;
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    ["mysqld", "mariadbd"].contains(&name.trim()).then_some(pid)
}

/// Fields 14 and 15 of proc(5)'s `stat`, counted from behind the name, which may hold anything.
fn cpu_us_of(stat: &str, ticks_per_second: u64) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    (user + system).checked_mul(1_000_000)?.checked_div(ticks_per_second)
}

fn field_of(io: &str, name: &str) -> Option<u64> {
    let mut fields = io.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(field, _)| *field == name)?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_behind_a_name_that_may_hold_anything() {
        let stat = "42 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0";
        assert_eq!(cpu_us_of(stat, 100), Some(3_000_000));
        assert_eq!(cpu_us_of("42 (a) S 1", 100), None);
    }

    #[test]
    fn a_process_that_is_no_server_is_none() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), std::process::id().to_string()).unwrap();
        assert_eq!(server_process(file.path()), None);
        assert_eq!(server_process(Path::new("/nonexistent")), None);
    }

    #[test]
    fn this_process_has_used_some_time() {
        let used = process_use(std::process::id());
        assert!(used.is_some(), "Linux has a /proc");
        assert_eq!(process_use(u32::MAX), None);
        assert_eq!(field_of("rchar: 5\nread_bytes: 4096\n", "read_bytes"), Some(4_096));
    }
}
