//! Marketer risk: what share of a file someone links correctly who has a list of the whole population.

/// The share of records linked correctly: the mean over records of 1 / people of their kind outside.
/// By class: records in the file, and people outside (never fewer than the records).
pub fn realized(classes: impl IntoIterator<Item = (u64, u64)>) -> f64 {
    let (mut records, mut links) = (0u64, 0f64);
    for (inside, outside) in classes {
        records += inside;
        if inside > 0 {
            links += inside as f64 / outside.max(inside) as f64;
        }
    }
    links / records.max(1) as f64
}

/// Computes its average over all samples of one size: exactly the number of classes over the number
/// of people, whatever the size of the sample.
pub fn expected(outside: &[u64]) -> f64 {
    let classes = outside.iter().filter(|f| **f > 0).count();
    classes as f64 / outside.iter().sum::<u64>().max(1) as f64
}

/// The paper's equation 2, for comparison: the expected number of classes in a sample of `n`, over
/// the number of people. It understates the risk (H-1); nothing is decided by it.
pub fn paper_eq2(outside: &[u64], n: u64) -> f64 {
    let all: u64 = outside.iter().sum();
    let absent = |class: u64| {
        if n + class > all {
            return 0.0;
        }
        let logs = (0..class).map(|i| (-(n as f64) / (all - i) as f64).ln_1p());
        logs.sum::<f64>().exp()
    };
    outside.iter().filter(|f| **f > 0).map(|&f| 1.0 - absent(f)).sum::<f64>() / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(outside: &[u64], n: u64, eq2: f64, truth: f64) {
        assert!((paper_eq2(outside, n) - eq2).abs() < 5e-5, "{}", paper_eq2(outside, n));
        assert!((expected(outside) - truth).abs() < 1e-9, "{}", expected(outside));
    }

    #[test]
    fn equation_2_and_the_truth() {
        check(&[3, 2, 1], 3, 0.375, 0.5);
        check(&[3, 2, 1], 6, 0.5, 0.5);
        check(&[1; 50], 5, 0.1, 1.0);
        let mixed = [[1; 10].to_vec(), [2; 10].to_vec(), [5; 6].to_vec(), vec![20]].concat();
        check(&mixed, 20, 0.1567, 0.3375);
        check(&mixed, 80, 0.3375, 0.3375);
    }

    /// The counterexample: over all samples of 3 of 6 people the realized risk is 0.5, not 0.375.
    #[test]
    fn the_realized_risk_is_on_average_the_expected_one() {
        let class_of = [0, 0, 0, 1, 1, 2];
        let outside = [3, 2, 1];
        let (mut sum, mut samples) = (0.0, 0);
        for mask in 0u32..64 {
            if mask.count_ones() == 3 {
                let mut inside = [0; 3];
                (0..6).filter(|i| mask >> i & 1 == 1).for_each(|i| inside[class_of[i]] += 1);
                sum += realized(inside.into_iter().zip(outside));
                samples += 1;
            }
        }
        assert!((sum / f64::from(samples) - expected(&outside)).abs() < 1e-12);
    }
}
