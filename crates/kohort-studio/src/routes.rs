//! Which address shows or does what.

use crate::answer::{Answer, Fields, respond};
use crate::guard::{guard, words};
use crate::pages::{columns, explore, hierarchies, policy, release, risk, start, verify, work};
use crate::session::Session;
use crate::studio::Studio;
use crate::upload;
use axum::extract::{DefaultBodyLimit, Form, Path, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post, put};
use axum::{Router, middleware};
use kohort_core::Result;
use std::sync::Arc;

/// The largest form: a policy of 300 columns is far below it.
const LARGEST_FORM: usize = 16 << 20;

/// All addresses, behind the guard.
pub(crate) fn routes(studio: Arc<Studio>, session: Arc<Session>) -> Router {
    let opened = Arc::clone(&session);
    let app = Router::new()
        .route("/", shows(start::page))
        .route("/suggest", does(start::suggest))
        .route("/demo", does(start::demo))
        .route("/policies", does(start::open))
        .route("/columns", shows(columns::page).merge(does(columns::save)))
        .route("/values", does(columns::values))
        .route("/count", does(columns::count_again))
        .route("/hierarchies", shows(hierarchies::page))
        .route("/hierarchy/{column}", shows_one(hierarchies::one).merge(does_one(hierarchies::save)))
        .route("/group/{column}", does_one(hierarchies::group))
        .route("/hierarchy-file/{column}", does_one(hierarchies::save_file))
        .route("/codes", shows(hierarchies::codes).merge(does(hierarchies::search)))
        .route("/risk", shows(risk::page).merge(does(risk::assess)))
        .route("/privacy", does(risk::save))
        .route("/explore", shows(explore::page).merge(does(explore::compare)))
        .route("/setting", shows(explore::setting).merge(does(explore::look)))
        .route("/setting/report", shows(explore::report))
        .route("/choose", does(explore::choose))
        .route("/release", shows(release::page).merge(does(release::make)))
        .route("/report", shows(release::report))
        .route("/certificate", shows(release::certificate))
        .route("/sign", does(release::sign))
        .route("/archive", does(release::pack))
        .route("/archive/download", shows(release::download))
        .route("/verify", shows(verify::page).merge(does(verify::verify)))
        .route("/policy", shows(policy::page).merge(does(policy::save)))
        .route("/undo", does(policy::undo))
        .route("/redo", does(policy::redo))
        .route("/version", does(policy::version))
        .route("/job", shows(work::page))
        .route("/job/part", shows(work::part))
        .route("/cancel", does(work::cancel))
        .route("/enough", does(work::enough))
        .route("/show-folder", does(release::show_folder))
        .route("/upload", put(upload::upload).layer(DefaultBodyLimit::disable()))
        .with_state(studio)
        .route("/open", get(move |address: Uri| open(opened, address)))
        .route("/style.css", asset("text/css; charset=utf-8", STYLE))
        .route("/studio.js", asset("text/javascript; charset=utf-8", SCRIPT))
        .route("/icon.svg", asset("image/svg+xml", ICON))
        .fallback(|| async { no_page(StatusCode::NOT_FOUND) })
        // The address of an action, which somebody opened as a page.
        .method_not_allowed_fallback(|| async { no_page(StatusCode::METHOD_NOT_ALLOWED) });
    app.layer(DefaultBodyLimit::max(LARGEST_FORM)).layer(middleware::from_fn_with_state(session, guard))
}

/// The page for an address that shows nothing.
fn no_page(status: StatusCode) -> Response {
    words(status, "There is no such page", "Go back, or open the start page at /.")
}

/// The style of the reports, and what pages with forms need beside it.
static STYLE: [&str; 2] = [kohort::report::parts::CSS, include_str!("../assets/studio.css")];
static SCRIPT: [&str; 1] = [include_str!("../assets/studio.js")];
static ICON: [&str; 1] = [include_str!("../assets/icon.svg")];

fn asset<S: Clone + Send + Sync + 'static, const N: usize>(
    kind: &'static str,
    text: [&'static str; N],
) -> MethodRouter<S> {
    get(move || async move { ([(header::CONTENT_TYPE, kind)], text.concat()) })
}

type Own = Arc<Studio>;

/// A page.
fn shows(page: fn(&Own) -> Result<Answer>) -> MethodRouter<Own> {
    get(move |State(studio): State<Own>| async move { respond(&studio, page(&studio)) })
}

/// A page about the column of this number.
fn shows_one(page: fn(&Own, usize) -> Result<Answer>) -> MethodRouter<Own> {
    get(move |State(studio): State<Own>, Path(number): Path<String>| async move {
        match number.parse() {
            Ok(number) => respond(&studio, page(&studio, number)),
            Err(_) => no_page(StatusCode::NOT_FOUND),
        }
    })
}

/// An action with the fields of a form.
fn does(action: fn(&Own, &Fields) -> Result<Answer>) -> MethodRouter<Own> {
    post(move |State(studio): State<Own>, Form(fields): Form<Vec<(String, String)>>| async move {
        respond(&studio, action(&studio, &Fields(fields)))
    })
}

/// An action about the column of this number.
fn does_one(action: fn(&Own, usize, &Fields) -> Result<Answer>) -> MethodRouter<Own> {
    post(
        move |State(studio): State<Own>, Path(number): Path<String>, Form(fields): Form<Vec<(String, String)>>| async move {
            match number.parse() {
                Ok(number) => respond(&studio, action(&studio, number, &Fields(fields))),
                Err(_) => no_page(StatusCode::NOT_FOUND),
            }
        },
    )
}

/// Uses up the token of an address and gives the browser its cookie.
async fn open(session: Arc<Session>, address: Uri) -> Response {
    let token = address.query().and_then(|query| query.strip_prefix("token=")).unwrap_or_default();
    match session.open(token) {
        // A page and not a redirect: a browser that comes from elsewhere sends a strict cookie only from here on.
        Some(cookie) => {
            let mut response = words(StatusCode::OK, "The studio is open", "Go on at the start page.");
            if let Ok(cookie) = cookie.parse() {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response.headers_mut().insert(header::REFRESH, header::HeaderValue::from_static("0; url=/"));
            response
        }
        None => words(
            StatusCode::UNAUTHORIZED,
            "This address was used already",
            "It works once. Press Enter in the terminal where the studio runs for a new one. Your work is saved.",
        ),
    }
}
