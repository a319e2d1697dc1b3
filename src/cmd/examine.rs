//! Servers of a targets file, looked at before anything is done there.
//!
//! Must not know: what is printed of them.

use anyhow::anyhow;

use super::Failure;
use crate::driver::DriverError;
use crate::driver::adapter::Admin;
use crate::load::schema_of;
use crate::model::{
    Access, Endpoint, Examination, Gravity, Needs, Plan, PlannedSpec, Remark, Scenario,
    StatementMode, counted,
};
use crate::target::{Targets, judge};
use crate::ui::Printer;

/// A server with what follows from what was seen there.
pub(super) struct Examined {
    /// The target.
    pub(super) name: String,
    /// What was seen, or why nothing was.
    pub(super) seen: Result<Examination, DriverError>,
    /// The gravest first.
    pub(super) remarks: Vec<Remark>,
}

/// Looks at one server.
pub(super) fn examine(name: &str, endpoint: &Endpoint, needs: &Needs) -> anyhow::Result<Examined> {
    // The schema that the endpoint names may not be there yet.
    let endpoint = Endpoint { database: None, ..endpoint.clone() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let seen = runtime.block_on(async {
        let mut admin = Admin::connect(&endpoint).await?;
        let seen = admin.examine().await;
        admin.close().await;
        seen
    });
    let remarks = seen.as_ref().map_or_else(|_| Vec::new(), |seen| judge(seen, needs));
    Ok(Examined { name: name.to_owned(), seen, remarks })
}

/// What a plan needs of a spec's server.
pub(super) fn needs(plan: &Plan, planned: &PlannedSpec, endpoint: &Endpoint) -> Needs {
    let cells = || plan.runnable_cells().filter(|cell| cell.id.spec == planned.spec.id);
    let tables = planned.dataset.tables;
    let handles = |scenario: &Scenario| scenario.workload.handles(&scenario.options, tables);
    let is_prepared = plan.protocol.statements == StatementMode::Prepared;
    let rehearses = plan.rehearsal.is_some();
    Needs {
        connections: cells().map(|cell| cell.id.concurrency).max().unwrap_or(0),
        handles: cells()
            .filter(|_| is_prepared)
            .map(|cell| handles(plan.scenario(cell)))
            .max()
            .unwrap_or(0),
        writes: cells().any(|cell| plan.scenario(cell).access() != Access::ReadOnly),
        disk_bytes: planned.dataset.disk_bytes().0,
        buffer_pool_bytes: (!rehearses).then_some(planned.buffer_pool.0),
        database: schema_of(endpoint, &planned.dataset),
        tables,
    }
}

/// Looks at every server of a plan before anything is begun there.
///
/// # Errors
/// Exit code 2 where a server cannot do what the plan needs, does not answer, or is used by others
/// and that was not said to be meant.
pub(super) fn before_start(
    plan: &Plan,
    targets: &Targets,
    yes: bool,
    printer: Printer,
) -> Result<(), Failure> {
    let mut faults = Vec::new();
    let mut is_guarded = false;
    for planned in plan.specs.iter().filter(|planned| planned.skip.is_none()) {
        let id = planned.spec.id.to_string();
        let Some(endpoint) = targets.endpoint(&planned.spec.id) else { continue };
        let examined = examine(&id, &endpoint, &needs(plan, planned, &endpoint))?;
        if let Err(error) = &examined.seen {
            faults.push(format!("{id}: {error}"));
        }
        for Remark { gravity, words, remedy } in &examined.remarks {
            let line = match remedy.as_str() {
                "" => format!("{id}: {words}"),
                remedy => format!("{id}: {words}\n    {remedy}"),
            };
            match gravity {
                Gravity::Refused => faults.push(line),
                Gravity::Guarded if !yes => {
                    is_guarded = true;
                    faults.push(line);
                }
                Gravity::Guarded | Gravity::Doubtful => printer.warn(&line),
                Gravity::Known => {}
            }
        }
    }
    if faults.is_empty() {
        return Ok(());
    }
    let how = match is_guarded {
        true => "; --yes goes on where others are only at work there",
        false => "",
    };
    Err(Failure::input(anyhow!(
        "{} before anything was begun{how}:\n  {}",
        counted(faults.len(), "fault"),
        faults.join("\n  ")
    )))
}
