//! Pages as readers get them: the published tables cell by cell, golden pages for every
//! template, what a faulty template is answered with, and the two tables held side by side.
//!
//! `UPDATE_PAGES=1 cargo test --test pages` writes the golden pages anew. Must not know: how
//! results are stored.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gridbench::matrix::{Source, parse};
use gridbench::model::{
    Arrivals, MilliRate, OpenLoop, OwnRows, ResultCell, ResultSet, Scenario, ScenarioId, Verdict,
    Workload,
};
use gridbench::report::{Format, LAYOUTS, Layout, page_model, render};
use gridbench::stats::{CompareOptions, compare, geometric_mean_ratio};
use gridbench::workload::builtin;

#[path = "pages/comparison.rs"]
mod comparison;
#[path = "pages/fixtures.rs"]
mod fixtures;
#[path = "pages/model.rs"]
mod model;
#[path = "pages/reader.rs"]
mod reader;
#[path = "pages/report.rs"]
mod report;
#[path = "pages/tables.rs"]
mod tables;
#[path = "pages/texts.rs"]
mod texts;

use fixtures::{cell, published, published_rows, rehearsal, small_run, spec};
use reader::{Block, blocks};

const FORMATS: [Format; 2] = [Format::Markdown, Format::Html];

fn built_in(name: &str, format: Format) -> Layout {
    Layout::BuiltIn { name: name.to_owned(), format }
}

fn page(results: &ResultSet, format: Format) -> String {
    render(results, &built_in(&results.template, format)).unwrap()
}

/// Headings and columns of a layout as published, and how it writes a spec.
struct Published {
    table: &'static str,
    headings: [&'static str; 5],
    columns: [&'static str; 5],
    spec: fn(&str, &str) -> String,
}

const PUBLISHED: [Published; 2] = [
    Published {
        table: "full-cache",
        headings: [
            "Scenario 1: Read-Only (range select)",
            "Scenario 2: Read-Only (point select)",
            "Scenario 3: Mixed Read-Write (range select)",
            "Scenario 4: Mixed Read-Write (point select)",
            "Scenario 5: Write-Only",
        ],
        columns: [
            "Specification",
            "concurrent",
            "Single-Table Data Volume (table_size)",
            "Total Number of Tables (Tables)",
            "QPS",
        ],
        spec: |cpu, memory| format!("{cpu}-core {memory} GB"),
    },
    Published {
        table: "large-dataset",
        headings: [
            "三、场景一:只读(range select)",
            "四、场景二:只读(point select)",
            "五、场景三:混合读写(range select)",
            "六、场景四:混合读写(point select)",
            "七、场景五:只写",
        ],
        columns: ["规格", "并发", "单表数据量(table_size)", "表总数(tables)", "QPS"],
        spec: |cpu, memory| format!("{cpu}核{memory}GB"),
    },
];

/// The tables of a page whose columns are the layout's own, each under the heading before it.
fn figures(page: &str, columns: &[&str]) -> Vec<(String, Vec<Vec<String>>)> {
    let mut tables: Vec<(String, Vec<Vec<String>>)> = Vec::new();
    let mut heading = String::new();
    let mut open = false;
    for block in blocks(page) {
        match block {
            Block::Heading(text) => (heading, open) = (text, false),
            Block::Row(row) if row == columns => {
                tables.push((heading.clone(), Vec::new()));
                open = true;
            }
            Block::Row(row) if open => tables.last_mut().unwrap().1.push(row),
            Block::Row(_) => {}
        }
    }
    tables
}

#[test]
fn the_published_pages_hold_every_published_cell_in_both_formats() {
    for published_page in &PUBLISHED {
        let rows = published_rows(published_page.table);
        assert_eq!(rows.len(), 70);
        for format in FORMATS {
            let page = page(&published(published_page.table), format);
            let tables = figures(&page, &published_page.columns);
            let headings: Vec<&str> = tables.iter().map(|(heading, _)| heading.as_str()).collect();
            assert_eq!(headings, published_page.headings);
            let cells: Vec<Vec<String>> = tables.into_iter().flat_map(|(_, rows)| rows).collect();
            let wanted = rows.iter().map(|row| {
                let spec = (published_page.spec)(&row.cpu, &row.memory_gb);
                [&spec, &row.concurrency, &row.table_size, &row.tables, &row.qps].map(Clone::clone)
            });
            assert_eq!(cells, wanted.map(Vec::from).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_15th_spec_another_order_and_other_values_need_no_other_template() {
    for published_page in &PUBLISHED {
        let mut results = published(published_page.table);
        let spec = spec(96, 1_536);
        results.scenarios.reverse();
        for scenario in &results.scenarios {
            results.cells.push(cell(&spec, scenario, Some(MilliRate(7_000))));
        }
        results.specs.push(spec);
        for format in FORMATS {
            let tables = figures(&page(&results, format), &published_page.columns);
            let names = |heading: &str| heading.split_once(':').unwrap().1.trim().to_owned();
            let seen: Vec<String> = tables.iter().map(|(heading, _)| names(heading)).collect();
            let wanted: Vec<String> =
                published_page.headings.iter().rev().map(|heading| names(heading)).collect();
            assert_eq!(seen, wanted);
            for ((heading, rows), number) in tables.iter().zip(["1", "2", "3", "4", "5"]) {
                let chinese = ["一", "二", "三", "四", "五"][number.parse::<usize>().unwrap() - 1];
                assert!(
                    heading.starts_with(&format!("Scenario {number}:"))
                        || heading.contains(&format!("场景{chinese}:")),
                    "{heading}"
                );
                let own = (published_page.spec)("96", "1536");
                assert_eq!(rows.len(), 15);
                assert_eq!(rows[14], [own.as_str(), "64", "25000", "250", "7"]);
            }
        }
    }
}

#[test]
fn the_same_results_give_the_same_bytes() {
    for format in FORMATS {
        assert_eq!(page(&rehearsal(), format), page(&rehearsal(), format));
    }
}

#[test]
fn every_layout_says_that_the_loop_was_open_and_at_which_rate() {
    let open = OpenLoop { rate: MilliRate(2_000_500), arrivals: Arrivals::Fixed };
    for (open_loop, shown) in [(None, false), (Some(open), true)] {
        let mut results = small_run();
        results.protocol.as_mut().unwrap().open_loop = open_loop;
        for (name, _) in LAYOUTS {
            for format in FORMATS {
                let page = render(&results, &built_in(name, format)).unwrap();
                let has = page.contains("2000.5 events per second, fixed arrivals")
                    || page.contains("2000.5 个事件/秒，到达间隔：固定");
                assert_eq!(has, shown, "{page}");
            }
        }
    }
}

#[test]
fn every_layout_says_rehearsal_in_title_banner_and_every_table() {
    let results = rehearsal();
    for (name, _) in LAYOUTS {
        let (banner, mark) = match name {
            "tdsql-c-zh" => ("1/1,000", "演练"),
            _ => ("divided by 1,000, not a result", "Rehearsal"),
        };
        for format in FORMATS {
            let page = render(&results, &built_in(name, format)).unwrap();
            let (title, caption) = match format {
                Format::Html => ("<h1>", "<caption><strong>"),
                Format::Markdown => ("# ", "**"),
            };
            let title = page.lines().find(|line| line.starts_with(title)).unwrap();
            assert!(title.to_lowercase().contains(&mark.to_lowercase()), "{title}");
            assert!(page.contains(banner), "{name} {format:?}");
            let captions = page.matches(&format!("{caption}{mark}")).count();
            let banners = usize::from(format == Format::Markdown);
            assert_eq!(captions, results.scenarios.len() + banners, "{name} {format:?}");
            let real = render(&small_run(), &built_in(name, format)).unwrap();
            assert!(!real.contains(mark), "{name} {format:?}");
        }
    }
}

#[test]
fn a_title_never_becomes_markup() {
    let html = page(&small_run(), Format::Html);
    assert!(!html.contains("<run>") && !html.contains("<b>A"), "{html}");
    assert!(!html.contains("<connections>"));
    let markdown = page(&small_run(), Format::Markdown);
    assert!(!markdown.contains('<'), "{markdown}");
    for line in markdown.lines().filter(|line| line.starts_with('|')) {
        let bars = line.replace("\\|", "").matches('|').count();
        assert!(bars == 4 || bars == 6, "{line}");
    }
}

#[test]
fn several_concurrencies_of_one_spec_are_rows_of_their_own() {
    let mut results = published("full-cache");
    let mut second = results.cells[0].clone();
    second.concurrency = Some(128);
    results.cells.insert(1, second);
    let model = page_model(&results);
    let levels: Vec<_> =
        model.scenarios[0].rows.iter().map(|row| row.concurrency.unwrap()).take(3).collect();
    assert_eq!(levels, [64, 128, 256]);
}

#[test]
fn what_only_an_id_tells_apart_shows_its_id() {
    let mut results = published("full-cache");
    results.scenarios[1].options.range_selects = true;
    results.specs[1].memory = results.specs[0].memory;
    results.specs[1].cpu = results.specs[0].cpu;
    let page = page(&results, Format::Markdown);
    assert!(page.contains("### Scenario 2: Read-Only (range select) – read-only-point\n"));
    assert!(page.contains("| 2-core 4 GB (4c8g) |"));
}

#[test]
fn every_template_gives_its_golden_pages() {
    let small = [("run", small_run()), ("rehearsal", rehearsal())];
    for (name, _) in LAYOUTS {
        for (results_name, results) in &small {
            golden(results, results_name, name);
        }
    }
    golden(&published("full-cache"), "published-full-cache", "tdsql-c-en");
    golden(&published("large-dataset"), "published-large-dataset", "tdsql-c-zh");
}

/// Holds both formats against `tests/pages/golden/<results>.<layout>.<format>`.
fn golden(results: &ResultSet, results_name: &str, layout: &str) {
    for format in FORMATS {
        let page = render(results, &built_in(layout, format)).unwrap();
        hold(&format!("{results_name}.{layout}.{}", format.extension()), &page);
    }
}

/// Holds a text against `tests/pages/golden/<file>`.
fn hold(file: &str, text: &str) {
    let path = folder().join("golden").join(file);
    if std::env::var_os("UPDATE_PAGES").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let wanted = fs::read_to_string(&path).unwrap_or_default();
    let difference = gridbench::report::difference(&wanted, text);
    assert!(wanted == text, "{} differs:\n{difference}", path.display());
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages")
}

#[test]
fn a_faulty_template_is_answered_with_its_place_and_the_name() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("pages/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| {
        insta::glob!("pages/faults/*.*", |path| {
            let error = render(&small_run(), &Layout::File(path.to_owned())).unwrap_err();
            let here = folder().display().to_string();
            insta::assert_snapshot!(error.to_string().replace(&here, "tests/pages"));
        });
    });
}

#[test]
fn a_users_template_sees_its_folder_and_the_built_in_ones() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.html");
    fs::write(folder.path().join("part.html"), "<i>{{ title }}</i>").unwrap();
    fs::write(
        &own,
        "{% extends \"tdsql-c-en.html\" %}{% block content %}{% include \"part.html\" %}\
         {{ specs[0].memory_bytes | bytes }}{% endblock %}",
    )
    .unwrap();
    let page = render(&small_run(), &Layout::File(own)).unwrap();
    assert!(page.contains("<i>Small &lt;run&gt; of *two* specs"), "{page}");
    assert!(page.contains("4 GB") && page.contains("--paper"), "{page}");
}

#[test]
fn a_template_that_nests_without_a_bottom_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.md");
    let refused = |text: &str| {
        fs::write(&own, text).unwrap();
        render(&small_run(), &Layout::File(own.clone())).unwrap_err().to_string()
    };
    // On the stack of a thread of this harness it would end the process.
    let deep = format!("{{{{ title{}", ".heading(title".repeat(200));
    assert!(refused(&deep).contains("recursion limits"), "{}", refused(&deep));
}

#[test]
fn a_link_out_of_the_templates_folder_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("secret.md"), "secret").unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    std::os::unix::fs::symlink("../secret.md", inner.join("link.md")).unwrap();
    let own = inner.join("own.md");
    fs::write(&own, "{% include \"link.md\" %}").unwrap();
    let error = render(&small_run(), &Layout::File(own)).unwrap_err().to_string();
    assert!(error.contains("`link.md` is outside the template's folder"), "{error}");
}

#[test]
fn a_file_that_is_no_template_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let cases = [
        (file("page.txt", b"x"), "ends in .md or .html"),
        (file("bytes.md", b"\xff\xfe"), "not UTF-8"),
        (file("long.md", &vec![b'x'; (1 << 20) + 1]), "longer than 1 MiB"),
        (folder.path().join("missing.md"), "No such file"),
    ];
    for (path, reason) in cases {
        let error = render(&small_run(), &Layout::File(path.clone())).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains(&*path.to_string_lossy()), "{error}");
    }
}

#[test]
fn the_large_dataset_beats_the_cache_in_the_cells_that_are_known() {
    let large = published("large-dataset");
    let mut comparison =
        compare(&large, &published("full-cache"), &CompareOptions::with_threshold(0.0));
    assert_eq!(comparison.cells.len(), 70);
    let verdicts = comparison.cells.iter().map(|cell| cell.verdict);
    assert!(verdicts.eq(std::iter::repeat_n(Verdict::NotComparable, 70)), "other data, no verdict");
    assert!(comparison.cells[0].note.as_ref().unwrap().contains("tables 100 x 800000 against"));
    let faster = large.scenarios.iter().map(|scenario| {
        let cells = comparison.cells.iter().filter(|cell| cell.scenario == scenario.id);
        cells.filter(|cell| cell.ratio.is_some_and(|ratio| ratio > 1.0)).count()
    });
    assert_eq!(faster.collect::<Vec<_>>(), [4, 1, 6, 6, 14]);
    comparison.cells.retain(|cell| cell.scenario.as_str() == "write-only");
    let mean = geometric_mean_ratio(&comparison).unwrap();
    assert_eq!(format!("{mean:.2}"), "1.19");
}

#[test]
fn a_workload_with_own_tables_shows_those_and_claims_no_key_law() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("matrices/transfer.toml");
    let bytes = fs::read(path).unwrap();
    let matrix = parse(&Source { name: "transfer.toml", bytes: &bytes }, &[]).unwrap();
    let mut results = small_run();
    let own = matrix.scenarios[0].clone();
    let mut mixed = Workload { name: "mixed".to_owned(), ..(*own.workload).clone() };
    mixed.tables.truncate(1);
    mixed.tables[0].rows = OwnRows::TableSize;
    let dataset = builtin("oltp_update_index").unwrap();
    mixed.groups.extend(dataset.groups.clone());
    let id = ScenarioId::new("mixed").unwrap();
    let mixed = Scenario { id, title: None, workload: Arc::new(mixed), ..own.clone() };
    let rate = Some(MilliRate(1_000));
    let spec = results.specs[0].clone();
    for scenario in [own, mixed] {
        results.cells.push(ResultCell { table_size: 77, ..cell(&spec, &scenario, rate) });
        results.scenarios.push(scenario);
    }
    let tables = results.cells[0].tables;
    for (name, law) in [("tdsql-c-en", "uniform keys"), ("tdsql-c-zh", "，主键分布：uniform")]
    {
        for format in FORMATS {
            let page = render(&results, &built_in(name, format)).unwrap();
            let flat = page.replace("</td><td>", " | ").replace("<td>", "| ");
            let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains("| accounts 100000, entries 100000 | 2 |"), "{flat}");
            let both = format!("| accounts 77, sbtest 77 | {} |", tables + 1);
            assert!(flat.contains(&both), "{both}: {flat}");
            // The five scripts, and not the two workloads.
            assert_eq!(page.matches(law).count(), 5, "{page}");
        }
    }
}
