//! Draws of the attacker's knowledge: a patient, and some of their events.

use super::patient_events::PatientEvents;
use kohort_core::ragged::Ragged;
use kohort_core::random::Randomness;
use std::ops::Range;

/// The patients of whom draws are made.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Who<'a> {
    /// This number of draws from all of these patients, with replacement.
    Any(&'a [u32], usize),
    /// This number of draws of each of these patients.
    Each(&'a [u32], usize),
}

impl Who<'_> {
    /// The number of draws.
    pub(crate) fn draws(self) -> usize {
        match self {
            Who::Any(_, count) => count,
            Who::Each(people, count) => people.len() * count,
        }
    }
}

/// Draws: a patient, and by stream the first events of a random order.
pub(crate) struct Draws {
    /// For each draw: the patient's place.
    pub(crate) person: Vec<u32>,
    /// The events of each draw, by stream: one for each event column, or one for the whole events of a table.
    streams: Vec<Ragged<u32>>,
}

impl Draws {
    /// The draws of these numbers, of events in `events`; `streams` are the tables they are drawn from, and `most` is how many of a patient's events are
    /// drawn in a stream. Each draw has its own randomness, so that
    /// the result does not depend on which thread makes it.
    pub(crate) fn of(
        events: &PatientEvents,
        who: Who,
        numbers: Range<usize>,
        streams: &[usize],
        most: impl Fn(usize, usize) -> usize,
        seed: u64,
    ) -> Draws {
        let mut draws = Draws { person: Vec::new(), streams: vec![Ragged::default(); streams.len()] };
        for number in numbers {
            let mut random = Randomness::numbered(seed, number as u64);
            let person = match who {
                Who::Any(from, _) => from[random.below(from.len() as u64) as usize],
                Who::Each(people, count) => people[number / count],
            };
            draws.person.push(person);
            for (s, stream) in draws.streams.iter_mut().enumerate() {
                let own = events.of_person(streams[s], person as usize);
                stream.push_with(|drawn| {
                    let start = drawn.len();
                    random.choose_few(own.len() as u64, most(s, person as usize), drawn);
                    drawn[start..].iter_mut().for_each(|at| *at = own[*at as usize]);
                });
            }
        }
        draws
    }

    /// Every choice of a patient's events in every stream, each once: all are equally likely.
    pub(crate) fn every(
        events: &PatientEvents,
        people: &[u32],
        streams: &[usize],
        known: impl Fn(usize, usize) -> usize,
    ) -> Draws {
        let mut draws = Draws { person: Vec::new(), streams: vec![Ragged::default(); streams.len()] };
        for &person in people {
            let of_stream = |(stream, &table): (usize, &usize)| {
                choices(events.of_person(table, person as usize), known(stream, person as usize))
            };
            let choices: Vec<Vec<Vec<u32>>> = streams.iter().enumerate().map(of_stream).collect();
            let all: usize = choices.iter().map(Vec::len).product();
            for mut number in 0..all {
                draws.person.push(person);
                for (stream, choices) in draws.streams.iter_mut().zip(&choices) {
                    stream.push(choices[number % choices.len()].iter().copied());
                    number /= choices.len();
                }
            }
        }
        draws
    }

    pub(crate) fn len(&self) -> usize {
        self.person.len()
    }

    /// The events of a stream that are known.
    pub(crate) fn events(&self, draw: usize, stream: usize) -> &[u32] {
        self.streams[stream].get(draw)
    }
}

/// Every choice of so many events.
fn choices(events: &[u32], take: usize) -> Vec<Vec<u32>> {
    match events.split_first() {
        _ if take == 0 => vec![Vec::new()],
        None => Vec::new(),
        Some((&first, rest)) => {
            let with = choices(rest, take - 1).into_iter().map(|mut own| {
                own.insert(0, first);
                own
            });
            let without = if rest.len() >= take { choices(rest, take) } else { Vec::new() };
            with.chain(without).collect()
        }
    }
}

/// The number of choices of so many of n events; anything above `most` if there are more.
pub(crate) fn number_of_choices(n: usize, take: usize, most: u64) -> u64 {
    let mut all = 1u64;
    for i in 0..take.min(n.saturating_sub(take)) as u64 {
        all = all * (n as u64 - i) / (i + 1);
        if all > most {
            return u64::MAX;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_comes_once() {
        assert_eq!(choices(&[1, 2, 3], 2), [vec![1, 2], vec![1, 3], vec![2, 3]]);
        for n in 0..9usize {
            for take in 0..=n {
                let all = choices(&(0..n as u32).collect::<Vec<_>>(), take);
                let different: std::collections::BTreeSet<_> = all.iter().collect();
                assert_eq!((all.len(), different.len() as u64), (different.len(), number_of_choices(n, take, 1000)));
            }
        }
        assert_eq!(number_of_choices(100_000, 5, 1000), u64::MAX);
    }
}
