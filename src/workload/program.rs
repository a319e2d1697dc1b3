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
    /// `#` and `?` filled with the mode's own: the SQL of each handle of one table, in order.
    table_handles: Vec<&'static str>,
    prepares_commit: bool,
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

/// How a statement travels.
#[derive(Debug, Clone, Copy)]
pub(super) enum Handle {
    /// As text.
    Text,
    /// On the n-th handle of the event's table.
    OfTable(usize),
    /// On the handle after those of all tables.
    Commit,
}

impl Program {
    /// Lays out the statements of `scenario` on `dataset`.
    ///
    /// In prepared mode there is one handle per connection, table and statement, as sysbench
    /// has them, and one for COMMIT; BEGIN is always text.
    pub fn new(
        scenario: &Scenario,
        dataset: &Dataset,
        statements: StatementMode,
        keys: KeyLaw,
    ) -> Self {
        let transaction = statements::has_transaction(scenario);
        let mut program = Self {
            steps: Vec::new(),
            table_handles: Vec::new(),
            prepares_commit: transaction && statements == StatementMode::Prepared,
            prepared: Arc::default(),
            keys: KeyDistribution::new(keys, dataset.table_size),
            tables: dataset.tables.max(1),
            range_size: scenario.options.range_size,
        };
        if transaction {
            program.push(&statements::BEGIN, false, Handle::Text);
        }
        for group in statements::groups(scenario.workload).iter().copied().flatten() {
            program.push_group(group, (group.count)(&scenario.options), statements);
        }
        if transaction {
            let prepared = program.prepares_commit;
            let handle = if prepared { Handle::Commit } else { Handle::Text };
            program.push(&statements::COMMIT, false, handle);
        }
        program.prepared = program.all_handles().collect();
        program
    }

    fn push_group(&mut self, group: &'static Group, count: u32, mode: StatementMode) {
        if count == 0 {
            return;
        }
        let first_handle = self.table_handles.len();
        if mode == StatementMode::Prepared {
            self.table_handles.extend(group.statements.iter().map(|statement| statement.sql));
        }
        for repetition in 0..count {
            for (place, statement) in group.statements.iter().enumerate() {
                let handle = match mode {
                    StatementMode::Text => Handle::Text,
                    StatementMode::Prepared => Handle::OfTable(first_handle + place),
                };
                self.push(statement, repetition == 0 && place == 0, handle);
            }
        }
    }

    fn push(&mut self, statement: &'static Statement, draws_table: bool, handle: Handle) {
        self.steps.push(Step {
            kind: statement.kind,
            pieces: statement.sql.split(['#', '?']).collect(),
            values: statement.values,
            draws_table,
            handle,
        });
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

    /// The SQL of each handle, in the order of the slots: table by table, then COMMIT.
    pub fn prepared(&self) -> &Arc<[String]> {
        &self.prepared
    }

    fn all_handles(&self) -> impl Iterator<Item = String> + '_ {
        let of_table = |table: u32| {
            self.table_handles.iter().map(move |sql| sql.replacen('#', &table.to_string(), 1))
        };
        let commit = self.prepares_commit.then(|| statements::COMMIT.sql.to_owned());
        (1..=self.tables).flat_map(of_table).chain(commit)
    }

    pub(super) fn step(&self, step: usize) -> &Step {
        &self.steps[step]
    }

    /// The slot of a handle, given the table (from 1); `None` for text.
    pub(super) fn slot(&self, handle: Handle, table: u32) -> Option<usize> {
        let per_table = self.table_handles.len();
        match handle {
            Handle::Text => None,
            Handle::OfTable(place) => Some((table as usize - 1) * per_table + place),
            Handle::Commit => Some(self.tables as usize * per_table),
        }
    }
}
