//! The answer of a page or an action, and how it becomes HTTP.

use crate::guard::IsReport;
use crate::page::{self, Page};
use crate::studio::Studio;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body::Frame;
use kohort_core::error::Kind;
use kohort_core::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};

/// An answer.
pub(crate) enum Answer {
    /// A page.
    Page(Page),
    /// A question: nothing was changed yet.
    Question(Page),
    /// Go to another page.
    See(&'static str),
    /// A part of a page, and the page to go to if there is one.
    Part(String, Option<&'static str>),
    /// A report, whole as it was written.
    Report(String),
    /// A text as it is.
    Text(String),
    /// A file to save, under this name.
    Download(PathBuf, String),
}

/// The fields of a form, in its order.
pub(crate) struct Fields(pub(crate) Vec<(String, String)>);

impl Fields {
    /// The value of a field; empty if it is missing.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value.trim())
    }

    /// Every value of a field that may be there several times.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// A field that holds a number.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.get(name).parse().ok()
    }
}

/// The answer as a response; an error becomes a page of words.
pub(crate) fn respond(studio: &Studio, answer: Result<Answer>) -> Response {
    let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    match answer {
        Ok(Answer::Page(page)) => (html, studio.render(&page)).into_response(),
        Ok(Answer::Question(page)) => (StatusCode::CONFLICT, html, studio.render(&page)).into_response(),
        Ok(Answer::See(address)) => (StatusCode::SEE_OTHER, [(header::LOCATION, address)]).into_response(),
        Ok(Answer::Part(part, next)) => {
            let mut response = (html, part).into_response();
            if let Some(next) = next {
                response.headers_mut().insert("kohort-next", HeaderValue::from_static(next));
            }
            response
        }
        Ok(Answer::Report(report)) => {
            let mut response = (html, report).into_response();
            response.extensions_mut().insert(IsReport);
            response
        }
        Ok(Answer::Text(text)) => ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response(),
        Ok(Answer::Download(path, name)) => match download(&path, &name) {
            Ok(response) => response,
            Err(error) => problem(&error),
        },
        Err(error) => problem(&error),
    }
}

/// An error in words. It never holds a value of the data.
pub(crate) fn problem(error: &Error) -> Response {
    let (status, heading) = match error.kind {
        Kind::Yours => (StatusCode::BAD_REQUEST, "This did not work"),
        Kind::Unaccepted => (StatusCode::BAD_REQUEST, "A column is not protected"),
        Kind::Refused => (StatusCode::CONFLICT, "Refused"),
        Kind::Infeasible => (StatusCode::CONFLICT, "No release is possible"),
        Kind::Cancelled => (StatusCode::CONFLICT, "Cancelled"),
        Kind::Machine => (StatusCode::INTERNAL_SERVER_ERROR, "The computer could not do this"),
    };
    let body = page::problem(heading, &explained(error));
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], body).into_response()
}

/// The sentence of an error, and what to do if the disk is full.
pub(crate) fn explained(error: &Error) -> String {
    let sentence = capital(&error.message);
    let is_full = ["No space left", "File too large", "Disk quota"].iter().any(|words| error.message.contains(words));
    match error.kind == Kind::Machine && is_full {
        true => format!("{sentence} Free some space on the disk and try again. What you saved before is still there."),
        false => sentence,
    }
}

/// A sentence that begins with a capital letter, unless it begins with the name of a file or a column.
pub(crate) fn capital(sentence: &str) -> String {
    let first = sentence.split([' ', ',', ':', ';']).next().unwrap_or_default();
    if first.contains(|c: char| !c.is_alphabetic() && c != '\'') {
        return sentence.to_string();
    }
    let mut letters = sentence.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn download(path: &Path, name: &str) -> Result<Response> {
    let file = File::open(path).map_err(|e| Error::io(path, &e))?;
    let length = file.metadata().map_err(|e| Error::io(path, &e))?.len();
    let safe: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    let body = Body::new(FileBody { file });
    let disposition = format!("attachment; filename=\"{safe}\"");
    let headers = [
        (header::CONTENT_TYPE, "application/gzip".to_string()),
        (header::CONTENT_DISPOSITION, disposition),
        (header::CONTENT_LENGTH, length.to_string()),
    ];
    Ok((headers, body).into_response())
}

/// A file that is sent block by block.
struct FileBody {
    file: File,
}

impl http_body::Body for FileBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, std::io::Error>>> {
        let mut block = vec![0; 1 << 16];
        Poll::Ready(match self.file.read(&mut block) {
            Ok(0) => None,
            Ok(read) => {
                block.truncate(read);
                Some(Ok(Frame::data(Bytes::from(block))))
            }
            Err(error) => Some(Err(error)),
        })
    }
}
