//! Tables are cleaned as their policy says, whoever reads them.

use crate::error::Kind;
use crate::policy::{GivenTables, PolicyFile, PolicyFiles};
use crate::table::{Chunk, CleanedStep, Place, Source, open};
use crate::{Error, Result};
use proptest::prelude::*;

type Rows = Vec<Vec<String>>;

/// Opens a table with these columns of a policy.
fn source(table: &str, input: &str, columns: &str) -> Result<Source> {
    let place = Place::Text("t.csv".into(), table.as_bytes().into());
    let text = format!("[input]\n{input}\n[columns]\n{columns}");
    let policy = PolicyFile::parse_with("p.toml", &text, &PolicyFiles::default(), Some(&GivenTables::One(place)))?;
    open(&policy.input)
}

fn rows(source: &Source) -> Rows {
    let (width, mut rows) = (source.columns().len(), Vec::new());
    let text = |cell: &[u8]| String::from_utf8(cell.to_vec()).expect("text");
    let work = |(): &mut (), chunk: Chunk| -> Result<Rows> {
        Ok((0..chunk.rows()).map(|r| (0..width).map(|c| text(chunk.cell(r, c))).collect()).collect())
    };
    let fold = |chunk: Rows| {
        rows.extend(chunk);
        Ok(())
    };
    source.scan(|_| (), work, fold).expect("rows");
    rows
}

/// The cells of the last column, one after the other.
#[track_caller]
fn check(table: &str, columns: &str, expected: &[&str]) {
    let source = source(table, "", columns).unwrap_or_else(|e| panic!("{e}"));
    let last: Vec<String> = rows(&source).into_iter().map(|row| row.last().expect("a cell").clone()).collect();
    assert_eq!(last, expected);
}

#[track_caller]
fn refused(table: &str, columns: &str, part: &str) -> Error {
    let error = source(table, "", columns).map(drop).expect_err("it is refused");
    assert_eq!(error.kind, Kind::Yours);
    assert!(error.message.contains(part), "{}", error.message);
    error
}

#[test]
fn each_step_cleans_its_cells() {
    check(
        "a\nm\nF\nmale\n",
        "a = { role = \"quasi\", recode = { m = \"male\", F = \"female\" } }",
        &["male", "female", "male"],
    );
    check("a\n87 years\n> 89\n5\n", "a = { role = \"quasi\", number = true }", &["87", ">=90", "5"]);
    check(
        "a\n89\n90\n104\n> 95\n",
        "a = { role = \"quasi\", number = true, top = 90 }",
        &["89", ">=90", ">=90", ">=90"],
    );
    check(
        "a\nE119\ne11.9\nE11.9-\nnone\n",
        "a = { role = \"quasi\", spelling = \"icd10\" }",
        &["E11.9", "E11.9", "E11.9", "none"],
    );
    check("a\n486-\n25001\n", "a = { role = \"quasi\", spelling = \"icd9\" }", &["486", "250.01"]);
    check("a\nP-0012\np12\nunknown\n", "a = { role = \"patient\", spelling = \"key\" }", &["p12", "p12", "unknown"]);
    check("a\nP-0012\n0012\n", "a = { role = \"patient\", spelling = \"key-digits\" }", &["12", "12"]);
    check("a\n31.12.2010\n1.2.2011\n", "a = { role = \"quasi\", date = true }", &["2010-12-31", "2011-02-01"]);
    check("a\n03/04/10\n", "a = { role = \"quasi\", date = \"%m/%d/%y\" }", &["2010-03-04"]);
}

#[test]
fn a_key_in_two_columns_is_joined() {
    let columns =
        "h = { role = \"identifier\" }\nn = { role = \"quasi\" }\np = { role = \"patient\", join = [\"h\", \"n\"] }";
    check("h,n\n7,1\n7,2\n,1\n", columns, &["7/1", "7/2", ""]);
    refused("h\n7\n", "p = { role = \"patient\", join = [\"h\"] }", "must name the columns of a key");
}

#[test]
fn missing_is_what_the_column_says() {
    let columns = "a = { role = \"quasi\", missing = [\"-8\"] }\nb = { role = \"quasi\" }";
    let source = source("a,b\n-8,-8\nNA,NA\nNone,5\n", "missing = [\"NA\"]", columns).unwrap();
    assert_eq!(rows(&source), [["", "-8"], ["NA", ""], ["None", "5"]]);
    assert!(source.is_missing(b"") && !source.is_missing(b"NA"));
    let step = CleanedStep { column: "a".into(), what: "missing: `-8`".into(), cells: 1 };
    assert_eq!(source.cleaned().steps, [step]);
}

#[test]
fn ages_and_stays_are_derived() {
    let columns = "dob = { role = \"identifier\" }\nadm = { role = \"quasi\" }\n\
                   age = { role = \"quasi\", age = { born = \"dob\", at = \"adm\" }, top = 90 }";
    check(
        "dob,adm\n2000-02-29,2023-02-28\n1920-01-01,2023-01-01\n,2023-01-01\n2024-01-01,2023-12-31\n",
        columns,
        &["22", ">=90", "", ""],
    );
    let fixed = columns.replace("\"adm\" }", "\"2020-06-30\" }");
    check("dob,adm\n2000-06-30,x\n2000-07-01,x\n", &fixed, &["20", "19"]);
    let stay = "a = { role = \"quasi\", hierarchy = { date = \"%d.%m.%Y\" } }\nb = { role = \"quasi\" }\nlos = { role = \"quasi\", between = [\"a\", \"b\"] }";
    check("a,b\n1.2.2011,2011-02-01\n28.2.2012,2012-03-01\n", stay, &["0", "2"]);
}

#[test]
fn a_birth_date_in_three_columns_gives_an_age() {
    let columns = "y = { role = \"identifier\" }\nm = { role = \"identifier\", missing = [\"99\"] }\nd = { role = \"identifier\" }\n\
                   age = { role = \"quasi\", age = { born = \"dob\", at = \"2020-01-01\" } }\n\
                   dob = { role = \"identifier\", date = { year = \"y\", month = \"m\", day = \"d\" } }";
    check("y,m,d\n1980,1,1\n1980,01,02\n1980,99,1\n", columns, &["1980-01-01", "1980-01-02", ""]);
    let source = source("y,m,d\n1980,1,1\n1980,01,02\n1980,99,1\n", "", columns).unwrap();
    assert_eq!(rows(&source).iter().map(|row| &row[3]).collect::<Vec<_>>(), ["40", "39", ""]);
    refused("y,m,d\n1980,2,30\n", columns, "not in the calendar");
    refused("y,m,d\n80,2,3\n", columns, "not in the calendar");
}

#[test]
fn dates_that_fit_two_formats_are_asked_about() {
    let columns = "a = { role = \"quasi\", date = true }";
    let error = refused("a\n03/04/2010\n05/06/2011\n", columns, "date = \"%m/%d/%Y\" or date = \"%d/%m/%Y\"");
    assert!(!error.message.contains("2010"), "{}", error.message);
    refused("a\n03.04.45\n", columns, "Set date = \"%d.%m.%y\"");
    refused("a\n2010-01-01\nSECRET\n", columns, "no usual date format");
    let age = "a = { role = \"identifier\" }\nage = { role = \"quasi\", age = { born = \"a\", at = \"2020-01-01\" } }";
    refused("a\n03/04/2010\n", age, "more than one way");
    let source = source("a\n13/04/2010\n", "", age).unwrap();
    assert!(source.cleaned().notes[0].contains("`a` are read as %d/%m/%Y"), "{:?}", source.cleaned().notes);
}

#[test]
fn cells_that_a_step_cannot_read_are_errors_without_values() {
    for (table, columns, part) in [
        ("a\n5\nSECRET\n", "a = { role = \"quasi\", number = true }", "1 cell (line 3) is not one number"),
        ("a\nSECRET 5\n", "a = { role = \"quasi\", top = 90 }", "not a number that `top` can compare"),
        ("a\nSECRET\n", "a = { role = \"quasi\", date = \"%Y-%m-%d\" }", "not a date written %Y-%m-%d"),
        ("a\n6 months\n5 years\n", "a = { role = \"quasi\", number = true }", "different units"),
    ] {
        let error = refused(table, columns, part);
        assert!(!error.message.contains("SECRET"), "{}", error.message);
    }
}

#[test]
fn a_column_is_derived_from_others_that_exist() {
    let derived = |from: &str, other: &str| {
        format!(
            "dob = {{ role = \"identifier\" }}\nx = {{ role = \"quasi\", from = \"{from}\" }}\ny = {{ role = \"quasi\", from = \"{other}\" }}"
        )
    };
    refused("dob\n1\n", &derived("dbo", "dob"), "there is no column `dbo` to derive `x` from. Did you mean `dob`?");
    refused("dob\n1\n", &derived("y", "x"), "is derived from itself");
    refused("dob\n1\n", &derived("x", "dob"), "is derived from itself");
    refused("dob,x\n1,2\n", &derived("dob", "dob"), "Give the derived column another name");
    check("dob\n1\n", &derived("y", "dob"), &["1"]);
    let age = "dob = { role = \"identifier\" }\nx = { role = \"quasi\", between = [\"dob\", \"dob\"] }\ny = { role = \"quasi\", between = [\"x\", \"dob\"] }";
    refused("dob\n2010-01-01\n", age, "does not hold dates");
}

#[test]
fn keys_that_cannot_go_together_are_refused() {
    for (columns, part) in [
        ("a = { role = \"quasi\", date = true, number = true }", "cannot be combined"),
        ("b = { role = \"quasi\", from = \"a\", between = [\"a\", \"a\"] }", "cannot be combined"),
        ("a = { role = \"quasi\", recode = [\"m\"] }", "must give a text"),
        ("b = { role = \"quasi\", age = { born = \"a\" } }", "must name a birth date"),
        ("b = { role = \"quasi\", between = [\"a\"] }", "two columns"),
        ("b = { role = \"quasi\", date = { year = \"a\" } }", "three columns"),
        ("a = { role = \"quasi\", date = \"%d\" }", "one full date"),
        ("a = { role = \"quasi\", spelling = \"icd11\" }", "\"icd9\" or \"icd10\""),
        ("a = { role = \"quasi\", date = true, hierarchy = { date = \"%d.%m.%Y\" } }", "%Y-%m-%d"),
    ] {
        refused("a\n1\n", columns, part);
    }
}

#[test]
fn the_texts_behind_a_cell_are_counted() {
    let columns = "a = { role = \"quasi\", recode = { m = \"male\", M = \"male\" }, missing = [\"-8\", \"-9\"] }";
    let source = source("a\nm\nM\nmale\nm\nfemale\n-8\n-9\n\n", "", columns).unwrap();
    let behind = |cell: &str| source.cleaned().texts_behind(0, cell.as_bytes());
    assert_eq!([behind("male"), behind("female"), behind("")], [3, 1, 3]);
    let cells: Vec<u64> = source.cleaned().steps.iter().map(|step| step.cells).collect();
    assert_eq!(cells, [2, 3]);
}

proptest! {
    /// The definition: each cell by itself, in the order of the steps.
    #[test]
    fn a_table_is_cleaned_cell_by_cell(cells in prop::collection::vec((0u32..130, 0u32..5), 1..60), threads in 1usize..4) {
        let written = |(number, style): &(u32, u32)| match style {
            0 => number.to_string(),
            1 => format!("{number} years"),
            2 => format!("> {number}"),
            3 => "-8".to_string(),
            _ => "old".to_string(),
        };
        let expected = |(number, style): &(u32, u32)| match style {
            0 | 1 if *number < 90 => number.to_string(),
            2 if *number < 89 => return None,
            0..=2 => ">=90".to_string(),
            3 => String::new(),
            _ => "70".to_string(),
        }.into();
        let expected: Option<Vec<String>> = cells.iter().map(expected).collect();
        let mut table = String::from("x,a\n");
        cells.iter().for_each(|cell| table += &format!("1,{}\n", written(cell)));
        let columns = "x = { role = \"quasi\" }\na = { role = \"quasi\", missing = [\"-8\"], recode = { old = \"70\" }, number = true, top = 90 }";
        match (source(&table, "", columns), expected) {
            (Ok(source), Some(expected)) => {
                let found: Vec<String> = rows(&source.with_threads(threads)).into_iter().map(|row| row[1].clone()).collect();
                prop_assert_eq!(found, expected);
            }
            (Err(error), None) => prop_assert!(error.message.contains("`top`")),
            (result, expected) => prop_assert!(false, "{:?} {:?}", result.map(drop), expected),
        }
    }
}
