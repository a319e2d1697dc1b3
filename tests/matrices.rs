//! Matrix files in, plans or diagnostics out: snapshots of every file under `tests/matrices/`,
//! properties, and the published pages against their matrices.
//!
//! A file may say in leading comments how it is read: `# set: KEY=VALUE`, `# only: KEY=VALUE`,
//! `# host: CPUS MEMORY`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use gridbench::matrix::{ExpandOptions, Source, expand, parse};
use gridbench::model::{Bytes, Cell, Host, Ladder, Plan, PlannedSpec, ScenarioId, SpecId};
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
    for name in ["full-cache", "large-dataset", "quickstart"] {
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
    fn any_bytes_give_a_matrix_or_diagnostics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
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

#[derive(Debug, Clone)]
enum Edit {
    Replace(u8),
    Remove,
    Insert(String),
    Cut,
}

fn edit() -> impl Strategy<Value = Edit> {
    let words = prop::sample::select(vec![
        "[", "]", "[[spec]]", "=", "\"", "{", "}", "0", "-", "\n", ".", "\u{1b}", "规", "null",
    ]);
    prop_oneof![
        any::<u8>().prop_map(Edit::Replace),
        Just(Edit::Remove),
        words.prop_map(|word| Edit::Insert(word.to_owned())),
        Just(Edit::Cut),
    ]
}

/// A random matrix: numbers of specs and scenarios, levels, exclusions, a selection.
#[derive(Debug, Clone)]
struct Grid {
    specs: usize,
    scenarios: usize,
    levels: Vec<u32>,
    excluded: Vec<Part>,
    only_specs: Vec<usize>,
    only_levels: Vec<usize>,
}

type Part = (Option<usize>, Option<usize>, Option<usize>);

#[derive(Debug, Clone, PartialEq)]
struct Point {
    spec: usize,
    scenario: usize,
    level: u32,
}

impl Point {
    fn id(&self) -> String {
        format!("s{}/w{}/{}", self.spec, self.scenario, self.level)
    }
}

fn grid() -> impl Strategy<Value = Grid> {
    let part = || {
        (0..4usize, 0..4usize, 0..4usize, 1..8u8).prop_map(|(a, b, c, mask)| {
            ((mask & 1 > 0).then_some(a), (mask & 2 > 0).then_some(b), (mask & 4 > 0).then_some(c))
        })
    };
    (
        1..5usize,
        1..5usize,
        prop::collection::btree_set(1..2_000u32, 1..5),
        prop::collection::vec(part(), 0..4),
        prop::collection::vec(0..4usize, 0..3),
        prop::collection::vec(0..4usize, 0..3),
    )
        .prop_map(|(specs, scenarios, levels, excluded, only_specs, only_levels)| Grid {
            specs,
            scenarios,
            levels: levels.into_iter().collect(),
            excluded,
            only_specs,
            only_levels,
        })
}

impl Grid {
    fn text(&self) -> String {
        let mut text = format!(
            "format = 1\nname = \"g\"\ntitle = \"G\"\n[protocol]\nduration = \"1s\"\nwarmup = \"0s\"\n\
             concurrency = {:?}\n[dataset]\nclass = \"larger-than-memory\"\n[[dataset.rule]]\n\
             table_size = 5\ntables = 1\n",
            self.levels
        );
        for spec in 0..self.specs {
            let _ = writeln!(text, "[[spec]]\nid = \"s{spec}\"\ncpu = 1\nmemory = \"1GB\"");
        }
        for scenario in 0..self.scenarios {
            let _ =
                writeln!(text, "[[scenario]]\nid = \"w{scenario}\"\nworkload = \"oltp_delete\"");
        }
        for (spec, scenario, level) in &self.excluded {
            text.push_str("[[exclude]]\nreason = \"r\"\n");
            if let Some(spec) = spec {
                let _ = writeln!(text, "spec = \"s{}\"", spec % self.specs);
            }
            if let Some(scenario) = scenario {
                let _ = writeln!(text, "scenario = \"w{}\"", scenario % self.scenarios);
            }
            if let Some(level) = level {
                let _ = writeln!(text, "concurrency = {}", self.level(*level));
            }
        }
        text
    }

    fn level(&self, index: usize) -> u32 {
        self.levels[index % self.levels.len()]
    }

    fn only(&self) -> Vec<String> {
        let specs = self.only_specs.iter().map(|spec| format!("spec=s{}", spec % self.specs));
        let levels =
            self.only_levels.iter().map(|level| format!("concurrency={}", self.level(*level)));
        specs.chain(levels).collect()
    }

    fn product(&self) -> Vec<Point> {
        let mut points = Vec::new();
        for spec in 0..self.specs {
            for scenario in 0..self.scenarios {
                points.extend(self.levels.iter().map(|&level| Point { spec, scenario, level }));
            }
        }
        points.retain(|point| {
            let mut specs = self.only_specs.iter().map(|spec| spec % self.specs);
            let mut levels = self.only_levels.iter().map(|level| self.level(*level));
            (self.only_specs.is_empty() || specs.any(|spec| spec == point.spec))
                && (self.only_levels.is_empty() || levels.any(|level| level == point.level))
        });
        points
    }

    fn excludes(&self, point: &Point) -> bool {
        self.excluded.iter().any(|(spec, scenario, level)| {
            spec.is_none_or(|spec| spec % self.specs == point.spec)
                && scenario.is_none_or(|scenario| scenario % self.scenarios == point.scenario)
                && level.is_none_or(|level| self.level(level) == point.level)
        })
    }
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
    Host { cpus, cpu_model, memory: Bytes(memory), kernel, disk_free: None }
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

/// Everything that a plan decides, compactly.
fn outline(plan: &Plan) -> String {
    let matrix = &plan.matrix;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} | {} | {:?} | {}",
        matrix.name, matrix.title, matrix.baseline, matrix.template
    );
    let _ = writeln!(text, "{:?}", plan.protocol);
    let _ = writeln!(text, "{} | rehearsal {:?}", plan.class().name(), plan.rehearsal);
    for spec in &plan.specs {
        let _ = writeln!(text, "{}", spec_line(spec));
    }
    for scenario in &matrix.scenarios {
        let _ = writeln!(text, "{} | {:?} | {:?}", scenario.id, scenario.title, scenario.workload);
        let _ = writeln!(text, "  {:?}", scenario.options);
    }
    let _ = writeln!(text, "{} cells, {} trials", plan.cells.len(), plan.trials().len());
    for cell in plan.cells.iter().take(30) {
        let _ = writeln!(text, "  {}", cell.id);
    }
    for (id, exclusion) in &plan.excluded {
        let _ = writeln!(text, "  not {id}: {}", exclusion.reason);
    }
    text
}

fn spec_line(spec: &PlannedSpec) -> String {
    let d = &spec.dataset;
    let skip = spec.skip.as_ref().map_or("", |skip| skip.reason.as_str());
    format!(
        "{} | {} cpus | memory {} pool {} | {} x {} {} seed {} = {} | published {} x {} | {skip}",
        spec.spec.id,
        spec.cpus,
        spec.memory.0,
        spec.buffer_pool.0,
        d.tables,
        d.table_size,
        d.charset,
        d.seed,
        d.planned_bytes().0,
        spec.published_dataset.tables,
        spec.published_dataset.table_size,
    )
}
