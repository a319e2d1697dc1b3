//! The processes of a calibration, seen from outside.
//!
//! Must not know: what they do.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use super::record::Round;
use super::setting::{Cell, Client, Setting};
use crate::cli::CalibrateRole;

/// The server, up for as long as this lives. It ends when its standard input does, so it ends
/// with us, however we end.
pub(super) struct ServerProcess {
    process: Child,
    pub(super) port: u16,
}

impl ServerProcess {
    pub(super) fn start(cpu: u32, port: u16) -> Result<Self> {
        let mut command = part(CalibrateRole::Server, &[cpu])?;
        command.arg(format!("--port={port}")).stdin(Stdio::piped());
        let mut process = command.spawn().context("the server cannot start")?;
        let stdout = process.stdout.take();
        let mut server = Self { process, port: 0 };
        let mut line = String::new();
        if let Some(stdout) = stdout {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        server.port = line.trim().parse().map_err(|_| anyhow!("the server did not start"))?;
        Ok(server)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It has nothing left to do, and nobody is left to tell.
        let _ = self.process.wait();
    }
}

/// One measurement in a process of its own.
pub(super) fn measure(client: &Client, cell: &Cell, setting: &Setting, port: u16) -> Result<Round> {
    let mut command = part(client.role(), &setting.client_cpus)?;
    command
        .arg(format!("--port={port}"))
        .arg(format!("--workload={}", cell.workload.name()))
        .arg(format!("--statements={}", cell.statements.name()))
        .arg(format!("--tables={}", cell.tables))
        .arg(format!("--connections={}", cell.connections))
        .arg(format!("--duration-ms={}", setting.duration.as_millis()))
        .arg(format!("--load-threads={}", setting.load_threads));
    if let Client::Sysbench(path) = client {
        command.arg("--sysbench").arg(path);
    }
    let before = Processors::read(&setting.client_cpus);
    let output = command.stdin(Stdio::null()).output()?;
    let after = Processors::read(&setting.client_cpus);
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let round: Round =
        serde_json::from_slice(&output.stdout).context("a measurement that cannot be read")?;
    let others_percent = before.zip(after).map(|(before, after)| before.others_percent(&after));
    Ok(Round { others_percent, ..round })
}

/// What some processors have done until now.
#[derive(Debug)]
struct Processors {
    /// All that kept them from being idle, also what other guests of a virtual machine's host
    /// took.
    busy: Duration,
    /// Our children's part of it.
    children: Duration,
    at: Instant,
    count: u64,
}

impl Processors {
    /// `None` where the system does not say.
    fn read(cpus: &[u32]) -> Option<Self> {
        let stat = std::fs::read_to_string("/proc/stat").ok()?;
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
        let children = [usage.user_time(), usage.system_time()]
            .map(|time| Duration::from_micros(u64::try_from(time.num_microseconds()).unwrap_or(0)));
        Some(Self {
            busy: cpus.iter().map(|cpu| busy(&stat, *cpu)).sum::<Option<Duration>>()?,
            children: children.iter().sum(),
            at: Instant::now(),
            count: u64::try_from(cpus.len()).ok()?,
        })
    }

    /// How much of the processors' time until `later` went to anything but our children.
    fn others_percent(&self, later: &Self) -> u64 {
        let children = later.children.saturating_sub(self.children);
        let others = later.busy.saturating_sub(self.busy).saturating_sub(children);
        let whole = later.at.duration_since(self.at).as_micros() * u128::from(self.count);
        u64::try_from(others.as_micros() * 100 / whole.max(1)).unwrap_or(100).min(100)
    }
}

/// user, nice, system, irq, softirq and steal of one processor, in hundredths of a second.
fn busy(stat: &str, cpu: u32) -> Option<Duration> {
    let name = format!("cpu{cpu} ");
    let fields = stat.lines().find_map(|line| line.strip_prefix(&name))?;
    let ticks: Vec<u64> = fields.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let [user, nice, system, _idle, _iowait, irq, softirq, steal, ..] = ticks[..] else {
        return None;
    };
    Some(Duration::from_millis((user + nice + system + irq + softirq + steal).checked_mul(10)?))
}

/// This program once more, in one of its roles.
fn part(role: CalibrateRole, cpus: &[u32]) -> Result<Command> {
    let role = role.to_possible_value().context("every role has a name")?;
    let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let mut command = Command::new(program);
    command.arg("calibrate-part");
    command.arg(format!("--role={}", role.get_name())).arg(format!("--cpus={}", cpus.join(",")));
    command.stdout(Stdio::piped());
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_is_busy_with_all_but_waiting() {
        let stat = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu1 1 2 4 1000 1000 8 16 32 0 0\ncpu10 5\n";
        assert_eq!(busy(stat, 1), Some(Duration::from_millis(630)));
        assert_eq!(busy(stat, 10), None);
        assert_eq!(busy(stat, 2), None);
    }

    #[test]
    fn what_is_not_ours_is_the_others() {
        let at = Instant::now();
        let read = |busy_ms, children_ms, after_ms| Processors {
            busy: Duration::from_millis(busy_ms),
            children: Duration::from_millis(children_ms),
            at: at + Duration::from_millis(after_ms),
            count: 1,
        };
        assert_eq!(read(100, 50, 0).others_percent(&read(1_000, 650, 1_000)), 30);
        assert_eq!(read(100, 50, 0).others_percent(&read(100, 650, 1_000)), 0);
        assert_eq!(read(0, 0, 0).others_percent(&read(10, 0, 0)), 100);
    }
}
