//! Statistics that several parts of Kohort use: intervals, tests and special functions.

/// The quantile of the normal distribution for two-sided intervals with 95 % confidence.
pub const Z95: f64 = 1.959964;

/// Computes Wilson's interval for a probability, from the number of hits among draws. `z` sets the
/// confidence: see [`Z95`].
pub fn wilson((hits, draws): (u64, u64), z: f64) -> (f64, f64) {
    let n = draws.max(1) as f64;
    let (p, z2) = (hits as f64 / n, z * z);
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = z / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

/// Computes the asymptotic probability of a two-sample Kolmogorov–Smirnov statistic at least this
/// large, with the correction for small samples by Stephens.
pub fn kolmogorov(statistic: f64, first: u64, second: u64) -> f64 {
    let (a, b) = (first as f64, second as f64);
    let root = (a * b / (a + b)).sqrt();
    let lambda = (root + 0.12 + 0.11 / root) * statistic;
    if lambda < 0.2 {
        return 1.0;
    }
    let term = |j: i32| {
        let sign = if j % 2 == 1 { 1.0 } else { -1.0 };
        sign * (-2.0 * f64::from(j * j) * lambda * lambda).exp()
    };
    (2.0 * (1..=100).map(term).sum::<f64>()).clamp(0.0, 1.0)
}

/// Finds the middle number, or the mean of the middle two. The median of no numbers is 0.
pub fn median(mut numbers: Vec<u64>) -> f64 {
    numbers.sort_unstable();
    let half = numbers.len() / 2;
    match numbers.len() {
        0 => 0.0,
        n if n % 2 == 1 => numbers[half] as f64,
        _ => (numbers[half - 1] + numbers[half]) as f64 / 2.0,
    }
}

/// Stirling's series is exact to the last digits from here on.
const FAR: f64 = 16.0;

/// Computes ln Γ(x) for x > 0, by Stirling's series.
pub fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 1.0f64);
    while x < FAR {
        below *= x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - below.ln()
}

/// Computes ψ(x) = Γ'(x) / Γ(x) for x > 0, by Stirling's series.
pub fn digamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 0.0);
    while x < FAR {
        below += 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = y * (1.0 / 12.0 - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y * (1.0 / 240.0 - y / 132.0))));
    x.ln() - 0.5 / x - series - below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilsons_interval_is_the_known_one() {
        let (low, high) = wilson((10, 100), Z95);
        assert!((low - 0.0552).abs() < 1e-4 && (high - 0.1744).abs() < 1e-4, "{low} to {high}");
        assert!(wilson((0, 50), Z95).0 < 1e-12 && wilson((50, 50), Z95).1 > 1.0 - 1e-12);
    }

    #[test]
    fn the_kolmogorov_distribution_is_the_known_one() {
        // Critical values of large samples: 1.358 at 5 %, 1.628 at 1 %.
        let at = |critical: f64| kolmogorov(critical / 500f64.sqrt(), 1000, 1000);
        assert!((at(1.358) - 0.05).abs() < 0.003 && (at(1.628) - 0.01).abs() < 0.001);
        assert_eq!(kolmogorov(0.0, 10, 10), 1.0);
        assert!(kolmogorov(1.0, 1000, 1000) < 1e-12);
        assert_eq!((median(vec![3, 1, 2]), median(vec![4, 1, 2, 3]), median(vec![])), (2.0, 2.5, 0.0));
    }

    #[test]
    fn gamma_functions_agree_with_sums() {
        // Γ(n) = (n − 1)!, Γ(½) = √π; ψ(x + 1) = ψ(x) + 1/x, ψ(1) = −γ.
        let mut factorial = 0.0;
        for n in 1..40 {
            assert!((ln_gamma(f64::from(n)) - factorial).abs() < 1e-12 * factorial.max(1.0), "{n}");
            factorial += f64::from(n).ln();
        }
        assert!((ln_gamma(0.5) - std::f64::consts::PI.ln() / 2.0).abs() < 1e-13);
        assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-13);
        for x in [0.001, 0.3, 2.5, 17.0, 900.0] {
            assert!((digamma(x + 1.0) - digamma(x) - 1.0 / x).abs() < 1e-10);
            let slope = (ln_gamma(x * (1.0 + 1e-6)) - ln_gamma(x * (1.0 - 1e-6))) / (2e-6 * x);
            assert!((slope - digamma(x)).abs() < 1e-4 * (1.0 + digamma(x).abs()), "{x}");
        }
    }
}
