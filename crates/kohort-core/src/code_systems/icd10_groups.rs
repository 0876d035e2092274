//! Makes the table of primary condition groups for ICD-10-CM from that for ICD-9-CM and the general equivalence map
//! (GEM) of CMS. It is a test: it compares the table with what the map gives, if public data is available, and writes
//! it with `KOHORT_TABLES=write`. See tables/PROVENANCE.md for its choices.

use super::{Grouping, icd10};
use crate::table::{Input, open};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The weight of an ICD-10 code that more than V codes and late effects map to.
const FULL: u64 = 1000;

/// Codes that the map from ICD-9-CM never leads to, and which would get the group of most other codes of their category:
/// a cerebral infarction of another or unknown cause is a stroke, not a disease of precerebral arteries.
const OWN_PAIRS: [(&str, &str); 2] = [("43491", "I638"), ("43491", "I639")];

/// Votes for groups, by their place among all groups.
type Votes = BTreeMap<usize, u64>;

/// The group with most votes; of equal ones the first.
fn best(votes: &Votes) -> usize {
    votes.iter().max_by_key(|(group, votes)| (**votes, std::cmp::Reverse(**group))).map_or(0, |own| *own.0)
}

/// Pairs of the map: the ICD-9 code, the ICD-10 code, and the weight of the pair.
fn pairs(data: &Path) -> Vec<(String, String, u64)> {
    let source = open(&Input::new(data.join("icd_maps/icd9toicd10cmgem.csv.gz"))).expect("the map");
    let mut pairs = Vec::new();
    let read = source.scan(
        |_| (),
        |(), chunk| Ok(chunk),
        |chunk| {
            for row in 0..chunk.rows() {
                let cell = |column: usize| String::from_utf8_lossy(chunk.cell(row, column)).into_owned();
                let (icd9, icd10) = (cell(0), cell(1));
                if cell(4) == "1" || icd10.is_empty() || icd10 == "NoDx" {
                    continue;
                }
                let late = ("905"..="909").contains(&icd9.get(..3).unwrap_or_default());
                let weight = match (cell(3) == "0", cell(5) == "0") {
                    _ if icd9.starts_with('V') || late || icd9.starts_with("9959") => 1,
                    (true, _) => 1000,
                    (false, true) => 100,
                    (false, false) => 10,
                };
                pairs.push((icd9, icd10, weight));
            }
            Ok(())
        },
    );
    read.expect("the map");
    pairs.extend(OWN_PAIRS.map(|(icd9, icd10)| (icd9.into(), icd10.into(), FULL)));
    pairs
}

/// The text of the table.
fn table(data: &Path) -> String {
    let groups = Grouping::Pcg.groups();
    let place = |group: &str| groups.iter().position(|own| *own == group).expect("a group");
    let mut codes: BTreeMap<String, (Votes, u64)> = BTreeMap::new();
    for (icd9, icd10, weight) in pairs(data) {
        let Some(group) = Grouping::Pcg.group(&icd9) else { continue };
        let (votes, most) = codes.entry(icd10).or_default();
        *votes.entry(place(group)).or_default() += weight;
        *most = weight.max(*most);
    }
    let codes: BTreeMap<String, (usize, u64)> = codes
        .into_iter()
        .map(|(code, (votes, most))| (code, (best(&votes), if most > 1 { FULL } else { 1 })))
        .collect();
    let mut entries: BTreeMap<usize, BTreeSet<(String, usize, String)>> = BTreeMap::new();
    let mut add = |group: usize, text: String| {
        entries.entry(group).or_default().insert((text[..3].to_string(), text.len(), text));
    };
    let mut of_block: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for block in icd10::BLOCKS.iter() {
        let mut votes = Votes::new();
        for (_, (group, weight)) in codes.iter().filter(|(code, _)| block.holds(&code[..3])) {
            *votes.entry(*group).or_default() += weight;
        }
        if !votes.is_empty() {
            of_block.insert((block.start, block.end), best(&votes));
            add(best(&votes), block.label.clone());
        }
    }
    let mut prefixes: BTreeMap<(usize, &str), Votes> = BTreeMap::new();
    for (code, (group, weight)) in &codes {
        for length in 3..=code.len() {
            *prefixes.entry((length, &code[..length])).or_default().entry(*group).or_default() += weight;
        }
    }
    let mut exceptions: BTreeMap<&str, usize> = BTreeMap::new();
    for ((length, prefix), votes) in &prefixes {
        let block = icd10::BLOCKS.iter().find(|own| own.holds(&prefix[..3])).map(|own| (own.start, own.end));
        if *length == 3 && block == Some((*prefix, *prefix)) {
            continue;
        }
        let longer = (3..*length).rev().find_map(|shorter| exceptions.get(&prefix[..shorter]).copied());
        let inherited = longer.or_else(|| of_block.get(&block?).copied());
        let decides = votes.values().any(|votes| *votes >= FULL) || codes.contains_key(*prefix);
        if (decides || inherited.is_none()) && Some(best(votes)) != inherited {
            exceptions.insert(prefix, best(votes));
            add(best(votes), prefix.to_string());
        }
    }
    let line = |(group, codes): (&usize, &BTreeSet<(String, usize, String)>)| {
        let codes: Vec<&str> = codes.iter().map(|own| own.2.as_str()).collect();
        format!("{};{}\n", groups[*group], codes.join(" "))
    };
    "group;codes\n".to_string() + &entries.iter().map(line).collect::<String>()
}

#[test]
fn the_table_for_icd10_is_made_from_the_map() {
    let Some(data) = std::env::var_os("KOHORT_DATA").map(PathBuf::from) else { return };
    let made = table(&data);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/code_systems/tables/pcg_icd10.csv");
    if std::env::var_os("KOHORT_TABLES").is_some_and(|value| value == "write") {
        std::fs::write(&path, &made).unwrap();
    }
    assert!(made == include_str!("tables/pcg_icd10.csv").replace("\r\n", "\n"), "the map gives another table");
}
