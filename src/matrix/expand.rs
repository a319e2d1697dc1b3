//! A matrix becomes a plan: cells in order, specs with their datasets, what is left out and why.
//!
//! Must not know: files, servers, or the clock. The same input gives the same plan.

use crate::written::size_text;
use std::collections::BTreeMap;

use super::rehearsal::Shrink;
use super::selection::Selection;
use crate::model::{
    Cell, CellId, Dataset, Exclusion, Host, Ladder, Matrix, Plan, PlannedSpec, Protocol, Scenario,
    ScenarioId, Skip, Spec, SpecId, counted,
};

/// What is asked of a matrix, and what is known of the place where it will run.
#[derive(Debug, Clone, Default)]
pub struct ExpandOptions {
    /// The baseline's concurrency for each cell; needed only for [`Ladder::Published`].
    pub published: BTreeMap<(SpecId, ScenarioId), u32>,
    /// `spec=2c4g` as typed: the same key widens, different keys narrow.
    pub only: Vec<String>,
    /// Whether memory, data and trials are shrunk.
    pub rehearse: bool,
    /// Where managed servers will run; `None`: servers are elsewhere, nothing is skipped.
    pub host: Option<Host>,
}

/// Why a matrix cannot be expanded as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// `--only` without `=`.
    #[error("--only {text}: write KEY=VALUE, for example --only spec=2c4g")]
    NotKeyValue {
        /// As typed.
        text: String,
    },
    /// A key that selects nothing.
    #[error("--only: unknown key `{key}`; {hint}")]
    UnknownKey {
        /// As typed.
        key: String,
        /// What was probably meant, or what there is.
        hint: String,
    },
    /// A value that the matrix does not have.
    #[error("--only {key}={value}: this matrix has no such {key}; {hint}")]
    UnknownValue {
        /// Which axis.
        key: String,
        /// As typed.
        value: String,
        /// What was probably meant, or what there is.
        hint: String,
    },
    /// A concurrency that is no number.
    #[error("--only concurrency={value}: write a whole number above 0")]
    NotConcurrency {
        /// As typed.
        value: String,
    },
    /// The baseline prints no concurrency for a cell that is to be measured at it.
    #[error(
        "concurrency is \"published\", but {baseline} prints none for {spec}/{scenario}; exclude \
         the cell, or give levels with --set 'protocol.concurrency=[64]'"
    )]
    NotPublished {
        /// The baseline's name.
        baseline: String,
        /// Which spec.
        spec: SpecId,
        /// Which scenario.
        scenario: ScenarioId,
    },
    /// Every cell is excluded or was not asked for.
    #[error(
        "nothing is left to measure: the matrix excludes {}, and --only takes no other",
        counted(*excluded, "cell")
    )]
    NothingLeft {
        /// How many cells the matrix excludes among those that were asked for.
        excluded: usize,
    },
}

/// Expands a matrix: by spec, then scenario, then concurrency, each in the order of the file, but
/// scenarios that only read come first, and those that only write last.
///
/// # Errors
/// A selection that names what is not there, a published concurrency that is not known, or
/// nothing left to measure.
pub fn expand(matrix: Matrix, options: &ExpandOptions) -> Result<Plan, ExpandError> {
    let selection = Selection::parse(&options.only, &matrix)?;
    let shrink = options.rehearse.then(|| Shrink::of(&matrix, options.host.as_ref()));
    let axis = LevelAxis::new(&matrix, options, &selection)?;
    let mut cells = Vec::new();
    let mut excluded = Vec::new();
    let mut specs = Vec::new();
    let mut scenarios: Vec<(usize, &Scenario)> = matrix.scenarios.iter().enumerate().collect();
    scenarios.sort_by_key(|(_, scenario)| scenario.access());
    for (spec, dataset) in &matrix.specs {
        let planned = specs.len();
        let before = cells.len();
        for &(index, scenario) in &scenarios {
            for concurrency in axis.levels(spec, scenario)? {
                let id =
                    CellId { spec: spec.id.clone(), scenario: scenario.id.clone(), concurrency };
                match exclusion(&matrix.exclusions, &id) {
                    Some(exclusion) => excluded.push((id, exclusion.clone())),
                    None => cells.push(Cell { id, spec: planned, scenario: index }),
                }
            }
        }
        if cells.len() > before {
            specs.push(planned_spec(spec, dataset, shrink.as_ref(), options.host.as_ref()));
        }
    }
    if cells.is_empty() {
        return Err(ExpandError::NothingLeft { excluded: excluded.len() });
    }
    let protocol = protocol(&matrix.protocol, shrink.as_ref(), &axis);
    let rehearsal = shrink.map(|shrink| shrink.rehearsal());
    Ok(Plan { protocol, rehearsal, specs, cells, excluded, matrix })
}

/// The concurrencies of each spec and scenario after selection, and after a rehearsal's cut.
struct LevelAxis<'a> {
    matrix: &'a Matrix,
    options: &'a ExpandOptions,
    selection: &'a Selection,
    /// The ladder that is climbed; `None` where each cell has the baseline's own.
    ladder: Option<Vec<u32>>,
}

impl<'a> LevelAxis<'a> {
    fn new(
        matrix: &'a Matrix,
        options: &'a ExpandOptions,
        selection: &'a Selection,
    ) -> Result<Self, ExpandError> {
        let mut axis = Self { matrix, options, selection, ladder: None };
        match &matrix.protocol.concurrency {
            Ladder::Levels(levels) => {
                selection.check_levels(levels)?;
                let asked = levels.iter().copied().filter(|level| selection.has_level(*level));
                axis.ladder = Some(if options.rehearse {
                    asked.take(Shrink::LEVELS).collect()
                } else {
                    asked.collect()
                });
            }
            Ladder::Published => {
                let mut known: Vec<u32> = options.published.values().copied().collect();
                known.sort_unstable();
                known.dedup();
                selection.check_levels(&known)?;
            }
        }
        Ok(axis)
    }

    fn levels(&self, spec: &Spec, scenario: &Scenario) -> Result<Vec<u32>, ExpandError> {
        if !self.selection.has_spec(&spec.id) || !self.selection.has_scenario(&scenario.id) {
            return Ok(Vec::new());
        }
        if let Some(ladder) = &self.ladder {
            return Ok(ladder.clone());
        }
        match self.options.published.get(&(spec.id.clone(), scenario.id.clone())) {
            Some(level) if !self.selection.has_level(*level) => Ok(Vec::new()),
            Some(level) if self.options.rehearse => Ok(vec![(*level).min(Shrink::MAX_LEVEL)]),
            Some(level) => Ok(vec![*level]),
            None if self.is_excluded_whole(spec, scenario) => Ok(Vec::new()),
            None => Err(ExpandError::NotPublished {
                baseline: self.matrix.baseline.clone().unwrap_or_default(),
                spec: spec.id.clone(),
                scenario: scenario.id.clone(),
            }),
        }
    }

    fn is_excluded_whole(&self, spec: &Spec, scenario: &Scenario) -> bool {
        self.matrix.exclusions.iter().any(|exclusion| {
            exclusion.concurrency.is_none()
                && exclusion.spec.as_ref().is_none_or(|id| *id == spec.id)
                && exclusion.scenario.as_ref().is_none_or(|id| *id == scenario.id)
        })
    }
}

fn exclusion<'a>(exclusions: &'a [Exclusion], id: &CellId) -> Option<&'a Exclusion> {
    exclusions.iter().find(|exclusion| {
        exclusion.spec.as_ref().is_none_or(|spec| *spec == id.spec)
            && exclusion.scenario.as_ref().is_none_or(|scenario| *scenario == id.scenario)
            && exclusion.concurrency.is_none_or(|level| level == id.concurrency)
    })
}

fn protocol(full: &Protocol, shrink: Option<&Shrink>, axis: &LevelAxis<'_>) -> Protocol {
    let concurrency = axis.ladder.clone().map_or(Ladder::Published, Ladder::Levels);
    let protocol = Protocol { concurrency, ..full.clone() };
    let protocol = match shrink {
        Some(_) => Shrink::protocol(protocol),
        None => protocol,
    };
    protocol.as_the_engine_can()
}

fn planned_spec(
    spec: &Spec,
    dataset: &Dataset,
    shrink: Option<&Shrink>,
    host: Option<&Host>,
) -> PlannedSpec {
    let published = PlannedSpec {
        spec: spec.clone(),
        cpus: spec.cpu,
        memory: spec.memory,
        buffer_pool: spec.buffer_pool(),
        dataset: dataset.clone(),
        published_dataset: dataset.clone(),
        skip: None,
    };
    match shrink {
        Some(shrink) => shrink.spec(published, host),
        None => PlannedSpec { skip: host.and_then(|host| skip(spec, host)), ..published },
    }
}

/// A spec that this host cannot hold is skipped, never measured smaller in silence.
fn skip(spec: &Spec, host: &Host) -> Option<Skip> {
    let (memory, has) = (size_text(spec.memory.0), size_text(host.memory.0));
    let (cpu, cpus) = (counted(spec.cpu, "CPU"), host.cpus);
    let reason = match (spec.cpu > cpus, spec.memory > host.memory) {
        (false, false) => return None,
        (true, false) => format!("needs {cpu}; this host has {cpus}"),
        (false, true) => format!("needs {memory} of memory; this host has {has}"),
        (true, true) => format!("needs {cpu} and {memory}; this host has {cpus} and {has}"),
    };
    Some(Skip { reason })
}
