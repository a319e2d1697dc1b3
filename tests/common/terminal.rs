//! A pseudo-terminal on which a program runs, and what a person would see on it.
//!
//! Must not know: what is run.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{FlowArg, tcflow};
use nix::unistd::Pid;

const PATIENCE: Duration = Duration::from_secs(120);

/// A program's standard error, shown.
pub(crate) struct Terminal {
    child: Child,
    input: OwnedFd,
    /// The program's end of it.
    slave: OwnedFd,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    is_coloured: bool,
}

impl Terminal {
    /// Starts the program on a terminal of so many rows and columns.
    pub(crate) fn start(command: &mut Command, (rows, columns): (u16, u16)) -> Self {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pair = openpty(&size, None).unwrap();
        let slave = pair.slave.try_clone().unwrap();
        let child = command.stderr(pair.slave).spawn().unwrap();
        // The command holds the terminal's other end, which is to be closed when the child ends.
        command.stderr(std::process::Stdio::null());
        let mut reader = File::from(pair.master.try_clone().unwrap());
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        let screen = vt100::Parser::new(rows, columns, 0);
        Self { child, input: pair.master, slave, output, screen, is_coloured: false }
    }

    /// What is on the screen as soon as that is on it.
    pub(crate) fn sees(&mut self, words: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let shown = self.screen.screen().contents();
            if shown.contains(words) {
                return shown;
            }
            assert!(Instant::now() < deadline, "{words:?} was never on the screen:\n{shown}");
            assert!(self.hear(), "the program ended before {words:?} was on the screen:\n{shown}");
        }
    }

    /// As the keyboard does it: the terminal echoes it, and the program gets the signal.
    pub(crate) fn press_ctrl_c(&mut self) {
        nix::unistd::write(&self.input, &[3]).unwrap();
        // It is not this terminal's session that the program is of.
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    }

    /// Takes nothing any more, as after Ctrl-S, or takes again.
    pub(crate) fn hold(&self, is_held: bool) {
        let action = if is_held { FlowArg::TCOOFF } else { FlowArg::TCOON };
        tcflow(&self.slave, action).unwrap();
    }

    /// Whether anything was coloured so far.
    pub(crate) fn has_colour(&self) -> bool {
        self.is_coloured
    }

    /// Waits for the end: the exit code, and what is on the screen then.
    pub(crate) fn ends(&mut self) -> (Option<i32>, String) {
        let deadline = Instant::now() + PATIENCE;
        while self.hear() {
            assert!(Instant::now() < deadline, "it does not end");
        }
        (self.child.wait().unwrap().code(), self.screen.screen().contents())
    }

    /// Whether the program is still there to be heard.
    fn hear(&mut self) -> bool {
        match self.output.recv_timeout(Duration::from_millis(50)) {
            Ok(bytes) => {
                self.screen.process(&bytes);
                // Moves of the cursor end in other letters.
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let codes = text.split("\x1b[").skip(1);
                self.is_coloured |= codes.into_iter().any(|code| {
                    code.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('m')
                });
                true
            }
            Err(RecvTimeoutError::Timeout) => self.child.try_wait().unwrap().is_none(),
            Err(RecvTimeoutError::Disconnected) => false,
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
