//! The red team: releases small random data in every way, tampers with the releases, and compares what `verify`
//! says with an independent definition.
//!
//! `draw` draws tables and policies, `release` releases them, `count` and `with_original` count from the
//! bytes what is true, `tamper` changes a release and `forge` makes hashes, counts and sentences fit again.
//! `judge` verifies in all ways. `verify` must never accept what is false, never refuse a true release that nobody
//! touched, never print as counted what is only stated, and never crash.

#![allow(missing_docs)]

mod columns;
mod count;
mod csv;
mod draw;
mod forge;
mod form;
mod judge;
mod release;
mod shapes;
mod tamper;
mod with_original;

use crate::dice::Dice;
use draw::Case;
use judge::{Original, Said, from_original, from_release, judge_original, judge_release};
use kohort::pipeline::{self, Options};
use kohort_core::error::Kind;
use kohort_core::table::Silent;
use release::Release;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tamper::{Change, Fit, Tampering};

/// The settings of a campaign.
#[derive(Debug, Clone)]
pub struct Campaign {
    pub seed: u64,
    /// So many releases are made.
    pub releases: u64,
    /// So many ways of tampering are tried on each.
    pub tamperings: usize,
    /// The folder in which releases are written and verified.
    pub scratch: PathBuf,
}

/// The counts of a campaign.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Releases by what was drawn: method, requirement, unit.
    pub released: BTreeMap<String, u64>,
    /// Tables for which no release exists, or whose policy is not one.
    pub infeasible: u64,
    pub unfit: BTreeMap<String, u64>,
    pub verifications: u64,
    /// Verified, partly verified, refused and unreadable releases, for each way of tampering.
    pub tampered: BTreeMap<&'static str, [u64; 4]>,
    /// Results that were false, and true releases that were refused.
    pub broken: Vec<String>,
}

impl Found {
    /// All releases.
    pub fn releases(&self) -> u64 {
        self.released.iter().filter(|(key, _)| key.starts_with("method ")).map(|(_, n)| n).sum()
    }

    fn see(&mut self, keys: &[String]) {
        keys.iter().for_each(|key| *self.released.entry(key.clone()).or_default() += 1);
    }

    /// The counts as text.
    pub fn table(&self, all_ways: bool) -> String {
        let mut text = format!(
            "{} releases, {} tables without a release; {} verifications\n",
            self.releases(),
            self.infeasible,
            self.verifications
        );
        self.released.iter().for_each(|(key, n)| text += &format!("  {key:<28} {n:>8}\n"));
        self.unfit.iter().for_each(|(key, n)| text += &format!("  not a policy: {key} ({n})\n"));
        let mut sums = [0; 4];
        let mut ways = String::new();
        for (name, counts) in &self.tampered {
            (0..4).for_each(|at| sums[at] += counts[at]);
            let [verified, partly, refused, not] = counts;
            ways += &format!("  {name:<62} {verified:>7} {partly:>7} {refused:>7} {not:>7}\n");
        }
        let [verified, partly, refused, not] = sums;
        let _ = writeln!(
            text,
            "{} ways of tampering, {} times: {verified} verified, {partly} partly, {refused} refused, {not} not a release",
            self.tampered.len(),
            sums.iter().sum::<u64>()
        );
        if all_ways {
            text += &ways;
        }
        let _ = writeln!(text, "{} false results or true releases refused", self.broken.len());
        text
    }
}

/// Runs a campaign. `each` is told the counts now and then.
pub fn run(campaign: &Campaign, mut each: impl FnMut(&Found)) -> Result<Found, String> {
    // What somebody says who panics is printed with the case.
    let place = Arc::new(Mutex::new(String::new()));
    let hook = Arc::clone(&place);
    std::panic::set_hook(Box::new(move |panic| {
        *hook.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
    fs::create_dir_all(&campaign.scratch).map_err(|e| e.to_string())?;
    let mut found = Found::default();
    let mut team =
        Team { scratch: &campaign.scratch, ways: tamper::all(), last: None, tamperings: campaign.tamperings };
    let mut number = 0;
    while found.releases() < campaign.releases && found.broken.len() < 20 {
        let mut dice = Dice::new(campaign.seed.wrapping_add(number));
        let result = catch_unwind(AssertUnwindSafe(|| match dice.below(12) {
            0 => shapes::codes(&mut team, &mut dice, &mut found),
            1 => shapes::events(&mut team, &mut dice, &mut found),
            _ => team.table(&mut dice, &mut found),
        }));
        let words = || place.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Err(what) = result.unwrap_or_else(|_| Err(format!("a panic outside of verify: {}", words()))) {
            found.broken.push(format!("seed {}: {what}", campaign.seed.wrapping_add(number)));
        }
        number += 1;
        if number.is_multiple_of(500) {
            each(&found);
        }
    }
    let _ = std::panic::take_hook();
    let _ = fs::remove_dir_all(&campaign.scratch);
    Ok(found)
}

fn options() -> Options {
    Options { force: true, keep_rows: true, seed: Some(1), threads: 1, progress: Arc::new(Silent) }
}

/// The state that all cases share.
struct Team<'a> {
    scratch: &'a Path,
    ways: Vec<&'static Tampering>,
    /// An earlier release, whose parts are put into others.
    last: Option<Release>,
    tamperings: usize,
}

/// Writes the files of a custodian.
fn write_files(folder: &Path, files: &[(&str, &str)]) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    files.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text)).map_err(|e| e.to_string())
}

impl Team<'_> {
    /// One table: released, verified, tampered with.
    fn table(&mut self, dice: &mut Dice, found: &mut Found) -> Result<(), String> {
        let case = Case::draw(dice);
        let describe = |what: String| format!("{what}\n--- policy.toml\n{}--- t.csv\n{}", case.policy, case.table);
        let folder = self.scratch.join("case");
        let _ = fs::remove_dir_all(&folder);
        for (name, bytes) in case.files() {
            let place = folder.join(name);
            let parent = place.parent().unwrap_or(&folder);
            fs::create_dir_all(parent).and_then(|()| fs::write(&place, bytes)).map_err(|e| e.to_string())?;
        }
        let opened = pipeline::open(&folder.join("policy.toml"), &options());
        let made = opened.and_then(|(source, policy)| {
            Ok((Release::make(&source, &policy, self.scratch, dice.number())?, source, policy))
        });
        let (release, source, policy) = match made {
            Ok(made) => made,
            Err(error) if error.kind == Kind::Infeasible => {
                found.infeasible += 1;
                return Ok(());
            }
            Err(error) if error.kind == Kind::Yours => {
                let words = error.message.split_whitespace().skip_while(|word| !word.ends_with(':')).skip(1);
                *found.unfit.entry(words.take(12).collect::<Vec<_>>().join(" ")).or_default() += 1;
                return Ok(());
            }
            Err(error) => return Err(describe(format!("no release: {error}"))),
        };
        found.see(&[
            format!("method {}", case.method),
            format!("requirement {}", case.requirement),
            format!("unit {}", if case.patients { "patient" } else { "row" }),
        ]);
        let restricted = case.quasi.iter().any(|own| own.levels.is_some());
        let features = [
            ("a random sample", case.sampled),
            ("ranges", case.ranges),
            ("ranges, levels", case.ranges && restricted),
            ("limits shown only", case.shown_only),
        ];
        found.see(&[format!("form {}", case.form.word())]);
        features.iter().filter(|own| own.1).for_each(|own| found.see(&[own.0.into()]));
        let original = Original { case: &case, source: &source, policy: &policy, honest: &release };
        let honest = self.untouched(&original, found).map_err(&describe)?;
        for _ in 0..self.tamperings {
            let way = dice.one_of(&self.ways);
            self.tampered(way, &original, honest, dice, found)
                .map_err(|(what, files)| describe(format!("{}: {what}\n{files}", way.name)))?;
        }
        self.last = Some(release);
        Ok(())
    }

    /// A release that nobody touched is never refused, and its counts are those of the definition.
    fn untouched(&self, original: &Original, found: &mut Found) -> Result<Said, String> {
        let (dir, release) = (self.scratch.join("dir"), original.honest);
        release.write(&dir, true).map_err(|e| e.to_string())?;
        found.verifications += 3;
        let (said, counted) = from_release(&dir)?;
        if !matches!(said, Said::Verified | Said::Partly) {
            return Err(format!("an untouched release: {said:?}"));
        }
        judge_release(release, said, counted.as_deref())?;
        for rows in [true, false] {
            if !rows {
                let _ = fs::remove_dir_all(dir.join("private"));
            }
            let (said, verdict) = from_original(&dir, original)?;
            if !matches!(said, Said::Verified | Said::Partly) {
                return Err(format!("an untouched release with its original (rows: {rows}): {said:?}"));
            }
            judge_original(original, release, (said, verdict.as_ref()), rows)?;
            // Row by row everything can be counted, but for a sample.
            let gaps = verdict.map_or(0, |verdict| verdict.not_counted.len());
            if rows && gaps > 0 && release.certificate["attested"]["sample"].is_null() {
                return Err("row by row, and something was not counted".into());
            }
        }
        Ok(said)
    }

    /// A release that was tampered with: whatever is accepted must be true.
    fn tampered(
        &self,
        way: &'static Tampering,
        original: &Original,
        honest: Said,
        dice: &mut Dice,
        found: &mut Found,
    ) -> Result<(), (String, String)> {
        let mut release = original.honest.clone();
        let other = self.last.as_ref().unwrap_or(original.honest);
        let mut change = Change { release: &mut release, case: Some(original.case), other, dice };
        if !(way.apply)(&mut change) {
            return Ok(());
        }
        match way.fit {
            Fit::Nothing | Fit::Harmless | Fit::Never => {}
            Fit::Hashes => forge::rehash(&mut release),
            Fit::All | Fit::StaysTrue => forge::all(&mut release),
        }
        let dir = self.scratch.join("dir");
        let fail = |what: String| (what, describe(&release));
        release.write(&dir, true).map_err(|e| fail(e.to_string()))?;
        let (said, counted) = from_release(&dir).map_err(fail)?;
        found.verifications += 1;
        found.tampered.entry(way.name).or_default()[said as usize] += 1;
        judge_release(&release, said, counted.as_deref()).map_err(fail)?;
        let accepted = matches!(said, Said::Verified | Said::Partly);
        match way.fit {
            Fit::Never if accepted => return Err(fail("it is accepted".into())),
            Fit::Harmless | Fit::StaysTrue if said != honest => {
                return Err(fail(format!("{said:?}, and {honest:?} before")));
            }
            _ => {}
        }
        // What is refused from the release alone is mostly refused with the original as well.
        if accepted || dice.below(8) == 0 {
            for rows in [true, false] {
                if !rows {
                    let _ = fs::remove_dir_all(dir.join("private"));
                } else if release.private.is_empty() {
                    continue;
                }
                let (said, verdict) = from_original(&dir, original).map_err(fail)?;
                found.verifications += 1;
                judge_original(original, &release, (said, verdict.as_ref()), rows).map_err(fail)?;
            }
        }
        Ok(())
    }
}

/// The files of a release as text.
fn describe(release: &Release) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut all = format!("--- certificate.json\n{}\n", text(&release.certificate_bytes()));
    release.files.iter().for_each(|(name, bytes)| all += &format!("--- {name}\n{}\n", text(bytes)));
    release.private.iter().for_each(|(name, bytes)| all += &format!("--- private/{name}\n{}\n", text(bytes)));
    all
}
