//! Writes the statements of event after event for one connection.
//!
//! Must not know: how a statement is sent, or whether it succeeded.

use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::model::{Param, Request};

use super::Program;
use super::content::Made;
use super::keys::KeyDistribution;
use super::program::{Draw, Handle, Step, Whole};
use super::random;
use super::text::{push_integer, push_signed};

/// One connection's source of statements. The same program, seed and stream yield the same
/// statements on every platform; nothing is allocated once the request's buffers have grown.
#[derive(Debug)]
pub struct Generator {
    program: Arc<Program>,
    state: State,
}

/// What one connection has drawn, and will draw from.
#[derive(Debug)]
struct State {
    random: Xoshiro256PlusPlus,
    /// The table of the group under way, from 1.
    table: u32,
    /// The row id drawn last.
    id: u64,
    /// Where a statement has a use for it.
    own: Option<Box<Own>>,
}

/// What belongs to one connection of several.
#[derive(Debug)]
struct Own {
    /// Its part of the ids: the first, and a law over as many as it has.
    segment: Option<(u64, KeyDistribution)>,
    /// The next number of each sequence.
    next: Vec<i64>,
    /// What lies between two numbers of a sequence: the other connections'.
    stride: u64,
}

impl Generator {
    /// `stream` is the connection's number: each has draws of its own. It is alone: the segment
    /// of ids that it draws from is all of them.
    pub fn new(program: Arc<Program>, seed: u64, stream: u64) -> Self {
        Self::among(program, seed, stream, 1)
    }

    /// The same for one of so many connections.
    pub fn among(program: Arc<Program>, seed: u64, stream: u64, connections: u32) -> Self {
        let random = random::stream(seed, stream);
        let own = Own::of(&program, stream, u64::from(connections.max(1)));
        Self { program, state: State { random, table: 1, id: 1, own } }
    }

    /// Starts an event, or starts it again: what its groups share is drawn anew.
    pub fn begin_event(&mut self) {
        self.state.table = 1;
        self.state.id = 1;
    }

    /// Writes the n-th statement of the event into `request`. The statements of an event are
    /// asked for in order, as later ones refer to what earlier ones drew.
    ///
    /// # Panics
    /// If the program has no such statement.
    pub fn write(&mut self, step: usize, request: &mut Request) {
        let (program, state) = (&*self.program, &mut self.state);
        let step = program.step(step);
        request.clear();
        if step.draws_table {
            state.table = 1 + random::below(&mut state.random, u64::from(program.tables)) as u32;
        }
        request.slot = step.handle.slot(state.table);
        match step.handle {
            Handle::Text => state.write_text(program, step, &mut request.text),
            Handle::OfTable(_) | Handle::Fixed(_) => state.write_params(program, step, request),
        }
    }
}

impl State {
    fn write_text(&mut self, program: &Program, step: &Step, text: &mut String) {
        text.push_str(&step.head);
        for piece in &step.pieces {
            match piece.draw {
                Draw::Whole(whole) => push_integer(text, self.whole(program, whole)),
                other => self.push_literal(program, other, text),
            }
            text.push_str(&piece.tail);
        }
    }

    fn write_params(&mut self, program: &Program, step: &Step, request: &mut Request) {
        for piece in &step.pieces {
            let param = match piece.draw {
                Draw::Whole(whole) => Param::Int(self.whole(program, whole).cast_signed()),
                other => self.param(program, other, &mut request.text),
            };
            request.params.push(param);
        }
    }

    /// Draws and appends, as SQL has it. Kept apart from the numbers that most statements have, so
    /// that those stay in registers.
    #[inline(never)]
    fn push_literal(&mut self, program: &Program, draw: Draw, text: &mut String) {
        match draw {
            Draw::Whole(whole) => push_integer(text, self.whole(program, whole)),
            Draw::Groups(groups) => {
                text.push('\'');
                random::push_digit_groups(&mut self.random, groups as usize, text);
                text.push('\'');
            }
            Draw::Sequence(place) => push_signed(text, self.sequence(place)),
            Draw::Content(place) => {
                program.contents[place as usize].push_literal(&mut self.random, text);
            }
        }
    }

    /// Draws; a text is appended as it is.
    #[inline(never)]
    fn param(&mut self, program: &Program, draw: Draw, text: &mut String) -> Param {
        let start = text.len();
        match draw {
            Draw::Whole(whole) => return Param::Int(self.whole(program, whole).cast_signed()),
            Draw::Groups(groups) => {
                random::push_digit_groups(&mut self.random, groups as usize, text);
            }
            Draw::Sequence(place) => return Param::Int(self.sequence(place)),
            Draw::Content(place) => {
                let maker = &program.contents[place as usize];
                if let Made::Integer(integer) = maker.make(&mut self.random, text) {
                    return Param::Int(integer);
                }
            }
        }
        Param::Text { start, len: text.len() - start }
    }

    #[inline]
    fn whole(&mut self, program: &Program, whole: Whole) -> u64 {
        let keys = match whole {
            Whole::Id | Whole::K => &program.keys,
            Whole::IdOf(place) => &program.ids[place as usize],
            Whole::Table => return u64::from(self.table),
            Whole::SegmentId => return self.segment_id(),
            Whole::SameId => return self.id,
            Whole::RangeEnd => return (self.id + u64::from(program.range_size)).saturating_sub(1),
            Whole::DeltaEnd => return self.id + u64::from(program.delta),
            Whole::NoId => return 0,
        };
        let id = keys.draw(&mut self.random);
        if whole != Whole::K {
            self.id = id;
        }
        id
    }

    fn segment_id(&mut self) -> u64 {
        if let Some((first, keys)) = self.own.as_ref().and_then(|own| own.segment.as_ref()) {
            self.id = first + keys.draw(&mut self.random) - 1;
        }
        self.id
    }

    fn sequence(&mut self, place: u32) -> i64 {
        let own =
            self.own.as_mut().expect("a program with sequences gives each connection its own");
        let next = &mut own.next[place as usize];
        std::mem::replace(next, next.wrapping_add_unsigned(own.stride))
    }
}

impl Own {
    /// `None` where no statement of the program has a use for it.
    fn of(program: &Program, stream: u64, connections: u64) -> Option<Box<Self>> {
        if program.segments.is_none() && program.sequences.is_empty() {
            return None;
        }
        let connection = stream % connections;
        let segment = program.segments.map(|(table_size, law)| {
            // As sysbench has it, in floating point: from floor(length x number) on, as far as
            // the next one's first, that one included. The first of them begins at 0.
            let length = table_size as f64 / connections as f64;
            let from = length * connection as f64;
            let (first, last) = (from as u64, (from + length) as u64);
            (first, KeyDistribution::new(law, last - first + 1))
        });
        let next = program.sequences.iter().map(|start| start.wrapping_add_unsigned(connection));
        Some(Box::new(Self { segment, next: next.collect(), stride: connections }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Dataset, KeyLaw, Scenario, ScenarioId, StatementMode, WorkloadOptions};
    use crate::workload::{builtin, builtins};

    fn program(workload: &str, options: WorkloadOptions, mode: StatementMode) -> Program {
        let id = ScenarioId::new("s").unwrap();
        let workload = builtin(workload).unwrap();
        let scenario = Scenario { id, title: None, workload, options };
        let dataset =
            Dataset { tables: 25, table_size: 10_000, charset: "utf8mb4".into(), seed: 1 };
        let program = Program::new(&scenario, &dataset, mode, KeyLaw::Uniform);
        assert_eq!(program.len(), scenario.queries_per_event() as usize, "{scenario:?}");
        program
    }

    /// One event, a statement to a line; a prepared one as its slot, SQL and parameters.
    fn event(generator: &mut Generator) -> Vec<String> {
        let program = Arc::clone(&generator.program);
        let handles = program.prepared();
        assert_eq!(handles.len(), program.prepared_count());
        let mut request = Request::default();
        generator.begin_event();
        let mut line = |step| {
            generator.write(step, &mut request);
            let Some(slot) = request.slot else { return request.text.clone() };
            let params: Vec<String> = request.params.iter().map(|p| show(*p, &request)).collect();
            format!("#{slot} {} [{}]", handles[slot], params.join(", "))
        };
        (0..program.len()).map(&mut line).collect()
    }

    fn show(param: Param, request: &Request) -> String {
        match param {
            Param::Int(integer) => integer.to_string(),
            Param::Text { start, len } => format!("{:?}", &request.text[start..start + len]),
        }
    }

    fn generator(program: Program) -> Generator {
        Generator::new(Arc::new(program), 20_251_210, 3)
    }

    #[test]
    fn one_event_of_every_workload_reads_as_recorded() {
        let all = WorkloadOptions::default();
        let points = WorkloadOptions { range_selects: false, ..all };
        let whole = builtins().iter().map(|workload| (workload.name(), all, ""));
        let cut = ["oltp_read_only", "oltp_read_write"].map(|name| (name, points, "-points"));
        for (workload, options, suffix) in whole.chain(cut) {
            for mode in [StatementMode::Text, StatementMode::Prepared] {
                let program = program(workload, options, mode);
                let lines = event(&mut generator(program)).join("\n");
                let name = format!("{workload}{suffix}-{}", mode.name());
                insta::assert_snapshot!(name, lines);
            }
        }
    }

    #[test]
    fn text_and_prepared_events_draw_the_same_values() {
        let options = WorkloadOptions::default();
        let text = program("oltp_read_write", options, StatementMode::Text);
        let prepared = program("oltp_read_write", options, StatementMode::Prepared);
        let (mut text, mut prepared) = (generator(text), generator(prepared));
        for _ in 0..100 {
            for (text, prepared) in event(&mut text).iter().zip(event(&mut prepared)) {
                let Some((head, params)) = prepared.split_once(" [") else {
                    assert_eq!(*text, prepared);
                    continue;
                };
                let mut sql = head.split_once(' ').unwrap().1.to_owned();
                for param in params.trim_end_matches(']').split(", ").filter(|p| !p.is_empty()) {
                    sql = sql.replacen('?', &param.replace('"', "'"), 1);
                }
                assert_eq!(*text, sql);
            }
        }
    }

    #[test]
    fn every_option_changes_its_own_count_and_counts_match_the_scenario() {
        let options = WorkloadOptions {
            point_selects: 2,
            simple_ranges: 3,
            sum_ranges: 0,
            order_ranges: 2,
            distinct_ranges: 1,
            index_updates: 2,
            non_index_updates: 0,
            delete_inserts: 2,
            ..WorkloadOptions::default()
        };
        let kinds = |options, mode| {
            let program = program("oltp_read_write", options, mode);
            let kind = |step| program.kinds()[program.kind(step)].name().to_owned();
            (0..program.len()).map(kind).collect::<Vec<_>>()
        };
        let points = vec!["point_select"; 2];
        let ranges = [vec!["simple_range"; 3], vec!["order_range"; 2], vec!["distinct_range"]];
        let pair = ["delete", "insert"];
        let writes = [["index_update"; 2], pair, pair].concat();
        for mode in [StatementMode::Text, StatementMode::Prepared] {
            let all =
                [vec!["begin"], points.clone(), ranges.concat(), writes.clone(), vec!["commit"]];
            assert_eq!(kinds(options, mode), all.concat());
            let bare = WorkloadOptions { range_selects: false, skip_trx: true, ..options };
            assert_eq!(kinds(bare, mode), [points.clone(), writes.clone()].concat());
        }
    }

    #[test]
    fn a_connection_prepares_one_handle_per_table_and_statement_and_begin_and_commit() {
        let count = |workload, options, mode| program(workload, options, mode).prepared_count();
        let default = WorkloadOptions::default();
        let without = WorkloadOptions { skip_trx: true, ..default };
        let prepared = StatementMode::Prepared;
        assert_eq!(count("oltp_read_write", default, prepared), 25 * 9 + 2);
        assert_eq!(count("oltp_read_write", without, prepared), 25 * 9);
        assert_eq!(count("oltp_read_only", default, prepared), 25 * 5 + 2);
        assert_eq!(count("oltp_write_only", default, prepared), 25 * 4 + 2);
        assert_eq!(count("oltp_delete", default, prepared), 25);
        assert_eq!(count("oltp_insert", default, prepared), 0);
        assert_eq!(count("oltp_read_write", default, StatementMode::Text), 0);
    }

    #[test]
    fn a_group_shares_one_table_and_groups_draw_their_own() {
        let program = program("oltp_read_write", WorkloadOptions::default(), StatementMode::Text);
        let mut generator = generator(program);
        let mut differs = [0u32; 20];
        let table = |line: &String| {
            let digits = line.split_once("sbtest").unwrap().1;
            digits.split([' ', '(']).next().unwrap().parse::<u32>().unwrap()
        };
        for _ in 0..2_000 {
            let lines = event(&mut generator);
            for step in 2..19 {
                differs[step] += u32::from(table(&lines[step]) != table(&lines[step - 1]));
            }
            let id = |line: &String, cut: &str| line.split_once(cut).unwrap().1.to_owned();
            let deleted = id(&lines[17], "id=");
            assert!(lines[18].contains(&format!("VALUES ({deleted}, ")), "{lines:?}");
        }
        // With 25 tables two draws differ in 24 cases of 25: 1,920 of 2,000.
        for (step, differs) in differs.iter().enumerate() {
            let own_draw = (11..=17).contains(&step);
            assert!(if own_draw { (1_860..1_980).contains(differs) } else { *differs == 0 });
        }
    }

    #[test]
    fn a_range_spans_range_size_ids_and_streams_differ() {
        let options = WorkloadOptions { range_size: 7, ..WorkloadOptions::default() };
        let program = Arc::new(program("oltp_read_only", options, StatementMode::Prepared));
        let mut first = Generator::new(Arc::clone(&program), 1, 0);
        let mut second = Generator::new(Arc::clone(&program), 1, 1);
        assert_ne!(event(&mut first), event(&mut second));
        let mut request = Request::default();
        for step in 11..15 {
            first.write(step, &mut request);
            let [Param::Int(from), Param::Int(to)] = request.params[..] else { panic!() };
            assert_eq!(to - from, 6);
        }
    }

    #[test]
    fn each_connection_draws_from_a_part_of_the_ids_of_its_own() {
        let options =
            WorkloadOptions { random_points: 3, number_of_ranges: 2, ..Default::default() };
        for (name, count, delta) in [("select_random_points", 3, 0), ("select_random_ranges", 4, 5)]
        {
            let program = Arc::new(program(name, options, StatementMode::Prepared));
            let mut request = Request::default();
            for stream in 0..4 {
                let mut generator = Generator::among(Arc::clone(&program), 1, stream, 4);
                let part = stream * 2_500..=(stream + 1) * 2_500 + delta;
                for _ in 0..200 {
                    generator.begin_event();
                    generator.write(0, &mut request);
                    assert_eq!(request.params.len(), count);
                    for param in &request.params {
                        let Param::Int(id) = param else { panic!("{param:?}") };
                        assert!(part.contains(&id.cast_unsigned()), "{stream}: {id}");
                    }
                    if delta > 0 {
                        let [Param::Int(from), Param::Int(to), ..] = request.params[..] else {
                            panic!("{request:?}")
                        };
                        assert_eq!(to - from, 5);
                    }
                }
            }
        }
    }
}
