//! Chance for estimates: a stream of its own for each draw, so that results do not depend on threads.

/// Draws numbers: the splitmix generator, started from a seed and the number of the draw.
#[derive(Debug, Clone)]
pub(crate) struct Lots(u64);

impl Lots {
    pub(crate) fn new(seed: u64, stream: u64) -> Lots {
        let mut lots = Lots(seed ^ stream.wrapping_mul(0xD134_2543_DE82_EF95));
        lots.next();
        lots
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ x >> 31
    }

    /// A number below `n`, each equally likely.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        let threshold = n.wrapping_neg() % n.max(1);
        loop {
            let product = u128::from(self.next()) * u128::from(n);
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
        }
    }

    /// Appends `take` different numbers below `n`, in the order they were drawn; each order is
    /// equally likely.
    pub(crate) fn choose(&mut self, n: u64, take: usize, out: &mut Vec<u32>) {
        let start = out.len();
        while out.len() - start < take.min(n as usize) {
            let drawn = self.below(n) as u32;
            if !out[start..].contains(&drawn) {
                out.push(drawn);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_choice_is_as_likely_as_the_others() {
        let mut seen = std::collections::BTreeMap::new();
        for stream in 0..6000 {
            let mut chosen = Vec::new();
            Lots::new(7, stream).choose(3, 2, &mut chosen);
            *seen.entry(chosen).or_insert(0u64) += 1;
        }
        assert_eq!(seen.len(), 6);
        let chi_square: f64 = seen.values().map(|&n| (n as f64 - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi_square < 25.0, "{seen:?}");
    }
}
