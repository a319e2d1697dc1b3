//! The measured window on the clock, and its seconds.
//!
//! Must not know: what is counted in it.

use std::time::{Duration, Instant};

/// When load begins, and from when to when it is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// The first events are due: the warm-up begins.
    pub(super) load: Instant,
    /// The measured window begins.
    pub(super) start: Instant,
    /// It ends: nothing that is due from here on is sent.
    pub(super) end: Instant,
    /// What is still open here is given up.
    pub(super) deadline: Instant,
}

impl Window {
    /// Length of an interval.
    pub(super) const INTERVAL: Duration = Duration::from_secs(1);

    /// Whether something that was due, or happened, at this instant belongs to the window.
    pub(super) fn contains(&self, instant: Instant) -> bool {
        self.start <= instant && instant < self.end
    }

    /// The same, where the warm-up ends then.
    pub(super) fn beginning(self, start: Instant) -> Self {
        let end = start + self.length();
        Self { load: self.load, start, end, deadline: end + (self.deadline - self.end) }
    }

    /// Length of the window.
    pub(super) fn length(&self) -> Duration {
        self.end - self.start
    }

    /// How many intervals the window has; the last one may be shorter than the others.
    pub(super) fn intervals(&self) -> u32 {
        let count = self.length().as_nanos().div_ceil(Self::INTERVAL.as_nanos());
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// From the start of the window to the end of the interval with this index.
    pub(super) fn elapsed_at_end_of(&self, interval: u32) -> Duration {
        Self::INTERVAL.saturating_mul(interval.saturating_add(1)).min(self.length())
    }

    /// When the interval with this index ends.
    pub(super) fn end_of(&self, interval: u32) -> Instant {
        self.start + self.elapsed_at_end_of(interval)
    }
}

/// Whole microseconds; what does not fit 64 bits (500,000 years) is cut.
pub(super) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A window without warm-up that begins now.
    pub(in crate::exec) fn window(length: Duration) -> Window {
        let start = Instant::now();
        Window { load: start, start, end: start + length, deadline: start + length }
    }

    #[test]
    fn the_last_interval_is_what_is_left_of_the_window() {
        let window = window(Duration::from_millis(2500));
        assert_eq!(window.intervals(), 3);
        assert_eq!(window.end_of(0), window.start + Duration::from_secs(1));
        assert_eq!(window.end_of(2), window.end);
        assert_eq!(window.elapsed_at_end_of(2), Duration::from_millis(2500));
    }

    #[test]
    fn the_end_of_the_window_is_outside_of_it() {
        let window = window(Duration::from_secs(1));
        assert!(window.contains(window.start));
        assert!(!window.contains(window.end));
        assert!(!window.contains(window.start - Duration::from_nanos(1)));
    }
}
