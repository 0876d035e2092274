//! Changes to the files of a release.

use super::Fit::{All, Harmless, Hashes, Never, Nothing};
use super::{Tampering, way};
use crate::red_team::release::CERTIFICATE;
use kohort_core::signature::{SecretKey, sign};

const SIGNATURE: &str = "certificate.json.sig";

/// Changes one bit.
fn flip(bytes: &mut [u8], dice: &mut crate::dice::Dice) {
    if !bytes.is_empty() {
        let at = dice.below(bytes.len());
        bytes[at] ^= 1 << dice.below(8);
    }
}

pub(super) const WAYS: &[Tampering] = &[
    way("a bit of the data", Nothing, |c| c.file("data.csv", |bytes, dice| flip(bytes, dice))),
    way("a bit of the data, everything redone", All, |c| c.file("data.csv", |bytes, dice| flip(bytes, dice))),
    way("a bit of the certificate", Nothing, |c| {
        let mut bytes = c.release.certificate_bytes();
        flip(&mut bytes, c.dice);
        // Whatever it says now is what is judged.
        c.release.certificate = serde_json::from_slice(&bytes).unwrap_or_default();
        c.release.bytes = Some(bytes);
        true
    }),
    way("a bit of the dictionary", Nothing, |c| c.file("dictionary.md", |bytes, dice| flip(bytes, dice))),
    way("the dictionary tells a story", Hashes, |c| {
        c.file("dictionary.md", |bytes, _| bytes.extend_from_slice(b"\nNobody can be found in this file.\n"))
    }),
    way("the dictionary of another release", Hashes, |c| {
        let other = c.other.files.get("dictionary.md").cloned().unwrap_or_default();
        c.file("dictionary.md", |bytes, _| *bytes = other)
    }),
    way("data cut short", Nothing, |c| c.file("data.csv", |bytes, dice| bytes.truncate(dice.below(bytes.len())))),
    way("data cut short, everything redone", All, |c| {
        c.file("data.csv", |bytes, dice| bytes.truncate(dice.below(bytes.len())))
    }),
    way("bytes behind the data", Nothing, |c| c.file("data.csv", |bytes, _| bytes.extend_from_slice(b"\n\n"))),
    way("the data of another release", Nothing, |c| {
        let other = c.other.files.get("data.csv").cloned().unwrap_or_default();
        c.file("data.csv", |bytes, _| *bytes = other)
    }),
    way("the data of another release, everything redone", All, |c| {
        let other = c.other.files.get("data.csv").cloned().unwrap_or_default();
        c.file("data.csv", |bytes, _| *bytes = other)
    }),
    way("the certificate of another release", Nothing, |c| {
        let changed = c.release.certificate != c.other.certificate;
        c.release.certificate = c.other.certificate.clone();
        c.release.bytes = c.other.bytes.clone();
        changed
    }),
    way("the certificate of another release, everything redone", All, |c| {
        let changed = c.release.certificate != c.other.certificate;
        c.release.certificate = c.other.certificate.clone();
        changed
    }),
    way("half a certificate", Never, |c| {
        c.text(|text, dice| text.chars().take(dice.below(text.trim_end().len())).collect())
    }),
    way("text behind the certificate", Never, |c| c.text(|text, _| text + "{}")),
    way("an empty certificate", Never, |c| c.text(|_, _| String::new())),
    way("a byte order mark before the certificate", Nothing, |c| c.text(|text, _| format!("\u{feff}{text}"))),
    way("no data", Never, |c| c.release.files.remove("data.csv").is_some()),
    way("no dictionary", Nothing, |c| c.release.files.remove("dictionary.md").is_some()),
    way("no dictionary, nor is it listed", Nothing, |c| {
        c.release.files.remove("dictionary.md");
        c.value("/counted/files", |files, _| {
            files.as_array_mut().into_iter().for_each(|all| all.retain(|f| f["name"] != "dictionary.md"));
        })
    }),
    way("an unlisted file", Never, |c| c.release.files.insert("names.csv".into(), b"Ann\n".to_vec()).is_none()),
    way("a hidden file", Never, |c| c.release.files.insert(".names".into(), b"Ann\n".to_vec()).is_none()),
    way("a folder in the release", Never, |c| {
        c.release.files.insert("more/names.csv".into(), b"Ann\n".to_vec()).is_none()
    }),
    way("a further file, listed", Hashes, |c| {
        c.release.files.insert("names.csv".into(), b"Ann\n".to_vec());
        c.value("/counted/files", |files, _| {
            files
                .as_array_mut()
                .into_iter()
                .for_each(|all| all.push(serde_json::json!({ "name": "names.csv", "sha256": "" })));
        })
    }),
    way("a second data file, listed", Hashes, |c| {
        c.release.files.insert("data.csv.gz".into(), b"a\n1\n1\n".to_vec());
        c.value("/counted/files", |files, _| {
            let own = serde_json::json!({ "name": "data.csv.gz", "sha256": "", "rows": 2 });
            files.as_array_mut().into_iter().for_each(|all| all.push(own.clone()));
        })
    }),
    way("the data as a link", Never, |c| {
        c.release.links.push("data.csv".into());
        c.release.files.contains_key("data.csv")
    }),
    way("the certificate as a link", Never, |c| {
        c.release.links.push(CERTIFICATE.into());
        true
    }),
    way("the dictionary as a link", Never, |c| {
        c.release.links.push("dictionary.md".into());
        c.release.files.contains_key("dictionary.md")
    }),
    way("a file listed twice", Hashes, |c| {
        c.value("/counted/files", |files, dice| {
            if let Some(all) = files.as_array_mut() {
                let own = dice.one_of(all);
                all.push(own);
            }
        })
    }),
    way("a path as a file", Nothing, |c| {
        c.value("/counted/files/0/name", |name, dice| {
            let own = name.as_str().unwrap_or_default().to_string();
            *name = dice.one_of(&[format!("../release/{own}"), format!("./{own}"), format!("/{own}")]).into();
        })
    }),
    way("the data under another name", Hashes, |c| {
        let bytes = c.release.files.remove("data.csv").unwrap_or_default();
        let name = c.dice.one_of(&["data.tsv", "data.csv.gz", "data.parquet", "DATA.CSV"]);
        c.release.files.insert(name.into(), bytes);
        c.value("/counted/files/0/name", |own, _| *own = name.into())
    }),
    way("a hash in capitals", Nothing, |c| {
        c.value("/counted/files/0/sha256", |hash, _| {
            *hash = hash.as_str().unwrap_or_default().to_uppercase().into();
        })
    }),
    way("a signature that is none", Never, |c| c.release.files.insert(SIGNATURE.into(), b"Ann\n".to_vec()).is_none()),
    way("a signature of another certificate", Never, |c| {
        let Ok(key) = SecretKey::generate("red team") else { return false };
        let signature = sign(&c.other.certificate_bytes(), &key);
        c.release.certificate_bytes() != c.other.certificate_bytes()
            && c.release.files.insert(SIGNATURE.into(), signature.into_bytes()).is_none()
    }),
    way("signed by a stranger", Harmless, |c| {
        let Ok(key) = SecretKey::generate("red team") else { return false };
        let bytes = c.release.certificate_bytes();
        let signature = sign(&bytes, &key);
        c.release.bytes = Some(bytes);
        c.release.files.insert(SIGNATURE.into(), signature.into_bytes()).is_none()
    }),
    way("lines end in CRLF", All, |c| {
        c.file("data.csv", |bytes, _| *bytes = String::from_utf8_lossy(bytes).replace('\n', "\r\n").into_bytes())
    }),
    way("a byte order mark before the data", All, |c| {
        c.file("data.csv", |bytes, _| drop(bytes.splice(0..0, [0xef, 0xbb, 0xbf])))
    }),
    way("data in another encoding", Hashes, |c| {
        c.file("data.csv", |bytes, _| *bytes = bytes.iter().flat_map(|b| [*b, 0]).collect())
    }),
    way("the data packed by gzip under its name", Hashes, |c| {
        // Ten bytes that begin a gzip file are enough to be taken for one.
        c.file("data.csv", |bytes, _| drop(bytes.splice(0..0, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])))
    }),
];
