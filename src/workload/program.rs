//! The statement table of one event.
//!
//! Must not know: connections, or any state that changes between events.

use std::sync::Arc;

use crate::model::{Dataset, KeyLaw, Scenario, StatementKind, StatementMode};

use super::keys::KeyDistribution;
use super::statements::{self, Group, Statement, Value};

/// Every statement that one event sends, in order; shared by all connections.
#[derive(Debug)]
pub struct Program {
    steps: Vec<Step>,
    prepared: Arc<[String]>,
    pub(super) keys: KeyDistribution,
    pub(super) tables: u32,
    pub(super) range_size: u32,
}

/// One statement of the event.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) kind: StatementKind,
    /// The SQL, cut at `#` and at each `?`.
    pub(super) pieces: Vec<&'static str>,
    pub(super) values: &'static [Value],
    /// Whether the table is drawn anew before it.
    pub(super) draws_table: bool,
    pub(super) handle: Handle,
}

impl Step {
    fn new(statement: &'static Statement, draws_table: bool, handle: Handle) -> Self {
        Self {
            kind: statement.kind,
            pieces: statement.sql.split(['#', '?']).collect(),
            values: statement.values,
            draws_table,
            handle,
        }
    }
}

/// How a statement travels.
#[derive(Debug, Clone, Copy)]
pub(super) enum Handle {
    /// As text.
    Text,
    /// On the handle in this slot.
    Fixed(usize),
    /// On the handle of the event's table; the first table's is in this slot.
    OfTable(usize),
}

impl Handle {
    /// The slot, given the table (from 1); `None` for text.
    pub(super) fn slot(self, table: u32) -> Option<usize> {
        match self {
            Self::Text => None,
            Self::Fixed(slot) => Some(slot),
            Self::OfTable(first) => Some(first + table as usize - 1),
        }
    }
}

impl Program {
    /// Lays out the statements of `scenario` on `dataset`.
    ///
    /// In prepared mode there is one handle per connection, table and statement, and one each
    /// for BEGIN and COMMIT: the same as sysbench has, in the order in which it prepares them.
    pub fn new(
        scenario: &Scenario,
        dataset: &Dataset,
        statements: StatementMode,
        keys: KeyLaw,
    ) -> Self {
        let tables = dataset.tables.max(1);
        let mut layout =
            Layout { is_prepared: is_prepared(scenario, statements), ..Layout::new(tables) };
        let transaction = statements::has_transaction(scenario);
        let transaction_at = statements::groups_before_transaction(scenario.workload);
        for (place, group) in
            statements::groups(scenario.workload).iter().copied().flatten().enumerate()
        {
            if transaction && place == transaction_at {
                layout.push_transaction();
            }
            layout.push_group(group, (group.count)(&scenario.options));
        }
        Self {
            steps: layout.begin.into_iter().chain(layout.steps).chain(layout.commit).collect(),
            prepared: layout.prepared.into(),
            keys: KeyDistribution::new(keys, dataset.table_size),
            tables,
            range_size: scenario.options.range_size,
        }
    }

    /// Statements in one event; the scenario's `queries_per_event()`.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether an event sends nothing at all (every count of its options is 0).
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The kind of the n-th statement.
    ///
    /// # Panics
    /// If there is no such statement.
    pub fn kind(&self, step: usize) -> StatementKind {
        self.steps[step].kind
    }

    /// Handles that each connection prepares; 0 in text mode.
    pub fn prepared_count(&self) -> usize {
        self.prepared.len()
    }

    /// The SQL of each handle, in the order of the slots.
    pub fn prepared(&self) -> &Arc<[String]> {
        &self.prepared
    }

    pub(super) fn step(&self, step: usize) -> &Step {
        &self.steps[step]
    }
}

fn is_prepared(scenario: &Scenario, statements: StatementMode) -> bool {
    statements == StatementMode::Prepared && statements::has_handles(scenario.workload)
}

/// A program in the making.
struct Layout {
    tables: u32,
    is_prepared: bool,
    prepared: Vec<String>,
    begin: Option<Step>,
    steps: Vec<Step>,
    commit: Option<Step>,
}

impl Layout {
    fn new(tables: u32) -> Self {
        let (prepared, steps) = (Vec::new(), Vec::new());
        Self { tables, is_prepared: false, prepared, begin: None, steps, commit: None }
    }

    fn push_transaction(&mut self) {
        let [begin, commit] = [&statements::BEGIN, &statements::COMMIT].map(|statement| {
            let slot = self.prepared.len();
            if !self.is_prepared {
                return Step::new(statement, false, Handle::Text);
            }
            self.prepared.push(statement.sql.to_owned());
            Step::new(statement, false, Handle::Fixed(slot))
        });
        (self.begin, self.commit) = (Some(begin), Some(commit));
    }

    fn push_group(&mut self, group: &'static Group, count: u32) {
        if count == 0 {
            return;
        }
        let handles: Vec<Handle> =
            group.statements.iter().map(|statement| self.handle(statement)).collect();
        for repetition in 0..count {
            for (place, statement) in group.statements.iter().enumerate() {
                let draws_table = repetition == 0 && place == 0;
                self.steps.push(Step::new(statement, draws_table, handles[place]));
            }
        }
    }

    /// A handle for each table.
    fn handle(&mut self, statement: &Statement) -> Handle {
        if !self.is_prepared {
            return Handle::Text;
        }
        let first = self.prepared.len();
        let of_table = |table: u32| statement.sql.replacen('#', &table.to_string(), 1);
        self.prepared.extend((1..=self.tables).map(of_table));
        Handle::OfTable(first)
    }
}
