//! The list of the files that Kohort made in a folder, so that replacing the folder removes nothing else.
//!
//! Every folder that Kohort publishes holds a file `.kohort`: one line per file with its length, its
//! time of modification and its path. A file that is not listed, or that was changed since, belongs to
//! somebody else: a folder with such a file is not replaced, and such a file is not removed.
//!
//! ```text
//! kohort made these files, version 1
//! 1024 1762000000.000000000 release/data.csv
//! ```

use crate::{Error, Result};
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The name of the list.
pub const LIST: &str = ".kohort";
const FIRST_LINE: &str = "kohort made these files, version 1";
/// A longer list is not one of Kohort's.
const LONGEST_LIST: u64 = 64 << 20;

/// The length and the time of modification of a file, as the list writes them.
type Stamp = String;

/// Lists every file below `folder` as made by Kohort: for a folder that Kohort has just filled.
pub fn list_all(folder: &Path) -> Result<()> {
    let mut made = BTreeMap::new();
    walk(folder, &mut |path, meta| {
        made.extend(relative(folder, path).filter(|name| name != LIST).map(|name| (name, stamp(meta))));
        Ok(())
    })?;
    write(folder, &made)
}

/// Adds one file to the list of a folder, after a command has written it there. Without a list
/// nothing happens: the folder is then not Kohort's to replace.
pub fn list_one(folder: &Path, file: &Path) -> Result<()> {
    let Some(mut made) = read(folder)? else { return Ok(()) };
    let meta = fs::symlink_metadata(file).map_err(|e| Error::io(file, &e))?;
    made.extend(relative(folder, file).map(|name| (name, stamp(&meta))));
    write(folder, &made)
}

/// Returns whether a file may be written anew: there is none, or Kohort made it and nobody changed it since. What a
/// link leads to is never Kohort's.
pub fn may_be_written(folder: &Path, file: &Path) -> Result<bool> {
    let Ok(meta) = fs::symlink_metadata(file) else { return Ok(true) };
    let made = read(folder)?.unwrap_or_default();
    let stamped = relative(folder, file).and_then(|name| made.get(&name).cloned());
    Ok(meta.is_file() && stamped == Some(stamp(&meta)))
}

/// Refuses to replace `folder` unless Kohort made every file in it, and none was changed since. An
/// empty folder may be replaced.
pub fn is_all_ours(folder: &Path) -> Result<()> {
    let refused = |why: String| Err(Error::yours(format!("{}: {why}", folder.display())));
    let meta = fs::symlink_metadata(folder).map_err(|e| Error::io(folder, &e))?;
    if !meta.is_dir() {
        return refused("not a folder, so Kohort does not replace it. Choose another folder with -o.".into());
    }
    let made = read(folder)?;
    let mut foreign = Vec::new();
    walk(folder, &mut |path, meta| {
        let name = relative(folder, path).unwrap_or_default();
        let ours = made.as_ref().is_some_and(|made| made.get(&name) == Some(&stamp(meta)));
        let is_the_list = name == LIST && made.is_some();
        if !ours && !is_the_list {
            foreign.push(path.to_path_buf());
        }
        Ok(())
    })?;
    match (&foreign[..], &made) {
        ([], _) => Ok(()),
        (_, None) => refused(format!(
            "not a folder that Kohort made (it has no {LIST}), so --force does not replace it. Choose another folder with -o, or remove it yourself."
        )),
        ([first, rest @ ..], Some(_)) => {
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            refused(format!(
                "Kohort did not make {}{more}, or it was changed afterwards. Move it elsewhere, or choose another \
                 folder with -o.",
                first.display()
            ))
        }
    }
}

/// Refuses a target that exists, unless `replace` says that it may be replaced and Kohort made everything in it.
pub fn may_become(target: &Path, replace: bool) -> Result<()> {
    match (fs::symlink_metadata(target), replace) {
        (Err(_), _) => Ok(()),
        (Ok(_), true) => is_all_ours(target),
        (Ok(_), false) => Err(Error::yours(format!(
            "{} exists. Choose another folder with -o, or replace it with --force.",
            target.display()
        ))),
    }
}

/// Removes a folder in which Kohort made everything; refuses if anything else is in it.
pub fn remove(folder: &Path) -> Result<()> {
    is_all_ours(folder)?;
    if remove_ours(folder) {
        return Ok(());
    }
    Err(Error::yours(format!("{}: not everything in it could be removed. Remove it yourself.", folder.display())))
}

/// Removes the files that Kohort made below `folder`, and the folders that are empty then. Returns
/// whether the folder is gone: what somebody else put there stays, and so does the way to it.
pub(super) fn remove_ours(folder: &Path) -> bool {
    let Ok(made) = read(folder) else { return false };
    let made = made.unwrap_or_default();
    let _ = walk(folder, &mut |path, meta| {
        let name = relative(folder, path).unwrap_or_default();
        if name != LIST && made.get(&name) == Some(&stamp(meta)) {
            let _ = fs::remove_file(path);
        }
        Ok(())
    });
    remove_empty_below(folder);
    let only_the_list =
        fs::read_dir(folder).is_ok_and(|entries| entries.flatten().all(|e| e.file_name() == LIST && !made.is_empty()));
    if only_the_list {
        let _ = fs::remove_file(folder.join(LIST));
    }
    let _ = fs::remove_dir(folder);
    fs::symlink_metadata(folder).is_err()
}

/// Refuses a target that is one of these files, holds one of them or lies inside one of them: a
/// command must never be able to remove what it reads.
pub fn keep_apart(target: &Path, kept: &[PathBuf]) -> Result<()> {
    let place = resolved(target);
    for path in kept {
        let own = resolved(path);
        if own.starts_with(&place) || place.starts_with(&own) || is_same_file(&place, &own) {
            return Err(Error::yours(format!(
                "{}: the output would replace or enclose {}, which this command reads. Choose another place with -o.",
                target.display(),
                path.display()
            )));
        }
    }
    Ok(())
}

/// A path without links, `.` and `..`, as far as it exists.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let mut whole = std::env::current_dir().unwrap_or_default();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            part => whole.push(part),
        }
        if let Ok(real) = whole.canonicalize() {
            whole = real;
        }
    }
    whole
}

#[cfg(unix)]
fn is_same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |path: &Path| fs::metadata(path).ok().map(|m| (m.dev(), m.ino()));
    number(a).is_some_and(|own| Some(own) == number(b))
}

#[cfg(not(unix))]
fn is_same_file(a: &Path, b: &Path) -> bool {
    a == b
}

fn read(folder: &Path) -> Result<Option<BTreeMap<String, Stamp>>> {
    let path = folder.join(LIST);
    match fs::symlink_metadata(&path) {
        Ok(meta) if meta.is_file() && meta.len() <= LONGEST_LIST => {}
        _ => return Ok(None),
    }
    let text = fs::read_to_string(&path).map_err(|e| Error::io(&path, &e))?;
    let mut lines = text.lines();
    if lines.next() != Some(FIRST_LINE) {
        return Ok(None);
    }
    let entry = |line: &str| {
        let (length, rest) = line.split_once(' ')?;
        let (time, name) = rest.split_once(' ')?;
        Some((name.to_string(), format!("{length} {time}")))
    };
    Ok(lines.map(entry).collect())
}

fn write(folder: &Path, made: &BTreeMap<String, Stamp>) -> Result<()> {
    let mut text = format!("{FIRST_LINE}\n");
    made.iter().for_each(|(name, stamp)| text += &format!("{stamp} {name}\n"));
    let path = folder.join(LIST);
    fs::write(&path, text).map_err(|e| Error::io(&path, &e))
}

/// A path below `folder` as the list writes it; `None` where a line cannot hold it.
fn relative(folder: &Path, path: &Path) -> Option<String> {
    let name = path.strip_prefix(folder).ok()?.to_str()?;
    (!name.contains(['\n', '\r'])).then(|| name.to_string())
}

fn stamp(meta: &Metadata) -> Stamp {
    let time = meta.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    format!("{} {}.{:09}", meta.len(), time.as_secs(), time.subsec_nanos())
}

/// Visits everything below a folder that is not a folder itself; links are visited, not followed.
fn walk(folder: &Path, visit: &mut dyn FnMut(&Path, &Metadata) -> Result<()>) -> Result<()> {
    let io = |e: std::io::Error| Error::io(folder, &e);
    let mut entries = fs::read_dir(folder).map_err(io)?.collect::<std::io::Result<Vec<_>>>().map_err(io)?;
    entries.sort_unstable_by_key(|entry| entry.file_name());
    for entry in entries {
        let path = entry.path();
        let meta = fs::symlink_metadata(&path).map_err(|e| Error::io(&path, &e))?;
        if meta.is_dir() { walk(&path, visit)? } else { visit(&path, &meta)? }
    }
    Ok(())
}

/// Removes the folders below this one that hold nothing.
fn remove_empty_below(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty_below(&entry.path());
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "made").unwrap();
        }
        folder
    }

    #[test]
    fn what_kohort_made_may_be_replaced_and_is_removed() {
        let made = folder(&["release/data.csv", "evidence/report.html"]);
        list_all(made.path()).unwrap();
        is_all_ours(made.path()).unwrap();
        assert!(remove_ours(made.path()));
    }

    #[test]
    fn a_folder_without_a_list_is_not_replaced_unless_it_is_empty() {
        assert!(is_all_ours(folder(&["release/certificate.json"]).path()).is_err());
        is_all_ours(folder(&[]).path()).unwrap();
    }

    #[test]
    fn a_foreign_or_changed_file_stays_and_keeps_its_folder() {
        let made = folder(&["release/data.csv", "evidence/report.html"]);
        list_all(made.path()).unwrap();
        fs::write(made.path().join("release/notes.txt"), "mine").unwrap();
        fs::write(made.path().join("evidence/report.html"), "with my remarks").unwrap();
        assert!(is_all_ours(made.path()).unwrap_err().message.contains("report.html and 1 more"));
        assert!(!remove_ours(made.path()));
        assert!(made.path().join("release/notes.txt").exists() && made.path().join("evidence/report.html").exists());
        assert!(!made.path().join("release/data.csv").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let (made, other) = (folder(&["release/data.csv"]), folder(&["precious.csv"]));
        list_all(made.path()).unwrap();
        std::os::unix::fs::symlink(other.path(), made.path().join("evidence")).unwrap();
        assert!(is_all_ours(made.path()).is_err());
        assert!(!remove_ours(made.path()));
        assert!(other.path().join("precious.csv").exists());
        let link = made.path().join("link");
        std::os::unix::fs::symlink(other.path(), &link).unwrap();
        assert!(is_all_ours(&link).is_err());
    }

    #[test]
    fn a_target_is_kept_apart_from_what_is_read() {
        let place = folder(&["proj/data.csv", "proj/policy.toml"]);
        let proj = place.path().join("proj");
        let read = [proj.join("data.csv"), proj.join("policy.toml")];
        let refused = |target: PathBuf| assert!(keep_apart(&target, &read).is_err(), "{}", target.display());
        refused(proj.clone());
        refused(place.path().to_path_buf());
        refused(proj.join("data.csv"));
        refused(proj.join("data.csv").join("out"));
        refused(proj.join("out").join(".."));
        refused(proj.join("out/../../proj"));
        keep_apart(&proj.join("out"), &read).unwrap();
        #[cfg(unix)]
        {
            let link = place.path().join("link");
            std::os::unix::fs::symlink(&proj, &link).unwrap();
            refused(link);
            let hard = place.path().join("hard.csv");
            fs::hard_link(proj.join("data.csv"), &hard).unwrap();
            refused(hard);
        }
    }
}
