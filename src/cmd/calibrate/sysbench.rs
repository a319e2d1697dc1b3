//! sysbench 1.0.20 as a client of the server that answers at once.
//!
//! Must not know: how other clients are measured, how its output is read, or how it spells its
//! options.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use nix::sys::resource::UsageWho;
use nix::time::ClockId;
use nix::unistd::Pid;

use super::part::{self, SEED, memory_peak_bytes, micros};
use super::record::Round;
use super::setting::statement_mode;
use crate::cli::CalibratePartArgs;
use crate::cmd::Failure;
use crate::model::{Engine, KeyLaw, Ladder, Protocol, Publish};
use crate::sysbench::{Invocation, Reader, Run, Seen, words};

/// Runs it once. Its processor time is read when its clock starts and when its last block
/// begins: what connecting and preparing cost is not counted, as it is not with ours.
pub(super) fn measure(arguments: &CalibratePartArgs) -> Result<Round, Failure> {
    let mut command = command(arguments)?;
    let started = command.spawn();
    let mut child = started.with_context(|| {
        format!("{} cannot be started; install sysbench 1.0", arguments.sysbench.display())
    })?;
    let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(i32::try_from(child.id())?))?;
    let stdout = child.stdout.take().context("its output is piped")?;
    let mut reader = Reader::default();
    let (mut cpu_start, mut cpu_end) = (None, None);
    for line in BufReader::new(stdout).lines() {
        let now = || clock.now().ok().map(Duration::from);
        match reader.line(&line?) {
            Seen::Started => cpu_start = now(),
            Seen::Ended => cpu_end = now(),
            _ => {}
        }
    }
    let mut errors = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut errors)?;
    }
    let status = child.wait()?;
    let run = reader.finish().pop().unwrap_or_default();
    if !status.success() {
        let said = words(&run.messages).unwrap_or(errors);
        return Err(anyhow!("sysbench failed ({status}): {said}").into());
    }
    let (Some(start), Some(end)) = (cpu_start, cpu_end) else {
        let what = "sysbench's output has no start or no report; is it version 1.0?";
        return Err(anyhow!(what).into());
    };
    Ok(round(&run, end.saturating_sub(start))?)
}

fn round(run: &Run, cpu: Duration) -> Result<Round> {
    let block = run.whole_block().context("sysbench's report is not whole")?;
    Ok(Round {
        queries: block.queries.unwrap_or(0),
        events: block.events.unwrap_or(0),
        errors: block.ignored_errors.unwrap_or(0),
        measured_us: block.total_time_us.unwrap_or(0),
        cpu_us: micros(cpu),
        memory_peak_bytes: memory_peak_bytes(UsageWho::RUSAGE_CHILDREN)?,
        others_percent: None,
    })
}

/// The same run as engine sysbench would start, of the load that every client has here.
fn command(arguments: &CalibratePartArgs) -> Result<Command, Failure> {
    let (scenario, dataset) = part::load(arguments)?;
    // It takes whole seconds, and 0 would mean no end.
    let duration = Duration::from_millis(arguments.duration_ms.max(1));
    let protocol = Protocol {
        duration,
        warmup: Duration::ZERO,
        warmup_max: None,
        level_ppm: Protocol::LEVEL_PPM,
        repeats: 1,
        until: None,
        stop_after_falling: None,
        is_aa: false,
        concurrency: Ladder::Levels(vec![arguments.connections]),
        publish: Publish::Peak,
        statements: statement_mode(&arguments.statements)?,
        keys: KeyLaw::Uniform,
        seed: SEED,
        open_loop: None,
        engine: Engine::Sysbench,
    }
    .as_the_engine_can();
    let invocation = Invocation {
        scenario: &scenario,
        dataset: &dataset,
        protocol: &protocol,
        endpoint: &part::endpoint(arguments.port),
        concurrency: arguments.connections,
        seed: SEED,
    };
    let mut command = Command::new(&arguments.sysbench);
    command.args(invocation.command_line()?.arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

/// What sysbench says of itself, on one line.
pub(super) fn version(program: &std::path::Path) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::CalibrateRole;
    use crate::sysbench::parse;

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

Latency (ms):
         min:                                    0.51
         avg:                                    9.11
         max:                                   33.70
         95th percentile:                       20.74
         sum:                                 1002.10
";

    #[test]
    fn the_last_block_is_a_round() {
        let run = parse(SAID.as_bytes()).pop().unwrap();
        let round = round(&run, Duration::from_millis(7)).unwrap();
        assert_eq!((round.queries, round.events, round.errors), (1_760, 110, 2));
        assert_eq!((round.measured_us, round.cpu_us), (1_002_300, 7_000));
    }

    #[test]
    fn it_is_started_as_the_engine_starts_it() {
        let arguments = CalibratePartArgs {
            role: CalibrateRole::Sysbench,
            cpus: Vec::new(),
            port: 3307,
            workload: "oltp_point_select".to_owned(),
            statements: "prepared".to_owned(),
            tables: 10,
            connections: 64,
            duration_ms: 1_500,
            load_threads: 1,
            sysbench: "sysbench".into(),
        };
        let command = command(&arguments).unwrap();
        let words: Vec<_> = command.get_args().map(|word| word.to_str().unwrap()).collect();
        assert_eq!((words[0], words.last()), ("oltp_point_select", Some(&"run")));
        for word in ["--mysql-port=3307", "--threads=64", "--time=2", "--db-ps-mode=auto"] {
            assert!(words.contains(&word), "{word}: {words:?}");
        }
        // sysbench refuses an option that its script does not know.
        assert!(!words.iter().any(|word| word.starts_with("--range_selects")), "{words:?}");
    }

    #[test]
    fn a_block_that_is_cut_off_is_no_round() {
        let run = parse(b"SQL statistics:\n").pop().unwrap();
        assert!(super::round(&run, Duration::ZERO).is_err());
    }
}
