use super::tests::{lines, random};
use super::*;
use crate::pipeline::{Options, anonymize};
use kohort_core::table::Silent;
use std::fs;

/// Tables in a folder of their own.
struct Folder(tempfile::TempDir);

impl Folder {
    fn of(tables: &[(&str, String)]) -> Folder {
        let folder = tempfile::tempdir().unwrap();
        tables.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
        Folder(folder)
    }

    fn init(&self) -> Result<Suggestion> {
        init(&[self.0.path().to_path_buf()], self.0.path(), 2, Arc::new(Silent))
    }

    /// Releases the suggestion as it is, with k = 5, and returns the text of a released file.
    fn release(&self, suggestion: &Suggestion, file: &str) -> String {
        assert!(suggestion.policy.contains("\n# k = 5\n"));
        let policy = self.0.path().join("policy.toml");
        fs::write(&policy, suggestion.policy.replace("\n# k = 5\n", "\nk = 5\n")).unwrap();
        let options = Options { force: true, keep_rows: false, seed: Some(1), threads: 2, progress: Arc::new(Silent) };
        let out = self.0.path().join("out");
        anonymize(&policy, &out, &options).unwrap_or_else(|e| panic!("{e}\n{}", suggestion.policy));
        fs::read_to_string(out.join("release").join(file)).unwrap()
    }
}

fn day(n: u64) -> String {
    format!("{}-{:02}-{:02}", 2019 + n / 336 % 2, 1 + n / 28 % 12, 1 + n % 28)
}

fn uuid(n: u64) -> String {
    let hash = crate::profile::distinct::hash(&n.to_le_bytes());
    format!("{:08x}-{:04x}-4abc-8def-{:012x}", hash >> 32, hash >> 48, hash & 0xffff_ffff_ffff)
}

/// People and their visits, linked by a key whose columns have different names.
fn hospital() -> Vec<(&'static str, String)> {
    let people = lines("Id,BIRTHDATE,GENDER,COUNTY,LAST", 400, |p| {
        let (sex, county) = (["M", "F"][random(p, 2) as usize], ["Essex", "Suffolk", "Kent"][random(p, 3) as usize]);
        format!("{},{}-03-0{},{sex},{county},Mo{p}", uuid(p), 1940 + random(p, 60), 1 + p % 9)
    });
    let codes = ["I10", "E11.9", "J18.9", "K35.8", "S72.0", "I21.4"];
    let visits = lines("Id,START,STOP,PATIENT,CODE,CLASS", 1500, |v| {
        let (n, class) = (random(v, 600), ["ambulatory", "inpatient", "emergency"][random(v, 3) as usize]);
        let stop = day(n + random(v + 9, 4));
        format!(
            "{},{},{stop},{},{},{class}",
            uuid(v + 9000),
            day(n),
            uuid(random(v, 400)),
            codes[random(v + 3, 6) as usize]
        )
    });
    vec![("patients.csv", people), ("encounters.csv", visits)]
}

fn roles(suggestion: &Suggestion, table: &str) -> String {
    let own = suggestion.columns.iter().filter(|c| c.table.as_deref() == Some(table));
    own.map(|c| format!("{} {}\n", c.name, c.role.name())).collect()
}

#[test]
fn people_and_their_visits_get_one_policy() {
    let folder = Folder::of(&hospital());
    let suggestion = folder.init().unwrap();
    assert_eq!(
        roles(&suggestion, "patients"),
        "Id patient\nBIRTHDATE identifier\nGENDER quasi\nCOUNTY quasi\nLAST identifier\nage quasi\n"
    );
    assert_eq!(
        roles(&suggestion, "claims"),
        "Id identifier\nSTART identifier\nSTOP identifier\nPATIENT patient\nCODE quasi\nCLASS quasi\nmonths quasi\n\
         days quasi\n"
    );
    assert!(suggestion.policy.contains("patients = \"patients.csv\""), "{}", suggestion.policy);
    let events = folder.release(&suggestion, "claims.csv");
    assert!(events.lines().count() > 1300, "{}", events.lines().count());
    assert!(events.starts_with("patient,CODE,CLASS,months,days"), "{}", &events[..80]);
}

#[test]
fn a_folder_of_the_omop_model_gets_a_policy_for_its_people_and_their_conditions() {
    let person = lines(
        "person_id,gender_concept_id,year_of_birth,month_of_birth,day_of_birth,birth_datetime,race_concept_id,\
         ethnicity_concept_id,location_id,provider_id,care_site_id,person_source_value,gender_source_value",
        300,
        |p| {
            let (sex, male) = if random(p, 2) == 0 { (8507, "M") } else { (8532, "F") };
            let (year, race) = (1935 + random(p, 70), [8527, 8516, 8515][random(p + 5, 3) as usize]);
            format!(
                "{},{sex},{year},{},{},{year}-01-01 00:00:00,{race},0,,,,{},{male}",
                p + 1,
                1 + p % 12,
                1 + p % 28,
                uuid(p)
            )
        },
    );
    let visit = lines(
        "visit_occurrence_id,person_id,visit_concept_id,visit_start_date,visit_start_datetime,visit_end_date,\
         visit_type_concept_id,provider_id,visit_source_value",
        900,
        |v| {
            let n = random(v, 600);
            format!(
                "{},{},{},{},{} 08:00:00,{},44818518,,",
                v + 1,
                1 + random(v, 300),
                [9201, 9202, 9203][random(v + 1, 3) as usize],
                day(n),
                day(n),
                day(n + 2)
            )
        },
    );
    let concepts = [320128, 201826, 255848, 312327, 4112343, 40481087];
    let condition = lines(
        "condition_occurrence_id,person_id,condition_concept_id,condition_start_date,condition_end_date,\
         condition_type_concept_id,visit_occurrence_id,condition_source_value",
        1200,
        |c| {
            let which = random(c + 7, 6) as usize;
            let n = random(c, 600);
            format!(
                "{},{},{},{},{},32020,{},{}",
                c + 1,
                1 + random(c + 2, 300),
                concepts[which],
                day(n),
                day(n + 3),
                1 + random(c, 900),
                ["I10", "E11.9", "J18.9", "I21.4", "J02.9", "J20.9"][which]
            )
        },
    );
    let death =
        lines("person_id,death_date,death_type_concept_id", 20, |d| format!("{},{},38003569", 1 + d * 7, day(d)));
    let tables = [
        ("person.csv", person),
        ("visit_occurrence.csv", visit),
        ("condition_occurrence.csv", condition),
        ("death.csv", death),
    ];
    let folder = Folder::of(&tables);
    let suggestion = folder.init().unwrap();
    assert!(suggestion.policy.contains("patients = \"person.csv\""), "{}", suggestion.policy);
    assert!(
        suggestion.policy.contains("[input.events]\ncondition_occurrence = \"condition_occurrence.csv\""),
        "{}",
        suggestion.policy
    );
    assert!(suggestion.policy.contains("[columns.visit_occurrence]"), "{}", suggestion.policy);
    let warned =
        |part: &str| assert!(suggestion.warnings.iter().any(|w| w.contains(part)), "{:?}", suggestion.warnings);
    warned("death.csv has at most one row for each person");
    let people = roles(&suggestion, "patients");
    for line in
        ["person_id patient", "gender_concept_id quasi", "year_of_birth quasi", "person_source_value identifier"]
    {
        assert!(people.contains(line), "{people}");
    }
    let people = folder.release(&suggestion, "patients.csv");
    // A patient has the same number in all tables.
    let numbers = |text: &str| -> std::collections::BTreeSet<String> {
        text.lines().skip(1).filter_map(|line| line.split(',').next().map(String::from)).collect()
    };
    for table in ["visit_occurrence.csv", "condition_occurrence.csv"] {
        let text = fs::read_to_string(folder.0.path().join("out/release").join(table)).unwrap();
        assert!(text.lines().count() > 500 && numbers(&text).is_subset(&numbers(&people)), "{table}");
    }

    let alone = Folder::of(&tables[1..3]);
    let error = alone.init().unwrap_err();
    assert!(error.message.contains("`person` is missing"), "{}", error.message);
}

#[test]
fn tables_that_nothing_connects_get_a_policy_for_one_of_them() {
    let people = lines("patient_id,age,sex", 200, |p| {
        format!("P{p:06},{},{}", random(p, 90), ["m", "f"][random(p, 2) as usize])
    });
    let wards = lines("ward,beds", 12, |w| format!("W{w},{}", 10 + w));
    let folder = Folder::of(&[("a_wards.csv", wards), ("patients.csv", people)]);
    let suggestion = folder.init().unwrap();
    assert!(suggestion.policy.contains("table = \"patients.csv\""), "{}", suggestion.policy);
    assert!(suggestion.warnings.iter().any(|w| w.contains("a_wards.csv")), "{:?}", suggestion.warnings);
}

#[test]
fn a_second_table_with_one_row_for_each_person_is_said() {
    let people = lines("patient_id,age,sex", 200, |p| {
        format!("P{p:06},{},{}", random(p, 90), ["m", "f"][random(p, 2) as usize])
    });
    let labs = lines("patient_id,hb", 200, |p| format!("P{p:06},{}.{}", 9 + random(p, 9), random(p + 1, 10)));
    let folder = Folder::of(&[("labs.csv", labs), ("patients.csv", people)]);
    let suggestion = folder.init().unwrap();
    assert!(suggestion.policy.contains("table = \"patients.csv\""), "{}", suggestion.policy);
    let warned = suggestion.warnings.iter().any(|w| w.contains("labs.csv has at most one row for each person"));
    assert!(warned, "{:?}", suggestion.warnings);
}

#[test]
fn a_small_number_that_is_in_a_key_by_chance_links_nothing() {
    let people =
        lines("id,age,sex", 300, |p| format!("{},{},{}", p + 1, random(p, 90), ["m", "f"][random(p, 2) as usize]));
    let orders =
        lines("order_no,quantity,price", 300, |o| format!("{},{},{}", o + 1, 1 + random(o, 9), 3 + random(o, 50)));
    let folder = Folder::of(&[("people.csv", people), ("orders.csv", orders)]);
    let suggestion = folder.init().unwrap();
    assert!(suggestion.policy.contains("table = \"people.csv\""), "{}", suggestion.policy);
}

#[test]
fn empty_tables_and_other_files_of_a_folder_are_not_used() {
    let mut tables = hospital();
    tables.push(("drugs.csv", "PATIENT,CODE\n".into()));
    tables.push(("readme.txt", "Exported \u{0} on a Monday".into()));
    let folder = Folder::of(&tables);
    let suggestion = folder.init().unwrap();
    assert!(suggestion.policy.contains("claims = \"encounters.csv\""), "{}", suggestion.policy);
    assert!(
        suggestion.warnings.iter().any(|w| w.contains("drugs.csv: the table has no rows")),
        "{:?}",
        suggestion.warnings
    );
}

#[test]
fn an_empty_folder_holds_no_table() {
    let folder = Folder::of(&[("readme.md", "hello".into())]);
    assert!(folder.init().unwrap_err().message.contains("holds no table"));
}

#[test]
fn events_of_unknown_people_are_counted() {
    let mut tables = hospital();
    tables[1].1 += &format!("{},2019-01-01,2019-01-02,{},I10,inpatient\n", uuid(1), uuid(777_777));
    let suggestion = Folder::of(&tables).init().unwrap();
    let warned = suggestion.warnings.iter().any(|w| w.starts_with("1 of 1,501 rows of encounters.csv"));
    assert!(warned, "{:?}", suggestion.warnings);
}
