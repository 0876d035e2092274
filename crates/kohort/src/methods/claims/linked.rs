//! Known values that belong together: whole events, or two columns of events.
//!
//! # Example
//! An attacker knows that a patient had flu in March. Of the patients in the same class who have flu and an event in
//! March, only those match who had both in one event. The index of single values finds the candidates, and their
//! events are looked through.

use super::classes::PatientClasses;
use super::draws::Draws;
use super::index::{Index, RepeatedValue};
use super::patient_events::PatientEvents;

/// Columns of one table whose values are known together.
pub(crate) struct LinkedColumns {
    /// The table.
    pub(crate) table: usize,
    /// The positions of the columns among all event columns.
    pub(crate) columns: Vec<usize>,
}

/// Values that belong together, and how many of the patient's events are known to have them.
struct LinkedFact {
    /// The columns, each with its value. The value that the fewest patients have comes first, since it tells most
    /// events apart.
    values: Vec<(usize, u32)>,
    copies: usize,
}

/// The attacker's knowledge of linked columns, and the patients among whom they look.
pub(crate) struct LinkedMatch<'a, L: Fn(usize, u32) -> u32> {
    /// The knowledge: all of these sets of columns at once, at most one for each table.
    pub(crate) sets: &'a [LinkedColumns],
    /// The label of an event in a column.
    pub(crate) label: L,
    /// The events that knowledge is drawn from, and those among which patients can be found.
    pub(crate) events: (&'a PatientEvents, &'a PatientEvents),
    /// For each table and place: how many of the drawn events are known.
    pub(crate) power: &'a [Vec<u8>],
    /// For each event column: who has each value, up to as many times as can be known.
    pub(crate) index: &'a [&'a Index],
    pub(crate) classes: &'a PatientClasses,
    pub(crate) k: u64,
}

impl<L: Fn(usize, u32) -> u32> LinkedMatch<'_, L> {
    /// Returns whether fewer than k patients match what is left of a draw, and whether anything known is not left.
    /// The draw has a stream for each table.
    pub(crate) fn hit(&self, draws: &Draws, draw: usize) -> (bool, bool) {
        let person = draws.person[draw] as usize;
        let mut missing = false;
        let mut items: Vec<&RepeatedValue> = Vec::new();
        let mut facts: Vec<(&LinkedColumns, Vec<LinkedFact>)> = Vec::with_capacity(self.sets.len());
        for set in self.sets {
            let mut own = self.facts(set, draws.events(draw, set.table), person, &mut missing);
            for (at, &column) in set.columns.iter().enumerate() {
                let mut values: Vec<(u32, usize)> = own.iter().map(|fact| (fact.values[at].1, fact.copies)).collect();
                values.sort_unstable();
                for run in values.chunk_by(|a, b| a.0 == b.0) {
                    let copies = run.iter().map(|value| value.1).sum();
                    items.push(self.index[column].at(self.index[column].number(run[0].0, copies)));
                }
            }
            own.iter_mut().for_each(|fact| fact.values.sort_by_key(|value| self.people_with(value)));
            own.sort_by_key(|fact| fact.values.first().map(|value| self.people_with(value)));
            facts.push((set, own));
        }
        let has_all = |other: u32| {
            facts.iter().all(|(set, own)| {
                own.iter().all(|fact| self.count(set, &fact.values, other as usize, fact.copies) == fact.copies)
            })
        };
        (self.classes.fewer_with(self.k, self.classes.of[person], &mut items, has_all), missing)
    }

    /// The different values of the known events, each with how many events are known to have them and are left.
    fn facts(&self, set: &LinkedColumns, events: &[u32], person: usize, missing: &mut bool) -> Vec<LinkedFact> {
        let known = usize::from(self.power[set.table][person]);
        let (drawn, left) = self.events;
        let whole = drawn.of_person(set.table, person).len() == left.of_person(set.table, person).len();
        let mut facts: Vec<LinkedFact> = Vec::new();
        for &event in events.iter().take(known) {
            let values: Vec<(usize, u32)> =
                set.columns.iter().map(|&column| (column, (self.label)(column, event))).collect();
            match facts.iter_mut().find(|fact| fact.values == values) {
                Some(fact) => fact.copies += 1,
                None => facts.push(LinkedFact { values, copies: 1 }),
            }
        }
        if !whole {
            for fact in &mut facts {
                let left = self.count(set, &fact.values, person, fact.copies);
                *missing |= left < fact.copies;
                fact.copies = left;
            }
            facts.retain(|fact| fact.copies > 0);
        }
        facts
    }

    /// The number of patients who have a value.
    fn people_with(&self, &(column, value): &(usize, u32)) -> u32 {
        self.index[column].at(self.index[column].number(value, 1)).support()
    }

    /// The number of a patient's events with these values, counted up to `most`.
    fn count(&self, set: &LinkedColumns, values: &[(usize, u32)], person: usize, most: usize) -> usize {
        let events = self.events.1.of_person(set.table, person).iter();
        let has = |event: &&u32| values.iter().all(|&(column, value)| (self.label)(column, **event) == value);
        events.filter(has).take(most).count()
    }
}
