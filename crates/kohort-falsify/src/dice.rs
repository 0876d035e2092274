//! Random choices of a campaign, the same for the same seed. Nothing that makes or checks a release
//! uses this generator.

use kohort_core::random::SplitMix;

/// A generator that gives the same numbers for the same seed.
#[derive(Debug, Clone)]
pub struct Dice(SplitMix);

impl Dice {
    /// Starts at a seed.
    pub fn new(seed: u64) -> Dice {
        Dice(SplitMix::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x2545_F491_4F6C_DD1D)))
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number below n.
    pub fn below(&mut self, n: usize) -> usize {
        (self.number() % n.max(1) as u64) as usize
    }

    /// One of these.
    pub fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}
