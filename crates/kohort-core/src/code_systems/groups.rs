//! Groups of codes: primary conditions, CPT, places of service, specialties, procedures.
//!
//! Each is a table of ranges. Where ranges overlap, the longest code in front wins, then the
//! narrowest range, then the order of the file (H-7, H-15).

use super::ranges::{Range, read};
use super::{icd9, icd10, plain};
use crate::hierarchy::{Hierarchy, SUPPRESSED, by_values};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A grouping that is built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// ICD-9-CM diagnoses in 45 primary condition groups, 12 systems, 4 broad groups.
    Pcg,
    /// CPT codes in 17 groups.
    Cpt,
    /// Places of service in 8 groups.
    Place,
    /// Specialties, by name, in 12 groups.
    Specialty,
    /// ICD-9-CM procedures by category, chapter and kind.
    Icd9Procedure,
    /// ICD-10-CM diagnoses in the same 45 primary condition groups.
    PcgIcd10,
    /// ICD-10-PCS procedures by root operation, body system and kind.
    Icd10Procedure,
}

/// One line of a table: codes from `start` to `end` and all that begin with them.
#[derive(Debug)]
struct CodeRange {
    group: &'static str,
    start: String,
    end: String,
}

/// A table of groups.
struct GroupTable {
    entries: Vec<CodeRange>,
    groups: Vec<&'static str>,
}

static PCG: LazyLock<GroupTable> = LazyLock::new(|| GroupTable::read(include_str!("tables/pcg.csv"), true));
static PCG_ICD10: LazyLock<PrefixTable> = LazyLock::new(|| PrefixTable::read(include_str!("tables/pcg_icd10.csv")));
static CPT: LazyLock<GroupTable> = LazyLock::new(|| GroupTable::read(include_str!("tables/cpt.csv"), true));
static PLACE: LazyLock<GroupTable> = LazyLock::new(|| GroupTable::read(include_str!("tables/place.csv"), true));
static SPECIALTY: LazyLock<GroupTable> =
    LazyLock::new(|| GroupTable::read(include_str!("tables/specialty.csv"), false));
static CHAPTERS: LazyLock<Vec<Range>> = LazyLock::new(|| read(include_str!("tables/icd9_procedure_chapters.csv")));
/// For each group: its system and its broad group.
static SYSTEMS: LazyLock<HashMap<&'static str, (&'static str, &'static str)>> = LazyLock::new(|| {
    let lines = include_str!("tables/pcg_systems.csv").lines().skip(1);
    lines.filter_map(|l| l.split_once(';').and_then(|(g, rest)| Some((g, rest.split_once(';')?)))).collect()
});

impl GroupTable {
    /// `several`: a cell lists codes and ranges; else it is one name.
    fn read(text: &'static str, several: bool) -> GroupTable {
        let (mut entries, mut groups) = (Vec::new(), Vec::new());
        for line in text.lines().skip(1) {
            let mut cells = line.split(';');
            let (Some(group), Some(codes)) = (cells.next(), cells.next()) else { continue };
            if !groups.contains(&group) {
                groups.push(group);
            }
            if !several {
                entries.push(CodeRange { group, start: letters(codes), end: String::new() });
                continue;
            }
            for code in codes.split(' ') {
                let (start, end) = code.split_once('-').unwrap_or((code, code));
                entries.push(CodeRange { group, start: plain(start), end: plain(end) });
            }
        }
        GroupTable { entries, groups }
    }

    /// The group of a code in capitals, without its dot.
    fn find(&self, code: &str) -> Option<&'static str> {
        let begins = |length: usize| &code[..length.min(code.len())];
        let holds = |e: &&CodeRange| *e.start <= *begins(e.start.len()) && *begins(e.end.len()) <= *e.end;
        // `max_by_key` takes the last of equals; the first of the file is to win.
        let best = self.entries.iter().rev().filter(holds).max_by_key(|e| (e.length(), std::cmp::Reverse(e.width())));
        best.map(|e| e.group)
    }
}

/// A table of groups with very many codes: ranges of categories, and codes that are exceptions to them.
struct PrefixTable {
    ranges: Vec<CodeRange>,
    exceptions: HashMap<&'static str, &'static str>,
}

impl PrefixTable {
    fn read(text: &'static str) -> PrefixTable {
        let (mut ranges, mut exceptions) = (Vec::new(), HashMap::new());
        for (group, codes) in text.lines().skip(1).filter_map(|line| line.split_once(';')) {
            for code in codes.split(' ') {
                match code.split_once('-') {
                    Some((start, end)) => ranges.push(CodeRange { group, start: start.into(), end: end.into() }),
                    None => drop(exceptions.insert(code, group)),
                }
            }
        }
        PrefixTable { ranges, exceptions }
    }

    /// The group of a code in capitals, without its dot: that of the longest exception, else of its range.
    fn find(&self, code: &str) -> Option<&'static str> {
        let category = code.get(..3)?;
        let exception = (3..=code.len()).rev().find_map(|length| self.exceptions.get(code.get(..length)?));
        let holds = |range: &&CodeRange| *range.start <= *category && *category <= *range.end;
        // D3A lies between D37 and D48, and has a range of its own: the narrowest one holds.
        let range = || self.ranges.iter().filter(holds).min_by_key(|range| range.width()).map(|range| range.group);
        exception.copied().or_else(range)
    }
}

impl CodeRange {
    /// Returns how much of a code it reads.
    fn length(&self) -> usize {
        self.start.len().min(self.end.len())
    }

    /// Returns how many codes of that length lie in it.
    fn width(&self) -> u64 {
        let number = |text: &str| {
            let digits: String = text[..self.length()].chars().filter(char::is_ascii_digit).collect();
            digits.parse::<u64>().unwrap_or(0)
        };
        number(&self.end).saturating_sub(number(&self.start))
    }
}

/// A name by its letters alone.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect()
}

impl Grouping {
    /// The grouping of a name in policies.
    pub fn named(name: &str) -> Option<Grouping> {
        use Grouping::{Cpt, Icd9Procedure, Icd10Procedure, Pcg, PcgIcd10, Place, Specialty};
        [Pcg, PcgIcd10, Cpt, Place, Specialty, Icd9Procedure, Icd10Procedure].into_iter().find(|g| g.name() == name)
    }

    /// Its name in policies.
    pub fn name(self) -> &'static str {
        match self {
            Grouping::Pcg => "pcg",
            Grouping::Cpt => "cpt",
            Grouping::Place => "place",
            Grouping::Specialty => "specialty",
            Grouping::Icd9Procedure => "icd9-procedure",
            Grouping::PcgIcd10 => "pcg-icd10",
            Grouping::Icd10Procedure => "icd10-procedure",
        }
    }

    /// Returns its name in dictionaries and reports.
    pub fn title(self) -> &'static str {
        match self {
            Grouping::Pcg => "primary condition groups of ICD-9-CM (built in)",
            Grouping::Cpt => "groups of CPT codes (built in)",
            Grouping::Place => "groups of places of service (built in)",
            Grouping::Specialty => "groups of specialties (built in)",
            Grouping::Icd9Procedure => "ICD-9-CM procedures (built in)",
            Grouping::PcgIcd10 => "primary condition groups of ICD-10-CM (built in)",
            Grouping::Icd10Procedure => "ICD-10-PCS procedures (built in)",
        }
    }

    /// The levels below `*`.
    pub fn levels(self) -> &'static [&'static str] {
        match self {
            Grouping::Pcg | Grouping::PcgIcd10 => &["code", "pcg", "system", "broad"],
            Grouping::Cpt | Grouping::Place | Grouping::Specialty => &["code", "group"],
            Grouping::Icd9Procedure => &["code", "category", "chapter", "kind"],
            Grouping::Icd10Procedure => &["code", "operation", "system", "kind"],
        }
    }

    /// The groups that codes of no group may be sent to.
    pub fn groups(self) -> &'static [&'static str] {
        match self {
            Grouping::Pcg | Grouping::PcgIcd10 => &PCG.groups,
            Grouping::Cpt => &CPT.groups,
            Grouping::Place => &PLACE.groups,
            Grouping::Specialty => &SPECIALTY.groups,
            Grouping::Icd9Procedure | Grouping::Icd10Procedure => &[],
        }
    }

    /// The group of a code, written with or without its dot, in capitals or not.
    pub fn group(self, text: &str) -> Option<&'static str> {
        match self {
            Grouping::Pcg => icd9::looks_like(text).then(|| PCG.find(&plain(text)))?,
            Grouping::Cpt => {
                let is_code = text.len() == 5 && text.bytes().all(|b| b.is_ascii_digit());
                is_code.then(|| CPT.find(text))?
            }
            Grouping::Place => {
                let is_code = matches!(text.len(), 1 | 2) && text.bytes().all(|b| b.is_ascii_digit());
                is_code.then(|| PLACE.find(&format!("{text:0>2}")))?
            }
            Grouping::Specialty => {
                let name = letters(text);
                SPECIALTY.entries.iter().find(|e| e.start == name).map(|e| e.group)
            }
            Grouping::Icd9Procedure => procedure(text).map(|(_, chapter)| chapter.label.as_str()),
            Grouping::PcgIcd10 => icd10::looks_like(text).then(|| PCG_ICD10.find(&plain(text)))?,
            Grouping::Icd10Procedure => pcs_kind(&plain(text)),
        }
    }

    /// The groups that contain a code, level by level, below `*`.
    pub fn path(self, text: &str) -> Option<Vec<Cow<'static, str>>> {
        match self {
            Grouping::Icd9Procedure => {
                let (category, chapter) = procedure(text)?;
                let kind = if category.as_str() < "87" { "operative" } else { "diagnostic" };
                Some(vec![format!("{category}-{category}").into(), chapter.label.as_str().into(), kind.into()])
            }
            Grouping::Icd10Procedure => {
                let code = plain(text);
                let kind = pcs_kind(&code)?;
                let system = if code.starts_with('0') { &code[..2] } else { &code[..1] };
                let operation = &code[..3];
                Some(vec![format!("{operation}-{operation}").into(), format!("{system}-{system}").into(), kind.into()])
            }
            _ => self.above(self.group(text)?),
        }
    }

    /// A group and the groups that contain it.
    fn above(self, group: &str) -> Option<Vec<Cow<'static, str>>> {
        let group = *self.groups().iter().find(|g| **g == group)?;
        Some(match self {
            Grouping::Pcg | Grouping::PcgIcd10 => {
                let (system, broad) = SYSTEMS.get(group)?;
                vec![group.into(), (*system).into(), (*broad).into()]
            }
            _ => vec![group.into()],
        })
    }

    /// The levels over a column's values; what has no group goes to `unmapped`, if it names one.
    pub(crate) fn apply(
        self,
        names: Vec<String>,
        values: &[&str],
        missing_occurs: bool,
        unmapped: Option<&str>,
    ) -> Hierarchy {
        by_values(names, values, missing_occurs, |value| {
            let above = match self.path(value) {
                Some(above) => above,
                // A value that is called like a group would mean two things.
                None if self.is_label(value) => return None,
                None => self.above(unmapped?)?,
            };
            Some(std::iter::once(Cow::Borrowed(value)).chain(above).collect())
        })
    }

    /// The levels below `*` that a label can stand on, a bit each. A code may be anything that is no
    /// group's name: the policy may have sent it to a group.
    pub(crate) fn levels_of(self, label: &str) -> u32 {
        let bits =
            |above: &[Cow<str>]| (1..).zip(above).fold(0, |bits, (level, own)| bits | u32::from(own == label) << level);
        let own = match self {
            Grouping::Icd10Procedure => match label.split_once('-') {
                Some((a, b)) if a == b && a.len() == 3 => 1 << 1,
                Some((a, b)) if a == b && matches!(a.len(), 1 | 2) => 1 << 2,
                None if PCS_KINDS.contains(&label) => 1 << 3,
                _ => 0,
            },
            Grouping::Icd9Procedure => {
                let categories = (0..100).filter_map(|n| self.path(&format!("{n:02}")));
                categories.fold(0, |all, above| all | bits(&above))
            }
            _ => self.groups().iter().filter_map(|g| self.above(g)).fold(0, |all, above| all | bits(&above)),
        };
        if own == 0 { 1 } else { own }
    }

    fn is_label(self, value: &str) -> bool {
        let above = |group: &&str| self.above(group).is_some_and(|labels| labels.iter().any(|l| l == value));
        value == SUPPRESSED || self.groups().iter().any(above)
    }
}

/// The two-digit category of a procedure and its chapter: `39.95`, `3995`.
fn procedure(text: &str) -> Option<(String, &'static Range)> {
    let code = plain(text);
    let is_code = (2..=4).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_digit());
    let category = is_code.then(|| code[..2].to_string())?;
    CHAPTERS.iter().find(|range| range.holds(&category)).map(|range| (category, range))
}

/// The kinds of ICD-10-PCS procedures.
const PCS_KINDS: [&str; 2] = ["operative", "diagnostic"];

/// The kind of an ICD-10-PCS code: seven letters and digits without I and O. Sections 0 (medical and surgical),
/// 1 (obstetrics) and X (new technology) are operative; all others (placement, administration, measurement, imaging,
/// therapies without an incision) are diagnostic, as 87-99 are in ICD-9-CM.
fn pcs_kind(code: &str) -> Option<&'static str> {
    let is_part = |b: u8| b.is_ascii_digit() || (b.is_ascii_uppercase() && b != b'I' && b != b'O');
    let is_code = code.len() == 7 && code.bytes().all(is_part);
    match code.as_bytes().first()? {
        b'0' | b'1' | b'X' if is_code => Some(PCS_KINDS[0]),
        b'2'..=b'9' | b'B' | b'C' | b'D' | b'F' | b'G' | b'H' if is_code => Some(PCS_KINDS[1]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::Rule;

    /// Primary conditions follow the GEM map: B20 is where 042 is, and a fracture that the map does not reach is
    /// where its category is.
    #[test]
    fn primary_conditions_of_icd10_follow_the_map() {
        check(
            Grouping::PcgIcd10,
            "I21.9 AMI\nE11.9 METAB3\nJ189 PNEUM\nI10 MISCHRT\nB20 INFEC4\nN39.0 UTI\nI50.9 CHF\nS72001A HIPFX\nA41.9 SEPSIS
             C50.9 CANCRB\nN18.6 RENAL2\nO80 PRGNCY\nR07.9 ROAMI\nf20.5 NEUMENT",
        );
        assert_eq!(Grouping::PcgIcd10.group("250.01"), None);
        assert_eq!(Grouping::PcgIcd10.path("I21.9").unwrap().len(), 3);
        assert!(PCG_ICD10.ranges.iter().all(|range| PCG.groups.contains(&range.group)));
        assert!(PCG_ICD10.exceptions.values().all(|group| PCG.groups.contains(group)));
    }

    #[test]
    fn procedures_of_icd10_have_an_operation_a_system_and_a_kind() {
        assert_eq!(Grouping::Icd10Procedure.path("0DTJ4ZZ").unwrap(), ["0DT-0DT", "0D-0D", "operative"]);
        assert_eq!(Grouping::Icd10Procedure.path("b2111zz").unwrap(), ["B21-B21", "B-B", "diagnostic"]);
        for wrong in ["0DTJ4Z", "0DTJ4ZI", "39.95", "EDTJ4ZZ", ""] {
            assert_eq!(Grouping::Icd10Procedure.path(wrong), None, "{wrong}");
        }
        let applied = Rule::Groups(Grouping::Icd10Procedure, None).apply(&["", "0DTJ4ZZ", "0DTJ0ZZ", "B2111ZZ"], true);
        assert!(applied.is_consistent() && applied.uncovered.is_empty());
    }

    #[track_caller]
    fn check(grouping: Grouping, table: &str) {
        for line in table.lines().map(str::trim).filter(|l| !l.is_empty()) {
            let (code, group) = line.split_once(' ').unwrap();
            assert_eq!(grouping.group(code), Some(group.trim()), "{code}");
        }
    }

    /// 51 codes, among them those that the printed ranges hold twice or not at all.
    #[test]
    fn primary_conditions_are_those_of_the_most_specific_range() {
        check(
            Grouping::Pcg,
            "0389 SEPSIS\n0119 PNEUM\n0088 INFEC4\n7454 MISCHRT\n7400 MISCL5\n78650 ROAMI\n7862 RESPR4\n4292 HEART4
             4299 CHF\n42292 SEPSIS\n3051 ODaBNCA\n29530 NEUMENT\n99681 RENAL2\n9964 MISCL1\nV420 RENAL2\nV581 CANCRB
             V4581 MSC2a3\nE8859 MSC2a3\n431 CATAST\n4275 CATAST\n42731 HEART2\n7806 INFEC4\n78079 MISCL5\n78001 METAB1
             7850 MISCL5\n78551 CATAST\n79902 MISCL5\n4010 MISCHRT\n40211 CHF\n25010 METAB3\n2510 METAB1\n5990 UTI
             5920 RENAL3\n7281 INFEC4\n7291 ARTHSPIN\n72886 SEPSIS\n8208 HIPFX\n80820 HIPFX\n7331 FXDISLC\n73300 ARTHSPIN
             9596 HIPFX\n9590 TRAUMA\n2752 FLaELEC\n2751 METAB3\n2760 FLaELEC\n6264 GYNEC1\n68110 INFEC4\n9993 SEPSIS
             9950 MISCL1\n3383 MISCL5\n3311 NEUMENT\n038.9 SEPSIS\nv42.0 RENAL2\ne885.9 MSC2a3",
        );
        assert_eq!(Grouping::Pcg.groups().len(), 45);
        assert_eq!(Grouping::Pcg.group("hello"), None);
    }

    #[test]
    fn every_category_of_icd9_has_a_group_a_system_and_a_broad_group() {
        let categories = (1..=999).map(|n| format!("{n:03}")).filter(|c| icd9::category(c).is_some());
        let known = categories.filter(|c| super::super::CodeSystem::Icd9.place(c).is_some());
        let without: Vec<String> = known.filter(|c| Grouping::Pcg.path(c).is_none()).collect();
        // Categories that ICD-9-CM does not have.
        assert!(without.len() < 60, "{without:?}");
        let systems: std::collections::BTreeSet<_> = SYSTEMS.values().map(|s| s.0).collect();
        let broad: std::collections::BTreeSet<_> = SYSTEMS.values().map(|s| s.1).collect();
        assert_eq!((systems.len(), broad.len(), SYSTEMS.len()), (12, 4, 45));
        assert!(PCG.groups.iter().all(|group| SYSTEMS.contains_key(group)));
    }

    #[test]
    fn cpt_codes_places_and_specialties_have_groups() {
        check(
            Grouping::Cpt,
            "00100 ANES\n01999 ANES\n99213 EM\n99500 MED\n69990 SO\n69979 SAS\n38100 SO\n80047 PL\n56405 SGS",
        );
        for gap in ["37800", "99200", "59900", "G0101", "9921", "992133"] {
            assert_eq!(Grouping::Cpt.group(gap), None, "{gap}");
        }
        check(Grouping::Place, "11 OFFICE\n23 URGENT CARE\n41 AMBULANCE\n31 OTHER\n1 OTHER\n21 INPATIENT HOSPITAL");
        check(Grouping::Specialty, "InternalMedicine INTERNAL\nFamily/GeneralPractice GENERAL PRACTICE");
        check(Grouping::Specialty, "Surgery-General SURGERY\ncardiology INTERNAL");
        let sizes = [Grouping::Cpt, Grouping::Place, Grouping::Specialty].map(|g| g.groups().len());
        assert_eq!(sizes, [17, 8, 12]);
        assert_eq!(Grouping::Icd9Procedure.path("3995").unwrap(), ["39-39", "35-39", "operative"]);
        assert_eq!(Grouping::Icd9Procedure.path("87.44").unwrap(), ["87-87", "87-99", "diagnostic"]);
    }

    #[test]
    fn levels_nest_and_the_unmapped_go_where_the_policy_says() {
        let values = ["", "250.0", "2500", "4280", "AMI", "x"];
        let refused = Rule::Groups(Grouping::Pcg, None).apply(&values, true);
        assert_eq!(refused.uncovered, [4, 5]);
        let sent = Rule::Groups(Grouping::Pcg, Some("MSC2a3".into())).apply(&values, true);
        assert_eq!(sent.uncovered, [4]);
        assert!(sent.is_consistent());
        assert_eq!(sent.levels[1].labels[sent.levels[1].label_of[5] as usize].text, "MSC2a3");
        let procedures = Rule::Groups(Grouping::Icd9Procedure, None).apply(&["", "00", "0066", "17", "8744"], true);
        assert!(procedures.is_consistent() && procedures.uncovered.is_empty());
    }
}
