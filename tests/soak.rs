//! A run that loses connections all the time, and what it holds on to: memory, descriptors,
//! threads, rows.
//!
//! `GRIDBENCH_TEST_SOAK_SECS` says for how long (20); `GRIDBENCH_TEST_SEED` whom it meets when.
//! Must not know: how a connection is made anew.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

#[expect(dead_code, reason = "each test file uses its part")]
mod common;
#[path = "faults/rows.rs"]
mod rows;
#[path = "faults/running.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod running;
#[path = "common/sql.rs"]
mod sql;
#[path = "faults/workloads.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod workloads;
#[path = "common/workspace.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod workspace;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use gridbench::driver::adapter::Admin;
use gridbench::model::Endpoint;
use gridbench::workload::random;

use common::Server;
use running::Running;
use workloads::{TRANSFER_SUM, scalar, transfer, version};
use workspace::{Workspace, number};

const CONNECTIONS: usize = 256;

/// Descriptors beside the connections: load threads, timers, the look at the server, files.
const DESCRIPTORS_BESIDE: usize = 40;

/// What rows by the second may add to the memory of a run, whatever its length here, and what
/// allocators do.
const GROWTH_KIB: u64 = 4 * 1024;

/// What a process holds at one moment.
struct Sample {
    memory_kib: u64,
    descriptors: usize,
    threads: u64,
}

impl Sample {
    /// `None` once it has ended.
    fn of(pid: u32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let field = |name: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count();
        let (memory_kib, threads) = (field("VmRSS:")?, field("Threads:")?);
        Some(Self { memory_kib, descriptors, threads })
    }
}

fn setting(variable: &str, default: u64) -> u64 {
    let text = std::env::var(variable).ok();
    text.map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}

/// Kills connections of the load, each at most once, and looks at the process meanwhile; ends two
/// seconds before the window does. How many were killed, and what was seen.
async fn harass(server: &Endpoint, run: &mut Running<'_>, window: Duration) -> (u64, Vec<Sample>) {
    let mut admin = Admin::connect(server).await.unwrap();
    let mut draws = random::stream(setting("GRIDBENCH_TEST_SEED", 1), 0);
    let (mut killed, mut samples) = (BTreeSet::new(), Vec::new());
    // The first second of the window was over before the run was ours.
    let end = Instant::now() + window - Duration::from_secs(3);
    let pause = (window / 100).clamp(Duration::from_millis(200), Duration::from_secs(5));
    let mut next_look = Instant::now();
    while Instant::now() < end {
        if Instant::now() >= next_look {
            samples.extend(Sample::of(run.pid()));
            next_look += pause;
            assert!(run.is_measuring(), "it ended before its time");
        }
        let rows = admin.rows("SHOW PROCESSLIST").await.unwrap();
        let of_load = rows.iter().filter(|row| {
            let database = row[3].as_deref().unwrap_or_default();
            database.starts_with("sbtest") && !killed.contains(&row[0])
        });
        let of_load: Vec<&Option<String>> = of_load.map(|row| &row[0]).collect();
        if !of_load.is_empty() {
            let victim = of_load[random::below(&mut draws, of_load.len() as u64) as usize];
            let order = format!("KILL {}", victim.as_ref().unwrap());
            // Who has just left by himself cannot be killed.
            if admin.execute(&order).await.is_ok() {
                killed.insert(victim.clone());
            }
        }
        let pause = Duration::from_millis(20 + random::below(&mut draws, 360));
        tokio::time::sleep(pause).await;
    }
    admin.close().await;
    (killed.len() as u64, samples)
}

/// Median of the memory and most descriptors of each quarter of the time.
fn by_quarter(samples: &[Sample]) -> Vec<(u64, usize)> {
    let quarters = samples.chunks(samples.len().div_ceil(4));
    let figures = quarters.map(|quarter| {
        let mut memory: Vec<u64> = quarter.iter().map(|sample| sample.memory_kib).collect();
        memory.sort_unstable();
        let descriptors = quarter.iter().map(|sample| sample.descriptors).max().unwrap();
        (memory[memory.len() / 2], descriptors)
    });
    figures.collect()
}

#[test]
fn connections_that_are_killed_at_random_leave_nothing_behind() {
    let seconds = setting("GRIDBENCH_TEST_SOAK_SECS", 20);
    let server = Server::start(&["--max-connections=400"]);
    let endpoint = server.endpoint();
    let matrix = transfer(100_000).replace("[8]", "[256]").replace("1_000", "100_000");
    let workspace = Workspace::new(&endpoint, &matrix);
    let duration = format!("protocol.duration={seconds}s");
    let mut run = Running::start(&workspace, &["--set", &duration]);
    let sum = scalar(&endpoint, TRANSFER_SUM);
    let window = Duration::from_secs(seconds);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (killed, samples) = runtime.block_on(harass(&endpoint, &mut run, window));
    let ended = run.end();
    ended.assert_done();

    let (lost, ..) = ended.error("0");
    let reconnects = number(&ended.row, "reconnects");
    let quarters = by_quarter(&samples);
    let threads: BTreeSet<u64> = samples.iter().map(|sample| sample.threads).collect();
    let rows_lost = rows::lost(&workspace);
    let words = format!(
        "SOAK | {} | {CONNECTIONS} connections, {seconds} s, {} queries | {killed} KILLs, {lost} \
         lost connections, {reconnects} reconnects | memory by quarter {} MiB | descriptors by \
         quarter {} | threads {threads:?} | rows lost {rows_lost} |\n",
        version(&endpoint),
        ended.row["queries"],
        quarters
            .iter()
            .map(|of| format!("{:.1}", of.0 as f64 / 1024.0))
            .collect::<Vec<_>>()
            .join(" "),
        quarters.iter().map(|of| of.1.to_string()).collect::<Vec<_>>().join(" "),
    );
    // Not through a macro, whose words a passing test keeps to itself.
    let _ = std::io::stderr().write_all(words.as_bytes());

    // No connection was killed twice, and nobody else takes one away: each that was lost was
    // killed. One that was killed before it stood was made anew without being counted.
    assert!(lost <= killed && killed - lost <= killed / 50 + 1, "{words}");
    assert_eq!(reconnects, lost, "{words}");
    assert!(killed >= seconds, "the test does what it says: {words}");
    let most = CONNECTIONS + DESCRIPTORS_BESIDE;
    assert!(quarters.iter().all(|of| of.1 <= most), "{words}");
    assert!(quarters[3].1 <= quarters[1].1 + 2, "{words}");
    assert!(quarters[3].0 <= quarters[1].0 * 105 / 100 + GROWTH_KIB, "{words}");
    assert_eq!(threads.len(), 1, "{words}");
    assert_eq!(rows_lost, 0, "{words}");
    assert_eq!(scalar(&endpoint, TRANSFER_SUM), sum, "an event is there or not at all");
    let left = scalar(&endpoint, "SELECT COUNT(*) FROM information_schema.processlist");
    assert_eq!(left, "1", "who asks is the only one left");
}
