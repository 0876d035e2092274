//! Who reads: each target makes an input out of examples, and reads it as Kohort would.

use crate::corpus::{self, Seed};
use crate::dice::Dice;
use crate::json;
use crate::mutate::mutate;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use kohort::flatten::{Flatten, flatten_release};
use kohort::init;
use kohort::pipeline::{self, Options};
use kohort::reconstruct::{DataForm, ItemMode, Reconstruct, reconstruct_release};
use kohort::truthful::truthful_view;
use kohort_core::hierarchy::{FileHierarchy, Rule};
use kohort_core::release::{AnyCertificate, read_clusters};
use kohort_core::signature::{SecretKey, Signers, signer_of};
use kohort_core::table::{Encoding, Input, Silent, open, read_text};
use kohort_core::verify::{verify_release, verify_with_original};
use kohort_core::{Error, Result};
use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::Path;
use std::sync::Arc;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A reader.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Makes an input.
    pub(crate) make: fn(&mut Dice, &Examples) -> Seed,
    /// Reads the input in a folder. Errors are fine; a panic, a hang and a flood are not.
    pub(crate) read: fn(&Path) -> Result<()>,
}

/// Every reader there is.
pub(crate) const TARGETS: [Target; 14] = [
    Target { name: "csv", make: make_csv, read: read_table },
    Target { name: "gzip", make: make_gzip, read: read_table },
    Target { name: "parquet", make: make_parquet, read: read_table },
    Target { name: "workbook", make: make_workbook, read: read_table },
    Target { name: "statistics", make: make_statistics, read: read_table },
    Target { name: "fhir", make: make_fhir, read: read_fhir },
    Target { name: "hierarchy", make: make_hierarchy, read: read_hierarchy },
    Target { name: "policy", make: make_policy, read: read_policy },
    Target { name: "claims", make: make_claims, read: read_policy },
    Target { name: "run", make: make_run, read: read_run },
    Target { name: "clusters", make: make_clusters, read: read_clusters_file },
    Target { name: "certificate", make: make_certificate, read: read_certificate },
    Target { name: "signature", make: make_signature, read: read_signature },
    Target { name: "verify", make: make_release, read: read_release },
];

/// The committed examples, read once.
pub(crate) struct Examples {
    tables: Vec<Vec<u8>>,
    parquet: Vec<Vec<u8>>,
    /// Sheets of workbooks, as XML.
    sheets: Vec<Vec<u8>>,
    /// Files of SAS, Stata and SPSS.
    statistics: Vec<Vec<u8>>,
    /// Lines of FHIR resources.
    resources: Vec<Vec<u8>>,
    hierarchies: Vec<Vec<u8>>,
    signatures: Vec<Vec<u8>>,
    policies: Vec<(String, Seed)>,
    releases: Vec<(String, Seed)>,
}

impl Examples {
    pub(crate) fn read() -> Examples {
        let mut tables = corpus::single("tables", ".csv");
        tables.extend(corpus::single("policies", "t.csv"));
        let mut hierarchies = corpus::single("hierarchies", ".csv");
        hierarchies.extend(corpus::single("policies", "job.csv"));
        Examples {
            tables,
            parquet: corpus::single("tables", ".parquet"),
            sheets: corpus::single("tables", ".sheet.xml"),
            statistics: [".xpt", ".dta", "sav"].iter().flat_map(|end| corpus::single("tables", end)).collect(),
            resources: corpus::single("tables", ".ndjson"),
            hierarchies,
            signatures: corpus::single("signatures", ".txt"),
            policies: corpus::folders("policies"),
            releases: corpus::folders("releases").into_iter().flat_map(each_release).collect(),
        }
    }
}

/// The releases in a folder: itself, or its samples and their population.
fn each_release((name, files): (String, Seed)) -> Vec<(String, Seed)> {
    let ends = |(file, _): &(String, Vec<u8>)| file.strip_suffix(CERTIFICATE).map(str::to_string);
    let below =
        |at: &String| files.iter().filter_map(|(f, b)| Some((f.strip_prefix(at)?.to_string(), b.clone()))).collect();
    files.iter().filter_map(ends).map(|at| (name.clone(), below(&at))).collect()
}

fn two<'a, T>(all: &'a [T], dice: &mut Dice) -> (&'a T, &'a T) {
    (dice.one_of(all), dice.one_of(all))
}

fn mutated(all: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let (own, other) = two(all, dice);
    let mut bytes = own.clone();
    mutate(&mut bytes, other, dice);
    bytes
}

fn make_csv(dice: &mut Dice, examples: &Examples) -> Seed {
    vec![("t.csv".into(), mutated(&examples.tables, dice))]
}

/// Changed before it is compressed, after, or both; at times it unpacks to far more than it is.
fn make_gzip(dice: &mut Dice, examples: &Examples) -> Seed {
    let text = match dice.below(4) {
        0 => dice.one_of(&examples.tables).clone(),
        _ => mutated(&examples.tables, dice),
    };
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let _ = gzip.write_all(&text);
    if dice.once_in(20) {
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

fn make_parquet(dice: &mut Dice, examples: &Examples) -> Seed {
    vec![("t.csv".into(), mutated(&examples.parquet, dice))]
}

/// A file of SAS, Stata or SPSS: the reader is chosen by the first bytes, so these mostly stay.
fn make_statistics(dice: &mut Dice, examples: &Examples) -> Seed {
    let (own, other) = two(&examples.statistics, dice);
    let kept = if dice.once_in(20) { 0 } else { 8 };
    let mut rest = own[kept..].to_vec();
    mutate(&mut rest, other, dice);
    vec![("t.csv".into(), [&own[..kept], &rest[..]].concat())]
}

/// A workbook whose sheet was changed, and at times the archive around it.
fn make_workbook(dice: &mut Dice, examples: &Examples) -> Seed {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
    let relation = |id: &str, kind: &str, target: &str| {
        format!("<Relationship Id=\"{id}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>")
    };
    let relations = |all: String| format!("<Relationships xmlns=\"{PACKAGE}\">{all}</Relationships>").into_bytes();
    let sheet = match dice.below(4) {
        0 => dice.one_of(&examples.sheets).clone(),
        _ => mutated(&examples.sheets, dice),
    };
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
    let mut bytes = zip.finish().map(Cursor::into_inner).unwrap_or_default();
    if dice.once_in(4) {
        let other = bytes.clone();
        mutate(&mut bytes, &other, dice);
    }
    vec![("t.csv".into(), bytes)]
}

fn make_fhir(dice: &mut Dice, examples: &Examples) -> Seed {
    vec![("t.ndjson".into(), mutated(&examples.resources, dice))]
}

/// Reads FHIR resources.
fn read_fhir(folder: &Path) -> Result<()> {
    let source = open(&Input::new(folder.join("t.ndjson")))?;
    source.scan(|_| (), |(), chunk| Ok(chunk.rows()), |_| Ok(())).map(drop)
}

/// Reads a table in a way that its bytes choose, and profiles it at times.
fn read_table(folder: &Path) -> Result<()> {
    let path = folder.join("t.csv");
    let ways = fs::metadata(&path).map_or(0, |m| m.len());
    let mut input = Input::new(&path);
    input.header = !ways.is_multiple_of(7);
    input.trim = ways.is_multiple_of(3);
    input.delimiter = [None, None, Some(b','), Some(b';'), Some(b'"'), Some(b'\n')][ways as usize % 6];
    input.encoding = if ways.is_multiple_of(5) { Encoding::Windows1252 } else { Encoding::Utf8 };
    let read = |threads: usize| -> Result<(u64, u64)> {
        let (mut rows, mut cells) = (0u64, 0u64);
        let source = open(&input)?.with_threads(threads);
        source.scan(
            |_| (),
            |(), chunk| {
                let width = source.columns().len();
                let lengths = (0..chunk.rows()).flat_map(|r| (0..width).map(move |c| (r, c)));
                Ok((chunk.rows() as u64, lengths.map(|(r, c)| chunk.cell(r, c).len() as u64).sum::<u64>()))
            },
            |(r, c)| {
                rows += r;
                cells += c;
                Ok(())
            },
        )?;
        Ok((rows, cells))
    };
    let (one, two) = (read(1), read(2));
    assert_eq!(one, two, "one thread reads what two read");
    one?;
    init::init(&[path], folder, 1, Arc::new(Silent)).map(drop)
}

fn make_hierarchy(dice: &mut Dice, examples: &Examples) -> Seed {
    vec![("h.csv".into(), mutated(&examples.hierarchies, dice))]
}

fn read_hierarchy(folder: &Path) -> Result<()> {
    let text = read_text(&folder.join("h.csv"), 1 << 28)?;
    let tree = FileHierarchy::parse("h.csv", &text)?;
    let leaves: Vec<&str> = text.lines().filter_map(|l| l.split([';', ',']).next()).collect();
    Rule::File(tree).apply(&leaves, true);
    Ok(())
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

fn make_policy(dice: &mut Dice, examples: &Examples) -> Seed {
    changed(dice, &examples.policies, |name| name == "p.toml")
}

fn make_claims(dice: &mut Dice, examples: &Examples) -> Seed {
    let linked: Vec<(String, Seed)> =
        examples.policies.iter().filter(|(_, files)| files.iter().any(|(f, _)| f == "c.csv")).cloned().collect();
    changed(dice, &linked, |name| name != "p.toml")
}

fn make_run(dice: &mut Dice, examples: &Examples) -> Seed {
    changed(dice, &examples.policies, |_| true)
}

fn options(threads: usize) -> Options {
    Options { force: true, keep_rows: true, seed: Some(3), threads, progress: Arc::new(Silent) }
}

fn read_policy(folder: &Path) -> Result<()> {
    let policy = folder.join("p.toml");
    let asked = pipeline::survey(&policy, &options(1)).map(drop);
    pipeline::open(&policy, &options(1))?;
    asked
}

/// The whole way: what is released must verify.
fn read_run(folder: &Path) -> Result<()> {
    let out = folder.join("out");
    let released = pipeline::anonymize(&folder.join("p.toml"), &out, &options(2))?;
    let whole = released.metrics.samples().is_none();
    match whole {
        true => verify_release(&out, 1).map(drop),
        false => Ok(()),
    }
    .unwrap_or_else(|e| panic!("what was released does not verify: {e}"));
    Ok(())
}

fn make_clusters(dice: &mut Dice, examples: &Examples) -> Seed {
    let all: Vec<Vec<u8>> = examples
        .releases
        .iter()
        .flat_map(|(_, files)| files)
        .filter(|(f, _)| f.ends_with(".jsonl"))
        .map(|(_, b)| b.clone())
        .collect();
    vec![("clusters.jsonl".into(), mutated(&all, dice))]
}

fn read_clusters_file(folder: &Path) -> Result<()> {
    read_clusters(&folder.join("clusters.jsonl"), 1, |_| Ok(()), |_, _| Ok(()), |_, _, ()| Ok(()))
}

const CERTIFICATE: &str = "release/certificate.json";

fn make_certificate(dice: &mut Dice, examples: &Examples) -> Seed {
    let of = |(_, files): &(String, Seed)| files.iter().find(|(f, _)| f == CERTIFICATE).map(|(_, b)| b.clone());
    let all: Vec<Vec<u8>> = examples.releases.iter().filter_map(of).collect();
    let bytes = match dice.below(3) {
        0 => mutated(&all, dice),
        _ => {
            let own: &Vec<u8> = dice.one_of(&all);
            let mut value = serde_json::from_slice(own).unwrap_or_default();
            json::mutate(&mut value, dice);
            value.to_string().into_bytes()
        }
    };
    vec![("certificate.json".into(), bytes)]
}

fn read_certificate(folder: &Path) -> Result<()> {
    let certificate = AnyCertificate::parse(&read_text(&folder.join("certificate.json"), 64 << 20)?)?;
    let again = AnyCertificate::parse(&certificate.to_text());
    assert_eq!(again.as_ref(), Ok(&certificate), "what is written is read again");
    Ok(())
}

/// A key, a list of keys or a signature, with the bytes that were signed beside it.
fn make_signature(dice: &mut Dice, examples: &Examples) -> Seed {
    let bytes = match dice.below(4) {
        0 => dice.one_of(&examples.signatures).clone(),
        _ => mutated(&examples.signatures, dice),
    };
    let certificate = include_bytes!("../corpus/signatures/certificate.json");
    vec![("key".into(), bytes), ("certificate.json".into(), certificate.to_vec())]
}

/// Reads a file as everything that it could be.
fn read_signature(folder: &Path) -> Result<()> {
    let text = read_text(&folder.join("key"), 1 << 20)?;
    let certificate = read_text(&folder.join("certificate.json"), 1 << 20)?;
    if let Ok(key) = SecretKey::parse(&text) {
        let again = SecretKey::parse(&key.to_text());
        assert_eq!(again.map(|own| own.public()), Ok(key.public()), "what is written is read again");
        return Ok(());
    }
    Signers::parse(&text).map(drop).or_else(|_| signer_of(certificate.as_bytes(), &text).map(drop))
}

/// A release, with its policy's folder beside it where there is one: data, certificate or rows changed,
/// and mostly signed again.
fn make_release(dice: &mut Dice, examples: &Examples) -> Seed {
    let (name, own) = dice.one_of(&examples.releases).clone();
    let strange = dice.one_of(&examples.releases).1.clone();
    let mut files = own;
    let certificate = files.iter().position(|(f, _)| f == CERTIFICATE);
    if !dice.once_in(3) {
        let at = dice.below(files.len());
        let other = strange.iter().find(|(f, _)| *f == files[at].0).map_or(Vec::new(), |(_, b)| b.clone());
        mutate_inside(&mut files[at], &other, dice);
    }
    if let Some(at) = certificate
        && let Ok(mut value) = serde_json::from_slice(&files[at].1)
    {
        if dice.once_in(2) {
            json::mutate(&mut value, dice);
        }
        let bare: Seed =
            files.iter().filter_map(|(f, b)| Some((f.strip_prefix("release/")?.to_string(), b.clone()))).collect();
        if !dice.once_in(10) {
            json::sign(&mut value, &bare, dice);
        }
        files[at].1 = value.to_string().into_bytes();
    }
    let mut all: Seed = files.into_iter().map(|(f, b)| (format!("dir/{f}"), b)).collect();
    if let Some((_, policy)) = examples.policies.iter().find(|(own, _)| *own == name) {
        all.extend(policy.iter().map(|(f, b)| (format!("policy/{f}"), b.clone())));
    }
    all
}

/// Changes a file; one that is packed also within.
fn mutate_inside((name, bytes): &mut (String, Vec<u8>), other: &[u8], dice: &mut Dice) {
    if name.ends_with(".gz") && !dice.once_in(3) {
        let mut text = Vec::new();
        let _ = GzDecoder::new(&bytes[..]).read_to_end(&mut text);
        let strange = text.clone();
        mutate(&mut text, &strange, dice);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        let _ = gzip.write_all(&text);
        *bytes = gzip.finish().unwrap_or_default();
    } else {
        mutate(bytes, other, dice);
    }
}

/// What a recipient does with a stranger's folder, and what a custodian does.
fn read_release(folder: &Path) -> Result<()> {
    let dir = folder.join("dir");
    let policy = folder.join("policy").join("p.toml");
    if policy.exists()
        && let Ok((source, bound)) = pipeline::open(&policy, &options(1))
    {
        let _ = verify_with_original(&dir, &source, &bound);
    }
    let verified = verify_release(&dir, 2).map(drop);
    let asked = Reconstruct { copies: 1, form: DataForm::Long, items: ItemMode::Rare, seed: Some(1), threads: 1 };
    let made = reconstruct_release(&dir, &folder.join("plain"), &asked).map(drop);
    let view = truthful_view(&dir, &folder.join("view.csv"), 1).map(drop);
    let flat = flatten_release(&dir, &folder.join("flat"), &Flatten { threads: 1, ..Flatten::default() }).map(drop);
    for more in [made, view, flat] {
        // Nothing is made of what does not verify.
        if let (Ok(()), Err(error)) = (more, &verified) {
            return Err(Error::machine(format!("made of a release that is refused: {error}")));
        }
    }
    verified
}
