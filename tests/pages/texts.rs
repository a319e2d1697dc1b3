//! Texts that would be markup, are written from right to left or are very long, on every page.
//!
//! Must not know: one layout from another.

use gridbench::report::{Format, LAYOUTS, render};

use super::fixtures::{hostile, published, rehearsal};
use super::{FORMATS, built_in};

/// What the report does on its own.
const SCRIPT: &str = include_str!("../../templates/report.js");

const EMPTY_SCRIPT: &str = "<script>\n</script>\n";

/// Tags that open and do not close, or close and did not open.
pub(crate) fn unbalanced(html: &str) -> Vec<String> {
    const EMPTY: [&str; 4] = ["meta", "br", "!doctype", "input"];
    let mut open: Vec<String> = Vec::new();
    let mut wrong = Vec::new();
    for piece in html.split('<').skip(1) {
        let Some((tag, _)) = piece.split_once('>') else {
            wrong.push(piece.to_owned());
            continue;
        };
        let name = tag.split(' ').next().unwrap_or_default().to_owned();
        match name.strip_prefix('/') {
            Some(name) if open.last().is_some_and(|last| last == name) => {
                open.pop();
            }
            Some(_) => wrong.push(name),
            None if EMPTY.contains(&name.as_str()) || tag.ends_with('/') => {}
            None => open.push(name),
        }
    }
    wrong.extend(open);
    wrong
}

/// Rows of Markdown tables whose number of cells is not that of the row above them.
pub(crate) fn ragged(markdown: &str) -> Vec<&str> {
    let cells = |line: &str| line.replace("\\\\", "").replace("\\|", "").matches('|').count();
    let lines: Vec<&str> = markdown.lines().collect();
    let pairs = lines.windows(2).filter(|pair| pair.iter().all(|line| line.starts_with('|')));
    pairs.filter(|pair| cells(pair[0]) != cells(pair[1])).map(|pair| pair[1]).collect()
}

/// What a page of hostile results must not have.
#[track_caller]
pub(crate) fn is_harmless(page: &str, format: Format) {
    match format {
        Format::Html => {
            // The report's own script is not the results'.
            let page = page.replacen(SCRIPT.trim_end(), "", 1).replacen(EMPTY_SCRIPT, "", 1);
            assert_eq!(unbalanced(&page), [""; 0]);
            assert!(!page.contains("<script") && !page.contains("<!--") && !page.contains("<b>"));
        }
        Format::Markdown => {
            assert_eq!(ragged(page), [""; 0]);
            let bare = page.replace("<sup>", "").replace("</sup>", "");
            assert!(!bare.contains('<'), "{page}");
            assert!(!page.chars().any(|sign| sign.is_control() && sign != '\n'), "{page}");
            for line in page.lines() {
                assert!(!line.starts_with("import ") && !line.starts_with("```"), "{line}");
                assert!(!line.contains(" **b**") && !line.contains(" `a`"), "{line}");
            }
        }
    }
    assert!(page.contains(&"长".repeat(200)), "a long name is whole");
    assert!(page.contains("نص من اليمين"), "a text from right to left is whole");
}

#[test]
fn no_text_of_the_results_becomes_markup_on_any_page() {
    for (name, _) in LAYOUTS {
        for format in FORMATS {
            is_harmless(&render(&hostile(), &built_in(name, format)).unwrap(), format);
        }
    }
}

#[test]
fn the_same_results_give_the_same_bytes_in_every_layout() {
    for (name, _) in LAYOUTS {
        for format in FORMATS {
            let page = || render(&rehearsal(), &built_in(name, format)).unwrap();
            assert_eq!(page(), page());
        }
    }
}

#[test]
fn every_page_of_a_run_says_which_results_and_which_gridbench_made_it() {
    let mut old = rehearsal();
    if let gridbench::model::ResultSource::Measured { tool_version, .. } = &mut old.source {
        "0.0.7".clone_into(tool_version);
    }
    for (name, _) in LAYOUTS {
        for format in FORMATS {
            let page = render(&old, &built_in(name, format)).unwrap();
            let now = format!("gridbench {}", env!("CARGO_PKG_VERSION"));
            for told in ["20260102T030405Z-small", "gridbench 0.0.7", &now] {
                assert!(page.contains(told), "no {told} in {name} {format:?}");
            }
        }
    }
}

#[test]
fn pages_of_published_numbers_name_their_origin_and_the_newer_layouts_what_made_them() {
    for (name, _) in LAYOUTS {
        for format in FORMATS {
            let page = render(&published("full-cache"), &built_in(name, format)).unwrap();
            assert!(page.contains("Tencent Cloud (TDSQL-C for MySQL)"), "{name}");
            let made = format!("This page was made by gridbench {}", env!("CARGO_PKG_VERSION"));
            // The published pages stay as they were published.
            assert_eq!(page.contains(&made), !name.starts_with("tdsql-c"), "{name}");
        }
    }
}
