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

/// Changes a data file that is compressed, or Parquet.
fn packed(c: &mut super::Change, change: fn(&mut Vec<u8>, &mut crate::dice::Dice)) -> bool {
    let all: Vec<String> =
        c.release.files.keys().filter(|name| name.ends_with(".gz") || name.ends_with(".parquet")).cloned().collect();
    !all.is_empty() && {
        let name = c.dice.one_of(&all);
        c.file(&name, change)
    }
}

/// Changes the lines of a file below its first one.
fn lines_of(c: &mut super::Change, name: &str, change: impl FnOnce(&mut Vec<String>, &mut crate::dice::Dice)) -> bool {
    c.file(name, |bytes, dice| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut all = text.lines().map(str::to_string);
        let first = all.next().unwrap_or_default();
        let mut lines: Vec<String> = all.collect();
        if !lines.is_empty() {
            change(&mut lines, dice);
        }
        *bytes = std::iter::once(first).chain(lines).map(|line| line + "\n").collect::<String>().into_bytes();
    })
}

pub(super) const WAYS: &[Tampering] = &[
    way("a bit of the data", Nothing, |c| c.file("data.csv", |own, dice| flip(own.as_mut_slice(), dice))),
    way("a bit of the data, everything redone", All, |c| {
        c.file("data.csv", |own, dice| flip(own.as_mut_slice(), dice))
    }),
    way("a bit of the certificate", Nothing, |c| {
        let mut bytes = c.release.certificate_bytes();
        flip(&mut bytes, c.dice);
        // Whatever it says now is what is judged.
        c.release.certificate = serde_json::from_slice(&bytes).unwrap_or_default();
        c.release.bytes = Some(bytes);
        true
    }),
    way("a bit of the dictionary", Nothing, |c| c.file("dictionary.md", |own, dice| flip(own.as_mut_slice(), dice))),
    way("the dictionary tells a story", Hashes, |c| {
        c.file("dictionary.md", |bytes, _| bytes.extend_from_slice(b"\nNobody can be found in this file.\n"))
    }),
    way("the dictionary of another release", Hashes, |c| {
        let other = c.other.files.get("dictionary.md").cloned().unwrap_or_default();
        c.file("dictionary.md", |bytes, _| *bytes = other)
    }),
    way("the dictionary says another role", Hashes, |c| {
        c.file("dictionary.md", |bytes, _| {
            *bytes = String::from_utf8_lossy(bytes).replacen("| other | as in", "| quasi | as in", 1).into_bytes();
        })
    }),
    way("the dictionary says that nothing is synthetic", Hashes, |c| {
        c.file("dictionary.md", |bytes, _| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            *bytes = text.replace("Some rows may be synthetic records.", "No row is synthetic.").into_bytes();
        })
    }),
    way("the dictionary has markup", Hashes, |c| {
        c.file("dictionary.md", |bytes, _| {
            *bytes = String::from_utf8_lossy(bytes).replacen(" | quasi | ", " | quasi | <b>safe</b> ", 1).into_bytes();
        })
    }),
    way("the dictionary shows a picture from elsewhere", Hashes, |c| {
        let words = c.dice.one_of(&["![](http://a.example/p.png) ", "[data](http://a.example) ", "**safe** ", "`` "]);
        c.file("dictionary.md", |bytes, _| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            *bytes = text.replacen(" | quasi | ", &format!(" | quasi | {words}"), 1).into_bytes();
        })
    }),
    way("the dictionary has characters that nobody sees", Hashes, |c| {
        let hidden = c.dice.one_of(&["\u{200b}", "\u{202e}", "\u{feff}", "\u{e0041}"]);
        c.file("dictionary.md", |bytes, _| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let at = text.find(" | quasi | ").map_or(0, |at| at + " | quasi | ".len());
            let line = text[at..].find(" |\n").map_or(at, |end| at + end);
            *bytes = format!("{}{hidden}{}", &text[..line], &text[line..]).into_bytes();
        })
    }),
    way("the dictionary lacks a column", Hashes, |c| {
        c.file("dictionary.md", |bytes, _| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            *bytes = text
                .lines()
                .filter(|line| !line.starts_with("| s |"))
                .map(|l| format!("{l}\n"))
                .collect::<String>()
                .into_bytes();
        })
    }),
    way("a line of hierarchy.csv is removed", Hashes, |c| {
        lines_of(c, "hierarchy.csv", |lines, dice| drop(lines.remove(dice.below(lines.len()))))
    }),
    way("a line of hierarchy.csv twice", Hashes, |c| {
        lines_of(c, "hierarchy.csv", |lines, dice| {
            let own = dice.one_of(lines);
            lines.push(own);
        })
    }),
    way("a group of hierarchy.csv has another name", Hashes, |c| {
        lines_of(c, "hierarchy.csv", |lines, dice| {
            let at = dice.below(lines.len());
            if let Some((before, _)) = lines[at].clone().rsplit_once(',') {
                lines[at] = format!("{before},{}", dice.one_of(&["safe", "*", "", "\u{202e}", "[0,100)"]));
            }
        })
    }),
    way("a level of hierarchy.csv has another name", Hashes, |c| {
        lines_of(c, "hierarchy.csv", |lines, dice| {
            let level = dice.one_of(&["1", "2", "3"]);
            lines
                .iter_mut()
                .for_each(|line| *line = line.replacen(&format!(",{level},"), &format!(",{level},Ann "), 1));
        })
    }),
    way("labels of hierarchy.csv change their groups", Hashes, |c| {
        lines_of(c, "hierarchy.csv", |lines, dice| {
            let (a, b) = (dice.below(lines.len()), dice.below(lines.len()));
            let groups = [a, b].map(|at| lines[at].rsplit_once(',').map(|own| own.1.to_string()).unwrap_or_default());
            for (at, group) in [(a, &groups[1]), (b, &groups[0])] {
                if let Some((before, _)) = lines[at].clone().rsplit_once(',') {
                    lines[at] = format!("{before},{group}");
                }
            }
        })
    }),
    way("hierarchy.csv of another release", Hashes, |c| {
        let other = c.other.files.get("hierarchy.csv").cloned().unwrap_or_default();
        c.file("hierarchy.csv", |bytes, _| *bytes = other)
    }),
    way("quotes in hierarchy.csv that say nothing", Hashes, |c| {
        lines_of(c, "hierarchy.csv", |lines, dice| {
            let at = dice.below(lines.len());
            if let Some((first, rest)) = lines[at].clone().split_once(',') {
                lines[at] = format!("\"{first}\",{rest}");
            }
        })
    }),
    way("lines of hierarchy.csv end in CRLF", Hashes, |c| {
        lines_of(c, "hierarchy.csv", |lines, dice| {
            let at = dice.below(lines.len());
            lines[at].push('\r');
        })
    }),
    way("no hierarchy.csv, nor is it listed", Hashes, |c| {
        c.release.files.remove("hierarchy.csv").is_some()
            && c.value("/counted/files", |files, _| {
                files.as_array_mut().into_iter().for_each(|all| all.retain(|f| f["name"] != "hierarchy.csv"));
            })
    }),
    way("the catalog says other numbers", Hashes, |c| {
        lines_of(c, "catalog.csv", |lines, dice| {
            let at = dice.below(lines.len());
            if let Some((before, _)) = lines[at].clone().rsplit_once(',') {
                lines[at] = format!("{before},{}", dice.one_of(&["0", "1", "2", "99", "-1", "18446744073709551615"]));
            }
        })
    }),
    way("quotes and zeros in the catalog that say nothing", Hashes, |c| {
        lines_of(c, "catalog.csv", |lines, dice| {
            let at = dice.below(lines.len());
            if let Some((before, rows)) = lines[at].clone().rsplit_once(',') {
                lines[at] = format!("{before},{}", dice.one_of(&[format!("0{rows}"), format!("\"{rows}\"")]));
            }
        })
    }),
    way("lines of the catalog in another order", Hashes, |c| lines_of(c, "catalog.csv", |lines, _| lines.reverse())),
    way("a line of the catalog is removed", Hashes, |c| {
        lines_of(c, "catalog.csv", |lines, dice| drop(lines.remove(dice.below(lines.len()))))
    }),
    way("the catalog names other classes", Hashes, |c| {
        lines_of(c, "catalog.csv", |lines, dice| {
            let at = dice.below(lines.len());
            if let Some((_, after)) = lines[at].clone().split_once(',') {
                lines[at] = format!("{},{after}", dice.one_of(&["1", "2", "1 2", "99", "0", "2 1"]));
            }
        })
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
    way("a bit of data that is not plain text", Nothing, |c| packed(c, |own, dice| flip(own.as_mut_slice(), dice))),
    way("a bit of data that is not plain text, everything redone", All, |c| {
        packed(c, |own, dice| flip(own.as_mut_slice(), dice))
    }),
    way("data that is not plain text cut short, everything redone", All, |c| {
        packed(c, |bytes, dice| bytes.truncate(dice.below(bytes.len().max(1))))
    }),
    way("bytes behind data that is not plain text, everything redone", All, |c| {
        packed(c, |bytes, _| bytes.extend_from_slice(b"Ann was here"))
    }),
    way("a part that nobody lists", Never, |c| {
        let part = c.release.files.get("data/part-00001.parquet").cloned();
        part.is_some_and(|bytes| c.release.files.insert("data/part-00009.parquet".into(), bytes).is_none())
    }),
    way("a part that is not there", Never, |c| c.release.files.remove("data/part-00001.parquet").is_some()),
    way("a part twice, everything redone", All, |c| {
        let parts = c.release.files.keys().filter(|name| name.starts_with("data/")).count();
        let part = c.release.files.get("data/part-00001.parquet").cloned();
        part.is_some_and(|own| c.release.files.insert(format!("data/part-{:05}.parquet", parts + 1), own).is_none())
    }),
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
    way("a pipe in place of a file", Never, |c| {
        let names: Vec<String> =
            c.release.files.keys().cloned().chain([CERTIFICATE.into(), SIGNATURE.into()]).collect();
        c.release.pipes.push(c.dice.one_of(&names));
        cfg!(unix)
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
    way("some lines end in CRLF", All, |c| {
        c.file("data.csv", |bytes, dice| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let end = |dice: &mut crate::dice::Dice| if dice.below(2) == 0 { "\r\n" } else { "\n" };
            *bytes = text.lines().map(|line| format!("{line}{}", end(dice))).collect::<String>().into_bytes();
        })
    }),
    way("quotes that say nothing", All, |c| {
        c.file("data.csv", |bytes, dice| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let mark = |line: &str, dice: &mut crate::dice::Dice| match line.split_once(',') {
                Some((first, rest)) if !first.contains('"') && dice.below(2) == 0 => format!("\"{first}\",{rest}\n"),
                _ => format!("{line}\n"),
            };
            *bytes = text.lines().map(|line| mark(line, dice)).collect::<String>().into_bytes();
        })
    }),
    way("no line break at the end", All, |c| {
        c.file("data.csv", |bytes, _| {
            bytes.pop();
        })
    }),
    way("the data with another delimiter, and the certificate says so", Hashes, |c| {
        let Some((header, rows)) = super::table(c.release).filter(|_| c.release.files.contains_key("data.csv")) else {
            return false;
        };
        let delimiter = c.dice.one_of(&["\"", "\r", "\0", "v", "1", "*"]);
        let line = |row: &Vec<String>| row.join(delimiter) + "\n";
        let text: String = std::iter::once(&header).chain(&rows).map(line).collect();
        c.file("dictionary.md", |bytes, _| {
            let words = String::from_utf8_lossy(bytes).replacen("by `,`", &format!("by `{delimiter}`"), 1);
            *bytes = words.into_bytes();
        });
        c.file("data.csv", |bytes, _| *bytes = text.into_bytes())
            && c.value("/counted/text/delimiter", |own, _| *own = delimiter.into())
    }),
    way("a line that names the delimiter", All, |c| {
        c.file("data.csv", |bytes, _| drop(bytes.splice(0..0, b"sep=,\n".iter().copied())))
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
