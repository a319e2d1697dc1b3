//! What servers say, and a peer that says anything.
//!
//! Must not know: what is made of it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gridbench::driver::Driver;
use gridbench::driver::adapter::Admin;
use gridbench::driver::wire::WireDriver;
use gridbench::model::{Address, Endpoint, Secret, Tls, TlsMode};
use tokio::runtime::{Builder, Runtime};

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, ..] = payload.len().to_le_bytes();
    [&[a, b, c, sequence], payload].concat()
}

/// Replies to one statement, packets numbered from 1.
pub(crate) fn replies() -> Vec<Vec<u8>> {
    let column = b"\x03def\x06sbtest\x07sbtest1\x07sbtest1\x01c\x01c\x0c\x2d\0\xe0\x01\0\0\xfe\x01\
                   \0\0\0\0";
    let row = [&[119_u8][..], &[b'1'; 119]].concat();
    let payloads: [&[u8]; 5] = [b"\x01", column, &row, &row, b"\xfe\0\0\x02\0\0\0"];
    let set: Vec<u8> = payloads.iter().zip(1..).flat_map(|(of, n)| packet(n, of)).collect();
    let payloads: [&[u8]; 5] = [b"\x01", column, b"\xfe\0\0\x02\0", &row, b"\xfe\0\0\x02\0"];
    let older: Vec<u8> = payloads.iter().zip(1..).flat_map(|(of, n)| packet(n, of)).collect();
    let ok = packet(1, b"\0\x01\0\x02\0\0\0");
    let error = packet(1, b"\xff\x15\x04#28000Access denied for user");
    vec![set, older, ok, error]
}

/// What a server says from its greeting to the end of a login, packet by packet.
pub(crate) fn greetings() -> Vec<Vec<u8>> {
    let greeting = |name: &[u8]| {
        let fixed = b"\x0a10.11.11-MariaDB\0\x08\0\0\0abcdefgh\0\xfe\xff\x2d\x02\0\xff\x81\x15\0\0\
                      \0\0\0\0\x1d\0\0\0abcdefghijkl\0";
        packet(0, &[fixed, name, b"\0"].concat())
    };
    let ok = packet(2, b"\0\0\0\x02\0\0\0");
    let switch = packet(2, b"\xfemysql_native_password\0abcdefghijklmnopqrst\0");
    let full = packet(2, b"\x01\x04");
    let key = packet(4, b"\x01-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n");
    let mut seeds = vec![
        [greeting(b"mysql_native_password"), ok.clone()].concat(),
        [greeting(b"caching_sha2_password"), full, key].concat(),
        [greeting(b"caching_sha2_password"), packet(2, b"\x01\x03"), packet(3, b"\0\0\0\x02\0")]
            .concat(),
        [greeting(b"client_ed25519"), switch, packet(4, b"\0\0\0\x02\0\0\0")].concat(),
        packet(0, b"\xff\x10\x04#08004Too many connections"),
    ];
    // Logged in, and then a reply.
    let begin = [greeting(b"mysql_native_password"), ok].concat();
    seeds.extend(replies().into_iter().map(|reply| [&begin[..], &reply].concat()));
    let prepared = packet(1, b"\0\x01\0\0\0\x01\0\x01\0\0\0\0");
    seeds.push([&begin[..], &replies()[2], &prepared, &replies()[0]].concat());
    seeds
}

/// Says to whoever comes what it was told, all at once.
pub(crate) struct Peer {
    port: u16,
    words: Arc<Mutex<Vec<u8>>>,
    runtime: Runtime,
}

impl Peer {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let words = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&words);
        // It ends with the test's process.
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let words: Vec<u8> = shared.lock().unwrap().clone();
                let _ = stream.set_read_timeout(Some(Duration::from_millis(5)));
                let _ = stream.write_all(&words);
                // Until the client waits, or is gone.
                let mut heard = [0; 4096];
                while matches!(stream.read(&mut heard), Ok(1..)) {}
            }
        });
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        Self { port, words, runtime }
    }

    fn endpoint(&self, words: &[u8]) -> Endpoint {
        *self.words.lock().unwrap() = words.to_vec();
        let address = Address::Tcp { host: "127.0.0.1".into(), port: self.port };
        let mode = match words.len() % 3 {
            0 => TlsMode::Off,
            1 => TlsMode::Preferred,
            _ => TlsMode::Required,
        };
        let tls = Tls { mode, ..Tls::default() };
        Endpoint { tls, ..Endpoint::new(address, "bench", Secret::new("hunter2")) }
    }

    /// The lean client logs in.
    pub(crate) fn meet_lean(&self, words: &[u8]) {
        let driver = WireDriver::new(&self.endpoint(words));
        self.runtime.block_on(async {
            let limit = Duration::from_secs(20);
            let met = tokio::time::timeout(limit, driver.connect()).await;
            let _ = met.expect("an answer in time");
        });
    }

    /// mysql_async logs in, and asks one thing.
    pub(crate) fn meet_other(&self, words: &[u8]) {
        let endpoint = self.endpoint(words);
        self.runtime.block_on(async {
            let limit = Duration::from_secs(20);
            let met = tokio::time::timeout(limit, async {
                if let Ok(mut admin) = Admin::connect(&endpoint).await {
                    let _ = admin.rows("SELECT 1").await;
                    let _ = admin.prepare("SELECT 1").await;
                }
            });
            met.await.expect("an answer in time");
        });
    }
}
