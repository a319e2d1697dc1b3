//! Two channels: stdout carries what was asked for, stderr what is said about it.
//!
//! Must not know: what is printed.

use std::io::{self, IsTerminal, Write};

/// Prints to the process's own channels. A reader that went away ends the output in silence.
#[derive(Debug, Clone, Copy)]
pub struct Printer {
    /// Whether stderr is a terminal that may be redrawn.
    pub interactive: bool,
}

impl Default for Printer {
    fn default() -> Self {
        Self { interactive: io::stderr().is_terminal() }
    }
}

impl Printer {
    /// Writes to stdout exactly as given.
    pub fn data(&self, text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) => {
                let words = format!("cannot write to standard output: {error}");
                Err(io::Error::new(error.kind(), words))
            }
            Ok(()) => Ok(()),
        }
    }

    /// Writes a line to stderr.
    pub fn talk(&self, line: &str) {
        // There is no channel left on which to say that stderr is gone.
        let _ = writeln!(io::stderr().lock(), "{line}");
    }
}
