//! A file that was dropped on the page: it is written into the folder, block by block.

use crate::folder::private_options;
use crate::studio::Studio;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use http_body::Body as _;
use kohort_core::{Error, Result};
use std::fs::{self, File};
use std::future::poll_fn;
use std::io::Write;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// States where the file goes: the name is in a header, since addresses are kept in histories and logs.
const NAME: &str = "kohort-name";
/// Tells the files of one drop from those of another.
const DROP: &str = "kohort-drop";

/// Receives one file. Answers with the name it got, or with words.
pub(crate) async fn upload(State(studio): State<Arc<Studio>>, request: Request) -> (StatusCode, String) {
    match receive(&studio, request).await {
        Ok(name) => (StatusCode::CREATED, name),
        Err(error) => (StatusCode::BAD_REQUEST, crate::answer::explained(&error)),
    }
}

async fn receive(studio: &Studio, request: Request) -> Result<String> {
    studio.must_write()?;
    let wanted = name_of(request.headers())?;
    let drop = request.headers().get(DROP).and_then(|value| value.to_str().ok()).unwrap_or_default().to_string();
    let draft = Draft::new(studio)?;
    draft.fill(request.into_body()).await?;
    let name = match wanted.split_once('/') {
        // A file of a folder that was dropped: all files of one drop go below one new name.
        Some((folder, file)) => {
            let folder = folder_for(studio, &drop, folder)?;
            let root = studio.folder.path(&folder)?;
            let path = root.join(file);
            crate::folder::make_private_folder(path.parent().unwrap_or(&root))?;
            format!("{folder}/{file}")
        }
        None => studio.folder.free_name(&wanted)?,
    };
    let path = studio.folder.path(&name)?;
    fs::rename(&draft.path, &path).map_err(|e| Error::io(&PathBuf::from(&name), &e))?;
    Ok(name)
}

/// The folder for the files of one drop: a free name, the same for all of them.
fn folder_for(studio: &Studio, drop: &str, wanted: &str) -> Result<String> {
    let mut desk = studio.desk();
    let key = (drop.to_string(), wanted.to_string());
    if let Some((last, given)) = &desk.dropped
        && *last == key
    {
        return Ok(given.clone());
    }
    let given = studio.folder.free_name(wanted)?;
    desk.dropped = Some((key, given.clone()));
    Ok(given)
}

/// The name of the file, decoded and checked.
fn name_of(headers: &HeaderMap) -> Result<String> {
    let wrong = || Error::yours("the file has a name that cannot be used. Rename it first.");
    let text = headers.get(NAME).and_then(|value| value.to_str().ok()).ok_or_else(wrong)?;
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next().ok_or_else(wrong)?, rest.next().ok_or_else(wrong)?];
                let digits = std::str::from_utf8(&digits).map_err(|_| wrong())?;
                u8::from_str_radix(digits, 16).map_err(|_| wrong())?
            }
            byte => byte,
        });
    }
    let name = String::from_utf8(bytes).map_err(|_| wrong())?;
    let parts: Vec<&str> = name.split('/').collect();
    let is_plain = |part: &&str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.len() < 200
            && !part.contains(|c: char| c.is_control() || c == '\\' || c == ':')
    };
    if parts.len() > 5 || !parts.iter().all(is_plain) {
        return Err(wrong());
    }
    Ok(name)
}

/// A file that is being received; removed unless it is complete.
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn new(studio: &Studio) -> Result<Draft> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Ok(Draft { path: studio.folder.own()?.join(format!("upload-{}-{number}", std::process::id())) })
    }

    async fn fill(&self, mut body: Body) -> Result<()> {
        let failed = |e: &std::io::Error| Error::io(&PathBuf::from("the dropped file"), e);
        let mut file: File =
            private_options().create(true).truncate(true).write(true).open(&self.path).map_err(|e| failed(&e))?;
        while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            let frame = frame.map_err(|_| Error::machine("the browser stopped sending the file."))?;
            if let Ok(bytes) = frame.into_data() {
                file.write_all(&bytes).map_err(|e| failed(&e))?;
            }
        }
        file.sync_all().map_err(|e| failed(&e))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
