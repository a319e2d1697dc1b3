//! The reference driver against a real server: replies, errors, lost connections.

mod common;

use std::net::TcpListener;
use std::sync::Arc;

use common::Server;
use gridbench::driver::adapter::{Admin, AsyncDriver, AsyncSession};
use gridbench::driver::{Driver, DriverError, Reply, Session};
use gridbench::load::{LoadOptions, ensure};
use gridbench::model::{
    Address, Dataset, Endpoint, Flavour, Interrupt, KeyLaw, Request, Scenario, ScenarioId,
    StatementMode, WorkloadOptions,
};
use gridbench::workload::{Generator, Program, builtin, builtins};

/// Loads a dataset; an endpoint with its schema.
fn loaded(endpoint: Endpoint, dataset: &Dataset) -> Endpoint {
    let options = LoadOptions { loaders: 2, ..LoadOptions::default() };
    let report = ensure(&endpoint, dataset, &options, &Interrupt::default(), &mut |_| {});
    Endpoint { database: Some(report.expect("it loads").database), ..endpoint }
}

fn dataset(table_size: u64) -> Dataset {
    Dataset { tables: 3, table_size, charset: "utf8mb4".into(), seed: 1 }
}

fn text(sql: &str) -> Request {
    Request { text: sql.into(), ..Request::default() }
}

async fn connect(endpoint: &Endpoint) -> AsyncSession {
    AsyncDriver::new(endpoint).connect().await.expect("root may connect")
}

/// The replies to one event of the workload, within a transaction that is rolled back.
async fn replies(
    session: &mut AsyncSession,
    workload: &str,
    mode: StatementMode,
    dataset: &Dataset,
) -> Vec<(String, Reply)> {
    let id = ScenarioId::new("s").expect("an id");
    let options = WorkloadOptions { skip_trx: true, ..WorkloadOptions::default() };
    let workload = builtin(workload).expect("it is built in");
    let scenario = Scenario { id, title: None, workload, options };
    let program = Arc::new(Program::new(&scenario, dataset, mode, KeyLaw::Uniform));
    session.expect_statements(program.prepared(), usize::MAX);
    let mut generator = Generator::new(Arc::clone(&program), 7, 0);
    let (mut request, mut replies) = (Request::default(), Vec::new());
    session.send(&text("BEGIN")).await.expect("BEGIN");
    generator.begin_event();
    for step in 0..program.len() {
        generator.write(step, &mut request);
        let reply = session.send(&request).await;
        let kind = program.kinds()[program.kind(step)].name().to_owned();
        replies.push((kind, reply.unwrap_or_else(|e| panic!("{request:?}: {e}"))));
    }
    session.send(&text("ROLLBACK")).await.expect("ROLLBACK");
    replies
}

#[tokio::test]
async fn text_and_prepared_statements_of_every_workload_get_the_same_replies() {
    let server = Server::shared();
    let dataset = dataset(2_001);
    let load = (server.endpoint(), dataset.clone());
    let endpoint =
        tokio::task::spawn_blocking(move || loaded(load.0, &load.1)).await.expect("it loads");
    for workload in builtins().iter().map(|workload| workload.name()) {
        let (mut one, mut other) = (connect(&endpoint).await, connect(&endpoint).await);
        let sent_as_text = replies(&mut one, workload, StatementMode::Text, &dataset).await;
        let prepared = replies(&mut other, workload, StatementMode::Prepared, &dataset).await;
        assert_eq!(sent_as_text, prepared, "{workload:?}");
        for (kind, reply) in prepared {
            assert!(matches_kind(&kind, &reply), "{kind:?}: {reply:?}");
        }
        one.close().await;
        other.close().await;
    }
}

/// What a statement of that kind must do on a complete dataset.
fn matches_kind(kind: &str, reply: &Reply) -> bool {
    let (rows, changed) = match kind {
        "point_select" | "sum_range" | "random_ranges" => (1..=1, 0),
        "simple_range" | "order_range" | "distinct_range" => (1..=100, 0),
        // Half of the ids are no k of any row.
        "random_points" => (0..=2_001, 0),
        _ => (0..=0, 1),
    };
    rows.contains(&reply.rows)
        && reply.affected_rows == changed
        && reply.result_set == (changed == 0)
        && reply.warnings == 0
}

#[tokio::test]
async fn handles_stay_however_many_there_are_and_commit_is_one() {
    // One of its own: what others close would count too.
    let server = Server::start(common::LARGE_PACKETS);
    let dataset = dataset(50);
    let load = (server.socket_endpoint(), dataset.clone());
    let endpoint =
        tokio::task::spawn_blocking(move || loaded(load.0, &load.1)).await.expect("it loads");
    let mut admin = Admin::connect(&endpoint).await.expect("root may connect");
    // Loading has closed its own.
    let before = handles_closed(&mut admin).await;
    let mut session = connect(&endpoint).await;
    let select = |number| format!("SELECT {number} FROM sbtest1 WHERE id=1");
    let statements: Arc<[String]> = (0..200).map(select).chain(["COMMIT".to_owned()]).collect();
    session.expect_statements(&statements, statements.len());
    for slot in 0..statements.len() {
        session.prepare(slot).await.expect("room");
    }
    for slot in [0, 1, 199, 0] {
        let request = Request { slot: Some(slot), ..Request::default() };
        let reply = session.send(&request).await.expect("the handle stands");
        assert_eq!(reply, Reply { result_set: true, rows: 1, ..Reply::default() });
    }
    let commit = Request { slot: Some(200), ..Request::default() };
    assert_eq!(session.send(&commit).await, Ok(Reply::default()));
    let unknown = Request { slot: Some(201), ..Request::default() };
    assert!(matches!(session.send(&unknown).await, Err(DriverError::Protocol { .. })));
    let closed = handles_closed(&mut admin).await;
    assert_eq!(closed, before, "no handle was closed behind our back");
}

async fn handles_closed(admin: &mut Admin) -> Option<String> {
    let closed = "SHOW GLOBAL STATUS LIKE 'Com_stmt_close'";
    let rows = admin.rows(closed).await.expect("the server counts");
    rows[0][1].clone()
}

#[tokio::test]
async fn errors_of_the_server_keep_their_code_state_and_words() {
    let server = Server::shared();
    let mut session = connect(&server.endpoint()).await;
    let error = session.send(&text("SELEKT 1")).await.expect_err("not SQL");
    let DriverError::Server { code, sqlstate, message } = &error else { panic!("{error}") };
    assert_eq!((*code, sqlstate.as_str()), (1064, "42000"));
    assert!(message.contains("SELEKT"), "{message}");
    assert!(!error.is_retryable());
    // The connection stands.
    let warned = session.send(&text("SELECT CAST('x' AS INT)")).await.expect("an answer");
    assert_eq!(warned, Reply { result_set: true, rows: 1, warnings: 1, ..Reply::default() });
    let empty = session.send(&text("SELECT 1 FROM dual WHERE 1=0")).await.expect("an answer");
    assert_eq!(empty, Reply { result_set: true, ..Reply::default() });

    let nobody = Endpoint { user: "nobody".into(), ..server.endpoint() };
    let error = AsyncDriver::new(&nobody).connect().await.expect_err("no such account");
    assert_eq!(error.code(), 1045, "{error}");
}

#[tokio::test]
async fn a_lock_wait_that_timed_out_may_be_tried_again() {
    let server = Server::shared();
    let endpoint = server.endpoint();
    let (mut one, mut other) = (connect(&endpoint).await, connect(&endpoint).await);
    let setup = [
        "CREATE DATABASE locks",
        "CREATE TABLE locks.t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB",
        "INSERT INTO locks.t VALUES (1, 1)",
        "BEGIN",
        "UPDATE locks.t SET v = 2",
    ];
    for sql in setup {
        one.send(&text(sql)).await.expect(sql);
    }
    other.send(&text("SET SESSION innodb_lock_wait_timeout = 1")).await.expect("a variable");
    let error = other.send(&text("UPDATE locks.t SET v = 3")).await.expect_err("it is locked");
    assert_eq!(error.code(), 1205, "{error}");
    assert!(error.is_retryable());
}

#[tokio::test]
async fn a_connection_that_was_killed_is_lost() {
    let server = Server::shared();
    let endpoint = Endpoint { database: Some("information_schema".into()), ..server.endpoint() };
    let mut session = connect(&endpoint).await;
    session.send(&text("SET @gridbench_test = 1")).await.expect("it stands");
    let mut admin = Admin::connect(&server.endpoint()).await.expect("root may connect");
    let find = "SELECT id FROM information_schema.processlist WHERE db = 'information_schema'";
    let id = admin.scalar(find).await.expect("an answer").expect("it is listed");
    admin.execute(&format!("KILL {id}")).await.expect("root may kill");
    let error = session.send(&text("DO 1")).await.expect_err("it is gone");
    assert!(matches!(error, DriverError::Lost { .. }), "{error}");
    assert_eq!(error.code(), 0);
    assert!(error.to_string().contains("tcp://127.0.0.1:"), "{error}");
    session.close().await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_lost_with_its_address() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its number").port();
    drop(listener);
    let address = Address::Tcp { host: "127.0.0.1".into(), port };
    let endpoint = Endpoint::new(address, "root", Default::default());
    let error = AsyncDriver::new(&endpoint).connect().await.expect_err("nobody listens");
    assert!(matches!(error, DriverError::Lost { .. }), "{error}");
    assert!(error.to_string().contains(&format!("tcp://127.0.0.1:{port}")), "{error}");

    let nowhere = Address::Unix("/nonexistent/server.sock".into());
    let error = Admin::connect(&Endpoint { address: nowhere, ..endpoint }).await;
    let error = error.expect_err("no such socket");
    assert!(error.to_string().contains("unix:/nonexistent/server.sock"), "{error}");
}

#[tokio::test]
async fn a_peer_that_speaks_another_protocol_is_an_error_and_no_panic() {
    use tokio::io::AsyncWriteExt;

    let greetings: [&[u8]; 5] = [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x01\x00\x00\x00\x0a",
        b"\x00\x00\x00\x00",
        &[0xff; 64],
    ];
    for greeting in greetings {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("its number").port();
        let peer = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            stream.write_all(greeting).await.expect("a greeting");
        });
        let address = Address::Tcp { host: "127.0.0.1".into(), port };
        let endpoint = Endpoint::new(address, "root", Default::default());
        let error = AsyncDriver::new(&endpoint).connect().await.expect_err("not a server");
        assert_eq!(error.code(), 0, "{greeting:?}: {error}");
        peer.await.expect("the peer ends");
    }
}

#[tokio::test]
async fn a_server_says_what_moves_results() {
    let server = Server::shared();
    let mut admin = Admin::connect(&server.endpoint()).await.expect("root may connect");
    let info = admin.server_info().await.expect("it answers");
    assert_eq!(info.flavour, Flavour::of_version(&info.version));
    assert_eq!(info.address, server.endpoint().address.to_string());
    let variable = |name: &str| info.variables.get(name).map(String::as_str);
    assert_eq!(variable("innodb_buffer_pool_size"), Some("134217728"));
    assert_eq!(variable("innodb_flush_log_at_trx_commit"), Some("0"));
    assert!(variable("transaction_isolation").or(variable("tx_isolation")).is_some());
    let row = admin.rows("SELECT NULL, 1, 'ü'").await.expect("it answers");
    assert_eq!(row, [[None, Some("1".to_owned()), Some("ü".to_owned())]]);
}
