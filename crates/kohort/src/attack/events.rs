//! Attacks on patients with events: all of a patient's own columns are known, and of their events what the
//! certificate's attacker knows, or whole events.

use super::{Attack, Attacked, Mean, Scene};
use crate::methods::claims::known_values;
use kohort_core::Result;
use kohort_core::events;
use kohort_core::number::number_of;
use kohort_core::policy::{Power, PowerRule};
use kohort_core::random::Randomness;
use kohort_core::release::{EventsClaim, PATIENTS_FILE, table_file};
use kohort_core::shape::Events;
use kohort_core::table::{Source, Texts};
use std::collections::HashMap;

/// An event: a number for the value of each column of its table.
type Event = Vec<u32>;

/// Knowledge of a patient's events: the table, its columns, and values that belong together, each as often.
type Known = Vec<(usize, Vec<usize>, Vec<Vec<u32>>)>;

/// Patients: their own columns as one number, and their events.
struct AttackedPatients {
    own: Vec<u32>,
    /// For each table and patient: the events.
    tables: Vec<Vec<Vec<Event>>>,
    /// Patients by their own columns.
    alike: HashMap<u32, Vec<usize>>,
}

impl AttackedPatients {
    fn new(own: Vec<u32>, tables: Vec<Vec<Vec<Event>>>) -> AttackedPatients {
        let mut alike: HashMap<u32, Vec<usize>> = HashMap::new();
        own.iter().enumerate().for_each(|(person, &class)| alike.entry(class).or_default().push(person));
        AttackedPatients { own, tables, alike }
    }

    /// The number of patients who look the same and have all that is known.
    fn matching(&self, person: usize, known: &Known) -> usize {
        let fits = |other: &&usize| {
            known.iter().all(|(table, columns, values)| {
                let part = |event: &Event| -> Vec<u32> { columns.iter().map(|&c| event[c]).collect() };
                contains(&mut self.tables[*table][**other].iter().map(part).collect::<Vec<_>>(), values)
            })
        };
        self.alike[&self.own[person]].iter().filter(fits).count()
    }

    /// The number of columns of a table.
    fn columns(&self, table: usize) -> usize {
        self.tables[table].iter().flatten().next().map_or(0, Vec::len)
    }

    /// For each table, column and patient: how many values are known.
    fn powers(&self, p: usize, rule: PowerRule) -> Vec<Vec<Vec<u8>>> {
        let of_column = |table: usize, c: usize| {
            let values = |events: &Vec<Event>| events.iter().map(|event| event[c]).collect();
            known_values(&self.tables[table].iter().map(values).collect::<Vec<Vec<u32>>>(), p, rule)
        };
        let of_table = |table: usize| (0..self.columns(table)).map(|c| of_column(table, c)).collect();
        (0..self.tables.len()).map(of_table).collect()
    }

    /// Some of a patient's events in a table, in these columns.
    fn draw(&self, person: usize, table: usize, columns: Vec<usize>, p: usize, random: &mut Randomness) -> Known {
        let events = &self.tables[table][person];
        let part = |e: usize| -> Vec<u32> { columns.iter().map(|&c| events[e][c]).collect() };
        let drawn = random.sample(events.len(), p).into_iter().map(part).collect();
        vec![(table, columns, drawn)]
    }

    /// The knowledge of a patient that the certificate's attacker has.
    fn known(&self, person: usize, power: Power, powers: &[Vec<Vec<u8>>], random: &mut Randomness) -> Known {
        let tables = 0..self.tables.len();
        match power {
            Power::Values { .. } => {
                let columns = tables.flat_map(|t| (0..self.columns(t)).map(move |c| (t, c)));
                let mut draw =
                    |(t, c): (usize, usize)| self.draw(person, t, vec![c], usize::from(powers[t][c][person]), random);
                columns.flat_map(&mut draw).collect()
            }
            Power::Events { p } => {
                tables.flat_map(|t| self.draw(person, t, (0..self.columns(t)).collect(), p, random)).collect()
            }
            Power::Pairs { p } => {
                // One table of the patient's, and two of its columns.
                let own: Vec<usize> = tables.filter(|&t| !self.tables[t][person].is_empty()).collect();
                let table = own[random.below(own.len() as u64) as usize];
                let columns = random.sample(self.columns(table), self.columns(table).min(2));
                self.draw(person, table, columns, p, random)
            }
            Power::Total { p } => {
                let cells = tables.flat_map(|t| {
                    let events = self.tables[t][person].iter();
                    events.flat_map(move |event| event.iter().enumerate().map(move |(c, &value)| (t, c, value)))
                });
                let cells: Vec<(usize, usize, u32)> = cells.collect();
                let mut known: Vec<(usize, usize, u32)> =
                    random.sample(cells.len(), p).into_iter().map(|at| cells[at]).collect();
                known.sort_unstable();
                let column = |run: &[(usize, usize, u32)]| {
                    (run[0].0, vec![run[0].1], run.iter().map(|fact| vec![fact.2]).collect())
                };
                known.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).map(column).collect()
            }
        }
    }

    /// Linkage by what the certificate's attacker knows, and by as many whole events: how often the right patient,
    /// and alone.
    fn attack(&self, power: Power, most: u64, random: &mut Randomness) -> [[Mean; 2]; 2] {
        let has_events = |person: &usize| self.tables.iter().any(|table| !table[*person].is_empty());
        let with: Vec<usize> = (0..self.own.len()).filter(has_events).collect();
        let powers = match power {
            Power::Values { p, rule } => self.powers(p, rule),
            _ => Vec::new(),
        };
        let mut found = [[Mean::default(); 2]; 2];
        for i in random.sample(with.len(), most as usize) {
            for (means, power) in found.iter_mut().zip([power, Power::Events { p: power.p() }]) {
                let n = self.matching(with[i], &self.known(with[i], power, &powers, random));
                means[0].add(1.0 / n.max(1) as f64);
                means[1].add(f64::from(u8::from(n == 1)));
            }
        }
        found
    }
}

fn contains<T: PartialEq>(left: &mut Vec<T>, some: &[T]) -> bool {
    some.iter().all(|one| left.iter().position(|l| l == one).map(|at| left.swap_remove(at)).is_some())
}

fn about(power: Power) -> String {
    match power {
        Power::Values { p, rule: PowerRule::Variable } => {
            format!(
                "patient-level columns and up to {} of each event column known, as the power rule says",
                number_of(p, ["value", "values"])
            )
        }
        Power::Values { p, rule: PowerRule::Fixed } => {
            format!("patient-level columns and {} of each event column known", number_of(p, ["value", "values"]))
        }
        Power::Events { p } => {
            format!("patient-level columns and {} known", number_of(p, ["whole event", "whole events"]))
        }
        Power::Pairs { p } => {
            format!("patient-level columns and two columns of {} known", number_of(p, ["event", "events"]))
        }
        Power::Total { p } => {
            format!("patient-level columns and {} about events known", number_of(p, ["fact", "facts"]))
        }
    }
}

pub(super) fn attack(scene: &Scene<Events>, claim: &EventsClaim) -> Result<Attacked> {
    let histories = events::survey(scene.source, scene.policy)?;
    let mut rows: HashMap<Vec<u32>, u32> = HashMap::new();
    let own = (0..histories.patients()).map(|person| {
        let labels: Vec<u32> = histories.patient.iter().map(|c| c.codes[person]).collect();
        let next = rows.len() as u32;
        *rows.entry(labels).or_insert(next)
    });
    let own: Vec<u32> = own.collect();
    let of_table = |t: usize| {
        let columns = &histories.event[histories.columns_of(t)];
        let event = |e: usize| columns.iter().map(|c| c.codes[e]).collect();
        (0..histories.patients()).map(|p| histories.tables[t].of(p).map(event).collect()).collect()
    };
    let original = AttackedPatients::new(own, (0..histories.tables.len()).map(of_table).collect());
    let released = read(scene, claim)?;
    let mut random = scene.random()?;
    let before = original.attack(claim.power, scene.trial.targets, &mut random);
    let after = released.attack(claim.power, scene.trial.targets, &mut random);
    let mut attacked = Attacked::default();
    let baseline = 1.0 / original.own.len().max(1) as f64;
    let whole = Power::Events { p: claim.power.p() };
    // Where whole events are the certificate's knowledge, they are listed once.
    let powers = if claim.power == whole { vec![whole] } else { vec![claim.power, whole] };
    for (what, power) in powers.into_iter().enumerate() {
        for (which, measure) in
            ["average probability of picking the right patient", "people whom exactly one patient matches"]
                .into_iter()
                .enumerate()
        {
            attacked.attacks.push(Attack {
                name: "linkage",
                about: about(power),
                measure,
                targets: after[what][which].of,
                before: before[what][which].get(),
                after: after[what][which].get(),
                baseline: Some(if which == 0 { baseline } else { 0.0 }),
            });
        }
    }
    attacked.notes.push("on the release, the known facts are drawn from the released events.".into());
    Ok(attacked)
}

/// The released patients. Their quasi-identifiers are the first columns of each file.
fn read(scene: &Scene<Events>, claim: &EventsClaim) -> Result<AttackedPatients> {
    let quasi = |columns: &[kohort_core::release::ColumnClaim]| columns.iter().filter(|c| c.role == "quasi").count();
    let split = claim.columns_of(&scene.certificate.promise.columns);
    let mut number: HashMap<String, usize> = HashMap::new();
    let (mut keys, mut own) = (HashMap::new(), Vec::new());
    let patient = split.first().map_or(0, |(_, columns)| quasi(columns));
    each_row(&scene.open(PATIENTS_FILE)?, |row| {
        number.insert(row[0].clone(), own.len());
        let next = keys.len() as u32;
        own.push(*keys.entry(row[1..=patient].to_vec()).or_insert(next));
    })?;
    let mut tables = Vec::new();
    for (name, columns) in split.into_iter().skip(1) {
        let (mut texts, event) = (Texts::default(), quasi(columns));
        let mut events: Vec<Vec<Event>> = vec![Vec::new(); own.len()];
        each_row(&scene.open(&table_file(name))?, |row| {
            if let Some(&person) = number.get(&row[0]) {
                events[person].push(row[1..=event].iter().map(|cell| texts.intern(cell.as_bytes())).collect());
            }
        })?;
        tables.push(events);
    }
    Ok(AttackedPatients::new(own, tables))
}

fn each_row(source: &Source, mut each: impl FnMut(&[String])) -> Result<()> {
    let width = source.columns().len();
    source.scan(
        |_| (),
        |(), chunk| Ok(chunk),
        |chunk| {
            for row in 0..chunk.rows() {
                let cells: Vec<String> =
                    (0..width).map(|c| String::from_utf8_lossy(chunk.cell(row, c)).into_owned()).collect();
                each(&cells);
            }
            Ok(())
        },
    )?;
    Ok(())
}
