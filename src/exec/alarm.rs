//! Waking at an instant, finer than the runtime's own timers, which count whole milliseconds.
//!
//! Must not know: what is due then.

pub(super) use platform::Alarm;

#[cfg(target_os = "linux")]
mod platform {
    use std::io;
    use std::os::fd::{AsFd, AsRawFd, RawFd};
    use std::time::{Duration, Instant};

    use nix::sys::timer::{Expiration, TimerSetTimeFlags};
    use nix::sys::timerfd::{ClockId, TimerFd, TimerFlags};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// A timer of the kernel, as a file that the runtime waits for with its sockets. Waking by
    /// it costs a call to set it, and nothing else where a reply is waited for anyway.
    #[derive(Debug)]
    pub(in super::super) struct Alarm(AsyncFd<Timer>);

    #[derive(Debug)]
    struct Timer(TimerFd);

    impl AsRawFd for Timer {
        fn as_raw_fd(&self) -> RawFd {
            self.0.as_fd().as_raw_fd()
        }
    }

    impl Alarm {
        /// Within a runtime; fails where no more files can be opened.
        #[expect(
            deprecated,
            reason = "its successor is unsafe, because a type might change or lose its \
                      descriptor while it is registered; `Timer` owns one for life"
        )]
        pub(in super::super) fn new() -> io::Result<Self> {
            let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
            let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
            AsyncFd::with_interest(Timer(timer), Interest::READABLE).map(Self)
        }

        /// Waits until the clock shows that instant, or a little more.
        pub(in super::super) async fn until(&self, instant: Instant) -> io::Result<()> {
            loop {
                let left = instant.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Ok(());
                }
                // Setting it also takes back an earlier firing, so it is never read.
                let once = Expiration::OneShot(Duration::into(left));
                self.0.get_ref().0.set(once, TimerSetTimeFlags::empty())?;
                self.0.readable().await?.clear_ready();
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::io;
    use std::time::Instant;

    /// The runtime's own timer: this system has no finer one that it could wait for.
    #[derive(Debug)]
    pub(in super::super) struct Alarm;

    impl Alarm {
        /// Never fails here.
        pub(in super::super) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        /// Waits until the clock shows that instant, or a millisecond more.
        pub(in super::super) async fn until(&self, instant: Instant) -> io::Result<()> {
            tokio::time::sleep_until(instant.into()).await;
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[tokio::test]
    async fn it_never_wakes_early_and_may_be_set_again_and_again() {
        let alarm = Alarm::new().unwrap();
        let begin = Instant::now();
        for step in 1..=50 {
            let due = begin + Duration::from_micros(300) * step;
            alarm.until(due).await.unwrap();
            assert!(Instant::now() >= due);
        }
        alarm.until(begin).await.unwrap();
    }
}
