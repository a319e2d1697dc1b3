//! A server that does what the test says, and the trials that are run against it.
//!
//! Must not know: what a test expects.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use gridbench::driver::{Driver, DriverError, Reply, Session};
use gridbench::exec::{LoadPolicy, TrialOutput, TrialSetup, run_trial};
use gridbench::model::{
    Dataset, ErrorCount, Interrupt, KeyLaw, Measurement, Request, Scenario, ScenarioId,
    StatementMode, TrialStatus, WorkloadOptions,
};
use gridbench::workload::{Program, builtin};

/// What the server does with a statement or a connection attempt.
pub(crate) enum Act {
    Answer,
    AnswerAfter(Duration),
    Refuse(u16, &'static str),
    Lose,
    Hang,
    Panic,
}

/// What the server sees: a login or a statement, on which connection, as its how-manieth.
pub(crate) struct Seen<'a> {
    pub(crate) connection: usize,
    pub(crate) number: usize,
    pub(crate) sql: &'a str,
}

type Script = dyn Fn(Seen<'_>) -> Act + Send + Sync;

/// A server that follows a script and keeps a transcript for each connection.
#[derive(Clone)]
pub(crate) struct Scripted {
    script: Arc<Script>,
    transcripts: Arc<Mutex<Vec<Vec<String>>>>,
}

pub(crate) struct ScriptedSession {
    server: Scripted,
    connection: usize,
    statements: Arc<[String]>,
    prepared: BTreeSet<usize>,
}

impl Scripted {
    pub(crate) fn new(script: impl Fn(Seen<'_>) -> Act + Send + Sync + 'static) -> Self {
        Self { script: Arc::new(script), transcripts: Arc::default() }
    }

    pub(crate) fn transcripts(&self) -> Vec<Vec<String>> {
        self.locked().clone()
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Vec<String>>> {
        self.transcripts.lock().expect("no test panics while it holds the transcripts")
    }

    async fn act(&self, connection: usize, sql: &str) -> Result<Reply, DriverError> {
        let number = {
            let mut transcripts = self.locked();
            transcripts[connection].push(sql.to_owned());
            transcripts[connection].len()
        };
        let pause = match (self.script)(Seen { connection, number, sql }) {
            Act::Answer => Duration::from_millis(1),
            Act::AnswerAfter(pause) => pause,
            Act::Refuse(code, words) => {
                tokio::task::yield_now().await;
                let (sqlstate, message) = ("HY000".to_owned(), words.to_owned());
                return Err(DriverError::Server { code, sqlstate, message });
            }
            Act::Lose => {
                let (address, message) = ("tcp 127.0.0.1:1".into(), "reset by peer".into());
                return Err(DriverError::Lost { address, message });
            }
            Act::Hang => std::future::pending().await,
            Act::Panic => panic!("scripted"),
        };
        tokio::time::sleep(pause).await;
        let affected_rows = u64::from(["UPD", "DEL", "INS"].contains(&&sql[..3]));
        Ok(Reply { result_set: sql.starts_with("SEL"), affected_rows, ..Reply::default() })
    }
}

impl Driver for Scripted {
    type Session = ScriptedSession;

    async fn connect(&self) -> Result<ScriptedSession, DriverError> {
        let connection = {
            let mut transcripts = self.locked();
            transcripts.push(Vec::new());
            transcripts.len() - 1
        };
        self.act(connection, "LOGIN").await?;
        let server = self.clone();
        let (statements, prepared) = (Arc::default(), BTreeSet::new());
        Ok(ScriptedSession { server, connection, statements, prepared })
    }
}

impl Session for ScriptedSession {
    fn expect_statements(&mut self, statements: &Arc<[String]>, _: usize) {
        self.statements = Arc::clone(statements);
    }

    async fn prepare(&mut self, slot: usize) -> Result<(), DriverError> {
        self.prepared.insert(slot);
        let sql = self.statements[slot].clone();
        self.server.act(self.connection, &format!("PREPARE {sql}")).await.map(drop)
    }

    async fn send(&mut self, request: &Request) -> Result<Reply, DriverError> {
        match request.slot {
            None => self.server.act(self.connection, &request.text).await,
            Some(slot) => {
                if !self.prepared.contains(&slot) {
                    self.prepare(slot).await?;
                }
                self.server.act(self.connection, &format!("EXECUTE {slot}")).await
            }
        }
    }

    async fn close(self) {
        let _ = self.server.act(self.connection, "QUIT").await;
    }
}

pub(crate) fn program(workload: &str, mode: StatementMode) -> Arc<Program> {
    let id = ScenarioId::new("s").expect("this id is valid");
    let workload = builtin(workload).expect("it is built in");
    let scenario = Scenario { id, title: None, workload, options: WorkloadOptions::default() };
    let dataset = Dataset { tables: 3, table_size: 1000, charset: "utf8mb4".into(), seed: 1 };
    Arc::new(Program::new(&scenario, &dataset, mode, KeyLaw::Uniform))
}

pub(crate) fn setup(concurrency: u32, duration_ms: u64) -> TrialSetup {
    TrialSetup {
        program: program("oltp_read_write", StatementMode::Text),
        concurrency,
        handles_max: usize::MAX,
        warmup: Duration::ZERO,
        warmup_max: Duration::ZERO,
        level: 0.05,
        duration: Duration::from_millis(duration_ms),
        drain_limit: Duration::from_secs(20),
        connect_limit: Duration::from_secs(20),
        seed: 7,
        load_threads: 2,
        open_loop: None,
        cpus: Vec::new(),
        policy: LoadPolicy::Batch,
        run_delay: || Some(Duration::ZERO),
    }
}

pub(crate) fn run(server: &Scripted, setup: &TrialSetup) -> TrialOutput {
    run_trial(server, setup, &Interrupt::default(), &mut |_| {})
}

pub(crate) fn reason(measurement: &Measurement) -> &str {
    match &measurement.status {
        TrialStatus::Failed { reason } => reason,
        other => panic!("the trial should have failed, and is {other:?}"),
    }
}

pub(crate) fn counts(errors: &[ErrorCount]) -> Vec<(u16, u64)> {
    errors.iter().map(|error| (error.code, error.count)).collect()
}
