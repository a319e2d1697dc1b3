//! What an event brings over the network at the least: the rows of column `c` that it reads.
//!
//! Must not know: rates, or what a network carries.

use crate::model::{Scenario, WorkloadOptions};

/// Bytes of a row of column `c` in a reply: 119 characters and the byte that holds their number.
/// Packet headers, statements and what else is sent come on top.
pub(super) const C_ROW_BYTES: u64 = 120;

/// Rows of column `c` that an event of this scenario reads on average from tables of
/// `table_size` rows; 0 where that is not known, as of workloads that a matrix declares.
///
/// A lookup by id gives one. A range of r ids that begins at a uniform one of n gives
/// r - r (r - 1) / 2n, because ranges at the end of the table are cut off; where ids are drawn
/// otherwise fewer of them lie there. `SUM` gives no row of `c`.
pub(super) fn rows_per_event(scenario: &Scenario, table_size: u64) -> f64 {
    let Scenario { workload, options, .. } = scenario;
    if !workload.is_built_in {
        return 0.0;
    }
    let groups = workload.groups.iter().map(|group| {
        let rows = |kind: &str| rows_of(kind, options, table_size);
        let of_group: f64 =
            group.statements.iter().map(|statement| rows(statement.kind.name())).sum();
        f64::from(group.repetitions(options)) * of_group
    });
    groups.sum()
}

fn rows_of(kind: &str, options: &WorkloadOptions, table_size: u64) -> f64 {
    match kind {
        "point_select" => 1.0,
        "simple_range" | "order_range" | "distinct_range" => {
            range_rows(f64::from(options.range_size), table_size as f64)
        }
        _ => 0.0,
    }
}

fn range_rows(range: f64, ids: f64) -> f64 {
    match ids {
        n if n < 1.0 => 0.0,
        n if n < range => f64::midpoint(n, 1.0),
        n => range - range * (range - 1.0) / (2.0 * n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::scenario;

    #[test]
    fn an_event_reads_310_rows_with_ranges_and_10_without() {
        let rows = |id| rows_per_event(&scenario(id), 1_000_000_000).round();
        assert_eq!(rows("read-only-range"), 310.0);
        assert_eq!(rows("read-only-point"), 10.0);
        assert_eq!(rows("read-write-range"), 310.0);
        assert_eq!(rows("read-write-point"), 10.0);
        assert_eq!(rows("write-only"), 0.0);
    }

    #[test]
    fn ranges_at_the_end_of_a_table_are_shorter() {
        // Of 4 ids, ranges of 3 hold 3, 3, 2 and 1 rows; of 2 ids, 2 and 1.
        assert_eq!(range_rows(3.0, 4.0), 2.25);
        assert_eq!(range_rows(3.0, 2.0), 1.5);
        assert_eq!(range_rows(3.0, 3.0), 2.0);
        assert_eq!(range_rows(3.0, 0.0), 0.0);
    }
}
