//! `[protocol]`: how one cell is measured.
//!
//! Must not know: which cells there are.

use super::value::{ladder, rate};
use crate::written::{
    Fault, Located, Section, duration, duration_text, integer, integer_u32, named,
};
use std::ops::RangeInclusive;
use std::time::Duration;

use super::limits::{DURATION, MAX_WARMUP_RATIO, REPEATS, WARMUP};
use super::percent::percent;
use crate::model::{
    Arrivals, Engine, KeyLaw, Ladder, OpenLoop, Protocol, Publish, StatementMode, Until, counted,
};

/// Used where the file says nothing: `warmup`, `repeats` and `seed`.
const DEFAULT_WARMUP: Duration = Duration::from_secs(10);
const DEFAULT_REPEATS: u32 = 1;
const DEFAULT_SEED: u64 = 1;
/// Trials of a cell at most, where `until` is given and `repeats_max` is not.
const DEFAULT_REPEATS_MAX: u32 = 20;
/// Shares of a rate: a ten-thousandth to a half.
const SHARE: RangeInclusive<u64> = 100..=500_000;

/// The protocol with the place of its ladder, against which exclusions are checked.
pub(super) struct ProtocolDraft {
    pub(super) protocol: Protocol,
    pub(super) concurrency: Located<Ladder>,
}

/// Reads the section. `None` where a key that must be there is missing or faulty.
pub(super) fn read(mut section: Section<'_>) -> Option<ProtocolDraft> {
    let window = section.required("duration", "\"600s\"", duration(DURATION));
    let warmup = section.optional("warmup", duration(WARMUP));
    check_warmup(&section, window, warmup);
    let warmup_max = section.optional("warmup_max", duration(WARMUP));
    check_warmup_max(&section, warmup, warmup_max);
    let level = section.optional("level", percent(SHARE));
    let repeats = section.optional("repeats", integer_u32(REPEATS));
    let until = until(&mut section, repeats);
    let stop_after_falling = section.optional("stop_after_falling", integer_u32(1..=100));
    let concurrency = section.required("concurrency", "[32, 64, 128]", ladder);
    let publish = section.optional("publish", named(Publish::ALL, Publish::name));
    let statements = section.optional("statements", named(StatementMode::ALL, StatementMode::name));
    let keys = section.optional("keys", named(KeyLaw::ALL, KeyLaw::name));
    let seed = section.optional("seed", integer(0..=i64::MAX as u64));
    let open_loop = open_loop(&mut section);
    let engine = section.optional("engine", named(Engine::ALL, Engine::name));
    section.finish();
    let concurrency = concurrency?;
    let protocol = Protocol {
        duration: window?.value,
        warmup: warmup.map_or(DEFAULT_WARMUP, |warmup| warmup.value),
        warmup_max: warmup_max.map(|longest| longest.value),
        level_ppm: level.map_or(Protocol::LEVEL_PPM, |level| level.value),
        repeats: repeats.map_or(DEFAULT_REPEATS, |repeats| repeats.value),
        until,
        stop_after_falling: stop_after_falling.map(|levels| levels.value),
        is_aa: false,
        concurrency: concurrency.value.clone(),
        publish: publish.map_or(Publish::Peak, |publish| publish.value),
        statements: statements.map_or(StatementMode::Text, |statements| statements.value),
        keys: keys.map_or(KeyLaw::Uniform, |keys| keys.value),
        seed: seed.map_or(DEFAULT_SEED, |seed| seed.value),
        open_loop,
        engine: engine.map_or(Engine::Native, |engine| engine.value),
    };
    Some(ProtocolDraft { protocol, concurrency })
}

/// `until` says how narrow, `repeats_max` after how many trials it is given up.
fn until(section: &mut Section<'_>, repeats: Option<Located<u32>>) -> Option<Until> {
    let until = section.optional("until", percent(SHARE));
    let cap = section.optional("repeats_max", integer_u32(REPEATS));
    if let (false, Some(cap)) = (section.has("until"), &cap) {
        section.fault(
            Fault::new("until", "`protocol.repeats_max` without `until`")
                .at(cap.place, "until what?")
                .help("add a line such as `until = \"2%\"`, or use `repeats` alone"),
        );
    }
    let least = repeats.map_or(DEFAULT_REPEATS, |repeats| repeats.value);
    if let Some(cap) = cap.as_ref().filter(|cap| cap.value < least) {
        section.fault(
            Fault::new(
                "until",
                format!("at most {}, and at least {least}", counted(cap.value, "trial")),
            )
            .at(cap.place, "fewer than `repeats`")
            .help("raise `repeats_max`, or lower `repeats`"),
        );
    }
    let repeats_max = cap.map_or(DEFAULT_REPEATS_MAX.max(least), |cap| cap.value);
    Some(Until { width_ppm: until?.value, repeats_max })
}

/// A longest warm-up that is shorter than the shortest.
fn check_warmup_max(
    section: &Section<'_>,
    warmup: Option<Located<Duration>>,
    longest: Option<Located<Duration>>,
) {
    let shortest = warmup.map_or(DEFAULT_WARMUP, |warmup| warmup.value);
    let Some(longest) = longest.filter(|longest| longest.value < shortest) else { return };
    let (long, short) = (duration_text(longest.value), duration_text(shortest));
    section.fault(
        Fault::new("warmup", format!("a warm-up of at most {long} and at least {short}"))
            .at(longest.place, "shorter than `warmup`")
            .help("`warmup` is the shortest, `warmup_max` the longest; the rate decides between"),
    );
}

/// `rate` opens the loop; `arrivals` says how, and nothing without it.
fn open_loop(section: &mut Section<'_>) -> Option<OpenLoop> {
    let rate = section.optional("rate", rate);
    let arrivals = section.optional("arrivals", named(Arrivals::ALL, Arrivals::name));
    if let (false, Some(arrivals)) = (section.has("rate"), arrivals) {
        section.fault(
            Fault::new("arrivals", "`protocol.arrivals` without a rate")
                .at(arrivals.place, "of how many events per second?")
                .help("add a line such as `rate = 2000`, or leave `arrivals` out: closed loop"),
        );
    }
    let arrivals = arrivals.map_or(Arrivals::Poisson, |arrivals| arrivals.value);
    Some(OpenLoop { rate: rate?.value, arrivals })
}

/// A warm-up a hundred times as long as the window is a slip of the unit.
fn check_warmup(
    section: &Section<'_>,
    window: Option<Located<Duration>>,
    warmup: Option<Located<Duration>>,
) {
    let (Some(window), Some(warmup)) = (window, warmup) else { return };
    if warmup.value <= window.value.saturating_mul(MAX_WARMUP_RATIO) {
        return;
    }
    let (short, long) = (duration_text(window.value), duration_text(warmup.value));
    section.fault(
        Fault::new("warmup", format!("a warm-up of {long} for a measured window of {short}"))
            .at(warmup.place, format!("more than {MAX_WARMUP_RATIO} times the window"))
            .at(window.place, "the window")
            .help("check the units: ms, s, m, h"),
    );
}
