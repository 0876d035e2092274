//! Signed releases: made and checked by Kohort, and by ssh-keygen where it is installed.

use crate::common::{POLICY, Said, TABLE, folder, listing, run};
use std::fs;
use std::path::Path;
use std::process::Command;

const SIGNATURE: &str = "out/release/certificate.json.sig";

/// A folder with a key pair `key`, `key.pub`, another one `other`, and a signed release `out`.
fn signed() -> tempfile::TempDir {
    let folder = folder(TABLE.as_bytes(), POLICY);
    says(folder.path(), &["key", "key", "--name", "Data office"], 0, "SHA256:");
    says(folder.path(), &["key", "other"], 0, "SHA256:");
    says(folder.path(), &["anonymize", "p.toml", "-o", "out", "--sign", "key"], 0, "signed: key SHA256:");
    folder
}

#[track_caller]
fn says(folder: &Path, args: &[&str], code: i32, text: &str) -> Said {
    let said = run(folder, args);
    assert_eq!(said.code, Some(code), "{args:?}: {}", said.all());
    assert!(said.all().contains(text), "{args:?}: {}", said.all());
    said
}

/// Exit codes of a release that is not refused: everything was counted, or not everything could be.
#[track_caller]
fn accepted(folder: &Path, args: &[&str], text: &str) {
    let said = run(folder, args);
    assert!(matches!(said.code, Some(0 | 5)), "{args:?}: {}", said.all());
    assert!(said.all().contains(text), "{args:?}: {}", said.all());
}

#[test]
fn a_signed_release_names_its_signer() {
    let folder = signed();
    let here = folder.path();
    accepted(here, &["verify", "out", "--signer", "key.pub"], "signed by Data office, key SHA256:");
    accepted(here, &["verify", "out/release", "--signer", "key.pub"], "Data office");
    accepted(here, &["verify", "out", "--signer", "key.pub", "--original", "p.toml"], "Data office");
    accepted(here, &["verify", "out"], "signed with the key SHA256:");
    // A list of allowed signers, as ssh-keygen reads it.
    let lines = format!("other {}office@ward {}", public(here, "other"), public(here, "key"));
    fs::write(here.join("signers"), lines).unwrap();
    accepted(here, &["verify", "out", "--signer", "signers"], "signed by office@ward");
}

fn public(folder: &Path, key: &str) -> String {
    fs::read_to_string(folder.join(format!("{key}.pub"))).unwrap()
}

#[test]
fn a_signature_holds_no_time_no_path_and_no_name() {
    let folder = signed();
    let first = fs::read_to_string(folder.path().join(SIGNATURE)).unwrap();
    fs::remove_file(folder.path().join(SIGNATURE)).unwrap();
    says(folder.path(), &["sign", "out", "--key", "key"], 0, "signed: ");
    assert_eq!(fs::read_to_string(folder.path().join(SIGNATURE)).unwrap(), first, "the same bytes at any time");
    // A key with another name and the same secret signs alike: the name is no part of it.
    assert!(!first.contains("office") && first.starts_with("-----BEGIN SSH SIGNATURE-----\n"));
}

#[test]
fn an_unsigned_release_is_verified_and_said_to_be_unsigned() {
    let folder = folder(TABLE.as_bytes(), POLICY);
    says(folder.path(), &["key"], 0, "kohort-key.pub");
    says(folder.path(), &["anonymize", "p.toml", "-o", "out"], 0, "released");
    accepted(folder.path(), &["verify", "out"], "unsigned: nobody vouches for this");
    says(folder.path(), &["verify", "out", "--signer", "kohort-key.pub"], 1, "unsigned: nobody vouches for this");
}

#[test]
fn a_wrong_key_a_changed_certificate_and_a_damaged_signature_are_refused() {
    let folder = signed();
    let here = folder.path();
    says(here, &["verify", "out", "--signer", "other.pub"], 1, "not the one you expect");
    let certificate = here.join("out/release/certificate.json");
    let (text, signature) =
        (fs::read_to_string(&certificate).unwrap(), fs::read_to_string(here.join(SIGNATURE)).unwrap());
    // A space at the end says the same in JSON, and is not what was signed.
    fs::write(&certificate, format!("{text} ")).unwrap();
    for signer in [&[][..], &["--signer", "key.pub"]] {
        says(here, &[&["verify", "out"], signer].concat(), 1, "changed after it was signed");
    }
    says(here, &["verify", "out", "--original", "p.toml"], 1, "changed after it was signed");
    fs::write(&certificate, &text).unwrap();
    for (wrong, why) in [
        (signature[..signature.len() / 2].to_string(), "cut short"),
        (String::new(), "cut short"),
        (signature.clone() + "for a friend\n", "cut short"),
        (signature.replace("SSH SIGNATURE", "PGP SIGNATURE"), "cut short"),
        (signature.replace("AAAAA", "AAAAB"), "certificate.json.sig"),
    ] {
        fs::write(here.join(SIGNATURE), &wrong).unwrap();
        says(here, &["verify", "out"], 1, why);
        says(here, &["verify", "out", "--signer", "key.pub"], 1, why);
    }
    #[cfg(unix)]
    {
        fs::write(here.join("elsewhere"), &signature).unwrap();
        fs::remove_file(here.join(SIGNATURE)).unwrap();
        std::os::unix::fs::symlink(here.join("elsewhere"), here.join(SIGNATURE)).unwrap();
        says(here, &["verify", "out"], 1, "not a plain file");
    }
}

#[test]
fn a_signature_of_another_release_is_refused() {
    let folder = signed();
    let here = folder.path();
    // Its certificate says that it is a test, so that it differs.
    says(here, &["anonymize", "p.toml", "-o", "second", "--seed", "1"], 0, "released");
    fs::copy(here.join(SIGNATURE), here.join("second/release/certificate.json.sig")).unwrap();
    says(here, &["verify", "second"], 1, "belongs to another release");
}

#[test]
fn a_release_is_signed_after_it_was_published_and_can_still_be_replaced() {
    let folder = folder(TABLE.as_bytes(), POLICY);
    let here = folder.path();
    for key in ["key", "other"] {
        says(here, &["key", key], 0, "fingerprint");
    }
    says(here, &["anonymize", "p.toml", "-o", "out"], 0, "released");
    says(here, &["sign", "out/release", "--key", "key"], 0, "signed: ");
    says(here, &["sign", "out", "--key", "key"], 0, "signed: ");
    says(here, &["sign", "out", "--key", "other"], 2, "already signed");
    accepted(here, &["verify", "out", "--signer", "key.pub"], "signed by custodian");
    says(here, &["anonymize", "p.toml", "-o", "out", "--force"], 0, "released");
    accepted(here, &["verify", "out"], "unsigned");
}

#[test]
fn nothing_is_signed_that_does_not_verify() {
    let folder = signed();
    let here = folder.path();
    fs::remove_file(here.join(SIGNATURE)).unwrap();
    let data = here.join("out/release/data.csv");
    fs::write(&data, fs::read_to_string(&data).unwrap() + "x,x,x,x\n").unwrap();
    let before = listing(here);
    says(here, &["sign", "out", "--key", "key"], 1, "SHA-256");
    says(here, &["sign", "nowhere", "--key", "key"], 2, "not a release");
    assert_eq!(listing(here), before);
}

#[test]
fn a_key_is_never_overwritten_and_only_its_owner_can_read_it() {
    let folder = signed();
    let here = folder.path();
    let before = fs::read(here.join("key")).unwrap();
    says(here, &["key", "key"], 2, "never overwritten");
    fs::rename(here.join("key"), here.join("moved")).unwrap();
    says(here, &["key", "key"], 2, "key.pub exists");
    assert_eq!(fs::read(here.join("moved")).unwrap(), before);
    says(here, &["verify", "out", "--signer", "moved"], 2, "ends in .pub");
    says(here, &["anonymize", "p.toml", "-o", "second", "--sign", "moved.pub"], 2, "moved.pub");
    says(here, &["anonymize", "p.toml", "-o", "second", "--sign", "key.pub"], 2, "not a secret key");
    assert!(!here.join("second").exists(), "nothing is published without the signature that was asked for");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |name: &str| fs::metadata(here.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("moved"), 0o600);
        fs::set_permissions(here.join("moved"), fs::Permissions::from_mode(0o640)).unwrap();
        says(here, &["sign", "out", "--key", "moved"], 2, "chmod 600");
    }
}

#[test]
fn every_sample_is_signed() {
    let rows: String = (0..40).map(|i| format!("{i},{},x\n", i % 4)).collect();
    let folder = folder(
        format!("id,q,s\n{rows}").as_bytes(),
        "[input]\ntable = \"t.csv\"\n[columns]\nid = { role = \"identifier\" }\nq = { role = \"quasi\" }\n\
         s = { role = \"other\", reason = \"a test\" }\n[privacy]\nk = 5\nknows = \"all\"\n[method]\nname = \"suppress\"\n\
         samples = [0.3, 0.3]\n",
    );
    let here = folder.path();
    says(here, &["key", "key"], 0, "fingerprint");
    says(here, &["anonymize", "p.toml", "-o", "out", "--sign", "key"], 0, "signed");
    says(here, &["anonymize", "p.toml", "-o", "later"], 0, "sample-2");
    says(here, &["sign", "later", "--key", "key"], 0, "sample-2");
    for sample in ["out/sample-1", "out/sample-2", "later/sample-1", "later/sample-2"] {
        accepted(here, &["verify", sample, "--signer", "key.pub"], "signed by custodian");
    }
    says(here, &["anonymize", "p.toml", "-o", "later", "--force"], 0, "sample-2");
}

/// Runs ssh-keygen; nothing where it is not installed.
fn ssh_keygen(folder: &Path, args: &[&str], input: Option<&str>) -> Option<bool> {
    let mut command = Command::new("ssh-keygen");
    command.current_dir(folder).args(args);
    if let Some(input) = input {
        command.stdin(fs::File::open(folder.join(input)).unwrap());
    }
    command.output().ok().map(|output| output.status.success())
}

#[test]
fn ssh_keygen_checks_what_kohort_signed() {
    let folder = signed();
    let here = folder.path();
    fs::write(here.join("signers"), format!("custodian {}", public(here, "key"))).unwrap();
    let check = |certificate: &str| {
        let args = ["-Y", "verify", "-f", "signers", "-I", "custodian", "-n", "kohort", "-s", SIGNATURE];
        ssh_keygen(here, &args, Some(certificate))
    };
    // A signature that ssh-keygen made is stored beside the reader of signatures, for machines without it.
    let Some(good) = check("out/release/certificate.json") else { return };
    assert!(good, "ssh-keygen accepts the signature");
    assert_eq!(check("out/release/dictionary.md"), Some(false), "and not for another file");
    // It reads our secret keys too.
    assert_eq!(ssh_keygen(here, &["-y", "-f", "key"], None), Some(true));
}

#[test]
fn kohort_checks_what_ssh_keygen_signed() {
    let folder = signed();
    let here = folder.path();
    fs::remove_file(here.join(SIGNATURE)).unwrap();
    let make = |args: &[&str]| ssh_keygen(here, args, None);
    let Some(made) = make(&["-q", "-t", "ed25519", "-N", "", "-C", "Ward 3", "-f", "theirs"]) else { return };
    assert!(made);
    says(here, &["sign", "out", "--key", "theirs"], 0, "signed: ");
    accepted(here, &["verify", "out", "--signer", "theirs.pub"], "signed by Ward 3");
    fs::remove_file(here.join(SIGNATURE)).unwrap();
    let sign = |key: &str, purpose: &str| {
        let _ = fs::remove_file(here.join(SIGNATURE));
        assert_eq!(make(&["-Y", "sign", "-n", purpose, "-f", key, "out/release/certificate.json"]), Some(true));
    };
    sign("theirs", "kohort");
    accepted(here, &["verify", "out", "--signer", "theirs.pub"], "signed by Ward 3");
    sign("theirs", "file");
    says(here, &["verify", "out", "--signer", "theirs.pub"], 1, "another purpose");
    // With a passphrase only ssh-keygen can sign.
    assert_eq!(make(&["-q", "-p", "-N", "long passphrase", "-f", "theirs"]), Some(true));
    fs::remove_file(here.join(SIGNATURE)).unwrap();
    says(here, &["sign", "out", "--key", "theirs"], 2, "passphrase");
}
