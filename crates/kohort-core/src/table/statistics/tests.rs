use super::super::{Input, Place, open};
use super::*;

/// The cells of a file, a row a line.
fn cells(name: &str, bytes: &[u8]) -> Result<String> {
    let source = open(&Input::at(Place::Text(name.into(), bytes.to_vec().into())))?;
    let mut text = source.columns().join("|") + "\n";
    source.scan(
        |_| (),
        |(), chunk| Ok(chunk),
        |chunk| {
            for row in 0..chunk.rows() {
                let cells =
                    (0..source.columns().len()).map(|c| String::from_utf8_lossy(chunk.cell(row, c)).into_owned());
                text += &(cells.collect::<Vec<_>>().join("|") + "\n");
            }
            Ok(())
        },
    )?;
    Ok(text)
}

#[track_caller]
fn check(name: &str, bytes: &[u8], expected: &str) {
    let expected: String = expected.lines().map(|line| line.trim_start().to_string() + "\n").collect();
    assert_eq!(cells(name, bytes).unwrap_or_else(|e| panic!("{name}: {e}")), expected, "{name}");
}

/// The fixtures were written by ReadStat and pandas, which share no code with these readers.
macro_rules! fixture {
    ($name:literal) => {
        ($name, include_bytes!(concat!("fixtures/", $name)))
    };
}

const ALL: [(&str, &[u8]); 11] = [
    fixture!("t5.xpt"),
    fixture!("t8.xpt"),
    fixture!("t15.dta"),
    fixture!("t12.dta"),
    fixture!("t10.dta"),
    fixture!("pandas114.dta"),
    fixture!("pandas117.dta"),
    fixture!("pandas119.dta"),
    fixture!("t.sav"),
    fixture!("plain.sav"),
    fixture!("t.zsav"),
];

fn bytes(name: &str) -> &'static [u8] {
    ALL.iter().find(|(own, _)| *own == name).map(|(_, bytes)| *bytes).unwrap()
}

#[test]
fn spss_files_are_read_with_labels_and_missing_values() {
    // -8 is missing for its column alone.
    let expected = "id|sex|age|weight|admitted|seen|town
        P-001|male|34|71.5|2019-03-14|2019-03-14 10:30:00|Köln
        P-002|female|87|0.1|1955-12-31|1955-12-31|Aachen
        P-003|female||||||
        P-004|male||-1234567.25|2020-02-29|2020-02-29 23:59:59|Bonn";
    let expected = expected.replace("||||||", "|||||");
    check("t.sav", bytes("t.sav"), &expected);
    check("plain.sav", bytes("plain.sav"), &expected);
    // Without a list of missing values -8 is a code, and the column has codes without labels.
    check("t.zsav", bytes("t.zsav"), &expected.replace("P-003|female||", "P-003|female|-8|"));
}

#[test]
fn stata_files_are_read_with_labels() {
    let expected = "id|sex|age|weight|admitted|seen|town
        P-001|male|34|71.5|2019-03-14|2019-03-14 10:30:00|Köln
        P-002|female|87|0.1|1955-12-31|1955-12-31|Aachen
        P-003|female|-8||||
        P-004|male||-1234567.25|2020-02-29|2020-02-29 23:59:59|Bonn";
    check("t15.dta", bytes("t15.dta"), expected);
    check("t12.dta", bytes("t12.dta"), &expected.replace('ö', "o"));
    check("t10.dta", bytes("t10.dta"), &expected.replace('ö', "o"));
    check(
        "pandas114.dta",
        bytes("pandas114.dta"),
        "a|b|c|m\n1|1.5|x|2019-03-01\n2|2.25|yy|2020-12-01\n3|0.1||1959-12-01",
    );
    check("pandas119.dta", bytes("pandas119.dta"), "a|b|c|m\n1|1.5|x|2019Q1\n2|2.25|yy|2020Q4\n3|0.1||1959Q4");
    let long = format!("a|b|c|e|m\n1|1.5|x|{}|2019-03\n2|2.25|yy|b|2020-12\n3|0.1|||1959-12", "a".repeat(3000));
    check("pandas117.dta", bytes("pandas117.dta"), &long);
}

#[test]
fn transport_files_are_read() {
    let expected = "id|sex|age|weight|admitted|seen|town
        P-001|1|34|71.5|2019-03-14|2019-03-14 10:30:00|Koln
        P-002|2|87|0.1|1955-12-31|1955-12-31|Aachen
        P-003|2|-8||||
        P-004|1||-1234567.25|2020-02-29|2020-02-29 23:59:59|Bonn";
    check("t5.xpt", bytes("t5.xpt"), expected);
    check("t8.xpt", bytes("t8.xpt"), &expected.replace("admitted", "admission_date"));
}

#[test]
fn cut_and_changed_files_are_refused_or_read_but_never_panic() {
    for (name, whole) in ALL {
        for length in (0..whole.len()).step_by(7) {
            let _ = cells(name, &whole[..length]);
        }
        for place in (0..whole.len()).step_by(3) {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = whole.to_vec();
                changed[place] = value;
                let _ = cells(name, &changed);
            }
        }
        let error = cells(name, &whole[..whole.len() / 3]).expect_err(name);
        assert!(error.message.contains("damaged"), "{name}: {}", error.message);
    }
}

#[test]
fn what_cannot_be_read_is_said() {
    let latin = bytes("t5.xpt").iter().map(|&b| if b == b'K' { 0xf6 } else { b }).collect::<Vec<_>>();
    assert!(cells("t.xpt", &latin).unwrap_err().message.contains("encoding = \"windows-1252\""));
    let two = [bytes("t5.xpt"), &bytes("t5.xpt")[240..]].concat();
    assert!(cells("t.xpt", &two).unwrap_err().message.contains("several data sets"));
    let mut old = bytes("pandas117.dta").to_vec();
    old[28..31].copy_from_slice(b"116");
    assert!(cells("t.dta", &old).unwrap_err().message.contains("version"));
    assert!(cells("t.sas7bdat", &[0; 64]).unwrap_err().message.contains("transport file"));
}
