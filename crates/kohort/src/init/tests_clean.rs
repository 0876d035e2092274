use super::tests::{lines, random, suggest};
use super::*;

fn pick<'a>(row: u64, texts: &[&'a str]) -> &'a str {
    texts[random(row, texts.len() as u64) as usize]
}

#[test]
fn several_spellings_of_a_sex_become_one() {
    let spellings = ["M", "m", "male", "Male", "MALE", "F", "f", "female", "Female", "FEMALE", "W"];
    let table = lines("sex,age", 300, |row| format!("{},{}", pick(row, &spellings), random(row + 1, 90)));
    let suggested = suggest(table);
    let sex = suggested.column("sex");
    assert_eq!(sex.cleaning.len(), 1);
    assert!(sex.cleaning[0].contains("\"W\" = \"female\""), "{}", sex.cleaning[0]);
    assert!(sex.notes[0].starts_with("recode: 11 spellings of 2 values become one spelling each"), "{}", sex.notes[0]);
    let cohort = suggested.survey();
    let quasi = cohort.quasi.iter().find(|quasi| quasi.name == "sex").unwrap();
    // One label more is that of missing cells.
    assert_eq!(quasi.hierarchy.levels[0].labels.len(), 3);
}

#[test]
fn one_spelling_is_left_alone() {
    let suggested = suggest(lines("sex,age", 300, |row| format!("{},{}", pick(row, &["M", "F"]), random(row + 1, 90))));
    assert!(suggested.column("sex").cleaning.is_empty());
}

#[test]
fn ages_in_texts_are_read() {
    let table = lines("age,sex", 400, |row| {
        let age = random(row, 96);
        let age = match random(row + 7, 3) {
            _ if age > 89 => "> 89".to_string(),
            0 => format!("{age} years"),
            _ => age.to_string(),
        };
        format!("{age},{}", pick(row + 3, &["m", "f"]))
    });
    let suggested = suggest(table);
    let age = suggested.column("age");
    assert_eq!((age.role.name(), age.confidence), ("quasi", Confidence::Sure));
    assert_eq!(age.cleaning, ["number = true"]);
    assert_eq!(age.hierarchy.as_deref(), Some("{ intervals = [5, 10, 20], from = 0, to = 90 }"));
    suggested.survey();
}

#[test]
fn numbers_that_stand_for_missing_answers_are_missing_in_their_column() {
    let table = lines("age,sex,pain,score", 500, |row| {
        let pain = if random(row, 9) == 0 { "-8".into() } else { random(row + 1, 5).to_string() };
        let age = if random(row + 5, 40) == 0 { "-99".into() } else { (18 + random(row + 2, 70)).to_string() };
        format!("{age},{},{pain},{}", pick(row + 3, &["m", "f"]), random(row + 9, 11) as i64 - 5)
    });
    let suggested = suggest(table);
    assert_eq!(suggested.column("age").cleaning, ["missing = [\"-99\"]"]);
    assert_eq!(suggested.column("pain").cleaning, ["missing = [\"-8\"]"]);
    assert!(suggested.column("pain").notes.iter().any(|note| note.contains("cells are \"-8\"")));
    assert!(suggested.column("score").cleaning.is_empty());
    suggested.survey();
}

#[test]
fn none_is_an_answer_among_words_and_missing_among_numbers() {
    let table = lines("age,sex,depressed,weight", 500, |row| {
        let weight = if random(row, 9) == 0 { "None".into() } else { (50 + random(row + 1, 60)).to_string() };
        format!(
            "{},{},{},{weight}",
            18 + random(row + 2, 70),
            pick(row + 3, &["m", "f"]),
            pick(row + 4, &["None", "Several", "Most"])
        )
    });
    let suggested = suggest(table);
    assert!(suggested.suggestion.policy.contains("missing = [\"\"]"), "{}", suggested.suggestion.policy);
    assert!(suggested.column("depressed").cleaning.is_empty());
    assert_eq!(suggested.column("weight").cleaning, ["missing = [\"None\"]"]);
    suggested.survey();
}

#[test]
fn codes_get_one_spelling() {
    let codes =
        ["E11.9", "E119", "I10", "J18.9", "J189", "K35.8", "S72.0", "S720", "i21.4", "N39.0", "C50.9-", "F32.9"];
    let table = lines("age,sex,diagnosis", 500, |row| {
        format!("{},{},{}", 18 + random(row + 2, 70), pick(row + 3, &["m", "f"]), pick(row, &codes))
    });
    let suggested = suggest(table);
    assert_eq!(suggested.column("diagnosis").cleaning, ["spelling = \"icd10\""]);
    suggested.survey();
}

#[test]
fn a_date_that_fits_two_formats_is_asked_about() {
    let table = lines("admitted,sex", 400, |row| {
        format!(
            "{:02}/{:02}/{},{}",
            1 + random(row, 12),
            1 + random(row + 1, 12),
            2018 + row % 3,
            pick(row + 3, &["m", "f"])
        )
    });
    let mut suggested = suggest(table);
    let admitted = suggested.column("admitted").clone();
    assert_eq!((admitted.confidence, admitted.levels.as_deref()), (Confidence::Unsure, Some("[\"year\", \"*\"]")));
    assert_eq!(admitted.formats, Some(["%m/%d/%Y", "%d/%m/%Y"]));
    suggested.survey();
    suggested.suggestion.answer(0, Answer::DayFirst);
    assert!(suggested.suggestion.policy.contains("{ date = \"%d/%m/%Y\" }, levels = [\"month\""));
    suggested.survey();
}

#[test]
fn columns_that_could_be_derived_are_offered() {
    let table = lines("pid,dob,admitted,discharged,sex", 400, |row| {
        let dob = format!("{}-0{}-1{}", 1930 + random(row, 70), 1 + row % 9, row % 10);
        let start = format!("2019-0{}-1{}", 1 + random(row + 1, 8), row % 10);
        let end = format!("2019-0{}-2{}", 1 + random(row + 1, 8), row % 10);
        format!("K{:07},{dob},{start},{end},{}", random(row, 9_000_000), pick(row + 3, &["m", "f"]))
    });
    let policy = suggest(table).suggestion.policy;
    for offer in [
        "# age = { role = \"quasi\", age = { born = \"dob\", at = \"admitted\" }",
        "# days = { role = \"quasi\", between = [\"admitted\", \"discharged\"]",
        "# admitted = { role = \"quasi\", shift = 365",
    ] {
        assert!(policy.contains(offer), "{offer}\n{policy}");
    }
    let parts = lines("id,birth_year,birth_month,birth_day,sex", 300, |row| {
        format!(
            "{row},{},{},{},{}",
            1930 + random(row, 70),
            1 + random(row, 12),
            1 + random(row, 28),
            pick(row, &["m", "f"])
        )
    });
    let policy = suggest(parts).suggestion.policy;
    assert!(
        policy.contains("date = { year = \"birth_year\", month = \"birth_month\", day = \"birth_day\" }"),
        "{policy}"
    );
}

#[test]
fn a_person_whose_sex_is_written_in_several_ways_is_one_person() {
    let table = lines("case,patient,sex,age", 900, |row| {
        let person = random(row, 300);
        let sex =
            [["M", "m", "male"], ["W", "w", "female"]][random(person + 5, 2) as usize][random(row + 2, 3) as usize];
        format!("{},P{:06},{sex},{}", 50_000 + row * 3, person * 37, 20 + random(person, 60))
    });
    let suggested = suggest(table);
    assert_eq!(suggested.column("patient").role.name(), "patient");
}

#[test]
fn an_age_at_onset_does_not_replace_the_year_of_birth() {
    let table = lines("id,birth_year,onset_age,sex", 400, |row| {
        format!("X{row:05},{},{},{}", 1930 + random(row, 70), random(row + 9, 60), pick(row, &["m", "f"]))
    });
    assert_eq!(suggest(table).column("birth_year").role.name(), "quasi");
    let table = lines("id,birth_year,age,sex", 400, |row| {
        let born = 1930 + random(row, 70);
        format!("X{row:05},{born},{},{}", 2020 - born - random(row + 4, 2), pick(row, &["m", "f"]))
    });
    assert_eq!(suggest(table).column("birth_year").role.name(), "identifier");
}
