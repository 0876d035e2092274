//! Changes an input that was kept, by what its files are, and makes hashes fit again.

use crate::corpus::Seed;
use crate::dice::Dice;
use crate::json;
use crate::make::mutate_inside;
use crate::mutate::mutate;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::{Cursor, Read, Write};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// Changes one file of an input; `other` is a further one of its kind.
pub fn change(files: &mut Seed, other: &Seed, dice: &mut Dice) {
    if files.is_empty() {
        return;
    }
    let at = dice.below(files.len());
    let name = files[at].0.clone();
    let strange = other.iter().find(|(own, _)| *own == name).map_or(&[][..], |(_, bytes)| bytes);
    let own = &mut files[at];
    let deeper = !dice.once_in(3);
    if deeper && own.1.starts_with(b"PK") && change_part(&mut own.1, dice) {
        return;
    }
    if deeper && (name.ends_with("json") || name == "ledger") && change_line(&mut own.1, dice) {
        return;
    }
    match own.1.starts_with(&[0x1f, 0x8b]) {
        true => {
            let mut packed = ("x.gz".to_string(), std::mem::take(&mut own.1));
            mutate_inside(&mut packed, strange, dice);
            own.1 = packed.1;
        }
        false => mutate(&mut own.1, strange, dice),
    }
}

/// Changes one part of an archive.
fn change_part(bytes: &mut Vec<u8>, dice: &mut Dice) -> bool {
    let Ok(mut archive) = ZipArchive::new(Cursor::new(&bytes[..])) else { return false };
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let chosen = dice.below(archive.len());
    for at in 0..archive.len().min(64) {
        let Ok(part) = archive.by_index(at) else { return false };
        let Ok(name) = part.name().map(|name| name.to_string()) else { return false };
        let mut text = Vec::new();
        if part.take(1 << 20).read_to_end(&mut text).is_err() {
            return false;
        }
        if at == chosen {
            let other = text.clone();
            mutate(&mut text, &other, dice);
        }
        if zip.start_file(name, SimpleFileOptions::default()).is_ok() {
            let _ = zip.write_all(&text);
        }
    }
    match zip.finish() {
        Ok(made) => *bytes = made.into_inner(),
        Err(_) => return false,
    }
    true
}

/// Changes JSON that is a whole file, or one line of it.
fn change_line(bytes: &mut Vec<u8>, dice: &mut Dice) -> bool {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&b| b == b'\n').collect();
    if lines.is_empty() {
        return false;
    }
    let at = dice.below(lines.len());
    let (before, rest) = bytes.split_at(lines[..at].iter().map(|line| line.len()).sum());
    let (line, after) = rest.split_at(lines[at].len());
    let (before, line, after) = match serde_json::from_slice::<Value>(bytes).is_ok() {
        true => (&[][..], &bytes[..], &[][..]),
        false => (before, line, after),
    };
    let Ok(mut value) = serde_json::from_slice(line) else { return false };
    json::mutate(&mut value, dice);
    *bytes = [before, value.to_string().as_bytes(), b"\n", after].concat();
    true
}

/// Nothing has to fit.
pub fn as_it_is(_: &mut Seed, _: &mut Dice) {}

/// Makes the hashes and numbers of rows in a certificate those of the files, as somebody would who means harm.
pub fn signed(files: &mut Seed, dice: &mut Dice) {
    if dice.once_in(10) {
        return;
    }
    let released: Seed =
        files.iter().filter_map(|(f, b)| Some((f.strip_prefix("dir/release/")?.to_string(), b.clone()))).collect();
    if let Some((_, bytes)) = files.iter_mut().find(|(name, _)| name == "dir/release/certificate.json")
        && let Ok(mut value) = serde_json::from_slice(bytes)
    {
        json::sign(&mut value, &released, dice);
        *bytes = value.to_string().into_bytes();
    }
}

/// Writes the keyed hash of a ledger below it.
pub fn keyed(files: &mut Seed, dice: &mut Dice) {
    let Some((_, bytes)) = files.first_mut() else { return };
    let line: Vec<u8> = bytes.iter().copied().take_while(|&b| b != b'\n').collect();
    if let Ok(value) = serde_json::from_slice::<Value>(&line)
        && let Some(key) = value.get("key").and_then(Value::as_str).and_then(from_hex)
        && !dice.once_in(20)
    {
        *bytes = [&line[..], b"\n", hmac(&key, &line).as_bytes(), b"\n"].concat();
    }
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let byte = |at: usize| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok();
    (0..32).map(byte).collect::<Option<Vec<u8>>>()?.try_into().ok()
}

/// HMAC with SHA-256, in hexadecimal.
fn hmac(key: &[u8; 32], message: &[u8]) -> String {
    let pad = |with: u8| -> Vec<u8> { (0..64).map(|at| key.get(at).copied().unwrap_or(0) ^ with).collect() };
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(message).finalize();
    let outer = Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize();
    outer.iter().map(|b| format!("{b:02x}")).collect()
}
