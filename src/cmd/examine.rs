//! Servers of a targets file, looked at before anything is done there.
//!
//! Must not know: what is printed of them.

use std::collections::BTreeSet;
use std::time::Duration;

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

impl Examined {
    /// Collects what stands in the way, warns of the rest; whether `--yes` would let any of it
    /// pass.
    fn tell(&self, (yes, faults): (bool, &mut Vec<String>), printer: Printer) -> bool {
        let name = &self.name;
        let mut is_guarded = false;
        if let Err(error) = &self.seen {
            faults.push(format!("{name}: {error}"));
        }
        for Remark { gravity, words, remedy } in &self.remarks {
            let line = match remedy.as_str() {
                "" => format!("{name}: {words}"),
                remedy => format!("{name}: {words}\n    {remedy}"),
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
        is_guarded
    }
}

/// How long a server may take for all that it is asked.
const PATIENCE: Duration = Duration::from_secs(60);

/// Looks at a target, by each of its addresses.
pub(super) fn examine(
    name: &str,
    endpoint: &Endpoint,
    needs: &Needs,
) -> anyhow::Result<Vec<Examined>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // The schema that the endpoint names may not be there yet.
    let endpoints: Vec<Endpoint> =
        endpoint.each().map(|each| Endpoint { database: None, ..each }).collect();
    let seen: Vec<_> = endpoints
        .iter()
        .map(|endpoint| {
            // Its timer needs the runtime around it.
            let asked = async { tokio::time::timeout(PATIENCE, ask(endpoint)).await };
            runtime.block_on(asked).unwrap_or_else(|_| Err(silent(endpoint)))
        })
        .collect();
    let identities: BTreeSet<_> =
        seen.iter().flatten().map(|seen| seen.identity.as_str()).collect();
    // Connections take turns among the addresses.
    let servers = u32::try_from(identities.len().max(1)).unwrap_or(u32::MAX);
    let needs = Needs { connections: needs.connections.div_ceil(servers), ..needs.clone() };
    let first = seen.first().and_then(|seen| seen.as_ref().ok()).map(|seen| seen.info.clone());
    let examined = endpoints.iter().zip(seen).map(|(endpoint, seen)| {
        let mut remarks = seen.as_ref().map_or_else(|_| Vec::new(), |seen| judge(seen, &needs));
        let version = seen.as_ref().ok().map(|seen| &seen.info.version);
        if let (Some(first), Some(version)) = (&first, version)
            && first.version != *version
        {
            let words =
                format!("it is {version}, and the first of the addresses {}", first.version);
            let remedy = "name servers that are alike".to_owned();
            remarks.push(Remark { gravity: Gravity::Doubtful, words, remedy });
        }
        let name = match endpoints.len() {
            1 => name.to_owned(),
            _ => format!("{name} ({})", endpoint.address),
        };
        Examined { name, seen, remarks }
    });
    Ok(examined.collect())
}

async fn ask(endpoint: &Endpoint) -> Result<Examination, DriverError> {
    let mut admin = Admin::connect(endpoint).await?;
    let seen = admin.examine().await;
    admin.close().await;
    seen
}

fn silent(endpoint: &Endpoint) -> DriverError {
    let message = format!("no answer to what was asked within {} s", PATIENCE.as_secs());
    DriverError::Lost { address: endpoint.address.to_string(), message }
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
        for examined in examine(&id, &endpoint, &needs(plan, planned, &endpoint))? {
            is_guarded |= examined.tell((yes, &mut faults), printer);
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
