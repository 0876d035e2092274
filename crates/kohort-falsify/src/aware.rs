//! The reader who knows the method: originals that could have made the same release are taken
//! together, each as likely as it is beforehand times the chance that it is released so. What is
//! then believed of a person is exact.

use std::collections::HashMap;

/// A row of a release, by number.
pub type Row = u32;

/// Numbers for rows that show the same.
#[derive(Debug, Default)]
pub struct Rows {
    number: HashMap<(Vec<String>, usize), Row>,
    rows: Vec<(Vec<String>, usize)>,
}

impl Rows {
    /// The number of a row with these quasi-identifiers and this secret.
    pub fn number(&mut self, cells: &[String], secret: usize) -> Row {
        let key = (cells.to_vec(), secret);
        let next = self.rows.len() as Row;
        let number = *self.number.entry(key.clone()).or_insert(next);
        if number == next {
            self.rows.push(key);
        }
        number
    }

    /// Returns the cells that a row shows.
    pub fn get(&self, row: Row) -> &(Vec<String>, usize) {
        &self.rows[row as usize]
    }
}

/// People who are alike, and where they are in a release.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The facts that may be known of them, each by itself: combinations of quasi-identifier values.
    pub known: Vec<usize>,
    /// Their secret.
    pub secret: usize,
    /// The rows that each of them has; deleted ones are not there.
    pub rows: Vec<Row>,
    /// States how many they are.
    pub times: f64,
}

/// One release that an original may lead to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// States how likely it is, given the original.
    pub chance: f64,
    /// All rows, ascending.
    pub shown: Vec<Row>,
    /// The people.
    pub people: Vec<Placed>,
}

/// The highest beliefs that a reader comes to.
#[derive(Debug, Clone, Default)]
pub struct Highest {
    /// That a row is a person's.
    pub link: f64,
    /// That a person has a secret.
    pub secret: f64,
    /// States where the link is highest: the rows of the release, what is known, and an original.
    pub at: Option<(Vec<Row>, usize, Vec<usize>)>,
}

/// Knowledge that a reader has beside the method and the release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knowing {
    /// One person's quasi-identifiers.
    One,
    /// Those of everybody in the file.
    Everybody,
}

/// A release with everything that could have led to it.
#[derive(Debug, Default)]
struct SameRelease {
    people: HashMap<usize, f64>,
    linked: HashMap<(usize, Row), f64>,
    secrets: HashMap<(usize, usize), f64>,
    original: Vec<usize>,
}

/// A reader to whom one original after the other is shown.
pub struct Reader {
    knowing: Knowing,
    groups: HashMap<(Vec<Row>, Vec<usize>), SameRelease>,
}

impl Reader {
    /// One who knows this.
    pub fn new(knowing: Knowing) -> Reader {
        Reader { knowing, groups: HashMap::new() }
    }

    /// Takes into account that an original, so likely, may lead to this; `of_everybody`: what could be
    /// known of everybody in it.
    pub fn consider(&mut self, original: &[usize], of_everybody: &[usize], likely: f64, outcome: &Outcome) {
        let all = if self.knowing == Knowing::Everybody { of_everybody.to_vec() } else { Vec::new() };
        let group = self.groups.entry((outcome.shown.clone(), all)).or_default();
        if group.original.is_empty() {
            group.original = original.to_vec();
        }
        let weight = likely * outcome.chance;
        for placed in &outcome.people {
            let weight = weight * placed.times;
            for &known in &placed.known {
                *group.people.entry(known).or_default() += weight;
                *group.secrets.entry((known, placed.secret)).or_default() += weight;
                for &row in &placed.rows {
                    *group.linked.entry((known, row)).or_default() += weight;
                }
            }
        }
    }

    /// Returns how many releases there are.
    pub fn releases(&self) -> usize {
        self.groups.len()
    }

    /// Returns the highest belief of the reader, over all releases and all that may be known.
    pub fn highest(&self) -> Highest {
        let mut highest = Highest::default();
        for ((shown, _), group) in &self.groups {
            let own = group.highest(shown);
            highest.secret = highest.secret.max(own.secret);
            if own.link > highest.link {
                highest = Highest { secret: highest.secret, ..own };
            }
        }
        highest
    }

    /// The same for one release.
    pub fn of_release(&self, shown: &[Row], of_everybody: &[usize]) -> Option<Highest> {
        let all = if self.knowing == Knowing::Everybody { of_everybody.to_vec() } else { Vec::new() };
        self.groups.get(&(shown.to_vec(), all)).map(|group| group.highest(shown))
    }

    /// The chance that someone of whom this is known has this row, and that they have this secret.
    pub fn belief(&self, shown: &[Row], of_everybody: &[usize], known: usize, row: Row, secret: usize) -> (f64, f64) {
        let all = if self.knowing == Knowing::Everybody { of_everybody.to_vec() } else { Vec::new() };
        let Some(group) = self.groups.get(&(shown.to_vec(), all)) else { return (0.0, 0.0) };
        let people = group.people.get(&known).copied().unwrap_or(0.0);
        let share = |x: Option<&f64>| x.copied().unwrap_or(0.0) / people;
        let times = shown.iter().filter(|r| **r == row).count().max(1) as f64;
        (share(group.linked.get(&(known, row))) / times, share(group.secrets.get(&(known, secret))))
    }
}

impl SameRelease {
    fn highest(&self, shown: &[Row]) -> Highest {
        let mut highest = Highest::default();
        for (&(known, row), weight) in &self.linked {
            // Rows that show the same are told apart by nobody.
            let times = shown.iter().filter(|r| **r == row).count() as f64;
            let link = weight / self.people[&known] / times;
            if link > highest.link {
                highest.link = link;
                highest.at = Some((shown.to_vec(), known, self.original.clone()));
            }
        }
        for ((known, _), weight) in &self.secrets {
            highest.secret = highest.secret.max(weight / self.people[known]);
        }
        highest
    }
}
