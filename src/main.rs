//! argv -> subcommand -> exit code; prints an error chain once.

use std::process::ExitCode;

use clap::Parser;
use gridbench::cli::Cli;
use gridbench::cmd;
use gridbench::ui::Printer;

fn main() -> ExitCode {
    let printer = Printer::default();
    match cmd::run(Cli::parse(), printer) {
        Ok(outcome) => ExitCode::from(outcome as u8),
        Err(failure) => {
            printer.talk(&failure.to_string());
            ExitCode::from(failure.exit_code)
        }
    }
}
