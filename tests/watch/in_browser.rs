//! The live page in a real browser. Pictures of what was looked at stand in target/browser.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gridbench::model::{Interrupt, TrialStatus};
use gridbench::ui::{Level, RunEnding, RunEvent, TrialPhase};
use serde_json::json;

use crate::axe::{is_accessible, skipped};
use crate::browser::{Browser, Page};
use crate::gallery::gallery;
use crate::scripted::{Scripted, cell, ended, second};

fn browser() -> Option<Browser> {
    Browser::start().map_err(|why| skipped("the live page in a browser", &why)).ok()
}

fn picture(name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    target.join("browser").join(name)
}

fn open(page: &mut Page, run: &Scripted, path: &str) {
    page.open(&format!("http://{}{path}", run.authority));
    becomes(page, "document.getElementById('connection').dataset.state === 'live'");
}

/// Waits until a script finds it so.
fn becomes(page: &mut Page, script: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while page.evaluate(script) != json!(true) {
        assert!(Instant::now() < deadline, "never: {script}: {}", text(page, "body"));
        page.evaluate("new Promise((done) => setTimeout(done, 50))");
    }
}

fn text(page: &mut Page, selector: &str) -> String {
    let text = page.evaluate(&format!("document.querySelector({selector:?}).innerText"));
    text.as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_live_page_is_quiet_asks_nobody_else_fits_and_can_be_read_by_everybody() {
    let Some(mut browser) = browser() else { return };
    let run = gallery();
    let mut page = browser.page(1440);
    for (width, scheme, language) in
        [(1440, "light", "en"), (390, "dark", "zh"), (390, "light", "en"), (1440, "dark", "zh")]
    {
        page.resize(width);
        page.scheme(scheme);
        open(&mut page, &run, &format!("/?lang={language}"));
        becomes(&mut page, "document.querySelectorAll('#chart path').length === 3");
        let what = format!("{width} {scheme} {language}");
        assert_eq!(page.complaints(), [""; 0], "{what}");
        let own = format!("http://{}/", run.authority);
        let requests = page.requests();
        assert!(requests.iter().all(|url| url.starts_with(&own)), "{what}: {requests:?}");
        assert_eq!(requests.len(), 2, "{what}: the page and its events: {requests:?}");
        assert_eq!(page.overflow(), json!([]), "{what}");
        is_accessible(&mut page, &what);
        page.screenshot(&picture(&format!("live-{width}-{scheme}-{language}.png")));
    }
    assert_eq!(page.evaluate("document.images.length + document.scripts.length"), 2);
}

#[test]
fn cells_fill_as_they_finish_in_every_window_and_the_end_stays_readable() {
    let Some(mut browser) = browser() else { return };
    let mut run = Scripted::begun();
    let (mut one, mut other) = (browser.page(1440), browser.page(390));
    open(&mut one, &run, "/");
    open(&mut other, &run, "/?lang=zh");
    run.tell(&RunEvent::TrialStarted { cell: cell(8), repetition: 1 });
    run.tell(&RunEvent::Phase(TrialPhase::Measuring));
    run.tell(&second(1, 12_345));
    let state = |index: u32| format!("document.getElementById('cell-{index}').dataset.state");
    for page in [&mut one, &mut other] {
        becomes(page, &format!("{} === 'running'", state(0)));
        becomes(page, "document.getElementById('now-qps').innerText === '12,345'");
        becomes(page, "document.querySelectorAll('#chart path').length === 3");
    }
    assert!(text(&mut one, "#doing").starts_with("measuring "));
    run.tell(&ended(8, TrialStatus::Done, 12_000));
    run.tell(&RunEvent::Said { level: Level::Warning, words: "<b>beware</b>".to_owned() });
    becomes(&mut one, &format!("{} === 'done'", state(0)));
    assert_eq!(text(&mut one, "#cell-0 .rate"), "12,000");
    becomes(&mut one, "document.querySelector('#log li .words').innerText === '<b>beware</b>'");
    assert!(text(&mut one, "#place").starts_with("1 of 2 trials"), "{}", text(&mut one, "#place"));
    open(&mut one, &run, "/");
    assert_eq!(one.evaluate("document.querySelectorAll('#log li').length"), 2, "after a reload");
    run.tell(&RunEvent::Ended(RunEnding::Interrupted));
    becomes(&mut one, "!document.getElementById('ending').hidden");
    becomes(&mut other, "!document.getElementById('ending').hidden");
    drop(run.server.take());
    assert_eq!(text(&mut one, "#ending"), "The run was stopped; --resume goes on with it.");
    assert!(text(&mut other, "#ending").contains("--resume"));
    assert_eq!(text(&mut one, "#cell-0 .rate"), "12,000", "it stays readable");
    assert_eq!(one.evaluate("document.querySelector('nav .served').hidden"), true);
    for page in [&mut one, &mut other] {
        assert_eq!(page.complaints(), [""; 0], "nobody is asked again");
        is_accessible(page, "the end");
    }
}

#[test]
fn a_run_that_is_gone_without_a_word_is_said_to_be_lost() {
    let Some(mut browser) = browser() else { return };
    let mut run = Scripted::begun();
    let mut page = browser.page(390);
    open(&mut page, &run, "/");
    drop(run.server.take());
    becomes(&mut page, "document.getElementById('connection').dataset.state === 'lost'");
    assert_eq!(text(&mut page, "#connection"), "connection lost, trying again");
    assert_eq!(page.evaluate("document.getElementById('ending').hidden"), true);
}

#[test]
fn the_form_stops_the_run_with_the_token_and_with_nothing_else() {
    let Some(mut browser) = browser() else { return };
    let run = Scripted::begun();
    let stopped = |interrupt: &Interrupt| interrupt.is_requested();
    let mut page = browser.page(390);
    open(&mut page, &run, "/");
    page.click("#stop summary");
    page.type_into("#token", "not the token");
    page.click("#stop button");
    becomes(&mut page, "document.getElementById('stop-answer').value.startsWith('That is not')");
    assert!(!stopped(&run.interrupt));
    is_accessible(&mut page, "with the form open");
    assert_eq!(page.overflow(), json!([]));
    page.type_into("#token", run.tokens.stop.reveal());
    page.click("#stop button");
    becomes(&mut page, "document.getElementById('stop-answer').value.includes('asked to stop')");
    assert!(stopped(&run.interrupt));
}

#[test]
fn the_language_is_changed_by_a_link_and_a_page_without_script_is_whole() {
    let Some(mut browser) = browser() else { return };
    let mut run = Scripted::begun();
    run.measure(8, 12_345);
    run.state(|state| state["cells"][0]["state"] == "done");
    let mut page = browser.page(1440);
    open(&mut page, &run, "/");
    assert_eq!(page.evaluate("document.documentElement.lang"), "en");
    let link = page.evaluate("document.querySelector('nav a[hreflang=zh]').href");
    page.open(link.as_str().unwrap());
    assert_eq!(page.evaluate("document.documentElement.lang"), "zh");
    becomes(&mut page, "document.getElementById('connection').innerText.includes('实时')");
    assert!(text(&mut page, "#place").contains("还需约"), "{}", text(&mut page, "#place"));
    let mut still = browser.page(1440);
    still.disable_scripts();
    still.open(&format!("http://{}/", run.authority));
    still.screenshot(&picture("live-no-script.png"));
    let path = picture("live-no-script.pdf");
    still.pdf(&path);
    let printed = std::process::Command::new("pdftotext").arg(&path).arg("-").output();
    let Ok(printed) = printed else {
        return skipped("the text of a printed page", "there is no pdftotext");
    };
    let printed = String::from_utf8(printed.stdout).unwrap();
    for shown in ["12,345", "1 of 2 trials", "<script>alert(1)</script>", "reads/8: QPS"] {
        assert!(printed.contains(shown), "{shown}: {printed}");
    }
}
