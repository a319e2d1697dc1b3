//! Writes the statements of event after event for one connection.
//!
//! Must not know: how a statement is sent, or whether it succeeded.

use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::model::{Param, Request};

use super::Program;
use super::program::{Handle, Step};
use super::random::{self, C_GROUPS, PAD_GROUPS};
use super::statements::Value;
use super::text::push_integer;

/// One connection's source of statements. The same program, seed and stream yield the same
/// statements on every platform; nothing is allocated once the request's buffers have grown.
#[derive(Debug)]
pub struct Generator {
    program: Arc<Program>,
    random: Xoshiro256PlusPlus,
    /// The table of the group under way, from 1.
    table: u32,
    /// The row id drawn last.
    id: u64,
}

impl Generator {
    /// `stream` is the connection's number: each has draws of its own.
    pub fn new(program: Arc<Program>, seed: u64, stream: u64) -> Self {
        Self { program, random: random::stream(seed, stream), table: 1, id: 1 }
    }

    /// Starts an event, or starts it again: what its groups share is drawn anew.
    pub fn begin_event(&mut self) {
        self.table = 1;
        self.id = 1;
    }

    /// Writes the n-th statement of the event into `request`. The statements of an event are
    /// asked for in order, as later ones refer to what earlier ones drew.
    ///
    /// # Panics
    /// If the program has no such statement.
    pub fn write(&mut self, step: usize, request: &mut Request) {
        let program = Arc::clone(&self.program);
        let step = program.step(step);
        request.clear();
        if step.draws_table {
            self.table = 1 + random::below(&mut self.random, u64::from(program.tables)) as u32;
        }
        request.slot = step.handle.slot(self.table);
        match step.handle {
            Handle::Text => self.write_text(step, request),
            Handle::OfTable(_) | Handle::Fixed(_) => self.write_params(step, request),
        }
    }

    fn write_text(&mut self, step: &Step, request: &mut Request) {
        let text = &mut request.text;
        let mut pieces = step.pieces.iter();
        text.push_str(pieces.next().unwrap_or(&""));
        if let Some(piece) = pieces.next() {
            push_integer(text, u64::from(self.table));
            text.push_str(piece);
        }
        for (value, piece) in step.values.iter().zip(pieces) {
            match self.draw(*value) {
                Drawn::Integer(integer) => push_integer(text, integer),
                Drawn::Digits(groups) => {
                    text.push('\'');
                    random::push_digit_groups(&mut self.random, groups, text);
                    text.push('\'');
                }
            }
            text.push_str(piece);
        }
    }

    fn write_params(&mut self, step: &Step, request: &mut Request) {
        for value in step.values {
            let param = match self.draw(*value) {
                Drawn::Integer(integer) => Param::Int(integer.cast_signed()),
                Drawn::Digits(groups) => {
                    let start = request.text.len();
                    random::push_digit_groups(&mut self.random, groups, &mut request.text);
                    Param::Text { start, len: request.text.len() - start }
                }
            };
            request.params.push(param);
        }
    }

    fn draw(&mut self, value: Value) -> Drawn {
        match value {
            Value::Id => {
                self.id = self.program.keys.draw(&mut self.random);
                Drawn::Integer(self.id)
            }
            Value::SameId => Drawn::Integer(self.id),
            Value::RangeEnd => {
                let end = self.id + u64::from(self.program.range_size);
                Drawn::Integer(end.saturating_sub(1))
            }
            Value::NoId => Drawn::Integer(0),
            Value::K => Drawn::Integer(self.program.keys.draw(&mut self.random)),
            Value::C => Drawn::Digits(C_GROUPS),
            Value::Pad => Drawn::Digits(PAD_GROUPS),
        }
    }
}

/// A value before it is written.
enum Drawn {
    Integer(u64),
    /// So many groups of eleven digits.
    Digits(usize),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Dataset, KeyLaw, Scenario, ScenarioId, StatementKind, StatementMode, Workload,
        WorkloadOptions,
    };

    fn program(workload: Workload, options: WorkloadOptions, mode: StatementMode) -> Program {
        let id = ScenarioId::new("s").unwrap();
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
        for workload in Workload::ALL {
            for (mode, name) in
                [(StatementMode::Text, "text"), (StatementMode::Prepared, "prepared")]
            {
                let program = program(workload, WorkloadOptions::default(), mode);
                let lines = event(&mut generator(program)).join("\n");
                insta::assert_snapshot!(format!("{}-{name}", workload.name()), lines);
            }
        }
    }

    #[test]
    fn text_and_prepared_events_draw_the_same_values() {
        let options = WorkloadOptions::default();
        let text = program(Workload::OltpReadWrite, options, StatementMode::Text);
        let prepared = program(Workload::OltpReadWrite, options, StatementMode::Prepared);
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
        use StatementKind::*;
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
            let program = program(Workload::OltpReadWrite, options, mode);
            (0..program.len()).map(|step| program.kind(step)).collect::<Vec<_>>()
        };
        let points = vec![PointSelect; 2];
        let ranges =
            vec![SimpleRange, SimpleRange, SimpleRange, OrderRange, OrderRange, DistinctRange];
        let writes = vec![IndexUpdate, IndexUpdate, Delete, Insert, Delete, Insert];
        for mode in [StatementMode::Text, StatementMode::Prepared] {
            let all = [vec![Begin], points.clone(), ranges.clone(), writes.clone(), vec![Commit]];
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
        assert_eq!(count(Workload::OltpReadWrite, default, prepared), 25 * 9 + 2);
        assert_eq!(count(Workload::OltpReadWrite, without, prepared), 25 * 9);
        assert_eq!(count(Workload::OltpReadOnly, default, prepared), 25 * 5 + 2);
        assert_eq!(count(Workload::OltpWriteOnly, default, prepared), 25 * 4 + 2);
        assert_eq!(count(Workload::OltpDelete, default, prepared), 25);
        assert_eq!(count(Workload::OltpInsert, default, prepared), 0);
        assert_eq!(count(Workload::OltpReadWrite, default, StatementMode::Text), 0);
    }

    #[test]
    fn a_group_shares_one_table_and_groups_draw_their_own() {
        let program =
            program(Workload::OltpReadWrite, WorkloadOptions::default(), StatementMode::Text);
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
        let program = Arc::new(program(Workload::OltpReadOnly, options, StatementMode::Prepared));
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
}
