//! A plan as programs read it: one JSON object, or a CSV row per cell. Units stand in the names.
//!
//! Must not know: how a plan came about.

use serde::Serialize;

use super::estimate::Estimate;
use crate::model::{Cell, CellId, Exclusion, Ladder, Plan, PlannedSpec, Scenario};

/// The whole plan as one object.
pub(super) fn json(
    plan: &Plan,
    estimate: &Estimate,
    refused: Option<&str>,
) -> serde_json::Result<String> {
    let object = PlanObject { refused, ..PlanObject::of(plan, estimate) };
    Ok(serde_json::to_string_pretty(&object)? + "\n")
}

/// A row for each cell, the ones that cannot run here and the excluded ones last.
pub(super) fn csv(plan: &Plan) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for cell in &plan.cells {
        writer.serialize(CellRow::of(plan, cell))?;
    }
    for (id, exclusion) in &plan.excluded {
        writer.serialize(CellRow::excluded(id, exclusion))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

#[derive(Serialize)]
struct PlanObject<'a> {
    matrix: &'a str,
    title: &'a str,
    class: &'static str,
    refresh: &'static str,
    baseline: Option<&'a str>,
    template: &'a str,
    rehearsal_factor: Option<u64>,
    protocol: ProtocolObject,
    specs: Vec<SpecObject<'a>>,
    scenarios: Vec<ScenarioObject<'a>>,
    cells: Vec<CellRow<'a>>,
    excluded: Vec<CellRow<'a>>,
    /// Why a run would not start, in its words; absent: it would.
    refused: Option<&'a str>,
    estimate: EstimateObject,
}

#[derive(Serialize)]
struct ProtocolObject {
    duration_ms: u64,
    warmup_ms: u64,
    warmup_max_ms: Option<u64>,
    level_percent: f64,
    repeats: u32,
    /// Absent: no further trials.
    until_percent: Option<f64>,
    repeats_max: Option<u32>,
    stop_after_falling: Option<u32>,
    is_aa: bool,
    /// Absent: each cell has the concurrency that the baseline prints.
    concurrency: Option<Vec<u32>>,
    publish: &'static str,
    statements: &'static str,
    keys: &'static str,
    seed: u64,
    /// Absent: closed loop.
    events_per_second: Option<f64>,
    arrivals: Option<&'static str>,
    engine: &'static str,
}

#[derive(Serialize)]
struct SpecObject<'a> {
    spec: &'a str,
    cpu: u32,
    published_memory_bytes: u64,
    cpus: u32,
    memory_bytes: u64,
    buffer_pool_bytes: u64,
    max_connections: u32,
    table_size: u64,
    tables: u32,
    published_table_size: u64,
    published_tables: u32,
    planned_bytes: u64,
    skip: Option<&'a str>,
}

#[derive(Serialize)]
struct ScenarioObject<'a> {
    scenario: &'a str,
    title: Option<&'a str>,
    workload: &'a str,
    range_selects: bool,
    skip_trx: bool,
    point_selects: u32,
    simple_ranges: u32,
    sum_ranges: u32,
    order_ranges: u32,
    distinct_ranges: u32,
    range_size: u32,
    index_updates: u32,
    non_index_updates: u32,
    delete_inserts: u32,
    random_points: u32,
    number_of_ranges: u32,
    delta: u32,
    queries_per_event: u32,
}

#[derive(Serialize)]
struct CellRow<'a> {
    spec: &'a str,
    scenario: &'a str,
    concurrency: u32,
    table_size: Option<u64>,
    tables: Option<u32>,
    published_table_size: Option<u64>,
    published_tables: Option<u32>,
    planned_bytes: Option<u64>,
    memory_bytes: Option<u64>,
    buffer_pool_bytes: Option<u64>,
    /// planned, skipped (this host cannot hold the spec) or excluded (by the matrix).
    status: &'static str,
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct EstimateObject {
    trials: usize,
    measuring_ms: u64,
    loading_ms: u64,
    refreshes: u32,
    refreshing_ms: u64,
    overhead_ms: u64,
    total_ms: u64,
    rows: u64,
    disk_bytes: u64,
    connections: u32,
    prepared_statements: Option<u64>,
}

impl<'a> PlanObject<'a> {
    fn of(plan: &'a Plan, estimate: &Estimate) -> Self {
        let excluded = plan.excluded.iter();
        Self {
            matrix: &plan.matrix.name,
            title: &plan.matrix.title,
            class: plan.class().name(),
            refresh: plan.matrix.refresh.name(),
            baseline: plan.matrix.baseline.as_deref(),
            template: &plan.matrix.template,
            rehearsal_factor: plan.rehearsal.map(|rehearsal| rehearsal.factor),
            protocol: ProtocolObject::of(plan),
            specs: plan.specs.iter().map(SpecObject::of).collect(),
            scenarios: plan.matrix.scenarios.iter().map(ScenarioObject::of).collect(),
            cells: plan.cells.iter().map(|cell| CellRow::of(plan, cell)).collect(),
            excluded: excluded.map(|(id, exclusion)| CellRow::excluded(id, exclusion)).collect(),
            refused: None,
            estimate: EstimateObject {
                trials: plan.trials().len(),
                measuring_ms: milliseconds(estimate.measuring),
                loading_ms: milliseconds(estimate.loading),
                refreshes: estimate.refreshes,
                refreshing_ms: milliseconds(estimate.refreshing),
                overhead_ms: milliseconds(estimate.overhead),
                total_ms: milliseconds(estimate.total()),
                rows: estimate.rows,
                disk_bytes: estimate.disk.0,
                connections: estimate.connections,
                prepared_statements: estimate.handles.as_ref().map(|handles| handles.wanted),
            },
        }
    }
}

impl ProtocolObject {
    fn of(plan: &Plan) -> Self {
        let protocol = &plan.protocol;
        Self {
            duration_ms: milliseconds(protocol.duration),
            warmup_ms: milliseconds(protocol.warmup),
            warmup_max_ms: protocol.warmup_max.map(milliseconds),
            level_percent: protocol.level_ppm as f64 / 1e4,
            repeats: protocol.repeats,
            until_percent: protocol.until.map(|until| until.width_ppm as f64 / 1e4),
            repeats_max: protocol.until.map(|until| until.repeats_max),
            stop_after_falling: protocol.stop_after_falling,
            is_aa: protocol.is_aa,
            concurrency: match &protocol.concurrency {
                Ladder::Levels(levels) => Some(levels.clone()),
                Ladder::Published => None,
            },
            publish: protocol.publish.name(),
            statements: protocol.statements.name(),
            keys: protocol.keys.name(),
            seed: protocol.seed,
            events_per_second: protocol.open_loop.map(|open| open.rate.per_second()),
            arrivals: protocol.open_loop.map(|open| open.arrivals.name()),
            engine: protocol.engine.name(),
        }
    }
}

impl<'a> SpecObject<'a> {
    fn of(spec: &'a PlannedSpec) -> Self {
        Self {
            spec: spec.spec.id.as_str(),
            cpu: spec.spec.cpu,
            published_memory_bytes: spec.spec.memory.0,
            cpus: spec.cpus,
            memory_bytes: spec.memory.0,
            buffer_pool_bytes: spec.buffer_pool.0,
            max_connections: spec.spec.max_connections(),
            table_size: spec.dataset.table_size,
            tables: spec.dataset.tables,
            published_table_size: spec.published_dataset.table_size,
            published_tables: spec.published_dataset.tables,
            planned_bytes: spec.dataset.planned_bytes().0,
            skip: spec.skip.as_ref().map(|skip| skip.reason.as_str()),
        }
    }
}

impl<'a> ScenarioObject<'a> {
    fn of(scenario: &'a Scenario) -> Self {
        let o = &scenario.options;
        Self {
            scenario: scenario.id.as_str(),
            title: scenario.title.as_deref(),
            workload: scenario.workload.name(),
            range_selects: o.range_selects,
            skip_trx: o.skip_trx,
            point_selects: o.point_selects,
            simple_ranges: o.simple_ranges,
            sum_ranges: o.sum_ranges,
            order_ranges: o.order_ranges,
            distinct_ranges: o.distinct_ranges,
            range_size: o.range_size,
            index_updates: o.index_updates,
            non_index_updates: o.non_index_updates,
            delete_inserts: o.delete_inserts,
            random_points: o.random_points,
            number_of_ranges: o.number_of_ranges,
            delta: o.delta,
            queries_per_event: scenario.queries_per_event(),
        }
    }
}

impl<'a> CellRow<'a> {
    fn of(plan: &'a Plan, cell: &'a Cell) -> Self {
        let spec = plan.spec(cell);
        let skip = spec.skip.as_ref().map(|skip| skip.reason.as_str());
        Self {
            spec: cell.id.spec.as_str(),
            scenario: cell.id.scenario.as_str(),
            concurrency: cell.id.concurrency,
            table_size: Some(spec.dataset.table_size),
            tables: Some(spec.dataset.tables),
            published_table_size: Some(spec.published_dataset.table_size),
            published_tables: Some(spec.published_dataset.tables),
            planned_bytes: Some(spec.dataset.planned_bytes().0),
            memory_bytes: Some(spec.memory.0),
            buffer_pool_bytes: Some(spec.buffer_pool.0),
            status: if skip.is_some() { "skipped" } else { "planned" },
            reason: skip,
        }
    }

    fn excluded(id: &'a CellId, exclusion: &'a Exclusion) -> Self {
        Self {
            spec: id.spec.as_str(),
            scenario: id.scenario.as_str(),
            concurrency: id.concurrency,
            table_size: None,
            tables: None,
            published_table_size: None,
            published_tables: None,
            planned_bytes: None,
            memory_bytes: None,
            buffer_pool_bytes: None,
            status: "excluded",
            reason: Some(&exclusion.reason),
        }
    }
}

fn milliseconds(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
