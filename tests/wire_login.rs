//! The lean client logs in: every plug-in of real servers over both transports, refusals, and
//! peers that are no servers.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

mod common;
#[path = "common/mysql.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod mysql;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::Server;
use gridbench::driver::adapter::{Admin, AsyncDriver};
use gridbench::driver::wire::WireDriver;
use gridbench::driver::{Driver, DriverError, Reply, Session};
use gridbench::exec::{LoadPolicy, TrialSetup, run_trial};
use gridbench::model::{
    Address, Dataset, Endpoint, Interrupt, KeyLaw, Request, Scenario, ScenarioId, Secret,
    StatementMode, TrialStatus, WorkloadOptions,
};
use gridbench::workload::{Program, builtin};
use proptest::prelude::*;
use tokio::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Logs in, sends a statement, leaves.
async fn login(driver: &impl Driver) -> Result<(), DriverError> {
    let mut session = driver.connect().await?;
    let request = Request { text: "DO 1".into(), ..Request::default() };
    assert_eq!(session.send(&request).await, Ok(Reply::default()));
    session.close().await;
    Ok(())
}

fn account(server: &Endpoint, user: &str, password: &str) -> Endpoint {
    Endpoint { user: user.into(), password: Secret::new(password), ..server.clone() }
}

/// Whether an account with this plug-in gets in by its password. Of the others, one is refused
/// by today's servers, and one asks for the right user of the system instead. MariaDB stores an
/// empty password of ed25519, and lets nobody in with it, its own client neither.
fn lets_in(plugin: &str, password: &str) -> bool {
    match plugin {
        "ed25519" => !password.is_empty(),
        "mysql_native_password" | "caching_sha2_password" | "sha256_password" => true,
        "mysql_old_password" | "unix_socket" => false,
        other => panic!("the server has a plug-in that this test does not know: {other}"),
    }
}

/// SQL that makes an account with this plug-in and password.
fn create(plugin: &str, is_mariadb: bool, user: &str, password: &str) -> String {
    match (is_mariadb, plugin) {
        (true, "unix_socket") => format!("CREATE USER {user} IDENTIFIED VIA unix_socket"),
        (true, "mysql_old_password") => {
            format!("CREATE USER {user} IDENTIFIED VIA {plugin} USING '5d2e19393cc5ef67'")
        }
        (true, _) => {
            format!("CREATE USER {user} IDENTIFIED VIA {plugin} USING PASSWORD('{password}')")
        }
        (false, _) => format!("CREATE USER {user} IDENTIFIED WITH {plugin} BY '{password}'"),
    }
}

#[test]
fn every_plugin_of_each_server_over_both_transports() {
    for server in mysql::families() {
        runtime().block_on(every_plugin(&server));
    }
}

async fn every_plugin(server: &Server) {
    let mut admin = Admin::connect(&server.socket_endpoint()).await.unwrap();
    let is_mariadb = admin.scalar("SELECT @@version").await.unwrap().unwrap().contains("MariaDB");
    if is_mariadb {
        admin.execute("INSTALL SONAME 'auth_ed25519'").await.unwrap();
    }
    let find = "SELECT plugin_name FROM information_schema.plugins \
                WHERE plugin_type = 'AUTHENTICATION' AND plugin_status = 'ACTIVE'";
    let rows = admin.rows(find).await.unwrap();
    let plugins: Vec<String> = rows.into_iter().flatten().flatten().collect();
    assert!(!plugins.is_empty());
    let long = "long".repeat(40);
    for plugin in &plugins {
        for (number, password) in ["hunter2", "", "ünïcödé 'x", &long].into_iter().enumerate() {
            let user = format!("{plugin}_{number}");
            let quoted = password.replace('\'', "''");
            admin.execute(&create(plugin, is_mariadb, &user, &quoted)).await.unwrap();
            for endpoint in [server.endpoint(), server.socket_endpoint()] {
                // MySQL forgets which passwords it has seen; then it asks for all of it.
                admin.execute("FLUSH PRIVILEGES").await.unwrap();
                let endpoint = account(&endpoint, &user, password);
                for _ in ["in full", "in short"] {
                    outcome(&endpoint, plugin).await;
                }
                let wrong = account(&endpoint, &user, "wrong");
                let error = login(&WireDriver::new(&wrong)).await.unwrap_err();
                let refusal = match plugin.as_str() {
                    "mysql_old_password" => 1275,
                    "unix_socket" => 1698,
                    _ => 1045,
                };
                assert_eq!(error.code(), refusal, "{plugin}: {error}");
            }
            admin.execute(&format!("DROP USER {user}")).await.unwrap();
        }
    }
}

async fn outcome(endpoint: &Endpoint, plugin: &str) {
    let answer = login(&WireDriver::new(endpoint)).await;
    let place = format!("{plugin} at {}", endpoint.address);
    assert_eq!(answer.is_ok(), lets_in(plugin, endpoint.password.reveal()), "{place}: {answer:?}");
    // mysql_async does not speak sha256_password.
    if answer.is_ok() && plugin != "sha256_password" {
        login(&AsyncDriver::new(endpoint)).await.unwrap_or_else(|error| panic!("{place}: {error}"));
    }
}

#[test]
fn refusals_have_the_code_and_words_of_the_server() {
    for server in mysql::families() {
        runtime().block_on(async {
            for endpoint in [server.endpoint(), server.socket_endpoint()] {
                let nowhere = Endpoint { database: Some("nowhere".into()), ..endpoint.clone() };
                let stranger = account(&endpoint, "stranger", "x");
                for (endpoint, expected) in
                    [(nowhere, "1049 (42000): Unknown database"), (stranger, "1045 (28000)")]
                {
                    let error = login(&WireDriver::new(&endpoint)).await.unwrap_err();
                    assert!(error.to_string().contains(expected), "{error}");
                }
            }
        });
    }
}

#[test]
fn a_server_that_is_full_says_so() {
    let server = Server::start(&["--max-connections=10"]);
    runtime().block_on(async {
        let mut admin = Admin::connect(&server.endpoint()).await.unwrap();
        admin.execute("CREATE USER guest").await.unwrap();
        let driver = WireDriver::new(&account(&server.endpoint(), "guest", ""));
        let mut guests = Vec::new();
        let error = loop {
            match driver.connect().await {
                Ok(guest) => guests.push(guest),
                Err(error) => break error,
            }
            assert!(guests.len() < 11, "there is no limit");
        };
        assert_eq!(error.code(), 1040, "{error}");
        assert!(error.to_string().contains("Too many connections"), "{error}");
    });
}

/// A peer that says these bytes, hears one answer after each, and hangs up; what it heard.
fn peer(says: Vec<Vec<u8>>) -> (Endpoint, std::thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address =
        Address::Tcp { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port() };
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = Vec::new();
        for bytes in says {
            if stream.write_all(&bytes).is_err() || !hear(&mut stream, &mut heard) {
                break;
            }
        }
        heard
    });
    (Endpoint::new(address, "bench", Secret::new("hunter2")), heard)
}

/// Reads one packet; `false` if the other side is gone, or waits for more itself.
fn hear(stream: &mut TcpStream, heard: &mut Vec<u8>) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut header = [0; 4];
    if stream.read_exact(&mut header).is_err() {
        return false;
    }
    let mut payload = vec![0; usize::from(header[0]) | usize::from(header[1]) << 8];
    let is_whole = stream.read_exact(&mut payload).is_ok();
    heard.extend(payload);
    is_whole
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, ..] = payload.len().to_le_bytes();
    [&[a, b, c, sequence], payload].concat()
}

/// The greeting of MariaDB 10.11, with another default plug-in.
fn greeting(plugin: &str) -> Vec<u8> {
    let fixed = b"\x0a10.11.11-MariaDB\0\x08\0\0\0abcdefgh\0\xfe\xf7\x2d\x02\0\xff\x81\x15\0\0\0\0\
                  \0\0\x1d\0\0\0abcdefghijkl\0";
    packet(0, &[fixed, plugin.as_bytes(), b"\0"].concat())
}

/// What the lean client says to such a peer, and the bytes that it sent.
fn meet(says: Vec<Vec<u8>>) -> (DriverError, Vec<u8>) {
    let (endpoint, heard) = peer(says);
    let error = runtime().block_on(async {
        let answer = tokio::time::timeout(Duration::from_secs(20), login_to(&endpoint));
        answer.await.expect("an answer in time")
    });
    (error, heard.join().unwrap())
}

async fn login_to(endpoint: &Endpoint) -> DriverError {
    WireDriver::new(endpoint).connect().await.expect_err("this peer lets nobody in")
}

#[test]
fn a_peer_that_is_no_server_is_an_error_and_no_panic() {
    let more = |payload: &[u8]| vec![greeting("caching_sha2_password"), packet(2, payload)];
    let key = |pem: &[u8]| {
        let key = packet(4, &[b"\x01", pem].concat());
        vec![greeting("caching_sha2_password"), packet(2, b"\x01\x04"), key]
    };
    let switch = |name: &str| {
        let payload = [b"\xfe", name.as_bytes(), b"\0abcdefghijklmnopqrst\0"].concat();
        vec![greeting(name), packet(2, &payload)]
    };
    let endless = vec![greeting("caching_sha2_password"), packet(2, b"\x01\x03").repeat(40)];
    let cases = [
        (vec![], "the server closed the connection"),
        (vec![b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()], "a packet of"),
        (vec![b"\x01\0\0\0\x0a".to_vec()], "a broken greeting packet"),
        (vec![b"\0\0\0\0".to_vec()], "a broken greeting packet"),
        (vec![packet(0, &[0x09; 80])], "a broken greeting packet"),
        (vec![packet(0, b"\xff\x10\x04Too many connections")], "1040 (HY000): Too many"),
        (vec![packet(0, b"\xff\x10")], "a broken error packet"),
        (vec![greeting("parsec")], "the server closed the connection"),
        (more(b"\x01"), "a broken authentication packet"),
        (more(b""), "a broken authentication packet"),
        (more(b"\x42"), "a broken authentication packet"),
        (more(b"\xfe"), "mysql_old_password"),
        (more(b"\xfeunended"), "a broken change of authentication packet"),
        (more(b"\xff\x15\x04#28000Access denied"), "1045 (28000): Access denied"),
        (endless, "a broken authentication packet"),
        (key(b"-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----"), "is none"),
        (key(b""), "is none"),
        (switch("mysql_clear_password"), "mysql_clear_password"),
        (switch("parsec"), "parsec"),
        (switch("auth_gssapi_client"), "auth_gssapi_client"),
    ];
    for (says, expected) in cases {
        let shown = format!("{says:?}");
        let (error, heard) = meet(says);
        assert!(error.to_string().contains(expected), "{shown}: {error}");
        let is_told = heard.windows(7).any(|window| window == b"hunter2");
        assert!(!is_told, "the password went over the wire to {shown}");
    }
}

fn two_hundred_cases() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) }
}

proptest! {
    #![proptest_config(two_hundred_cases())]

    #[test]
    fn any_bytes_behind_a_greeting_are_an_error_and_no_panic(
        first in prop::sample::select(&[0x00_u8, 0x01, 0xFE, 0xFF, 0x42][..]),
        bytes in prop::collection::vec(any::<u8>(), 0..60),
        place in 0_usize..100,
        value in any::<u8>(),
    ) {
        let mut greeting = greeting("caching_sha2_password");
        let place = 4 + place % (greeting.len() - 4);
        greeting[place] = value;
        let (endpoint, heard) = peer(vec![greeting, packet(2, &[&[first], &bytes[..]].concat())]);
        let connect = async {
            let driver = WireDriver::new(&endpoint);
            let limit = Duration::from_secs(20);
            tokio::time::timeout(limit, driver.connect()).await.map(|answer| answer.is_ok())
        };
        let is_in = runtime().block_on(connect).expect("an answer in time");
        prop_assert!(!is_in || first == 0, "let in by {bytes:?}");
        heard.join().unwrap();
    }
}

#[test]
fn a_server_that_never_greets_fails_the_trial_after_the_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address =
        Address::Tcp { host: "127.0.0.1".into(), port: listener.local_addr().unwrap().port() };
    let endpoint = Endpoint::new(address, "bench", Secret::new(""));
    let scenario = Scenario {
        id: ScenarioId::new("s").unwrap(),
        title: None,
        workload: builtin("oltp_point_select").unwrap(),
        options: WorkloadOptions::default(),
    };
    let dataset = Dataset { tables: 1, table_size: 10, charset: "utf8mb4".into(), seed: 1 };
    let program = Program::new(&scenario, &dataset, StatementMode::Text, KeyLaw::Uniform);
    let setup = TrialSetup {
        program: Arc::new(program),
        concurrency: 3,
        handles_max: 0,
        warmup: Duration::ZERO,
        warmup_max: Duration::ZERO,
        level: 0.05,
        duration: Duration::from_secs(60),
        drain_limit: Duration::from_secs(60),
        connect_limit: Duration::from_millis(200),
        seed: 1,
        load_threads: 1,
        open_loop: None,
        cpus: Vec::new(),
        policy: LoadPolicy::of(None),
        run_delay: || None,
    };
    let start = Instant::now();
    let driver = WireDriver::new(&endpoint);
    let output = run_trial(&driver, &setup, &Interrupt::default(), &mut |_| {});
    let TrialStatus::Failed { reason } = &output.measurement.status else {
        panic!("{:?}", output.measurement.status)
    };
    assert!(reason.contains("connecting took longer than 200 ms"), "{reason}");
    assert!(start.elapsed() < Duration::from_secs(30));
}
