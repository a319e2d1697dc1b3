//! Starting a program that must not outlive us, waiting for it, and ending it.
//!
//! Must not know: that the program is a server.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use super::affinity;

/// A program that we started. Dropped, it is ended.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    end_limit: Duration,
}

impl Process {
    /// Starts `program` in a process group of its own (Ctrl-C in the terminal reaches us, and
    /// we end it in order), bound to `cpus` unless that is empty, with both outputs in `log`.
    /// `end_limit` is the time that it gets between SIGTERM and SIGKILL.
    ///
    /// Where util-linux's setpriv is there, the system itself sends SIGTERM when the *thread*
    /// that called this ends, so that a killed gridbench leaves no server behind. Hence: call
    /// it from a thread that lives as long as the program is to live.
    pub(super) fn spawn(
        program: &Path,
        arguments: &[OsString],
        log: &File,
        cpus: &[u32],
        end_limit: Duration,
    ) -> io::Result<Self> {
        let mut command = dying_with_us(program);
        command.args(arguments).process_group(0);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log.try_clone()?);
        let child = affinity::bound_to(cpus, || command.spawn())?;
        Ok(Self { child, end_limit })
    }

    /// Its process id.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its exit status, once it has ended.
    pub(super) fn exit_status(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Ends it and what it has started: SIGTERM to its process group, then SIGKILL when the
    /// limit has passed. Once is enough; a second call returns the same status.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.child.try_wait()? {
            return Ok(status);
        }
        let group = pid_of(self.child.id())?;
        signal_group(group, Signal::SIGTERM)?;
        let mut patience = Patience::of(self.end_limit);
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            if !patience.wait() {
                signal_group(group, Signal::SIGKILL)?;
                break self.child.wait()?;
            }
        };
        end_orphans(group)?;
        Ok(status)
    }
}

/// What a script had started may outlive it, and write into what is about to be removed.
fn end_orphans(group: Pid) -> io::Result<()> {
    let mut patience = Patience::of(ORPHAN_LIMIT);
    while killpg(group, None).is_ok() {
        if !patience.wait() {
            return signal_group(group, Signal::SIGKILL);
        }
    }
    Ok(())
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

fn dying_with_us(program: &Path) -> Command {
    let setpriv = |rest: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "TERM"]).args(rest);
        command
    };
    // Older ones, and busybox's, lack the option.
    let mut trial = setpriv(&["true"]);
    let trial = trial.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if trial.is_ok_and(|status| status.success()) {
        let mut command = setpriv(&["--"]);
        command.arg(program);
        command
    } else {
        Command::new(program)
    }
}

/// How long to wait for what, at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    deadline: Instant,
    pause: Duration,
}

/// The first pause between two looks, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

impl Patience {
    pub(super) fn of(limit: Duration) -> Self {
        Self { deadline: Instant::now() + limit, pause: FIRST_PAUSE }
    }

    /// Waits a little, longer each time; `false` when the limit has passed.
    pub(super) fn wait(&mut self) -> bool {
        if Instant::now() >= self.deadline {
            return false;
        }
        std::thread::sleep(self.pause);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        true
    }
}

/// Ends a process that is not our child, as [`Process::end`] does; `false` when it still runs.
pub(super) fn end_stranger(pid: u32, limit: Duration) -> io::Result<bool> {
    for (signal_now, limit) in [(Signal::SIGTERM, limit), (Signal::SIGKILL, limit.min(KILL_LIMIT))]
    {
        signal(pid, signal_now)?;
        let mut patience = Patience::of(limit);
        while is_alive(pid) && patience.wait() {}
        if !is_alive(pid) {
            return Ok(true);
        }
    }
    Ok(false)
}

const KILL_LIMIT: Duration = Duration::from_secs(10);

/// How long what a program has started may take to end after it.
const ORPHAN_LIMIT: Duration = Duration::from_secs(5);

/// The arguments of a running process, its own name first; `None` where there is no such
/// process, or only its remains (a zombie has no
/// arguments).
pub(super) fn command_line(pid: u32) -> Option<Vec<Vec<u8>>> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<_> = bytes.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    (!bytes.is_empty()).then_some(words)
}

/// Whether any thread of a process still runs: the arguments vanish before the last thread
/// has closed its files, and the first thread may be a zombie while others write.
fn is_alive(pid: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    let stats =
        threads.flatten().filter_map(|t| std::fs::read_to_string(t.path().join("stat")).ok());
    // The state follows the program's name, which stands in parentheses and may hold any.
    let states = stats.filter_map(|stat| stat.rsplit_once(") ")?.1.chars().next());
    states.into_iter().any(|state| !matches!(state, 'Z' | 'X'))
}

/// A process that is gone already is no error.
fn signal(pid: u32, signal: Signal) -> io::Result<()> {
    unless_gone(kill(pid_of(pid)?, signal))
}

fn signal_group(group: Pid, signal: Signal) -> io::Result<()> {
    unless_gone(killpg(group, signal))
}

fn unless_gone(result: nix::Result<()>) -> io::Result<()> {
    match result {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

fn pid_of(pid: u32) -> io::Result<Pid> {
    let pid = i32::try_from(pid).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    Ok(Pid::from_raw(pid))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    /// A shell that has said "ready" in its log: it runs, and its traps are set.
    fn shell(script: &str, end_limit: Duration) -> Process {
        let log = tempfile::tempfile().unwrap();
        let arguments = ["-c".into(), script.into()];
        let process =
            Process::spawn(Path::new("/bin/sh"), &arguments, &log, &[], end_limit).unwrap();
        let mut patience = Patience::of(Duration::from_secs(60));
        while log.metadata().unwrap().len() == 0 {
            assert!(patience.wait(), "the shell does not start");
        }
        process
    }

    #[test]
    fn a_process_is_ended_and_reaped_when_it_is_dropped() {
        let process = shell("echo ready; while :; do sleep 1; done", Duration::from_secs(60));
        let pid = process.id();
        assert!(is_alive(pid) && command_line(pid).is_some());
        drop(process);
        assert!(!is_alive(pid) && command_line(pid).is_none());
    }

    #[test]
    fn one_that_ignores_the_request_is_killed() {
        let script = "trap '' TERM; echo ready; while :; do sleep 1; done";
        let mut process = shell(script, Duration::from_millis(50));
        assert_eq!(process.end().unwrap().signal(), Some(9));
        assert_eq!(process.end().unwrap().signal(), Some(9), "the second time too");
    }

    #[test]
    fn what_it_has_started_ends_with_it() {
        let script = "sleep 1000 & sh -c 'sleep 1000; true' & echo ready; wait";
        let process = shell(script, Duration::from_secs(60));
        let group = pid_of(process.id()).unwrap();
        drop(process);
        assert_eq!(killpg(group, None), Err(Errno::ESRCH));
    }

    #[test]
    fn a_stranger_that_is_gone_already_is_ended() {
        let mut process = shell("echo ready; exit 3", Duration::from_secs(60));
        let pid = process.id();
        assert_eq!(process.child.wait().unwrap().code(), Some(3));
        assert!(end_stranger(pid, Duration::from_secs(1)).unwrap());
    }
}
