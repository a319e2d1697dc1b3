//! The statement table of one event, cut into pieces.
//!
//! Must not know: connections, or any state that changes between events.

use std::sync::Arc;

use crate::model::{
    Content, Dataset, Group, KeyLaw, Part, Scenario, Statement, StatementKind, StatementMode,
    Value, Workload, WorkloadOptions,
};

use super::content::Maker;
use super::keys::KeyDistribution;
use super::random::{C_GROUPS, PAD_GROUPS};

/// Every statement that one event sends, in order; shared by all connections.
#[derive(Debug)]
pub struct Program {
    steps: Vec<Step>,
    kinds: Arc<[StatementKind]>,
    prepared: Arc<[String]>,
    pub(super) keys: KeyDistribution,
    pub(super) tables: u32,
    pub(super) range_size: u32,
    pub(super) delta: u32,
    /// What [`Whole::IdOf`] refers to.
    pub(super) ids: Vec<KeyDistribution>,
    /// What [`Draw::Content`] refers to.
    pub(super) contents: Vec<Maker>,
    /// Where the sequences start, to which [`Draw::Sequence`] refers.
    pub(super) sequences: Vec<i64>,
    /// Size and law of the table of whose ids each connection has a part of its own, where a
    /// statement draws such.
    pub(super) segments: Option<(u64, KeyLaw)>,
}

/// One statement of the event.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Index into [`Program::kinds`].
    pub(super) kind: usize,
    /// The SQL up to the first value; empty where the statement has a handle.
    pub(super) head: Box<str>,
    /// Each value, with the SQL from there to the next.
    pub(super) pieces: Box<[Piece]>,
    /// Whether the table is drawn anew before it.
    pub(super) draws_table: bool,
    pub(super) handle: Handle,
}

/// A value, and the SQL that follows it; empty where the statement has a handle.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) draw: Draw,
    pub(super) tail: Box<str>,
}

/// What is drawn in the place of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Draw {
    /// A number that is never negative.
    Whole(Whole),
    /// So many groups of eleven digits.
    Groups(u32),
    /// The next number of the n-th sequence.
    Sequence(u32),
    /// The n-th of [`Program::contents`].
    Content(u32),
}

/// A number that is never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole {
    /// The number of the group's table; never a parameter of a handle.
    Table,
    /// A row id by the key law; remembered for those below.
    Id,
    /// The same of the n-th of [`Program::ids`].
    IdOf(u32),
    /// The same in the connection's own segment.
    SegmentId,
    /// The id drawn last: an INSERT puts back the row that the DELETE before it took.
    SameId,
    /// The id drawn last plus `range_size - 1`.
    RangeEnd,
    /// The id drawn last plus `delta`.
    DeltaEnd,
    /// 0: the server gives the id.
    NoId,
    /// `k`, by the key law.
    K,
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
    /// In prepared mode there is one handle per connection, table and statement (one in all
    /// where the statement names no drawn table), and one each for BEGIN and COMMIT: the same as
    /// sysbench has, in the order in which it prepares them.
    pub fn new(
        scenario: &Scenario,
        dataset: &Dataset,
        statements: StatementMode,
        keys: KeyLaw,
    ) -> Self {
        let (workload, options) = (&*scenario.workload, &scenario.options);
        let is_prepared = statements == StatementMode::Prepared && workload.has_handles;
        let mut layout = Layout::new(workload, options, dataset, keys, is_prepared);
        let transaction = workload.has_transaction(options);
        for (place, group) in workload.groups.iter().enumerate() {
            if transaction && place == workload.groups_before_transaction as usize {
                layout.push_transaction();
            }
            layout.push_group(group, group.repetitions(options));
        }
        if transaction && layout.begin.is_none() {
            layout.push_transaction();
        }
        layout.into_program()
    }

    /// Statements in one event; the scenario's `queries_per_event()`.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether an event sends nothing at all (every count of its options is 0).
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The kinds of its statements, each once, in the order in which they first come.
    pub fn kinds(&self) -> &Arc<[StatementKind]> {
        &self.kinds
    }

    /// The kind of the n-th statement, as its place in [`Self::kinds`].
    ///
    /// # Panics
    /// If there is no such statement.
    #[inline]
    pub fn kind(&self, step: usize) -> usize {
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

/// A program in the making.
struct Layout<'a> {
    workload: &'a Workload,
    options: &'a WorkloadOptions,
    dataset: &'a Dataset,
    is_prepared: bool,
    begin: Option<Step>,
    commit: Option<Step>,
    law: KeyLaw,
    program: Program,
    kinds: Vec<StatementKind>,
    prepared: Vec<String>,
}

impl<'a> Layout<'a> {
    fn new(
        workload: &'a Workload,
        options: &'a WorkloadOptions,
        dataset: &'a Dataset,
        law: KeyLaw,
        is_prepared: bool,
    ) -> Self {
        let program = Program {
            steps: Vec::new(),
            kinds: Arc::new([]),
            prepared: Arc::new([]),
            keys: KeyDistribution::new(law, dataset.table_size),
            tables: dataset.tables.max(1),
            range_size: options.range_size,
            delta: options.delta,
            ids: Vec::new(),
            contents: Vec::new(),
            sequences: Vec::new(),
            segments: None,
        };
        let (kinds, prepared) = (Vec::new(), Vec::new());
        let (begin, commit) = (None, None);
        Self {
            workload,
            options,
            dataset,
            is_prepared,
            begin,
            commit,
            law,
            program,
            kinds,
            prepared,
        }
    }

    /// BEGIN stands first and COMMIT last, whenever their handles are prepared.
    fn push_transaction(&mut self) {
        let mut step = |kind: StatementKind, sql: &str| {
            let handle = if self.is_prepared {
                self.prepared.push(sql.to_owned());
                Handle::Fixed(self.prepared.len() - 1)
            } else {
                Handle::Text
            };
            let head = if self.is_prepared { "" } else { sql }.into();
            let kind = place_of(&mut self.kinds, &kind);
            Step { kind, head, pieces: Box::default(), draws_table: false, handle }
        };
        (self.begin, self.commit) = (
            Some(step(StatementKind::begin(), "BEGIN")),
            Some(step(StatementKind::commit(), "COMMIT")),
        );
    }

    fn push_group(&mut self, group: &Group, count: u32) {
        if count == 0 {
            return;
        }
        let draws_table = group.statements.iter().any(Statement::has_table);
        let steps: Vec<Step> = group.statements.iter().map(|of| self.step(of)).collect();
        for repetition in 0..count {
            for (place, step) in steps.iter().enumerate() {
                let draws_table = draws_table && repetition == 0 && place == 0;
                self.program.steps.push(Step { draws_table, ..step.clone() });
            }
        }
    }

    fn step(&mut self, statement: &Statement) -> Step {
        let mut cutter = Cutter::default();
        self.cut(&statement.parts, &mut cutter);
        let kind = place_of(&mut self.kinds, &statement.kind);
        let (handle, head, pieces) = if self.is_prepared {
            (self.handle(&cutter, statement.has_table()), Box::default(), cutter.parameters())
        } else {
            let (head, pieces) = cutter.text_pieces();
            (Handle::Text, head, pieces)
        };
        Step { kind, head, pieces, draws_table: false, handle }
    }

    /// A handle for each table, or one.
    fn handle(&mut self, cutter: &Cutter, has_table: bool) -> Handle {
        let first = self.prepared.len();
        if !has_table {
            self.prepared.push(cutter.prepared(0));
            return Handle::Fixed(first);
        }
        self.prepared.extend((1..=self.program.tables).map(|table| cutter.prepared(table)));
        Handle::OfTable(first)
    }

    fn cut(&mut self, parts: &[Part], cutter: &mut Cutter) {
        for part in parts {
            match part {
                Part::Text(text) => cutter.text(text),
                Part::Table => cutter.draw(TABLE),
                Part::Value(value) => cutter.draw(self.draw(value)),
                Part::List(list) => {
                    // Laid out once: a sequence is one, however often the list repeats it.
                    let mut once = Cutter::default();
                    self.cut(&list.parts, &mut once);
                    for repetition in 0..list.repeat.of(self.options).max(1) {
                        if repetition > 0 {
                            cutter.text(&list.separator);
                        }
                        cutter.append(&once);
                    }
                }
            }
        }
    }

    fn draw(&mut self, value: &Value) -> Draw {
        Draw::Whole(match value {
            Value::Id { table: None, keys: None } => Whole::Id,
            Value::Id { table, keys } => {
                let rows = self.rows(table.as_deref());
                let keys = KeyDistribution::new(keys.unwrap_or(self.law), rows);
                Whole::IdOf(push(&mut self.program.ids, keys))
            }
            Value::SegmentId => {
                self.program.segments = Some((self.dataset.table_size, self.law));
                Whole::SegmentId
            }
            Value::SameId => Whole::SameId,
            Value::RangeEnd => Whole::RangeEnd,
            Value::DeltaEnd => Whole::DeltaEnd,
            Value::NoId => Whole::NoId,
            Value::K => Whole::K,
            Value::Sequence { start } => {
                return Draw::Sequence(push(&mut self.program.sequences, *start));
            }
            Value::Content(Content::C) => return Draw::Groups(C_GROUPS as u32),
            Value::Content(Content::Pad) => return Draw::Groups(PAD_GROUPS as u32),
            Value::Content(other) => {
                return Draw::Content(push(&mut self.program.contents, Maker::new(other)));
            }
        })
    }

    /// Rows of an own table, or of each table of the dataset.
    fn rows(&self, table: Option<&str>) -> u64 {
        let own = table.and_then(|name| self.workload.tables.iter().find(|own| own.name == name));
        own.map_or(self.dataset.table_size, |own| own.row_count(self.dataset.table_size))
    }

    fn into_program(self) -> Program {
        let (begin, commit) = (self.begin, self.commit);
        let mut steps: Vec<Step> =
            begin.into_iter().chain(self.program.steps).chain(commit).collect();
        let mut kinds = Vec::new();
        for step in &mut steps {
            step.kind = place_of(&mut kinds, &self.kinds[step.kind]);
        }
        Program { steps, kinds: kinds.into(), prepared: self.prepared.into(), ..self.program }
    }
}

/// The one that is part of the SQL which is prepared.
const TABLE: Draw = Draw::Whole(Whole::Table);

/// A statement while it is cut.
#[derive(Default)]
struct Cutter {
    head: String,
    pieces: Vec<(Draw, String)>,
}

impl Cutter {
    fn text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some((_, tail)) => tail.push_str(text),
            None => self.head.push_str(text),
        }
    }

    fn draw(&mut self, draw: Draw) {
        self.pieces.push((draw, String::new()));
    }

    fn append(&mut self, other: &Self) {
        self.text(&other.head);
        for (draw, tail) in &other.pieces {
            self.draw(*draw);
            self.text(tail);
        }
    }

    fn text_pieces(self) -> (Box<str>, Box<[Piece]>) {
        let piece = |(draw, tail): (Draw, String)| Piece { draw, tail: tail.into() };
        (self.head.into(), self.pieces.into_iter().map(piece).collect())
    }

    fn parameters(&self) -> Box<[Piece]> {
        let draws = self.pieces.iter().map(|(draw, _)| *draw);
        let values = draws.filter(|draw| *draw != TABLE);
        values.map(|draw| Piece { draw, tail: Box::default() }).collect()
    }

    /// The text to be prepared for that table.
    fn prepared(&self, table: u32) -> String {
        let mut sql = self.head.clone();
        for (draw, tail) in &self.pieces {
            match draw {
                draw if *draw == TABLE => sql.push_str(&table.to_string()),
                _ => sql.push('?'),
            }
            sql.push_str(tail);
        }
        sql
    }
}

/// The place of a kind among those of the program.
fn place_of(kinds: &mut Vec<StatementKind>, kind: &StatementKind) -> usize {
    kinds.iter().position(|known| known == kind).unwrap_or_else(|| {
        kinds.push(kind.clone());
        kinds.len() - 1
    })
}

/// Appends; the place of what was appended.
fn push<T>(list: &mut Vec<T>, item: T) -> u32 {
    list.push(item);
    u32::try_from(list.len() - 1).expect("a workload has far fewer values than 2^32")
}
