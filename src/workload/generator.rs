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
        request.slot = program.slot(step.handle, self.table);
        match step.handle {
            Handle::Text => self.write_text(step, request),
            Handle::OfTable(_) | Handle::Commit => self.write_params(step, request),
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
