//! Predictable randomness: a finding is found again by its seed.

use kohort_core::random::SplitMix;

/// Random choices of one run.
pub struct Dice(SplitMix);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(SplitMix::new(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.bits()
    }

    /// Below `n`; 0 where `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// Once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}
