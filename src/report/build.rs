//! Results become a page model: a pure function.
//!
//! Must not know: templates, languages, files.

use std::collections::BTreeMap;

use super::model::{
    MeasuredPart, NotePart, OwnTablePart, PageModel, ProtocolPart, PublishedPart, RehearsalPart,
    RowPart, ScenarioPart, SpecPart,
};
use crate::model::{
    Access, Flag, Ladder, Number, Protocol, ReadType, ResultCell, ResultSet, ResultSource,
    Scenario, Spec, Workload, WorkloadOptions,
};

/// Everything that a template can say about these results.
pub fn page_model(results: &ResultSet) -> PageModel {
    let specs = specs(&results.specs);
    let mut notes = Notes::default();
    let scenarios = scenarios(results, &specs, &mut notes);
    let (date, rehearsal, published, measured) = source(results);
    PageModel {
        tool_version: env!("CARGO_PKG_VERSION"),
        name: results.name.clone(),
        title: results.title.clone(),
        class: results.class.name(),
        date,
        rehearsal,
        published,
        measured,
        specs,
        scenarios,
        notes: notes.list,
    }
}

type SourceParts = (String, Option<RehearsalPart>, Option<PublishedPart>, Option<MeasuredPart>);

fn source(results: &ResultSet) -> SourceParts {
    match &results.source {
        ResultSource::Published { origin, date } => {
            (date.clone(), None, Some(PublishedPart { origin: origin.clone() }), None)
        }
        ResultSource::Measured {
            run,
            date,
            servers,
            shared_machine,
            tool_version,
            engine,
            rehearsal,
        } => {
            let measured = MeasuredPart {
                run: run.clone(),
                servers: servers.clone(),
                shared_machine: *shared_machine,
                tool_version: tool_version.clone(),
                engine: engine.clone(),
                protocol: results.protocol.as_ref().map(protocol),
            };
            let rehearsal = rehearsal.map(|rehearsal| RehearsalPart { factor: rehearsal.factor });
            (date.clone(), rehearsal, None, Some(measured))
        }
    }
}

fn protocol(protocol: &Protocol) -> ProtocolPart {
    let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let levels = match &protocol.concurrency {
        Ladder::Levels(levels) => levels.clone(),
        Ladder::Published => Vec::new(),
    };
    ProtocolPart {
        duration_ms: millis(protocol.duration),
        warmup_ms: millis(protocol.warmup),
        warmup_max_ms: protocol.warmup_max.map(millis),
        repeats: protocol.repeats,
        until_ppm: protocol.until.map(|until| until.width_ppm),
        repeats_max: protocol.until.map(|until| until.repeats_max),
        stop_after_falling: protocol.stop_after_falling,
        levels,
        publish: protocol.publish.name(),
        statements: protocol.statements.name(),
        keys: protocol.keys.name(),
        seed: protocol.seed,
        rate_milli: protocol.open_loop.map(|open| open.rate.0),
        arrivals: protocol.open_loop.map(|open| open.arrivals.name()),
    }
}

fn specs(specs: &[Spec]) -> Vec<SpecPart> {
    let size = |spec: &Spec| (spec.cpu, spec.memory);
    let part = |spec: &Spec| SpecPart {
        id: spec.id.to_string(),
        cpu: spec.cpu,
        memory_bytes: spec.memory.0,
        same_size: specs.iter().filter(|other| size(other) == size(spec)).count() > 1,
    };
    specs.iter().map(part).collect()
}

fn scenarios(results: &ResultSet, specs: &[SpecPart], notes: &mut Notes) -> Vec<ScenarioPart> {
    let cells = by_scenario_and_spec(&results.cells);
    let mut parts = Vec::new();
    for scenario in &results.scenarios {
        let law = results.protocol.as_ref().map(|protocol| protocol.keys.name());
        let mut part = ScenarioPart {
            keys: law.filter(|_| scenario.workload.is_built_in),
            ..scenario_part(scenario)
        };
        for spec in specs {
            match cells.get(&(scenario.id.as_str(), spec.id.as_str())) {
                Some(cells) => {
                    let workload = &scenario.workload;
                    part.rows.extend(cells.iter().map(|cell| row(spec, (cell, workload), notes)));
                }
                None => part.rows.push(absent_row(spec, notes)),
            }
        }
        parts.push(part);
    }
    group(&mut parts);
    mark_same_names(&mut parts);
    parts
}

type CellsByPlace<'a> = BTreeMap<(&'a str, &'a str), Vec<&'a ResultCell>>;

fn by_scenario_and_spec(cells: &[ResultCell]) -> CellsByPlace<'_> {
    let mut places = CellsByPlace::new();
    for cell in cells {
        places.entry((cell.scenario.as_str(), cell.spec.as_str())).or_default().push(cell);
    }
    places
}

fn scenario_part(scenario: &Scenario) -> ScenarioPart {
    let naming = match (&scenario.title, scenario.workload.is_script_of_transactions()) {
        (Some(_), _) => "title",
        (None, true) => "access",
        (None, false) => "workload",
    };
    ScenarioPart {
        id: scenario.id.to_string(),
        naming,
        title: scenario.title.clone(),
        workload: scenario.workload.name().to_owned(),
        access: match scenario.access() {
            Access::ReadOnly => "read-only",
            Access::ReadWrite => "read-write",
            Access::WriteOnly => "write-only",
        },
        read_type: scenario.read_type().map(|read_type| match read_type {
            ReadType::RangeSelect => "range select",
            ReadType::PointSelect => "point select",
        }),
        options: options(&scenario.workload, &scenario.options),
        queries_per_event: scenario.queries_per_event(),
        keys: None,
        group_rows: 1,
        same_name: false,
        rows: Vec::new(),
    }
}

/// The options that change what the workload sends: the flags as they stand, then the numbers
/// that are not the default.
fn options(workload: &Workload, options: &WorkloadOptions) -> Vec<String> {
    let default = WorkloadOptions::default();
    let flags = Flag::ALL.iter().filter(|flag| workload.uses_flag(**flag));
    let changed = Number::ALL
        .iter()
        .filter(|number| workload.uses(**number) && number.of(options) != number.of(&default));
    let flags = flags.map(|flag| flag.text(options));
    flags.chain(changed.map(|number| number.text(options))).collect()
}

/// Counts scenarios that follow each other under one composed name.
fn group(parts: &mut [ScenarioPart]) {
    let mut first = 0;
    for index in 1..parts.len() {
        let alike = parts[first].naming == "access"
            && parts[index].naming == "access"
            && parts[first].access == parts[index].access;
        if alike {
            parts[first].group_rows += 1;
            parts[index].group_rows = 0;
        } else {
            first = index;
        }
    }
}

fn mark_same_names(parts: &mut [ScenarioPart]) {
    let name = |part: &ScenarioPart| match part.naming {
        "title" => (part.title.clone(), None),
        "workload" => (Some(part.workload.clone()), None),
        _ => (Some(part.access.to_owned()), part.read_type),
    };
    let names: Vec<_> = parts.iter().map(name).collect();
    for (part, own) in parts.iter_mut().zip(&names) {
        part.same_name = names.iter().filter(|other| *other == own).count() > 1;
    }
}

fn row(spec: &SpecPart, (cell, workload): (&ResultCell, &Workload), notes: &mut Notes) -> RowPart {
    let own_tables = workload.tables.iter().map(|table| OwnTablePart {
        name: table.name.clone(),
        rows: table.row_count(cell.table_size),
    });
    let own_tables: Vec<OwnTablePart> = own_tables.collect();
    let has_dataset = own_tables.is_empty() || workload.uses_dataset();

    let note_number = match (&cell.note, cell.qps) {
        (None, Some(_)) => None,
        (note, _) => Some(notes.number(note.clone())),
    };
    RowPart {
        spec: spec.clone(),
        concurrency: cell.concurrency,
        table_size: has_dataset.then_some(cell.table_size),
        tables: has_dataset.then_some(cell.tables),
        own_tables,
        qps_milli: cell.qps.map(|rate| rate.0),
        tps_milli: cell.tps.map(|rate| rate.0),
        p95_us: cell.p95_us,
        p99_us: cell.p99_us,
        trials: cell.trials,
        note_number,
    }
}

fn absent_row(spec: &SpecPart, notes: &mut Notes) -> RowPart {
    RowPart {
        spec: spec.clone(),
        concurrency: None,
        table_size: None,
        tables: None,
        own_tables: Vec::new(),
        qps_milli: None,
        tps_milli: None,
        p95_us: None,
        p99_us: None,
        trials: 0,
        note_number: Some(notes.number(None)),
    }
}

/// The page's footnotes: one for each distinct text, numbered by first use.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) list: Vec<NotePart>,
    numbers: BTreeMap<Option<String>, usize>,
}

impl Notes {
    pub(super) fn number(&mut self, text: Option<String>) -> usize {
        if let Some(number) = self.numbers.get(&text) {
            return *number;
        }
        let number = self.list.len() + 1;
        self.numbers.insert(text.clone(), number);
        self.list.push(NotePart { number, text });
        number
    }
}
