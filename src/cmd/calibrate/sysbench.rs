//! sysbench 1.0.20 as a client: its command line, and what its last block says.
//!
//! Must not know: how other clients are measured.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use nix::sys::resource::UsageWho;
use nix::time::ClockId;
use nix::unistd::Pid;

use super::part::{memory_peak_bytes, micros};
use super::record::Round;
use super::setting::TABLE_SIZE;
use crate::cli::CalibratePartArgs;

/// The line after which all connections stand and the clock runs.
const STARTED: &str = "Threads started!";
/// The first line of the last block: the load is over.
const ENDED: &str = "SQL statistics:";

/// Runs it once. Its processor time is read when its clock starts and when its last block
/// begins: what connecting and preparing cost is not counted, as it is not with ours.
pub(super) fn measure(arguments: &CalibratePartArgs) -> Result<Round> {
    let mut command = command(arguments);
    let started = command.spawn();
    let mut child = started.with_context(|| {
        format!("{} cannot be started; install sysbench 1.0", arguments.sysbench.display())
    })?;
    let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(i32::try_from(child.id())?))?;
    let stdout = child.stdout.take().context("its output is piped")?;
    let mut said = String::new();
    let (mut cpu_start, mut cpu_end) = (None, None);
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        match line.trim() {
            STARTED => cpu_start = clock.now().ok().map(Duration::from),
            ENDED => cpu_end = clock.now().ok().map(Duration::from),
            _ => {}
        }
        said.push_str(&line);
        said.push('\n');
    }
    let mut errors = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut errors)?;
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("sysbench failed ({status}): {}{errors}", fatal(&said));
    }
    let (Some(start), Some(end)) = (cpu_start, cpu_end) else {
        bail!("sysbench's output has no `{STARTED}` or no `{ENDED}`; is it version 1.0?");
    };
    let block = Block::parse(&said)?;
    Ok(Round {
        queries: block.queries,
        events: block.events,
        errors: block.errors,
        measured_us: block.total_us,
        cpu_us: micros(end.saturating_sub(start)),
        memory_peak_bytes: memory_peak_bytes(UsageWho::RUSAGE_CHILDREN)?,
        others_percent: None,
    })
}

fn command(arguments: &CalibratePartArgs) -> Command {
    let ps_mode = if arguments.statements == "text" { "disable" } else { "auto" };
    // sysbench takes whole seconds, and 0 would mean no end.
    let seconds = arguments.duration_ms.div_ceil(1000).max(1);
    let mut command = Command::new(&arguments.sysbench);
    command.arg(&arguments.workload);
    command.args(["--db-driver=mysql", "--mysql-host=127.0.0.1", "--mysql-user=root"]);
    command.args(["--mysql-db=sbtest", "--rand-type=uniform"]);
    for (option, value) in [
        ("mysql-port", u64::from(arguments.port)),
        ("tables", u64::from(arguments.tables)),
        ("table_size", TABLE_SIZE),
        ("threads", u64::from(arguments.connections)),
        ("time", seconds),
    ] {
        command.arg(format!("--{option}={value}"));
    }
    command.arg(format!("--db-ps-mode={ps_mode}"));
    if arguments.workload == "oltp_read_only" || arguments.workload == "oltp_read_write" {
        command.arg("--range_selects=on");
    }
    command.args(["--skip_trx=off", "run"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What sysbench says of itself, on one line.
pub(super) fn version(program: &std::path::Path) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}

/// sysbench prints its errors among its output.
fn fatal(said: &str) -> String {
    let lines = said.lines().filter(|line| line.contains("FATAL"));
    lines.take(3).map(|line| format!("{line}\n")).collect()
}

/// The figures of the last block.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    queries: u64,
    events: u64,
    errors: u64,
    total_us: u64,
}

impl Block {
    fn parse(said: &str) -> Result<Self> {
        let value = |key: &str| {
            let mut lines = said.lines().map(str::trim);
            let rest = lines.find_map(|line| line.strip_prefix(key));
            let word = rest.and_then(|rest| rest.split_whitespace().next());
            word.ok_or_else(|| anyhow!("sysbench's last block has no `{key}`"))
        };
        let seconds: f64 = value("total time:")?.trim_end_matches('s').parse()?;
        Ok(Self {
            queries: value("queries:")?.parse()?,
            events: value("transactions:")?.parse()?,
            errors: value("ignored errors:")?.parse()?,
            total_us: micros(Duration::try_from_secs_f64(seconds)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// sysbench 1.0.20, oltp_read_only.
    const SAID: &str = "\
Threads started!

SQL statistics:
    queries performed:
        read:                            1540
        write:                           0
        other:                           220
        total:                           1760
    transactions:                        110    (109.63 per sec.)
    queries:                             1760   (1754.02 per sec.)
    ignored errors:                      2      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          1.0023s
    total number of events:              110
";

    #[test]
    fn the_last_block_is_read() {
        let block = Block::parse(SAID).unwrap();
        let expected = Block { queries: 1760, events: 110, errors: 2, total_us: 1_002_300 };
        assert_eq!(block, expected);
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = Block::parse("SQL statistics:\n").unwrap_err().to_string();
        assert_eq!(error, "sysbench's last block has no `total time:`");
    }
}
