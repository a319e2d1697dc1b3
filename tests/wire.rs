//! The lean client on real servers: it counts what the reference driver counts, and fails as it
//! does. On MariaDB, and on MySQL where one can be had.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

mod common;
#[path = "common/mysql.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod mysql;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use gridbench::driver::adapter::{Admin, AsyncDriver};
use gridbench::driver::wire::WireDriver;
use gridbench::driver::{Driver, DriverError, Reply, Session};
use gridbench::load::{LoadOptions, ensure};
use gridbench::model::{
    Dataset, Endpoint, Interrupt, KeyLaw, Param, Request, Scenario, ScenarioId, StatementMode,
    WorkloadOptions,
};
use gridbench::workload::{Generator, Program, builtin, builtins};

/// Runs a check on each family of servers, over TCP and over the socket.
fn on_each_server<F: Future<Output = ()>>(check: impl Fn(Endpoint) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for server in mysql::families() {
        runtime.block_on(check(server.endpoint()));
        runtime.block_on(check(server.socket_endpoint()));
    }
}

/// An endpoint with a schema of this name, made anew.
async fn fresh_schema(endpoint: Endpoint, name: &str) -> Endpoint {
    let mut admin = Admin::connect(&endpoint).await.unwrap();
    admin.execute(&format!("DROP DATABASE IF EXISTS {name}")).await.unwrap();
    admin.execute(&format!("CREATE DATABASE {name}")).await.unwrap();
    admin.close().await;
    Endpoint { database: Some(name.into()), ..endpoint }
}

async fn connect(endpoint: &Endpoint) -> (impl Session, impl Session) {
    let wire = WireDriver::new(endpoint).connect().await.expect("the lean client connects");
    let reference = AsyncDriver::new(endpoint).connect().await.expect("mysql_async connects");
    (wire, reference)
}

fn text(sql: &str) -> Request {
    Request { text: sql.into(), ..Request::default() }
}

async fn replies_as_text(session: &mut impl Session, sql: &str) -> Result<Reply, DriverError> {
    session.send(&text(sql)).await
}

async fn replies_prepared(session: &mut impl Session, sql: &str) -> Result<Reply, DriverError> {
    session.expect_statements(&Arc::from([sql.to_owned()]), 1);
    session.send(&Request { slot: Some(0), ..Request::default() }).await
}

/// An answer without the words that name a driver.
fn outline<T: Debug>(answer: Result<T, DriverError>) -> String {
    match answer {
        Ok(reply) => format!("{reply:?}"),
        Err(DriverError::Lost { .. }) => "lost".into(),
        Err(error) => error.to_string(),
    }
}

/// Both drivers, text and prepared, get the same answer to it; returns that.
async fn agreed(endpoint: &Endpoint, sql: &str) -> String {
    let (mut wire, mut reference) = connect(endpoint).await;
    let expected = outline(replies_as_text(&mut reference, sql).await);
    assert_eq!(outline(replies_as_text(&mut wire, sql).await), expected, "{sql:.100}");
    let prepared = outline(replies_prepared(&mut reference, sql).await);
    assert_eq!(outline(replies_prepared(&mut wire, sql).await), prepared, "{sql:.100}");
    assert_eq!(prepared, expected, "{sql:.100}");
    // Both are ready for the next one.
    for answer in
        [replies_as_text(&mut wire, "DO 1").await, replies_as_text(&mut reference, "DO 1").await]
    {
        assert_eq!(answer, Ok(Reply::default()), "after {sql:.100}");
    }
    wire.close().await;
    reference.close().await;
    expected
}

fn program(workload: &str, mode: StatementMode, dataset: &Dataset) -> Arc<Program> {
    let id = ScenarioId::new("s").unwrap();
    let options = WorkloadOptions { skip_trx: true, ..WorkloadOptions::default() };
    let workload = builtin(workload).unwrap();
    let scenario = Scenario { id, title: None, workload, options };
    Arc::new(Program::new(&scenario, dataset, mode, KeyLaw::Uniform))
}

/// The replies to three events, within a transaction that is rolled back.
async fn events(session: &mut impl Session, program: Arc<Program>, handles: usize) -> Vec<Reply> {
    session.expect_statements(program.prepared(), handles);
    let mut generator = Generator::new(Arc::clone(&program), 7, 0);
    let (mut request, mut replies) = (Request::default(), Vec::new());
    session.send(&text("BEGIN")).await.unwrap();
    for _ in 0..3 {
        generator.begin_event();
        for step in 0..program.len() {
            generator.write(step, &mut request);
            replies.push(session.send(&request).await.unwrap());
        }
    }
    session.send(&text("ROLLBACK")).await.unwrap();
    replies
}

#[test]
fn both_drivers_count_the_same_for_every_workload() {
    on_each_server(|endpoint| async move {
        let dataset = Dataset { tables: 3, table_size: 501, charset: "utf8mb4".into(), seed: 1 };
        let (place, data) = (endpoint.clone(), dataset.clone());
        let load = move || {
            ensure(
                &place,
                &data,
                &LoadOptions { loaders: 1, ..LoadOptions::default() },
                &Interrupt::default(),
                &mut |_| {},
            )
        };
        let report = tokio::task::spawn_blocking(load).await.unwrap().expect("it loads");
        let endpoint = Endpoint { database: Some(report.database), ..endpoint };
        for workload in builtins().iter().map(|workload| workload.name()) {
            for mode in [StatementMode::Text, StatementMode::Prepared] {
                let program = program(workload, mode, &dataset);
                let (mut wire, mut reference) = connect(&endpoint).await;
                let expected = events(&mut reference, Arc::clone(&program), usize::MAX).await;
                let all = events(&mut wire, Arc::clone(&program), usize::MAX).await;
                assert_eq!(all, expected, "{workload:?} {mode:?}");
                let few = events(&mut wire, Arc::clone(&program), 2).await;
                assert_eq!(few, expected, "{workload:?} {mode:?}, two handles");
                let few = events(&mut reference, program, 2).await;
                assert_eq!(few, expected, "{workload:?} {mode:?}, two handles of the reference");
            }
        }
    });
}

#[test]
fn both_drivers_get_the_same_errors_and_live_on() {
    on_each_server(|endpoint| async move {
        let endpoint = fresh_schema(endpoint, "wire_errors").await;
        let mut admin = Admin::connect(&endpoint).await.unwrap();
        admin.execute("CREATE TABLE t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB").await.unwrap();
        admin.execute("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3000)").await.unwrap();
        for (sql, code) in [
            ("INSERT INTO t VALUES (1, 1)", "1062"),
            ("SELECT * FROM nowhere", "1146"),
            ("SELEKT 1", "1064"),
            ("SELECT nothing FROM t", "1054"),
            // The third row fails when two are on their way.
            ("SELECT EXP(v) FROM t ORDER BY id", "1690"),
        ] {
            let answer = agreed(&endpoint, sql).await;
            assert!(answer.contains(code), "{sql}: {answer}");
        }
    });
}

/// A table `t` of ten thousand rows.
async fn ten_thousand_rows(endpoint: &Endpoint) {
    let mut admin = Admin::connect(endpoint).await.unwrap();
    let digits: Vec<String> = (0..10).map(|digit| format!("SELECT {digit} AS d")).collect();
    let digits = format!("({})", digits.join(" UNION ALL "));
    admin.execute("CREATE TABLE t (id INT PRIMARY KEY, c CHAR(20), n INT)").await.unwrap();
    let insert = format!(
        "INSERT INTO t SELECT e.d + 10 * f.d + 100 * g.d + 1000 * h.d, 'c', NULL \
         FROM {digits} e, {digits} f, {digits} g, {digits} h"
    );
    assert_eq!(admin.execute(&insert).await.unwrap(), 10_000);
    admin.close().await;
}

#[test]
fn both_drivers_count_results_of_every_shape() {
    on_each_server(|endpoint| async move {
        let endpoint = fresh_schema(endpoint, "wire_shapes").await;
        ten_thousand_rows(&endpoint).await;
        let columns = format!("SELECT {} FROM t LIMIT 3", vec!["id"; 1000].join(", "));
        let long = format!("SELECT LENGTH('{}')", "x".repeat(20_000_000));
        for (sql, rows, affected_rows, warnings) in [
            ("SELECT * FROM t", 10_000, 0, 0),
            ("SELECT n, c FROM t", 10_000, 0, 0),
            ("SELECT * FROM t WHERE id < 0", 0, 0, 0),
            ("SELECT ''", 1, 0, 0),
            ("SELECT NULL, NULL", 1, 0, 0),
            (&columns, 3, 0, 0),
            (&long, 1, 0, 0),
            ("SELECT REPEAT('x', 20000000)", 1, 0, 0),
            ("SELECT REPEAT('x', 16777215 - 4), id FROM t WHERE id < 3", 3, 0, 0),
            ("SELECT CAST('12x' AS SIGNED), CAST('y' AS SIGNED)", 1, 0, 2),
            ("UPDATE t SET n = COALESCE(n, 0) + 1 WHERE id < 300", 0, 300, 0),
            ("DELETE FROM t WHERE id < 0", 0, 0, 0),
        ] {
            let result_set = sql.starts_with("SELECT");
            let expected = Reply { result_set, rows, affected_rows, warnings };
            assert_eq!(agreed(&endpoint, sql).await, format!("{expected:?}"), "{sql:.100}");
        }
    });
}

#[test]
fn a_parameter_of_17_megabytes_arrives() {
    on_each_server(|endpoint| async move {
        let endpoint = fresh_schema(endpoint, "wire_params").await;
        let mut admin = Admin::connect(&endpoint).await.unwrap();
        admin.execute("CREATE TABLE t (id INT PRIMARY KEY, b LONGTEXT)").await.unwrap();
        let mut wire = WireDriver::new(&endpoint).connect().await.unwrap();
        let statements = ["INSERT INTO t VALUES (?, ?)", "SELECT b FROM t WHERE id = ?"];
        wire.expect_statements(&statements.map(str::to_owned).into_iter().collect(), 2);
        // Lengths around one, and exactly two, of the longest packets.
        for len in [17_000_000, 0xFF_FFFF - 40, 0xFF_FFFF - 33, 0xFF_FFFF, 2 * 0xFF_FFFF] {
            let id = Param::Int(i64::try_from(len).unwrap());
            let params = vec![id, Param::Text { start: 0, len }];
            let insert = Request { slot: Some(0), text: "x".repeat(len), params };
            let reply = wire.send(&insert).await.unwrap();
            assert_eq!(reply, Reply { affected_rows: 1, ..Reply::default() });
            let select = Request { slot: Some(1), params: vec![id], ..Request::default() };
            let reply = wire.send(&select).await.unwrap();
            assert_eq!(reply, Reply { result_set: true, rows: 1, ..Reply::default() });
        }
        let wrong = admin.scalar("SELECT COUNT(*) FROM t WHERE LENGTH(b) <> id").await.unwrap();
        assert_eq!(wrong.as_deref(), Some("0"));
    });
}

#[test]
fn several_results_are_one_reply_and_no_local_file_is_given() {
    on_each_server(|endpoint| async move {
        let endpoint = fresh_schema(endpoint, "wire_results").await;
        ten_thousand_rows(&endpoint).await;
        let mut admin = Admin::connect(&endpoint).await.unwrap();
        let procedure = "CREATE PROCEDURE p() BEGIN SELECT id FROM t LIMIT 3; SELECT id, c FROM t \
                         LIMIT 300; UPDATE t SET c = 'd' WHERE id < 2; END";
        admin.execute(procedure).await.unwrap();
        let mut wire = WireDriver::new(&endpoint).connect().await.unwrap();
        for answer in
            [wire.send(&text("CALL p()")).await, replies_prepared(&mut wire, "CALL p()").await]
        {
            let reply = answer.unwrap();
            assert_eq!((reply.result_set, reply.rows), (true, 303), "{reply:?}");
        }
        let load = "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t";
        let error = wire.send(&text(load)).await.unwrap_err();
        assert!(matches!(error, DriverError::Server { .. }), "{error}");
        assert_eq!(wire.send(&text("DO 1")).await, Ok(Reply::default()));
    });
}

/// Two sessions lock two rows crosswise; what became of their last statements.
async fn deadlock(mut one: impl Session, mut other: impl Session) -> Vec<String> {
    for sql in ["BEGIN", "UPDATE t SET v = 2 WHERE id = 1"] {
        one.send(&text(sql)).await.unwrap();
    }
    for sql in ["BEGIN", "UPDATE t SET v = 2 WHERE id = 2"] {
        other.send(&text(sql)).await.unwrap();
    }
    let (crossed, back) =
        (text("UPDATE t SET v = 3 WHERE id = 2"), text("UPDATE t SET v = 3 WHERE id = 1"));
    let (one_answer, other_answer) = tokio::join!(one.send(&crossed), other.send(&back));
    let errors = [&one_answer, &other_answer].into_iter().filter_map(|a| a.as_ref().err());
    assert!(errors.clone().all(DriverError::is_retryable), "{one_answer:?} {other_answer:?}");
    let errors = errors.map(ToString::to_string).collect();
    one.send(&text("ROLLBACK")).await.unwrap();
    other.send(&text("ROLLBACK")).await.unwrap();
    errors
}

#[test]
fn a_deadlock_is_1213_for_both_drivers() {
    on_each_server(|endpoint| async move {
        let endpoint = fresh_schema(endpoint, "wire_deadlock").await;
        let mut admin = Admin::connect(&endpoint).await.unwrap();
        admin.execute("CREATE TABLE t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB").await.unwrap();
        admin.execute("INSERT INTO t VALUES (1, 1), (2, 1)").await.unwrap();
        let (wire, reference) = connect(&endpoint).await;
        let (other_wire, other_reference) = connect(&endpoint).await;
        let of_wire = deadlock(wire, other_wire).await;
        let of_reference = deadlock(reference, other_reference).await;
        assert_eq!(of_wire, of_reference);
        assert!(of_wire.len() == 1 && of_wire[0].contains("1213 (40001)"), "{of_wire:?}");
    });
}

/// The connections of this test, by their schema.
async fn connections(admin: &mut Admin) -> Vec<String> {
    let find = "SELECT id FROM information_schema.processlist WHERE db = 'wire_lost' ORDER BY id";
    let rows = admin.rows(find).await.unwrap();
    rows.into_iter().flatten().flatten().collect()
}

#[test]
fn a_connection_that_the_server_ends_is_lost_whatever_it_was_doing() {
    on_each_server(|endpoint| async move {
        let root = endpoint.clone();
        let endpoint = fresh_schema(endpoint, "wire_lost").await;
        let mut admin = Admin::connect(&root).await.unwrap();

        // Idle, killed: the server may say a last word, or none.
        let mut idle = WireDriver::new(&endpoint).connect().await.unwrap();
        for id in connections(&mut admin).await {
            admin.execute(&format!("KILL {id}")).await.unwrap();
        }
        while !connections(&mut admin).await.is_empty() {}
        let error = idle.send(&text("DO 1")).await.unwrap_err();
        assert!(matches!(error, DriverError::Lost { .. }), "{error}");

        // In the middle of a statement.
        let mut busy = WireDriver::new(&endpoint).connect().await.unwrap();
        let ids = connections(&mut admin).await;
        let sleep = text("SELECT SLEEP(100)");
        let kill = async {
            for id in &ids {
                admin.execute(&format!("KILL {id}")).await.unwrap();
            }
        };
        let (answer, ()) = tokio::join!(busy.send(&sleep), kill);
        // MariaDB and MySQL let a sleeping statement end first, with an error of its own.
        let error = match answer {
            Err(error) if error.code() == 0 => error,
            _ => busy.send(&text("DO 1")).await.unwrap_err(),
        };
        assert!(matches!(error, DriverError::Lost { .. }), "{error}");

        // Idle for too long.
        let mut bored = WireDriver::new(&endpoint).connect().await.unwrap();
        bored.send(&text("SET SESSION wait_timeout = 1")).await.unwrap();
        while !connections(&mut admin).await.is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let error = bored.send(&text("DO 1")).await.unwrap_err();
        assert!(matches!(error, DriverError::Lost { .. }), "{error}");
        let error = bored.send(&text("DO 1")).await.unwrap_err();
        assert!(matches!(error, DriverError::Lost { .. }), "{error}");
    });
}
