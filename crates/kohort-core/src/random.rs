//! The source of randomness.
//!
//! [`Randomness`] is a cryptographic generator (ChaCha). Whatever decides about a release draws
//! from it: its key comes from the operating system, or from a seed in tests. Estimates that must
//! come out the same each time draw from a stream with a [name](Randomness::named) or a
//! [number](Randomness::numbered) instead.
//!
//! [`SplitMix`] gives numbers that anyone can predict, at almost no cost. It makes synthetic data
//! and test cases, never a release.

use crate::{Error, Result};
use rand::{Rng, SeedableRng, TryRng};
use rand_chacha::ChaCha12Rng;

/// Takes the bytes of a secret key from the operating system.
pub(crate) fn secret_bytes() -> Result<[u8; 32]> {
    let mut bytes = [0; 32];
    rand::rngs::SysRng.try_fill_bytes(&mut bytes).map_err(|_| no_randomness())?;
    Ok(bytes)
}

fn no_randomness() -> Error {
    Error::machine("the operating system does not provide random numbers.")
}

/// Random numbers from the operating system, or from a seed for tests.
#[derive(Clone)]
pub struct Randomness {
    generator: ChaCha12Rng,
    /// True if the numbers come from a seed and can be predicted. The certificate then says that
    /// the release is a test.
    pub test: bool,
}

impl Randomness {
    /// Takes randomness from the operating system, unless a seed is given.
    pub fn new(seed: Option<u64>) -> Result<Randomness> {
        match seed {
            Some(seed) => Ok(Randomness::seeded(seed)),
            None => ChaCha12Rng::try_from_rng(&mut rand::rngs::SysRng)
                .map(|generator| Randomness { generator, test: false })
                .map_err(|_| no_randomness()),
        }
    }

    /// Makes the numbers of a seed, the same on every machine.
    pub fn seeded(seed: u64) -> Randomness {
        Randomness { generator: ChaCha12Rng::seed_from_u64(seed), test: true }
    }

    /// Makes the numbers of a name: for samples that must be the same whenever they are drawn, such
    /// as the queries that a release is tested with. The first 32 bytes of the name count.
    pub fn named(name: &str) -> Randomness {
        let mut key = [0; 32];
        key.iter_mut().zip(name.bytes()).for_each(|(key, byte)| *key = byte);
        Randomness { generator: ChaCha12Rng::from_seed(key), test: true }
    }

    /// Makes the numbers of a digest: for draws that nobody can choose beforehand and everybody can
    /// repeat, such as the draws by which the verifier estimates a share from the released files.
    pub fn of_digest(digest: [u8; 32]) -> Randomness {
        Randomness { generator: ChaCha12Rng::from_seed(digest), test: true }
    }

    /// Makes one of many streams of the same numbers, from its start. Nothing may have been drawn from it yet.
    pub fn stream(&self, number: u64) -> Randomness {
        let mut own = self.clone();
        own.generator.set_stream(number);
        own
    }

    /// Makes one of many streams of a seed. Each draw of an estimate has a stream of its own, so
    /// that the result does not depend on which thread makes which draw.
    pub fn numbered(seed: u64, stream: u64) -> Randomness {
        let mut generator = ChaCha12Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Randomness { generator, test: true }
    }

    /// Splits off randomness that a thread can use by itself.
    pub fn fork(&mut self) -> Randomness {
        Randomness { generator: ChaCha12Rng::from_rng(&mut self.generator), test: self.test }
    }

    /// Draws any number of 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// Draws a number below `n`, each with the same probability.
    pub fn below(&mut self, n: u64) -> u64 {
        if n <= 1 {
            return 0;
        }
        if let Ok(small) = u32::try_from(n) {
            // Lemire's method: the product's high half, drawn again where it would be uneven.
            let threshold = small.wrapping_neg() % small;
            loop {
                let product = u64::from(self.generator.next_u32()) * u64::from(small);
                if product as u32 >= threshold {
                    return product >> 32;
                }
            }
        }
        let threshold = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.generator.next_u64()) * u128::from(n);
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
        }
    }

    /// Puts items into random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }

    /// Puts `take` random items in front, in random order. With fewer items, all are shuffled.
    pub fn draw_to_front<T>(&mut self, items: &mut [T], take: usize) {
        for i in 0..take.min(items.len()) {
            items.swap(i, i + self.below((items.len() - i) as u64) as usize);
        }
    }

    /// Draws `take` different numbers below `n`, or all of them, in random order.
    pub fn sample(&mut self, n: usize, take: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        self.draw_to_front(&mut all, take);
        all.truncate(take);
        all
    }

    /// Appends `take` different numbers below `n`, or all of them, in random order. Takes time that
    /// grows with `take`, not with `n`.
    pub fn choose_few(&mut self, n: u64, take: usize, out: &mut Vec<u32>) {
        let start = out.len();
        while out.len() - start < take.min(n as usize) {
            let drawn = self.below(n) as u32;
            if !out[start..].contains(&drawn) {
                out.push(drawn);
            }
        }
    }
}

/// Predictable numbers for synthetic data and test cases: the SplitMix64 generator. It costs
/// nothing to start, so that every row of a synthetic table can have its own.
#[derive(Debug, Clone)]
pub struct SplitMix(u64);

impl SplitMix {
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

    /// Starts at a state.
    pub fn new(state: u64) -> SplitMix {
        SplitMix(state)
    }

    /// Starts where a seed and the number of a row say.
    #[inline]
    pub fn of_row(seed: u64, row: u64) -> SplitMix {
        SplitMix(mix(mix(seed.wrapping_add(Self::STEP), 0) ^ row, 0))
    }

    /// Draws the next number.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(Self::STEP);
        mix(self.0, 0)
    }
}

/// Mixes the bits of a number, as SplitMix64 does, with a key between its two steps; SplitMix64 itself has none.
#[inline]
pub(crate) fn mix(mut x: u64, key: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27) ^ key).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Each of `outcomes` must come about as often as the others in 6,000 trials.
    #[track_caller]
    fn uniform(outcomes: usize, mut trial: impl FnMut(u64) -> Vec<u32>) {
        let mut seen: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        (0..6000).for_each(|number| *seen.entry(trial(number)).or_default() += 1);
        assert_eq!(seen.len(), outcomes);
        let expected = 6000.0 / outcomes as f64;
        let chi_square: f64 = seen.values().map(|&n| (n as f64 - expected).powi(2) / expected).sum();
        // Exceeded in one of 10,000 runs with five degrees of freedom.
        assert!(chi_square < 25.75, "{seen:?}");
    }

    #[test]
    fn every_order_and_every_choice_is_as_likely_as_the_others() {
        let mut random = Randomness::seeded(7);
        uniform(6, |_| vec![random.below(6) as u32]);
        uniform(6, |_| vec![(random.below(6 << 40) >> 40) as u32]);
        uniform(6, |_| {
            let mut items = vec![1, 2, 3];
            random.shuffle(&mut items);
            items
        });
        uniform(6, |_| random.sample(3, 2).into_iter().map(|i| i as u32).collect());
        uniform(6, |stream| {
            let mut chosen = Vec::new();
            Randomness::numbered(7, stream).choose_few(3, 2, &mut chosen);
            chosen
        });
    }

    #[test]
    fn seeds_names_and_streams_repeat_and_differ() {
        let start = |mut random: Randomness| (random.bits(), random.bits());
        let starts = [
            start(Randomness::seeded(1)),
            start(Randomness::seeded(2)),
            start(Randomness::numbered(1, 5)),
            start(Randomness::numbered(1, 6)),
            start(Randomness::named("queries")),
            start(Randomness::named("rows")),
        ];
        let distinct: std::collections::BTreeSet<_> = starts.iter().collect();
        assert_eq!(distinct.len(), starts.len());
        assert_eq!(start(Randomness::numbered(1, 5)), starts[2]);
        assert_eq!(start(Randomness::named("queries")), starts[4]);
        assert_eq!(start(Randomness::new(Some(1)).unwrap()), starts[0]);
        assert_ne!(start(Randomness::new(None).unwrap()), start(Randomness::new(None).unwrap()));
    }

    #[test]
    fn only_the_operating_system_gives_what_cannot_be_predicted() {
        assert!(!Randomness::new(None).unwrap().test && !Randomness::new(None).unwrap().fork().test);
        assert!(Randomness::seeded(1).test && Randomness::seeded(1).fork().test);
        assert!(Randomness::named("queries").test && Randomness::numbered(1, 1).test);
    }
}
