//! The coordinator of a trial: starts the load threads, walks through the phases, holds the
//! deadline, and makes one measurement of what the threads report.
//!
//! Must not know: sessions, statements, or async.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::driver::Driver;
use crate::model::{Interrupt, Interval, TrialStatus};
use crate::stats::level;

use super::recorder::Second;
use super::sum::{Frame, Sum};
use super::thread::{Control, LoadThread, Message, ThreadEnd};
use super::window::{Window, micros};
use super::{Phase, TrialEvent, TrialOutput, TrialSetup};

/// Between the order to send and the first event, so that every thread has heard it.
const START_DELAY: Duration = Duration::from_millis(5);

/// The same before a window that begins sooner than was planned.
const CHANGE_DELAY: Duration = Duration::from_millis(20);

/// How often the wish to stop is looked at.
const POLL: Duration = Duration::from_millis(50);

/// Fewer seconds say nothing of a level.
const LEVEL_SECONDS_MIN: usize = 5;

/// How long a load thread may take to end after it should have.
const GRACE: Duration = Duration::from_secs(5);

/// See [`super::run_trial`].
pub(super) fn run<D: Driver>(
    driver: &D,
    setup: &TrialSetup,
    interrupt: &Interrupt,
    observe: &mut dyn FnMut(TrialEvent<'_>),
) -> TrialOutput {
    let (outbox, inbox) = channel();
    let (control, _) = watch::channel(Control::Stand);
    let mut trial = Trial {
        setup,
        interrupt,
        observe,
        inbox,
        control,
        threads: setup.load_threads.clamp(1, setup.concurrency.max(1)),
        progress: Progress::default(),
        window: None,
        stop: None,
    };
    trial.observe(TrialEvent::Phase(Phase::Connect));
    trial.launch(driver, &outbox);
    trial.pass_phases();
    trial.end()
}

/// A trial under way.
struct Trial<'a> {
    setup: &'a TrialSetup,
    interrupt: &'a Interrupt,
    observe: &'a mut dyn FnMut(TrialEvent<'_>),
    inbox: Receiver<Message>,
    control: watch::Sender<Control>,
    /// How many load threads were asked for.
    threads: u32,
    progress: Progress,
    /// Since the load began.
    window: Option<Window>,
    /// Why the trial ends before its time, and when that was decided.
    stop: Option<(TrialStatus, Instant)>,
}

/// What the threads have told so far.
#[derive(Default)]
struct Progress {
    started: u32,
    sessions: u32,
    ready: u32,
    ended: u32,
    ends: Vec<ThreadEnd>,
    /// The threads all of whose connections fail, and in which words.
    failing: BTreeMap<u32, String>,
    /// Whether the warm-up ended because the rate was level, where that was asked for.
    warmup_level: Option<bool>,
    /// For each whole second of the warm-up, how many threads have told, and the statements that
    /// they had answered since the load began.
    warmed: BTreeMap<u32, (u32, u64)>,
    /// Seconds that not every thread has reported yet, with the number that has.
    seconds: BTreeMap<u32, (u32, Second)>,
    intervals: Vec<Interval>,
}

impl Progress {
    /// Whether the rate has been level over as long as the shortest warm-up takes.
    fn is_warm(setup: &TrialSetup) -> impl Fn(&Self, u32) -> bool + use<> {
        let seconds = setup.warmup.as_secs_f64().ceil() as usize;
        let (least, bound) = (seconds.max(LEVEL_SECONDS_MIN), setup.level);
        move |progress, threads| {
            let told = progress.warmed.values().take_while(|(told, _)| *told == threads);
            let sent: Vec<u64> = [0].into_iter().chain(told.map(|(_, sent)| *sent)).collect();
            let rates: Vec<f64> =
                sent.windows(2).map(|pair| pair[1].saturating_sub(pair[0]) as f64).collect();
            let last = rates.len().checked_sub(least).map(|first| &rates[first..]);
            last.and_then(level).is_some_and(|level| level.is_within(bound))
        }
    }
}

impl Trial<'_> {
    fn launch<D: Driver>(&mut self, driver: &D, outbox: &Sender<Message>) {
        if self.setup.concurrency == 0 || self.setup.program.is_empty() {
            return self.fail("there is nothing to send: no connection, or no statement".into());
        }
        for number in 0..self.threads {
            let thread = LoadThread {
                driver: driver.clone(),
                setup: self.setup.clone(),
                number,
                threads: self.threads,
                control: self.control.subscribe(),
                outbox: outbox.clone(),
            };
            match thread.spawn() {
                Ok(_) => self.progress.started += 1,
                Err(error) => return self.fail(format!("a load thread cannot start: {error}")),
            }
        }
    }

    /// From the barrier to the end of the drain.
    fn pass_phases(&mut self) {
        self.listen(None, |progress, threads| progress.ready == threads);
        if self.stop.is_some() {
            return;
        }
        let mut window = self.plan_window();
        self.window = Some(window);
        self.control.send_replace(Control::Load(window));
        self.observe(TrialEvent::Window { start: window.start, end: window.end });
        self.observe(TrialEvent::Phase(Phase::Warmup));
        if self.setup.warmup_max > self.setup.warmup {
            self.listen(Some(window.start), Progress::is_warm(self.setup));
            let is_level = self.stop.is_none() && Instant::now() < window.start;
            self.progress.warmup_level = Some(is_level);
            if is_level {
                window = window.beginning(Instant::now() + CHANGE_DELAY);
                self.window = Some(window);
                self.control.send_replace(Control::Load(window));
                self.observe(TrialEvent::Window { start: window.start, end: window.end });
            }
        }
        for (until, next) in [(window.start, Phase::Measure), (window.end, Phase::Drain)] {
            self.listen(Some(until), |_, _| false);
            if self.stop.is_some() {
                return;
            }
            self.observe(TrialEvent::Phase(next));
        }
        self.listen(Some(window.deadline), |progress, _| progress.ended == progress.started);
    }

    fn plan_window(&self) -> Window {
        let load = Instant::now() + START_DELAY;
        let start = load + self.setup.warmup.max(self.setup.warmup_max);
        let end = start + self.setup.duration;
        Window { load, start, end, deadline: end + self.setup.drain_limit }
    }

    /// Hears the threads until that instant, until `done`, or until the trial is to stop.
    fn listen(&mut self, until: Option<Instant>, done: impl Fn(&Progress, u32) -> bool) {
        while self.stop.is_none() && !done(&self.progress, self.threads) {
            let left = until.map_or(POLL, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return;
            }
            self.hear(left.min(POLL));
            if self.interrupt.is_requested() {
                self.stop_with(TrialStatus::Interrupted);
            }
        }
    }

    fn hear(&mut self, at_most: Duration) {
        match self.inbox.recv_timeout(at_most) {
            Ok(message) => self.take(message),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::SessionUp => {
                self.progress.sessions += 1;
                self.observe(TrialEvent::Connected { sessions: self.progress.sessions });
            }
            Message::Ready => self.progress.ready += 1,
            Message::Failing { thread, words } => self.take_failing(thread, words),
            Message::Warmed { second, sent } => {
                let (told, sum) = self.progress.warmed.entry(second).or_default();
                *told += 1;
                *sum += sent;
            }
            Message::Second(second) => self.take_second(second),
            Message::Ended { result } => {
                self.progress.ended += 1;
                match result {
                    Ok(end) => self.progress.ends.push(*end),
                    Err(words) => self.fail(words),
                }
            }
        }
    }

    fn take_failing(&mut self, thread: u32, words: Option<String>) {
        match words {
            None => _ = self.progress.failing.remove(&thread),
            Some(words) => {
                self.progress.failing.insert(thread, words.clone());
                if self.progress.failing.len() == self.threads as usize {
                    self.fail(format!("every connection fails again and again: {words}"));
                }
            }
        }
    }

    fn take_second(&mut self, second: Second) {
        let index = second.index;
        let (told, merged) = self.progress.seconds.entry(index).or_default();
        *told += 1;
        merged.merge(&second);
        // Once the trial is to stop, threads tell seconds that they did not see to their end.
        if *told < self.threads || self.stop.is_some() {
            return;
        }
        let (_, merged) = self.progress.seconds.remove(&index).unwrap_or_default();
        self.close_second(index, &merged);
    }

    /// Seconds that were not seen whole by every thread, up to where the window was left. What a
    /// thread counted a moment after that belongs to the last one.
    fn close_rest(&mut self) {
        let intervals = self.measured().as_nanos().div_ceil(Window::INTERVAL.as_nanos());
        let Some(last) = u32::try_from(intervals).unwrap_or(u32::MAX).checked_sub(1) else {
            return;
        };
        let mut rest: BTreeMap<u32, Second> = BTreeMap::new();
        for (index, (_, second)) in std::mem::take(&mut self.progress.seconds) {
            rest.entry(index.min(last)).or_default().merge(&second);
        }
        for (index, second) in rest {
            self.close_second(index, &second);
        }
    }

    fn close_second(&mut self, index: u32, second: &Second) {
        let interval = self.interval(index, second);
        self.observe(TrialEvent::Interval(&interval));
        self.progress.intervals.push(interval);
    }

    fn interval(&self, index: u32, second: &Second) -> Interval {
        let begin = Window::INTERVAL * index;
        let end = (begin + Window::INTERVAL).min(self.measured());
        Interval {
            elapsed_us: micros(end),
            length_us: micros(end - begin),
            events: second.events,
            queries: second.queries,
            errors: second.errors,
            p95_us: second.latency.percentile_us(95.0),
        }
    }

    fn observe(&mut self, event: TrialEvent<'_>) {
        (self.observe)(event);
    }

    fn fail(&mut self, reason: String) {
        self.stop_with(TrialStatus::Failed { reason });
    }

    /// The first reason to stop is the one that counts.
    fn stop_with(&mut self, status: TrialStatus) {
        if self.stop.is_none() {
            self.stop = Some((status, Instant::now()));
            self.control.send_replace(Control::Stop);
        }
    }

    /// How much of the window passed before the trial was stopped, or all of it.
    fn measured(&self) -> Duration {
        self.window.map_or(Duration::ZERO, |window| match &self.stop {
            Some((_, at)) => (*at).min(window.end).saturating_duration_since(window.start),
            None => window.length(),
        })
    }

    /// Waits for the last words of the threads and makes the measurement.
    fn end(mut self) -> TrialOutput {
        let patience = Instant::now() + GRACE;
        while self.progress.ended < self.progress.started && Instant::now() < patience {
            self.hear(POLL);
        }
        if self.progress.ended < self.progress.started {
            self.fail("a load thread did not come to an end; its numbers are lost".into());
        }
        self.close_rest();
        let (window, measured) = (self.window, self.measured());
        let sum = Sum::of(std::mem::take(&mut self.progress.ends));
        let status = match self.stop.take() {
            Some((status, _)) => status,
            None => sum.status(self.setup),
        };
        sum.output(Frame {
            status,
            warmup: window.map(|window| window.start - window.load),
            warmup_level: self.progress.warmup_level,
            measured,
            intervals: self.progress.intervals,
            load_threads: self.threads,
            kinds: Arc::clone(self.setup.program.kinds()),
        })
    }
}
