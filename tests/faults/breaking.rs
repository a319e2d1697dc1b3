//! What can happen to a server.
//!
//! Must not know: what it is asked meanwhile.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{Server, find, spawn};

impl Server {
    /// Ends it as a crash would.
    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("a process of ours");
        self.process.wait().expect("its end");
    }

    /// Starts a MariaDB on the same data and port, with these options behind the usual ones.
    pub(crate) fn start_again(&mut self, options: &[&str]) {
        let options = [&["--skip-name-resolve"], options].concat();
        self.process = spawn(&find("mariadbd"), self.folder.path(), self.port, &options);
        self.wait_until_it_listens();
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.process.id()).expect("a process id");
        kill(Pid::from_raw(pid), signal).expect("a process of ours");
    }
}
