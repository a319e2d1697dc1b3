//! The loader against real servers that the tests start themselves: MariaDB, and MySQL where it can
//! be had.

mod commands;
#[path = "../common/mod.rs"]
mod common;
mod kills;
#[path = "../common/mysql.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod mysql;
mod ownership;

use std::future::Future;

use common::Server;
use gridbench::driver::adapter::Admin;
use gridbench::load::{
    LoadError, LoadEvent, LoadOptions, LoadOutcome, LoadProgress, LoadReport, LoadRoute, LoadStage,
    STATE_TABLE, ensure, mark_changed,
};
use gridbench::model::{Checksum, Dataset, Endpoint, Interrupt};
use gridbench::workload::rows::Rows;

fn dataset(tables: u32, table_size: u64) -> Dataset {
    Dataset { tables, table_size, charset: "utf8mb4".into(), seed: 20_251_210 }
}

fn load(endpoint: &Endpoint, dataset: &Dataset, loaders: u32) -> Result<LoadReport, LoadError> {
    let endpoint = named(endpoint, dataset);
    ensure(
        &endpoint,
        dataset,
        &LoadOptions { loaders, ..LoadOptions::default() },
        &Interrupt::default(),
        &mut |_| {},
    )
}

/// The schema of a dataset in these tests.
fn database(dataset: &Dataset) -> String {
    format!("sbtest_{}x{}", dataset.tables, dataset.table_size)
}

/// The endpoint that names that schema.
fn named(endpoint: &Endpoint, dataset: &Dataset) -> Endpoint {
    Endpoint { database: Some(database(dataset)), ..endpoint.clone() }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
}

/// Runs statements as root; returns the first column of the last one's first row.
fn sql(endpoint: &Endpoint, statements: &[&str]) -> Option<String> {
    block_on(async {
        let mut admin = Admin::connect(endpoint).await.expect("root may connect");
        let mut answer = None;
        for statement in statements {
            answer = admin.scalar(statement).await.unwrap_or_else(|e| panic!("{statement}: {e}"));
        }
        admin.close().await;
        answer
    })
}

/// The checksum of a table, computed here from a dump of it: no CRC and no sum of the server's.
fn dumped(endpoint: &Endpoint, dataset: &Dataset, table: u32) -> Checksum {
    let query = format!("SELECT id, k, c, pad FROM {}.sbtest{table}", database(dataset));
    let rows = block_on(async {
        let mut admin = Admin::connect(endpoint).await.expect("root may connect");
        let rows = admin.rows(&query).await.expect("the table is there");
        admin.close().await;
        rows
    });
    let mut checksum = Checksum::default();
    for row in rows {
        let fields: Vec<String> = row.into_iter().map(Option::unwrap_or_default).collect();
        checksum.add(crc32(fields.join("\t").as_bytes()));
    }
    checksum
}

/// CRC-32 as SQL's `CRC32()` and zlib have it.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

/// Every table holds what the generator makes: by a dump of it, and by what was reported.
fn assert_stored(endpoint: &Endpoint, dataset: &Dataset) {
    let report = load(endpoint, dataset, 1).expect("it stands");
    assert_eq!(report.outcome, LoadOutcome::Reused);
    assert_eq!(report.tables.len(), dataset.tables as usize);
    for table in 1..=dataset.tables {
        let made = Rows::new(dataset, table).checksum(1..=dataset.table_size);
        assert_eq!(made.rows, dataset.table_size);
        assert_eq!(dumped(endpoint, dataset, table), made, "table {table}");
        let check = report.tables[table as usize - 1];
        assert_eq!((check.number, check.first_id, check.last_id), (table, 1, made.rows));
        assert_eq!(check.checksum, made);
    }
}

/// The index, and no rest of the way there.
fn assert_indexed(endpoint: &Endpoint, dataset: &Dataset) {
    for table in 1..=dataset.tables {
        let sql_text = format!(
            "SELECT GROUP_CONCAT(DISTINCT index_name ORDER BY index_name) FROM \
             information_schema.statistics WHERE table_schema = '{}' AND table_name = \
             'sbtest{table}'",
            database(dataset)
        );
        let expected = format!("k_{table},PRIMARY");
        assert_eq!(sql(endpoint, &[&sql_text]).as_deref(), Some(expected.as_str()));
    }
}

#[test]
fn datasets_of_one_size_and_two_seeds_stand_beside_each_other() {
    for server in mysql::families() {
        let endpoint = server.endpoint();
        let other = Dataset { seed: 7, ..dataset(1, 9) };
        let names = [dataset(1, 9), other].map(|dataset| {
            let options = LoadOptions { loaders: 1, ..LoadOptions::default() };
            ensure(&endpoint, &dataset, &options, &Interrupt::default(), &mut |_| {})
                .expect("the dataset loads")
                .database
        });
        assert_ne!(names[0], names[1]);
    }
}

#[test]
fn loaded_rows_equal_the_generators_whatever_the_number_of_loaders() {
    let server = Server::shared();
    for dataset in [dataset(5, 6_001), dataset(1, 205_001)] {
        let (endpoint, rows) = (server.endpoint(), dataset.rows());
        let mut checksums = Vec::new();
        for loaders in [8, 1] {
            let report = load(&endpoint, &dataset, loaders).expect("the dataset loads");
            assert_eq!(report.outcome, LoadOutcome::Loaded { rows });
            assert_eq!(report.database, database(&dataset));
            assert_eq!(report.route, Some(LoadRoute::InsertsAsTheyAreCheaper));
            // 245 bytes a row were measured on full tables; small ones have room left in pages.
            let bytes = report.dataset_bytes.expect("the server knows its size");
            assert!((rows * 200..rows * 600).contains(&bytes), "{bytes}");
            checksums.push(report.tables);
            assert_stored(&endpoint, &dataset);
            assert_indexed(&endpoint, &dataset);
            sql(&endpoint, &[&format!("DROP DATABASE {}", database(&dataset))]);
        }
        assert_eq!(checksums[0], checksums[1]);
    }
}

#[test]
fn rows_are_the_same_in_every_character_set_and_by_every_route() {
    for (files, forced, route) in [
        ("--local-infile=1", Some(LoadRoute::Files), LoadRoute::Files),
        ("--local-infile=1", None, LoadRoute::InsertsAsTheyAreCheaper),
        ("--local-infile=0", None, LoadRoute::InsertsAsFilesAreOff),
        ("--local-infile=0", Some(LoadRoute::Files), LoadRoute::InsertsAsFilesAreRefused),
    ] {
        let server = Server::start(&[files, "--sql-mode=ANSI,NO_BACKSLASH_ESCAPES"]);
        let endpoint = server.endpoint();
        for (size, charset) in ["utf8mb4", "latin1", "utf16", "binary"].into_iter().enumerate() {
            let dataset = Dataset { charset: charset.into(), ..dataset(1, 3_000 + size as u64) };
            let options = LoadOptions { route: forced, ..LoadOptions::default() };
            let at = named(&endpoint, &dataset);
            let report = ensure(&at, &dataset, &options, &Interrupt::default(), &mut |_| {});
            let report = report.expect(charset);
            assert_eq!(report.route, Some(route));
            let made = Rows::new(&dataset, 1).checksum(1..=dataset.table_size);
            assert_eq!(report.tables[0].checksum, made, "{charset}");
            if charset != "binary" {
                assert_stored(&endpoint, &dataset);
            }
        }
    }
}

#[test]
fn tables_are_defined_as_sysbench_defines_them() {
    for server in mysql::families() {
        let endpoint = server.endpoint();
        let dataset = Dataset { charset: "latin1".into(), ..dataset(1, 10) };
        load(&endpoint, &dataset, 1).expect("the dataset loads");
        let columns = "SELECT GROUP_CONCAT(column_type, column_key, extra \
                   ORDER BY ordinal_position) \
                   FROM information_schema.columns \
                   WHERE table_schema = 'sbtest_1x10' AND table_name = 'sbtest1'";
        let found = sql(&endpoint, &[columns]).expect("the table has columns");
        // MariaDB tells the width at which an integer is shown, MySQL does not any more.
        let found = found.replace("int(11)", "int");
        assert_eq!(found, "intPRIauto_increment,intMUL,char(120),char(60)");
        let of_table = "FROM information_schema.tables \
                    WHERE table_schema = 'sbtest_1x10' AND table_name = 'sbtest1'";
        let engine = format!("SELECT CONCAT(engine, ' ', table_collation) {of_table}");
        assert_eq!(sql(&endpoint, &[&engine]).as_deref(), Some("InnoDB latin1_swedish_ci"));
        let index = "SELECT GROUP_CONCAT(DISTINCT index_name ORDER BY index_name) \
                 FROM information_schema.statistics WHERE table_schema = 'sbtest_1x10' \
                 AND table_name = 'sbtest1'";
        assert_eq!(sql(&endpoint, &[index]).as_deref(), Some("k_1,PRIMARY"));
    }
}

#[test]
fn a_complete_dataset_is_reused_and_progress_only_grows() {
    for server in mysql::families() {
        let (endpoint, dataset) = (server.socket_endpoint(), dataset(3, 4_000));
        let mut seen: Vec<LoadProgress> = Vec::new();
        let options = LoadOptions { loaders: 2, ..LoadOptions::default() };
        let mut observe = |event: LoadEvent<'_>| match event {
            LoadEvent::Progress(progress) => seen.push(progress),
            other => panic!("{other:?}"),
        };
        let first = ensure(
            &named(&endpoint, &dataset),
            &dataset,
            &options,
            &Interrupt::default(),
            &mut observe,
        );
        assert_eq!(first.expect("it loads").outcome, LoadOutcome::Loaded { rows: 12_000 });
        assert_eq!(seen.first().map(|p| (p.rows_done, p.stage)), Some((0, LoadStage::Verify)));
        assert_eq!(seen.last().map(|p| p.rows_done), Some(12_000));
        assert!(seen.windows(2).all(|pair| pair[0].rows_done <= pair[1].rows_done));
        assert!(seen.iter().all(|progress| progress.rows_total == 12_000));
        // A row has 178 characters, two integers and two lengths.
        let bytes = seen.last().map_or(0, |progress| progress.bytes_sent);
        assert_eq!(bytes, 12_000 * (178 + 2 * 8 + 2));

        let second = load(&endpoint, &dataset, 2).expect("it stands");
        assert_eq!(second.outcome, LoadOutcome::Reused);
        assert!(second.dataset_bytes.is_some());
    }
}

#[test]
fn what_is_in_stays_and_what_nobody_knows_of_is_made_anew() {
    for server in mysql::families() {
        let (endpoint, dataset) = (server.endpoint(), dataset(4, 60_000));
        load(&endpoint, &dataset, 2).expect("the dataset loads");
        sql(
            &endpoint,
            &[
                "USE sbtest_4x60000",
                // As a kill leaves it before the second chunk of a table, with and without index.
                &format!("DELETE FROM {STATE_TABLE} WHERE item IN ('sbtest2', 'sbtest2/50001')"),
                "DELETE FROM sbtest2 WHERE id > 50000",
                "DROP INDEX k_2 ON sbtest2",
                &format!("DELETE FROM {STATE_TABLE} WHERE item = 'sbtest3'"),
                // And as nobody leaves it.
                &format!("DELETE FROM {STATE_TABLE} WHERE item LIKE 'sbtest4%'"),
                "DELETE FROM sbtest4 WHERE id > 1234",
            ],
        );
        let report = load(&endpoint, &dataset, 2).expect("the dataset is completed");
        assert_eq!(report.outcome, LoadOutcome::Completed { tables: 3, rows: 10_000 + 60_000 });
        assert_stored(&endpoint, &dataset);
        assert_indexed(&endpoint, &dataset);
    }
}

#[test]
fn rows_that_are_not_what_was_sent_are_told_and_made_anew() {
    for server in mysql::families() {
        let (endpoint, dataset) = (server.endpoint(), dataset(1, 60_001));
        load(&endpoint, &dataset, 2).expect("the dataset loads");
        let vary = [
            "USE sbtest_1x60001",
            "UPDATE sbtest1 SET k = k + 1 WHERE id = 50001",
            &format!("DELETE FROM {STATE_TABLE} WHERE item = 'sbtest1'"),
        ];
        sql(&endpoint, &vary);
        let error = load(&endpoint, &dataset, 2).expect_err("another row");
        assert!(matches!(error, LoadError::Content { first: 50_001, .. }), "{error}");
        assert!(error.to_string().contains("`sbtest_1x60001`.sbtest1"), "{error}");
        let report = load(&endpoint, &dataset, 2).expect("it is made anew");
        assert_eq!(report.outcome, LoadOutcome::Loaded { rows: 60_001 });
        assert_stored(&endpoint, &dataset);
    }
}

#[test]
fn tables_whose_rows_came_or_went_are_made_anew_where_a_run_noted_that_it_writes() {
    for server in mysql::families() {
        let (endpoint, dataset) = (server.endpoint(), dataset(4, 500));
        load(&endpoint, &dataset, 2).expect("the dataset loads");
        sql(
            &endpoint,
            &[
                "USE sbtest_4x500",
                "INSERT INTO sbtest1 (k) VALUES (1)",
                "DELETE FROM sbtest2 WHERE id = 17",
                "DROP TABLE sbtest3",
            ],
        );
        // Nobody noted that he would: then it is not known whose rows these are.
        let error = load(&endpoint, &dataset, 2).expect_err("another dataset");
        assert!(matches!(error, LoadError::Foreign { .. }), "{error}");
        let words = "sbtest1 holds 501 rows, ids 1 to 501; loaded were ids 1 to 500, each once \
                 (and 1 table like it), and no run noted that it writes to it";
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.to_string().contains("--replace"), "{error}");
        let count = "SELECT COUNT(*) FROM sbtest_4x500.sbtest2";
        assert_eq!(sql(&endpoint, &[count]).as_deref(), Some("499"), "it is left as it is");

        let named = named(&endpoint, &dataset);
        mark_changed(&named, &dataset, "run a, cell b").expect("it is marked");
        let mut told = Vec::new();
        let (options, interrupt) = (LoadOptions::default(), Interrupt::default());
        let report = ensure(&named, &dataset, &options, &interrupt, &mut |event| {
            if let LoadEvent::Unsound { found } = event {
                told.push(found.to_owned());
            }
        });
        let report = report.expect("the dataset is completed");
        assert_eq!(report.outcome, LoadOutcome::Completed { tables: 3, rows: 1_500 });
        assert!(report.is_counted);
        assert_eq!(
            told[1..],
            [
                "sbtest2 holds 499 rows, ids 1 to 500; loaded were ids 1 to 500, each \
                            once",
                "sbtest3 is gone"
            ]
        );
        assert_stored(&endpoint, &dataset);
    }
}

#[test]
fn an_empty_schema_is_taken_and_gets_the_datasets_character_set() {
    for server in mysql::families() {
        let (endpoint, dataset) = (server.endpoint(), dataset(1, 79));
        sql(&endpoint, &["CREATE DATABASE sbtest_1x79 CHARACTER SET latin1"]);
        load(&endpoint, &dataset, 1).expect("it loads");
        let charset = "SELECT character_set_name FROM information_schema.columns WHERE \
                   table_schema = 'sbtest_1x79' AND table_name = 'sbtest1' AND column_name = 'c'";
        assert_eq!(sql(&endpoint, &[charset]).as_deref(), Some("utf8mb4"));
    }
}

#[test]
fn an_interrupted_load_stops_and_is_completed_later() {
    for server in mysql::families() {
        let (endpoint, dataset) = (server.endpoint(), dataset(4, 6_000));
        let interrupt = Interrupt::default();
        let mut observe = |event: LoadEvent<'_>| {
            if matches!(event, LoadEvent::Progress(at) if at.stage == LoadStage::Rows) {
                interrupt.request();
            }
        };
        let options = LoadOptions { loaders: 2, ..LoadOptions::default() };
        let error =
            ensure(&named(&endpoint, &dataset), &dataset, &options, &interrupt, &mut observe);
        assert_eq!(error, Err(LoadError::Interrupted));
        load(&endpoint, &dataset, 2).expect("the dataset is completed");
        assert_stored(&endpoint, &dataset);
    }
}

#[test]
fn a_dataset_that_another_process_loads_is_busy() {
    for server in mysql::families() {
        let endpoint = server.endpoint();
        block_on(async {
            let mut other = Admin::connect(&endpoint).await.expect("root may connect");
            other.scalar("SELECT GET_LOCK('gridbench:sbtest_1x80', 0)").await.expect("the lock");
            let thread = std::thread::spawn({
                let endpoint = endpoint.clone();
                move || load(&endpoint, &dataset(1, 80), 1)
            });
            let error = thread.join().expect("no panic").expect_err("it is busy");
            assert!(matches!(error, LoadError::Busy { .. }), "{error}");
        });
    }
}

#[test]
fn an_account_without_privileges_is_told_which_it_needs() {
    for server in mysql::families() {
        sql(&server.endpoint(), &["CREATE USER poor@'%' IDENTIFIED BY ''"]);
        let endpoint = Endpoint { user: "poor".into(), ..server.endpoint() };
        let error = load(&endpoint, &dataset(1, 81), 1).expect_err("it may not");
        assert!(matches!(error, LoadError::Denied { .. }), "{error}");
        assert!(error.to_string().contains("GRANT ALL ON `sbtest_1x81`.*"), "{error}");
    }
}

#[test]
fn a_server_without_room_is_a_full_disk_whichever_way_rows_travel() {
    let tablespace = "--innodb-data-file-path=ibdata1:12M:autoextend:max:20M";
    for files in ["--local-infile=0", "--local-infile=1"] {
        let server = Server::start(&["--innodb-file-per-table=0", tablespace, files]);
        let endpoint = server.endpoint();
        let small = dataset(2, 3_000);
        load(&endpoint, &small, 2).expect("there is room");
        assert_stored(&endpoint, &small);
        let error = load(&endpoint, &dataset(1, 100_000), 1).expect_err("no room");
        assert!(matches!(error, LoadError::DiskFull { .. }), "{error}");
        assert!(error.to_string().contains("ran out of disk space"), "{error}");
    }
}

#[test]
fn a_character_set_that_cannot_be_is_refused_before_anything_is_sent() {
    for server in mysql::families() {
        let bad = Dataset { charset: "utf8; DROP DATABASE mysql".into(), ..dataset(1, 82) };
        let error = load(&server.endpoint(), &bad, 1).expect_err("no such character set");
        assert!(matches!(error, LoadError::Charset { .. }), "{error}");
    }
}
