//! `gridbench completions` and `gridbench man`: both are made of the command line's definition.

use anyhow::Context;
use clap::CommandFactory;

use super::{Failure, Outcome};
use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::ui::Printer;

pub(super) fn completions(
    arguments: &CompletionsArgs,
    printer: Printer,
) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "gridbench", &mut script);
    printer.data(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}

/// `gridbench.1`, and one for each subcommand.
pub(super) fn pages(arguments: &ManArgs, printer: Printer) -> Result<Outcome, Failure> {
    let dir = &arguments.dir;
    std::fs::create_dir_all(dir)
        .with_context(|| format!("cannot make {}", dir.display()))
        .map_err(Failure::input)?;
    clap_mangen::generate_to(Cli::command(), dir)
        .with_context(|| format!("cannot write the manual pages into {}", dir.display()))
        .map_err(Failure::input)?;
    printer.talk(&format!("wrote gridbench.1 and its subcommands into {}", dir.display()));
    Ok(Outcome::Done)
}
