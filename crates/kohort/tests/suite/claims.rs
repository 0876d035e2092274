//! Patients and their events, end to end: what leaves, what is refused, and an adversary of its own.

use crate::common::run::{options, release};
use kohort::pipeline::{self, Options, Released};
use kohort_core::error::Kind;
use kohort_core::privacy::ShareAtRisk;
use kohort_core::statistics::wilson;
use kohort_core::verify::{AnyFindings, AnyRecounted, verify_release, verify_with_original};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// A generator of its own, so that no test shares chance with what it tests.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

const POLICY: &str = "[input]\npatients = \"p.csv\"\nclaims = \"c.csv\"\n\
    [columns.patients]\nid = { role = \"patient\" }\nname = { role = \"identifier\" }\nsex = { role = \"quasi\" }\n\
    age = { role = \"quasi\", hierarchy = { intervals = [10, 20, 60], from = 0, to = 120 } }\n\
    note = { role = \"other\", reason = \"a test\" }\n\
    [columns.claims]\nid = { role = \"patient\" }\n\
    months = { from = \"day\", role = \"quasi\", hierarchy = { months_since = \"first\", date = \"%Y-%m-%d\", groups = [3, 12] } }\n\
    dx = { role = \"quasi\", hierarchy = \"pcg\" }\ndays = { role = \"quasi\", hierarchy = \"los\" }\n\
    doctor = { role = \"pseudonym\", scope = \"patient\" }\ncost = { role = \"other\", reason = \"a test\" }\n\
    \"*\" = { role = \"identifier\" }\n";
const PRIVACY: &str = "[privacy]\nk = 4\npower = 2\nmax_high_risk = 0.2\n";
const METHOD: &str = "[method]\nname = \"claims\"\nevent_date = \"day\"\ndraws = 5000\n";

/// Random patients with events, and a policy over them.
fn random(seed: u64, people: u64, privacy: &str, method: &str) -> tempfile::TempDir {
    let mut dice = Dice(seed);
    let folder = tempfile::tempdir().unwrap();
    let (mut patients, mut claims) =
        ("id,name,sex,age,note\n".to_string(), "id,row,day,dx,days,doctor,cost\n".to_string());
    let codes = ["4019", "410.9", "25000", "486", "V4581", "V270", "042.1", "E8859", "5990", "042"];
    let mut row = 0;
    for p in 0..people {
        let sex = ["F", "M"][dice.below(2) as usize];
        writeln!(patients, "P{p},CANARY{p},{sex},{},n{}", 20 + dice.below(60), dice.below(5)).unwrap();
        for _ in 0..dice.below(5) * dice.below(2) + dice.below(3) {
            let (month, day) = (1 + dice.below(12), 1 + dice.below(28));
            let most = if dice.below(9) == 0 { 10 } else { 4 };
            let code = codes[dice.below(most) as usize];
            row += 1;
            writeln!(
                claims,
                "P{p},{row},20{}-{month:02}-{day:02},{code},{},D{},{}",
                10 + dice.below(2),
                dice.below(9),
                dice.below(4),
                dice.below(100)
            )
            .unwrap();
        }
    }
    let exclude = "[[exclude]]\ntable = \"claims\"\nrules = \"hhp\"\nicd9 = [\"dx\"]\n";
    for (file, text) in
        [("p.csv", patients), ("c.csv", claims), ("policy.toml", format!("{POLICY}{exclude}{privacy}{method}"))]
    {
        fs::write(folder.path().join(file), text).unwrap();
    }
    folder
}

fn run(folder: &Path, name: &str, seed: u64, threads: usize) -> (PathBuf, Released) {
    release(&folder.join("policy.toml"), name, &options(seed, threads)).unwrap()
}

fn rows(path: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(path).unwrap();
    reader.records().map(|r| r.unwrap().iter().map(str::to_string).collect()).collect()
}

#[test]
fn a_release_passes_every_gate_and_is_the_same_with_one_seed() {
    for (seed, privacy) in [
        (1, PRIVACY),
        (2, "[privacy]\nk = 4\npower = 3\npower_rule = \"fixed\"\nmax_high_risk = 0.3\n"),
        (3, "[privacy]\nk = 4\npower = 2\nknowledge = \"events\"\nmax_high_risk = 0.3\n"),
        (4, "[privacy]\nk = 4\npower_total = 2\nmax_high_risk = 0\n"),
        (5, "[privacy]\nk = 4\npower_total = 3\nmax_high_risk = 0.05\n"),
        (6, "[privacy]\nk = 4\npower = 1\nknowledge = \"pairs\"\nmax_high_risk = 0.3\n"),
    ] {
        let folder = random(seed, 150, privacy, METHOD);
        let policy = folder.path().join("policy.toml");
        let (out, released) = run(folder.path(), "one", 7, 1);
        let (again, _) = run(folder.path(), "two", 7, 2);
        for file in ["patients.csv", "claims.csv", "dictionary.md", "certificate.json"] {
            let both = [&out, &again].map(|o| fs::read(o.join("release").join(file)).unwrap());
            assert!(both[0] == both[1], "{file}: another number of threads, other bytes");
        }
        verify_release(&out, 2).unwrap();
        verify_release(&out.join("release"), 1).unwrap();
        let (source, bound) = pipeline::open(&policy, &options(1, 2)).unwrap();
        let by_row = verify_with_original(&out, &source, &bound).unwrap();
        assert!(by_row.not_shown().is_empty() && by_row.matched() > 0);
        fs::remove_dir_all(out.join("private")).unwrap();
        let by_multiset = verify_with_original(&out, &source, &bound).unwrap();
        assert!(!by_multiset.not_shown().is_empty() && by_multiset.matched() == by_row.matched());
        let text = fs::read_to_string(out.join("release/claims.csv")).unwrap()
            + &fs::read_to_string(out.join("release/patients.csv")).unwrap();
        assert!(!text.contains("CANARY") && !text.contains(",D0") && !text.contains(",042"));
        let m = &released.metrics.to_value();
        let number = |of: &str, key: &str| m[of][key].as_u64().unwrap();
        assert_eq!(
            number("rows", "in"),
            number("rows", "excluded") + number("rows", "suppressed") + number("rows", "out"),
            "events add up"
        );
        let people = ["excluded", "emptied", "dropped", "suppressed", "out"].map(|key| number("people", key));
        assert_eq!(number("people", "in"), people.iter().sum::<u64>(), "patients add up");
    }
}

/// Ids are new, pseudonyms gather nothing across patients, other columns are as they were, and
/// months are those since the first event.
#[test]
fn what_leaves_is_the_original_under_new_ids() {
    let folder = random(11, 120, PRIVACY, METHOD);
    let (out, _) = run(folder.path(), "out", 3, 2);
    let patients = rows(&out.join("release/patients.csv"));
    let claims = rows(&out.join("release/claims.csv"));
    assert_eq!(patients[0], ["patient", "sex", "age", "note"]);
    assert_eq!(claims[0], ["patient", "months", "dx", "days", "doctor", "cost"]);
    let lines = |file: &str| -> Vec<usize> {
        fs::read_to_string(out.join("private").join(file)).unwrap().lines().map(|l| l.parse().unwrap()).collect()
    };
    let (original, events) = (rows(&folder.path().join("p.csv")), rows(&folder.path().join("c.csv")));
    let (patient_lines, event_lines) = (lines("patients"), lines("rows"));
    let ids: Vec<&str> = patients[1..].iter().map(|r| r[0].as_str()).collect();
    assert!(ids.iter().zip(1..).all(|(id, n)| *id == n.to_string()), "ids count from 1");
    assert!(!patient_lines.is_sorted(), "the order is not that of the file");
    for (row, line) in patients[1..].iter().zip(&patient_lines) {
        assert_eq!(row[3], original[line - 1][4]);
    }
    let (mut doctors, mut seen) = (HashMap::new(), HashMap::new());
    for (row, line) in claims[1..].iter().zip(&event_lines) {
        let event = &events[line - 1];
        let patient: usize = row[0].parse().unwrap();
        assert_eq!(event[0], original[patient_lines[patient - 1] - 1][0], "the event is its patient's");
        assert_eq!(row[5], event[6]);
        let pseudonym = doctors.entry((event[0].clone(), event[5].clone())).or_insert_with(|| row[4].clone());
        assert_eq!(*pseudonym, row[4], "a value of a patient has one pseudonym");
        let whose = seen.entry(row[4].clone()).or_insert_with(|| (event[0].clone(), event[5].clone()));
        assert_eq!(*whose, (event[0].clone(), event[5].clone()), "a pseudonym is one patient's");
    }
}

/// The matching simulation: an adversary who knows nothing of the method reads the two files, draws
/// what they know as the certificate says, and looks through all patients.
struct Adversary {
    people: Vec<(Vec<String>, Vec<Vec<String>>)>,
}

impl Adversary {
    /// `patient` and `event`: how many columns after the id are quasi-identifiers.
    fn read(release: &Path, patient: usize, event: usize) -> Adversary {
        let mut people: BTreeMap<u64, (Vec<String>, Vec<Vec<String>>)> = BTreeMap::new();
        for row in rows(&release.join("patients.csv")).into_iter().skip(1) {
            people.insert(row[0].parse().unwrap(), (row[1..=patient].to_vec(), Vec::new()));
        }
        for row in rows(&release.join("claims.csv")).into_iter().skip(1) {
            people.get_mut(&row[0].parse().unwrap()).unwrap().1.push(row[1..=event].to_vec());
        }
        Adversary { people: people.into_values().collect() }
    }

    /// How many of the draws match fewer than k, if so many values of each column are known of everyone.
    fn finds(&self, k: usize, known: usize, draws: u64, dice: &mut Dice) -> u64 {
        let with: Vec<usize> = (0..self.people.len()).filter(|&p| !self.people[p].1.is_empty()).collect();
        (0..draws)
            .filter(|_| {
                let (level_1, events) = &self.people[with[dice.below(with.len() as u64) as usize]];
                let facts: Vec<Vec<&String>> = (0..events[0].len())
                    .map(|c| {
                        let mut left: Vec<&String> = events.iter().map(|e| &e[c]).collect();
                        (0..known.min(left.len()))
                            .map(|_| left.swap_remove(dice.below(left.len() as u64) as usize))
                            .collect()
                    })
                    .collect();
                let matches = |(other, theirs): &&(Vec<String>, Vec<Vec<String>>)| {
                    other == level_1
                        && facts.iter().enumerate().all(|(c, facts)| {
                            let mut left: Vec<&String> = theirs.iter().map(|e| &e[c]).collect();
                            facts.iter().all(|fact| match left.iter().position(|l| l == fact) {
                                Some(at) => {
                                    left.swap_remove(at);
                                    true
                                }
                                None => false,
                            })
                        })
                };
                self.people.iter().filter(matches).take(k).count() < k
            })
            .count() as u64
    }
}

/// The interval of three standard deviations, or the share itself where it was counted.
fn said(found: &ShareAtRisk) -> (f64, f64) {
    found.interval(3.0).unwrap_or((found.share(), found.share()))
}

#[test]
fn an_adversary_finds_no_more_patients_than_the_certificate_says() {
    for seed in 0..3 {
        let privacy = "[privacy]\nk = 4\npower = 2\npower_rule = \"fixed\"\nmax_high_risk = 0.2\n";
        let folder = random(seed, 200, privacy, METHOD);
        let (out, _) = run(folder.path(), "out", seed, 2);
        let AnyRecounted::Events(own) = verify_release(&out, 1).unwrap() else { panic!("a release of events") };
        let adversary = Adversary::read(&out.join("release"), 2, 3);
        let draws = 4000;
        let hits = adversary.finds(4, 2, draws, &mut Dice(seed + 99));
        let (said, found) = (said(&own.recount.found.at_high_risk), wilson((hits, draws), 3.0));
        assert!(found.0 <= said.1 && said.0 <= found.1, "{found:?}, but {said:?} was said");
        assert!(wilson((hits, draws), 1.96).0 <= 0.2);
    }
}

/// With `power_total` and nobody excepted, no two facts point at fewer than k: every pair is tried.
#[test]
fn any_two_facts_match_enough() {
    let folder = random(21, 150, "[privacy]\nk = 4\npower_total = 2\nmax_high_risk = 0\n", METHOD);
    let (out, _) = run(folder.path(), "out", 1, 1);
    let adversary = Adversary::read(&out.join("release"), 2, 3);
    let facts = |events: &[Vec<String>]| -> Vec<(usize, String)> {
        events.iter().flat_map(|e| e.iter().cloned().enumerate()).collect()
    };
    let has = |events: &[Vec<String>], set: &[(usize, String)]| {
        let mut left = facts(events);
        set.iter().all(|fact| left.iter().position(|l| l == fact).map(|at| left.swap_remove(at)).is_some())
    };
    type Facts = Vec<(usize, String)>;
    let mut asked: HashMap<(Vec<String>, Facts), bool> = HashMap::new();
    for (level_1, events) in &adversary.people {
        let own = facts(events);
        for a in 0..own.len() {
            for b in a..own.len() {
                let mut set = if a == b { vec![own[a].clone()] } else { vec![own[a].clone(), own[b].clone()] };
                set.sort();
                let enough = *asked.entry((level_1.clone(), set.clone())).or_insert_with(|| {
                    adversary.people.iter().filter(|(l, e)| l == level_1 && has(e, &set)).count() >= 4
                });
                assert!(enough, "two facts point at fewer than 4");
            }
        }
    }
    assert!(asked.len() > 10);
}

/// What a stranger may have done to a release.
#[test]
fn a_changed_release_is_refused() {
    let folder = random(31, 120, PRIVACY, METHOD);
    let (out, _) = run(folder.path(), "out", 1, 1);
    let release = out.join("release");
    let original: Vec<(PathBuf, Vec<u8>)> =
        fs::read_dir(&release).unwrap().map(|e| e.unwrap().path()).map(|p| (p.clone(), fs::read(p).unwrap())).collect();
    let restore = || original.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    // Hashes are put right, so that only what is counted can tell.
    let rehash = |release: &Path| {
        let text = fs::read_to_string(release.join("certificate.json")).unwrap();
        let mut certificate: serde_json::Value = serde_json::from_str(&text).unwrap();
        for file in certificate["counted"]["files"].as_array_mut().unwrap() {
            use sha2::Digest;
            let bytes = fs::read(release.join(file["name"].as_str().unwrap())).unwrap();
            let hash: String = sha2::Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
            file["sha256"] = serde_json::json!(hash);
        }
        fs::write(release.join("certificate.json"), serde_json::to_string_pretty(&certificate).unwrap()).unwrap();
    };
    let change = |file: &str, from: &str, to: &str| {
        let path = release.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
    };
    let first = format!("\n{},", rows(&release.join("claims.csv"))[1][0]);
    for (file, from, to) in [
        ("claims.csv", &*first, "\n9999,"),
        ("patients.csv", "\n2,", "\n3,"),
        ("claims.csv", "patient,", "person,"),
        ("certificate.json", "\"max_high_risk\": \"0.2\"", "\"max_high_risk\": \"0.00001\""),
        ("certificate.json", "\"variable_values\": 2", "\"variable_values\": 3"),
        ("certificate.json", "\"k\": 4", "\"k\": 5"),
        ("certificate.json", "\"name\": \"claims\"", "\"name\": \"claim\""),
        ("certificate.json", "% of patients with events", "% of the patients with events"),
    ] {
        change(file, from, to);
        rehash(&release);
        let error = verify_release(&out, 1).unwrap_err();
        assert_eq!(error.kind, Kind::Refused, "{file}: {from}: {error}");
        restore();
    }
    // A label that its column cannot have is found by everybody.
    let mut cells = rows(&release.join("claims.csv"));
    let days = cells[0].iter().position(|name| name == "days").unwrap();
    cells[1][days] = "[0,3)".into();
    let mut writer = csv::Writer::from_path(release.join("claims.csv")).unwrap();
    cells.iter().for_each(|row| writer.write_record(row).unwrap());
    drop(writer);
    rehash(&release);
    let error = verify_release(&out, 1).unwrap_err();
    assert!(error.message.contains("not all of one level"), "{error}");
    restore();
    // A label that is not the original's is found by who has the original.
    let text = fs::read_to_string(release.join("claims.csv")).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let cost = lines[1].rsplit_once(',').unwrap().0.to_string() + ",123456";
    lines[1] = cost;
    fs::write(release.join("claims.csv"), lines.join("\n") + "\n").unwrap();
    rehash(&release);
    // The draws follow the bytes, so that also the recount would have to be forged; the label itself
    // is compared first.
    let (source, bound) = pipeline::open(&folder.path().join("policy.toml"), &options(1, 1)).unwrap();
    let error = verify_with_original(&out, &source, &bound).unwrap_err();
    assert!(error.kind == Kind::Refused && !error.message.contains("recount"), "{error}");
}

/// A patient with one excluded code loses all events; a newborn's early event goes alone.
#[test]
fn exclusions_have_their_scope() {
    let folder = tempfile::tempdir().unwrap();
    let put = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
    let mut claims = "id,day,dx\n".to_string();
    for i in 0..10 {
        writeln!(claims, "a,2010-01-0{i},{}", if i == 3 { "042" } else { "4019" }).unwrap();
    }
    claims = claims.replace("2010-01-00", "2010-01-10");
    claims += "b,2010-01-05,4019\nb,2010-03-05,4019\nc,2010-03-05,4019\nd,2010-03-05,305.1\n";
    put("c.csv", &claims);
    put("p.csv", "id,birth\na,1950-01-01\nb,2010-01-01\nc,1960-01-01\nd,1970-01-01\n");
    put(
        "policy.toml",
        "[input]\npatients = \"p.csv\"\nclaims = \"c.csv\"\n[columns.patients]\nid = { role = \"patient\" }\nbirth = { role = \"identifier\" }\n\
         [columns.claims]\nid = { role = \"patient\" }\nday = { role = \"identifier\" }\ndx = { role = \"quasi\" }\n\
         [[exclude]]\ntable = \"claims\"\nrules = \"hhp\"\nicd9 = [\"d*\"]\nbirth = \"birth\"\ndate = \"day\"\ndates = \"%Y-%m-%d\"\nexcept = [\"305.1\"]\n\
         [privacy]\nk = 2\npower = 1\nmax_high_risk = 0.5\n[method]\nname = \"claims\"\n",
    );
    let (source, policy) = pipeline::open(&folder.path().join("policy.toml"), &options(1, 1)).unwrap();
    // `d*` is a pattern: it holds `dx` and `day`, and a day is no such code.
    let histories = kohort_core::events::survey(&source, &policy.events().unwrap()).unwrap();
    let counts = &histories.counts;
    assert_eq!((counts.patients_excluded, counts.events_excluded), (1, 11));
    assert_eq!((histories.patients(), histories.events()), (3, 3));
    let found = histories.differences.unwrap();
    assert_eq!((found.patients, found.median_events), ((1, 3), (10.0, 1.0)));
    let rule = |name: &str| histories.rules.iter().find(|r| r.name == name).unwrap().clone();
    assert_eq!((rule("hiv").rows, rule("hiv").patients, rule("newborn").rows), (1, 1, 1));
    assert_eq!(rule("substance abuse").rows, 0, "tobacco is excepted");
}

/// Truncation is searched as a lattice of its own and never chosen where it only loses.
#[test]
fn truncation_can_be_asked_for() {
    let folder = random(41, 150, PRIVACY, &format!("{METHOD}truncate = [1.0, 0.9]\n"));
    let (_, released) = run(folder.path(), "out", 1, 1);
    assert_eq!(released.metrics.to_value()["trace"]["truncate"], 1.0);
    let folder = random(41, 150, PRIVACY, &format!("{METHOD}truncate = 0.8\nresidual = 1.0\n"));
    let (out, released) = run(folder.path(), "out", 1, 1);
    assert!(released.metrics.to_value()["trace"]["truncated_events"].as_u64().unwrap() > 0);
    let (source, bound) = pipeline::open(&folder.path().join("policy.toml"), &options(1, 1)).unwrap();
    let AnyFindings::Events(own) = verify_with_original(&out, &source, &bound).unwrap() else { panic!("events") };
    assert!(own.compared.original.unwrap().patients > 0, "knowledge of the original is recounted");
}

#[test]
fn patients_without_events_stay_or_go() {
    let with = |without: &str| {
        let folder = random(51, 150, PRIVACY, &format!("{METHOD}without_events = \"{without}\"\n"));
        run(folder.path(), "out", 1, 1).1.metrics.to_value()
    };
    let (kept, dropped) = (with("keep"), with("drop"));
    let number = |m: &serde_json::Value, key: &str| m["people"][key].as_u64().unwrap();
    assert!(number(&kept, "without_events") > 0);
    assert_eq!((number(&kept, "dropped"), number(&dropped, "dropped")), (0, number(&dropped, "without_events")));
}

/// The folder of public data, if it is named.
fn data() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("KOHORT_DATA")?);
    assert!(folder.is_dir(), "KOHORT_DATA names no folder");
    Some(folder.canonicalize().unwrap())
}

const STATES: &str = "01S02W03W04S05W06W07NE08S09S10S11S12W13W14MW15MW16MW17MW18S19S20NE21S22NE23MW24MW25S26MW27W28MW29W30NE31NE32W33NE34S35MW36MW37S38W39NE41NE42S43MW44S45S46W47NE49S50W51S52MW53W54O";

fn synpuf(data: &Path, folder: &Path, privacy: &str) -> PathBuf {
    let mut states = String::new();
    let mut rest = STATES;
    while rest.len() > 2 {
        let (code, tail) = rest.split_at(2);
        let end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        writeln!(states, "{code};{};*", &tail[..end]).unwrap();
        rest = &tail[end..];
    }
    fs::write(folder.join("state.csv"), states).unwrap();
    fs::write(folder.join("race.csv"), "1;white;*\n2;other;*\n3;other;*\n5;other;*\n").unwrap();
    let file = |name: &str| data.join("synpuf").join(name);
    let text = format!(
        "[input]\npatients = {:?}\nclaims = {:?}\n[columns.patients]\nDESYNPUF_ID = {{ role = \"patient\" }}\n\
         BENE_BIRTH_DT = {{ role = \"quasi\", hierarchy = {{ date = \"%Y%m%d\" }}, levels = [\"year\", \"decade\", \"*\"] }}\n\
         BENE_SEX_IDENT_CD = {{ role = \"quasi\" }}\nBENE_RACE_CD = {{ role = \"quasi\", hierarchy = \"race.csv\" }}\n\
         SP_STATE_CODE = {{ role = \"quasi\", hierarchy = \"state.csv\" }}\n\"*\" = {{ role = \"identifier\" }}\n\
         [columns.claims]\nDESYNPUF_ID = {{ role = \"patient\" }}\n\
         year = {{ from = \"CLM_ADMSN_DT\", role = \"quasi\", hierarchy = {{ date = \"%Y%m%d\" }}, levels = [\"year\", \"*\"] }}\n\
         months = {{ from = \"CLM_ADMSN_DT\", role = \"quasi\", hierarchy = {{ months_since = \"first\", date = \"%Y%m%d\", groups = [3, 6, 12] }} }}\n\
         CLM_UTLZTN_DAY_CNT = {{ role = \"quasi\", hierarchy = \"los\", levels = [\"group\", \"span\", \"week\", \"*\"] }}\n\
         ICD9_DGNS_CD_1 = {{ role = \"quasi\", hierarchy = \"pcg\", levels = [\"pcg\", \"system\"], unmapped = \"MSC2a3\" }}\n\
         ICD9_PRCDR_CD_1 = {{ role = \"quasi\", hierarchy = \"icd9-procedure\", levels = [\"chapter\", \"kind\", \"*\"] }}\n\
         \"*\" = {{ role = \"identifier\" }}\n\
         [[exclude]]\ntable = \"claims\"\ncolumn = \"SEGMENT\"\ncodes = [\"2\"]\nscope = \"row\"\n\
         [[exclude]]\nrules = \"hhp\"\ntable = \"claims\"\nicd9 = [\"ADMTNG_ICD9_DGNS_CD\", \"ICD9_DGNS_CD_*\"]\ncpt = [\"HCPCS_CD_*\"]\nexcept = [\"305.1\"]\n\
         [privacy]\nk = 20\n{privacy}\nmax_high_risk = 0.1\n[method]\nname = \"claims\"\nwithout_events = \"drop\"\n",
        file("DE1_0_2008_Beneficiary_Summary_File_Sample_1.partA.csv.gz"),
        file("DE1_0_2008_to_2010_Inpatient_Claims_Sample_1.partA.csv.gz"),
    );
    let policy = folder.join("policy.toml");
    fs::write(&policy, text).unwrap();
    policy
}

fn quick() -> Options {
    Options { keep_rows: false, ..options(1, 2) }
}

/// Inpatient claims of half a sample of the synthetic Medicare files.
#[test]
fn synpuf_is_released() {
    let Some(data) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    let policy = synpuf(&data, folder.path(), "power = 2");
    let out = folder.path().join("out");
    let released = pipeline::anonymize(&policy, &out, &quick()).unwrap();
    let m = &released.metrics.to_value();
    assert_eq!((m["people"]["excluded"].as_u64(), m["trace"]["nodes"].as_u64()), (Some(1808), Some(12_960)));
    assert_eq!(m["guarantee"]["compared"]["patients"], 16_983);
    assert_eq!(m["guarantee"]["compared"]["events"], 28_218);
    let level = |name: &str| {
        let columns = m["columns"].as_array().unwrap();
        columns.iter().find(|c| c["name"] == name).unwrap()["level_name"].as_str().unwrap().to_string()
    };
    assert_eq!(level("ICD9_DGNS_CD_1"), "system", "the diagnosis stays");
    assert_eq!(level("SP_STATE_CODE"), "*");
    for of in ["original", "release"] {
        assert!(m["trace"]["decided"][of]["high"].as_f64().unwrap() <= 0.1);
    }
    assert!(m["risk"]["before"]["high_risk"].as_f64().unwrap() > 0.99);
    let AnyRecounted::Events(own) = verify_release(&out, 2).unwrap() else { panic!("a release of events") };
    // At power 2 the variable rule gives everyone min(2, events): the adversary needs no rule.
    let adversary = Adversary::read(&out.join("release"), 4, 5);
    let hits = adversary.finds(20, 2, 3000, &mut Dice(5));
    let (said, found) = (said(&own.recount.found.at_high_risk), wilson((hits, 3000), 3.0));
    assert!(found.0 <= said.1, "{found:?}, but {said:?} was said");
}

#[test]
fn synpuf_keeps_more_where_facts_are_counted_in_total() {
    let Some(data) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    let policy = synpuf(&data, folder.path(), "power_total = 2");
    let out = folder.path().join("out");
    let released = pipeline::anonymize(&policy, &out, &quick()).unwrap();
    // Against the original values, so that what patients lose counts too.
    let loss = released.metrics.to_value()["trace"]["loss"].as_f64().unwrap();
    assert!(loss < 0.56, "time and procedures are kept: {loss}");
    assert!(released.metrics.to_value()["trace"]["decided"]["share"].as_f64().unwrap() <= 0.1);
    verify_release(&out, 2).unwrap();
}

/// Encounters of patients with diabetes: a patients' table made of their first encounters.
#[test]
fn encounters_of_diabetes_patients_are_released() {
    let Some(data) = data() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = fs::File::open(data.join("diabetes130/diabetic_data.csv.gz")).unwrap();
    let mut reader = csv::Reader::from_reader(flate2::read::MultiGzDecoder::new(file));
    let names = reader.headers().unwrap().clone();
    let at = |name: &str| names.iter().position(|n| n == name).unwrap();
    let (id, sex, race, age) = (at("patient_nbr"), at("gender"), at("race"), at("age"));
    let (stay, dx, specialty, kind) =
        (at("time_in_hospital"), at("diag_1"), at("medical_specialty"), at("admission_type_id"));
    let mut patients: BTreeMap<String, String> = BTreeMap::new();
    let mut claims = "id,days,dx,specialty,type\n".to_string();
    for row in reader.records() {
        let row = row.unwrap();
        let age = row[age].trim_matches(['[', ')']).split('-').next().unwrap();
        patients.entry(row[id].to_string()).or_insert_with(|| format!("{},{},{age}", &row[sex], &row[race]));
        writeln!(claims, "{},{},{},{},{}", &row[id], &row[stay], &row[dx], &row[specialty], &row[kind]).unwrap();
    }
    let people =
        patients.iter().fold("id,sex,race,age\n".to_string(), |text, (id, rest)| text + id + "," + rest + "\n");
    fs::write(folder.path().join("p.csv"), people).unwrap();
    fs::write(folder.path().join("c.csv"), claims).unwrap();
    let policy = "[input]\npatients = \"p.csv\"\nclaims = \"c.csv\"\nmissing = [\"?\"]\n[columns.patients]\nid = { role = \"patient\" }\n\
        sex = { role = \"quasi\" }\nrace = { role = \"quasi\" }\nage = { role = \"quasi\", hierarchy = { intervals = [20, 40], from = 0, to = 120 } }\n\
        [columns.claims]\nid = { role = \"patient\" }\ndays = { role = \"quasi\", hierarchy = \"los\", levels = [\"span\", \"week\", \"*\"] }\n\
        dx = { role = \"quasi\", hierarchy = \"pcg\", levels = [\"pcg\", \"system\", \"broad\"], unmapped = \"MSC2a3\" }\n\
        specialty = { role = \"quasi\", hierarchy = \"specialty\", levels = [\"group\", \"*\"], unmapped = \"OTHER\" }\n\
        type = { role = \"quasi\" }\n[privacy]\nk = 20\npower = 5\nmax_high_risk = 0.1\n[method]\nname = \"claims\"\n";
    fs::write(folder.path().join("policy.toml"), policy).unwrap();
    let out = folder.path().join("out");
    let released = pipeline::anonymize(&folder.path().join("policy.toml"), &out, &quick()).unwrap();
    let m = &released.metrics.to_value();
    assert_eq!((m["people"]["in"].as_u64(), m["rows"]["in"].as_u64()), (Some(71_518), Some(101_766)));
    assert!(m["guarantee"]["found"]["share"].as_f64().unwrap() <= 0.1);
    verify_release(&out, 2).unwrap();
}
