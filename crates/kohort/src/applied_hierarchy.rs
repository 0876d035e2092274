//! The hierarchies of a policy, applied to the data: the labels of each level, the people who have them, and the file
//! that a policy can name instead.

use crate::pipeline::AnySurvey;
use kohort_core::cohort::{Cohort, Quasi};
use kohort_core::events::{Histories, QuasiColumn};
use kohort_core::hierarchy::{Hierarchy, Level};
use kohort_core::table::Dictionary;
use std::collections::{HashMap, HashSet};

/// A quasi-identifier with its hierarchy, over the values that occur.
pub struct AppliedHierarchy<'a> {
    /// The column.
    pub column: &'a str,
    /// The table of events that it is in; `None` for a column of a single table or of patients.
    pub events: Option<&'a str>,
    /// Its distinct values; the first is the missing one.
    pub dictionary: &'a Dictionary,
    /// The labels that they may be released as.
    pub hierarchy: &'a Hierarchy,
    /// The levels that a method may choose.
    pub permitted: &'a [usize],
    counted: PeopleOfColumn<'a>,
}

/// The people of a column.
enum PeopleOfColumn<'a> {
    Table(&'a Cohort, usize),
    Patients(&'a QuasiColumn),
    Events(&'a QuasiColumn, &'a Histories),
}

/// One level of a hierarchy over the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedLevel {
    /// Its name in the policy.
    pub name: String,
    /// The labels that occur, with the number of people who have them, the rarest first.
    pub labels: Vec<(String, u64)>,
    /// True if a method may choose it.
    pub permitted: bool,
}

impl AppliedLevel {
    /// People whose label nobody else has.
    pub fn alone(&self) -> u64 {
        self.labels.iter().filter(|(_, people)| *people == 1).count() as u64
    }
}

/// A label with the labels below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// The label.
    pub label: String,
    /// The people who have it.
    pub people: u64,
    /// The labels of the next finer level that it holds, in the order of their values.
    pub below: Vec<Branch>,
}

/// The hierarchies of all quasi-identifiers, in the order of the policy. Sets of codes have none.
pub fn applied(surveyed: &AnySurvey) -> Vec<AppliedHierarchy<'_>> {
    match surveyed {
        AnySurvey::Table(own) => {
            let cohort = &own.input;
            cohort.quasi.iter().enumerate().map(|(q, quasi)| AppliedHierarchy::of_table(cohort, q, quasi)).collect()
        }
        AnySurvey::Codes(_) => Vec::new(),
        AnySurvey::Events(own) => {
            let histories = &own.input;
            let patients =
                histories.patient.iter().map(|own| AppliedHierarchy::of(own, None, PeopleOfColumn::Patients(own)));
            let name = |own: &QuasiColumn| histories.tables.get(own.table).map(|table| table.name.as_str());
            let of_events = |own| AppliedHierarchy::of(own, name(own), PeopleOfColumn::Events(own, histories));
            patients.chain(histories.event.iter().map(of_events)).collect()
        }
    }
}

impl<'a> AppliedHierarchy<'a> {
    fn of_table(cohort: &'a Cohort, q: usize, quasi: &'a Quasi) -> AppliedHierarchy<'a> {
        AppliedHierarchy {
            column: &quasi.name,
            events: None,
            dictionary: &cohort.tuples.dictionaries[q],
            hierarchy: &quasi.hierarchy,
            permitted: &quasi.levels,
            counted: PeopleOfColumn::Table(cohort, q),
        }
    }

    fn of(own: &'a QuasiColumn, events: Option<&'a str>, counted: PeopleOfColumn<'a>) -> AppliedHierarchy<'a> {
        AppliedHierarchy {
            column: &own.name,
            events,
            dictionary: &own.dictionary,
            hierarchy: &own.hierarchy,
            permitted: &own.levels,
            counted,
        }
    }

    /// The levels from the value to `*`, with the people of each label: patients where they are the unit, else rows.
    pub fn levels(&self) -> Vec<AppliedLevel> {
        let level = |(number, level): (usize, &Level)| {
            let people = self.people(level);
            let named = level.labels.iter().map(|label| label.text.clone()).zip(people);
            let mut labels: Vec<(String, u64)> = named.filter(|(_, people)| *people > 0).collect();
            labels.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
            AppliedLevel { name: level.name.clone(), labels, permitted: self.permitted.contains(&number) }
        };
        self.hierarchy.levels.iter().enumerate().map(level).collect()
    }

    /// The tree from the coarsest label down to the finest level that has at most so many labels.
    pub fn tree(&self, most_labels: usize) -> Vec<Branch> {
        let texts = self.dictionary.texts();
        let number = |code: usize| texts[code].trim().parse::<f64>().ok();
        let mut values: Vec<usize> = (0..texts.len()).collect();
        // Numbers in their order, then texts in theirs.
        values.sort_by(|&a, &b| match (number(a), number(b)) {
            (Some(x), Some(y)) => x.total_cmp(&y).then_with(|| texts[a].cmp(texts[b])),
            (x, y) => y.is_some().cmp(&x.is_some()).then_with(|| texts[a].cmp(texts[b])),
        });
        let levels = self.levels_with_people();
        let finest = levels.iter().position(|own| own.1.iter().filter(|people| **people > 0).count() <= most_labels);
        let Some(finest) = finest else { return Vec::new() };
        self.branches(&values, &levels[finest..])
    }

    /// The labels of each level with their people.
    fn levels_with_people(&self) -> Vec<(&Level, Vec<u64>)> {
        self.hierarchy.levels.iter().map(|level| (level, self.people(level))).collect()
    }

    /// The branches of these values, from the last of these levels down to the first.
    fn branches(&self, values: &[usize], levels: &[(&Level, Vec<u64>)]) -> Vec<Branch> {
        let Some(((level, people), finer)) = levels.split_last() else { return Vec::new() };
        let mut order: Vec<u32> = Vec::new();
        let mut of_label: HashMap<u32, Vec<usize>> = HashMap::new();
        for &value in values {
            let label = level.label_of[value];
            if people[label as usize] == 0 {
                continue;
            }
            let own = of_label.entry(label).or_insert_with(|| {
                order.push(label);
                Vec::new()
            });
            own.push(value);
        }
        let branch = |label: u32| Branch {
            label: level.labels[label as usize].text.clone(),
            people: people[label as usize],
            below: self.branches(&of_label[&label], finer),
        };
        order.into_iter().map(branch).collect()
    }

    /// The people of each label. A person with several rows counts once for each label.
    fn people(&self, level: &Level) -> Vec<u64> {
        let label_of = &level.label_of;
        let mut people = vec![0; level.labels.len()];
        match self.counted {
            PeopleOfColumn::Table(cohort, q) => {
                let tuples = &cohort.tuples;
                let mut several = HashSet::new();
                for t in 0..tuples.len() {
                    let label = label_of[tuples.code(t, q) as usize];
                    match &tuples.patients {
                        None => people[label as usize] += tuples.weights[t],
                        Some(patients) => {
                            people[label as usize] += u64::from(patients.single[t]);
                            several.extend(patients.having(t).iter().map(|&patient| (label, patient)));
                        }
                    }
                }
                several.iter().for_each(|(label, _)| people[*label as usize] += 1);
            }
            PeopleOfColumn::Patients(own) => {
                own.codes.iter().for_each(|&code| people[label_of[code as usize] as usize] += 1);
            }
            PeopleOfColumn::Events(own, histories) => {
                let mut seen = HashSet::new();
                for patient in 0..histories.patients() {
                    seen.clear();
                    let codes = &own.codes[histories.tables[own.table].of(patient)];
                    seen.extend(codes.iter().map(|&code| label_of[code as usize]));
                    seen.iter().for_each(|&label| people[label as usize] += 1);
                }
            }
        }
        people
    }

    /// The hierarchy as a file that a policy can name: one line for each value, `value;parent;…;*`.
    pub fn csv(&self) -> String {
        let mut text = String::new();
        for (code, value) in self.dictionary.texts().iter().enumerate().skip(1) {
            let levels = self.hierarchy.levels.iter().skip(1);
            let labels = levels.map(|level| quoted(&level.labels[level.label_of[code] as usize].text));
            text += &std::iter::once(quoted(value)).chain(labels).collect::<Vec<_>>().join(";");
            text.push('\n');
        }
        text
    }
}

/// A cell of such a file, in quotation marks where it needs them.
pub fn quoted(text: &str) -> String {
    if text.contains([';', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{Options, survey};
    use kohort_core::table::Silent;
    use std::fs;
    use std::sync::Arc;

    fn surveyed(table: &str, columns: &str) -> AnySurvey {
        let here = tempfile::tempdir().unwrap();
        fs::write(here.path().join("t.csv"), table).unwrap();
        let policy = here.path().join("p.toml");
        fs::write(
            &policy,
            format!(
                "[input]\ntable = \"t.csv\"\n[columns]\n{columns}[privacy]\nk = 2\n[method]\nname = \"lattice\"\nmax_suppressed = 0\n"
            ),
        )
        .unwrap();
        let options = Options { force: false, keep_rows: false, seed: None, threads: 1, progress: Arc::new(Silent) };
        survey(&policy, &options).unwrap()
    }

    const AGE: &str = "age = { role = \"quasi\", hierarchy = { intervals = [10, 20], from = 0, to = 40 } }\n";

    #[test]
    fn a_level_counts_the_people_of_each_label() {
        let found = surveyed("age\n1\n2\n2\n15\n31\n", AGE);
        let all = applied(&found);
        let levels = all[0].levels();
        let alone: Vec<u64> = levels.iter().map(AppliedLevel::alone).collect();
        assert_eq!(alone, [3, 2, 1, 0], "{levels:?}");
        assert_eq!(levels[0].labels.len(), 4);
        assert_eq!(all[0].csv().lines().count(), 4);
    }

    #[test]
    fn a_patient_with_several_rows_is_one_person() {
        let columns = format!("id = {{ role = \"patient\" }}\n{AGE}");
        let found = surveyed("id,age\na,1\na,1\na,2\nb,1\nc,35\n", &columns);
        let levels = applied(&found)[0].levels();
        assert_eq!(levels[0].labels, [("2".to_string(), 1), ("35".to_string(), 1), ("1".to_string(), 2)]);
        assert_eq!(levels[3].labels, [("*".to_string(), 3)]);
    }

    #[test]
    fn the_tree_nests_labels_in_the_order_of_their_values() {
        let found = surveyed("age\n31\n2\n1\n15\n", AGE);
        let all = applied(&found);
        let tree = all[0].tree(100);
        assert_eq!((tree.len(), tree[0].people, tree[0].below.len()), (1, 4, 2));
        let first: Vec<&str> = tree[0].below[0].below[0].below.iter().map(|own| own.label.as_str()).collect();
        assert_eq!(first, ["1", "2"]);
        assert!(all[0].tree(3)[0].below[0].below[0].below.is_empty(), "four values are too many");
        assert!(all[0].tree(0).is_empty());
    }
}
