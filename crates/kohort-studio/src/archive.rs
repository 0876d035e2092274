//! A release as one file (`.tar.gz`), and back. Only plain files are in it.

use crate::folder::{make_private_folder, private_options};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use kohort_core::{Error, Result};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Component, Path, PathBuf};

const BLOCK: usize = 512;
/// The most files of an archive that are unpacked, and the most bytes of all of them.
const MOST_FILES: usize = 1000;
const MOST_BYTES: u64 = 64 << 30;

/// Packs a folder. `below` is the name that its files get in front.
pub(crate) fn pack(folder: &Path, below: &str, archive: &Path) -> Result<()> {
    let mut files = Vec::new();
    collect(folder, folder, &mut files)?;
    files.sort();
    let write = || -> io::Result<()> {
        let file = private_options().create(true).truncate(true).write(true).open(archive)?;
        let mut out = GzEncoder::new(BufWriter::new(file), Compression::default());
        for name in &files {
            let path = folder.join(name);
            let size = fs::metadata(&path)?.len();
            let stored = Path::new(below).join(name).to_string_lossy().replace('\\', "/");
            out.write_all(&header(&stored, size)?)?;
            let copied = io::copy(&mut File::open(&path)?.take(size), &mut out)?;
            if copied != size {
                return Err(io::Error::other("a file changed while it was packed"));
            }
            out.write_all(&vec![0; (BLOCK - (size as usize % BLOCK)) % BLOCK])?;
        }
        out.write_all(&[0; 2 * BLOCK])?;
        out.finish()?.flush()
    };
    write().map_err(|e| {
        let _ = fs::remove_file(archive);
        Error::io(archive, &e)
    })
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(|e| Error::io(folder, &e))? {
        let path = entry.map_err(|e| Error::io(folder, &e))?.path();
        let about = fs::symlink_metadata(&path).map_err(|e| Error::io(&path, &e))?;
        if about.is_dir() {
            collect(root, &path, files)?;
        } else if about.is_file() {
            files.push(path.strip_prefix(root).unwrap_or(&path).to_path_buf());
        }
    }
    Ok(())
}

/// The header of a file, in the ustar format.
fn header(name: &str, size: u64) -> io::Result<[u8; BLOCK]> {
    let mut header = [0u8; BLOCK];
    if name.len() > 100 {
        return Err(io::Error::other("the name of a file is too long for an archive"));
    }
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, b"0000600\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    if size < 1 << 33 {
        put(124, format!("{size:011o}\0").as_bytes());
    } else {
        // Larger sizes are written as a number of twelve bytes whose first bit is set.
        let mut large = [0u8; 12];
        large[4..].copy_from_slice(&size.to_be_bytes());
        large[0] = 0x80;
        put(124, &large);
    }
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\x0000");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(header)
}

/// Unpacks an archive into a new folder. A stranger may have made it: names that lead out of the folder, links and
/// too many bytes are refused.
pub(crate) fn unpack(archive: &Path, into: &Path) -> Result<()> {
    let damaged = |what: &str| Error::yours(format!("the archive cannot be unpacked: {what}."));
    let file = File::open(archive).map_err(|e| Error::io(archive, &e))?;
    let mut input = GzDecoder::new(BufReader::new(file));
    make_private_folder(into)?;
    let (mut files, mut bytes) = (0, 0u64);
    loop {
        let mut block = [0u8; BLOCK];
        input.read_exact(&mut block).map_err(|_| damaged("it ends too early or is not a .tar.gz file"))?;
        if block.iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        let size = size_of(&block[124..136]).ok_or_else(|| damaged("the size of a file is not a number"))?;
        let end = block[..100].iter().position(|&byte| byte == 0).unwrap_or(100);
        let name = std::str::from_utf8(&block[..end]).map_err(|_| damaged("a name is not UTF-8"))?.to_string();
        (files, bytes) = (files + 1, bytes.saturating_add(size));
        if files > MOST_FILES || bytes > MOST_BYTES {
            return Err(damaged("it holds too many files or bytes"));
        }
        let padding = (BLOCK as u64 - size % BLOCK as u64) % BLOCK as u64;
        let is_plain = |c: Component| matches!(c, Component::Normal(_) | Component::CurDir);
        if name.contains('\\') || !Path::new(&name).components().all(is_plain) {
            return Err(damaged("a name leads out of the archive"));
        }
        let copied = match block[156] {
            b'0' | 0 if !name.ends_with('/') => {
                let path = into.join(&name);
                make_private_folder(path.parent().unwrap_or(into))?;
                let mut out = private_options()
                    .create_new(true)
                    .write(true)
                    .open(&path)
                    .map_err(|_| damaged("a file is in it twice"))?;
                io::copy(&mut input.by_ref().take(size), &mut out).map_err(|e| Error::io(&path, &e))?
            }
            // Folders come with their files; descriptions of the archive are not needed.
            b'5' | b'0' | b'g' | b'x' => io::copy(&mut input.by_ref().take(size), &mut io::sink()).unwrap_or(0),
            _ => return Err(damaged("it holds something other than files and folders")),
        };
        let padded = io::copy(&mut input.by_ref().take(padding), &mut io::sink()).unwrap_or(0);
        if copied != size || padded != padding {
            return Err(damaged("it ends too early"));
        }
    }
}

fn size_of(field: &[u8]) -> Option<u64> {
    if field.first()? & 0x80 != 0 {
        return Some(u64::from_be_bytes(field[4..12].try_into().ok()?));
    }
    let text = std::str::from_utf8(field).ok()?;
    u64::from_str_radix(text.trim_matches(['\0', ' ']), 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        let here = tempfile::tempdir().unwrap();
        let folder = here.path().join("release");
        fs::create_dir_all(folder.join("inner")).unwrap();
        fs::write(folder.join("data.csv"), vec![b'x'; 1300]).unwrap();
        fs::write(folder.join("inner/certificate.json"), "{}").unwrap();
        let archive = here.path().join("a.tar.gz");
        pack(&folder, "release", &archive).unwrap();
        let back = here.path().join("back");
        unpack(&archive, &back).unwrap();
        assert_eq!(fs::read(back.join("release/data.csv")).unwrap().len(), 1300);
        assert_eq!(fs::read_to_string(back.join("release/inner/certificate.json")).unwrap(), "{}");
    }

    fn archive_of(name: &str, kind: u8, size: u64, content: &[u8]) -> Vec<u8> {
        let mut block = header(name, size).unwrap();
        block[156] = kind;
        let mut out = GzEncoder::new(Vec::new(), Compression::default());
        out.write_all(&block).unwrap();
        out.write_all(content).unwrap();
        out.write_all(&[0; 1024]).unwrap();
        out.finish().unwrap()
    }

    #[test]
    fn a_hostile_archive_writes_nothing_outside() {
        let here = tempfile::tempdir().unwrap();
        let cases: [(&str, Vec<u8>); 6] = [
            ("up", archive_of("../evil", b'0', 0, b"")),
            ("absolute", archive_of("/tmp/evil", b'0', 0, b"")),
            ("link", archive_of("link", b'2', 0, b"")),
            ("short", archive_of("a", b'0', 1 << 40, b"abc")),
            ("huge", archive_of("a", b'0', u64::MAX >> 1, b"abc")),
            ("text", b"not an archive".to_vec()),
        ];
        for (name, bytes) in cases {
            let archive = here.path().join(name);
            fs::write(&archive, bytes).unwrap();
            assert!(unpack(&archive, &here.path().join(format!("{name}-out"))).is_err(), "{name}");
        }
        assert!(!here.path().join("evil").exists());
    }
}
