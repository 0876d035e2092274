//! The quasi-identifiers of drawn tables: their values, their hierarchies as a policy writes them, and the labels
//! that a value may be released as. The labels are derived here from the definitions, not from Kohort's code.

use crate::dice::Dice;

/// An uneven tree of values, as a hierarchy file.
pub const TREE: &str = "a1;a;g;*\na2;a;g;*\nb1;b;g;*\nb2;b;g;*\nc1;c1;h;*\nc2;c2;h;*\n";
/// A tree of sensitive values.
pub const SENSITIVE_TREE: &str = "1;low;*\n2;low;*\n3;high;*\n4;high;*\n";

/// A kind of quasi-identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// So many values without a hierarchy.
    Flat(usize),
    /// A hierarchy file.
    Tree,
    /// A hierarchy file that does not cover all values; the others are suppressed.
    Unmapped,
    /// Numbers in intervals of several widths.
    Intervals,
    /// Numbers in intervals of unequal widths.
    Cuts,
    /// Codes that are shortened.
    Prefix,
    /// Days.
    Date,
}

const KINDS: [Kind; 8] =
    [Kind::Flat(2), Kind::Flat(3), Kind::Tree, Kind::Unmapped, Kind::Intervals, Kind::Cuts, Kind::Prefix, Kind::Date];

/// A quasi-identifier with the way it is written.
#[derive(Debug, Clone)]
pub struct Quasi {
    pub name: &'static str,
    pub kind: Kind,
    /// Some cells are written in another way, which the policy recodes.
    pub recoded: bool,
    /// One cell in so many is missing.
    pub missing: Option<usize>,
    /// The permitted levels, where the policy names some.
    pub levels: Option<Levels>,
    /// Further keys of the column in the policy.
    pub keys: String,
}

/// Some levels, as a policy names them and by number. `*` is always among them.
pub type Levels = (&'static str, &'static [usize]);

impl Quasi {
    /// A random one.
    pub fn draw(name: &'static str, dice: &mut Dice) -> Quasi {
        let kind = dice.one_of(&KINDS);
        let recoded = matches!(kind, Kind::Flat(_)) && dice.below(5) == 0;
        let missing = (dice.below(4) == 0).then(|| 2 + dice.below(8));
        let levels = (dice.below(6) == 0).then(|| kind.levels(dice));
        let mut keys = levels.map_or(String::new(), |own| format!(", levels = {}", own.0));
        if dice.below(6) == 0 {
            keys += &format!(", weight = {}", 1 + dice.below(4));
        }
        Quasi { name, kind, recoded, missing, levels, keys }
    }

    /// A value as Kohort counts it. Few values come often, so that some people look the same.
    pub fn value(&self, dice: &mut Dice) -> String {
        if self.missing.is_some_and(|n| dice.below(n) == 0) {
            return String::new();
        }
        let few = |n: usize, dice: &mut Dice| dice.below(n).min(dice.below(n));
        match self.kind {
            Kind::Flat(n) => format!("v{}", few(n, dice)),
            Kind::Tree => dice.one_of(&["a1", "a2", "b1", "b2", "c1", "c2"]).into(),
            Kind::Unmapped => dice.one_of(&["a1", "a2", "b1", "c1", "zz"]).into(),
            Kind::Intervals => (3 * few(30, dice)).to_string(),
            Kind::Cuts => (1 + 7 * few(14, dice)).to_string(),
            Kind::Prefix => format!("{}", 12340 + 105 * few(6, dice)),
            Kind::Date => format!("20{:02}-{:02}-{:02}", 9 + few(3, dice), 1 + few(12, dice), 1 + few(28, dice)),
        }
    }

    /// A value as it is written in the table.
    pub fn written(&self, value: &str, dice: &mut Dice) -> String {
        match value {
            "" => dice.one_of(&["", "NA"]).into(),
            own if self.recoded && dice.below(2) == 0 => own.replace('v', "raw "),
            own => own.into(),
        }
    }

    /// The column in a policy.
    pub fn policy(&self) -> String {
        let hierarchy = match self.kind {
            Kind::Flat(_) => "",
            Kind::Tree => ", hierarchy = \"tree.csv\"",
            Kind::Unmapped => ", hierarchy = \"tree.csv\", unmapped = \"suppress\"",
            Kind::Intervals => ", hierarchy = { intervals = [5, 10, 20], from = 0, to = 100 }",
            Kind::Cuts => ", hierarchy = { cuts = [30, 60], from = 1, to = 99 }",
            Kind::Prefix => ", hierarchy = { prefix = [4, 3, 2] }",
            Kind::Date => ", hierarchy = { date = \"%Y-%m-%d\" }",
        };
        let recode = match (self.recoded, self.kind) {
            (true, Kind::Flat(n)) => {
                let pairs: Vec<String> = (0..n).map(|v| format!("\"raw {v}\" = \"v{v}\"")).collect();
                format!(", recode = {{ {} }}", pairs.join(", "))
            }
            _ => String::new(),
        };
        format!("{} = {{ role = \"quasi\"{hierarchy}{recode}{} }}\n", self.name, self.keys)
    }

    /// Returns whether a value may be released as this label: it is the value's label at a permitted level, or a
    /// range that ends on bounds of permitted intervals. `ranges`: the policy asks for such labels.
    pub fn may_show(&self, value: &str, label: &str, ranges: bool) -> bool {
        if label == "*" {
            return true;
        }
        if value.is_empty() || label.is_empty() {
            return value == label;
        }
        let is_permitted = |level: usize| self.levels.is_none_or(|own| own.1.contains(&level));
        let labels = self.kind.labels(value);
        if labels.iter().enumerate().any(|(level, own)| own == label && is_permitted(level)) {
            return true;
        }
        let (from, bounds) = match self.kind {
            Kind::Cuts if self.levels.is_none() || (ranges && is_permitted(1)) => (1, vec![1, 30, 60, 99]),
            Kind::Intervals if ranges => match (1..4).find(|&level| is_permitted(level)) {
                Some(level) => (0, (0..=100).step_by([5, 10, 20][level - 1]).collect()),
                None => return false,
            },
            Kind::Date if ranges => {
                return (1..5)
                    .find(|&level| is_permitted(level))
                    .is_some_and(|level| is_within_dates(value, label, level));
            }
            _ => return false,
        };
        let ends = ends(label).filter(|(start, end)| *start >= from && bounds.contains(start) && bounds.contains(end));
        ends.is_some() && within(value, label)
    }
}

/// The ends of an interval such as `[30,60)`.
fn ends(label: &str) -> Option<(i64, i64)> {
    let (a, b) = label.strip_prefix('[')?.strip_suffix(')')?.split_once(',')?;
    Some((a.parse().ok()?, b.parse().ok()?))
}

/// A number in such an interval.
fn within(value: &str, label: &str) -> bool {
    let value = value.parse::<i64>().ok();
    ends(label).zip(value).is_some_and(|((start, end), value)| start <= value && value < end)
}

/// A day in a range such as `[2010-03,2010-06)`, whose ends are labels of a level. Labels of one level have the order of
/// their text.
fn is_within_dates(day: &str, label: &str, level: usize) -> bool {
    let Some((from, to)) = label.strip_prefix('[').and_then(|own| own.strip_suffix(')')?.split_once(',')) else {
        return false;
    };
    let is_label = |text: &str| {
        let years = (1900..2100).flat_map(|year| (1..13).map(move |month| format!("{year}-{month:02}-01")));
        years.into_iter().any(|day| Kind::Date.labels(&day)[level] == text)
    };
    let own = &Kind::Date.labels(day)[level];
    is_label(from) && is_label(to) && from <= own.as_str() && own.as_str() < to
}

impl Kind {
    /// Some of its levels.
    fn levels(self, dice: &mut Dice) -> Levels {
        let all: &[Levels] = match self {
            Kind::Flat(_) => &[("[0, \"*\"]", &[0]), ("[\"*\"]", &[])],
            Kind::Tree | Kind::Unmapped => &[("[1, \"*\"]", &[1]), ("[0, 2, \"*\"]", &[0, 2])],
            Kind::Intervals => &[("[2, 3, \"*\"]", &[2, 3]), ("[0, \"*\"]", &[0]), ("[1, 3, \"*\"]", &[1, 3])],
            Kind::Cuts => &[("[1, \"*\"]", &[1]), ("[0, \"*\"]", &[0]), ("[\"*\"]", &[])],
            Kind::Prefix => &[("[0, 2, \"*\"]", &[0, 2]), ("[1, \"*\"]", &[1])],
            Kind::Date => &[("[\"month\", \"year\", \"*\"]", &[1, 3]), ("[\"quarter\", \"decade\", \"*\"]", &[2, 4])],
        };
        dice.one_of(all)
    }

    /// The label of a value at each level below `*`.
    fn labels(self, value: &str) -> Vec<String> {
        let mut labels = vec![value.to_string()];
        match self {
            Kind::Flat(_) => {}
            Kind::Tree | Kind::Unmapped => {
                let path = TREE.lines().find(|line| line.split(';').next() == Some(value));
                return path.map_or(Vec::new(), |line| line.split(';').map(str::to_string).collect());
            }
            Kind::Intervals => {
                let number = value.parse::<i64>().unwrap_or(-1);
                labels.extend([5, 10, 20].map(|width| {
                    let start = number.div_euclid(width) * width;
                    format!("[{start},{})", start + width)
                }));
            }
            Kind::Cuts => {
                labels.extend(["[1,30)", "[30,60)", "[60,99)"].into_iter().find(|l| within(value, l)).map(String::from))
            }
            Kind::Prefix => labels.extend([4, 3, 2].map(|n| format!("{}*", &value[..n]))),
            Kind::Date => {
                let (year, month) = (&value[..4], &value[5..7]);
                let quarter = month.parse::<u32>().map_or(0, |m| m.div_ceil(3));
                labels.extend([
                    value[..7].to_string(),
                    format!("{year}-Q{quarter}"),
                    year.into(),
                    format!("{}0s", &year[..3]),
                ]);
            }
        }
        labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cover_values_by_their_definition() {
        let quasi =
            |kind, levels| Quasi { name: "a", kind, recoded: false, missing: None, levels, keys: String::new() };
        let check = |kind, levels, value: &str, ranges: bool, good: &[&str], bad: &[&str]| {
            let own = quasi(kind, levels);
            assert!(good.iter().all(|label| own.may_show(value, label, ranges)), "{value} {good:?}");
            assert!(!bad.iter().any(|label| own.may_show(value, label, ranges)), "{value} {bad:?}");
        };
        check(Kind::Tree, None, "a1", false, &["a1", "a", "g", "*"], &["a2", "h", "b", ""]);
        check(Kind::Tree, Some(("", &[1])), "a1", false, &["a", "*"], &["a1", "g"]);
        check(Kind::Unmapped, None, "zz", false, &["*"], &["zz", "g"]);
        check(
            Kind::Intervals,
            None,
            "30",
            false,
            &["30", "[30,35)", "[20,40)"],
            &["[31,35)", "[20,30)", "[25,40)", "31"],
        );
        check(Kind::Intervals, None, "30", true, &["[25,40)", "[0,100)"], &["[24,40)", "[35,40)", "[25,105)"]);
        check(Kind::Intervals, Some(("", &[2, 3])), "30", true, &["[30,50)"], &["30", "[30,35)", "[25,40)"]);
        check(Kind::Intervals, Some(("", &[0])), "30", true, &["30"], &["[30,35)", "[0,100)"]);
        check(Kind::Cuts, None, "45", false, &["45", "[30,60)", "[1,60)"], &["[1,30)", "[30,61)"]);
        check(Kind::Cuts, Some(("", &[])), "45", true, &["*"], &["45", "[30,60)", "[1,99)"]);
        check(Kind::Prefix, None, "12340", false, &["1234*", "12*"], &["1235*", "1*"]);
        check(Kind::Date, None, "2010-04-01", false, &["2010-04", "2010-Q2", "2010", "2010s"], &["2010-Q1", "2011"]);
        let (good, bad) = (["[2010-03,2010-06)", "[2009-12,2010-05)"], ["[2010-05,2010-06)", "[2010-03,2010-04)"]);
        check(Kind::Date, None, "2010-04-01", true, &good, &bad);
        check(Kind::Date, None, "2010-04-01", false, &[], &good);
        let wrong =
            ["[2010-Q1,2010-Q3)", "[2010-03,2010-13)", "[2010-3,2010-06)", "[2010-03-01,2010-06-01)", "[2010,2011)"];
        check(Kind::Date, None, "2010-04-01", true, &["2010-Q2"], &wrong);
        check(Kind::Date, Some(("", &[2, 4])), "2010-04-01", true, &["[2010-Q1,2010-Q3)"], &["[2010-03,2010-06)"]);
    }
}
