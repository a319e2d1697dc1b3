//! The loader and the reference driver against a real server that the tests start themselves.

mod common;

use std::future::Future;

use common::Server;
use gridbench::driver::adapter::Admin;
use gridbench::load::{
    LoadError, LoadOptions, LoadOutcome, LoadProgress, LoadReport, LoadStage, STATE_TABLE, ensure,
};
use gridbench::model::{Dataset, Endpoint, Interrupt};
use gridbench::workload::rows::Rows;

fn dataset(tables: u32, table_size: u64) -> Dataset {
    Dataset { tables, table_size, charset: "utf8mb4".into(), seed: 20_251_210 }
}

fn load(endpoint: &Endpoint, dataset: &Dataset, loaders: u32) -> Result<LoadReport, LoadError> {
    let endpoint = named(endpoint, dataset);
    ensure(
        &endpoint,
        dataset,
        &LoadOptions { loaders, disk_free: None },
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

/// The checksum of a table as the server computes it.
fn stored(endpoint: &Endpoint, dataset: &Dataset, table: u32) -> String {
    let database = database(dataset);
    let sum = "CAST(SUM(CRC32(CONCAT(id, k, c, pad))) AS CHAR)";
    let query = format!("SELECT {sum} FROM {database}.sbtest{table}");
    sql(endpoint, &[&query]).expect("the table holds rows")
}

/// The same checksum over what the generator makes.
fn generated(dataset: &Dataset, table: u32) -> String {
    let rows = Rows::new(dataset, table);
    let one = |id: u64| {
        let row = rows.row(id);
        let mut bytes = format!("{id}{}", row.k).into_bytes();
        bytes.extend(row.c.iter().chain(&row.pad));
        u64::from(crc32(&bytes))
    };
    (1..=dataset.table_size).map(one).sum::<u64>().to_string()
}

/// CRC-32 as SQL's `CRC32()` and zlib have it.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

fn assert_stored(endpoint: &Endpoint, dataset: &Dataset) {
    for table in 1..=dataset.tables {
        assert_eq!(stored(endpoint, dataset, table), generated(dataset, table), "table {table}");
    }
}

#[test]
fn datasets_of_one_size_and_two_seeds_stand_beside_each_other() {
    let server = Server::shared();
    let endpoint = server.endpoint();
    let other = Dataset { seed: 7, ..dataset(1, 9) };
    let names = [dataset(1, 9), other].map(|dataset| {
        let options = LoadOptions { loaders: 1, disk_free: None };
        ensure(&endpoint, &dataset, &options, &Interrupt::default(), &mut |_| {})
            .expect("the dataset loads")
            .database
    });
    assert_ne!(names[0], names[1]);
}

#[test]
fn loaded_rows_equal_the_generators_whatever_the_number_of_loaders() {
    let server = Server::shared();
    let (endpoint, dataset) = (server.endpoint(), dataset(5, 6_001));
    for loaders in [4, 1] {
        let report = load(&endpoint, &dataset, loaders).expect("the dataset loads");
        assert_eq!(report.outcome, LoadOutcome::Loaded { rows: 30_005 });
        assert_eq!(report.database, "sbtest_5x6001");
        // 245 bytes a row were measured on full tables; small ones have room left in pages.
        let bytes = report.dataset_bytes.expect("the server knows its size");
        assert!((30_005 * 200..30_005 * 600).contains(&bytes), "{bytes}");
        assert_stored(&endpoint, &dataset);
        sql(&endpoint, &["DROP DATABASE sbtest_5x6001"]);
    }
}

#[test]
fn tables_are_defined_as_sysbench_defines_them() {
    let server = Server::shared();
    let endpoint = server.endpoint();
    let dataset = Dataset { charset: "latin1".into(), ..dataset(1, 10) };
    load(&endpoint, &dataset, 1).expect("the dataset loads");
    let columns = "SELECT GROUP_CONCAT(column_type, column_key, extra ORDER BY ordinal_position) \
                   FROM information_schema.columns \
                   WHERE table_schema = 'sbtest_1x10' AND table_name = 'sbtest1'";
    let found = sql(&endpoint, &[columns]).expect("the table has columns");
    assert_eq!(found, "int(11)PRIauto_increment,int(11)MUL,char(120),char(60)");
    let of_table = "FROM information_schema.tables \
                    WHERE table_schema = 'sbtest_1x10' AND table_name = 'sbtest1'";
    let engine = format!("SELECT CONCAT(engine, ' ', table_collation) {of_table}");
    assert_eq!(sql(&endpoint, &[&engine]).as_deref(), Some("InnoDB latin1_swedish_ci"));
    let index = "SELECT GROUP_CONCAT(DISTINCT index_name ORDER BY index_name) \
                 FROM information_schema.statistics WHERE table_schema = 'sbtest_1x10' \
                 AND table_name = 'sbtest1'";
    assert_eq!(sql(&endpoint, &[index]).as_deref(), Some("k_1,PRIMARY"));
}

#[test]
fn a_complete_dataset_is_reused_and_progress_only_grows() {
    let server = Server::shared();
    let (endpoint, dataset) = (server.socket_endpoint(), dataset(3, 4_000));
    let mut seen: Vec<LoadProgress> = Vec::new();
    let options = LoadOptions { loaders: 2, disk_free: None };
    let mut observe = |progress| seen.push(progress);
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

    let second = load(&endpoint, &dataset, 2).expect("it stands");
    assert_eq!(second.outcome, LoadOutcome::Reused);
    assert!(second.dataset_bytes.is_some());
}

#[test]
fn tables_that_were_left_half_loaded_are_made_anew_and_no_row_is_doubled() {
    let server = Server::shared();
    let (endpoint, dataset) = (server.endpoint(), dataset(4, 3_000));
    load(&endpoint, &dataset, 2).expect("the dataset loads");
    sql(
        &endpoint,
        &[
            "USE sbtest_4x3000",
            &format!("UPDATE {STATE_TABLE} SET state = 'loading' WHERE item = 'sbtest2'"),
            "DELETE FROM sbtest2 WHERE id > 1234",
            "DROP INDEX k_2 ON sbtest2",
            &format!("DELETE FROM {STATE_TABLE} WHERE item = 'sbtest4'"),
            "DROP TABLE sbtest4",
        ],
    );
    let report = load(&endpoint, &dataset, 2).expect("the dataset is completed");
    assert_eq!(report.outcome, LoadOutcome::Completed { tables: 2, rows: 6_000 });
    assert_stored(&endpoint, &dataset);
}

#[test]
fn tables_whose_rows_were_inserted_or_deleted_since_are_made_anew() {
    let server = Server::shared();
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
    let report = load(&endpoint, &dataset, 2).expect("the dataset is completed");
    assert_eq!(report.outcome, LoadOutcome::Completed { tables: 3, rows: 1_500 });
    assert_stored(&endpoint, &dataset);
}

#[test]
fn a_schema_that_holds_something_else_is_refused_and_left_as_it_is() {
    let server = Server::shared();
    let endpoint = server.endpoint();
    let theirs = ["CREATE DATABASE sbtest_2x77", "CREATE TABLE sbtest_2x77.sbtest1 (a INT)"];
    sql(&endpoint, &theirs);
    let error = load(&endpoint, &dataset(2, 77), 1).expect_err("not ours");
    assert!(matches!(error, LoadError::Foreign { .. }), "{error}");
    assert!(error.to_string().contains("it holds `sbtest1`, which gridbench did not make"));
    assert!(error.to_string().contains("DROP DATABASE sbtest_2x77"), "{error}");
    let count = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'sbtest_2x77'";
    assert_eq!(sql(&endpoint, &[count]).as_deref(), Some("1"));

    let ours = dataset(2, 78);
    load(&endpoint, &ours, 1).expect("it loads");
    let other = Dataset { seed: 4, ..ours.clone() };
    let error = load(&endpoint, &other, 1).expect_err("another seed");
    assert!(error.to_string().contains("another fingerprint"), "{error}");
    assert_stored(&endpoint, &ours);
}

#[test]
fn an_empty_schema_is_taken_and_gets_the_datasets_character_set() {
    let server = Server::shared();
    let (endpoint, dataset) = (server.endpoint(), dataset(1, 79));
    sql(&endpoint, &["CREATE DATABASE sbtest_1x79 CHARACTER SET latin1"]);
    load(&endpoint, &dataset, 1).expect("it loads");
    let charset = "SELECT character_set_name FROM information_schema.columns WHERE \
                   table_schema = 'sbtest_1x79' AND table_name = 'sbtest1' AND column_name = 'c'";
    assert_eq!(sql(&endpoint, &[charset]).as_deref(), Some("utf8mb4"));
}

#[test]
fn an_interrupted_load_stops_and_is_completed_later() {
    let server = Server::shared();
    let (endpoint, dataset) = (server.endpoint(), dataset(4, 6_000));
    let interrupt = Interrupt::default();
    let mut observe = |progress: LoadProgress| {
        if progress.stage == LoadStage::Rows {
            interrupt.request();
        }
    };
    let options = LoadOptions { loaders: 2, disk_free: None };
    let error = ensure(&named(&endpoint, &dataset), &dataset, &options, &interrupt, &mut observe);
    assert_eq!(error, Err(LoadError::Interrupted));
    load(&endpoint, &dataset, 2).expect("the dataset is completed");
    assert_stored(&endpoint, &dataset);
}

#[test]
fn a_dataset_that_another_process_loads_is_busy() {
    let server = Server::shared();
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

#[test]
fn an_account_without_privileges_is_told_which_it_needs() {
    let server = Server::shared();
    sql(&server.endpoint(), &["CREATE USER poor@'%' IDENTIFIED BY ''"]);
    let endpoint = Endpoint { user: "poor".into(), ..server.endpoint() };
    let error = load(&endpoint, &dataset(1, 81), 1).expect_err("it may not");
    assert!(matches!(error, LoadError::Denied { .. }), "{error}");
    assert!(error.to_string().contains("GRANT ALL ON `sbtest_1x81`.*"), "{error}");
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
    let server = Server::shared();
    let bad = Dataset { charset: "utf8; DROP DATABASE mysql".into(), ..dataset(1, 82) };
    let error = load(&server.endpoint(), &bad, 1).expect_err("no such character set");
    assert!(matches!(error, LoadError::Charset { .. }), "{error}");
}
