//! `gridbench run`: a plan becomes a run directory with its pages.
//!
//! Must not know: how a trial is measured, how a row is stored.

mod changes;
pub(super) mod engine;
mod evidence;
mod handles;
mod rounds;
mod session;
pub(super) mod site;
mod summary;

use anyhow::{Context, anyhow};

use super::matrix_source::{LoadedPlan, load_plan};
use super::{Failure, Outcome, examine, signals};
use crate::cli::RunArgs;
use crate::driver::raise_open_files;
use crate::model::{Plan, RunDescription};
use crate::store::RunDir;
use crate::ui::Printer;
use engine::LoadEngine;
use session::{Means, Session};
use site::Sites;

pub(super) fn run(arguments: &RunArgs, printer: Printer) -> Result<Outcome, Failure> {
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
    if let Some(targets) = sites.targets() {
        examine::before_start(&loaded.plan, targets, arguments.yes, printer)?;
    }
    let directory = run_directory(arguments, &loaded, &engine)?;
    // A connection is an open file, and the usual limit is below the published concurrencies.
    raise_open_files().context("cannot raise the limit on open files")?;
    let interrupt = signals::listen().context("cannot listen for Ctrl-C")?;
    let accept_changes = arguments.accept_changes;
    let means = Means { sites, engine, accept_changes, replace: arguments.replace };
    let mut session = Session::new(&loaded, means, directory, interrupt, printer)?;
    let outcome = session.measure()?;
    summary::finish(session.into_directory(), &loaded.plan, outcome, printer)
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
