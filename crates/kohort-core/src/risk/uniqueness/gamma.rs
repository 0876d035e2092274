//! The logarithm of the gamma function and its derivative, by Stirling's series.

/// From here on the series is exact to the last digits.
const FAR: f64 = 16.0;

/// ln Γ(x), x > 0.
pub(super) fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut below) = (x, 1.0f64);
    while x < FAR {
        below *= x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - below.ln()
}

/// ψ(x) = Γ'(x) / Γ(x), x > 0.
pub(super) fn digamma(x: f64) -> f64 {
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
    fn they_are_what_sums_say() {
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
