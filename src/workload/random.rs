//! Random draws: streams, bounded integers, fractions, groups of digits.
//!
//! Must not know: what a draw is for. Streams are xoshiro256++ whose state is four outputs of
//! SplitMix64 started at `mix(mix(seed) ^ stream)`, where `mix(x)` is the first output of
//! SplitMix64 started at `x`: for one seed, no two streams start alike.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

use super::text::{PAIRS, push_ascii};

/// Groups of eleven digits in column `c`.
pub const C_GROUPS: usize = 10;
/// Groups of eleven digits in column `pad`.
pub const PAD_GROUPS: usize = 5;
/// Characters of column `c`: ten groups and nine dashes.
pub const C_LEN: usize = C_GROUPS * GROUP_LEN - 1;
/// Characters of column `pad`: five groups and four dashes.
pub const PAD_LEN: usize = PAD_GROUPS * GROUP_LEN - 1;

/// Eleven digits and a dash.
const GROUP_LEN: usize = 12;

/// The generator of one stream of a seed.
pub fn stream(seed: u64, stream: u64) -> Xoshiro256PlusPlus {
    let mut words = SplitMix64::seed_from_u64(mix(mix(seed) ^ stream));
    let mut state = [0u8; 32];
    for word in state.chunks_exact_mut(8) {
        word.copy_from_slice(&words.next_u64().to_le_bytes());
    }
    Xoshiro256PlusPlus::from_seed(state)
}

/// The first output of SplitMix64 started at `state`: a bijection without visible structure.
pub fn mix(state: u64) -> u64 {
    SplitMix64::seed_from_u64(state).next_u64()
}

/// Uniform in `0..n`, `floor(u n)` with u of 64 bits; 0 for n = 0.
#[inline]
pub fn below(random: &mut impl Rng, n: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(n)) >> 64) as u64
}

/// Uniform in [0, 1), a multiple of 2^-53.
#[inline]
pub fn fraction(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Appends `groups` (at most [`C_GROUPS`]) groups of digits, joined by dashes.
pub fn push_digit_groups(random: &mut impl Rng, groups: usize, text: &mut String) {
    let mut buffer = [0u8; C_LEN];
    let buffer = &mut buffer[..groups * GROUP_LEN - 1];
    fill_digit_groups(random, buffer);
    push_ascii(text, buffer);
}

/// Fills a buffer of [`C_LEN`] or [`PAD_LEN`] bytes with groups of digits.
#[inline]
pub fn fill_digit_groups(random: &mut impl Rng, buffer: &mut [u8]) {
    for group in buffer.chunks_mut(GROUP_LEN) {
        fill_group(random.next_u64(), group);
    }
}

/// Eleven digits, and a dash where there is room for one. The 64 bits are read as a fraction:
/// multiplied by 100 its whole part is the next two digits. Eleven digits use 37 bits, so no
/// digit's share is off by more than 2^-27.
#[inline]
fn fill_group(bits: u64, group: &mut [u8]) {
    let mut rest = bits;
    let (pairs, tail) = group.split_at_mut(10);
    for pair in pairs.chunks_exact_mut(2) {
        let product = u128::from(rest) * 100;
        rest = product as u64;
        pair.copy_from_slice(&PAIRS[(product >> 64) as usize]);
    }
    tail[0] = b'0' + ((u128::from(rest) * 10) >> 64) as u8;
    if let Some(dash) = tail.get_mut(1) {
        *dash = b'-';
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_a_seed_differ_and_repeat() {
        let first = |seed, number| stream(seed, number).next_u64();
        assert_eq!(first(7, 0), first(7, 0));
        assert_ne!(first(7, 0), first(7, 1));
        assert_ne!(first(7, 0), first(8, 0));
        assert_ne!(first(7, 8), first(8, 7));
    }

    #[test]
    fn mix_is_the_published_splitmix64() {
        // First output of splitmix64.c started at 1234567.
        assert_eq!(mix(1_234_567), 6_457_827_717_110_365_317);
    }

    #[test]
    fn a_bounded_draw_stays_below_its_bound() {
        let mut random = stream(1, 1);
        for n in [1, 2, 3, 10, u64::MAX] {
            for _ in 0..1_000 {
                assert!(below(&mut random, n) < n);
                assert!((0.0..1.0).contains(&fraction(&mut random)));
            }
        }
        assert_eq!(below(&mut random, 0), 0);
    }

    #[test]
    fn digits_come_in_groups_of_eleven_and_are_uniform_in_every_place() {
        let mut random = stream(2, 3);
        let mut counts = [[0u32; 10]; 11];
        for _ in 0..20_000 {
            let mut text = String::new();
            push_digit_groups(&mut random, PAD_GROUPS, &mut text);
            assert_eq!(text.len(), PAD_LEN);
            for group in text.split('-') {
                assert_eq!(group.len(), 11);
                for (place, digit) in group.bytes().enumerate() {
                    counts[place][usize::from(digit - b'0')] += 1;
                }
            }
        }
        // 100,000 digits in each place; chi-square with 9 degrees of freedom, p = 0.0001.
        for place in counts {
            let chi: f64 = place.iter().map(|n| (f64::from(*n) - 1e4).powi(2) / 1e4).sum();
            assert!(chi < 33.72, "{place:?}");
        }
    }

    #[test]
    fn the_ends_of_the_fraction_are_all_zeros_and_all_nines() {
        let mut group = [0u8; 12];
        fill_group(0, &mut group);
        assert_eq!(&group, b"00000000000-");
        fill_group(u64::MAX, &mut group);
        assert_eq!(&group, b"99999999999-");
    }
}
