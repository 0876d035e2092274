//! Utility constraints: codes that a study needs together. They are disjoint.

use super::params::{CodeLevel, ConstraintsBy, Params};
use super::rules::FREE;
use super::siblings::siblings;
use crate::itemsets::{Frequent, frequent};
use kohort_core::Result;
use kohort_core::code_systems::CodeSystem;
use kohort_core::codes::Records;
use kohort_core::policy::{NamedText, Policy};
use kohort_core::shape::Codes;
use std::collections::BTreeMap;

/// Disjoint sets of codes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constraints {
    sets: Vec<Vec<u32>>,
    by_code: Vec<u32>,
}

impl Constraints {
    /// There are none.
    pub fn none() -> Constraints {
        Constraints::default()
    }

    /// These sets, which must be disjoint, over so many codes. Empty ones are left out.
    pub fn new(sets: Vec<Vec<u32>>, codes: usize) -> Constraints {
        let sets: Vec<Vec<u32>> = sets.into_iter().filter(|set| !set.is_empty()).collect();
        if sets.is_empty() {
            return Constraints::none();
        }
        let mut by_code = vec![FREE; codes];
        for (u, set) in sets.iter().enumerate() {
            set.iter().for_each(|&code| by_code[code as usize] = u as u32);
        }
        Constraints { sets, by_code }
    }

    /// Reads the constraints that the parameters ask for, and notes for the custodian.
    pub fn of(records: &Records, policy: &Policy<Codes>, params: &Params) -> Result<(Constraints, Vec<String>)> {
        let mut notes = Vec::new();
        let constraints = match &params.constraints {
            ConstraintsBy::None => Constraints::none(),
            ConstraintsBy::File(file) => Constraints::from_file(records, policy, file, &mut notes)?,
            ConstraintsBy::Level(system, level) => {
                let (constraints, outside) = Constraints::by_level(records, *system, *level);
                if outside > 0 {
                    notes.push(format!(
                        "{outside} codes do not belong to the code system, so no constraint includes \
                         them."
                    ));
                }
                constraints
            }
            ConstraintsBy::Siblings(n) => {
                let (constraints, outside) = siblings(records, *n);
                if outside == records.distinct() && outside > 0 {
                    notes.push(
                        "`siblings` follows the tree of ICD-9 or ICD-10, but none of the codes belongs to it. Runs of \
                         codes in byte order were taken instead."
                            .into(),
                    );
                } else if outside > 0 {
                    notes.push(format!(
                        "{outside} codes do not belong to the code system, so no constraint includes them."
                    ));
                }
                constraints
            }
            ConstraintsBy::Frequent(share) => {
                let (num, den) = share.parts();
                let least = (records.len() as u128 * u128::from(num)).div_ceil(u128::from(den)).max(1);
                let sensitive = params.sensitive_codes(records, &mut Vec::new())?;
                Constraints::frequent(records, u32::try_from(least).unwrap_or(u32::MAX), &sensitive)
            }
        };
        Ok((constraints, notes))
    }

    /// A file: one constraint a line, codes separated by blanks, commas or semicolons. A line that
    /// starts with `#` is a remark.
    fn from_file(
        records: &Records,
        policy: &Policy<Codes>,
        file: &NamedText,
        notes: &mut Vec<String>,
    ) -> Result<Constraints> {
        let mut seen: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let mut unknown = 0;
        let mut sets = Vec::new();
        for (line, text) in (1..).zip(file.text.lines()) {
            if text.trim_start().starts_with('#') {
                continue;
            }
            let mut set = Vec::new();
            let words = text.split(|c: char| c.is_whitespace() || c == ',' || c == ';').filter(|w| !w.is_empty());
            for (place, word) in (1..).zip(words) {
                if let Some((line_before, place_before)) = seen.insert(word, (line, place)) {
                    return Err(policy.method.wrong(
                        "constraints",
                        format!(
                            "{}, line {line}, code {place}: \"{word}\" is already on line {line_before}, code \
                             {place_before}. Constraints must be disjoint.",
                            file.name
                        ),
                    ));
                }
                // With multiset, the repeats of a code belong where it belongs.
                let repeats = (2u32..).map(|n| records.code(&format!("{word}#{n}"))).take_while(Option::is_some);
                let codes: Vec<u32> = records.code(word).into_iter().chain(repeats.flatten()).collect();
                unknown += u64::from(codes.is_empty());
                set.extend(codes);
            }
            sets.push(set);
        }
        if unknown > 0 {
            notes.push(format!("{}: {unknown} codes of the constraints do not occur in the data.", file.name));
        }
        Ok(Constraints::new(sets, records.distinct()))
    }

    /// Codes under one label of a code system, and how many codes it does not hold.
    pub fn by_level(records: &Records, system: CodeSystem, level: CodeLevel) -> (Constraints, usize) {
        let mut sets: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        let mut outside = 0;
        for (code, text) in (0..).zip(records.texts()) {
            let plain = text.split('#').next().unwrap_or(text);
            match system.place(plain) {
                None => outside += 1,
                Some(place) => {
                    let label = match level {
                        CodeLevel::Category => place.category,
                        CodeLevel::Section => place.section.label.clone(),
                        CodeLevel::Chapter => place.chapter.label.clone(),
                    };
                    sets.entry(label).or_default().push(code);
                }
            }
        }
        (Constraints::new(sets.into_values().collect(), records.distinct()), outside)
    }

    /// Sets of `n` siblings in the tree of ICD-9 or ICD-10 (the paper's sim n).
    pub fn siblings(records: &Records, n: usize) -> Constraints {
        siblings(records, n).0
    }

    /// Codes that are together in at least `least` records: the largest sets first, of equal ones
    /// the most frequent, as far as they are disjoint. Sets with a sensitive code are passed over.
    pub fn frequent(records: &Records, least: u32, sensitive: &[bool]) -> Constraints {
        let mut sets: Vec<Frequent> = frequent(records, least, MOST_CODES, MOST_SETS);
        let is_sensitive = |code: &u32| sensitive.get(*code as usize).copied().unwrap_or(false);
        sets.retain(|set| !set.codes.iter().any(is_sensitive));
        sets.sort_by(|a, b| {
            b.codes.len().cmp(&a.codes.len()).then(b.support.cmp(&a.support)).then_with(|| a.codes.cmp(&b.codes))
        });
        let mut taken = vec![false; records.distinct()];
        let mut disjoint = Vec::new();
        for set in sets {
            if set.codes.iter().all(|&code| !taken[code as usize]) {
                set.codes.iter().for_each(|&code| taken[code as usize] = true);
                disjoint.push(set.codes);
            }
        }
        disjoint.sort();
        Constraints::new(disjoint, records.distinct())
    }

    /// These constraints without the sensitive codes, which must decide nothing. `codes` is the number
    /// of codes in the data.
    pub fn without(&self, sensitive: &[bool], codes: usize) -> Constraints {
        if sensitive.is_empty() {
            return self.clone();
        }
        let open = |set: &Vec<u32>| set.iter().copied().filter(|&code| !sensitive[code as usize]).collect();
        Constraints::new(self.sets.iter().map(open).collect(), codes)
    }

    /// The sets by themselves.
    pub(super) fn into_sets(self) -> Vec<Vec<u32>> {
        self.sets
    }

    /// The sets.
    pub fn sets(&self) -> &[Vec<u32>] {
        &self.sets
    }

    /// The number of them.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    pub(crate) fn by_code(&self) -> &[u32] {
        &self.by_code
    }
}

/// Frequent itemsets beyond this size are made of frequent ones below it.
const MOST_CODES: usize = 8;
/// More itemsets than this are not looked at.
const MOST_SETS: usize = 1_000_000;
