//! A stranger may have written the certificate: `verify` answers with a refusal or says that this is no release.
//! It never panics, and it never says "verified" of something it did not count.

use crate::common;
use crate::common::run::{options, release};
use crate::common::tamper::{certificate, copy, put_certificate};
use kohort_core::error::Kind;
use kohort_core::verify::verify_release;
use serde_json::{Value, json};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

const TABLE: &str = "q,r,d,s,o\na,1,x,0,k\na,1,x,1,k\na,1,x,2,k\nb,2,y,0,k\nb,2,y,1,k\nb,2,y,2,k\n";

/// A release with everything a certificate can hold.
fn honest(folder: &Path) -> PathBuf {
    fs::write(folder.join("t.csv"), TABLE).unwrap();
    fs::write(folder.join("s.csv"), "0;low;*\n1;low;*\n2;high;*\n").unwrap();
    let policy = folder.join("p.toml");
    fs::write(
        &policy,
        "[input]\ntable = \"t.csv\"\n[columns]\nq = { role = \"quasi\" }\nr = { role = \"quasi\" }\nd = { role = \"detail\", of = [\"q\"] }\n\
         s = { role = \"sensitive\", hierarchy = \"s.csv\", values = [\"0\"] }\no = { role = \"other\", reason = \"a test\" }\n\
         [privacy]\nk = 3\nknows = [[\"q\"], [\"q\", \"r\"]]\nconfidence = 0.5\nl_diversity = { recursive = [2, 2] }\n\
         t_closeness = { max = 0.5, distance = \"hierarchical\" }\n[method]\nname = \"lattice\"\nmax_suppressed = 0\n",
    )
    .unwrap();
    release(&policy, "out", &options(1, 1)).unwrap().0
}

/// Where a change leaves nothing to count wrongly: words about the claim, and the claim itself, which is
/// counted as it stands, whatever it is.
const WORDS: [&str; 4] = ["kohort", "attested/effects", "attested/test", "counted/claim"];

#[track_caller]
fn check(folder: &Path, what: &str) -> bool {
    match catch_unwind(AssertUnwindSafe(|| verify_release(folder, 1))) {
        Err(_) => panic!("{what}: panicked"),
        Ok(Ok(_)) => true,
        Ok(Err(error)) => {
            assert!(matches!(error.kind, Kind::Refused | Kind::Yours), "{what}: {error:?}");
            false
        }
    }
}

/// Every place in a JSON value, as a path of keys and numbers.
fn places(value: &Value, path: String, all: &mut Vec<String>) {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(k, v)| (k.replace('~', "~0").replace('/', "~1"), v)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(i, v)| (i.to_string(), v)).collect(),
        _ => Vec::new(),
    };
    for (key, value) in below {
        all.push(format!("{path}/{key}"));
        places(value, format!("{path}/{key}"), all);
    }
}

#[test]
fn no_change_to_a_certificate_is_let_pass_or_ends_in_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let out = honest(folder.path());
    let original = certificate(&out);
    let mut all = Vec::new();
    places(&original, String::new(), &mut all);
    assert!(all.len() > 60);
    let deep = (0..100).fold(json!([]), |inner, _| json!([inner]));
    let values = [
        Value::Null,
        json!(true),
        json!(-1),
        json!(0),
        json!(1),
        json!(1e300),
        json!(u64::MAX),
        json!(0.5),
        json!(""),
        json!("x"),
        json!("1"),
        json!("99999999999999999999999999"),
        json!("../t.csv"),
        json!("\u{0}"),
        json!([]),
        json!([[]]),
        json!({}),
        deep,
    ];
    for place in &all {
        let harmless = |changed: &Value| WORDS.iter().any(|own| place[1..].starts_with(own)) || *changed == original;
        for value in &values {
            let mut changed = original.clone();
            *changed.pointer_mut(place).unwrap() = value.clone();
            put_certificate(&out, &changed);
            let passed = check(&out, &format!("{place} = {value}"));
            assert!(!passed || harmless(&changed), "{place} = {value} is let pass");
        }
        let (parent, key) = place.rsplit_once('/').unwrap();
        let mut changed = original.clone();
        match changed.pointer_mut(parent).unwrap() {
            Value::Object(map) => drop(map.shift_remove(key)),
            Value::Array(list) => drop(list.remove(key.parse().unwrap())),
            _ => unreachable!(),
        }
        put_certificate(&out, &changed);
        assert!(!check(&out, &format!("without {place}")) || harmless(&changed), "without {place} it is let pass");
    }
    put_certificate(&out, &original);
    assert!(check(&out, "as it was"));
}

/// Changes that keep a certificate well-formed: (what, change, what the error says).
type Lie = (&'static str, fn(&mut Value, &Path), &'static str);

const LIES: [Lie; 17] = [
    ("k = 1", |c, _| c["counted"]["claim"]["k"] = json!(1), "protects nobody"),
    ("a larger k", |c, _| c["counted"]["claim"]["k"] = json!(4), "fewer than 4"),
    ("nothing is known", |c, _| c["counted"]["claim"]["knows"] = json!([]), "not in any of the sets"),
    ("one column is not known", |c, _| c["counted"]["claim"]["knows"] = json!([["q"]]), "not in any of the sets"),
    ("a number of columns: none", |c, _| c["counted"]["claim"]["knows"] = json!(0), "knows nothing"),
    ("another set", |c, _| c["counted"]["claim"]["knows"] = json!("all"), ""),
    ("patients", |c, _| c["attested"]["unit"] = json!("patient"), ""),
    ("no claim of sensitive values", |c, _| c["counted"]["claim"]["sensitive"] = json!([]), ""),
    ("a quasi-identifier as other", |c, _| c["counted"]["columns"][1]["role"] = json!("other"), ""),
    ("an identifier", |c, _| c["counted"]["columns"][4]["role"] = json!("identifier"), "never released"),
    (
        "a column less",
        |c, _| drop(c["counted"]["columns"].as_array_mut().unwrap().pop()),
        "not those the certificate declares",
    ),
    (
        "a column more",
        |c, _| c["counted"]["columns"].as_array_mut().unwrap().push(json!({"name": "z", "role": "other"})),
        "not those",
    ),
    ("another delimiter", |c, _| c["counted"]["text"]["delimiter"] = json!("|"), ""),
    ("a quote as delimiter", |c, _| c["counted"]["text"]["delimiter"] = json!("\""), ""),
    ("a line end as delimiter", |c, _| c["counted"]["text"]["delimiter"] = json!("\n"), ""),
    ("a stronger sentence", |c, _| c["counted"]["guarantee"] = json!("Nobody can ever be found."), ""),
    (
        "a file beside the data",
        |c, folder| {
            fs::write(folder.join("release/names.csv"), "name\nCANARY\n").unwrap();
            let hash = "not looked at";
            c["counted"]["files"].as_array_mut().unwrap().push(json!({"name": "names.csv", "sha256": hash}));
        },
        "",
    ),
];

#[test]
fn a_lie_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = honest(folder.path());
    for (what, lie, message) in LIES {
        let copied = folder.path().join("lie");
        copy(&out, &copied);
        let mut changed = certificate(&copied);
        lie(&mut changed, &copied);
        put_certificate(&copied, &changed);
        let error = verify_release(&copied, 1).expect_err(what);
        assert!(matches!(error.kind, Kind::Refused | Kind::Yours), "{what}: {error:?}");
        assert!(error.message.contains(message), "{what}: {error}");
        fs::remove_dir_all(&copied).unwrap();
    }
}

/// A file that is listed with its own hash but is no file of a release: nobody counted what is in it.
#[test]
fn a_listed_file_that_nobody_counted_is_refused() {
    use sha2::{Digest, Sha256};
    for name in ["names.csv", "data.csv.gz", "data.parquet", "notes.md", ".hidden", "Data.csv"] {
        for rows in [None, Some(1)] {
            let folder = tempfile::tempdir().unwrap();
            let out = honest(folder.path());
            let bytes = b"name\nCANARY\n";
            fs::write(out.join("release").join(name), bytes).unwrap();
            let mut changed = certificate(&out);
            let hash: String = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
            let mut file = json!({ "name": name, "sha256": hash });
            if let Some(rows) = rows {
                file["rows"] = json!(rows);
            }
            changed["counted"]["files"].as_array_mut().unwrap().push(file);
            put_certificate(&out, &changed);
            let error = verify_release(&out, 1).expect_err(name);
            assert_eq!(error.kind, Kind::Refused, "{name}: {error}");
        }
    }
}

/// What is done to release/.
type Change = (&'static str, fn(&Path));

#[test]
fn files_that_are_not_listed_or_not_there_are_refused() {
    let changes: [Change; 6] = [
        ("a file more", |r| fs::write(r.join("more.csv"), "x").unwrap()),
        ("a folder more", |r| fs::create_dir(r.join("more")).unwrap()),
        ("a hidden file", |r| fs::write(r.join(".DS_Store"), "x").unwrap()),
        ("no data", |r| fs::remove_file(r.join("data.csv")).unwrap()),
        ("no dictionary", |r| fs::remove_file(r.join("dictionary.md")).unwrap()),
        ("another dictionary", |r| fs::write(r.join("dictionary.md"), "x").unwrap()),
    ];
    for (what, change) in changes {
        let folder = tempfile::tempdir().unwrap();
        let out = honest(folder.path());
        change(&out.join("release"));
        assert_eq!(verify_release(&out, 1).expect_err(what).kind, Kind::Refused, "{what}");
    }
}

#[test]
fn text_that_is_no_certificate_is_no_release() {
    let folder = tempfile::tempdir().unwrap();
    let out = honest(folder.path());
    let path = out.join("release/certificate.json");
    let whole = fs::read(&path).unwrap();
    for cut in (0..whole.len() - 1).step_by(17) {
        fs::write(&path, &whole[..cut]).unwrap();
        assert!(!check(&out, &format!("cut at {cut}")));
    }
    let text = String::from_utf8(whole.clone()).unwrap();
    let nested = "[".repeat(200_000);
    for text in
        ["", "null", "[]", "{}", "\u{0}", "\"kohort-certificate\"", &nested, &text.replace("\"k\": 3", "\"k\": 3e400")]
    {
        fs::write(&path, text).unwrap();
        assert!(!check(&out, &text[..text.len().min(20)]));
    }
    fs::write(&path, b"\xff\xfe{\x00}\x00").unwrap();
    assert!(!check(&out, "UTF-16"));
    let mut invalid = whole;
    invalid[10] = 0xff;
    fs::write(&path, invalid).unwrap();
    assert!(!check(&out, "no UTF-8"));
    assert_eq!(verify_release(folder.path(), 1).unwrap_err().kind, Kind::Yours, "a folder that is no release");
    assert_eq!(verify_release(&folder.path().join("none"), 1).unwrap_err().kind, Kind::Yours, "no folder");
}

/// The data itself may be hostile too.
#[test]
fn data_that_cannot_be_read_is_refused_and_its_values_are_not_named() {
    let folder = tempfile::tempdir().unwrap();
    let out = honest(folder.path());
    let header = "q,r,d,s,o\n";
    let long = "CANARY,".repeat(100_000);
    for data in [
        "",
        header,
        "\n",
        "q,r,d,s\nCANARY,1,1,1\n",
        "q,r,d,s,o\nCANARY,1\n",
        "q,r,d,s,o\n\"CANARY,1,x,0,k\n",
        "q,q,d,s,o\nCANARY,1,x,0,k\n",
        "q,r,d,s,o,z\nCANARY,1,x,0,k,0\n",
        "q,r,d,s,o\rCANARY,1,x,0,k\r",
        "PAR1CANARYPAR1",
        "\u{1f}\u{8b}CANARY",
        &long,
    ] {
        fs::write(out.join("release/data.csv"), data).unwrap();
        common::tamper::certificate(&out);
        let mut changed = certificate(&out);
        use sha2::{Digest, Sha256};
        let hash: String = Sha256::digest(data).iter().map(|b| format!("{b:02x}")).collect();
        changed["counted"]["files"][0]["sha256"] = json!(hash);
        put_certificate(&out, &changed);
        let error = verify_release(&out, 2).unwrap_err();
        assert!(matches!(error.kind, Kind::Refused | Kind::Yours), "{error:?}");
        assert!(!format!("{error:?} {error}").contains("CANARY"), "{error}");
    }
}

/// The text of an honest certificate, changed as text: a JSON value cannot hold a key twice.
fn with_text(out: &Path, change: impl Fn(&str) -> String) -> kohort_core::Error {
    let path = out.join("release/certificate.json");
    let honest = fs::read_to_string(&path).unwrap();
    let changed = change(&honest);
    assert_ne!(changed, honest);
    fs::write(&path, changed).unwrap();
    let error = verify_release(out, 1).expect_err("it is refused");
    fs::write(&path, honest).unwrap();
    error
}

#[test]
fn a_key_that_is_there_twice_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = honest(folder.path());
    for (object, key, value) in [
        ("\"claim\": {", "k", "5000"),
        ("\"recount\": {", "smallest_class", "5000"),
        ("\"guarantee\": {", "aware", "\"Nobody can ever be found.\""),
        ("\"effects\": {", "single_cells", "false"),
        ("\"attested\": {", "unit", "\"row\""),
    ] {
        let error = with_text(&out, |text| text.replacen(object, &format!("{object} \"{key}\": {value},"), 1));
        assert_eq!(error.kind, Kind::Yours, "{error}");
        assert!(error.message.contains(&format!("`{key}` appears twice")), "{error}");
    }
    assert!(check(&out, "as it was"));
}

#[test]
fn a_key_that_no_certificate_has_is_refused_and_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let out = honest(folder.path());
    let text = fs::read_to_string(out.join("release/certificate.json")).unwrap();
    let objects = text.matches('{').count();
    assert!(objects > 10);
    for n in 0..objects {
        let error = with_text(&out, |text| {
            let (at, _) = text.match_indices('{').nth(n).unwrap();
            format!("{}{{\"CANARY\": 1,{}", &text[..at], &text[at + 1..])
        });
        assert_eq!(error.kind, Kind::Yours, "{error}");
        assert!(error.message.contains("an unknown "), "{error}");
        assert!(!error.message.contains("CANARY"), "{error}");
    }
}

/// The reason why a release whose certificate was changed is not verified.
fn reason(out: &Path, change: impl FnOnce(&mut Value)) -> String {
    let honest = certificate(out);
    let mut changed = honest.clone();
    change(&mut changed);
    put_certificate(out, &changed);
    let error = verify_release(out, 1).expect_err("it is refused");
    put_certificate(out, &honest);
    error.message
}

/// V2: two values under very many equal ancestors would be near each other; the steps make no tree taller.
#[test]
fn a_tree_that_is_deeper_than_it_has_labels_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = honest(folder.path());
    let tree = |above: &dyn Fn(usize) -> Vec<String>| -> Value {
        let path = |leaf: usize| [vec![leaf.to_string()], above(leaf), vec!["*".into()]].concat();
        json!((0..3).map(path).collect::<Vec<_>>())
    };
    let place = "/counted/claim/sensitive/0/t_closeness/tree";
    let equal = tree(&|_| vec!["x".to_string(); 1000]);
    assert!(reason(&out, |c| *c.pointer_mut(place).unwrap() = equal).contains("deeper than it has different labels"));
    let hidden = tree(&|_| vec!["\u{200b}".to_string()]);
    assert!(reason(&out, |c| *c.pointer_mut(place).unwrap() = hidden).contains("cannot be seen"));
    // With a name for each step it is a tree, and the steps still measure nothing.
    let mut named = certificate(&out);
    let steps =
        tree(&|leaf| (0..1000).map(|step| format!("{}-{step}", if leaf < 2 { "low" } else { "high" })).collect());
    *named.pointer_mut(place).unwrap() = steps;
    put_certificate(&out, &named);
    verify_release(&out, 1).expect("the distances are those of the honest tree");
}

#[test]
fn a_file_that_is_listed_twice_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = honest(folder.path());
    for times in [1, 500] {
        let message = reason(&out, |c| {
            let files = c["counted"]["files"].as_array_mut().unwrap();
            let dictionary = files.iter().find(|f| f["name"] == "dictionary.md").unwrap().clone();
            files.extend(std::iter::repeat_n(dictionary, times));
        });
        assert!(message.contains("lists a file twice"), "{message}");
    }
    let message = reason(&out, |c| {
        let all = c["counted"]["claim"]["sensitive"].as_array_mut().unwrap();
        all.push(all[0].clone());
    });
    assert!(message.contains("named twice"), "{message}");
}

/// V5: what a link leads to may be another file tomorrow.
#[cfg(unix)]
#[test]
fn symbolic_links_in_a_release_are_refused() {
    for name in ["release", "release/data.csv", "release/certificate.json", "release/dictionary.md"] {
        let folder = tempfile::tempdir().unwrap();
        let out = honest(folder.path());
        let (inside, outside) = (out.join(name), folder.path().join("elsewhere"));
        fs::rename(&inside, &outside).unwrap();
        std::os::unix::fs::symlink(&outside, &inside).unwrap();
        let error = verify_release(&out, 1).expect_err(name);
        assert!(error.kind == Kind::Refused && error.message.contains("symbolic link"), "{name}: {error}");
    }
}

/// V5: who hands over DIR hands over what lies beside release/, too.
#[test]
fn files_beside_the_release_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let out = honest(folder.path());
    fs::write(out.join("names.csv"), "x").unwrap();
    let beside = verify_release(&out, 1).unwrap().verdict().beside.clone();
    assert_eq!(beside, ["evidence", "names.csv", "private"]);
    assert!(verify_release(&out.join("release"), 1).unwrap().verdict().beside.is_empty());
}
