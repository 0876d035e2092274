use super::*;
use crate::hospital::Hospital;
use kohort_core::cohort::{Cohort, survey};
use kohort_core::policy::{AnyPolicy, PolicyFile};
use kohort_core::table::Silent;
use proptest::prelude::*;

/// A table in a folder of its own, and what is suggested for it.
pub(super) struct Suggested {
    folder: tempfile::TempDir,
    pub suggestion: Suggestion,
}

pub(super) fn suggest(table: impl AsRef<[u8]>) -> Suggested {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, table).unwrap();
    let suggestion = init(&[path], folder.path(), 2, Arc::new(Silent)).unwrap();
    Suggested { folder, suggestion }
}

impl Suggested {
    /// Binds the policy, once k is chosen, and counts the table by it.
    pub fn survey(&self) -> Cohort {
        assert!(self.suggestion.policy.contains("\n# k = 5\n"));
        let text = self.suggestion.policy.replace("\n# k = 5\n", "\nk = 5\n");
        let policy =
            PolicyFile::parse("policy.toml", &text, self.folder.path()).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let source = open(&policy.input).unwrap();
        let bound = policy.bind(&source, &crate::methods::Register::built_in());
        let policy = bound.and_then(AnyPolicy::table).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let names: Vec<&str> = policy.columns.iter().map(|c| c.name.as_str()).collect();
        let advised: Vec<&str> = self.suggestion.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, advised);
        let source = source.excluding(policy.exclude.clone(), policy.patient()).unwrap();
        survey(&source, &policy).unwrap_or_else(|e| panic!("{e}\n{text}"))
    }

    /// Role and hierarchy of every column, a line each.
    fn roles(&self) -> String {
        let line = |c: &ColumnAdvice| {
            format!("{} {} {}", c.name, c.role.name(), c.hierarchy.as_deref().unwrap_or_default())
                .trim_end()
                .to_string()
                + "\n"
        };
        self.suggestion.columns.iter().map(line).collect()
    }

    pub fn column(&self, name: &str) -> &ColumnAdvice {
        self.suggestion.columns.iter().find(|c| c.name == name).unwrap()
    }

    pub fn warns(&self, part: &str) -> bool {
        self.suggestion.warnings.iter().any(|warning| warning.contains(part))
    }
}

#[track_caller]
fn check(suggested: &Suggested, roles: &str) {
    let expected: String = roles.lines().map(|line| line.trim().to_string() + "\n").collect();
    assert_eq!(suggested.roles(), expected);
}

/// `rows` lines that a number makes.
pub(super) fn lines(header: &str, rows: u64, line: impl Fn(u64) -> String) -> String {
    (0..rows).fold(format!("{header}\n"), |text, row| text + &line(row) + "\n")
}

/// A number that looks like chance, the same in every run.
pub(super) fn random(row: u64, below: u64) -> u64 {
    crate::profile::distinct::hash(&(row ^ below << 32).to_le_bytes()) % below
}

#[test]
fn the_patients_of_the_hospital_get_sensible_roles() {
    let mut table = Vec::new();
    Hospital { rows: 20_000, seed: 1 }.write_patients(&mut table).unwrap();
    let suggested = suggest(table);
    check(
        &suggested,
        "patient_id patient
         name identifier
         phone identifier
         birth_date identifier
         age quasi { intervals = [5, 10, 20], from = 0, to = 90 }
         sex quasi
         zip quasi { prefix = [4, 3, 2] }
         marital quasi
         occupation quasi
         admitted quasi { date = \"%Y-%m-%d\" }
         los_days quasi { intervals = [2, 10, 20], from = 0, to = 140 }
         diagnosis sensitive
         procedure sensitive
         ward quasi
         outcome sensitive",
    );
    assert!(suggested.column("diagnosis").why.contains("ICD-10"));
    assert!(suggested.column("birth_date").why.contains("`age`"));
    assert_eq!(suggested.suggestion.warnings, [""; 0]);
    assert!(suggested.survey().notes.is_empty());
}

#[test]
fn discharges_are_rows_of_patients_who_come_again() {
    let mut table = Vec::new();
    Hospital { rows: 10_000, seed: 1 }.write_discharges(&mut table).unwrap();
    let suggested = suggest(table);
    check(
        &suggested,
        "patient_id patient
         age quasi { intervals = [5, 10, 20], from = 0, to = 90 }
         sex quasi
         zip quasi { prefix = [4, 3, 2] }
         admitted quasi { date = \"%Y-%m-%d\" }
         los_days quasi { intervals = [2, 10, 20], from = 0, to = 140 }
         diagnosis sensitive
         procedure sensitive
         outcome sensitive",
    );
    assert!(suggested.warns("`patient_id` repeats") && suggested.warns("rows belong to 10,000 people."));
    assert_eq!(suggested.survey().tuples.patients.unwrap().total, 10_000);
}

#[test]
fn a_suggestion_does_not_depend_on_threads() {
    let mut table = Vec::new();
    Hospital { rows: 40_000, seed: 2 }.write_discharges(&mut table).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.csv");
    std::fs::write(&path, table).unwrap();
    let with = |threads| init(std::slice::from_ref(&path), folder.path(), threads, Arc::new(Silent)).unwrap();
    let (one, four) = (with(1), with(4));
    assert_eq!((one.policy, one.warnings), (four.policy, four.warnings));
}

#[test]
fn names_of_columns_may_be_anything() {
    let suggested = suggest(lines(
        "\"a b\",\"say \"\"hi\"\"\",größe,x.y,back\\slash,\"two\nlines\",'q',tab\there,*,é*",
        40,
        |row| (0..10).map(|c| random(row * 10 + c, 5).to_string()).collect::<Vec<_>>().join(","),
    ));
    let names: Vec<&str> = suggested.suggestion.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(
        names,
        ["a b", "say \"hi\"", "größe", "x.y", "back\\slash", "two\nlines", "'q'", "tab\there", "*", "é*"]
    );
    // A column called q is an answer of a questionnaire.
    assert_eq!(suggested.survey().quasi.len(), 9);
}

#[test]
fn decimal_commas_are_found() {
    let suggested = suggest(lines("Nr;Alter;Geschlecht;Gewicht;Laborwert;Aufnahme;PLZ", 200, |row| {
        format!(
            "{};{};{};{},{};{},5;0{}.03.2020;{:04}",
            row + 100_000,
            20 + random(row, 60),
            ["m", "w"][random(row, 2) as usize],
            50 + random(row, 40),
            random(row, 10),
            random(row, 100),
            1 + random(row, 9),
            1000 + random(row, 100)
        )
    }));
    check(
        &suggested,
        "Nr identifier
         Alter quasi { intervals = [5, 10, 20], from = 0, to = 100 }
         Geschlecht quasi
         Gewicht quasi { intervals = [2, 10, 20], from = 40, to = 100 }
         Laborwert identifier
         Aufnahme quasi { date = \"%d.%m.%Y\" }
         PLZ quasi { prefix = [3, 2, 1] }",
    );
    assert!(suggested.suggestion.policy.contains("decimal = \",\""));
    assert!(suggested.warns("no column identifies the patient"));
    suggested.survey();
}

#[test]
fn missing_words_padding_and_stars_are_found() {
    let suggested = suggest(lines("age, sex,region,note", 600, |row| {
        let age = [" 31 ".to_string(), "NA".into(), "?".into(), (30 + random(row, 30)).to_string()];
        format!(
            "{}, F,{},{}",
            age[random(row, 4) as usize],
            ["north", "south", "-", "*"][random(row, 4) as usize],
            "N/A"
        )
    }));
    assert!(suggested.suggestion.policy.contains("missing = [\"\", \"NA\", \"N/A\", \"?\", \"-\", \"*\"]"));
    assert!(suggested.suggestion.policy.contains("trim = true"));
    assert!(suggested.warns("`region`:") && suggested.warns("are `*`"));
    let age = suggested.column("age");
    assert_eq!(age.hierarchy.as_deref(), Some("{ intervals = [5, 10, 20], from = 0, to = 100 }"));
    assert!(age.facts.ends_with("% missing"), "{}", age.facts);
    assert!(suggested.column("note").why.contains("always empty"));
    suggested.survey();
}

#[test]
fn icd9_codes_keep_their_zeros_and_need_no_dots() {
    let codes = ["0010", "0389", "25000", "4019", "V270", "E8120", "042", "7455", "486", "0796", "41401", "V3000"];
    let suggested = suggest(lines("sex,dx1,what,number", 300, |row| {
        let code = |salt| codes[random(row + salt, 12) as usize];
        format!("{},{},{},{}", random(row, 2), code(1000), code(2000), codes[random(row, 4) as usize])
    }));
    check(&suggested, "sex quasi\ndx1 sensitive\nwhat sensitive\nnumber quasi");
    for name in ["dx1", "what"] {
        assert_eq!(suggested.column(name).why, "ICD-9 codes");
        assert!(suggested.column(name).notes[0].contains("hierarchy = \"icd9\" }"));
    }
    assert!(suggested.column("number").why.contains("codes"));
    suggested.survey();
}

#[test]
fn values_decide_where_the_name_says_something_else() {
    let text = |row| format!("came back on day {} with the pain as before", random(row, 5000));
    let suggested = suggest(lines("age,sex,ward,info,phone_type,x", 300, |row| {
        let mail = format!("person{row}@example.org");
        format!(
            "{},{},{mail},{},{},{:.3}",
            row * 7,
            random(row, 90),
            text(row),
            random(row, 3),
            random(row, 100_000) as f64 / 7.0
        )
    }));
    check(
        &suggested,
        "age identifier
         sex quasi { intervals = [5, 10, 20], from = 0, to = 90 }
         ward identifier
         info identifier
         phone_type quasi
         x identifier",
    );
    assert!(suggested.column("sex").why.starts_with("named like sex, but the values do not"));
    assert!(suggested.warns("`info` is free text and is dropped"));
    assert!(suggested.column("x").why.contains("single them out"));
    suggested.survey();
}

#[test]
fn duplicates_are_told() {
    let suggested = suggest(lines("id,sex,gender", 100, |row| {
        let row = row / 2;
        format!("A{row},{0},{0}", random(row, 2))
    }));
    assert!(suggested.warns("50 rows are exact copies of an earlier row"), "{:?}", suggested.suggestion.warnings);
    assert!(suggested.warns("columns `sex` and `gender` are the same in every row"));
}

#[test]
fn the_person_is_the_key_within_which_a_person_stays_the_same() {
    // Columns whose names say nothing: a row key, a stay, a person with three stays, a sex, a value.
    let suggested = suggest(lines("c1,c2,c3,c4,c5", 600, |row| {
        let person = row / 3;
        let key = |n: u64| 10_000 + crate::profile::distinct::hash(&n.to_le_bytes()) % 90_000_000;
        format!(
            "{},{},{},{},{}",
            row + 1,
            key(row),
            key(person + 1_000_000),
            ["m", "f"][random(person, 2) as usize],
            random(row, 50)
        )
    }));
    let roles: Vec<&str> = suggested.suggestion.columns.iter().map(|c| c.role.name()).collect();
    assert_eq!(roles[..4], ["identifier", "identifier", "patient", "quasi"], "{:?}", suggested.suggestion.columns);
    assert!(suggested.warns("rows belong to 200 people"));
}

#[test]
fn a_household_is_not_a_person() {
    let suggested = suggest(lines("hh_id,id,sex,age", 400, |row| {
        let (household, sex) = (1000 + row / 4, ["m", "f"][random(row, 2) as usize]);
        format!("{household},P{row:05},{sex},{}", random(row, 90))
    }));
    assert_eq!(suggested.column("hh_id").role, Role::Identifier);
    assert_eq!(suggested.column("id").role, Role::Patient);
}

#[test]
fn of_height_weight_and_index_the_index_stays() {
    let suggested = suggest(lines("sex,h,w,b", 300, |row| {
        let (height, weight) = (150 + random(row, 45), 50 + random(row, 60));
        let index = weight as f64 / (height as f64 / 100.0).powi(2);
        format!("{},{height},{weight},{index:.2}", random(row, 2))
    }));
    let roles: Vec<&str> = suggested.suggestion.columns.iter().map(|c| c.role.name()).collect();
    assert_eq!(roles, ["quasi", "identifier", "identifier", "quasi"]);
    suggested.survey();
}

#[test]
fn one_date_stays_and_points_in_time_are_never_released() {
    let suggested = suggest(lines("sex,came,left,seen", 300, |row| {
        let (day, second) = (1 + random(row, 28), random(row, 60));
        format!(
            "{},2019-03-{day:02},2019-04-{day:02},2019-03-{day:02} 10:{:02}:{second:02}",
            random(row, 2),
            random(row, 59)
        )
    }));
    let quasi = |name: &str| suggested.column(name).role == Role::Quasi;
    assert!(quasi("came") && !quasi("left") && !quasi("seen"));
    assert_eq!(suggested.column("came").levels.as_deref(), Some("[\"month\", \"quarter\", \"year\", \"*\"]"));
}

#[test]
fn answers_change_the_policy() {
    let table = lines("sex,zzz,yyy", 300, |row| format!("{},{},{}", random(row, 2), random(row, 7), random(row, 5)));
    let mut suggestion = suggest(table).suggestion;
    assert_eq!(suggestion.questions(), [1, 2]);
    suggestion.answer(1, Answer::Unknown);
    suggestion.answer(2, Answer::Drop);
    assert!(suggestion.questions().is_empty());
    assert!(suggestion.policy.contains("zzz = { role = \"other\", reason = "));
    assert!(suggestion.policy.contains("yyy = { role = \"identifier\" }"));
}

#[test]
fn a_first_line_of_data_does_not_name_columns() {
    let suggested = suggest(lines("39,Private,Bachelors,2020-01-05", 50, |row| {
        format!("{},Private,{},2020-02-0{}", 20 + random(row, 40), random(row, 7), 1 + random(row, 9))
    }));
    assert!(
        suggested.suggestion.policy.contains("header = false") && suggested.warns("the first line looks like data")
    );
    assert_eq!(suggested.suggestion.columns[1].name, "column2");
    assert!(!suggested.suggestion.policy.contains("Private"));
    suggested.survey();
}

#[test]
fn old_encodings_are_found() {
    let suggested = suggest(b"sex;ort\nm;M\xfcnchen\nw;K\xf6ln\n");
    assert!(suggested.suggestion.policy.contains("encoding = \"windows-1252\""));
    suggested.survey();
}

#[test]
fn what_is_no_single_table_with_rows_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (empty, header, rows) = (file("e.csv", ""), file("h.csv", "a,b\n"), file("r.csv", "a,b\n1,2\n"));
    let error = |tables: &[PathBuf]| init(tables, folder.path(), 1, Arc::new(Silent)).unwrap_err().message;
    assert_eq!(error(&[empty]), "e.csv: the file is empty.");
    assert!(error(&[header]).starts_with("h.csv: the table has no rows"));
    // The same table twice is one table.
    assert!(init(&[rows.clone(), rows], folder.path(), 1, Arc::new(Silent)).is_ok());
    assert!(error(&[]).starts_with("init needs a table"));
}

#[test]
fn the_table_is_named_from_the_policys_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (data, policies) = (folder.path().join("data set"), folder.path().join("policies/new"));
    [&data, &policies].iter().for_each(|path| std::fs::create_dir_all(path).unwrap());
    let table = data.join("t.csv");
    std::fs::write(&table, "sex\nF\n").unwrap();
    assert_eq!(relative(&table, &data).unwrap(), "t.csv");
    assert_eq!(relative(&table, folder.path()).unwrap(), "data set/t.csv");
    assert_eq!(relative(Path::new("t.csv"), Path::new("")).unwrap(), "t.csv");
    assert_eq!(relative(&table, &policies).unwrap(), "../../data set/t.csv");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_cell_is_shown(
        rows in prop::collection::vec(prop::collection::vec("[a-z]{6,9}[0-9]{3}[A-Z äß]{0,12}|Q[0-9]{7}|[0-9]{2},[0-9]{5}", 6), 1..60),
    ) {
        let header = "patient;age;zip;diagnosis;note;x";
        let text = rows.iter().fold(format!("{header}\n"), |text, row| text + &row.join(";") + "\n");
        let suggested = suggest(text);
        let shown = suggested.suggestion.policy.clone() + &suggested.suggestion.warnings.join("\n") + &format!("{:?}", suggested.suggestion.columns);
        for cell in rows.iter().flatten() {
            prop_assert!(!shown.contains(cell.trim()), "{cell}");
        }
        if suggested.suggestion.columns.iter().any(|c| c.role == Role::Quasi) {
            suggested.survey();
        }
    }
}
