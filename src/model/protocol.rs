//! The protocol: how one cell is measured.
//!
//! Must not know: how it is written in a file.

use std::time::Duration;

use super::MilliRate;

/// How each cell of a matrix is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protocol {
    /// The measured window of a trial.
    pub duration: Duration,
    /// Load before the window, not counted.
    pub warmup: Duration,
    /// The longest that a warm-up may take to become level; `None`: it takes what it takes.
    pub warmup_max: Option<Duration>,
    /// How far from level a steady rate may be, in millionths of its mean.
    pub level_ppm: u64,
    /// Trials of each cell.
    pub repeats: u32,
    /// When further trials end.
    pub until: Option<Until>,
    /// After how many levels below the best one the rest of a ladder is left out.
    pub stop_after_falling: Option<u32>,
    /// Whether odd and even repetitions are two measurements of the same thing, to see how far
    /// apart those are.
    pub is_aa: bool,
    /// Which concurrencies are measured.
    pub concurrency: Ladder,
    /// Which of them the page prints.
    pub publish: Publish,
    /// Text or prepared statements.
    pub statements: StatementMode,
    /// How row ids are drawn.
    pub keys: KeyLaw,
    /// From which every draw follows.
    pub seed: u64,
    /// When events are due. `None`: closed loop, each connection's next event is due when the
    /// one before it is over.
    pub open_loop: Option<OpenLoop>,
    /// Who drives the load.
    pub engine: Engine,
}

/// How narrow the interval of a cell's rate is to become by further trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Until {
    /// Half of the interval's width, in millionths of the rate.
    pub width_ppm: u64,
    /// Trials of a cell at most.
    pub repeats_max: u32,
}

/// Who drives the load of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// gridbench's own client.
    Native,
    /// The real sysbench, one run of it for each trial.
    Sysbench,
}

impl Protocol {
    /// What a steady rate may be off where nobody says: 5 %.
    pub const LEVEL_PPM: u64 = 50_000;

    /// As its engine can measure it: sysbench counts whole seconds, so that what is between is
    /// rounded up.
    pub fn as_the_engine_can(self) -> Self {
        let whole = |time: Duration| {
            Duration::from_secs(time.as_secs() + u64::from(time.subsec_nanos() > 0))
        };
        match self.engine {
            Engine::Native => self,
            Engine::Sysbench => {
                let (duration, warmup) = (whole(self.duration), whole(self.warmup));
                Self { duration, warmup, ..self }
            }
        }
    }
}

#[cfg(test)]
impl Protocol {
    /// One second of a closed loop of text statements, at 64 connections.
    pub(crate) fn for_tests() -> Self {
        Self {
            duration: Duration::from_secs(1),
            warmup: Duration::ZERO,
            warmup_max: None,
            level_ppm: Self::LEVEL_PPM,
            repeats: 1,
            until: None,
            stop_after_falling: None,
            is_aa: false,
            concurrency: Ladder::Levels(vec![64]),
            publish: Publish::Peak,
            statements: StatementMode::Text,
            keys: KeyLaw::Uniform,
            seed: 1,
            open_loop: None,
            engine: Engine::Native,
        }
    }
}

/// Events are due by the clock, whatever the server makes of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenLoop {
    /// Events per second over all connections of a cell; never zero.
    pub rate: MilliRate,
    /// How they are spread in time.
    pub arrivals: Arrivals,
}

/// How the events of an open loop are spread in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// Independent of each other, as from many users: gaps are exponential, with the rate's
    /// reciprocal as their mean (sysbench's `--rate`).
    Poisson,
    /// One every 1/rate seconds.
    Fixed,
}

/// The concurrencies of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ladder {
    /// These, ascending, for each spec and scenario.
    Levels(Vec<u32>),
    /// The one that the baseline prints for the spec and scenario.
    Published,
}

/// What of a ladder reaches the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Publish {
    /// The level with the highest QPS, per spec and scenario.
    Peak,
    /// Every level.
    All,
}

/// How statements travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementMode {
    /// COM_QUERY with literals (`--db-ps-mode=disable`).
    Text,
    /// COM_STMT_EXECUTE on handles prepared before the start.
    Prepared,
}

/// sysbench's laws for drawing an id from `1..=table_size` (`--rand-type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyLaw {
    /// Every id alike.
    Uniform,
    /// Three quarters of the hits fall around the middle: sysbench 1.0.20's default.
    Special,
    /// The mean of twelve uniform draws.
    Gaussian,
    /// The 80/20 law, h = 0.2.
    Pareto,
    /// Zipf's law by rejection inversion, exponent 0.8 (sysbench 1.1).
    Zipfian,
}

macro_rules! names {
    ($type:ident: $($variant:ident = $name:literal),+) => {
        impl $type {
            /// Every value, in the order in which help texts list them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in a matrix file.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The value of that name, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }
        }
    };
}

names!(Publish: Peak = "peak", All = "all");
names!(StatementMode: Text = "text", Prepared = "prepared");
names!(Engine: Native = "native", Sysbench = "sysbench");
names!(Arrivals: Poisson = "poisson", Fixed = "fixed");
names!(KeyLaw: Uniform = "uniform", Special = "special", Gaussian = "gaussian",
    Pareto = "pareto", Zipfian = "zipfian");
