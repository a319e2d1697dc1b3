//! Loads that are killed, ourselves or the server, at moments that a seed draws.
//!
//! `GRIDBENCH_TEST_KILLS` says how many of each (2); `GRIDBENCH_TEST_SEED` where they lie.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gridbench::driver::adapter::Admin;
use gridbench::load::LoadOutcome;
use gridbench::model::{Address, Dataset, Endpoint, Secret};
use gridbench::workload::random;
use gridbench::workload::rows::Rows;
use gridbench::workload::schema::checksum_query;
use tempfile::TempDir;

use super::common::{self, Server};
use super::{assert_indexed, block_on, dataset, load, sql};

fn number(variable: &str, default: u64) -> u64 {
    let text = std::env::var(variable).ok();
    text.map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable}={text}")))
}

/// A folder with a matrix, and `gridbench load` of it on a server.
struct Loading {
    folder: TempDir,
    dataset: Dataset,
}

impl Loading {
    fn new(dataset: Dataset, port: u16) -> Self {
        let folder = TempDir::with_prefix("gridbench-test-").expect("a temporary folder");
        let Dataset { tables, table_size, seed, .. } = &dataset;
        let matrix = format!(
            "format = 1\nname = \"m\"\ntitle = \"m\"\n[protocol]\nduration = \"1s\"\n\
             concurrency = [1]\nseed = {seed}\n[dataset]\nclass = \"full-cache\"\n\
             [[dataset.rule]]\ntable_size = {table_size}\ntables = {tables}\n\
             [[spec]]\ncpu = 2\nmemory = \"4GB\"\n\
             [[scenario]]\nid = \"s\"\nworkload = \"oltp_read_only\"\n"
        );
        let targets = format!(
            "[defaults]\nuser = \"root\"\nhost = \"127.0.0.1\"\nport = {port}\ndatabase = \"{}\"\n",
            super::database(&dataset)
        );
        std::fs::write(folder.path().join("m.toml"), matrix).expect("a matrix");
        std::fs::write(folder.path().join("t.toml"), targets).expect("a targets file");
        Self { folder, dataset }
    }

    fn start(&self) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridbench"));
        command.args(["load", "m.toml", "--targets", "t.toml", "--yes", "--loaders", "3"]);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("gridbench starts")
    }

    /// Runs it to its end; what it said if it did not end well.
    fn run(&self) -> Result<(), String> {
        let output = self.start().wait_with_output().expect("gridbench ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(said) }
    }

    /// Every table holds its rows once and its index, by what the server counts now.
    fn assert_whole(&self, endpoint: &Endpoint) {
        let report = load(endpoint, &self.dataset, 1).expect("it stands");
        assert_eq!(report.outcome, LoadOutcome::Reused);
        for check in &report.tables {
            let made = Rows::new(&self.dataset, check.number);
            let made = made.checksum(1..=self.dataset.table_size);
            assert_eq!(check.checksum, made, "table {}", check.number);
            let row = block_on(async {
                let mut admin = Admin::connect(&super::named(endpoint, &self.dataset)).await?;
                admin.rows(&checksum_query(&self.dataset, check.number, "1 = 1")).await
            });
            let row: Vec<String> = row
                .expect("an answer")
                .remove(0)
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect();
            let size = self.dataset.table_size.to_string();
            let (sum, xor) = (made.crc_sum.to_string(), made.crc_xor.to_string());
            assert_eq!(row, ["1".to_owned(), size.clone(), size, sum, xor]);
        }
        assert_eq!(report.tables.len(), self.dataset.tables as usize);
        assert_indexed(endpoint, &self.dataset);
    }

    fn forget(&self, endpoint: &Endpoint) {
        sql(endpoint, &[&format!("DROP DATABASE IF EXISTS {}", super::database(&self.dataset))]);
    }

    /// How long one takes that nobody kills.
    fn time(&self, endpoint: &Endpoint) -> Duration {
        let start = Instant::now();
        self.run().expect("it loads");
        let took = start.elapsed();
        self.assert_whole(endpoint);
        self.forget(endpoint);
        took
    }
}

fn port(endpoint: &Endpoint) -> u16 {
    match &endpoint.address {
        Address::Tcp { port, .. } => *port,
        Address::Unix(path) => panic!("{} is no port", path.display()),
    }
}

/// Moments within a time, drawn from a seed.
fn moments(within: Duration, stream: u64) -> Vec<Duration> {
    let mut draws = random::stream(number("GRIDBENCH_TEST_SEED", 1), stream);
    let kills = number("GRIDBENCH_TEST_KILLS", 2);
    (0..kills).map(|_| within.mul_f64(random::fraction(&mut draws))).collect()
}

#[test]
fn wherever_gridbench_is_killed_the_next_start_completes_the_dataset() {
    let server = Server::shared();
    let endpoint = server.endpoint();
    let loading = Loading::new(dataset(3, 110_001), port(&endpoint));
    for moment in moments(loading.time(&endpoint), 1) {
        let mut child = loading.start();
        std::thread::sleep(moment);
        child.kill().expect("it is killed, or has ended");
        let _ = child.wait();
        loading.run().unwrap_or_else(|said| panic!("killed after {moment:?}: {said}"));
        loading.assert_whole(&endpoint);
        loading.forget(&endpoint);
    }
}

#[test]
fn wherever_the_server_is_killed_the_load_goes_on_when_it_is_back_or_at_the_next_start() {
    // It loses up to a second of what it had committed: the hardest case.
    let mut server = Mortal::start();
    let endpoint = server.endpoint();
    let loading = Loading::new(dataset(3, 110_002), server.port);
    for moment in moments(loading.time(&endpoint), 2) {
        let mut child = loading.start();
        std::thread::sleep(moment);
        server.die();
        // What the server forgets after gridbench has ended, only the next start can tell.
        let had_ended = child.try_wait().expect("it is ours").is_some();
        server.rise();
        let output = child.wait_with_output().expect("gridbench ends");
        if had_ended || !output.status.success() {
            loading.run().unwrap_or_else(|said| panic!("killed after {moment:?}: {said}"));
        }
        loading.assert_whole(&endpoint);
        loading.forget(&endpoint);
    }
}

/// A server that is killed and started again on what it left.
struct Mortal {
    process: Child,
    folder: TempDir,
    port: u16,
}

impl Mortal {
    fn start() -> Self {
        let folder = TempDir::with_prefix("gridbench-test-").expect("a temporary folder");
        let install = common::run(common::find("mariadb-install-db"), |command| {
            command
                .arg("--no-defaults")
                .arg(format!("--datadir={}", folder.path().join("data").display()))
                .args(["--auth-root-authentication-method=normal", "--skip-test-db"])
                .env("TMPDIR", folder.path())
        });
        assert!(install.status.success(), "{}", String::from_utf8_lossy(&install.stderr));
        let port = common::free_port();
        let process = Self::spawn(&folder, port);
        let server = Self { process, folder, port };
        server.wait();
        server
    }

    fn spawn(folder: &TempDir, port: u16) -> Child {
        common::spawn(&common::find("mariadbd"), folder.path(), port, &["--skip-name-resolve"])
    }

    fn wait(&self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < deadline, "the server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn die(&mut self) {
        self.process.kill().expect("it runs");
        let _ = self.process.wait();
    }

    fn rise(&mut self) {
        self.process = Self::spawn(&self.folder, self.port);
        self.wait();
    }

    fn endpoint(&self) -> Endpoint {
        let address = Address::Tcp { host: "127.0.0.1".into(), port: self.port };
        Endpoint::new(address, "root", Secret::new(""))
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
