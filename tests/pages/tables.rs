//! Tables for places in documents: golden ones of every built-in table, and texts that would be
//! markup.
//!
//! Must not know: markers.

use std::path::Path;

use gridbench::model::{Arrivals, MilliRate, OpenLoop, ResultSet};
use gridbench::report::{DocumentKind, Language, TABLES, TableRequest, table};

use super::fixtures::{hostile, published, rehearsal, small_run};
use super::hold;
use super::texts::{ragged, unbalanced};

pub(crate) const KINDS: [(DocumentKind, &str); 4] = [
    (DocumentKind::Markdown, "md"),
    (DocumentKind::Mdx, "mdx"),
    (DocumentKind::Rst, "rst"),
    (DocumentKind::Html, "html"),
];

fn request(name: &str) -> TableRequest {
    TableRequest {
        chart: None,
        results: "r".to_owned(),
        scenario: None,
        template: Some(name.to_owned()),
        language: None,
        caption: true,
    }
}

fn printed(results: &ResultSet, request: &TableRequest, kind: DocumentKind) -> String {
    table(results, request, kind, Path::new("")).unwrap()
}

#[test]
fn every_table_gives_its_golden_texts() {
    for (name, _) in TABLES {
        for (kind, extension) in KINDS {
            let all = TableRequest { language: Some(Language::English), ..request(name) };
            let file = format!("run.table-{name}.{extension}");
            hold(&file, &printed(&small_run(), &all, kind));
            let one = TableRequest {
                scenario: Some("odd".to_owned()),
                language: Some(Language::Chinese),
                ..request(name)
            };
            let file = format!("rehearsal.table-{name}-odd-zh.{extension}");
            hold(&file, &printed(&rehearsal(), &one, kind));
        }
    }
}

#[test]
fn one_scenario_without_caption_is_the_table_alone() {
    let one = TableRequest {
        scenario: Some("write-only".to_owned()),
        caption: false,
        ..request("tdsql-c")
    };
    let markdown = printed(&published("full-cache"), &one, DocumentKind::Markdown);
    assert_eq!(markdown.lines().count(), 16);
    assert!(markdown.lines().all(|line| line.starts_with('|')), "{markdown}");
    let html = printed(&published("full-cache"), &one, DocumentKind::Html);
    assert!(html.starts_with("<table>\n<thead>") && html.ends_with("</table>\n"), "{html}");
    let rst = printed(&published("large-dataset"), &one, DocumentKind::Rst);
    assert!(rst.starts_with(".. list-table::\n   :header-rows: 1\n\n   * - 规格\n"), "{rst}");
}

#[test]
fn a_rehearsal_says_so_over_every_table_without_being_asked() {
    for (name, _) in TABLES {
        for (kind, extension) in KINDS {
            let plain = TableRequest { caption: false, ..request(name) };
            let text = printed(&rehearsal(), &plain, kind);
            let marks = text.matches("Rehearsal, not a result.").count();
            assert_eq!(marks, rehearsal().scenarios.len(), "{name} {extension}");
        }
    }
}

#[test]
fn no_text_of_the_results_becomes_markup_in_a_table() {
    for (name, _) in TABLES {
        for (kind, extension) in KINDS {
            let text = printed(&hostile(), &request(name), kind);
            hold(&format!("hostile.table-{name}.{extension}"), &text);
            // To reStructuredText they are text.
            let has_tags = text.contains("<script") || text.contains("<!--");
            assert!(!has_tags || kind == DocumentKind::Rst, "{text}");
            for line in text.lines() {
                let line = line.trim_start();
                let is_marker =
                    [".. gridbench", "{/*", "import "].iter().any(|m| line.starts_with(m));
                assert!(!is_marker, "{line}");
            }
            match extension {
                "mdx" => assert!(!text.replace("\\{", "").contains('{'), "{text}"),
                "html" => assert_eq!(unbalanced(&text), [""; 0]),
                "md" => assert_eq!(ragged(&text), [""; 0]),
                _ => {}
            }
        }
    }
}

#[test]
fn a_table_of_ones_own_sees_the_model_and_what_the_marker_says() {
    let folder = tempfile::tempdir().unwrap();
    let text = "{{ title }} {{ lang }} {{ caption }} {{ several }} {{ scenarios | length }}";
    for extension in ["md", "rst", "html"] {
        std::fs::write(folder.path().join(format!("own.{extension}")), text).unwrap();
    }
    for (kind, extension) in KINDS {
        let extension = if extension == "mdx" { "md" } else { extension };
        let own = request(&format!("own.{extension}"));
        let printed = table(&small_run(), &own, kind, folder.path()).unwrap();
        assert!(printed.ends_with(" en True True 5\n"), "{printed}");
        let other = request("own.txt");
        let error = table(&small_run(), &other, kind, folder.path()).unwrap_err().to_string();
        assert!(error.contains(&format!("does not end in .{extension}")), "{error}");
    }
    std::fs::write(folder.path().join("bad.md"), "\n{{ rowss }}").unwrap();
    let error = table(&small_run(), &request("bad.md"), DocumentKind::Mdx, folder.path());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("bad.md:2: `rowss` is undefined; did you mean `rows`?"), "{error}");
}

#[test]
fn a_caption_says_run_date_server_protocol_and_key_law_in_both_languages() {
    let told = ["20260102T030405Z-small", "2026-01-02", "8.0.40", "0.1.0", "1.5", "uniform"];
    for (name, _) in TABLES {
        for (kind, extension) in KINDS {
            for language in [Language::English, Language::Chinese] {
                let with = TableRequest { language: Some(language), ..request(name) };
                let without = TableRequest { caption: false, ..with.clone() };
                let (with, without) =
                    (printed(&small_run(), &with, kind), printed(&small_run(), &without, kind));
                for words in told {
                    assert!(with.contains(words), "no {words} in {name} {extension}: {with}");
                }
                assert!(!without.contains(told[0]), "{without}");
                let origin = printed(&published("full-cache"), &request(name), kind);
                assert!(origin.contains("Tencent Cloud") && origin.contains("2025-12-10"));
            }
        }
    }
}

#[test]
fn the_same_results_give_the_same_bytes_in_every_table() {
    for (name, _) in TABLES {
        for (kind, _) in KINDS {
            let text = || printed(&hostile(), &request(name), kind);
            assert_eq!(text(), text());
        }
    }
}

#[test]
fn what_limits_a_run_is_told_without_a_caption_too() {
    let mut results = rehearsal();
    let open = OpenLoop { rate: MilliRate(2_000_500), arrivals: Arrivals::Fixed };
    results.protocol.as_mut().unwrap().open_loop = Some(open);
    for (name, _) in TABLES {
        for (kind, extension) in KINDS {
            let told = |language: Language, results: &ResultSet| {
                let plain = TableRequest { caption: false, ..request(name) };
                printed(results, &TableRequest { language: Some(language), ..plain }, kind)
            };
            let english = "Client and server shared one machine. Driven by sysbench 1.0.20. \
                           Open loop: 2000.5 events per second, fixed arrivals.";
            let text = told(Language::English, &results);
            assert!(text.contains(english), "{name} {extension}: {text}");
            let text = told(Language::Chinese, &results);
            assert!(text.contains("2000.5 个事件/秒，到达间隔：固定。"), "{text}");
            let text = told(Language::English, &small_run());
            assert!(!text.contains("Driven") && !text.contains("machine"), "{text}");
        }
    }
}
