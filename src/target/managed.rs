//! A private server: started, watched, and ended.
//!
//! Must not know: matrices, or what is measured on it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::home::Home;
use super::initialise::{self, with_path};
use super::process::{Patience, Process};
use super::settings::{self, ServerSettings};
use super::{LogExcerpt, ServerBinary, TargetError, affinity};
use crate::model::{Address, Endpoint, Interrupt, Secret};

/// A server of our own on loopback. Dropped, it is ended as [`ManagedServer::stop`] does.
#[derive(Debug)]
pub struct ManagedServer {
    // In this order: the server ends before its home is cleared and unlocked.
    process: Process,
    home: Home,
    endpoint: Endpoint,
    options: Vec<(String, String)>,
    cpus: Vec<u32>,
}

/// The account that is made at each start, with a new password.
const USER: &str = "gridbench";
/// Crash recovery of a large data directory may take minutes.
const START_LIMIT: Duration = Duration::from_secs(1_800);
/// A clean end writes every changed page of the pool.
const STOP_LIMIT: Duration = Duration::from_secs(600);
/// How often another free port is tried when somebody took ours between choice and use.
const PORT_ATTEMPTS: u32 = 5;
/// How long a server that accepted a connection may take to greet before we look again.
const GREETING_LIMIT: Duration = Duration::from_millis(500);

impl ManagedServer {
    /// Starts `binary` on its home below `settings.data_dir`, which is created where it is
    /// missing, and returns when it accepts connections.
    ///
    /// Call it from a thread that lives as long as the server is to live: on Linux the server
    /// is ended when that thread ends, so that it never outlives a killed gridbench.
    ///
    /// # Errors
    /// Another gridbench on the same data, a port in use, too few processors; a server that
    /// ends during the start is reported with the last error lines of its log.
    pub fn start(
        binary: &ServerBinary,
        settings: &ServerSettings,
        interrupt: &Interrupt,
    ) -> Result<Self, TargetError> {
        let cpus = affinity::choose(settings.cpus)?;
        let home = Home::open(&settings.data_dir, binary)?;
        initialise::ensure_data(&home, binary, interrupt)?;
        let options = settings::options(binary.flavour, settings);
        let launch = Launch { binary, home: &home, options: &options, cpus: &cpus };
        let mut attempt = 1;
        let (process, endpoint) = loop {
            let result = launch.start(choose_port(settings.port)?, interrupt);
            let again = settings.port.is_none() && attempt < PORT_ATTEMPTS;
            match result {
                Err(error) if again && lost_port(&error) => attempt += 1,
                result => break result?,
            }
        };
        Ok(Self { process, home, endpoint, options, cpus })
    }

    /// Whether that program has data below the directory.
    pub fn has_data(binary: &ServerBinary, data_dir: &Path) -> bool {
        Home::has_data(data_dir, binary)
    }

    /// TCP on 127.0.0.1, the account of this start, no schema.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The same account over the Unix socket.
    pub fn socket_endpoint(&self) -> Endpoint {
        let address = Address::Unix(self.home.socket().to_owned());
        Endpoint { address, ..self.endpoint.clone() }
    }

    /// The options that it was started with, apart from paths and its port; no secret.
    pub fn settings(&self) -> &[(String, String)] {
        &self.options
    }

    /// The processors that it is bound to; empty where it may use all that we may.
    pub fn cpus(&self) -> &[u32] {
        &self.cpus
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Whether it still runs.
    ///
    /// # Errors
    /// Its exit status and the last error lines of its log, when it does not.
    pub fn is_running(&mut self) -> Result<(), TargetError> {
        still_runs(&mut self.process, &self.home, "the server ended while it was in use")
    }

    /// Ends it: SIGTERM, a generous wait (changed pages are written), then SIGKILL. Its data
    /// stays; its socket, process-id file and lock do not.
    ///
    /// # Errors
    /// When it did not end by itself and well.
    pub fn stop(mut self) -> Result<(), TargetError> {
        let status = self.process.end();
        let status = status.map_err(TargetError::io("end the server of", self.home.dir()))?;
        if status.success() {
            return Ok(());
        }
        let what = "the server did not end well".to_owned();
        let log = LogExcerpt::read(self.home.log());
        Err(TargetError::Ended { what, how: format!("it ended with {status}"), log })
    }
}

/// All that one attempt to start needs, but its port.
struct Launch<'a> {
    binary: &'a ServerBinary,
    home: &'a Home,
    options: &'a [(String, String)],
    cpus: &'a [u32],
}

impl Launch<'_> {
    fn start(&self, port: u16, interrupt: &Interrupt) -> Result<(Process, Endpoint), TargetError> {
        let password = new_password()?;
        let _accounts = AccountsFile::write(self.home.accounts(), &password)?;
        let log = self.home.new_log()?;
        let path = &self.binary.path;
        let process = Process::spawn(path, &self.arguments(port), &log, self.cpus, STOP_LIMIT);
        let mut process = process.map_err(TargetError::io("start", path))?;
        self.await_greeting(&mut process, interrupt)?;
        let address = Address::Tcp { host: "127.0.0.1".to_owned(), port };
        let endpoint = Endpoint::new(address, USER, password);
        Ok((process, endpoint))
    }

    fn arguments(&self, port: u16) -> Vec<OsString> {
        let home = self.home;
        let mut arguments: Vec<OsString> = vec!["--no-defaults".into()];
        arguments.extend(initialise::user_argument());
        arguments.extend(initialise::base_argument(self.binary));
        arguments.push(with_path("--datadir=", &home.data()));
        arguments.push(with_path("--tmpdir=", &home.temporary()));
        arguments.push(with_path("--socket=", home.socket()));
        arguments.push(with_path("--pid-file=", &home.pid_file()));
        arguments.push(with_path("--log-error=", home.log()));
        arguments.push(with_path("--init-file=", &home.accounts()));
        arguments.push(format!("--port={port}").into());
        arguments
            .extend(self.options.iter().map(|(name, value)| format!("--{name}={value}").into()));
        arguments
    }

    /// A greeting on the socket, which is ours alone: the port could have become another
    /// server's. Both families listen on TCP first, and greet when the accounts are made.
    fn await_greeting(
        &self,
        process: &mut Process,
        interrupt: &Interrupt,
    ) -> Result<(), TargetError> {
        let what = "the server ended during its start";
        let mut patience = Patience::of(START_LIMIT);
        while !greets(self.home.socket()) {
            still_runs(process, self.home, what)?;
            if interrupt.is_requested() {
                return Err(TargetError::Interrupted);
            }
            if !patience.wait() {
                return Err(TargetError::Ended {
                    what: "the server does not accept connections".to_owned(),
                    how: format!("waited {} s", START_LIMIT.as_secs()),
                    log: LogExcerpt::read(self.home.log()),
                });
            }
        }
        Ok(())
    }
}

/// The first packet's header is four bytes; protocol version 10 follows.
fn greets(socket: &Path) -> bool {
    let greeting = || -> io::Result<[u8; 5]> {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(GREETING_LIMIT))?;
        let mut bytes = [0; 5];
        stream.read_exact(&mut bytes)?;
        Ok(bytes)
    };
    greeting().is_ok_and(|bytes| bytes[3..] == [0, 10])
}

fn still_runs(process: &mut Process, home: &Home, what: &str) -> Result<(), TargetError> {
    let status = process.exit_status().map_err(TargetError::io("wait for", home.dir()))?;
    let Some(status) = status else { return Ok(()) };
    let how = format!("it ended with {status}");
    Err(TargetError::Ended { what: what.to_owned(), how, log: LogExcerpt::read(home.log()) })
}

/// Somebody else took the port between our choice and the server's use of it.
fn lost_port(error: &TargetError) -> bool {
    matches!(error, TargetError::Ended { log, .. } if log.mentions("ddress already in use"))
}

/// The port that was asked for, if it is free; else a free one.
fn choose_port(asked: Option<u16>) -> Result<u16, TargetError> {
    let wanted = asked.unwrap_or(0);
    let port = TcpListener::bind(("127.0.0.1", wanted)).and_then(|socket| socket.local_addr());
    port.map(|address| address.port())
        .map_err(|error| TargetError::PortInUse { port: wanted, reason: error.to_string() })
}

/// 128 bits from the system, as 32 hexadecimal digits: nothing in it needs quoting.
fn new_password() -> Result<Secret, TargetError> {
    let path = Path::new("/dev/urandom");
    let mut bytes = [0_u8; 16];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(TargetError::io("read", path))?;
    Ok(Secret::new(format!("{:032x}", u128::from_ne_bytes(bytes))))
}

/// The statements that the server runs before it accepts connections; the file holds the
/// password, so it is private and goes away with this value.
struct AccountsFile(PathBuf);

impl AccountsFile {
    fn write(path: PathBuf, password: &Secret) -> Result<Self, TargetError> {
        let mut options = File::options();
        let file = options.write(true).create_new(true).mode(0o600).open(&path);
        let accounts = Self(path);
        let written = file.and_then(|mut file| file.write_all(accounts_sql(password).as_bytes()));
        written.map_err(TargetError::io("write", &accounts.0))?;
        Ok(accounts)
    }
}

impl Drop for AccountsFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// One statement a line, as both families want it. The administrator's account, which has no
/// password after initialisation, is locked.
fn accounts_sql(password: &Secret) -> String {
    let mut sql = String::new();
    for host in ["localhost", "127.0.0.1"] {
        let account = format!("'{USER}'@'{host}'");
        sql.push_str(&format!(
            "DROP USER IF EXISTS {account};
             CREATE USER {account} IDENTIFIED BY '{}';
             GRANT ALL PRIVILEGES ON *.* TO {account} WITH GRANT OPTION;
",
            password.reveal()
        ));
    }
    sql.push_str(
        "ALTER USER 'root'@'localhost' ACCOUNT LOCK;
",
    );
    sql
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_long_and_never_the_same() {
        let (one, other) = (new_password().unwrap(), new_password().unwrap());
        assert_eq!(one.reveal().len(), 32);
        assert_ne!(one, other);
    }

    #[test]
    fn a_port_in_use_is_named() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let error = choose_port(Some(port)).unwrap_err().to_string();
        assert!(error.contains(&port.to_string()) && error.contains("in use"), "{error}");
        assert_ne!(choose_port(None).unwrap(), 0);
    }
}
