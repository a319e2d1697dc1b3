//! Values that need no memory, ready to be drawn.
//!
//! Must not know: statements or rows.

use rand_xoshiro::rand_core::Rng;

use crate::model::{Constant, Content};

use super::keys::KeyDistribution;
use super::random::{self, C_GROUPS, PAD_GROUPS};
use super::text::{push_ascii, push_signed};
use super::timestamp;

/// A [`Content`], ready.
#[derive(Debug, Clone)]
pub(super) struct Maker(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// So many groups of eleven digits.
    Groups(usize),
    /// `less` and an id of the law.
    Integer {
        less: i64,
        keys: KeyDistribution,
    },
    Digits(u32),
    Letters(u32),
    OneOf(Box<[Choice]>),
    Timestamp {
        from: i64,
        seconds: u64,
    },
}

#[derive(Debug, Clone)]
enum Choice {
    Integer(i64),
    /// As it is, and with each quote doubled.
    Text {
        bare: Box<str>,
        escaped: Box<str>,
    },
}

/// What was drawn: a number, or a text that was appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    Integer(i64),
    Text,
}

impl Maker {
    pub(super) fn new(content: &Content) -> Self {
        Self(match content {
            Content::C => Kind::Groups(C_GROUPS),
            Content::Pad => Kind::Groups(PAD_GROUPS),
            Content::Integer { min, max, keys } => {
                let count = u64::try_from(i128::from(*max) - i128::from(*min) + 1).unwrap_or(1);
                let keys = KeyDistribution::new(*keys, count);
                Kind::Integer { less: min.wrapping_sub(1), keys }
            }
            Content::Digits(length) => Kind::Digits(*length),
            Content::Letters(length) => Kind::Letters(*length),
            Content::OneOf(values) => Kind::OneOf(values.iter().map(Choice::new).collect()),
            Content::Timestamp { from, to } => {
                Kind::Timestamp { from: *from, seconds: to.abs_diff(*from) + 1 }
            }
        })
    }

    /// Draws; a text is appended as it is.
    pub(super) fn make(&self, random: &mut impl Rng, text: &mut String) -> Made {
        match &self.0 {
            Kind::OneOf(choices) => match choose(choices, random) {
                Choice::Integer(integer) => return Made::Integer(*integer),
                Choice::Text { bare, .. } => text.push_str(bare),
            },
            _ => return self.make_plain(random, text),
        }
        Made::Text
    }

    /// Draws the same, and appends it as SQL has it.
    pub(super) fn push_literal(&self, random: &mut impl Rng, text: &mut String) {
        if let Kind::OneOf(choices) = &self.0 {
            match choose(choices, random) {
                Choice::Integer(integer) => push_signed(text, *integer),
                Choice::Text { escaped, .. } => {
                    text.push('\'');
                    text.push_str(escaped);
                    text.push('\'');
                }
            }
            return;
        }
        if let Kind::Integer { .. } = &self.0 {
            if let Made::Integer(integer) = self.make_plain(random, text) {
                push_signed(text, integer);
            }
            return;
        }
        text.push('\'');
        self.make_plain(random, text);
        text.push('\'');
    }

    /// What holds nothing that SQL would have to escape.
    fn make_plain(&self, random: &mut impl Rng, text: &mut String) -> Made {
        match &self.0 {
            Kind::Groups(groups) => random::push_digit_groups(random, *groups, text),
            Kind::Integer { less, keys } => {
                return Made::Integer(less.wrapping_add_unsigned(keys.draw(random)));
            }
            Kind::Digits(length) => push_uniform(random, *length, b"0123456789", text),
            Kind::Letters(length) => {
                push_uniform(random, *length, b"abcdefghijklmnopqrstuvwxyz", text);
            }
            Kind::OneOf(_) => {}
            Kind::Timestamp { from, seconds } => {
                let second = from.wrapping_add_unsigned(random::below(random, *seconds));
                push_ascii(text, &timestamp::text(second));
            }
        }
        Made::Text
    }
}

impl Choice {
    fn new(value: &Constant) -> Self {
        match value {
            Constant::Integer(integer) => Self::Integer(*integer),
            Constant::Text(text) => {
                let escaped = text.replace('\'', "''").into_boxed_str();
                Self::Text { bare: text.as_str().into(), escaped }
            }
        }
    }
}

fn choose<'a>(choices: &'a [Choice], random: &mut impl Rng) -> &'a Choice {
    &choices[random::below(random, choices.len() as u64) as usize]
}

fn push_uniform(random: &mut impl Rng, length: u32, of: &[u8], text: &mut String) {
    for _ in 0..length {
        let place = random::below(random, of.len() as u64) as usize;
        text.push(char::from(of[place]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::KeyLaw;

    fn literal(content: &Content) -> String {
        let mut text = String::new();
        Maker::new(content).push_literal(&mut random::stream(7, 7), &mut text);
        text
    }

    fn text(words: &str) -> Constant {
        Constant::Text(words.into())
    }

    #[test]
    fn every_content_reads_as_recorded() {
        let contents = [
            Content::C,
            Content::Pad,
            Content::Integer { min: -5, max: 5, keys: KeyLaw::Uniform },
            Content::Integer { min: i64::MIN, max: i64::MIN + 9, keys: KeyLaw::Zipfian },
            Content::Digits(7),
            Content::Letters(7),
            Content::OneOf(vec![text("it's"), text("it's")]),
            Content::OneOf(vec![Constant::Integer(-3)]),
            Content::Timestamp { from: 1_796_069_869, to: 1_796_069_869 },
        ];
        insta::assert_snapshot!(contents.each_ref().map(literal).join("\n"));
    }

    #[test]
    fn bare_and_literal_draw_the_same() {
        let contents = [
            Content::Integer { min: 1, max: 1_000, keys: KeyLaw::Pareto },
            Content::Digits(9),
            Content::Letters(9),
            Content::OneOf(vec![text("a"), text("it's"), Constant::Integer(4)]),
            Content::Timestamp { from: 0, to: 1_000_000_000 },
        ];
        for content in &contents {
            let maker = Maker::new(content);
            let (mut one, mut other) = (random::stream(1, 2), random::stream(1, 2));
            for _ in 0..100 {
                let (mut bare, mut literal) = (String::new(), String::new());
                let made = maker.make(&mut one, &mut bare);
                maker.push_literal(&mut other, &mut literal);
                let expected = match made {
                    Made::Integer(integer) => integer.to_string(),
                    Made::Text => format!("'{}'", bare.replace('\'', "''")),
                };
                assert_eq!(literal, expected);
            }
        }
    }

    #[test]
    fn an_integer_takes_every_value_of_its_range_and_no_other() {
        let maker = Maker::new(&Content::Integer { min: -1, max: 2, keys: KeyLaw::Uniform });
        let mut random = random::stream(3, 3);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..1_000 {
            let Made::Integer(integer) = maker.make(&mut random, &mut String::new()) else {
                panic!("an integer is no text")
            };
            seen.insert(integer);
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [-1, 0, 1, 2]);
    }
}
