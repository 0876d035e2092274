//! Every table of so many rows over a few values, and a policy for all of them.

use crate::dice::Dice;
use std::fmt::Write;

/// The labels that a quasi-identifier may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// So many values, and `*`.
    Flat(usize),
    /// 0 and 1 lie under x, 2 under y.
    Tree,
    /// The numbers 0 to 3 in intervals of 1 and 2 that begin at -1, so that a class may show the range of its own ones:
    /// between -1, 1, 3 and 5 there is room for two numbers.
    Numbers,
}

/// The file of [`Domain::Tree`].
pub const TREE: &str = "0;x;*\n1;x;*\n2;y;*\n";

impl Domain {
    /// Returns how many values there are.
    pub fn values(self) -> usize {
        match self {
            Domain::Flat(n) => n,
            Domain::Tree => 3,
            Domain::Numbers => 4,
        }
    }

    /// Its hierarchy in a policy.
    fn hierarchy(self) -> &'static str {
        match self {
            Domain::Flat(_) => "",
            Domain::Tree => ", hierarchy = \"tree.csv\"",
            Domain::Numbers => ", hierarchy = { intervals = [1, 2], from = -1, to = 5 }",
        }
    }

    /// Keys of a column that restrict its levels or weigh it.
    fn some_keys(self, dice: &mut Dice) -> &'static str {
        match self {
            Domain::Flat(_) => dice.one_of(&["", ", weight = 3"]),
            Domain::Tree => dice.one_of(&[", levels = [1, \"*\"]", ", levels = [0, \"*\"]", ", weight = 2"]),
            Domain::Numbers => {
                dice.one_of(&[", levels = [2, \"*\"]", ", levels = [1, 2, \"*\"]", ", levels = [0, 2, \"*\"]"])
            }
        }
    }

    /// Returns whether a cell that shows this label may stand for this value.
    pub fn may_show(self, value: usize, label: &str) -> bool {
        label == "*"
            || label == value.to_string()
            || (self == Domain::Tree && label == if value < 2 { "x" } else { "y" })
            || (self == Domain::Numbers && is_within(value, label))
    }
}

/// Returns whether a number is in a range such as `[1,3)`.
fn is_within(value: usize, label: &str) -> bool {
    let ends = label.strip_prefix('[').and_then(|own| own.strip_suffix(')')).and_then(|own| own.split_once(','));
    let ends = ends.and_then(|(from, to)| Some((from.parse::<i64>().ok()?, to.parse::<i64>().ok()?)));
    ends.is_some_and(|(from, to)| (from..to).contains(&(value as i64)))
}

/// The column beside the quasi-identifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secret {
    /// There is none.
    None,
    /// A sensitive one with so many values.
    Sensitive(usize),
    /// Two sensitive ones, named s and u, with so many values each.
    Two(usize, usize),
    /// A class column with so many values.
    Class(usize),
}

impl Secret {
    /// Returns how many values it has; one where there is none.
    pub fn values(self) -> usize {
        match self {
            Secret::None => 1,
            Secret::Sensitive(n) | Secret::Class(n) => n,
            Secret::Two(n, m) => n * m,
        }
    }

    /// The columns that hold it.
    pub fn columns(self) -> &'static [&'static str] {
        match self {
            Secret::None => &[],
            Secret::Sensitive(_) | Secret::Class(_) => &["s"],
            Secret::Two(..) => &["s", "u"],
        }
    }

    /// The value of a secret in one of its columns, and how many values that column has.
    pub fn part(self, secret: usize, column: &str) -> (usize, usize) {
        match self {
            Secret::Two(n, m) if column == "u" => (secret / n, m),
            Secret::Two(n, _) => (secret % n, n),
            _ => (secret, self.values()),
        }
    }
}

/// The requirements, by the word under which they are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Requirement {
    /// k over all quasi-identifiers.
    K,
    /// k over any N of them.
    Any,
    /// k over listed sets.
    Sets,
    /// k, and confidence in sensitive values.
    Confidence,
    /// k, and l-diversity.
    L,
    /// k, and t-closeness.
    T,
    /// k patients, who may have several rows.
    Patients,
    /// k, where what is split follows a class column.
    Class,
    /// k, where only some levels of a hierarchy are permitted, or columns have weights.
    Levels,
    /// k, and a limit on each of two sensitive columns.
    Two,
    /// k patients, who may have several rows, and confidence.
    PatientsConfidence,
    /// k patients, each of whom has one row.
    PatientsOnce,
}

impl Requirement {
    /// Its name in tables of counts.
    pub fn name(self) -> &'static str {
        match self {
            Requirement::K => "k",
            Requirement::Any => "k, any N known",
            Requirement::Sets => "k, listed sets",
            Requirement::Confidence => "confidence",
            Requirement::L => "l-diversity",
            Requirement::T => "t-closeness",
            Requirement::Patients => "k patients",
            Requirement::Class => "k, class column",
            Requirement::Levels => "k, restricted levels",
            Requirement::Two => "two sensitive columns",
            Requirement::PatientsConfidence => "confidence, patients",
            Requirement::PatientsOnce => "k patients, one row",
        }
    }

    /// Those that a method for tables takes.
    pub fn of(method: &str) -> &'static [Requirement] {
        use Requirement::*;
        match method {
            "lattice" => &[K, Any, Sets, Confidence, L, T, Patients, Levels, Two, PatientsConfidence, PatientsOnce],
            "specialize" => &[K, Any, Confidence, L, T, Class, Patients, Levels, Two, PatientsConfidence],
            "suppress" => &[K, Any, Sets, Confidence, L, T, Two, Patients, PatientsConfidence, PatientsOnce],
            "local" => &[K, Any, Sets, Confidence, L, T, Patients, Levels, Two, PatientsConfidence, PatientsOnce],
            _ => &[K, Confidence, L, T, Patients, Levels, Two, PatientsConfidence],
        }
    }

    /// Returns whether people are patients.
    pub fn has_patients(self) -> bool {
        matches!(self, Requirement::Patients | Requirement::PatientsConfidence | Requirement::PatientsOnce)
    }

    /// Returns whether sensitive values are limited.
    pub fn has_limits(self) -> bool {
        use Requirement::*;
        matches!(self, Confidence | L | T | Two | PatientsConfidence)
    }

    /// Returns whether people may have several rows.
    pub fn has_several_rows(self) -> bool {
        self.has_patients() && self != Requirement::PatientsOnce
    }
}

/// A person: the value of each quasi-identifier in each of their rows, and the secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Person {
    /// The rows: numbers of combinations of quasi-identifier values.
    pub rows: Vec<usize>,
    /// The secret of all of them.
    pub secret: usize,
}

/// All originals of so many people, and the policy under which they are released.
#[derive(Debug, Clone)]
pub struct Universe {
    /// The method's name.
    pub method: &'static str,
    /// The requirement.
    pub requirement: Requirement,
    /// The quasi-identifiers, named a, b, c.
    pub columns: Vec<Domain>,
    /// Further keys of these columns in the policy, where there are any.
    pub keys: Vec<&'static str>,
    /// The column beside them, named s.
    pub secret: Secret,
    /// The kinds of people there may be, and how likely each is, in proportion.
    pub kinds: Vec<(Person, f64)>,
    /// The number of people.
    pub people: usize,
    /// k.
    pub k: u64,
    /// `[privacy]` and `[method]`, as in a policy file.
    pub policy: String,
    /// `real_k`, the share that may be invented in percent, and whether padding is exact, where rows are invented.
    pub invents: Option<(u64, u64, bool)>,
}

const NAMES: [&str; 3] = ["a", "b", "c"];

impl Universe {
    /// A random one with at most so many originals.
    pub fn random(method: &'static str, requirement: Requirement, most: u64, dice: &mut Dice) -> Universe {
        loop {
            let universe = Universe::draw(method, requirement, dice);
            if (2..=most).contains(&universe.originals()) {
                return universe;
            }
        }
    }

    fn draw(method: &'static str, requirement: Requirement, dice: &mut Dice) -> Universe {
        let several = matches!(requirement, Requirement::Any | Requirement::Sets);
        let width = if several { 2 + dice.below(2) } else { 1 + dice.below(3) };
        // Ranges are labels of `local` alone.
        let last = if method == "local" { Domain::Numbers } else { Domain::Flat(2) };
        let domains = [Domain::Flat(2), last, Domain::Flat(3), Domain::Tree];
        let mut columns: Vec<Domain> = (0..width).map(|_| dice.one_of(&domains)).collect();
        let mut keys = Vec::new();
        if requirement == Requirement::Levels {
            columns[0] = if method == "local" { dice.one_of(&[Domain::Tree, Domain::Numbers]) } else { Domain::Tree };
            keys = columns.iter().map(|domain| domain.some_keys(dice)).collect();
        }
        let secret = match requirement {
            Requirement::Confidence | Requirement::L | Requirement::T => Secret::Sensitive(2 + dice.below(2)),
            Requirement::Class => Secret::Class(2),
            Requirement::Patients | Requirement::PatientsOnce => Secret::None,
            Requirement::PatientsConfidence => Secret::Sensitive(2),
            Requirement::Two => Secret::Two(2, 2),
            _ => dice.one_of(&[Secret::None, Secret::Sensitive(2), Secret::Sensitive(3)]),
        };
        let k = 2 + dice.below(2) as u64;
        let invents = (method == "ceiling")
            .then(|| (1 + dice.below(k as usize) as u64, dice.one_of(&[50, 100]), dice.below(2) == 0));
        let mut policy = format!("[privacy]\nk = {k}\n");
        let names = &NAMES[..width];
        match requirement {
            Requirement::Any => writeln!(policy, "knows = {}", 1 + dice.below(width - 1)),
            Requirement::Sets => {
                let first: Vec<&str> = names[..width - 1].to_vec();
                let second: Vec<&str> = names[1..].to_vec();
                writeln!(policy, "knows = [{first:?}, {second:?}]")
            }
            Requirement::Two => {
                let of =
                    ["confidence = 0.67", "confidence = 0.75", "l_diversity = { distinct = 2 }", "t_closeness = 0.34"];
                writeln!(policy, "{}", dice.one_of(&of))
            }
            Requirement::Confidence | Requirement::PatientsConfidence => {
                writeln!(policy, "confidence = {}", dice.one_of(&["0.5", "0.6", "0.67", "0.75"]))
            }
            Requirement::L => {
                let of = ["{ distinct = 2 }", "{ entropy = 2 }", "{ recursive = [2, 2] }"];
                writeln!(policy, "l_diversity = {}", dice.one_of(&of))
            }
            Requirement::T => {
                let of = ["0.2", "0.34", "0.5", "{ max = 0.34, distance = \"ordered\" }"];
                writeln!(policy, "t_closeness = {}", dice.one_of(&of))
            }
            _ => Ok(()),
        }
        .unwrap_or_default();
        policy += &method_text(method, requirement, invents, dice);
        let rows = columns.iter().map(|c| c.values()).product();
        let mut universe = Universe {
            method,
            requirement,
            columns,
            keys,
            secret,
            kinds: Vec::new(),
            people: k as usize + dice.below(4),
            k,
            policy,
            invents,
        };
        // Secrets do not depend on quasi-identifiers: who knows how they do is another reader.
        let own: Vec<f64> = (0..universe.secret.values()).map(|_| 1.0 + dice.below(3) as f64).collect();
        universe.kinds = kinds(rows, requirement.has_several_rows(), dice)
            .into_iter()
            .flat_map(|(rows, weight)| {
                let person = move |(secret, own): (usize, &f64)| (Person { rows: rows.clone(), secret }, weight * own);
                own.iter().enumerate().map(person).collect::<Vec<_>>()
            })
            .collect();
        universe
    }

    /// Returns how many originals there are; more than 2⁴⁰ count as that.
    pub fn originals(&self) -> u64 {
        let mut count: u64 = 1;
        for i in 0..self.people as u64 {
            count = count.saturating_mul(self.kinds.len() as u64 + i).min(1 << 40) / (i + 1);
        }
        count
    }

    /// The value of a quasi-identifier in a combination.
    pub fn value(&self, combination: usize, column: usize) -> usize {
        let below: usize = self.columns[..column].iter().map(|c| c.values()).product();
        combination / below % self.columns[column].values()
    }

    /// The policy file over `table.csv`.
    pub fn policy_text(&self) -> String {
        let mut text = "[input]\ntable = \"table.csv\"\n[columns]\n".to_string();
        let role = if self.requirement.has_patients() { "patient" } else { "identifier" };
        text += &format!("id = {{ role = \"{role}\" }}\n");
        for (at, (name, domain)) in NAMES.iter().zip(&self.columns).enumerate() {
            let (hierarchy, keys) = (domain.hierarchy(), self.keys.get(at).unwrap_or(&""));
            text += &format!("{name} = {{ role = \"quasi\"{hierarchy}{keys} }}\n");
        }
        for column in self.secret.columns() {
            let values = self.secret.part(0, column).1;
            let listed: Vec<String> = (0..values).map(|s| format!("s{s}")).collect();
            text += &match self.secret {
                Secret::Class(_) => format!("{column} = {{ role = \"class\" }}\n"),
                _ => format!("{column} = {{ role = \"sensitive\", domain = {listed:?} }}\n"),
            };
        }
        text + &self.policy
    }

    /// The cells of a row: quasi-identifiers, then the secret.
    pub fn cells(&self, combination: usize, secret: usize) -> Vec<String> {
        let mut cells: Vec<String> = (0..self.columns.len()).map(|c| self.value(combination, c).to_string()).collect();
        cells.extend(self.secret.columns().iter().map(|column| format!("s{}", self.secret.part(secret, column).0)));
        cells
    }

    /// An original as the file `table.csv`.
    pub fn table_text(&self, people: &[usize]) -> String {
        let mut header = vec!["id"];
        header.extend(&NAMES[..self.columns.len()]);
        header.extend(self.secret.columns());
        let mut text = header.join(",") + "\n";
        for (id, &kind) in people.iter().enumerate() {
            let person = &self.kinds[kind].0;
            for &row in &person.rows {
                text += &format!("P{id},{}\n", self.cells(row, person.secret).join(","));
            }
        }
        text
    }

    /// Calls `each` with every original: the kinds of its people, ascending, and how likely it is.
    pub fn each_original(&self, mut each: impl FnMut(&[usize], f64)) {
        let mut people = vec![0; self.people];
        loop {
            let mut weight = (1..=self.people).map(|n| n as f64).product::<f64>();
            for same in people.chunk_by(|a, b| a == b) {
                weight /= (1..=same.len()).map(|n| n as f64).product::<f64>();
                weight *= self.kinds[same[0]].1.powi(same.len() as i32);
            }
            each(&people, weight);
            let Some(at) = people.iter().rposition(|&p| p + 1 < self.kinds.len()) else { return };
            let next = people[at] + 1;
            people[at..].fill(next);
        }
    }
}

/// Rows a person may have, and how likely that is: one, or where people may have several one or two.
fn kinds(combinations: usize, several: bool, dice: &mut Dice) -> Vec<(Vec<usize>, f64)> {
    let weights: Vec<f64> = (0..combinations).map(|_| 1.0 + dice.below(4) as f64).collect();
    let mut kinds: Vec<(Vec<usize>, f64)> = (0..combinations).map(|c| (vec![c], weights[c])).collect();
    if several {
        for a in 0..combinations {
            for b in a..combinations {
                let orders = if a == b { 1.0 } else { 2.0 };
                kinds.push((vec![a, b], orders * weights[a] * weights[b] / 4.0));
            }
        }
    }
    kinds
}

/// `[method]` with its parameters.
fn method_text(method: &str, requirement: Requirement, invents: Option<(u64, u64, bool)>, dice: &mut Dice) -> String {
    let mut text = format!("[method]\nname = \"{method}\"\n");
    match (method, invents) {
        ("lattice", _) => {
            text += &format!("max_suppressed = {}\n", dice.one_of(&["0", "0.25", "0.5"]));
            text += &format!("objective = \"{}\"\n", dice.one_of(&["loss", "precision", "entropy", "discernibility"]));
        }
        ("specialize", _) => {
            let objective =
                if requirement == Requirement::Class { "class" } else { dice.one_of(&["discernibility", "none"]) };
            text += &format!("objective = \"{objective}\"\n");
            text += &format!("max_suppressed = {}\n", dice.one_of(&["0", "0", "0.34"]));
        }
        ("local", _) => {
            text += &format!("max_suppressed = {}\n", dice.one_of(&["0", "0.25", "0.5"]));
            text += dice.one_of(&["", "effort = \"thorough\"\n"]);
            if !matches!(requirement, Requirement::Any | Requirement::Sets) {
                text += dice.one_of(&["", "labels = \"range\"\n"]);
            }
        }
        ("suppress", _) => {
            text += dice.one_of(&["", "order = \"paper\"\n"]);
            text += dice.one_of(&["", "remainder = \"grow\"\n"]);
        }
        (_, Some((real_k, most, exact))) => {
            text += &format!("h = \"auto\"\nreal_k = {real_k}\nmax_counterfeits = {}.{:02}\n", most / 100, most % 100);
            text += &format!("padding = \"{}\"\n", if exact { "exact" } else { "randomized" });
            text += &format!("objective = \"{}\"\n", dice.one_of(&["rce", "loss"]));
            text += dice.one_of(&["", "recode = \"local\"\n", "recode = \"local\"\nprefer = \"detail\"\n"]);
        }
        _ => {}
    }
    text
}
