//! A run redrawn in place: two lines at the foot of a terminal, above them the lines that stay.
//!
//! Must not know: what the facts mean beyond the words that others made of them.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use console::Term;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::event::RunEvent;
use super::plain::kept;
use super::tracker::Tracker;
use super::words::{clean, doing, label, left_words, loading_words, second_words, seconds};
use super::{Printer, Sink};
use crate::ui::printer::CLEAR;

/// How often it is redrawn without news: what counts on it are seconds.
const TICK: Duration = Duration::from_millis(250);
/// The bar itself, where there is room.
const BAR_WIDTH: usize = 24;
/// What is not known to be wider is drawn as if it were as wide.
const WIDTH_MIN: usize = 20;

/// How it may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether colours are wanted.
    pub has_colour: bool,
    /// Whether it shows more than ASCII.
    pub is_unicode: bool,
}

/// The two lines: where the run is, and what it does. None is as wide as the terminal.
pub fn screen(tracker: &Tracker, at: Duration, look: Look) -> [String; 2] {
    [fit(&run_pieces(tracker, at, look), look), fit(&step_pieces(tracker, at), look)]
}

/// A part of a line; where there is not room for all, those of the highest rank go first.
struct Piece {
    rank: u8,
    colour: Colour,
    text: String,
}

#[derive(Clone, Copy)]
enum Colour {
    None,
    Strong,
    Accent,
    Alarm,
}

fn piece(rank: u8, colour: Colour, text: String) -> Piece {
    Piece { rank, colour, text }
}

fn run_pieces(tracker: &Tracker, at: Duration, look: Look) -> Vec<Piece> {
    if !tracker.has_trials {
        return vec![piece(0, Colour::None, format!("{} gone", seconds(at)))];
    }
    let place = format!("{}/{}", tracker.position(), tracker.trials);
    let mut pieces = vec![
        piece(0, Colour::Strong, place),
        piece(5, Colour::Accent, bar(tracker, look)),
        piece(3, Colour::None, format!("{:>2} %", tracker.percent())),
        piece(4, Colour::None, format!("{} gone", seconds(at))),
        piece(1, Colour::None, left_words(tracker, at)),
    ];
    if tracker.failed > 0 {
        pieces.push(piece(2, Colour::Alarm, format!("{} failed", tracker.failed)));
    }
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

fn step_pieces(tracker: &Tracker, at: Duration) -> Vec<Piece> {
    if let Some(trial) = &tracker.trial {
        let label = label(&trial.cell, trial.repetition, tracker.has_repeats);
        let mut pieces = vec![
            piece(0, Colour::Strong, label),
            piece(2, Colour::None, doing(trial, tracker, at)),
        ];
        if let Some(second) = &trial.last {
            let [qps, p95, errors] = second_words(second, trial.errors);
            let alarm = if trial.errors > 0 { Colour::Alarm } else { Colour::None };
            pieces.push(piece(1, Colour::None, qps));
            pieces.push(piece(4, Colour::None, p95));
            pieces.push(piece(3, alarm, errors));
        }
        return pieces;
    }
    let words = match &tracker.loading {
        Some((rows, since)) => loading_words(rows, at.saturating_sub(*since)),
        None => tracker.step.clone(),
    };
    vec![piece(0, Colour::None, clean(&words).replace('\n', " "))]
}

fn bar(tracker: &Tracker, look: Look) -> String {
    let (full, empty) = if look.is_unicode { ("━", "─") } else { ("#", "-") };
    let share = tracker.ended.min(tracker.trials) * BAR_WIDTH as u64;
    let done = share.checked_div(tracker.trials).unwrap_or(0);
    let done = usize::try_from(done).unwrap_or(BAR_WIDTH);
    full.repeat(done) + &empty.repeat(BAR_WIDTH - done)
}

/// The pieces that fit beside each other, in their order.
fn fit(pieces: &[Piece], look: Look) -> String {
    const GAP: &str = "  ";
    // A line that is as wide as the terminal would make some of them begin another one.
    let room = look.width.max(WIDTH_MIN) - 1;
    let taken = |rank: u8| -> usize {
        let kept = pieces.iter().filter(|piece| piece.rank <= rank);
        kept.map(|piece| piece.text.width() + GAP.len()).sum::<usize>().saturating_sub(GAP.len())
    };
    let rank = (0..=u8::MAX).take_while(|rank| taken(*rank) <= room).last();
    let rank = rank.unwrap_or(0);
    let mut line = String::new();
    for piece in pieces.iter().filter(|piece| piece.rank <= rank) {
        if !line.is_empty() {
            line.push_str(GAP);
        }
        line.push_str(&paint(piece, &cut(&piece.text, room), look));
    }
    line
}

/// The text in so many columns, its end cut off where it has more.
fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut width = 0;
    let within = |c: &char| {
        width += c.width().unwrap_or(0);
        width < room
    };
    let kept: String = text.chars().take_while(within).collect();
    kept + "~"
}

fn paint(piece: &Piece, text: &str, look: Look) -> String {
    let code = match piece.colour {
        _ if !look.has_colour => return text.to_owned(),
        Colour::None => return text.to_owned(),
        Colour::Strong => 1,
        Colour::Accent => 36,
        Colour::Alarm => 31,
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// Draws them, on a thread of its own: a terminal that takes nothing holds up no trial.
pub(super) struct Bar {
    printer: Printer,
    board: Arc<Board>,
    drawer: Option<JoinHandle<()>>,
}

/// What the run and the drawing thread share.
struct Board {
    shown: Mutex<Shown>,
    /// Something is to be drawn, or was.
    news: Condvar,
}

/// What is on the screen, and what is to come.
struct Shown {
    tracker: Tracker,
    at: Duration,
    told: Instant,
    /// Lines that stay, not printed yet.
    lines: Vec<String>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It is drawn, and drawn again.
    Drawn,
    /// It is to go off the screen, for now or for ever.
    Going { forever: bool },
    /// It is off the screen.
    Gone,
}

impl Bar {
    /// # Errors
    /// There is no thread to draw it.
    pub(super) fn start(printer: Printer) -> io::Result<Self> {
        let shown = Shown {
            tracker: Tracker::default(),
            at: Duration::ZERO,
            told: Instant::now(),
            lines: Vec::new(),
            state: State::Drawn,
        };
        let board = Arc::new(Board { shown: Mutex::new(shown), news: Condvar::new() });
        let drawn = Arc::clone(&board);
        let drawer = Builder::new().name("progress".to_owned());
        let drawer = drawer.spawn(move || drawn.draw(printer))?;
        Ok(Self { printer, board, drawer: Some(drawer) })
    }

    /// Waits until it is off the screen, and all lines are on it.
    fn clear(&self, forever: bool) {
        let mut shown = self.board.lock();
        if forever || shown.state == State::Drawn {
            shown.state = State::Going { forever };
            self.board.news.notify_all();
        }
        while matches!(shown.state, State::Going { .. }) {
            shown = self.board.news.wait(shown).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn show(&self) {
        self.board.lock().state = State::Drawn;
    }
}

impl Sink for Bar {
    fn take(&mut self, at: Duration, event: &RunEvent) {
        let mut shown = self.board.lock();
        shown.tracker.take(at, event);
        (shown.at, shown.told) = (at, Instant::now());
        if let Some((style, line)) = kept(&shown.tracker, at, event) {
            let line = if self.printer.terminal.has_colour { style.paint(&line) } else { line };
            shown.lines.push(line);
            self.board.news.notify_all();
        }
    }

    fn rest(&mut self) {
        self.clear(false);
    }

    fn aside(&mut self, print: &mut dyn FnMut()) {
        self.clear(false);
        print();
        self.show();
    }
}

impl Drop for Bar {
    /// However the run ends, nothing of it stays on the screen.
    fn drop(&mut self) {
        self.clear(true);
        if let Some(drawer) = self.drawer.take() {
            // A drawing thread that panicked has said so.
            let _ = drawer.join();
        }
    }
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Draws until it is to be gone for ever.
    fn draw(&self, printer: Printer) {
        loop {
            let (text, state) = {
                let shown = self.lock();
                let waits = |shown: &mut Shown| {
                    shown.lines.is_empty() && !matches!(shown.state, State::Going { .. })
                };
                let woken = self.news.wait_timeout_while(shown, TICK, waits);
                let (mut shown, _) = woken.unwrap_or_else(PoisonError::into_inner);
                (shown.text(look(printer)), shown.state)
            };
            printer.draw(&text);
            if let State::Going { forever } = state {
                self.lock().state = State::Gone;
                self.news.notify_all();
                if forever {
                    return;
                }
            }
        }
    }
}

impl Shown {
    /// What is to be written now: the lines that stay, and the two that are redrawn. The cursor
    /// is left where they begin, so that what a terminal echoes (`^C`) moves nothing.
    fn text(&mut self, look: Look) -> String {
        let mut text = String::new();
        if self.state != State::Gone {
            text.push_str(CLEAR);
        }
        for line in self.lines.drain(..) {
            text.push_str(&line);
            text.push('\n');
        }
        let has_news = self.tracker.has_trials || !self.tracker.step.is_empty();
        if self.state == State::Drawn && has_news {
            let [run, step] = screen(&self.tracker, self.at + self.told.elapsed(), look);
            text.extend([&run, "\n", &step, "\r\x1b[1A"]);
        }
        text
    }
}

fn look(printer: Printer) -> Look {
    let (_, width) = Term::stderr().size();
    let terminal = printer.terminal;
    Look {
        width: usize::from(width),
        has_colour: terminal.has_colour,
        is_unicode: terminal.is_unicode,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(texts: &[(u8, &str)]) -> Vec<Piece> {
        texts.iter().map(|(rank, text)| piece(*rank, Colour::Strong, (*text).to_owned())).collect()
    }

    fn look(width: usize) -> Look {
        Look { width, has_colour: false, is_unicode: true }
    }

    #[test]
    fn what_matters_least_makes_room_first() {
        let pieces = pieces(&[(0, "place"), (2, "bar"), (1, "left")]);
        assert_eq!(fit(&pieces, look(80)), "place  bar  left");
        assert_eq!(fit(&pieces, look(17)), "place  bar  left", "no narrower than twenty");
        let long = "x".repeat(30);
        let pieces = self::pieces(&[(0, "place"), (2, &long), (1, "left")]);
        assert_eq!(fit(&pieces, look(40)), "place  left");
        let line = fit(&self::pieces(&[(0, &long)]), look(24));
        assert_eq!(line, "x".repeat(22) + "~");
    }

    #[test]
    fn no_line_is_as_wide_as_the_terminal() {
        let pieces = pieces(&[(0, &"宽".repeat(40))]);
        for width in 20..90 {
            assert!(fit(&pieces, look(width)).width() < width, "{width}");
        }
    }

    #[test]
    fn colours_are_around_pieces_and_take_no_room() {
        let coloured = Look { has_colour: true, ..look(20) };
        assert_eq!(fit(&pieces(&[(0, &"x".repeat(19))]), coloured), {
            format!("\x1b[1m{}\x1b[0m", "x".repeat(19))
        });
    }
}
