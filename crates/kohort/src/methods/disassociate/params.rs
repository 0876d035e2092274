//! Parameters of `disassociate`: as written → as meant.

use super::rules::{Covers, Subrecords};
use kohort_core::code_systems::CodeSystem;
use kohort_core::codes::Records;
use kohort_core::number::{Decimal, Fraction};
use kohort_core::policy::{NamedText, Policy, Section, Value};
use kohort_core::shape::Codes;
use kohort_core::visible::other_spelling;
use kohort_core::{Error, Result};
use std::collections::BTreeSet;

/// Describes how clusters are formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formed {
    /// As printed: HORPART alone.
    Paper,
    /// HORPART, stopped at larger clusters: on every set measured they tell more, of codes and of
    /// combinations, and promise the same (docs/experiments-codes.md).
    Best,
}

/// The choice to join clusters or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refine {
    /// They are not.
    Not,
    /// In at most so many sweeps.
    Passes(usize),
}

/// The level of a code system on which codes belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeLevel {
    /// The three-digit category.
    Category,
    /// The section, or block.
    Section,
    /// The chapter.
    Chapter,
}

/// Describes how patients are grouped by quasi-identifiers beside their codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// Each group is coarsened only as far as it must be.
    Local,
    /// One level for each column.
    Lattice,
}

/// Describes where utility constraints come from.
#[derive(Debug, Clone, PartialEq)]
pub enum ConstraintsBy {
    /// There are none.
    None,
    /// A file lists them.
    File(NamedText),
    /// Codes under one label of a code system.
    Level(CodeSystem, CodeLevel),
    /// Sets of so many siblings in the tree of a code system.
    Siblings(usize),
    /// Codes that are frequent together, in at least this share of the patients.
    Frequent(Fraction),
}

/// The parameters beside `name = "disassociate"`.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// `max_cluster`: clusters have fewer patients than this. Default 256k; 64k with constraints, `aware` or m above 3; 2k as printed with "paper".
    pub max_cluster: Option<u64>,
    /// `refine`: whether clusters share chunks. Default true.
    pub refine: Refine,
    /// `constraints`: which codes are to stay together.
    pub constraints: ConstraintsBy,
    /// `clusters`: how they are formed. Default "best".
    pub clusters: Formed,
    /// `aware`: S7, for a reader who reasons about the method. Default false.
    pub subrecords: Subrecords,
    /// `no_cover`: no code tells another. Default false.
    pub covers: Covers,
    /// `sensitive`: codes that stay in item chunks.
    pub sensitive: Vec<String>,
    /// `group_by`: how patients with quasi-identifiers are grouped. Default "local".
    pub group_by: GroupBy,
    /// `max_demographic_loss`: how far groups are merged to keep codes.
    pub max_demographic_loss: Fraction,
}

/// Sweeps of refining: no joint cluster is nested deeper.
const MOST_PASSES: u64 = 16;

impl Default for Params {
    fn default() -> Params {
        Params {
            max_cluster: None,
            refine: Refine::Passes(MOST_PASSES as usize),
            constraints: ConstraintsBy::None,
            clusters: Formed::Best,
            subrecords: Subrecords::UpToM,
            covers: Covers::Shown,
            sensitive: Vec::new(),
            group_by: GroupBy::Local,
            max_demographic_loss: max_demographic_loss(),
        }
    }
}

/// Merging groups of patients ends before the mean loss of the quasi-identifiers exceeds this.
fn max_demographic_loss() -> Fraction {
    Decimal::parse("0.3", b'.').and_then(Fraction::from_decimal).unwrap_or(Fraction::ONE)
}

impl Params {
    /// Reads and checks them.
    pub fn read(policy: &Policy<Codes>) -> Result<Params> {
        let section = &policy.method;
        let k = policy.privacy.k.get();
        let max_cluster = section.whole("max_cluster")?;
        if let Some(max) = max_cluster.filter(|&max| max < 2 * k) {
            return Err(section.wrong(
                "max_cluster",
                format!(
                    "{max} is below 2k = {}, so the remaining patients could not be split into clusters of k.",
                    2 * k
                ),
            ));
        }
        if max_cluster.is_some_and(|max| max > LARGEST_CLUSTER) {
            return Err(section.wrong("max_cluster", format!("must be at most {LARGEST_CLUSTER}.")));
        }
        let sensitive = section.texts("sensitive")?.unwrap_or_default();
        if policy.privacy.confidence.is_some() && sensitive.is_empty() {
            return Err(section.error(
                section.line,
                "`confidence` limits the codes that [method] lists as `sensitive`, but it lists none. Set sensitive = \
                 [\"B20\"], for example, or remove `confidence`.",
            ));
        }
        let passes = section.whole("refine_max_passes")?.unwrap_or(MOST_PASSES);
        if passes == 0 || passes > MOST_PASSES {
            return Err(section
                .wrong("refine_max_passes", format!("must be from 1 to {MOST_PASSES}; refine = false for none.")));
        }
        if !policy.quasi().is_empty() && section.flag("aware")? == Some(true) {
            return Err(section.wrong(
                "aware",
                "cannot be promised with quasi-identifiers beside the codes: labels are chosen by the data, so that an \
                 attacker who knows the algorithm can reason backwards from them. Remove it, or drop the \
                 quasi-identifiers.",
            ));
        }
        let group_by = [("local", GroupBy::Local), ("lattice", GroupBy::Lattice)];
        let clusters = [("best", Formed::Best), ("paper", Formed::Paper)];
        let flag = |key: &str| Ok(section.flag(key)?.unwrap_or(false));
        Ok(Params {
            max_cluster,
            refine: if section.flag("refine")?.unwrap_or(true) { Refine::Passes(passes as usize) } else { Refine::Not },
            constraints: read_constraints(section, policy)?,
            clusters: section.word("clusters", &clusters)?.unwrap_or(Formed::Best),
            subrecords: if flag("aware")? { Subrecords::Whole } else { Subrecords::UpToM },
            covers: if flag("no_cover")? { Covers::Avoided } else { Covers::Shown },
            sensitive,
            group_by: section.word("group_by", &group_by)?.unwrap_or(GroupBy::Local),
            max_demographic_loss: section.share("max_demographic_loss")?.unwrap_or_else(max_demographic_loss),
        })
    }

    /// Clusters have fewer patients than this. Where a chunk can hold few codes (constraints keep them
    /// together, or combinations of many must be frequent), large clusters lose more of what goes
    /// across chunks than they win.
    pub(super) fn max_cluster(&self, k: u64, m: usize, constrained: bool) -> usize {
        let narrow = constrained || m > 3 || self.subrecords == Subrecords::Whole;
        let usual = match (self.clusters, self.subrecords) {
            (Formed::Paper, Subrecords::UpToM) => 2 * k,
            (Formed::Paper, Subrecords::Whole) => 4 * k,
            (Formed::Best, _) if narrow => LARGE_IF_NARROW * k,
            (Formed::Best, _) => LARGE * k,
        };
        self.max_cluster.unwrap_or(usual).max(2 * k).min(LARGEST_CLUSTER) as usize
    }

    /// Returns for each code whether the policy calls it sensitive.
    pub(super) fn sensitive_codes(&self, records: &Records, notes: &mut Vec<String>) -> Result<Vec<bool>> {
        if self.sensitive.is_empty() {
            return Ok(Vec::new());
        }
        let mut sensitive = vec![false; records.distinct()];
        let listed: BTreeSet<&str> = self.sensitive.iter().map(String::as_str).collect();
        for (sensitive, text) in sensitive.iter_mut().zip(records.texts()) {
            // With multiset, its repeats are as sensitive as it is. A code of the data that looks like a repeat is
            // taken for one, as whoever reads the release will.
            let repeated = text.rsplit_once('#').filter(|(_, number)| number.parse::<u32>().is_ok());
            *sensitive = listed.contains(text) || repeated.is_some_and(|(code, _)| listed.contains(code));
        }
        let missing = listed.iter().filter(|text| records.code(text).is_none());
        notes.extend(missing.map(|text| format!("the sensitive code \"{text}\" does not occur in the data.")));
        let left_out = records.texts().zip(&sensitive).filter(|(_, own)| !**own).map(|(text, _)| text);
        match other_spelling(listed.iter().copied(), left_out) {
            None => Ok(sensitive),
            Some(code) => Err(Error::policy(format!(
                "`sensitive` under [method] lists \"{code}\". The data also has another spelling of it, with other \
                 capitals, blanks or accents, which would be released like any other code. List both, or give them one \
                 spelling with `recode` or `spelling`."
            ))),
        }
    }
}

/// The number of times k a cluster may hold where nothing else is said.
const LARGE: u64 = 256;
const LARGE_IF_NARROW: u64 = 64;
/// A cluster larger than this tells nothing about anybody.
const LARGEST_CLUSTER: u64 = 100_000;

fn read_constraints(section: &Section, policy: &Policy<Codes>) -> Result<ConstraintsBy> {
    let wrong = || {
        section.wrong(
            "constraints",
            "must be a file, or one of { icd9 | icd10 = \"category\" | \"section\" | \"chapter\" }, { siblings = 10 }, { frequent = 0.0125 }.",
        )
    };
    let own = match section.get("constraints").map(|item| &item.value) {
        None => return Ok(ConstraintsBy::None),
        Some(Value::Text(_)) => return policy.own.constraints.clone().map(ConstraintsBy::File).ok_or_else(wrong),
        Some(Value::Section(own)) => own,
        Some(_) => return Err(wrong()),
    };
    own.only(&["icd9", "icd10", "siblings", "frequent"])?;
    let levels = [("category", CodeLevel::Category), ("section", CodeLevel::Section), ("chapter", CodeLevel::Chapter)];
    match &own.entries[..] {
        [(key, _)] => match key.as_str() {
            "icd9" => {
                own.word(key, &levels)?.map(|level| ConstraintsBy::Level(CodeSystem::Icd9, level)).ok_or_else(wrong)
            }
            "icd10" => {
                own.word(key, &levels)?.map(|level| ConstraintsBy::Level(CodeSystem::Icd10, level)).ok_or_else(wrong)
            }
            "siblings" => match own.whole(key)? {
                Some(n @ 2..=100_000) => Ok(ConstraintsBy::Siblings(n as usize)),
                _ => Err(own.wrong(key, "must be at least 2.")),
            },
            _ => match own.share(key)? {
                Some(share) if !share.is_zero() => Ok(ConstraintsBy::Frequent(share)),
                _ => Err(own.wrong(key, "must be above 0.")),
            },
        },
        _ => Err(wrong()),
    }
}
