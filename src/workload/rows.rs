//! The content of a row: a pure function of seed, table, id and table size.
//!
//! Must not know: SQL, or how rows reach a server.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;

use crate::model::{Dataset, KeyLaw};

use super::keys::KeyDistribution;
use super::random::{self, C_LEN, PAD_LEN};
use super::text::{push_ascii, push_integer};

/// A row of `sbtestN`; its id is known to whoever asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// `1..=table_size` by the "special" law, prepare's default in sysbench 1.0.20.
    pub k: u64,
    /// Ten groups of eleven digits, joined by dashes.
    pub c: [u8; C_LEN],
    /// Five such groups.
    pub pad: [u8; PAD_LEN],
}

/// The rows of one table. Each row has a SplitMix64 of its own, started at
/// `mix(mix(mix(seed) ^ table) ^ id)`, so that any row can be made without those before it.
#[derive(Debug, Clone)]
pub struct Rows {
    base: u64,
    keys: KeyDistribution,
}

impl Rows {
    /// The rows of the table of that number, from 1.
    pub fn new(dataset: &Dataset, table: u32) -> Self {
        Self {
            base: random::mix(random::mix(dataset.seed) ^ u64::from(table)),
            keys: KeyDistribution::new(KeyLaw::Special, dataset.table_size),
        }
    }

    /// The row with that id.
    #[inline]
    pub fn row(&self, id: u64) -> Row {
        let mut random = SplitMix64::seed_from_u64(random::mix(self.base ^ id));
        let mut row = Row { k: self.keys.draw(&mut random), c: [0; C_LEN], pad: [0; PAD_LEN] };
        random::fill_digit_groups(&mut random, &mut row.c);
        random::fill_digit_groups(&mut random, &mut row.pad);
        row
    }

    /// Appends `(id,k,'c','pad')`, the row as an INSERT lists it.
    pub fn write_values(&self, id: u64, text: &mut String) {
        let row = self.row(id);
        text.push('(');
        push_integer(text, id);
        text.push(',');
        push_integer(text, row.k);
        text.push_str(",'");
        push_ascii(text, &row.c);
        text.push_str("','");
        push_ascii(text, &row.pad);
        text.push_str("')");
    }
}
