//! What the guarantee rests on, what it does not say, and who signs it.

use super::escape::prose;
use super::table::{list, section};
use crate::evidence::metrics::{TableGuarantee, Unit};

/// What is assumed, what the recipient cannot recount, and what the custodian should know.
pub(super) fn assumed(assumed: &[String], not_recountable: &[String], notes: &[String]) -> String {
    let sentences = |all: &[String]| all.iter().map(|sentence| prose(sentence)).collect::<Vec<_>>();
    let mut body = format!("<h3>The guarantee holds if</h3>\n{}", list(&sentences(assumed)));
    body += &format!("<h3>The recipient cannot recount</h3>\n{}", list(&sentences(not_recountable)));
    let class = if notes.is_empty() { "" } else { " class=\"warning\"" };
    body += &format!("<h3>Notes and warnings</h3>\n<div{class}>{}</div>\n", list(&sentences(notes)));
    section("What is assumed, and what to know", &body)
}

/// What no such guarantee says.
pub(super) fn limits(guarantee: &TableGuarantee) -> String {
    let sensitive = if guarantee.sensitive.is_empty() {
        "<strong>Sensitive values are not bounded.</strong> If all who look the same have the same diagnosis, it is learned without finding anyone’s row. Nothing was asked against this."
    } else {
        "<strong>Sensitive values are bounded only as the guarantee says,</strong> column by column. A column that it does not name is not bounded: if all who look the same have the same value there, it is learned without finding anyone’s row."
    };
    let rows = match guarantee.unit {
        Unit::Row => {
            "<strong>Every row is taken for a person.</strong> If a person has several rows, a class may hold fewer people than rows."
        }
        Unit::Patient => {
            "<strong>Several rows of one person.</strong> Someone who knows that two rows belong to the same person knows more than was assumed."
        }
    };
    let limits = [
        sensitive,
        "<strong>Other releases of the same people</strong> can be laid beside this one. Two files, each safe by itself, may together point at a person.",
        "<strong>Knowledge beyond the declared columns.</strong> If someone outside knows a column that is declared as not known, or facts that are in no column, the count of who looks the same no longer holds. No guarantee of this kind covers every possible knowledge.",
        rows,
        "<strong>Time.</strong> What is known outside grows. Decide below when this is to be judged again.",
    ];
    section("What the guarantee does not say", &list(&limits.map(String::from)))
}

/// What no guarantee of codes says.
pub(super) fn of_codes() -> String {
    const LIMITS: [&str; 6] = [
        "<strong>What the codes reveal is not bounded.</strong> If a whole cluster has a diagnosis, it is learned of everybody in it. Such codes are counted above as covers.",
        "<strong>Codes in item chunks are no secret shared by many.</strong> It is told that somebody has them; it may be everybody.",
        "<strong>What a person does not have.</strong> That somebody lacks a code was not assumed to be known.",
        "<strong>Other releases of the same people</strong> can be laid beside this one. Two files, each safe by itself, may together point at a person.",
        "<strong>More codes than assumed.</strong> Whoever knows more codes of a person than was asked may find the person.",
        "<strong>Time.</strong> What is known outside grows. Decide below when this is to be judged again.",
    ];
    section("What the guarantee does not say", &list(&LIMITS.map(String::from)))
}

/// What no guarantee of claims says.
pub(super) fn of_events() -> String {
    const LIMITS: [&str; 7] = [
        "<strong>It is a share of patients, not a promise to each.</strong> For those it does not cover nothing is bounded: some may be found with certainty.",
        "<strong>Whoever knows which values belong to one event knows far more.</strong> What they find is shown above.",
        "<strong>What is known was drawn at random.</strong> Someone who chooses what to find out about a person may do better.",
        "<strong>The number of a patient’s events is visible,</strong> and so is the time between them as far as dates are. That somebody has no such event was not assumed to be known.",
        "<strong>What the events reveal is not bounded.</strong> Whoever finds somebody’s class learns what all in it have.",
        "<strong>Other releases of the same people</strong> can be laid beside this one. Two files, each safe by itself, may together point at a person.",
        "<strong>Time.</strong> What is known outside grows. Decide below when this is to be judged again.",
    ];
    section("What the guarantee does not say", &list(&LIMITS.map(String::from)))
}

/// Lines to fill in by hand.
pub(super) fn approval() -> String {
    const FIELDS: [&str; 9] = [
        "Name",
        "Role",
        "Purpose of the release",
        "Recipient",
        "Conditions the recipient accepts",
        "First characters of the data file’s checksum, from certificate.json",
        "To be judged again by",
        "Date",
        "Signature",
    ];
    let field = |name: &&str| format!("<div class=\"field\"><span>{name}</span></div>\n");
    let fields: String = FIELDS.iter().map(field).collect();
    let body = format!(
        "<p>I have read what is guaranteed, what is assumed and what is not said, and I approve this release.</p>\n<div class=\"fields\">\n{fields}</div>\n"
    );
    section("Approval", &body).replacen("<section>", "<section class=\"approval\">", 1)
}
