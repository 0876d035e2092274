//! report.html: one self-contained page, from metrics alone.
//!
//! Nothing is computed here but layout. Every number on the page is one of metrics.json: its
//! element says which (`data-metric`) and what it exactly is (`data-value`).

mod adversaries;
mod asked;
mod changes;
mod chapter;
mod codes;
mod distributions;
mod escape;
mod events;
mod invented;
mod limits;
mod number;
mod people;
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
mod reference;
#[cfg(test)]
pub(in crate::report) mod tests;

use chapter::Chapter;
pub(crate) use escape::escape;
use place::Place;
use serde_json::Value;
pub(crate) use svg::{Point, Scatter};
pub(crate) use table::cards;

const CSS: &str = include_str!("html/page.css");

/// The page.
pub(super) fn page(metrics: &Value, notes: &[String]) -> String {
    let metrics = &Place::root(metrics);
    let method = metrics.at("method").text().map_or(String::new(), |name| format!(": {}", escape::escape(name)));
    let json = if metrics.at("shareable").exists() { "shareable.json" } else { "metrics.json" };
    let body = match metrics.at("shape").text() {
        Some("codes") => of_codes(metrics, notes),
        Some("events") => of_events(metrics, notes),
        _ => of_table(metrics, notes),
    };
    let footer = format!("Numbers are rounded for reading; {json} beside this page has them exactly.");
    frame(&format!("Release report{method}"), &body, &footer)
}

/// A self-contained page around a body: no network, no script, no fonts but the reader's own.
/// Title, body and footer are HTML already.
pub(crate) fn frame(title: &str, body: &str, footer: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{CSS}</style>\n</head>\n<body>\n<main>\n{body}\
         <footer>{footer}</footer>\n</main>\n</body>\n</html>\n"
    )
}

/// The chapters of a table's page.
fn of_table(metrics: &Place, notes: &[String]) -> String {
    let limits = [limits::assumed(metrics, notes), limits::limits(metrics)];
    [
        verdict::title(metrics),
        verdict::verdict(metrics),
        Chapter::Asked.of([asked::asked(metrics)]),
        Chapter::Guaranteed.of([asked::recounted(metrics)]),
        Chapter::Changed.of([
            changes::columns(metrics),
            changes::rows(metrics),
            distributions::distributions(metrics),
            asked::trace(metrics),
        ]),
        Chapter::Risk.of([risk::risk(metrics), people::people(metrics), public_use::samples(metrics)]),
        Chapter::Utility.of([utility::utility(metrics)]),
        Chapter::Attacks.of([public_use::attacks(metrics), tried::tried(metrics), invented::invented(metrics)]),
        Chapter::Missing.of([changes::cells(metrics), public_use::missing(metrics)]),
        Chapter::Limits.of(limits),
        Chapter::Approval.of([asked::timing(metrics), limits::approval()]),
    ]
    .concat()
}

/// The chapters of the page of a release of patients and their events.
fn of_events(metrics: &Place, notes: &[String]) -> String {
    [
        verdict::title(metrics),
        verdict::verdict(metrics),
        Chapter::Asked.of([events::asked(metrics)]),
        Chapter::Guaranteed.of([events::recounted(metrics)]),
        Chapter::Changed.of([
            events::columns(metrics),
            events::rows(metrics),
            distributions::distributions(metrics),
            events::trace(metrics),
        ]),
        Chapter::Risk.of([events::risk(metrics), events::marketer(metrics)]),
        Chapter::Utility.of([events::utility(metrics)]),
        Chapter::Attacks.of([adversaries::adversaries(metrics), tried::tried(metrics)]),
        Chapter::Missing.of([changes::cells(metrics), events::exclusions(metrics)]),
        Chapter::Limits.of([limits::assumed(metrics, notes), limits::of_events()]),
        Chapter::Approval.of([asked::timing(metrics), limits::approval()]),
    ]
    .concat()
}

/// The chapters of the page of a release of codes.
fn of_codes(metrics: &Place, notes: &[String]) -> String {
    [
        verdict::title(metrics),
        verdict::verdict(metrics),
        Chapter::Asked.of([codes::asked(metrics)]),
        Chapter::Guaranteed.of([codes::recounted(metrics)]),
        Chapter::Changed.of([changes::rows(metrics), codes::clusters(metrics)]),
        Chapter::Risk.of([codes::risk(metrics)]),
        Chapter::Utility.of([codes::utility(metrics)]),
        Chapter::Attacks.of([codes::attacks(metrics), tried::tried(metrics)]),
        Chapter::Missing.of([codes::missing(metrics)]),
        Chapter::Limits.of([limits::assumed(metrics, notes), limits::of_codes()]),
        Chapter::Approval.of([asked::timing(metrics), limits::approval()]),
    ]
    .concat()
}
