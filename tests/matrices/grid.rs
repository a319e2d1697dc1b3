//! Random matrices with what their expansion must be, and random edits of a file.
//!
//! Must not know: how a matrix is parsed or expanded.

use std::fmt::Write as _;

use proptest::prelude::*;

#[derive(Debug, Clone)]
pub(crate) enum Edit {
    Replace(u8),
    Remove,
    Insert(String),
    Cut,
}

pub(crate) fn edit() -> impl Strategy<Value = Edit> {
    let words = prop::sample::select(vec![
        "[", "]", "[[spec]]", "=", "\"", "{", "}", "0", "-", "\n", ".", "\u{1b}", "规", "null",
    ]);
    prop_oneof![
        any::<u8>().prop_map(Edit::Replace),
        Just(Edit::Remove),
        words.prop_map(|word| Edit::Insert(word.to_owned())),
        Just(Edit::Cut),
    ]
}

/// A random matrix: numbers of specs and scenarios, levels, exclusions, a selection.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    specs: usize,
    scenarios: usize,
    levels: Vec<u32>,
    excluded: Vec<Part>,
    only_specs: Vec<usize>,
    only_levels: Vec<usize>,
}

pub(crate) type Part = (Option<usize>, Option<usize>, Option<usize>);

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point {
    spec: usize,
    scenario: usize,
    level: u32,
}

impl Point {
    pub(crate) fn id(&self) -> String {
        format!("s{}/w{}/{}", self.spec, self.scenario, self.level)
    }
}

pub(crate) fn grid() -> impl Strategy<Value = Grid> {
    let part = || {
        (0..4usize, 0..4usize, 0..4usize, 1..8u8).prop_map(|(a, b, c, mask)| {
            ((mask & 1 > 0).then_some(a), (mask & 2 > 0).then_some(b), (mask & 4 > 0).then_some(c))
        })
    };
    (
        1..5usize,
        1..5usize,
        prop::collection::btree_set(1..2_000u32, 1..5),
        prop::collection::vec(part(), 0..4),
        prop::collection::vec(0..4usize, 0..3),
        prop::collection::vec(0..4usize, 0..3),
    )
        .prop_map(|(specs, scenarios, levels, excluded, only_specs, only_levels)| Grid {
            specs,
            scenarios,
            levels: levels.into_iter().collect(),
            excluded,
            only_specs,
            only_levels,
        })
}

impl Grid {
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "format = 1\nname = \"g\"\ntitle = \"G\"\n\
             [protocol]\nduration = \"1s\"\nwarmup = \"100ms\"\n\
             concurrency = {:?}\n[dataset]\nclass = \"larger-than-memory\"\n[[dataset.rule]]\n\
             table_size = 5\ntables = 1\n",
            self.levels
        );
        for spec in 0..self.specs {
            let _ = writeln!(text, "[[spec]]\nid = \"s{spec}\"\ncpu = 1\nmemory = \"1GB\"");
        }
        for scenario in 0..self.scenarios {
            let _ =
                writeln!(text, "[[scenario]]\nid = \"w{scenario}\"\nworkload = \"oltp_delete\"");
        }
        for (spec, scenario, level) in &self.excluded {
            text.push_str("[[exclude]]\nreason = \"r\"\n");
            if let Some(spec) = spec {
                let _ = writeln!(text, "spec = \"s{}\"", spec % self.specs);
            }
            if let Some(scenario) = scenario {
                let _ = writeln!(text, "scenario = \"w{}\"", scenario % self.scenarios);
            }
            if let Some(level) = level {
                let _ = writeln!(text, "concurrency = {}", self.level(*level));
            }
        }
        text
    }

    fn level(&self, index: usize) -> u32 {
        self.levels[index % self.levels.len()]
    }

    pub(crate) fn only(&self) -> Vec<String> {
        let specs = self.only_specs.iter().map(|spec| format!("spec=s{}", spec % self.specs));
        let levels =
            self.only_levels.iter().map(|level| format!("concurrency={}", self.level(*level)));
        specs.chain(levels).collect()
    }

    pub(crate) fn product(&self) -> Vec<Point> {
        let mut points = Vec::new();
        for spec in 0..self.specs {
            for scenario in 0..self.scenarios {
                points.extend(self.levels.iter().map(|&level| Point { spec, scenario, level }));
            }
        }
        points.retain(|point| {
            let mut specs = self.only_specs.iter().map(|spec| spec % self.specs);
            let mut levels = self.only_levels.iter().map(|level| self.level(*level));
            (self.only_specs.is_empty() || specs.any(|spec| spec == point.spec))
                && (self.only_levels.is_empty() || levels.any(|level| level == point.level))
        });
        points
    }

    pub(crate) fn excludes(&self, point: &Point) -> bool {
        self.excluded.iter().any(|(spec, scenario, level)| {
            spec.is_none_or(|spec| spec % self.specs == point.spec)
                && scenario.is_none_or(|scenario| scenario % self.scenarios == point.scenario)
                && level.is_none_or(|level| self.level(level) == point.level)
        })
    }
}
