//! The numbers that placements are counted in: floats for reports and clear cases, whole numbers where
//! a probability is so near to 1/k that rounding could decide.

/// A number of placements, as a float or as a whole number.
pub(super) trait Weight: Copy {
    fn of(n: u64) -> Self;
    fn plus(&self, other: Self) -> Self;
    fn times(&self, other: Self) -> Self;
    fn over(&self, n: u64) -> Self;
    fn is_zero(&self) -> bool;
}

impl Weight for f64 {
    fn of(n: u64) -> f64 {
        n as f64
    }
    fn plus(&self, other: f64) -> f64 {
        self + other
    }
    fn times(&self, other: f64) -> f64 {
        self * other
    }
    fn over(&self, n: u64) -> f64 {
        self / n as f64
    }
    fn is_zero(&self) -> bool {
        *self == 0.0
    }
}

/// A whole number, or `None` where it outgrew 128 bits.
#[derive(Clone, Copy)]
pub(super) struct Exact(pub(super) Option<u128>);

impl Weight for Exact {
    fn of(n: u64) -> Exact {
        Exact(Some(u128::from(n)))
    }
    fn plus(&self, other: Exact) -> Exact {
        Exact(self.0.zip(other.0).and_then(|(a, b)| a.checked_add(b)))
    }
    fn times(&self, other: Exact) -> Exact {
        Exact(self.0.zip(other.0).and_then(|(a, b)| a.checked_mul(b)))
    }
    fn over(&self, n: u64) -> Exact {
        Exact(self.0.and_then(|a| a.checked_div(u128::from(n))))
    }
    fn is_zero(&self) -> bool {
        self.0 == Some(0)
    }
}

/// n choose m.
pub(super) fn choose<W: Weight>(n: u64, m: u64) -> W {
    if m > n {
        return W::of(0);
    }
    // Every product is divisible by the number it is divided by.
    (0..m).fold(W::of(1), |all, i| all.times(W::of(n - i)).over(i + 1))
}

/// Multiplies two lists of counts: entry n of the result sums over all i + j = n.
pub(super) fn convolve<W: Weight>(a: &[W], b: &[W]) -> Vec<W> {
    let mut sums = vec![W::of(0); a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            sums[i + j] = sums[i + j].plus(x.times(*y));
        }
    }
    sums
}

/// The least common multiple of 1, 2, …, n.
pub(super) fn least_common_multiple(n: u64) -> Exact {
    (1..=n).fold(Exact(Some(1)), |all, n| match all.0 {
        Some(all) => Exact((all / gcd(all, u128::from(n))).checked_mul(u128::from(n))),
        None => all,
    })
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
