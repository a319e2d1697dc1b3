//! A network between client and server that a test can break.
//!
//! Must not know: what travels in it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Forwards every connection to a port of this host, until it is told otherwise.
pub(crate) struct Proxy {
    port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// Both ends of each connection.
    streams: Mutex<Vec<(TcpStream, TcpStream)>>,
    /// Nothing is forwarded, and nothing is said.
    is_cut: AtomicBool,
}

impl Proxy {
    pub(crate) fn start(to: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        // It ends with the test's process.
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let shared = Arc::clone(&shared);
                    thread::spawn(move || forward(from, to, &shared));
                }
                shared.streams.lock().unwrap().push((client, server));
            }
        });
        Self { port, state }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Resets every connection that stands; new ones are forwarded.
    pub(crate) fn reset(&self) {
        for (client, server) in self.state.streams.lock().unwrap().drain(..) {
            // With bytes unread the end of a connection is a reset.
            let _ = client.shutdown(Shutdown::Both);
            let _ = server.shutdown(Shutdown::Both);
        }
    }

    /// From now on nothing arrives anywhere, and nobody is told.
    pub(crate) fn cut(&self) {
        self.state.is_cut.store(true, Ordering::SeqCst);
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, state: &State) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        while state.is_cut.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(50));
        }
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
