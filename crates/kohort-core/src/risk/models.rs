//! Three attackers: the prosecutor knows that a person is in the file, the journalist does not and
//! looks for anybody, the marketer wants as many as possible.

use super::attacks::PeopleOutside;

/// Describes how likely somebody is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reidentification {
    /// The highest probability of any person.
    pub max: f64,
    /// The mean over people.
    pub mean: f64,
    /// The share of people whose probability is above 1/k.
    pub above: f64,
}

/// The risk to the people of a file, by attacker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Models {
    /// 1 / people of the class in the file.
    pub prosecutor: Reidentification,
    /// 1 / people of the class outside, where something is known of them.
    pub journalist: Option<Reidentification>,
    /// The share of the file that is linked correctly if everybody in it is looked for: the mean of
    /// the journalist's, or of the prosecutor's where nothing is known of the people outside.
    pub marketer: f64,
}

/// The risk where classes have these sizes in the file and outside.
pub fn models(sizes: &[u64], k: u64, outside: Option<&PeopleOutside>) -> Models {
    let prosecutor = found(sizes.iter().map(|&f| (f, 1.0 / f as f64)), k);
    let journalist = outside.map(|outside| match outside {
        PeopleOutside::Counted(classes) => {
            found(classes.iter().map(|&(inside, all)| (inside, 1.0 / all.max(inside) as f64)), k)
        }
        PeopleOutside::Size(population) => {
            let people: u64 = sizes.iter().sum();
            let chances = expected_chances(sizes, people as f64 / (*population).max(people).max(1) as f64);
            found(sizes.iter().map(|&f| (f, chances[f as usize])), k)
        }
    });
    Models { prosecutor, journalist, marketer: journalist.unwrap_or(prosecutor).mean }
}

/// For each class: its people in the file, and the probability of each.
fn found(classes: impl Iterator<Item = (u64, f64)>, k: u64) -> Reidentification {
    let (mut people, mut above, mut sum, mut max) = (0u64, 0u64, 0.0, 0.0f64);
    for (inside, chance) in classes {
        people += inside;
        sum += inside as f64 * chance;
        max = max.max(chance);
        // 1/k itself is not above 1/k, however it was divided.
        above += if chance > (1.0 / k as f64) * (1.0 + 1e-12) { inside } else { 0 };
    }
    let people = people.max(1) as f64;
    Reidentification { max, mean: sum / people, above: above as f64 / people }
}

/// Returns for each size f of a class in the file the expected 1/F of its size outside, where the file is a random
/// share p of the population and F negative binomial given f (Benedetti and Franconi 1998): p ∫₀¹ w^(f−1) / (p + (1−p)
/// w) dw.
///
/// With I(f) that integral, I(1) = ln(1/p) / (1−p) and p I(f) + (1−p) I(f+1) = 1/f: upwards where
/// p ≤ ½, downwards from far away where p > ½, so that errors shrink.
fn expected_chances(sizes: &[u64], p: f64) -> Vec<f64> {
    let most = sizes.iter().copied().max().unwrap_or(0) as usize;
    let q = 1.0 - p;
    if q <= 0.0 {
        return (0..=most).map(|f| 1.0 / f.max(1) as f64).collect();
    }
    let mut integral = vec![0.0; most + 202];
    if p <= 0.5 {
        integral[1] = -p.ln() / q;
        for f in 1..=most {
            integral[f + 1] = (1.0 / f as f64 - p * integral[f]) / q;
        }
    } else {
        integral[most + 201] = 1.0 / (most + 201) as f64;
        for f in (1..most + 201).rev() {
            integral[f] = (1.0 / f as f64 - q * integral[f + 1]) / p;
        }
    }
    integral.truncate(most + 1);
    integral.iter().map(|i| (p * i).clamp(0.0, 1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ C(h−1, f−1) p^f q^(h−f) / h over h ≥ f.
    fn slow(f: u64, p: f64) -> f64 {
        let (mut term, mut sum) = (p.powi(f as i32), 0.0);
        for h in f..f + 400_000 {
            sum += term / h as f64;
            term *= (1.0 - p) * h as f64 / (h + 1 - f) as f64;
        }
        sum
    }

    #[test]
    fn the_expected_chance_is_its_sum() {
        for p in [0.001, 0.1, 0.5, 0.51, 0.9, 0.999] {
            let chances = expected_chances(&[40], p);
            for f in [1, 2, 3, 10, 40] {
                let (fast, slow) = (chances[f as usize], slow(f, p));
                assert!((fast - slow).abs() < 1e-9 + 1e-6 * slow, "f = {f}, p = {p}: {fast} {slow}");
            }
        }
        // A tenth of the population, alone in the file: (p/q) ln(1/p).
        assert!((expected_chances(&[1], 0.1)[1] - 0.1 / 0.9 * 10f64.ln()).abs() < 1e-12);
        assert_eq!(expected_chances(&[4], 1.0)[4], 0.25);
    }

    #[test]
    fn attackers_differ_by_what_they_know() {
        let sizes = [1, 1, 2, 6];
        let alone = models(&sizes, 5, None);
        assert_eq!(alone.prosecutor, Reidentification { max: 1.0, mean: 0.4, above: 0.4 });
        assert_eq!((alone.journalist, alone.marketer), (None, 0.4));
        let counted = PeopleOutside::Counted(vec![(1, 4), (1, 10), (8, 20)]);
        let found = models(&sizes, 5, Some(&counted));
        assert_eq!(found.journalist.unwrap().max, 0.25);
        assert!((found.marketer - (0.25 + 0.1 + 8.0 / 20.0) / 10.0).abs() < 1e-12);
        assert_eq!(found.journalist.unwrap().above, 0.1);
        let all = models(&sizes, 5, Some(&PeopleOutside::Size(10)));
        assert_eq!(all.journalist, Some(alone.prosecutor));
        // The more there are outside, the harder it is.
        let more = models(&sizes, 5, Some(&PeopleOutside::Size(1000))).journalist.unwrap();
        assert!(more.max < 0.1 && more.mean < all.marketer);
    }

    #[test]
    fn a_class_of_k_is_not_above_the_threshold() {
        for k in 2..200 {
            assert_eq!(models(&[k, 3 * k], k, None).prosecutor.above, 0.0);
            assert!(models(&[k - 1, k], k, None).prosecutor.above > 0.0);
        }
    }
}
