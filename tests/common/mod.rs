//! A private MariaDB or MySQL server for tests: its own data, a free port, stopped by pid.
//!
//! Must not know: gridbench's managed server, which has tests of its own.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use gridbench::model::{Address, Endpoint, Secret};
use tempfile::TempDir;

const REMEDY: &str = "these tests need a server: install mariadb-server (apt-get install \
                      mariadb-server), or put mariadbd and mariadb-install-db into PATH";

/// What a shared server starts with: rows of 20 MB are among what is tested.
pub(crate) const LARGE_PACKETS: &[&str] = &["--max-allowed-packet=64M"];

/// A running server; dropped, it is gone.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) folder: TempDir,
    pub(crate) port: u16,
}

impl Server {
    /// The server that tests running side by side share; it ends with the last of them.
    pub(crate) fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let server = Arc::new(Self::start(LARGE_PACKETS));
            *shared = Arc::downgrade(&server);
            server
        })
    }

    /// Starts a server on an empty datadir, with further options; fails the test with the
    /// remedy if there is none.
    pub(crate) fn start(options: &[&str]) -> Self {
        let folder = TempDir::with_prefix("gridbench-test-").expect("a temporary folder");
        let install = run(find("mariadb-install-db"), |command| {
            command
                .arg("--no-defaults")
                .arg(format!("--datadir={}", folder.path().join("data").display()))
                .args(["--auth-root-authentication-method=normal", "--skip-test-db"])
                .args(options)
                .env("TMPDIR", folder.path())
        });
        assert!(install.status.success(), "{}", String::from_utf8_lossy(&install.stderr));
        let port = free_port();
        // No name is looked up, and root may come from the address too.
        let options = [&["--skip-name-resolve"], options].concat();
        let process = spawn(&find("mariadbd"), folder.path(), port, &options);
        Self::listening(process, folder, port)
    }

    /// Waits for the server that was just started in this folder.
    pub(crate) fn listening(process: Child, folder: TempDir, port: u16) -> Self {
        let mut server = Self { process, folder, port };
        server.wait_until_it_listens();
        server
    }

    /// root over TCP, no schema.
    pub(crate) fn endpoint(&self) -> Endpoint {
        self.at(Address::Tcp { host: "127.0.0.1".into(), port: self.port })
    }

    /// root over the Unix socket, no schema.
    pub(crate) fn socket_endpoint(&self) -> Endpoint {
        self.at(Address::Unix(self.folder.path().join("server.sock")))
    }

    fn at(&self, address: Address) -> Endpoint {
        Endpoint::new(address, "root", Secret::new(""))
    }

    pub(crate) fn wait_until_it_listens(&mut self) {
        let log = self.folder.path().join("server.log");
        let deadline = Instant::now() + Duration::from_secs(60);
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let ended = self.process.try_wait().expect("the server's state");
            let said = || std::fs::read_to_string(&log).unwrap_or_default();
            assert!(ended.is_none(), "the server ended: {}", said());
            assert!(Instant::now() < deadline, "the server does not listen: {}", said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts a server on the folder's datadir.
pub(crate) fn spawn(program: &Path, folder: &Path, port: u16, options: &[&str]) -> Child {
    let log = File::create(folder.join("server.log")).expect("a log file");
    let mut command = Command::new(program);
    command.arg("--no-defaults");
    for (option, value) in [
        ("datadir", folder.join("data").display().to_string()),
        ("socket", folder.join("server.sock").display().to_string()),
        ("pid-file", folder.join("server.pid").display().to_string()),
        ("port", port.to_string()),
        ("bind-address", "127.0.0.1".into()),
        ("innodb-buffer-pool-size", "128M".into()),
        ("innodb-flush-log-at-trx-commit", "0".into()),
        ("loose-innodb-log-file-size", "64M".into()),
    ] {
        command.arg(format!("--{option}={value}"));
    }
    // A server that starts deletes what looks like temporary tables in its folder for them,
    // those of its neighbours too: each has one of its own.
    command.args(options).env("TMPDIR", folder);
    if nix::unistd::geteuid().is_root() {
        command.arg("--user=root");
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    command.spawn().expect("the server starts")
}

/// Runs a program to its end.
pub(crate) fn run(
    program: PathBuf,
    arguments: impl FnOnce(&mut Command) -> &mut Command,
) -> std::process::Output {
    let mut command = Command::new(&program);
    let output = arguments(&mut command).stdin(Stdio::null()).output();
    output.unwrap_or_else(|error| panic!("{}: {error}; {REMEDY}", program.display()))
}

/// A program in PATH or where Debian keeps servers.
pub(crate) fn find(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/bin".into()]);
    let found = folders.map(|folder| folder.join(name)).find(|file| file.is_file());
    found.unwrap_or_else(|| panic!("{name} was not found; {REMEDY}"))
}

/// A port that nobody listens on.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("its number").port()
}
