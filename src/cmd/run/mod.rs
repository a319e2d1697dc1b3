//! `gridbench run`: a plan becomes a run directory with its pages.
//!
//! Must not know: how a trial is measured, how a row is stored.

mod absence;
mod changes;
pub(super) mod engine;
mod evidence;
mod handles;
mod rounds;
mod session;
pub(super) mod site;
mod summary;
mod telling;
mod watched;

use anyhow::{Context, anyhow};

use super::matrix_source::{LoadedPlan, load_plan};
use super::{Failure, Outcome, examine, signals};
use crate::cli::{ProgressName, RunArgs};
use crate::driver::raise_open_files;
use crate::model::{Plan, RunDescription};
use crate::store::RunDir;
use crate::ui::{Printer, Progress, ProgressMode, RunEnding, RunEvent, Voice};
use engine::LoadEngine;
use session::{Means, Session};
use site::Sites;

pub(super) fn run(arguments: &RunArgs, printer: Printer) -> Result<Outcome, Failure> {
    let mode = ProgressMode::of(arguments.telling.progress.map(mode), printer.terminal.can_redraw);
    let printer = printer.with_voice(voice(mode));
    let loaded = load_plan(&arguments.matrix)?;
    let sites = Sites::choose(&arguments.matrix, &arguments.server, &loaded.plan, printer)?;
    let named = arguments.sysbench.as_deref();
    let engine = LoadEngine::choose(named, &loaded.plan, sites.targets())?;
    announce(&loaded.plan, &sites, printer);
    engine.announce(printer);
    if loaded.plan.trials().is_empty() {
        return Err(Failure::input(anyhow!(
            "nothing of this matrix can run here; --targets names servers elsewhere, --rehearse \
             tries the matrix on this machine"
        )));
    }
    let listener = watched::listen(arguments.telling.serve.as_deref())?;
    if let Some(targets) = sites.targets() {
        examine::before_start(&loaded.plan, targets, arguments.yes, printer)?;
    }
    let directory = run_directory(arguments, &loaded, &engine)?;
    // A connection is an open file, and the usual limit is below the published concurrencies.
    raise_open_files().context("cannot raise the limit on open files")?;
    let interrupt = signals::listen().context("cannot listen for Ctrl-C")?;
    let accept_changes = arguments.accept_changes;
    let means = Means { sites, engine, accept_changes, replace: arguments.replace };
    let mut progress = Progress::new(printer, mode);
    let told = (&mut progress, printer);
    let server = watched::serve(listener, &directory, &interrupt, told)?;
    let ended = Session::new(&loaded, means, directory, interrupt, &mut progress)
        .and_then(|mut session| Ok((session.measure()?, session.into_directory())))
        .and_then(|(outcome, directory)| {
            progress.rest();
            summary::finish(directory, &loaded.plan, outcome, printer)
        });
    progress.rest();
    progress.tell(&RunEvent::Ended(ending(&ended)));
    // Its readers are told the end, and keep what they see.
    drop(server);
    ended
}

/// How a run ended, for those who were told of it.
fn ending(ended: &Result<Outcome, Failure>) -> RunEnding {
    match ended {
        Ok(Outcome::Interrupted) => RunEnding::Interrupted,
        Ok(Outcome::SomeFailed) => RunEnding::SomeFailed,
        Ok(_) => RunEnding::Done,
        Err(failure) => RunEnding::Failed { reason: failure.to_string() },
    }
}

/// The mode that was typed.
fn mode(name: ProgressName) -> ProgressMode {
    match name {
        ProgressName::Bar => ProgressMode::Bar,
        ProgressName::Plain => ProgressMode::Plain,
        ProgressName::Json => ProgressMode::Json,
        ProgressName::None => ProgressMode::None,
    }
}

/// In which form all else is said meanwhile.
fn voice(mode: ProgressMode) -> Voice {
    match mode {
        ProgressMode::Bar | ProgressMode::Plain => Voice::Lines,
        ProgressMode::Json => Voice::Json,
        ProgressMode::None => Voice::Warnings,
    }
}

/// Says what will not be measured, before anything starts.
fn announce(plan: &Plan, sites: &Sites, printer: Printer) {
    if let Some(rehearsal) = plan.rehearsal {
        printer.talk(&format!(
            "Rehearsal: memory and data divided by {}, short trials. Not a result.",
            rehearsal.factor
        ));
    }
    for planned in &plan.specs {
        if let Some(skip) = &planned.skip {
            printer.talk(&format!("skipped {}: {}", planned.spec.id, skip.reason));
        }
    }
    printer.talk(&sites.sentence());
}

/// The directory of this run: a new one, or the one to go on with.
fn run_directory(
    arguments: &RunArgs,
    loaded: &LoadedPlan,
    engine: &LoadEngine,
) -> Result<RunDir, Failure> {
    let out = &arguments.matrix.out;
    let Some(resumed) = &arguments.resume else {
        let description = describe(loaded, engine);
        return Ok(RunDir::create(out, &description, &loaded.bytes)?);
    };
    let matrix_name = &loaded.plan.matrix.name;
    let is_alike = |run: &RunDescription| run.plan.rehearsal.is_some() == arguments.matrix.rehearse;
    let mut directory = match resumed.as_str() {
        "latest" => RunDir::latest_that(out, matrix_name, is_alike)?.ok_or_else(|| {
            let out = out.display();
            Failure::input(anyhow!("no run of `{matrix_name}` under {out} to resume"))
        })?,
        name => RunDir::open(out, name)?,
    };
    directory.lock()?;
    if directory.description().plan != loaded.plan {
        return Err(Failure::input(anyhow!(
            "{} was planned otherwise (matrix, --set, --only, --rehearse or host differ), so its \
             trials cannot be mixed with these; start a new run without --resume",
            directory.path().display()
        )));
    }
    let driver = &directory.description().driver;
    if *driver != engine.name() {
        return Err(Failure::input(anyhow!(
            "{} was begun with {driver}, and this is {}: numbers of two programs cannot be mixed; \
             name the other with --sysbench, or start a new run without --resume",
            directory.path().display(),
            engine.name()
        )));
    }
    Ok(directory)
}

fn describe(loaded: &LoadedPlan, engine: &LoadEngine) -> RunDescription {
    RunDescription {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        tool_revision: option_env!("GRIDBENCH_REVISION").map(str::to_owned),
        started_unix_ms: session::now_unix_ms(),
        command: std::env::args().collect(),
        matrix_sha256: loaded.sha256.clone(),
        plan: loaded.plan.clone(),
        host: loaded.host.clone(),
        driver: engine.name(),
        load_policy: engine.policy(&loaded.plan.protocol).in_effect(),
        servers: Vec::new(),
    }
}
