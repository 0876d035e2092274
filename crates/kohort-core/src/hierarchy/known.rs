//! Hierarchies that every Kohort knows: whoever verifies a release tells from a certificate's word
//! alone whether a label can be in a column.

use super::{Months, Rule, SUPPRESSED, stay};
use crate::code_systems::Grouping;

/// A hierarchy that is the same everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StandardHierarchy {
    /// A built-in grouping of codes.
    Groups(Grouping),
    /// Days of a stay.
    Stay,
    /// Groups of months since a start.
    Months(Months),
}

impl StandardHierarchy {
    /// The hierarchy of a rule, if it is known everywhere.
    pub fn of(rule: &Rule) -> Option<StandardHierarchy> {
        match rule {
            Rule::Groups(grouping, _) => Some(StandardHierarchy::Groups(*grouping)),
            Rule::Stay => Some(StandardHierarchy::Stay),
            Rule::Months(months) => Some(StandardHierarchy::Months(months.clone())),
            _ => None,
        }
    }

    /// Returns its name in certificates: `pcg`, `los`, `months 3 6 12`.
    pub fn name(&self) -> String {
        match self {
            StandardHierarchy::Groups(grouping) => grouping.name().to_string(),
            StandardHierarchy::Stay => "los".to_string(),
            StandardHierarchy::Months(months) => std::iter::once("months".to_string())
                .chain(months.level_names().split_off(1))
                .collect::<Vec<_>>()
                .join(" "),
        }
    }

    /// The hierarchy that a certificate names.
    pub fn named(name: &str) -> Option<StandardHierarchy> {
        if name == "los" {
            return Some(StandardHierarchy::Stay);
        }
        let mut words = name.split(' ');
        if words.next() == Some("months") {
            let groups: Option<Vec<u32>> = words.map(|w| w.parse().ok()).collect();
            return Months::new(&groups?).ok().map(StandardHierarchy::Months);
        }
        Grouping::named(name).map(StandardHierarchy::Groups)
    }

    /// Returns whether these labels can be in one column: all on one level, but for the suppressed and
    /// the missing.
    pub fn is_level(&self, labels: &[&str]) -> bool {
        let labels = labels.iter().filter(|l| !l.is_empty() && **l != SUPPRESSED);
        labels.fold(u32::MAX, |levels, label| levels & self.levels(label)) != 0
    }

    /// The levels that a label can be on, one bit each.
    fn levels(&self, label: &str) -> u32 {
        let on = |levels: &mut dyn Iterator<Item = bool>| {
            levels.take(32).enumerate().fold(0, |bits, (level, own)| bits | u32::from(own) << level)
        };
        match self {
            StandardHierarchy::Groups(grouping) => grouping.levels_of(label),
            // What a label's own start is called on each level.
            StandardHierarchy::Stay => start(label)
                .and_then(|start| stay::path(&start.to_string()))
                .map_or(0, |path| on(&mut path.iter().map(|own| own == label))),
            StandardHierarchy::Months(months) => start(label)
                .and_then(|start| months.path(&start.to_string()))
                .map_or(0, |path| on(&mut path.iter().map(|own| own == label))),
        }
    }
}

/// The number a label begins with: of `7`, `[7,14)` and `>=7` it is 7.
fn start(label: &str) -> Option<u32> {
    let digits = label.trim_start_matches(['[', '>', '=']);
    digits.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_belong_to_one_level() {
        let check = |name: &str, labels: &[&str]| StandardHierarchy::named(name).unwrap().is_level(labels);
        assert!(check("pcg", &["AMI", "CHF", "", "*"]));
        assert!(!check("pcg", &["AMI", "CARDIO"]), "a group and a system");
        assert!(!check("pcg", &["CARDIO", "no such label"]));
        assert!(check("pcg", &["250.0", "4280", "not a code, but nothing else either"]));
        assert!(check("icd9-procedure", &["39-39", "87-87"]) && check("icd9-procedure", &["operative"]));
        assert!(!check("icd9-procedure", &["39-39", "operative"]));
        assert!(check("place", &["OFFICE", "OTHER"]) && check("cpt", &["EM", "*"]));
        assert!(check("los", &["[0,2)", "6", ">=182"]) && check("los", &["0", "1", "17"]));
        assert!(!check("los", &["[0,2)", ">=7"]) && !check("los", &["[0,3)"]) && !check("los", &[">=x"]));
        assert!(check("months 3 6", &["[0,3)", "[33,36)"]) && check("months", &["0", "35"]));
        assert!(!check("months 3 6", &["[0,3)", "[0,6)"]) && !check("months 3 6", &["[1,4)"]));
        for name in ["pcg", "los", "months", "months 3 6 12", "specialty"] {
            assert_eq!(StandardHierarchy::named(name).unwrap().name(), name);
        }
        for name in ["", "months 3 7", "months x", "icd11"] {
            assert_eq!(StandardHierarchy::named(name), None, "{name}");
        }
    }

    /// All labels that a rule makes from values are on one level.
    #[test]
    fn what_rules_make_is_accepted() {
        let days: Vec<String> = std::iter::once(String::new()).chain((0..400).map(|d| d.to_string())).collect();
        let days: Vec<&str> = days.iter().map(String::as_str).collect();
        let codes = ["", "250.0", "4280", "x", "V420"];
        let procedures = ["", "3995", "87.44", "0066"];
        for (rule, values) in [
            (Rule::Stay, &days[..]),
            (Rule::Months(Months::new(&[2, 6, 24]).unwrap()), &days),
            (Rule::Groups(Grouping::Pcg, Some("MSC2a3".into())), &codes),
            (Rule::Groups(Grouping::Icd9Procedure, None), &procedures),
        ] {
            let known = StandardHierarchy::of(&rule).unwrap();
            let made = rule.apply(values, true);
            for level in &made.levels {
                let labels: Vec<&str> = level.labels.iter().map(|l| l.text.as_str()).collect();
                assert!(known.is_level(&labels), "{}: {}", known.name(), level.name);
            }
        }
    }
}
