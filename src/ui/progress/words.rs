//! The sentences in which a run is told.
//!
//! Must not know: where they are shown, the clock.

use std::time::Duration;

use super::event::{LoadingRows, SecondFigures, TrialEnding, TrialPhase};
use super::tracker::{CurrentTrial, Tracker, rows_left, rows_per_second};
use crate::model::{Bytes, CellId, MilliRate, TrialStatus};
use crate::ui::{figures, plain};

/// `4c16g/read-only/64`, and ` #2` for a second trial where cells have more than one.
pub(super) fn label(cell: &CellId, repetition: u32, has_repeats: bool) -> String {
    match has_repeats || repetition > 1 {
        true => format!("{cell} #{repetition}"),
        false => cell.to_string(),
    }
}

/// How a trial ended: `QPS 10234.5  TPS 639.6  p95 12.3 ms  errors 0`, or why there are no figures.
pub fn ended_words(ending: &TrialEnding) -> String {
    match &ending.status {
        TrialStatus::Failed { reason } => format!("FAILED: {reason}"),
        TrialStatus::Interrupted => "interrupted".to_owned(),
        TrialStatus::Done => {
            let (qps, tps) = (rate(ending.qps), rate(ending.tps));
            let (p95, errors) = (latency(ending.p95_us), figures::count(ending.errors));
            let mut words = format!("QPS {qps:>10}  TPS {tps:>9}  p95 {p95:>8}  errors {errors}");
            ending.doubts.iter().for_each(|doubt| words.extend(["  ", doubt]));
            words
        }
    }
}

/// What a trial does: `measuring 40s of 10m 00s`.
pub(super) fn doing(trial: &CurrentTrial, tracker: &Tracker, at: Duration) -> String {
    let phase = trial.phase.words();
    let gone = at.saturating_sub(trial.since);
    let of = |gone: Duration, whole: Duration| {
        let (gone, whole) = (seconds(gone.min(whole)), figures::duration(whole));
        format!("{phase} {gone} of {whole}")
    };
    match trial.phase {
        TrialPhase::Connecting => format!("{phase} {}/{}", trial.sessions.0, trial.sessions.1),
        TrialPhase::WarmingUp if tracker.warmup.is_zero() => phase.to_owned(),
        TrialPhase::WarmingUp => of(gone, tracker.warmup),
        TrialPhase::Measuring => {
            of(trial.last.map_or(gone, |last| Duration::from_secs(last.second)), tracker.duration)
        }
        TrialPhase::Draining => phase.to_owned(),
    }
}

/// The rate and the time of a second.
pub(super) fn second_words(second: &SecondFigures, errors: u64) -> [String; 3] {
    [
        format!("QPS {}", rate(second.qps)),
        format!("p95 {}", latency(second.p95_us)),
        format!("errors {}", figures::count(errors)),
    ]
}

/// `5h 10m left`, or what it takes at least; empty when nothing is left.
pub fn left_words(tracker: &Tracker, at: Duration) -> String {
    match tracker.left(at) {
        None => String::new(),
        Some(left) if left.is_bound => format!("at least {} left", seconds(left.time)),
        Some(left) => format!("{} left", seconds(left.time)),
    }
}

/// Rows of a dataset, so many of so many, how fast, and how long it will take.
pub(super) fn loading_words(rows: &LoadingRows, since: Duration) -> String {
    let LoadingRows { spec, stage, rows_done, rows_total, bytes_sent, .. } = rows;
    let percent = (rows_done * 100).checked_div(*rows_total).unwrap_or(100);
    let (done, total) = (figures::count(*rows_done), figures::count(*rows_total));
    let mut text = format!("{spec}: {stage} {percent} % ({done} of {total})");
    if let Some(rate) = rows_per_second(rows, since) {
        let (rate, sent) = (figures::count(rate), figures::bytes(Bytes(*bytes_sent)));
        text.push_str(&format!(", {rate} rows/s, {sent} sent"));
    }
    if let Some(left) = rows_left(rows, since).filter(|_| rows_done < rows_total) {
        text.push_str(&format!(", {} left", figures::duration(left)));
    }
    text
}

/// Words of a server or a system as a terminal may get them, in the lines that they have.
pub(super) fn clean(words: &str) -> String {
    let lines: Vec<_> = words.split('\n').map(plain).collect();
    lines.join("\n")
}

/// Whole seconds, rounded down: what counts on a screen has no milliseconds.
pub(super) fn seconds(time: Duration) -> String {
    figures::duration(Duration::from_secs(time.as_secs()))
}

fn rate(rate: Option<MilliRate>) -> String {
    rate.map_or_else(|| "-".to_owned(), figures::rate)
}

fn latency(micros: Option<u64>) -> String {
    micros.map_or_else(|| "-".to_owned(), figures::latency)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_from_elsewhere_do_not_command_the_terminal() {
        assert_eq!(clean("a\x1b[2Jb\r\nc\u{9b}d"), "a\u{fffd}[2Jb\u{fffd}\nc\u{fffd}d");
        assert_eq!(clean("规格 ±2 %"), "规格 ±2 %");
    }

    #[test]
    fn loading_tells_how_fast_how_much_and_how_long() {
        let rows = LoadingRows {
            spec: "2c4g".to_owned(),
            stage: "loading rows".to_owned(),
            rows_done: 1_100_000,
            rows_found: 100_000,
            rows_total: 2_500_000,
            bytes_sent: 195_000_000,
        };
        assert_eq!(
            loading_words(&rows, Duration::from_secs(10)),
            "2c4g: loading rows 44 % (1,100,000 of 2,500,000), 100,000 rows/s, 195 MB sent, \
             14s left"
        );
        let none = LoadingRows { rows_done: 100_000, ..rows };
        assert_eq!(
            loading_words(&none, Duration::ZERO),
            "2c4g: loading rows 4 % (100,000 of 2,500,000)"
        );
    }
}
