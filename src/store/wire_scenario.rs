//! How a scenario is written in `manifest.json` and in a baseline's `about.toml`: sysbench's
//! option names, and its defaults for those that are left out. A workload of a matrix's own is
//! written whole.
//!
//! Must not know: files.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::{Scenario, Workload, WorkloadOptions};
use crate::workload::{WorkloadForm, builtin};

use super::wire::{Invalid, named, scenario_id};

/// A [`Scenario`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScenarioWire {
    pub(super) id: String,
    title: Option<String>,
    workload: String,
    range_selects: Option<bool>,
    skip_trx: Option<bool>,
    point_selects: Option<u32>,
    simple_ranges: Option<u32>,
    sum_ranges: Option<u32>,
    order_ranges: Option<u32>,
    distinct_ranges: Option<u32>,
    range_size: Option<u32>,
    index_updates: Option<u32>,
    non_index_updates: Option<u32>,
    delete_inserts: Option<u32>,
    random_points: Option<u32>,
    number_of_ranges: Option<u32>,
    delta: Option<u32>,
    /// Set where the workload is no built-in one: what it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    declared_workload: Option<WorkloadForm>,
}

impl From<&Scenario> for ScenarioWire {
    fn from(scenario: &Scenario) -> Self {
        let options = &scenario.options;
        let declared = !scenario.workload.is_built_in;
        Self {
            id: scenario.id.to_string(),
            title: scenario.title.clone(),
            workload: scenario.workload.name().to_owned(),
            range_selects: Some(options.range_selects),
            skip_trx: Some(options.skip_trx),
            point_selects: Some(options.point_selects),
            simple_ranges: Some(options.simple_ranges),
            sum_ranges: Some(options.sum_ranges),
            order_ranges: Some(options.order_ranges),
            distinct_ranges: Some(options.distinct_ranges),
            range_size: Some(options.range_size),
            index_updates: Some(options.index_updates),
            non_index_updates: Some(options.non_index_updates),
            delete_inserts: Some(options.delete_inserts),
            random_points: Some(options.random_points),
            number_of_ranges: Some(options.number_of_ranges),
            delta: Some(options.delta),
            declared_workload: declared.then(|| (&*scenario.workload).into()),
        }
    }
}

impl TryFrom<ScenarioWire> for Scenario {
    type Error = Invalid;

    fn try_from(wire: ScenarioWire) -> Result<Self, Invalid> {
        let known = WorkloadOptions::default();
        Ok(Self {
            id: scenario_id(&wire.id)?,
            workload: workload(&wire.workload, wire.declared_workload)?,
            options: WorkloadOptions {
                range_selects: wire.range_selects.unwrap_or(known.range_selects),
                skip_trx: wire.skip_trx.unwrap_or(known.skip_trx),
                point_selects: wire.point_selects.unwrap_or(known.point_selects),
                simple_ranges: wire.simple_ranges.unwrap_or(known.simple_ranges),
                sum_ranges: wire.sum_ranges.unwrap_or(known.sum_ranges),
                order_ranges: wire.order_ranges.unwrap_or(known.order_ranges),
                distinct_ranges: wire.distinct_ranges.unwrap_or(known.distinct_ranges),
                range_size: wire.range_size.unwrap_or(known.range_size),
                index_updates: wire.index_updates.unwrap_or(known.index_updates),
                non_index_updates: wire.non_index_updates.unwrap_or(known.non_index_updates),
                delete_inserts: wire.delete_inserts.unwrap_or(known.delete_inserts),
                random_points: wire.random_points.unwrap_or(known.random_points),
                number_of_ranges: wire.number_of_ranges.unwrap_or(known.number_of_ranges),
                delta: wire.delta.unwrap_or(known.delta),
            },
            title: wire.title,
        })
    }
}

/// The workload that is written beside its name, or the built-in one of that name.
fn workload(name: &str, declared: Option<WorkloadForm>) -> Result<Arc<Workload>, Invalid> {
    let Some(form) = declared else { return named("workload", name, builtin) };
    let workload = form.read(false).map_err(Invalid)?;
    if workload.name() != name {
        let message = format!("workload `{name}` is written as `{}`", workload.name());
        return Err(Invalid(message));
    }
    Ok(Arc::new(workload))
}
