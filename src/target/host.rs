//! What this machine has: processors, memory, disk, kernel.
//!
//! Must not know: what any of it is for.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::model::{Bytes, Host};

/// Reads the host. Every figure that cannot be read has a stated substitute: one processor,
/// the architecture's name, no memory, an empty release, no free space known.
pub fn read(data_dir: &Path) -> Host {
    Host {
        cpus: cpus(),
        cpu_model: cpu_model(),
        memory: memory(),
        governor: governor(),
        cpu_quota_milli: cpu_quota_milli(&groups(), Path::new("/sys/fs/cgroup")),
        kernel: kernel(),
        disk_free: disk_free(data_dir),
    }
}

/// Processors that this process may use: affinity and control-group quota included.
fn cpus() -> u32 {
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u32::try_from(cpus).unwrap_or(u32::MAX)
}

/// How long the calling thread has been ready to run, since it began, without a processor: the
/// second number of its `schedstat` (proc(5)), nanoseconds. `None` where the system counts none.
pub fn thread_run_delay() -> Option<Duration> {
    run_delay_of(&std::fs::read_to_string("/proc/thread-self/schedstat").ok()?)
}

fn run_delay_of(schedstat: &str) -> Option<Duration> {
    schedstat.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

fn cpu_model() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    cpu_model_of(&cpuinfo)
        .or_else(|| sysctl("machdep.cpu.brand_string"))
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// x86 says `model name`, some ARM boards `Model`; most ARM servers name nothing.
fn cpu_model_of(cpuinfo: &str) -> Option<String> {
    let values = |key: &'static str| {
        let fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        fields.filter(move |(name, _)| name.trim() == key).map(|(_, value)| value.trim())
    };
    let name = values("model name").chain(values("Model")).find(|value| !value.is_empty())?;
    Some(name.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The machine's memory, or the lowest limit of the control groups that hold this process.
fn memory() -> Bytes {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let machine = mem_total_of(&meminfo)
        .or_else(|| sysctl("hw.memsize").and_then(|bytes| bytes.parse().ok()))
        .unwrap_or(0);
    let limit = group_limit(&groups(), Path::new("/sys/fs/cgroup"));
    Bytes(limit.map_or(machine, |limit| limit.min(machine)))
}

/// The control groups that hold this process, a line each.
fn groups() -> String {
    std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default()
}

/// `MemTotal` counts in KiB, whatever its unit is called.
fn mem_total_of(meminfo: &str) -> Option<u64> {
    let value = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    value.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The lowest memory limit on the way from this process's groups up to the root, versions 1
/// and 2. Inside a container the path may not exist under the mount: its root then holds the
/// limit. "max", and what is not a number, is no limit.
fn group_limit(groups: &str, mount: &Path) -> Option<u64> {
    let limits = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let (root, file) = match controllers {
            "" => (mount.to_owned(), "memory.max"),
            list if list.split(',').any(|name| name == "memory") => {
                (mount.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let group = Path::new(path.trim_start_matches('/'));
        let read = |dir: &Path| std::fs::read_to_string(root.join(dir).join(file)).ok();
        group.ancestors().filter_map(|dir| read(dir)?.trim().parse::<u64>().ok()).min()
    });
    limits.min()
}

fn governor() -> Option<String> {
    let path = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|name| !name.is_empty())
}

/// The lowest processor quota of the control groups that hold this process, versions 1 and 2.
fn cpu_quota_milli(groups: &str, mount: &Path) -> Option<u64> {
    let quotas = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let is_v2 = controllers.is_empty();
        if !is_v2 && !controllers.split(',').any(|name| name == "cpu") {
            return None;
        }
        let root = if is_v2 { mount.to_owned() } else { mount.join("cpu") };
        let read = |dir: &Path, file: &str| std::fs::read_to_string(root.join(dir).join(file)).ok();
        let quota = |dir: &Path| match is_v2 {
            true => quota_of(&read(dir, "cpu.max")?),
            false => {
                let (quota, period) =
                    (read(dir, "cpu.cfs_quota_us")?, read(dir, "cpu.cfs_period_us")?);
                quota_of(&format!("{} {}", quota.trim(), period.trim()))
            }
        };
        Path::new(path.trim_start_matches('/')).ancestors().filter_map(quota).min()
    });
    quotas.min()
}

/// `QUOTA PERIOD` in microseconds, or `max PERIOD`.
fn quota_of(cpu_max: &str) -> Option<u64> {
    let (quota, period) = cpu_max.trim().split_once(' ')?;
    quota.parse::<u64>().ok()?.checked_mul(1_000)?.checked_div(period.parse().ok()?)
}

/// The name of this host, as servers call it too.
pub fn name() -> Option<String> {
    nix::sys::utsname::uname().ok().map(|name| name.nodename().to_string_lossy().into_owned())
}

fn kernel() -> String {
    let name = nix::sys::utsname::uname();
    name.map(|name| name.release().to_string_lossy().into_owned()).unwrap_or_default()
}

/// Free space for this user where `path` is, or will be.
fn disk_free(path: &Path) -> Option<Bytes> {
    let path = std::path::absolute(path).ok()?;
    let existing = path.ancestors().find(|path| path.exists())?;
    let stat = nix::sys::statvfs::statvfs(existing).ok()?;
    // The width of these two differs from platform to platform.
    let (blocks, block_bytes) = (stat.blocks_available(), stat.fragment_size());
    u64::try_from(i128::from(blocks) * i128::from(block_bytes)).ok().map(Bytes)
}

/// One figure of a system that has no /proc (macOS).
fn sysctl(name: &str) -> Option<String> {
    let output = Command::new("sysctl").args(["-n", name]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_a_processor_memory_and_disk() {
        let host = read(Path::new("/tmp/does/not/exist/yet"));
        assert!(host.cpus >= 1);
        assert!(host.memory > Bytes(64 * Bytes::MB));
        assert!(!host.kernel.is_empty() && !host.cpu_model.is_empty());
        assert!(host.disk_free.is_some());
    }

    #[test]
    fn the_processors_name_is_one_line_without_padding() {
        let name = "processor\t: 0\nmodel name\t: AMD  EPYC \nmodel name\t: other\n";
        assert_eq!(cpu_model_of(name).as_deref(), Some("AMD EPYC"));
        assert_eq!(cpu_model_of("Model\t\t: Raspberry Pi 5").as_deref(), Some("Raspberry Pi 5"));
        assert_eq!(cpu_model_of("garbage"), None);
    }

    #[test]
    fn a_threads_wait_is_the_second_number() {
        assert_eq!(run_delay_of("5 48913 1\n"), Some(Duration::from_nanos(48_913)));
        assert_eq!(run_delay_of("5"), None);
        assert_eq!(run_delay_of("a b c"), None);
    }

    #[test]
    fn a_quota_is_a_share_of_its_period() {
        assert_eq!(quota_of("150000 100000\n"), Some(1_500));
        assert_eq!(quota_of("max 100000\n"), None);
        assert_eq!(quota_of("1 0"), None);
        assert_eq!(quota_of("-1 100000"), None);
    }

    #[test]
    fn the_lowest_quota_on_the_way_up_counts() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("cpu/a/cpu.cfs_quota_us", "-1\n");
        write("cpu/a/cpu.cfs_period_us", "100000\n");
        write("slice/sub/cpu.max", "max 100000\n");
        assert_eq!(cpu_quota_milli("4:cpu:/a\n0::/slice/sub\n", root.path()), None);
        write("cpu/a/cpu.cfs_quota_us", "90000\n");
        assert_eq!(cpu_quota_milli("4:cpu,cpuacct:/a\n", root.path()), Some(900));
        write("slice/cpu.max", "50000 100000\n");
        assert_eq!(cpu_quota_milli("0::/slice/sub\n", root.path()), Some(500));
        assert_eq!(cpu_quota_milli("nonsense", root.path()), None);
    }

    #[test]
    fn memory_counts_in_kib() {
        assert_eq!(mem_total_of("MemFree: 1 kB\nMemTotal:  2048 kB\n"), Some(2_097_152));
        assert_eq!(mem_total_of("MemTotal: many"), None);
    }

    #[test]
    fn the_lowest_limit_on_the_way_up_counts() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("memory/a/memory.limit_in_bytes", "300\n");
        write("memory/a/b/memory.limit_in_bytes", "500\n");
        write("slice/memory.max", "max\n");
        assert_eq!(group_limit("4:memory:/a/b\n", root.path()), Some(300));
        assert_eq!(group_limit("4:cpu,memory:/a/b\n0::/slice\n", root.path()), Some(300));
        assert_eq!(group_limit("0::/slice\n", root.path()), None);
        write("memory.max", "200");
        assert_eq!(group_limit("0::/not/mounted/here\n", root.path()), Some(200));
        assert_eq!(group_limit("nonsense", root.path()), None);
    }
}
