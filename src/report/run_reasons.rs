//! Whether the numbers may be published, and what speaks against it.
//!
//! Must not know: languages, templates.

use super::dossier::Dossier;
use super::run_model::ReasonPart;
use crate::model::{ResultCell, ResultSource, TrialStatus};

/// What a reader must know before the numbers: what forbids to publish them first.
pub(super) fn reasons(dossier: &Dossier<'_>) -> Vec<ReasonPart> {
    let results = dossier.results;
    let mut reasons = Reasons::default();
    match &results.source {
        ResultSource::Published { origin, .. } => {
            reasons.tell("published", false, 1, origin.clone());
        }
        ResultSource::Measured { rehearsal, shared_machine, .. } => {
            let factor = rehearsal.map(|of| usize::try_from(of.factor).unwrap_or(usize::MAX));
            reasons.tell("rehearsal", true, factor.unwrap_or(0), String::new());
            reasons.tell("shared-machine", false, usize::from(*shared_machine), String::new());
        }
    }
    let without = |is: &dyn Fn(&ResultCell) -> bool| {
        results.cells.iter().filter(|cell| cell.qps.is_none() && is(cell)).count()
    };
    let is_refused = |cell: &ResultCell| cell.is_refused(results.class);
    let says = |cell: &ResultCell, begin: &str| {
        cell.note.as_ref().is_some_and(|note| note.starts_with(begin))
    };
    let is_failed = |cell: &ResultCell| says(cell, "failed: ") || says(cell, "interrupted");
    reasons.tell("failed", true, without(&is_failed), String::new());
    reasons.tell("refused", true, without(&is_refused), String::new());
    let is_unmeasured = |cell: &ResultCell| says(cell, "not measured yet");
    reasons.tell("unmeasured", true, without(&is_unmeasured), String::new());
    let rest = without(&|cell| !is_refused(cell) && !is_failed(cell) && !is_unmeasured(cell));
    reasons.tell("missing", false, rest, String::new());
    let repeats = results.protocol.as_ref().map_or(0, |protocol| protocol.repeats);
    let begun = results.cells.iter().filter(|cell| is_begun(cell, repeats)).count();
    reasons.tell("incomplete", true, begun, String::new());
    reasons.tell("findings", true, dossier.findings.len(), String::new());
    let noted = |word: &str| {
        let has = |cell: &&ResultCell| {
            cell.qps.is_some() && cell.note.as_ref().is_some_and(|note| note.contains(word))
        };
        results.cells.iter().filter(has).count()
    };
    reasons.tell("client-bound", true, noted("client-bound"), String::new());
    reasons.tell("noted", false, noted("") - noted("client-bound"), String::new());
    let retried = dossier.trials.iter().filter(|trial| trial.status != TrialStatus::Done).count();
    reasons.tell("failed-trials", false, retried, String::new());
    if let Some(run) = dossier.description {
        let changed: Vec<String> = run
            .servers
            .iter()
            .filter(|server| !server.changes.is_empty())
            .map(|server| format!("{}: {}", server.spec, server.changes.join("; ")))
            .collect();
        reasons.tell("changed", true, changed.len(), changed.join(". "));
    }
    reasons.sorted()
}

/// Whether a number stands on fewer levels or repetitions than the protocol asks for: what is
/// missing may change it. Levels that the protocol itself leaves out are not missing.
fn is_begun(cell: &ResultCell, repeats: u32) -> bool {
    let lacks_levels =
        |part: &str| part.starts_with("peak of ") && !part.ends_with(": the rate fell");
    let note = cell.note.as_deref().unwrap_or_default();
    cell.qps.is_some() && (cell.trials < repeats || note.split("; ").any(lacks_levels))
}

#[derive(Default)]
struct Reasons(Vec<ReasonPart>);

impl Reasons {
    /// Nothing is told of nothing.
    fn tell(&mut self, kind: &'static str, forbids: bool, count: usize, words: String) {
        if count > 0 {
            self.0.push(ReasonPart { kind, forbids, count, words });
        }
    }

    fn sorted(mut self) -> Vec<ReasonPart> {
        self.0.sort_by_key(|reason| !reason.forbids);
        self.0
    }
}
