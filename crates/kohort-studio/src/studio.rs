//! The state of a studio: its folder, the open policy, the results of its last work.

use crate::count::{CountedTable, Stamp};
use crate::folder::Folder;
use crate::history::History;
use crate::job::Job;
use crate::page::{Around, Page};
use crate::policy_text;
use crate::results::{RiskFound, Tried, Verified};
use kohort::pipeline::Options;
use kohort::report::parts::{escape, prose};
use kohort_core::policy::{PolicyFile, Section};
use kohort_core::table::{PartFiles, read_text};
use kohort_core::{Error, Result};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The largest policy that is opened.
const LARGEST_POLICY: u64 = 16 << 20;

/// The file in the studio's own folder that names the policy that was open last.
const OPEN: &str = "open";

/// A studio at work.
pub(crate) struct Studio {
    pub(crate) folder: Folder,
    pub(crate) threads: usize,
    desk: Mutex<Desk>,
    job: Mutex<Option<Arc<Job>>>,
}

/// Describes what is on the desk. Nothing here is lost with it: policies and releases are files, all else can be
/// counted again.
#[derive(Default)]
pub(crate) struct Desk {
    /// The open policy.
    pub(crate) policy: Option<String>,
    /// The change that was just made, until it was shown.
    pub(crate) changed: Option<Changed>,
    /// A sentence about what was just done, until it was shown.
    pub(crate) said: Option<String>,
    /// The counted tables of the open policy.
    pub(crate) counted: Option<Counted>,
    /// The risk of the data, and the text of the policy it was found for.
    pub(crate) risk: Option<(String, Arc<RiskFound>)>,
    /// The setting that is looked at closely.
    pub(crate) tried: Option<Arc<Tried>>,
    /// The release that is shown, by its name in the folder.
    pub(crate) release: Option<String>,
    /// The release that was made last, and its files as they were verified.
    pub(crate) made: Option<(String, Vec<Stamp>)>,
    /// The last folder that was dropped, by its drop and its name, and the name it got.
    pub(crate) dropped: Option<((String, String), String)>,
    /// The last verification.
    pub(crate) verified: Option<Arc<Verified>>,
}

/// The tables of a policy, counted.
#[derive(Clone)]
pub(crate) struct Counted {
    pub(crate) tables: Arc<Vec<CountedTable>>,
    pub(crate) warnings: Vec<String>,
}

/// A change to the policy.
pub(crate) struct Changed {
    what: String,
    before: String,
    after: String,
}

/// The open policy, as its file is now.
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) history: History,
}

/// A change to one key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Edit {
    pub(crate) path: Vec<String>,
    /// TOML; nothing removes the key.
    pub(crate) value: Option<String>,
}

impl Edit {
    pub(crate) fn set(path: &[&str], value: impl Into<String>) -> Edit {
        Edit { path: path.iter().map(|key| key.to_string()).collect(), value: Some(value.into()) }
    }

    pub(crate) fn remove(path: &[&str]) -> Edit {
        Edit { path: path.iter().map(|key| key.to_string()).collect(), value: None }
    }

    fn keys(&self) -> Vec<&str> {
        self.path.iter().map(String::as_str).collect()
    }
}

/// Describes how a change ended.
pub(crate) enum Saved {
    /// It is in the file.
    Yes,
    /// These keys were changed by somebody else since the page was shown: their path, the value in the file.
    Meanwhile(Vec<(String, String)>),
}

impl Opened {
    /// A short mark of the text that a form was made from.
    pub(crate) fn revision(&self) -> String {
        revision(&self.text)
    }

    /// The policy as it is written.
    pub(crate) fn section(&self) -> Result<Section> {
        Section::parse(&self.name, &self.text)
    }

    /// The policy, ready to be bound to its data.
    pub(crate) fn file(&self) -> Result<PolicyFile> {
        PolicyFile::parse(&self.name, &self.text, self.path.parent().unwrap_or(Path::new(".")))
    }

    /// The tables that it reads, as they are now. Of a pattern, the folder that it looks into.
    pub(crate) fn tables(&self) -> Vec<Stamp> {
        let Ok(section) = self.section() else { return Vec::new() };
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let own = section.section("input").ok().flatten();
        let below = own.as_ref().and_then(|own| own.text("folder").ok().flatten());
        let below = below.map_or(folder.to_path_buf(), |own| folder.join(own));
        let stamp = |name: String| {
            let path = below.join(name);
            if path.exists() { Stamp::of(&path) } else { Stamp::of(&PartFiles::root(&path)) }
        };
        table_names(&section).into_iter().map(stamp).collect()
    }

    /// Its name without `.toml`.
    pub(crate) fn stem(&self) -> &str {
        self.name.strip_suffix(".toml").unwrap_or(&self.name)
    }
}

/// The tables that a policy names, as it names them. Each may be a file, a folder or a pattern.
fn table_names(policy: &Section) -> Vec<String> {
    // A key of another kind names no table, and reading the policy says so.
    let below = |section: &Section, key: &str| section.section(key).ok().flatten();
    let mut names = Vec::new();
    if let Some(input) = below(policy, "input") {
        let named = ["table", "patients", "claims"].into_iter().filter_map(|key| input.text(key).ok().flatten());
        names.extend(named.map(str::to_string));
        let events = below(&input, "events");
        names.extend(events.iter().flat_map(Section::texts_below).map(str::to_string));
    }
    if let Some(population) = below(policy, "population") {
        names.extend(population.text("counts").ok().flatten().map(str::to_string));
    }
    names
}

fn revision(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

impl Studio {
    /// A studio in a folder. It goes on with the policy that was open last.
    pub(crate) fn new(folder: Folder, threads: usize) -> Studio {
        let last = folder.own().ok().and_then(|own| std::fs::read_to_string(own.join(OPEN)).ok());
        let policy = last.filter(|name| folder.path(name).is_ok_and(|path| path.is_file()));
        let desk = Desk { policy, ..Desk::default() };
        Studio { folder, threads, desk: Mutex::new(desk), job: Mutex::new(None) }
    }

    pub(crate) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The document of a page, with what is around it.
    pub(crate) fn render(&self, page: &Page) -> String {
        let mut desk = self.desk();
        let said = desk
            .said
            .take()
            .map_or(String::new(), |said| format!("<p class=\"note\" role=\"status\">{}</p>\n", prose(&said)));
        let changed = desk.changed.take().map_or(String::new(), |changed| changed.html()) + &said;
        let policy = desk.policy.clone();
        drop(desk);
        // The page of the work itself needs no hint.
        let working = self.job().is_some_and(|job| job.is_running() && job.title != page.heading);
        page.render(&Around { policy, changed, read_only: !self.folder.may_write(), working })
    }

    /// Says something on the next page.
    pub(crate) fn say(&self, sentence: String) {
        self.desk().said = Some(sentence);
    }

    /// The work that was started last.
    pub(crate) fn job(&self) -> Option<Arc<Job>> {
        self.job.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Starts work in the background, unless other work is going on.
    pub(crate) fn start(
        self: &Arc<Self>,
        title: &'static str,
        back: &'static str,
        work: impl FnOnce(&Arc<Studio>, &Arc<Job>) -> Result<&'static str> + Send + 'static,
    ) -> Result<()> {
        self.must_write()?;
        let mut job = self.job.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(job) = job.as_ref().filter(|job| job.is_running()) {
            return Err(Error::yours(format!("\"{}\" is still going on. Wait for it, or cancel it.", job.title)));
        }
        let own = Arc::clone(self);
        *job = Some(Job::start(title, back, move |job| work(&own, job))?);
        Ok(())
    }

    /// Options of a run whose progress a job shows.
    pub(crate) fn options(&self, job: &Arc<Job>) -> Options {
        let progress: Arc<dyn kohort::Progress> = job.clone();
        Options { force: false, keep_rows: false, seed: None, threads: self.threads, progress }
    }

    /// Refuses what writes while another studio has the folder.
    pub(crate) fn must_write(&self) -> Result<()> {
        if self.folder.may_write() {
            return Ok(());
        }
        Err(Error::yours(
            "another studio is working in this folder, so this one only shows. Close the other one first.",
        ))
    }

    /// Opens a policy in the folder. Every file it names must be in the folder too.
    pub(crate) fn open(&self, name: &str) -> Result<()> {
        let path = self.folder.path(name)?;
        self.check_files(&path)?;
        let mut desk = self.desk();
        if desk.policy.as_deref() != Some(name) {
            *desk = Desk { policy: Some(name.to_string()), verified: desk.verified.take(), ..Desk::default() };
        }
        drop(desk);
        if self.folder.may_write() {
            // Only a convenience: where it cannot be written, a restart asks which policy to open.
            let _ = self.folder.write(&self.folder.own()?.join(OPEN), name.as_bytes());
        }
        Ok(())
    }

    fn check_files(&self, policy: &Path) -> Result<()> {
        let text = read_text(policy, LARGEST_POLICY)?;
        let name = policy.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // A policy that cannot be read names no file; it can still be shown and corrected.
        let Ok(section) = Section::parse(&name, &text) else { return Ok(()) };
        let folder = policy.parent().unwrap_or(Path::new("."));
        let input = section.section("input")?;
        if section.get("output").is_some() {
            return Err(Error::yours(
                "the policy writes into a database. The studio writes only into its folder: use the command line.",
            ));
        }
        if input.as_ref().is_some_and(|input| input.get("database").is_some()) {
            return Err(Error::yours(
                "the policy reads a database. The studio reads only files in its folder: use the command line.",
            ));
        }
        let own = input.as_ref().map_or(Ok(None), |input| input.text("folder"))?;
        let below = own.map_or(folder.to_path_buf(), |own| folder.join(own));
        for text in section.texts_below() {
            for file in [folder.join(text), below.join(text)] {
                // An earlier release that a policy names is a folder, of which this file is read.
                for file in [file.join("evidence").join("metrics.json"), file] {
                    if std::fs::symlink_metadata(&file).is_ok() {
                        self.folder.is_inside(&file)?;
                    }
                }
            }
        }
        for table in table_names(&section) {
            self.folder.has_table(&below.join(table))?;
        }
        Ok(())
    }

    /// The open policy as its file is now. What was changed by hand meanwhile becomes a version of its history.
    pub(crate) fn opened(&self) -> Result<Opened> {
        let Some(name) = self.desk().policy.clone() else {
            return Err(Error::yours("no policy is open. Choose a table or a policy on the start page."));
        };
        let path = self.folder.path(&name)?;
        self.check_files(&path)?;
        let text = read_text(&path, LARGEST_POLICY)?;
        let mut history = History::read(&self.folder, &name)?;
        let known = history.current().map(|version| version.text().is_ok_and(|own| own == text));
        if known != Some(true) && self.folder.may_write() {
            let what = if known.is_none() { "The policy as it was opened" } else { "Edited outside the studio" };
            history.add(&self.folder, what, &text)?;
        }
        Ok(Opened { name, path, text, history })
    }

    /// Changes keys of the open policy. `seen` is the revision that the person saw: keys that somebody else
    /// changed since then are asked about, all others are merged.
    pub(crate) fn change(&self, seen: &str, what: &str, edits: &[Edit]) -> Result<Saved> {
        self.must_write()?;
        let opened = self.opened()?;
        if !seen.is_empty() && seen != opened.revision() {
            let base = opened.history.find(|text| revision(text) == seen);
            let differs = |edit: &&Edit| {
                let (now, keys) = (policy_text::get(&opened.text, &edit.keys()), edit.keys());
                now != edit.value && base.as_ref().is_none_or(|base| policy_text::get(base, &keys) != now)
            };
            let theirs = |edit: &Edit| {
                let now = policy_text::get(&opened.text, &edit.keys()).unwrap_or_else(|| "not set".into());
                (edit.path.join("."), now)
            };
            let meanwhile: Vec<(String, String)> = edits.iter().filter(differs).map(theirs).collect();
            if !meanwhile.is_empty() {
                return Ok(Saved::Meanwhile(meanwhile));
            }
        }
        let mut text = opened.text.clone();
        for edit in edits {
            text = match &edit.value {
                Some(value) if policy_text::get(&text, &edit.keys()).as_ref() == Some(value) => text,
                Some(value) => policy_text::set(&text, &edit.keys(), value)?,
                None => policy_text::remove(&text, &edit.keys())?,
            };
        }
        self.save(opened, what, &text)?;
        Ok(Saved::Yes)
    }

    /// Writes another text of the open policy, and keeps the version before.
    pub(crate) fn save(&self, mut opened: Opened, what: &str, text: &str) -> Result<()> {
        self.must_write()?;
        if text == opened.text {
            return Ok(());
        }
        Section::parse(&opened.name, text)?;
        self.folder.write(&opened.path, text.as_bytes())?;
        opened.history.add(&self.folder, what, text)?;
        self.desk().changed = Some(Changed { what: what.into(), before: opened.text, after: text.into() });
        Ok(())
    }

    /// Goes to another version of the open policy, by its place in the history.
    pub(crate) fn go_to(&self, place: usize) -> Result<()> {
        self.must_write()?;
        let mut opened = self.opened()?;
        let Some(version) = opened.history.versions.get(place).cloned() else {
            return Err(Error::yours("there is no other version to go to."));
        };
        let text = version.text()?;
        self.folder.write(&opened.path, text.as_bytes())?;
        opened.history.point_at(&self.folder, place)?;
        let what = format!("Back to version {}: {}", version.number, version.what());
        self.desk().changed = Some(Changed { what, before: opened.text, after: text });
        Ok(())
    }
}

impl Changed {
    /// Returns what changed, line by line, with a way back.
    fn html(&self) -> String {
        let (before, after): (Vec<&str>, Vec<&str>) = (self.before.lines().collect(), self.after.lines().collect());
        let start = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
        let same_end =
            before[start..].iter().rev().zip(after[start..].iter().rev()).take_while(|(a, b)| a == b).count();
        let line = |mark: &str, line: &&str| format!("{mark} {}\n", escape(line));
        let (old, new) = (&before[start..before.len() - same_end], &after[start..after.len() - same_end]);
        let mut lines = String::new();
        if old.len() + new.len() <= 80 {
            old.iter().filter(|line| !new.contains(line)).for_each(|own| lines += &line("−", own));
            new.iter().filter(|line| !old.contains(line)).for_each(|own| lines += &line("+", own));
        } else {
            lines = format!("{} lines were replaced by {}.", old.len(), new.len());
        }
        format!(
            "<section class=\"changed\" role=\"status\"><p><strong>Saved.</strong> {}.</p>\n{}\
             <details><summary>What changed in the policy</summary><pre tabindex=\"0\">{lines}</pre></details></section>\n",
            prose(&self.what),
            crate::page::button("/undo", "Undo", &[])
        )
    }
}
