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

/// Counts the ways to take `take` of `n`. `None` beyond 64 bits.
pub fn binomial(n: u64, take: u64) -> Option<u64> {
    (1..=take).try_fold(1u64, |ways, i| Some(ways.checked_mul(n - take + i)? / i))
}

/// The same as a float, which has no largest count.
pub fn binomial_f64(n: usize, take: usize) -> f64 {
    (0..take.min(n - take)).fold(1.0, |all, i| all * (n - i) as f64 / (i + 1) as f64)
}

/// The result of Welch's t-test: whether the means of two samples differ, where their variances may.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// The difference of the means in units of its standard error.
    pub t: f64,
    /// Degrees of freedom, by Welch and Satterthwaite.
    pub freedom: f64,
    /// The probability of a difference at least as large if the means were equal (two-sided).
    pub p: f64,
}

/// Compares the means of two samples by Welch's t-test. `None` where one has fewer than two values, or neither varies.
pub fn welch(a: &[f64], b: &[f64]) -> Option<Welch> {
    let moments = |sample: &[f64]| {
        let n = sample.len() as f64;
        let mean = sample.iter().sum::<f64>() / n;
        (mean, sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0) / n, n)
    };
    if a.len() < 2 || b.len() < 2 {
        return None;
    }
    let ((mean_a, error_a, n_a), (mean_b, error_b, n_b)) = (moments(a), moments(b));
    let error = error_a + error_b;
    if error <= 0.0 {
        return None;
    }
    let t = (mean_a - mean_b) / error.sqrt();
    let freedom = error.powi(2) / (error_a.powi(2) / (n_a - 1.0) + error_b.powi(2) / (n_b - 1.0));
    Some(Welch { t, freedom, p: beta_share(freedom / 2.0, 0.5, freedom / (freedom + t * t)) })
}

/// The regularized incomplete beta function, by its continued fraction (Lentz).
fn beta_share(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_share(b, a, 1.0 - x);
    }
    let front = (a * x.ln() + b * (1.0 - x).ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)).exp() / a;
    let away = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for i in 1..500 {
        let m = f64::from(i);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    front * fraction
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

    #[test]
    fn ways_to_choose_follow_pascals_triangle() {
        for n in 1..40u64 {
            for take in 0..=n {
                let above = |take: u64| if take < n { binomial(n - 1, take).unwrap() } else { 0 };
                let expected = above(take) + if take > 0 { above(take - 1) } else { 0 };
                assert_eq!(binomial(n, take), Some(expected), "{take} of {n}");
                let float = binomial_f64(n as usize, take as usize);
                assert!((float - expected as f64).abs() <= 1e-12 * expected as f64, "{take} of {n}");
            }
        }
        assert_eq!(binomial(200, 100), None);
    }

    /// P3: values of R, t.test(a, b).
    #[test]
    fn the_test_agrees_with_published_values() {
        let a = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4];
        let b = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.4];
        let found = welch(&a, &b).unwrap();
        for (own, published) in [(found.t, -2.852955), (found.freedom, 27.887304), (found.p, 0.008071938)] {
            assert!((own - published).abs() < 1e-6, "{found:?}");
        }
    }

    /// The tails of Student's distribution: 2.228 at 10 degrees and 1.96 at very many leave 5 %.
    #[test]
    fn the_tails_are_those_of_students_distribution() {
        let p = |t: f64, freedom: f64| beta_share(freedom / 2.0, 0.5, freedom / (freedom + t * t));
        for (t, freedom, tail) in [(2.228, 10.0, 0.05), (12.706, 1.0, 0.05), (1.96, 1e7, 0.05), (3.169, 10.0, 0.01)] {
            assert!((p(t, freedom) - tail).abs() < 2e-4, "{t} {freedom}: {}", p(t, freedom));
        }
        assert!(welch(&[1.0], &[1.0, 2.0]).is_none() && welch(&[1.0, 1.0], &[2.0, 2.0]).is_none());
    }
}
