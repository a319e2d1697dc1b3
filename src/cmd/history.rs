//! `gridbench history`: the runs of a matrix in order, and where a cell's level changed.

use std::path::Path;

use anyhow::anyhow;

use super::{Failure, Outcome, matrix_source};
use crate::cli::{HistoryArgs, HistoryFormat};
use crate::matrix::{Source, parse};
use crate::model::ResultSet;
use crate::report::{
    HistoryReport, history_csv, history_json, history_markdown, history_opening, history_text,
};
use crate::stats::{CellChange, history};
use crate::store::{self, RunDir, StoreError, UnknownName};
use crate::ui::Printer;

pub(super) fn run(arguments: &HistoryArgs, printer: Printer) -> Result<Outcome, Failure> {
    let matrix = matrix_name(&arguments.matrix)?;
    let found = Runs::of(&arguments.out, &matrix)?;
    let history = history(&found.results()?);
    let report = HistoryReport { matrix: &matrix, rehearsals: found.rehearsals, history: &history };
    match arguments.format {
        HistoryFormat::Table => printer.data(&history_text(&report))?,
        HistoryFormat::Md => printer.data(&history_markdown(&report))?,
        HistoryFormat::Csv => printer.data(&history_csv(&report))?,
        HistoryFormat::Json => printer.data(&history_json(&report))?,
    }
    if matches!(arguments.format, HistoryFormat::Csv | HistoryFormat::Json) {
        printer.talk(&history_opening(&report));
    }
    let newest = history.alerts.iter().filter(|alert| alert.run + 1 == history.runs.len());
    let is_worse = newest.flat_map(|alert| &alert.changes).any(CellChange::is_worse);
    let fails = arguments.fail_on_change && is_worse;
    Ok(if fails { Outcome::Regression } else { Outcome::Done })
}

/// The name in a matrix file, else what was typed.
fn matrix_name(typed: &str) -> Result<String, Failure> {
    if !Path::new(typed).is_file() {
        return Ok(typed.to_owned());
    }
    let bytes = matrix_source::read(Path::new(typed)).map_err(Failure::input)?;
    let matrix = parse(&Source { name: typed, bytes: &bytes }, &[])
        .map_err(|faults| Failure::input(anyhow!(faults.render(false))))?;
    Ok(matrix.name)
}

/// The runs of a matrix.
struct Runs {
    /// The oldest first, rehearsals apart.
    measured: Vec<RunDir>,
    rehearsals: usize,
}

impl Runs {
    fn of(out: &Path, matrix: &str) -> Result<Self, StoreError> {
        let mut measured = Vec::new();
        let mut rehearsals = 0;
        let mut others: Vec<String> = Vec::new();
        for name in store::runs(out) {
            let run = match RunDir::open(out, &out.join(&name).to_string_lossy()) {
                Ok(run) => run,
                // A run of another matrix may be of another version.
                Err(_) if !name.contains(&part(matrix)) => continue,
                Err(error) => return Err(error),
            };
            let plan = &run.description().plan;
            match (plan.matrix.name == matrix, plan.rehearsal) {
                (false, _) => others.push(plan.matrix.name.clone()),
                (true, Some(_)) => rehearsals += 1,
                (true, None) => measured.push(run),
            }
        }
        if measured.is_empty() && rehearsals == 0 {
            others.sort_unstable();
            others.dedup();
            let sought = "matrix with runs";
            return Err(UnknownName { sought, name: matrix.to_owned(), known: others }.into());
        }
        measured.sort_by(|a, b| moment(a).cmp(&moment(b)));
        Ok(Self { measured, rehearsals })
    }

    fn results(&self) -> Result<Vec<ResultSet>, StoreError> {
        self.measured.iter().map(RunDir::results).collect()
    }
}

/// When a run was started; of one millisecond, the names decide.
fn moment(run: &RunDir) -> (i64, &str) {
    (run.description().started_unix_ms, run.name())
}

/// A matrix's name as it stands in the names of its runs.
fn part(matrix: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    matrix.chars().map(|c| if plain(c) { c } else { '-' }).collect()
}
