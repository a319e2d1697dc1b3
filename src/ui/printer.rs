//! Two channels: stdout carries what was asked for, stderr what is said about it.
//!
//! Must not know: what is printed.

use std::io::{self, IsTerminal, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use super::progress::{Level, said_line};

/// Prints to the process's own channels. A reader that went away ends the output in silence.
#[derive(Debug, Clone, Copy)]
pub struct Printer {
    /// What stderr is.
    pub terminal: Terminal,
    voice: Voice,
}

/// How much is said on stderr, and in which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    /// All of it, in lines.
    Lines,
    /// All of it, an object a line.
    Json,
    /// Warnings alone.
    Warnings,
}

/// What a line is, for those who see colours; the words alone say it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Nothing special.
    Plain,
    /// Something may be wrong.
    Warning,
    /// Something went wrong.
    Failure,
}

/// From where the cursor's line begins to the end of the screen: nothing.
pub(super) const CLEAR: &str = "\r\x1b[J";

/// What a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Whether lines may be redrawn in place.
    pub can_redraw: bool,
    /// Whether colours are wanted.
    pub has_colour: bool,
    /// Whether it shows more than ASCII.
    pub is_unicode: bool,
}

impl Terminal {
    /// From whether it is one, and the environment: `NO_COLOR`, `TERM`, and the locale.
    pub fn of(is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        let named = |name: &str| variable(name).filter(|value| !value.is_empty());
        let can_redraw = is_terminal && named("TERM").is_some_and(|term| term != "dumb");
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(named);
        let locale = locale.unwrap_or_default().to_ascii_lowercase().replace('-', "");
        Self {
            can_redraw,
            has_colour: can_redraw && named("NO_COLOR").is_none(),
            is_unicode: locale.contains("utf8"),
        }
    }
}

impl Default for Printer {
    fn default() -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let terminal = Terminal::of(io::stderr().is_terminal(), variable);
        Self { terminal, voice: Voice::Lines }
    }
}

impl Printer {
    /// The same channels with another voice.
    pub fn with_voice(self, voice: Voice) -> Self {
        Self { voice, ..self }
    }

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

    /// Says something on stderr, as its voice is.
    pub fn talk(&self, line: &str) {
        match self.voice {
            Voice::Lines => self.raw(line),
            Voice::Json if line.is_empty() => {}
            Voice::Json => self.object(Level::Notice, line),
            Voice::Warnings => {}
        }
    }

    /// Says on stderr that something went wrong or may, in every voice.
    pub fn warn(&self, words: &str) {
        match self.voice {
            Voice::Json => self.object(Level::Warning, words),
            Voice::Lines | Voice::Warnings => {
                self.styled(Style::Warning, &format!("warning: {words}"));
            }
        }
    }

    /// Takes off a terminal what is redrawn there, before the process ends at once.
    pub fn leave(&self) {
        if self.terminal.can_redraw {
            self.draw(CLEAR);
        }
    }

    /// Exactly this, at once, on a terminal.
    pub(super) fn draw(&self, text: &str) {
        let mut stderr = io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    /// A line in its colour, whatever the voice.
    pub(super) fn styled(&self, style: Style, line: &str) {
        match self.terminal.has_colour {
            true => self.raw(&style.paint(line)),
            false => self.raw(line),
        }
    }

    /// A line exactly as given, whatever the voice.
    pub(super) fn raw(&self, line: &str) {
        // There is no channel left on which to say that stderr is gone.
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    fn object(&self, level: Level, words: &str) {
        self.raw(&said_line(unix_ms(), level, words));
    }
}

impl Style {
    /// The line with its colour around it.
    pub(super) fn paint(self, line: &str) -> String {
        match self {
            Self::Plain => line.to_owned(),
            Self::Warning => format!("\x1b[33m{line}\x1b[0m"),
            Self::Failure => format!("\x1b[31m{line}\x1b[0m"),
        }
    }
}

/// Milliseconds since 1970-01-01 UTC.
pub(super) fn unix_ms() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal(is_terminal: bool, set: &[(&str, &str)]) -> (bool, bool, bool) {
        let variable = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let Terminal { can_redraw, has_colour, is_unicode } = Terminal::of(is_terminal, variable);
        (can_redraw, has_colour, is_unicode)
    }

    #[test]
    fn colours_and_redrawing_are_for_terminals_that_want_them() {
        let utf8 = ("LANG", "de_DE.UTF-8");
        let xterm = ("TERM", "xterm-256color");
        assert_eq!(terminal(true, &[xterm, utf8]), (true, true, true));
        assert_eq!(terminal(false, &[xterm, utf8]), (false, false, true));
        assert_eq!(terminal(true, &[xterm, utf8, ("NO_COLOR", "1")]), (true, false, true));
        assert_eq!(terminal(true, &[xterm, utf8, ("NO_COLOR", "")]), (true, true, true));
        assert_eq!(terminal(true, &[("TERM", "dumb"), utf8]), (false, false, true));
        assert_eq!(terminal(true, &[utf8]), (false, false, true));
        assert_eq!(terminal(true, &[xterm, ("LC_ALL", "C"), utf8]), (true, true, false));
        assert!(terminal(true, &[xterm, ("LC_ALL", ""), ("LANG", "C.utf8")]).2);
    }
}
