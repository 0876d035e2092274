//! The start page: a file, the demo's hospital, an earlier policy, or a release to verify.

use crate::answer::{Answer, Fields};
use crate::count::count;
use crate::folder::{FileKind, Listed};
use crate::job::Job;
use crate::page::{Page, Step, button, hidden};
use crate::studio::{Counted, Studio};
use kohort::hospital::Hospital;
use kohort::init::init;
use kohort::report::parts::escape;
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
        "<p class=\"lead\">From a file to data that can be shared. Kohort suggests what each column is, shows how \
         easily people can be found, and makes a release that is checked before you see it.</p>\n",
    );
    if let Some(name) = &studio.desk().policy {
        body +=
            &format!("<p>Open now: <code>{}</code>. <a class=\"go\" href=\"/columns\">Go on</a></p>\n", escape(name));
    }
    body += &tables(&of(FileKind::Table));
    body += "<section><h2>Try it without data</h2>\n<p>A synthetic hospital with 2,000 patients. Nobody in it is real.</p>\n";
    body += &button("/demo", "Open the demo hospital", &[]);
    body += "</section>\n";
    body += &policies(&of(FileKind::Policy));
    let releases = of(FileKind::Release).len() + of(FileKind::Archive).len();
    body += &format!(
        "<section><h2>Verify a release</h2>\n<p>{}</p>\n<p><a class=\"go\" href=\"/verify\">Choose or drop a release</a></p></section>\n",
        match releases {
            0 => "Count the guarantee of a release again, from its own files.".to_string(),
            1 => "There is 1 release in this folder.".to_string(),
            n => format!("There are {n} releases in this folder."),
        }
    );
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
        true => "<p>There is no table in this folder yet.</p>\n".to_string(),
        false => format!("<ul class=\"files\">\n{items}</ul>\n<button>Look at it and suggest a policy</button>\n"),
    };
    format!(
        "<section><h2>Choose your data</h2>\n\
         <div class=\"drop\" data-drop=\"table\"><label for=\"pick\">Drop a file here, or choose one: CSV, Excel or Parquet. It is \
         copied into the studio's folder.</label> <input type=\"file\" id=\"pick\" multiple></div>\n\
         <form method=\"post\" action=\"/suggest\"><fieldset><legend>Files in the folder. Choose several if they are \
         linked by a patient column</legend>\n{list}</fieldset></form></section>\n"
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
    format!("<section><h2>Go on with an earlier policy</h2>\n<ul class=\"files\">\n{items}</ul></section>\n")
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
    studio.start("Looking at the data", "/", move |studio, job| suggest_for(studio, job, &names))?;
    Ok(Answer::See("/job"))
}

fn suggest_for(studio: &Arc<Studio>, job: &Arc<Job>, names: &[String]) -> Result<&'static str> {
    let paths: Vec<PathBuf> = names.iter().map(|name| studio.folder.path(name)).collect::<Result<_>>()?;
    paths.iter().try_for_each(|path| looks_like_a_table(path))?;
    let suggestion = init(&paths, studio.folder.root(), studio.threads, studio.options(job).progress)?;
    let stem = names[0].split('.').next().unwrap_or("policy");
    let name = match studio.folder.free_name("policy.toml")? {
        free if free == "policy.toml" => free,
        _ => studio.folder.free_name(&format!("{stem}.toml"))?,
    };
    studio.folder.write(&studio.folder.path(&name)?, suggestion.policy.as_bytes())?;
    studio.open(&name)?;
    count_tables(studio, job)?;
    Ok("/columns")
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
    let (mut tables, mut warnings) = (Vec::new(), Vec::new());
    for (group, input) in inputs {
        let path = input.place.path().map(PathBuf::from).unwrap_or_default();
        studio.folder.is_inside(&path)?;
        // A table that cannot be profiled can still be counted; the reason is shown.
        let advice = match init(&[path], studio.folder.root(), studio.threads, Arc::clone(&progress)) {
            Ok(suggestion) => {
                warnings.extend(suggestion.warnings);
                suggestion.columns
            }
            Err(error) if error.kind == kohort_core::error::Kind::Cancelled => return Err(error),
            Err(error) => {
                warnings.push(error.message);
                Vec::new()
            }
        };
        tables.push(count(input, group, advice, studio.threads, &progress)?);
    }
    studio.desk().counted = Some(Counted { tables: Arc::new(tables), warnings });
    Ok(())
}

/// Opens an earlier policy and counts its tables.
pub(crate) fn open(studio: &Arc<Studio>, fields: &Fields) -> Result<Answer> {
    studio.open(fields.get("name"))?;
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
