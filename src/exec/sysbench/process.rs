//! sysbench as a child process: its output as lines, its processor time, its end.
//!
//! Must not know: what the lines mean.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::time::ClockId;
use nix::unistd::Pid;

use crate::exec::scheduling::{LoadPolicy, arrange};
use crate::sysbench::CommandLine;

use super::{GRACE, SysbenchSetup};

/// Lines that wait to be read; a child that prints faster waits.
const LINES_MAX: usize = 1_024;
/// A longer line counts as several.
const LINE_BYTES_MAX: u64 = 16_384;
/// Of what it says on standard error no more is kept.
const STDERR_BYTES_MAX: u64 = 16_384;

/// A child under way. Dropped, it is killed.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// Its standard output, until it closes it.
    pub(super) lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
    /// Its parent thread ends when this is dropped.
    _parent: Sender<()>,
}

/// How it ended.
#[derive(Debug)]
pub(super) struct End {
    /// Its exit status; `Err` where the system does not say.
    pub(super) status: io::Result<ExitStatus>,
    /// What it said on standard error.
    pub(super) stderr: String,
}

impl Process {
    /// Starts it in a process group of its own: Ctrl-C in the terminal reaches us, and we end
    /// the child. The password goes through a pipe that is its standard input.
    pub(super) fn spawn(setup: &SysbenchSetup, line: &CommandLine) -> io::Result<Self> {
        let (mut child, parent) = spawn_on(setup, line)?;
        if let (Some(mut stdin), Some(config)) = (child.stdin.take(), &line.config) {
            // A child that ended at once cannot take it; its exit status says the rest.
            let _ = stdin.write_all(config.reveal().as_bytes());
        }
        let (sender, lines) = sync_channel(LINES_MAX);
        if let Some(stdout) = child.stdout.take() {
            thread::Builder::new()
                .name("sysbench".to_owned())
                .spawn(move || send_lines(BufReader::new(stdout), &sender))?;
        }
        let stderr = child.stderr.take().map(|stderr| thread::spawn(move || first_part(stderr)));
        Ok(Self { child, lines, stderr, _parent: parent })
    }

    /// Processor time of all its threads until now; `None` once it is gone.
    pub(super) fn cpu_time(&self) -> Option<Duration> {
        let clock = ClockId::pid_cpu_clock_id(self.pid()?).ok()?;
        clock.now().ok().map(Duration::from)
    }

    /// Sends a signal to it, by its process id; nothing where it is gone.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid() {
            // It was not waited for yet, so that the id is still its own.
            let _ = kill(pid, signal);
        }
    }

    /// Waits for its end; it has closed its output, so that it has little left to do. One that
    /// stays is killed.
    pub(super) fn end(&mut self) -> End {
        let patience = Instant::now() + GRACE;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Ok(status),
                Ok(None) if Instant::now() < patience => thread::sleep(Duration::from_millis(2)),
                Ok(None) => {
                    self.signal(Signal::SIGKILL);
                    break self.child.wait();
                }
                Err(error) => break Err(error),
            }
        };
        let stderr = self.stderr.take().and_then(|stderr| stderr.join().ok());
        End { status, stderr: stderr.unwrap_or_default() }
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().map(Pid::from_raw)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts it from a thread that is bound as the child is to be, which a child inherits, and that
/// lives as long as what is returned with it: see [`dying_with_us`].
fn spawn_on(setup: &SysbenchSetup, line: &CommandLine) -> io::Result<(Child, Sender<()>)> {
    let (cpus, mut command) = (setup.cpus.clone(), command(&setup.program, line));
    let (answer, started) = sync_channel(1);
    let (alive, end) = channel::<()>();
    thread::Builder::new().name("sysbench parent".to_owned()).spawn(move || {
        // More threads than processors: all of them may use all.
        let child = arrange(LoadPolicy::Normal, &cpus, (0, u32::MAX))
            .map_err(|error| io::Error::other(error.to_string()))
            .and_then(|()| command.spawn());
        if answer.send(child).is_ok() {
            // Nothing is ever sent: it fails when the other side is dropped.
            let _ = end.recv();
        }
    })?;
    let child = started.recv().map_err(|_| io::Error::other("the starting thread ended"))??;
    Ok((child, alive))
}

fn command(program: &Path, line: &CommandLine) -> Command {
    let mut command = dying_with_us(program);
    command.args(&line.arguments).process_group(0);
    // A targets file may take the password from any variable, and the client library takes
    // MYSQL_PWD for that of an account that has none.
    command.env_clear().envs(std::env::vars_os().filter(|(name, _)| is_passed_on(name)));
    let stdin = match line.config {
        Some(_) => Stdio::piped(),
        None => Stdio::null(),
    };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What finding programs, libraries, scripts and the right words takes.
fn is_passed_on(name: &OsStr) -> bool {
    const NAMES: [&str; 8] =
        ["PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "LUA_PATH", "LUA_CPATH", "TZ"];
    NAMES.iter().any(|passed| name == *passed) || name.to_string_lossy().starts_with("LC_")
}

/// sysbench ignores that nobody reads what it prints, so a killed gridbench would leave it at
/// work on the server. Where util-linux's setpriv is there, the system itself sends SIGTERM when
/// the thread that started it ends.
fn dying_with_us(program: &Path) -> Command {
    static HAS_SETPRIV: OnceLock<bool> = OnceLock::new();
    let setpriv = || {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "TERM", "--"]);
        command
    };
    let has_setpriv = HAS_SETPRIV.get_or_init(|| {
        // Older ones, and busybox's, lack the option.
        let mut trial = setpriv();
        trial.arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        trial.status().is_ok_and(|status| status.success())
    });
    if !has_setpriv {
        return Command::new(program);
    }
    let mut command = setpriv();
    command.arg(program);
    command
}

fn send_lines(mut output: impl BufRead, sender: &SyncSender<String>) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = output.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            return;
        }
        let text = String::from_utf8_lossy(&line);
        if sender.send(text.trim_end_matches(['\r', '\n']).to_owned()).is_err() {
            return;
        }
    }
}

/// The beginning of a text; the rest is read, so that who writes it need not wait, and dropped.
fn first_part(mut from: impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = from.by_ref().take(STDERR_BYTES_MAX).read_to_end(&mut bytes);
    let _ = io::copy(&mut from, &mut io::sink());
    String::from_utf8_lossy(&bytes).into_owned()
}
