//! Numbers in files become baselines: sysbench's output, CSV files, and pages of our own.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gridbench::model::ResultSet;
use gridbench::store::baseline;

struct Workspace(tempfile::TempDir);

impl Workspace {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn gridbench(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridbench"));
        command.args(arguments).current_dir(self.0.path()).output().unwrap()
    }

    /// Runs it to a good end, and returns what it printed.
    fn done(&self, arguments: &[&str]) -> String {
        let output = self.gridbench(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {error}");
        String::from_utf8(output.stdout).unwrap() + &error
    }

    /// Runs it to exit code 2, and returns what it said.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.gridbench(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        error
    }

    fn read(&self, name: &str) -> ResultSet {
        baseline::read(&self.0.path().join("results"), name).unwrap()
    }
}

/// A kept output of the real program.
fn output(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sysbench_outputs");
    folder.join(format!("{name}.txt"))
}

fn import<'a>(files: &'a [&str], more: &'a [&str]) -> Vec<&'a str> {
    let head = ["baseline", "import", "sysbench"];
    head.iter().chain(files).chain(more).copied().collect()
}

/// A report of ten seconds as 1.0.20 prints it: so many queries a second, read-only range by its
/// mix.
fn report(threads: u32, qps: u32) -> String {
    let (events, queries) = (qps * 10 / 16, qps * 10);
    let (read, other, tps) = (events * 14, events * 2, events / 10);
    format!(
        "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\n\
         Running the test with following options:\nNumber of threads: {threads}\n\n\
         Threads started!\n\nSQL statistics:\n    queries performed:\n        read:   {read}\n\
         \x20       write:  0\n        other:  {other}\n        total:  {queries}\n    \
         transactions:  {events}  ({tps}.00 per sec.)\n    \
         queries:  {queries}  ({qps}.00 per sec.)\n    \
         ignored errors:  0  (0.00 per sec.)\n    reconnects:  0  (0.00 per sec.)\n\n\
         General statistics:\n    total time:   10.0000s\n    \
         total number of events:  {events}\n\n\
         Latency (ms):\n         min:  0.5\n         avg:  9.1\n         max:  33.7\n"
    )
}

const DATASET: [&str; 6] = ["--tables", "250", "--table-size", "25000", "--as", "mine/cached"];

#[test]
fn a_folder_of_outputs_becomes_a_baseline_by_the_names_of_its_files() {
    let workspace = Workspace::new();
    for (spec, threads, qps) in [("2c4g", 32, 500), ("2c4g", 64, 900), ("4c8g", 64, 1_700)] {
        let name = format!("out/{spec}-read-only-range-{threads}.txt");
        workspace.write(&name, &report(threads, qps));
    }
    let files = [
        "out/2c4g-read-only-range-32.txt",
        "out/2c4g-read-only-range-64.txt",
        "out/4c8g-read-only-range-64.txt",
    ];
    let pattern = ["--name-pattern", "{spec}-{scenario}-{concurrency}.txt"];
    let words = ["--title", "All \"cached\"", "--date", "2026-04-01", "--origin", "Operations"];
    let said = workspace.done(&import(&files, &[&pattern[..], &words, &DATASET].concat()));
    assert!(said.contains("mine/cached: 2 cells, kept in results/baselines/mine"), "{said}");
    assert!(said.contains("2c4g/read-only-range: the peak of 2 levels, at 64"), "{said}");
    let cells: Vec<_> = workspace
        .read("mine/cached")
        .cells
        .iter()
        .map(|cell| (cell.spec.to_string(), cell.concurrency.unwrap(), cell.qps.unwrap().0))
        .collect();
    assert_eq!(cells, [("2c4g".into(), 64, 900_000), ("4c8g".into(), 64, 1_700_000)]);
    let list = workspace.done(&["baseline", "list"]);
    assert!(list.contains("mine/cached") && list.contains("2026-04-01"), "{list}");
    let shown = workspace.done(&["baseline", "show", "mine"]);
    assert!(shown.contains("Measured with sysbench 1.0.20."), "{shown}");
    let page = workspace.done(&["render", "mine/cached"]);
    assert!(page.contains("All \"cached\"") && page.contains("published by Operations"), "{page}");
    let diff = workspace.done(&["diff", "mine/cached", "mine/cached"]);
    assert!(diff.contains("Geometric mean of 2 ratios: 1.0000"), "{diff}");
}

#[test]
fn what_cannot_be_read_is_named_and_nothing_is_written_unless_asked() {
    let workspace = Workspace::new();
    workspace.write("a.txt", &report(64, 900));
    workspace.write("b.txt", &report(32, 500)[..200]);
    workspace.write("c.txt", "no output of any program\n");
    workspace.write("d.txt", &report(32, 500).replace("(500.00 per", "(999999.00 per"));
    let files = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"];
    let more = [&DATASET[..], &["--spec", "2c4g", "--scenario", "read-write-range"]].concat();
    let said = workspace.refused(&import(&files, &more));
    for part in [
        "a.txt:8: 16.0 queries an event, and `read-write-range` sends 20",
        "b.txt:",
        "c.txt: there is no output of sysbench in it",
        "d.txt:8: the queries and the total time of this report make another rate",
        "e.txt: cannot be read",
        "nothing was written; --skip-unreadable",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!workspace.0.path().join("results").exists());
    let more = [&DATASET[..], &["--spec", "2c4g", "--skip-unreadable"]].concat();
    let said = workspace.done(&import(&files[..3], &more));
    assert!(said.contains("left out: b.txt:") && said.contains("1 cell, kept"), "{said}");
}

#[test]
fn a_name_is_not_overwritten_without_replace() {
    let workspace = Workspace::new();
    workspace.write("a.txt", &report(64, 900));
    workspace.write("b.txt", &report(64, 700));
    let more = [&DATASET[..], &["--spec", "2c4g"]].concat();
    workspace.done(&import(&["a.txt"], &more));
    let said = workspace.refused(&import(&["b.txt"], &more));
    assert!(said.contains("add --replace"), "{said}");
    assert_eq!(workspace.read("mine/cached").cells[0].qps.unwrap().0, 900_000);
    workspace.done(&import(&["b.txt"], &[&more[..], &["--replace"]].concat()));
    assert_eq!(workspace.read("mine/cached").cells[0].qps.unwrap().0, 700_000);
}

#[test]
fn outputs_of_the_real_program_are_imported_or_told_why_not() {
    let workspace = Workspace::new();
    let common = ["--as", "real/all", "--spec", "2c4g", "--tables", "2", "--table-size", "1000"];
    for (name, scenario) in [
        ("intervals", "read-only-range"),
        ("histogram", "read-only-range"),
        ("rate", "read-only-point"),
        ("errors", "read-write-point"),
        ("reconnects", "read-only-range"),
        ("checkpoints", "read-only-range"),
        ("write-only", "write-only"),
        ("two-levels", "read-only-range"),
        ("windows-lines", "read-only-range"),
        ("version-1.1", "read-write-range"),
    ] {
        let path = output(name);
        let more = ["--scenario", scenario, "--replace"];
        workspace.done(&import(&[path.to_str().unwrap()], &[&common[..], &more].concat()));
        let cell = &workspace.read("real/all").cells[0];
        assert_eq!(cell.scenario.as_str(), scenario, "{name}");
    }
    for (name, part) in [
        ("killed", "the output ends before the report"),
        ("cut-in-a-line", "--partial takes the mean of its"),
        ("server-killed", "this run failed"),
        ("cannot-connect", "is the server up"),
        ("prepared-statements", "max_prepared_stmt_count"),
        ("too-many-connections", "max_connections"),
    ] {
        let path = output(name);
        let more = ["--scenario", "read-only-range", "--replace"];
        let said =
            workspace.refused(&import(&[path.to_str().unwrap()], &[&common[..], &more].concat()));
        assert!(said.contains(part), "{name}: {said}");
    }
    // What such a number is worth stands in the set.
    for (name, scenario, words) in [
        ("killed", "read-only-range", "cut off; the number is the mean"),
        ("rate", "read-only-point", "what was asked for"),
    ] {
        let (path, table) = (output(name), format!("{name}/all"));
        let more = ["--as", &table, "--scenario", scenario, "--partial"];
        workspace.done(&import(&[path.to_str().unwrap()], &[&common[2..], &more].concat()));
        assert!(workspace.read(&table).cells[0].qps.unwrap().0 > 0);
        let shown = workspace.done(&["baseline", "show", name]);
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(words), "{shown}");
    }
}

#[test]
fn a_command_line_in_the_text_says_scenario_and_dataset() {
    let workspace = Workspace::new();
    let path = output("shell-trace");
    let more = ["--as", "real/trace", "--spec", "2c4g"];
    workspace.done(&import(&[path.to_str().unwrap()], &more));
    let cell = &workspace.read("real/trace").cells[0];
    assert_eq!((cell.scenario.as_str(), cell.tables), ("read-only-point", 2));
    assert_eq!((cell.table_size, cell.concurrency), (1_000, Some(4)));
}

#[test]
fn a_csv_file_is_read_by_a_map_of_its_columns() {
    let workspace = Workspace::new();
    workspace.write(
        "sheet.csv",
        "Size;Threads;QPS;Remark\n2C4G;64;\"44,613.74\";\n4C8G;128;57000;fast\n4C8G;256;x;\n",
    );
    let map = ["--map", "spec=Size,concurrency=Threads,qps=QPS", "--delimiter", ";"];
    let fill = ["--scenario", "write-only"];
    let head = ["baseline", "import", "csv", "sheet.csv"];
    let all = [&head[..], &map, &fill, &DATASET].concat();
    let said = workspace.refused(&all);
    assert!(said.contains("sheet.csv:4: qps: `x` is no rate"), "{said}");
    workspace.done(&[&all[..], &["--skip-unreadable"]].concat());
    let cells: Vec<_> = workspace
        .read("mine/cached")
        .cells
        .iter()
        .map(|cell| (cell.spec.to_string(), cell.qps.unwrap().0))
        .collect();
    assert_eq!(cells, [("2c4g".into(), 44_613_740), ("4c8g".into(), 57_000_000)]);
    let bad = [&head[..], &["--map", "qps=Rate"], &fill, &DATASET].concat();
    let said = workspace.refused(&bad);
    assert!(said.contains("there is no column `Rate`; there is Size;Threads"), "{said}");
}

#[test]
fn a_rendered_baseline_is_imported_as_the_same_cells() {
    let workspace = Workspace::new();
    for table in ["full-cache", "large-dataset"] {
        let name = format!("tdsql-c-2025-12/{table}");
        let published = workspace.read(&name);
        for (layout, format) in [
            ("tdsql-c-en", "md"),
            ("tdsql-c-en", "html"),
            ("tdsql-c-zh", "md"),
            ("tdsql-c-zh", "html"),
        ] {
            let page = format!("{table}-{layout}.{format}");
            let render = ["render", &name, "--template", layout, "--format", format];
            workspace.done(&[&render[..], &["--output", &page]].concat());
            let kept = format!("copy/{table}-{layout}-{format}");
            let import = ["baseline", "import", "page", &page, "--as", &kept];
            workspace.done(&[&import[..], &["--template", &published.template]].concat());
            let copy = workspace.read(&kept);
            assert_eq!(copy, ResultSet { name: kept, ..published.clone() }, "{page}");
        }
    }
}

#[test]
fn a_page_that_breaks_off_is_told_with_its_last_line() {
    let workspace = Workspace::new();
    for (format, end) in [("md", "50732"), ("html", "50732"), ("html", "</table>")] {
        let whole = workspace.done(&["render", "tdsql-c-2025-12/full-cache", "--format", format]);
        let page = format!("cut.{format}");
        let kept = whole.rfind(end).unwrap() + end.len();
        workspace.write(&page, &whole[..kept]);
        let said = workspace.refused(&["baseline", "import", "page", &page, "--as", "a/b"]);
        let line = whole[..kept].lines().count();
        assert!(said.contains(&format!("{page}:{line}: the page breaks off here")), "{said}");
    }
}

#[test]
fn a_page_without_a_known_table_is_told() {
    let workspace = Workspace::new();
    workspace.write("a.md", "# A\n\n## Scenario 1: Odd\n\n| a | b |\n|---|---|\n| 1 | 2 |\n");
    let said = workspace.refused(&["baseline", "import", "page", "a.md", "--as", "a/b"]);
    assert!(said.contains("no table with the columns Specification"), "{said}");
    workspace.write(
        "b.md",
        "# B\n\n## Scenario 1: Odd\n\n| 规格 | 并发 | 单表数据量(table_size) | 表总数(tables) | QPS |\n\
         | --- | --- | --- | --- | --- |\n| 2核4GB | 64 | 25000 | 250 | 5 |\n",
    );
    let said = workspace.refused(&["baseline", "import", "page", "b.md", "--as", "a/b"]);
    assert!(said.contains("b.md:5: the heading `Scenario 1: Odd` names no scenario"), "{said}");
}

#[test]
fn a_flag_that_the_text_or_the_name_contradicts_overrules_nobody() {
    let workspace = Workspace::new();
    workspace.write("2c4g-a.txt", &report(64, 900));
    let pattern = ["--name-pattern", "{spec}-{*}.txt"];
    let flags = ["--concurrency", "32", "--spec", "4c8g"];
    let said =
        workspace.refused(&import(&["2c4g-a.txt"], &[&DATASET[..], &pattern, &flags].concat()));
    let expected = "2c4g-a.txt:1: --spec says 4c8g, and the name 2c4g; --concurrency says 32 \
                    connections, and the text 64: one of them is wrong";
    assert!(said.contains(expected), "{said}");
    let path = output("shell-trace");
    let file = path.to_str().unwrap();
    let typed = ["--as", "real/trace", "--spec", "2c4g", "--tables", "250"];
    let said = workspace.refused(&import(&[file], &typed));
    let expected = "--tables says 250 tables, and the command line in the text 2";
    assert!(said.contains(&format!("{file}:2: {expected}")), "{said}");
    let typed = ["--as", "real/trace", "--spec", "2c4g", "--scenario"];
    for (scenario, part) in [
        (
            "read-only-range",
            "has range_selects=on, and the command line in the text range_selects=off",
        ),
        ("write-only", "is oltp_write_only, and the command line in the text runs oltp_read_only"),
    ] {
        let said = workspace.refused(&import(&[file], &[&typed[..], &[scenario]].concat()));
        assert!(said.contains(&format!("scenario `{scenario}` {part}")), "{said}");
    }
    workspace.write("s.csv", "conns,qps,n\n64,100,2\n");
    let csv = ["baseline", "import", "csv", "s.csv", "--as", "a/b", "--table-size", "5"];
    let fill = ["--spec", "2c4g", "--scenario", "write-only", "--tables", "3"];
    let map = ["--map", "concurrency=conns,qps=qps,tables=n"];
    let said = workspace.refused(&[&csv[..], &fill, &map].concat());
    assert!(said.contains("s.csv:2: --tables says 3 tables, and the column 2"), "{said}");
    let help = workspace.done(&["baseline", "import", "sysbench", "--help"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("text that says others is a fault"), "{help}");
}

#[test]
fn what_is_typed_of_a_table_is_checked_before_any_file_is_read() {
    let workspace = Workspace::new();
    let bad = ["--date", "2026-02-30", "--template", "nix", "--class", "big"];
    let said = workspace.refused(&import(&["absent.txt"], &[&DATASET[..], &bad].concat()));
    for part in [
        "--date 2026-02-30: this is no day of the calendar",
        "--template nix: there is no built-in layout `nix`; there are tdsql-c-en, tdsql-c-zh",
        "--class big: give full-cache or larger-than-memory",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("absent.txt"), "{said}");
    let file = ["--template", "mine.md"];
    let said = workspace.refused(&import(&["absent.txt"], &[&DATASET[..], &file].concat()));
    assert!(said.contains("mine.md"), "{said}");
    assert!(!workspace.0.path().join("results").exists());
}

#[test]
fn a_column_means_one_thing_and_a_name_means_one_column() {
    let workspace = Workspace::new();
    workspace.write("s.csv", "size,threads,qps,qps\n2c4g,64,100,200\n");
    let head = ["baseline", "import", "csv", "s.csv", "--scenario", "write-only"];
    for (map, part) in [
        ("spec=size,concurrency=threads,qps=qps", "2 columns are named `qps` (numbers 3, 4)"),
        (
            "spec=size,concurrency=threads,qps=threads",
            "`threads` cannot be both concurrency and qps",
        ),
        ("spec=size,spec=threads,qps=threads", "`spec` is given twice"),
    ] {
        let said = workspace.refused(&[&head[..], &["--map", map], &DATASET].concat());
        assert!(said.contains(part), "{part}: {said}");
    }
}
