//! Random small tables with random policies over them.

use kohort::methods::{Knowledge, Register, Requirement};
use kohort_core::number::K;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

/// How a quasi-identifier is generalized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No hierarchy.
    Flat,
    /// A file with an uneven tree.
    Tree,
    /// Whole numbers in intervals; some lie outside.
    Numbers,
    /// Text that keeps its first characters.
    Prefix,
}

/// The tree of [`Kind::Tree`]; `h` is not in it.
pub const TREE: &str = "a;x;p;*\nb;x;p;*\nc;y;p;*\nd;d;q;*\ne;e;q;*\nf;z;q;*\ng;g;g;*\n";
/// The tree of the sensitive values.
pub const SENSITIVE_TREE: &str = "0;low;*\n1;low;*\n2;high;*\n3;high;*\n4;high;*\n";

#[derive(Debug, Clone)]
pub struct Quasi {
    pub name: String,
    pub kind: Kind,
    /// Permitted levels, ascending.
    pub levels: Vec<usize>,
    pub weight: f64,
}

#[derive(Debug, Clone)]
pub struct Row {
    pub patient: String,
    /// `None` is missing.
    pub quasi: Vec<Option<String>>,
    pub sensitive: Vec<Option<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum L {
    Distinct(u64),
    Entropy(u64),
    /// c as numerator and denominator, and l.
    Recursive(u64, u64, usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum T {
    Equal,
    Ordered,
    Hierarchical,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Known {
    All,
    Any(usize),
    Sets(Vec<Vec<usize>>),
}

/// A share in hundredths.
pub type Hundredths = u64;

#[derive(Debug, Clone)]
pub struct Case {
    pub quasi: Vec<Quasi>,
    pub sensitive: usize,
    pub rows: Vec<Row>,
    pub patients: bool,
    pub k: u64,
    pub known: Known,
    pub confidence: Option<Hundredths>,
    /// The values confidence is about; `None`: all.
    pub listed: Option<Vec<String>>,
    pub l: Option<L>,
    pub t: Option<(Hundredths, T)>,
    pub max_suppressed: Hundredths,
    pub objective: &'static str,
    pub method: &'static str,
}

/// How a method is asked for in a policy; a line here varies its parameters.
pub fn method(name: &str, max_suppressed: &str, objective: &str) -> String {
    match name {
        "lattice" => {
            format!("[method]\nname = \"lattice\"\nmax_suppressed = {max_suppressed}\nobjective = \"{objective}\"\n")
        }
        // What is random for the others chooses the effort.
        "local" => {
            let effort = if objective == "loss" { "" } else { "effort = \"thorough\"\n" };
            format!("[method]\nname = \"local\"\nmax_suppressed = {max_suppressed}\n{effort}")
        }
        "specialize" => {
            let objective = if objective == "discernibility" { objective } else { "none" };
            format!("[method]\nname = \"specialize\"\nmax_suppressed = {max_suppressed}\nobjective = \"{objective}\"\n")
        }
        // What is random for the others chooses among its orders and remainders.
        "suppress" => {
            let how = match objective {
                "loss" => "",
                "precision" => "order = \"paper\"\n",
                "entropy" => "order = \"paper\"\nremainder = \"grow\"\n",
                _ => "remainder = \"grow\"\n",
            };
            format!("[method]\nname = \"suppress\"\n{how}")
        }
        // Chance is all that differs between two seeds: where nothing is drawn, nothing does.
        "ceiling" => {
            let how = match objective {
                "loss" => "h = \"auto\"\nreal_k = 1\nobjective = \"loss\"\npadding = \"exact\"",
                "precision" => "h = \"auto\"\nreal_k = 2",
                "entropy" => "h = 0.6\nreal_k = 1\nrecode = \"local\"",
                "discernibility" => "h = 0.8\nreal_k = 2\npadding = \"exact\"",
                _ => "h = \"auto\"\nreal_k = 2\nrecode = \"local\"\npadding = \"exact\"\nprefer = \"detail\"",
            };
            format!("[method]\nname = \"ceiling\"\n{how}\nmax_counterfeits = {max_suppressed}\n")
        }
        // A new method is asked for with its usual parameters.
        other => {
            let entry = Register::built_in().find(other).expect("a method of the register");
            format!("[method]\n{}", entry.usual(K::LEAST).expect("usual parameters").to_toml())
        }
    }
}

pub const OBJECTIVES: [&str; 5] = ["loss", "precision", "entropy", "discernibility", "class_size"];

/// Turns drawn numbers into choices, one after the other.
struct Dial<'a>(std::slice::Iter<'a, u8>);

impl Dial<'_> {
    fn below(&mut self, n: usize) -> usize {
        usize::from(*self.0.next().expect("enough dials")) % n
    }

    fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

type Drawn = (u8, [u8; 4], [u8; 2]);

/// Random cases; `unmapped`: trees may meet a value they do not hold.
pub fn cases(unmapped: bool) -> impl Strategy<Value = Case> {
    let row = (0u8..10, proptest::array::uniform4(0u8..24), proptest::array::uniform2(0u8..8));
    let rows = proptest::collection::vec(row, 1..45);
    (rows, proptest::collection::vec(any::<u8>(), 48)).prop_map(move |(rows, dials)| build(&rows, &dials, unmapped))
}

fn build(drawn: &[Drawn], dials: &[u8], unmapped: bool) -> Case {
    let mut dial = Dial(dials.iter());
    let quasi: Vec<Quasi> = (0..1 + dial.below(4)).map(|i| quasi(&mut dial, i)).collect();
    let missing = dial.below(3) > 0;
    let values: Vec<Vec<String>> = quasi.iter().map(|q| domain(q.kind, unmapped, dial.below(2) == 0)).collect();
    let plain = dial.below(3) == 0;
    let required = if plain { 0 } else { 1 + dial.below(7) };
    let sensitive = if plain { dial.below(2) } else { 1 + dial.below(2) };
    let crowd = 1 + dial.below(4);
    let rows = drawn.iter().enumerate().map(|(i, (patient, cells, secrets))| Row {
        patient: format!("P{}", usize::from(*patient) + 10 * (i % crowd)),
        quasi: values
            .iter()
            .zip(cells)
            .map(|(values, &c)| (c < 23 || !missing).then(|| values[usize::from(c) % values.len()].clone()))
            .collect(),
        sensitive: (0..sensitive).map(|s| (secrets[s] < 7).then(|| (secrets[s] % 5).to_string())).collect(),
    });
    let rows = rows.collect();
    let known = known(&mut dial, quasi.len());
    let confidence = dial.one_of(&[30, 50, 60, 75, 100]);
    let listed = dial.one_of(&[None, Some(vec!["1".to_string(), "3".to_string()])]);
    let l = dial.one_of(&[
        L::Distinct(2),
        L::Distinct(3),
        L::Entropy(2),
        L::Entropy(3),
        L::Recursive(3, 2, 2),
        L::Recursive(2, 1, 2),
        L::Recursive(3, 1, 3),
    ]);
    let t = (dial.one_of(&[0, 10, 25, 40, 60]), dial.one_of(&[T::Equal, T::Ordered, T::Hierarchical]));
    Case {
        quasi,
        sensitive,
        rows,
        patients: dial.below(2) == 0,
        k: 2 + dial.below(4) as u64,
        known,
        confidence: (required & 1 != 0).then_some(confidence),
        listed,
        l: (required & 2 != 0).then_some(l),
        t: (required & 4 != 0).then_some(t),
        max_suppressed: dial.one_of(&[0, 10, 50, 100]),
        objective: dial.one_of(&OBJECTIVES),
        method: "lattice",
    }
}

fn quasi(dial: &mut Dial, i: usize) -> Quasi {
    let kind = dial.one_of(&[Kind::Flat, Kind::Tree, Kind::Numbers, Kind::Prefix]);
    let all: Vec<usize> = (0..=kind.height()).collect();
    let some = dial.below(16);
    let levels = match dial.below(3) {
        0 => all.iter().copied().filter(|l| some >> l & 1 == 1).collect(),
        _ => all.clone(),
    };
    Quasi {
        name: format!("q{i}"),
        kind,
        levels: if levels.is_empty() { all } else { levels },
        weight: dial.one_of(&[1.0, 1.0, 2.0, 0.5]),
    }
}

fn domain(kind: Kind, unmapped: bool, few: bool) -> Vec<String> {
    let words: &[&str] = match kind {
        Kind::Flat => &["a", "b", "c"],
        Kind::Tree if unmapped => &["a", "b", "c", "d", "h", "e", "f", "g", "i"],
        Kind::Tree => &["a", "b", "c", "d", "e", "f", "g"],
        Kind::Numbers => &["0", "1", "4", "11", "12", "-1", "2", "3", "7", "8", "013", "05"],
        Kind::Prefix => &["aaa", "aab", "aba", "ab", "baa", "b", "bab", "äöü"],
    };
    let most = if few { 3 } else { words.len() };
    words.iter().take(most).map(|w| w.to_string()).collect()
}

fn known(dial: &mut Dial, columns: usize) -> Known {
    match dial.below(4) {
        0 | 1 => Known::All,
        2 => Known::Any(1 + dial.below(columns)),
        _ => {
            let mut sets: Vec<Vec<usize>> = (0..1 + dial.below(3))
                .map(|_| dial.below(15) + 1)
                .map(|mask| (0..columns).filter(|c| mask >> c & 1 == 1).collect())
                .filter(|set: &Vec<usize>| !set.is_empty())
                .collect();
            let never = (0..columns).filter(|c| !sets.iter().any(|s| s.contains(c))).collect::<Vec<_>>();
            sets.extend(never.into_iter().map(|c| vec![c]));
            sets.sort();
            sets.dedup();
            Known::Sets(sets)
        }
    }
}

impl Kind {
    /// The number of the `*` level.
    pub fn height(self) -> usize {
        if self == Kind::Flat { 1 } else { 3 }
    }
}

impl Case {
    /// Writes table, hierarchies and policy into `folder`; returns the policy's path.
    pub fn write(&self, folder: &Path) -> PathBuf {
        fs::write(folder.join("tree.csv"), TREE).unwrap();
        fs::write(folder.join("secrets.csv"), SENSITIVE_TREE).unwrap();
        fs::write(folder.join("table.csv"), self.table()).unwrap();
        let path = folder.join("policy.toml");
        fs::write(&path, self.policy()).unwrap();
        path
    }

    /// The table as text; missing is empty in even rows, NA in odd ones.
    pub fn table(&self) -> String {
        let mut names = vec!["pid".to_string()];
        names.extend(self.quasi.iter().map(|q| q.name.clone()));
        names.extend((0..self.sensitive).map(|s| format!("s{s}")));
        let mut text = names.join(",") + "\n";
        for (i, row) in self.rows.iter().enumerate() {
            let cell = |c: &Option<String>| c.clone().unwrap_or_else(|| ["", "NA"][i % 2].to_string());
            let cells = std::iter::once(row.patient.clone()).chain(row.quasi.iter().chain(&row.sensitive).map(cell));
            text += &(cells.collect::<Vec<_>>().join(",") + "\n");
        }
        text
    }

    /// The policy as text.
    pub fn policy(&self) -> String {
        let role = if self.patients { "patient" } else { "identifier" };
        let mut text =
            format!("[input]\ntable = \"table.csv\"\nmissing = [\"NA\"]\n[columns]\npid = {{ role = \"{role}\" }}\n");
        for q in &self.quasi {
            let hierarchy = match q.kind {
                Kind::Flat => "",
                Kind::Tree => ", hierarchy = \"tree.csv\", unmapped = \"suppress\"",
                Kind::Numbers => ", hierarchy = { intervals = [3, 6], from = 0, to = 12 }",
                Kind::Prefix => ", hierarchy = { prefix = [2, 1] }",
            };
            text += &format!(
                "{} = {{ role = \"quasi\"{hierarchy}, levels = {:?}, weight = {} }}\n",
                q.name, q.levels, q.weight
            );
        }
        let tree = if matches!(self.t, Some((_, T::Hierarchical))) { ", hierarchy = \"secrets.csv\"" } else { "" };
        // Only what is listed may be invented.
        let tree = match self.method == "ceiling" && tree.is_empty() {
            true => ", domain = [\"0\", \"1\", \"2\", \"3\", \"4\"]",
            false => tree,
        };
        let values = self.listed.as_ref().map_or(String::new(), |v| format!(", values = {v:?}"));
        for s in 0..self.sensitive {
            text += &format!("s{s} = {{ role = \"sensitive\"{tree}{values} }}\n");
        }
        text += &format!("[privacy]\nk = {}\n", self.k);
        match &self.known {
            Known::All => text += "knows = \"all\"\n",
            Known::Any(n) => text += &format!("knows = {n}\n"),
            Known::Sets(sets) => {
                let names: Vec<Vec<&str>> =
                    sets.iter().map(|s| s.iter().map(|&c| self.quasi[c].name.as_str()).collect()).collect();
                text += &format!("knows = {names:?}\n");
            }
        }
        let share = |h: Hundredths| format!("{}.{:02}", h / 100, h % 100);
        if let Some(c) = self.confidence {
            text += &format!("confidence = {}\n", share(c));
        }
        match self.l {
            None => {}
            Some(L::Distinct(l)) => text += &format!("l_diversity = {{ distinct = {l} }}\n"),
            Some(L::Entropy(l)) => text += &format!("l_diversity = {{ entropy = {l} }}\n"),
            Some(L::Recursive(num, den, l)) => {
                text += &format!("l_diversity = {{ recursive = [{}, {l}] }}\n", num as f64 / den as f64);
            }
        }
        if let Some((max, distance)) = self.t {
            let name = match distance {
                T::Equal => "equal",
                T::Ordered => "ordered",
                T::Hierarchical => "hierarchical",
            };
            text += &format!("t_closeness = {{ max = {}, distance = \"{name}\" }}\n", share(max));
        }
        text + &method(self.method, &share(self.max_suppressed), self.objective)
    }

    /// The same case by another method; one that takes no listed sets gets a number, one that takes no
    /// less than all gets all.
    pub fn by(&self, method: &'static str) -> Case {
        let entry = Register::built_in().find(method).expect("a method of the register");
        let takes = |knowledge| entry.knows.contains(&knowledge);
        let known = match &self.known {
            Known::Sets(sets) if !takes(Knowledge::Sets) && takes(Knowledge::Any) => Known::Any(sets[0].len()),
            Known::Sets(_) if !takes(Knowledge::Sets) => Known::All,
            Known::Any(_) if !takes(Knowledge::Any) => Known::All,
            known => known.clone(),
        };
        let meets = |requirement| entry.requirements.contains(&requirement);
        let mut case = Case { method, known, ..self.clone() };
        case.confidence = case.confidence.filter(|_| meets(Requirement::Confidence));
        case.l = case.l.filter(|_| meets(Requirement::LDiversity));
        case.t = case.t.filter(|_| meets(Requirement::TCloseness));
        case
    }

    /// Whether anything is required of sensitive values.
    pub fn requires(&self) -> bool {
        self.confidence.is_some() || self.l.is_some() || self.t.is_some()
    }
}
