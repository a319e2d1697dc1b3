//! A browser for tests: Debian's chromium, driven over its DevTools protocol.
//!
//! Must not know: what is tested. It starts one process on a profile of its own and ends it,
//! whatever becomes of the test; a page sees no network but what a test serves.

use std::collections::VecDeque;
use std::fs;
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket, client};

const PROGRAMS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const PATIENCE: Duration = Duration::from_secs(30);

/// A running browser; dropped, it is gone.
pub(crate) struct Browser {
    process: Child,
    profile: tempfile::TempDir,
}

impl Browser {
    /// Starts one. `Err` says why there is none here.
    pub(crate) fn start() -> Result<Self, String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = PROGRAMS.iter().find_map(|name| {
            std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
        });
        let program =
            found.ok_or("there is no chromium in PATH; `make test` installs it".to_owned())?;
        let profile = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--disable-dev-shm-usage", "--disable-background-networking"])
            .args(["--disable-component-update", "--hide-scrollbars", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let process = command.spawn().map_err(|error| error.to_string())?;
        Ok(Self { process, profile })
    }

    /// A page of this width.
    pub(crate) fn page(&mut self, width: u32) -> Page {
        let (port, _) = self.endpoint();
        let target = self.new_target(port);
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = client(target.as_str(), stream).unwrap();
        let mut page = Page { socket, number: 0, events: VecDeque::new(), width };
        for domain in ["Page", "Runtime", "Network", "Log"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        page.resize(width);
        page
    }

    /// Port and path that the browser wrote down when it listened.
    fn endpoint(&mut self) -> (u16, String) {
        let file = self.profile.path().join("DevToolsActivePort");
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Ok(text) = fs::read_to_string(&file)
                && let Some((port, path)) = text.split_once('\n')
            {
                return (port.parse().unwrap(), path.to_owned());
            }
            assert!(self.process.try_wait().unwrap().is_none(), "the browser ended");
            assert!(Instant::now() < deadline, "the browser does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The address of a page that was just opened.
    fn new_target(&mut self, port: u16) -> String {
        let (_, path) = self.endpoint();
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = client(format!("ws://127.0.0.1:{port}{path}"), stream).unwrap();
        let mut whole = Page { socket, number: 0, events: VecDeque::new(), width: 0 };
        let made = whole.call("Target.createTarget", json!({ "url": "about:blank" }));
        format!("ws://127.0.0.1:{port}/devtools/page/{}", made["targetId"].as_str().unwrap())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let group = nix::unistd::Pid::from_raw(i32::try_from(self.process.id()).unwrap());
        let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        let _ = self.process.wait();
    }
}

/// One page, with what it said and asked for.
pub(crate) struct Page {
    socket: WebSocket<TcpStream>,
    number: u64,
    events: VecDeque<Value>,
    width: u32,
}

impl Page {
    /// Opens an address and waits until all of it is there.
    pub(crate) fn open(&mut self, url: &str) {
        self.events.clear();
        self.call("Page.navigate", json!({ "url": url }));
        self.wait_for("Page.loadEventFired");
    }

    /// Opens a file.
    pub(crate) fn open_file(&mut self, path: &Path) {
        self.open(&format!("file://{}", path.canonicalize().unwrap().display()));
    }

    /// What a script evaluates to; a promise is awaited.
    pub(crate) fn evaluate(&mut self, script: &str) -> Value {
        let asked = json!({
            "expression": script, "returnByValue": true, "awaitPromise": true
        });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer.get("exceptionDetails").is_none(), "{script}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Presses what the selector finds first.
    pub(crate) fn click(&mut self, selector: &str) {
        let script = format!("document.querySelector({}).click()", json!(selector));
        self.evaluate(&script);
    }

    /// Sets a field's text as typing does.
    pub(crate) fn type_into(&mut self, selector: &str, text: &str) {
        let script = format!(
            "{{ const f = document.querySelector({}); f.value = {}; \
             f.dispatchEvent(new Event('input', {{ bubbles: true }})); }}",
            json!(selector),
            json!(text)
        );
        self.evaluate(&script);
    }

    /// Light or dark, as the system would ask for it.
    pub(crate) fn scheme(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Without a script from now on.
    pub(crate) fn disable_scripts(&mut self) {
        self.call("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    }

    pub(crate) fn resize(&mut self, width: u32) {
        self.width = width;
        let metrics = json!({
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600
        });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Errors and warnings on the console, and exceptions.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        self.evaluate("0");
        let is_complaint = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Log.entryAdded") => true,
            Some("Runtime.consoleAPICalled") => {
                matches!(event["params"]["type"].as_str(), Some("error" | "warning" | "assert"))
            }
            _ => false,
        };
        self.events.iter().filter(is_complaint).map(Value::to_string).collect()
    }

    /// Every address that was asked for.
    pub(crate) fn requests(&mut self) -> Vec<String> {
        self.evaluate("0");
        let is_request = |event: &&Value| event["method"] == "Network.requestWillBeSent";
        let url = |event: &Value| event["params"]["request"]["url"].as_str().unwrap().to_owned();
        self.events.iter().filter(is_request).map(url).collect()
    }

    /// What reaches beyond the page's width, outside of what scrolls by itself.
    pub(crate) fn overflow(&mut self) -> Value {
        self.evaluate(
            "(() => { const width = document.documentElement.clientWidth; const found = []; \
             if (document.documentElement.scrollWidth > width) found.push('the page scrolls'); \
             const scrolls = (e) => { for (let p = e; p; p = p.parentElement) { \
               const how = getComputedStyle(p).overflowX; \
               if (['auto','scroll','hidden'].includes(how)) return true; \
             } return false; }; \
             for (const e of document.querySelectorAll('body *')) { \
               const box = e.getBoundingClientRect(); \
               if (box.width && box.right > width + 1 && !scrolls(e)) \
                 found.push(e.tagName + ' ' + e.className + ' ' + Math.round(box.right)); \
             } return found.slice(0, 10); })()",
        )
    }

    /// What axe-core finds, whose script this is.
    pub(crate) fn axe(&mut self, script: &str) -> Value {
        self.evaluate(script);
        self.evaluate(
            "axe.run().then((r) => r.violations.map((v) => \
             v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.target + ' ' + \
             (n.any[0] ? n.any[0].message : '')).join(' | ')))",
        )
    }

    /// The whole page as a picture.
    pub(crate) fn screenshot(&mut self, path: &Path) {
        let asked = json!({ "format": "png", "captureBeyondViewport": true });
        let shot = self.call("Page.captureScreenshot", asked);
        write_base64(path, &shot["data"]);
    }

    /// The page as it is printed on A4.
    pub(crate) fn pdf(&mut self, path: &Path) {
        let asked = json!({ "preferCSSPageSize": true, "printBackground": true });
        let pdf = self.call("Page.printToPDF", asked);
        write_base64(path, &pdf["data"]);
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        let number = self.number;
        let order = json!({ "id": number, "method": method, "params": params });
        self.socket.send(Message::text(order.to_string())).unwrap();
        loop {
            let message = self.receive();
            if message["id"] == number {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push_back(message);
        }
    }

    fn wait_for(&mut self, method: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.events.iter().any(|event| event["method"] == method) {
            assert!(Instant::now() < deadline, "no {method}");
            let message = self.receive();
            self.events.push_back(message);
        }
    }

    fn receive(&mut self) -> Value {
        loop {
            match self.socket.read().expect("the browser answers in time") {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Close(_) => panic!("the browser closed the page"),
                _ => {}
            }
        }
    }
}

fn write_base64(path: &Path, data: &Value) {
    use base64::Engine;
    let bytes = base64::engine::general_purpose::STANDARD.decode(data.as_str().unwrap()).unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}
