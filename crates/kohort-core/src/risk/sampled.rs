//! How easily people of a sample are found: by someone who does not know whether they are in it, and
//! by someone who does (P-5).

use crate::table::{Keys, Tuples};

/// Risk in a sample, for one set of known columns.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledRisk {
    /// The known columns, by place among the quasi-identifiers.
    pub set: Vec<usize>,
    /// 1/F, F the people of the class in the file that was sampled: the highest, and the mean over the sample.
    pub unknown: (f64, f64),
    /// 1/f, f the people of the class in the sample.
    pub known: (f64, f64),
    /// People of the sample who are alone there.
    pub unique: u64,
}

/// The people of the rows of a release, and the sample that each of them is in.
pub(crate) struct Drawn<'a> {
    /// One entry per row: its distinct tuple.
    pub(crate) tuple: &'a [u32],
    /// One entry per row: its person.
    pub(crate) unit: &'a [u32],
    /// One entry per row: its sample.
    pub(crate) sample: &'a [u32],
}

/// The risk of one sample's people, set by set. The first columns of the tuples are the quasi-identifiers.
pub(crate) fn sampled(tuples: &Tuples, drawn: &Drawn, sample: u32, sets: &[Vec<usize>]) -> Vec<SampledRisk> {
    let of_set = |set: &Vec<usize>| {
        let mut keys = Keys::new(set.len());
        let class: Vec<u32> = (0..tuples.len())
            .map(|t| keys.intern(&set.iter().map(|&q| tuples.code(t, q)).collect::<Vec<_>>()))
            .collect();
        let class_of = |row: usize| class[drawn.tuple[row] as usize];
        // Who has several rows in a class is one person of it.
        let people = |rows: &mut dyn Iterator<Item = usize>| -> Vec<(u32, u32)> {
            let mut people: Vec<(u32, u32)> = rows.map(|row| (class_of(row), drawn.unit[row])).collect();
            people.sort_unstable();
            people.dedup();
            people
        };
        let sizes = |people: &[(u32, u32)]| {
            let mut sizes = vec![0u64; keys.len()];
            people.iter().for_each(|p| sizes[p.0 as usize] += 1);
            sizes
        };
        let rows = 0..drawn.tuple.len();
        let all = sizes(&people(&mut rows.clone()));
        let own = people(&mut rows.filter(|&row| drawn.sample[row] == sample));
        let inside = sizes(&own);
        let risk = |sizes: &[u64]| {
            let of = |p: &(u32, u32)| 1.0 / sizes[p.0 as usize] as f64;
            let highest = own.iter().map(of).fold(0.0, f64::max);
            (highest, own.iter().map(of).sum::<f64>() / own.len().max(1) as f64)
        };
        SampledRisk {
            set: set.clone(),
            unknown: risk(&all),
            known: risk(&inside),
            unique: inside.iter().filter(|n| **n == 1).count() as u64,
        }
    };
    sets.iter().map(of_set).collect()
}
