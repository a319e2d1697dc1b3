//! A run watched over HTTP: what readers get, what they cannot do, and that none of them matters
//! to the run. `real` runs the program on a database server; all else is told by the test.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

#[path = "../common/axe.rs"]
mod axe;
#[path = "../common/browser.rs"]
#[expect(dead_code, reason = "the live page is no file")]
mod browser;
mod gallery;
#[path = "../common/http.rs"]
mod http;
mod in_browser;
mod real;
mod scripted;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use base64::Engine as _;
use gridbench::model::{CellId, TrialStatus};
use gridbench::ui::{Level, RunEnding, RunEvent};
use http::{Event, Events, ask, connect};
use scripted::{MARKUP, Scripted, apply, cell, ended, outline};
use serde_json::Value;
use sha2::{Digest, Sha256};

#[test]
fn a_stream_begins_with_all_of_it_and_its_changes_add_up_to_what_a_new_reader_gets() {
    let mut run = Scripted::begun();
    run.measure(8, 1_000);
    let mut events = Events::of(&run.authority);
    let first = events.next().unwrap();
    assert_eq!(first.name, "state");
    let mut state = first.data;
    assert_eq!(state["cells"][0]["state"], "done");
    assert_eq!(state["cells"][1]["state"], "waiting");
    run.measure(16, 2_000);
    run.tell(&RunEvent::Said { level: Level::Warning, words: "beware".to_owned() });
    run.tell(&RunEvent::Ended(RunEnding::SomeFailed));
    let mut ids = vec![first.id.parse::<u64>().unwrap()];
    let last = loop {
        let Event { name, id, data } = events.next().expect("the end is told");
        ids.push(id.parse().unwrap());
        apply(&mut state, &data);
        if name == "end" {
            break data;
        }
        assert_eq!(name, "change");
    };
    assert!(events.next().is_none(), "nothing follows the end");
    assert!(ids.is_sorted(), "{ids:?}");
    assert_eq!(last["now"]["outcome"], "some-failed");
    let cells = state["cells"].as_array().unwrap();
    assert_eq!((&cells[1]["qps_milli"], &cells[1]["is_peak"]), (&2_000_000.into(), &true.into()));
    assert_eq!(cells[0]["is_peak"], false);
    let numbers = |list: &str| -> Vec<u64> {
        state[list].as_array().unwrap().iter().map(|of| of["number"].as_u64().unwrap()).collect()
    };
    assert_eq!(numbers("seconds"), [1, 2]);
    assert_eq!(numbers("log"), [1, 2, 3]);
    assert_eq!(state["log"][2]["words"], "beware");
}

#[test]
fn a_cell_is_what_became_of_it() {
    let mut run = Scripted::begun();
    run.measure(8, 1_000);
    run.tell(&RunEvent::TrialStarted { cell: cell(16), repetition: 1 });
    let state = run.state(|state| state["cells"][1]["state"] == "running");
    assert_eq!(state["now"]["trial"]["number"], 2);
    assert_eq!(state["now"]["trial"]["phase"], "connecting");
    let reason = "lost \u{1b}[2J".to_owned();
    run.tell(&ended(16, TrialStatus::Failed { reason: reason.clone() }, 0));
    let state = run.state(|state| state["cells"][1]["state"] == "failed");
    assert_eq!(state["cells"][1]["reason"], reason);
    assert_eq!((&state["now"]["failed"], &state["now"]["left_ms"]), (&1.into(), &Value::Null));
    let CellId { spec, scenario, .. } = cell(8);
    run.tell(&RunEvent::LeftOut { cells: vec![cell(8), cell(16)] });
    let state = run.state(|state| state["cells"][1]["state"] == "left-out");
    assert_eq!(state["cells"][0]["state"], "done", "what was measured stays");
    run.tell(&RunEvent::Refused { spec, scenario, reason: "not full-cache: 2 %".to_owned() });
    let state = run.state(|state| state["cells"][0]["state"] == "refused");
    assert_eq!(state["cells"][0]["reason"], "not full-cache: 2 %");
    assert!(run.get("/").body.contains("not full-cache: 2 %"));
}

#[test]
fn the_page_is_whole_without_its_script_and_nothing_in_a_name_is_markup() {
    let mut run = Scripted::begun();
    run.measure(8, 12_345);
    run.tell(&RunEvent::Said { level: Level::Notice, words: format!("</script>{MARKUP}") });
    run.state(|state| state["log"].as_array().unwrap().len() == 2);
    let page = run.get("/");
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"), "{policy}");
    for (from, to, kind) in [("<script>", "</script>", "script"), ("<style>", "</style>", "style")]
    {
        let text = page.body.split(from).nth(1).unwrap().split(to).next().unwrap();
        let digest = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text));
        assert!(policy.contains(&format!("{kind}-src 'sha256-{digest}'")), "{kind}: {policy}");
    }
    assert!(!page.body.contains("<script>alert") && !page.body.contains("<img"), "{}", page.body);
    let own = page.body.replace("http://www.w3.org/2000/svg", "");
    assert!(!own.contains("http://") && !own.contains("https://"), "it asks nobody else");
    assert!(page.body.contains("{{ 7 * 7 }}") && page.body.contains("&lt;img src=x"));
    for shown in ["12,345", "1/2", "<noscript>", "done", "1 core, 1 GB"] {
        assert!(page.body.contains(shown), "{shown}");
    }
    let chinese = run.get("/?lang=zh").body;
    assert!(chinese.contains("<html lang=\"zh\">") && chinese.contains("完成"));
    let accepted = ask(&run.authority, "GET /", &["Accept-Language: zh-CN,zh;q=0.9"], "").body;
    assert!(accepted.contains("<html lang=\"zh\">"));
    let json = run.get("/state.json").body;
    assert!(!json.contains('<'), "{json}");
}

#[test]
fn every_answer_says_what_a_browser_may_not_do() {
    let run = Scripted::begun();
    for path in ["/", "/state.json", "/report", "/no-such-page", "/../../etc/passwd"] {
        let answer = run.get(path);
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
    }
    assert_eq!(run.get("/no-such-page").status, 404);
    assert_eq!(ask(&run.authority, "POST /", &[], "x=1").status, 405);
    assert_eq!(ask(&run.authority, "DELETE /stop", &[], "").status, 405);
    assert_eq!(run.get("/stop").status, 405);
}

#[test]
fn a_name_of_somebody_elses_that_leads_here_is_refused() {
    let run = Scripted::begun();
    for host in ["evil.example", "localhost.evil.example:80", "10.0.0.1"] {
        let answer = ask(&run.authority, "GET /state.json", &[&format!("Host: {host}")], "");
        assert_eq!(answer.status, 403, "{host}");
        assert!(!answer.body.contains("run"), "{}", answer.body.len());
    }
    for host in ["localhost", "[::1]:1234", "127.0.0.1:8306"] {
        let answer = ask(&run.authority, "GET /state.json", &[&format!("Host: {host}")], "");
        assert_eq!(answer.status, 200, "{host}: a tunnel may have another port");
    }
}

#[test]
fn only_the_stop_token_stops_a_run() {
    let run = Scripted::begun();
    let stop = run.tokens.stop.reveal().to_owned();
    let post = |headers: &[&str], body: &str| ask(&run.authority, "POST /stop", headers, body);
    assert_eq!(post(&[], "").status, 401);
    assert_eq!(post(&[], "tokens=x").status, 401);
    assert_eq!(post(&[], "token=x").status, 403);
    assert_eq!(post(&["Authorization: Bearer x"], "").status, 403);
    assert_eq!(post(&["Authorization: Basic eDp5"], "").status, 401);
    let body = format!("token={stop}");
    assert_eq!(post(&["Origin: http://evil.example"], &body).status, 403);
    assert_eq!(post(&["Origin: null"], &body).status, 403);
    assert_eq!(post(&["Host: evil.example"], &body).status, 403);
    assert_eq!(post(&[], &format!("token={}", "x".repeat(10_000))).status, 401);
    assert!(!run.interrupt.is_requested());
    assert_eq!(post(&[&format!("Authorization: Bearer {stop}")], "").status, 202);
    assert!(run.interrupt.is_requested());
    let origin = format!("Origin: http://{}", run.authority);
    assert_eq!(post(&[&origin], &body).status, 202, "again, from our own page");
}

#[test]
fn beyond_this_machine_reading_needs_a_token_which_becomes_a_cookie_and_stops_nothing() {
    let mut run = Scripted::new("0.0.0.0:0");
    run.tell(&outline());
    let read = run.tokens.read.as_ref().unwrap().reveal().to_owned();
    let url = run.server.as_ref().unwrap().url().to_owned();
    assert!(url.ends_with(&format!("/?token={read}")), "{url}");
    for path in ["/", "/state.json", "/events", "/report", "/?token=x", "/?token="] {
        let answer = run.get(path);
        assert_eq!(answer.status, 401, "{path}");
        assert!(!answer.body.contains(&read));
    }
    let welcome = run.get(&format!("/?token={read}"));
    assert_eq!((welcome.status, welcome.header("location")), (303, Some("/")));
    let cookie = welcome.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let away = run.get(&format!("//evil.example/?token={read}"));
    assert_eq!(away.header("location"), Some("/"));
    let cookie = format!("Cookie: {}", cookie.split(';').next().unwrap());
    let answer = ask(&run.authority, "GET /state.json", &[&cookie, "Host: bench-1:80"], "");
    assert_eq!(answer.status, 200);
    let answer = ask(&run.authority, "POST /stop", &[&cookie], &format!("token={read}"));
    assert_eq!(answer.status, 403, "who may read may not stop");
    assert!(!run.interrupt.is_requested());
    let stop = run.tokens.stop.reveal().to_owned();
    let answer = ask(&run.authority, "POST /stop", &[], &format!("token={stop}"));
    assert_eq!(answer.status, 202, "and who may stop need not read");
}

#[test]
fn the_report_is_made_once_for_what_is_on_disk_however_many_ask() {
    let mut run = Scripted::begun();
    for _ in 0..5 {
        let early = run.get("/report");
        assert_eq!((early.status, early.header("retry-after")), (503, Some("10")));
        assert!(early.body.contains("nothing is on disk yet"), "{}", early.body);
    }
    run.measure(8, 1);
    for _ in 0..20 {
        // Who hangs up before the answer makes nobody begin again.
        connect(&run.authority)
            .write_all(b"GET /report HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .unwrap();
    }
    let pages: Vec<String> = (0..5).map(|_| run.get("/report").body).collect();
    assert!(pages.iter().all(|page| page.contains("report 1")), "{pages:?}");
    run.measure(16, 1);
    assert!(run.get("/report").body.contains("report 2"));
    assert_eq!(run.reports.load(Ordering::SeqCst), 3);
}

#[test]
fn what_is_no_request_is_not_answered_and_touches_nobody() {
    let run = Scripted::begun();
    let mut events = Events::of(&run.authority);
    events.next().unwrap();
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(40_000));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(5_000));
    let garbage = ["\0\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "\r\n\r\n\r\n", &long, &many];
    for bytes in garbage {
        let mut socket = connect(&run.authority);
        // It may hang up before it has read all of that.
        let _ = socket.write_all(bytes.as_bytes());
        let _ = socket.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer);
        let head = String::from_utf8_lossy(&answer).into_owned();
        assert!(head.is_empty() || head.starts_with("HTTP/1.1 4"), "{head}");
    }
    let body = "POST /stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\ntoken=";
    connect(&run.authority).write_all(body.as_bytes()).unwrap();
    assert_eq!(run.get("/").status, 200);
    assert!(!run.interrupt.is_requested());
    drop(run.server);
    assert_eq!(std::iter::from_fn(|| events.next()).last().unwrap().name, "end");
}

#[test]
fn who_comes_last_gets_a_stream_and_who_never_reads_holds_up_nothing() {
    let mut run = Scripted::begun();
    let mut first = Events::of(&run.authority);
    first.next().unwrap();
    let request = b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mute: Vec<TcpStream> = (0..60)
        .map(|_| {
            let mut socket = connect(&run.authority);
            socket.write_all(request).unwrap();
            socket
        })
        .collect();
    let mut last = Events::of(&run.authority);
    assert_eq!(last.next().unwrap().name, "state");
    while first.next().is_some() {}
    // Far more than all that is between us and a reader who does not read.
    let words = "x".repeat(2_000);
    let start = Instant::now();
    for _ in 0..20_000 {
        run.tell(&RunEvent::Said { level: Level::Notice, words: words.clone() });
    }
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(run.get("/").status, 200, "there is room for another page");
    run.tell(&RunEvent::Ended(RunEnding::Done));
    let told = std::iter::from_fn(|| last.next()).last().unwrap();
    assert_eq!((told.name.as_str(), &told.data["now"]["outcome"]), ("end", &"done".into()));
    let end = Instant::now();
    drop(run.server.take());
    assert!(end.elapsed() < Duration::from_secs(5), "{:?}", end.elapsed());
    drop(mute);
}

#[test]
fn who_connects_and_says_nothing_is_let_go() {
    let run = Scripted::begun();
    let mut mute = connect(&run.authority);
    let mut slow = connect(&run.authority);
    slow.write_all(b"GET / HTTP/1.1\r\nHost: local").unwrap();
    let start = Instant::now();
    for socket in [&mut mute, &mut slow] {
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer);
        assert!(!String::from_utf8_lossy(&answer).contains("200 OK"));
    }
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn a_whole_published_matrix_is_a_small_page_and_a_second_of_it_a_small_change() {
    let mut run = gallery::gallery();
    let page = run.get("/").body;
    let state: Value = serde_json::from_str(&run.get("/state.json").body).unwrap();
    let cells = state["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 7 * 5 * 7);
    for index in 0..cells.len() {
        assert_eq!(page.matches(&format!("id=\"cell-{index}\"")).count(), 1);
    }
    let is = |name: &str| cells.iter().filter(|cell| cell["state"] == name).count();
    assert_eq!((is("running"), is("failed"), is("left-out"), is("refused")), (1, 1, 2, 7));
    assert!(page.len() < 200_000, "{}", page.len());
    assert!(page.contains("not measured here") && !page.contains("<img"));
    let mut events = Events::of(&run.authority);
    assert!(events.next().unwrap().data.to_string().len() < 300_000);
    run.tell(&RunEvent::Connecting { sessions: 1, concurrency: 1 });
    let change = events.next().unwrap();
    assert!(change.data.to_string().len() < 2_000, "{}", change.data);
}
