//! Whatever gridbench reads, from anybody, mutated: nothing of it is a panic, an endless loop or
//! more memory than a few times its size.
//!
//! `GRIDBENCH_TEST_FUZZ_SECS=600 cargo test --release --test fuzz` gives each target so long; what
//! it finds is kept, and named.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod common;
mod mutate;
mod server;
#[path = "../common/workspace.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod workspace;

use std::alloc::System;
use std::fs;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Parser;
use common::Server;
use gridbench::cli::Cli;
use gridbench::cmd;
use gridbench::driver::wire::scan::{Scan, Scanner};
use gridbench::matrix::{Source, parse};
use gridbench::report::{DocumentKind, Layout, places, render};
use gridbench::store::{baseline, resolve};
use gridbench::target::read_targets;
use gridbench::ui::{Printer, Voice};
use mutate::Mutator;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tempfile::TempDir;
use workspace::{Workspace, said};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// One input may take so long, on a busy machine.
const TIME_MAX: Duration = Duration::from_secs(10);
/// All that is allocated for one input, what is freed again included: so much, and so many times
/// its size.
const BYTES_MAX: usize = 512 << 20;
const TIMES_MAX: usize = 20_000;

/// How long each target is tried.
fn patience() -> Duration {
    let seconds = std::env::var("GRIDBENCH_TEST_FUZZ_SECS").ok().and_then(|text| text.parse().ok());
    seconds.map_or(Duration::from_millis(700), Duration::from_secs)
}

fn print(words: &str) {
    // Not through a macro, whose words a passing test keeps to itself.
    let _ = writeln!(std::io::stderr(), "{words}");
}

/// Tries a reader on mutations of what it should read. Every seed itself comes first.
fn fuzz(name: &str, seeds: &[Vec<u8>], read: impl Fn(&[u8])) {
    // One at a time: what is allocated is counted for the whole process.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut mutator = Mutator::new(2_026);
    let until = Instant::now() + patience();
    let (mut runs, mut findings) = (0_u64, Vec::new());
    let mut first = seeds.iter();
    while Instant::now() < until && findings.len() < 5 {
        let input = first.next().cloned().unwrap_or_else(|| mutator.of(seeds));
        let begin = Instant::now();
        let region = Region::new(ALLOCATOR);
        let outcome = catch_unwind(AssertUnwindSafe(|| read(&input)));
        let allocated = region.change().bytes_allocated;
        let finding = match outcome {
            Err(_) => Some("a panic".to_owned()),
            Ok(()) if begin.elapsed() > TIME_MAX => Some(format!("{:?}", begin.elapsed())),
            Ok(()) if allocated > BYTES_MAX + TIMES_MAX * input.len() => {
                Some(format!("{allocated} bytes for {}", input.len()))
            }
            Ok(()) => None,
        };
        if let Some(finding) = finding {
            let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}-{runs}"));
            fs::write(&kept, &input).unwrap();
            findings.push(format!("{finding}: {}", kept.display()));
        }
        runs += 1;
    }
    print(&format!("FUZZ {name} | runs {runs} | findings {}", findings.len()));
    assert!(findings.is_empty(), "{findings:#?}");
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The files of a folder of the repository that end so.
fn files(folder: &str, ends: &[&str]) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(repository(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| ends.iter().any(|end| path.to_string_lossy().ends_with(end)));
    paths.sort();
    assert!(!paths.is_empty(), "{folder}");
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// A subcommand, in this process.
fn gridbench(arguments: &[&str]) {
    let printer = Printer::default().with_voice(Voice::Warnings);
    let cli = Cli::try_parse_from([&["gridbench"], arguments].concat()).unwrap();
    let _ = cmd::run(cli, printer);
}

/// A folder with a file of this name, which is written anew for each input.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Self(TempDir::with_prefix("gridbench-test-").unwrap())
    }

    fn place(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn put(&self, name: &str, bytes: &[u8]) -> String {
        let place = self.place(name);
        fs::write(&place, bytes).unwrap();
        place
    }
}

#[test]
fn matrices_and_targets_files() {
    let mut seeds = files("matrices", &[".toml"]);
    seeds.extend(files("tests/matrices/valid", &[".toml"]));
    seeds.extend(files("tests/matrices/invalid", &[".toml"]));
    fuzz("matrix", &seeds, |bytes| {
        if let Err(faults) = parse(&Source { name: "m.toml", bytes }, &[]) {
            let _ = faults.to_string();
        }
    });
    let targets = r#"
        [defaults]
        user = "bench"
        password = { env = "HOME" }
        tls = "verify-identity"
        tls_ca = "ca.pem"
        init = ["SET @x = 1", "SET @y = 2"]
        connect_timeout = "5s"
        [target."*c*g"]
        endpoints = ["{spec}.db:3307", "[::1]:1", "/run/server.sock"]
        database = "bench_{spec}"
        [target.2c4g]
        socket = "/run/mysqld/mysqld.sock"
        tls = "off"
        password = "hunter2"
        charset = "latin1"
    "#;
    let desk = Desk::new();
    let seeds = [targets.as_bytes().to_vec(), fs::read("tests/matrices/targets.toml").unwrap()];
    fuzz("targets", &seeds, |bytes| {
        let place = desk.put("targets.toml", bytes);
        match read_targets(Path::new(&place)) {
            Ok(targets) => {
                let spec = gridbench::model::SpecId::new("88c710g").unwrap();
                let _ = targets.endpoint(&spec);
            }
            Err(faults) => {
                let _ = faults.to_string();
            }
        }
    });
}

#[test]
fn templates_and_documents() {
    let desk = Desk::new();
    let results = resolve(desk.0.path(), "tdsql-c-2025-12/full-cache").unwrap();
    for end in ["md", "html"] {
        let seeds = files("templates", &[&format!(".{end}")]);
        fuzz(&format!("template-{end}"), &seeds, |bytes| {
            let place = desk.put(&format!("own.{end}"), bytes);
            if let Err(error) = render(&results, &Layout::File(place.into())) {
                let _ = error.to_string();
            }
        });
    }
    let document = "# A page\n\n<!-- gridbench:table baseline=tdsql-c-2025-12/full-cache -->\nold\n\
                    <!-- gridbench:end -->\n\n```\n<!-- gridbench:table -->\n```\n\
                    <!-- gridbench:chart kind=curve run=x -->\n<!-- gridbench:end -->\n";
    let mut seeds = files(".", &[".md"]);
    seeds.push(document.as_bytes().to_vec());
    fuzz("document", &seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        for kind in ["x.md", "x.mdx", "x.html", "x.rst"] {
            let kind = DocumentKind::of_path(Path::new(kind)).unwrap();
            let _ = places(&text, kind);
        }
    });
}

#[test]
fn numbers_of_others() {
    let outputs = files("tests/sysbench_outputs", &[".txt"]);
    fuzz("sysbench-output", &outputs, |bytes| {
        let _ = gridbench::sysbench::parse(bytes);
    });
    let desk = Desk::new();
    let out = desk.place("results");
    let keep = ["--as", "mine/x", "--out", &out];
    fuzz("import-sysbench", &outputs, |bytes| {
        let place = desk.put("out.txt", bytes);
        let sized = ["--tables", "250", "--table-size", "25000"];
        gridbench(&[&["baseline", "import", "sysbench", &place], &sized[..], &keep].concat());
        let _ = fs::remove_dir_all(&out);
    });
    let csv = files("results/baselines/tdsql-c-2025-12", &[".csv"]);
    let sheet = b"size,GB,threads,rows,n,kind,QPS\n2,4,64,800000,100,read-only-range,1234.5\n";
    let map = "cpu=size,memory_gb=GB,concurrency=threads,table_size=rows,tables=n,scenario=kind,\
               qps=QPS";
    fuzz("import-csv", &[&csv[..], &[sheet.to_vec()]].concat(), |bytes| {
        let place = desk.put("sheet.csv", bytes);
        gridbench(&[&["baseline", "import", "csv", &place, "--map", map], &keep[..]].concat());
        let _ = fs::remove_dir_all(&out);
    });
    for (end, format) in [("md", "md"), ("html", "html")] {
        let page = desk.place(&format!("page.{end}"));
        let table = "tdsql-c-2025-12/full-cache";
        gridbench(&["render", table, "--format", format, "-o", &page]);
        let seeds = [fs::read(&page).unwrap()];
        fuzz(&format!("import-page-{end}"), &seeds, |bytes| {
            let place = desk.put(&format!("own.{end}"), bytes);
            gridbench(&[&["baseline", "import", "page", &place], &keep[..]].concat());
            let _ = fs::remove_dir_all(&out);
        });
    }
    let set = desk.0.path().join("results/baselines/mine");
    let read = |bytes: &[u8], name: &str| {
        fs::create_dir_all(&set).unwrap();
        for file in ["about.toml", "full-cache.csv"] {
            let from = repository("results/baselines/tdsql-c-2025-12").join(file);
            let text = fs::read_to_string(from).unwrap();
            fs::write(set.join(file), text.replace("tdsql-c-2025-12", "mine")).unwrap();
        }
        fs::write(set.join(name), bytes).unwrap();
        let _ = baseline::read(Path::new(&out), "mine/full-cache");
        let _ = baseline::list(Path::new(&out));
    };
    fuzz("baseline-csv", &csv, |bytes| read(bytes, "full-cache.csv"));
    let about = files("results/baselines/tdsql-c-2025-12", &["about.toml"]);
    fuzz("baseline-about", &about, |bytes| read(bytes, "about.toml"));
}

const MATRIX: &str = r#"
format = 1
name = "small"
title = "Small"
protocol = { duration = "3s", warmup = "100ms", concurrency = [1, 2], repeats = 2 }
[dataset]
class = "full-cache"
rule = [{ table_size = 100, tables = 2 }]
[[spec]]
cpu = 1
memory = "1GB"
[[scenario]]
id = "mixed"
workload = "oltp_read_write"
"#;

#[test]
fn run_directories() {
    let server = Server::start(&[]);
    let workspace = Workspace::new(&server.endpoint(), MATRIX);
    let run = workspace.run(&[]);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    drop(server);
    let directory = workspace.directory();
    let name = directory.file_name().unwrap().to_string_lossy().into_owned();
    let out = workspace.path("results").display().to_string();
    let page = workspace.path("page.html").display().to_string();
    let mut files: Vec<PathBuf> = fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some())
        .collect();
    files.sort();
    assert!(files.len() > 8, "{files:?}");
    for file in files {
        let whole = fs::read(&file).unwrap();
        let label = format!("run-{}", file.file_name().unwrap().to_string_lossy());
        fuzz(&label, std::slice::from_ref(&whole), |bytes| {
            fs::write(&file, bytes).unwrap();
            gridbench(&["render", &name, "--template", "report", "-o", &page, "--out", &out]);
        });
        fs::write(&file, whole).unwrap();
    }
}

#[test]
fn replies_and_greetings_of_servers() {
    let seeds = server::replies();
    for deprecate_eof in [true, false] {
        fuzz(&format!("reply-eof-{}", !deprecate_eof), &seeds, |bytes| {
            for size in [1, 7, bytes.len().max(1)] {
                let mut scanner = Scanner::new(deprecate_eof);
                for piece in bytes.chunks(size) {
                    if !matches!(scanner.feed(piece), Ok(Scan::More)) {
                        break;
                    }
                }
            }
        });
    }
    let peer = server::Peer::new();
    fuzz("greeting-lean", &server::greetings(), |bytes| peer.meet_lean(bytes));
    fuzz("greeting-mysql-async", &server::greetings(), |bytes| peer.meet_other(bytes));
}
