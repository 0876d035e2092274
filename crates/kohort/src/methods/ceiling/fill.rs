//! Fills the classes of a plan: how many rows each gets, what they show, and the catalog of them.

use super::catalog::{CatalogClass, CatalogRules, Unsafe};
use super::draw::Deck;
use super::padding::PaddingParams;
use super::params::{Limits, Params};
use crate::lattice::merge_counts;
use crate::local::people;
use kohort_core::Result;
use kohort_core::cohort::Cohort;
use kohort_core::hierarchy::Level;
use kohort_core::policy::Policy;
use kohort_core::privacy::{Counts, Padding};
use kohort_core::random::Randomness;
use kohort_core::release::{Catalog, CatalogEntry, Plan, ShownLabel, SyntheticRecord};
use kohort_core::table::Keys;
use std::collections::HashMap;

/// The number of times that values are drawn again until the rows shown meet the requirements.
const ROUNDS: usize = 100;

/// Why classes cannot be filled.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Refusal {
    /// Every draw needs more counterfeits than allowed.
    TooMany,
    /// The rows shown, synthetic records included, break a requirement on sensitive values.
    Requirement,
    /// The catalog would tell too much.
    Catalog(Unsafe),
}

/// The classes of a plan, and the rows that are added to them.
struct Filled<'a> {
    cohort: &'a Cohort,
    policy: &'a Policy,
    params: &'a Params,
    deck: Deck<'a>,
    plan: Plan,
    /// For each class: the plan's cells of the first of its rows.
    cells: Vec<u32>,
    /// For each class: its tuples.
    members: Vec<Vec<ClassTuple>>,
    /// For each class: its labels.
    labels: Vec<Vec<ShownLabel>>,
    /// For each class: the values of each row added.
    added: Vec<Vec<Vec<u32>>>,
}

/// The rows of a tuple in a class.
#[derive(Debug, Clone, Copy)]
struct ClassTuple {
    tuple: u32,
    rows: u64,
}

/// Fills the classes of a plan, which releases every row; `Err` inside: they cannot be filled. Requirements on
/// sensitive values are counted on whole tuples.
pub(super) fn fill(
    cohort: &Cohort,
    policy: &Policy,
    params: &Params,
    plan: Plan,
    random: &mut Randomness,
) -> Result<std::result::Result<Plan, Refusal>> {
    let most = params.max_counterfeits.of(cohort.tuples.rows);
    let filling = PaddingParams { padding: params.padding, k: policy.privacy.k };
    let mut filled = Filled::new(cohort, policy, params, plan);
    let Some(numbers) = filling.draw(&filled.people(), most, random) else { return Ok(Err(Refusal::TooMany)) };
    for (class, &number) in numbers.iter().enumerate() {
        for _ in 0..number {
            filled.add(class, random)?;
        }
    }
    if !filled.meet_requirements(most, random)? {
        return Ok(Err(Refusal::Requirement));
    }
    let groups = match params.catalog {
        false => Vec::new(),
        true => match filled.catalog(most, random)? {
            Ok(groups) => groups,
            Err(why) => return Ok(Err(why)),
        },
    };
    Ok(Ok(filled.plan(&groups, random)))
}

impl<'a> Filled<'a> {
    fn new(cohort: &'a Cohort, policy: &'a Policy, params: &'a Params, plan: Plan) -> Filled<'a> {
        let quasi = cohort.quasi.len();
        let mut keys = Keys::new(quasi);
        let (mut cells, mut members, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        for tuple in 0..cohort.tuples.len() {
            for (own, rows) in plan.rows(cohort, tuple) {
                let class = keys.intern(&plan.row(own)[..quasi]) as usize;
                if class == members.len() {
                    cells.push(own);
                    labels.push((0..quasi).map(|q| shown_label(cohort, &plan, q, (tuple, own))).collect());
                    members.push(Vec::new());
                }
                members[class].push(ClassTuple { tuple: tuple as u32, rows });
            }
        }
        let deck = Deck::new(cohort, policy, &params.forbidden);
        let added = vec![Vec::new(); members.len()];
        Filled { cohort, policy, params, deck, plan, cells, members, labels, added }
    }

    /// The people of each class.
    fn people(&self) -> Vec<u64> {
        // Where every patient has one row, patients are counted like rows.
        let has_several = self.cohort.tuples.patients.as_ref().is_some_and(|patients| patients.several() > 0);
        let own = |members: &Vec<ClassTuple>| match has_several {
            false => members.iter().map(|own| own.rows).sum(),
            true => people(self.cohort, members.iter().map(|own| own.tuple as usize)),
        };
        self.members.iter().map(own).collect()
    }

    /// Adds a row to a class.
    fn add(&mut self, class: usize, random: &mut Randomness) -> Result<()> {
        self.added[class].push(self.deck.draw(self.policy, &self.labels[class], random)?);
        Ok(())
    }

    /// Draws the values of classes again that do not meet, with their counterfeits, what is required
    /// of sensitive columns; whether they all do in the end. Where synthetic records may help, a class that fails
    /// gets a further one, as long as there are at most `most` in all.
    fn meet_requirements(&mut self, most: u64, random: &mut Randomness) -> Result<bool> {
        if self.cohort.required.is_empty() {
            return Ok(true);
        }
        for _ in 0..ROUNDS {
            let failing = self.failing();
            if failing.is_empty() {
                return Ok(true);
            }
            if self.params.limits == Limits::Shown {
                let now: u64 = self.added.iter().map(|rows| rows.len() as u64).sum();
                if now + failing.len() as u64 > most {
                    return Ok(false);
                }
                for class in failing {
                    self.add(class, random)?;
                }
                continue;
            }
            // A class without counterfeits that fails, fails by the table: all draw again.
            let alone = failing.iter().any(|&class| self.added[class].is_empty());
            let again: Vec<usize> = if alone { (0..self.added.len()).collect() } else { failing };
            for class in again {
                let rows = std::mem::take(&mut self.added[class]).len();
                for _ in 0..rows {
                    self.add(class, random)?;
                }
            }
        }
        Ok(false)
    }

    /// Classes that, as they are shown, fail a requirement. Whoever is synthetic is a person of their own.
    fn failing(&self) -> Vec<usize> {
        let mut failing = Vec::new();
        for required in &self.cohort.required {
            let position = required.kept.position;
            let drawn = self.cohort.synthetic_values.iter().position(|s| s.position == Some(position));
            let everybody = || 0..self.cohort.tuples.len() as u32;
            let added =
                |class: usize| drawn.into_iter().flat_map(move |s| self.added[class].iter().map(move |row| row[s]));
            let (values, _) = self.values(everybody(), (0..self.added.len()).flat_map(added), position);
            let mut table = vec![0; self.cohort.tuples.dictionaries[position].len()];
            values.iter().for_each(|&(value, people)| table[value as usize] = people);
            for (class, own) in self.members.iter().enumerate() {
                let (values, people) = self.values(own.iter().map(|own| own.tuple), added(class), position);
                if !required.requirement.holds(&Counts { values: &values, people }, &table) {
                    failing.push(class);
                }
            }
        }
        failing.sort_unstable();
        failing.dedup();
        failing
    }

    /// The values of a column among some tuples and added rows, missing left out, and the people who have any.
    fn values(
        &self,
        members: impl Iterator<Item = u32>,
        added: impl Iterator<Item = u32>,
        position: usize,
    ) -> (Vec<(u32, u64)>, u64) {
        let tuples = &self.cohort.tuples;
        let value = |t: u32| tuples.code(t as usize, position);
        let mut values: Vec<(u32, u64)> = added.filter(|&v| v != 0).map(|v| (v, 1)).collect();
        let mut people = values.len() as u64;
        let known = members.filter(|&t| value(t) != 0);
        match &tuples.patients {
            None => {
                let own: Vec<(u32, u64)> = known.map(|t| (value(t), tuples.weights[t as usize])).collect();
                people += own.iter().map(|v| v.1).sum::<u64>();
                values.extend(own);
            }
            Some(patients) => {
                let mut named: Vec<(u32, u32)> = Vec::new();
                for t in known {
                    let single = u64::from(patients.single[t as usize]);
                    people += single;
                    values.push((value(t), single));
                    named.extend(patients.having(t as usize).iter().map(|&p| (p, value(t))));
                }
                named.sort_unstable();
                named.dedup();
                people += named.chunk_by(|a, b| a.0 == b.0).count() as u64;
                values.extend(named.iter().map(|&(_, value)| (value, 1)));
            }
        }
        merge_counts(&mut values);
        (values, people)
    }

    /// Groups the classes for a catalog. Where a row would be likelier than 1/k, its class gets a further
    /// row, as long as that is allowed; exact padding allows none.
    fn catalog(&mut self, most: u64, random: &mut Randomness) -> Result<std::result::Result<Vec<Vec<usize>>, Refusal>> {
        let rules = CatalogRules { k: self.policy.privacy.k, real_k: self.params.real_k, padding: self.params.padding };
        loop {
            let why = match rules.catalog(&self.classes()) {
                Ok(groups) => return Ok(Ok(groups)),
                Err(why) => why,
            };
            let Unsafe::Likely(likely, _) = &why else { return Ok(Err(Refusal::Catalog(why))) };
            let now: u64 = self.added.iter().map(|rows| rows.len() as u64).sum();
            if self.params.padding == Padding::Exact || now + likely.len() as u64 > most {
                return Ok(Err(Refusal::Catalog(why)));
            }
            for &class in likely {
                self.add(class, random)?;
            }
            if !self.cohort.required.is_empty() && !self.failing().is_empty() {
                return Ok(Err(Refusal::Requirement));
            }
        }
    }

    /// Real and synthetic records of each class by the value that the catalog lists.
    fn classes(&self) -> Vec<CatalogClass> {
        let mut classes = vec![CatalogClass::default(); self.added.len()];
        let Some(listed) = &self.cohort.catalogued else { return classes };
        for (class, members) in classes.iter_mut().zip(&self.members) {
            for own in members {
                let value = self.cohort.tuples.code(own.tuple as usize, listed.position);
                *class.real.entry(value).or_default() += own.rows;
            }
        }
        let drawn = self.cohort.synthetic_values.iter().position(|s| s.position == Some(listed.position));
        for (class, rows) in classes.iter_mut().zip(&self.added) {
            for row in rows {
                *class.synthetic.entry(row[drawn.unwrap_or(0)]).or_default() += 1;
            }
        }
        classes
    }

    /// The plan with the rows added.
    fn plan(self, groups: &[Vec<usize>], random: &mut Randomness) -> Plan {
        let cohort = self.cohort;
        let classes = if self.params.catalog { self.classes() } else { Vec::new() };
        let mut plan = self.plan;
        plan.catalog = cohort.catalogued.as_ref().filter(|_| self.params.catalog).map(|listed| {
            let rules =
                CatalogRules { k: self.policy.privacy.k, real_k: self.params.real_k, padding: self.params.padding };
            let entries = groups.iter().flat_map(|members| {
                let (values, group) = rules.shown(&classes, members);
                let cells: Vec<u32> = members.iter().map(|&class| self.cells[class]).collect();
                let texts = values.into_iter().map(|s| cohort.tuples.dictionaries[listed.position].text(s).to_string());
                let entry = |(value, rows)| CatalogEntry { classes: cells.clone(), value, rows };
                texts.zip(group.synthetic).map(entry).collect::<Vec<_>>()
            });
            Catalog { column: listed.column, entries: entries.collect() }
        });
        let mut added = Vec::new();
        let mut drawer = Details::new(cohort);
        for (class, rows) in self.added.iter().enumerate() {
            for values in rows {
                let mut cells = self.cells[class];
                if !cohort.details.is_empty() {
                    let own = drawer.cells(&plan, cells, random);
                    cells = (plan.cells.len() / plan.changed.len()) as u32;
                    plan.cells.extend(own);
                }
                added.push(SyntheticRecord { cells, values: values.clone() });
            }
        }
        plan.added = added;
        plan
    }
}

/// The label that a tuple shows in a quasi-identifier, with the lowest level that has it.
fn shown_label(cohort: &Cohort, plan: &Plan, q: usize, (tuple, cells): (usize, u32)) -> ShownLabel {
    let text = &plan.changed[q].labels[plan.row(cells)[q] as usize].text;
    let code = cohort.tuples.code(tuple, q) as usize;
    let own = |(level, own): (usize, &Level)| ShownLabel { level, label: own.label_of[code] };
    let shows = |&(_, own): &(usize, &Level)| own.labels[own.label_of[code] as usize].text == *text;
    let levels = &cohort.quasi[q].hierarchy.levels;
    // Every label of a plan is one of its hierarchy; the coarsest stands for whatever is not.
    let found = levels.iter().enumerate().find(shows).or_else(|| levels.iter().enumerate().next_back());
    found.map_or(ShownLabel { level: 0, label: 0 }, own)
}

/// Labels and how many rows show them.
type LabelRows = Vec<(u32, u64)>;

/// Draws the details of synthetic records: each from a row, anywhere in the file, that shows the same where
/// the detail is finer.
struct Details<'a> {
    cohort: &'a Cohort,
    /// For each detail and labels of what it is finer than: labels it is shown as, and by how many rows.
    shown: HashMap<(usize, Vec<u32>), LabelRows>,
}

impl<'a> Details<'a> {
    fn new(cohort: &'a Cohort) -> Details<'a> {
        Details { cohort, shown: HashMap::new() }
    }

    /// The cells of a row like this one, its details drawn.
    fn cells(&mut self, plan: &Plan, cells: u32, random: &mut Randomness) -> Vec<u32> {
        let cohort = self.cohort;
        let mut own = plan.row(cells).to_vec();
        let quasi = cohort.quasi.len();
        for (d, (_, of)) in cohort.details.iter().enumerate() {
            let key: Vec<u32> = of.iter().map(|&q| own[q]).collect();
            let rows = self.shown.entry((d, key)).or_insert_with_key(|(_, key)| {
                let like = |other: u32| of.iter().zip(key).all(|(&q, &label)| plan.row(other)[q] == label);
                let rows = (0..cohort.tuples.len()).flat_map(|t| plan.rows(cohort, t));
                rows.filter(|&(other, _)| like(other)).map(|(other, n)| (plan.row(other)[quasi + d], n)).collect()
            });
            let mut drawn = random.below(rows.iter().map(|r| r.1).sum());
            for &(label, rows) in rows.iter() {
                if drawn < rows {
                    own[quasi + d] = label;
                    break;
                }
                drawn -= rows;
            }
        }
        own
    }
}
