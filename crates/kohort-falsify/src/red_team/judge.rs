//! Verifies a release in all ways, and says where a result differs from the independent definition.

use super::count::{Problem, count};
use super::csv;
use super::draw::Case;
use super::form::{Form, table};
use super::release::Release;
use super::with_original::{can_be_true, people, without_synthetic};
use kohort::{Run, Verification};
use kohort_core::policy::AnyPolicy;
use kohort_core::table::Source;
use kohort_core::verify::{AnyFindings, Outcome, Verdict, verify_with_original};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The results of a verification, as its exit code says them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Said {
    Verified,
    Partly,
    Refused,
    NotARelease,
}

/// A custodian's original, opened.
pub struct Original<'a> {
    pub case: &'a Case,
    pub source: &'a Source,
    pub policy: &'a AnyPolicy,
    pub honest: &'a Release,
}

fn crashed<T>(what: &str, run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| format!("{what} panics"))
}

/// Verifies a folder from the release alone; checks that the ways agree and that nothing stated is printed as counted.
pub fn from_release(dir: &Path) -> Result<(Said, Option<String>), String> {
    let run = Run::new().threads(1);
    let found = crashed("verify", || run.verify(dir))?;
    let Ok(found) = found else { return Ok((Said::NotARelease, None)) };
    let outcome = found.outcome();
    let json: Value = serde_json::from_str(&found.to_json()).map_err(|_| "--json is no JSON")?;
    if json["result"] != outcome.name() {
        return Err("--json has another result".into());
    }
    let strict = found.clone().strict();
    if outcome != Outcome::Refused && strict.outcome() != Outcome::Refused {
        return Err("--strict accepts statements that nobody known vouches for".into());
    }
    let own = match &found {
        Verification::Refused(_) => return Ok((Said::Refused, None)),
        Verification::Verified(own) | Verification::Partly(own) => own,
    };
    let counted = own.counted().to_string();
    let parts = [&json["counted"], &json["result"]];
    for word in ["method", "unit", "sample", "synthetic", "test", "cleaning", "assumed"] {
        if parts.iter().any(|part| !part[word].is_null()) {
            return Err(format!("`{word}` is printed as counted"));
        }
    }
    if outcome == Outcome::Verified && !own.not_counted().is_empty() {
        return Err("verified, although something was not counted".into());
    }
    let said = if outcome == Outcome::Verified { Said::Verified } else { Said::Partly };
    Ok((said, Some(counted)))
}

/// Says what is false in the result for a table from the release alone.
pub fn judge_release(release: &Release, said: Said, counted: Option<&str>) -> Result<(), String> {
    if !matches!(said, Said::Verified | Said::Partly) {
        return Ok(());
    }
    let attested = &release.certificate["attested"];
    let (sample, patients) = (!attested["sample"].is_null(), attested["unit"] == "patient");
    let synthetic = !attested["synthetic"].is_null();
    if said == Said::Verified && (sample || patients || synthetic) {
        return Err("verified, although the unit, a sample or synthetic records are only stated".into());
    }
    let text = counted.unwrap_or_default();
    if (patients || sample) && (text.contains("patient") || text.contains("algorithm")) {
        return Err("patients are printed as counted".into());
    }
    let strange =
        ["Nobody can be found", "<b>", "![", "[data](", "**safe", "| quasi | ``", "\u{200b}", "\u{202e}", "\u{feff}"];
    if strange.iter().any(|words| release.text("dictionary.md").contains(words)) {
        return Err(format!("{said:?} with a dictionary that Kohort does not write"));
    }
    let delimiter = release.certificate["counted"]["text"]["delimiter"].as_str().unwrap_or(",");
    if delimiter.contains(|c: char| c.is_ascii_alphanumeric() || "\"*\r\n\0".contains(c)) {
        return Err(format!("{said:?} with a delimiter that may be a part of a cell"));
    }
    if said == Said::Verified && has_marks(release) {
        return Err("verified, although the data holds more than its cells".into());
    }
    let found = count(release, None);
    if said == Said::Verified && found.alike {
        return Err("verified, although values that look alike are counted as different".into());
    }
    let matters = |problem: &&Problem| match problem {
        Problem::Small { .. } => !sample,
        Problem::Sensitive(_) => !sample && !patients,
        _ => true,
    };
    match found.problems.iter().find(matters) {
        Some(problem) => Err(format!("{said:?}, but {problem:?}")),
        None => is_said(text, &found.smallest),
    }
}

/// Returns whether the data, or a table beside it, is written in another way than the plainest one.
fn has_marks(release: &Release) -> bool {
    let is_text = |name: &str| name != "data.csv" || Form::of(release) == Some(Form::Text);
    let plain = |name: &str| csv::read(&release.text(name)).map(|(header, rows)| csv::write(&header, &rows));
    let files = ["data.csv", "hierarchy.csv", "catalog.csv"].into_iter().filter(|name| is_text(name));
    let differs = |name: &str| plain(name).is_some_and(|own| own != release.text(name));
    let numbers = |row: &Vec<String>| row[2].starts_with(['0', '+']);
    let strange = csv::read(&release.text("catalog.csv")).is_some_and(|(_, rows)| rows.iter().any(numbers));
    strange || files.filter(|name| release.files.contains_key(*name)).any(differs)
}

/// The number of matching records in the sentence is not above the smallest class.
fn is_said(text: &str, smallest: &usize) -> Result<(), String> {
    let after = |words: &str| text.split_once(words).map(|(_, rest)| rest);
    let number = |rest: &str| rest.split(' ').next().and_then(|n| n.parse::<usize>().ok());
    match after("finds at least ").and_then(number) {
        Some(n) if n > *smallest => Err(format!("the sentence says {n}, and the smallest class has {smallest}")),
        _ => Ok(()),
    }
}

/// Verifies with the original. The verdict says what was counted.
pub fn from_original(dir: &Path, original: &Original) -> Result<(Said, Option<Verdict>), String> {
    let found = crashed("verify --original", || verify_with_original(dir, original.source, original.policy))?;
    Ok(match found {
        Err(error) if error.kind == kohort_core::error::Kind::Refused => (Said::Refused, None),
        Err(_) => (Said::NotARelease, None),
        Ok(found) => {
            let verdict = match found {
                AnyFindings::Table(own) => own.verdict,
                AnyFindings::Codes(own) => own.verdict,
                AnyFindings::Events(own) => own.verdict,
            };
            let said = if verdict.outcome() == Outcome::Verified { Said::Verified } else { Said::Partly };
            (said, Some(verdict))
        }
    })
}

/// Says what is false in the result with the original. `rows`: private/rows was there.
pub fn judge_original(
    original: &Original,
    release: &Release,
    (said, verdict): (Said, Option<&Verdict>),
    rows: bool,
) -> Result<(), String> {
    if !matches!(said, Said::Verified | Said::Partly) {
        return Ok(());
    }
    let honest = &original.honest.certificate;
    let (mut claim, mut own) = (honest["counted"]["claim"].clone(), release.certificate["counted"]["claim"].clone());
    [&mut claim, &mut own].into_iter().for_each(forget_values);
    if claim != own {
        return Err(format!("{said:?} with another claim than the policy's"));
    }
    let sample = !release.certificate["attested"]["sample"].is_null();
    for key in ["method", "unit", "sample", "synthetic", "effects", "cleaning"] {
        // Where samples are drawn, the whole file is the policy's as well.
        if key == "sample" && !sample && original.case.sampled {
            continue;
        }
        if honest["attested"][key] != release.certificate["attested"][key] {
            return Err(format!("{said:?} with another `{key}` than the policy's"));
        }
    }
    // Quotes and line ends that say nothing are judged below.
    let same = |name: &str| csv::read(&release.text(name)) == csv::read(&original.honest.text(name));
    if table(release) == table(original.honest) && !same("hierarchy.csv") && release.files.contains_key("hierarchy.csv")
    {
        return Err(format!("{said:?} with another hierarchy.csv than the policy's"));
    }
    judge_release(release, if said == Said::Verified { Said::Partly } else { said }, None)?;
    let no_synthetic = honest["attested"]["synthetic"].is_null();
    let not_shown = |what: &str| verdict.is_some_and(|own| own.not_shown.iter().any(|gap| gap.contains(what)));
    if rows {
        let lines = String::from_utf8_lossy(release.private.get("rows").map_or(&[][..], |own| own)).into_owned();
        let lines: Vec<u64> = lines.lines().filter_map(|line| line.parse().ok()).filter(|line| *line > 0).collect();
        if lines.len() > 24 && lines.is_sorted() {
            return Err(format!("{said:?} with rows in the order of the original"));
        }
        let people = people(original.case, release)?;
        let patients = original.case.patients.then_some(&people[..]);
        let found = count(release, patients);
        if let Some(problem) = found.problems.first().filter(|_| !sample) {
            return Err(format!("{said:?} row by row, but {problem:?} in patients"));
        }
        // Limits that are only shown may not hold without them.
        let shown_only = release.certificate["attested"]["synthetic"]["limits_shown_only"] == true;
        let mut real = without_synthetic(release).filter(|_| !original.case.patients);
        real.iter_mut()
            .for_each(|own| own.problems.retain(|what| !(shown_only && matches!(what, Problem::Sensitive(_)))));
        if let Some(problem) = real.as_ref().and_then(|own| own.problems.first()) {
            return Err(format!("{said:?} row by row, but {problem:?} without the synthetic records"));
        }
    } else if !not_shown("all released rows at once")
        && no_synthetic
        && !can_be_true(original.case, release, |column| not_shown(&format!("`{column}`")))
    {
        return Err("accepted as multisets, but no original rows can be the released ones".into());
    }
    Ok(())
}

/// The order and tree of values follow from the release.
fn forget_values(claim: &mut Value) {
    for own in claim["sensitive"].as_array_mut().into_iter().flatten() {
        if let Some(t) = own.get_mut("t_closeness").and_then(Value::as_object_mut) {
            t.remove("order");
            t.remove("tree");
        }
    }
}
