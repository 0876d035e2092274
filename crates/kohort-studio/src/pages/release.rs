//! The release: made in the background, then shown with its report, its certificate and its archive.

use super::in_page_words;
use crate::answer::{Answer, Fields};
use crate::archive;
use crate::count::Stamp;
use crate::desktop;
use crate::folder::keep_to_owner;
use crate::page::{Page, Step, button, hidden, percent, sentences, shell, thousands};
use crate::policy_text::get;
use crate::studio::{Opened, Studio};
use kohort::evidence::Metrics;
use kohort::pipeline::{Extras, Readers, anonymize_for};
use kohort::report::parts::{escape, prose};
use kohort_core::release::AnyCertificate;
use kohort_core::signature::SecretKey;
use kohort_core::table::read_text;
use kohort_core::verify::sign_release;
use kohort_core::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The secret key, where `kohort key` writes it.
const KEY: &str = "kohort-key";
/// The largest file of a release that a page shows.
const LARGEST: u64 = 256 << 20;

/// Shows what will be done, and the last release.
pub(crate) fn page(studio: &Arc<Studio>) -> Result<Answer> {
    let opened = studio.opened()?;
    let mut body = String::from(
        "<p class=\"lead\">Kohort makes the release, counts its guarantee again from the written files, and only then \
         publishes it.</p>\n",
    );
    let asked = ["k", "preset", "max_risk"].iter().any(|key| get(&opened.text, &["privacy", key]).is_some());
    let is_events = get(&opened.text, &["privacy", "max_high_risk"]).is_some();
    if !asked && !is_events {
        body += "<p class=\"warning\">k is not chosen yet. <a href=\"/risk\">Choose what must hold</a> first: nobody else can decide it.</p>\n";
    }
    let shown = studio.desk().release.clone();
    let shown =
        shown.or_else(|| Some(default_name(&opened)).filter(|name| studio.folder.path(name).is_ok_and(|p| p.is_dir())));
    let mut command = format!("kohort anonymize {}", shell(&opened.name));
    if shown.is_none() {
        body += &form(studio, &opened)?;
    }
    if let Some(name) = shown {
        body += &summary(studio, &opened, &name)?;
        body += "<section><h2>Make another release</h2>\n";
        body += &form(studio, &opened)?;
        body += "</section>\n";
        command += &format!("\nkohort sign {} --key {KEY}", shell(&name));
        studio.desk().release = Some(name);
    }
    Ok(Answer::Page(Page { step: Step::Release, heading: "Release", body, command: Some(command) }))
}

fn default_name(opened: &Opened) -> String {
    format!("{}-release", opened.stem())
}

fn form(studio: &Studio, opened: &Opened) -> Result<String> {
    let name = default_name(opened);
    let replace = match studio.folder.path(&name)?.exists() {
        false => String::new(),
        true => format!(
            "<fieldset><legend>There is a release <code>{}</code> already</legend>\
             <p><input type=\"radio\" name=\"where\" id=\"where-new\" value=\"new\" checked><label for=\"where-new\">Keep it, and use another folder</label></p>\
             <p><input type=\"radio\" name=\"where\" id=\"where-old\" value=\"replace\"><label for=\"where-old\">Replace it</label></p></fieldset>\n",
            escape(&name)
        ),
    };
    Ok(format!(
        "<form method=\"post\" action=\"/release\" class=\"stacked\">{replace}\
         <p><input type=\"checkbox\" name=\"shareable\" id=\"shareable\" value=\"yes\"><label for=\"shareable\">Also write a report for \
         others, in which small counts are hidden</label></p><button class=\"main\">Make the release</button></form>\n"
    ))
}

/// Makes the release in the background.
pub(crate) fn make(studio: &Arc<Studio>, fields: &Fields) -> Result<Answer> {
    let replace = fields.get("where") == "replace";
    let readers = if fields.get("shareable") == "yes" { Readers::Others } else { Readers::House };
    studio.start("Making the release", "/release", move |studio, job| {
        let opened = studio.opened()?;
        let name = match replace {
            true => default_name(&opened),
            false => studio.folder.free_name(&default_name(&opened))?,
        };
        let mut options = studio.options(job);
        options.force = replace;
        anonymize_for(&opened.path, &studio.folder.path(&name)?, &options, &Extras { readers, ..Extras::default() })?;
        keep_to_owner(&studio.folder.path(&name)?)?;
        let made = stamps(&studio.folder.path(&name)?.join("release"));
        let mut desk = studio.desk();
        (desk.made, desk.release) = (Some((name.clone(), made)), Some(name));
        Ok("/release")
    })?;
    Ok(Answer::See("/job"))
}

/// The sizes and times of the files of a release as it was verified, but for a signature that may be added.
fn stamps(release: &Path) -> Vec<Stamp> {
    let files = std::fs::read_dir(release).into_iter().flatten().flatten().map(|entry| entry.path());
    files.map(|path| Stamp::of(&path)).collect()
}

/// The files of the release that is shown.
fn shown(studio: &Studio) -> Result<(String, PathBuf)> {
    let Some(name) = studio.desk().release.clone() else {
        return Err(Error::yours("no release is shown. Make one, or choose one on the page Verify."));
    };
    let path = studio.folder.path(&name)?;
    Ok((name, path))
}

/// A file of the release, by its path below it.
fn file(studio: &Studio, below: &str) -> Result<String> {
    let path = shown(studio)?.1.join(below);
    studio.folder.is_inside(&path)?;
    read_text(&path, LARGEST)
}

fn summary(studio: &Studio, opened: &Opened, name: &str) -> Result<String> {
    let folder = studio.folder.path(name)?;
    let certificate = folder.join("release").join("certificate.json");
    if !certificate.is_file() {
        return Ok(format!(
            "<p>The release is in <code>{}</code>. It consists of samples: see its report.</p>\n",
            escape(name)
        ));
    }
    let certificate = AnyCertificate::parse(&read_text(&certificate, LARGEST)?)?;
    let made = studio.desk().made.clone();
    let is_verified = made.is_some_and(|(own, stamps)| own == name && stamps.iter().all(Stamp::is_current));
    let (class, stamp) = match is_verified {
        true => ("verdict", "Released and verified"),
        false => ("warned", "A release from before: verify it again before you hand it over"),
    };
    let mut html = String::new();
    let policy = read_text(&folder.join("evidence").join("policy.toml"), LARGEST);
    if policy.is_ok_and(|policy| policy != opened.text) {
        html += "<p class=\"warning\" role=\"status\">The policy was changed after this release was made. Make another release to use the \
                 policy as it is now.</p>\n";
    }
    html += &format!(
        "<section class=\"{class}\"><p class=\"stamp\">{stamp}</p>\n<p>{}</p>\n<p>{}</p>\n",
        prose(&certificate.guarantee().plain),
        prose(&certificate.guarantee().aware)
    );
    let metrics = folder.join("evidence").join("metrics.json");
    if metrics.is_file()
        && let Ok(metrics) = Metrics::parse(&read_text(&metrics, LARGEST)?)
    {
        html += &facts(&metrics);
        html += "</section>\n";
        if !metrics.notes().is_empty() {
            let notes: Vec<String> =
                metrics.notes().iter().map(|note| in_page_words(note, "on the page Risk")).collect();
            html += &format!("<section class=\"check\"><h2>Please check</h2>\n{}</section>\n", sentences(&notes));
        }
    } else {
        html += "</section>\n";
    }
    let path = folder.join("release");
    html += &format!(
        "<section><h2>Hand it over</h2>\n<ol class=\"path\">\n<li><strong>Read</strong> the report. It is for you; it may show small groups.\
         <div class=\"actions\"><a class=\"go\" href=\"/report\" target=\"_blank\" rel=\"noopener\">Open the report</a> \
         <a class=\"go\" href=\"/certificate\">Show the certificate</a></div></li>\n\
         <li><strong>Sign</strong> {}</li>\n\
         <li><strong>Give</strong> the recipient the folder <code>{}</code>, or one archive of it. Keep the folder <code>evidence</code> beside it to \
         yourself.<div class=\"actions\">{}{}{}</div></li>\n</ol></section>\n",
        signing(studio, &path),
        escape(&path.display().to_string()),
        button("/archive", "Download as one archive", &[]),
        button("/show-folder", "Show in folder", &[]),
        format_args!(
            "<form method=\"post\" action=\"/verify\" class=\"inline\">{}{}<button class=\"quiet\">Verify it against the original</button></form>\n",
            hidden("name", name),
            hidden("original", "yes")
        )
    );
    Ok(html)
}

/// Shows whether the release is signed, and a way to sign it.
fn signing(studio: &Studio, release: &Path) -> String {
    if release.join("certificate.json.sig").is_file() {
        return "the certificate: it is signed. Give the file <code>kohort-key.pub</code> to the recipients on another way than the release, so that they \
                can check who signed it."
            .into();
    }
    let has_key = studio.folder.path(KEY).is_ok_and(|key| key.is_file());
    let (words, label) = match has_key {
        true => ("the certificate with your key <code>kohort-key</code>.", "Sign it with kohort-key"),
        false => (
            "the certificate, so that recipients can check that it is yours. The key is kept in the folder: guard <code>kohort-key</code>.",
            "Make a key and sign it",
        ),
    };
    format!("{words}<div class=\"actions\">{}</div>", button("/sign", label, &[]))
}

/// Signs the release that is shown, with the key in the folder or with a new one.
pub(crate) fn sign(studio: &Arc<Studio>, _: &Fields) -> Result<Answer> {
    let (_, folder) = shown(studio)?;
    studio.start("Signing the release", "/release", move |studio, _| {
        let path = studio.folder.path(KEY)?;
        if !path.exists() {
            SecretKey::generate("custodian")?.save_new(&path)?;
        }
        sign_release(&folder, &SecretKey::read(&path)?, studio.threads)?;
        Ok("/release")
    })?;
    Ok(Answer::See("/job"))
}

/// The most important numbers of a release.
pub(crate) fn facts(metrics: &Metrics) -> String {
    let fact = |name: &str, value: String| format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n");
    let count = |n: Option<u64>| n.map_or("–".into(), thousands);
    let mut html = String::from("<dl class=\"facts\">\n");
    match metrics {
        Metrics::Table(own) => {
            html += &fact("Records in", count(own.rows.r#in.known()));
            html += &fact("Records removed", count(own.rows.suppressed.known()));
            html += &fact("Records released", thousands(own.rows.out));
            html += &fact("Detail lost", percent(own.utility.loss));
            let unique = |side: &Option<kohort::evidence::metrics::Risk>| count(side.as_ref().and_then(|r| r.unique));
            html += &fact("Unique before", unique(&own.risk.before));
            html += &fact("Unique after", unique(&own.risk.after));
        }
        Metrics::Codes(own) => {
            html += &fact("Patients in", count(own.rows.r#in.known()));
            html += &fact("Patients released", thousands(own.rows.out));
        }
        Metrics::Events(own) => {
            html += &fact("Patients in", count(own.people.r#in.known()));
            html += &fact("Patients released", thousands(own.people.out));
            html += &fact("Events released", thousands(own.rows.out));
            html += &fact("Detail lost", percent(own.utility.loss));
        }
    }
    html + "</dl>\n"
}

/// The report, whole as it was written.
pub(crate) fn report(studio: &Arc<Studio>) -> Result<Answer> {
    Ok(Answer::Report(file(studio, "evidence/report.html")?))
}

/// The certificate as text.
pub(crate) fn certificate(studio: &Arc<Studio>) -> Result<Answer> {
    Ok(Answer::Text(file(studio, "release/certificate.json")?))
}

/// Packs what is handed over.
pub(crate) fn pack(studio: &Arc<Studio>, _: &Fields) -> Result<Answer> {
    let (name, path) = shown(studio)?;
    studio.start("Packing the archive", "/release", move |studio, _| {
        let archive = studio.folder.path(&format!("{name}.tar.gz"))?;
        studio.folder.is_inside(&archive)?;
        archive::pack(&path.join("release"), &name, &archive)?;
        Ok("/archive/download")
    })?;
    Ok(Answer::See("/job"))
}

/// Shows the release in the program of the desktop that shows folders.
pub(crate) fn show_folder(studio: &Arc<Studio>, _: &Fields) -> Result<Answer> {
    let folder = shown(studio)?.1;
    let folder = if folder.join("release").is_dir() { folder.join("release") } else { folder };
    studio.folder.is_inside(&folder)?;
    studio.say(match desktop::show_folder(&folder) {
        Ok(()) => "The folder is open in another window.".into(),
        Err(error) => format!("{} The release is in `{}`.", crate::answer::capital(&error.message), folder.display()),
    });
    Ok(Answer::See("/release"))
}

/// Sends the archive.
pub(crate) fn download(studio: &Arc<Studio>) -> Result<Answer> {
    let name = format!("{}.tar.gz", shown(studio)?.0);
    Ok(Answer::Download(studio.folder.path(&name)?, name))
}
