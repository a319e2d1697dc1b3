//! Matrix files in, plans or diagnostics out: snapshots of every file under `tests/matrices/`,
//! properties, and the published pages against their matrices.
//!
//! A file may say in leading comments how it is read: `# set: KEY=VALUE`, `# only: KEY=VALUE`,
//! `# host: CPUS MEMORY`.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

#[path = "matrices/grid.rs"]
mod grid;
#[path = "matrices/outline.rs"]
mod outline;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use grid::{Edit, Point, edit, grid};
use gridbench::matrix::{ExpandOptions, Source, expand, parse};
use gridbench::model::{Bytes, Cell, Host, Ladder, Plan, ScenarioId, SpecId};
use outline::outline;
use proptest::prelude::*;

#[test]
fn every_valid_file_gives_its_plan() {
    each_file("matrices/valid", |path, result| {
        result.unwrap_or_else(|faults| panic!("{}: {faults}", path.display()))
    });
}

#[test]
fn every_invalid_file_gives_all_its_faults() {
    each_file("matrices/invalid", |path, result| match result {
        Ok(plan) => panic!("{} is valid: {plan}", path.display()),
        Err(faults) => faults,
    });
}

#[test]
fn the_matrices_of_this_repository_give_their_plans() {
    for name in ["full-cache", "large-dataset", "quickstart", "transfer"] {
        for rehearse in [false, true] {
            let host = Some(host(2, 24 * Bytes::GB));
            let options = ExpandOptions { rehearse, host, ..ExpandOptions::default() };
            let plan = expand(repository_matrix(name, &[]), &options).unwrap();
            let suffix = if rehearse { "rehearsed" } else { "measured" };
            snapshot(&format!("{name}-{suffix}"), &outline(&plan));
        }
    }
}

#[test]
fn a_file_that_is_not_utf8_is_refused_at_its_first_bad_byte() {
    let mut bytes = b"format = 1\ntitle = \"".to_vec();
    bytes.extend([0xff, 0xfe, b'"', b'\n']);
    let faults = parse(&Source { name: "latin1.toml", bytes: &bytes }, &[]).unwrap_err();
    assert_eq!(faults.count(), 1);
    snapshot("not-utf8", &faults.render(false));
}

#[test]
fn a_file_of_ten_megabytes_is_refused_unread() {
    let bytes = b"# padding\n".repeat(1_000_000);
    let faults = parse(&Source { name: "huge.toml", bytes: &bytes }, &[]).unwrap_err();
    snapshot("ten-megabytes", &faults.render(false));
}

#[test]
fn the_published_cells_are_exactly_the_plan_of_their_matrix() {
    for name in ["full-cache", "large-dataset"] {
        let published = published(name);
        assert_eq!(published.len(), 70);
        let overrides = ["protocol.concurrency=published".to_owned()];
        let concurrency = |row: &PublishedRow| ((row.spec(), row.scenario()), row.concurrency);
        let options = ExpandOptions {
            published: published.iter().map(concurrency).collect(),
            ..ExpandOptions::default()
        };
        let plan = expand(repository_matrix(name, &overrides), &options).unwrap();
        let planned_cell = |cell: &Cell| {
            let dataset = &plan.spec(cell).published_dataset;
            (cell.id.to_string(), dataset.table_size, dataset.tables)
        };
        let planned: BTreeSet<_> = plan.cells.iter().map(planned_cell).collect();
        let printed: BTreeSet<_> = published.iter().map(PublishedRow::cell).collect();
        assert_eq!(planned, printed, "{name}");
        assert_eq!(plan.cells.len(), 70);
    }
}

#[test]
fn the_published_concurrencies_are_levels_of_the_ladder() {
    for name in ["full-cache", "large-dataset"] {
        let matrix = repository_matrix(name, &[]);
        let Ladder::Levels(levels) = &matrix.protocol.concurrency else { panic!("a ladder") };
        for row in published(name) {
            assert!(levels.contains(&row.concurrency), "{name}: {}", row.concurrency);
        }
    }
}

#[test]
fn gridbench_plan_prints_specs_scenarios_and_budgets() {
    let (code, stdout, stderr) = gridbench_plan(&["matrices/large-dataset.toml"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    snapshot("command-table", &stdout);
    let rehearsed = ["matrices/full-cache.toml", "--rehearse", "--only=spec=2c4g"];
    snapshot("command-table-rehearsed", &gridbench_plan(&rehearsed).1);
}

#[test]
fn gridbench_plan_prints_every_cell_as_csv_and_as_json() {
    let excluding = "exclude=[{concurrency=32, reason=\"too few, it \\\"says\\\"\"}]";
    let arguments = ["matrices/quickstart.toml", "--set", "protocol.concurrency=[8, 32]"];
    let (code, csv, _) =
        gridbench_plan(&[&arguments[..], &["--set", excluding, "--format=csv"]].concat());
    assert_eq!(code, 0);
    snapshot("command-csv", &csv);
    let (code, json, _) = gridbench_plan(&["matrices/full-cache.toml", "--format=json"]);
    assert_eq!(code, 0);
    let plan: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(plan["cells"].as_array().unwrap().len(), 490);
    assert_eq!(plan["cells"][489]["spec"], "88c710g");
    assert_eq!(plan["specs"][0]["planned_bytes"], 1_531_250_000);
    assert_eq!(plan["protocol"]["duration_ms"], 600_000);
    assert_eq!(plan["rehearsal_factor"], serde_json::Value::Null);
}

#[test]
fn gridbench_plan_says_what_is_wrong_with_the_input_and_exits_2() {
    let wrong = [
        (vec!["matrices/absent.toml"], "absent.toml"),
        (vec!["matrices"], "is a directory"),
        (vec!["tests/matrices/invalid/empty.toml"], "is empty"),
        (vec!["tests/matrices/invalid/duplicate-spec.toml"], "declared twice"),
        (vec!["matrices/quickstart.toml", "--set", "protocol.warmup=5"], "without a unit"),
        (vec!["matrices/quickstart.toml", "--only", "spec=2c2"], "did you mean `2c2g`?"),
    ];
    for (arguments, expected) in wrong {
        let (code, stdout, stderr) = gridbench_plan(&arguments);
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
}

/// The budgets of a rehearsal on two cores, by arithmetic: loading at 100,000 rows a second and
/// 15 ms a table, 2.5 s for each server, 0.3 s for each trial beside its windows.
#[test]
fn both_published_matrices_rehearse_within_their_budgets() {
    let hosts = [None, Some(host(2, 8 * Bytes::GB)), Some(host(2, 24 * Bytes::GB))];
    for (name, budget_s) in [("full-cache", 300.0), ("large-dataset", 480.0)] {
        for host in &hosts {
            let plan = rehearsed(name, host.clone());
            let rows: u64 = plan.datasets().iter().map(|dataset| dataset.rows()).sum();
            let tables: u32 = plan.datasets().iter().map(|dataset| dataset.tables).sum();
            let trials = plan.trials().len() as f64;
            let seconds = rows as f64 / 100_000.0
                + f64::from(tables) * 0.015
                + plan.specs.len() as f64 * 2.5
                + plan.measuring_time().as_secs_f64()
                + trials * 0.3;
            assert!(seconds <= budget_s, "{name}: {seconds:.0} s, {rows} rows");
            assert_eq!(plan.cells.len(), 14 * 5 * 2);
        }
    }
}

#[test]
fn a_rehearsal_keeps_the_class_and_the_order_of_data_and_pool() {
    for host in [None, Some(host(2, 8 * Bytes::GB)), Some(host(4, 64 * Bytes::GB))] {
        for spec in rehearsed("full-cache", host.clone()).specs {
            let overhead = u64::from(spec.dataset.tables) * 131_072;
            assert!(spec.dataset.planned_bytes() <= spec.buffer_pool, "{spec:?}");
            assert!(spec.buffer_pool.0 >= overhead, "{spec:?}");
        }
        for spec in rehearsed("large-dataset", host).specs {
            assert!(spec.buffer_pool.0 >= 6 * 1_048_576, "{spec:?}");
            let published_pool = spec.spec.buffer_pool();
            let was_larger = spec.published_dataset.planned_bytes() > published_pool;
            assert!(was_larger && spec.dataset.planned_bytes() > spec.buffer_pool, "{spec:?}");
            let ratio = |data: Bytes, pool: Bytes| data.0 as f64 / pool.0 as f64;
            let kept = ratio(spec.dataset.planned_bytes(), spec.buffer_pool)
                / ratio(spec.published_dataset.planned_bytes(), published_pool);
            assert!((0.99..1.02).contains(&kept), "{}: {kept}", spec.spec.id);
        }
    }
}

#[test]
fn a_rehearsal_of_one_spec_has_the_scale_of_the_whole() {
    let whole = rehearsed("full-cache", None);
    let options = ExpandOptions {
        only: vec!["spec=2c4g".into(), "concurrency=1500".into()],
        rehearse: true,
        ..ExpandOptions::default()
    };
    let part = expand(repository_matrix("full-cache", &[]), &options).unwrap();
    assert_eq!(part.rehearsal, whole.rehearsal);
    assert_eq!(part.specs[0], whole.specs[0]);
    assert_eq!(part.cells.len(), 5);
    assert!(part.cells.iter().all(|cell| cell.id.concurrency == 1500));
}

proptest! {
    #[test]
    fn any_bytes_give_a_matrix_or_diagnostics(
        bytes in proptest::collection::vec(any::<u8>(), 0..400)
    ) {
        if let Err(faults) = parse(&Source { name: "any", bytes: &bytes }, &[]) {
            prop_assert!(!faults.render(true).is_empty());
        }
    }

    #[test]
    fn any_override_gives_a_matrix_or_diagnostics(text in "[a-z.0]{0,12}=?\\PC{0,20}") {
        let bytes = repository_file("quickstart");
        if let Err(faults) = parse(&Source { name: "q", bytes: &bytes }, &[text]) {
            prop_assert!(!faults.to_string().is_empty());
        }
    }

    #[test]
    fn a_mutated_matrix_gives_a_matrix_or_diagnostics(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), edit()), 1..8)
    ) {
        let mut bytes = repository_file("large-dataset");
        for (index, edit) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = index.index(bytes.len());
            match edit {
                Edit::Replace(byte) => bytes[at] = byte,
                Edit::Remove => drop(bytes.remove(at)),
                Edit::Insert(text) => drop(bytes.splice(at..at, text.bytes())),
                Edit::Cut => bytes.truncate(at.max(1)),
            }
        }
        match parse(&Source { name: "mutated", bytes: &bytes }, &[]) {
            Ok(matrix) => drop(expand(matrix, &ExpandOptions::default())),
            Err(faults) => prop_assert!(!faults.to_string().is_empty()),
        }
    }

    #[test]
    fn expansion_is_the_product_less_what_is_excluded(grid in grid()) {
        let matrix = parse(&Source { name: "grid", bytes: grid.text().as_bytes() }, &[]).unwrap();
        let options = ExpandOptions { only: grid.only(), ..ExpandOptions::default() };
        let all = grid.product();
        let expected: Vec<String> =
            all.iter().filter(|cell| !grid.excludes(cell)).map(Point::id).collect();
        match expand(matrix.clone(), &options) {
            Ok(plan) => {
                let ids: Vec<String> = plan.cells.iter().map(|cell| cell.id.to_string()).collect();
                prop_assert_eq!(&ids, &expected);
                prop_assert_eq!(plan.excluded.len(), all.len() - expected.len());
                prop_assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
                for cell in &plan.cells {
                    prop_assert_eq!(&plan.spec(cell).spec.id, &cell.id.spec);
                    prop_assert_eq!(&plan.scenario(cell).id, &cell.id.scenario);
                }
                prop_assert_eq!(expand(matrix, &options).unwrap(), plan);
            }
            Err(error) => prop_assert!(expected.is_empty(), "{}", error),
        }
    }
}

/// Exit code, stdout and stderr of `gridbench plan`, with servers elsewhere: then nothing in the
/// output depends on this host.
fn gridbench_plan(arguments: &[&str]) -> (i32, String, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_gridbench"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg("plan")
        .args(arguments)
        .args(["--targets", "tests/matrices/targets.toml"])
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[derive(Debug, serde::Deserialize)]
struct PublishedRow {
    scenario: String,
    cpu: u32,
    memory_gb: u64,
    concurrency: u32,
    table_size: u64,
    tables: u32,
}

impl PublishedRow {
    fn spec(&self) -> SpecId {
        SpecId::new(&format!("{}c{}g", self.cpu, self.memory_gb)).unwrap()
    }

    fn scenario(&self) -> ScenarioId {
        ScenarioId::new(&self.scenario).unwrap()
    }

    fn cell(&self) -> (String, u64, u32) {
        let id = format!("{}/{}/{}", self.spec(), self.scenario, self.concurrency);
        (id, self.table_size, self.tables)
    }
}

fn published(name: &str) -> Vec<PublishedRow> {
    let path = repository(&format!("results/baselines/tdsql-c-2025-12/{name}.csv"));
    let mut reader = csv::Reader::from_path(&path).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

fn repository(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn repository_file(name: &str) -> Vec<u8> {
    std::fs::read(repository(&format!("matrices/{name}.toml"))).unwrap()
}

fn repository_matrix(name: &str, overrides: &[String]) -> gridbench::model::Matrix {
    let bytes = repository_file(name);
    parse(&Source { name, bytes: &bytes }, overrides).unwrap_or_else(|faults| panic!("{faults}"))
}

fn rehearsed(name: &str, host: Option<Host>) -> Plan {
    let options = ExpandOptions { rehearse: true, host, ..ExpandOptions::default() };
    expand(repository_matrix(name, &[]), &options).unwrap()
}

fn host(cpus: u32, memory: u64) -> Host {
    let (cpu_model, kernel) = ("a processor".to_owned(), "a kernel".to_owned());
    Host {
        cpus,
        cpu_model,
        memory: Bytes(memory),
        governor: None,
        cpu_quota_milli: None,
        kernel,
        disk_free: None,
    }
}

fn each_file(folder: &str, expected: fn(&Path, Result<String, String>) -> String) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("matrices/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.remove_input_file();
    let mut paths: Vec<_> = std::fs::read_dir(repository("tests").join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{folder} has files");
    settings.bind(|| {
        for path in paths {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let kind = folder.rsplit('/').next().unwrap();
            let text = expected(&path, result_of(&path));
            insta::assert_snapshot!(format!("{kind}-{name}"), text);
        }
    });
}

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("matrices/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// A file read as its leading comments say: its plan as text, or what is wrong with it.
fn result_of(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let directives = directives(&String::from_utf8_lossy(&bytes));
    let of = |key: &str| directives.get(key).cloned().unwrap_or_default();
    let matrix = parse(&Source { name, bytes: &bytes }, &of("set"))
        .map_err(|faults| faults.render(false))?;
    let host = of("host").first().map(|text| {
        let (cpus, memory) = text.split_once(' ').unwrap();
        let gigabytes: u64 = memory.trim_end_matches("GB").parse().unwrap();
        host(cpus.parse().unwrap(), gigabytes * Bytes::GB)
    });
    let options = ExpandOptions { only: of("only"), host, ..ExpandOptions::default() };
    expand(matrix, &options).map(|plan| outline(&plan)).map_err(|error| error.to_string())
}

fn directives(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut directives: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in text.lines().map_while(|line| line.strip_prefix("# ")) {
        if let Some((key, value)) = line.split_once(": ") {
            directives.entry(key.to_owned()).or_default().push(value.to_owned());
        }
    }
    directives
}
