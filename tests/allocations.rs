//! The hot loop allocates nothing: counted over a driver that does nothing, and over the lean
//! client against a server that answers at once.
//!
//! The counter is the whole process's, so this file has one test, the server's threads keep to
//! buffers that they have, and windows are shorter than the second after which a load thread
//! hands over what it counted.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

use std::alloc::System;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use gridbench::driver::wire::WireDriver;
use gridbench::driver::{Driver, DriverError, Reply, Session, Sockets};
use gridbench::exec::{LoadPolicy, TrialSetup, run_trial};
use gridbench::model::{
    Address, Arrivals, Dataset, Endpoint, Interrupt, KeyLaw, MilliRate, OpenLoop, Request,
    Scenario, ScenarioId, Secret, StatementMode, TrialStatus, WorkloadOptions,
};
use gridbench::workload::{Program, builtin};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CONNECTIONS: u32 = 4;
/// Statements in an event of oltp_read_write.
const PER_EVENT: usize = 20;
/// From the first statement on; less than the window.
const COUNTED: Duration = Duration::from_millis(850);
/// Statements of a connection after which its buffers must have their size: twenty events.
const WARM: usize = 20 * PER_EVENT;

#[test]
fn an_event_allocates_nothing_once_the_buffers_have_grown() {
    let open = OpenLoop { rate: MilliRate(1_500_000), arrivals: Arrivals::Poisson };
    for mode in [StatementMode::Text, StatementMode::Prepared] {
        for (pace, open_loop) in [("closed", None), ("open", Some(open))] {
            let case = format!("{} statements, {pace} loop", mode.name());
            nothing_is_allocated(&format!("no driver, {case}"), Nothing, mode, open_loop);
            let server = Server::start();
            let driver = WireDriver::new(&server.endpoint());
            nothing_is_allocated(&format!("lean client, {case}"), driver, mode, open_loop);
        }
    }
}

fn nothing_is_allocated<D: Driver>(
    case: &str,
    driver: D,
    mode: StatementMode,
    open_loop: Option<OpenLoop>,
) {
    // A machine that is busy with other things gets too little done in one window now and then.
    for _ in 0..20 {
        let count = Arc::new(Count::default());
        let counted = Counted { inner: driver.clone(), count: count.clone(), sent: 0 };
        let setup = setup(mode, open_loop);
        let output = run_trial(&counted, &setup, &Interrupt::default(), &mut |_| {});
        assert_eq!(output.measurement.status, TrialStatus::Done, "{case}");
        let late = count.statements.load(Ordering::SeqCst) - count.warm.load(Ordering::SeqCst);
        let before = count.until_warm.load(Ordering::SeqCst);
        let allocated = count.last.load(Ordering::SeqCst) - before;
        if late > 2_000 {
            assert_eq!(allocated, 0, "{case}: allocations in {late} statements");
            return;
        }
    }
    panic!("{case}: too few statements to tell, in each of the tries");
}

fn setup(mode: StatementMode, open_loop: Option<OpenLoop>) -> TrialSetup {
    let id = ScenarioId::new("s").unwrap();
    let workload = builtin("oltp_read_write").unwrap();
    let scenario = Scenario { id, title: None, workload, options: WorkloadOptions::default() };
    let dataset = Dataset { tables: 3, table_size: 1000, charset: "utf8mb4".into(), seed: 1 };
    TrialSetup {
        program: Arc::new(Program::new(&scenario, &dataset, mode, KeyLaw::Uniform)),
        concurrency: CONNECTIONS,
        handles_max: usize::MAX,
        warmup: Duration::ZERO,
        warmup_max: Duration::ZERO,
        level: 0.05,
        duration: Duration::from_millis(950),
        drain_limit: Duration::from_secs(20),
        connect_limit: Duration::from_secs(20),
        seed: 7,
        load_threads: 1,
        open_loop,
        cpus: Vec::new(),
        policy: LoadPolicy::Batch,
        run_delay: || None,
    }
}

/// Statements, and what the process had allocated when they were sent.
#[derive(Default)]
struct Count {
    begin: OnceLock<Instant>,
    statements: AtomicUsize,
    /// Of them, up to the last one of a connection that was not warm yet.
    warm: AtomicUsize,
    until_warm: AtomicUsize,
    last: AtomicUsize,
}

impl Count {
    fn statement(&self, is_warm: bool) {
        let stats = ALLOCATOR.stats();
        let allocations = stats.allocations + stats.reallocations;
        let number = 1 + self.statements.fetch_add(1, Ordering::SeqCst);
        // At its end the window's second is handed over, which is not an event's doing.
        let begin = *self.begin.get_or_init(Instant::now);
        if begin.elapsed() > COUNTED {
            return;
        }
        if !is_warm {
            self.warm.store(number, Ordering::SeqCst);
            self.until_warm.store(allocations, Ordering::SeqCst);
        }
        self.last.store(allocations, Ordering::SeqCst);
    }
}

/// A driver that reads the counter at each statement.
#[derive(Clone)]
struct Counted<D> {
    inner: D,
    count: Arc<Count>,
    sent: usize,
}

impl<D: Driver> Driver for Counted<D> {
    type Session = Counted<D::Session>;

    async fn connect(&self) -> Result<Self::Session, DriverError> {
        Ok(Counted { inner: self.inner.connect().await?, count: self.count.clone(), sent: 0 })
    }
}

impl<S: Session> Session for Counted<S> {
    fn expect_statements(&mut self, statements: &Arc<[String]>, handles_max: usize) {
        self.inner.expect_statements(statements, handles_max);
    }

    fn join(self, sockets: &Rc<Sockets>, number: usize) -> Result<Self, DriverError> {
        Ok(Counted { inner: self.inner.join(sockets, number)?, ..self })
    }

    async fn prepare(&mut self, slot: usize) -> Result<(), DriverError> {
        self.inner.prepare(slot).await
    }

    async fn send(&mut self, request: &Request) -> Result<Reply, DriverError> {
        self.sent += 1;
        let is_warm = self.sent > WARM;
        self.count.statement(is_warm);
        if !is_warm {
            // The runtime's list of those who yielded is a buffer that grows too.
            tokio::task::yield_now().await;
        }
        self.inner.send(request).await
    }

    async fn close(self) {
        self.inner.close().await;
    }
}

/// Answers without a server.
#[derive(Clone)]
struct Nothing;

impl Driver for Nothing {
    type Session = Self;

    async fn connect(&self) -> Result<Self, DriverError> {
        Ok(Self)
    }
}

impl Session for Nothing {
    fn expect_statements(&mut self, _: &Arc<[String]>, _: usize) {}

    async fn prepare(&mut self, _slot: usize) -> Result<(), DriverError> {
        Ok(())
    }

    async fn send(&mut self, _request: &Request) -> Result<Reply, DriverError> {
        Ok(Reply { affected_rows: 1, ..Reply::default() })
    }

    async fn close(self) {}
}

/// A server that answers at once: a row to what begins with SELECT, OK to everything else.
struct Server {
    port: u16,
}

/// Protocol 4.1, transactions, authentication by plug-in, no EOF packets.
const CAPABILITIES: u32 = 0x0200 | 0x2000 | 0x8000 | 0x0008_0000 | 0x0100_0000;
const OK: &[u8] = &[0, 1, 0, 2, 0, 0, 0];
const COLUMN: &[u8] = b"\x03def\0\0\0\x01c\0\x0c\x2d\0\xe0\x01\0\0\xfe\x01\0\0\0\0";
const CLOSING_OK: &[u8] = &[0xFE, 0, 0, 2, 0, 0, 0];

impl Server {
    /// Serves until the process ends.
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for stream in listener.incoming() {
                // The end of a connection is the end of its thread.
                thread::spawn(move || stream.and_then(serve));
            }
        });
        Self { port }
    }

    fn endpoint(&self) -> Endpoint {
        let address = Address::Tcp { host: "127.0.0.1".into(), port: self.port };
        Endpoint::new(address, "u", Secret::new(""))
    }
}

fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; 1 << 16];
    stream.write_all(&packet(0, &greeting()))?;
    read(&mut stream, &mut buffer)?;
    stream.write_all(&packet(2, &[0, 0, 0, 2, 0, 0, 0]))?;
    let row = [&[119_u8][..], &[b'1'; 119]].concat();
    let rows = [packet(1, &[1]), packet(2, COLUMN), packet(3, &row), packet(4, CLOSING_OK)];
    let (rows, done) = (rows.concat(), packet(1, OK));
    let mut selects = Vec::new();
    loop {
        let answer = match read(&mut stream, &mut buffer)? {
            [0x03, sql @ ..] if sql.starts_with(b"SELECT") => &rows,
            [0x16, sql @ ..] => {
                selects.push(sql.starts_with(b"SELECT"));
                let number = u32::try_from(selects.len() - 1).unwrap().to_le_bytes();
                let prepared = [&[0][..], &number, &[0; 7]].concat();
                stream.write_all(&packet(1, &prepared))?;
                continue;
            }
            [0x17, a, b, c, d, ..] if selects[u32::from_le_bytes([*a, *b, *c, *d]) as usize] => {
                &rows
            }
            [0x01, ..] => return Ok(()),
            _ => &done,
        };
        stream.write_all(answer)?;
    }
}

/// The payload of the next packet.
fn read<'a>(stream: &mut TcpStream, buffer: &'a mut [u8]) -> std::io::Result<&'a [u8]> {
    let mut header = [0; 4];
    stream.read_exact(&mut header)?;
    let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
    stream.read_exact(&mut buffer[..length])?;
    Ok(&buffer[..length])
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, ..] = payload.len().to_le_bytes();
    [&[a, b, c, sequence], payload].concat()
}

fn greeting() -> Vec<u8> {
    let [c0, c1, c2, c3] = CAPABILITIES.to_le_bytes();
    let mut greeting = b"\x0a8.0.0\0\x01\0\0\0abcdefgh\0".to_vec();
    greeting.extend([c0, c1, 0xFF, 2, 0, c2, c3, 21]);
    greeting.extend([0; 10]);
    greeting.extend(b"abcdefghijkl\0mysql_native_password\0");
    greeting
}
