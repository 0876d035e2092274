//! Finds the patients who match what is known: by lists of the patients with a value, or bitmaps where many have it,
//! and each candidate's own counts.

use crate::parallel;
use crate::policy::PowerRule;
use crate::ragged::{Bounds, Ragged};
use crate::random::Randomness;
use hashbrown::HashMap;

/// The labels of one event column, by patient.
pub(super) struct PatientLabels {
    labels: Ragged<u32>,
    /// Distinct labels of a patient, ascending, each with how often it occurs.
    counts: Ragged<(u32, u32)>,
}

impl PatientLabels {
    /// Takes labels in the order of their patients; `bounds` tells whose they are.
    pub(super) fn new(bounds: Bounds, labels: Vec<u32>) -> PatientLabels {
        let labels = Ragged::new(bounds, labels);
        let mut counts = Ragged::default();
        let mut own = Vec::new();
        for of_patient in labels.iter() {
            own.clear();
            own.extend_from_slice(of_patient);
            own.sort_unstable();
            counts.push(own.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)));
        }
        PatientLabels { labels, counts }
    }

    pub(super) fn of_person(&self, person: usize) -> &[u32] {
        self.labels.get(person)
    }

    pub(super) fn number(&self, person: usize) -> usize {
        self.of_person(person).len()
    }

    pub(super) fn counts_of(&self, person: usize) -> &[(u32, u32)] {
        self.counts.get(person)
    }

    pub(super) fn people(&self) -> usize {
        self.labels.len()
    }

    /// The number behind the last label.
    pub(super) fn labels_end(&self) -> u32 {
        self.labels.values().iter().max().map_or(0, |last| last + 1)
    }

    /// Returns how often a patient has a label.
    pub(super) fn count(&self, person: usize, label: u32) -> u32 {
        let own = self.counts_of(person);
        own.binary_search_by_key(&label, |c| c.0).map_or(0, |at| own[at].1)
    }
}

/// Returns how many values of each patient an adversary knows, by equation 1 or the same for all.
pub(super) fn powers(labels: &PatientLabels, p_max: usize, rule: PowerRule) -> Vec<u8> {
    let known = |number: usize, raw: f64| number.min(p_max).min(raw.ceil() as usize) as u8;
    let people = 0..labels.people();
    if rule == PowerRule::Fixed {
        return people.map(|p| known(labels.number(p), p_max as f64)).collect();
    }
    // The number of events counts no further than two standard deviations above its mean.
    let numbers: Vec<f64> = people.clone().map(|p| labels.number(p) as f64).filter(|n| *n > 0.0).collect();
    let mean = numbers.iter().sum::<f64>() / numbers.len().max(1) as f64;
    let squares = numbers.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / numbers.len().max(1) as f64;
    let most = mean + 2.0 * squares.sqrt();
    let quotient = |p: usize| {
        let n = labels.number(p) as u64;
        let alike: u64 = labels.counts_of(p).iter().map(|&(_, c)| u64::from(c) * (u64::from(c) - 1)).sum();
        let pairs = n * n.saturating_sub(1);
        (pairs > alike).then(|| (n as f64).min(most) * pairs as f64 / (pairs - alike) as f64)
    };
    let quotients: Vec<Option<f64>> = people.map(quotient).collect();
    let largest = quotients.iter().flatten().fold(0f64, |a, &b| a.max(b));
    let p_max = p_max as f64;
    let raw = |q: Option<f64>| q.map_or(p_max, |q| 1.0 + (p_max - 1.0) * (q / largest));
    quotients.iter().enumerate().map(|(p, &q)| known(labels.number(p), raw(q))).collect()
}

/// So many of a patient's labels, drawn without replacement: each with how often it was drawn.
pub(super) fn draw(own: &[u32], take: usize, random: &mut Randomness) -> Vec<(u32, u32)> {
    let mut drawn: Vec<u32> = if take >= own.len() {
        own.to_vec()
    } else {
        let mut places: Vec<usize> = Vec::with_capacity(take);
        while places.len() < take {
            let place = random.below(own.len() as u64) as usize;
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places.into_iter().map(|place| own[place]).collect()
    };
    drawn.sort_unstable();
    drawn.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect()
}

/// Up to so many candidates are looked at one by one; beyond, bitmaps of all facts are intersected.
const FEW: usize = 256;

/// Finds who has what is known.
pub(super) struct Finder<'a> {
    pub(super) columns: &'a [PatientLabels],
    class_of: &'a [u32],
    /// One entry per class: patients in it.
    members: Vec<Vec<u32>>,
    /// One entry per column: (class, label, patient), ascending.
    holders: Vec<Vec<(u32, u32, u32)>>,
    /// A bit for each member of the class, by column and first place in `holders`, where many of them have the label.
    bitmaps: HashMap<(usize, usize), Vec<u64>, foldhash::fast::RandomState>,
}

impl<'a> Finder<'a> {
    /// Lists the holders of all columns, on several threads.
    pub(super) fn new(columns: &'a [PatientLabels], class_of: &'a [u32], threads: usize) -> Finder<'a> {
        let classes = class_of.iter().max().map_or(0, |c| *c as usize + 1);
        let mut members = vec![Vec::new(); classes];
        (0u32..).zip(class_of).for_each(|(p, &class)| members[class as usize].push(p));
        let mut place = vec![0u32; class_of.len()];
        members.iter().for_each(|own| (0u32..).zip(own).for_each(|(at, &p)| place[p as usize] = at));
        let holders = parallel::map(threads, columns.len(), |column| holders(&columns[column], &members));
        let mut bitmaps = HashMap::default();
        for (column, all) in holders.iter().enumerate() {
            let mut start = 0;
            for run in all.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
                let class = members[run[0].0 as usize].len();
                // A bitmap takes no more room than the list: eight bytes for each holder at most.
                if run.len() > FEW && run.len() >= class / 64 {
                    let mut bits = vec![0u64; class.div_ceil(64)];
                    run.iter()
                        .for_each(|own| bits[place[own.2 as usize] as usize / 64] |= 1 << (place[own.2 as usize] % 64));
                    bitmaps.insert((column, start), bits);
                }
                start += run.len();
            }
        }
        Finder { columns, class_of, members, holders, bitmaps }
    }

    pub(super) fn people(&self) -> usize {
        self.class_of.len()
    }

    /// Returns who of a class has a label: the first place among the holders, and the list.
    fn holders(&self, column: usize, class: u32, label: u32) -> (usize, &[(u32, u32, u32)]) {
        let all = &self.holders[column];
        let start = all.partition_point(|&(c, l, _)| (c, l) < (class, label));
        let end = start + all[start..].partition_point(|&(c, l, _)| (c, l) == (class, label));
        (start, &all[start..end])
    }

    /// Returns whether fewer than k patients look like this one and have all these facts: column, label, copies.
    pub(super) fn fewer_than(&self, k: u64, person: usize, facts: &[(usize, u32, u32)]) -> bool {
        let class = self.class_of[person];
        let has = |other: u32, &(column, label, copies): &(usize, u32, u32)| {
            self.columns[column].count(other as usize, label) >= copies
        };
        let lists: Vec<_> = facts.iter().map(|&(column, label, _)| self.holders(column, class, label)).collect();
        let enough = |candidates: &mut dyn Iterator<Item = u32>| {
            let matching = candidates.filter(|&other| facts.iter().all(|fact| has(other, fact)));
            matching.take(k as usize).count() as u64 == k
        };
        let bitmaps = || -> Option<Vec<&Vec<u64>>> {
            facts.iter().zip(&lists).map(|(fact, list)| self.bitmaps.get(&(fact.0, list.0))).collect()
        };
        let members = &self.members[class as usize];
        !match lists.iter().map(|list| list.1).min_by_key(|list| list.len()) {
            None => enough(&mut members.iter().copied()),
            Some(list) if (list.len() as u64) < k => false,
            Some(list) if list.len() <= FEW => enough(&mut list.iter().map(|&(_, _, other)| other)),
            Some(list) => match bitmaps() {
                Some(bitmaps) => enough(&mut in_all(&bitmaps).map(|at| members[at])),
                None => enough(&mut list.iter().map(|&(_, _, other)| other)),
            },
        }
    }
}

/// The holders of the labels of a column: (class, label, patient), ascending. Patients come in order, so that those of
/// a class are counted by label and put in place, which takes less than sorting them.
fn holders(column: &PatientLabels, members: &[Vec<u32>]) -> Vec<(u32, u32, u32)> {
    let mut all = Vec::with_capacity(column.counts.values().len());
    // By label: how many of the class have it, then where the next one comes.
    let mut place = vec![0usize; column.labels_end() as usize];
    let mut labels = Vec::new();
    for (class, own) in (0u32..).zip(members) {
        let each = || own.iter().flat_map(|&p| column.counts_of(p as usize).iter().map(move |&(label, _)| (label, p)));
        labels.clear();
        for (label, _) in each() {
            if place[label as usize] == 0 {
                labels.push(label);
            }
            place[label as usize] += 1;
        }
        labels.sort_unstable();
        let mut end = all.len();
        for &label in &labels {
            end += std::mem::replace(&mut place[label as usize], end);
        }
        all.resize(end, (class, 0, 0));
        for (label, p) in each() {
            all[place[label as usize]] = (class, label, p);
            place[label as usize] += 1;
        }
        labels.iter().for_each(|&label| place[label as usize] = 0);
    }
    all
}

/// The places that are set in all bitmaps, ascending.
fn in_all<'a>(bitmaps: &'a [&'a Vec<u64>]) -> impl Iterator<Item = usize> + 'a {
    let words = bitmaps.first().map_or(0, |own| own.len());
    let word = move |at: usize| {
        let mut bits = u64::MAX;
        for own in bitmaps {
            bits &= own[at];
            if bits == 0 {
                break;
            }
        }
        bits
    };
    (0..words).flat_map(move |at| {
        let mut bits = word(at);
        std::iter::from_fn(move || {
            let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(at * 64 + bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix;

    /// Against every patient, one by one, where some labels are rare and others have bitmaps.
    #[test]
    fn candidates_are_found_by_lists_and_by_bitmaps() {
        let mut random = SplitMix::new(3);
        let people = 3000;
        let ends: Vec<usize> = (1..=people).map(|p| 2 * p).collect();
        let mut column = |labels: u64| {
            let all: Vec<u32> =
                (0..2 * people).map(|_| ((random.bits() % labels) * (random.bits() % 2)) as u32).collect();
            PatientLabels::new(Bounds::from_ends(ends.clone()), all)
        };
        let columns = [column(3), column(40), column(900)];
        let class_of: Vec<u32> = (0..people as u32).map(|p| p % 2).collect();
        let finder = Finder::new(&columns, &class_of, 2);
        assert!(finder.bitmaps.len() > 6);
        for person in (0..people).step_by(7) {
            for known in [&[0][..], &[1], &[0, 1], &[0, 1, 2], &[]] {
                let facts: Vec<(usize, u32, u32)> = known
                    .iter()
                    .flat_map(|&c| columns[c].counts_of(person).iter().map(move |&(l, n)| (c, l, n)))
                    .collect();
                let fits = |o: &usize| {
                    class_of[*o] == class_of[person] && facts.iter().all(|&(c, l, n)| columns[c].count(*o, l) >= n)
                };
                let matching = (0..people).filter(fits).count() as u64;
                for k in [1, 2, 5, matching, matching + 1, 600] {
                    assert_eq!(finder.fewer_than(k.max(1), person, &facts), matching < k.max(1), "{facts:?}, {k}");
                }
            }
        }
    }
}
