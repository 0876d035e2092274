//! The start page: a file, the demo's hospital, an earlier policy, or a release to verify.

use crate::answer::{Answer, Fields};
use crate::count::count;
use crate::folder::{FileKind, Listed};
use crate::job::Job;
use crate::page::{Page, Step, button, hidden};
use crate::studio::{Counted, Studio};
use kohort::hospital::Hospital;
use kohort::init::{init, init_parts};
use kohort::report::parts::escape;
use kohort::{Progress, Suggestion};
use kohort_core::policy::PolicyFile;
use kohort_core::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The patients of the demo's hospital.
const DEMO_ROWS: u64 = 2000;

/// Shows what is in the folder.
pub(crate) fn page(studio: &Arc<Studio>) -> Result<Answer> {
    let listed = studio.folder.listed()?;
    let of = |kind: FileKind| -> Vec<&Listed> { listed.iter().filter(|l| l.kind == kind).collect() };
    let mut body = String::from(
        "<p class=\"lead\">From a file about patients to data that you can share. Kohort suggests what each column is, shows how easily \
         people can be found, and makes a release that is checked before you see it.</p>\n",
    );
    if let Some(name) = &studio.desk().policy {
        body += &format!(
            "<p class=\"actions\"><a class=\"go next\" href=\"/columns\">Go on with {}</a></p>\n",
            escape(name)
        );
    }
    body += "<div class=\"choices\">\n";
    body += &tables(&of(FileKind::Table));
    body += "<section class=\"choice\"><h2>Try it without data</h2>\n<p>A made-up hospital with 2,000 patients. Nobody in it is real.</p>\n";
    body += &button("/demo", "Open the demo hospital", &[]);
    body += "</section>\n";
    body += &policies(&of(FileKind::Policy));
    let releases = of(FileKind::Release).len() + of(FileKind::Archive).len();
    body += &format!(
        "<section class=\"choice\"><h2>Check a release</h2>\n<p>{}</p>\n<p><a class=\"go\" href=\"/verify\">Choose or drop a release</a></p></section>\n",
        match releases {
            0 => "Did you receive data that Kohort made? Count its guarantee again, from its own files.".to_string(),
            1 => "There is 1 release in this folder. Count its guarantee again, or try to attack it.".to_string(),
            n => format!("There are {n} releases in this folder. Count their guarantee again, or try to attack them."),
        }
    );
    body += "</div>\n<section><h2>The way from a file to a release</h2>\n<ol class=\"path\">\n\
             <li><strong>Columns</strong> Say what each column is: a name, something a neighbour may know, a diagnosis.</li>\n\
             <li><strong>Hierarchies</strong> See how values become coarser, for example an age a span of years.</li>\n\
             <li><strong>Risk</strong> See how many people could be found, and say how well they must be protected.</li>\n\
             <li><strong>Explore</strong> Compare several settings. This step is optional.</li>\n\
             <li><strong>Release</strong> Kohort makes the release, checks it, and you sign it and hand it over.</li>\n</ol>\n\
             <p>Every step is saved at once and can be undone. Your files are never changed.</p></section>\n";
    Ok(Answer::Page(Page { step: Step::Start, heading: "Start", body, command: None }))
}

fn tables(tables: &[&Listed]) -> String {
    let mut items = String::new();
    for (i, table) in tables.iter().enumerate() {
        items += &format!(
            "<li><input type=\"checkbox\" name=\"file\" id=\"file-{i}\" value=\"{0}\"><label for=\"file-{i}\"><code>{0}</code> \
             <span class=\"soft\">{1}</span></label></li>\n",
            escape(&table.name),
            size(table.bytes)
        );
    }
    let list = match items.is_empty() {
        true => String::new(),
        false => format!(
            "<form method=\"post\" action=\"/suggest\"><fieldset><legend>Or choose in the folder: one file, or several that a patient \
             number links</legend>\n<ul class=\"files\">\n{items}</ul>\n<button>Look at the data</button></fieldset></form>"
        ),
    };
    format!(
        "<section class=\"choice first\"><h2>Choose your data</h2>\n\
         <div class=\"drop\" data-drop=\"table\"><label for=\"pick\">Drop a file here, or choose one: CSV, Excel, Parquet, SAS transport, \
         Stata or SPSS. Several files at once are read as linked tables, a folder of Parquet files as one table. A policy of yours or a release can be \
         dropped here too. Files are copied into the studio's folder.</label> \
         <input type=\"file\" id=\"pick\" multiple></div>\n{list}</section>\n"
    )
}

fn policies(policies: &[&Listed]) -> String {
    if policies.is_empty() {
        return String::new();
    }
    let item = |policy: &&Listed| {
        format!(
            "<li><form method=\"post\" action=\"/policies\" class=\"inline\">{}<button class=\"link\">{}</button></form></li>\n",
            hidden("name", &policy.name),
            escape(&policy.name)
        )
    };
    let items: String = policies.iter().map(item).collect();
    format!(
        "<section class=\"choice\"><h2>Go on with earlier work</h2>\n<p>A policy holds all your decisions about a table.</p>\n\
         <ul class=\"files\">\n{items}</ul></section>\n"
    )
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// Profiles tables and writes a policy for them.
pub(crate) fn suggest(studio: &Arc<Studio>, fields: &Fields) -> Result<Answer> {
    let names: Vec<String> = fields.all("file").map(str::to_string).collect();
    if names.is_empty() {
        return Err(Error::yours("no file was chosen. Tick at least one."));
    }
    names.iter().try_for_each(|name| studio.folder.path(name).map(|_| ()))?;
    // A policy, alone or with its tables, is opened; a release is verified.
    let listed = studio.folder.listed()?;
    let of = |kinds: &[FileKind]| -> Vec<&String> {
        let is = |name: &&String| listed.iter().any(|own| own.name == **name && kinds.contains(&own.kind));
        names.iter().filter(is).collect()
    };
    match (&of(&[FileKind::Policy])[..], &of(&[FileKind::Release, FileKind::Archive])[..]) {
        ([policy], []) => return open_named(studio, policy),
        ([], [release]) if names.len() == 1 => return super::verify::start(studio, release, false, false),
        ([], []) => {}
        _ => {
            return Err(Error::yours(
                "these files do not belong together. Choose tables, or one policy with its tables, or one release.",
            ));
        }
    }
    studio.start("Looking at the data", "/", move |studio, job| suggest_for(studio, job, &names))?;
    Ok(Answer::See("/job"))
}

fn suggest_for(studio: &Arc<Studio>, job: &Arc<Job>, names: &[String]) -> Result<&'static str> {
    let paths: Vec<PathBuf> = names.iter().map(|name| studio.folder.path(name)).collect::<Result<_>>()?;
    paths.iter().try_for_each(|path| studio.folder.has_table(path))?;
    paths.iter().filter(|path| !path.is_dir()).try_for_each(|path| looks_like_a_table(path))?;
    let suggestion = suggestion(studio, &paths, studio.options(job).progress)?;
    let stem = names[0].split('.').next().unwrap_or("policy");
    let name = match studio.folder.free_name("policy.toml")? {
        free if free == "policy.toml" => free,
        _ => studio.folder.free_name(&format!("{stem}.toml"))?,
    };
    studio.folder.write(&studio.folder.path(&name)?, suggestion.policy.as_bytes())?;
    studio.open(&name)?;
    count_with(studio, job, Some(suggestion))?;
    Ok("/columns")
}

/// The suggestion of `init` for tables, each a file or a folder of parts.
fn suggestion(studio: &Studio, paths: &[PathBuf], progress: Arc<dyn Progress>) -> Result<Suggestion> {
    let (root, threads) = (studio.folder.root(), studio.threads);
    match paths {
        [path] if path.is_dir() => init_parts(path, root, threads, progress),
        paths if paths.iter().any(|path| path.is_dir()) => Err(Error::yours(
            "a folder of parts was chosen together with other tables. Choose it alone, and add the others to the policy.",
        )),
        paths => init(paths, root, threads, progress),
    }
}

/// Refuses a picture, a document or a program before its bytes are taken for cells.
fn looks_like_a_table(path: &Path) -> Result<()> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(|e| Error::io(path, &e))?;
    file.take(4096).read_to_end(&mut start).map_err(|e| Error::io(path, &e))?;
    // Parquet, spreadsheets, gzip and UTF-16 hold zero bytes too; their readers judge them.
    let known: [&[u8]; 10] = [
        b"PAR1",
        b"PK\x03\x04",
        b"\xd0\xcf\x11\xe0",
        b"\x1f\x8b",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
        b"HEADER RECORD",
        b"<stata_dta>",
        b"$FL",
    ];
    let is_old_stata = matches!(start[..], [113..=115, 1 | 2, 1, ..]);
    if start.contains(&0) && !is_old_stata && !known.iter().any(|magic| start.starts_with(magic)) {
        return Err(Error::yours(
            "the file is not a table: it holds bytes that no text has. Choose a file of CSV, Excel, Parquet, SAS transport, Stata or SPSS.",
        ));
    }
    Ok(())
}

/// Counts the tables of the open policy, and asks what would be suggested for them.
pub(crate) fn count_tables(studio: &Arc<Studio>, job: &Arc<Job>) -> Result<()> {
    count_with(studio, job, None)
}

/// The same; a suggestion that was just made is not asked for again.
fn count_with(studio: &Arc<Studio>, job: &Arc<Job>, suggested: Option<Suggestion>) -> Result<()> {
    let opened = studio.opened()?;
    let file: PolicyFile = opened.file()?;
    let progress = studio.options(job).progress;
    let inputs = match &file.input.patients {
        None => vec![(None, &file.input)],
        Some(patients) => {
            let events = std::iter::once(&file.input).chain(&file.input.more_events);
            let events = events.map(|own| (own.events.clone(), own));
            std::iter::once((Some("patients".to_string()), &**patients)).chain(events).collect()
        }
    };
    let mut paths = Vec::new();
    for (_, input) in &inputs {
        let path = input.place.path().map(PathBuf::from).unwrap_or_default();
        studio.folder.has_table(&path)?;
        paths.push(path);
    }
    let suggested = match suggested {
        Some(suggestion) => Ok(suggestion),
        None => suggestion(studio, &paths, Arc::clone(&progress)),
    };
    // Tables that cannot be profiled can still be counted; the reason is shown.
    let (advice, warnings) = match suggested {
        Ok(suggestion) => (suggestion.columns, suggestion.warnings),
        Err(error) if error.kind == kohort_core::error::Kind::Cancelled => return Err(error),
        Err(error) => (Vec::new(), vec![error.message]),
    };
    let mut tables = Vec::new();
    for (group, input) in inputs {
        let own = advice.iter().filter(|advice| advice.table == group).cloned().collect();
        tables.push(count(input, group, own, studio.threads, &progress)?);
    }
    studio.desk().counted = Some(Counted { tables: Arc::new(tables), warnings });
    Ok(())
}

/// Opens an earlier policy and counts its tables.
pub(crate) fn open(studio: &Arc<Studio>, fields: &Fields) -> Result<Answer> {
    open_named(studio, fields.get("name"))
}

fn open_named(studio: &Arc<Studio>, name: &str) -> Result<Answer> {
    studio.open(name)?;
    if studio.desk().counted.is_some() || !studio.folder.may_write() {
        return Ok(Answer::See("/columns"));
    }
    studio.start("Counting the data", "/policy", |studio, job| {
        count_tables(studio, job)?;
        Ok("/columns")
    })?;
    Ok(Answer::See("/job"))
}

/// Writes the demo's hospital into the folder and opens it.
pub(crate) fn demo(studio: &Arc<Studio>, _: &Fields) -> Result<Answer> {
    studio.start("Making the demo hospital", "/", |studio, job| {
        let name = "hospital.csv";
        let path = studio.folder.path(name)?;
        if !path.exists() {
            let mut table = Vec::new();
            let hospital = Hospital { rows: DEMO_ROWS, seed: 1 };
            hospital.write_patients(&mut table).map_err(|e| Error::io(&path, &e))?;
            studio.folder.write(&path, &table)?;
        }
        suggest_for(studio, job, &[name.to_string()])
    })?;
    Ok(Answer::See("/job"))
}
