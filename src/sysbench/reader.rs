//! sysbench's output as runs: line by line while it comes, or whole.
//!
//! Must not know: where the lines come from. It takes any bytes: what it does not know it passes
//! over, and what is cut off is missing in the run.

use super::block::Block;
use super::invoked::Invoked;
use super::line::{HistogramRow, IntervalLine, Line, QueueLine, line};
use super::version::Version;

/// Of messages no more than this are kept: a run may repeat one without end.
const MESSAGES_MAX: usize = 50;
/// sysbench's histogram has 1,024 slots.
const ROWS_MAX: usize = 4_096;
/// Longer than any line that means something.
const LINE_MAX: usize = 16_384;

/// What one run printed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Run {
    /// Its first and last line in the text, from 1.
    pub lines: (u64, u64),
    /// From its first line.
    pub version: Option<Version>,
    /// The command line, if it stands before the run.
    pub invoked: Option<Invoked>,
    /// `Number of threads`.
    pub threads: Option<u32>,
    /// The open loop's rate, events per second.
    pub rate: Option<u64>,
    /// The seed, where one was given.
    pub seed: Option<u64>,
    /// Whether all connections stood and the clock ran.
    pub started: bool,
    /// In the order of the text.
    pub intervals: Vec<IntervalLine>,
    /// What waited in an open loop.
    pub queues: Vec<QueueLine>,
    /// Reports at checkpoints, each over the time since the one before.
    pub checkpoints: Vec<Block>,
    /// The distribution since the last checkpoint; empty where it was not asked for.
    pub histogram: Vec<HistogramRow>,
    /// The report at the end.
    pub block: Option<Block>,
    /// What went wrong, in its own words.
    pub messages: Vec<Message>,
    /// Lines that are not whole.
    pub torn: Vec<u64>,
}

/// A line that says what went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its number, from 1.
    pub line: u64,
    /// The whole of it.
    pub text: String,
}

impl Run {
    fn is_empty(&self) -> bool {
        let empty = Self { lines: self.lines, ..Self::default() };
        let named = Self { version: self.version.clone(), invoked: self.invoked.clone(), ..empty };
        *self == named
    }

    /// The report at the end, if nothing of it is missing.
    pub fn whole_block(&self) -> Option<&Block> {
        self.block.as_ref().filter(|block| block.is_whole())
    }
}

/// What a line means to whoever waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// All connections stand, the clock runs.
    Started,
    /// A second is over.
    Interval(IntervalLine),
    /// A checkpoint: its report follows.
    Checkpoint,
    /// The load is over: histogram and report follow.
    Ended,
    /// Nothing of that kind.
    Nothing,
}

/// Takes lines, makes runs.
#[derive(Debug, Default)]
pub struct Reader {
    number: u64,
    done: Vec<Run>,
    run: Run,
    /// The report under way, and whether it is a checkpoint's.
    block: Option<(Block, bool)>,
    /// `Checkpoint report:` was the last that announced a report.
    is_checkpoint: bool,
    has_options: bool,
    /// A command line that has not come to its run, or not to its end.
    invoked: Option<Invoked>,
    begun: Option<String>,
}

/// The runs in a text: UTF-8 or nearly, with any line ends.
pub fn parse(bytes: &[u8]) -> Vec<Run> {
    let mut reader = Reader::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = &line[..line.len().min(LINE_MAX)];
        reader.line(&String::from_utf8_lossy(line));
    }
    reader.finish()
}

impl Reader {
    /// The next line, without its end.
    pub fn line(&mut self, text: &str) -> Seen {
        self.number += 1;
        self.command_line(text);
        let read = line(text);
        if self.begins_another(&read) {
            self.next_run();
        }
        self.take(read)
    }

    /// The runs, the last of them as far as it came.
    pub fn finish(mut self) -> Vec<Run> {
        self.next_run();
        self.done
    }

    fn take(&mut self, read: Line<'_>) -> Seen {
        let number = self.number;
        if read != Line::Other && !matches!(read, Line::Figure(..)) {
            self.mark();
        }
        match read {
            Line::Version(version) => self.run.version = Some(version),
            Line::Options => self.has_options = true,
            Line::Threads(threads) => self.run.threads = Some(threads),
            Line::Rate(rate) => self.run.rate = Some(rate),
            Line::Seed(seed) => self.run.seed = Some(seed),
            Line::Started => {
                self.run.started = true;
                return Seen::Started;
            }
            Line::Interval(interval) => {
                self.run.intervals.push(interval);
                return Seen::Interval(interval);
            }
            Line::Queue(queue) => self.run.queues.push(queue),
            Line::Checkpoint => {
                self.is_checkpoint = true;
                return Seen::Checkpoint;
            }
            Line::Histogram => return Seen::Ended,
            Line::Row(row) if self.run.histogram.len() < ROWS_MAX => self.run.histogram.push(row),
            Line::Statistics => return self.begin_block(),
            Line::Figure(key, value) => {
                if let Some((block, _)) = &mut self.block {
                    block.take(key, value);
                    self.run.lines.1 = number;
                }
            }
            Line::Trouble(text) if self.run.messages.len() < MESSAGES_MAX => {
                self.run.messages.push(Message { line: number, text: text.to_owned() });
            }
            Line::Torn if self.run.torn.len() < MESSAGES_MAX => self.run.torn.push(number),
            Line::Row(_) | Line::Trouble(_) | Line::Torn | Line::Other => {}
        }
        Seen::Nothing
    }

    /// Whether this line cannot belong to the run under way: its own beginning comes again, or
    /// its clock goes back, or a report follows the last one.
    fn begins_another(&self, read: &Line<'_>) -> bool {
        match read {
            Line::Version(_) => true,
            Line::Options => self.has_options,
            Line::Started => self.run.started,
            Line::Interval(interval) => {
                self.run.intervals.last().is_some_and(|last| interval.at_ms < last.at_ms)
            }
            Line::Statistics => {
                !self.is_checkpoint
                    && self.block.as_ref().is_some_and(|(_, checkpoint)| !checkpoint)
            }
            _ => false,
        }
    }

    fn begin_block(&mut self) -> Seen {
        self.end_block();
        let is_checkpoint = std::mem::take(&mut self.is_checkpoint);
        self.block = Some((Block::at(self.number), is_checkpoint));
        if is_checkpoint { Seen::Nothing } else { Seen::Ended }
    }

    /// A report ends where the next thing of its kind begins: lines of other threads may stand
    /// within it.
    fn end_block(&mut self) {
        match self.block.take() {
            Some((block, true)) => self.run.checkpoints.push(block),
            Some((block, false)) => self.run.block = Some(block),
            None => {}
        }
    }

    fn next_run(&mut self) {
        self.end_block();
        let run = std::mem::take(&mut self.run);
        if !run.is_empty() {
            self.done.push(run);
        }
        self.has_options = false;
        self.is_checkpoint = false;
    }

    /// The line belongs to the run.
    fn mark(&mut self) {
        if self.run.lines.0 == 0 {
            self.run.lines.0 = self.number;
        }
        self.run.lines.1 = self.number;
        if let Some(invoked) = self.invoked.take() {
            self.run.invoked = Some(invoked);
        }
    }

    /// Notes a command line, which may go over several lines.
    fn command_line(&mut self, text: &str) {
        let text = match self.begun.take() {
            Some(begun) if begun.len() < LINE_MAX => format!("{begun} {text}"),
            _ => text.to_owned(),
        };
        let goes_on = text.trim_end().ends_with('\\');
        if goes_on && (Invoked::is_begun(&text) || text.contains("sysbench")) {
            self.begun = Some(text);
        } else if let Some(invoked) = Invoked::parse(&text) {
            if !self.run.is_empty() {
                self.next_run();
            }
            self.invoked = Some(invoked);
        }
    }
}
