//! Named random streams, one for each random model, so that a new model never changes the numbers of another.
//!
//! The derivation is fixed, since results depend on it. The 64-bit FNV-1a hash of the name, exclusive-or the
//! seed, starts a SplitMix64 generator. Its first four outputs, little-endian, are the key of a ChaCha8
//! generator that starts at block zero.

use p4cc_exec::RandomSource;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// A stream of random numbers that depends on nothing but a seed and a name.
#[derive(Clone, Debug)]
pub struct Stream {
    rng: ChaCha8Rng,
}

impl Stream {
    /// The stream `name` of a run with this seed.
    pub fn named(seed: u64, name: &str) -> Self {
        let mut state = seed ^ fnv1a(name.as_bytes());
        let mut key = [0u8; 32];
        for chunk in key.chunks_exact_mut(8) {
            chunk.copy_from_slice(&split_mix(&mut state).to_le_bytes());
        }
        Self { rng: ChaCha8Rng::from_seed(key) }
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// A number from 0 to `bound - 1`, every one equally likely; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        // The largest multiple of the bound: what lies above it would favour small numbers.
        let limit = u64::MAX - u64::MAX % bound;
        loop {
            let value = self.next_u64();
            if value < limit {
                return value % bound;
            }
        }
    }

    /// A number in [0, 1), from the upper 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

impl RandomSource for Stream {
    fn next_u64(&mut self) -> u64 {
        Stream::next_u64(self)
    }
}

/// The seed of streams that belong to a part of a run with this seed.
pub(crate) fn seed_of(seed: u64, name: &str) -> u64 {
    split_mix(&mut (seed ^ fnv1a(name.as_bytes())))
}

/// FNV-1a, 64 bits.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// One step of SplitMix64.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_derivation_is_as_documented() {
        // Published values: FNV-1a of "a", and SplitMix64's first outputs for seed 1234567.
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        let mut state = 1_234_567;
        assert_eq!(split_mix(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(split_mix(&mut state), 3_203_168_211_198_807_973);
    }

    #[test]
    fn streams_differ_by_seed_and_by_name_only() {
        let first = |seed, name| Stream::named(seed, name).next_u64();
        assert_eq!(first(1, "start"), first(1, "start"));
        assert_ne!(first(1, "start"), first(2, "start"));
        assert_ne!(first(1, "start"), first(1, "loss"));
    }

    #[test]
    fn bounded_numbers_stay_in_range() {
        let mut stream = Stream::named(7, "test");
        assert_eq!(stream.below(0), 0);
        let mut seen = [0u32; 3];
        for _ in 0..3_000 {
            seen[stream.below(3) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1_150).contains(&n)), "{seen:?}");
        assert!((0..1_000).map(|_| stream.unit()).all(|u| (0.0..1.0).contains(&u)));
    }
}
