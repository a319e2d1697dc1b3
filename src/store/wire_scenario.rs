//! How a scenario is written in `manifest.json` and in a baseline's `about.toml`: sysbench's
//! option names, and its defaults for those that are left out.
//!
//! Must not know: files.

use serde::{Deserialize, Serialize};

use crate::model::{Scenario, Workload, WorkloadOptions};

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
}

impl From<&Scenario> for ScenarioWire {
    fn from(scenario: &Scenario) -> Self {
        let options = &scenario.options;
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
        }
    }
}

impl TryFrom<ScenarioWire> for Scenario {
    type Error = Invalid;

    fn try_from(wire: ScenarioWire) -> Result<Self, Invalid> {
        let known = WorkloadOptions::default();
        Ok(Self {
            id: scenario_id(&wire.id)?,
            workload: named("workload", &wire.workload, Workload::from_name)?,
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
            },
            title: wire.title,
        })
    }
}
