//! Scenarios: a workload with its options, under the title that the page prints.
//!
//! Must not know: the text of any statement (that is `workload`).

use super::ScenarioId;

/// The built-in workloads, by sysbench's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Workload {
    /// Ten primary-key lookups and four range statements in a transaction.
    OltpReadOnly,
    /// The same with two updates, a delete and an insert.
    OltpReadWrite,
    /// Two updates, a delete and an insert.
    OltpWriteOnly,
    /// One primary-key lookup, no transaction.
    OltpPointSelect,
    /// One update of the indexed column, no transaction.
    OltpUpdateIndex,
    /// One update of a column without index, no transaction.
    OltpUpdateNonIndex,
    /// One delete, no transaction.
    OltpDelete,
    /// One insert, no transaction.
    OltpInsert,
}

impl Workload {
    /// All built-in workloads, in the order in which help texts list them.
    pub const ALL: [Self; 8] = [
        Self::OltpReadOnly,
        Self::OltpReadWrite,
        Self::OltpWriteOnly,
        Self::OltpPointSelect,
        Self::OltpUpdateIndex,
        Self::OltpUpdateNonIndex,
        Self::OltpDelete,
        Self::OltpInsert,
    ];

    /// sysbench's name of the script.
    pub fn name(self) -> &'static str {
        match self {
            Self::OltpReadOnly => "oltp_read_only",
            Self::OltpReadWrite => "oltp_read_write",
            Self::OltpWriteOnly => "oltp_write_only",
            Self::OltpPointSelect => "oltp_point_select",
            Self::OltpUpdateIndex => "oltp_update_index",
            Self::OltpUpdateNonIndex => "oltp_update_non_index",
            Self::OltpDelete => "oltp_delete",
            Self::OltpInsert => "oltp_insert",
        }
    }

    /// The workload of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|workload| workload.name() == name)
    }

    /// Whether its events read, write, or do both.
    pub fn access(self) -> Access {
        match self {
            Self::OltpReadOnly | Self::OltpPointSelect => Access::ReadOnly,
            Self::OltpReadWrite => Access::ReadWrite,
            _ => Access::WriteOnly,
        }
    }
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

/// sysbench's options of the `oltp_*` scripts, with its names and defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkloadOptions {
    /// Whether the four range statements run.
    pub range_selects: bool,
    /// Drops BEGIN and COMMIT.
    pub skip_trx: bool,
    /// Primary-key lookups in an event.
    pub point_selects: u32,
    /// `BETWEEN` range reads in an event.
    pub simple_ranges: u32,
    /// `SUM()` over a range.
    pub sum_ranges: u32,
    /// Range reads with `ORDER BY`.
    pub order_ranges: u32,
    /// Range reads with `DISTINCT` and `ORDER BY`.
    pub distinct_ranges: u32,
    /// Rows in a range: ids `[id, id + range_size - 1]`.
    pub range_size: u32,
    /// Updates of `k`.
    pub index_updates: u32,
    /// Updates of `c`.
    pub non_index_updates: u32,
    /// Pairs of DELETE and INSERT with the same id.
    pub delete_inserts: u32,
}

impl Default for WorkloadOptions {
    fn default() -> Self {
        Self {
            range_selects: true,
            skip_trx: false,
            point_selects: 10,
            simple_ranges: 1,
            sum_ranges: 1,
            order_ranges: 1,
            distinct_ranges: 1,
            range_size: 100,
            index_updates: 1,
            non_index_updates: 1,
            delete_inserts: 1,
        }
    }
}

/// A workload with its options, under a published title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// Unique in a matrix.
    pub id: ScenarioId,
    /// The heading in a page; without one the layout composes it from access and read type.
    pub title: Option<String>,
    /// Which script.
    pub workload: Workload,
    /// Its options.
    pub options: WorkloadOptions,
}

impl Scenario {
    /// Whether its events read, write, or do both.
    pub fn access(&self) -> Access {
        self.workload.access()
    }

    /// The published read type; `None` where the scenario reads nothing.
    pub fn read_type(&self) -> Option<ReadType> {
        match (self.workload, self.options.range_selects) {
            (Workload::OltpReadOnly | Workload::OltpReadWrite, true) => Some(ReadType::RangeSelect),
            (Workload::OltpReadOnly | Workload::OltpReadWrite, false)
            | (Workload::OltpPointSelect, _) => Some(ReadType::PointSelect),
            _ => None,
        }
    }

    /// Statements that one event sends, BEGIN and COMMIT included: QPS divided by TPS.
    pub fn queries_per_event(&self) -> u32 {
        let o = &self.options;
        let ranges = if o.range_selects {
            o.simple_ranges + o.sum_ranges + o.order_ranges + o.distinct_ranges
        } else {
            0
        };
        let reads = o.point_selects + ranges;
        let writes = o.index_updates + o.non_index_updates + 2 * o.delete_inserts;
        let transaction = if o.skip_trx { 0 } else { 2 };
        match self.workload {
            Workload::OltpReadOnly => reads + transaction,
            Workload::OltpReadWrite => reads + writes + transaction,
            Workload::OltpWriteOnly => writes + transaction,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(workload: Workload, range_selects: bool, skip_trx: bool) -> Scenario {
        let id = ScenarioId::new("s").unwrap();
        let options = WorkloadOptions { range_selects, skip_trx, ..WorkloadOptions::default() };
        Scenario { id, title: None, workload, options }
    }

    #[test]
    fn the_five_published_scenarios_send_16_12_20_16_and_6_statements() {
        use Workload::{OltpReadOnly, OltpReadWrite, OltpWriteOnly};
        let published = [
            (OltpReadOnly, true, 16),
            (OltpReadOnly, false, 12),
            (OltpReadWrite, true, 20),
            (OltpReadWrite, false, 16),
            (OltpWriteOnly, true, 6),
        ];
        for (workload, ranges, with_transaction) in published {
            assert_eq!(scenario(workload, ranges, false).queries_per_event(), with_transaction);
            assert_eq!(scenario(workload, ranges, true).queries_per_event(), with_transaction - 2);
        }
    }

    #[test]
    fn every_workload_is_found_by_its_name() {
        for workload in Workload::ALL {
            assert_eq!(Workload::from_name(workload.name()), Some(workload));
        }
        assert_eq!(Workload::from_name("oltp"), None);
    }
}
