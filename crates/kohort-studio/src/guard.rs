//! Checks a request before it is answered, and tells the browser what it must not do with the answer.

use crate::page;
use crate::session::Session;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// Pages take styles and scripts from this server alone, and run no script that is written in a page.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// A report has its style in the page, and nothing else.
const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
                             frame-ancestors 'none'; sandbox";

/// A mark on answers that hold a report: they get the policy of reports.
#[derive(Clone)]
pub(crate) struct IsReport;

/// Refuses foreign hosts (421), foreign origins (403) and browsers without the cookie (401).
pub(crate) async fn guard(State(session): State<Arc<Session>>, request: Request, next: Next) -> Response {
    let mut response = match refusal(&session, &request) {
        Some(refused) => refused,
        None => next.run(request).await,
    };
    let is_report = response.extensions().get::<IsReport>().is_some();
    let headers = response.headers_mut();
    let mut put = |name: HeaderName, value: &'static str| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    put(header::CONTENT_SECURITY_POLICY, if is_report { REPORT_POLICY } else { POLICY });
    put(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    put(header::X_FRAME_OPTIONS, "DENY");
    // Without a referrer to itself, a browser would send forms with `Origin: null`.
    put(header::REFERRER_POLICY, "same-origin");
    put(header::CACHE_CONTROL, "no-store");
    put(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    put(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    response
}

fn refusal(session: &Session, request: &Request) -> Option<Response> {
    let headers = request.headers();
    if text(headers, header::HOST) != Some(session.host.as_str()) {
        return Some(words(
            StatusCode::MISDIRECTED_REQUEST,
            "This address is not the studio's",
            "The studio answers only at the address that it printed.",
        ));
    }
    let foreign = || {
        words(
            StatusCode::FORBIDDEN,
            "The request came from another site",
            "The studio answers only its own pages. Nothing was changed.",
        )
    };
    let own = format!("http://{}", session.host);
    let origin = headers.get(header::ORIGIN).map(|origin| origin.as_bytes() == own.as_bytes());
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    // A browser names the origin of everything that changes something.
    if origin == Some(false) || (origin.is_none() && !is_read) {
        return Some(foreign());
    }
    let is_opening = request.uri().path() == "/open";
    let site = text(headers, HeaderName::from_static("sec-fetch-site"));
    if !is_opening && matches!(site, Some("cross-site" | "same-site")) {
        return Some(foreign());
    }
    let mut cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let is_known = cookies.any(|cookies| session.knows(cookies));
    (!is_known && !is_opening).then(|| {
        words(
            StatusCode::UNAUTHORIZED,
            "This browser has not opened the studio",
            "Use the address that `kohort studio` printed. It works once: press Enter in the terminal for a new one. \
             Your work is saved.",
        )
    })
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// A page with a heading and a sentence.
pub(crate) fn words(status: StatusCode, heading: &str, sentence: &str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], page::bare(heading, sentence)).into_response()
}
