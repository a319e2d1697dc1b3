//! `[[spec]]`, `[[scenario]]` and `[[exclude]]`: the axes of the matrix and what is left out.
//!
//! Must not know: datasets, or how a cell is measured.

use super::limits::{
    CONCURRENCY, CPU, DELTA, MAX_EXCLUSIONS, MAX_QUERIES, MAX_SCENARIOS, MAX_SPECS, MEMORY_BYTES,
    RANGE_SIZE, REPEAT, STATEMENT_COUNT,
};
use super::workloads::Workloads;
use crate::model::{
    Bytes, Exclusion, Flag, Ladder, Number, Scenario, ScenarioId, Spec, SpecId, WorkloadOptions,
    counted, grouped,
};
use crate::written::{
    Fault, Located, Place, Section, boolean, id, integer_u32, size, suggestion, text,
};

/// The elements of one axis with their places.
pub(super) struct Axis<T> {
    pub(super) items: Vec<Located<T>>,
    /// False where an element could not be read: then nothing can be said to be unknown.
    pub(super) complete: bool,
}

/// An exclusion as written.
pub(super) struct ExclusionDraft {
    spec: Option<Located<SpecId>>,
    scenario: Option<Located<ScenarioId>>,
    concurrency: Option<Located<u32>>,
    reason: String,
}

/// Reads every `[[spec]]`.
pub(super) fn specs(root: &mut Section<'_>) -> Axis<Spec> {
    let axis = read_axis(root, "spec", MAX_SPECS, spec);
    report_duplicates(root, "spec", &axis, |spec| spec.id.as_str());
    axis
}

/// Reads every `[[scenario]]`.
pub(super) fn scenarios(root: &mut Section<'_>, workloads: &Workloads) -> Axis<Scenario> {
    let axis = read_axis(root, "scenario", MAX_SCENARIOS, |of| scenario(of, workloads));
    report_duplicates(root, "scenario", &axis, |scenario| scenario.id.as_str());
    axis
}

/// Reads every `[[exclude]]`.
pub(super) fn exclusions(root: &mut Section<'_>) -> Vec<ExclusionDraft> {
    let sections = root.sections("exclude", MAX_EXCLUSIONS);
    sections.items.into_iter().filter_map(exclusion).collect()
}

fn read_axis<T>(
    root: &mut Section<'_>,
    key: &'static str,
    limit: usize,
    read: impl Fn(Section<'_>) -> Option<Located<T>>,
) -> Axis<T> {
    let sections = root.sections(key, limit);
    let mut complete = sections.complete;
    if sections.items.is_empty() && complete {
        root.missing(key, &format!("add at least one section [[{key}]]"));
        complete = false;
    }
    let mut items = Vec::new();
    for section in sections.items {
        let item = read(section);
        complete &= item.is_some();
        items.extend(item);
    }
    Axis { items, complete }
}

fn report_duplicates<T>(root: &Section<'_>, kind: &str, axis: &Axis<T>, id: impl Fn(&T) -> &str) {
    let mut first = std::collections::BTreeMap::new();
    for item in &axis.items {
        let name = id(&item.value);
        let Some(earlier) = first.get(name).copied() else {
            first.insert(name, item.place);
            continue;
        };
        root.fault(
            Fault::new("duplicate", format!("{kind} `{name}` is declared twice"))
                .at(item.place, "again here")
                .at(earlier, "first here")
                .help(format!("every {kind} needs an id of its own: `id = \"...\"`")),
        );
    }
}

fn spec(mut section: Section<'_>) -> Option<Located<Spec>> {
    let given = section.optional("id", id);
    let cpu = section.required("cpu", "2", integer_u32(CPU));
    let memory = section.required("memory", "\"4GB\"", size(MEMORY_BYTES));
    let named_wrongly = section.has("id") && given.is_none();
    let place = given.as_ref().map_or(section.place, |id| id.place);
    let id = match (&given, cpu, memory) {
        (Some(id), ..) => SpecId::new(&id.value).ok(),
        (None, Some(cpu), Some(memory)) => derived_id(&section, cpu.value, memory),
        _ => None,
    };
    section.finish();
    if named_wrongly {
        return None;
    }
    let value = Spec { id: id?, cpu: cpu?.value, memory: memory?.value };
    Some(Located { value, place })
}

/// `2c4g`, or `1c512m` where the memory is not whole gigabytes.
fn derived_id(section: &Section<'_>, cpu: u32, memory: Located<Bytes>) -> Option<SpecId> {
    let bytes = memory.value.0;
    let name = match (bytes % Bytes::GB, bytes % Bytes::MB) {
        (0, _) => format!("{cpu}c{}g", bytes / Bytes::GB),
        (_, 0) => format!("{cpu}c{}m", bytes / Bytes::MB),
        _ => {
            section.fault(
                Fault::new("id", "a spec that cannot be named after its size")
                    .at(memory.place, "not a whole number of megabytes (10^6 bytes)")
                    .help("give the spec an id: `id = \"2c4gib\"`"),
            );
            return None;
        }
    };
    SpecId::new(&name).ok()
}

fn scenario(mut section: Section<'_>, workloads: &Workloads) -> Option<Located<Scenario>> {
    let id = section.required("id", "\"read-only-range\"", id);
    let title = section.optional("title", text);
    let workload = section.required("workload", "\"oltp_read_only\"", |node| workloads.of(node));
    let options = options(&mut section);
    let place = section.place;
    let scenario = id.and_then(|id| {
        Some(Located {
            value: Scenario {
                id: ScenarioId::new(&id.value).ok()?,
                title: title.map(|title| title.value),
                workload: workload?.value?,
                options,
            },
            place: id.place,
        })
    });
    if let Some(scenario) = &scenario {
        report_idle(&section, &scenario.value, place);
        report_endless(&section, &scenario.value, place);
    }
    section.finish();
    scenario
}

/// sysbench's options by sysbench's names; absent ones have sysbench's defaults.
fn options(section: &mut Section<'_>) -> WorkloadOptions {
    let mut options = WorkloadOptions::default();
    for flag in Flag::ALL {
        if let Some(value) = section.optional(flag.name(), boolean) {
            *flag.of_mut(&mut options) = value.value;
        }
    }
    for number in Number::ALL {
        let range = match number {
            Number::RangeSize => RANGE_SIZE,
            Number::Delta => DELTA,
            // A list is never empty.
            Number::RandomPoints | Number::NumberOfRanges => REPEAT,
            _ => STATEMENT_COUNT,
        };
        if let Some(value) = section.optional(number.name(), integer_u32(range)) {
            *number.of_mut(&mut options) = value.value;
        }
    }
    options
}

/// A scenario whose options leave nothing but BEGIN and COMMIT measures nothing.
fn report_idle(section: &Section<'_>, scenario: &Scenario, place: Place) {
    let options = WorkloadOptions { skip_trx: true, ..scenario.options };
    let bare = Scenario { options, ..scenario.clone() };
    if bare.queries_per_event() == 0 {
        let message = format!("scenario `{}` sends no statement", scenario.id);
        section.fault(
            Fault::new("idle", message)
                .at(place, "every statement of this workload is turned off")
                .help("leave at least one of the workload's statement counts above 0"),
        );
    }
}

/// A scenario whose events would be as long as a window.
fn report_endless(section: &Section<'_>, scenario: &Scenario, place: Place) {
    let queries = scenario.queries_per_event();
    if queries > MAX_QUERIES {
        let limit = grouped(u64::from(MAX_QUERIES));
        let queries = counted(queries, "statement");
        let message = format!("scenario `{}` sends {queries} per event", scenario.id);
        section.fault(
            Fault::new("limit", message)
                .at(place, format!("{limit} are the limit"))
                .help("lower its statement counts, or the `repeat` of its workload's groups"),
        );
    }
}

fn exclusion(mut section: Section<'_>) -> Option<ExclusionDraft> {
    let spec = section.optional("spec", id);
    let scenario = section.optional("scenario", id);
    let concurrency = section.optional("concurrency", integer_u32(CONCURRENCY));
    let reason = section.required("reason", "\"why it is not measured\"", text);
    let keys = ["spec", "scenario", "concurrency"];
    let has_key = keys.iter().any(|key| section.has(key));
    let unread = |absent: bool, key: &str| absent && section.has(key);
    let faulty = unread(spec.is_none(), "spec")
        || unread(scenario.is_none(), "scenario")
        || unread(concurrency.is_none(), "concurrency");
    if !has_key {
        section.fault(
            Fault::new("exclude", "an exclusion that names nothing")
                .at(section.place, "would exclude every cell")
                .help("name what is not measured: spec, scenario, concurrency"),
        );
    }
    section.finish();
    if !has_key || faulty {
        return None;
    }
    let located = |id: Located<String>| Some((SpecId::new(&id.value).ok()?, id.place));
    Some(ExclusionDraft {
        spec: spec.and_then(located).map(|(value, place)| Located { value, place }),
        scenario: scenario.and_then(|id| {
            Some(Located { value: ScenarioId::new(&id.value).ok()?, place: id.place })
        }),
        concurrency,
        reason: reason?.value,
    })
}

/// Turns exclusions into the model's; one that matches no cell is a fault. `ladder` is absent
/// where it could not be read.
pub(super) fn check_exclusions(
    root: &Section<'_>,
    drafts: Vec<ExclusionDraft>,
    axes: (&Axis<Spec>, &Axis<Scenario>),
    ladder: Option<&Ladder>,
) -> Vec<Exclusion> {
    let specs: Vec<&str> = axes.0.items.iter().map(|spec| spec.value.id.as_str()).collect();
    let scenarios: Vec<&str> = axes.1.items.iter().map(|item| item.value.id.as_str()).collect();
    for draft in &drafts {
        if let Some(spec) = draft.spec.as_ref().filter(|_| axes.0.complete) {
            check_known(root, "spec", (spec.value.as_str(), spec.place), &specs);
        }
        if let Some(scenario) = draft.scenario.as_ref().filter(|_| axes.1.complete) {
            check_known(root, "scenario", (scenario.value.as_str(), scenario.place), &scenarios);
        }
        if let (Some(level), Some(Ladder::Levels(levels))) = (draft.concurrency, ladder) {
            let known: Vec<String> = levels.iter().map(u32::to_string).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let text = level.value.to_string();
            check_known(root, "concurrency", (&text, level.place), &known);
        }
    }
    let exclusion = |draft: ExclusionDraft| Exclusion {
        spec: draft.spec.map(|spec| spec.value),
        scenario: draft.scenario.map(|scenario| scenario.value),
        concurrency: draft.concurrency.map(|level| level.value),
        reason: draft.reason,
    };
    drafts.into_iter().map(exclusion).collect()
}

fn check_known(root: &Section<'_>, kind: &str, (name, place): (&str, Place), known: &[&str]) {
    if !known.contains(&name) {
        let label = format!("no {kind} `{name}` in this matrix");
        root.fault(
            Fault::new("exclude", "an exclusion that matches no cell")
                .at(place, label)
                .help(suggestion(name, known)),
        );
    }
}
