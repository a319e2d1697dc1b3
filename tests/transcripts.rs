//! The same bytes: what a server logs of the lean client, of mysql_async and of the real sysbench
//! has the same shapes, in the same order, as often.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

mod common;
#[path = "common/mysql.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod mysql;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use common::Server;
use gridbench::driver::Driver;
use gridbench::driver::adapter::{Admin, AsyncDriver};
use gridbench::driver::wire::WireDriver;
use gridbench::exec::{LoadPolicy, TrialSetup, run_trial};
use gridbench::load::{LoadOptions, ensure};
use gridbench::model::{
    Address, Dataset, Endpoint, Flavour, Interrupt, KeyLaw, Scenario, ScenarioId, StatementMode,
    TrialStatus, WorkloadOptions,
};
use gridbench::workload::{Program, builtin, builtins};

const TABLES: u32 = 3;
const TABLE_SIZE: u64 = 1_000;
/// Events that sysbench runs; of ours, which run for a time, as many are looked at.
const EVENTS: usize = 3;

#[test]
fn a_server_hears_the_same_from_both_drivers_and_from_sysbench() {
    let Some(sysbench) = find_sysbench() else {
        return mysql::skipped(
            "transcripts against sysbench",
            "it is not installed and could not be: sh tests/servers/install sysbench",
        );
    };
    for server in mysql::families() {
        let log = Log::open(&server);
        let ranges = [true, false];
        for workload in builtins().iter().map(|workload| workload.name()) {
            for range_selects in if has_ranges(workload) { &ranges[..] } else { &ranges[..1] } {
                for mode in [StatementMode::Text, StatementMode::Prepared] {
                    let options =
                        WorkloadOptions { range_selects: *range_selects, ..Default::default() };
                    compare(&log, &sysbench, workload, options, mode);
                }
            }
        }
    }
}

fn has_ranges(workload: &str) -> bool {
    ["oltp_read_only", "oltp_read_write"].contains(&workload)
}

fn compare(
    log: &Log,
    sysbench: &PathBuf,
    workload: &str,
    options: WorkloadOptions,
    mode: StatementMode,
) {
    let what = format!("{workload} {mode:?} range_selects={}", options.range_selects);
    let workload = builtin(workload).unwrap();
    let scenario = Scenario { id: ScenarioId::new("s").unwrap(), title: None, workload, options };
    let program = Arc::new(Program::new(&scenario, &log.dataset, mode, KeyLaw::Uniform));
    let expected = log.of_sysbench(sysbench, &scenario, mode);
    let is_prepare = |line: &&String| line.starts_with("Prepare ");
    // MySQL refuses to prepare BEGIN, and logs no word of it.
    let refused =
        program.prepared().iter().filter(|sql| *sql == "BEGIN" && !log.is_mariadb).count();
    let prepared = program.prepared_count() - refused;
    assert_eq!(expected.iter().filter(is_prepare).count(), prepared, "{what}");
    assert_eq!(expected.len(), prepared + EVENTS * program.len(), "{what}");
    let wire = log.of(&WireDriver::new(&log.endpoint), &program, expected.len());
    assert_same(&wire, &expected, &format!("{what}: the lean client"));
    let reference = log.of(&AsyncDriver::new(&log.endpoint), &program, expected.len());
    assert_same(&reference, &expected, &format!("{what}: mysql_async"));
}

/// Ours may go on where sysbench ends.
fn assert_same(ours: &[String], sysbench: &[String], what: &str) {
    let place = ours.iter().zip(sysbench).position(|(ours, theirs)| ours != theirs);
    if let Some(place) = place {
        panic!("{what}, line {place}: {:?}, but sysbench {:?}", ours[place], sysbench[place]);
    }
    assert!(ours.len() >= sysbench.len(), "{what}: only {} of {}", ours.len(), sysbench.len());
}

/// A server whose general log is a table.
struct Log {
    endpoint: Endpoint,
    socket: PathBuf,
    dataset: Dataset,
    is_mariadb: bool,
}

impl Log {
    fn open(server: &Server) -> Self {
        let charset = "utf8mb4".to_owned();
        let dataset = Dataset { tables: TABLES, table_size: TABLE_SIZE, charset, seed: 1 };
        let Address::Unix(socket) = server.socket_endpoint().address else {
            unreachable!("it is a socket")
        };
        let root = server.endpoint();
        let options = LoadOptions { loaders: 1, ..LoadOptions::default() };
        let report = ensure(&root, &dataset, &options, &Interrupt::default(), &mut |_| {}).unwrap();
        let endpoint = Endpoint { database: Some(report.database), ..root };
        let mut log = Self { endpoint, socket, dataset, is_mariadb: false };
        log.ask("SET GLOBAL log_output = 'TABLE'");
        let version = log.ask("SELECT @@version").swap_remove(0).swap_remove(0);
        log.is_mariadb = Flavour::of_version(&version.unwrap()) == Flavour::MariaDb;
        log
    }

    fn ask(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut admin = Admin::connect(&self.endpoint).await.unwrap();
            let rows = admin.rows(sql).await.unwrap();
            admin.close().await;
            rows
        })
    }

    /// The statements of a trial of one connection, at least so many: a machine that is busy with
    /// other things gets a longer trial.
    fn of<D: Driver>(&self, driver: &D, program: &Arc<Program>, at_least: usize) -> Vec<String> {
        let trials = [300, 3_000, 30_000].into_iter();
        let mut logs = trials.map(|millis| self.of_trial(driver, program, millis));
        logs.find(|log| log.len() >= at_least).expect("half a minute is enough")
    }

    fn of_trial<D: Driver>(&self, driver: &D, program: &Arc<Program>, millis: u64) -> Vec<String> {
        let setup = TrialSetup {
            program: Arc::clone(program),
            concurrency: 1,
            handles_max: program.prepared_count(),
            warmup: Duration::ZERO,
            warmup_max: Duration::ZERO,
            level: 0.05,
            duration: Duration::from_millis(millis),
            drain_limit: Duration::from_secs(20),
            connect_limit: Duration::from_secs(20),
            seed: 1,
            load_threads: 1,
            open_loop: None,
            cpus: Vec::new(),
            policy: LoadPolicy::of(None),
            run_delay: || None,
        };
        self.record(|| {
            let output = run_trial(driver, &setup, &Interrupt::default(), &mut |_| {});
            assert_eq!(output.measurement.status, TrialStatus::Done);
        })
    }

    fn of_sysbench(
        &self,
        sysbench: &PathBuf,
        scenario: &Scenario,
        mode: StatementMode,
    ) -> Vec<String> {
        let on_off = |is_on| if is_on { "on" } else { "off" };
        let mut command = Command::new(sysbench);
        command
            .arg(scenario.workload.name())
            .arg(format!("--mysql-socket={}", self.socket.display()))
            .arg(format!("--mysql-user={}", self.endpoint.user))
            .arg(format!("--mysql-db={}", self.endpoint.database.as_deref().unwrap()))
            .arg(format!("--tables={TABLES}"))
            .arg(format!("--table-size={TABLE_SIZE}"))
            .arg(format!("--events={EVENTS}"))
            .args(["--threads=1", "--time=0", "--rand-type=uniform", "--skip-trx=off"])
            .arg(match mode {
                StatementMode::Text => "--db-ps-mode=disable",
                StatementMode::Prepared => "--db-ps-mode=auto",
            });
        if has_ranges(scenario.workload.name()) {
            let is_on = scenario.options.range_selects;
            command.arg(format!("--range-selects={}", on_off(is_on)));
        }
        command.arg("run").stdin(Stdio::null());
        self.record(|| {
            let output = command.output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        })
    }

    /// What the server logs meanwhile, in shapes. The log of a table is in the order of time.
    fn record(&self, work: impl FnOnce()) -> Vec<String> {
        self.ask("TRUNCATE TABLE mysql.general_log");
        self.ask("SET GLOBAL general_log = ON");
        work();
        self.ask("SET GLOBAL general_log = OFF");
        // What the administration sends, on connections of its own, names itself.
        let find = "SELECT command_type, CONVERT(argument USING utf8mb4) FROM mysql.general_log \
                    WHERE command_type IN ('Query', 'Prepare', 'Execute') \
                    AND argument NOT LIKE '%general_log%'";
        let rows = self.ask(find).into_iter();
        rows.map(|row| {
            let [Some(command), Some(sql)] = &row[..] else { panic!("{row:?}") };
            format!("{command} {}", shape(sql))
        })
        .collect()
    }
}

/// A statement with `#` for the table's number and `?` for each other number and string. Blanks
/// and line ends in a row count as one blank: two of sysbench's scripts break their lines.
fn shape(sql: &str) -> String {
    let mut shape = String::new();
    let sql = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = sql.as_str();
    while let Some(first) = rest.chars().next() {
        if let Some(string) = rest.strip_prefix('\'') {
            let (_, after) = string.split_once('\'').unwrap();
            (shape, rest) = (shape + "?", after);
        } else if first.is_ascii_digit() {
            rest = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
            shape.push(if shape.ends_with("sbtest") { '#' } else { '?' });
        } else {
            shape.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    shape
}

/// Installed already, or now.
fn find_sysbench() -> Option<PathBuf> {
    let find = || {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let files = std::env::split_paths(&path).map(|folder| folder.join("sysbench"));
        files.into_iter().find(|file| file.is_file())
    };
    find().or_else(|| {
        let install = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/install");
        let output = common::run("sh".into(), |command| command.args([install, "sysbench"]));
        if output.status.success() { find() } else { None }
    })
}

#[test]
fn a_shape_keeps_all_but_numbers_and_strings() {
    let cases = [
        ("SELECT c FROM sbtest12 WHERE id=34", "SELECT c FROM sbtest# WHERE id=?"),
        ("UPDATE sbtest1 SET k=k+1 WHERE id=?", "UPDATE sbtest# SET k=k+? WHERE id=?"),
        ("UPDATE sbtest1 SET c='1-2' WHERE id=5", "UPDATE sbtest# SET c=? WHERE id=?"),
        ("  SELECT k\n  FROM sbtest1 ", "SELECT k FROM sbtest#"),
    ];
    for (sql, expected) in cases {
        assert_eq!(shape(sql), expected);
    }
}
