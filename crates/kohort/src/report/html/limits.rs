//! The assumptions of the guarantee, its limits, and the approval.

use super::escape::{escape, prose};
use super::table::{list, section};
use crate::evidence::metrics::{ReleaseContext, TableGuarantee, Unit};

/// The assumptions, and the parts that the recipient cannot recount.
pub(super) fn assumed(assumed: &[String], not_recountable: &[String]) -> String {
    let sentences = |all: &[String]| all.iter().map(|sentence| prose(sentence)).collect::<Vec<_>>();
    let mut body = format!("<h3>The guarantee assumes</h3>\n{}", list(&sentences(assumed)));
    body += &format!("<h3>The recipient cannot verify</h3>\n{}", list(&sentences(not_recountable)));
    section("What is assumed", &body)
}

/// The rows of the people of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowsPerPerson {
    OneEach,
    Several,
}

/// Limits of the guarantee about a table.
pub(super) fn limits(guarantee: &TableGuarantee, people: RowsPerPerson) -> String {
    let sensitive = if guarantee.sensitive.is_empty() {
        "<strong>Sensitive values are not protected.</strong> If everyone in a group has the same diagnosis, it is revealed without finding anyone’s row. The policy asks for no limit."
    } else {
        "<strong>Sensitive values are protected only as the guarantee says,</strong> for each column it names. In any other column, a value that everyone in a group has is revealed without finding anyone’s row."
    };
    let rows = match (guarantee.unit, people) {
        (Unit::Row, _) => Some(
            "<strong>Every row is counted as a person.</strong> If a person has several rows, a group may hold fewer people than rows.",
        ),
        // Nobody needs a warning about what does not occur.
        (Unit::Patient, RowsPerPerson::OneEach) => None,
        (Unit::Patient, RowsPerPerson::Several) => Some(
            "<strong>Several rows of one person.</strong> An attacker who knows that two rows belong to the same person knows more than was assumed.",
        ),
    };
    let limits = [
        Some(sensitive),
        Some(
            "<strong>Other releases about the same people</strong> can be combined with this one. Two files that are each safe alone may identify a person together.",
        ),
        Some(
            "<strong>Knowledge beyond the declared columns.</strong> An attacker may know a column that the policy declares as not known, or facts that are in no column. Then fewer people may match than were counted. No guarantee of this kind covers all possible knowledge.",
        ),
        rows,
        Some(
            "<strong>Time.</strong> Others will know more in the future. Decide below when the release must be reviewed.",
        ),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().map(String::from).collect();
    section("What the guarantee does not cover", &list(&limits))
}

/// Limits of every guarantee about codes.
pub(super) fn of_codes() -> String {
    const LIMITS: [&str; 6] = [
        "<strong>What the codes reveal is not limited.</strong> If every patient of a cluster has a diagnosis, it is revealed for all of them. Part F counts such codes.",
        "<strong>Codes in item chunks may be frequent.</strong> The release shows that at least one patient of the cluster has them; it may be every patient.",
        "<strong>Codes that a person does not have.</strong> The guarantee does not cover an attacker who knows that somebody lacks a code.",
        "<strong>Other releases about the same people</strong> can be combined with this one. Two files that are each safe alone may identify a person together.",
        "<strong>More codes than assumed.</strong> An attacker who knows more codes of a person than the policy assumes may find that person.",
        "<strong>Time.</strong> Others will know more in the future. Decide below when the release must be reviewed.",
    ];
    section("What the guarantee does not cover", &list(&LIMITS.map(String::from)))
}

/// Limits of every guarantee about events.
pub(super) fn of_events() -> String {
    const LIMITS: [&str; 7] = [
        "<strong>The guarantee is about a share of patients, not about each of them.</strong> For the others there is no limit: some may be found with certainty.",
        "<strong>An attacker who knows which values belong to one event knows far more.</strong> The first page and part F show what such an attacker finds.",
        "<strong>The known values were drawn at random.</strong> An attacker who chooses what to find out about a person may do better.",
        "<strong>The number of a patient’s events is visible,</strong> and so is the time between them, as far as dates are released. The guarantee does not cover an attacker who knows that somebody has no such event.",
        "<strong>What the events reveal is not limited.</strong> An attacker who finds a patient’s group learns what all patients in it have in common.",
        "<strong>Other releases about the same people</strong> can be combined with this one. Two files that are each safe alone may identify a person together.",
        "<strong>Time.</strong> Others will know more in the future. Decide below when the release must be reviewed.",
    ];
    section("What the guarantee does not cover", &list(&LIMITS.map(String::from)))
}

/// Lines to fill in by hand.
pub(super) fn approval(context: &Option<ReleaseContext>) -> String {
    let stated = |text: fn(&ReleaseContext) -> &Option<String>| context.as_ref().and_then(|own| text(own).as_deref());
    let fields = [
        ("Name", None),
        ("Role", None),
        ("Purpose of the release", stated(|own| &own.purpose)),
        ("Recipient", stated(|own| &own.recipient)),
        ("Conditions the recipient accepts", stated(|own| &own.controls)),
        ("First characters of the data file’s checksum, from certificate.json", None),
        ("To be reviewed by", None),
        ("Date", None),
        ("Signature", None),
    ];
    let field = |(name, text): (&str, Option<&str>)| {
        format!("<div class=\"field\"><span>{name}</span>{}</div>\n", text.map_or(String::new(), escape))
    };
    let fields: String = fields.map(field).concat();
    let body = format!(
        "<p>I have read what is guaranteed, what is assumed and what is not covered, and I approve this release.</p>\n<div class=\"fields\">\n{fields}</div>\n"
    );
    section("Approval", &body).replacen("<section>", "<section class=\"approval\">", 1)
}
