//! Whose a schema is: what is refused, what `replace` drops, what `clean` takes away.

use gridbench::load::{
    LoadError, LoadEvent, LoadOptions, LoadOutcome, LoadReport, drop_owned, ensure, find_owned,
    mark_changed,
};
use gridbench::model::{Dataset, Endpoint, Interrupt};

use super::common::Server;
use super::mysql;
use super::{assert_stored, database, dataset, load, named, sql};

/// Loads with `replace`; returns what was named before it was dropped, too.
fn replace(endpoint: &Endpoint, dataset: &Dataset) -> (Result<LoadReport, LoadError>, Vec<String>) {
    let mut dropped = Vec::new();
    let options = LoadOptions { replace: true, ..LoadOptions::default() };
    let report = ensure(endpoint, dataset, &options, &Interrupt::default(), &mut |event| {
        if let LoadEvent::Replacing { tables, .. } = event {
            let count = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '";
            let count = format!("{count}{}'", endpoint.database.as_deref().unwrap_or_default());
            // On a thread of its own: this one is in the midst of loading.
            let all = std::thread::scope(|scope| {
                scope.spawn(|| sql(endpoint, &[&count])).join().expect("an answer")
            });
            let all = all.and_then(|count| count.parse().ok());
            assert_eq!(all, Some(tables.len()), "they are named before they are dropped");
            dropped.extend(tables.to_vec());
        }
    });
    (report, dropped)
}

/// An endpoint whose schema holds what the statements made.
fn schema(server: &Server, name: &str, statements: &[&str]) -> Endpoint {
    let endpoint = server.endpoint();
    let mut all = vec![format!("CREATE DATABASE {name}"), format!("USE {name}")];
    all.extend(statements.iter().map(|text| (*text).to_owned()));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    sql(&endpoint, &all);
    Endpoint { database: Some(name.to_owned()), ..endpoint }
}

fn tables(endpoint: &Endpoint) -> Option<String> {
    let tables = "SELECT GROUP_CONCAT(table_name ORDER BY table_name) FROM \
                  information_schema.tables WHERE table_schema = DATABASE()";
    sql(endpoint, &[tables])
}

#[test]
fn a_schema_that_holds_something_else_is_refused_and_left_as_it_is() {
    for server in mysql::families() {
        let theirs = ["CREATE TABLE sbtest1 (a INT)", "CREATE TABLE orders (a INT)"];
        let endpoint = schema(&server, "theirs", &theirs);
        let options = LoadOptions::default();
        let error =
            ensure(&endpoint, &dataset(2, 77), &options, &Interrupt::default(), &mut |_| {});
        let error = error.expect_err("not ours");
        assert!(matches!(error, LoadError::Foreign { .. }), "{error}");
        assert!(
            error.to_string().contains("it holds tables that gridbench did not make"),
            "{error}"
        );
        assert!(error.to_string().contains("--replace"), "{error}");
        assert_eq!(tables(&endpoint).as_deref(), Some("orders,sbtest1"));
        assert_eq!(find_owned(&endpoint, &dataset(2, 77)), Ok(None));
        assert_eq!(drop_owned(&endpoint, &dataset(2, 77)), Ok(None));
        assert_eq!(tables(&endpoint).as_deref(), Some("orders,sbtest1"));
    }
}

#[test]
fn replace_drops_the_tables_of_the_schema_after_naming_them_and_nothing_else() {
    for server in mysql::families() {
        let theirs = [
            "CREATE TABLE parents (id INT PRIMARY KEY)",
            "CREATE TABLE children (id INT, FOREIGN KEY (id) REFERENCES parents (id))",
            "CREATE TABLE sbtest1 (a INT)",
            "CREATE VIEW seen AS SELECT 1",
            "CREATE PROCEDURE run() SELECT 1",
        ];
        let endpoint = schema(&server, "replaced", &theirs);
        let neighbour = schema(&server, "neighbour", &["CREATE TABLE parents (id INT)"]);
        // The view is no table: it is neither named nor dropped.
        sql(&endpoint, &["DROP VIEW seen"]);
        let ours = dataset(1, 76);
        let (report, mut dropped) = replace(&endpoint, &ours);
        assert_eq!(report.expect("it loads").outcome, LoadOutcome::Loaded { rows: 76 });
        dropped.sort();
        assert_eq!(dropped, ["children", "parents", "sbtest1"]);
        assert_eq!(tables(&endpoint).as_deref(), Some("gridbench_dataset,sbtest1"));
        assert_eq!(tables(&neighbour).as_deref(), Some("parents"));
        let programs = "SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = \
                    'replaced'";
        assert_eq!(sql(&endpoint, &[programs]).as_deref(), Some("1"));

        let (report, dropped) = replace(&endpoint, &ours);
        assert_eq!(report.expect("it stands").outcome, LoadOutcome::Reused);
        assert!(dropped.is_empty(), "nothing is dropped of what is asked for: {dropped:?}");
    }
}

#[test]
fn a_dataset_of_another_shape_is_told_with_both_shapes_and_replaced_only_when_asked() {
    for server in mysql::families() {
        let endpoint = Endpoint { database: Some("shapes".into()), ..server.endpoint() };
        let (small, large) = (dataset(3, 25), dataset(2, 80));
        let options = LoadOptions::default();
        let interrupt = Interrupt::default();
        ensure(&endpoint, &small, &options, &interrupt, &mut |_| {}).expect("it loads");
        let error = ensure(&endpoint, &large, &options, &interrupt, &mut |_| {});
        let error = error.expect_err("another shape").to_string();
        let words = "asked 2 tables x 80 rows, utf8mb4, seed 20251210; found 3 tables x 25 rows, \
                 utf8mb4, seed 20251210";
        assert!(error.contains(words), "{error}");
        let (report, mut dropped) = replace(&endpoint, &large);
        assert_eq!(report.expect("it loads").outcome, LoadOutcome::Loaded { rows: 160 });
        dropped.sort();
        assert_eq!(dropped, ["gridbench_dataset", "sbtest1", "sbtest2", "sbtest3"]);
        assert_eq!(tables(&endpoint).as_deref(), Some("gridbench_dataset,sbtest1,sbtest2"));
    }
}

#[test]
fn a_changed_dataset_is_used_and_told_of_or_made_anew() {
    for server in mysql::families() {
        let (endpoint, dataset) = (server.endpoint(), dataset(2, 900));
        let report = load(&endpoint, &dataset, 2).expect("it loads");
        assert_eq!(report.changed_by, None);
        let endpoint = named(&endpoint, &dataset);
        mark_changed(&endpoint, &dataset, "run a, cell b").expect("it is marked");
        mark_changed(&endpoint, &dataset, "run it's, cell 2").expect("it is marked");
        sql(&endpoint, &["UPDATE sbtest1 SET k = k + 1 WHERE id = 5"]);

        let never = LoadOptions::default();
        let report = ensure(&endpoint, &dataset, &never, &Interrupt::default(), &mut |_| {});
        let report = report.expect("it stands");
        assert_eq!(report.outcome, LoadOutcome::Reused);
        assert_eq!(report.changed_by.as_deref(), Some("run a, cell b"), "the first one stays");

        let refresh = LoadOptions { refresh: true, ..never };
        let report = ensure(&endpoint, &dataset, &refresh, &Interrupt::default(), &mut |_| {});
        let report = report.expect("it loads");
        assert_eq!(
            (report.outcome, report.changed_by),
            (LoadOutcome::Loaded { rows: 1_800 }, None)
        );
        assert_stored(&server.endpoint(), &dataset);
        let report = ensure(&endpoint, &dataset, &refresh, &Interrupt::default(), &mut |_| {});
        assert_eq!(report.expect("it stands").outcome, LoadOutcome::Reused);
    }
}

#[test]
fn clean_takes_away_what_gridbench_made_and_leaves_what_it_did_not() {
    for server in mysql::families() {
        let (endpoint, ours) = (server.endpoint(), dataset(2, 901));
        let endpoint = named(&endpoint, &ours);
        assert_eq!(find_owned(&endpoint, &ours), Ok(None), "there is no such schema");
        load(&endpoint, &ours, 1).expect("it loads");
        sql(&endpoint, &["CREATE TABLE sbtest3 (a INT)"]);
        let owned = drop_owned(&endpoint, &ours).expect("it may").expect("it is there");
        let names: Vec<&str> = owned.tables.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(names, ["sbtest1", "sbtest2", "gridbench_dataset"]);
        assert_eq!(owned.tables[0].rows, Some(901));
        assert!(!owned.is_schema_dropped, "something else is in it");
        assert_eq!(tables(&endpoint).as_deref(), Some("sbtest3"));

        sql(&endpoint, &["DROP TABLE sbtest3", &format!("DROP DATABASE {}", database(&ours))]);
        load(&endpoint, &ours, 1).expect("it loads");
        let found = find_owned(&endpoint, &ours).expect("it may").expect("it is there");
        assert_eq!(found.shape.as_deref(), Some("2 tables x 901 rows, utf8mb4, seed 20251210"));
        assert!(found.is_schema_dropped, "gridbench created it");
        assert_stored(&endpoint, &ours);
        assert_eq!(drop_owned(&endpoint, &ours), Ok(Some(found)));
        let schemas = "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name LIKE \
                   'sbtest_2x901'";
        assert_eq!(sql(&server.endpoint(), &[schemas]).as_deref(), Some("0"));
    }
}

#[test]
fn what_stands_beside_the_dataset_is_told_and_a_view_under_its_name_refused() {
    for server in mysql::families() {
        let (endpoint, ours) = (server.endpoint(), dataset(2, 903));
        let endpoint = named(&endpoint, &ours);
        load(&endpoint, &ours, 1).expect("it loads");
        let beside = ["CREATE TABLE orders (a INT)", "CREATE TABLE sbtest3 (a INT)"];
        sql(&endpoint, &beside);
        sql(&endpoint, &["CREATE VIEW seen AS SELECT * FROM orders"]);
        let (options, interrupt) = (LoadOptions::default(), Interrupt::default());
        let mut told = Vec::new();
        let report = ensure(&endpoint, &ours, &options, &interrupt, &mut |event| {
            if let LoadEvent::Beside { names, .. } = event {
                told.extend(names.to_vec());
            }
        });
        assert_eq!(report.expect("it stands").outcome, LoadOutcome::Reused);
        assert_eq!(told, ["orders", "sbtest3", "view seen"]);

        let swap = ["RENAME TABLE sbtest2 TO old", "CREATE VIEW sbtest2 AS SELECT * FROM old"];
        sql(&endpoint, &swap);
        let error = load(&endpoint, &ours, 1).expect_err("a view").to_string();
        assert!(error.contains("`sbtest2` in it is a view and no table"), "{error}");
    }
}

#[test]
fn another_dataset_in_the_schema_is_told_with_its_fingerprint_and_stays() {
    for server in mysql::families() {
        let endpoint = Endpoint { database: Some("lodger".into()), ..server.endpoint() };
        let (lodger, ours) = (dataset(1, 31), dataset(1, 32));
        let (options, interrupt) = (LoadOptions::default(), Interrupt::default());
        ensure(&endpoint, &lodger, &options, &interrupt, &mut |_| {}).expect("it loads");
        let found = drop_owned(&endpoint, &ours).expect("it may").expect("something is there");
        assert!(!found.is_asked);
        assert_eq!(found.shape.as_deref(), Some("1 table x 31 rows, utf8mb4, seed 20251210"));
        assert_eq!(tables(&endpoint).as_deref(), Some("gridbench_dataset,sbtest1"));
        let theirs = find_owned(&endpoint, &lodger).expect("it may").expect("it is there");
        assert!(theirs.is_asked && theirs.fingerprint == found.fingerprint);
        assert_eq!(theirs.fingerprint.len(), 64);
        assert_eq!(drop_owned(&endpoint, &lodger), Ok(Some(theirs)));
    }
}
