//! Pitman's sampling formula with two parameters (Hoshino 2001), fitted by maximum likelihood.
//!
//! With u classes among n people, sⱼ of size j, the logarithm of the likelihood is
//! Σ_{i=1}^{u−1} ln(θ + iα) − Σ_{i=1}^{n−1} ln(θ + i) + Σⱼ sⱼ Σ_{i=1}^{j−1} ln(i − α), 0 ≤ α < 1,
//! θ > −α. Its sums of reciprocals are differences of ψ, so that a step costs as much as there are
//! different sizes of classes.

use super::Sizes;
use crate::statistics::{digamma, ln_gamma};

/// The least α looked at: below, it is Ewens' formula.
const LEAST_ALPHA: f64 = 1e-6;

/// Expected number of people who are unique among `population`:
/// N · Γ(θ + α + N − 1) Γ(θ + 1) / (Γ(θ + α) Γ(θ + N)). `None` where nothing can be fitted.
pub(super) fn uniques(sizes: &Sizes, population: u64) -> Option<f64> {
    let (theta, alpha) = fit(sizes)?;
    Some(expected(theta, alpha, population as f64))
}

fn expected(theta: f64, alpha: f64, all: f64) -> f64 {
    let far = ln_gamma(theta + alpha + all - 1.0) - ln_gamma(theta + all);
    (all.ln() + far + ln_gamma(theta + 1.0) - ln_gamma(theta + alpha)).exp()
}

/// θ and α where the likelihood is highest. All alone or all together, it has no maximum.
fn fit(sizes: &Sizes) -> Option<(f64, f64)> {
    if sizes.classes < 2 || sizes.classes >= sizes.people {
        return None;
    }
    // The slope along α, with the best θ for each.
    let slope = |alpha: f64| {
        let theta = best_theta(sizes, alpha)?;
        let u = sizes.classes as f64;
        let chosen = (u - 1.0 - theta * reciprocals(theta, alpha, u)) / alpha;
        let within =
            |&(size, classes): &(u64, u64)| classes as f64 * (digamma(size as f64 - alpha) - digamma(1.0 - alpha));
        Some(chosen - sizes.by_size.iter().map(within).sum::<f64>())
    };
    let (mut low, mut high) = (LEAST_ALPHA, 1.0 - 1e-9);
    if slope(low)? > 0.0 {
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if slope(middle)? > 0.0 { low = middle } else { high = middle }
        }
    }
    let theta = best_theta(sizes, low)?;
    Some((theta, low))
}

/// Σ 1 / (θ + iα) for 1 ≤ i < u.
fn reciprocals(theta: f64, alpha: f64, u: f64) -> f64 {
    (digamma(theta / alpha + u) - digamma(theta / alpha + 1.0)) / alpha
}

/// The θ at which the slope along it is nothing: it falls from +∞ at −α to below 0.
fn best_theta(sizes: &Sizes, alpha: f64) -> Option<f64> {
    let (u, n) = (sizes.classes as f64, sizes.people as f64);
    let slope = |theta: f64| reciprocals(theta, alpha, u) - (digamma(theta + n) - digamma(theta + 1.0));
    let low = -alpha * (1.0 - 1e-9);
    let mut high = 1.0;
    while slope(high) > 0.0 {
        high *= 4.0;
        if high > 1e18 {
            return None;
        }
    }
    let (mut low, mut high) = (low, high);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if slope(middle) > 0.0 { low = middle } else { high = middle }
    }
    let theta = (low + high) / 2.0;
    theta.is_finite().then_some(theta)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The likelihood as it is written.
    fn likelihood(sizes: &[u64], theta: f64, alpha: f64) -> f64 {
        let (u, n) = (sizes.len() as u64, sizes.iter().sum::<u64>());
        let chosen: f64 = (1..u).map(|i| (theta + i as f64 * alpha).ln()).sum();
        let all: f64 = (1..n).map(|i| (theta + i as f64).ln()).sum();
        let within: f64 = sizes.iter().map(|&j| (1..j).map(|i| (i as f64 - alpha).ln()).sum::<f64>()).sum();
        chosen - all + within
    }

    #[test]
    fn nothing_nearby_is_more_likely() {
        for sizes in
            [vec![1, 1, 1, 2, 2, 3, 7, 20], vec![1; 30].into_iter().chain([2, 2, 4, 9]).collect(), vec![5, 6, 7]]
        {
            let (theta, alpha) = fit(&Sizes::of(&sizes)).unwrap();
            let best = likelihood(&sizes, theta, alpha);
            for a in (0..100).map(|i| LEAST_ALPHA.max(f64::from(i) / 100.0)) {
                for t in [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 1.01, 1.1, 2.0, 5.0, 50.0].map(|f| theta.abs() * f) {
                    assert!(likelihood(&sizes, t, a) <= best + 1e-6, "{sizes:?}: {t} {a} beats {theta} {alpha}");
                }
            }
        }
        assert_eq!(fit(&Sizes::of(&[1, 1, 1])), None);
        assert_eq!(fit(&Sizes::of(&[9])), None);
    }

    /// One person after the other: a new class with chance (θ + αK) / (θ + n), a class of one grows
    /// with chance (1 − α) / (θ + n) each. Exact on average.
    #[test]
    fn uniques_are_those_of_the_process() {
        for (theta, alpha) in [(3.0, 0.4), (0.5, 0.9), (20.0, LEAST_ALPHA), (-0.2, 0.5)] {
            let (mut classes, mut single) = (1.0, 1.0);
            for n in 1..400 {
                let n = f64::from(n);
                let new = (theta + alpha * classes) / (theta + n);
                single += new - single * (1.0 - alpha) / (theta + n);
                classes += new;
            }
            let found = expected(theta, alpha, 400.0);
            assert!((found - single).abs() < 1e-6 * single, "{found} {single}");
        }
    }
}
