//! Where a run is: redrawn in place on a terminal, plain lines elsewhere.
//!
//! Must not know: what a trial does.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Printer, figures};
use crate::model::{Bytes, Interval, Measurement, MilliRate, TrialStatus, counted};

/// How often a line without a terminal repeats where a long step is.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// The progress of one run over its trials.
pub struct Progress {
    printer: Printer,
    bar: Option<ProgressBar>,
    trials: u64,
    ended: u64,
    per_trial: Duration,
    started: Instant,
    /// When the first trial began: what comes before it is no trial's time.
    first_trial: Option<Instant>,
    /// When the trial that ended last did so.
    last_ended: Instant,
    said: Instant,
    label: String,
    /// Since when rows of the dataset at hand are sent.
    loading_since: Option<Instant>,
}

/// How far the dataset of a spec has come.
#[derive(Debug, Clone, Copy)]
pub struct LoadingRows<'a> {
    /// Which spec.
    pub spec: &'a str,
    /// What is under way.
    pub stage: &'a str,
    /// Rows that are in.
    pub rows_done: u64,
    /// Those of them that were found there.
    pub rows_found: u64,
    /// Rows of the whole dataset.
    pub rows_total: u64,
    /// Bytes that were sent for the others.
    pub bytes_sent: u64,
}

impl Progress {
    /// For so many trials, each at least so long.
    pub fn new(printer: Printer, trials: u64, per_trial: Duration) -> Self {
        let bar = printer.interactive.then(|| {
            let bar = ProgressBar::with_draw_target(Some(trials), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        let started = Instant::now();
        Self {
            printer,
            bar,
            trials,
            ended: 0,
            per_trial,
            started,
            first_trial: None,
            last_ended: started,
            said: started,
            label: String::new(),
            loading_since: None,
        }
    }

    /// A line that stays.
    pub fn line(&mut self, text: &str) {
        self.said = Instant::now();
        match &self.bar {
            Some(bar) => bar.suspend(|| self.printer.talk(text)),
            None => self.printer.talk(text),
        }
    }

    /// The step that is under way; a plain line only if it is a new one.
    pub fn status(&mut self, text: &str) {
        match &self.bar {
            Some(bar) if self.trials == 0 => bar.set_message(text.to_owned()),
            Some(bar) => bar.set_message(format!("{text}  {}", self.eta())),
            None => self.line(text),
        }
    }

    /// What is there of a spec's dataset is looked at.
    pub fn verifying(&mut self, spec: &str) {
        self.loading_since = None;
        self.passing(&format!("{spec}: verifying rows"));
    }

    /// Rows of a dataset, so many of so many, how fast, and how long it will take.
    pub fn loading(&mut self, rows: &LoadingRows<'_>) {
        let since = self.loading_since.get_or_insert_with(Instant::now).elapsed();
        self.passing(&loading_text(rows, since));
    }

    /// So many connections of a trial stand.
    pub fn connecting(&mut self, sessions: u32, concurrency: u32) {
        self.passing(&format!("{}: connecting {sessions}/{concurrency}", self.label));
    }

    /// A trial begins.
    pub fn trial_started(&mut self, label: &str) {
        label.clone_into(&mut self.label);
        self.first_trial.get_or_insert_with(Instant::now);
        self.passing(&format!("{label}: connecting"));
    }

    /// A second of the trial has passed.
    pub fn interval(&mut self, interval: &Interval) {
        let qps = rate_text(MilliRate::of(interval.queries, interval.length_us));
        let p95 = interval.p95_us.map_or_else(|| "-".to_owned(), figures::latency);
        let second = (interval.elapsed_us + 500_000) / 1_000_000;
        let text =
            format!("{}: {second}s  QPS {qps}  p95 {p95}  errors {}", self.label, interval.errors);
        self.passing(&text);
    }

    /// A trial ended: one line that stays.
    pub fn trial_ended(&mut self, label: &str, measurement: &Measurement) {
        self.ended += 1;
        // Further repetitions, of which nobody knows before how many there will be.
        if self.ended > self.trials {
            self.trials = self.ended;
            self.bar.iter().for_each(|bar| bar.set_length(self.trials));
        }
        self.last_ended = Instant::now();
        let position = format!("[{:>3}/{}] {label:<28}", self.ended, self.trials);
        let text = match &measurement.status {
            TrialStatus::Done => format!("{position} {}  {}", figures_of(measurement), self.eta()),
            TrialStatus::Failed { reason } => format!("{position} FAILED: {reason}"),
            TrialStatus::Interrupted => format!("{position} interrupted"),
        };
        if let Some(bar) = &self.bar {
            bar.set_position(self.ended);
        }
        self.line(&text);
    }

    /// Takes the bar off the screen.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Something that the next word may replace.
    fn passing(&mut self, text: &str) {
        if self.bar.is_some() {
            self.status(text);
        } else if self.said.elapsed() >= PLAIN_EVERY {
            self.line(text);
        }
    }

    fn eta(&self) -> String {
        let waiting = self.trials.saturating_sub(self.ended);
        if waiting == 0 {
            return format!("took {}", figures::duration(self.started.elapsed()));
        }
        let left = match self.first_trial {
            None => time_left(self.per_trial, waiting, Duration::ZERO),
            Some(first) if self.ended == 0 => time_left(self.per_trial, waiting, first.elapsed()),
            Some(first) => {
                let ended = u32::try_from(self.ended).unwrap_or(u32::MAX);
                let mean = self.last_ended.saturating_duration_since(first) / ended;
                time_left(mean, waiting, self.last_ended.elapsed())
            }
        };
        format!("ETA {}", figures::duration(left))
    }
}

fn loading_text(rows: &LoadingRows<'_>, since: Duration) -> String {
    let LoadingRows { spec, stage, rows_done, rows_found, rows_total, bytes_sent } = *rows;
    let percent = (rows_done * 100).checked_div(rows_total).unwrap_or(100);
    let (done, total) = (figures::count(rows_done), figures::count(rows_total));
    let mut text = format!("{spec}: {stage} {percent} % ({done} of {total})");
    let (sent, millis) = (rows_done.saturating_sub(rows_found), since.as_millis());
    let per_second = u128::from(sent) * 1_000 / millis.max(1);
    if let Some(rate) = u64::try_from(per_second).ok().filter(|rate| *rate > 0) {
        let (rate_text, sent_text) = (figures::count(rate), figures::bytes(Bytes(bytes_sent)));
        text.push_str(&format!(", {rate_text} rows/s, {sent_text} sent"));
        let left = rows_total.saturating_sub(rows_done) / rate;
        if rows_done < rows_total {
            text.push_str(&format!(", {} left", figures::duration(Duration::from_secs(left))));
        }
    }
    text
}

/// How long the waiting trials take at `each`, the first of them having run for `gone`: it
/// counts down while a trial runs, and a trial that takes longer holds it still.
fn time_left(each: Duration, waiting: u64, gone: Duration) -> Duration {
    let others = u32::try_from(waiting.saturating_sub(1)).unwrap_or(u32::MAX);
    each.saturating_sub(gone).saturating_add(each.saturating_mul(others))
}

fn figures_of(measurement: &Measurement) -> String {
    let qps = rate_text(MilliRate::of(measurement.queries, measurement.measured_us));
    let tps = rate_text(MilliRate::of(measurement.events, measurement.measured_us));
    let p95 = measurement.latency.map_or_else(|| "-".to_owned(), |l| figures::latency(l.p95_us));
    let errors: u64 = measurement.errors.iter().map(|error| error.count).sum();
    let doubts = doubts_of(measurement);
    format!("QPS {qps:>10}  TPS {tps:>9}  p95 {p95:>8}  errors {errors}{doubts}")
}

/// What a reader must know before he believes the figures.
fn doubts_of(measurement: &Measurement) -> String {
    let mut text = String::new();
    if measurement.client_bound == Some(true) {
        text.push_str("  client-bound");
    }
    if let (Some(false), Some(pace)) = (measurement.rate_met(), measurement.pace) {
        let percent = u128::from(measurement.events) * 100 / u128::from(pace.events_due.max(1));
        let (due, dropped) = (pace.events_due, pace.events_dropped);
        let (due, dropped) = (counted(due, "event"), figures::count(dropped));
        text.push_str(&format!("  rate not met: {percent} % of {due}, {dropped} dropped"));
    }
    text
}

fn rate_text(rate: Option<MilliRate>) -> String {
    rate.map_or_else(|| "-".to_owned(), figures::rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loading_tells_how_fast_how_much_and_how_long() {
        let rows = LoadingRows {
            spec: "2c4g",
            stage: "loading rows",
            rows_done: 1_100_000,
            rows_found: 100_000,
            rows_total: 2_500_000,
            bytes_sent: 195_000_000,
        };
        assert_eq!(
            loading_text(&rows, Duration::from_secs(10)),
            "2c4g: loading rows 44 % (1,100,000 of 2,500,000), 100,000 rows/s, 195 MB sent, \
             14s left"
        );
        let none = LoadingRows { rows_done: 100_000, ..rows };
        assert_eq!(
            loading_text(&none, Duration::ZERO),
            "2c4g: loading rows 4 % (100,000 of 2,500,000)"
        );
    }

    #[test]
    fn the_time_left_counts_down_within_a_trial_and_never_up() {
        let left = |waiting, gone| time_left(Duration::from_secs(660), waiting, gone).as_secs();
        assert_eq!(left(35, Duration::ZERO), 35 * 660);
        assert_eq!(left(35, Duration::from_secs(600)), 34 * 660 + 60);
        assert_eq!(left(35, Duration::from_secs(700)), 34 * 660);
        assert_eq!(left(1, Duration::from_secs(700)), 0);
    }
}
