//! Vectors that are not refused: everything was counted, or what could not be counted is named.

use super::Expected::{Partly, Refused, Verified};
use super::bases::{Base, parquet};
use super::{Expected, Made, Vector};
use kohort::SecretKey;
use kohort_core::signature::{SIGNATURE_FILE, sign};
use serde_json::json;
use std::fs;

/// A key that everybody knows: it is in the fuzzer's corpus.
fn key() -> SecretKey {
    let text = include_str!("../../../../kohort-fuzz/corpus/signatures/secret-key-that-everybody-knows.txt");
    SecretKey::parse(text).unwrap()
}

/// Signs a release, and puts the public key beside it.
pub(super) fn signed(made: &Made) {
    let certificate = fs::read(made.release("certificate.json")).unwrap();
    fs::write(made.release(SIGNATURE_FILE), sign(&certificate, &key())).unwrap();
    public_key(made);
}

/// Puts the public key beside a release that it did not sign.
pub(super) fn public_key(made: &Made) {
    fs::write(made.0.join("signer.pub"), key().public().to_line("custodian")).unwrap();
}

/// The honest releases, with the result from the release alone and with the original.
const HONEST: [(Base, &str, Expected, Expected, &str); 28] = [
    (Base::Table, "table", Verified, Verified, "a table of rows with every requirement on a sensitive column"),
    (Base::Patients, "patients", Partly, Verified, "patients with several rows: a recipient counts rows only"),
    (Base::Ten, "ten_patients", Partly, Verified, "ten patients who look the same"),
    (Base::Names, "names", Partly, Partly, "a forgotten column of names: no requirement covers it, and it is unique"),
    (Base::Missing, "all_missing", Verified, Verified, "a class whose sensitive values are all missing"),
    (Base::Thirty, "thirty", Verified, Verified, "thirty rows in random order"),
    (Base::Overlap, "overlap", Partly, Verified, "single suppressed cells beside a patient column and a limit"),
    (Base::Corpus("ceiling"), "synthetic", Partly, Verified, "synthetic records with a catalog"),
    (
        Base::Corpus("claims"),
        "events_power",
        Partly,
        Partly,
        "patient histories, estimated by draws; a pseudonym is nearly unique",
    ),
    (
        Base::Corpus("claims-total"),
        "events_total",
        Partly,
        Partly,
        "patient histories, counted exactly; a pseudonym is nearly unique",
    ),
    (
        Base::Corpus("disassociate"),
        "codes",
        Partly,
        Verified,
        "clusters of codes, one row per patient: a recipient counts records, not patients",
    ),
    (Base::Corpus("long"), "codes_long", Partly, Verified, "clusters of codes, one row per code"),
    (Base::Demographics, "codes_with_quasi", Partly, Verified, "clusters of codes with a quasi-identifier beside them"),
    (Base::Repeats, "codes_repeats", Partly, Verified, "a raw code that looks like a repeat of a sensitive one"),
    (Base::ThreeTables, "events_three_tables", Partly, Verified, "three tables of events, counted exactly"),
    (Base::Pairs, "events_pairs", Partly, Verified, "events of which two columns that belong together may be known"),
    (Base::Shown, "synthetic_shown", Partly, Verified, "limits that may not hold without the synthetic records"),
    (Base::Parts, "parts", Verified, Verified, "a folder of Parquet parts"),
    (
        Base::Markup,
        "markup_in_a_name",
        Verified,
        Verified,
        "a column whose name is markup, which the dictionary escapes",
    ),
    (Base::OneValue, "one_value", Verified, Verified, "a column of one value, which stays as it is"),
    (Base::Wide, "wide", Verified, Verified, "any two of twenty-two quasi-identifiers known"),
    (Base::Corpus("gzip"), "gzip", Partly, Verified, "a compressed table"),
    (Base::Corpus("parquet"), "parquet", Partly, Verified, "a Parquet table"),
    (Base::Corpus("lattice"), "lattice", Partly, Verified, "all quasi-identifiers known, patients, confidence"),
    (Base::Corpus("local"), "local", Verified, Verified, "labels of different levels, with hierarchy.csv"),
    (Base::Corpus("samples"), "sample", Partly, Partly, "a random sample: the guarantee is about the whole file"),
    (Base::Corpus("specialize"), "any_two", Partly, Verified, "any two quasi-identifiers known"),
    (Base::Corpus("suppress"), "listed_sets", Partly, Verified, "listed sets of columns known"),
];

/// The finding that an honest release answers.
fn finding(name: &str) -> &'static str {
    match name {
        "patients" | "ten_patients" => "R3 V3",
        "names" => "V4",
        "all_missing" => "R5",
        "overlap" => "R7",
        "synthetic" => "R2",
        "codes" | "codes_long" => "V3",
        "markup_in_a_name" | "one_value" | "codes_repeats" => "R6",
        "events_power" => "V1",
        "thirty" => "T4",
        _ => "",
    }
}

/// The rows of a folder of parts, in two parts.
pub(super) fn two_parts(made: &Made) {
    made.put_parts(&[parquet(&[["a", "x"]; 3]), parquet(&[["b", "x"]; 3])]);
}

pub(super) fn vectors() -> Vec<Vector> {
    let mut all = Vec::new();
    for (base, name, alone, compared, about) in HONEST {
        let named = |depth: &str| format!("good_{name}{depth}");
        all.push(Vector::new(base, &named(""), alone, about, |_| {}).finding(finding(name)));
        let about = format!("{about}; compared with the original, row by row");
        all.push(Vector::new(base, &named("_original"), compared, &about, |_| {}).original().finding(finding(name)));
    }
    let table =
        |name: &str, result, about: &str, change: fn(&Made)| Vector::new(Base::Table, name, result, about, change);
    all.extend([
        table("good_signed", Verified, "signed by the key that is expected", signed).signer().finding("V7"),
        table("good_signed_nobody_asked", Verified, "signed, and no key is named", signed).finding("V7"),
        table("good_signed_strict", Verified, "signed by a known key, and everything was counted", signed)
            .signer()
            .strict()
            .finding("V7"),
        table("good_unsigned_strict", Refused, "unsigned: with --strict somebody must vouch", |_| {})
            .strict()
            .finding("V7"),
        table("good_indented_otherwise", Verified, "white space in the certificate means nothing", |made| {
            made.file("certificate.json", |text| text.replace("\n    ", "\n\t"));
        }),
        table("good_other_order_of_keys", Verified, "the order of keys means nothing", |made| {
            made.certificate_reversed();
        }),
        table("good_other_version_of_kohort", Verified, "the version of Kohort is words", |made| {
            made.certificate(|c| c["kohort"] = json!("0.1.7"));
        }),
        table("good_no_test_flag", Verified, "whether it is a test is stated, and nobody can count it", |made| {
            made.certificate(|c| drop(c["attested"].as_object_mut().unwrap().shift_remove("test")));
        })
        .finding("V3"),
        table("good_file_beside_release", Verified, "a file beside release/ is named, and no part of it", |made| {
            fs::create_dir_all(made.0.join("release")).unwrap();
            fs::write(made.0.join("notes.txt"), "beside\n").unwrap();
        })
        .finding("V5"),
        Vector::new(
            Base::Patients,
            "good_patients_signed_strict",
            Refused,
            "a signature does not count patients",
            signed,
        )
        .signer()
        .strict()
        .finding("V3 V7"),
        table("good_lines_end_in_crlf", Partly, "line ends that may hide something", |made| {
            made.rehashed("data.csv", |text| text.replace('\n', "\r\n"));
        })
        .finding("T3"),
        table("good_some_lines_end_in_crlf", Partly, "two kinds of line ends spell a message", |made| {
            made.rehashed("data.csv", |text| text.replacen('\n', "\r\n", 3));
        })
        .finding("T3"),
        table("good_quotes_that_say_nothing", Partly, "quotes around cells that need none", |made| {
            made.rehashed("data.csv", |text| text.replacen("\na,", "\n\"a\",", 1));
        })
        .finding("T3"),
        table("good_byte_order_mark", Partly, "a byte order mark before the data", |made| {
            made.rehashed("data.csv", |text| format!("\u{feff}{text}"));
        })
        .finding("T3"),
        table("good_quotes_strict", Refused, "with --strict nothing may be hidden beside the cells", |made| {
            made.rehashed("data.csv", |text| text.replacen("\na,", "\n\"a\",", 1));
            signed(made);
        })
        .signer()
        .strict()
        .finding("T3"),
        Vector::new(
            Base::Corpus("gzip"),
            "good_gzip_with_comment_original",
            Partly,
            "a comment in the head of a compressed table, compared with the original",
            |made| {
                made.rehashed_bytes("data.csv.gz", |bytes| {
                    bytes[3] |= 0x10;
                    drop(bytes.splice(10..10, b"Ann was here\0".iter().copied()));
                });
            },
        )
        .original()
        .finding("T3"),
        Vector::new(
            Base::Corpus("parquet"),
            "good_parquet_with_more_original",
            Partly,
            "bytes between the cells and the end of a Parquet table, compared with the original",
            |made| {
                made.rehashed_bytes("data.parquet", |bytes| {
                    let end = bytes.len();
                    let footer = u32::from_le_bytes(bytes[end - 8..end - 4].try_into().unwrap()) as usize;
                    drop(bytes.splice(end - 8 - footer..end - 8 - footer, b"Ann was here".iter().copied()));
                });
            },
        )
        .original()
        .finding("T3"),
        Vector::new(
            Base::Missing,
            "good_spellings_of_one_value",
            Partly,
            "one value in three spellings counts as three different ones",
            |made| {
                made.rehashed("data.csv", |t| t.replace("b,hiv", "b,FLU").replace("b,tb", "b,flu "));
            },
        )
        .finding("T2"),
        Vector::new(
            Base::Missing,
            "good_hidden_characters_in_values",
            Partly,
            "one value with and without characters that nobody sees",
            |made| {
                made.rehashed("data.csv", |t| t.replace("b,hiv", "b,flu\u{200b}").replace("b,tb", "b,\u{2060}"));
            },
        )
        .finding("T2"),
        Vector::new(
            Base::Missing,
            "good_accents_in_two_ways",
            Partly,
            "one value twice: with accents in letters, and with accents behind letters",
            |made| {
                made.rehashed("data.csv", |t| {
                    t.replace("b,hiv", "b,M\u{e9}ni\u{e8}re").replace("b,tb", "b,Me\u{301}nie\u{300}re")
                });
            },
        )
        .finding("T2"),
        table(
            "good_limit_on_another_spelling",
            Partly,
            "a limit on a value that only looks like a released one",
            |made| {
                made.certificate(|c| c["counted"]["claim"]["sensitive"][0]["values"] = json!(["0 "]));
                made.certificate(|c| {
                    c["counted"]["recount"]["sensitive"][0].as_object_mut().unwrap().shift_remove("highest_confidence");
                });
            },
        )
        .finding("T2"),
        Vector::new(
            Base::Corpus("local"),
            "good_hierarchy_quotes",
            Partly,
            "quotes in hierarchy.csv that say nothing",
            |made| made.rehashed("hierarchy.csv", |text| text.replacen("\nage,", "\n\"age\",", 1)),
        )
        .finding("T3"),
        Vector::new(
            Base::Corpus("ceiling"),
            "good_synthetic_catalog_quotes_original",
            Partly,
            "quotes in a catalog that say nothing, compared with the original",
            |made| made.rehashed("catalog.csv", |text| text.replacen("classes,", "\"classes\",", 1)),
        )
        .original()
        .finding("T3"),
        Vector::new(Base::Parts, "good_parts_two", Verified, "two parts, which are one table in this order", two_parts),
        Vector::new(Base::Names, "good_names_strict", Refused, "with --strict a column of names is refused", |_| {})
            .strict()
            .finding("V4"),
    ]);
    all
}

impl Made {
    /// Writes the keys of the certificate's first level in the reverse order.
    fn certificate_reversed(&self) {
        self.file("certificate.json", |text| {
            let value: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).unwrap();
            let reversed: serde_json::Map<_, _> = value.into_iter().rev().collect();
            serde_json::to_string_pretty(&reversed).unwrap() + "\n"
        });
    }
}
