//! Which step of which table is next, for loaders that work side by side.
//!
//! Must not know: connections, or what a step takes.
//!
//! A loader stays with its table while that has something to do, then takes a table that nobody
//! has begun, then helps with the one that has the most left. So each of many small tables has a
//! loader of its own, and one large table has all of them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::batch::Chunk;
use crate::model::{Checksum, TableCheck};

/// How often somebody who waits looks whether he should stop.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// A table that is not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unfinished {
    pub(super) number: u32,
    /// Chunks that are in; `None`: the table is made from its beginning.
    pub(super) chunks_in: Option<BTreeMap<u64, Checksum>>,
}

/// What one loader does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Make the table, without rows; what is there under its name goes.
    Create { table: u32 },
    /// Send a chunk.
    Fill { table: u32, chunk: Chunk },
    /// Make the index on `k`.
    Index { table: u32 },
    /// Let the server compute the checksum of a chunk, which is to be this.
    Check { table: u32, chunk: Chunk, expected: Checksum },
    /// Gather statistics and note that the table is complete.
    Close { check: TableCheck },
}

/// What a step brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    /// No more than that it is done.
    Plain,
    /// The chunk was sent.
    Filled(Checksum),
    /// The chunk was checked: lowest and highest id of its rows.
    Checked { first_id: u64, last_id: u64 },
}

/// The steps that are left, shared by all loaders.
#[derive(Debug)]
pub(super) struct Board {
    tables: Mutex<Tables>,
    changed: Condvar,
    table_size: u64,
}

#[derive(Debug)]
struct Tables {
    unbegun: VecDeque<Unfinished>,
    begun: BTreeMap<u32, Table>,
}

/// A table that somebody has begun.
#[derive(Debug, Default)]
struct Table {
    /// Whether it waits for nobody to be made.
    exists: bool,
    unsent: VecDeque<Chunk>,
    sending: usize,
    is_index_begun: bool,
    is_indexed: bool,
    unchecked: VecDeque<(Chunk, Checksum)>,
    checking: usize,
    check: Option<TableCheck>,
    is_closing: bool,
}

impl Board {
    pub(super) fn new(tables: Vec<Unfinished>, table_size: u64) -> Self {
        let tables = Tables { unbegun: tables.into(), begun: BTreeMap::new() };
        Self { tables: Mutex::new(tables), changed: Condvar::new(), table_size }
    }

    /// The next step for a loader whose last one was on `current`; waits while the others have to
    /// end theirs first. `None`: there is nothing left, or it should stop.
    pub(super) fn next(&self, current: Option<u32>, stop: &dyn Fn() -> bool) -> Option<Step> {
        let mut tables = self.lock();
        loop {
            if stop() || tables.is_empty() {
                return None;
            }
            if let Some(step) = tables.next(current, self.table_size) {
                return Some(step);
            }
            let waited = self.changed.wait_timeout(tables, STOP_CHECK);
            tables = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Notes what a step brought.
    pub(super) fn done(&self, step: &Step, done: Done) {
        let mut tables = self.lock();
        let number = step.table();
        if matches!(step, Step::Close { .. }) {
            tables.begun.remove(&number);
        } else if let Some(table) = tables.begun.get_mut(&number) {
            table.done(step, done);
        }
        drop(tables);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Step {
    pub(super) fn table(&self) -> u32 {
        match self {
            Self::Create { table }
            | Self::Fill { table, .. }
            | Self::Index { table }
            | Self::Check { table, .. } => *table,
            Self::Close { check } => check.number,
        }
    }
}

impl Tables {
    fn is_empty(&self) -> bool {
        self.unbegun.is_empty() && self.begun.is_empty()
    }

    fn next(&mut self, current: Option<u32>, table_size: u64) -> Option<Step> {
        let own = current.and_then(|number| self.begun.get_mut(&number)?.next(number));
        own.or_else(|| self.begin(table_size)).or_else(|| self.help())
    }

    fn begin(&mut self, table_size: u64) -> Option<Step> {
        let Unfinished { number, chunks_in } = self.unbegun.pop_front()?;
        let mut table = Table::new(chunks_in.as_ref(), table_size);
        let step = match chunks_in {
            None => Some(Step::Create { table: number }),
            Some(_) => table.next(number),
        };
        self.begun.insert(number, table);
        step
    }

    fn help(&mut self) -> Option<Step> {
        let mut by_need: Vec<(usize, u32)> =
            self.begun.iter().map(|(number, table)| (table.steps_left(), *number)).collect();
        by_need.sort_unstable_by(|one, other| other.cmp(one));
        by_need.into_iter().find_map(|(_, number)| self.begun.get_mut(&number)?.next(number))
    }
}

impl Table {
    fn new(chunks_in: Option<&BTreeMap<u64, Checksum>>, table_size: u64) -> Self {
        let mut table = Self { exists: chunks_in.is_some(), ..Self::default() };
        for chunk in Chunk::all(table_size) {
            match chunks_in.and_then(|chunks| chunks.get(&chunk.first)) {
                Some(checksum) => table.unchecked.push_back((chunk, *checksum)),
                None => table.unsent.push_back(chunk),
            }
        }
        table
    }

    /// How many loaders could be of use.
    fn steps_left(&self) -> usize {
        self.unsent.len() + self.unchecked.len()
    }

    fn next(&mut self, number: u32) -> Option<Step> {
        let table = number;
        if !self.exists {
            return None;
        }
        if let Some(chunk) = self.unsent.pop_front() {
            self.sending += 1;
            return Some(Step::Fill { table, chunk });
        }
        // Whoever sends the last chunk makes the index; the others check what is in meanwhile.
        if self.sending == 0 && !self.is_index_begun {
            self.is_index_begun = true;
            return Some(Step::Index { table });
        }
        if let Some((chunk, expected)) = self.unchecked.pop_front() {
            self.checking += 1;
            return Some(Step::Check { table, chunk, expected });
        }
        let is_sound = self.is_indexed && self.checking == 0 && !self.is_closing;
        let check = self.check.filter(|_| is_sound)?;
        self.is_closing = true;
        Some(Step::Close { check })
    }

    fn done(&mut self, step: &Step, done: Done) {
        match (step, done) {
            (Step::Fill { chunk, .. }, Done::Filled(checksum)) => {
                self.sending -= 1;
                self.unchecked.push_back((*chunk, checksum));
            }
            (Step::Check { table, expected, .. }, Done::Checked { first_id, last_id }) => {
                self.checking -= 1;
                let empty = Checksum::default();
                let check = self.check.get_or_insert(TableCheck {
                    number: *table,
                    first_id,
                    last_id,
                    checksum: empty,
                });
                check.first_id = check.first_id.min(first_id);
                check.last_id = check.last_id.max(last_id);
                check.checksum.merge(*expected);
            }
            (Step::Index { .. }, Done::Plain) => self.is_indexed = true,
            (Step::Create { .. }, Done::Plain) => self.exists = true,
            _ => unreachable!("{step:?} does not bring {done:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::batch::CHUNK_ROWS;
    use super::*;

    fn fresh(numbers: std::ops::RangeInclusive<u32>) -> Vec<Unfinished> {
        numbers.map(|number| Unfinished { number, chunks_in: None }).collect()
    }

    fn sum(rows: u64) -> Checksum {
        Checksum { rows, crc_sum: rows, crc_xor: 0 }
    }

    /// What a sound server brings.
    fn brought(step: &Step) -> Done {
        match step {
            Step::Fill { chunk, .. } => Done::Filled(sum(chunk.rows())),
            Step::Check { chunk, .. } => {
                Done::Checked { first_id: chunk.first, last_id: chunk.last }
            }
            _ => Done::Plain,
        }
    }

    /// Lets loaders take steps in turn, each ending its own when its turn comes again; returns the
    /// steps in the order in which they were begun, with their loader.
    fn play(board: &Board, loaders: usize) -> Vec<(usize, Step)> {
        let mut current: Vec<Option<Step>> = vec![None; loaders];
        let mut steps = Vec::new();
        while !board.lock().is_empty() {
            for (loader, current) in current.iter_mut().enumerate() {
                if let Some(step) = &current.take() {
                    board.done(step, brought(step));
                }
                let own = steps.iter().rev().find(|(who, _)| *who == loader);
                let own = own.map(|(_, step): &(usize, Step)| step.table());
                let step = board.lock().next(own, board.table_size);
                steps.extend(step.map(|step| (loader, step)));
                *current = step;
            }
        }
        steps
    }

    #[test]
    fn every_table_is_made_filled_indexed_checked_and_closed_once_and_in_this_order() {
        for (tables, loaders) in [(1, 1), (1, 4), (3, 2), (5, 8)] {
            let table_size = 3 * CHUNK_ROWS + 7;
            let board = Board::new(fresh(1..=tables), table_size);
            let steps = play(&board, loaders);
            for number in 1..=tables {
                let of_table = steps.iter().map(|(_, step)| step).filter(|s| s.table() == number);
                let of_table: Vec<&Step> = of_table.collect();
                assert_eq!(of_table.len(), 1 + 4 + 1 + 4 + 1, "{of_table:?}");
                assert!(matches!(of_table[0], Step::Create { .. }));
                let place = |is: fn(&&&Step) -> bool| of_table.iter().rposition(|step| is(&step));
                let filled = place(|step| matches!(step, Step::Fill { .. }));
                let indexed = place(|step| matches!(step, Step::Index { .. }));
                assert!(filled < indexed, "{of_table:?}");
                let checksum = sum(table_size);
                let check = TableCheck { number, first_id: 1, last_id: table_size, checksum };
                assert_eq!(of_table.last(), Some(&&Step::Close { check }));
            }
        }
    }

    #[test]
    fn one_table_has_all_loaders_and_many_have_one_each() {
        let board = Board::new(fresh(1..=1), 8 * CHUNK_ROWS);
        let who = |steps: &[(usize, Step)], number| -> BTreeSet<usize> {
            let fills = steps.iter().filter(|(_, step)| matches!(step, Step::Fill { .. }));
            fills.filter(|(_, step)| step.table() == number).map(|(who, _)| *who).collect()
        };
        assert_eq!(who(&play(&board, 4), 1).len(), 4);

        let steps = play(&Board::new(fresh(1..=8), 4 * CHUNK_ROWS), 4);
        assert!((1..=8).all(|number| who(&steps, number).len() == 1), "{steps:?}");
    }

    #[test]
    fn chunks_that_are_in_are_checked_and_not_sent_again() {
        let chunks_in = BTreeMap::from([(1, sum(CHUNK_ROWS)), (CHUNK_ROWS + 1, sum(5))]);
        let unfinished = Unfinished { number: 2, chunks_in: Some(chunks_in) };
        let steps = play(&Board::new(vec![unfinished], CHUNK_ROWS + 5), 1);
        let steps: Vec<Step> = steps.into_iter().map(|(_, step)| step).collect();
        assert!(matches!(steps[0], Step::Index { table: 2 }), "{steps:?}");
        assert_eq!(steps.len(), 1 + 2 + 1);
    }

    #[test]
    fn whoever_should_stop_gets_nothing() {
        let board = Board::new(fresh(1..=1), 10);
        assert_eq!(board.next(None, &|| true), None);
        assert!(board.next(None, &|| false).is_some());
    }
}
