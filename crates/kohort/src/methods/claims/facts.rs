//! What is known of draws, and whether fewer than k patients have it.

use super::classes::Classes;
use super::draws::Draws;
use super::held::Held;
use super::index::{Index, Item};
use super::labels::Labels;

/// What of the draws is known, as items of an index.
pub(crate) struct Facts {
    ends: Vec<u32>,
    items: Vec<u32>,
    /// Draws in which a known value is not left: a strict matcher finds nobody.
    pub(crate) missing: Vec<bool>,
}

impl Facts {
    /// `stream`: which of a draw's events; `power` is by place. What is known is drawn from `held.0`;
    /// what can be found is `held.1`.
    pub(crate) fn of(
        labels: &Labels,
        stream: usize,
        draws: &Draws,
        power: &[u8],
        index: &Index,
        held: (&Held, &Held),
    ) -> Facts {
        let label = |&e: &u32| labels.of[e as usize];
        let mut facts = Facts { ends: Vec::new(), items: Vec::new(), missing: vec![false; draws.len()] };
        let mut known: Vec<u32> = Vec::new();
        for draw in 0..draws.len() {
            let person = draws.person[draw] as usize;
            let events = draws.events(draw, stream);
            // Who lost no event has all that is known of them.
            let left = held.1.of_person(person);
            let whole = left.len() == held.0.of_person(person).len();
            known.clear();
            known.extend(events.iter().take(usize::from(power[person])).map(label));
            known.sort_unstable();
            for run in known.chunk_by(|a, b| a == b) {
                let copies = match whole {
                    true => run.len(),
                    // As many of the known copies as are left.
                    false => left.iter().filter(|e| label(e) == run[0]).take(run.len()).count(),
                };
                facts.missing[draw] |= copies < run.len();
                if copies > 0 {
                    facts.items.push(index.number(run[0], copies));
                }
            }
            facts.ends.push(facts.items.len() as u32);
        }
        facts
    }

    fn get(&self, draw: usize) -> &[u32] {
        let start = if draw == 0 { 0 } else { self.ends[draw - 1] as usize };
        &self.items[start..self.ends[draw] as usize]
    }
}

/// Whether fewer than k patients match a draw.
pub(crate) fn is_hit(classes: &Classes, known: &[(&Facts, &Index)], draws: &Draws, draw: usize, k: u64) -> bool {
    let mut items: Vec<&Item> = Vec::with_capacity(64);
    for (facts, index) in known {
        items.extend(facts.get(draw).iter().map(|&number| index.at(number)));
    }
    classes.fewer_than(k, classes.of[draws.person[draw] as usize], &mut items)
}
