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
    /// By stream (one for each event column, or one for the whole events of a table), by draw: events.
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

    pub(crate) fn len(&self) -> usize {
        self.person.len()
    }

    /// The events of a stream that are known.
    pub(crate) fn events(&self, draw: usize, stream: usize) -> &[u32] {
        self.streams[stream].get(draw)
    }
}
