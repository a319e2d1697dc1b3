//! sysbench 1.0.20's statements and their order in an event, as tables.
//!
//! Must not know: how a value is drawn or written. Source: `oltp_common.lua`, tag 1.0.20.

use crate::model::{Scenario, StatementKind, Workload, WorkloadOptions};

/// One statement: `#` stands for the table's number, `?` for the values in their order.
pub(super) struct Statement {
    pub(super) kind: StatementKind,
    pub(super) sql: &'static str,
    pub(super) values: &'static [Value],
}

/// What a statement's `?` stands for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value {
    /// A row id by the key law; remembered for the two below.
    Id,
    /// The id drawn last: an INSERT puts back the row that the DELETE before it took.
    SameId,
    /// The id drawn last plus `range_size - 1`.
    RangeEnd,
    /// 0: the server gives the id.
    NoId,
    /// `k`, by the key law.
    K,
    /// 119 characters: ten groups of digits.
    C,
    /// 59 characters: five groups of digits.
    Pad,
}

use Value::{C, Id, K, NoId, Pad, RangeEnd, SameId};

/// Statements under one name share one draw of the table.
pub(super) struct Group {
    /// How often the statements run, by the options.
    pub(super) count: fn(&WorkloadOptions) -> u32,
    pub(super) statements: &'static [Statement],
}

pub(super) const BEGIN: Statement =
    Statement { kind: StatementKind::Begin, sql: "BEGIN", values: &[] };
pub(super) const COMMIT: Statement =
    Statement { kind: StatementKind::Commit, sql: "COMMIT", values: &[] };

const POINT_SELECT: Statement = Statement {
    kind: StatementKind::PointSelect,
    sql: "SELECT c FROM sbtest# WHERE id=?",
    values: &[Id],
};
const SIMPLE_RANGE: Statement = Statement {
    kind: StatementKind::SimpleRange,
    sql: "SELECT c FROM sbtest# WHERE id BETWEEN ? AND ?",
    values: &[Id, RangeEnd],
};
const SUM_RANGE: Statement = Statement {
    kind: StatementKind::SumRange,
    sql: "SELECT SUM(k) FROM sbtest# WHERE id BETWEEN ? AND ?",
    values: &[Id, RangeEnd],
};
const ORDER_RANGE: Statement = Statement {
    kind: StatementKind::OrderRange,
    sql: "SELECT c FROM sbtest# WHERE id BETWEEN ? AND ? ORDER BY c",
    values: &[Id, RangeEnd],
};
const DISTINCT_RANGE: Statement = Statement {
    kind: StatementKind::DistinctRange,
    sql: "SELECT DISTINCT c FROM sbtest# WHERE id BETWEEN ? AND ? ORDER BY c",
    values: &[Id, RangeEnd],
};
const INDEX_UPDATE: Statement = Statement {
    kind: StatementKind::IndexUpdate,
    sql: "UPDATE sbtest# SET k=k+1 WHERE id=?",
    values: &[Id],
};
const NON_INDEX_UPDATE: Statement = Statement {
    kind: StatementKind::NonIndexUpdate,
    sql: "UPDATE sbtest# SET c=? WHERE id=?",
    values: &[C, Id],
};
const DELETE: Statement =
    Statement { kind: StatementKind::Delete, sql: "DELETE FROM sbtest# WHERE id=?", values: &[Id] };
const INSERT_SQL: &str = "INSERT INTO sbtest# (id, k, c, pad) VALUES (?, ?, ?, ?)";
const REINSERT: Statement =
    Statement { kind: StatementKind::Insert, sql: INSERT_SQL, values: &[SameId, K, C, Pad] };
const INSERT: Statement =
    Statement { kind: StatementKind::Insert, sql: INSERT_SQL, values: &[NoId, K, C, Pad] };

const READS: &[Group] = &[
    Group { count: |o| o.point_selects, statements: &[POINT_SELECT] },
    Group { count: |o| ranges(o, o.simple_ranges), statements: &[SIMPLE_RANGE] },
    Group { count: |o| ranges(o, o.sum_ranges), statements: &[SUM_RANGE] },
    Group { count: |o| ranges(o, o.order_ranges), statements: &[ORDER_RANGE] },
    Group { count: |o| ranges(o, o.distinct_ranges), statements: &[DISTINCT_RANGE] },
];
const WRITES: &[Group] = &[
    Group { count: |o| o.index_updates, statements: &[INDEX_UPDATE] },
    Group { count: |o| o.non_index_updates, statements: &[NON_INDEX_UPDATE] },
    Group { count: |o| o.delete_inserts, statements: &[DELETE, REINSERT] },
];
const ONE_POINT_SELECT: &[Group] = &[Group { count: |_| 1, statements: &[POINT_SELECT] }];
const ONE_INDEX_UPDATE: &[Group] = &[Group { count: |_| 1, statements: &[INDEX_UPDATE] }];
const ONE_NON_INDEX_UPDATE: &[Group] = &[Group { count: |_| 1, statements: &[NON_INDEX_UPDATE] }];
const ONE_DELETE: &[Group] = &[Group { count: |_| 1, statements: &[DELETE] }];
const ONE_INSERT: &[Group] = &[Group { count: |_| 1, statements: &[INSERT] }];

/// The groups of an event between BEGIN and COMMIT, in order.
pub(super) fn groups(workload: Workload) -> &'static [&'static [Group]] {
    match workload {
        Workload::OltpReadOnly => &[READS],
        Workload::OltpReadWrite => &[READS, WRITES],
        Workload::OltpWriteOnly => &[WRITES],
        Workload::OltpPointSelect => &[ONE_POINT_SELECT],
        Workload::OltpUpdateIndex => &[ONE_INDEX_UPDATE],
        Workload::OltpUpdateNonIndex => &[ONE_NON_INDEX_UPDATE],
        Workload::OltpDelete => &[ONE_DELETE],
        Workload::OltpInsert => &[ONE_INSERT],
    }
}

/// Whether an event runs between BEGIN and COMMIT: the three mixed scripts, unless `skip_trx`.
pub(super) fn has_transaction(scenario: &Scenario) -> bool {
    let mixed = matches!(
        scenario.workload,
        Workload::OltpReadOnly | Workload::OltpReadWrite | Workload::OltpWriteOnly
    );
    mixed && !scenario.options.skip_trx
}

/// Whether prepared mode prepares the workload's statements: oltp_insert sends text always.
pub(super) fn has_handles(workload: Workload) -> bool {
    workload != Workload::OltpInsert
}

/// After the handles of how many groups those of BEGIN and COMMIT are prepared.
pub(super) fn groups_before_transaction(workload: Workload) -> usize {
    usize::from(workload == Workload::OltpReadOnly)
}

fn ranges(options: &WorkloadOptions, count: u32) -> u32 {
    if options.range_selects { count } else { 0 }
}
