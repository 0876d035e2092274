//! Roles that the values of columns suggest where their names do not, or say something else.

use super::tests::{Suggested, lines, random, suggest};
use super::*;
use kohort_core::table::{ColumnType, ParquetWriter, Silent};

fn sex(row: u64) -> &'static str {
    ["M", "F"][random(row, 2) as usize]
}

#[test]
fn postal_codes_with_letters_are_places_whatever_they_are_called() {
    let table = lines("age,sex,pc6", 600, |row| {
        format!(
            "{},{},{}{}",
            20 + random(row, 60),
            sex(row),
            1000 + random(row + 1, 9) * 10,
            ["AB", "CD"][row as usize % 2]
        )
    });
    let suggested = suggest(table);
    assert_eq!(suggested.column("pc6").role, Role::Quasi, "{}", suggested.suggestion.policy);
    assert!(suggested.column("pc6").cleaning.is_empty());
}

#[test]
fn the_last_word_of_a_name_says_what_others_may_know() {
    let table = lines("age,sex,health_area,pain_score", 600, |row| {
        format!("{},{},{},{}", 20 + random(row, 60), sex(row), random(row + 1, 20), random(row + 2, 10))
    });
    let suggested = suggest(table);
    assert_eq!(suggested.column("health_area").role, Role::Quasi);
    assert!(matches!(suggested.column("pain_score").role, Role::Other { .. }));
}

#[test]
fn an_official_number_under_the_name_of_a_measurement_is_the_person() {
    let table = lines("tc_kimlik,age,height,score", 900, |row| {
        let person = row / 3;
        let (number, age) = (10_000_000_000 + random(person, 80_000_000_000), 20 + random(person + 1, 60));
        format!("{number},{age},{},{}", 150 + random(person + 2, 45), random(row, 10))
    });
    let suggested = suggest(table);
    assert_eq!(suggested.column("tc_kimlik").role, Role::Patient, "{}", suggested.suggestion.policy);
}

#[test]
fn months_of_a_visit_are_not_a_sex() {
    let table = lines("id,age,sex,visit", 800, |row| {
        format!("P{:05},{},{},{}", row / 2, 20 + random(row / 2, 60), sex(row / 2), ["M0", "M6"][row as usize % 2])
    });
    let suggested = suggest(table);
    assert!(suggested.column("visit").cleaning.is_empty() && suggested.column("visit").weight < 40);
}

#[test]
fn a_month_is_not_a_day_of_the_year() {
    let table = lines("month,age,sex", 600, |row| {
        format!("2022-{:02},{},{}", 1 + random(row, 12), 20 + random(row + 1, 60), sex(row))
    });
    let suggested = suggest(table);
    assert_eq!(
        (suggested.column("month").role.clone(), suggested.column("month").hierarchy.clone()),
        (Role::Quasi, None)
    );
}

#[test]
fn a_row_of_units_does_not_cost_the_age_its_intervals() {
    let rows = lines("age,sex,height", 600, |row| {
        format!("{},{},{}", 20 + random(row, 60), sex(row), 150 + random(row + 1, 45))
    });
    let suggested = suggest(rows.replacen('\n', "\nyears,,cm\n", 1));
    for name in ["age", "height"] {
        let column = suggested.column(name);
        assert!(column.hierarchy.is_some() && column.unmapped == Unmapped::Suppressed, "{name}: {column:?}");
    }
    suggested.survey();
}

#[test]
fn years_of_birth_and_households_are_recognised_by_their_values() {
    let table = lines("serialno,agep,sexp", 1500, |row| {
        format!("{},{},{}", 10_000 + row / 3, random(row, 90), 1 + random(row + 1, 2))
    });
    let suggested = suggest(table);
    assert_eq!(suggested.column("serialno").role, Role::Identifier, "{}", suggested.suggestion.policy);
    let table = lines("Jahrgang,sex,code", 900, |row| {
        format!("{},{},{}", 1930 + random(row, 80), sex(row), random(row + 1, 9))
    });
    let suggested = suggest(table);
    assert!(suggested.column("Jahrgang").weight >= 20, "{:?}", suggested.column("Jahrgang"));
}

#[test]
fn a_sum_of_costs_is_dropped() {
    let cents = |row: u64, below: u64| random(row, below) * 5;
    let money = |cents: u64| format!("{}.{:02}", cents / 100, cents % 100);
    let table = lines("id,age,sex,room_cost,drug_cost,lab_cost,total_cost", 900, |row| {
        let (room, drug, lab) = (cents(row, 300), cents(row + 1, 200), cents(row + 2, 100));
        let all = [room, drug, lab, room + drug + lab].map(money).join(",");
        format!("P{:04},{},{},{all}", row / 3, 20 + random(row / 3, 60), sex(row / 3))
    });
    let suggested = suggest(table);
    let total = suggested.column("total_cost");
    assert_eq!(total.role, Role::Identifier, "{}", suggested.suggestion.policy);
    assert!(total.why.starts_with("the sum of `room_cost`, `drug_cost` and `lab_cost`"), "{}", total.why);
    assert!(matches!(suggested.column("drug_cost").role, Role::Other { .. }));
}

/// A value for each person is nearly unique, although every cell has a twin.
#[test]
fn a_measurement_of_each_person_that_nobody_else_has_is_dropped() {
    let table = lines("id,age,sex,hdl", 800, |row| {
        let person = row / 2;
        let number = 1000 + random(person, 90_000);
        format!("P{person:04},{},{},{}.{:02}", 20 + random(person, 60), sex(person), number / 100, number % 100)
    });
    let suggested = suggest(table);
    assert_eq!(suggested.column("hdl").role, Role::Identifier, "{}", suggested.suggestion.policy);
}

#[test]
fn a_folder_of_parquet_parts_is_one_table_and_other_tables_are_several() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, names: &[&str]| {
        let columns: Vec<(String, Option<ColumnType>)> = names.iter().map(|name| (name.to_string(), None)).collect();
        let mut out = ParquetWriter::create(Vec::new(), &columns).unwrap();
        for row in 0..200u64 {
            let cells: Vec<String> = (0..names.len() as u64).map(|c| (20 + random(row + c, 60)).to_string()).collect();
            out.row(cells.iter().map(|cell| cell.as_bytes())).unwrap();
        }
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, out.finish().unwrap()).unwrap();
    };
    write("parts/part-0.parquet", &["age", "days"]);
    write("parts/part-1.parquet", &["age", "days"]);
    write("years/year=2023/part-0.parquet", &["age", "days"]);
    write("apart/a.parquet", &["age", "days"]);
    write("apart/b.parquet", &["score", "visits"]);
    let names = |folder_name: &str| -> Vec<String> {
        let path = folder.path().join(folder_name);
        let suggestion = init(&[path], folder.path(), 1, Arc::new(Silent)).unwrap();
        suggestion.columns.iter().map(|column| column.name.clone()).collect()
    };
    assert_eq!(names("parts"), ["age", "days"]);
    assert_eq!(names("years"), ["age", "days", "year"]);
    assert_eq!(names("apart").len(), 2, "one of the two tables");
    let suggestion = init(&[folder.path().join("parts")], folder.path(), 1, Arc::new(Silent)).unwrap();
    assert!(suggestion.policy.contains("table = \"parts\""), "{}", suggestion.policy);
}

/// A table between titles and notes, as a hospital system prints it.
fn printed(titles: &str, notes: &str) -> String {
    let rows = lines("Fallnr;Alter;Geschlecht;Aufnahme;Diagnose", 400, |i| {
        let sex = if i % 2 == 0 { "m" } else { "w" };
        format!(
            "{};{};{sex};{:02}.03.2024;{}",
            90_000 + i,
            18 + i * 7 % 70,
            1 + i % 28,
            ["I10", "E11.9", "J18.0"][i as usize % 3]
        )
    });
    format!("{titles}{rows}{notes}")
}

#[test]
fn titles_above_the_header_and_notes_below_are_skipped_and_said() {
    let plain = suggest(printed("", ""));
    let titled =
        suggest(printed("Bericht: Aufnahmen 2024\nGedruckt am 03.05.2024;Station 5\n\n", "\nSumme: 400 F\u{e4}lle\n"));
    let names =
        |own: &Suggested| own.suggestion.columns.iter().map(|c| (c.name.clone(), c.role.clone())).collect::<Vec<_>>();
    assert_eq!(names(&titled), names(&plain));
    let policy = &titled.suggestion.policy;
    assert!(
        policy.contains("\nskip = 3 ") && policy.contains("\nskip_end = 2 ") && !policy.contains("Bericht"),
        "{policy}"
    );
    assert!(
        titled.warns("the first 3 lines are above the header") && titled.warns("the last 2 lines are below the table")
    );
    assert!(!plain.suggestion.policy.contains("skip") && !plain.warns("lines are"));
    // The policy reads the same rows, on every pass.
    assert_eq!(titled.survey().tuples.rows, 400);
    assert_eq!(plain.survey().tuples.rows, 400);
}

#[test]
fn rows_below_a_title_are_no_header() {
    let rows: String = (0..200u64)
        .map(|i| {
            format!(
                "{};{};{}\n",
                ["Bonn", "Kiel", "Ulm"][i as usize % 3],
                ["m", "w"][i as usize % 2],
                ["A1", "B2"][i as usize / 2 % 2]
            )
        })
        .collect();
    let own = suggest(format!("Liste der Klinik\n\n{rows}"));
    assert!(own.suggestion.policy.contains("skip = 2") && own.suggestion.policy.contains("header = false"));
    assert!(!own.suggestion.policy.contains("Bonn"), "{}", own.suggestion.policy);
    assert_eq!(own.survey().tuples.rows, 200);
}

#[test]
fn controls_that_were_matched_by_age_and_sex_are_people_of_their_own() {
    // Four rows of a set, or of somebody who came four times.
    let table = |grows: u64| {
        lines("id,set.id,age,male,height,status", 1_600, |row| {
            let (set, own) = (row / 4, if grows > 0 { row } else { row / 4 });
            let height = 150 + 8 * random(set, 2) + random(own + 7, 25);
            let status = random(row, 2);
            format!("{},{},{},{},{height},{status}", row + 1, 4 * set + 1, 20 + random(set, 60), random(set + 1, 2))
        })
    };
    let role = |grows: u64| suggest(table(grows)).column("set.id").role.name();
    assert_eq!((role(1), role(0)), ("identifier", "patient"));
}

#[test]
fn a_result_that_is_somebodys_name_is_dropped() {
    let names = ["Anna Schmidt", "Mary Smith", "John Miller", "Peter Weber", "Maria Fischer", "Paul Wagner"];
    let table = lines("age,sex,result,covid", 600, |row| {
        let name = names[random(row + 2, 6) as usize];
        format!("{},{},{name},{}", 20 + random(row, 60), sex(row), ["pos", "neg"][random(row + 1, 2) as usize])
    });
    assert_eq!(suggest(table).column("result").role, Role::Identifier);
}

#[test]
fn a_year_of_birth_or_a_sex_under_the_name_of_a_measurement_is_known_outside() {
    let table = lines("age,lab_birthyr,test_status,reading", 900, |row| {
        format!("{},{},{},{}", 20 + random(row, 60), 1930 + random(row, 70), sex(row), 1930 + random(row + 3, 70))
    });
    let suggested = suggest(table);
    // Beside an age, the year of birth is dropped.
    assert!(!matches!(suggested.column("lab_birthyr").role, Role::Other { .. } | Role::Sensitive { .. }));
    assert!(!matches!(suggested.column("reading").role, Role::Other { .. } | Role::Sensitive { .. }));
    assert_eq!(suggested.column("test_status").role, Role::Quasi);
}

#[test]
fn answers_in_words_of_their_own_may_be_known_outside() {
    let table = lines("id,q1,q2,q3,q4,q5,q6,q7", 900, |row| {
        let of = |words: &[&str], seed: u64| words[random(row + seed, words.len() as u64) as usize].to_string();
        let scale = ["never", "sometimes", "often"];
        format!(
            "{},{},{},{},{},{},{},{}",
            100 + row,
            of(&["Bayern", "Hessen", "Sachsen"], 1),
            of(&["teacher", "nurse", "retired", "student"], 2),
            of(&["agree", "disagree"], 3),
            of(&scale, 4),
            1 + random(row + 5, 5),
            1 + random(row + 6, 5),
            1 + random(row + 7, 6)
        )
    });
    let suggested = suggest(table);
    // Codes that no other question has may be those of a region.
    for known in ["q1", "q2", "q7"] {
        assert_eq!(suggested.column(known).role, Role::Quasi, "{known}");
    }
    for answer in ["q3", "q4", "q5", "q6"] {
        assert!(matches!(suggested.column(answer).role, Role::Other { .. }), "{answer}");
    }
}

#[test]
fn the_month_of_a_diagnosis_is_not_a_diagnosis() {
    let table = lines("age,sex,mo_dx,yr_dx", 900, |row| {
        format!("{},{},{},{}", 20 + random(row, 60), sex(row), 1 + random(row + 1, 12), 2005 + random(row + 2, 15))
    });
    let suggested = suggest(table);
    assert_eq!(suggested.column("mo_dx").role, Role::Quasi);
    assert_eq!(suggested.column("yr_dx").role, Role::Quasi);
}

#[test]
fn a_key_that_was_stored_with_decimals_is_a_key() {
    let table = lines("patient_id,age,sex,clinic", 900, |row| {
        let person = row / 3;
        format!("{}.0,{}.0,{},{}", 100_000 + person * 977, 20 + random(person, 60), sex(person), random(row, 3))
    });
    let suggested = suggest(table);
    assert_eq!(suggested.column("patient_id").role, Role::Patient);
    assert_eq!(suggested.column("age").role, Role::Quasi);
}

#[test]
fn another_key_of_the_same_people_is_dropped_whatever_it_looks_like() {
    let table = lines("person,enc,age,sex,visit", 900, |row| {
        let person = row / 3;
        format!("P{person:05},{},{},{},{}", person * 7 + 1000, 20 + random(person, 60), sex(person), row % 3)
    });
    let suggested = suggest(table);
    assert_eq!(suggested.column("person").role, Role::Patient);
    assert_eq!(suggested.column("enc").role, Role::Identifier, "{}", suggested.suggestion.policy);
}

#[test]
fn rows_that_do_not_say_whose_they_are_are_not_counted_as_a_further_person() {
    let table = lines("insured,age,sex", 900, |row| {
        let person = row / 3;
        let key = if row % 20 == 0 { String::new() } else { format!("X{:06}", 1000 + person) };
        format!("{key},{},{}", 20 + random(person, 60), sex(person))
    });
    let suggested = suggest(table);
    assert_eq!(suggested.column("insured").role, Role::Patient);
    assert!(suggested.suggestion.policy.contains("[[exclude]]"), "{}", suggested.suggestion.policy);
    let cohort = suggested.survey();
    assert_eq!((cohort.tuples.rows, cohort.tuples.people()), (855, 300));
}

#[test]
fn codes_of_medicine_are_recognised_by_their_look() {
    let table = lines("age,sex,x1,x2,x3", 900, |row| {
        let of = |codes: &[&str], seed: u64| codes[random(row + seed, codes.len() as u64) as usize].to_string();
        format!(
            "{},{},{},{},{}",
            20 + random(row, 60),
            sex(row),
            of(&["A10BA02", "C09AA05", "N06AB04"], 1),
            of(&["2951-2", "2823-3", "718-7"], 2),
            of(&["T1", "T2", "T3", "TX"], 3)
        )
    });
    let suggested = suggest(table);
    for code in ["x1", "x2", "x3"] {
        assert_eq!(suggested.column(code).role, Role::Sensitive { values: None }, "{code}");
    }
}

/// Visits of people whose key is written in this way in each row.
fn visits(name: &str, key: impl Fn(u64, u64) -> String) -> Suggested {
    suggest(lines(&format!("{name},age,sex,area"), 900, |row| {
        let person = row / 3;
        let area = random(person, 7);
        format!("{},{},{},{area}", key(row, person), 20 + random(person, 60), sex(person))
    }))
}

#[test]
fn a_person_whose_key_is_written_in_several_ways_is_counted_once() {
    let ways = |row: u64, key: u64| [format!("MRN{key}"), format!("mrn-{key}")][row as usize % 2].clone();
    let mixed = visits("mrn", |row, person| ways(row, 10_000 + person * 7));
    assert!(mixed.warns("600 keys are written in several ways and are 300 people"), "{:?}", mixed.suggestion.warnings);
    assert_eq!(mixed.column("mrn").confidence, Confidence::Unsure);
    assert!(mixed.suggestion.policy.contains("spelling = \"key\""), "{}", mixed.suggestion.policy);
    assert_eq!(mixed.survey().tuples.people(), 300);
    let plain = visits("mrn", |_, person| format!("MRN{}", 10_000 + person * 7));
    assert!(!plain.warns("written in several ways"));
    assert!(!plain.suggestion.policy.contains("spelling"));
}

#[test]
fn a_key_with_a_prefix_in_some_rows_is_its_number() {
    let ways = |row: u64, n: u64| [format!("P-{n:04}"), format!("p{n}"), format!("{n:04}")][row as usize % 3].clone();
    for name in ["patient_id", "x1"] {
        let mixed = visits(name, |row, person| ways(row, person + 1));
        assert!(mixed.suggestion.policy.contains("spelling = \"key-digits\""), "{}", mixed.suggestion.policy);
        assert_eq!(mixed.survey().tuples.people(), 300);
    }
}

#[test]
fn the_same_numbers_at_two_sites_are_two_people() {
    let site = |person: u64| ["A", "B"][person as usize % 2];
    let ways = |row: u64, person: u64| match row % 2 {
        0 => format!("{}-{:04}", site(person), person / 2),
        _ => format!("{}{}", site(person).to_lowercase(), person / 2),
    };
    let mixed = visits("subject", ways);
    assert!(mixed.suggestion.policy.contains("spelling = \"key\""), "{}", mixed.suggestion.policy);
    assert_eq!(mixed.survey().tuples.people(), 300);
}

#[test]
fn the_key_of_a_person_that_some_rows_lack_is_not_replaced_by_the_key_of_a_stay() {
    let table = lines("mpi,caseno,sex,age,area", 1200, |row| {
        let (person, stay) = (row / 4, row / 2);
        let key = if random(row, 30) == 0 { String::new() } else { format!("{}", 700_000 + person * 7) };
        format!("{key},C{:06},{},{},{}", stay * 13 + 100, sex(person), 20 + random(person, 60), random(person, 9))
    });
    let suggested = suggest(table);
    assert_eq!(suggested.column("mpi").role, Role::Patient, "{}", suggested.suggestion.policy);
    assert_eq!(suggested.column("caseno").role, Role::Identifier);
}

#[test]
fn a_person_whose_key_many_rows_lack_is_not_a_row() {
    let table = lines("recno,upi,sex,age,area", 900, |row| {
        let person = row / 3;
        let key = if random(row, 4) == 0 { String::new() } else { format!("U{:05}", 7 * person + 300) };
        format!("{row},{key},{},{},{}", sex(person), 20 + random(person, 60), random(person, 9))
    });
    let suggested = suggest(table);
    assert_eq!(suggested.column("upi").role, Role::Patient, "{}", suggested.suggestion.policy);
    assert!(suggested.suggestion.policy.contains("[[exclude]]"));
}

#[test]
fn numbers_that_could_be_the_age_are_not_released_as_they_are() {
    let ages = |with_age: bool| {
        let table = lines(if with_age { "sex,age,blood" } else { "sex,area,blood" }, 900, |row| {
            let other = if with_age { 20 + random(row + 9, 60) } else { random(row, 5) };
            format!("{},{other},{}", sex(row), 20 + random(row, 60))
        });
        suggest(table)
    };
    assert_eq!(ages(false).column("blood").role, Role::Quasi);
    assert!(matches!(ages(true).column("blood").role, Role::Other { .. }));
}

#[test]
fn a_mother_of_several_children_is_the_person() {
    let table = lines("child_id,mother_id,child_sex,mother_age,birth_date", 900, |row| {
        let mother = row * 2 / 3;
        format!(
            "K{},{},{},{},{}-05-{:02}",
            1000 + row * 7,
            20_000 + mother * 31,
            sex(row),
            18 + random(mother, 20) + 2 * (row % 2),
            2012 + row % 7,
            1 + row % 28
        )
    });
    let suggested = suggest(table);
    assert_eq!(suggested.column("mother_id").role, Role::Patient, "{}", suggested.suggestion.policy);
}

#[test]
fn a_person_within_a_household_has_a_key_in_two_columns() {
    let table = lines("hh_id,pno,wave,sex,age", 1200, |row| {
        let (person, wave) = (row / 3, row % 3);
        format!(
            "{},{},{},{},{}",
            10_000 + person / 3,
            1 + person % 3,
            2016 + wave,
            sex(person),
            random(person, 80) + wave
        )
    });
    let suggested = suggest(table);
    let policy = &suggested.suggestion.policy;
    assert!(policy.contains("join = [\"hh_id\", \"pno\"]"), "{policy}");
    assert_eq!(suggested.survey().tuples.people(), 400);
}

#[test]
fn names_that_say_nothing_are_not_believed() {
    let table = lines("rec,age,status,test_code,result,q5,test_hisp,answer1", 900, |row| {
        let of = |values: &[&str], seed: u64| values[random(row + seed, values.len() as u64) as usize].to_string();
        format!(
            "{row},{},{},{},{},{},{},{}",
            20 + random(row, 60),
            of(&["1", "2"], 1),
            of(&["06", "36", "48", "12", "17"], 2),
            of(&["CA", "TX", "NY", "FL", "OH"], 3),
            of(&["1", "2", "3", "4", "5", "6"], 4),
            of(&["0", "1", "2", "9"], 5),
            of(&["White", "Black", "Asian"], 6)
        )
    });
    let suggested = suggest(table);
    for name in ["status", "test_code", "result", "q5", "test_hisp", "answer1"] {
        let role = &suggested.column(name).role;
        assert!(matches!(role, Role::Quasi | Role::Identifier), "{name}: {}", suggested.suggestion.policy);
    }
}

#[test]
fn results_and_scales_are_not_taken_for_regions() {
    let table = lines("age,sex,status,result,test_value,q1", 900, |row| {
        let of = |values: &[&str], seed: u64| values[random(row + seed, values.len() as u64) as usize].to_string();
        format!(
            "{},{},{},{},{}.{},{}",
            20 + random(row, 60),
            sex(row),
            of(&["alive", "dead"], 1),
            of(&["positive", "negative", "inconclusive"], 2),
            random(row, 9),
            random(row + 1, 9),
            of(&["never", "sometimes", "often"], 3)
        )
    });
    let suggested = suggest(table);
    for name in ["status", "result", "test_value", "q1"] {
        let role = &suggested.column(name).role;
        assert!(!matches!(role, Role::Quasi | Role::Identifier), "{name}: {}", suggested.suggestion.policy);
    }
}

#[test]
fn units_of_measurements_are_not_places() {
    let table = lines("age,sex,test,unit", 900, |row| {
        let units = ["mmol/L", "mg/dl", "%", "10^9/l"];
        format!("{},{},t{},{}", 20 + random(row, 60), sex(row), row % 7, units[random(row, 4) as usize])
    });
    let suggested = suggest(table);
    assert!(matches!(suggested.column("unit").role, Role::Other { .. }), "{}", suggested.suggestion.policy);
}

#[test]
fn names_of_a_few_people_are_dropped() {
    let names = ["Anna Brzezi", "Petra Oduya", "Lukas Quill", "Jonas Mbeki"];
    let table = lines("age,sex,contact,surname", 900, |row| {
        let few = ["Brzezi", "Oduya", "Quill"][random(row, 3) as usize];
        format!("{},{},{},{few}", 20 + random(row, 60), sex(row), names[random(row + 3, 4) as usize])
    });
    let suggested = suggest(table);
    for name in ["contact", "surname"] {
        assert_eq!(suggested.column(name).role, Role::Identifier, "{}", suggested.suggestion.policy);
    }
}
