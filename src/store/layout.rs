//! Which files a trial is written to, in which order, and how each begins.
//!
//! Must not know: where the files are.

use crate::model::RunDescription;

use super::csv_table::{self, Row};
use super::lines::leading_number;
use super::rows::{CellRow, ErrorRow, IntervalRow, StatementRow};
use super::server_rows::{CommandRow, SecondRow, ServerRow};
use super::{TrialRecord, latency};

/// Every file that is appended to, in the order in which a trial is written: `cells.csv` last.
pub(super) const APPENDED: [&str; 8] = [
    IntervalRow::FILE,
    StatementRow::FILE,
    ErrorRow::FILE,
    SecondRow::FILE,
    CommandRow::FILE,
    ServerRow::FILE,
    latency::FILE,
    CellRow::FILE,
];

/// Files that runs from before there was evidence lack; a trial needs no row in them.
pub(super) const ADDED_LATER: [&str; 3] = [SecondRow::FILE, CommandRow::FILE, ServerRow::FILE];

/// What a trial adds to each file of [`APPENDED`].
pub(super) fn blocks(trial: u64, record: &TrialRecord<'_>, level_ppm: u64) -> [Vec<u8>; 8] {
    let m = record.measurement;
    let intervals = m.intervals.iter().map(|of| IntervalRow::of(trial, record, of));
    let statements = m.statements.iter().map(|of| StatementRow::of(trial, record, of));
    let errors = m.errors.iter().map(|of| ErrorRow::of(trial, record, of));
    let evidence = record.evidence.into_iter();
    let seconds = evidence.clone().flat_map(|evidence| &evidence.seconds);
    let commands = evidence.clone().flat_map(|evidence| &evidence.commands);
    [
        csv_table::render(intervals),
        csv_table::render(statements),
        csv_table::render(errors),
        csv_table::render(seconds.map(|of| SecondRow::of(trial, record, of))),
        csv_table::render(commands.map(|of| CommandRow::of(trial, record, of))),
        csv_table::render(evidence.map(|of| ServerRow::of(trial, record, of))),
        latency::render(trial, record),
        csv_table::render([CellRow::of(trial, record, level_ppm)]),
    ]
}

/// How a file of [`APPENDED`] begins.
pub(super) fn header(file: &str, description: &RunDescription) -> Vec<u8> {
    match file {
        CellRow::FILE => csv_table::header::<CellRow>(),
        IntervalRow::FILE => csv_table::header::<IntervalRow>(),
        StatementRow::FILE => csv_table::header::<StatementRow>(),
        ErrorRow::FILE => csv_table::header::<ErrorRow>(),
        SecondRow::FILE => csv_table::header::<SecondRow>(),
        CommandRow::FILE => csv_table::header::<CommandRow>(),
        ServerRow::FILE => csv_table::header::<ServerRow>(),
        _ => latency::header(description.started_unix_ms),
    }
}

/// How a line of that file says which trial it belongs to.
pub(super) fn trial_of(file: &str) -> impl Fn(&[u8]) -> Option<u64> {
    let histograms = file == latency::FILE;
    move |line| if histograms { latency::trial_of(line) } else { leading_number(line, b',') }
}
