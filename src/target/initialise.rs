//! Making a data directory, by the server's own means.
//!
//! Must not know: the options that the server will run with.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::home::Home;
use super::process::{Patience, Process};
use super::{LogExcerpt, ServerBinary, TargetError};
use crate::model::{Flavour, Interrupt};

/// Creating the system tables takes a second or three; slow disks are given their time.
const LIMIT: Duration = Duration::from_secs(300);
/// How long the initialising program may take to end when it is interrupted; what it made is
/// thrown away.
const END_LIMIT: Duration = Duration::from_secs(20);

/// Makes the data directory where it is missing. It is made under another name and renamed
/// when it is complete, so that what is found under its own name is always complete.
pub(super) fn ensure_data(
    home: &Home,
    binary: &ServerBinary,
    interrupt: &Interrupt,
) -> Result<(), TargetError> {
    if home.data().exists() {
        return Ok(());
    }
    let unfinished = home.unfinished_data();
    let made = initialise(home, binary, &unfinished, interrupt);
    if made.is_err() {
        let _ = fs::remove_dir_all(&unfinished);
    }
    made?;
    fs::rename(&unfinished, home.data()).map_err(TargetError::io("rename", &unfinished))
}

fn initialise(
    home: &Home,
    binary: &ServerBinary,
    data: &Path,
    interrupt: &Interrupt,
) -> Result<(), TargetError> {
    let (program, mut arguments) = match binary.flavour {
        Flavour::MySql => (binary.path.clone(), mysql_arguments()),
        Flavour::MariaDb => (install_program(binary)?, mariadb_arguments(binary)),
    };
    arguments.push(with_path("--datadir=", data));
    arguments.push(with_path("--tmpdir=", &home.temporary()));
    arguments.extend(user_argument());
    let log = home.new_log()?;
    let process = Process::spawn(&program, &arguments, &log, &[], END_LIMIT);
    let mut process = process.map_err(TargetError::io("start", &program))?;
    let how = wait(&mut process, &program, interrupt)?;
    let Some(how) = how else { return Ok(()) };
    let what = format!("{} could not create a data directory", program.display());
    Err(TargetError::Ended { what, how, log: LogExcerpt::read(home.log()) })
}

/// `None` when it ended well, else how it ended.
fn wait(
    process: &mut Process,
    program: &Path,
    interrupt: &Interrupt,
) -> Result<Option<String>, TargetError> {
    let mut patience = Patience::of(LIMIT);
    loop {
        match process.exit_status().map_err(TargetError::io("wait for", program))? {
            Some(status) if status.success() => return Ok(None),
            Some(status) => return Ok(Some(format!("it ended with {status}"))),
            None if interrupt.is_requested() => return Err(TargetError::Interrupted),
            None if patience.wait() => {}
            None => return Ok(Some(format!("it was not done after {} s", LIMIT.as_secs()))),
        }
    }
}

fn mysql_arguments() -> Vec<OsString> {
    ["--no-defaults", "--initialize-insecure", "--secure-file-priv=NULL"].map(Into::into).into()
}

fn mariadb_arguments(binary: &ServerBinary) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec![
        "--no-defaults".into(),
        "--skip-test-db".into(),
        "--skip-name-resolve".into(),
        // The other method also makes root@127.0.0.1, without a password.
        "--auth-root-authentication-method=socket".into(),
        "--auth-root-socket-user=root".into(),
    ];
    arguments.extend(base_argument(binary));
    arguments
}

/// Both families refuse to run as root unless they are told to.
pub(super) fn user_argument() -> Option<OsString> {
    nix::unistd::geteuid().is_root().then(|| "--user=root".into())
}

/// An option whose value is a path, byte for byte.
pub(super) fn with_path(option: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(path);
    argument
}

/// `--basedir=/usr` for `/usr/sbin/mariadbd`: MariaDB finds its messages and scripts from
/// there. MySQL finds its own; a wrapper that stands elsewhere says itself where they are.
pub(super) fn base_argument(binary: &ServerBinary) -> Option<OsString> {
    let base = base_dir(&binary.path);
    let messages = ["share/mysql", "share/mariadb", "share"].map(|dir| base.join(dir));
    let has_messages = messages.iter().any(|dir| dir.join("english/errmsg.sys").is_file());
    let needed = binary.flavour == Flavour::MariaDb && has_messages;
    needed.then(|| with_path("--basedir=", &base))
}

/// The directory above the one that holds the program.
fn base_dir(program: &Path) -> PathBuf {
    let program = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let base = program.parent().and_then(Path::parent);
    base.unwrap_or(Path::new("/usr")).to_owned()
}

const INSTALL_PROGRAMS: [&str; 2] = ["mariadb-install-db", "mysql_install_db"];

/// MariaDB creates its system tables by a script that comes with the server: beside it, in
/// `bin` or `scripts` of the same installation, or on the PATH.
fn install_program(binary: &ServerBinary) -> Result<PathBuf, TargetError> {
    let base = base_dir(&binary.path);
    let mut places = vec![base.join("bin"), base.join("scripts"), base.join("sbin")];
    places.extend(binary.path.parent().map(Path::to_owned));
    places.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let programs = places.iter().flat_map(|dir| INSTALL_PROGRAMS.iter().map(|name| dir.join(name)));
    programs.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        let reason = format!("{} is not installed beside it", INSTALL_PROGRAMS[0]);
        TargetError::NotAServer { path: binary.path.clone(), reason }
    })
}
