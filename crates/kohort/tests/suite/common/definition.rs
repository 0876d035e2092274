//! The definitions, slow and plain, written from the design and not from the code: labels, classes,
//! the suppression rule, objectives.

use super::case::{Case, Kind, Known, L, T, TREE};
use std::collections::{BTreeMap, BTreeSet};

/// The labels of a value from level 0 up to the one below `*`; `None`: the hierarchy does not hold it.
pub fn path(kind: Kind, value: &str) -> Option<Vec<String>> {
    let text = |labels: &[&str]| Some(labels.iter().map(|l| l.to_string()).collect());
    match kind {
        Kind::Flat => text(&[value]),
        Kind::Tree => TREE.lines().find(|l| l.split(';').next() == Some(value)).and_then(|line| {
            let labels: Vec<&str> = line.split(';').collect();
            text(&labels[..3])
        }),
        Kind::Numbers => match value.parse::<i64>().ok()? {
            n if n < 0 => text(&["<0"; 3]),
            n if n >= 12 => text(&[">=12"; 3]),
            n => {
                let interval = |width: i64| format!("[{},{})", n / width * width, n / width * width + width);
                text(&[value, &interval(3), &interval(6)])
            }
        },
        Kind::Prefix => {
            let short = |length: usize| match value.chars().count() > length {
                true => value.chars().take(length).collect::<String>() + "*",
                false => value.to_string(),
            };
            text(&[value, &short(2), &short(1)])
        }
    }
}

/// What a cell shows at a level.
pub fn label(kind: Kind, value: Option<&str>, level: usize) -> String {
    if level == kind.height() {
        return "*".into();
    }
    match value {
        None => String::new(),
        Some(value) => path(kind, value).map_or("*".into(), |labels| labels[level].clone()),
    }
}

/// Everything a cell with this value may show: itself and its ancestors.
pub fn ancestors(kind: Kind, value: Option<&str>) -> BTreeSet<String> {
    (0..=kind.height()).map(|level| label(kind, value, level)).collect()
}

/// Columns an adversary may know together.
pub fn sets(case: &Case) -> Vec<Vec<usize>> {
    let columns = case.quasi.len();
    let subsets = |sizes: std::ops::RangeInclusive<usize>| -> Vec<Vec<usize>> {
        (1..1usize << columns)
            .map(|mask| (0..columns).filter(|c| mask >> c & 1 == 1).collect::<Vec<_>>())
            .filter(|s| sizes.contains(&s.len()))
            .collect()
    };
    match &case.known {
        Known::All => vec![(0..columns).collect()],
        // Fewer known values match unions of classes: with rows as the unit what holds for the parts holds for them.
        Known::Any(n) if case.patients && case.requires() => subsets(1..=*n),
        Known::Any(n) => subsets((*n).min(columns)..=*n),
        Known::Sets(sets) => sets.clone(),
    }
}

/// People of some rows: patients, or the rows themselves.
pub fn people(case: &Case, rows: &[usize]) -> usize {
    match case.patients {
        true => rows.iter().map(|&r| &case.rows[r].patient).collect::<BTreeSet<_>>().len(),
        false => rows.len(),
    }
}

/// Who has which value of a sensitive column among some rows: value → people.
pub fn values(case: &Case, rows: &[usize], column: usize) -> BTreeMap<String, BTreeSet<String>> {
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for &r in rows {
        if let Some(value) = &case.rows[r].sensitive[column] {
            let person = if case.patients { case.rows[r].patient.clone() } else { r.to_string() };
            values.entry(value.clone()).or_default().insert(person);
        }
    }
    values
}

/// The highest share of a listed value: people who have it, people who have any.
pub fn confidence(case: &Case, rows: &[usize], column: usize) -> (u64, u64) {
    let values = values(case, rows, column);
    let anybody: BTreeSet<&String> = values.values().flatten().collect();
    let listed = |v: &String| case.listed.as_ref().is_none_or(|l| l.contains(v));
    let hits = values.iter().filter(|(v, _)| listed(v)).map(|(_, p)| p.len()).max().unwrap_or(0);
    (hits as u64, anybody.len() as u64)
}

/// Whether a class of rows meets everything, in a table of rows `table`.
pub fn meets(case: &Case, class: &[usize], table: &[usize]) -> bool {
    if (people(case, class) as u64) < case.k {
        return false;
    }
    if !case.requires() {
        return true;
    }
    (0..case.sensitive).all(|column| {
        let (hits, anybody) = confidence(case, class, column);
        let counts: BTreeMap<String, u64> =
            values(case, class, column).into_iter().map(|(v, p)| (v, p.len() as u64)).collect();
        case.confidence.is_none_or(|c| hits * 100 <= anybody * c)
            && case.l.is_none_or(|l| counts.is_empty() || diverse(&counts, l))
            && case.t.is_none_or(|(max, distance)| {
                let all = values(case, table, column).into_iter().map(|(v, p)| (v, p.len() as u64)).collect();
                counts.is_empty() || near(&counts, &all, max, distance)
            })
    })
}

fn diverse(counts: &BTreeMap<String, u64>, l: L) -> bool {
    let total: u64 = counts.values().sum();
    match l {
        L::Distinct(l) => counts.len() as u64 >= l,
        L::Entropy(l) => {
            let first = counts.values().next();
            if counts.values().all(|c| Some(c) == first) {
                return counts.len() as u64 >= l;
            }
            let share = |c: &u64| *c as f64 / total as f64;
            let entropy: f64 = counts.values().map(|c| -share(c) * share(c).ln()).sum();
            entropy >= (l as f64).ln() + 1e-9
        }
        L::Recursive(num, den, l) => {
            let mut sorted: Vec<u64> = counts.values().copied().collect();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            sorted[0] * den < num * sorted.iter().skip(l - 1).sum::<u64>()
        }
    }
}

/// The earth mover's distance in exact numbers: extras are times n × N.
fn near(class: &BTreeMap<String, u64>, table: &BTreeMap<String, u64>, max: u64, distance: T) -> bool {
    let (n, all): (u64, u64) = (class.values().sum(), table.values().sum());
    let extra = |v: &String| {
        class.get(v).copied().unwrap_or(0) as i64 * all as i64 - table.get(v).copied().unwrap_or(0) as i64 * n as i64
    };
    let full = (n * all) as i64;
    // work / (parts × full) is the distance.
    let (work, parts): (i64, i64) = match distance {
        T::Equal => (table.keys().map(|v| extra(v).abs()).sum(), 2),
        T::Ordered => {
            // The values are single digits: their text is in their order.
            let mut carried = 0;
            let work = table.keys().map(|v| {
                carried += extra(v);
                carried.abs()
            });
            (work.sum(), (table.len() as i64 - 1).max(1))
        }
        T::Hierarchical => {
            // Every edge of the tree is as long as the others: two leaves under one parent are 2 edges = 1/2 apart. Where
            // all values are under one parent, the steps above it join nothing, and two leaves are the whole tree apart.
            let is_low = |v: &String| v.as_str() < "2";
            let leaves: i64 = table.keys().map(|v| extra(v).abs()).sum();
            let half = |low: bool| table.keys().filter(|v| is_low(v) == low).map(extra).sum::<i64>().abs();
            match table.keys().any(is_low) && !table.keys().all(is_low) {
                true => (leaves + half(true) + half(false), 4),
                false => (leaves, 2),
            }
        }
    };
    work * 100 <= max as i64 * parts * full
}

/// Labels of every quasi-identifier at every level, as numbers: `[column][level][row]`.
pub struct Labels(Vec<Vec<Vec<u32>>>);

impl Labels {
    pub fn of(case: &Case) -> Labels {
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let columns = case.quasi.iter().enumerate().map(|(c, q)| {
            let level = |level: usize| {
                let number = |row: &super::case::Row| {
                    let next = numbers.len() as u32;
                    *numbers.entry(label(q.kind, row.quasi[c].as_deref(), level)).or_insert(next)
                };
                case.rows.iter().map(number).collect()
            };
            (0..=q.kind.height()).map(level).collect()
        });
        Labels(columns.collect())
    }

    /// The rows of each class over a set of columns at these levels, among the rows kept.
    pub fn classes(&self, levels: &[usize], set: &[usize], kept: &[bool]) -> Vec<Vec<usize>> {
        let mut classes: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
        for r in (0..kept.len()).filter(|&r| kept[r]) {
            classes.entry(set.iter().map(|&c| self.0[c][levels[c]][r]).collect()).or_default().push(r);
        }
        classes.into_values().collect()
    }
}

/// The rule: the records of all failing classes over all sets go together, then all is counted
/// again, until none fails. By row: whether it stays.
pub fn rule(case: &Case, labels: &Labels, levels: &[usize]) -> Vec<bool> {
    let mut kept = vec![true; case.rows.len()];
    let sets = sets(case);
    loop {
        let table: Vec<usize> = (0..kept.len()).filter(|&r| kept[r]).collect();
        let failing: Vec<usize> = sets
            .iter()
            .flat_map(|set| labels.classes(levels, set, &kept))
            .filter(|class| !meets(case, class, &table))
            .flatten()
            .collect();
        if failing.is_empty() {
            return kept;
        }
        failing.into_iter().for_each(|r| kept[r] = false);
    }
}

/// Every node of the lattice.
pub fn nodes(case: &Case) -> Vec<Vec<usize>> {
    let mut nodes = vec![Vec::new()];
    for q in &case.quasi {
        nodes = nodes.iter().flat_map(|n| q.levels.iter().map(move |&l| [&n[..], &[l]].concat())).collect();
    }
    nodes
}

/// What a cell of a column loses at a level, from 0 to 1, and the same for a deleted one.
pub struct Column<'a> {
    case: &'a Case,
    column: usize,
    /// Distinct values, missing included.
    distinct: BTreeSet<Option<String>>,
}

impl<'a> Column<'a> {
    pub fn of(case: &'a Case, column: usize) -> Column<'a> {
        Column { case, column, distinct: case.rows.iter().map(|r| r.quasi[column].clone()).collect() }
    }

    pub fn leaves(&self) -> usize {
        let missing = usize::from(self.distinct.contains(&None));
        match self.case.quasi[self.column].kind {
            Kind::Flat | Kind::Prefix => self.distinct.len(),
            Kind::Tree => TREE.lines().count() + missing,
            Kind::Numbers => {
                let shown: BTreeSet<String> =
                    self.distinct.iter().flatten().map(|v| label(Kind::Numbers, Some(v), 0)).collect();
                12 + missing + shown.iter().filter(|l| *l == "<0" || *l == ">=12").count()
            }
        }
    }

    fn leaves_under(&self, value: Option<&str>, level: usize) -> usize {
        let kind = self.case.quasi[self.column].kind;
        let shown = label(kind, value, level);
        match kind {
            _ if value.is_none() => 1,
            Kind::Flat => 1,
            Kind::Prefix => self.distinct.iter().flatten().filter(|v| label(kind, Some(v), level) == shown).count(),
            Kind::Tree => TREE.lines().filter(|line| line.split(';').any(|l| l == shown)).count(),
            Kind::Numbers => (0..12).filter(|n| label(kind, Some(&n.to_string()), level) == shown).count().max(1),
        }
    }

    pub fn loss(&self, value: Option<&str>, level: usize) -> f64 {
        let (kind, leaves) = (self.case.quasi[self.column].kind, self.leaves());
        if leaves == 1 {
            return 0.0;
        }
        match label(kind, value, level) == "*" {
            true => 1.0,
            false => (self.leaves_under(value, level) - 1) as f64 / (leaves - 1) as f64,
        }
    }

    pub fn imprecision(&self, value: Option<&str>, level: usize) -> f64 {
        let kind = self.case.quasi[self.column].kind;
        if label(kind, value, level) == "*" { 1.0 } else { level as f64 / kind.height() as f64 }
    }

    /// Bits lost about the cell; `None` for the level: it is deleted.
    pub fn bits(&self, value: Option<&str>, level: Option<usize>) -> f64 {
        let kind = self.case.quasi[self.column].kind;
        let rows = &self.case.rows;
        let shown = level.map(|l| label(kind, value, l)).filter(|l| l != "*");
        let like = rows.iter().filter(|r| {
            shown.as_ref().is_none_or(|s| label(kind, r.quasi[self.column].as_deref(), level.unwrap_or(0)) == *s)
        });
        let own = rows.iter().filter(|r| r.quasi[self.column].as_deref() == value).count();
        (like.count() as f64 / own as f64).log2()
    }
}

/// The value of an objective at a node with these rows kept: lower is better.
pub fn objective(case: &Case, labels: &Labels, name: &str, levels: &[usize], kept: &[bool]) -> f64 {
    let all: Vec<usize> = (0..case.quasi.len()).collect();
    let rows = kept.len() as f64;
    let gone = kept.iter().filter(|k| !**k).count() as f64;
    let classes = || labels.classes(levels, &all, kept);
    match name {
        "discernibility" => classes().iter().map(|c| (c.len() * c.len()) as f64).sum::<f64>() + gone * rows,
        "class_size" => rows / classes().len() as f64,
        _ => {
            let weights: f64 = case.quasi.iter().map(|q| q.weight).sum();
            let mut sum = 0.0;
            for (c, q) in case.quasi.iter().enumerate() {
                let column = Column::of(case, c);
                for (row, &kept) in case.rows.iter().zip(kept) {
                    let value = row.quasi[c].as_deref();
                    sum += q.weight
                        * match (name, kept) {
                            ("loss", true) => column.loss(value, levels[c]),
                            ("precision", true) => column.imprecision(value, levels[c]),
                            ("entropy", true) => column.bits(value, Some(levels[c])),
                            ("entropy", false) => column.bits(value, None),
                            _ => 1.0,
                        };
                }
            }
            sum / (rows * weights)
        }
    }
}
