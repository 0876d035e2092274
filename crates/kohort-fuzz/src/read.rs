//! Reads an input as Kohort would, and checks what must hold of whatever is read.

use crate::behaviour::Counts;
use kohort::flatten::{Flatten, flatten_release};
use kohort::init;
use kohort::pipeline::{self, AnySurvey, Options};
use kohort::reconstruct::{DataForm, ItemMode, Reconstruct, reconstruct_release};
use kohort::truthful::truthful_view;
use kohort_core::hierarchy::{FileHierarchy, Rule};
use kohort_core::ledger::Ledger;
use kohort_core::release::{AnyCertificate, made, read_catalog, read_clusters};
use kohort_core::signature::{SecretKey, Signers, signer_of};
use kohort_core::table::{Encoding, Input, Silent, Source, open, read_text};
use kohort_core::verify::{AnyRecounted, verify_release, verify_with_original};
use kohort_core::{Error, Result};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Rows and bytes of cells.
fn scan(source: &Source) -> Result<(u64, u64)> {
    let (mut rows, mut cells) = (0u64, 0u64);
    let width = source.columns().len();
    source.scan(
        |_| (),
        |(), chunk| {
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
}

/// A number of the file's bytes, by which some of the inputs are also read in a second way.
fn ways(path: &Path) -> u64 {
    let bytes = fs::read(path).unwrap_or_default();
    bytes.iter().fold(bytes.len() as u64, |sum, &b| sum.wrapping_mul(31).wrapping_add(b.into()))
}

/// Reads a table in a way that its bytes choose; some by two threads, and some are profiled as well.
pub(crate) fn read_table(folder: &Path) -> Result<Counts> {
    let path = folder.join("t.csv");
    let ways = ways(&path);
    let mut input = Input::new(&path);
    input.header = !ways.is_multiple_of(7);
    input.trim = ways.is_multiple_of(3);
    input.delimiter = [None, None, Some(b','), Some(b';'), Some(b'"'), Some(b'\n')][(ways / 11) as usize % 6];
    input.encoding = if ways.is_multiple_of(5) { Encoding::Windows1252 } else { Encoding::Utf8 };
    let source = open(&input)?.with_threads(1);
    let width = source.columns().len() as u64;
    let one = scan(&source);
    if (ways / 64).is_multiple_of(32) {
        let two = open(&input).map(|source| source.with_threads(2)).and_then(|source| scan(&source));
        assert_eq!(one, two, "one thread reads what two read");
        one.clone()?;
        init::init(&[path], folder, 1, Arc::new(Silent))?;
    }
    let (rows, cells) = one?;
    Ok(vec![rows, width, cells, source.is_parquet().into(), source.is_gzip().into()])
}

/// Reads FHIR resources.
pub(crate) fn read_fhir(folder: &Path) -> Result<Counts> {
    let source = open(&Input::new(folder.join("t.ndjson")))?.with_threads(1);
    let (rows, cells) = scan(&source)?;
    Ok(vec![rows, source.columns().len() as u64, cells])
}

pub(crate) fn read_hierarchy(folder: &Path) -> Result<Counts> {
    let text = read_text(&folder.join("h.csv"), 1 << 28)?;
    let tree = FileHierarchy::parse("h.csv", &text)?;
    let leaves: Vec<&str> = text.lines().filter_map(|l| l.split([';', ',']).next()).collect();
    let applied = Rule::File(tree).apply(&leaves, true);
    Ok(vec![leaves.len() as u64, applied.levels.len() as u64])
}

fn options(threads: usize) -> Options {
    Options { force: true, keep_rows: true, seed: Some(3), threads, progress: Arc::new(Silent) }
}

/// Reads a policy with its tables, as `risk` and as `anonymize` would.
pub(crate) fn read_policy(folder: &Path) -> Result<Counts> {
    let policy = folder.join("p.toml");
    let asked = pipeline::survey(&policy, &options(1));
    pipeline::open(&policy, &options(1))?;
    Ok(match asked? {
        AnySurvey::Table(own) => vec![1, own.input.tuples.len() as u64, own.policy.columns.len() as u64],
        AnySurvey::Codes(own) => vec![2, own.policy.columns.len() as u64],
        AnySurvey::Events(own) => vec![3, own.policy.columns.len() as u64],
    })
}

/// The whole way: what is released must verify.
pub(crate) fn read_run(folder: &Path) -> Result<Counts> {
    let out = folder.join("out");
    let released = pipeline::anonymize(&folder.join("p.toml"), &out, &options(2))?;
    if released.metrics.samples().is_none() {
        verify_release(&out, 1).unwrap_or_else(|e| panic!("what was released does not verify: {e}"));
    }
    Ok(vec![fs::metadata(out.join("release/certificate.json")).map_or(0, |m| m.len()), released.notes.len() as u64])
}

pub(crate) fn read_clusters_file(folder: &Path) -> Result<Counts> {
    let mut clusters = 0;
    let each = |_, _, ()| {
        clusters += 1;
        Ok(())
    };
    read_clusters(&folder.join("clusters.jsonl"), 1, |_| Ok(()), |_, _| Ok(()), each)?;
    Ok(vec![clusters])
}

pub(crate) fn read_certificate(folder: &Path) -> Result<Counts> {
    let certificate = AnyCertificate::parse(&read_text(&folder.join("certificate.json"), 64 << 20)?)?;
    let text = certificate.to_text();
    let again = AnyCertificate::parse(&text);
    assert_eq!(again.as_ref(), Ok(&certificate), "what is written is read again");
    Ok(vec![text.len() as u64, text.lines().count() as u64])
}

/// Reads a file as everything that has to do with signatures.
pub(crate) fn read_signature(folder: &Path) -> Result<Counts> {
    let certificate = include_bytes!("../corpus/signatures/certificate.json");
    let text = read_text(&folder.join("key"), 1 << 20)?;
    if let Ok(key) = SecretKey::parse(&text) {
        let again = SecretKey::parse(&key.to_text());
        assert_eq!(again.map(|own| own.public()), Ok(key.public()), "what is written is read again");
        return Ok(vec![1, key.name().len() as u64]);
    }
    match Signers::parse(&text) {
        Ok(_) => Ok(vec![2]),
        Err(listed) => match signer_of(certificate, &text) {
            Ok(_) => Ok(vec![3]),
            // The message of the reader that got further.
            Err(signed) if text.contains("SIGNATURE") => Err(signed),
            Err(_) => Err(listed),
        },
    }
}

/// More releases of a ledger are not compared: each is compared with all before it, and a ledger is its custodian's
/// own file.
const MOST_RELEASES: usize = 64;

/// Reads a ledger, and compares its releases with each other.
pub(crate) fn read_ledger(folder: &Path) -> Result<Counts> {
    let ledger = Ledger::read(&folder.join("ledger"))?;
    if ledger.releases().len() > MOST_RELEASES {
        return Ok(vec![ledger.releases().len() as u64]);
    }
    let history = ledger.history();
    let words: usize = history.iter().flat_map(|own| own.sentences()).map(|text| text.len()).sum();
    Ok(vec![history.len() as u64, words as u64])
}

/// Reads the catalog of synthetic records of a file with 12 classes.
pub(crate) fn read_catalog_file(folder: &Path) -> Result<Counts> {
    let lines = read_catalog(folder, "dx", 12)?;
    Ok(vec![lines.len() as u64, lines.iter().map(|line| line.classes.len() as u64).sum()])
}

/// Reads the list of a folder's own files as `--force` does: a file that is not listed stays.
pub(crate) fn read_marker(folder: &Path) -> Result<Counts> {
    let dir = folder.join("dir");
    let ours = made::is_all_ours(&dir);
    let removed = made::remove(&dir);
    assert!(dir.join("mine.txt").exists(), "a file that Kohort did not make was removed");
    ours.and(removed)?;
    Ok(vec![1])
}

/// Does with a stranger's folder what a recipient does, and what a custodian does.
pub(crate) fn read_release(folder: &Path) -> Result<Counts> {
    let dir = folder.join("dir");
    let policy = folder.join("policy").join("p.toml");
    if policy.exists()
        && let Ok((source, bound)) = pipeline::open(&policy, &options(1))
    {
        let _ = verify_with_original(&dir, &source, &bound);
    }
    let verified = verify_release(&dir, 2);
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
    let verified = verified?;
    let shape = match &verified {
        AnyRecounted::Table(_) => 1,
        AnyRecounted::Codes(_) => 2,
        AnyRecounted::Events(_) => 3,
    };
    Ok(vec![shape, verified.verdict().outcome() as u64])
}
