//! What a run is about to do, for those who show it.
//!
//! Must not know: who they are.

use std::collections::BTreeSet;

use crate::model::{MilliRate, Plan, PlannedSpec, Trial};
use crate::store::RunDir;
use crate::ui::{Outline, OutlineCell, OutlineSpec};

/// The outline of a plan of which these trials are done, at these rates in thousandths per second.
pub(super) fn of(run: &RunDir, plan: &Plan, done: &[(Trial, u64)]) -> Outline {
    let trials = plan.trials();
    let is_done = |trial: &&Trial| done.iter().any(|(done, _)| done == *trial);
    let waiting: Vec<&Trial> = trials.iter().filter(|trial| !is_done(trial)).collect();
    let specs: BTreeSet<usize> = waiting.iter().map(|trial| plan.cells[trial.cell].spec).collect();
    let cells = plan.cells.iter().enumerate().filter(|(_, cell)| plan.spec(cell).skip.is_none());
    Outline {
        run: run.name().to_owned(),
        directory: run.path().display().to_string(),
        title: plan.matrix.title.clone(),
        rehearsal: plan.rehearsal.map(|rehearsal| rehearsal.factor),
        specs: plan.specs.iter().map(spec).collect(),
        scenarios: plan
            .matrix
            .scenarios
            .iter()
            .map(|of| (of.id.clone(), of.title.clone()))
            .collect(),
        cells: cells
            .map(|(index, cell)| OutlineCell {
                id: cell.id.clone(),
                trials: plan.protocol.repeats,
                done: done
                    .iter()
                    .filter(|(trial, _)| trial.cell == index)
                    .map(|(_, qps)| MilliRate(*qps))
                    .collect(),
            })
            .collect(),
        waiting: waiting.len() as u64,
        specs_waiting: specs.len() as u64,
        warmup: plan.protocol.warmup,
        duration: plan.protocol.duration,
    }
}

fn spec(planned: &PlannedSpec) -> OutlineSpec {
    OutlineSpec {
        id: planned.spec.id.clone(),
        cpu: planned.spec.cpu,
        memory: planned.spec.memory,
        skipped: planned.skip.as_ref().map(|skip| skip.reason.clone()),
    }
}
