//! Attacks on patients with events: all of a patient's own columns are known, and some values of
//! each event column, or some whole events.

use super::{Attack, Attacked, Mean, Scene};
use kohort_core::Result;
use kohort_core::events;
use kohort_core::random::Randomness;
use kohort_core::release::{CLAIMS_FILE, EventsClaim, PATIENTS_FILE};
use kohort_core::shape::Events;
use kohort_core::table::{Source, Texts};
use std::collections::HashMap;

/// Patients: their own columns as one number, and their events, a number for each column.
struct AttackedPatients {
    own: Vec<u32>,
    events: Vec<Vec<Vec<u32>>>,
    /// Patients by their own columns.
    alike: HashMap<u32, Vec<usize>>,
}

impl AttackedPatients {
    fn new(own: Vec<u32>, events: Vec<Vec<Vec<u32>>>) -> AttackedPatients {
        let mut alike: HashMap<u32, Vec<usize>> = HashMap::new();
        own.iter().enumerate().for_each(|(person, &class)| alike.entry(class).or_default().push(person));
        AttackedPatients { own, events, alike }
    }

    /// Who looks the same and has all these values of each column, each as often.
    fn with_values(&self, person: usize, known: &[Vec<u32>]) -> usize {
        let fits = |other: &&usize| {
            let events = &self.events[**other];
            known
                .iter()
                .enumerate()
                .all(|(c, values)| contains(&mut events.iter().map(|e| e[c]).collect::<Vec<_>>(), values))
        };
        self.alike[&self.own[person]].iter().filter(fits).count()
    }

    /// Who looks the same and has all these events, each as often.
    fn with_events(&self, person: usize, known: &[Vec<u32>]) -> usize {
        let fits = |other: &&usize| contains(&mut self.events[**other].clone(), known);
        self.alike[&self.own[person]].iter().filter(fits).count()
    }

    /// Linkage by p values of each column, and by p whole events: how often the right one, and alone.
    fn attack(&self, p: usize, most: u64, random: &mut Randomness) -> [[Mean; 2]; 2] {
        let with: Vec<usize> = (0..self.own.len()).filter(|&person| !self.events[person].is_empty()).collect();
        let mut found = [[Mean::default(); 2]; 2];
        for i in random.sample(with.len(), most as usize) {
            let events = &self.events[with[i]];
            let values: Vec<Vec<u32>> = (0..events[0].len())
                .map(|c| random.sample(events.len(), p).into_iter().map(|e| events[e][c]).collect())
                .collect();
            let whole: Vec<Vec<u32>> = random.sample(events.len(), p).into_iter().map(|e| events[e].clone()).collect();
            for (means, n) in
                found.iter_mut().zip([self.with_values(with[i], &values), self.with_events(with[i], &whole)])
            {
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

pub(super) fn attack(scene: &Scene<Events>, claim: &EventsClaim) -> Result<Attacked> {
    let histories = events::survey(scene.source, scene.policy)?;
    let mut rows: HashMap<Vec<u32>, u32> = HashMap::new();
    let own = (0..histories.patients()).map(|person| {
        let labels: Vec<u32> = histories.patient.iter().map(|c| c.codes[person]).collect();
        let next = rows.len() as u32;
        *rows.entry(labels).or_insert(next)
    });
    let own: Vec<u32> = own.collect();
    let events = (0..histories.patients())
        .map(|p| histories.events_of(p).map(|e| histories.event.iter().map(|c| c.codes[e]).collect()).collect());
    let original = AttackedPatients::new(own, events.collect());
    let released = read(scene, claim)?;
    let mut random = scene.random()?;
    let p = claim.power.p();
    let before = original.attack(p, scene.trial.targets, &mut random);
    let after = released.attack(p, scene.trial.targets, &mut random);
    let mut attacked = Attacked::default();
    let baseline = 1.0 / original.own.len().max(1) as f64;
    for (what, about) in [
        format!("patient-level columns and {p} values of each event column known"),
        format!("patient-level columns and {p} whole events known"),
    ]
    .into_iter()
    .enumerate()
    {
        for (which, measure) in
            ["average probability of picking the right patient", "people whom exactly one patient matches"]
                .into_iter()
                .enumerate()
        {
            attacked.attacks.push(Attack {
                name: "linkage",
                about: about.clone(),
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

/// The released patients. Their quasi-identifiers are the first columns of both files.
fn read(scene: &Scene<Events>, claim: &EventsClaim) -> Result<AttackedPatients> {
    let quasi = |c: &&kohort_core::release::ColumnClaim| c.role == "quasi";
    let (of_patients, of_events) = scene.certificate.promise.columns.split_at(claim.patient_columns);
    let (patient, event) = (of_patients.iter().filter(quasi).count(), of_events.iter().filter(quasi).count());
    let mut number: HashMap<String, usize> = HashMap::new();
    let (mut keys, mut own) = (HashMap::new(), Vec::new());
    each_row(&scene.open(PATIENTS_FILE)?, |row| {
        number.insert(row[0].clone(), own.len());
        let next = keys.len() as u32;
        own.push(*keys.entry(row[1..=patient].to_vec()).or_insert(next));
    })?;
    let mut texts = Texts::default();
    let mut events = vec![Vec::new(); own.len()];
    each_row(&scene.open(CLAIMS_FILE)?, |row| {
        if let Some(&person) = number.get(&row[0]) {
            events[person].push(row[1..=event].iter().map(|cell| texts.intern(cell.as_bytes())).collect());
        }
    })?;
    Ok(AttackedPatients::new(own, events))
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
