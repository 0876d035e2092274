//! The first page of a report: what was asked, what is guaranteed, what was lost and what to check, in that order.

use super::escape::{code, codes, names, prose};
use super::number::{Shown, counted};
use super::place::{Figure, MetricsPlace, at, figure};
use super::rows;
use super::svg::{Bars, Group, Name, gallery, ladder};
use super::table::list;
use super::verdict::{self, PageHead};
use crate::evidence::metrics::{CodesMetrics, EventsMetrics, Role, TableMetrics, Unit};

/// The first page.
struct Summary {
    asked: String,
    guaranteed: String,
    lost: String,
    check: Vec<String>,
}

impl Summary {
    fn page(&self) -> String {
        let part =
            |name: &str, class: &str, body: &str| format!("<section{class}>\n<h2>{name}</h2>\n{body}</section>\n");
        let parts = [
            part("What was asked", "", &self.asked),
            part("What is guaranteed", " class=\"verdict\"", &self.guaranteed),
            part("What was lost", "", &self.lost),
            part("What to check", " class=\"check\"", &list(&self.check)),
        ];
        format!("<div class=\"summary\">\n{}</div>\n", parts.concat())
    }
}

/// The first page of a table's report.
pub(super) fn of_table(metrics: &MetricsPlace<TableMetrics>, head: &PageHead, notes: &[String]) -> String {
    let (guarantee, utility, data) = (at!(metrics, guarantee), at!(metrics, utility), at!(metrics, rows));
    let who = match guarantee.value.unit {
        Unit::Patient => ["patient", "patients who look"],
        Unit::Row => ["row", "rows that look"],
    };
    let mut asked = format!(
        "<p>Every {} must be one of at least {} {} the same to an attacker who knows {}.</p>\n",
        who[0],
        figure!(guarantee, k).show(Shown::Count),
        who[1],
        verdict::knows(guarantee.value, &metrics.value.columns)
    );
    let limited: Vec<&str> = at!(guarantee, asked).members().into_iter().map(|(name, _)| name).collect();
    if !limited.is_empty() {
        asked += &format!("<p>What can be learned is limited for {}.</p>\n", codes(limited.iter().copied()));
    }
    let risk = |name: &str, side: [Figure; 2]| Group::of(Name::text(name), side);
    let sides = [at!(metrics, risk.before).some(), at!(metrics, risk.after).some()];
    let both = |of: fn(&MetricsPlace<crate::evidence::metrics::Risk>) -> Figure| {
        sides.each_ref().map(|side| super::place::of(side, of))
    };
    let groups =
        vec![risk("highest risk", both(|own| figure!(own, max))), risk("mean risk", both(|own| figure!(own, mean)))];
    let picture = risk_picture("The risk of being found, for a person known to be in the file", "Risk", groups);
    let levels = ladder(&at!(metrics, columns));
    let columns = if levels.is_empty() { suppressed_cells(metrics) } else { levels };
    let mut lost = rows::line(&data, "Rows", None);
    let weighted = match metrics.value.columns.iter().any(|column| column.weight.is_some()) {
        true => ", counted with the weights of the columns",
        false => "",
    };
    lost += &format!(
        "<p>{} of the detail of the quasi-identifiers is lost{weighted}.{}</p>\n",
        figure!(utility, loss).show(Shown::Percent),
        at!(metrics, cells).some().map_or(String::new(), |cells| {
            format!(" {} of their cells are suppressed.", figure!(cells, share).show(Shown::Percent))
        })
    );
    let mut check = of_notes(notes);
    let risk_all = at!(metrics, risk_all.after);
    if metrics.value.risk.after.as_ref() != Some(risk_all.value) {
        check.push(format!(
            "The guarantee does not cover an attacker who knows all quasi-identifiers at once. The highest risk is then {}.",
            figure!(risk_all, max).show(Shown::Percent)
        ));
    }
    if let Some(found) = at!(metrics, counterfeits).some() {
        check.push(format!(
            "{} in the release. Tell the recipient: counts are too high by them.",
            counted(&figure!(found, rows), ["synthetic record is", "synthetic records are"])
        ));
    }
    check.extend(super::board::to_check(metrics));
    check.extend(unlimited(metrics, &limited, notes));
    check.extend(declared(metrics.value.columns.iter().filter(|c| c.role == Role::Other).map(|c| c.name.as_str())));
    check.push(LAST.into());
    Summary {
        asked,
        guaranteed: verdict::verdict(head, &verdict::of_table(&guarantee), &picture),
        lost: gallery([rows::picture(&data, "Rows"), columns]) + &lost,
        check,
    }
    .page()
}

/// The first page of the report of a release of events.
pub(super) fn of_events(metrics: &MetricsPlace<EventsMetrics>, head: &PageHead, notes: &[String]) -> String {
    let (guarantee, utility, data) = (at!(metrics, guarantee), at!(metrics, utility), at!(metrics, rows));
    let asked = format!(
        "<p>For at most {} of the patients with events, an attacker may find fewer than {} matching patients. The attacker is \
         assumed to know {}.</p>\n",
        figure!(guarantee, max_high_risk).show(Shown::Percent),
        figure!(guarantee, k).show(Shown::Count),
        super::escape::escape(&guarantee.value.knows)
    );
    let sides = [at!(metrics, risk.before).some(), at!(metrics, risk.after).some()];
    let both = sides.each_ref().map(|side| super::place::of(side, |own| figure!(own, high_risk)));
    let groups = vec![Group::of(Name::text("patients"), both)];
    let picture =
        risk_picture("Patients at high risk: fewer than k patients match what is known", "Share of patients", groups);
    let people = at!(metrics, people);
    let gone = [
        (figure!(people, excluded), "excluded"),
        (figure!(people, emptied), "removed with their excluded events"),
        (figure!(people, dropped), "dropped for having no events"),
        (figure!(people, suppressed), "suppressed"),
    ];
    let lost = rows::line(&data, "Events", None)
        + &rows::counts("Patients", &figure!(people, r#in), &gone, &figure!(people, out))
        + &format!(
            "<p>{} of the information in the quasi-identifiers is lost.</p>\n",
            figure!(utility, loss).show(Shown::Percent)
        );
    let mut check = of_notes(notes);
    check.push(format!(
        "An attacker who knows one whole event, such as its diagnosis and its date together, finds fewer than k matching \
         patients for {} of them.",
        figure!(guarantee, one_event_known.share).show(Shown::Percent)
    ));
    check.extend(declared(metrics.value.columns.iter().filter(|c| c.role == Role::Other).map(|c| c.name.as_str())));
    check.push(LAST.into());
    Summary {
        asked,
        guaranteed: verdict::verdict(head, &super::events::facts_found(&guarantee), &picture)
            + &super::adversaries::side_by_side(metrics),
        lost: gallery([rows::picture(&data, "Events"), ladder(&at!(metrics, columns))]) + &lost,
        check,
    }
    .page()
}

/// The first page of the report of a release of codes.
pub(super) fn of_codes(metrics: &MetricsPlace<CodesMetrics>, head: &PageHead, notes: &[String]) -> String {
    let (guarantee, utility, data) = (at!(metrics, guarantee), at!(metrics, utility), at!(metrics, rows));
    let asked = format!(
        "<p>An attacker who knows {} of a patient must find at least {} patients who could have them.</p>\n",
        super::escape::escape(&guarantee.value.knows),
        figure!(guarantee, k).show(Shown::Count)
    );
    let sides = [at!(metrics, risk.before).some(), at!(metrics, risk.after).some()];
    let both = sides.each_ref().map(|side| super::place::of(side, |own| figure!(own, max)));
    let groups = vec![Group::of(Name::text("highest risk"), both)];
    let picture = risk_picture("The risk of being found by the codes that may be known", "Risk", groups);
    let mut lost = rows::line(&data, "Patients", Some("without any code"));
    lost += "<p>No code is removed or changed. What is lost is which codes belong to the same patient, and the counts of the codes in item chunks.</p>\n";
    let clusters = at!(metrics, clusters);
    let mut check = of_notes(notes);
    if clusters.value.covers > 0 {
        check.push(format!(
            "{} held by every patient of a cluster. Anyone known to be in that cluster has it for certain; <code>no_cover</code> prevents this.",
            counted(&figure!(clusters, covers), ["code is", "codes are"])
        ));
    }
    check.push(LAST.into());
    Summary {
        asked,
        guaranteed: verdict::verdict(head, &super::codes::facts_found(&guarantee), &picture),
        lost: gallery([rows::picture(&data, "Patients"), super::codes::chunks(&utility)]) + &lost,
        check,
    }
    .page()
}

/// The last thing to check, in every report.
const LAST: &str = "The guarantee depends on the assumptions in part H. Read them, then approve the release in part I.";

fn of_notes(notes: &[String]) -> Vec<String> {
    notes.iter().map(|note| prose(note)).collect()
}

/// Sensitive columns for which nothing was asked, unless a note names them already.
fn unlimited(metrics: &MetricsPlace<TableMetrics>, limited: &[&str], notes: &[String]) -> Option<String> {
    let open =
        metrics.value.columns.iter().filter(|c| c.role == Role::Sensitive && !limited.contains(&c.name.as_str()));
    let open: Vec<String> = open.map(|c| c.name.clone()).collect();
    let verb = if open.len() == 1 { "is" } else { "are" };
    let noted = notes.iter().any(|note| open.iter().all(|column| note.contains(column.as_str())));
    (!open.is_empty() && !noted).then(|| {
        format!("{} {verb} not protected: if everyone in a group has the same value, it is revealed.", names(&open))
    })
}

/// Columns that the policy declares as not known outside.
fn declared<'a>(columns: impl Iterator<Item = &'a str>) -> Option<String> {
    let columns: Vec<String> = columns.map(code).collect();
    let verb = if columns.len() == 1 { "is" } else { "are" };
    (!columns.is_empty()).then(|| {
        format!(
            "{} {verb} released unchanged because the policy declares that no attacker knows the values. Check the reasons in part C.",
            columns.join(", ")
        )
    })
}

/// Risk before and after.
fn risk_picture(title: &str, lengths: &'static str, groups: Vec<Group>) -> String {
    Bars {
        id: "summary-risk".into(),
        title: title.into(),
        names: String::new(),
        lengths,
        legend: &["before", "after"],
        groups,
        full: Some(1.0),
        shown: Shown::Percent,
    }
    .draw()
}

/// Suppressed cells of each column, where columns have no single level.
fn suppressed_cells(metrics: &MetricsPlace<TableMetrics>) -> String {
    let columns = at!(metrics, missingness).elements();
    Bars {
        id: "summary-cells".into(),
        title: "Cells suppressed in each column".into(),
        names: "Column".into(),
        lengths: "Share of cells",
        legend: &[],
        groups: columns
            .iter()
            .map(|own| Group::of(Name::text(&own.value.column), [figure!(own, suppressed)]))
            .collect(),
        full: Some(1.0),
        shown: Shown::Percent,
    }
    .draw()
}
