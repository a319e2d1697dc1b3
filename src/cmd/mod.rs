//! One file a subcommand, one shape: parse what was typed, wire, run, print.
//!
//! Must not know: anything that a library user would want; that stands in the other modules.

use std::fmt;

use crate::cli::{Cli, Command};
use crate::store::StoreError;
use crate::ui::Printer;

mod audit;
mod baseline;
mod calibrate;
mod check;
mod clean;
mod dataset;
mod diff;
mod dossier;
mod examine;
mod history;
mod into;
mod load;
mod manual;
mod matrix_source;
mod pages;
mod plan;
mod render;
mod run;
mod show;
mod signals;

/// How a subcommand ended when it did not fail; its number is the process's exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All of it was done.
    Done = 0,
    /// Some cells failed; the rest is on disk.
    SomeFailed = 3,
    /// A cell is slower than its baseline, or an audit or a history was to fail on what it finds.
    Regression = 4,
    /// The page on disk is not the page that the results give.
    Stale = 5,
    /// The user stopped it; it can be resumed.
    Interrupted = 130,
}

/// Why a subcommand failed, told apart by whose turn it is.
#[derive(Debug)]
pub struct Failure {
    /// 1: ours or the machine's. 2: the input's.
    pub exit_code: u8,
    /// The chain of causes, or a rendered diagnostic.
    pub error: anyhow::Error,
}

impl Failure {
    /// The input is wrong: what was typed, a file, a name.
    pub fn input(error: impl Into<anyhow::Error>) -> Self {
        Self { exit_code: 2, error: error.into() }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        let error = error.into();
        let is_input = error.downcast_ref::<StoreError>().is_some_and(StoreError::is_input);
        Self { exit_code: if is_input { 2 } else { 1 }, error }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&chain(&self.error))
    }
}

/// An error and its causes in one line; a cause that the words before it quote is not repeated.
fn chain(error: &anyhow::Error) -> String {
    let mut words = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !words.contains(&cause) {
            words = format!("{words}: {cause}");
        }
    }
    words
}

/// Runs what was typed.
pub fn run(cli: Cli, printer: Printer) -> Result<Outcome, Failure> {
    match cli.command {
        Command::Plan(arguments) => plan::run(&arguments, printer),
        Command::Run(arguments) => run::run(&arguments, printer),
        Command::Load(arguments) => load::run(&arguments, printer),
        Command::Check(arguments) => check::run(&arguments, printer),
        Command::Clean(arguments) => clean::run(&arguments, printer),
        Command::Show(arguments) => show::run(&arguments, printer),
        Command::Render(arguments) => render::run(&arguments, printer),
        Command::Diff(arguments) => diff::run(&arguments, printer),
        Command::History(arguments) => history::run(&arguments, printer),
        Command::Audit(arguments) => audit::run(&arguments, printer),
        Command::Baseline(arguments) => baseline::run(&arguments, printer),
        Command::Calibrate(arguments) => calibrate::run(&arguments, printer),
        Command::Completions(arguments) => manual::completions(&arguments, printer),
        Command::Man(arguments) => manual::pages(&arguments, printer),
        Command::CalibratePart(arguments) => calibrate::part::run(&arguments, printer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let denied = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let quoted = StoreError::Io { action: "create", path: "x".into(), source: denied() };
        assert_eq!(Failure::from(quoted).to_string(), "cannot create x: permission denied");
        let told = anyhow::Error::new(denied()).context("page.md");
        assert_eq!(Failure::from(told).to_string(), "page.md: permission denied");
    }
}
