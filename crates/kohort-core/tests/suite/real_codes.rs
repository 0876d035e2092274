//! Every code of the public lists has its place. Runs where KOHORT_DATA names the folder of the lists.

use flate2::read::MultiGzDecoder;
use kohort_core::code_systems::{CodeSystem, describe, icd9, icd10};
use kohort_core::hierarchy::Rule;
use std::collections::HashSet;
use std::io::Read;
use std::path::PathBuf;

/// The lines of a gzipped list; nothing where KOHORT_DATA is not set.
fn lines(path: &str) -> Option<Vec<String>> {
    let path = PathBuf::from(std::env::var_os("KOHORT_DATA")?).join(path);
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    MultiGzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    Some(String::from_utf8_lossy(&bytes).lines().map(str::to_string).collect())
}

#[track_caller]
fn every_code_has_a_place(system: CodeSystem, codes: &[&str], looks_like: fn(&str) -> bool) {
    for code in codes {
        let place = system.place(code).unwrap_or_else(|| panic!("{code} has no place"));
        assert!(looks_like(code), "{code}");
        assert!(code.starts_with(&place.category), "{code}");
        assert!(describe(system, &place.section.label).is_some() && describe(system, &place.chapter.label).is_some());
        if code.len() > place.category.len() {
            let dotted = format!("{}.{}", place.category, &code[place.category.len()..]);
            assert_eq!(system.place(&dotted), Some(place), "{dotted}");
        }
    }
    let values: Vec<&str> = std::iter::once("").chain(codes.iter().copied()).collect();
    let hierarchy = Rule::Codes(system).apply(&values, false);
    assert!(hierarchy.uncovered.is_empty() && hierarchy.is_consistent());
}

#[test]
fn every_icd9_code_has_one_section_and_one_chapter() {
    let Some(lines) = lines("icd9/CMS32_DESC_SHORT_DX.txt.gz") else { return };
    let codes: Vec<&str> = lines.iter().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(codes.len(), 14_567);
    every_code_has_a_place(CodeSystem::Icd9, &codes, icd9::looks_like);
    let categories: HashSet<String> = codes.iter().map(|code| CodeSystem::Icd9.place(code).unwrap().category).collect();
    assert_eq!(categories.len(), 1_234);
}

#[test]
fn every_icd10_code_has_one_block_and_one_chapter() {
    let Some(lines) = lines("icd10/icd10cm_code_list_april_2026.txt.gz") else { return };
    // The list also has the numbers of chapters, the ranges of blocks, and some categories twice.
    let mut seen = HashSet::new();
    let is_code = |line: &&str| !line.contains('-') && !line.bytes().all(|byte| byte.is_ascii_digit());
    let codes: Vec<&str> =
        lines.iter().map(|line| line.trim()).filter(is_code).filter(|line| seen.insert(*line)).collect();
    every_code_has_a_place(CodeSystem::Icd10, &codes, icd10::looks_like);
    let categories: HashSet<&str> = codes.iter().map(|code| &code[..3]).collect();
    assert_eq!(categories.len(), 1_918);
}
