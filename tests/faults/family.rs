//! What differs between the families of servers, and what can happen to a server of each.
//!
//! Must not know: what it is asked meanwhile.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{self, Server, spawn};
use crate::disk::SmallDisk;
use crate::mysql;
use crate::sql::sql;

/// Servers of one kind.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// Starts one with these options on an empty datadir, or says why there is none.
    start: fn(&[&str]) -> Result<Server, String>,
    program: fn() -> Result<PathBuf, String>,
    /// What its program is told at each start.
    always: &'static [&'static str],
    /// A time within which it stands again after a crash, on a busy machine too.
    pub(crate) recovery: Duration,
}

/// All that are tested.
pub(crate) const FAMILIES: &[Family] = &[
    Family {
        name: "MariaDB",
        start: |options| Ok(Server::start(options)),
        program: || Ok(common::find("mariadbd")),
        always: &["--skip-name-resolve"],
        recovery: Duration::from_secs(6),
    },
    Family {
        name: "MySQL",
        start: mysql::start,
        program: mysql::find,
        always: &["--loose-mysqlx=OFF"],
        recovery: Duration::from_secs(12),
    },
];

impl Family {
    /// A server; `None`, with the reason printed, where there can be none.
    pub(crate) fn start(&self, options: &[&str]) -> Option<Server> {
        let started = (self.start)(options);
        started.map_err(|why| mysql::skipped(&format!("a fault on {}", self.name), &why)).ok()
    }

    /// Starts a server that has ended on the same data and port, with further options.
    pub(crate) fn start_again(&self, server: &mut Server, options: &[&str]) {
        let program = (self.program)().expect("it was there before");
        let options = [self.always, options].concat();
        server.process = spawn(&program, server.folder.path(), server.port, &options);
        server.wait_until_it_listens();
    }

    /// Moves a server's data to a disk of so many megabytes; `None` where that cannot be.
    pub(crate) fn move_to_disk(&self, server: &mut Server, megabytes: u32) -> Option<SmallDisk> {
        // A SIGTERM between its listening and its being ready would leave a MariaDB stuck.
        sql(&server.endpoint(), &["SHUTDOWN"]);
        server.process.wait().expect("its end");
        let [data, moved] = ["data", "moved"].map(|name| server.folder.path().join(name));
        std::fs::rename(&data, &moved).expect("a folder of ours");
        let disk = SmallDisk::mount(&data, megabytes)?;
        let copied = Command::new("cp").arg("-a").arg(moved.join(".")).arg(&data).status();
        assert!(copied.is_ok_and(|status| status.success()), "the data does not fit");
        self.start_again(server, &[]);
        Some(disk)
    }
}

impl Server {
    /// Ends it as a crash would.
    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("a process of ours");
        self.process.wait().expect("its end");
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.process.id()).expect("a process id");
        kill(Pid::from_raw(pid), signal).expect("a process of ours");
    }
}
