//! Zayatz 1991: how likely a class of one in the sample is a class of one outside, by Bayes, with
//! the sample's own class sizes standing for those of the population.

use super::Sizes;

/// Expected number of people who are unique in the population.
///
/// P(F = 1 | f = 1) = s₁ P(f = 1 | F = 1) / Σⱼ sⱼ P(f = 1 | F = j), f hypergeometric; uniques are
/// s₁ · P · N / n.
pub(super) fn uniques(sizes: &Sizes, population: u64) -> f64 {
    let (sample, all) = (sizes.people as f64, population as f64);
    let single = sizes.classes_of(1) as f64;
    if single == 0.0 {
        return 0.0;
    }
    // P(f = 1 | F = j) over P(f = 1 | F = 1): j · Π (N − n − i + 1) / (N − i), i < j.
    let (mut sum, mut product, mut at) = (0.0, 1.0f64, 1);
    for &(size, classes) in &sizes.by_size {
        while at < size && product > 0.0 {
            product *= ((all - sample - at as f64 + 1.0) / (all - at as f64)).max(0.0);
            at += 1;
        }
        sum += classes as f64 * size as f64 * product;
    }
    single * (single / sum) * all / sample
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, with binomials.
    fn slow(sizes: &Sizes, population: u64) -> f64 {
        let choose =
            |n: u64, k: u64| if k > n { 0.0 } else { (0..k).map(|i| (n - i) as f64 / (k - i) as f64).product() };
        let once = |j: u64| -> f64 {
            let (n, all) = (sizes.people, population);
            j as f64 * if all < j { 0.0 } else { choose(all - j, n - 1) } / choose(all, n)
        };
        let single = sizes.classes_of(1) as f64;
        let sum: f64 = sizes.by_size.iter().map(|&(j, s)| s as f64 * once(j)).sum();
        single * (single * once(1) / sum) * population as f64 / sizes.people as f64
    }

    #[test]
    fn it_is_what_bayes_says() {
        for (sizes, population) in
            [(vec![1, 1, 1, 2, 2, 5], 40u64), (vec![1, 3, 3, 9], 17), (vec![1; 7], 9), (vec![1, 1, 2, 30], 35)]
        {
            let sizes = Sizes::of(&sizes);
            let (fast, slow) = (uniques(&sizes, population), slow(&sizes, population));
            assert!((fast - slow).abs() < 1e-9 * slow, "{fast} {slow}");
        }
        // Everybody is in the sample: what is unique there is unique.
        assert_eq!(uniques(&Sizes::of(&[1, 1, 4]), 6), 2.0);
        assert_eq!(uniques(&Sizes::of(&[2, 4]), 60), 0.0);
    }
}
