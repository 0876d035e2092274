//! report.html: one self-contained page, from metrics alone.
//!
//! Nothing is computed here but layout. Every number on the page is one of metrics.json: its
//! element says which (`data-metric`) and what it exactly is (`data-value`).

mod asked;
mod changes;
mod claims;
mod codes;
mod escape;
mod invented;
mod limits;
mod number;
mod place;
mod public_use;
mod risk;
mod svg;
mod table;
mod tried;
mod utility;
mod verdict;

#[cfg(test)]
mod reader;
#[cfg(test)]
mod tests;

pub(crate) use escape::{escape, shorten};
use place::Place;
use serde_json::Value;
pub(crate) use table::cards;

/// No network, no script, no fonts but the reader's own.
pub(crate) const CSS: &str = include_str!("html/page.css");

/// The page.
pub(super) fn page(metrics: &Value, notes: &[String]) -> String {
    let metrics = &Place::root(metrics);
    let method = metrics.at("method").text().map_or(String::new(), |name| format!(": {}", escape::escape(name)));
    let body = match metrics.at("shape").text() {
        Some("clusters") => of_codes(metrics, notes),
        Some("claims") => of_claims(metrics, notes),
        _ => of_table(metrics, notes),
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>Release report{method}</title>\n<style>\n{CSS}</style>\n</head>\n<body>\n<main>\n{}\
         <footer>Numbers are rounded for reading; metrics.json beside this page has them exactly.</footer>\n\
         </main>\n</body>\n</html>\n",
        body
    )
}

/// The sections of a table's page.
fn of_table(metrics: &Place, notes: &[String]) -> String {
    [
        verdict::title(metrics),
        verdict::verdict(metrics),
        asked::asked(metrics),
        asked::recounted(metrics),
        changes::columns(metrics),
        changes::rows(metrics),
        risk::risk(metrics),
        public_use::samples(metrics),
        invented::invented(metrics),
        public_use::attacks(metrics),
        tried::tried(metrics),
        utility::utility(metrics),
        changes::cells(metrics),
        public_use::missing(metrics),
        asked::trace(metrics),
        limits::assumed(metrics, notes),
        limits::limits(metrics),
        asked::timing(metrics),
        limits::approval(),
    ]
    .concat()
}

/// The sections of the page of a release of patients and their events.
fn of_claims(metrics: &Place, notes: &[String]) -> String {
    [
        verdict::title(metrics),
        verdict::verdict(metrics),
        claims::asked(metrics),
        claims::recounted(metrics),
        claims::columns(metrics),
        claims::rows(metrics),
        claims::exclusions(metrics),
        claims::risk(metrics),
        claims::marketer(metrics),
        tried::tried(metrics),
        claims::utility(metrics),
        claims::trace(metrics),
        limits::assumed(metrics, notes),
        limits::of_claims(),
        asked::timing(metrics),
        limits::approval(),
    ]
    .concat()
}

/// The sections of the page of a release of codes.
fn of_codes(metrics: &Place, notes: &[String]) -> String {
    [
        verdict::title(metrics),
        verdict::verdict(metrics),
        codes::asked(metrics),
        codes::recounted(metrics),
        changes::rows(metrics),
        codes::clusters(metrics),
        codes::risk(metrics),
        tried::tried(metrics),
        codes::utility(metrics),
        limits::assumed(metrics, notes),
        limits::of_codes(),
        asked::timing(metrics),
        limits::approval(),
    ]
    .concat()
}
