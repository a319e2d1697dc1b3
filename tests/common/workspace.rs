//! A folder with a matrix and a targets file, and what `gridbench` makes of them.
//!
//! Must not know: what is tested.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use gridbench::model::{Address, Endpoint};

/// A folder with a matrix, and a targets file that names a server.
pub(crate) struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    /// The matrix is `small.toml`, the targets file `targets.toml`.
    pub(crate) fn new(endpoint: &Endpoint, matrix: &str) -> Self {
        let workspace = Self { folder: tempfile::tempdir().unwrap() };
        let place = match &endpoint.address {
            Address::Tcp { host, port } => format!("host = \"{host}\"\nport = {port}"),
            Address::Unix(path) => format!("socket = \"{}\"", path.display()),
        };
        let (user, password) = (&endpoint.user, endpoint.password.reveal());
        let targets =
            format!("[target.\"*\"]\n{place}\nuser = \"{user}\"\npassword = '{password}'\n");
        fs::write(workspace.path("targets.toml"), targets).unwrap();
        fs::write(workspace.path("small.toml"), matrix).unwrap();
        workspace
    }

    /// A place in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// gridbench, about to be started there.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridbench"));
        command.args(arguments).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the matrix on the server, to the end.
    pub(crate) fn run(&self, more: &[&str]) -> Output {
        // The server is not always this test's alone.
        let head = ["run", "small.toml", "--targets", "targets.toml", "--yes"];
        self.command(&[&head[..], more].concat()).output().unwrap()
    }

    /// The latest run.
    pub(crate) fn directory(&self) -> PathBuf {
        let mut runs: Vec<PathBuf> =
            fs::read_dir(self.path("results")).unwrap().map(|e| e.unwrap().path()).collect();
        runs.sort();
        runs.pop().unwrap()
    }

    /// The rows of a file of the latest run.
    pub(crate) fn rows(&self, file: &str) -> Vec<BTreeMap<String, String>> {
        let mut reader = csv::Reader::from_path(self.directory().join(file)).unwrap();
        reader.deserialize().map(Result::unwrap).collect()
    }
}

/// A column as a number.
pub(crate) fn number(row: &BTreeMap<String, String>, column: &str) -> u64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column}: {:?}", row[column]))
}

/// What a process said on stderr.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
