//! Built-in code systems: which category, section and chapter a diagnosis code belongs to.

mod groups;
pub mod icd10;
#[cfg(test)]
mod icd10_groups;
pub mod icd9;
mod ranges;
mod spelling;

pub use groups::Grouping;
pub use ranges::Range;

use crate::hierarchy::{Hierarchy, by_values};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// A code system that is built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeSystem {
    /// ICD-9-CM diagnoses.
    Icd9,
    /// ICD-10-CM diagnoses.
    Icd10,
}

/// A code without its dot, in capitals.
pub(crate) fn plain(code: &str) -> String {
    code.chars().filter(|c| *c != '.' && !c.is_whitespace()).map(|c| c.to_ascii_uppercase()).collect()
}

/// The place of a code in its system.
#[derive(Debug, Clone, PartialEq)]
pub struct CodePlace {
    /// The category in capitals: `250`, `V10`, `E800`; `E11`.
    pub category: String,
    /// The section (ICD-9) or block (ICD-10).
    pub section: &'static Range,
    /// The chapter.
    pub chapter: &'static Range,
}

/// The title of the section, block or chapter that a label names.
pub fn describe(system: CodeSystem, label: &str) -> Option<&'static str> {
    let (sections, chapters) = system.tables();
    sections.iter().chain(chapters).find(|range| range.label == label).map(|range| range.title)
}

/// A label whose title holds a word that was searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TitledLabel {
    /// The level: `category`, `section`, `block` or `chapter`.
    pub level: &'static str,
    /// The label in releases.
    pub label: &'static str,
    /// The subject.
    pub title: &'static str,
    /// The label and the title of the section or block that a category is in, or of the chapter that a section is in.
    pub inside: Option<(&'static str, &'static str)>,
}

/// The labels whose titles hold a word in lower case, the coarsest first. The categories of ICD-9-CM have no titles
/// here.
pub fn titled(system: CodeSystem, word: &str) -> Vec<TitledLabel> {
    let (sections, chapters) = system.tables();
    let [_, category, section, chapter] = system.levels();
    let holds = |range: &&'static Range| range.title.to_lowercase().contains(word);
    let parent = |ranges: &'static [Range], start: &str| {
        ranges.iter().find(|range| range.holds(start)).map(|range| (range.label.as_str(), range.title))
    };
    let of_chapter = |range: &'static Range| (chapter, range.label.as_str(), range.title, None);
    let of_section =
        |range: &'static Range| (section, range.label.as_str(), range.title, parent(chapters, range.start));
    let of_category = |range: &'static Range| (category, range.start, range.title, parent(sections, range.start));
    let categories: &'static [Range] = match system {
        CodeSystem::Icd9 => &[],
        CodeSystem::Icd10 => &icd10::CATEGORIES,
    };
    let all = chapters.iter().filter(holds).map(of_chapter);
    let all = all.chain(sections.iter().filter(holds).map(of_section));
    let all = all.chain(categories.iter().filter(holds).map(of_category));
    all.map(|(level, label, title, inside)| TitledLabel { level, label, title, inside }).collect()
}

impl CodeSystem {
    /// The place of a code, written with or without its dot, in capitals or not.
    /// `None` where it does not look like a code or is in no range.
    pub fn place(self, text: &str) -> Option<CodePlace> {
        let category = match self {
            CodeSystem::Icd9 => icd9::category(text),
            CodeSystem::Icd10 => icd10::category(text),
        }?;
        let (sections, chapters) = self.tables();
        let find = |ranges: &'static [Range]| ranges.iter().find(|range| range.holds(&category));
        Some(CodePlace { section: find(sections)?, chapter: find(chapters)?, category })
    }

    fn tables(self) -> (&'static [Range], &'static [Range]) {
        match self {
            CodeSystem::Icd9 => (&icd9::SECTIONS, &icd9::CHAPTERS),
            CodeSystem::Icd10 => (&icd10::BLOCKS, &icd10::CHAPTERS),
        }
    }

    /// The levels below `*`.
    pub(crate) fn levels(self) -> [&'static str; 4] {
        match self {
            CodeSystem::Icd9 => ["code", "category", "section", "chapter"],
            CodeSystem::Icd10 => ["code", "category", "block", "chapter"],
        }
    }

    pub(crate) fn apply(self, names: Vec<String>, values: &[&str], missing_occurs: bool) -> Hierarchy {
        let shared = self.shared_with_a_code(values);
        by_values(names, values, missing_occurs, |value| {
            let CodePlace { category, section, chapter } = self.place(value)?;
            let category = if shared.contains(&category) { format!("{category}-{category}") } else { category };
            Some(vec![
                Cow::Borrowed(value),
                Cow::Owned(category),
                Cow::Borrowed(section.label.as_str()),
                Cow::Borrowed(chapter.label.as_str()),
            ])
        })
    }

    /// Categories that are also a code of the column, beside other codes: `250` where `25001` occurs too.
    /// Their label is a range, `250-250`, so that `250` goes on meaning the code alone.
    fn shared_with_a_code(self, values: &[&str]) -> HashSet<String> {
        let mut codes_in: HashMap<String, usize> = HashMap::new();
        for place in values.iter().filter_map(|value| self.place(value)) {
            *codes_in.entry(place.category).or_default() += 1;
        }
        let is_shared = |value: &&&str| codes_in.get(**value).is_some_and(|&codes| codes > 1);
        values.iter().filter(is_shared).map(|value| value.to_string()).collect()
    }
}

#[cfg(test)]
mod tests;
