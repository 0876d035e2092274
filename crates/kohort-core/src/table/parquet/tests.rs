//! Files through both ends, foreign files, and files made to do harm.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use tempfile::TempDir;

use super::types::CellKind;
use super::values::StoredValues;
use super::*;
use crate::error::{Error, Result};

type Rows = Vec<Vec<String>>;

/// A folder with one file.
struct Place {
    _folder: TempDir,
    path: PathBuf,
}

fn place(bytes: &[u8]) -> Place {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("patients.parquet");
    fs::write(&path, bytes).unwrap();
    Place { _folder: folder, path }
}

fn types(message: &str) -> Vec<(String, Option<ColumnType>)> {
    let schema = parse_message_type(message).unwrap();
    schema.get_fields().iter().map(|f| (f.name().to_string(), Some(ColumnType::of(f).unwrap()))).collect()
}

fn one_type(field: &str) -> ColumnType {
    types(&format!("message m {{ optional {field}; }}")).remove(0).1.unwrap()
}

fn write(columns: &[(String, Option<ColumnType>)], rows: &Rows) -> Result<Vec<u8>> {
    let mut writer = ParquetWriter::create(Vec::new(), columns)?;
    for row in rows {
        writer.row(&mut row.iter().map(|cell| cell.as_bytes()))?;
    }
    writer.finish()
}

fn read(path: &Path, rows: usize) -> Result<Rows> {
    let file = ParquetFile::open(path)?;
    let width = file.columns().len();
    let mut all = Vec::new();
    file.chunks(rows, &mut |chunk| {
        assert!(chunk.rows() > 0 && chunk.rows() <= rows);
        for row in 0..chunk.rows() {
            assert_eq!(chunk.line(row), all.len() as u64 + 1);
            all.push((0..width).map(|c| String::from_utf8(chunk.cell(row, c).to_vec()).unwrap()).collect());
        }
        Ok(())
    })?;
    assert_eq!(all.len() as u64, file.rows());
    Ok(all)
}

fn read_bytes(bytes: &[u8]) -> Result<Rows> {
    read(&place(bytes).path, 100)
}

/// Writes the cells, each beside a null, and expects the same cells and the same type back.
#[track_caller]
fn check(field: &str, cells: &[&str]) {
    let columns = types(&format!("message m {{ optional {field}; optional binary other (STRING); }}"));
    let mut rows = Rows::new();
    for cell in cells {
        rows.push(vec![cell.to_string(), "x".into()]);
        rows.push(vec![String::new(), String::new()]);
    }
    let place = place(&write(&columns, &rows).unwrap());
    assert_eq!(read(&place.path, 3).unwrap(), rows);
    let file = ParquetFile::open(&place.path).unwrap();
    let back: Vec<_> = file.columns().into_iter().map(|(name, kind)| (name, Some(kind))).collect();
    assert_eq!(back, columns);
}

#[test]
fn every_type_comes_back_with_its_cells() {
    check("boolean c", &["true", "false"]);
    check("int32 c", &["0", "-2147483648", "2147483647"]);
    check("int32 c (INTEGER(8,true))", &["-128", "127"]);
    check("int32 c (INTEGER(8,false))", &["0", "255"]);
    check("int32 c (INTEGER(16,true))", &["-32768", "32767"]);
    check("int32 c (INTEGER(16,false))", &["65535"]);
    check("int32 c (INTEGER(32,false))", &["4294967295"]);
    check("int64 c", &["-9223372036854775808", "9223372036854775807"]);
    check("int64 c (INTEGER(64,false))", &["18446744073709551615"]);
    check("int32 c (UINT_16)", &["65535"]);
    check("float c", &["0", "-0", "1.5", "0.1", "3.4028235e38", "1e-45", "NaN", "inf", "-inf", "16777216"]);
    check("double c", &["0.1", "34", "5e-324", "1.7976931348623157e308", "NaN", "-inf", "1234567.891"]);
    check("int32 c (DATE)", &["2010-03-14", "1969-12-31", "0001-01-01", "-0044-03-15", "+10000-01-01"]);
    check("int32 c (TIME(MILLIS,true))", &["00:00:00", "08:30:00.25", "23:59:59.999"]);
    check("int64 c (TIME(MICROS,false))", &["23:59:59.999999"]);
    check("int64 c (TIME(NANOS,false))", &["23:59:59.999999999"]);
    check("int64 c (TIMESTAMP(MILLIS,true))", &["2010-03-14T08:30:00Z", "1969-12-31T23:59:59.999Z"]);
    check("int64 c (TIMESTAMP(MICROS,false))", &["2010-03-14T08:30:00", "2010-03-14T08:30:00.000001"]);
    check("int64 c (TIMESTAMP(NANOS,false))", &["2010-03-14T08:30:00.123456789", "1677-09-21T00:12:43.145224192"]);
    check("int64 c (TIMESTAMP_MILLIS)", &["2010-03-14T08:30:00Z"]);
    check("int96 c", &["2010-03-14T08:30:00", "1582-10-14T23:59:59.999999999"]);
    check("int32 c (DECIMAL(9,2))", &["0.00", "-0.01", "9999999.99", "-12.50"]);
    check("int64 c (DECIMAL(18,0))", &["999999999999999999", "-7"]);
    check("fixed_len_byte_array(5) c (DECIMAL(10,3))", &["-1234567.891", "0.001"]);
    check("fixed_len_byte_array(16) c (DECIMAL(38,38))", &["-0.99999999999999999999999999999999999999"]);
    check("fixed_len_byte_array(32) c (DECIMAL(76,2))", &["12.34", "-12.34"]);
    check("binary c (DECIMAL(20,2))", &["0.00", "1.27", "1.28", "-1.28", "-1.29", "123456789012345678.90"]);
    check("binary c (STRING)", &["Zoë", "007", " ", "a\nb\"c,d", "*"]);
    check("binary c (ENUM)", &["f", "m"]);
    check("binary c (JSON)", &["{\"a\": 1}"]);
    check("binary c", &["text"]);
    check("fixed_len_byte_array(3) c", &["abc", "é1"]);
    check("fixed_len_byte_array(16) c (UUID)", &["123e4567-e89b-12d3-a456-426614174000"]);
}

#[test]
fn a_column_without_a_type_is_a_string_column() {
    let rows = vec![vec!["[30,60)".into(), "*".into()], vec![String::new(), "2010-Q1".into()]];
    let bytes = write(&[("age".into(), None), ("admitted".into(), None)], &rows).unwrap();
    let place = place(&bytes);
    assert_eq!(read(&place.path, 10).unwrap(), rows);
    let kinds: Vec<_> = ParquetFile::open(&place.path).unwrap().columns().iter().map(|c| c.1.to_string()).collect();
    assert_eq!(kinds, ["STRING", "STRING"]);
}

#[test]
fn a_cell_that_is_not_of_its_type_is_named_by_column_and_row_only() {
    for (field, cell) in [
        ("boolean c", "yes"),
        ("int32 c", "2147483648"),
        ("int32 c", "+1"),
        ("int32 c", "1.0"),
        ("int32 c (INTEGER(8,true))", "128"),
        ("int64 c (INTEGER(64,false))", "-1"),
        ("double c", "1,5"),
        ("int32 c (DATE)", "2010-02-30"),
        ("int32 c (DATE)", "14.03.2010"),
        ("int32 c (TIME(MILLIS,true))", "08:30:00.0001"),
        ("int64 c (TIMESTAMP(MILLIS,true))", "2010-03-14T08:30:00"),
        ("int64 c (TIMESTAMP(MILLIS,false))", "2010-03-14T08:30:00Z"),
        ("int64 c (TIMESTAMP(NANOS,false))", "2500-01-01T00:00:00"),
        ("int32 c (DECIMAL(4,2))", "100.00"),
        ("int32 c (DECIMAL(4,2))", "1.234"),
        ("int32 c (DECIMAL(4,2))", "1."),
        ("fixed_len_byte_array(3) c", "abcd"),
        ("fixed_len_byte_array(16) c (UUID)", "123e4567e89b12d3a456426614174000"),
    ] {
        let columns = types(&format!("message m {{ optional {field}; }}"));
        let error = write(&columns, &vec![vec![String::new()], vec![cell.into()]]).unwrap_err();
        assert!(error.message.starts_with("Row 2 to be written: the cell in column \"c\""), "{error}");
        assert!(!error.message.contains(cell), "{error}");
    }
}

#[test]
fn rows_that_are_too_short_or_too_long_are_refused() {
    let columns = [("a".into(), None), ("b".into(), None)];
    for cells in [vec!["1".to_string()], vec!["1".into(), "2".into(), "3".into()]] {
        assert!(write(&columns, &vec![cells]).is_err());
    }
}

#[test]
fn a_file_without_rows_keeps_its_columns() {
    let columns = types("message m { optional int32 a (DATE); optional binary b (STRING); }");
    let place = place(&write(&columns, &Rows::new()).unwrap());
    let file = ParquetFile::open(&place.path).unwrap();
    assert_eq!((file.rows(), file.columns().len()), (0, 2));
    assert_eq!(read(&place.path, 10).unwrap(), Rows::new());
    // Some writers write a row group even then.
    assert_eq!(read_bytes(&with_pages(NUMBER, 0, 0, &[])).unwrap(), Rows::new());
}

#[test]
fn rows_run_on_over_a_row_group_boundary() {
    let columns = types("message m { optional int32 n; optional binary s (STRING); }");
    let rows: Rows = (0..300_000)
        .map(|i| vec![i.to_string(), if i % 3 == 0 { String::new() } else { format!("p{}", i % 1000) }])
        .collect();
    let place = place(&write(&columns, &rows).unwrap());
    assert_eq!(read(&place.path, 1 << 16).unwrap(), rows);
    assert_eq!(read(&place.path, 1000).unwrap(), rows);
}

#[test]
fn a_chunk_is_split_where_its_text_is_long() {
    let rows: Rows = (0..500).map(|i| vec!["x".repeat(i), i.to_string()]).collect();
    let place = place(&write(&[("a".into(), None), ("b".into(), None)], &rows).unwrap());
    let file = ParquetFile::open(&place.path).unwrap();
    let (mut seen, mut chunks) = (0, 0);
    file.chunks_within(500, 10_000, &mut |chunk| {
        chunks += 1;
        let mut text = 0;
        for row in 0..chunk.rows() {
            assert_eq!(chunk.line(row), seen as u64 + 1);
            assert_eq!(chunk.cell(row, 0).len(), seen);
            text += seen;
            seen += 1;
        }
        assert!(text <= 10_000);
        Ok(())
    })
    .unwrap();
    assert_eq!(seen, 500);
    assert!(chunks > 10);
}

/// A few kilobytes that stand for a third of a gigabyte: one long value, again and again.
#[test]
fn a_value_repeated_without_end_comes_in_pieces() {
    let long = "x".repeat(1 << 20);
    let rows: Rows = (0..300).map(|_| vec![long.clone()]).collect();
    let bytes = write(&[("a".into(), None)], &rows).unwrap();
    let place = place(&bytes);
    let (mut seen, mut largest) = (0, 0);
    ParquetFile::open(&place.path)
        .unwrap()
        .chunks(8192, &mut |chunk| {
            seen += chunk.rows();
            largest = largest.max((0..chunk.rows()).map(|r| chunk.cell(r, 0).len()).sum());
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, 300);
    assert!(largest <= super::read::MOST_TEXT, "{largest}");
}

#[test]
fn an_error_of_the_consumer_ends_the_reading() {
    let place = place(&write(&[("a".into(), None)], &vec![vec!["1".into()]; 10]).unwrap());
    let mut calls = 0;
    let result = ParquetFile::open(&place.path).unwrap().chunks(3, &mut |_| {
        calls += 1;
        Err(Error::machine("Interrupted."))
    });
    assert_eq!((result.unwrap_err().message.as_str(), calls), ("Interrupted.", 1));
}

#[test]
fn the_same_rows_give_the_same_bytes_and_no_value_stands_in_the_metadata() {
    let columns = types("message m { optional binary s (STRING); optional int32 n; }");
    let rows: Rows = (0..100).map(|i| vec![format!("value-{i:03}"), i.to_string()]).collect();
    let bytes = write(&columns, &rows).unwrap();
    assert_eq!(bytes, write(&columns, &rows).unwrap());
    let footer = bytes.len() - 8 - u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().unwrap()) as usize;
    let text = String::from_utf8_lossy(&bytes[footer..]);
    assert!(!text.contains("value-"), "{text}");
    let occurrences = bytes.windows(9).filter(|w| *w == b"value-099").count();
    assert!(occurrences <= 1, "a value stands only among the cells");
}

// Foreign files, written by the crate's own writer in ways ours does not use.

fn foreign(message: &str, properties: WriterProperties, rows: usize) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(message).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema.clone(), Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut fields = schema.get_fields().iter();
    while let Some(mut column) = group.next_column().unwrap() {
        let optional = fields.next().unwrap().is_optional();
        let levels: Vec<i16> = (0..rows).map(|i| i16::from(i % 4 != 1)).collect();
        let present: Vec<usize> = (0..rows).filter(|&i| !optional || levels[i] == 1).collect();
        let levels = optional.then_some(levels.as_slice());
        match column.untyped() {
            ColumnWriter::BoolColumnWriter(w) => {
                w.write_batch(&present.iter().map(|i| i % 3 == 0).collect::<Vec<_>>(), levels, None)
            }
            ColumnWriter::Int32ColumnWriter(w) => {
                w.write_batch(&present.iter().map(|&i| i as i32 - 5).collect::<Vec<_>>(), levels, None)
            }
            ColumnWriter::Int64ColumnWriter(w) => {
                w.write_batch(&present.iter().map(|&i| i as i64 - 5).collect::<Vec<_>>(), levels, None)
            }
            ColumnWriter::DoubleColumnWriter(w) => {
                w.write_batch(&present.iter().map(|&i| i as f64 / 4.0).collect::<Vec<_>>(), levels, None)
            }
            ColumnWriter::ByteArrayColumnWriter(w) => {
                let texts: Vec<ByteArray> = present.iter().map(|i| format!("text {i}").as_str().into()).collect();
                w.write_batch(&texts, levels, None)
            }
            ColumnWriter::FixedLenByteArrayColumnWriter(w) => {
                let texts: Vec<FixedLenByteArray> =
                    present.iter().map(|i| format!("{i:04}").into_bytes().into()).collect();
                w.write_batch(&texts, levels, None)
            }
            _ => unreachable!(),
        }
        .unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.into_inner().unwrap()
}

const FLAT: &str = "message m { required boolean a; optional boolean b; required int32 c; optional int64 d;
    optional double e; required binary f (STRING); optional binary g (STRING); optional fixed_len_byte_array(4) h; }";

fn foreign_rows(rows: usize) -> Rows {
    let if_present = |i: usize, text: String| if i % 4 != 1 { text } else { String::new() };
    (0..rows)
        .map(|i| {
            vec![
                (i % 3 == 0).to_string(),
                if_present(i, (i % 3 == 0).to_string()),
                (i as i32 - 5).to_string(),
                if_present(i, (i as i64 - 5).to_string()),
                if_present(i, (i as f64 / 4.0).to_string()),
                format!("text {i}"),
                if_present(i, format!("text {i}")),
                if_present(i, format!("{i:04}")),
            ]
        })
        .collect()
}

/// Ways to write a file: compressions, page layouts, encodings.
fn ways() -> Vec<WriterProperties> {
    let new = WriterProperties::builder;
    vec![
        new().build(),
        new().set_compression(Compression::SNAPPY).build(),
        new().set_compression(Compression::GZIP(Default::default())).set_dictionary_enabled(false).build(),
        new().set_compression(Compression::ZSTD(Default::default())).build(),
        new().set_compression(Compression::LZ4_RAW).build(),
        new().set_compression(Compression::LZ4).build(),
        // The second version writes integers as differences and strings as differences to the one before.
        new().set_writer_version(WriterVersion::PARQUET_2_0).set_dictionary_enabled(false).build(),
        new().set_writer_version(WriterVersion::PARQUET_2_0).set_compression(Compression::SNAPPY).build(),
        new()
            .set_dictionary_enabled(false)
            .set_column_encoding("f".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY)
            .set_column_encoding("g".into(), Encoding::DELTA_BYTE_ARRAY)
            .set_column_encoding("c".into(), Encoding::DELTA_BINARY_PACKED)
            .set_column_encoding("d".into(), Encoding::BYTE_STREAM_SPLIT)
            .set_column_encoding("h".into(), Encoding::BYTE_STREAM_SPLIT)
            .set_compression(Compression::ZSTD(Default::default()))
            .build(),
        new().set_data_page_row_count_limit(7).set_write_batch_size(7).build(),
    ]
}

#[test]
fn files_of_other_writers_are_read() {
    for (i, properties) in ways().into_iter().enumerate() {
        assert_eq!(read_bytes(&foreign(FLAT, properties, 3000)).unwrap(), foreign_rows(3000), "way {i}");
    }
}

#[test]
fn nested_columns_are_refused_by_name() {
    for message in [
        "message m { optional int32 a; optional group codes (LIST) { repeated group list { optional int32 element; } } }",
        "message m { optional int32 a; repeated int32 codes; }",
        "message m { optional int32 a; optional group codes { optional int32 b; } }",
    ] {
        let schema = Arc::new(parse_message_type(message).unwrap());
        let writer = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
        let error = read_bytes(&writer.into_inner().unwrap()).unwrap_err();
        assert!(error.message.contains("column \"codes\" is nested"), "{error}");
    }
}

#[test]
fn types_without_a_text_are_refused_by_name() {
    for (field, name) in [
        ("fixed_len_byte_array(2) c (FLOAT16)", "FLOAT16"),
        ("fixed_len_byte_array(12) c (INTERVAL)", "INTERVAL"),
        ("binary c (BSON)", "BSON"),
        ("binary c (DECIMAL(100,2))", "DECIMAL(100,2)"),
        ("fixed_len_byte_array(100000) c", "FIXED_LEN_BYTE_ARRAY(100000)"),
    ] {
        let schema = Arc::new(parse_message_type(&format!("message m {{ optional {field}; }}")).unwrap());
        let writer = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
        let error = read_bytes(&writer.into_inner().unwrap()).unwrap_err();
        assert!(error.message.contains(&format!("column \"c\" holds {name}")), "{error}");
    }
}

#[test]
fn bytes_that_are_no_text_are_named_by_column_and_row_only() {
    let schema = Arc::new(parse_message_type("message m { required binary c; }").unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let values: [ByteArray; 2] = [b"secret".as_slice().into(), b"secret\xff".as_slice().into()];
    column.typed::<parquet::data_type::ByteArrayType>().write_batch(&values, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    let error = read_bytes(&writer.into_inner().unwrap()).unwrap_err();
    assert!(error.message.ends_with("row 2: the cell in column \"c\" is not UTF-8 text."), "{error}");
}

#[test]
fn what_is_not_there_or_no_file_is_an_error() {
    let folder = TempDir::new().unwrap();
    for path in [folder.path().to_path_buf(), folder.path().join("missing.parquet")] {
        assert!(ParquetFile::open(&path).is_err());
    }
}

// Files made to do harm. That a call comes back at all is the test: a panic fails it, an abort ends it.

#[test]
fn no_cut_file_is_read() {
    for properties in ways() {
        let bytes = foreign(FLAT, properties, 20);
        let place = place(&bytes);
        let file = fs::File::options().write(true).open(&place.path).unwrap();
        for len in (0..bytes.len()).rev() {
            file.set_len(len as u64).unwrap();
            assert!(read(&place.path, 100).is_err(), "{len} of {} bytes", bytes.len());
        }
    }
}

#[test]
fn no_flipped_bit_ends_the_program() {
    for properties in ways() {
        let bytes = foreign(FLAT, properties, 20);
        let place = place(&bytes);
        let mut file = fs::File::options().write(true).open(&place.path).unwrap();
        let mut put = |at: usize, byte: u8| {
            file.seek(SeekFrom::Start(at as u64)).unwrap();
            file.write_all(&[byte]).unwrap();
        };
        for (at, &byte) in bytes.iter().enumerate() {
            for bits in [0x01, 0x80, 0xff] {
                put(at, byte ^ bits);
                let _ = read(&place.path, 100);
            }
            put(at, byte);
        }
        assert_eq!(read(&place.path, 100).unwrap(), foreign_rows(20));
    }
}

/// A file with this as its metadata.
fn with_footer(footer: &[u8]) -> Vec<u8> {
    let mut bytes = b"PAR1".to_vec();
    bytes.extend_from_slice(footer);
    bytes.extend_from_slice(&(footer.len() as u32).to_le_bytes());
    bytes.extend_from_slice(b"PAR1");
    bytes
}

/// 2^31 - 1, as an unsigned and as a signed number.
const HUGE: [u8; 5] = [0xff, 0xff, 0xff, 0xff, 0x07];
const HUGE_SIGNED: [u8; 5] = [0xfe, 0xff, 0xff, 0xff, 0x0f];
/// A version and the root of a schema with one column.
const ONE_COLUMN: &[u8] = &[0x15, 2, 0x19, 0x2c, 0x48, 1, b'm', 0x15, 2, 0, 0x15, 2, 0x25, 2, 0x18, 1, b'c', 0];

#[test]
fn claims_of_the_metadata_are_not_allocated() {
    // Two billion row groups.
    let groups = [ONE_COLUMN, &[0x16, 0, 0x19, 0xfc], &HUGE, &[0]].concat();
    // The same, hidden in a field that says it is a number.
    let hidden = [ONE_COLUMN, &[0x16, 0, 0x16, 0xfc], &HUGE, &[0]].concat();
    // Two billion schema elements, and two billion children.
    let elements = [&[0x15, 2, 0x19, 0xfc][..], &HUGE, &[0]].concat();
    let children =
        [&[0x15, 2, 0x19, 0x1c, 0x48, 1, b'm', 0x15][..], &HUGE_SIGNED, &[0, 0x16, 0, 0x19, 0x0c, 0]].concat();
    // A million groups, each in the one before.
    let mut nested = vec![0x15, 2, 0x19, 0xfc, 0xc0, 0x84, 0x3d];
    nested.extend([0x48, 1, b'm', 0x15, 2, 0].repeat(1_000_000));
    nested.push(0);
    // A name longer than the file, and an endless number.
    let name = [&[0x15, 2, 0x19, 0x1c, 0x48][..], &HUGE].concat();
    let number = [0x15].into_iter().chain([0xff; 100]).collect();
    for footer in [groups, hidden, elements, children, nested, name, number, vec![], vec![0]] {
        assert!(read_bytes(&with_footer(&footer)).is_err());
    }
}

/// A file with one column `c` of one row group, whose only bytes are these pages.
fn with_pages(physical: u8, codec: u8, rows: u8, pages: &[u8]) -> Vec<u8> {
    let number = |n: usize| [0x80 | (n << 1) as u8, 0x80 | (n >> 6) as u8, (n >> 13) as u8];
    let column = [
        &[0x26, 8, 0x1c, 0x15, physical << 1, 0x19, 0x15, 0, 0x19, 0x18, 1, b'c', 0x15, codec << 1, 0x16, rows << 1],
        &[0x16][..],
        &number(pages.len()),
        &[0x16],
        &number(pages.len()),
        &[0x26, 8, 0, 0],
    ]
    .concat();
    let schema =
        [&[0x15, 2, 0x19, 0x2c, 0x48, 1, b'm', 0x15, 2, 0, 0x15][..], &[physical << 1, 0x25, 0, 0x18, 1, b'c', 0]];
    let group = [&[0x19, 0x1c][..], &column, &[0x16, 2, 0x16, rows << 1, 0]].concat();
    let footer = [&schema.concat()[..], &[0x16, rows << 1, 0x19, 0x1c], &group, &[0]].concat();
    let end = with_footer(&footer);
    [&end[..4], pages, &end[4..]].concat()
}

/// The header of a page of `len` bytes that claims `claimed`: a dictionary, or plain data.
fn header(dictionary: bool, encoding: u8, len: u8, claimed: &[u8], values: &[u8]) -> Vec<u8> {
    let start = [&[0x15, if dictionary { 4 } else { 0 }, 0x15][..], claimed, &[0x15, len << 1]].concat();
    let inner = [&[0x15][..], values, &[0x15, encoding << 1]].concat();
    match dictionary {
        true => [&start[..], &[0x4c], &inner, &[0, 0]].concat(),
        false => [&start[..], &[0x2c], &inner, &[0x15, 6, 0x15, 6, 0, 0]].concat(),
    }
}

const NUMBER: u8 = 1;
const TEXT: u8 = 6;

#[test]
fn claims_of_a_page_are_not_allocated() {
    // First that such a page is read at all: one number, 7.
    let one = [header(false, 0, 4, &[8], &[2]), vec![7, 0, 0, 0]].concat();
    assert_eq!(read_bytes(&with_pages(NUMBER, 0, 1, &one)).unwrap(), [["7"]]);
    // And a string after its length, which is written as a difference.
    let text = [header(false, 6, 6, &[12], &[2]), vec![0x80, 1, 4, 1, 2, b'x']].concat();
    assert_eq!(read_bytes(&with_pages(TEXT, 0, 1, &text)).unwrap(), [["x"]]);

    let snappy = [header(false, 0, 4, &HUGE_SIGNED, &[2]), vec![0; 4]].concat();
    let dictionary = [header(true, 0, 4, &[8], &HUGE_SIGNED), vec![0; 4], one.clone()].concat();
    let many_lengths = [&[0x80, 1, 4][..], &HUGE, &[0]].concat();
    let lengths = [header(false, 6, 9, &[18], &HUGE_SIGNED), many_lengths.clone()].concat();
    let no_prefix = vec![0x80, 1, 4, 1, 0];
    let suffixes = [header(false, 7, 14, &[28], &HUGE_SIGNED), no_prefix, many_lengths].concat();
    for (physical, codec, pages) in [
        (NUMBER, 1, &snappy),
        (NUMBER, 2, &snappy),
        (NUMBER, 5, &snappy),
        (NUMBER, 6, &snappy),
        (NUMBER, 7, &snappy),
        (NUMBER, 0, &dictionary),
        (TEXT, 0, &dictionary),
        (TEXT, 0, &lengths),
        (TEXT, 0, &suffixes),
    ] {
        let place = place(&with_pages(physical, codec, 1, pages));
        let file = ParquetFile::open(&place.path).unwrap();
        assert!(file.chunks(10, &mut |_| Ok(())).is_err());
    }
}

#[test]
fn a_column_with_more_or_fewer_rows_than_its_group_is_refused() {
    let one = [header(false, 0, 4, &[8], &[2]), vec![7, 0, 0, 0]].concat();
    assert!(read_bytes(&with_pages(NUMBER, 0, 2, &one)).is_err());
    assert!(read_bytes(&with_pages(NUMBER, 0, 1, &one.repeat(2))).is_err());
    // An empty page is no end.
    let empty = header(false, 0, 0, &[0], &[0]);
    assert_eq!(read_bytes(&with_pages(NUMBER, 0, 1, &[empty, one].concat())).unwrap(), [["7"]]);
}

// Text to value to text, for any value.

#[track_caller]
fn back_and_forth(column: &ColumnType, values: StoredValues) {
    let mut again = StoredValues::new(column.physical());
    let texts = |values: &StoredValues| -> Vec<Vec<u8>> {
        (0..values.len())
            .map(|i| {
                let mut text = Vec::new();
                values.push_text(i, column.kind(), &mut text).unwrap();
                assert!(text.len() <= values.text_bound(i));
                text
            })
            .collect()
    };
    let first = texts(&values);
    for text in &first {
        let shown = String::from_utf8_lossy(text);
        again.push_value(text, column).unwrap_or_else(|| panic!("{shown} is no {column}"));
    }
    assert_eq!(texts(&again), first);
    // Numbers that are no numbers are not equal to themselves.
    if !matches!(column.kind(), CellKind::Float | CellKind::Double) && !matches!(values, StoredValues::Bytes(_)) {
        assert_eq!(format!("{again:?}"), format!("{values:?}"));
    }
}

fn int96(day: i32, nanos: i64) -> Int96 {
    let mut value = Int96::new();
    value.set_data(nanos as u32, (nanos >> 32) as u32, day as u32);
    value
}

proptest! {
    #[test]
    fn any_value_has_a_text_that_gives_it_back(
        int in any::<i32>(), long in any::<i64>(), bits in any::<u64>(), text in ".{1,20}",
        day in any::<i32>(), nanos in 0..crate::calendar::time::DAY, bytes in any::<[u8; 16]>(), scale in 0..38u32,
    ) {
        back_and_forth(&one_type("int32 c"), StoredValues::Int32(vec![int]));
        back_and_forth(&one_type("int32 c (INTEGER(32,false))"), StoredValues::Int32(vec![int]));
        back_and_forth(&one_type("int32 c (INTEGER(8,true))"), StoredValues::Int32(vec![i32::from(int as i8)]));
        back_and_forth(&one_type("int32 c (INTEGER(16,false))"), StoredValues::Int32(vec![i32::from(int as u16)]));
        back_and_forth(&one_type("int32 c (DATE)"), StoredValues::Int32(vec![int]));
        back_and_forth(&one_type("int32 c (DECIMAL(9,4))"), StoredValues::Int32(vec![int % 1_000_000_000]));
        back_and_forth(&one_type("int64 c"), StoredValues::Int64(vec![long]));
        back_and_forth(&one_type("int64 c (INTEGER(64,false))"), StoredValues::Int64(vec![long]));
        for unit in ["MILLIS", "MICROS", "NANOS"] {
            for utc in [false, true] {
                back_and_forth(&one_type(&format!("int64 c (TIMESTAMP({unit},{utc}))")), StoredValues::Int64(vec![long]));
            }
        }
        back_and_forth(&one_type("int32 c (TIME(MILLIS,true))"), StoredValues::Int32(vec![(nanos / 1_000_000) as i32]));
        back_and_forth(&one_type("int64 c (TIME(NANOS,true))"), StoredValues::Int64(vec![nanos]));
        back_and_forth(&one_type("int96 c"), StoredValues::Int96(vec![int96(day, nanos)]));
        back_and_forth(&one_type("double c"), StoredValues::Double(vec![f64::from_bits(bits)]));
        back_and_forth(&one_type("float c"), StoredValues::Float(vec![f32::from_bits(bits as u32)]));
        back_and_forth(&one_type("binary c (STRING)"), StoredValues::Bytes(vec![text.as_str().into()]));
        back_and_forth(&one_type("fixed_len_byte_array(16) c (UUID)"), StoredValues::Fixed(vec![bytes.to_vec().into()]));
        let below = (i128::from_be_bytes(bytes) % 10i128.pow(38)).to_be_bytes().to_vec();
        let decimal = one_type(&format!("fixed_len_byte_array(16) c (DECIMAL(38,{scale}))"));
        back_and_forth(&decimal, StoredValues::Fixed(vec![below.clone().into()]));
        back_and_forth(&one_type(&format!("binary c (DECIMAL(38,{scale}))")), StoredValues::Bytes(vec![below.into()]));
    }

    #[test]
    fn garbage_is_no_parquet_file(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(read_bytes(&bytes).is_err());
        prop_assert!(read_bytes(&with_footer(&bytes)).is_err());
        let _ = read_bytes(&with_footer(&[ONE_COLUMN, &bytes].concat()));
    }

    #[test]
    fn garbage_pages_are_no_column(
        bytes in proptest::collection::vec(any::<u8>(), 0..200), physical in 0..8u8, codec in 0..8u8, encoding in 0..10u8,
    ) {
        let _ = read_bytes(&with_pages(physical, codec, 5, &bytes));
        let short = &bytes[..bytes.len().min(60)];
        let page = [header(false, encoding, short.len() as u8, &[short.len() as u8 * 2], &[10]), short.to_vec()].concat();
        let _ = read_bytes(&with_pages(physical, codec, 5, &page));
    }
}
