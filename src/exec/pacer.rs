//! The open loop on one load thread: what is due and not started, and who is free to start it.
//!
//! Must not know: statements, sessions. All of it runs on one thread; nothing is locked, and
//! nothing is allocated once the load has begun.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use crate::model::Pace;

use super::alarm::Alarm;
use super::schedule::Schedule;
use super::window::Window;

/// Events of a cell that may be due and not started, over all its threads: sysbench's queue.
pub(super) const BACKLOG: u32 = 131_072;

/// Deals the arrivals of one thread to its workers, each at its time.
#[derive(Debug)]
pub(super) struct Pacer {
    window: Cell<Window>,
    alarm: Alarm,
    line: RefCell<Line>,
}

/// The queue of arrivals, and the queue of those who wait for one.
#[derive(Debug)]
struct Line {
    schedule: Schedule,
    /// When load began: what the schedule counts from.
    load: Instant,
    /// The first arrival that is not in the backlog yet.
    next: Option<Instant>,
    /// Due, not started; never more than its first capacity.
    backlog: VecDeque<Instant>,
    backlog_max: usize,
    /// Workers that wait, the longest first.
    idle: VecDeque<usize>,
    /// For each worker, whether it stands there.
    waiting: Vec<bool>,
    /// For each worker, the arrival that it was woken for.
    given: Vec<Option<Instant>>,
    wakers: Vec<Option<Waker>>,
    /// No more arrivals: who waits may leave.
    closed: bool,
    pace: Pace,
}

impl Pacer {
    /// For a thread with so many workers, that is one of `threads`.
    pub(super) fn new(
        schedule: Schedule,
        window: Window,
        (workers, threads): (usize, u32),
    ) -> io::Result<Self> {
        let backlog_max = (BACKLOG / threads.max(1)).max(1) as usize;
        let mut line = Line {
            schedule,
            load: window.load,
            next: None,
            backlog: VecDeque::with_capacity(backlog_max),
            backlog_max,
            idle: VecDeque::with_capacity(workers),
            waiting: vec![false; workers],
            given: vec![None; workers],
            wakers: vec![None; workers],
            closed: false,
            pace: Pace { events_due: 0, events_dropped: 0 },
        };
        line.draw(&window);
        Ok(Self { window: Cell::new(window), alarm: Alarm::new()?, line: RefCell::new(line) })
    }

    /// Another window, before it begins: what would be due after its end is not.
    pub(super) fn set_window(&self, window: Window) {
        self.window.set(window);
        let mut line = self.line.borrow_mut();
        line.next = line.next.filter(|due| *due < window.end);
    }

    /// Wakes workers when something is due, until the window ends.
    pub(super) async fn run(&self) -> io::Result<()> {
        loop {
            let now = Instant::now();
            let next = self.line.borrow_mut().tick(now, &self.window.get());
            match next {
                Some(next) => self.alarm.until(next).await?,
                None if now < self.window.get().end => {
                    self.alarm.until(self.window.get().end).await?
                }
                None => break,
            }
        }
        self.line.borrow_mut().close();
        Ok(())
    }

    /// The arrival that the worker at this place is to start now, in the order in which they
    /// were due; `None` when there will be no more for it. Who comes back after the end of the
    /// window gets none: what still waits then was not served in time. Who waited already when
    /// it ended gets what was due before.
    pub(super) async fn arrival(&self, place: usize, now: Instant) -> Option<Instant> {
        if now >= self.window.get().end {
            return None;
        }
        let waiting = self.line.borrow_mut().take(now, &self.window.get());
        match waiting {
            Some(due) => Some(due),
            None => poll_fn(|context| self.line.borrow_mut().poll_arrival(place, context)).await,
        }
    }

    /// What was due in the window, and what of it nobody started.
    pub(super) fn pace(&self) -> Pace {
        let line = self.line.borrow();
        let waiting = line.backlog.iter().filter(|due| self.window.get().contains(**due)).count();
        Pace { events_dropped: line.pace.events_dropped + waiting as u64, ..line.pace }
    }
}

impl Line {
    /// Takes down what is due by now and deals it to who waits, the longest first, so that
    /// connections take turns; tells when the next is due.
    fn tick(&mut self, now: Instant, window: &Window) -> Option<Instant> {
        self.advance(now, window);
        while !self.backlog.is_empty() {
            let Some(place) = self.wake_one() else { break };
            self.given[place] = self.backlog.pop_front();
        }
        self.next
    }

    /// What is due by now and left when who waits has been served: it waits for nobody but who
    /// asks here.
    fn take(&mut self, now: Instant, window: &Window) -> Option<Instant> {
        self.tick(now, window);
        self.backlog.pop_front()
    }

    /// What is due by now joins the backlog; what finds it full is dropped.
    fn advance(&mut self, now: Instant, window: &Window) {
        while let Some(due) = self.next.filter(|next| *next <= now) {
            let counts = u64::from(window.contains(due));
            if counts == 1 && self.pace.events_due == 0 {
                // A window that began with the warm-up's queue would measure the warm-up: what
                // a cold server left unserved is forgotten.
                self.backlog.clear();
            }
            self.pace.events_due += counts;
            if self.backlog.len() < self.backlog_max {
                self.backlog.push_back(due);
            } else {
                self.pace.events_dropped += counts;
            }
            self.draw(window);
        }
    }

    fn draw(&mut self, window: &Window) {
        let offset = self.schedule.next();
        let due = offset.and_then(|offset| self.load.checked_add(offset));
        self.next = due.filter(|due| *due < window.end);
    }

    fn poll_arrival(&mut self, place: usize, context: &Context<'_>) -> Poll<Option<Instant>> {
        if let Some(due) = self.given[place].take() {
            return Poll::Ready(Some(due));
        }
        if self.closed {
            return Poll::Ready(None);
        }
        match &mut self.wakers[place] {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        if !std::mem::replace(&mut self.waiting[place], true) {
            self.idle.push_back(place);
        }
        Poll::Pending
    }

    /// Wakes who has waited longest, if anybody waits.
    fn wake_one(&mut self) -> Option<usize> {
        let place = self.idle.pop_front()?;
        self.waiting[place] = false;
        if let Some(waker) = &self.wakers[place] {
            waker.wake_by_ref();
        }
        Some(place)
    }

    fn close(&mut self) {
        self.closed = true;
        while self.wake_one().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::exec::schedule::Share;
    use crate::exec::window::tests::window;
    use crate::model::{Arrivals, MilliRate, OpenLoop};

    /// A thread of four workers; an event is due each 10 ms, the first one at once.
    fn pacer(length_ms: u64, threads: u32) -> Pacer {
        let open = OpenLoop { rate: MilliRate(100_000), arrivals: Arrivals::Fixed };
        let share = Share { thread: 0, threads: 1, connections: 4 };
        let window = window(Duration::from_millis(length_ms));
        Pacer::new(Schedule::new(open, 1, share), window, (4, threads)).unwrap()
    }

    fn at(pacer: &Pacer, millis: u64) -> Instant {
        pacer.window.get().load + Duration::from_millis(millis)
    }

    fn poll(pacer: &Pacer, place: usize) -> Poll<Option<Instant>> {
        pacer.line.borrow_mut().poll_arrival(place, &Context::from_waker(Waker::noop()))
    }

    fn tick(pacer: &Pacer, millis: u64) -> Option<Instant> {
        let now = at(pacer, millis);
        pacer.line.borrow_mut().tick(now, &pacer.window.get())
    }

    #[tokio::test]
    async fn arrivals_are_dealt_in_their_order_and_not_before_their_time() {
        let pacer = pacer(1_000, 1);
        assert_eq!(tick(&pacer, 25), Some(at(&pacer, 30)));
        for millis in [0, 10, 20] {
            assert_eq!(pacer.arrival(0, at(&pacer, 25)).await, Some(at(&pacer, millis)));
        }
        assert_eq!(poll(&pacer, 0), Poll::Pending);
        assert_eq!(tick(&pacer, 29), Some(at(&pacer, 30)));
        assert_eq!(poll(&pacer, 0), Poll::Pending);
        tick(&pacer, 30);
        assert_eq!(poll(&pacer, 0), Poll::Ready(Some(at(&pacer, 30))));
    }

    #[tokio::test]
    async fn what_finds_the_backlog_full_is_dropped_and_counted() {
        let pacer = pacer(1_000, BACKLOG / 5);
        tick(&pacer, 95);
        assert_eq!(pacer.pace(), Pace { events_due: 10, events_dropped: 5 + 5 });
        for millis in [0, 10, 20, 30, 40] {
            assert_eq!(pacer.arrival(1, at(&pacer, 95)).await, Some(at(&pacer, millis)));
        }
        assert_eq!(pacer.pace(), Pace { events_due: 10, events_dropped: 5 });
    }

    #[tokio::test]
    async fn who_waits_longest_is_served_first_also_before_who_comes_back_in_time() {
        let pacer = pacer(1_000, 1);
        assert!(pacer.arrival(0, at(&pacer, 0)).await.is_some());
        for place in [2, 1] {
            assert_eq!(poll(&pacer, place), Poll::Pending);
            assert_eq!(poll(&pacer, place), Poll::Pending, "asked again, it waits once");
        }
        assert_eq!(pacer.arrival(0, at(&pacer, 30)).await, Some(at(&pacer, 30)));
        assert_eq!(poll(&pacer, 2), Poll::Ready(Some(at(&pacer, 10))));
        assert_eq!(poll(&pacer, 1), Poll::Ready(Some(at(&pacer, 20))));
    }

    #[tokio::test]
    async fn what_the_warm_up_left_unserved_is_forgotten_when_the_window_begins() {
        let pacer = pacer(100, 1);
        let mut window = pacer.window.get();
        window.start += Duration::from_millis(45);
        pacer.set_window(window);
        tick(&pacer, 44);
        assert_eq!(pacer.arrival(0, at(&pacer, 44)).await, Some(at(&pacer, 0)));
        tick(&pacer, 61);
        assert_eq!(pacer.arrival(0, at(&pacer, 61)).await, Some(at(&pacer, 50)));
        assert_eq!(pacer.pace(), Pace { events_due: 2, events_dropped: 1 });
    }

    #[tokio::test]
    async fn at_the_end_who_waits_gets_what_was_due_and_who_comes_back_gets_nothing() {
        let pacer = pacer(25, 1);
        assert_eq!(poll(&pacer, 3), Poll::Pending);
        assert_eq!(tick(&pacer, 40), None);
        pacer.line.borrow_mut().close();
        assert_eq!(pacer.arrival(0, at(&pacer, 26)).await, None);
        assert_eq!(poll(&pacer, 3), Poll::Ready(Some(at(&pacer, 0))));
        assert_eq!(poll(&pacer, 3), Poll::Ready(None));
        assert_eq!(pacer.pace(), Pace { events_due: 3, events_dropped: 2 });
    }
}
