//! The reader against the `csv` crate and against a reader of one character at a time; counts against naive maps.

use kohort_core::error::Kind;
use kohort_core::table::{Counting, Input, ONLY_ROW, Source, count, open};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn config(cases: u32) -> ProptestConfig {
    let cases = std::env::var("KOHORT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    ProptestConfig { cases, failure_persistence: None, ..Default::default() }
}

/// Rows with the line each starts on.
type Rows = Vec<(u64, Vec<Vec<u8>>)>;

fn source(path: &Path, delimiter: Option<u8>, threads: usize) -> kohort_core::Result<Source> {
    let mut input = Input::new(path);
    input.delimiter = delimiter;
    Ok(open(&input)?.with_threads(threads))
}

/// What Kohort reads.
fn read(source: &Source) -> kohort_core::Result<Rows> {
    let width = source.columns().len();
    let mut rows = Rows::new();
    source.scan(
        |_| (),
        |(), chunk| {
            let row = |r: usize| (chunk.line(r), (0..width).map(|c| chunk.cell(r, c).to_vec()).collect());
            Ok((0..chunk.rows()).map(row).collect::<Rows>())
        },
        |chunk| {
            rows.extend(chunk);
            Ok(())
        },
    )?;
    Ok(rows)
}

/// One character at a time, as RFC 4180 says; a quote inside an unquoted cell is a character.
fn slow(text: &[u8], delimiter: u8) -> Rows {
    let mut rows = Rows::new();
    let (mut row, mut cell): (Vec<Vec<u8>>, Vec<u8>) = (Vec::new(), Vec::new());
    let (mut line, mut start, mut at) = (1, 1, 0);
    // Fresh: nothing of the cell was read. Quoted: inside quotes. Was: it had quotes.
    let (mut fresh, mut quoted, mut was, mut any) = (true, false, false, false);
    let mut unquoted_from = 0;
    while at <= text.len() {
        let byte = text.get(at).copied();
        if byte == Some(b'\n') {
            line += 1;
        }
        match byte {
            Some(b'"') if quoted && text.get(at + 1) == Some(&b'"') => {
                cell.push(b'"');
                at += 1;
            }
            Some(b'"') if quoted => {
                quoted = false;
                unquoted_from = cell.len();
            }
            Some(b) if quoted => cell.push(b),
            Some(b'"') if fresh => (quoted, was, any, unquoted_from) = (true, true, true, 0),
            Some(b) if b == delimiter => {
                row.push(std::mem::take(&mut cell));
                (any, was, unquoted_from) = (true, false, 0);
                fresh = true;
                at += 1;
                continue;
            }
            Some(b'\n') | None => {
                if !quoted && cell.len() > unquoted_from && cell.last() == Some(&b'\r') {
                    cell.pop();
                }
                let blank = row.is_empty() && cell.is_empty() && !was;
                if !blank && (any || byte.is_some() || !cell.is_empty()) {
                    row.push(std::mem::take(&mut cell));
                    rows.push((start, std::mem::take(&mut row)));
                }
                cell.clear();
                (start, fresh, quoted, was, any, unquoted_from) = (line, true, false, false, false, 0);
                at += 1;
                continue;
            }
            Some(b) => {
                cell.push(b);
                any = true;
            }
        }
        fresh = false;
        at += 1;
    }
    rows
}

fn by_csv_crate(text: &[u8], delimiter: u8) -> Vec<Vec<Vec<u8>>> {
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).has_headers(false).from_reader(text);
    reader.byte_records().map(|r| r.unwrap().iter().map(<[u8]>::to_vec).collect()).collect()
}

/// Random text: not a table, just characters that matter to a reader.
fn scribble() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => Just(&b"a"[..]),
        3 => Just(&b","[..]),
        3 => Just(&b"\n"[..]),
        3 => Just(&b"\""[..]),
        1 => Just(&b"\r\n"[..]),
        1 => Just(&b"\"\""[..]),
        1 => Just(&b"b,c\n"[..]),
        1 => Just(&b"\"x\ny\","[..]),
        1 => Just("ä".as_bytes()),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn scribbled_text_is_cut_as_others_cut_it(text in scribble()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let text = [b"h1,h2\n", &text[..]].concat();
        std::fs::write(&path, &text).unwrap();
        let expected = slow(&text, b',');
        let cells = |rows: &Rows| rows.iter().map(|r| r.1.clone()).collect::<Vec<_>>();
        prop_assert_eq!(cells(&expected), by_csv_crate(&text, b','), "the two references");
        let source = source(&path, Some(b','), 1).unwrap();
        match (read(&source), expected.iter().find(|r| r.1.len() != 2)) {
            (Ok(rows), None) => prop_assert_eq!(&rows[..], &expected[1..]),
            (Err(error), Some((line, row))) => {
                let cells = if row.len() == 1 { "cell" } else { "cells" };
                let says = format!("t.csv, line {line}: {} {cells}, but the header has 2.", row.len());
                prop_assert!(error.message.starts_with(&says), "{} is not {}", error, says);
            }
            (got, expected) => prop_assert!(false, "{got:?}, but {expected:?}"),
        }
    }
}

/// A cell and how it is written.
fn cell() -> impl Strategy<Value = (String, bool)> {
    let text = prop_oneof![
        3 => "[a-c]{0,3}",
        1 => "[a,;|\t\"\n\r ö*]{0,6}",
        1 => "[0-9]{1,20}",
    ];
    (text, any::<bool>())
}

fn write(rows: &[Vec<(String, bool)>], delimiter: char, line_end: &str, last: bool) -> String {
    let quote = |(text, quoted): &(String, bool)| {
        let must = text.contains([delimiter, '"', '\n', '\r']);
        if must || *quoted { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.clone() }
    };
    let lines: Vec<String> =
        rows.iter().map(|row| row.iter().map(quote).collect::<Vec<_>>().join(&delimiter.to_string())).collect();
    lines.join(line_end) + if last { line_end } else { "" }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn what_was_written_is_read(
        rows in proptest::collection::vec(proptest::collection::vec(cell(), 3), 0..20),
        delimiter in prop_oneof![Just(','), Just(';'), Just('\t'), Just('|')],
        crlf in any::<bool>(),
        last in any::<bool>(),
        bom in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let header: Vec<(String, bool)> = ["x", "y", "z"].map(|n| (n.to_string(), false)).to_vec();
        let all: Vec<_> = std::iter::once(header).chain(rows.iter().cloned()).collect();
        let text = write(&all, delimiter, if crlf { "\r\n" } else { "\n" }, last);
        std::fs::write(&path, if bom { format!("\u{feff}{text}") } else { text }).unwrap();
        let source = source(&path, Some(delimiter as u8), 1).unwrap();
        let got: Vec<Vec<String>> =
            read(&source).unwrap().into_iter().map(|r| r.1.into_iter().map(|c| String::from_utf8(c).unwrap()).collect()).collect();
        let expected: Vec<Vec<String>> = rows.iter().map(|r| r.iter().map(|c| c.0.clone()).collect()).collect();
        prop_assert_eq!(got, expected);
    }
}

/// A large table with quoted line ends everywhere, so that blocks end in awkward places.
fn large(rows: usize) -> String {
    let mut text = "pid,a,b,note\n".to_string();
    let mut state = 1u64;
    let mut draw = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    for _ in 0..rows {
        let note = match draw(6) {
            0 => "\"two\nlines, \"\"quoted\"\"\"".to_string(),
            1 => format!("\"{}\"", "\n\"\"".repeat(draw(40) as usize)),
            2 => "5\" pipe".into(),
            3 => "NA".into(),
            _ => "x".repeat(draw(60) as usize),
        };
        text += &format!("P{},{},{},{note}\n", draw(rows as u64 / 2), draw(4), ["", "NA", "q", "rr"][draw(4) as usize]);
    }
    text
}

#[test]
fn blocks_and_threads_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let text = large(60_000);
    assert!(text.len() > 2 << 20, "several blocks");
    std::fs::write(&path, &text).unwrap();
    let expected = slow(text.as_bytes(), b',');
    let cells = expected.iter().map(|r| r.1.clone()).collect::<Vec<_>>();
    assert!(cells == by_csv_crate(text.as_bytes(), b','));
    for threads in [1, 2, 8] {
        assert!(read(&source(&path, None, threads).unwrap()).unwrap() == expected[1..], "{threads} threads");
    }
    // A ragged row far behind the first block is named by its line, whatever the number of threads.
    let (line, _) = expected[50_000];
    let at = text.match_indices('\n').nth(line as usize - 2).unwrap().0 + 1;
    std::fs::write(&path, format!("{}lonely\n{}", &text[..at], &text[at..])).unwrap();
    for threads in [1, 2, 8] {
        let error = read(&source(&path, None, threads).unwrap()).unwrap_err();
        assert!(error.message.starts_with(&format!("t.csv, line {line}: 1 cell")), "{threads} threads: {error}");
    }
}

/// Tuples and patients by the naive definition.
#[track_caller]
fn check_counts(path: &Path, rows: &[Vec<String>], threads: usize, remember: u64) {
    let mut input = Input::new(path);
    input.missing = vec!["NA".into()];
    let source = open(&input).unwrap().with_threads(threads);
    let tuples = count(&source, &Counting { columns: vec![2, 1], patient: Some(0), remember }).unwrap();
    let plain = |cell: &String| if cell == "NA" { String::new() } else { cell.clone() };
    let key = |row: &Vec<String>| vec![plain(&row[2]), plain(&row[1])];
    let mut naive: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    let mut stays: BTreeMap<&String, Vec<Vec<String>>> = BTreeMap::new();
    for row in rows {
        *naive.entry(key(row)).or_default() += 1;
        stays.entry(&row[0]).or_default().push(key(row));
    }
    let texts =
        |t: usize| (0..2).map(|c| tuples.dictionaries[c].text(tuples.code(t, c)).to_string()).collect::<Vec<_>>();
    let got: BTreeMap<Vec<String>, u64> = (0..tuples.len()).map(|t| (texts(t), tuples.weights[t])).collect();
    assert_eq!(got.len(), tuples.len(), "each tuple once");
    assert_eq!(got, naive);
    assert_eq!(tuples.rows, rows.len() as u64);
    let patients = tuples.patients.as_ref().unwrap();
    assert_eq!(patients.total, stays.len() as u64);
    for t in 0..tuples.len() {
        let single = stays.values().filter(|s| s.len() == 1 && s[0] == texts(t)).count();
        assert_eq!(patients.single[t] as usize, single);
        let several = stays.values().filter(|s| s.len() > 1 && s.contains(&texts(t))).count();
        assert_eq!(patients.having(t).len(), several);
    }
    let mut own: Vec<BTreeSet<Vec<String>>> =
        (0..patients.several()).map(|p| patients.tuples_of(p).iter().map(|&t| texts(t as usize)).collect()).collect();
    let mut expected: Vec<BTreeSet<Vec<String>>> =
        stays.values().filter(|s| s.len() > 1).map(|s| s.iter().cloned().collect()).collect();
    own.sort();
    expected.sort();
    assert_eq!(own, expected);
    for (r, row) in rows.iter().enumerate() {
        let patient = patients.of_row[r];
        assert_eq!(patient == ONLY_ROW, stays[&row[0]].len() == 1);
        if let Some(of_row) = &tuples.of_row {
            assert_eq!(texts(of_row[r] as usize), key(row));
        }
    }
    for dictionary in &tuples.dictionaries {
        let texts = dictionary.texts();
        assert!(texts[0].is_empty() && texts[1..].windows(2).all(|w| w[0] < w[1]), "codes are in the order of values");
    }
    let missing = |c: usize| rows.iter().any(|r| plain(&r[c]).is_empty());
    assert_eq!(
        [missing(2), missing(1)],
        [tuples.dictionaries[0].missing_occurs, tuples.dictionaries[1].missing_occurs]
    );
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn tuples_and_patients_are_counted_as_naive_maps_count(
        rows in proptest::collection::vec((0u8..12, 0u8..4, 0u8..5), 1..60),
    ) {
        let words = ["", "NA", "a", "b", "abcdefghijklmnopqrstuvwxyz"];
        let rows: Vec<Vec<String>> =
            rows.iter().map(|r| vec![format!("P{}", r.0), r.1.to_string(), words[usize::from(r.2)].to_string()]).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let text: String = rows.iter().map(|r| r.join(",") + "\n").collect();
        std::fs::write(&path, format!("pid,x,y\n{text}")).unwrap();
        check_counts(&path, &rows, 1, 0);
    }
}

#[test]
fn a_large_table_is_counted_alike_by_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let text = large(40_000);
    std::fs::write(&path, &text).unwrap();
    let rows: Vec<Vec<String>> = slow(text.as_bytes(), b',')[1..]
        .iter()
        .map(|r| r.1.iter().map(|c| String::from_utf8(c.clone()).unwrap()).collect())
        .collect();
    let mut before: Option<(Vec<u64>, Option<Vec<u32>>)> = None;
    for threads in [1, 2, 8] {
        check_counts(&path, &rows, threads, u64::MAX);
        let counting = Counting { columns: vec![1, 2, 3], patient: None, remember: 40_000 };
        let tuples = count(&source(&path, None, threads).unwrap(), &counting).unwrap();
        let own = (tuples.weights.clone(), tuples.of_row.clone());
        assert!(own.1.is_some());
        assert!(before.replace(own.clone()).is_none_or(|b| b == own), "{threads} threads");
        let forgotten =
            count(&source(&path, None, threads).unwrap(), &Counting { remember: 39_999, ..counting }).unwrap();
        assert!(forgotten.of_row.is_none() && forgotten.weights == own.0);
    }
}

#[test]
fn a_patient_column_without_a_patient_is_named_by_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "pid,x\nP1,a\n\n,CANARY\n,CANARY\n").unwrap();
    let source = source(&path, None, 1).unwrap();
    let error = count(&source, &Counting { columns: vec![1], patient: Some(0), remember: 0 }).unwrap_err();
    assert_eq!(error.kind, Kind::Yours);
    assert!(error.message.starts_with("t.csv, line 4: the patient column `pid` is empty."), "{error}");
}

#[test]
fn a_first_line_of_excel_names_the_delimiter_and_is_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "\u{feff}sep=;\r\na;b\r\n1,5;2\r\n").unwrap();
    let source = source(&path, None, 1).unwrap();
    assert_eq!((source.columns(), source.delimiter()), (&["a".to_string(), "b".to_string()][..], b';'));
    let rows = read(&source).unwrap();
    assert_eq!(rows, [(3, vec![b"1,5".to_vec(), b"2".to_vec()])]);
}
