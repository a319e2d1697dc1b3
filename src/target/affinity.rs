//! Which processors a process may use.
//!
//! Must not know: what runs on them.

use std::io;
use std::process::Child;

pub(super) use platform::{allowed, bound_to};

#[cfg(target_os = "linux")]
mod platform {
    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::unistd::Pid;

    use super::{Child, io};

    /// This thread.
    const SELF: Pid = Pid::from_raw(0);

    /// The processors that this thread may use, in ascending order.
    pub(in super::super) fn allowed() -> io::Result<Vec<u32>> {
        let set = sched_getaffinity(SELF)?;
        let numbers = 0..CpuSet::count();
        let allowed = numbers.filter(|cpu| set.is_set(*cpu).unwrap_or(false));
        Ok(allowed.filter_map(|cpu| u32::try_from(cpu).ok()).collect())
    }

    /// Starts a child that may use only `cpus` (any, where that is empty). A child inherits
    /// the affinity of the thread that starts it, so this thread takes it on for that moment:
    /// set later, from outside, it would miss the threads that the child has by then.
    pub(in super::super) fn bound_to(
        cpus: &[u32],
        start: impl FnOnce() -> io::Result<Child>,
    ) -> io::Result<Child> {
        if cpus.is_empty() {
            return start();
        }
        let before = sched_getaffinity(SELF)?;
        let mut wanted = CpuSet::new();
        for cpu in cpus {
            wanted.set(usize::try_from(*cpu).unwrap_or(usize::MAX))?;
        }
        sched_setaffinity(SELF, &wanted)?;
        let child = start();
        let restored = sched_setaffinity(SELF, &before);
        match (child, restored) {
            (Ok(mut child), Err(errno)) => {
                child.kill()?;
                child.wait()?;
                Err(errno.into())
            }
            (child, _) => child,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use super::{Child, io};

    /// As many numbers as there are processors: this system has no affinity to read.
    pub(in super::super) fn allowed() -> io::Result<Vec<u32>> {
        let cpus = std::thread::available_parallelism()?.get();
        Ok((0..u32::try_from(cpus).unwrap_or(u32::MAX)).collect())
    }

    /// Starts a child; this system binds nothing.
    pub(in super::super) fn bound_to(
        _cpus: &[u32],
        start: impl FnOnce() -> io::Result<Child>,
    ) -> io::Result<Child> {
        start()
    }
}

/// The processors that this process may use and that are not taken by a server; none where
/// that is not known.
pub fn cpus_apart_from(taken: &[u32]) -> Vec<u32> {
    let allowed = allowed().unwrap_or_default();
    allowed.into_iter().filter(|cpu| !taken.contains(cpu)).collect()
}

/// The first `wanted` processors of those that this process may use.
pub(super) fn choose(wanted: Option<u32>) -> Result<Vec<u32>, super::TargetError> {
    let Some(asked) = wanted else { return Ok(Vec::new()) };
    let mut cpus = allowed().map_err(super::TargetError::io(
        "read the processors of",
        std::path::Path::new("/proc/self"),
    ))?;
    let count = usize::try_from(asked).unwrap_or(usize::MAX);
    if count > cpus.len() {
        let allowed = u32::try_from(cpus.len()).unwrap_or(u32::MAX);
        return Err(super::TargetError::TooFewCpus { asked, allowed });
    }
    cpus.truncate(count);
    Ok(cpus)
}
