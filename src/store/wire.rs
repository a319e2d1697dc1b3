//! How a plan is written in `manifest.json`: wire types, and both ways between them and the
//! domain.
//!
//! Must not know: files. Durations are whole milliseconds, sizes bytes; what is not known is
//! null.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{
    Arrivals, Bytes, Cell, CellId, Dataset, DatasetClass, Engine, Exclusion, KeyLaw, Ladder,
    Matrix, MilliRate, OpenLoop, Plan, PlannedSpec, Protocol, Publish, Refresh, Rehearsal,
    ScenarioId, Skip, Spec, SpecId, StatementMode, Until,
};

use super::wire_scenario::ScenarioWire;

/// A value that no run can have written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Invalid(pub(super) String);

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A [`Plan`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanWire {
    matrix: MatrixWire,
    protocol: ProtocolWire,
    rehearsal: Option<RehearsalWire>,
    specs: Vec<PlannedSpecWire>,
    /// In the order of measurement: `2c4g/read-only-range/64`.
    cells: Vec<String>,
    excluded: Vec<ExcludedWire>,
}

impl From<&Plan> for PlanWire {
    fn from(plan: &Plan) -> Self {
        let excluded = |(id, rule): &(CellId, Exclusion)| ExcludedWire {
            cell: id.to_string(),
            rule: rule.into(),
        };
        Self {
            matrix: (&plan.matrix).into(),
            protocol: (&plan.protocol).into(),
            rehearsal: plan.rehearsal.map(|Rehearsal { factor }| RehearsalWire { factor }),
            specs: plan.specs.iter().map(Into::into).collect(),
            cells: plan.cells.iter().map(|cell| cell.id.to_string()).collect(),
            excluded: plan.excluded.iter().map(excluded).collect(),
        }
    }
}

impl TryFrom<PlanWire> for Plan {
    type Error = Invalid;

    fn try_from(wire: PlanWire) -> Result<Self, Invalid> {
        let matrix = Matrix::try_from(wire.matrix)?;
        let specs: Vec<PlannedSpec> = all(wire.specs)?;
        let cell = |text: &String| cell(text, &specs, &matrix);
        let cells = wire.cells.iter().map(cell).collect::<Result<_, _>>()?;
        let excluded = |excluded: ExcludedWire| {
            Ok((cell_id(&excluded.cell)?, Exclusion::try_from(excluded.rule)?))
        };
        let excluded = wire.excluded.into_iter().map(excluded).collect::<Result<_, _>>()?;
        let rehearsal = wire.rehearsal.map(|RehearsalWire { factor }| Rehearsal { factor });
        Ok(Self { protocol: wire.protocol.try_into()?, rehearsal, cells, excluded, specs, matrix })
    }
}

fn cell(text: &str, specs: &[PlannedSpec], matrix: &Matrix) -> Result<Cell, Invalid> {
    let id = cell_id(text)?;
    let spec = specs.iter().position(|planned| planned.spec.id == id.spec);
    let scenario = matrix.scenarios.iter().position(|scenario| scenario.id == id.scenario);
    match (spec, scenario) {
        (Some(spec), Some(scenario)) => Ok(Cell { id, spec, scenario }),
        _ => Err(Invalid(format!("cell `{text}` names a spec or scenario that the plan lacks"))),
    }
}

/// Reads the text of a [`CellId`].
pub(super) fn cell_id(text: &str) -> Result<CellId, Invalid> {
    let parts: Vec<&str> = text.split('/').collect();
    let [spec, scenario, concurrency] = parts[..] else {
        return Err(Invalid(format!("`{text}` is not a cell: SPEC/SCENARIO/CONCURRENCY")));
    };
    let concurrency =
        concurrency.parse().map_err(|_| Invalid(format!("cell `{text}` has no concurrency")))?;
    Ok(CellId { spec: spec_id(spec)?, scenario: scenario_id(scenario)?, concurrency })
}

pub(super) fn spec_id(text: &str) -> Result<SpecId, Invalid> {
    SpecId::new(text).map_err(|error| Invalid(error.to_string()))
}

pub(super) fn scenario_id(text: &str) -> Result<ScenarioId, Invalid> {
    ScenarioId::new(text).map_err(|error| Invalid(error.to_string()))
}

/// The value of a name, or which list the name is not in.
pub(super) fn named<T>(
    what: &str,
    name: &str,
    from_name: impl Fn(&str) -> Option<T>,
) -> Result<T, Invalid> {
    from_name(name).ok_or_else(|| Invalid(format!("`{name}` is no {what}")))
}

/// Converts each, up to the first that is invalid.
fn all<W, T: TryFrom<W, Error = Invalid>>(wires: Vec<W>) -> Result<Vec<T>, Invalid> {
    wires.into_iter().map(T::try_from).collect()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RehearsalWire {
    factor: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExcludedWire {
    cell: String,
    rule: ExclusionWire,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MatrixWire {
    name: String,
    title: String,
    baseline: Option<String>,
    template: String,
    class: String,
    /// Absent in runs from before there was a choice: never.
    #[serde(default = "never")]
    refresh: String,
    protocol: ProtocolWire,
    specs: Vec<MatrixSpecWire>,
    scenarios: Vec<ScenarioWire>,
    exclusions: Vec<ExclusionWire>,
}

fn never() -> String {
    Refresh::Never.name().to_owned()
}

impl From<&Matrix> for MatrixWire {
    fn from(matrix: &Matrix) -> Self {
        let spec = |(spec, dataset): &(Spec, Dataset)| MatrixSpecWire {
            spec: spec.into(),
            dataset: dataset.into(),
        };
        Self {
            name: matrix.name.clone(),
            title: matrix.title.clone(),
            baseline: matrix.baseline.clone(),
            template: matrix.template.clone(),
            class: matrix.class.name().to_owned(),
            refresh: matrix.refresh.name().to_owned(),
            protocol: (&matrix.protocol).into(),
            specs: matrix.specs.iter().map(spec).collect(),
            scenarios: matrix.scenarios.iter().map(Into::into).collect(),
            exclusions: matrix.exclusions.iter().map(Into::into).collect(),
        }
    }
}

impl TryFrom<MatrixWire> for Matrix {
    type Error = Invalid;

    fn try_from(wire: MatrixWire) -> Result<Self, Invalid> {
        let spec = |wire: MatrixSpecWire| Ok((Spec::try_from(wire.spec)?, wire.dataset.into()));
        Ok(Self {
            class: named("class of dataset", &wire.class, DatasetClass::from_name)?,
            refresh: named("time of a refresh", &wire.refresh, Refresh::from_name)?,
            protocol: wire.protocol.try_into()?,
            specs: wire.specs.into_iter().map(spec).collect::<Result<_, _>>()?,
            scenarios: all(wire.scenarios)?,
            exclusions: all(wire.exclusions)?,
            name: wire.name,
            title: wire.title,
            baseline: wire.baseline,
            template: wire.template,
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MatrixSpecWire {
    spec: SpecWire,
    dataset: DatasetWire,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpecWire {
    id: String,
    cpu: u32,
    memory_bytes: u64,
}

impl From<&Spec> for SpecWire {
    fn from(spec: &Spec) -> Self {
        Self { id: spec.id.to_string(), cpu: spec.cpu, memory_bytes: spec.memory.0 }
    }
}

impl TryFrom<SpecWire> for Spec {
    type Error = Invalid;

    fn try_from(wire: SpecWire) -> Result<Self, Invalid> {
        Ok(Self { id: spec_id(&wire.id)?, cpu: wire.cpu, memory: Bytes(wire.memory_bytes) })
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DatasetWire {
    tables: u32,
    table_size: u64,
    charset: String,
    seed: u64,
}

impl From<&Dataset> for DatasetWire {
    fn from(dataset: &Dataset) -> Self {
        let Dataset { tables, table_size, charset, seed } = dataset.clone();
        Self { tables, table_size, charset, seed }
    }
}

impl From<DatasetWire> for Dataset {
    fn from(wire: DatasetWire) -> Self {
        let DatasetWire { tables, table_size, charset, seed } = wire;
        Self { tables, table_size, charset, seed }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProtocolWire {
    duration_ms: u64,
    warmup_ms: u64,
    /// Null or absent: the warm-up takes what it takes.
    #[serde(default)]
    warmup_max_ms: Option<u64>,
    /// Absent in runs from before there was one: 5 %.
    #[serde(default = "default_level")]
    level_ppm: u64,
    repeats: u32,
    /// Null or absent: no more than `repeats`.
    #[serde(default)]
    until: Option<UntilWire>,
    #[serde(default)]
    stop_after_falling: Option<u32>,
    #[serde(default)]
    is_aa: bool,
    concurrency: LadderWire,
    publish: String,
    statements: String,
    keys: String,
    seed: u64,
    /// Null or absent: closed loop.
    open_loop: Option<OpenLoopWire>,
    /// Absent in runs from before there were two: native.
    engine: Option<String>,
}

fn default_level() -> u64 {
    Protocol::LEVEL_PPM
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UntilWire {
    width_ppm: u64,
    repeats_max: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenLoopWire {
    events_per_second_milli: u64,
    arrivals: String,
}

impl From<OpenLoop> for OpenLoopWire {
    fn from(open: OpenLoop) -> Self {
        Self { events_per_second_milli: open.rate.0, arrivals: open.arrivals.name().to_owned() }
    }
}

impl TryFrom<OpenLoopWire> for OpenLoop {
    type Error = Invalid;

    fn try_from(wire: OpenLoopWire) -> Result<Self, Invalid> {
        if wire.events_per_second_milli == 0 {
            return Err(Invalid("an open loop of no event per second".to_owned()));
        }
        let arrivals = named("law of arrivals", &wire.arrivals, Arrivals::from_name)?;
        Ok(Self { rate: MilliRate(wire.events_per_second_milli), arrivals })
    }
}

/// `"published"`, or `{"levels": [32, 64]}`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum LadderWire {
    Levels(Vec<u32>),
    Published,
}

impl From<&Protocol> for ProtocolWire {
    fn from(protocol: &Protocol) -> Self {
        Self {
            duration_ms: millis(protocol.duration),
            warmup_ms: millis(protocol.warmup),
            warmup_max_ms: protocol.warmup_max.map(millis),
            level_ppm: protocol.level_ppm,
            repeats: protocol.repeats,
            until: protocol.until.map(|until| UntilWire {
                width_ppm: until.width_ppm,
                repeats_max: until.repeats_max,
            }),
            stop_after_falling: protocol.stop_after_falling,
            is_aa: protocol.is_aa,
            concurrency: match &protocol.concurrency {
                Ladder::Levels(levels) => LadderWire::Levels(levels.clone()),
                Ladder::Published => LadderWire::Published,
            },
            publish: protocol.publish.name().to_owned(),
            statements: protocol.statements.name().to_owned(),
            keys: protocol.keys.name().to_owned(),
            seed: protocol.seed,
            open_loop: protocol.open_loop.map(Into::into),
            engine: Some(protocol.engine.name().to_owned()),
        }
    }
}

impl TryFrom<ProtocolWire> for Protocol {
    type Error = Invalid;

    fn try_from(wire: ProtocolWire) -> Result<Self, Invalid> {
        Ok(Self {
            duration: Duration::from_millis(wire.duration_ms),
            warmup: Duration::from_millis(wire.warmup_ms),
            warmup_max: wire.warmup_max_ms.map(Duration::from_millis),
            level_ppm: wire.level_ppm,
            repeats: wire.repeats,
            until: wire
                .until
                .map(|until| Until { width_ppm: until.width_ppm, repeats_max: until.repeats_max }),
            stop_after_falling: wire.stop_after_falling,
            is_aa: wire.is_aa,
            concurrency: match wire.concurrency {
                LadderWire::Levels(levels) => Ladder::Levels(levels),
                LadderWire::Published => Ladder::Published,
            },
            publish: named("rule of what is published", &wire.publish, Publish::from_name)?,
            statements: named("statement mode", &wire.statements, StatementMode::from_name)?,
            keys: named("key law", &wire.keys, KeyLaw::from_name)?,
            seed: wire.seed,
            open_loop: wire.open_loop.map(TryInto::try_into).transpose()?,
            engine: match wire.engine {
                Some(name) => named("engine", &name, Engine::from_name)?,
                None => Engine::Native,
            },
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlannedSpecWire {
    spec: SpecWire,
    cpus: u32,
    memory_bytes: u64,
    buffer_pool_bytes: u64,
    dataset: DatasetWire,
    published_dataset: DatasetWire,
    skip: Option<String>,
}

impl From<&PlannedSpec> for PlannedSpecWire {
    fn from(planned: &PlannedSpec) -> Self {
        Self {
            spec: (&planned.spec).into(),
            cpus: planned.cpus,
            memory_bytes: planned.memory.0,
            buffer_pool_bytes: planned.buffer_pool.0,
            dataset: (&planned.dataset).into(),
            published_dataset: (&planned.published_dataset).into(),
            skip: planned.skip.as_ref().map(|skip| skip.reason.clone()),
        }
    }
}

impl TryFrom<PlannedSpecWire> for PlannedSpec {
    type Error = Invalid;

    fn try_from(wire: PlannedSpecWire) -> Result<Self, Invalid> {
        Ok(Self {
            spec: wire.spec.try_into()?,
            cpus: wire.cpus,
            memory: Bytes(wire.memory_bytes),
            buffer_pool: Bytes(wire.buffer_pool_bytes),
            dataset: wire.dataset.into(),
            published_dataset: wire.published_dataset.into(),
            skip: wire.skip.map(|reason| Skip { reason }),
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExclusionWire {
    spec: Option<String>,
    scenario: Option<String>,
    concurrency: Option<u32>,
    reason: String,
}

impl From<&Exclusion> for ExclusionWire {
    fn from(exclusion: &Exclusion) -> Self {
        Self {
            spec: exclusion.spec.as_ref().map(ToString::to_string),
            scenario: exclusion.scenario.as_ref().map(ToString::to_string),
            concurrency: exclusion.concurrency,
            reason: exclusion.reason.clone(),
        }
    }
}

impl TryFrom<ExclusionWire> for Exclusion {
    type Error = Invalid;

    fn try_from(wire: ExclusionWire) -> Result<Self, Invalid> {
        Ok(Self {
            spec: wire.spec.as_deref().map(spec_id).transpose()?,
            scenario: wire.scenario.as_deref().map(scenario_id).transpose()?,
            concurrency: wire.concurrency,
            reason: wire.reason,
        })
    }
}
