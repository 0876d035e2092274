//! Verification: the guarantee of a release is counted again from its files, and attacks are tried on it.

use crate::answer::{Answer, Fields, capital};
use crate::archive;
use crate::folder::FileKind;
use crate::job::Job;
use crate::page::{Page, Step, select, sentences, shell, thousands};
use crate::results::{Held, Verified};
use crate::studio::Studio;
use kohort::attack::{Attack, Trial, attack};
use kohort::report::parts::{cards, escape, prose};
use kohort::{Policy, Run, Verification};
use kohort_core::error::Kind;
use kohort_core::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The targets of each attack.
const TARGETS: u64 = 1000;

/// Shows the releases of the folder, and the last verification.
pub(crate) fn page(studio: &Arc<Studio>) -> Result<Answer> {
    let listed = studio.folder.listed()?;
    let policy = studio.desk().policy.clone();
    let mut body = String::from(
        "<p class=\"lead\">Does a release keep what its certificate promises? Kohort counts it again, from the files alone, and can try to attack \
         it.</p>\n",
    );
    let verified = studio.desk().verified.clone();
    if let Some(verified) = &verified {
        body += &outcome(verified);
        body += "<h2 class=\"ways\">Verify again, or another one</h2>\n";
    }
    body += "<div class=\"drop\" data-drop=\"release\"><label for=\"pick\">Drop a release here, as a folder or as one archive (.tar.gz), or \
             choose an archive:</label> <input type=\"file\" id=\"pick\" accept=\".gz,.tgz\">\n<label for=\"pick-folder\">Or choose a folder:</label> \
             <input type=\"file\" id=\"pick-folder\" webkitdirectory></div>\n";
    let releases: Vec<(&str, String)> = listed
        .iter()
        .filter(|l| matches!(l.kind, FileKind::Release | FileKind::Archive))
        .map(|l| (l.name.as_str(), l.name.clone()))
        .collect();
    if releases.is_empty() {
        body += "<p>There is no release in this folder yet.</p>\n";
    } else {
        let chosen =
            verified.as_ref().map(|v| v.name.clone()).or_else(|| studio.desk().release.clone()).unwrap_or_default();
        let more = match &policy {
            Some(policy) => format!(
                "<p><input type=\"checkbox\" name=\"original\" id=\"original\" value=\"yes\"><label for=\"original\">Compare it with the original \
                 data of <code>{}</code></label></p>\n\
                 <p><input type=\"checkbox\" name=\"attack\" id=\"attack\" value=\"yes\"><label for=\"attack\">Try published attacks on it, and score them with \
                 the original data</label></p>\n",
                escape(policy)
            ),
            None => "<p class=\"soft\">To compare it with the original data and to attack it, open the policy of the original on the start page \
                     first.</p>\n"
                .to_string(),
        };
        body += &format!(
            "<form method=\"post\" action=\"/verify\" class=\"stacked\">{}{more}<button class=\"main\">Verify</button></form>\n",
            select("name", "release", "Release", &releases, &chosen)
        );
    }
    let command = verified.map(|v| {
        let name = v.name.strip_suffix(".tar.gz").unwrap_or(&v.name);
        let name = shell(name);
        let verify = format!("kohort verify {name}");
        match v.original.as_deref().map(shell) {
            None => verify,
            Some(policy) if v.attacks.is_empty() => format!("{verify} --original {policy}"),
            Some(policy) => format!("{verify} --original {policy}\nkohort attack {name} --original {policy}"),
        }
    });
    Ok(Answer::Page(Page { step: Step::Verify, heading: "Verify a release", body, command }))
}

fn outcome(verified: &Verified) -> String {
    let name = format!("<code>{}</code>", escape(&verified.name));
    let mut html = match &verified.outcome {
        Err(reason) => format!(
            "<section class=\"refused\" role=\"alert\"><p class=\"stamp\">Refused</p>\n<p>{name} does not keep what its certificate says. Do not \
             rely on it.</p>\n<p>{}</p></section>\n",
            prose(&capital(reason))
        ),
        Ok(held) => kept(&name, held),
    };
    if !verified.attacks.is_empty() {
        html += &attacks(&verified.attacks);
    }
    html
}

/// The part of a page that lists what was counted, what was not, and what is only stated.
fn kept(name: &str, held: &Held) -> String {
    let stamp = if held.whole { "Verified" } else { "Verified in part" };
    let compared = match &held.compared {
        Some(found) => format!("<p>Compared with the original data: {}</p>", prose(found)),
        None => "<p>Whether it comes from the original data was not checked: that needs the original.</p>".into(),
    };
    let mut html = format!(
        "<section class=\"verdict\" role=\"status\"><p class=\"stamp\">{stamp}</p>\n<p>{name}</p>\n<p>{}</p>\n{compared}</section>\n",
        prose(&held.counted)
    );
    if held.test {
        html += "<p class=\"warning\">It was made with a fixed random seed: it is a test, not a release.</p>\n";
    }
    if !held.nearly_unique.is_empty() {
        html += &format!(
            "<section class=\"check\"><h2>Nearly unique columns</h2>\n<p>No requirement covers these columns, and most of their values occur \
             once: they may name people.</p>\n{}</section>\n",
            sentences(&held.nearly_unique)
        );
    }
    if !held.not_counted.is_empty() {
        html += &format!("<section><h2>Not counted here</h2>\n{}</section>\n", sentences(&held.not_counted));
    }
    html += &format!(
        "<section><h2>Stated by the custodian, not checked here</h2>\n<p>{}.</p>\n{}</section>\n",
        prose(&capital(&held.signer)),
        sentences(&held.stated)
    );
    html
}

fn attacks(all: &[Attack]) -> String {
    let share = |x: Option<f64>| x.map_or("–".into(), crate::page::percent);
    let row = |a: &Attack| {
        vec![
            format!("{}: {}<small>{}</small>", escape(a.name), escape(a.measure), prose(&a.about)),
            thousands(a.targets),
            share(a.before),
            share(a.after),
            share(a.baseline),
        ]
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    format!(
        "<section><h2>Attacks</h2>\n<p>How often an attacker is right: on the original, on the release, and by guessing alone.</p>\n{}</section>\n",
        cards(&["Attack", "Targets", "Original", "Release", "Guessing"], &rows)
    )
}

/// Verifies a release in the background.
pub(crate) fn verify(studio: &Arc<Studio>, fields: &Fields) -> Result<Answer> {
    start(studio, fields.get("name"), fields.get("original") == "yes", fields.get("attack") == "yes")
}

/// The same for the release of this name, compared with the original and attacked if that is asked for.
pub(super) fn start(studio: &Arc<Studio>, name: &str, compare: bool, try_attacks: bool) -> Result<Answer> {
    let name = name.to_string();
    studio.folder.path(&name)?;
    studio.start("Verifying the release", "/verify", move |studio, job| {
        let found = check(studio, job, &name, compare, try_attacks)?;
        studio.desk().verified = Some(Arc::new(found));
        Ok("/verify")
    })?;
    Ok(Answer::See("/job"))
}

fn check(studio: &Arc<Studio>, job: &Arc<Job>, name: &str, compare: bool, try_attacks: bool) -> Result<Verified> {
    let path = studio.folder.path(name)?;
    let unpacked;
    let folder = if path.is_dir() {
        path
    } else {
        unpacked = Unpacked::of(studio, &path)?;
        release_in(&unpacked.0)?
    };
    let progress: Arc<dyn kohort::Progress> = job.clone();
    let run = Run::new().threads(studio.threads).progress(progress);
    kohort::Progress::stage(&**job, "counting the release again", 0);
    let opened = if compare || try_attacks { Some(studio.opened()?) } else { None };
    let result = match &opened {
        Some(opened) => {
            Policy::read(&opened.path).and_then(|policy| run.verify_with_original(&folder, policy.data()?, &policy))
        }
        None => run.verify(&folder),
    };
    let original = opened.as_ref().map(|opened| opened.name.clone());
    let refused = |reason: String| {
        Ok(Verified { name: name.to_string(), original: original.clone(), outcome: Err(reason), attacks: Vec::new() })
    };
    let (whole, own) = match result {
        Ok(Verification::Verified(own)) => (true, own),
        Ok(Verification::Partly(own)) => (false, own),
        Ok(Verification::Refused(refusal)) => return refused(refusal.reason),
        // A release that cannot even be read is as little to be relied on as one that is refused.
        Err(error) if matches!(error.kind, Kind::Refused | Kind::Yours | Kind::Infeasible) => {
            return refused(error.message);
        }
        Err(error) => return Err(error),
    };
    let mut attacks = Vec::new();
    if let (Some(opened), true) = (&opened, try_attacks) {
        kohort::Progress::stage(&**job, "trying attacks", 0);
        attacks = attack(&folder, &opened.path, &studio.options(job), Trial { targets: TARGETS, seed: 1 })?.attacks;
    }
    let nearly_unique = own.outside().iter().filter(|column| column.is_nearly_unique());
    let held = Held {
        whole,
        counted: own.counted().to_string(),
        compared: own.compared().map(str::to_string),
        not_counted: [own.not_counted(), own.not_shown()].concat(),
        nearly_unique: nearly_unique.map(|column| format!("`{}`", column.column)).collect(),
        stated: own.stated().to_vec(),
        signer: own.signer().words(),
        test: own.certificate().is_test(),
    };
    Ok(Verified { name: name.to_string(), original, outcome: Ok(held), attacks })
}

/// An archive that was unpacked to be looked at; removed afterwards.
struct Unpacked(PathBuf);

impl Unpacked {
    fn of(studio: &Studio, archive: &Path) -> Result<Unpacked> {
        let folder = studio.folder.own()?.join(format!("unpacked-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let unpacked = Unpacked(folder);
        archive::unpack(archive, &unpacked.0)?;
        Ok(unpacked)
    }
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The folder with the certificate, at most two folders deep.
fn release_in(folder: &Path) -> Result<PathBuf> {
    let mut look = vec![folder.to_path_buf()];
    for _ in 0..3 {
        if let Some(found) = look
            .iter()
            .find(|path| path.join("certificate.json").is_file() || path.join("release/certificate.json").is_file())
        {
            return Ok(found.clone());
        }
        let inner = look.iter().flat_map(|path| std::fs::read_dir(path).into_iter().flatten().flatten());
        look = inner.map(|entry| entry.path()).filter(|path| path.is_dir()).take(100).collect();
    }
    Err(Error::yours("there is no certificate.json in the archive, so it is not a release of Kohort."))
}
