//! Folders of tables with known truth: people and their events, as OMOP and FHIR have them.

use super::values::{Person, Visit};
use super::{Data, Truth, Unprepared};
use crate::dice::Dice;
use std::fmt::Write;

/// People in a folder.
const PEOPLE: usize = 600;

const CODES: [(&str, u32); 6] = [
    ("I10", 320_128),
    ("E11.9", 201_826),
    ("J18.9", 255_848),
    ("I21.4", 312_327),
    ("J02.9", 4_112_343),
    ("J20.9", 40_481_087),
];

/// All generated folders.
pub fn folders() -> Vec<Unprepared> {
    vec![omop(), fhir()]
}

/// People with their visits.
fn people(seed: u64) -> Vec<(Person, Vec<Visit>)> {
    let mut dice = Dice::new(seed);
    let mut person = |id: usize| {
        let person = Person::new(&mut dice, id, id);
        let visits = 1 + dice.below(4);
        let visits = (0..visits).map(|number| Visit::new(&mut dice, &person, number)).collect();
        (person, visits)
    };
    (0..PEOPLE).map(&mut person).collect()
}

fn names(list: &str) -> Vec<String> {
    list.split(' ').map(str::to_string).collect()
}

/// Tables of the OMOP common data model.
fn omop() -> Unprepared {
    let mut person = "person_id,gender_concept_id,year_of_birth,month_of_birth,day_of_birth,race_concept_id,\
                      person_source_value\n"
        .to_string();
    let mut visit =
        "visit_occurrence_id,person_id,visit_concept_id,visit_start_date,visit_end_date,visit_source_value\n"
            .to_string();
    let mut condition = "condition_occurrence_id,person_id,condition_concept_id,condition_start_date,\
                         condition_type_concept_id,visit_occurrence_id,condition_source_value\n"
        .to_string();
    let mut number = 0;
    for (own, visits) in &people(101) {
        let (id, (year, month, day)) = (own.id() + 1, own.birth());
        let gender = if own.is_male() { 8507 } else { 8532 };
        let race = [8527, 8516, 8515][own.chooses(1, 3)];
        let _ = writeln!(person, "{id},{gender},{year},{month},{day},{race},S{:06}", own.chooses(2, 900_000));
        for stay in visits {
            number += 1;
            let kind = [9201, 9202, 9203][own.chooses(stay.day() as u64, 3)];
            let (start, end) = (iso(stay.day()), iso(stay.day() + 2));
            let _ = writeln!(visit, "{number},{id},{kind},{start},{end},V{number:07}");
            let (code, concept) = CODES[stay.day() % CODES.len()];
            let _ = writeln!(condition, "{number},{id},{concept},{start},32020,{number},{code}");
        }
    }
    let truth = Truth {
        person: Some("person_id".into()),
        keys: names("person_source_value visit_occurrence_id condition_occurrence_id visit_source_value"),
        known: names("gender_concept_id year_of_birth"),
        age: names("year_of_birth age"),
        sex: names("gender_concept_id"),
        people: PEOPLE,
        ..Truth::default()
    };
    let files = [("person.csv", person), ("visit_occurrence.csv", visit), ("condition_occurrence.csv", condition)];
    folder("folder of OMOP tables", files.into(), truth)
}

/// Resources of FHIR, one on each line.
fn fhir() -> Unprepared {
    let (mut patients, mut conditions) = (String::new(), String::new());
    for (own, visits) in &people(102) {
        let (year, month, day) = own.birth();
        let gender = if own.is_male() { "male" } else { "female" };
        let state = ["BE", "ZH", "VD"][own.chooses(3, 3)];
        let id = format!("pt{:05}", own.id());
        let _ = writeln!(
            patients,
            "{{\"resourceType\":\"Patient\",\"id\":\"{id}\",\"gender\":\"{gender}\",\"birthDate\":\"{year}-{month:02}-\
             {day:02}\",\"address\":[{{\"state\":\"{state}\"}}]}}"
        );
        for (number, stay) in visits.iter().enumerate() {
            let (code, _) = CODES[stay.day() % CODES.len()];
            let _ = writeln!(
                conditions,
                "{{\"resourceType\":\"Condition\",\"id\":\"c{}-{number}\",\"subject\":{{\"reference\":\"Patient/{id}\"}},\
                 \"code\":{{\"coding\":[{{\"system\":\"http://hl7.org/fhir/sid/icd-10\",\"code\":\"{code}\"}}]}},\
                 \"onsetDateTime\":\"{}\"}}",
                own.id(),
                iso(stay.day())
            );
        }
    }
    let truth = Truth {
        person: Some("patient".into()),
        keys: names("condition id"),
        known: names("gender birth_date age state"),
        age: names("birth_date age"),
        sex: names("gender"),
        people: PEOPLE,
        ..Truth::default()
    };
    let files = [("Patient.ndjson", patients), ("Condition.ndjson", conditions)];
    folder("folder of FHIR resources", files.into(), truth)
}

fn folder(name: &str, files: Vec<(&str, String)>, truth: Truth) -> Unprepared {
    let files = files.into_iter().map(|(name, text)| (name.to_string(), text.into_bytes())).collect();
    Unprepared { name: name.into(), data: Data::Folder(files), truth }
}

/// A day of 2019 or 2020.
fn iso(day: usize) -> String {
    format!("{}-{:02}-{:02}", 2019 + day / 336, 1 + day / 28 % 12, 1 + day % 28)
}
