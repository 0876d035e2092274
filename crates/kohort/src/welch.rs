//! Welch's t-test: whether the means of two samples differ, where their variances may.

/// The result of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// The difference of the means in units of its standard error.
    pub t: f64,
    /// Degrees of freedom, by Welch and Satterthwaite.
    pub freedom: f64,
    /// The probability of a difference at least as large if the means were equal (two-sided).
    pub p: f64,
}

/// Compares two samples. `None` where one has fewer than two values, or neither varies.
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

/// The logarithm of the gamma function, by Stirling's series.
fn ln_gamma(x: f64) -> f64 {
    // The series is accurate from 10 on; Γ(x + 1) = x Γ(x) leads there.
    let (mut x, mut below) = (x, 0.0);
    while x < 10.0 {
        below += x.ln();
        x += 1.0;
    }
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - below
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P3: values of R, t.test(a, b).
    #[test]
    fn the_test_agrees_with_published_values() {
        let a = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4];
        let b = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.4];
        let found = welch(&a, &b).unwrap();
        let b_mean = b.iter().sum::<f64>() / 15.0;
        assert!(found.t < 0.0 && b_mean > 20.0);
        assert!(found.p > 0.001 && found.p < 0.02, "{found:?}");
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
