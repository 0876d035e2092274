//! Which events of which patients are there: all of them, or those that are left.

use kohort_core::events::Histories;

/// The patients with events, those who look alike beside one another.
pub(crate) struct People {
    /// By place: the patient's number among the histories.
    pub(crate) patient: Vec<u32>,
}

impl People {
    /// Sorts by the patient-level values, coarse to fine, so that a class at any node is a few runs.
    pub(crate) fn of(histories: &Histories) -> People {
        let mut patient: Vec<u32> =
            (0..histories.patients() as u32).filter(|&p| !histories.events_of(p as usize).is_empty()).collect();
        let most = histories.patient.iter().map(|c| c.hierarchy.levels.len()).max().unwrap_or(0);
        let path = |p: u32| {
            let mut path = Vec::with_capacity(most * histories.patient.len());
            for depth in 0..most {
                for column in &histories.patient {
                    let levels = column.hierarchy.levels.len();
                    if depth < levels {
                        path.push(column.label(levels - 1 - depth, p as usize));
                    }
                }
            }
            path
        };
        patient.sort_by_cached_key(|&p| (path(p), p));
        People { patient }
    }

    pub(crate) fn len(&self) -> usize {
        self.patient.len()
    }
}

/// Events by place of their patient.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    ends: Vec<u32>,
    events: Vec<u32>,
}

impl Held {
    /// The events of which `keep` is true.
    pub(crate) fn of(histories: &Histories, people: &People, keep: impl Fn(usize) -> bool) -> Held {
        let (mut ends, mut events) = (Vec::with_capacity(people.len()), Vec::new());
        for &patient in &people.patient {
            events.extend(histories.events_of(patient as usize).filter(|&e| keep(e)).map(|e| e as u32));
            ends.push(events.len() as u32);
        }
        Held { ends, events }
    }

    /// So many events of each patient.
    #[cfg(test)]
    pub(crate) fn with_numbers(numbers: &[u32]) -> Held {
        let mut all = 0;
        let ends: Vec<u32> = numbers
            .iter()
            .map(|n| {
                all += n;
                all
            })
            .collect();
        Held { ends, events: (0..all).collect() }
    }

    /// The events of the patient at a place.
    pub(crate) fn of_person(&self, person: usize) -> &[u32] {
        let start = if person == 0 { 0 } else { self.ends[person - 1] as usize };
        &self.events[start..self.ends[person] as usize]
    }

    /// How many places there are.
    pub(crate) fn people(&self) -> usize {
        self.ends.len()
    }

    /// How many events there are.
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// The places of patients who have an event.
    pub(crate) fn with_events(&self) -> Vec<u32> {
        (0..self.people() as u32).filter(|&p| !self.of_person(p as usize).is_empty()).collect()
    }
}

/// Counts the labels of one patient at a time, without clearing more than was counted.
pub(crate) struct Counter {
    counts: Vec<u32>,
    seen: Vec<u32>,
}

impl Counter {
    pub(crate) fn new(labels: usize) -> Counter {
        Counter { counts: vec![0; labels], seen: Vec::new() }
    }

    /// Hands out each label with how often it came.
    pub(crate) fn count(&mut self, labels: impl Iterator<Item = u32>, mut each: impl FnMut(u32, u32)) {
        for label in labels {
            if self.counts[label as usize] == 0 {
                self.seen.push(label);
            }
            self.counts[label as usize] += 1;
        }
        for label in self.seen.drain(..) {
            each(label, std::mem::take(&mut self.counts[label as usize]));
        }
    }
}
