use super::*;
use crate::hierarchy::Rule;
use CodeSystem::{Icd9, Icd10};

/// Codes and their category, section or block, and chapter; a line each.
#[track_caller]
fn check(system: CodeSystem, table: &str) {
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let place = system.place(words[0]).unwrap_or_else(|| panic!("{} is not placed", words[0]));
        assert_eq!([&place.category, &place.section.label, &place.chapter.label], words[1..], "{}", words[0]);
    }
}

#[test]
fn icd9_codes_have_a_category_a_section_and_a_chapter() {
    check(
        Icd9,
        "0010    001  001-009   001-139
         001.0   001  001-009   001-139
         042     042  042-042   001-139
         0796    079  070-079   001-139
         20930   209  209-209   140-239
         239     239  239-239   140-239
         250     250  249-259   240-279
         25001   250  249-259   240-279
         250.01  250  249-259   240-279
         2859    285  280-289   280-289
         2910    291  290-294   290-319
         29620   296  295-299   290-319
         3051    305  300-316   290-319
         33818   338  338-338   320-389
         36250   362  360-379   320-389
         41401   414  410-414   390-459
         4280    428  420-429   390-459
         486     486  480-488   460-519
         486-    486  480-488   460-519
         486--   486  480-488   460-519
         4280-   428  420-429   390-459
         V30-    V30  V30-V39   V01-V91
         E885-   E885 E880-E888 E000-E999
         53081   530  530-539   520-579
         5990    599  590-599   580-629
         650     650  650-659   630-679
         7140    714  710-719   710-739
         7454    745  740-759   740-759
         V3000   V30  V30-V39   V01-V91
         78650   786  780-789   780-799
         82021   820  820-829   800-999
         8730    873  870-879   800-999
         99883   998  996-999   800-999
         V1005   V10  V10-V19   V01-V91
         v10.05  V10  V10-V19   V01-V91
         V8541   V85  V85-V85   V01-V91
         E0000   E000 E000-E000 E000-E999
         E8120   E812 E810-E819 E000-E999
         E849.0  E849 E849-E849 E000-E999
         e8859   E885 E880-E888 E000-E999
         E9500   E950 E950-E959 E000-E999",
    );
}

/// P8: a code of ICD-10-CM is in the group of the codes of ICD-9-CM that it replaces.
#[test]
fn condition_groups_of_icd10_are_those_of_icd9() {
    for (icd10, icd9, group) in [
        ("E11.9", "250.00", "METAB3"),
        ("I21.3", "410.90", "AMI"),
        ("I50.9", "428.0", "CHF"),
        ("J18.9", "486", "PNEUM"),
        ("J44.9", "496", "COPD"),
        ("C50.911", "174.9", "GYNECA"),
        ("C34.90", "162.9", "CANCRA"),
        ("A41.9", "038.9", "SEPSIS"),
        ("N39.0", "599.0", "UTI"),
        ("K35.80", "540.9", "APPCHOL"),
        ("S72.001A", "820.8", "HIPFX"),
        ("O80", "650", "PRGNCY"),
        ("F32.9", "311", "NEUMENT"),
        ("G40.909", "345.90", "SEIZURE"),
        ("I63.9", "434.91", "STROKE"),
    ] {
        assert_eq!((Grouping::PcgIcd10.group(icd10), Grouping::Pcg.group(icd9)), (Some(group), Some(group)), "{icd10}");
    }
    assert_eq!(Grouping::PcgIcd10.group("250.00"), None, "a code of another system has no group");
}

#[test]
fn icd10_codes_have_a_category_a_block_and_a_chapter() {
    check(
        Icd10,
        "A000     A00 A00-A09 A00-B99
         B20      B20 B20-B20 A00-B99
         C50.911  C50 C00-C96 C00-D49
         C7A00    C7A C00-C96 C00-D49
         D3A.00   D3A D3A-D3A C00-D49
         D36.9    D36 D10-D36 C00-D49
         D37.01   D37 D37-D48 C00-D49
         D400     D40 D37-D48 C00-D49
         E119     E11 E08-E13 E00-E89
         E11.9    E11 E08-E13 E00-E89
         e11.9    E11 E08-E13 E00-E89
         F329     F32 F30-F39 F01-F99
         I10      I10 I10-I1A I00-I99
         I1A0     I1A I10-I1A I00-I99
         J449     J44 J40-J4A J00-J99
         M1A.00X0 M1A M00-M25 M00-M99
         N186     N18 N17-N19 N00-N99
         O9A111   O9A O94-O9A O00-O9A
         QA00101  QA0 QA0-QA0 Q00-QA0
         S52521A  S52 S50-S59 S00-T88
         T40.1X1A T40 T07-T88 S00-T88
         U07.1    U07 U00-U49 U00-U85
         V0001XA  V00 V00-X58 V00-Y99
         Y9301    Y93 Y90-Y99 V00-Y99
         Z3A40    Z3A Z30-Z3A Z00-Z99
         Z79.4    Z79 Z77-Z99 Z00-Z99",
    );
}

#[test]
fn what_is_no_code_has_no_place() {
    for text in [
        "", "1", "25", "250.", "250.001", "2500001", " 250", "250 ", "25O", "E80", "E8000x", "E80001", "V1", "019",
        "-", "ß50",
    ] {
        assert_eq!(Icd9.place(text), None, "{text}");
    }
    for text in [
        "",
        "E",
        "E1",
        "E11.",
        ".E11",
        "E11.12345",
        "E1112345",
        " E11",
        "E11 ",
        "11E",
        "EE1",
        "A13",
        "Ä11",
        "E11.ä",
        "X59",
    ] {
        assert_eq!(Icd10.place(text), None, "{text}");
    }
}

#[test]
fn the_shape_of_a_code_is_known_without_the_tables() {
    for (text, nine, ten) in [
        ("250.01", true, false),
        ("25001", true, false),
        ("019", true, false),
        ("V10", true, true),
        ("V10.5", true, true),
        ("E11.9", false, true),
        ("E8859", true, true),
        ("E885.9", true, false),
        ("S52.521A", false, true),
        ("female", false, false),
        ("2010-03-14", false, false),
        ("12", false, false),
    ] {
        assert_eq!((icd9::looks_like(text), icd10::looks_like(text)), (nine, ten), "{text}");
    }
}

#[test]
fn every_section_lies_in_one_chapter_and_overlaps_are_put_in_order() {
    for (system, counts) in [(Icd9, (162, 19)), (Icd10, (226, 22))] {
        let (sections, chapters) = system.tables();
        assert_eq!((sections.len(), chapters.len()), counts);
        for section in sections {
            let around = chapters.iter().filter(|chapter| chapter.holds(section.start) && chapter.holds(section.end));
            assert_eq!(around.count(), 1, "{}", section.label);
            let first = sections.iter().find(|range| range.holds(section.start));
            assert_eq!(first, Some(section), "{} is hidden by a range before it", section.label);
        }
        for ranges in [sections, chapters] {
            assert!(ranges.iter().all(|range| range.start <= range.end && !range.title.is_empty()));
            let labels: HashSet<&str> = ranges.iter().map(|range| range.label.as_str()).collect();
            assert_eq!(labels.len(), ranges.len());
        }
    }
}

#[test]
fn labels_have_titles() {
    assert_eq!(describe(Icd9, "249-259"), Some("Diseases Of Other Endocrine Glands"));
    assert_eq!(describe(Icd9, "042-042"), Some("Human Immunodeficiency Virus (HIV) Infection"));
    assert_eq!(describe(Icd10, "E08-E13"), Some("Diabetes mellitus"));
    assert_eq!(describe(Icd10, "E00-E89"), Some("Endocrine, nutritional and metabolic diseases"));
    assert_eq!(describe(Icd9, "250"), None);
    assert_eq!(describe(Icd9, "E08-E13"), None);
}

/// The labels of each value, from the code to the chapter.
#[track_caller]
fn levels(system: CodeSystem, values: &[&str], expected: &[&str]) {
    let hierarchy = Rule::Codes(system).apply(values, false);
    assert!(hierarchy.is_consistent());
    let of = |code: usize| {
        let labels = hierarchy.levels.iter().map(|level| level.labels[level.label_of[code] as usize].text.as_str());
        labels.collect::<Vec<&str>>().join(" ")
    };
    assert_eq!((1..values.len()).map(of).collect::<Vec<String>>(), expected);
}

#[test]
fn codes_become_categories_sections_and_chapters() {
    levels(
        Icd9,
        &["", "25001", "250.02", "V08"],
        &["25001 250 249-259 240-279 *", "250.02 250 249-259 240-279 *", "V08 V08 V07-V09 V01-V91 *"],
    );
    levels(Icd10, &["", "E119", "none"], &["E119 E11 E08-E13 E00-E89 *", "* * * * *"]);
    assert_eq!(Rule::Codes(Icd9).level_names(), ["code", "category", "section", "chapter", "*"]);
    assert_eq!(Rule::Codes(Icd10).level_names(), ["code", "category", "block", "chapter", "*"]);
}

#[test]
fn a_category_that_is_also_a_code_beside_others_is_named_as_a_range() {
    levels(
        Icd9,
        &["", "250", "25001", "042", "0421", "486"],
        &[
            "250 250-250 249-259 240-279 *",
            "25001 250-250 249-259 240-279 *",
            "042 042-042 042-042 001-139 *",
            "0421 042-042 042-042 001-139 *",
            "486 486 480-488 460-519 *",
        ],
    );
    levels(Icd10, &["", "i10", "I10"], &["i10 I10-I10 I10-I1A I00-I99 *", "I10 I10-I10 I10-I1A I00-I99 *"]);
}

#[test]
fn the_leaves_are_the_codes_of_the_column() {
    let hierarchy = Rule::Codes(Icd9).apply(&["", "25001", "25002", "25003", "486", "?"], true);
    let losses = |level: usize| hierarchy.levels[level].labels.iter().map(|label| label.loss).collect::<Vec<f64>>();
    assert_eq!(losses(0), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(losses(1), [0.0, 0.5, 0.0, 1.0]);
    assert_eq!(hierarchy.uncovered, [5]);
}

#[test]
fn codes_are_found_by_a_word_of_their_title() {
    let found = titled(CodeSystem::Icd10, "asthma");
    let asthma = found.iter().find(|own| own.label == "J45").unwrap();
    assert_eq!((asthma.level, asthma.title), ("category", "Asthma"));
    assert_eq!(asthma.inside.unwrap().0, "J40-J4A");
    assert!(titled(CodeSystem::Icd9, "heart").iter().any(|own| own.level == "section"));
    assert!(titled(CodeSystem::Icd10, "no such word").is_empty());
    // A category is found under the label that a release shows.
    for own in icd10::CATEGORIES.iter() {
        let place = CodeSystem::Icd10.place(own.start).unwrap();
        assert_eq!(place.category, own.start);
    }
    assert_eq!(icd10::CATEGORIES.len(), 1918);
}
