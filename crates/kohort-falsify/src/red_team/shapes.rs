//! Codes and events: released, verified and tampered with like tables. What is true of codes is counted by the words
//! of docs/clusters.md, and of events by the falsifier's own reader.

use super::judge::{Said, from_release};
use super::release::Release;
use super::tamper::{self, Change, Fit};
use super::{Found, Team, describe, forge, options, write_files};
use crate::dice::Dice;
use crate::events;
use kohort::pipeline;
use kohort_core::error::Kind;
use kohort_core::release::AnyCertificate;
use kohort_core::verify::verify_with_original;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Sets of codes.
pub(super) fn codes(team: &mut Team, dice: &mut Dice, found: &mut Found) -> Result<(), String> {
    let (k, m, kinds) = (2 + dice.below(3), 1 + dice.below(3), 3 + dice.below(5));
    // With a patient column a row is a patient by the custodian's word; quasi-identifiers may be known beside codes.
    let (patients, quasi) = (dice.below(2) == 0, dice.below(3) == 0);
    let mut table = format!("{}{}dx\n", if patients { "pid," } else { "" }, if quasi { "sex,age," } else { "" });
    for row in 0..2 * k + dice.below(20) {
        let own: BTreeSet<usize> = (0..1 + dice.below(4)).map(|_| dice.below(kinds).min(dice.below(kinds))).collect();
        if patients {
            table += &format!("P{row},");
        }
        if quasi {
            table += &format!("{},{},", dice.one_of(&["f", "m"]), 10 * dice.below(3));
        }
        table += &(own.iter().map(|code| format!("c{code}")).collect::<Vec<_>>().join(" ") + "\n");
    }
    let columns = [
        (patients, "pid = { role = \"patient\" }\n"),
        (
            quasi,
            "sex = { role = \"quasi\" }\nage = { role = \"quasi\", hierarchy = { intervals = [20], from = 0, to = 100 } }\n",
        ),
    ];
    let columns: String = columns.iter().filter(|own| own.0).map(|own| own.1).collect();
    let flags = format!("aware = {}\nno_cover = {}\n", !quasi && dice.below(2) == 0, dice.below(2) == 0);
    let sensitive = dice.one_of(&["", "", "sensitive = [\"c0\", \"c2\"]\n"]);
    let largest = dice.one_of(&[String::new(), format!("max_cluster = {}\n", 2 * k)]);
    let policy = format!(
        "[input]\ntable = \"t.csv\"\nlayout = \"list\"\n[columns]\n{columns}dx = {{ role = \"codes\", separator = \" \" }}\n\
         [privacy]\nk = {k}\nknows = {m}\n[method]\nname = \"disassociate\"\n{flags}{sensitive}{largest}"
    );
    let truth = |release: &Release| false_clusters(release);
    let unit = if patients { "patient" } else { "row" };
    found.see(&[format!("codes, unit {unit}"), format!("codes, quasi-identifiers: {quasi}")]);
    shape(team, "disassociate", &[("policy.toml", &policy), ("t.csv", &table)], &truth, dice, found)
}

/// Patients with events.
pub(super) fn events(team: &mut Team, dice: &mut Dice, found: &mut Found) -> Result<(), String> {
    let requirement = dice.one_of(&events::REQUIREMENTS);
    let case = events::Case::random(requirement, dice);
    let place = team.scratch.join("dir/release");
    let truth = |release: &Release| {
        let Ok(AnyCertificate::Events(own)) = AnyCertificate::parse(&release.certificate.to_string()) else {
            return Some("no certificate of events".into());
        };
        // How many values a variable power knows is another's to repeat.
        let fixed = release.certificate["counted"]["claim"]["power"]["variable_values"].is_null();
        let reader = events::Reader::read(&place).ok().filter(|_| fixed)?;
        let found = own.recount.found;
        if found.at_high_risk.is_exact() && found.at_high_risk.share() > own.promise.claim.max_high_risk.to_f64() + 1e-9
        {
            return Some("a larger share at risk than is claimed".into());
        }
        reader.broken(&own.promise.claim, &found, &mut Dice::new(1))
    };
    found.see(&[format!("claims, {requirement}"), format!("claims, {} tables", 1 + usize::from(case.drugs.is_some()))]);
    shape(team, "claims", &case.files(), &truth, dice, found)
}

/// Releases, verifies and tampers. `truth` says what is false in a release.
fn shape(
    team: &mut Team,
    method: &str,
    files: &[(&str, &str)],
    truth: &dyn Fn(&Release) -> Option<String>,
    dice: &mut Dice,
    found: &mut Found,
) -> Result<(), String> {
    let told = |what: String| files.iter().fold(what, |all, (name, text)| format!("{all}\n--- {name}\n{text}"));
    let folder = team.scratch.join("case");
    write_files(&folder, files)?;
    let made = pipeline::open(&folder.join("policy.toml"), &options()).and_then(|(source, policy)| {
        Ok((Release::make(&source, &policy, team.scratch, dice.number())?, source, policy))
    });
    let (honest, source, policy) = match made {
        Ok(made) => made,
        Err(error) if error.kind == Kind::Infeasible => {
            found.infeasible += 1;
            return Ok(());
        }
        Err(error) => return Err(told(format!("no release: {error}"))),
    };
    found.see(&[format!("method {method}")]);
    let dir = team.scratch.join("dir");
    honest.write(&dir, true).map_err(|e| e.to_string())?;
    let (before, _) = from_release(&dir).map_err(&told)?;
    found.verifications += 3;
    if !matches!(before, Said::Verified | Said::Partly) {
        return Err(told(format!("an untouched release: {before:?}")));
    }
    if before == Said::Verified && honest.certificate["attested"]["unit"] == "patient" {
        return Err(told("verified from the release alone, although patients are only stated".into()));
    }
    if let Some(what) = truth(&honest) {
        return Err(told(format!("an untouched release is false: {what}\n{}", describe(&honest))));
    }
    let with_original = || {
        catch_unwind(AssertUnwindSafe(|| verify_with_original(&dir, &source, &policy).map(drop)))
            .map_err(|_| "verify --original panics".to_string())
    };
    for rows in [true, false] {
        if !rows {
            let _ = fs::remove_dir_all(dir.join("private"));
        }
        if let Err(error) = with_original()? {
            return Err(told(format!("an untouched release with its original (rows: {rows}): {error}")));
        }
    }
    for _ in 0..team.tamperings {
        let way = match dice.below(2) {
            0 => dice.one_of(&team.ways),
            _ => dice.one_of(&tamper::of_lines()),
        };
        let mut release = honest.clone();
        let other = team.last.as_ref().unwrap_or(&honest);
        let mut change = Change { release: &mut release, case: None, other, dice };
        if !(way.apply)(&mut change) {
            continue;
        }
        match way.fit {
            Fit::Nothing | Fit::Harmless | Fit::Never => {}
            Fit::Hashes => forge::rehash(&mut release),
            Fit::All | Fit::StaysTrue => forge::all_but_tables(&mut release, &dir),
        }
        let fail = |what: String| told(format!("{}: {what}\n{}", way.name, describe(&release)));
        release.write(&dir, true).map_err(|e| fail(e.to_string()))?;
        let (said, _) = from_release(&dir).map_err(fail)?;
        found.verifications += 1;
        found.tampered.entry(way.name).or_default()[said as usize] += 1;
        let accepted = matches!(said, Said::Verified | Said::Partly);
        if said == Said::Verified && release.certificate["attested"]["unit"] == "patient" {
            return Err(fail("verified from the release alone, although patients are only stated".into()));
        }
        match way.fit {
            Fit::Never if accepted => return Err(fail("it is accepted".into())),
            Fit::Harmless if said != before => return Err(fail(format!("{said:?}, and {before:?} before"))),
            _ => {}
        }
        if accepted && let Some(what) = truth(&release) {
            return Err(fail(format!("{said:?}, but {what}")));
        }
        if accepted {
            found.verifications += 1;
            let same = |place: &str| honest.certificate.pointer(place) == release.certificate.pointer(place);
            let again = with_original().map_err(fail)?;
            if again.is_ok() && !(same("/counted/claim") && same("/attested/method") && same("/attested/unit")) {
                return Err(fail("accepted with another claim than the policy's".into()));
            }
        }
    }
    Ok(())
}

/// Finds a rule of docs/clusters.md that the release breaks.
fn false_clusters(release: &Release) -> Option<String> {
    let claim = &release.certificate["counted"]["claim"];
    let (k, m) = (claim["k"].as_u64()?, claim["m"].as_u64()?);
    let text = release.text("clusters.jsonl");
    let lines: Option<Vec<Value>> = text.lines().map(|line| serde_json::from_str(line).ok()).collect();
    let Some((header, nodes)) = lines.as_ref().and_then(|lines| lines.split_first()) else {
        return Some("no lines".into());
    };
    if header["k"] != json!(k) || header["m"] != json!(m) {
        return Some("the header disagrees".into());
    }
    let claims = Claims {
        k,
        m,
        aware: claim["aware"] == json!(true),
        no_cover: claim["no_cover"] == json!(true),
        sensitive: claim["sensitive"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|v| v.as_str().unwrap_or("").into())
            .collect(),
    };
    false_labels(&release.certificate, header, nodes, k)
        .or_else(|| nodes.iter().find_map(|node| claims.broken(node, &mut Vec::new()).err()))
}

/// Finds what is false about the labels that patients show beside their codes.
fn false_labels(certificate: &Value, header: &Value, nodes: &[Value], k: u64) -> Option<String> {
    let columns = certificate["counted"]["columns"].as_array().cloned().unwrap_or_default();
    let quasi: Vec<Value> =
        columns.iter().filter(|own| own["role"] == "quasi").map(|own| own["name"].clone()).collect();
    let named = header["columns"].as_array().cloned().unwrap_or_default();
    if named != quasi {
        return Some("other columns in the header".into());
    }
    let mut shown: BTreeMap<String, u64> = BTreeMap::new();
    for node in nodes {
        let mut leaves = Vec::new();
        leaves_of(node, &mut leaves);
        let cells: BTreeSet<String> = leaves.iter().map(|leaf| leaf["cells"].to_string()).collect();
        let wide = |leaf: &&Value| leaf["cells"].as_array().map_or(0, Vec::len) == quasi.len();
        if cells.len() != 1 || !leaves.iter().all(wide) {
            return Some("the members of a joint cluster show different labels, or too few".into());
        }
        cells.into_iter().for_each(|cells| *shown.entry(cells).or_default() += size(node));
    }
    let few = shown.values().copied().find(|patients| *patients < k).filter(|_| !quasi.is_empty());
    few.map(|patients| format!("{patients} patients show the same labels"))
}

fn leaves_of<'a>(node: &'a Value, leaves: &mut Vec<&'a Value>) {
    match node["members"].as_array() {
        Some(members) => members.iter().for_each(|member| leaves_of(member, leaves)),
        None => leaves.push(node),
    }
}

struct Claims {
    k: u64,
    m: u64,
    aware: bool,
    no_cover: bool,
    sensitive: BTreeSet<String>,
}

impl Claims {
    /// The patients of a node. `path`: the domains of the chunks above it.
    fn broken(&self, node: &Value, path: &mut Vec<BTreeSet<String>>) -> Result<u64, String> {
        let chunks = |key: &str| node[key].as_array().cloned().unwrap_or_default();
        if let Some(members) = node["members"].as_array() {
            let shared = chunks("shared_chunks");
            let size = members.iter().map(size).sum();
            shared.iter().try_for_each(|chunk| self.chunk(chunk, size))?;
            let above = path.len();
            path.extend(shared.iter().map(domain));
            are_apart(path)?;
            let all = members.iter().map(|member| self.broken(member, path)).sum();
            path.truncate(above);
            return all;
        }
        let size = size(node);
        if size < self.k {
            return Err(format!("a cluster of {size}"));
        }
        let own = chunks("record_chunks");
        own.iter().try_for_each(|chunk| self.chunk(chunk, size))?;
        let items: BTreeSet<String> = texts(&node["item_chunk"]);
        let above = path.len();
        path.extend(own.iter().map(domain));
        path.push(items.clone());
        let apart = are_apart(path);
        path.truncate(above);
        apart?;
        let subrecords: usize = own.iter().map(|chunk| chunk["subrecords"].as_array().map_or(0, Vec::len)).sum();
        let least = size + self.k * self.m.min(own.len() as u64).saturating_sub(1);
        if items.is_empty() && (subrecords as u64) < least {
            return Err(format!("{subrecords} subrecords, and {least} are needed"));
        }
        Ok(size)
    }

    fn chunk(&self, chunk: &Value, patients: u64) -> Result<(), String> {
        let domain = domain(chunk);
        let subrecords: Vec<BTreeSet<String>> =
            chunk["subrecords"].as_array().into_iter().flatten().map(texts).collect();
        if subrecords.len() as u64 > patients || subrecords.iter().any(|own| own.is_empty() || !own.is_subset(&domain))
        {
            return Err("subrecords that no patient can have".into());
        }
        if !domain.is_disjoint(&self.sensitive) {
            return Err("a sensitive code in a chunk".into());
        }
        let mut support: BTreeMap<Vec<&String>, u64> = BTreeMap::new();
        for own in &subrecords {
            let codes: Vec<&String> = own.iter().collect();
            for mask in 1u32..1 << codes.len().min(16) {
                if u64::from(mask.count_ones()) <= self.m {
                    let set = (0..codes.len()).filter(|c| mask >> c & 1 == 1).map(|c| codes[c]).collect();
                    *support.entry(set).or_default() += 1;
                }
            }
        }
        if let Some((set, n)) = support.iter().find(|(_, n)| **n < self.k) {
            return Err(format!("{} codes together {n} times", set.len()));
        }
        let having =
            |codes: &[&String]| subrecords.iter().filter(|own| codes.iter().all(|code| own.contains(*code))).count();
        let covers = |code: &String| having(&[code]) as u64 == patients;
        let implies = |a: &String| domain.iter().any(|b| a != b && having(&[a, b]) == having(&[a]));
        if self.no_cover && domain.iter().any(|code| covers(code) || implies(code)) {
            return Err("a code that reveals another".into());
        }
        let rare = |own: &&BTreeSet<String>| (subrecords.iter().filter(|other| other == own).count() as u64) < self.k;
        match self.aware && subrecords.iter().any(|own| rare(&own)) {
            true => Err("a subrecord fewer than k times".into()),
            false => Ok(()),
        }
    }
}

fn size(node: &Value) -> u64 {
    match node["members"].as_array() {
        Some(members) => members.iter().map(size).sum(),
        None => node["size"].as_u64().unwrap_or(0),
    }
}

fn texts(value: &Value) -> BTreeSet<String> {
    value.as_array().into_iter().flatten().map(|v| v.as_str().unwrap_or_default().to_string()).collect()
}

fn domain(chunk: &Value) -> BTreeSet<String> {
    texts(&chunk["domain"])
}

fn are_apart(path: &[BTreeSet<String>]) -> Result<(), String> {
    let all: usize = path.iter().map(BTreeSet::len).sum();
    let different = path.iter().flatten().collect::<BTreeSet<_>>().len();
    if all == different { Ok(()) } else { Err("a code in two chunks of a path".into()) }
}
