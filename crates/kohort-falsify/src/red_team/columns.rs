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
    /// Further keys of the column in the policy.
    pub keys: String,
}

impl Quasi {
    /// A random one.
    pub fn draw(name: &'static str, dice: &mut Dice) -> Quasi {
        let kind = dice.one_of(&KINDS);
        let recoded = matches!(kind, Kind::Flat(_)) && dice.below(5) == 0;
        let missing = (dice.below(4) == 0).then(|| 2 + dice.below(8));
        let mut keys = String::new();
        if dice.below(6) == 0 {
            keys += &format!(", levels = {}", kind.levels(dice));
        }
        if dice.below(6) == 0 {
            keys += &format!(", weight = {}", 1 + dice.below(4));
        }
        Quasi { name, kind, recoded, missing, keys }
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

    /// Returns whether a value may be released as this label.
    pub fn may_show(&self, value: &str, label: &str) -> bool {
        if label == "*" {
            return true;
        }
        if value.is_empty() || label.is_empty() {
            return value == label;
        }
        match self.kind {
            Kind::Unmapped if value == "zz" => false,
            _ if value == label => true,
            Kind::Flat(_) => false,
            Kind::Tree | Kind::Unmapped => {
                TREE.lines().any(|line| line.split(';').next() == Some(value) && line.split(';').any(|l| l == label))
            }
            Kind::Intervals | Kind::Cuts => within(value, label),
            Kind::Prefix => label.strip_suffix('*').is_some_and(|start| value.starts_with(start)),
            Kind::Date => {
                let (year, month) = (&value[..4], &value[5..7]);
                let quarter = month.parse::<u32>().map_or(0, |m| (m + 2) / 3);
                [value[..7].to_string(), format!("{year}-Q{quarter}"), year.into(), format!("{}0s", &year[..3])]
                    .iter()
                    .any(|own| own == label)
            }
        }
    }
}

/// A number in an interval such as `[30,60)`, `<0` or `>=100`.
fn within(value: &str, label: &str) -> bool {
    let Ok(value) = value.parse::<i64>() else { return false };
    let number = |text: &str| text.parse::<i64>().ok();
    if let Some(end) = label.strip_prefix('<').and_then(number) {
        return value < end;
    }
    if let Some(start) = label.strip_prefix(">=").and_then(number) {
        return value >= start;
    }
    let inner = label.strip_prefix('[').and_then(|l| l.strip_suffix(')')).and_then(|l| l.split_once(','));
    let bounds = inner.and_then(|(a, b)| Some((number(a)?, number(b)?)));
    bounds.is_some_and(|(start, end)| start <= value && value < end)
}

impl Kind {
    /// Some of its levels, as a policy names them.
    fn levels(self, dice: &mut Dice) -> String {
        let all: &[&str] = match self {
            Kind::Flat(_) => &["[0, \"*\"]", "[\"*\"]"],
            Kind::Tree | Kind::Unmapped => &["[1, \"*\"]", "[0, 2, \"*\"]"],
            Kind::Intervals => &["[2, 3, \"*\"]", "[0, \"*\"]"],
            Kind::Cuts => &["[1, \"*\"]"],
            Kind::Prefix => &["[0, 2, \"*\"]", "[1, \"*\"]"],
            Kind::Date => &["[\"month\", \"year\", \"*\"]", "[\"quarter\", \"decade\", \"*\"]"],
        };
        dice.one_of(all).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cover_values_by_their_definition() {
        let quasi = |kind| Quasi { name: "a", kind, recoded: false, missing: None, keys: String::new() };
        let check = |kind, value: &str, good: &[&str], bad: &[&str]| {
            let own = quasi(kind);
            assert!(good.iter().all(|label| own.may_show(value, label)), "{value} {good:?}");
            assert!(!bad.iter().any(|label| own.may_show(value, label)), "{value} {bad:?}");
        };
        check(Kind::Tree, "a1", &["a1", "a", "g", "*"], &["a2", "h", "b", ""]);
        check(Kind::Unmapped, "zz", &["*"], &["zz", "g"]);
        check(Kind::Intervals, "30", &["30", "[30,35)", "[20,40)"], &["[31,35)", "[20,30)", "<30", "31"]);
        check(Kind::Intervals, "100", &[">=100"], &["<100", "[95,100)"]);
        check(Kind::Prefix, "12345", &["1234*", "12*"], &["13*", "1234"]);
        check(
            Kind::Date,
            "2010-05-09",
            &["2010-05", "2010-Q2", "2010", "2010s"],
            &["2010-06", "2010-Q1", "2011", "2000s"],
        );
        check(Kind::Flat(2), "", &["", "*"], &["v0"]);
    }
}
