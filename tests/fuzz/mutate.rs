//! Bytes become other bytes: what a careless hand, a broken disk or a hostile mind would make of
//! them. Must not know: what they mean.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// What readers trip over: ends of ranges, signs of formats, characters that are none.
const WORDS: &[&str] = &[
    "0",
    "-1",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "1e308",
    "nan",
    "inf",
    "0.0000000000000000001",
    "true",
    "\"",
    "'''",
    "\"\"\"",
    "[",
    "[[",
    "{",
    "}}",
    "{{ ",
    "{% for x in range(100000) %}",
    "{% include \"x\" %}",
    "{% endfor %}",
    "<!-- gridbench:table baseline=x -->",
    "<table><tr><td>",
    "|---|",
    ",,,,",
    "\r\n",
    "\n\n",
    "\0",
    "\u{202e}",
    "\u{feff}",
    "1970-01-01T00:00:00Z",
    "../../../../etc/passwd",
    "=cmd|' /C calc'!A0",
];

/// Draws, the same ones for the same seed.
pub(crate) struct Mutator(Xoshiro256PlusPlus);

impl Mutator {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.0.next_u64()).unwrap() % limit.max(1)
    }

    /// One of the seeds with one to eight changes, some from another seed.
    pub(crate) fn of(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(8) {
            self.change(&mut bytes, seeds);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = self.below(bytes.len() + 1);
        let end = (at + 1 + self.below(64)).min(bytes.len());
        match self.below(9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            1 if at < bytes.len() => bytes[at] = self.below(256) as u8,
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end.max(at))),
            4 => {
                let piece = bytes[at..end.max(at)].to_vec();
                let times = 1 + self.below(200);
                bytes.splice(at..at, piece.repeat(times));
            }
            5 => {
                let other = &seeds[self.below(seeds.len())];
                let from = self.below(other.len() + 1);
                let to = (from + self.below(200)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            6 => {
                // A line twice, or elsewhere.
                let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
                let (from, to) = (self.below(lines.len()), self.below(lines.len() + 1));
                if let Some(line) = lines.get(from).copied() {
                    lines.insert(to, line);
                    *bytes = lines.concat();
                }
            }
            7 => {
                // A number that is another one.
                let digit = |byte: &u8| byte.is_ascii_digit();
                if let Some(start) = bytes[at..].iter().position(digit).map(|far| at + far) {
                    let rest = &bytes[start..];
                    let length = rest.iter().position(|byte| !digit(byte)).unwrap_or(rest.len());
                    let word = WORDS[self.below(10)];
                    bytes.splice(start..start + length, word.bytes());
                }
            }
            _ => {
                let word = WORDS[self.below(WORDS.len())];
                let times = if self.below(20) == 0 { 1 + self.below(5_000) } else { 1 };
                bytes.splice(at..at, word.repeat(times).into_bytes());
            }
        }
    }
}
