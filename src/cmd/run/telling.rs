//! What a run does, as facts for those who show it.
//!
//! Must not know: who they are.

use std::collections::BTreeSet;

use crate::exec::{Phase, Probe, TrialEvent};
use crate::model::{MilliRate, Plan, PlannedSpec, ResultSet, SpecId, Trial};
use crate::store::RunDir;
use crate::ui::{Outline, OutlineCell, OutlineSpec, Progress, RunEvent, SecondFigures, TrialPhase};

/// The outline of a plan of which these trials are done, at these rates in thousandths per second.
pub(super) fn outline(run: &RunDir, plan: &Plan, done: &[(Trial, u64)]) -> Outline {
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

/// Tells what a trial does, and has the server looked at in its measured window.
pub(super) fn event(
    progress: &mut Progress,
    probe: Option<&Probe>,
    (concurrency, event): (u32, &TrialEvent<'_>),
) {
    match event {
        TrialEvent::Connected { sessions } => {
            progress.tell(&RunEvent::Connecting { sessions: *sessions, concurrency });
        }
        TrialEvent::Window { start, end } => {
            if let Some(probe) = probe {
                probe.window(*start, *end);
            }
        }
        TrialEvent::Phase(phase) => progress.tell(&RunEvent::Phase(match phase {
            Phase::Connect => TrialPhase::Connecting,
            Phase::Warmup => TrialPhase::WarmingUp,
            Phase::Measure => TrialPhase::Measuring,
            Phase::Drain => TrialPhase::Draining,
        })),
        TrialEvent::Interval(interval) => {
            progress.tell(&RunEvent::Second(SecondFigures::from(*interval)));
        }
    }
}

/// Tells which trials the ladder leaves out.
pub(super) fn left_out(progress: &mut Progress, plan: &Plan, trials: &[&Trial]) {
    if !trials.is_empty() {
        let cells = trials.iter().map(|trial| plan.cells[trial.cell].id.clone()).collect();
        progress.tell(&RunEvent::LeftOut { cells });
    }
}

/// Tells what of a spec was measured and is not of the class of the matrix.
pub(super) fn refused(progress: &mut Progress, results: &ResultSet, spec: &SpecId) {
    let refused = results.cells.iter().filter(|cell| cell.is_refused(results.class));
    for cell in refused.filter(|cell| cell.spec == *spec) {
        progress.tell(&RunEvent::Refused {
            spec: cell.spec.clone(),
            scenario: cell.scenario.clone(),
            reason: cell.note.clone().unwrap_or_default(),
        });
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
