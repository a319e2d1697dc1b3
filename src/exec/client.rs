//! The client's own part in a measurement: what its load threads took, and whether they were the
//! limit.
//!
//! Must not know: what the threads did with it.

use std::cell::RefCell;
use std::io;
use std::time::{Duration, Instant};

use crate::stats::Histogram;

use super::alarm::Alarm;
use super::scheduling::thread_cpu_time;
use super::window::Window;

/// How often a load thread's timer is to fire.
const TICK: Duration = Duration::from_millis(10);

/// A load thread that took this share of a processor had none left to read replies sooner.
const CPU_BOUND_PERCENT: u128 = 90;
/// A timer later than this, one time in a hundred, while the system kept no processor from the
/// thread: something else held it (a stopped or throttled machine, a blocking call).
const LATENESS_BOUND: Duration = Duration::from_millis(5);
/// Up to this share of the window a thread's waiting for a processor counts as none.
const RUN_DELAY_NONE_PERCENT: u128 = 5;

/// What one load thread took in the window.
#[derive(Debug, Default)]
pub(super) struct ClientUse {
    /// Processor time; `None` if the window did not pass.
    pub(super) cpu: Option<Duration>,
    /// Time in which it was ready to run and had no processor, where the system tells.
    pub(super) run_delay: Option<Duration>,
    /// By how much its timer was late.
    pub(super) lateness: Histogram,
}

impl ClientUse {
    /// Whether this thread limited the rate in a window of this length; `None` where its
    /// processor time is not known.
    pub(super) fn is_bound(&self, window: Duration) -> Option<bool> {
        let reaches =
            |part: Duration, percent: u128| part.as_nanos() * 100 >= window.as_nanos() * percent;
        if reaches(self.cpu?, CPU_BOUND_PERCENT) {
            return Some(true);
        }
        let late_us = u128::from(self.lateness.percentile_us(99.0).unwrap_or(0));
        let had_a_processor =
            self.run_delay.is_some_and(|delay| !reaches(delay, RUN_DELAY_NONE_PERCENT));
        Some(had_a_processor && late_us > LATENESS_BOUND.as_micros())
    }
}

/// What a thread has taken since it began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading {
    cpu: Option<Duration>,
    run_delay: Option<Duration>,
}

impl Reading {
    /// Of the calling thread; `run_delay` as in [`super::TrialSetup::run_delay`].
    pub(super) fn now(run_delay: fn() -> Option<Duration>) -> Self {
        Self { cpu: thread_cpu_time(), run_delay: run_delay() }
    }

    /// What was taken between an earlier reading and this one.
    pub(super) fn since(self, earlier: Self, lateness: Histogram) -> ClientUse {
        let between = |now: Option<Duration>, then: Option<Duration>| Some(now? - then?.min(now?));
        ClientUse {
            cpu: between(self.cpu, earlier.cpu),
            run_delay: between(self.run_delay, earlier.run_delay),
            lateness,
        }
    }
}

/// Notes throughout the window how late a timer fires. Firings that were missed meanwhile count,
/// each from its own time, so that one long silence weighs what it should.
pub(super) async fn watch_lateness(
    window: impl Fn() -> Window,
    lateness: &RefCell<Histogram>,
) -> io::Result<()> {
    let alarm = Alarm::new()?;
    // The warm-up may end otherwise than was planned; it is told well before it does.
    while Instant::now() < window().start {
        alarm.until(window().start.min(Instant::now() + TICK)).await?;
    }
    let window = window();
    let mut due = window.start;
    while due < window.end {
        alarm.until(due).await?;
        let now = Instant::now();
        while due <= now && due < window.end {
            lateness.borrow_mut().record(now - due);
            due += TICK;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::window::tests::window;

    const WINDOW: Duration = Duration::from_secs(10);

    fn is_bound(cpu_ms: u64, run_delay_ms: Option<u64>, late_ms: u64) -> Option<bool> {
        let mut lateness = Histogram::new();
        lateness.record(Duration::from_millis(late_ms));
        let cpu = Some(Duration::from_millis(cpu_ms));
        let run_delay = run_delay_ms.map(Duration::from_millis);
        ClientUse { cpu, run_delay, lateness }.is_bound(WINDOW)
    }

    #[test]
    fn a_thread_is_the_limit_when_it_is_busy_or_late_without_waiting_for_a_processor() {
        let cases = [
            (9_000, Some(0), 1, true),
            (8_990, Some(0), 1, false),
            (5_000, Some(4_900), 80, false),
            (1_000, Some(10), 80, true),
            (1_000, Some(500), 80, false),
            (1_000, Some(10), 4, false),
            (1_000, None, 80, false),
        ];
        for (cpu, run_delay, late, bound) in cases {
            assert_eq!(is_bound(cpu, run_delay, late), Some(bound), "{cpu} {run_delay:?} {late}");
        }
        assert_eq!(ClientUse::default().is_bound(WINDOW), None);
    }

    #[test]
    fn what_one_reading_lacks_is_unknown() {
        let reading = |cpu, run_delay: Option<u64>| Reading {
            cpu: Some(Duration::from_secs(cpu)),
            run_delay: run_delay.map(Duration::from_secs),
        };
        let took = reading(5, Some(1)).since(reading(2, None), Histogram::new());
        assert_eq!((took.cpu, took.run_delay), (Some(Duration::from_secs(3)), None));
    }

    #[tokio::test]
    async fn firings_that_were_missed_count_from_their_own_time() {
        let window = window(Duration::from_millis(100));
        let lateness = RefCell::new(Histogram::new());
        let begun = window.start.elapsed();
        // The thread is kept from its timer for the first half of the window.
        while window.start.elapsed() < begun + Duration::from_millis(55) {
            std::hint::spin_loop();
        }
        watch_lateness(|| window, &lateness).await.unwrap();
        let seen = lateness.into_inner();
        assert_eq!(seen.count(), 10);
        assert!(seen.percentile_us(100.0).unwrap() >= 54_000);
        assert!(seen.percentile_us(60.0).unwrap() >= 14_000);
    }
}
