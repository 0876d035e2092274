//! Who has no diagnosis in a public-use file of the National Hospital Discharge Survey 2010, as in Tables 11 to 13 of the
//! paper, where KOHORT_DATA names the folder of public data.
//!
//! `KOHORT_DATA=… cargo test --release -p kohort --test suite real_missingness:: -- --nocapture` prints the tables of
//! docs/papers/public-use.md.

use crate::common::run::{options, release};
use crate::real_nhds::discharges;
use std::collections::BTreeMap;
use std::fs;

/// The paper's percentages: by region; by age group in the geographic and in the clinical file; by days of stay.
const REGIONS: &str = "East (10.8 %) 30.3, Central (45.5 %) 19.1, West (43.2 %) 16.6, Territories (0.3 %) 53.0";
const AGES: [(&str, f64, f64); 19] = [
    ("0-4", 5.2, 5.3),
    ("5-9", 23.0, 13.8),
    ("10-14", 28.6, 19.0),
    ("15-19", 20.4, 15.6),
    ("20-24", 14.8, 11.0),
    ("25-29", 11.2, 8.7),
    ("30-34", 12.0, 9.3),
    ("35-39", 17.9, 13.6),
    ("40-44", 26.0, 20.3),
    ("45-49", 25.7, 22.1),
    ("50-54", 25.9, 23.0),
    ("55-59", 25.8, 23.7),
    ("60-64", 23.9, 23.6),
    ("65-69", 23.4, 24.4),
    ("70-74", 22.8, 24.4),
    ("75-79", 20.4, 24.6),
    ("80-84", 19.4, 24.9),
    ("85-89", 19.2, 23.3),
    ("90+", 18.0, 21.1),
];
const STAYS: [(&str, u32, f64); 4] =
    [("1 to 7", 7, 11.0), ("8 to 14", 14, 44.0), ("15 to 21", 21, 60.0), ("22 to 28", 28, 68.0)];

#[test]
fn blank_diagnoses_are_counted_by_group_as_in_the_paper() {
    let Some(table) = discharges() else { return };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), table).unwrap();
    let policy = folder.path().join("p.toml");
    let text = "[input]\ntable = \"t.csv\"\n[columns]\nage_group = { role = \"quasi\" }\nsex = { role = \"quasi\" }\n\
                region = { role = \"quasi\" }\nlos = { role = \"quasi\" }\nmonth = { role = \"identifier\" }\n\
                dx = { role = \"identifier\" }\nprocedure = { role = \"quasi\" }\n\
                category = { from = \"dx\", role = \"quasi\", hierarchy = \"icd9\", levels = [\"category\", \"*\"], unmapped = \"suppress\" }\n\
                [privacy]\nk = 20\nknows = { always = [\"age_group\", \"sex\", \"region\"], one_of = [[\"category\"], [\"los\", \"procedure\"]] }\n\
                [method]\nname = \"suppress\"\norder = \"paper\"\n";
    fs::write(&policy, text).unwrap();
    let (_, released) = release(&policy, "out", &options(1, 2)).unwrap();
    let m = released.metrics.to_value();
    // By group: its rows, and the share without a diagnosis.
    let groups = |by: &str| -> BTreeMap<String, (f64, f64)> {
        let groups = m["missing"]["by"]["category"][by].as_array().unwrap().iter();
        let own = |group: &serde_json::Value| (group["rows"].as_f64().unwrap(), group["share"].as_f64().unwrap());
        groups.map(|group| (group["value"].as_str().unwrap().to_string(), own(group))).collect()
    };
    let (regions, ages, stays) = (groups("region"), groups("age_group"), groups("los"));
    let rows: f64 = regions.values().map(|own| own.0).sum();
    println!("| Table 11 | theirs, % missing by region (share of the file) | here |\n|---|---|---|");
    let here = regions.iter().map(|(name, own)| format!("{name} ({:.1} %) {:.1}", 100.0 * own.0 / rows, 100.0 * own.1));
    println!("| region | {REGIONS} | {} |", here.collect::<Vec<_>>().join(", "));
    println!(
        "\n| Table 12: age group | theirs, geographic file, % missing | theirs, clinical file | here |\n|---|---|---|---|"
    );
    for (age, geographic, clinical) in AGES {
        println!("| {age} | {geographic:.1} | {clinical:.1} | {:.1} |", 100.0 * ages[age].1);
    }
    println!("\n| Table 13: days of stay | theirs, % missing | here |\n|---|---|---|");
    let mut from = 0;
    let mut by_weeks = Vec::new();
    for (name, to, theirs) in STAYS {
        let own = stays.iter().filter(|(days, _)| days.parse().is_ok_and(|days: u32| from <= days && days <= to));
        let (rows, blank) = own.fold((0.0, 0.0), |sum, (_, own)| (sum.0 + own.0, sum.1 + own.0 * own.1));
        println!("| {name} | {theirs:.0} | {:.0} |", 100.0 * blank / rows);
        by_weeks.push(blank / rows);
        from = to + 1;
    }
    // What the tables show in the paper is so here: small groups miss more. Every row is in one group of each kind.
    let total: f64 = ages.values().map(|own| own.0).sum();
    assert!((total - rows).abs() < 0.5 && by_weeks.iter().all(|share| (0.0..=1.0).contains(share)), "{by_weeks:?}");
    let share = m["missing"]["columns"]["category"].as_f64().unwrap();
    for groups in [&regions, &ages, &stays] {
        let blank: f64 = groups.values().map(|own| own.0 * own.1).sum();
        assert!((blank / rows - share).abs() < 1e-9, "groups add up to the whole: {share}");
    }
}
