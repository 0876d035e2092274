//! Draws small tables with a policy: methods, requirements, units, hierarchies, missing values, exclusions and
//! cleaning, in all combinations that a policy may have.

use super::columns::{Quasi, SENSITIVE_TREE, TREE};
use super::csv;
use super::form::Form;
use crate::dice::Dice;
use std::fmt::Write;

/// The methods for tables.
pub const METHODS: [&str; 5] = ["local", "lattice", "specialize", "suppress", "ceiling"];

/// A row of the original, as Kohort counts it.
#[derive(Debug, Clone)]
pub struct Row {
    /// The number of the person.
    pub person: usize,
    pub quasi: Vec<String>,
    /// Cells that are released as they are, by column.
    pub kept: Vec<(&'static str, String)>,
    pub detail: Option<String>,
    pub excluded: bool,
}

/// A table with its policy.
#[derive(Debug, Clone)]
pub struct Case {
    pub method: &'static str,
    pub requirement: &'static str,
    pub patients: bool,
    pub quasi: Vec<Quasi>,
    pub rows: Vec<Row>,
    /// A detail of the first quasi-identifier.
    pub has_detail: bool,
    pub policy: String,
    pub table: String,
    /// Random samples are released.
    pub sampled: bool,
    /// Groups of records show the ranges of their own numbers.
    pub ranges: bool,
    /// The form of the table, and of its release.
    pub form: Form,
    /// Limits may hold only with the synthetic records.
    pub shown_only: bool,
}

/// The requirements beside k, by the word under which they are counted.
pub const REQUIREMENTS: [&str; 8] =
    ["k", "confidence", "l distinct", "l entropy", "l recursive", "t equal", "t ordered", "t hierarchical"];

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

impl Case {
    /// A random one.
    pub fn draw(dice: &mut Dice) -> Case {
        let method = dice.one_of(&METHODS);
        let requirement = if dice.below(3) == 0 { "k" } else { dice.one_of(&REQUIREMENTS) };
        let patients = dice.below(5) < 2;
        let width = 1 + dice.below(4);
        let quasi: Vec<Quasi> = NAMES[..width].iter().map(|name| Quasi::draw(name, dice)).collect();
        let mut case = Case {
            method,
            requirement,
            patients,
            quasi,
            rows: Vec::new(),
            has_detail: dice.below(4) == 0,
            policy: String::new(),
            table: String::new(),
            sampled: method == "suppress" && dice.below(8) == 0,
            ranges: method == "local" && dice.below(3) == 0,
            form: Form::draw(dice),
            shown_only: method == "ceiling" && requirement != "k" && dice.below(3) == 0,
        };
        let excludes = dice.below(6) == 0;
        case.rows = case.draw_rows(excludes, dice);
        case.table = case.text(dice);
        case.policy = case.policy_text(excludes, dice);
        case
    }

    fn draw_rows(&self, excludes: bool, dice: &mut Dice) -> Vec<Row> {
        let people = if dice.below(12) == 0 { 40 + dice.below(40) } else { 5 + dice.below(16) };
        let (values, two) = (2 + dice.below(3), dice.below(3) == 0);
        let holes = if dice.below(3) == 0 { 3 } else { 1000 };
        let sensitive = |dice: &mut Dice| match dice.below(holes) {
            0 => String::new(),
            _ => (1 + dice.below(values).min(dice.below(values))).to_string(),
        };
        let mut rows = Vec::new();
        for person in 0..people {
            let own = if self.patients { 1 + dice.below(3).min(dice.below(3)) } else { 1 };
            for _ in 0..own {
                let quasi: Vec<String> = self.quasi.iter().map(|q| q.value(dice)).collect();
                let ward = if excludes && dice.below(6) == 0 { "042" } else { dice.one_of(&["w1", "w2"]) };
                let mut kept = vec![("s", sensitive(dice))];
                if two {
                    kept.push(("u", sensitive(dice)));
                }
                kept.push(("y", dice.one_of(&["yes", "no"]).into()));
                kept.push(("o", ward.into()));
                let detail = self.has_detail.then(|| format!("{} fine", dice.below(2)));
                rows.push(Row { person, quasi, kept, detail, excluded: ward == "042" });
            }
        }
        rows
    }

    /// The columns that are released as they are.
    pub fn kept(&self) -> Vec<&'static str> {
        self.rows.first().map_or(Vec::new(), |row| row.kept.iter().map(|(name, _)| *name).collect())
    }

    fn text(&self, dice: &mut Dice) -> String {
        let mut header = vec!["id"];
        header.extend(self.quasi.iter().map(|q| q.name));
        if self.has_detail {
            header.push("e");
        }
        header.extend(self.kept());
        let mut text = header.join(",") + "\n";
        for row in &self.rows {
            let mut cells = vec![format!("P{}", row.person)];
            cells.extend(self.quasi.iter().zip(&row.quasi).map(|(q, value)| q.written(value, dice)));
            cells.extend(row.detail.clone());
            cells.extend(row.kept.iter().map(|(_, value)| value.clone()));
            text += &(cells.join(",") + "\n");
        }
        text
    }

    fn policy_text(&self, excludes: bool, dice: &mut Dice) -> String {
        let table = self.form.file("t");
        let mut text = format!("[input]\ntable = \"{table}\"\nmissing = [\"\", \"NA\"]\n[columns]\n");
        let id = if self.patients { "patient" } else { "identifier" };
        text += &format!("id = {{ role = \"{id}\" }}\n");
        self.quasi.iter().for_each(|q| text += &q.policy());
        if self.has_detail {
            text += "e = { role = \"detail\", of = [\"a\"] }\n";
        }
        let tree = if self.requirement == "t hierarchical" { ", hierarchy = \"s.csv\"" } else { "" };
        let domain = if self.method == "ceiling" { ", domain = [\"1\", \"2\", \"3\", \"4\"]" } else { "" };
        let listed =
            if self.requirement == "confidence" && dice.below(3) == 0 { ", values = [\"2\", \"3\"]" } else { "" };
        let kept = self.kept();
        text += &format!("s = {{ role = \"sensitive\"{tree}{domain}{listed} }}\n");
        if kept.contains(&"u") {
            text += &format!("u = {{ role = \"sensitive\"{tree}{domain} }}\n");
        }
        let steers = self.method == "specialize" && dice.below(3) == 0;
        text += &format!("y = {{ role = {} }}\n", if steers { "\"class\"" } else { "\"other\", reason = \"a test\"" });
        text += "o = { role = \"other\", reason = \"a test\" }\n";
        if excludes {
            let scope = if self.patients { dice.one_of(&["row", "patient"]) } else { "row" };
            text += &format!("[[exclude]]\ncolumn = \"o\"\ncodes = [\"042\"]\nscope = \"{scope}\"\n");
        }
        text + &self.privacy(dice) + &self.method_text(steers, dice)
    }

    fn privacy(&self, dice: &mut Dice) -> String {
        let mut text = format!("[privacy]\nk = {}\n", 2 + dice.below(3));
        let names: Vec<&str> = self.quasi.iter().map(|q| q.name).collect();
        let width = names.len();
        let knows = match (self.method, dice.below(4)) {
            ("ceiling", _) => None,
            // Ranges need an attacker who knows all columns.
            _ if self.ranges => None,
            ("specialize", 1 | 2) | (_, 1) if width > 1 => Some((1 + dice.below(width)).to_string()),
            ("specialize", _) => None,
            (_, 2) if width > 1 => {
                let at = 1 + dice.below(width - 1);
                let mut sets = vec![names[..at].to_vec(), names[at..].to_vec()];
                if width > 2 && dice.below(2) == 0 {
                    sets.push(vec![names[0], names[width - 1]]);
                }
                Some(format!("{sets:?}"))
            }
            _ => None,
        };
        knows.iter().for_each(|knows| text += &format!("knows = {knows}\n"));
        match self.requirement {
            "confidence" => writeln!(text, "confidence = {}", dice.one_of(&["0.5", "0.6", "0.67", "0.75", "0.9"])),
            "l distinct" => writeln!(text, "l_diversity = {{ distinct = {} }}", 2 + dice.below(2)),
            "l entropy" => writeln!(text, "l_diversity = {{ entropy = 2 }}"),
            "l recursive" => writeln!(text, "l_diversity = {{ recursive = [{}, 2] }}", 2 + dice.below(2)),
            "t equal" => writeln!(text, "t_closeness = {}", dice.one_of(&["0.2", "0.34", "0.5"])),
            "t ordered" => {
                writeln!(text, "t_closeness = {{ max = {}, distance = \"ordered\" }}", dice.one_of(&["0.2", "0.4"]))
            }
            "t hierarchical" => {
                writeln!(
                    text,
                    "t_closeness = {{ max = {}, distance = \"hierarchical\" }}",
                    dice.one_of(&["0.3", "0.5"])
                )
            }
            _ => Ok(()),
        }
        .unwrap_or_default();
        text
    }

    fn method_text(&self, steers: bool, dice: &mut Dice) -> String {
        let mut text = format!("[method]\nname = \"{}\"\n", self.method);
        match self.method {
            "lattice" => {
                text += &format!("max_suppressed = {}\n", dice.one_of(&["0.1", "0.3", "0.6", "1"]));
                text += &format!(
                    "objective = \"{}\"\n",
                    dice.one_of(&["loss", "precision", "entropy", "discernibility", "class_size"])
                );
            }
            "local" => {
                text += &format!("max_suppressed = {}\n", dice.one_of(&["0.1", "0.3", "0.6", "1"]));
                text += dice.one_of(&["", "", "effort = \"thorough\"\n"]);
                text += if self.ranges { "labels = \"range\"\n" } else { "" };
            }
            "specialize" => {
                let objective = if steers { "class" } else { dice.one_of(&["discernibility", "none"]) };
                text +=
                    &format!("objective = \"{objective}\"\nmax_suppressed = {}\n", dice.one_of(&["0", "0.34", "0.6"]));
            }
            "suppress" => {
                text += dice.one_of(&["", "order = \"paper\"\n"]);
                text += dice.one_of(&["", "remainder = \"grow\"\n"]);
                if self.sampled {
                    text += "samples = [0.5]\n";
                }
            }
            _ => {
                text += &format!("h = \"auto\"\nreal_k = {}\n", 1 + dice.below(2));
                text += &format!("max_counterfeits = {}\n", dice.one_of(&["0.5", "1.0"]));
                text += &format!("padding = \"{}\"\n", dice.one_of(&["exact", "randomized"]));
                text += dice.one_of(&["", "recode = \"local\"\n"]);
                text += if self.shown_only { "limits = \"shown\"\n" } else { "" };
            }
        }
        text
    }

    /// The files of the custodian: the policy and what it names.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let texts = [("policy.toml", &*self.policy), ("tree.csv", TREE), ("s.csv", SENSITIVE_TREE)];
        let mut files: Vec<(String, Vec<u8>)> = texts.map(|(name, text)| (name.into(), text.into())).into();
        match (self.form, csv::read(&self.table)) {
            (Form::Text, _) | (_, None) => files.push(("t.csv".into(), self.table.clone().into_bytes())),
            (form, Some(table)) => files.extend(form.files("t", &table)),
        }
        files
    }
}
