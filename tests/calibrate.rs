//! The server that answers at once, under every client that is at hand, and `gridbench calibrate`
//! as its users meet it.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use gridbench::driver::Driver;
use gridbench::driver::adapter::AsyncDriver;
use gridbench::driver::null::floor::{self, FloorSetup};
use gridbench::driver::null::{NullServer, Served};
use gridbench::driver::wire::WireDriver;
use gridbench::exec::{LoadPolicy, TrialSetup, run_trial};
use gridbench::model::{
    Address, Dataset, Endpoint, Interrupt, KeyLaw, Measurement, Request, Scenario, ScenarioId,
    Secret, StatementMode, TrialStatus, WorkloadOptions,
};
use gridbench::workload::{Generator, Program, builtin, builtins};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const CONNECTIONS: u32 = 8;

/// A server on a thread of its own; dropped, it is gone.
struct Server {
    address: SocketAddr,
    interrupt: Interrupt,
    thread: Option<JoinHandle<std::io::Result<Served>>>,
}

impl Server {
    fn start() -> Self {
        let server = NullServer::bind(0).unwrap();
        let (address, interrupt) = (server.address(), Interrupt::default());
        let asked = interrupt.clone();
        let thread = Some(std::thread::spawn(move || server.serve(&asked)));
        Self { address, interrupt, thread }
    }

    fn endpoint(&self) -> Endpoint {
        let address = Address::Tcp { host: "127.0.0.1".into(), port: self.address.port() };
        let endpoint = Endpoint::new(address, "anybody", Secret::new("anything"));
        Endpoint { database: Some("sbtest".into()), ..endpoint }
    }

    fn stop(mut self) -> Served {
        self.interrupt.request();
        self.thread.take().unwrap().join().unwrap().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.interrupt.request();
    }
}

fn program(workload: &str, statements: StatementMode) -> Arc<Program> {
    let id = ScenarioId::new("s").unwrap();
    let workload = builtin(workload).unwrap();
    let scenario = Scenario { id, title: None, workload, options: WorkloadOptions::default() };
    let dataset = Dataset { tables: 3, table_size: 1000, charset: "utf8mb4".into(), seed: 1 };
    Arc::new(Program::new(&scenario, &dataset, statements, KeyLaw::Uniform))
}

fn trial(driver: &impl Driver, program: Arc<Program>, concurrency: u32) -> Measurement {
    let setup = TrialSetup {
        program,
        concurrency,
        handles_max: usize::MAX,
        warmup: Duration::ZERO,
        warmup_max: Duration::ZERO,
        level: 0.05,
        duration: Duration::from_millis(100),
        drain_limit: Duration::from_secs(20),
        connect_limit: Duration::from_secs(20),
        seed: 7,
        load_threads: 1,
        open_loop: None,
        cpus: Vec::new(),
        policy: LoadPolicy::of(None),
        run_delay: || None,
    };
    run_trial(driver, &setup, &Interrupt::default(), &mut |_| {}).measurement
}

/// Reads, writes and others of one event, by sysbench's own table.
fn counts_of(workload: &str) -> (u64, u64, u64) {
    match workload {
        "oltp_read_only" => (14, 0, 2),
        "oltp_read_write" => (14, 4, 2),
        "oltp_write_only" => (0, 4, 2),
        "oltp_point_select" | "select_random_points" | "select_random_ranges" => (1, 0, 0),
        _ => (0, 1, 0),
    }
}

fn every_workload_is_counted_exactly(driver: &impl Driver) {
    for workload in builtins().iter().map(|workload| workload.name()) {
        for statements in [StatementMode::Text, StatementMode::Prepared] {
            let m = trial(driver, program(workload, statements), CONNECTIONS);
            let place = format!("{workload} {}", statements.name());
            assert_eq!(m.status, TrialStatus::Done, "{place}");
            assert!(m.events > 0, "{place}");
            assert_eq!((m.errors.len(), m.reconnects, m.queries_retried), (0, 0, 0), "{place}");
            let (read, write, other) = counts_of(workload);
            let expected = (read * m.events, write * m.events, other * m.events);
            let counted = (m.queries_read, m.queries_write, m.queries_other);
            assert_eq!(counted, expected, "{place}");
            assert_eq!(m.queries, (read + write + other) * m.events, "{place}");
        }
    }
}

#[test]
fn the_wire_client_counts_every_workload_exactly() {
    let server = Server::start();
    every_workload_is_counted_exactly(&WireDriver::new(&server.endpoint()));
}

#[test]
fn mysql_async_counts_every_workload_exactly() {
    let server = Server::start();
    every_workload_is_counted_exactly(&AsyncDriver::new(&server.endpoint()));
}

#[test]
fn the_floor_counts_every_workload_exactly() {
    let server = Server::start();
    for workload in builtins().iter().map(|workload| workload.name()) {
        for statements in [StatementMode::Text, StatementMode::Prepared] {
            let program = program(workload, statements);
            let count = floor::drive(&floor_setup(&server, &program)).unwrap();
            let steps = program.len() as u64;
            let whole = count.events * steps;
            // What is open at the end belongs to events that are not counted.
            let open = count.queries - whole;
            assert!(count.events > 0 && open <= u64::from(CONNECTIONS) * steps, "{count:?}");
        }
    }
}

fn floor_setup(server: &Server, program: &Arc<Program>) -> FloorSetup {
    let mut generator = Generator::new(Arc::clone(program), 7, 0);
    generator.begin_event();
    let event = (0..program.len()).map(|step| {
        let mut request = Request::default();
        generator.write(step, &mut request);
        request
    });
    FloorSetup {
        address: server.address,
        connections: CONNECTIONS as usize,
        prepared: program.prepared().to_vec(),
        event: event.collect(),
        duration: Duration::from_millis(100),
    }
}

#[test]
fn the_server_tells_what_it_answered() {
    let server = Server::start();
    let driver = WireDriver::new(&server.endpoint());
    let m = trial(&driver, program("oltp_point_select", StatementMode::Text), 4);
    let served = server.stop();
    assert_eq!(served.connections, 4);
    // A login and a goodbye for each connection; statements after the window are not counted.
    assert!((m.queries + 8..=m.queries + 8 + 4).contains(&served.answers), "{served:?} {m:?}");
}

#[test]
fn connections_come_by_the_hundred_and_leave_no_trace() {
    let server = Server::start();
    let driver = WireDriver::new(&server.endpoint());
    for _ in 0..2 {
        let m = trial(&driver, program("oltp_read_only", StatementMode::Text), 300);
        assert_eq!(m.status, TrialStatus::Done);
        assert_eq!((m.queries, m.errors.len()), (16 * m.events, 0));
    }
    assert_eq!(server.stop().connections, 600);
}

#[test]
fn a_client_that_does_not_read_holds_up_nobody_and_gets_every_answer() {
    let server = Server::start();
    let mut slow = TcpStream::connect(server.address).unwrap();
    log_in(&mut slow);
    let query = b"\x31\0\0\0\x03SELECT c FROM sbtest1 WHERE id BETWEEN 1 AND 100";
    const QUERIES: usize = 2_000;
    let mut writer = slow.try_clone().unwrap();
    let feeder = std::thread::spawn(move || {
        for _ in 0..QUERIES {
            writer.write_all(query).unwrap();
        }
    });
    let driver = WireDriver::new(&server.endpoint());
    let m = trial(&driver, program("oltp_point_select", StatementMode::Text), 2);
    assert!(m.events > 0);
    let mut closings = 0;
    let mut packet = Vec::new();
    while closings < 2 * QUERIES {
        read_packet(&mut slow, &mut packet);
        closings += usize::from(packet[0] == 0xFE && packet.len() == 5);
    }
    feeder.join().unwrap();
}

#[test]
fn nonsense_ends_its_own_connection_only() {
    let server = Server::start();
    for nonsense in [&b"\xff\xff\xff\xff"[..], b"\0\0\0\0", b"GET / HTTP/1.1\r\n\r\n\r\n\r\n"] {
        let mut stream = TcpStream::connect(server.address).unwrap();
        log_in(&mut stream);
        stream.write_all(nonsense).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
    }
    let driver = WireDriver::new(&server.endpoint());
    let m = trial(&driver, program("oltp_insert", StatementMode::Text), 2);
    assert_eq!(m.status, TrialStatus::Done);
}

/// As a client of the oldest kind: with EOF packets, without a schema.
fn log_in(stream: &mut TcpStream) {
    let mut packet = Vec::new();
    read_packet(stream, &mut packet);
    assert_eq!(packet[0], 10, "protocol 10");
    let mut response = vec![38, 0, 0, 1, 0x00, 0x82, 0, 0, 0, 0, 0, 1, 45];
    response.extend_from_slice(&[0; 23]);
    response.extend_from_slice(b"root\0\0");
    stream.write_all(&response).unwrap();
    read_packet(stream, &mut packet);
    assert_eq!(packet[0], 0, "OK");
}

fn read_packet(stream: &mut TcpStream, payload: &mut Vec<u8>) {
    let mut header = [0; 4];
    stream.read_exact(&mut header).unwrap();
    let [a, b, c, _] = header;
    payload.resize(usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16, 0);
    stream.read_exact(payload).unwrap();
}

#[test]
fn the_command_line_client_connects_and_reads_and_writes() {
    let server = Server::start();
    let sql = "SELECT @@version; SELECT c FROM sbtest1 WHERE id=7; SHOW DATABASES; \
               SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN 1 AND 100; \
               UPDATE sbtest1 SET k=k+1 WHERE id=1; \
               SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 1 AND 100 ORDER BY c";
    let client = Command::new("mariadb")
        .args(["--no-defaults", "--host=127.0.0.1", "--user=root", "--skip-column-names"])
        .args([format!("--port={}", server.address.port()), format!("--execute={sql}")])
        .arg("sbtest")
        .output();
    let Ok(output) = client else {
        // Nothing of this server depends on it, and the other clients are tested all the same.
        println!("not tested: there is no mariadb client here; install mariadb-client");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<String> = output.stdout.lines().map(Result::unwrap).collect();
    assert_eq!(lines.len(), 4 + 100, "{lines:?}");
    assert!(lines[0].ends_with("gridbench-null"));
    assert!(lines[1].len() == 119 && lines[4..].iter().all(|line| line.len() == 119));
    assert_eq!((lines[2].as_str(), lines[3].as_str()), ("sbtest", "1250000"));
}

fn gridbench(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridbench"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn a_calibration_prints_a_table_and_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["calibrate", "--duration=200ms", "--rounds=1", "--connections=4"];
    let beside = ["--statements=text,prepared", "--beside=floor"];
    let run = || gridbench(&arguments, folder.path()).args(beside).output().unwrap();
    let mut output = run();
    // A virtual machine that stands still for seconds fails a round, which is told by exit 3.
    for _ in 0..5 {
        if output.status.code() == Some(3) {
            output = run();
        }
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let table = String::from_utf8(output.stdout).unwrap();
    for client in ["native", "floor"] {
        let rows = table.lines().filter(|line| line.contains(&format!("  {client} ")));
        assert_eq!(rows.count(), 6, "three workloads in two modes:\n{table}");
    }
    let kept = std::fs::read(folder.path().join("results/calibration.json")).unwrap();
    let kept: serde_json::Value = serde_json::from_slice(&kept).unwrap();
    assert_eq!(kept["format"], 1);
    let cells = kept["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 12);
    for cell in cells {
        assert!(cell["figures"]["qps"].as_u64().unwrap() > 0, "{cell}");
        assert!(cell["figures"]["cpu_ns_per_query"].as_u64().unwrap() > 0, "{cell}");
        assert!(cell["figures"]["memory_peak_bytes"].as_u64().unwrap() > 0, "{cell}");
        assert_eq!(cell["rounds"][0]["errors"], 0);
    }
}

#[test]
fn a_client_that_cannot_be_started_is_a_row_and_exit_code_3() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["calibrate", "--duration=100ms", "--rounds=1", "--connections=2"];
    let mut command = gridbench(&arguments, folder.path());
    command.args(["--workloads=oltp_insert", "--beside=./no-such-sysbench"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("install sysbench"), "{said}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.lines().any(|l| l.contains("sysbench") && l.contains("failed")), "{table}");
    assert!(table.lines().any(|l| l.contains("native") && l.contains(" us ")), "{table}");
}

#[test]
fn what_is_typed_wrong_is_answered_with_what_is_right() {
    let folder = tempfile::tempdir().unwrap();
    for (option, remedy) in [
        ("--workloads=oltp", "oltp_point_select"),
        ("--statements=binary", "text or prepared"),
        ("--duration=5", "200ms, 5s or 1m"),
        ("--connections=0", "1 or more"),
        ("--rounds=0", "1 or more"),
    ] {
        let output = gridbench(&["calibrate", option], folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{option}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(remedy), "{option}: {said}");
    }
}

#[test]
fn the_server_is_up_until_it_is_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let mut process = gridbench(&["calibrate", "--serve"], folder.path()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let (host, port) = line.trim().split_once(' ').unwrap();
    let mut stream = TcpStream::connect((host, port.parse::<u16>().unwrap())).unwrap();
    log_in(&mut stream);
    kill(Pid::from_raw(process.id().cast_signed()), Signal::SIGINT).unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(0));
    let mut said = String::new();
    process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("1 connection, 1 answer"), "{said}");
}
