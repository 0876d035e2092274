//! Vectors that must not be accepted: what a stranger can do to a release and its certificate.

use super::Expected::{NotARelease, Refused};
use super::bases::{Base, parquet};
use super::good::{public_key, signed, two_parts};
use super::{Expected, Made, Vector};
use kohort_core::signature::SIGNATURE_FILE;
use serde_json::{Value, json};
use std::fs;

/// A change to the JSON of a certificate: name, result, finding, description, change.
type Edit = (&'static str, Expected, &'static str, &'static str, fn(&mut Value));

/// Changes to the certificate of the table.
const CLAIMS: [Edit; 45] = [
    ("k_of_one", NotARelease, "", "k = 1 protects nobody", |c| c["counted"]["claim"]["k"] = json!(1)),
    ("k_too_large", Refused, "", "a larger k than the classes have", |c| c["counted"]["claim"]["k"] = json!(4)),
    ("k_as_text", NotARelease, "", "k is not a number", |c| c["counted"]["claim"]["k"] = json!("3")),
    ("k_negative", NotARelease, "", "k is negative", |c| c["counted"]["claim"]["k"] = json!(-3)),
    ("k_missing", NotARelease, "", "no k", |c| remove(&mut c["counted"]["claim"], "k")),
    ("knows_no_sets", Refused, "V3", "an attacker who knows nothing", |c| c["counted"]["claim"]["knows"] = json!([])),
    ("knows_less", Refused, "V3", "a quasi-identifier in none of the sets", |c| {
        c["counted"]["claim"]["knows"] = json!([["q"]]);
    }),
    ("knows_zero", Refused, "V3", "any 0 columns", |c| c["counted"]["claim"]["knows"] = json!(0)),
    ("knows_unknown_column", Refused, "", "a set names a column that is not there", |c| {
        c["counted"]["claim"]["knows"] = json!([["q", "r"], ["zip"]]);
    }),
    (
        "sensitive_dropped",
        Refused,
        "V3",
        "no requirement on the sensitive column, and the sentence still has it",
        |c| {
            c["counted"]["claim"]["sensitive"] = json!([]);
        },
    ),
    ("confidence_lower", Refused, "", "a lower confidence than the classes have", |c| {
        c["counted"]["claim"]["sensitive"][0]["confidence"] = json!("0.2");
    }),
    ("confidence_above_one", NotARelease, "", "a share above 1", |c| {
        c["counted"]["claim"]["sensitive"][0]["confidence"] = json!("1.5");
    }),
    ("confidence_spelled_otherwise", NotARelease, "V4", "a share with needless zeros", |c| {
        c["counted"]["claim"]["sensitive"][0]["confidence"] = json!("0.50");
    }),
    ("confidence_with_sign", NotARelease, "V4", "a share with a sign", |c| {
        c["counted"]["claim"]["sensitive"][0]["confidence"] = json!("+0.5");
    }),
    ("l_of_one", NotARelease, "V3", "l-diversity that requires nothing", |c| {
        c["counted"]["claim"]["sensitive"][0]["l_diversity"] = json!({ "distinct": 1 });
    }),
    ("values_empty", NotARelease, "V5", "a limit on no value at all", |c| {
        c["counted"]["claim"]["sensitive"][0]["values"] = json!([]);
    }),
    ("values_invisible", NotARelease, "V5", "a limit on a value that nobody can see", |c| {
        c["counted"]["claim"]["sensitive"][0]["values"] = json!(["\u{200b}"]);
    }),
    ("tree_of_equal_steps", Refused, "V2", "two leaves under many equal ancestors make every distance small", |c| {
        c["counted"]["claim"]["sensitive"][0]["t_closeness"]["tree"] = deep_tree(50);
    }),
    ("tree_very_deep", Refused, "V2 V6", "a tree with paths of 2,000 labels", |c| {
        c["counted"]["claim"]["sensitive"][0]["t_closeness"]["tree"] = deep_tree(2_000);
    }),
    ("tree_of_two_deep_paths", Refused, "V6", "two paths of 1,000 different labels", |c| {
        let path = |leaf: &str| (0..1_000).map(|n| format!("{leaf}{n}")).collect::<Vec<_>>();
        c["counted"]["claim"]["sensitive"][0]["t_closeness"]["tree"] = json!([path(""), path("1")]);
    }),
    ("tree_of_other_values", Refused, "V2", "a tree whose leaves are not the released values", |c| {
        c["counted"]["claim"]["sensitive"][0]["t_closeness"]["tree"] = json!([["8", "low", "*"], ["9", "low", "*"]]);
    }),
    ("quasi_as_other", Refused, "V3 V4", "a quasi-identifier that is called other", |c| {
        c["counted"]["columns"][1]["role"] = json!("other");
    }),
    ("identifier_released", Refused, "", "a column whose role is never released", |c| {
        c["counted"]["columns"][4]["role"] = json!("identifier");
    }),
    ("unknown_role", Refused, "", "a role that does not exist", |c| {
        c["counted"]["columns"][4]["role"] = json!("harmless");
    }),
    ("column_less", Refused, "V4", "a released column that is not declared", |c| {
        drop(c["counted"]["columns"].as_array_mut().unwrap().pop());
    }),
    ("column_more", Refused, "", "a declared column that is not released", |c| {
        c["counted"]["columns"].as_array_mut().unwrap().push(json!({ "name": "z", "role": "other" }));
    }),
    ("column_renamed", Refused, "", "a column under another name", |c| {
        c["counted"]["columns"][0]["name"] = json!("p");
    }),
    ("other_delimiter", Refused, "", "another delimiter than the file has", |c| {
        c["counted"]["text"]["delimiter"] = json!("|");
    }),
    ("delimiter_is_a_quote", NotARelease, "", "a quote between cells: nobody else reads the same cells", |c| {
        c["counted"]["text"]["delimiter"] = json!("\"");
    }),
    ("other_mark", NotARelease, "", "another mark for suppressed cells", |c| {
        c["counted"]["text"]["suppressed"] = json!("?");
    }),
    ("recount_of_rows", Refused, "", "another number of rows", |c| c["counted"]["recount"]["rows"] = json!(7)),
    ("recount_of_classes", Refused, "", "another number of classes", |c| {
        c["counted"]["recount"]["smallest_class"] = json!(4);
    }),
    ("stronger_sentence", Refused, "R4", "a probability that was not counted", |c| {
        c["counted"]["guarantee"] = json!("Nobody is found with a probability above 1/3.");
    }),
    ("sentence_for_missing_values", Refused, "R5", "a sentence without the exception for missing values", |c| {
        let text = c["counted"]["guarantee"].as_str().unwrap().to_string();
        c["counted"]["guarantee"] = json!(text.replace(", unless all of their values are missing", ""));
    }),
    ("sentence_about_algorithm", Refused, "V3", "a promise against an attacker who knows the algorithm", |c| {
        c["attested"]["guarantee"]["aware"] = json!("The same holds for an attacker who knows the algorithm.");
    }),
    ("unknown_method", Refused, "V3", "a method that does not exist", |c| c["attested"]["method"] = json!("ouija")),
    ("unit_patient", Refused, "V3", "rows that are called patients", |c| c["attested"]["unit"] = json!("patient")),
    ("sample_of_nothing", Refused, "V3", "a whole file that is called a sample", |c| {
        c["attested"]["sample"] = json!({ "share": "0.1" });
    }),
    ("synthetic_contradiction", NotARelease, "V3", "synthetic records that the effects deny", |c| {
        c["attested"]["synthetic"] = json!({ "real_k": 2, "padding": "exact" });
    }),
    ("free_text_assumed", Refused, "V4", "an assumption that Kohort does not write", |c| {
        c["attested"]["assumed"].as_array_mut().unwrap().push(json!("The hospital is trustworthy."));
    }),
    ("no_assumptions", Refused, "R4 V4", "a claim that rests on nothing", |c| c["attested"]["assumed"] = json!([])),
    ("free_text_not_recountable", Refused, "V4", "a sentence that Kohort does not write", |c| {
        c["attested"]["not_recountable"] = json!(["Everything was recounted."]);
    }),
    ("steering_characters", NotARelease, "R6", "characters that turn the direction of text", |c| {
        c["attested"]["cleaning"] = json!(["Cleaned.\u{202e}"]);
    }),
    ("file_listed_often", Refused, "V6", "one file listed 500 times", |c| {
        let files = c["counted"]["files"].as_array_mut().unwrap();
        let own = files[1].clone();
        files.extend(std::iter::repeat_n(own, 500));
    }),
    ("of_lists_every_column_often", NotARelease, "V6", "a detail that names its column 2,000 times", |c| {
        c["counted"]["columns"][2]["of"] = json!(vec!["q"; 2_000]);
    }),
];

/// Changes that fit every certificate.
const ANY: [Edit; 9] = [
    ("version_1", NotARelease, "", "an older version of the format", |c| c["version"] = json!(1)),
    ("version_3", NotARelease, "", "a newer version of the format", |c| c["version"] = json!(3)),
    ("version_tells_a_story", NotARelease, "T5", "words where a version is meant", |c| {
        c["kohort"] = json!("1.0, verified by experts");
    }),
    ("other_format", NotARelease, "", "another format", |c| c["format"] = json!("certificate")),
    ("unknown_shape", NotARelease, "", "a shape that does not exist", |c| c["shape"] = json!("graph")),
    ("unknown_key", NotARelease, "V4", "a key that no certificate has", |c| c["attested"]["seal"] = json!("gold")),
    ("no_attested_part", NotARelease, "V3", "without what the custodian states", |c| remove(c, "attested")),
    ("wrong_hash", Refused, "", "a hash of another file", |c| {
        c["counted"]["files"][0]["sha256"] = json!("0".repeat(64))
    }),
    ("path_as_file", Refused, "V5", "a file outside release/", |c| {
        c["counted"]["files"][0]["name"] = json!("../data.csv");
    }),
];

/// Changes to the files of a release: name, result, finding, description, change.
type Tamper = (&'static str, Expected, &'static str, &'static str, fn(&Made));

const FILES: [Tamper; 30] = [
    ("data_changed", Refused, "", "one cell changed, and the hash not", |m| {
        m.file("data.csv", |t| t.replacen("a,", "c,", 1))
    }),
    ("data_changed_rehashed", Refused, "V7", "one cell changed, and hashed again", |m| {
        m.rehashed("data.csv", |t| t.replacen("a,", "c,", 1));
    }),
    ("row_removed", Refused, "V7", "a row removed, and hashed again", |m| {
        m.rehashed("data.csv", |t| t.lines().take(6).map(|line| format!("{line}\n")).collect());
    }),
    ("row_added", Refused, "V7", "a row added, and hashed again", |m| {
        m.rehashed("data.csv", |t| format!("{t}a,1,x,0,k\n"));
    }),
    ("row_cut_short", NotARelease, "", "a row with fewer cells", |m| m.rehashed("data.csv", |t| format!("{t}a,1\n"))),
    ("quote_left_open", NotARelease, "", "a quote that stays open", |m| {
        m.rehashed("data.csv", |t| format!("{t}\"a,1,x,0,k\n"))
    }),
    ("column_added", Refused, "V4", "one column more in the file", |m| {
        m.rehashed("data.csv", |t| t.lines().map(|line| format!("{line},z\n")).collect());
    }),
    ("columns_swapped", Refused, "", "two names of the header exchanged", |m| {
        m.rehashed("data.csv", |t| t.replacen("q,r", "r,q", 1));
    }),
    ("detail_shown", Refused, "", "a detail is shown where its column is suppressed", |m| {
        m.rehashed("data.csv", |t| t.replace("\na,", "\n*,").replace("\nb,", "\n*,"));
    }),
    ("empty_data", Refused, "", "a header without rows", |m| m.rehashed("data.csv", |_| "q,r,d,s,o\n".into())),
    ("no_data", Refused, "", "the data is not there", |m| fs::remove_file(m.release("data.csv")).unwrap()),
    ("no_dictionary", Refused, "", "the dictionary is not there", |m| {
        fs::remove_file(m.release("dictionary.md")).unwrap()
    }),
    ("dictionary_changed", Refused, "V4", "a dictionary that was changed", |m| {
        m.file("dictionary.md", |t| format!("{t}\nSafe.\n"))
    }),
    ("dictionary_tells_a_story", Refused, "V4 T1", "a dictionary with a sentence more, hashed again", |m| {
        m.rehashed("dictionary.md", |t| format!("{t}\nNobody can be found in this file.\n"));
    }),
    ("dictionary_another_role", Refused, "T1", "a dictionary that calls a quasi-identifier other, hashed again", |m| {
        m.rehashed("dictionary.md", |t| t.replacen("| q | quasi |", "| q | other |", 1));
    }),
    ("dictionary_another_meaning", Refused, "T1", "a dictionary that says values were changed, hashed again", |m| {
        m.rehashed("dictionary.md", |t| {
            t.replacen("| s | sensitive | as in the source |", "| s | sensitive | noise was added |", 1)
        });
    }),
    ("dictionary_with_markup", Refused, "T1", "a dictionary with markup in it, hashed again", |m| {
        m.rehashed("dictionary.md", |t| t.replacen("level 0", "<b>safe</b> level 0", 1));
    }),
    ("dictionary_with_a_picture", Refused, "T1", "a dictionary that loads a picture from another site", |m| {
        m.rehashed("dictionary.md", |t| t.replacen("level 0", "![](http://a.example/p.png) level 0", 1));
    }),
    ("dictionary_with_hidden_characters", Refused, "T1", "a dictionary with characters that nobody sees", |m| {
        m.rehashed("dictionary.md", |t| t.replacen("level 0 of", "level\u{200b} 0 of", 1));
    }),
    ("dictionary_column_less", Refused, "T1", "a dictionary without one of the columns, hashed again", |m| {
        m.rehashed("dictionary.md", |t| t.replacen("| o | other | as in the source |\n", "", 1));
    }),
    ("dictionary_not_listed", Refused, "T1", "no dictionary, and none is listed", |m| {
        fs::remove_file(m.release("dictionary.md")).unwrap();
        m.certificate(|c| c["counted"]["files"].as_array_mut().unwrap().retain(|f| f["name"] != "dictionary.md"));
    }),
    ("file_unlisted", Refused, "V4", "a file that the certificate does not list", |m| {
        fs::write(m.release("names.csv"), "name\nAnn\n").unwrap();
    }),
    ("file_hidden", Refused, "V4", "a hidden file", |m| fs::write(m.release(".names"), "Ann\n").unwrap()),
    ("key_twice", NotARelease, "V4", "first k = 5000, then k = 3", |m| {
        m.file("certificate.json", |t| t.replacen("\"claim\": {", "\"claim\": {\n      \"k\": 5000,", 1));
    }),
    ("key_twice_escaped", NotARelease, "V4", "k twice, once with an escaped letter", |m| {
        m.file("certificate.json", |t| t.replacen("\"claim\": {", "\"claim\": {\n      \"\\u006b\": 5000,", 1));
    }),
    ("certificate_cut_short", NotARelease, "", "half a certificate", |m| {
        m.file("certificate.json", |t| t[..t.len() / 2].to_string());
    }),
    ("certificate_empty", NotARelease, "", "an empty certificate", |m| m.file("certificate.json", |_| String::new())),
    ("certificate_nested", NotARelease, "V6", "lists within lists, 20,000 deep", |m| {
        m.file("certificate.json", |_| "[".repeat(20_000));
    }),
    ("certificate_with_more_behind", NotARelease, "V4", "text behind the certificate", |m| {
        m.file("certificate.json", |t| format!("{t}{{}}\n"));
    }),
    ("no_certificate", NotARelease, "", "no certificate", |m| fs::remove_file(m.release("certificate.json")).unwrap()),
];

/// Changes to signed releases. They ask for the key in signer.pub.
const SIGNATURES: [Tamper; 7] = [
    ("unsigned", Refused, "V7", "unsigned, and a key is expected", public_key),
    ("certificate_changed_after_signing", Refused, "V7", "the certificate was changed after it was signed", |m| {
        signed(m);
        m.certificate(|c| c["kohort"] = json!("0.1.7"));
    }),
    ("signature_cut_short", Refused, "V7", "half a signature", |m| {
        signed(m);
        m.file(SIGNATURE_FILE, |t| t[..t.len() / 2].to_string());
    }),
    ("signature_with_comment", Refused, "V7", "text behind the signature", |m| {
        signed(m);
        m.file(SIGNATURE_FILE, |t| format!("{t}on Monday\n"));
    }),
    ("signature_by_another_key", Refused, "V7", "signed by somebody else", |m| {
        signed(m);
        let line = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAID8xaYvKTDQ/ebwaJ1llBa3Vr2BDjk/tu8GDTpAnfVUd custodian\n";
        fs::write(m.0.join("signer.pub"), line).unwrap();
    }),
    ("signature_of_another_file", Refused, "V7", "a signature of the dictionary", |m| {
        let certificate = m.text("certificate.json");
        m.file("certificate.json", |_| m.text("dictionary.md"));
        signed(m);
        m.file("certificate.json", |_| certificate.clone());
    }),
    ("signature_empty", Refused, "V7", "an empty signature", |m| {
        signed(m);
        m.file(SIGNATURE_FILE, |_| String::new());
    }),
];

fn remove(value: &mut Value, key: &str) {
    drop(value.as_object_mut().unwrap().shift_remove(key));
}

/// A tree whose paths repeat one label very often below the root.
fn deep_tree(depth: usize) -> Value {
    let path = |leaf: &str, own: &str| {
        let middle = std::iter::repeat_n("same", depth);
        json!([leaf, own].into_iter().chain(middle).chain(["*"]).collect::<Vec<_>>())
    };
    json!([path("0", "low"), path("1", "low"), path("2", "high")])
}

fn edited(base: Base, prefix: &str, (name, result, finding, about, change): Edit) -> Vector {
    let name = format!("bad_{prefix}{name}");
    Vector::new(base, &name, result, about, move |made: &Made| made.certificate(change)).finding(finding)
}

pub(super) fn vectors() -> Vec<Vector> {
    let mut all: Vec<Vector> = CLAIMS.into_iter().map(|edit| edited(Base::Table, "", edit)).collect();
    let shapes =
        [(Base::Table, "table_"), (Base::Corpus("disassociate"), "codes_"), (Base::Corpus("claims-total"), "events_")];
    for (base, prefix) in shapes {
        all.extend(ANY.into_iter().map(|edit| edited(base, prefix, edit)));
    }
    for (name, result, finding, about, change) in FILES {
        all.push(Vector::new(Base::Table, &format!("bad_{name}"), result, about, change).finding(finding));
    }
    for (name, result, finding, about, change) in SIGNATURES {
        all.push(Vector::new(Base::Table, &format!("bad_{name}"), result, about, change).finding(finding).signer());
    }
    all.extend(shapes_other_than_tables());
    all.extend(with_the_original());
    all.extend(newer_formats());
    all.push(Vector::new(Base::Table, "bad_t_exceeded", Refused, "classes further from the table than t", |made| {
        // The low values are in one class and the high ones in the other.
        let (mut first, mut second) = (["1", "2", "2"].into_iter(), ["0", "0", "1"].into_iter());
        let value = |line: &str, s: &str| {
            line.split(',').enumerate().map(|(i, c)| if i == 3 { s } else { c }).collect::<Vec<_>>().join(",")
        };
        made.rehashed("data.csv", |text| {
            let changed = text.lines().map(|line| match &line[..1] {
                "a" => value(line, first.next().unwrap()),
                "b" => value(line, second.next().unwrap()),
                _ => line.to_string(),
            });
            changed.map(|line| line + "\n").collect()
        });
        made.certificate(|c| {
            let own = &mut c["counted"]["claim"]["sensitive"][0];
            ["confidence", "values", "l_diversity"].into_iter().for_each(|key| remove(own, key));
            own["t_closeness"]["max"] = json!("0.3");
            c["counted"]["recount"]["sensitive"] = json!([{ "column": "s", "largest_distance": "0.3334" }]);
        });
    }));
    all.push(
        Vector::new(Base::Table, "bad_data_is_a_link", Refused, "data.csv is a symbolic link", |made| {
            fs::copy(made.release("data.csv"), made.0.join("elsewhere.csv")).unwrap();
        })
        .link("release/data.csv", "../elsewhere.csv")
        .finding("V5"),
    );
    all.push(
        Vector::new(Base::Table, "bad_certificate_is_a_link", Refused, "certificate.json is a symbolic link", |made| {
            fs::copy(made.release("certificate.json"), made.0.join("elsewhere.json")).unwrap();
        })
        .link("release/certificate.json", "../elsewhere.json")
        .finding("V5"),
    );
    all
}

fn shapes_other_than_tables() -> Vec<Vector> {
    let (patients, synthetic, local) = (Base::Patients, Base::Corpus("ceiling"), Base::Corpus("local"));
    let (codes, events, power) = (Base::Corpus("disassociate"), Base::Corpus("claims-total"), Base::Corpus("claims"));
    let edits: [(Base, Edit); 14] = [
        (
            patients,
            ("patients_as_rows", Refused, "V3", "patients that are called rows", |c| {
                c["attested"]["unit"] = json!("row");
            }),
        ),
        (
            patients,
            (
                "patients_sentence_about_rows",
                Refused,
                "R2",
                "a limit that was counted in patients, said of records",
                |c| {
                    let text = c["attested"]["guarantee"]["plain"].as_str().unwrap().replace("patients", "records");
                    c["attested"]["guarantee"]["plain"] = json!(text);
                },
            ),
        ),
        (
            patients,
            (
                "patients_limit_called_counted",
                Refused,
                "R3 V3",
                "a limit that only the custodian counted, called counted",
                |c| {
                    c["counted"]["guarantee"] = c["attested"]["guarantee"]["plain"].clone();
                },
            ),
        ),
        (
            synthetic,
            ("synthetic_forgotten", NotARelease, "V3", "synthetic records that are not mentioned", |c| {
                remove(&mut c["attested"], "synthetic");
            }),
        ),
        (
            synthetic,
            ("synthetic_denied", Refused, "V3", "synthetic records that are denied everywhere", |c| {
                remove(&mut c["attested"], "synthetic");
                c["attested"]["effects"]["synthetic"] = json!(false);
            }),
        ),
        (
            Base::Corpus("samples"),
            ("sample_called_whole", Refused, "V3", "a sample that is called the whole file", |c| {
                remove(&mut c["attested"], "sample");
            }),
        ),
        (
            codes,
            ("codes_k_too_large", Refused, "", "a larger k than the clusters have", |c| {
                c["counted"]["claim"]["k"] = json!(1000);
            }),
        ),
        (
            codes,
            ("codes_m_too_large", Refused, "", "more known codes than were protected", |c| {
                c["counted"]["claim"]["m"] = json!(9);
            }),
        ),
        (
            codes,
            ("codes_recount", Refused, "", "another number of clusters", |c| {
                c["counted"]["recount"]["clusters"] = json!(7);
            }),
        ),
        (
            codes,
            ("codes_sample", Refused, "V3", "clusters that are called a sample", |c| {
                c["attested"]["sample"] = json!({ "share": "0.5" });
            }),
        ),
        (
            events,
            ("events_k_too_large", Refused, "V1", "a larger k than the patients have", |c| {
                c["counted"]["claim"]["k"] = json!(25);
            }),
        ),
        (
            events,
            ("events_share_too_small", Refused, "V1", "a smaller share at high risk than was counted", |c| {
                c["counted"]["claim"]["max_high_risk"] = json!("0");
            }),
        ),
        (
            power,
            ("power_k_too_large", Refused, "V1", "a larger k than the draws found", |c| {
                c["counted"]["claim"]["k"] = json!(25);
            }),
        ),
        (
            events,
            ("events_recount", Refused, "", "another number of patients", |c| {
                c["counted"]["recount"]["patients"] = json!(1);
            }),
        ),
    ];
    let mut all: Vec<Vector> = edits.into_iter().map(|(base, edit)| edited(base, "", edit)).collect();
    let tampers: [(Base, Tamper); 15] = [
        (
            codes,
            ("codes_cluster_removed", Refused, "V7", "a cluster removed, and hashed again", |m| {
                m.rehashed("clusters.jsonl", |t| {
                    let lines: Vec<&str> = t.lines().collect();
                    lines[..lines.len() - 1].iter().map(|line| format!("{line}\n")).collect()
                });
            }),
        ),
        (
            codes,
            ("codes_rare_code_added", Refused, "V7", "a code that appears once, and hashed again", |m| {
                m.rehashed("clusters.jsonl", |t| t.replacen("\"subrecords\":[[\"", "\"subrecords\":[[\"zzz\",\"", 1));
            }),
        ),
        (
            codes,
            ("codes_header_disagrees", Refused, "", "another k in the header than in the certificate", |m| {
                m.rehashed("clusters.jsonl", |t| t.replacen("\"k\":3", "\"k\":4", 1));
            }),
        ),
        (
            events,
            ("events_everybody_unique", Refused, "V1", "every patient gets a sex of their own", |m| {
                m.rehashed("patients.csv", |t| unique(t, 1));
            }),
        ),
        (
            power,
            ("power_everybody_unique", Refused, "V1", "every patient gets a sex of their own", |m| {
                m.rehashed("patients.csv", |t| unique(t, 1));
            }),
        ),
        (
            events,
            ("events_patient_unknown", Refused, "", "an event of a patient who is not there", |m| {
                m.rehashed("claims.csv", |t| {
                    let last = t.lines().last().unwrap();
                    let (_, rest) = last.split_once(',').unwrap();
                    format!("{t}9999,{rest}\n")
                });
            }),
        ),
        (
            synthetic,
            ("synthetic_catalog_changed", Refused, "", "a catalog with a line less, hashed again", |m| {
                m.rehashed("catalog.csv", |t| {
                    let lines: Vec<&str> = t.lines().collect();
                    lines[..lines.len() - 1].iter().map(|line| format!("{line}\n")).collect()
                });
            }),
        ),
        (
            synthetic,
            ("synthetic_catalog_missing", Refused, "", "the catalog is not there", |m| {
                fs::remove_file(m.release("catalog.csv")).unwrap();
            }),
        ),
        (
            codes,
            ("codes_dictionary_changed", Refused, "T1", "another word in the dictionary, hashed again", |m| {
                m.rehashed("dictionary.md", |t| t.replacen("in random order", "in no order", 1));
            }),
        ),
        (
            events,
            ("events_dictionary_changed", Refused, "T1", "a sentence more in the dictionary, hashed again", |m| {
                m.rehashed("dictionary.md", |t| t.replacen("A month is", "Nobody can be found. A month is", 1));
            }),
        ),
        (
            local,
            ("dictionary_advice_changed", Refused, "T1", "another program in the dictionary, hashed again", |m| {
                m.rehashed("dictionary.md", |t| t.replacen("import pandas", "import os", 1));
            }),
        ),
        (
            local,
            ("hierarchy_label_more", Refused, "", "hierarchy.csv lists a label that is not released", |m| {
                m.rehashed("hierarchy.csv", |t| t.replacen("age,31,", "age,30,0,value,30\nage,31,", 1));
            }),
        ),
        (
            local,
            ("hierarchy_label_less", Refused, "", "hierarchy.csv leaves out a released label", |m| {
                m.rehashed("hierarchy.csv", |t| {
                    let lines: Vec<&str> = t.lines().collect();
                    lines[..lines.len() - 1].iter().map(|line| format!("{line}\n")).collect()
                });
            }),
        ),
        (
            local,
            ("hierarchy_no_forest", Refused, "", "two labels share a group and part above it", |m| {
                m.rehashed("hierarchy.csv", |t| t.replacen("age,31,1,5,\"[30,35)\"", "age,31,1,5,\"[50,55)\"", 1));
            }),
        ),
        (
            local,
            ("hierarchy_level_of_two_names", Refused, "", "a level has two names", |m| {
                m.rehashed("hierarchy.csv", |t| t.replacen("age,31,2,10,", "age,31,2,11,", 1));
            }),
        ),
    ];
    all.extend(tampers.into_iter().map(|(base, (name, result, finding, about, change))| {
        Vector::new(base, &format!("bad_{name}"), result, about, change).finding(finding)
    }));
    all
}

/// Parts of a table, codes with quasi-identifiers, several tables of events, pairs, limits that are shown only; and small
/// forms of files that took long.
fn newer_formats() -> Vec<Vector> {
    let edits: [(Base, Edit); 12] = [
        (
            Base::Parts,
            ("parts_rows", Refused, "", "a part with another number of rows, and the sum fits", |c| {
                let data = data_of(c);
                (data["parts"][0]["rows"], data["rows"]) = (json!(7), json!(7));
            }),
        ),
        (
            Base::Parts,
            ("parts_sum", NotARelease, "", "the rows of the parts do not add up", |c| data_of(c)["rows"] = json!(7)),
        ),
        (Base::Parts, ("parts_none", NotARelease, "", "a folder without parts", |c| data_of(c)["parts"] = json!([]))),
        (
            Base::Parts,
            ("parts_outside", NotARelease, "V5", "a part outside release/", |c| {
                data_of(c)["parts"][0]["name"] = json!("../part-00001.parquet");
            }),
        ),
        (
            Base::Demographics,
            ("codes_with_quasi_k_too_large", Refused, "", "more patients than show the same labels", |c| {
                c["counted"]["claim"]["k"] = json!(1000);
            }),
        ),
        (
            Base::Demographics,
            ("codes_with_quasi_group", Refused, "", "a larger smallest group than was counted", |c| {
                c["counted"]["recount"]["smallest_group"] = json!(1000);
            }),
        ),
        (
            Base::Demographics,
            ("codes_with_quasi_forgotten", Refused, "V4", "labels that the certificate does not mention", |c| {
                c["counted"]["columns"].as_array_mut().unwrap().retain(|own| own["role"] != "quasi");
            }),
        ),
        (
            Base::Demographics,
            ("codes_with_quasi_aware", Refused, "V3", "a promise that labels cannot keep", |c| {
                c["counted"]["claim"]["aware"] = json!(true);
            }),
        ),
        (
            Base::ThreeTables,
            ("events_table_unlisted", Refused, "V4", "a table of events that the certificate does not mention", |c| {
                drop(c["counted"]["tables"].as_array_mut().unwrap().pop());
            }),
        ),
        (
            Base::ThreeTables,
            ("events_as_rows", Refused, "V3", "events are counted in patients, not in rows", |c| {
                c["attested"]["unit"] = json!("row");
            }),
        ),
        (
            Base::Shown,
            (
                "synthetic_shown_and_real",
                Refused,
                "V3",
                "limits that hold with synthetic records, said of the real ones",
                |c| {
                    remove(&mut c["attested"]["synthetic"], "limits_shown_only");
                },
            ),
        ),
        (
            Base::Corpus("disassociate"),
            ("codes_very_many_sensitive", Refused, "V6", "2,000 sensitive codes that nobody has", |c| {
                c["counted"]["claim"]["sensitive"] = json!((0..2_000).map(|n| format!("z{n}")).collect::<Vec<_>>());
            }),
        ),
    ];
    let mut all: Vec<Vector> = edits.into_iter().map(|(base, edit)| edited(base, "", edit)).collect();
    let tampers: [(Base, Tamper); 12] = [
        (
            Base::Parts,
            ("parts_missing", Refused, "", "the second of two parts is not there", |m| {
                two_parts(m);
                fs::remove_file(m.release("data/part-00002.parquet")).unwrap();
            }),
        ),
        (
            Base::Parts,
            ("parts_unlisted", Refused, "V4", "a part that the certificate does not list", |m| {
                fs::copy(m.release("data/part-00001.parquet"), m.release("data/part-00002.parquet")).unwrap();
            }),
        ),
        (
            Base::Parts,
            ("parts_swapped", Refused, "", "two parts in each other's place", |m| {
                two_parts(m);
                let [first, second] = [1, 2].map(|n| m.release(&format!("data/part-0000{n}.parquet")));
                let bytes = fs::read(&first).unwrap();
                fs::copy(&second, &first).unwrap();
                fs::write(&second, bytes).unwrap();
            }),
        ),
        (
            Base::Parts,
            ("parts_unique_row", Refused, "V7", "a row that nobody shares in the second part, hashed again", |m| {
                m.put_parts(&[parquet(&[["a", "x"]; 3]), parquet(&[["b", "x"], ["b", "x"], ["c", "x"]])]);
            }),
        ),
        (
            Base::Parts,
            ("parts_row_removed", Refused, "V7", "fewer rows than the certificate lists, hashed again", |m| {
                m.put_parts(&[parquet(&[["a", "x"]; 3]), parquet(&[["b", "x"]; 2])]);
            }),
        ),
        (
            Base::Demographics,
            (
                "codes_with_quasi_label_more",
                Refused,
                "V7",
                "a cluster with a label more than there are columns, hashed again",
                |m| {
                    m.rehashed("clusters.jsonl", |t| t.replacen("\"cells\":[\"f\"]", "\"cells\":[\"f\",\"x\"]", 1));
                },
            ),
        ),
        (
            Base::Demographics,
            ("codes_with_quasi_header", Refused, "", "another column in the header, hashed again", |m| {
                m.rehashed("clusters.jsonl", |t| t.replacen("\"sex\"", "\"age\"", 1));
            }),
        ),
        (
            Base::Repeats,
            ("codes_repeat_in_chunk", Refused, "R6", "a repeat of a sensitive code in a chunk, hashed again", |m| {
                m.rehashed("clusters.jsonl", |t| t.replace("\"401\"", "\"b#3\""));
            }),
        ),
        (
            Base::ThreeTables,
            (
                "events_third_table_unique",
                Refused,
                "V1",
                "every event of the third table is unique, hashed again",
                |m| {
                    m.rehashed("drugs.csv", |t| unique(t, 1));
                },
            ),
        ),
        (
            Base::Pairs,
            ("events_pairs_unique", Refused, "V1", "two columns together are unique, each by itself is not", |m| {
                m.rehashed("claims.csv", |t| {
                    let line = |(row, line): (usize, &str)| match row {
                        0 => format!("{line}\n"),
                        _ => format!("{},p{},c{}\n", line.split(',').next().unwrap(), row % 4, row / 4),
                    };
                    t.lines().enumerate().map(line).collect()
                });
            }),
        ),
        (
            Base::Markup,
            ("dictionary_name_not_escaped", Refused, "R6 T1", "markup of a column's name in the dictionary", |m| {
                m.rehashed("dictionary.md", |t| {
                    t.replace("&lt;b&gt;q&lt;/b&gt;", "<b>q</b>").replace("\\<b\\>q\\</b\\>", "<b>q</b>")
                });
            }),
        ),
        (
            Base::Wide,
            (
                "wide_sets_after_the_first_failed",
                Refused,
                "V6",
                "705,432 sets of columns, of which the first fails",
                |m| {
                    m.rehashed("data.csv", |t| t.replacen("\nx,", "\ny,", 1).replacen("\ny,x", "\ny,y", 1));
                    m.certificate(|c| c["counted"]["claim"]["knows"] = json!(11));
                },
            ),
        ),
    ];
    all.extend(tampers.into_iter().map(|(base, (name, result, finding, about, change))| {
        Vector::new(base, &format!("bad_{name}"), result, about, change).finding(finding)
    }));
    all
}

/// The entry of the data file.
fn data_of(certificate: &mut Value) -> &mut Value {
    let files = certificate["counted"]["files"].as_array_mut().unwrap();
    files.iter_mut().find(|own| own["name"] == "data").unwrap()
}

/// A table in which one column is different in every row.
fn unique(text: &str, column: usize) -> String {
    let change = |(row, line): (usize, &str)| {
        let mut cells: Vec<String> = line.split(',').map(str::to_string).collect();
        if row > 0 {
            cells[column] = format!("value{row}");
        }
        cells.join(",") + "\n"
    };
    text.lines().enumerate().map(change).collect()
}

/// False releases that only somebody with the original can refuse.
fn with_the_original() -> Vec<Vector> {
    let compared = |base, name: &str, result, about: &str, change: fn(&Made)| {
        Vector::new(base, &format!("bad_original_{name}"), result, about, change).original()
    };
    vec![
        compared(Base::Table, "cell_untrue", Refused, "a cell that is not the original's, with true counts", |made| {
            let swap = |t: &str| t.replace(",k\n", ",w\n");
            made.rehashed("data.csv", swap);
        })
        .finding("V7"),
        compared(
            Base::Demographics,
            "codes_label_untrue",
            Refused,
            "a label beside the codes that no patient of the original has",
            |made| {
                made.rehashed("clusters.jsonl", |t| t.replacen("\"cells\":[\"f\"]", "\"cells\":[\"x\"]", 1));
            },
        )
        .finding("V7"),
        compared(Base::Table, "another_method", Refused, "another method than the policy's", |made| {
            made.certificate(|c| c["attested"]["method"] = json!("specialize"));
        })
        .finding("V3"),
        compared(Base::Table, "smaller_k", Refused, "a smaller k than the policy asks for", |made| {
            made.certificate(|c| c["counted"]["claim"]["k"] = json!(2));
        }),
        compared(Base::Table, "another_tree", Refused, "another tree of sensitive values than the policy's", |made| {
            let tree = json!([["0", "high", "*"], ["1", "low", "*"], ["2", "low", "*"]]);
            made.certificate(|c| c["counted"]["claim"]["sensitive"][0]["t_closeness"]["tree"] = tree);
        })
        .finding("V2"),
        compared(
            Base::Table,
            "level_not_permitted",
            Refused,
            "cells at a level that the policy does not permit",
            |made| {
                let path = made.0.join("original/p.toml");
                let policy = fs::read_to_string(&path).unwrap();
                let changed = policy.replace("q = { role = \"quasi\" }", "q = { role = \"quasi\", levels = [\"*\"] }");
                assert_ne!(changed, policy);
                fs::write(path, changed).unwrap();
            },
        ),
        compared(Base::Table, "rows_swapped", Refused, "private/rows names other rows", |made| {
            let path = made.0.join("private/rows");
            let lines: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(str::to_string).collect();
            fs::write(path, lines.iter().rev().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        }),
        compared(
            Base::Corpus("local"),
            "hierarchy_untrue",
            Refused,
            "a label is in another group than by the policy's hierarchy",
            |made| {
                made.rehashed("hierarchy.csv", |t| t.replacen("age,31,1,5,\"[30,35)\"", "age,31,1,5,\"[31,36)\"", 1));
            },
        ),
        compared(
            Base::Corpus("local"),
            "hierarchy_interval_left_out",
            Refused,
            "hierarchy.csv leaves out a released interval that the policy's hierarchy has",
            |made| {
                made.rehashed("hierarchy.csv", |t| {
                    let lines = t.lines().filter(|line| !line.starts_with("age,\"[50,55)\","));
                    lines.map(|line| format!("{line}\n")).collect()
                });
            },
        ),
        compared(
            Base::Thirty,
            "rows_in_order",
            Refused,
            "the released rows are in the order of the original",
            |made| {
                let path = made.0.join("private/rows");
                let lines: Vec<usize> =
                    fs::read_to_string(&path).unwrap().lines().map(|line| line.parse().unwrap()).collect();
                made.rehashed("data.csv", |t| {
                    let mut rows: Vec<(usize, &str)> = lines.iter().copied().zip(t.lines().skip(1)).collect();
                    rows.sort();
                    rows.iter().fold("q,o\n".to_string(), |all, (_, row)| all + row + "\n")
                });
                let mut sorted = lines.clone();
                sorted.sort();
                fs::write(&path, sorted.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
            },
        )
        .finding("T4"),
        compared(
            Base::Table,
            "dictionary_another_rule",
            Refused,
            "the dictionary describes another hierarchy than the policy's",
            |made| {
                made.rehashed("dictionary.md", |t| t.replacen("the value, or \\*", "the first letter", 1));
            },
        )
        .finding("T1"),
        compared(
            Base::Ten,
            "ten_rows_of_two",
            Refused,
            "the original has ten rows of two patients; k = 10 is claimed",
            |made| {
                // Without the map of rows, patients are bounded from the original.
                fs::remove_dir_all(made.0.join("private")).unwrap();
                let rows: String = (0..10).map(|i| format!("{},a,s{i}\n", i % 2)).collect();
                fs::write(made.0.join("original/t.csv"), format!("pid,q,s\n{rows}")).unwrap();
            },
        )
        .finding("R3"),
    ]
}
