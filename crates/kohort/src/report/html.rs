//! report.html: one self-contained page, from metrics alone.
//!
//! Nothing is computed here but layout. Every number on the page is one of metrics.json: its
//! element says which (`data-metric`) and what it exactly is (`data-value`).

mod adversaries;
mod asked;
mod board;
mod changes;
mod chapter;
mod checks;
mod cleaning;
mod codes;
mod context;
mod distributions;
mod escape;
mod events;
mod exclusions;
mod facts;
mod fineness;
mod limits;
mod number;
mod original_risk;
mod people;
mod place;
mod public_use;
mod risk;
mod rows;
mod samples;
mod summary;
mod svg;
mod synthetic;
mod table;
mod timing;
mod trace;
mod tried;
mod utility;
mod verdict;

#[cfg(test)]
mod reader;
#[cfg(test)]
mod reference;
#[cfg(test)]
pub(in crate::report) mod tests;

use crate::evidence::Metrics;
use crate::evidence::metrics::{CodesMetrics, EventsMetrics, TableMetrics};
use chapter::Chapter;
pub use escape::{escape, prose};
pub use number::Shown;
pub(super) use original_risk::original_risk;
use place::{MetricsPlace, at};
pub use svg::{Point, Scatter};
pub use table::cards;
use verdict::head;

/// The style of every page: light and dark, on a wide screen, a phone and paper.
pub const CSS: &str = include_str!("html/page.css");

/// The page.
pub(super) fn page(metrics: &Metrics) -> String {
    let notes = metrics.notes();
    let (method, shareable, body) = match metrics {
        Metrics::Table(own) => (&own.method, &own.shareable, of_table(&MetricsPlace::root(&**own), notes)),
        Metrics::Codes(own) => (&own.method, &own.shareable, of_codes(&MetricsPlace::root(&**own), notes)),
        Metrics::Events(own) => (&own.method, &own.shareable, of_events(&MetricsPlace::root(&**own), notes)),
    };
    let json = if shareable.is_some() { "shareable.json" } else { "metrics.json" };
    let footer = format!("Numbers are rounded for reading; {json} beside this page has them exactly.");
    frame(&format!("Release report: {}", escape(method)), &body, &footer)
}

/// The first page alone, as a piece of HTML that keeps its style to itself: for a notebook or another page around it.
pub(super) fn summary(metrics: &Metrics) -> String {
    let notes = metrics.notes();
    let body = match metrics {
        Metrics::Table(own) => {
            let own = MetricsPlace::root(&**own);
            summary::of_table(&own, &head!(own, ["row", "rows"]), notes)
        }
        Metrics::Codes(own) => {
            let own = MetricsPlace::root(&**own);
            summary::of_codes(&own, &head!(own, ["patient", "patients"]), notes)
        }
        Metrics::Events(own) => {
            let own = MetricsPlace::root(&**own);
            summary::of_events(&own, &head!(own, ["event", "events"]), notes)
        }
    };
    piece(&(body + "<p><small>Parts named by letters are in the whole report.</small></p>\n"))
}

/// The sections on what changed: columns with their levels, rows, and distributions before and after. They are HTML
/// without a frame or style, for a page that has [`CSS`].
pub fn changed(metrics: &Metrics) -> String {
    match metrics {
        Metrics::Table(own) => {
            let own = MetricsPlace::root(&**own);
            [
                distributions::distributions(&at!(own, distributions), "Rows"),
                changes::columns(&own),
                fineness::fineness(&at!(own, fineness)),
            ]
            .concat()
        }
        Metrics::Codes(own) => {
            let own = MetricsPlace::root(&**own);
            [codes::clusters(&own), codes::missing(&own)].concat()
        }
        Metrics::Events(own) => {
            let own = MetricsPlace::root(&**own);
            [distributions::distributions(&at!(own, distributions), "Patients or events"), events::columns(&own)]
                .concat()
        }
    }
}

/// A piece of HTML that takes the style of the pages along and keeps it to itself.
pub fn piece(body: &str) -> String {
    let css = CSS.replace(":root", ":scope").replace("\nbody {", "\n:scope {");
    format!("<div class=\"kohort\">\n<style>\n@scope {{\n{css}}}\n</style>\n{body}</div>\n")
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
fn of_table(metrics: &MetricsPlace<TableMetrics>, notes: &[String]) -> String {
    let head = head!(metrics, ["row", "rows"]);
    let guarantee = at!(metrics, guarantee);
    let tried = at!(metrics, attacks).some().map(|attacks| at!(attacks, tried));
    let (rows, people) = (&metrics.value.rows, &metrics.value.people);
    let several = match (rows.r#in.known(), rows.excluded.known(), people.r#in.known()) {
        (Some(rows), Some(excluded), Some(people)) if rows - excluded <= people => limits::RowsPerPerson::OneEach,
        _ => limits::RowsPerPerson::Several,
    };
    [
        verdict::title(&head),
        summary::of_table(metrics, &head, notes),
        Chapter::Asked.of([context::context(&metrics.value.context), asked::asked(metrics)]),
        Chapter::Guaranteed.of([
            asked::recounted(metrics),
            verdict::sensitive(&at!(guarantee, sensitive)),
            board::one_value(metrics),
            verdict::files(&at!(metrics, files)),
        ]),
        Chapter::Changed.of([
            cleaning::cleaning(&at!(metrics, cleaning)),
            changes::columns(metrics),
            changes::rows(&at!(metrics, rows), &at!(metrics, people)),
            board::removed(metrics),
            board::derived(metrics),
            fineness::fineness(&at!(metrics, fineness)),
            distributions::distributions(&at!(metrics, distributions), "Rows"),
            asked::found(metrics),
        ]),
        Chapter::Risk.of([risk::risk(metrics), people::people(metrics), samples::samples(metrics)]),
        Chapter::Utility.of([utility::utility(&at!(metrics, utility)), checks::checks(&at!(metrics, checks))]),
        Chapter::Attacks.of([public_use::attacks(metrics), tried::tried(tried), synthetic::synthetic(metrics)]),
        Chapter::Missing.of([
            changes::cells(&at!(metrics, missingness), at!(metrics, cells).some(), metrics.value.rows.r#in.known()),
            public_use::missing(metrics),
        ]),
        Chapter::Limits.of([
            limits::assumed(&guarantee.value.assumed, &guarantee.value.not_recountable),
            limits::limits(guarantee.value, several),
        ]),
        Chapter::Approval.of([timing::timing(&at!(metrics, timing)), limits::approval(&metrics.value.context)]),
    ]
    .concat()
}

/// The chapters of the page of a release of patients and their events.
fn of_events(metrics: &MetricsPlace<EventsMetrics>, notes: &[String]) -> String {
    let head = head!(metrics, ["event", "events"]);
    let guarantee = at!(metrics, guarantee);
    let tried = at!(metrics, attacks).some().map(|attacks| at!(attacks, tried));
    [
        verdict::title(&head),
        summary::of_events(metrics, &head, notes),
        Chapter::Asked.of([context::context(&metrics.value.context), events::asked(&guarantee)]),
        Chapter::Guaranteed.of([events::recounted(&guarantee), verdict::files(&at!(metrics, files))]),
        Chapter::Changed.of([
            cleaning::cleaning(&at!(metrics, cleaning)),
            events::columns(metrics),
            events::rows(metrics),
            distributions::distributions(&at!(metrics, distributions), "Patients or events"),
            events::found(metrics),
        ]),
        Chapter::Risk.of([events::risk(metrics), events::marketer(metrics)]),
        Chapter::Utility.of([events::utility(metrics)]),
        Chapter::Attacks.of([adversaries::adversaries(metrics), tried::tried(tried)]),
        Chapter::Missing.of([
            changes::cells(&at!(metrics, missingness), None, metrics.value.rows.r#in.known()),
            exclusions::exclusions(metrics),
        ]),
        Chapter::Limits
            .of([limits::assumed(&guarantee.value.assumed, &guarantee.value.not_recountable), limits::of_events()]),
        Chapter::Approval.of([timing::timing(&at!(metrics, timing)), limits::approval(&metrics.value.context)]),
    ]
    .concat()
}

/// The chapters of the page of a release of codes.
fn of_codes(metrics: &MetricsPlace<CodesMetrics>, notes: &[String]) -> String {
    let head = head!(metrics, ["patient", "patients"]);
    let guarantee = at!(metrics, guarantee);
    let tried = at!(metrics, attacks).some().map(|attacks| at!(attacks, tried));
    [
        verdict::title(&head),
        summary::of_codes(metrics, &head, notes),
        Chapter::Asked.of([context::context(&metrics.value.context), codes::asked(&guarantee)]),
        Chapter::Guaranteed.of([codes::recounted(&guarantee), verdict::files(&at!(metrics, files))]),
        Chapter::Changed.of([
            cleaning::cleaning(&at!(metrics, cleaning)),
            changes::rows(&at!(metrics, rows), &at!(metrics, people)),
            codes::clusters(metrics),
        ]),
        Chapter::Risk.of([codes::risk(metrics)]),
        Chapter::Utility.of([codes::utility(&at!(metrics, utility))]),
        Chapter::Attacks.of([codes::attacks(metrics), tried::tried(tried)]),
        Chapter::Missing.of([codes::missing(metrics)]),
        Chapter::Limits
            .of([limits::assumed(&guarantee.value.assumed, &guarantee.value.not_recountable), limits::of_codes()]),
        Chapter::Approval.of([timing::timing(&at!(metrics, timing)), limits::approval(&metrics.value.context)]),
    ]
    .concat()
}
