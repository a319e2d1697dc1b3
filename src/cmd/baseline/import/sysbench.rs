//! Saved output of sysbench: each run with a report is a number.
//!
//! Must not know: how output is parsed, or what becomes of the numbers.

use std::path::Path;

use anyhow::anyhow;

use super::catalogue::{Catalogue, contradiction, typed_otherwise};
use super::facts::{Facts, Voice, agreed, spec};
use super::pattern::Pattern;
use super::{Number, Reading, bytes};
use crate::cli::SysbenchImportArgs;
use crate::cmd::Failure;
use crate::model::{MilliRate, Scenario, counted};
use crate::sysbench::{Block, Run, parse, remedy, words};

/// Reads all files; what cannot be read is a fault with its line.
///
/// # Errors
/// A pattern that is none.
pub(super) fn read(
    arguments: &SysbenchImportArgs,
    catalogue: &Catalogue,
) -> Result<Reading, Failure> {
    let pattern = arguments.name_pattern.as_deref().map(Pattern::parse).transpose();
    let pattern = pattern.map_err(|what| Failure::input(anyhow!("--name-pattern: {what}")))?;
    let source = Source { arguments, pattern: pattern.as_ref(), catalogue };
    let mut reading = Reading::default();
    let mut versions: Vec<String> = Vec::new();
    for path in &arguments.files {
        source.file(path, &mut reading, &mut versions);
    }
    if !versions.is_empty() {
        reading.known.push(format!("Measured with {}.", versions.join(" and ")));
    }
    Ok(reading)
}

struct Source<'a> {
    arguments: &'a SysbenchImportArgs,
    pattern: Option<&'a Pattern>,
    catalogue: &'a Catalogue,
}

impl Source<'_> {
    fn file(&self, path: &Path, reading: &mut Reading, versions: &mut Vec<String>) {
        let file = path.display().to_string();
        let runs = match bytes(path) {
            Ok(bytes) => parse(&bytes),
            Err(what) => return reading.fault(&file, None, what),
        };
        if runs.is_empty() {
            return reading.fault(&file, None, "there is no output of sysbench in it");
        }
        let named = match self.pattern.map(|pattern| pattern.read(path, self.catalogue)) {
            Some(Err(what)) => return reading.fault(&file, None, what),
            Some(Ok(facts)) => facts,
            None => Facts::default(),
        };
        for run in &runs {
            match self.number(&file, run, named.clone()) {
                Ok(number) => {
                    reading.known.extend(reservations(path, run));
                    reading.numbers.push(number);
                }
                Err((line, what)) => reading.fault(&file, Some(line), what),
            }
            let version = run.version.as_ref().map(ToString::to_string);
            versions.extend(version.filter(|version| !versions.contains(version)));
        }
    }

    fn number(&self, file: &str, run: &Run, named: Facts) -> Result<Number, (u64, String)> {
        let first = run.lines.0;
        let at = |line: u64| move |what: String| (line, what);
        let (line, qps) = self.rate(run)?;
        let flags = Facts::of(&self.arguments.fill);
        let voices = [
            (Voice::Flag, flags),
            (Voice::Name, named),
            (Voice::Report, reported(run)),
            (Voice::CommandLine, typed(run)),
        ];
        let facts = agreed(&voices).map_err(at(first))?;
        let missing = |what: &str, flag: &str| {
            (first, format!("neither flags, nor the name, nor the text say {what}: add {flag}"))
        };
        let scenario = self.scenario(run, facts.scenario.as_deref()).map_err(at(line))?;
        let size = facts.spec.ok_or_else(|| missing("the spec", "--spec"))?;
        let spec = spec(&size).ok_or_else(|| {
            (first, format!("`{size}` is no spec: give cores and gigabytes, such as 2c4g"))
        })?;
        let concurrency = facts.concurrency.filter(|concurrency| *concurrency > 0);
        let tables = facts.tables.filter(|tables| *tables > 0);
        let table_size = facts.table_size.filter(|rows| *rows > 0);
        Ok(Number {
            file: file.to_owned(),
            line,
            spec,
            scenario,
            concurrency: concurrency.ok_or_else(|| missing("the connections", "--concurrency"))?,
            tables: tables.ok_or_else(|| missing("how many tables there are", "--tables"))?,
            table_size: table_size
                .ok_or_else(|| missing("how many rows a table has", "--table-size"))?,
            qps,
        })
    }

    /// The rate as printed, with the line of the report.
    fn rate(&self, run: &Run) -> Result<(u64, MilliRate), (u64, String)> {
        let whole = run.whole_block().filter(|block| block.unfinished.is_none());
        let found = match whole {
            Some(block) if run.checkpoints.is_empty() && block.contradicts_itself() => {
                let what = "the queries and the total time of this report make another rate than \
                            the one that it prints";
                return Err((block.line, what.to_owned()));
            }
            Some(block) => (block.line, block.qps),
            None if self.arguments.partial => (run.lines.0, mean(run)),
            None => return Err((run.lines.1, unfinished(run))),
        };
        match found {
            (line, Some(rate)) if rate.0 > 0 => Ok((line, rate)),
            (line, _) => Err((line, "not one query was answered: this is no result".to_owned())),
        }
    }

    fn scenario(&self, run: &Run, id: Option<&str>) -> Result<Scenario, String> {
        let block = run.whole_block();
        let scenario = match id {
            Some(id) => {
                let scenario = self.catalogue.find(id)?;
                match run.invoked.as_ref().and_then(|invoked| typed_otherwise(&scenario, invoked)) {
                    None => scenario,
                    Some(what) => return Err(what),
                }
            }
            None => self.meant(run, block).ok_or_else(|| {
                "neither flags, nor the name, nor the text say the scenario: add --scenario"
                    .to_owned()
            })?,
        };
        match block.and_then(|block| contradiction(&scenario, block)) {
            None => Ok(scenario),
            Some(what) => Err(format!("{what}; is it another scenario?")),
        }
    }

    /// By the command line in the text, or by the mix of statements.
    fn meant(&self, run: &Run, block: Option<&Block>) -> Option<Scenario> {
        if let Some(invoked) = run.invoked.as_ref().filter(|invoked| invoked.workload.is_some()) {
            return self.catalogue.invoked(invoked).cloned();
        }
        block.and_then(|block| self.catalogue.sending(block)).cloned()
    }
}

/// What a reader of a number must know of the run that it is from.
fn reservations(path: &Path, run: &Run) -> Vec<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut known = Vec::new();
    if let Some(rate) = run.rate {
        known.push(format!(
            "{name}, line {}: driven at {rate} events a second; that is what was asked for, not \
             what the server can do.",
            run.lines.0
        ));
    }
    if run.whole_block().is_none_or(|block| block.unfinished.is_some()) {
        let (first, last) = run.lines;
        known.push(format!(
            "{name}, lines {first} to {last}: cut off; the number is the mean of its interval \
             lines."
        ));
    }
    known
}

/// What the report says of itself.
fn reported(run: &Run) -> Facts {
    Facts { concurrency: run.threads, ..Facts::default() }
}

/// What the command line before it says.
fn typed(run: &Run) -> Facts {
    let number = |name| run.invoked.as_ref().and_then(|invoked| invoked.number(name));
    let small = |name| number(name).and_then(|number| u32::try_from(number).ok());
    Facts {
        spec: None,
        scenario: None,
        concurrency: small("threads"),
        tables: small("tables"),
        table_size: number("table_size"),
    }
}

/// Why there is no report, and what can be done.
fn unfinished(run: &Run) -> String {
    let what = match (&run.block, words(&run.messages)) {
        (_, Some(words)) => format!("this run failed: {words}"),
        (Some(block), None) if block.is_whole() => "this run was shut down by force".to_owned(),
        (Some(_), None) => "the output ends within the report".to_owned(),
        (None, None) => "the output ends before the report (was the run killed?)".to_owned(),
    };
    let mut text = what;
    if let Some(remedy) = remedy(&text) {
        text = format!("{text} ({remedy})");
    }
    match run.intervals.len() {
        0 => text,
        count => {
            format!("{text}; --partial takes the mean of its {}", counted(count, "interval line"))
        }
    }
}

/// The mean of the interval lines, each as long as since the one before.
fn mean(run: &Run) -> Option<MilliRate> {
    let (mut sum, mut begin_ms) = (0_u128, 0);
    for interval in &run.intervals {
        let length_ms = interval.at_ms.saturating_sub(begin_ms);
        sum = sum.saturating_add(u128::from(interval.qps.0) * u128::from(length_ms));
        begin_ms = interval.at_ms;
    }
    let rate = sum.checked_div(u128::from(begin_ms))?;
    u64::try_from(rate).ok().map(MilliRate)
}
