//! Sets of n sibling codes, the paper's policies sim n: codes that are next to one another in the tree
//! of a code system.
//!
//! # Example
//! n = 2 over 250.00, 250.01, 250.02, 251.0 and 401.9. The category 250 gives {250.00, 250.01}; 250.02
//! remains and meets 251.0, which remains of its category, in the section they share: {250.02, 251.0}.
//! 401.9 is in another chapter and stays alone.

use super::constraints::Constraints;
use kohort_core::code_systems::CodeSystem;
use kohort_core::codes::Records;
use std::collections::BTreeMap;

/// Groups codes into sets of `n` siblings, and counts the codes that are in no code system. A category is
/// cut into runs of n; what remains of it meets what remains of the other categories of its section, then
/// of its chapter. No set goes beyond a chapter. Without any known code, codes are cut in byte order.
pub(super) fn siblings(records: &Records, n: usize) -> (Constraints, usize) {
    let system = system_of(records);
    // By chapter and section, in the order of the codes: the codes of each category.
    type Sections = BTreeMap<String, BTreeMap<String, Vec<u32>>>;
    let mut chapters: BTreeMap<String, Sections> = BTreeMap::new();
    let mut outside = 0;
    for (code, text) in (0..).zip(records.texts()) {
        match system.place(plain(text)) {
            None => outside += 1,
            Some(place) => {
                let sections = chapters.entry(place.chapter.label.to_string()).or_default();
                let categories = sections.entry(place.section.label.to_string()).or_default();
                categories.entry(place.category).or_default().push(code);
            }
        }
    }
    let mut sets: Vec<Vec<u32>> = Vec::new();
    if outside == records.distinct() {
        let codes: Vec<u32> = (0..records.distinct() as u32).collect();
        sets.extend(codes.chunks(n).map(<[u32]>::to_vec));
        return (Constraints::new(sets, records.distinct()), outside);
    }
    for sections in chapters.into_values() {
        let mut of_chapter = Vec::new();
        for categories in sections.into_values() {
            let mut of_section = Vec::new();
            categories.into_values().for_each(|codes| of_section.extend(cut(codes, n, &mut sets)));
            of_chapter.extend(cut(of_section, n, &mut sets));
        }
        let rest = cut(of_chapter, n, &mut sets);
        sets.push(rest);
    }
    sets.sort();
    (Constraints::new(sets, records.distinct()), outside)
}

/// Moves whole runs of `n` codes to the sets, and returns what remains.
fn cut(mut codes: Vec<u32>, n: usize, sets: &mut Vec<Vec<u32>>) -> Vec<u32> {
    let rest = codes.split_off(codes.len() / n * n);
    sets.extend(codes.chunks(n).map(<[u32]>::to_vec));
    rest
}

/// The code system that holds more of the codes.
fn system_of(records: &Records) -> CodeSystem {
    let held = |system: CodeSystem| records.texts().filter(|text| system.place(plain(text)).is_some()).count();
    if held(CodeSystem::Icd10) > held(CodeSystem::Icd9) { CodeSystem::Icd10 } else { CodeSystem::Icd9 }
}

/// The code itself, where it is the repeat of one: `250#2`.
fn plain(text: &str) -> &str {
    text.split('#').next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(codes: &[&str], n: usize) -> Vec<String> {
        let records = Records::from_texts([codes.iter().copied()]);
        let (constraints, _) = siblings(&records, n);
        let text = |set: &Vec<u32>| set.iter().map(|&c| records.text(c)).collect::<Vec<_>>().join(" ");
        constraints.sets().iter().map(text).collect()
    }

    /// P2: runs in sort order went across categories and chapters.
    #[test]
    fn siblings_are_codes_of_one_category_then_of_one_section_and_never_of_two_chapters() {
        let codes = ["25000", "25001", "25002", "2510", "4019", "41401"];
        assert_eq!(sets(&codes, 2), ["25000 25001", "25002 2510", "4019 41401"]);
        assert_eq!(sets(&codes, 3), ["25000 25001 25002", "2510", "4019 41401"]);
        // 629 and 630 are neighbours in byte order, and of two chapters.
        assert_eq!(sets(&["6299", "6300"], 2), ["6299", "6300"]);
        assert_eq!(sets(&["E119", "E120", "I10"], 2), ["E119 E120", "I10"]);
    }

    #[test]
    fn codes_of_no_system_are_cut_in_byte_order() {
        assert_eq!(sets(&["x-b", "x-a", "x-c"], 2), ["x-a x-b", "x-c"]);
    }
}
