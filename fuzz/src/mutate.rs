//! Changed inputs for runs without libFuzzer: always the same for a seed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Changes made to one input at most.
const MAX_CHANGES: u64 = 4;
/// Longest stretch that is copied, moved or removed.
const MAX_STRETCH: u64 = 32;
/// Numbers that stand at ends of ranges.
const ENDS: [u8; 8] = [0, 1, 0x7f, 0x80, 0xff, b'0', b'9', b'\n'];

/// Makes inputs out of others.
pub struct Mutator(ChaCha8Rng);

impl Mutator {
    /// One whose inputs follow from a number.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound.max(1) as u64) as usize
    }

    /// One of the seeds with bytes changed, stretches removed, doubled, or taken from another seed.
    pub fn input(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let pick = self.below(seeds.len());
        let mut input = seeds.get(pick).cloned().unwrap_or_default();
        for _ in 0..=self.0.next_u64() % MAX_CHANGES {
            self.change(&mut input, seeds);
        }
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        let end = (at + 1 + self.below(MAX_STRETCH as usize)).min(input.len());
        match self.below(6) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = ENDS[self.below(ENDS.len())],
            2 => drop(input.drain(at..end)),
            3 => {
                let stretch = input[at..end].to_vec();
                let to = self.below(input.len() + 1);
                input.splice(to..to, stretch);
            }
            4 => {
                let other = seeds.get(self.below(seeds.len())).map_or(&[][..], |other| &other[..]);
                let from = self.below(other.len() + 1);
                let to = (from + 1 + self.below(MAX_STRETCH as usize)).min(other.len());
                input.splice(at..at, other[from..to].iter().copied());
            }
            _ => {
                let byte = self.0.next_u64() as u8;
                input.insert(at, byte);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_follow_from_the_seed() {
        let seeds = vec![b"one seed".to_vec(), b"another".to_vec()];
        let some = |seed| {
            let mut mutator = Mutator::new(seed);
            (0..50).map(|_| mutator.input(&seeds)).collect::<Vec<_>>()
        };
        assert_eq!(some(1), some(1));
        assert_ne!(some(1), some(2));
        assert!(some(1).iter().any(|input| !seeds.contains(input)));
    }
}
