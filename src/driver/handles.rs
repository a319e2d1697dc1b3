//! The prepared statements of one connection: which stand, and which gives way to another.
//!
//! Must not know: how a statement is prepared or closed. Sans-IO; one for both drivers.

use std::sync::Arc;

/// Handles by slot, at most so many at a time. A look-up allocates nothing, searches nothing and
/// touches one place of memory.
#[derive(Debug)]
pub(super) struct Handles<H> {
    statements: Arc<[String]>,
    max: usize,
    slots: Vec<Slot<H>>,
    /// How many slots are open.
    open: usize,
    /// Counts uses.
    clock: u64,
}

/// How a statement travels.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Way<'a, H> {
    /// On this handle.
    Handle(&'a H),
    /// As this text.
    Text(&'a str),
    /// The server was not asked, or has closed the handle.
    Unknown,
}

#[derive(Debug)]
enum Slot<H> {
    Unknown,
    Text,
    Open { handle: H, used: u64 },
}

/// The text of one statement, which outlives a change of the handles.
#[derive(Debug)]
pub(super) struct Sql {
    statements: Arc<[String]>,
    slot: usize,
}

impl Sql {
    pub(super) fn as_str(&self) -> &str {
        &self.statements[self.slot]
    }

    pub(super) fn has_parameters(&self) -> bool {
        self.as_str().contains('?')
    }
}

impl<H> Default for Handles<H> {
    fn default() -> Self {
        Self::new(&Arc::default(), 1)
    }
}

impl<H> Handles<H> {
    /// None stands; `max` is at least one.
    pub(super) fn new(statements: &Arc<[String]>, max: usize) -> Self {
        Self {
            statements: Arc::clone(statements),
            max: max.max(1),
            slots: statements.iter().map(|_| Slot::Unknown).collect(),
            open: 0,
            clock: 0,
        }
    }

    /// How the statement of a slot travels; a handle counts as used.
    pub(super) fn get(&mut self, slot: usize) -> Way<'_, H> {
        match self.slots.get_mut(slot) {
            Some(Slot::Open { handle, used }) => {
                self.clock += 1;
                *used = self.clock;
                Way::Handle(handle)
            }
            Some(Slot::Text) => Way::Text(&self.statements[slot]),
            Some(Slot::Unknown) | None => Way::Unknown,
        }
    }

    /// The statement of a slot; `None` where there is no such slot.
    pub(super) fn sql(&self, slot: usize) -> Option<Sql> {
        let statements = Arc::clone(&self.statements);
        (slot < statements.len()).then_some(Sql { statements, slot })
    }

    /// What must be closed before another can stand: the handle used least recently, where as
    /// many stand as may.
    pub(super) fn make_room(&mut self) -> Option<H> {
        if self.open < self.max { None } else { self.take_oldest() }
    }

    /// The server has no room for as many as were allowed: gives up the handle used least
    /// recently, and its place for good. `None` where none stands.
    pub(super) fn give_up_one(&mut self) -> Option<H> {
        let oldest = self.take_oldest()?;
        self.max = self.open + 1;
        Some(oldest)
    }

    /// The server does not prepare this statement.
    pub(super) fn insert_text(&mut self, slot: usize) {
        self.slots[slot] = Slot::Text;
    }

    /// A handle stands now.
    pub(super) fn insert(&mut self, slot: usize, handle: H) {
        self.clock += 1;
        self.open += 1;
        self.slots[slot] = Slot::Open { handle, used: self.clock };
    }

    fn take_oldest(&mut self) -> Option<H> {
        let last_use = |slot: &Slot<H>| match slot {
            Slot::Open { used, .. } => Some(*used),
            Slot::Unknown | Slot::Text => None,
        };
        let used = self.slots.iter().enumerate();
        let (_, oldest) = used.filter_map(|(place, slot)| Some((last_use(slot)?, place))).min()?;
        match std::mem::replace(&mut self.slots[oldest], Slot::Unknown) {
            Slot::Open { handle, .. } => {
                self.open -= 1;
                Some(handle)
            }
            Slot::Unknown | Slot::Text => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handles(slots: usize, max: usize) -> Handles<usize> {
        let statements: Arc<[String]> = (0..slots).map(|slot| format!("DO {slot}")).collect();
        Handles::new(&statements, max)
    }

    #[test]
    fn the_handle_used_least_recently_gives_way() {
        let mut handles = handles(5, 3);
        for slot in [0, 1, 2] {
            assert_eq!(handles.make_room(), None);
            handles.insert(slot, slot * 10);
        }
        assert_eq!(handles.get(0), Way::Handle(&0));
        assert_eq!(handles.make_room(), Some(10));
        handles.insert(4, 40);
        let ways = [Way::Unknown, Way::Handle(&20), Way::Unknown, Way::Handle(&40), Way::Unknown];
        for (slot, way) in (1..).zip(ways) {
            assert_eq!(handles.get(slot), way);
        }
        assert_eq!(handles.make_room(), Some(0));
        assert_eq!(handles.sql(3).unwrap().as_str(), "DO 3");
        assert!(handles.sql(5).is_none());
    }

    #[test]
    fn a_place_that_was_given_up_is_not_asked_for_again() {
        let mut handles = handles(5, 3);
        for slot in [0, 1, 2] {
            handles.insert(slot, slot);
        }
        assert_eq!(handles.make_room(), Some(0));
        assert_eq!(handles.give_up_one(), Some(1));
        handles.insert(3, 3);
        assert_eq!(handles.make_room(), Some(2), "two of three are left");
    }

    #[test]
    fn one_may_always_stand() {
        let mut handles = handles(2, 0);
        assert_eq!(handles.give_up_one(), None);
        assert_eq!(handles.make_room(), None);
        handles.insert(0, 7);
        assert_eq!(handles.give_up_one(), Some(7));
        assert_eq!(handles.make_room(), None);
        handles.insert(1, 8);
        assert_eq!(handles.get(1), Way::Handle(&8));
        handles.insert_text(0);
        assert_eq!(handles.get(0), Way::Text("DO 0"));
        assert_eq!(handles.make_room(), Some(8), "a text takes no place");
    }
}
