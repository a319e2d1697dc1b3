//! As much of HTTP as a test needs to ask a server of ours, and to hold a stream of events open.
//!
//! Must not know: what is asked for.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Longer than any answer takes, so that a server that says nothing fails its test.
const PATIENCE: Duration = Duration::from_secs(60);

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The status line and the headers, as they came.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

/// A connection to `host:port`.
pub(crate) fn connect(authority: &str) -> TcpStream {
    let socket = TcpStream::connect(authority).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// Asks with these header lines, each without its end, and this body.
pub(crate) fn ask(authority: &str, line: &str, headers: &[&str], body: &str) -> Answer {
    let mut socket = connect(authority);
    socket.write_all(request(authority, line, headers, body).as_bytes()).unwrap();
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// Asks for a page.
pub(crate) fn get(authority: &str, path: &str) -> Answer {
    ask(authority, &format!("GET {path}"), &[], "")
}

fn request(authority: &str, line: &str, headers: &[&str], body: &str) -> String {
    let mut text = format!("{line} HTTP/1.1\r\n");
    if !headers.iter().any(|header| header.to_ascii_lowercase().starts_with("host:")) {
        text += &format!("Host: {authority}\r\n");
    }
    headers.iter().for_each(|header| text.extend([header, "\r\n"]));
    if !body.is_empty() {
        let length = body.len();
        text += &format!(
            "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n"
        );
    }
    text + "\r\n" + body
}

/// A stream of server-sent events.
pub(crate) struct Events(BufReader<TcpStream>);

/// One of them.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) data: serde_json::Value,
}

impl Events {
    /// Begins to read them.
    pub(crate) fn of(authority: &str) -> Self {
        let mut socket = connect(authority);
        socket.write_all(request(authority, "GET /events", &[], "").as_bytes()).unwrap();
        let mut events = Self(BufReader::new(socket));
        let head = events.block();
        assert!(head[0].contains("200 OK"), "{head:?}");
        assert!(head.iter().any(|line| line == "content-type: text/event-stream"), "{head:?}");
        events
    }

    /// The next one; `None` when the server has ended the stream.
    pub(crate) fn next(&mut self) -> Option<Event> {
        loop {
            let block = self.block();
            let field = |name: &str| {
                let of = block.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                of.map(str::to_owned)
            };
            match (field("event"), field("data")) {
                (Some(name), Some(data)) => {
                    let data = serde_json::from_str(&data).unwrap();
                    return Some(Event { name, id: field("id").unwrap(), data });
                }
                _ if block.is_empty() => return None,
                // The length of a chunk, or what keeps the stream open.
                _ => {}
            }
        }
    }

    /// Lines up to an empty one.
    fn block(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            let read = self.0.read_line(&mut line).unwrap_or(0);
            let line = line.trim_end().to_owned();
            match (read, line.is_empty()) {
                (0, _) => return lines,
                (_, true) if lines.is_empty() => {}
                (_, true) => return lines,
                (_, false) => lines.push(line),
            }
        }
    }
}
