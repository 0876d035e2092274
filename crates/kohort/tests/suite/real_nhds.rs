//! A public-use file from the National Hospital Discharge Survey 2010, where KOHORT_DATA names the folder of public data:
//! combinations against complete, as in Tables 9 and 10 of the paper.
//!
//! `KOHORT_DATA=… KOHORT_TABLE=whole cargo test --release -p kohort --test suite real_nhds:: -- --nocapture` prints the whole
//! table of docs/public-use.md; without KOHORT_TABLE only its part for k = 5 is made.

use crate::common;
use crate::common::run::{options, release};
use std::fs;
use std::path::PathBuf;

/// The survey with the columns of a public-use file, as the custodian would cut it out; `None` where there is no data.
pub(crate) fn discharges() -> Option<String> {
    let folder = PathBuf::from(std::env::var_os("KOHORT_DATA")?);
    let table = common::table::Table::read(&folder.join("nhds2010/nhds2010.partA.csv.gz"), b',');
    let place = |name: &str| table.columns.iter().position(|c| c == name).unwrap();
    let at = ["age_unit", "age", "sex", "region", "care_days", "dc_month", "dx01", "pc01"].map(place);
    let mut text = String::from("age_group,sex,region,los,month,dx,procedure\n");
    for row in &table.rows {
        let [unit, age, sex, region, days, month, dx, procedure] = at.map(|c| row[c].as_str());
        let years = if unit == "years" { age.parse::<u32>().unwrap_or(0) } else { 0 };
        let group = if years >= 90 { "90+".to_string() } else { format!("{}-{}", years / 5 * 5, years / 5 * 5 + 4) };
        let los = match days.parse::<u32>().unwrap_or(0) {
            days @ 0..=30 => days.to_string(),
            _ => "31+".into(),
        };
        let procedure = if procedure.is_empty() { "none" } else { procedure };
        text += &format!("{group},{sex},{region},{los},{month},{dx},{}\n", procedure.get(..2).unwrap_or(procedure));
    }
    Some(text)
}

#[test]
fn combinations_lose_less_than_complete() {
    let Some(table) = discharges() else { return };
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.csv"), table).unwrap();
    println!(
        "| k | attacker knows | order | cells suppressed | % of cells | % of dx | entropy, bits | % of k = 5, combinations |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut baseline = None;
    let whole = std::env::var_os("KOHORT_TABLE").is_some();
    for k in [5, 20, 25].into_iter().take(if whole { 3 } else { 1 }) {
        let mut lost = Vec::new();
        for (name, knows) in [
            (
                "combinations",
                "knows = { always = [\"age_group\", \"sex\", \"region\"], one_of = [[\"category\", \"section\"], [\"los\", \"month\", \"procedure\"]] }\nnot_together = [[\"category\", \"section\"]]\n",
            ),
            ("complete", "knows = \"all\"\n"),
        ] {
            for order in ["paper", "best"] {
                let text = format!(
                    "[input]\ntable = \"t.csv\"\n[columns]\nage_group = {{ role = \"quasi\" }}\nsex = {{ role = \"quasi\" }}\nregion = {{ role = \"quasi\" }}\n\
                     los = {{ role = \"quasi\" }}\nmonth = {{ role = \"quasi\" }}\ndx = {{ role = \"detail\", of = [\"category\"] }}\nprocedure = {{ role = \"quasi\" }}\n\
                     category = {{ from = \"dx\", role = \"quasi\", hierarchy = \"icd9\", levels = [\"category\", \"*\"], unmapped = \"suppress\", of = [\"section\"] }}\n\
                     section = {{ from = \"dx\", role = \"quasi\", hierarchy = \"icd9\", levels = [\"section\", \"*\"], unmapped = \"suppress\" }}\n\
                     [privacy]\nk = {k}\n{knows}[method]\nname = \"suppress\"\norder = \"{order}\"\nweights = {{ age_group = 1, sex = 1, region = 1 }}\n"
                );
                let policy = folder.path().join("p.toml");
                fs::write(&policy, text).unwrap();
                let options = kohort::pipeline::Options { force: true, ..options(1, 2) };
                let (_, released) = release(&policy, "out", &options).unwrap();
                let m = &released.metrics.to_value();
                let (cells, bits) =
                    (m["cells"]["suppressed"].as_u64().unwrap(), m["utility"]["entropy"].as_f64().unwrap());
                let base = *baseline.get_or_insert(bits);
                let rows = m["rows"]["in"].as_f64().unwrap();
                println!(
                    "| {k} | {name} | {order} | {cells} | {:.1} | {:.1} | {bits:.0} | {:.0} |",
                    100.0 * m["cells"]["share"].as_f64().unwrap(),
                    100.0 * m["cells"]["by_column"]["dx"].as_f64().unwrap() / rows,
                    100.0 * bits / base
                );
                lost.push((cells, bits));
                assert!(m["guarantee"]["smallest_class"].as_u64() >= Some(k));
            }
        }
        // Paper's order with itself, best with best: fewer cells and fewer bits.
        for (combinations, complete) in [(lost[0], lost[2]), (lost[1], lost[3])] {
            assert!(combinations.0 < complete.0 && combinations.1 < complete.1, "k = {k}: {lost:?}");
        }
        assert!(lost[1].0 <= lost[0].0 && lost[3].0 <= lost[2].0);
    }
}
