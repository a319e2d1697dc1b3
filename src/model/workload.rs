//! Workloads as data: what one event sends, in which order, and from where its values are.
//!
//! Must not know: how any of it is written in a file, or how a value is made.

use super::{Access, Flag, KeyLaw, Number, ReadType, StatementKind, WorkloadOptions};

/// What one event does: a statement table with its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    /// sysbench's name of the script, or the matrix's own.
    pub name: String,
    /// Whether it is one of sysbench's scripts.
    pub is_built_in: bool,
    /// Whether BEGIN and COMMIT surround an event, unless [`WorkloadOptions::skip_trx`].
    pub is_transaction: bool,
    /// In prepared mode: after the handles of how many groups those of BEGIN and COMMIT come.
    pub groups_before_transaction: u32,
    /// Whether prepared mode prepares its statements; else they are text always.
    pub has_handles: bool,
    /// In the order of an event.
    pub groups: Vec<Group>,
    /// Tables of its own, beside `sbtest1..`.
    pub tables: Vec<OwnTable>,
}

/// Statements that share one draw of the table, and are repeated together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// How often they run, one after the other.
    pub repeat: Count,
    /// They run only where this option is on.
    pub when: Option<Flag>,
    /// In order; at least one.
    pub statements: Vec<Statement>,
}

/// A number, or the value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// This many.
    Fixed(u32),
    /// As many as the scenario says.
    Option(Number),
}

/// One statement: its text with what is put into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Under which name it is counted.
    pub kind: StatementKind,
    /// What it does to the data.
    pub touches: Touches,
    /// Which of the published read types it belongs to, if to any.
    pub read_type: Option<ReadType>,
    /// In order.
    pub parts: Vec<Part>,
}

/// What a statement does to the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touches {
    /// It reads.
    Reads,
    /// It writes.
    Writes,
    /// Neither (`SET`), or nobody knows (`CALL`).
    Nothing,
}

/// A piece of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// SQL as it stands.
    Text(String),
    /// The number of the table that the group drew.
    Table,
    /// A value: a parameter of a prepared statement, a literal in a text.
    Value(Value),
    /// Parts that are repeated within the statement.
    List(List),
}

/// Parts that stand several times in a row: the values of an IN list, the rows of an INSERT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// What is repeated; holds no further list.
    pub parts: Vec<Part>,
    /// What stands between two.
    pub separator: String,
    /// How often; at least once.
    pub repeat: Count,
}

/// From where a value of a statement is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A row id, remembered for those below: of a table `sbtestN`, or of an own table. By the
    /// protocol's key law, unless it names one.
    Id {
        /// The own table; `None`: the drawn one.
        table: Option<String>,
        /// Its own law.
        keys: Option<KeyLaw>,
    },
    /// An id of the connection's own part of `1..=table_size`; remembered too.
    SegmentId,
    /// The id remembered last.
    SameId,
    /// It plus `range_size - 1`.
    RangeEnd,
    /// It plus `delta`.
    DeltaEnd,
    /// 0: the server gives the id.
    NoId,
    /// Column `k`: an id by the key law, not remembered.
    K,
    /// Another number each time, and on each connection of a trial.
    Sequence {
        /// The smallest.
        start: i64,
    },
    /// What needs no memory.
    Content(Content),
}

/// A value that depends on nothing drawn before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Column `c`: 119 characters, ten groups of digits.
    C,
    /// Column `pad`: 59 characters, five groups of digits.
    Pad,
    /// An integer of `min..=max`, by a key law: `min` is its first id.
    Integer {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
        /// How it is drawn.
        keys: KeyLaw,
    },
    /// So many digits, each uniform, as a string.
    Digits(u32),
    /// So many letters a to z, each uniform.
    Letters(u32),
    /// One of these, each as likely.
    OneOf(Vec<Constant>),
    /// `2026-11-30 20:17:49`, uniform between two seconds since 1970-01-01 00:00:00, both
    /// included.
    Timestamp {
        /// The first.
        from: i64,
        /// The last.
        to: i64,
    },
}

/// A value that stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constant {
    /// A number.
    Integer(i64),
    /// A text.
    Text(String),
}

/// A table that belongs to a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnTable {
    /// Its name, as the definition has it.
    pub name: String,
    /// The CREATE TABLE statement.
    pub ddl: String,
    /// How many rows it has.
    pub rows: OwnRows,
    /// The columns that are filled; others have the definition's default.
    pub columns: Vec<Column>,
}

/// How many rows an own table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnRows {
    /// This many.
    Fixed(u64),
    /// As many as each table of the dataset, in a rehearsal too.
    TableSize,
}

/// A column of an own table, and its content in each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub value: ColumnValue,
}

/// What a column of an own table holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnValue {
    /// The row's number, from 1.
    RowId,
    /// Drawn for each row.
    Content(Content),
}

impl Workload {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is one of sysbench's mixed scripts, of which the published scenarios are made.
    pub fn is_script_of_transactions(&self) -> bool {
        self.is_built_in && self.is_transaction
    }

    /// Whether its statements read, write, or do both, whichever of them a scenario leaves out.
    pub fn access(&self) -> Access {
        let has = |touches| self.statements().any(|statement| statement.touches == touches);
        match (has(Touches::Reads), has(Touches::Writes)) {
            (true, true) => Access::ReadWrite,
            (false, true) => Access::WriteOnly,
            (_, false) => Access::ReadOnly,
        }
    }

    /// The published read type under these options; `None` where nothing is read.
    pub fn read_type(&self, options: &WorkloadOptions) -> Option<ReadType> {
        let active = self.groups.iter().filter(|group| group.is_active(options));
        let types: Vec<ReadType> = active
            .flat_map(|group| &group.statements)
            .filter_map(|statement| statement.read_type)
            .collect();
        let ranges = types.contains(&ReadType::RangeSelect).then_some(ReadType::RangeSelect);
        ranges.or(types.first().copied())
    }

    /// Whether BEGIN and COMMIT surround an event under these options.
    pub fn has_transaction(&self, options: &WorkloadOptions) -> bool {
        self.is_transaction && !options.skip_trx
    }

    /// Statements of an event under these options, BEGIN and COMMIT included.
    pub fn queries_per_event(&self, options: &WorkloadOptions) -> u32 {
        let groups = self.groups.iter().map(|group| group.queries(options));
        groups.fold(2 * u32::from(self.has_transaction(options)), u32::saturating_add)
    }

    /// Statements that each connection prepares in prepared mode: one for each table where the
    /// table is drawn.
    pub fn handles(&self, options: &WorkloadOptions, tables: u32) -> u64 {
        if !self.has_handles {
            return 0;
        }
        let used = self.groups.iter().filter(|group| group.queries(options) > 0);
        let of_statement =
            |statement: &Statement| if statement.has_table() { u64::from(tables) } else { 1 };
        let statements: u64 = used.flat_map(|group| &group.statements).map(of_statement).sum();
        statements + 2 * u64::from(self.has_transaction(options))
    }

    /// Whether one of its statements is repeated as often as that option says, or uses it.
    pub fn uses(&self, number: Number) -> bool {
        self.groups.iter().any(|group| {
            group.repeat == Count::Option(number)
                || group.statements.iter().any(|statement| statement.uses(number))
        })
    }

    /// Whether a group of it runs only where that option is on, or its transaction does.
    pub fn uses_flag(&self, flag: Flag) -> bool {
        flag == Flag::SkipTrx && self.is_transaction
            || self.groups.iter().any(|group| group.when == Some(flag))
    }

    /// Every statement, in order.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.groups.iter().flat_map(|group| &group.statements)
    }
}

impl Group {
    /// Whether the options let it run.
    pub fn is_active(&self, options: &WorkloadOptions) -> bool {
        self.when.is_none_or(|flag| flag.of(options))
    }

    /// How often it runs in an event.
    pub fn repetitions(&self, options: &WorkloadOptions) -> u32 {
        if self.is_active(options) { self.repeat.of(options) } else { 0 }
    }

    fn queries(&self, options: &WorkloadOptions) -> u32 {
        let statements = u32::try_from(self.statements.len()).unwrap_or(u32::MAX);
        self.repetitions(options).saturating_mul(statements)
    }
}

impl Count {
    /// The number that it comes to.
    pub fn of(self, options: &WorkloadOptions) -> u32 {
        match self {
            Self::Fixed(count) => count,
            Self::Option(number) => number.of(options),
        }
    }
}

impl Statement {
    /// Whether the number of the drawn table stands in it.
    pub fn has_table(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Table => true,
            Part::List(list) => list.parts.contains(&Part::Table),
            Part::Text(_) | Part::Value(_) => false,
        })
    }

    /// Its values in order, those of a list once.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.parts.iter().flat_map(Part::values)
    }

    fn uses(&self, number: Number) -> bool {
        let counts =
            |part: &Part| matches!(part, Part::List(list) if list.repeat == Count::Option(number));
        self.parts.iter().any(counts)
            || self.values().any(|value| match value {
                Value::RangeEnd => number == Number::RangeSize,
                Value::DeltaEnd => number == Number::Delta,
                _ => false,
            })
    }
}

impl Part {
    fn values(&self) -> Box<dyn Iterator<Item = &Value> + '_> {
        match self {
            Self::Value(value) => Box::new(std::iter::once(value)),
            Self::List(list) => Box::new(list.parts.iter().flat_map(Self::values)),
            Self::Text(_) | Self::Table => Box::new(std::iter::empty()),
        }
    }
}

impl Value {
    /// Whether later values may refer to it.
    pub fn is_remembered(&self) -> bool {
        matches!(self, Self::Id { .. } | Self::SegmentId)
    }

    /// Whether it refers to the id remembered last.
    pub fn refers_back(&self) -> bool {
        matches!(self, Self::SameId | Self::RangeEnd | Self::DeltaEnd)
    }
}

impl OwnTable {
    /// How many rows it has beside a dataset of this size.
    pub fn row_count(&self, table_size: u64) -> u64 {
        match self.rows {
            OwnRows::Fixed(rows) => rows,
            OwnRows::TableSize => table_size,
        }
    }
}
