//! The slide negative binomial model (Chen and Keller-McNulty 1998): class sizes of the population
//! are one more than a negative binomial number, P(F = j) = Γ(α+j−1) / (Γ(j) Γ(α)) · β^α (1−β)^(j−1).
//!
//! The number K of classes outside is estimated as by Haas and Stokes (1998, after Shlosser), α and β
//! from the classes of one and of two in the sample. With n = (1−π)(1−β) and t = β / (1−n),
//! E s₁ = K π t^α (1 + αn/(1−n)) and E s₂ = K π²/2 · α (1−β) t^α (2 − (1−α)n) / (1−n)².

use super::Sizes;

/// So many values of β are looked at for a solution, evenly by the logarithm of their odds.
const STEPS: i32 = 600;

/// Expected number of people who are unique among `population`: K β^α. `None` without a solution;
/// of several the largest.
pub(super) fn uniques(sizes: &Sizes, population: u64) -> Option<f64> {
    let fraction = sizes.people as f64 / population as f64;
    let (single, pairs) = (sizes.classes_of(1) as f64, sizes.classes_of(2) as f64);
    let classes = classes_outside(sizes, fraction)?;
    solve(classes, fraction, single, pairs).into_iter().filter(|found| *found <= population as f64).reduce(f64::max)
}

/// The number of classes outside.
fn classes_outside(sizes: &Sizes, q: f64) -> Option<f64> {
    let sum = |of: &dyn Fn(f64) -> f64| sizes.by_size.iter().map(|&(i, s)| s as f64 * of(i as f64)).sum::<f64>();
    let first =
        sum(&|i| i * q * q * (1.0 - q * q).powf(i - 1.0)) / sum(&|i| (1.0 - q).powf(i) * ((1.0 + q).powf(i) - 1.0));
    let second = sum(&|i| (1.0 - q).powf(i)) / sum(&|i| i * q * (1.0 - q).powf(i - 1.0));
    let classes = sizes.classes as f64 + sizes.classes_of(1) as f64 * first * second * second;
    classes.is_finite().then_some(classes)
}

/// K β^α for every α > 0 and 0 < β < 1 that explain so many classes of one and of two.
fn solve(classes: f64, fraction: f64, single: f64, pairs: f64) -> Vec<f64> {
    if single <= 0.0 || pairs <= 0.0 {
        return Vec::new();
    }
    let ratio = pairs / single;
    // For each β the ratio of the two equations is a quadratic equation for α with one positive root:
    // nα² + (2 − n − Cn) α − C (1 − n) = 0, C = 2 (s₂/s₁)(1 − n) / (π (1 − β)).
    let alpha = |beta: f64| {
        let n = (1.0 - fraction) * (1.0 - beta);
        let c = 2.0 * ratio * (1.0 - n) / (fraction * (1.0 - beta));
        let (b, rest) = (2.0 - n - c * n, c * (1.0 - n));
        let root = (b * b + 4.0 * n * rest).sqrt();
        if b > 0.0 { 2.0 * rest / (b + root) } else { (root - b) / (2.0 * n) }
    };
    let off = |beta: f64| {
        let (n, alpha) = ((1.0 - fraction) * (1.0 - beta), alpha(beta));
        classes * fraction * (beta / (1.0 - n)).powf(alpha) * (1.0 - n + alpha * n) / (1.0 - n) - single
    };
    let beta = |step: i32| 1.0 / (1.0 + (-f64::from(step) * 20.0 / f64::from(STEPS / 2)).exp());
    let mut found = Vec::new();
    for step in -STEPS / 2..STEPS / 2 {
        let (mut low, mut high) = (beta(step), beta(step + 1));
        let rising = off(high) > 0.0;
        if (off(low) > 0.0) == rising || !off(low).is_finite() || !off(high).is_finite() {
            continue;
        }
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if (off(middle) > 0.0) == rising { high = middle } else { low = middle }
        }
        found.push(classes * low.powf(alpha(low)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classes of one and of two in a sample, summed over the classes outside.
    fn seen(classes: f64, alpha: f64, beta: f64, fraction: f64) -> (f64, f64) {
        let (mut one, mut two) = (0.0, 0.0);
        let mut share = beta.powf(alpha);
        for j in 1..4000 {
            let size = f64::from(j);
            one += share * size * fraction * (1.0 - fraction).powf(size - 1.0);
            two += share * size * (size - 1.0) / 2.0 * fraction.powi(2) * (1.0 - fraction).powf(size - 2.0);
            share *= (alpha + size - 1.0) / size * (1.0 - beta);
        }
        (classes * one, classes * two)
    }

    #[test]
    fn what_the_model_made_is_found_again() {
        for (alpha, beta, fraction) in [(0.5, 0.2, 0.1), (2.0, 0.4, 0.3), (0.1, 0.01, 0.05), (1.0, 0.7, 0.6)] {
            let (single, pairs) = seen(1000.0, alpha, beta, fraction);
            let found = solve(1000.0, fraction, single, pairs);
            let truth = 1000.0 * beta.powf(alpha);
            assert!(found.iter().any(|f| (f - truth).abs() < 1e-5 * truth), "{found:?} {truth}");
        }
        assert!(solve(10.0, 0.1, 0.0, 3.0).is_empty() && solve(10.0, 0.1, 3.0, 0.0).is_empty());
    }
}
