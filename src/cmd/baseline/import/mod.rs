//! `gridbench baseline import`: numbers that stand in files become a baseline.
//!
//! Must not know: how a baseline is stored. All that cannot be read is named by file and line,
//! all at once; then nothing is written, unless what can be read was asked for.
//!
//! - `sysbench`, `table_csv`, `page`: one kind of file each, read into [`Number`]s.
//! - `catalogue`: which scenarios there are; `facts`: what is known of a number; `pattern`: what
//!   a file's name says of it.
//! - `gather`: numbers into the cells of a table.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::anyhow;

use crate::cli::{ImportCommand, KeepArgs};
use crate::cmd::Failure;
use crate::model::{DatasetClass, MilliRate, ResultSet, ResultSource, Scenario, Spec, counted};
use crate::report::{Format, Layout};
use crate::store::baseline;
use crate::store::{Fault, Faults, is_date};
use crate::ui::Printer;
use catalogue::Catalogue;

mod catalogue;
mod facts;
mod gather;
mod page;
mod page_html;
mod page_markdown;
mod pattern;
mod sysbench;
mod table_csv;

/// Larger than any output or page.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// One number, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Number {
    file: String,
    line: u64,
    spec: Spec,
    scenario: Scenario,
    concurrency: u32,
    table_size: u64,
    tables: u32,
    qps: MilliRate,
}

/// What files gave.
#[derive(Debug, Default)]
struct Reading {
    numbers: Vec<Number>,
    faults: Vec<Fault>,
    /// What a page says of itself.
    own: OwnWords,
    /// How the numbers were made, a sentence or two each.
    known: Vec<String>,
}

/// Title, date, origin and class, where the file itself says them.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct OwnWords {
    title: Option<String>,
    date: Option<String>,
    origin: Option<String>,
    class: Option<DatasetClass>,
}

impl Reading {
    fn fault(&mut self, file: &str, line: Option<u64>, message: impl Into<String>) {
        self.faults.push(Fault { file: file.to_owned(), line, message: message.into() });
    }
}

pub(super) fn run(command: &ImportCommand, out: &Path, printer: Printer) -> Result<(), Failure> {
    let keep = match command {
        ImportCommand::Sysbench(arguments) => &arguments.keep,
        ImportCommand::Csv(arguments) => &arguments.keep,
        ImportCommand::Page(arguments) => &arguments.keep,
    };
    check(keep)?;
    let catalogue = Catalogue::of(out, keep)?;
    let (reading, files) = match command {
        ImportCommand::Sysbench(arguments) => {
            (sysbench::read(arguments, &catalogue)?, arguments.files.clone())
        }
        ImportCommand::Csv(arguments) => {
            (table_csv::read(arguments, &catalogue)?, vec![arguments.file.clone()])
        }
        ImportCommand::Page(arguments) => {
            (page::read(&arguments.file, &catalogue), vec![arguments.file.clone()])
        }
    };
    let (results, known, sentences) = results(reading, keep, &files, printer)?;
    let directory = baseline::write(out, &results, &known, keep.replace)?;
    sentences.iter().for_each(|sentence| printer.talk(sentence));
    let (name, cells) = (&results.name, counted(results.cells.len(), "cell"));
    printer.data(&format!("{name}: {cells}, kept in {}\n", directory.display()))?;
    Ok(())
}

/// The table, what is known of its numbers, and what to say of the cells.
type Kept = (ResultSet, Vec<String>, Vec<String>);

/// The table that is to be kept; faults end it here, or are said and left out.
fn results(
    reading: Reading,
    keep: &KeepArgs,
    files: &[PathBuf],
    printer: Printer,
) -> Result<Kept, Failure> {
    let mut faults = reading.faults;
    let gathered = gather::gather(reading.numbers, &mut faults);
    if !faults.is_empty() && !keep.skip_unreadable {
        return Err(refused(faults));
    }
    faults.iter().for_each(|fault| printer.talk(&format!("left out: {fault}")));
    if gathered.cells.is_empty() {
        return Err(Failure::input(anyhow!("there is no number to keep; nothing was written")));
    }
    let own = reading.own;
    let class = keep.class.as_deref().and_then(DatasetClass::from_name).or(own.class);
    let title = keep.title.clone().or(own.title).unwrap_or_else(|| keep.name.clone());
    let origin = keep.origin.clone().or(own.origin).unwrap_or_else(|| names(files));
    let date = match keep.date.clone().or(own.date) {
        Some(date) => date,
        None => newest(files)?,
    };
    // Of several numbers one was made: whoever reads the table must know.
    let known = [reading.known, gathered.sentences.clone()].concat();
    let results = ResultSet {
        name: keep.name.clone(),
        title,
        template: keep.template.clone(),
        class: class.unwrap_or(DatasetClass::FullCache),
        source: ResultSource::Published { origin, date },
        protocol: None,
        environment: BTreeMap::new(),
        noise_ppm: None,
        scenarios: gathered.scenarios,
        specs: gathered.specs,
        cells: gathered.cells,
    };
    Ok((results, known, gathered.sentences))
}

fn refused(faults: Vec<Fault>) -> Failure {
    let count = counted(faults.len(), "fault");
    let faults = Faults(faults);
    Failure::input(anyhow!(
        "{faults}\n{count}, nothing was written; --skip-unreadable leaves these out and \
         keeps the rest"
    ))
}

/// What was typed of the table, before any file is read; all that is wrong with it at once.
fn check(keep: &KeepArgs) -> Result<(), Failure> {
    let mut faults = Vec::new();
    if let Some(date) = keep.date.as_deref().filter(|date| !is_date(date)) {
        faults.push(format!("--date {date}: this is no day of the calendar, such as 2025-12-10"));
    }
    if let Some(name) = keep.class.as_deref().filter(|name| DatasetClass::from_name(name).is_none())
    {
        faults.push(format!("--class {name}: give full-cache or larger-than-memory"));
    }
    let layout = Layout::named(&keep.template, Format::Markdown);
    if let Err(error) = layout.check() {
        faults.push(format!("--template {}: {error}", keep.template));
    }
    if faults.is_empty() { Ok(()) } else { Err(Failure::input(anyhow!(faults.join("\n")))) }
}

fn names(files: &[PathBuf]) -> String {
    const SHOWN: usize = 3;
    let name = |file: &PathBuf| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let shown: Vec<String> = files.iter().take(SHOWN).map(name).collect();
    let more = match files.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let what = if files.len() == 1 { "the file" } else { "the files" };
    format!("{what} {}{more}", shown.join(", "))
}

/// The day, in UTC, on which the youngest of the files was written.
fn newest(files: &[PathBuf]) -> Result<String, Failure> {
    let modified = |file: &PathBuf| std::fs::metadata(file).and_then(|data| data.modified()).ok();
    let newest = files.iter().filter_map(modified).max().unwrap_or(UNIX_EPOCH);
    let moment = jiff::Timestamp::try_from(newest).map_err(anyhow::Error::new)?;
    Ok(moment.strftime("%Y-%m-%d").to_string())
}

/// A file's bytes, or why there are none.
fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = File::open(path)
        .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(|error| format!("cannot be read: {error}"))?;
    if read as u64 > FILE_BYTES_MAX {
        return Err(format!("is larger than {} MiB", FILE_BYTES_MAX >> 20));
    }
    Ok(bytes)
}
