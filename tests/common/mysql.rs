//! A private MySQL server for tests, fetched where the machine has none.
//!
//! Must not know: what is tested.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tempfile::TempDir;

use crate::common::{LARGE_PACKETS, Server, free_port, run, spawn};

/// Starts a server on an empty datadir, with further options. `Err` says why there is none:
/// `GRIDBENCH_TEST_MYSQL` (its mysqld, or a folder with bin/mysqld) is not set, and none could be
/// fetched.
pub(crate) fn start(options: &[&str]) -> Result<Server, String> {
    let program = find()?;
    let folder = TempDir::with_prefix("gridbench-test-").expect("a temporary folder");
    let install = run(program.clone(), |command| {
        command
            .args(["--no-defaults", "--initialize-insecure"])
            .arg(format!("--datadir={}", folder.path().join("data").display()))
            .env("TMPDIR", folder.path())
    });
    assert!(install.status.success(), "{}", String::from_utf8_lossy(&install.stderr));
    let port = free_port();
    let options = [&["--loose-mysqlx=OFF"], options].concat();
    let process = spawn(&program, folder.path(), port, &options);
    Ok(Server::listening(process, folder, port))
}

/// The server that was named, or one that is fetched once and kept for all tests.
pub(crate) fn find() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("GRIDBENCH_TEST_MYSQL").map(PathBuf::from) {
        return Ok(if named.is_dir() { named.join("bin/mysqld") } else { named });
    }
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mysql");
    // Tests that run side by side fetch it once.
    let lock = std::fs::create_dir_all(&kept)
        .and_then(|()| File::create(kept.join("lock")))
        .and_then(|lock| lock.lock().map(|()| lock));
    let lock = lock.map_err(|error| format!("{}: {error}", kept.display()))?;
    let fetched = run("sh".into(), |command| {
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/get-mysql")).arg(&kept)
    });
    drop(lock);
    match fetched.status.success() {
        true => Ok(kept.join("bin/mysqld")),
        false => Err(String::from_utf8_lossy(&fetched.stderr).trim().to_owned()),
    }
}

/// A server of each family with these options, the caller's alone; MySQL unless it cannot be had,
/// which is said.
pub(crate) fn each(options: &[&str]) -> Vec<Server> {
    let mut servers = vec![Server::start(options)];
    match start(options) {
        Ok(server) => servers.push(server),
        Err(reason) => skipped("on MySQL", &reason),
    }
    servers
}

/// A server of each family, shared by the tests that run side by side: MariaDB, and MySQL unless
/// it cannot be had, which is said.
pub(crate) fn families() -> Vec<Arc<Server>> {
    static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let mysql = shared.upgrade().map_or_else(|| start(LARGE_PACKETS).map(Arc::new), Ok);
    let mut servers = vec![Server::shared()];
    match mysql {
        Ok(server) => {
            *shared = Arc::downgrade(&server);
            servers.push(server);
        }
        Err(reason) => skipped("on MySQL", &reason),
    }
    servers
}

/// Says what is not tested here, and why, whether or not the test passes.
pub(crate) fn skipped(what: &str, why: &str) {
    // Not through a macro, whose words a passing test keeps to itself.
    let _ = writeln!(std::io::stderr(), "SKIPPED {what}: {why}");
}
