//! Draws of what an adversary knows, and the share of patients they find among fewer than k.

use super::classes::Classes;
use super::held::{Held, People};
use super::index::{Index, Item};
use super::labels::Labels;
use super::lots::Lots;
use super::power::powers;
use kohort_core::histories::Histories;
use kohort_core::policy::{Power, PowerRule};
use kohort_core::release::wilson;

/// Hits among draws.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Draws in which fewer than k matched.
    pub hits: u64,
    /// Draws.
    pub draws: u64,
}

impl Estimate {
    /// The share of hits.
    pub fn share(self) -> f64 {
        self.hits as f64 / self.draws.max(1) as f64
    }

    /// Wilson's interval.
    pub fn interval(self, z: f64) -> (f64, f64) {
        wilson((self.hits, self.draws), z)
    }
}

/// What two sided intervals of 95 % take.
pub(crate) const Z95: f64 = 1.959964;

/// What is known: draws of values, by column, or of whole events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    Values(PowerRule),
    Events,
}

impl Known {
    pub(crate) fn of(power: Power) -> Known {
        match power {
            Power::Values { rule, .. } => Known::Values(rule),
            // Never drawn: counted exactly.
            Power::Total { .. } => Known::Values(PowerRule::Fixed),
            Power::Events { .. } => Known::Events,
        }
    }
}

/// Draws: a patient, and by column the first events of a random order.
pub(crate) struct Draws {
    /// By draw: the patient's place.
    pub(crate) person: Vec<u32>,
    /// By stream (one for each event column, or one for whole events), by draw: events.
    streams: Vec<Stream>,
}

#[derive(Default)]
struct Stream {
    ends: Vec<u32>,
    events: Vec<u32>,
}

impl Stream {
    fn get(&self, draw: usize) -> &[u32] {
        let start = if draw == 0 { 0 } else { self.ends[draw - 1] as usize };
        &self.events[start..self.ends[draw] as usize]
    }
}

impl Draws {
    /// `count` draws of patients out of `from`, with replacement, and of up to `p` of their events
    /// in `held`.
    pub(crate) fn new(held: &Held, from: &[u32], streams: usize, p: usize, count: usize, seed: u64) -> Draws {
        let people = (0..count).map(|_| None);
        Draws::of(held, people, from, streams, p, seed)
    }

    /// `count` draws for each of these patients.
    pub(crate) fn of_each(held: &Held, people: &[u32], count: usize, streams: usize, p: usize, seed: u64) -> Draws {
        let each = people.iter().flat_map(|&p| std::iter::repeat_n(Some(p), count));
        Draws::of(held, each, &[], streams, p, seed)
    }

    fn of(
        held: &Held,
        people: impl Iterator<Item = Option<u32>>,
        from: &[u32],
        streams: usize,
        p: usize,
        seed: u64,
    ) -> Draws {
        let mut draws = Draws { person: Vec::new(), streams: (0..streams).map(|_| Stream::default()).collect() };
        for (number, person) in people.enumerate() {
            let mut lots = Lots::new(seed, number as u64);
            let person = person.unwrap_or_else(|| from[lots.below(from.len() as u64) as usize]);
            draws.person.push(person);
            let own = held.of_person(person as usize);
            for stream in &mut draws.streams {
                let start = stream.events.len();
                lots.choose(own.len() as u64, p, &mut stream.events);
                stream.events[start..].iter_mut().for_each(|at| *at = own[*at as usize]);
                stream.ends.push(stream.events.len() as u32);
            }
        }
        draws
    }

    pub(crate) fn len(&self) -> usize {
        self.person.len()
    }

    /// The events whose values in a column are known.
    pub(crate) fn events(&self, draw: usize, column: usize) -> &[u32] {
        self.streams[column.min(self.streams.len() - 1)].get(draw)
    }
}

/// What of the draws is known, as items of an index.
pub(crate) struct Facts {
    ends: Vec<u32>,
    items: Vec<u32>,
    /// Draws in which a known value is not left: a strict matcher finds nobody.
    pub(crate) missing: Vec<bool>,
}

impl Facts {
    /// `stream`: which of a draw's events; `power` is by place; `left` are the events that can be found.
    pub(crate) fn of(
        labels: &Labels,
        stream: usize,
        draws: &Draws,
        power: &[u8],
        index: &Index,
        left: Option<&Held>,
    ) -> Facts {
        let label = |&e: &u32| labels.of[e as usize];
        let mut facts = Facts { ends: Vec::new(), items: Vec::new(), missing: vec![false; draws.len()] };
        let mut known: Vec<u32> = Vec::new();
        for draw in 0..draws.len() {
            let person = draws.person[draw] as usize;
            let events = draws.events(draw, stream);
            known.clear();
            known.extend(events.iter().take(usize::from(power[person])).map(label));
            known.sort_unstable();
            for run in known.chunk_by(|a, b| a == b) {
                let copies = match left {
                    None => run.len(),
                    // As many of the known copies as are left.
                    Some(left) => {
                        let found = left.of_person(person).iter().filter(|e| label(e) == run[0]);
                        let found = found.take(run.len()).count();
                        facts.missing[draw] |= found < run.len();
                        found
                    }
                };
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

/// Labels, ready to be matched.
pub(crate) struct Ready {
    pub(crate) index: Index,
    pub(crate) facts: Facts,
}

impl Ready {
    /// What is known is drawn from `held.0`; what can be found is `held.1`.
    pub(crate) fn of(
        labels: &Labels,
        stream: usize,
        draws: &Draws,
        held: (&Held, &Held),
        p: usize,
        rule: PowerRule,
    ) -> Ready {
        let power = powers(held.0, labels, p, rule);
        let index = Index::of(held.1, labels, p);
        let left = (!std::ptr::eq(held.0, held.1)).then_some(held.1);
        let facts = Facts::of(labels, stream, draws, &power, &index, left);
        Ready { index, facts }
    }
}

/// Whether fewer than k patients match a draw.
pub(crate) fn is_hit(classes: &Classes, ready: &[&Ready], draws: &Draws, draw: usize, k: u64) -> bool {
    let mut items: Vec<&Item> = Vec::with_capacity(64);
    for own in ready {
        items.extend(own.facts.get(draw).iter().map(|&number| own.index.at(number)));
    }
    classes.fewer_than(k, classes.of[draws.person[draw] as usize], &mut items)
}

/// What an estimate is made over.
pub(crate) struct Asked<'a> {
    pub(crate) histories: &'a Histories,
    pub(crate) people: &'a People,
    /// Levels of patient-level and of event columns.
    pub(crate) levels: (&'a [usize], &'a [usize]),
    /// What is known is drawn from these.
    pub(crate) drawn: &'a Held,
    /// What can be found.
    pub(crate) left: &'a Held,
    pub(crate) k: u64,
    pub(crate) known: Known,
    pub(crate) p: usize,
    pub(crate) threads: usize,
}

/// Tolerant and strict hits over fresh draws of patients who are left.
pub(crate) fn estimate(asked: &Asked, count: usize, seed: u64) -> (Estimate, Estimate) {
    let from = asked.left.with_events();
    if from.is_empty() {
        return Default::default();
    }
    let streams = if asked.known == Known::Events { 1 } else { asked.histories.event.len() };
    let draws = Draws::new(asked.drawn, &from, streams, asked.p, count, seed);
    let hits = hits(asked, &draws);
    let of = |hits: u64| Estimate { hits, draws: count as u64 };
    let tolerant = hits.iter().filter(|h| h.0).count() as u64;
    let strict = hits.iter().filter(|h| h.0 && !h.1).count() as u64;
    (of(tolerant), of(strict))
}

/// By draw: whether fewer than k match what is left of what is known, and whether anything known is
/// not left.
pub(crate) fn hits(asked: &Asked, draws: &Draws) -> Vec<(bool, bool)> {
    let Asked { histories, people, levels, drawn, left, k, known, p, threads } = *asked;
    let ready: Vec<Ready> = match known {
        Known::Values(rule) => (0..histories.event.len())
            .map(|c| {
                let labels = Labels::of_column(&histories.event[c], levels.1[c]);
                Ready::of(&labels, c, draws, (drawn, left), p, rule)
            })
            .collect(),
        Known::Events => {
            let labels = Labels::of_events(histories, levels.1);
            vec![Ready::of(&labels, 0, draws, (drawn, left), p, PowerRule::Fixed)]
        }
    };
    let ready: Vec<&Ready> = ready.iter().collect();
    let alive = |place: usize| !left.of_person(place).is_empty();
    let classes = Classes::of(histories, people, levels.0, alive, k);
    let missing = |draw: usize| ready.iter().any(|r| r.facts.missing[draw]);
    let part = draws.len().div_ceil(threads.max(1)).max(1);
    let mut all = vec![(false, false); draws.len()];
    std::thread::scope(|scope| {
        for (number, out) in all.chunks_mut(part).enumerate() {
            let (ready, classes) = (&ready, &classes);
            scope.spawn(move || {
                for (i, own) in out.iter_mut().enumerate() {
                    let draw = number * part + i;
                    *own = (is_hit(classes, ready, draws, draw, k), missing(draw));
                }
            });
        }
    });
    all
}
