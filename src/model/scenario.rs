//! Scenarios: a workload with its options, under the title that the page prints.
//!
//! Must not know: the text of any statement (that is the workload's).

use std::sync::Arc;

use super::{ScenarioId, Workload, WorkloadOptions};

/// A workload with its options, under a published title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// Unique in a matrix.
    pub id: ScenarioId,
    /// The heading in a page; without one the layout composes it from access and read type.
    pub title: Option<String>,
    /// What its events do.
    pub workload: Arc<Workload>,
    /// Its options.
    pub options: WorkloadOptions,
}

/// What the statements of an event do to the data, in the order in which scenarios are measured:
/// reads find the data as it was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Reads only.
    ReadOnly,
    /// Reads and writes.
    ReadWrite,
    /// Writes only.
    WriteOnly,
}

impl Access {
    /// All of them, in that order.
    pub const ALL: [Self; 3] = [Self::ReadOnly, Self::ReadWrite, Self::WriteOnly];

    /// Whether the data is another one afterwards.
    pub fn writes(self) -> bool {
        self != Self::ReadOnly
    }
}

/// The published "read type" of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadType {
    /// With the four range statements (`range_selects=on`).
    RangeSelect,
    /// Primary-key lookups only (`range_selects=off`, or `oltp_point_select`).
    PointSelect,
}

impl Scenario {
    /// Whether its events read, write, or do both.
    pub fn access(&self) -> Access {
        self.workload.access()
    }

    /// The published read type; `None` where the scenario reads nothing.
    pub fn read_type(&self) -> Option<ReadType> {
        self.workload.read_type(&self.options)
    }

    /// Statements that one event sends, BEGIN and COMMIT included: QPS divided by TPS.
    pub fn queries_per_event(&self) -> u32 {
        self.workload.queries_per_event(&self.options)
    }
}
