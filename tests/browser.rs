//! Pages in a real browser: nothing complains, nothing is fetched, nothing overflows, all can be
//! read by everybody, and the report's controls do what they say.
//!
//! Pictures of what was looked at stand in target/browser. Must not know: how a page is made.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "common/axe.rs"]
mod axe;
#[path = "common/browser.rs"]
mod browser;

use axe::{is_accessible, skipped};
use browser::{Browser, Page};

const WIDTHS: [u32; 2] = [390, 1440];

fn browser() -> Option<Browser> {
    Browser::start().map_err(|why| skipped("in a browser", &why)).ok()
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages/golden").join(name)
}

fn picture(name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    target.join("browser").join(name)
}

#[test]
fn every_layout_is_quiet_fits_and_can_be_read_by_everybody() {
    let Some(mut browser) = browser() else { return };
    let pages = [
        "published-full-cache.tdsql-c-en.html",
        "published-large-dataset.tdsql-c-zh.html",
        "run.transposed.html",
        "run.latency.html",
        "run.comparison.html",
        "rehearsal.report.html",
        "whole.report.html",
        "hostile.report.html",
    ];
    let mut page = browser.page(WIDTHS[0]);
    for name in pages {
        for width in WIDTHS {
            page.resize(width);
            for scheme in ["light", "dark"] {
                page.scheme(scheme);
                page.open_file(&golden(name));
                let what = format!("{name} {width} {scheme}");
                assert_eq!(page.complaints(), [""; 0], "{what}");
                assert_eq!(page.requests().len(), 1, "{what}: {:?}", page.requests());
                assert_eq!(page.overflow(), serde_json::json!([]), "{what}");
                is_accessible(&mut page, &what);
                let stem = name.trim_end_matches(".html");
                page.screenshot(&picture(&format!("{stem}-{width}-{scheme}.png")));
            }
        }
    }
}

/// The texts of a column of the report's first table.
fn column(page: &mut Page, place: usize) -> Vec<String> {
    let script = format!(
        "[...document.querySelectorAll('.environment tbody tr')].filter((r) => !r.hidden)\
         .map((r) => r.cells[{place}].textContent)"
    );
    serde_json::from_value(page.evaluate(&script)).unwrap()
}

#[test]
fn a_report_sorts_filters_and_changes_theme_and_language() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.page(1440);
    page.open_file(&golden("whole.report.html"));
    let names = column(&mut page, 0);
    assert!(names.len() > 2 && names.is_sorted(), "{names:?}");
    let head = ".environment th .sort button";
    page.click(head);
    page.click(head);
    let mut reversed = names.clone();
    reversed.reverse();
    assert_eq!(column(&mut page, 0), reversed);
    let sorted = "document.querySelector('.environment th').getAttribute('aria-sort')";
    assert_eq!(page.evaluate(sorted), "descending");
    page.click(head);
    assert_eq!(column(&mut page, 0), names, "as it was");

    page.type_into("#filter", "server.version");
    assert_eq!(column(&mut page, 0), ["server.version"]);
    page.type_into("#filter", "");
    assert_eq!(column(&mut page, 0), names);

    let paper = "getComputedStyle(document.body).backgroundColor";
    let light = page.evaluate(paper);
    page.click("[for=theme-dark]");
    assert_ne!(page.evaluate(paper), light);
    page.click("[for=theme-light]");
    assert_eq!(page.evaluate(paper), light);

    let heading = "document.querySelector('#answer').innerText";
    assert_eq!(page.evaluate(heading), "Not to be published as it stands");
    page.click("[for=language-zh]");
    assert_eq!(page.evaluate(heading), "暂不宜发布");
    assert_eq!(page.evaluate("document.documentElement.lang"), "zh-Hans");
    page.screenshot(&picture("whole.report-zh.png"));
    assert_eq!(page.overflow(), serde_json::json!([]));
    is_accessible(&mut page, "in Chinese");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn a_report_shows_the_value_under_the_pointer() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.page(1440);
    page.open_file(&golden("whole.report.html"));
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })");
    let point = |selector: &str| {
        format!(
            "(() => {{ const e = document.querySelector({selector:?}); \
             const box = e.getBoundingClientRect(); \
             e.dispatchEvent(new PointerEvent('pointermove', {{ bubbles: true, \
             clientX: box.left + box.width * 0.6, clientY: box.top + box.height / 2 }})); \
             return document.querySelector('.value').textContent; }})()"
        )
    };
    assert_eq!(page.evaluate(&point(".charts svg rect[fill]")), "2c4g: 1000");
    let of_second = page.evaluate(&point(".multiples svg"));
    assert!(of_second.as_str().unwrap().contains(" s: 6"), "{of_second}");
}

#[test]
fn a_report_is_whole_without_a_script_and_on_paper() {
    let Some(mut browser) = browser() else { return };
    let mut page = browser.page(1440);
    page.disable_scripts();
    page.open_file(&golden("whole.report.html"));
    page.screenshot(&picture("whole.report-no-script.png"));
    let path = picture("whole.report.pdf");
    page.pdf(&path);
    let Ok(text) = Command::new("pdftotext").args(["-layout"]).arg(&path).arg("-").output() else {
        skipped("the text of a printed page", "there is no pdftotext; `make test` installs it");
        return;
    };
    let text = String::from_utf8(text.stdout).unwrap();
    let rows = ["2-core 4 GB", "128-core 1024 GB", "server.version", "LITTLE", "▼ regressed"];
    for row in rows {
        assert!(text.contains(row), "{row}: {text}");
    }
    assert!(!text.contains("Filter") && !text.contains("中文"), "no controls: {text}");
    // Each row of each table is on the paper, and what a reader of a screen would have to open.
    assert_eq!(text.matches("128-core 1024 GB").count(), 5, "{text}");
    for row in ["stall: 7–8 s", "Deadlock <found>", "failed Too many", "1000 ●", "120.06"] {
        assert!(text.contains(row), "{row}: {text}");
    }
    let size = Command::new("pdfinfo").arg(&path).output().unwrap();
    let size = String::from_utf8(size.stdout).unwrap();
    assert!(size.contains("A4"), "{size}");
}
