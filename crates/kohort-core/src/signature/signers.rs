//! The keys that a recipient knows, with the names of their owners.

use super::public_key::{ED25519, PublicKey};
use super::{LARGEST_FILE, NAMESPACE};
use crate::table::read_text;
use crate::{Error, Result};
use std::path::Path;

/// Public keys that somebody trusts, each with the name of its owner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signers(Vec<(PublicKey, String)>);

impl Signers {
    /// One key and the name of its owner.
    pub fn one(key: PublicKey, name: &str) -> Signers {
        Signers(vec![(key, name.to_string())])
    }

    /// Reads a file of keys: a .pub file, or the list of allowed signers that `ssh-keygen -Y verify` reads. The
    /// name of a key is that before it, or the comment behind it.
    pub fn read(path: &Path) -> Result<Signers> {
        let about = |error: Error| Error { message: format!("{}: {}", path.display(), error.message), ..error };
        Signers::parse(&read_text(path, LARGEST_FILE)?).map_err(about)
    }

    /// Reads the text of such a file.
    pub fn parse(text: &str) -> Result<Signers> {
        if text.contains("PRIVATE KEY-----") {
            return Err(Error::yours("this is a secret key. Give the public key: the file that ends in .pub."));
        }
        let mut known = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let words = words(line);
            let Some(at) = words.iter().position(|word| word.starts_with("ssh-") || word.starts_with("ecdsa-")) else {
                if words.first().is_some_and(|word| !word.starts_with('#')) {
                    return Err(Error::yours(format!("line {number} is not a public key.")));
                }
                continue;
            };
            if words.first().is_some_and(|word| word.starts_with('#')) || words[at] != ED25519 {
                continue;
            }
            let key = words.get(at + 1).and_then(|word| PublicKey::from_text(word));
            let key =
                key.ok_or_else(|| Error::yours(format!("line {number} is not a public key, or it is damaged.")))?;
            if at > 1 && !is_for_kohort(&words[1..at], number)? {
                continue;
            }
            let name = if at > 0 { words[0].clone() } else { words[at + 2..].join(" ") };
            known.push((key, if name.is_empty() { key.fingerprint() } else { name }));
        }
        if known.is_empty() {
            return Err(Error::yours("no ed25519 key is in this file. Kohort reads keys of this kind only."));
        }
        Ok(Signers(known))
    }

    /// The name of whoever signed a release. Refuses a release that is unsigned, or signed with a key that is
    /// not among these.
    pub fn vouch(&self, signer: Option<PublicKey>) -> Result<&str> {
        let Some(key) = signer else {
            return Err(Error::refused("unsigned: nobody vouches for this. A signature was asked for with --signer."));
        };
        self.name_of(key).ok_or_else(|| {
            Error::refused(format!(
                "signed with the key {}, which is not the one you expect. Ask the custodian which key is theirs.",
                key.fingerprint()
            ))
        })
    }

    /// The name of a key's owner, if the key is known.
    pub fn name_of(&self, key: PublicKey) -> Option<&str> {
        self.0.iter().find(|(own, _)| *own == key).map(|(_, name)| name.as_str())
    }
}

/// The words of a line, separated by blanks; quotation marks hold words together and are removed.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars().chain([' ']) {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            c => word.push(c),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// True if the options of an allowed signer let it sign for Kohort. Options that Kohort does not read, such as a
/// time until which a key is valid, are refused rather than ignored.
fn is_for_kohort(options: &[String], line: usize) -> Result<bool> {
    let mut permitted = true;
    for option in options {
        match option.strip_prefix("namespaces=") {
            Some(list) => permitted &= list.split(',').any(|own| own == NAMESPACE),
            None => {
                return Err(Error::yours(format!(
                    "line {line} has an option that Kohort does not read. Check the signature with `ssh-keygen -Y verify -n {NAMESPACE}` instead."
                )));
            }
        }
    }
    Ok(permitted)
}

#[cfg(test)]
mod tests {
    use super::super::SecretKey;
    use super::*;

    fn key() -> (PublicKey, String) {
        let key = SecretKey::generate("").unwrap().public();
        (key, key.to_line("").trim_end().to_string())
    }

    #[test]
    fn a_public_key_has_the_name_behind_it_and_an_allowed_signer_the_one_before_it() {
        let (key, line) = key();
        let check = |text: String, name: &str| {
            assert_eq!(Signers::parse(&text).unwrap().name_of(key), Some(name), "{text}");
        };
        check(format!("{line} Data office, Ward 3\n"), "Data office, Ward 3");
        check(format!("# ours\n\noffice@ward {line} a comment\n"), "office@ward");
        check(format!("\"Data office\" namespaces=\"kohort,git\" {line}"), "Data office");
        check(line.clone(), &key.fingerprint());
        check(format!("other ssh-rsa AAAAB3NzaC1yc2E=\noffice {line}"), "office");
    }

    #[test]
    fn unknown_keys_secret_keys_and_damaged_keys_are_refused() {
        let ((own, line), (other, _)) = (key(), key());
        assert_eq!(Signers::parse(&line).unwrap().name_of(other), None);
        assert_eq!(Signers::one(own, "office").name_of(own), Some("office"));
        let says = |text: &str, why: &str| {
            let error = Signers::parse(text).unwrap_err();
            assert!(error.message.contains(why), "{error}");
        };
        says(&SecretKey::generate("").unwrap().to_text(), "secret key");
        says("", "no ed25519 key");
        says("# nothing\n", "no ed25519 key");
        says("hello\n", "line 1");
        says(&line[..line.len() - 3], "damaged");
        says(&format!("office namespaces=\"git\" {line}"), "no ed25519 key");
        says(&format!("office valid-before=\"20200101\" {line}"), "option");
    }
}
