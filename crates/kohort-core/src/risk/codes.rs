//! How many patients share what is known of one: some of their codes, or all, and the quasi-identifiers beside them.

use crate::codes::Records;
use crate::random::Randomness;

/// Patients of whom so many codes are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CodesKnown {
    /// The number of codes that are known; `None`: all of them.
    pub codes: Option<usize>,
    /// Patients who were asked about: those with that many codes, or as many of them as were drawn.
    pub patients: u64,
    /// Those of them whose codes nobody else has.
    pub unique: u64,
    /// Those of them whose codes fewer than k patients have.
    pub fewer_than_k: u64,
    /// The mean of 1 ÷ patients with these codes.
    pub mean: f64,
    /// The highest of them.
    pub max: f64,
}

/// Patients drawn for each number of codes.
const SAMPLE: usize = 20_000;

/// For 1 to 5 codes of a patient, drawn at random, and for all: how many patients have them, and the same
/// quasi-identifiers where there are any.
///
/// Draws some patients where there are many; the draw depends on the data alone.
pub fn codes_known(records: &Records, k: u64) -> Vec<CodesKnown> {
    let mut postings: Vec<Vec<u32>> = records.supports().iter().map(|&n| Vec::with_capacity(n as usize)).collect();
    for (r, record) in (0..).zip(records.iter()) {
        record.iter().for_each(|&code| postings[code as usize].push(r));
    }
    let mut random = Randomness::named("patients with known codes");
    let mut risks = Vec::new();
    for known in [Some(1), Some(2), Some(3), Some(4), Some(5), None] {
        let mut risk = CodesKnown { codes: known, patients: 0, unique: 0, fewer_than_k: 0, mean: 0.0, max: 0.0 };
        let long = |r: &u32| records.get(*r as usize).len() >= known.unwrap_or(1);
        let mut people: Vec<u32> = (0..records.len() as u32).filter(long).collect();
        random.draw_to_front(&mut people, SAMPLE);
        for &person in people.iter().take(SAMPLE) {
            let mut codes = records.get(person as usize).to_vec();
            if let Some(n) = known {
                random.draw_to_front(&mut codes, n);
                codes.truncate(n);
            }
            codes.sort_unstable_by_key(|&code| postings[code as usize].len());
            let has = |r: &&u32| codes[1..].iter().all(|code| records.get(**r as usize).binary_search(code).is_ok());
            let alike = |r: &&u32| records.tuple(**r as usize) == records.tuple(person as usize);
            let same = postings[codes[0] as usize].iter().filter(alike).filter(has).count() as u64;
            risk.patients += 1;
            risk.unique += u64::from(same == 1);
            risk.fewer_than_k += u64::from(same < k);
            risk.mean += 1.0 / same as f64;
            risk.max = risk.max.max(1.0 / same as f64);
        }
        risk.mean /= risk.patients.max(1) as f64;
        risks.push(risk);
    }
    risks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_shares_all_codes_is_not_unique() {
        let records = Records::from_texts([vec!["a", "b"], vec!["a", "b"], vec!["a", "b", "c"], vec!["d"]]);
        let risks = codes_known(&records, 3);
        let all = risks[5];
        // a b is in three records, a b c in one, d in one.
        assert_eq!((all.patients, all.unique, all.fewer_than_k), (4, 2, 2));
        assert_eq!((risks[2].patients, risks[2].unique, risks[3].patients), (1, 1, 0));
    }
}
