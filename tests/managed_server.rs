//! A real server, started and ended by gridbench.
//!
//! Takes the server that is installed, or the one that GRIDBENCH_TEST_SERVER names.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gridbench::driver::adapter::Admin;
use gridbench::model::{Address, Bytes, Endpoint, Interrupt, Secret};
use gridbench::target::{
    ManagedServer, ServerBinary, ServerSettings, TargetError, effective_buffer_pool, find_server,
};

fn binary() -> ServerBinary {
    let named = std::env::var_os("GRIDBENCH_TEST_SERVER").map(PathBuf::from);
    find_server(named.as_deref()).unwrap_or_else(|error| panic!("these tests need one: {error}"))
}

fn settings(data_dir: &Path) -> ServerSettings {
    ServerSettings {
        data_dir: data_dir.to_owned(),
        buffer_pool: Bytes(8 << 20),
        max_connections: 100,
        cpus: None,
        port: None,
    }
}

fn start(settings: &ServerSettings) -> Result<ManagedServer, TargetError> {
    ManagedServer::start(&binary(), settings, &Interrupt::default())
}

fn home(data_dir: &Path) -> PathBuf {
    let binary = binary();
    data_dir.join(format!("{}-{}", binary.flavour.name(), binary.number))
}

/// Runs statements on one connection and returns the first value of the last one's answer.
fn ask(endpoint: &Endpoint, statements: &[&str]) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut admin = Admin::connect(endpoint).await.map_err(|error| error.to_string())?;
        let mut last = None;
        for statement in statements {
            last = admin.scalar(statement).await.map_err(|error| error.to_string())?;
        }
        admin.close().await;
        Ok(last.unwrap_or_default())
    })
}

/// Arguments of a process, as one text; `None` once it is gone or a zombie.
fn process(pid: u32) -> Option<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok().filter(|bytes| !bytes.is_empty())?;
    Some(String::from_utf8_lossy(&bytes).replace('\0', " "))
}

fn becomes_true(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < deadline, "not within a minute: {what}");
        std::thread::yield_now();
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn it_starts_admits_its_account_keeps_its_data_and_leaves_nothing_running() {
    let root = tempfile::tempdir().unwrap();
    let mut server = start(&settings(root.path())).unwrap();
    server.is_running().unwrap();
    let pid = server.pid();
    let arguments = process(pid).expect("the server runs");
    assert!(!arguments.contains(server.endpoint().password.reveal()), "{arguments}");
    let create = ["CREATE DATABASE kept", "CREATE TABLE kept.t (n INT)"];
    ask(server.endpoint(), &create).unwrap();
    let insert = ["INSERT INTO kept.t VALUES (42)", "SELECT n FROM kept.t"];
    assert_eq!(ask(&server.socket_endpoint(), &insert).unwrap(), "42");
    let secret = server.endpoint().password.clone();
    server.stop().unwrap();

    assert_eq!(process(pid), None);
    let left = names(&home(root.path()));
    assert_eq!(left, ["data", "server.log", "server.log.previous"]);
    let log = fs::read_to_string(home(root.path()).join("server.log")).unwrap();
    assert!(!log.contains(secret.reveal()));

    let server = start(&settings(root.path())).unwrap();
    assert_ne!(server.endpoint().password, secret);
    assert_eq!(ask(server.endpoint(), &["SELECT n FROM kept.t"]).unwrap(), "42");
}

#[test]
fn nobody_gets_in_without_the_password() {
    let root = tempfile::tempdir().unwrap();
    let server = start(&settings(root.path())).unwrap();
    let endpoints = [server.endpoint().clone(), server.socket_endpoint()];
    for endpoint in endpoints {
        for (user, password) in [("root", ""), ("gridbench", ""), ("gridbench", "x"), ("", "")] {
            let endpoint = Endpoint {
                user: user.to_owned(),
                password: Secret::new(password),
                ..endpoint.clone()
            };
            let refused = ask(&endpoint, &["SELECT 1"]).unwrap_err();
            // Access denied; the account is locked; MySQL 9 asks a stranger for a plugin.
            let words = ["Access denied", "locked", "sha256_password"];
            assert!(words.iter().any(|word| refused.contains(word)), "{user}: {refused}");
        }
    }
}

#[test]
fn the_buffer_pool_is_the_one_that_was_asked_for() {
    let root = tempfile::tempdir().unwrap();
    for bytes in [5_500_000, 6 << 20, 100_000_000, 1 << 30, 2_000_000_000] {
        let mut settings = settings(root.path());
        settings.buffer_pool = Bytes(bytes);
        let server = start(&settings).unwrap();
        let effective = ask(server.endpoint(), &["SELECT @@innodb_buffer_pool_size"]).unwrap();
        assert_eq!(effective, effective_buffer_pool(Bytes(bytes)).0.to_string(), "{bytes}");
        server.stop().unwrap();
    }
}

#[test]
fn the_options_that_were_stated_are_in_force() {
    let root = tempfile::tempdir().unwrap();
    let server = start(&settings(root.path())).unwrap();
    let expected = [
        ("max_connections", "100"),
        ("innodb_flush_log_at_trx_commit", "1"),
        ("innodb_doublewrite", "1"),
        ("innodb_flush_method", "O_DIRECT"),
        ("log_bin", "0"),
        ("performance_schema", "0"),
        ("max_prepared_stmt_count", "1048576"),
        ("character_set_server", "utf8mb4"),
        ("local_infile", "1"),
        ("bind_address", "127.0.0.1"),
        ("skip_name_resolve", "1"),
        ("thread_handling", "one-thread-per-connection"),
        ("back_log", "4096"),
    ];
    for (name, value) in expected {
        let seen = ask(server.endpoint(), &[&format!("SELECT @@global.{name}")]).unwrap();
        let seen = match seen.as_str() {
            "ON" => "1",
            "OFF" => "0",
            other => other,
        };
        assert_eq!(seen, value, "{name}");
    }
    assert!(server.settings().iter().any(|(name, _)| name == "innodb_buffer_pool_size"));
}

#[test]
fn it_is_bound_to_as_many_processors_as_the_spec_has() {
    let root = tempfile::tempdir().unwrap();
    let mut settings = settings(root.path());
    settings.cpus = Some(1);
    let server = start(&settings).unwrap();
    assert_eq!(server.cpus().len(), 1);
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    assert_eq!(list.trim(), server.cpus()[0].to_string());
    drop(server);

    settings.cpus = Some(100_000);
    let refused = start(&settings).unwrap_err();
    assert!(matches!(refused, TargetError::TooFewCpus { asked: 100_000, .. }), "{refused}");
}

#[test]
fn two_at_once_on_the_same_data_are_refused_and_the_first_lives_on() {
    let root = tempfile::tempdir().unwrap();
    let mut first = start(&settings(root.path())).unwrap();
    let refused = start(&settings(root.path())).unwrap_err();
    let holder = std::process::id();
    assert!(matches!(refused, TargetError::DataDirInUse { pid: Some(pid), .. } if pid == holder));
    first.is_running().unwrap();
    assert_eq!(ask(first.endpoint(), &["SELECT 1"]).unwrap(), "1");
}

#[test]
fn a_port_that_is_asked_for_is_used_or_refused() {
    let root = tempfile::tempdir().unwrap();
    let (taken, port) = quiet_port();
    let mut settings = settings(root.path());
    settings.port = Some(port);
    let refused = start(&settings).unwrap_err();
    assert!(matches!(refused, TargetError::PortInUse { port: named, .. } if named == port));
    drop(taken);
    let server = start(&settings).unwrap();
    let address = Address::Tcp { host: "127.0.0.1".to_owned(), port };
    assert_eq!(server.endpoint().address, address);
}

#[test]
fn broken_data_is_reported_in_the_servers_own_words() {
    let root = tempfile::tempdir().unwrap();
    start(&settings(root.path())).unwrap().stop().unwrap();
    let data = home(root.path()).join("data");
    fs::write(data.join("ibdata1"), "this is no tablespace").unwrap();
    let error = start(&settings(root.path())).unwrap_err().to_string();
    assert!(error.contains("[ERROR]") && error.contains("ibdata1"), "{error}");
    assert!(error.contains("server.log"), "{error}");
    assert!(!home(root.path()).join("lock").exists());
}

#[test]
fn a_program_that_cannot_run_is_reported_at_once() {
    let root = tempfile::tempdir().unwrap();
    start(&settings(root.path())).unwrap().stop().unwrap();
    let broken = wrapper(root.path(), "set -- \"$@\" --no-such-option=1");
    let error = ManagedServer::start(&broken, &settings(root.path()), &Interrupt::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("no-such-option"), "{error}");
}

#[test]
fn a_port_that_is_lost_to_another_program_is_replaced_by_a_new_one() {
    let root = tempfile::tempdir().unwrap();
    start(&settings(root.path())).unwrap().stop().unwrap();
    let flag = root.path().join("tried");
    let message = "[ERROR] Bind on TCP/IP port: Address already in use";
    let first = format!("[ -e {0} ] || {{ : > {0}; echo '{message}'; exit 1; }}", flag.display());
    let unlucky = wrapper(root.path(), &first);
    let server = ManagedServer::start(&unlucky, &settings(root.path()), &Interrupt::default());
    assert_eq!(ask(server.unwrap().endpoint(), &["SELECT 1"]).unwrap(), "1");
    assert!(flag.exists());

    fs::remove_file(&flag).unwrap();
    let mut settings = settings(root.path());
    settings.port = Some(quiet_port().1);
    let error = ManagedServer::start(&unlucky, &settings, &Interrupt::default()).unwrap_err();
    assert!(error.to_string().contains("already in use"), "{error}");
}

/// A port that the system gives to nobody who asks for any: below the range for those.
fn quiet_port() -> (TcpListener, u16) {
    let first = 20_000 + u16::try_from(std::process::id() % 10_000).unwrap();
    let bound =
        (first..).find_map(|port| Some((TcpListener::bind(("127.0.0.1", port)).ok()?, port)));
    bound.expect("one of some ten thousand ports is free")
}

/// The server behind a script that does something first.
fn wrapper(dir: &Path, first: &str) -> ServerBinary {
    let path = dir.join("mysqld");
    let real = binary();
    let script = format!("#!/bin/sh\n{first}\nexec {} \"$@\"\n", real.path.display());
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    ServerBinary { path, ..real }
}

#[test]
fn an_initialisation_that_was_cut_short_is_done_again() {
    let root = tempfile::tempdir().unwrap();
    let unfinished = home(root.path()).join("data.unfinished-1");
    fs::create_dir_all(unfinished.join("mysql")).unwrap();
    fs::write(unfinished.join("ibdata1"), "half").unwrap();
    let server = start(&settings(root.path())).unwrap();
    assert_eq!(ask(server.endpoint(), &["SELECT 1"]).unwrap(), "1");
    assert!(!unfinished.exists());
}

#[test]
fn an_interrupt_ends_the_start_and_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let interrupt = Interrupt::default();
    interrupt.request();
    let refused = ManagedServer::start(&binary(), &settings(root.path()), &interrupt);
    assert!(matches!(refused, Err(TargetError::Interrupted)));
    assert_eq!(names(&home(root.path())), ["server.log"]);
    start(&settings(root.path())).unwrap().stop().unwrap();
    let refused = ManagedServer::start(&binary(), &settings(root.path()), &interrupt);
    assert!(matches!(refused, Err(TargetError::Interrupted)));
    assert_eq!(names(&home(root.path())), ["data", "server.log", "server.log.previous"]);
}

#[test]
fn a_server_that_dies_is_noticed_and_the_next_start_recovers() {
    let root = tempfile::tempdir().unwrap();
    let mut server = start(&settings(root.path())).unwrap();
    ask(server.endpoint(), &["CREATE DATABASE kept"]).unwrap();
    kill(server.pid());
    becomes_true("the death is noticed", || server.is_running().is_err());
    let error = server.is_running().unwrap_err().to_string();
    assert!(error.contains("signal: 9"), "{error}");
    assert!(server.stop().is_err());
    let server = start(&settings(root.path())).unwrap();
    assert!(!ask(server.endpoint(), &["SHOW DATABASES LIKE 'kept'"]).unwrap().is_empty());
}

#[test]
fn a_server_does_not_outlive_a_killed_gridbench() {
    if in_child() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let test = "a_server_does_not_outlive_a_killed_gridbench";
    let (mut child, server) = gridbench_with_server(test, root.path(), None);
    child.kill().unwrap();
    child.wait().unwrap();
    becomes_true("the server ended (needs setpriv of util-linux)", || process(server).is_none());
    start(&settings(root.path())).unwrap().stop().unwrap();
}

#[test]
fn a_server_that_was_left_behind_is_ended_by_the_next_start() {
    if in_child() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    start(&settings(root.path())).unwrap().stop().unwrap();
    let test = "a_server_that_was_left_behind_is_ended_by_the_next_start";
    // Without setpriv on the PATH nothing tells the server that its parent is gone.
    let without_setpriv = tempfile::tempdir().unwrap();
    for tool in ["sh", "id"] {
        let tool_path = Path::new("/usr/bin").join(tool);
        std::os::unix::fs::symlink(tool_path, without_setpriv.path().join(tool)).unwrap();
    }
    let (mut child, leftover) =
        gridbench_with_server(test, root.path(), Some(without_setpriv.path()));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(process(leftover).is_some(), "the server outlives a gridbench without setpriv");
    let server = start(&settings(root.path())).unwrap();
    assert_eq!(process(leftover), None);
    assert_eq!(ask(server.endpoint(), &["SELECT 1"]).unwrap(), "1");
}

fn kill(pid: u32) {
    let pid = nix::unistd::Pid::from_raw(i32::try_from(pid).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
}

const CHILD: &str = "GRIDBENCH_TEST_CHILD_DATA_DIR";

/// In the second process of such a test: starts a server, names it, and waits to be killed.
fn in_child() -> bool {
    let Some(data_dir) = std::env::var_os(CHILD) else { return false };
    let server = start(&settings(Path::new(&data_dir))).unwrap();
    // Not by println!, whose text the test harness keeps for itself.
    let mut stdout = std::io::stdout();
    writeln!(stdout, "\nserver {}", server.pid()).unwrap();
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    true
}

/// This very test in a process of its own, which has started a server: the two of them.
fn gridbench_with_server(test: &str, data_dir: &Path, path: Option<&Path>) -> (Child, u32) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let server = binary().path;
    command.args(["--exact", test]).env(CHILD, data_dir);
    command.env("GRIDBENCH_TEST_SERVER", server).stdin(Stdio::piped()).stdout(Stdio::piped());
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut pids = lines.filter_map(|line| line.unwrap().strip_prefix("server ")?.parse().ok());
    let pid = pids.next().expect("the other process says which server it started");
    (child, pid)
}
