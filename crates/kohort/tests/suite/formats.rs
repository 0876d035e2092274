//! Whatever format comes in goes out, and cells are what they were.

use crate::common;
use crate::common::case::method;
use crate::common::run::{options, release};
use crate::common::table::Table;
use flate2::Compression;
use flate2::write::GzEncoder;
use kohort::methods::{DataShape, Register};
use kohort_core::table::ParquetFile;
use kohort_core::verify::verify_release;
use std::fs;
use std::io::Write;
use std::path::Path;

/// The methods that take a column in which most values are unique: `ceiling` would show what it invents.
fn names() -> impl Iterator<Item = &'static str> {
    Register::built_in().names(DataShape::Table).into_iter().filter(|name| *name != "ceiling")
}

const POLICY: &str = "missing = [\"NA\", \"?\"]\n[columns]\nid = { role = \"identifier\" }\ncode = { role = \"quasi\" }\n\
                      note = { role = \"other\", reason = \"a test\" }\nsecret = { role = \"sensitive\" }\n[privacy]\nk = 2\n";

/// Cells that a careless reader or writer changes.
fn rows() -> Vec<[&'static str; 4]> {
    vec![
        ["CANARY-1", "007", "two\nlines", "12345678901234567890123"],
        ["CANARY-2", "007", "a,b;c\td|e", "00"],
        ["CANARY-3", "7", "says \"so\"", "1e5"],
        ["CANARY-4", "7", "", "NA"],
        ["CANARY-5", "NA", " spaces ", "0.10"],
        ["CANARY-6", "?", "?", "-0"],
        ["CANARY-7", "", "Ünïcödé 漢字", "+1"],
    ]
}

/// The rows that must leave: missing is empty, whatever its spelling.
fn expected() -> Vec<Vec<String>> {
    let cell = |c: &&str| if ["NA", "?"].contains(c) { String::new() } else { c.to_string() };
    let mut rows: Vec<Vec<String>> = rows().iter().map(|r| r[1..].iter().map(cell).collect()).collect();
    rows.sort();
    rows
}

fn text(delimiter: u8, line_end: &str, bom: bool) -> Vec<u8> {
    let terminator = if line_end == "\n" { csv::Terminator::Any(b'\n') } else { csv::Terminator::CRLF };
    let mut out = csv::WriterBuilder::new().delimiter(delimiter).terminator(terminator).from_writer(Vec::new());
    out.write_record(["id", "code", "note", "secret"]).unwrap();
    rows().iter().for_each(|row| out.write_record(row).unwrap());
    let text = out.into_inner().unwrap();
    if bom { [b"\xef\xbb\xbf", &text[..]].concat() } else { text }
}

fn policy(folder: &Path, table: &str, name: &str) -> std::path::PathBuf {
    let path = folder.join("policy.toml");
    fs::write(&path, format!("[input]\ntable = \"{table}\"\n{POLICY}{}", method(name, "0", "loss"))).unwrap();
    path
}

#[test]
fn text_leaves_with_its_delimiter_and_its_cells() {
    for name in names() {
        for delimiter in [b',', b';', b'\t', b'|'] {
            for (line_end, bom, gzip) in
                [("\n", false, false), ("\r\n", true, false), ("\r\n", false, true), ("\n", true, true)]
            {
                let folder = tempfile::tempdir().unwrap();
                let mut bytes = text(delimiter, line_end, bom);
                let table = if gzip { "in.csv.gz" } else { "in.csv" };
                if gzip {
                    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
                    out.write_all(&bytes).unwrap();
                    bytes = out.finish().unwrap();
                }
                fs::write(folder.path().join(table), bytes).unwrap();
                let (out, _) = release(&policy(folder.path(), table, name), "out", &options(1, 2)).unwrap();
                let data = out.join("release").join(if gzip { "data.csv.gz" } else { "data.csv" });
                let released = Table::read(&data, delimiter);
                assert_eq!(released.columns, ["code", "note", "secret"]);
                assert_eq!(released.sorted(), expected(), "{delimiter} {line_end:?} {bom} {gzip}");
                let plain = if gzip { String::new() } else { fs::read_to_string(&data).unwrap() };
                assert!(!plain.contains('\r') && !plain.starts_with('\u{feff}') && !plain.contains("CANARY"));
                verify_release(&out, 1).unwrap();
            }
        }
    }
}

#[test]
fn a_file_without_header_and_with_spaces_is_read_as_the_policy_says() {
    for name in Register::built_in().names(DataShape::Table) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("in.txt"), " x ;1,5\n x;2,5\n Müller ;3\n").unwrap();
        let path = folder.path().join("p.toml");
        let columns = "column1 = { role = \"other\", reason = \"a test\" }\n\
                       column2 = { role = \"quasi\", hierarchy = { intervals = [10], from = 0, to = 10 } }\n";
        let input = "[input]\ntable = \"in.txt\"\nheader = false\ntrim = true\ndecimal = \",\"\n";
        let text = format!("{input}[columns]\n{columns}[privacy]\nk = 3\n{}", method(name, "0", "loss"));
        fs::write(&path, text).unwrap();
        let (out, _) = release(&path, "out", &options(1, 1)).unwrap();
        let released = Table::read(&out.join("release/data.csv"), b';');
        // Where single cells go blank, three values that each occur once all do.
        let range = || if name == "suppress" { "*".to_string() } else { "[0,10)".to_string() };
        let rows = [["Müller".to_string(), range()], ["x".into(), range()], ["x".into(), range()]];
        assert_eq!(released.sorted(), rows);
    }
}

#[test]
fn old_encodings_leave_as_utf8() {
    for name in names() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("in.csv"), b"id,code,note,secret\n1,a,M\xfcller,x\n2,a,\x80,y\n").unwrap();
        let path = policy(folder.path(), "in.csv", name);
        fs::write(&path, fs::read_to_string(&path).unwrap().replace("missing", "encoding = \"windows-1252\"\nmissing"))
            .unwrap();
        let (out, _) = release(&path, "out", &options(1, 1)).unwrap();
        assert_eq!(Table::released(&out).sorted(), [["a", "Müller", "x"], ["a", "€", "y"]]);
    }
}

/// A Parquet file with a large integer column, as analysts have it.
fn parquet(path: &Path) {
    use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    let schema = "message m { required binary id (UTF8); optional binary code (UTF8); optional binary note (UTF8); optional int64 secret; }";
    let schema = std::sync::Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let mut file = SerializedFileWriter::new(fs::File::create(path).unwrap(), schema, Default::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let texts = |values: &[&str]| values.iter().map(|v| ByteArray::from(*v)).collect::<Vec<_>>();
    for (values, levels) in [
        (texts(&["CANARY-1", "CANARY-2", "CANARY-3", "CANARY-4"]), None),
        (texts(&["007", "007", "7", "7"]), Some([1, 1, 1, 1])),
        (texts(&["two\nlines", "a,b", "\"q\""]), Some([1, 1, 1, 0])),
    ] {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, levels.as_ref().map(|l| &l[..]), None).unwrap();
        column.close().unwrap();
    }
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(&[i64::MAX, -1, 0], Some(&[1, 1, 0, 1]), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
}

#[test]
fn parquet_leaves_as_parquet_with_its_types() {
    for name in names() {
        let folder = tempfile::tempdir().unwrap();
        parquet(&folder.path().join("in.parquet"));
        let (out, _) = release(&policy(folder.path(), "in.parquet", name), "out", &options(1, 2)).unwrap();
        verify_release(&out, 2).unwrap();
        let data = out.join("release").join("data.parquet");
        let file = ParquetFile::open(&data).unwrap();
        let own = ParquetFile::open(&folder.path().join("in.parquet")).unwrap();
        assert_eq!(file.columns().iter().map(|c| c.0.as_str()).collect::<Vec<_>>(), ["code", "note", "secret"]);
        assert_eq!(file.columns()[2].1, own.columns()[3].1, "the type of the integers");
        let mut rows = Vec::new();
        file.chunks(100, &mut |chunk| {
            let cell = |r, c| String::from_utf8(chunk.cell(r, c).to_vec()).unwrap();
            rows.extend((0..chunk.rows()).map(|r| (0..3).map(|c| cell(r, c)).collect::<Vec<_>>()));
            Ok(())
        })
        .unwrap();
        rows.sort();
        assert_eq!(
            rows,
            [["007", "a,b", "-1"], ["007", "two\nlines", "9223372036854775807"], ["7", "", "0"], ["7", "\"q\"", ""]]
        );
        let bytes = fs::read(&data).unwrap();
        assert!(!bytes.windows(6).any(|w| w == b"CANARY"));
    }
}

#[test]
fn a_quasi_identifier_that_did_not_change_keeps_its_type() {
    use parquet::data_type::{Int32Type, Int64Type};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.parquet");
    let schema = "message m { optional int64 age; required int32 days; }";
    let schema = std::sync::Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let file = fs::File::create(&path).unwrap();
    let mut file = parquet::file::writer::SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(&[40, 40, 50, 50], Some(&[1, 1, 1, 1, 0, 0]), None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&[1, 2, 3, 4, 11, 12], None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
    let policy = folder.path().join("p.toml");
    let text = "[input]\ntable = \"in.parquet\"\n[columns]\nage = { role = \"quasi\", levels = [0] }\n\
        days = { role = \"quasi\", hierarchy = { intervals = [10], from = 0, to = 20 } }\n[privacy]\nk = 2\n\
        [method]\nname = \"lattice\"\nmax_suppressed = 0\n";
    fs::write(&policy, text).unwrap();
    let (out, _) = release(&policy, "out", &options(1, 1)).unwrap();
    verify_release(&out, 1).unwrap();
    let (own, released) =
        (ParquetFile::open(&path).unwrap(), ParquetFile::open(&out.join("release/data.parquet")).unwrap());
    assert_eq!(released.columns()[0].1, own.columns()[0].1);
    assert_ne!(released.columns()[1].1, own.columns()[1].1);
}

/// Invented rows look like the others in every format: quoted alike, typed alike, missing alike.
#[test]
fn invented_rows_leave_in_every_format() {
    let mut text = "q;note;secret\n".to_string();
    (0..40).for_each(|i| {
        text += &format!(
            "{};{};{}\n",
            ["007", "7", "NA"][i % 3],
            ["a;b", "\"x\"", "?"][i % 3 % 2].replace("a;b", "\"a;b\"").replace("\"x\"", "x\"y"),
            i % 4
        )
    });
    let policy = |table: &str| {
        format!(
            "[input]\ntable = \"{table}\"\nmissing = [\"NA\", \"?\"]\n[columns]\nq = {{ role = \"quasi\" }}\n\
             note = {{ role = \"other\", reason = \"a test\" }}\nsecret = {{ role = \"sensitive\", domain = [\"0\", \"1\", \"2\", \"3\", \"4\"] }}\n\
             [privacy]\nk = 20\n[method]\nname = \"ceiling\"\nh = 0\nreal_k = 5\nmax_counterfeits = 0.9\n"
        )
    };
    for gzip in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let table = if gzip { "in.csv.gz" } else { "in.csv" };
        let mut bytes = text.clone().into_bytes();
        if gzip {
            let mut out = GzEncoder::new(Vec::new(), Compression::fast());
            out.write_all(&bytes).unwrap();
            bytes = out.finish().unwrap();
        }
        fs::write(folder.path().join(table), bytes).unwrap();
        let path = folder.path().join("p.toml");
        fs::write(&path, policy(table)).unwrap();
        let (out, released) = release(&path, "out", &options(5, 2)).unwrap();
        assert!(released.metrics.to_value()["rows"]["counterfeit"].as_u64().unwrap() >= 20);
        let data = out.join("release").join(if gzip { "data.csv.gz" } else { "data.csv" });
        let (table, lines) = (Table::read(&data, b';'), common::table::lines(&out));
        let real: std::collections::BTreeSet<&String> =
            table.rows.iter().zip(&lines).filter(|(_, l)| **l != 0).map(|(r, _)| &r[1]).collect();
        let fake = table.rows.iter().zip(&lines).filter(|(_, l)| **l == 0).map(|(r, _)| &r[1]);
        assert!(fake.clone().all(|note| real.contains(note)));
        verify_release(&out, 1).unwrap();
    }
}
