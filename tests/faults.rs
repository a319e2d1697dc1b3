//! What a run says when a server or a network fails in the middle of it: it ends on time, says what
//! happened and when, and keeps what it has, every row.
//!
//! Each fault is done to a real server of each family, in the measured window of a real run. Must
//! not know: how a trial is measured.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

#[expect(dead_code, reason = "each test file uses its part")]
mod common;
#[path = "common/disk.rs"]
mod disk;
#[path = "faults/family.rs"]
mod family;
#[path = "common/mysql.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod mysql;
#[path = "faults/proxy.rs"]
mod proxy;
#[path = "faults/rows.rs"]
mod rows;
#[path = "faults/running.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod running;
#[path = "common/sql.rs"]
mod sql;
#[path = "faults/workloads.rs"]
mod workloads;
#[path = "common/workspace.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod workspace;

use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use gridbench::driver::adapter::Admin;
use gridbench::model::{Address, Endpoint, Secret};
use nix::sys::signal::Signal;

use family::{FAMILIES, Family};
use proxy::Proxy;
use running::Running;
use sql::sql;
use workloads::{BALLAST, BALLAST_SUM, MIXED, TRANSFER_SUM, loaded, scalar, transfer, version};
use workspace::{Workspace, number};

/// Does a fault to a server of each family, side by side: most of the time a fault is waiting.
fn on_each(fault: fn(&Family)) {
    thread::scope(|scope| {
        for family in FAMILIES {
            let named = thread::Builder::new().name(format!("on {}", family.name));
            named.spawn_scoped(scope, || fault(family)).unwrap();
        }
    });
}

/// The ids of the connections of the load, the oldest first.
fn load_connections(endpoint: &Endpoint) -> Vec<String> {
    let rows = sql(endpoint, &["SHOW PROCESSLIST"]);
    let of_load = |row: &Vec<Option<String>>| {
        let database = row[3].clone().unwrap_or_default();
        database.starts_with("sbtest").then(|| row[0].clone().unwrap())
    };
    let mut ids: Vec<String> = rows.iter().filter_map(of_load).collect();
    ids.sort_by_key(|id| id.parse::<u64>().unwrap());
    ids
}

#[test]
fn a_server_that_is_killed_and_comes_back_costs_the_seconds_that_it_was_gone() {
    on_each(|family| {
        let Some(mut server) = family.start(&[]) else { return };
        let (endpoint, name) = (server.endpoint(), version(&server.endpoint()));
        let workspace = Workspace::new(&endpoint, &transfer(1_000));
        let window_s = 12 + family.recovery.as_secs();
        let duration = format!("protocol.duration={window_s}s");
        let run = Running::start(&workspace, &["--set", &duration]);
        let sum = scalar(&endpoint, TRANSFER_SUM);
        server.kill();
        sleep(Duration::from_secs(10));
        let begun = Instant::now();
        family.start_again(&mut server, &[]);
        let start_s = begun.elapsed().as_secs_f64();
        let ended = run.end();
        let done = format!("server killed, started 10 s later, listens after {start_s:.1} s more");
        ended.tell(&name, &done, &workspace);
        // A server that has just begun reads its pages from disk.
        match &ended.refused {
            None => ended.assert_done(),
            Some(reason) => assert!(reason.contains("not full-cache"), "{reason}"),
        }
        assert_eq!(ended.row["status"], "done", "{}", ended.said);
        let (lost, first, last) = ended.error("0");
        assert!(lost >= 8 && first > 0.9 && last < window_s as f64, "{lost} {first} {last}");
        assert!(number(&ended.row, "reconnects") >= 8);
        assert!(ended.page.contains("s into the window"), "{}", ended.page);
        assert!(ended.page.contains("started again"), "{}", ended.page);
        assert!(ended.silent_seconds >= 9, "{}", ended.silent_seconds);
        assert_eq!(scalar(&endpoint, TRANSFER_SUM), sum, "an event is there or not at all");
    });
}

#[test]
fn a_server_that_is_gone_at_the_end_of_a_trial_is_waited_for_before_the_next() {
    on_each(|family| {
        let Some(mut server) = family.start(&[]) else { return };
        let name = version(&server.endpoint());
        let workspace = Workspace::new(&server.endpoint(), MIXED);
        let twice = ["--set", "protocol.repeats=2", "--set", "protocol.duration=3s"];
        let run = Running::start(&workspace, &twice);
        server.kill();
        sleep(Duration::from_secs(5));
        family.start_again(&mut server, &[]);
        let ended = run.end();
        ended.tell(&name, "server killed to the end of a trial, started 5 s later", &workspace);
        assert_eq!(ended.code, Some(3), "{}", ended.said);
        let rows = workspace.rows("cells.csv");
        let statuses: Vec<&str> = rows.iter().map(|row| row["status"].as_str()).collect();
        assert_eq!(statuses, ["failed", "done"], "{}", ended.said);
        assert!(rows[0]["reason"].contains("gone at the end"), "{}", rows[0]["reason"]);
        assert!(ended.page.contains("1 of 2 repetitions"), "{}", ended.page);
    });
}

#[test]
fn a_server_that_comes_back_with_other_settings_ends_the_spec() {
    on_each(|family| {
        let Some(mut server) = family.start(&[]) else { return };
        let name = version(&server.endpoint());
        let workspace = Workspace::new(&server.endpoint(), MIXED);
        let duration = format!("protocol.duration={}s", 2 + family.recovery.as_secs());
        let twice = ["--set", "protocol.repeats=2", "--set", &duration];
        let run = Running::start(&workspace, &twice);
        server.kill();
        let other = ["--innodb-buffer-pool-size=64M", "--sync-binlog=7"];
        family.start_again(&mut server, &other);
        let ended = run.end();
        ended.tell(&name, "server killed, restarted with other settings", &workspace);
        assert_eq!(ended.code, Some(3), "{}", ended.said);
        let rows = workspace.rows("cells.csv");
        assert_eq!(rows.len(), 2, "every trial has its row");
        for row in rows {
            assert_eq!(row["status"], "failed");
            assert!(row["reason"].contains("innodb_buffer_pool_size"), "{}", row["reason"]);
        }
    });
}

#[test]
fn a_server_that_hangs_leaves_a_hole_and_one_that_hangs_to_the_end_is_waited_for_no_longer() {
    on_each(|family| {
        let Some(server) = family.start(&[]) else { return };
        let name = version(&server.endpoint());
        let workspace = Workspace::new(&server.endpoint(), MIXED);
        let run = Running::start(&workspace, &[]);
        server.signal(Signal::SIGSTOP);
        sleep(Duration::from_secs(3));
        server.signal(Signal::SIGCONT);
        let ended = run.end();
        ended.tell(&name, "server stopped (SIGSTOP) for 3 s", &workspace);
        ended.assert_done();
        assert!(ended.page.contains("stalls"), "{}", ended.page);
        let longest = number(&ended.row, "latency_max_us");
        assert!(longest > 2_500_000, "the wait is in the response times: {longest}");

        let run = Running::start(&workspace, &["--set", "protocol.duration=4s"]);
        server.signal(Signal::SIGSTOP);
        let ended = run.end();
        server.signal(Signal::SIGCONT);
        ended.tell(&name, "server stopped (SIGSTOP) to the end", &workspace);
        assert_eq!(number(&ended.row, "events_unfinished"), 8, "{}", ended.said);
        assert_eq!(ended.code, Some(3), "{}", ended.said);
        let reason = &ended.row["reason"];
        assert!(reason.contains("did not answer any more from "), "{reason}");
        assert!(number(&ended.row, "oldest_unfinished_us") > 10_000_000);
    });
}

#[test]
fn a_connection_that_is_killed_is_replaced_and_the_others_go_on() {
    on_each(|family| {
        let Some(server) = family.start(&[]) else { return };
        let (endpoint, name) = (server.endpoint(), version(&server.endpoint()));
        let workspace = Workspace::new(&endpoint, &transfer(1_000));
        let run = Running::start(&workspace, &["--set", "protocol.duration=4s"]);
        let sum = scalar(&endpoint, TRANSFER_SUM);
        // The oldest: the newest may be one of this test, which the server has not yet forgotten.
        let victim = load_connections(&endpoint).remove(0);
        sql(&endpoint, &[&format!("KILL {victim}")]);
        let ended = run.end();
        ended.tell(&name, "one connection killed (KILL)", &workspace);
        ended.assert_done();
        assert_eq!(number(&ended.row, "reconnects"), 1);
        assert_eq!(ended.error("0").0, 1);
        assert_eq!(scalar(&endpoint, TRANSFER_SUM), sum, "an event is there or not at all");
    });
}

#[test]
fn connections_that_are_reset_and_a_network_that_is_cut_are_told_with_their_time() {
    on_each(|family| {
        let Some(server) = family.start(&[]) else { return };
        let (endpoint, name) = (server.endpoint(), version(&server.endpoint()));
        let proxy = Proxy::start(server.port);
        let address = Address::Tcp { host: "127.0.0.1".into(), port: proxy.port() };
        let through = Endpoint { address, ..endpoint.clone() };
        let workspace = Workspace::new(&through, &transfer(1_000));
        let run = Running::start(&workspace, &["--set", "protocol.duration=4s"]);
        let sum = scalar(&endpoint, TRANSFER_SUM);
        proxy.reset();
        let ended = run.end();
        ended.tell(&name, "all connections reset", &workspace);
        ended.assert_done();
        assert!(number(&ended.row, "reconnects") >= 8);
        let (_, first, last) = ended.error("0");
        assert!(last - first < 3.0, "{first} to {last} s");
        assert_eq!(scalar(&endpoint, TRANSFER_SUM), sum, "an event is there or not at all");

        let run = Running::start(&workspace, &["--set", "protocol.duration=4s"]);
        proxy.cut();
        let ended = run.end();
        ended.tell(&name, "network cut to the end", &workspace);
        assert_eq!(number(&ended.row, "events_unfinished"), 8, "{}", ended.said);
        assert_eq!(ended.code, Some(3), "{}", ended.said);
        let reason = &ended.row["reason"];
        assert!(reason.contains("did not answer any more from "), "{reason}");
    });
}

#[test]
fn a_server_that_turns_read_only_is_told_in_its_own_words() {
    on_each(|family| {
        let Some(server) = family.start(&[]) else { return };
        let (endpoint, name) = (server.endpoint(), version(&server.endpoint()));
        let user = "CREATE USER 'bench'@'%' IDENTIFIED BY 'x'";
        sql(&endpoint, &[user, "GRANT ALL ON `sbtest%`.* TO 'bench'@'%'"]);
        let bench = Endpoint { user: "bench".into(), password: Secret::new("x"), ..endpoint };
        let workspace = Workspace::new(&bench, MIXED);
        let run = Running::start(&workspace, &[]);
        sql(&server.endpoint(), &["SET GLOBAL read_only = ON"]);
        let ended = run.end();
        ended.tell(&name, "server turns read-only", &workspace);
        let (refused, first, _) = ended.error("1290");
        assert!(refused >= 8 && first > 0.9, "{refused} {first}");
        assert!(refused < 1_000, "a server that refuses everything is not flooded: {refused}");
        assert_eq!(ended.code, Some(3), "{}", ended.said);
        assert!(ended.took_s < 6.0, "nothing can be measured any more: {}", ended.took_s);
        let reason = &ended.row["reason"];
        assert!(reason.contains("1290") && reason.contains("server.read_only"), "{reason}");
    });
}

#[test]
fn deadlocks_by_the_thousand_are_rolled_back_tried_again_and_counted() {
    on_each(|family| {
        let Some(server) = family.start(&["--sync-binlog=0"]) else { return };
        let (endpoint, name) = (server.endpoint(), version(&server.endpoint()));
        // Two of four rows in each event, in any order.
        let workspace = Workspace::new(&endpoint, &transfer(4).replace("[8]", "[32]"));
        let run = Running::start(&workspace, &[]);
        let sum = scalar(&endpoint, TRANSFER_SUM);
        let ended = run.end();
        ended.tell(&name, "deadlocks: 32 connections, 4 rows", &workspace);
        ended.assert_done();
        let (deadlocks, ..) = ended.error("1213");
        assert!(deadlocks > 300, "{deadlocks}");
        assert!(number(&ended.row, "events") > 100);
        assert_eq!(scalar(&endpoint, TRANSFER_SUM), sum, "an event is there or not at all");
    });
}

#[test]
fn lock_waits_that_time_out_are_rolled_back_tried_again_and_counted() {
    on_each(|family| {
        let Some(server) = family.start(&["--innodb-lock-wait-timeout=1"]) else { return };
        let (endpoint, name) = (server.endpoint(), version(&server.endpoint()));
        let workspace = Workspace::new(&endpoint, &transfer(1_000).replace("[8]", "[100]"));
        let run = Running::start(&workspace, &[]);
        let sum = scalar(&endpoint, TRANSFER_SUM);
        let schema = loaded(&endpoint);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut other = Admin::connect(&schema).await.unwrap();
            other.execute("BEGIN").await.unwrap();
            other.rows("SELECT COUNT(*) FROM sbtest1 FOR UPDATE").await.unwrap();
            tokio::time::sleep(Duration::from_secs(4)).await;
            other.execute("ROLLBACK").await.unwrap();
            other.close().await;
        });
        let ended = run.end();
        ended.tell(&name, "all rows locked for 4 s, 100 connections", &workspace);
        ended.assert_done();
        let (waits, first, last) = ended.error("1205");
        assert!(waits >= 200 && first > 0.9 && last < 8.0, "{waits} {first} {last}");
        assert_eq!(scalar(&endpoint, TRANSFER_SUM), sum, "an event is there or not at all");
    });
}

#[test]
fn too_few_connections_in_mid_run_are_waited_for_with_growing_pauses() {
    on_each(|family| {
        let Some(server) = family.start(&[]) else { return };
        let (endpoint, name) = (server.endpoint(), version(&server.endpoint()));
        let workspace = Workspace::new(&endpoint, MIXED);
        let run = Running::start(&workspace, &[]);
        let mut orders: Vec<String> = vec!["SET GLOBAL max_connections = 10".to_owned()];
        orders.extend(load_connections(&endpoint).iter().map(|id| format!("KILL {id}")));
        // Others have all places before the load loses its own.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let connect = || runtime.block_on(Admin::connect(&endpoint)).unwrap();
        let mut others: Vec<Admin> = (0..12).map(|_| connect()).collect();
        for order in &orders {
            let _ = runtime.block_on(others[0].execute(order));
        }
        sleep(Duration::from_secs(2));
        for other in others {
            runtime.block_on(other.close());
        }
        let ended = run.end();
        ended.tell(&name, "max_connections lowered, 8 killed, places taken", &workspace);
        assert!(number(&ended.row, "reconnects") >= 8, "{}", ended.said);
        let late = number(&ended.row, "queries");
        assert!(late > 1_000, "they are back: {late}");
        let (refused, first, last) = ended.error("1040");
        assert!(first > 0.9 && last - first < 5.0, "{refused} {first} {last}");
        // Eight connections in two seconds: a pause grows from 10 ms to a second.
        assert!((8..=8 * 12).contains(&refused), "{refused}");
        let reason = &ended.row["reason"];
        assert!(reason.contains("server.max_connections `151` against `10`"), "{reason}");
    });
}

#[test]
fn a_disk_that_fills_up_under_the_server_is_told_and_what_was_measured_is_kept() {
    on_each(|family| {
        let Some(mut server) = family.start(&[]) else { return };
        let Some(disk) = family.move_to_disk(&mut server, 700) else { return };
        let (endpoint, name) = (server.endpoint(), version(&server.endpoint()));
        let workspace = Workspace::new(&endpoint, BALLAST);
        let run = Running::start(&workspace, &[]);
        let sum = scalar(&endpoint, BALLAST_SUM);
        let filler = disk.fill(6);
        let ended = run.end();
        std::fs::remove_file(filler).unwrap();
        ended.tell(&name, "disk full under the data", &workspace);
        // A server refuses rows, or waits for room and answers nobody, or both by turns.
        let reason = &ended.row["reason"];
        match ended.row["status"].as_str() {
            "failed" => assert!(reason.contains("1114") || reason.contains("did not answer")),
            _ => assert!(ended.page.contains("failed, ") && ended.page.contains("1114 ")),
        }
        assert_eq!(scalar(&endpoint, BALLAST_SUM), sum, "an event is there or not at all");
        let there: u64 = scalar(&endpoint, "SELECT COUNT(*) FROM ballast").parse().unwrap();
        let events = number(&ended.row, "events");
        assert!(there > events, "{events} were committed, {there} rows with that of the load");
    });
}
