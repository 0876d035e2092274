//! Makes inputs out of the examples: one kind for each reader.

use crate::change::signed;
use crate::corpus::Seed;
use crate::dice::Dice;
use crate::examples::{CERTIFICATE, Examples, mutated, two};
use crate::json;
use crate::mutate::mutate;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{Cursor, Read, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

pub(crate) fn make_csv(dice: &mut Dice, examples: &Examples) -> Seed {
    vec![("t.csv".into(), mutated(&examples.tables, dice))]
}

/// Changed before it is compressed, after, or both; at times it unpacks to far more than it is.
pub(crate) fn make_gzip(dice: &mut Dice, examples: &Examples) -> Seed {
    let text = match dice.below(4) {
        0 => dice.one_of(&examples.tables).clone(),
        _ => mutated(&examples.tables, dice),
    };
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let _ = gzip.write_all(&text);
    if dice.once_in(300) {
        let block = dice.one_of(&["\n", "a,b\n", "\"", "a", ",", "\"a\"\n"]).repeat(1 << 16);
        (0..dice.below(60)).for_each(|_| drop(gzip.write_all(block.as_bytes())));
    }
    let mut bytes = gzip.finish().unwrap_or_default();
    if dice.once_in(2) {
        let other = bytes.clone();
        mutate(&mut bytes, &other, dice);
    }
    vec![("t.csv".into(), bytes)]
}

pub(crate) fn make_parquet(dice: &mut Dice, examples: &Examples) -> Seed {
    vec![("t.csv".into(), mutated(&examples.parquet, dice))]
}

/// A file of SAS, Stata or SPSS: the reader is chosen by the first bytes, so these mostly stay.
pub(crate) fn make_statistics(dice: &mut Dice, examples: &Examples) -> Seed {
    let (own, other) = two(&examples.statistics, dice);
    let kept = if dice.once_in(20) { 0 } else { 8 };
    let mut rest = own[kept..].to_vec();
    mutate(&mut rest, other, dice);
    vec![("t.csv".into(), [&own[..kept], &rest[..]].concat())]
}

/// A workbook whose sheet was changed.
pub(crate) fn make_workbook(dice: &mut Dice, examples: &Examples) -> Seed {
    let sheet = mutated(&examples.sheets, dice);
    vec![("t.csv".into(), workbook(sheet, dice))]
}

/// A workbook that was changed as an archive.
pub(crate) fn make_archive(dice: &mut Dice, examples: &Examples) -> Seed {
    let sheet = dice.one_of(&examples.sheets).clone();
    let mut bytes = workbook(sheet, dice);
    let other = bytes.clone();
    mutate(&mut bytes, &other, dice);
    vec![("t.csv".into(), bytes)]
}

/// A workbook with this sheet.
fn workbook(sheet: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
    let relation = |id: &str, kind: &str, target: &str| {
        format!("<Relationship Id=\"{id}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>")
    };
    let relations = |all: String| format!("<Relationships xmlns=\"{PACKAGE}\">{all}</Relationships>").into_bytes();
    let workbook = format!(
        "<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"s\"/></sheets></workbook>"
    );
    let styles = format!(
        "<styleSheet xmlns=\"{MAIN}\"><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"
    );
    let strings = format!("<sst xmlns=\"{MAIN}\"><si><t>age</t></si><si><t>Ada</t></si></sst>");
    let parts = [
        ("_rels/.rels", relations(relation("r", "officeDocument", "xl/workbook.xml"))),
        ("xl/workbook.xml", workbook.into_bytes()),
        (
            "xl/_rels/workbook.xml.rels",
            relations(
                relation("s", "worksheet", "worksheets/s.xml")
                    + &relation("t", "styles", "styles.xml")
                    + &relation("u", "sharedStrings", "sharedStrings.xml"),
            ),
        ),
        ("xl/styles.xml", styles.into_bytes()),
        ("xl/sharedStrings.xml", strings.into_bytes()),
        ("xl/worksheets/s.xml", sheet),
    ];
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, mut bytes) in parts {
        if dice.once_in(12) {
            let other = bytes.clone();
            mutate(&mut bytes, &other, dice);
        }
        if zip.start_file(name, SimpleFileOptions::default()).is_ok() {
            let _ = zip.write_all(&bytes);
        }
    }
    zip.finish().map(Cursor::into_inner).unwrap_or_default()
}

pub(crate) fn make_fhir(dice: &mut Dice, examples: &Examples) -> Seed {
    vec![("t.ndjson".into(), mutated(&examples.resources, dice))]
}

pub(crate) fn make_hierarchy(dice: &mut Dice, examples: &Examples) -> Seed {
    vec![("h.csv".into(), mutated(&examples.hierarchies, dice))]
}

/// A whole folder of a policy, with one of its files changed.
fn changed(dice: &mut Dice, all: &[(String, Seed)], which: impl Fn(&str) -> bool) -> Seed {
    let ((_, own), (_, other)) = two(all, dice);
    let mut files = own.clone();
    let may: Vec<usize> = (0..files.len()).filter(|&f| which(&files[f].0)).collect();
    if may.is_empty() {
        return files;
    }
    let at = *dice.one_of(&may);
    let strange = other.iter().find(|(name, _)| *name == files[at].0).map_or(Vec::new(), |(_, bytes)| bytes.clone());
    mutate(&mut files[at].1, &strange, dice);
    files
}

pub(crate) fn make_policy(dice: &mut Dice, examples: &Examples) -> Seed {
    changed(dice, &examples.policies, |name| name == "p.toml")
}

/// Linked tables of patients and events.
pub(crate) fn make_linked(dice: &mut Dice, examples: &Examples) -> Seed {
    let linked: Vec<(String, Seed)> =
        examples.policies.iter().filter(|(_, files)| files.iter().any(|(f, _)| f == "c.csv")).cloned().collect();
    changed(dice, &linked, |name| name != "p.toml")
}

pub(crate) fn make_run(dice: &mut Dice, examples: &Examples) -> Seed {
    changed(dice, &examples.policies, |_| true)
}

pub(crate) fn make_clusters(dice: &mut Dice, examples: &Examples) -> Seed {
    vec![("clusters.jsonl".into(), mutated(&examples.released(".jsonl"), dice))]
}

pub(crate) fn make_certificate(dice: &mut Dice, examples: &Examples) -> Seed {
    let all = examples.released(CERTIFICATE);
    let bytes = match dice.below(3) {
        0 => mutated(&all, dice),
        _ => {
            let mut value: serde_json::Value = serde_json::from_slice(dice.one_of::<Vec<u8>>(&all)).unwrap_or_default();
            json::mutate(&mut value, dice);
            value.to_string().into_bytes()
        }
    };
    vec![("certificate.json".into(), bytes)]
}

/// A key, a list of keys or a signature.
pub(crate) fn make_signature(dice: &mut Dice, examples: &Examples) -> Seed {
    vec![("key".into(), mutated(&examples.signatures, dice))]
}

pub(crate) fn make_ledger(dice: &mut Dice, examples: &Examples) -> Seed {
    let mut value: serde_json::Value =
        serde_json::from_slice(dice.one_of::<Vec<u8>>(&examples.ledgers)).unwrap_or_default();
    if !dice.once_in(8) {
        json::mutate(&mut value, dice);
    }
    vec![("ledger".into(), format!("{value}\n").into_bytes())]
}

pub(crate) fn make_catalog(dice: &mut Dice, examples: &Examples) -> Seed {
    vec![("catalog.csv".into(), mutated(&examples.released("catalog.csv"), dice))]
}

/// A folder with a list of the files that Kohort made, and one that somebody else made.
pub(crate) fn make_marker(dice: &mut Dice, examples: &Examples) -> Seed {
    let _ = examples;
    let list = b"kohort made these files, version 1\n1 1762000000.000000000 release/data.csv\n\
                 4 1762000001.000000000 evidence/log\n";
    let file = |name: &str| (format!("dir/{name}"), b"1".to_vec());
    let list = ("dir/.kohort".to_string(), mutated(&[list.to_vec()], dice));
    vec![list, file("release/data.csv"), file("evidence/log"), file("mine.txt")]
}

/// The words about the columns of a release.
pub(crate) fn make_dictionary(dice: &mut Dice, examples: &Examples) -> Seed {
    let (name, mut files) = dice.one_of(&examples.releases).clone();
    if let Some((_, bytes)) = files.iter_mut().find(|(f, _)| f.ends_with("dictionary.md")) {
        let other = dice.one_of(&examples.released("dictionary.md")).clone();
        mutate(bytes, &other, dice);
    }
    with_policy(&name, files, examples)
}

/// A release, with its policy's folder beside it where there is one: data, certificate or rows changed.
pub(crate) fn make_release(dice: &mut Dice, examples: &Examples) -> Seed {
    let (name, mut files) = dice.one_of(&examples.releases).clone();
    let strange = dice.one_of(&examples.releases).1.clone();
    if !dice.once_in(3) {
        let at = dice.below(files.len());
        let other = strange.iter().find(|(f, _)| *f == files[at].0).map_or(Vec::new(), |(_, b)| b.clone());
        mutate_inside(&mut files[at], &other, dice);
    }
    if dice.once_in(2)
        && let Some((_, bytes)) = files.iter_mut().find(|(f, _)| f == CERTIFICATE)
        && let Ok(mut value) = serde_json::from_slice(bytes)
    {
        json::mutate(&mut value, dice);
        *bytes = value.to_string().into_bytes();
    }
    let mut all = with_policy(&name, files, examples);
    signed(&mut all, dice);
    all
}

fn with_policy(name: &str, files: Seed, examples: &Examples) -> Seed {
    let mut all: Seed = files.into_iter().map(|(f, b)| (format!("dir/{f}"), b)).collect();
    if let Some((_, policy)) = examples.policies.iter().find(|(own, _)| own == name) {
        all.extend(policy.iter().map(|(f, b)| (format!("policy/{f}"), b.clone())));
    }
    all
}

/// Changes a file; one that is packed also within.
pub(crate) fn mutate_inside((name, bytes): &mut (String, Vec<u8>), other: &[u8], dice: &mut Dice) {
    if name.ends_with(".gz") && !dice.once_in(3) {
        let mut text = Vec::new();
        let _ = GzDecoder::new(&bytes[..]).take(1 << 20).read_to_end(&mut text);
        let strange = text.clone();
        mutate(&mut text, &strange, dice);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        let _ = gzip.write_all(&text);
        *bytes = gzip.finish().unwrap_or_default();
    } else {
        mutate(bytes, other, dice);
    }
}
