//! The risk of the original data as others may see it: small counts are hidden, and so is what would reveal them.

use super::escape::codes;
use super::number::Shown;
use super::place::{Figure, MetricsPlace, PageValue};
use super::svg::{Bars, Group, Name};
use crate::api::DataRisk;
use crate::evidence::metrics::Masked;
use crate::evidence::worst_sets;
use crate::methods::claims::Sensitivity;
use crate::original_risk::OriginalRisk;
use crate::report::shareable::cells::is_small;
use crate::report::shareable::two;
use kohort_core::number::number_of;
use kohort_core::risk::CodesKnown;

/// A piece of HTML with a sentence for each number and a picture.
pub(in crate::report) fn original_risk(risk: &DataRisk) -> String {
    let body = match risk {
        DataRisk::Table(own) => of_table(own),
        DataRisk::Codes(known) => of_codes(known),
        DataRisk::Events(found) => of_events(found),
    };
    super::piece(&format!("<h2>Risk of the original data</h2>\n{body}<p class=\"read\">{HIDDEN}</p>\n"))
}

/// The explanation below every such piece.
const HIDDEN: &str = "Counts of 1 to 10 people, and counts that would reveal them, are hidden. Shares are rounded to \
                      whole percentages.";

/// Counts of which every difference that is shown is zero or at least as large as the smallest count that may be shown.
struct ShownCounts(Vec<u64>);

impl ShownCounts {
    /// The count, unless it is small or its difference from a count that is shown already is.
    fn tell(&mut self, count: u64) -> Masked<u64> {
        if is_small(count) || self.0.iter().any(|shown| is_small(shown.abs_diff(count))) {
            return Masked::HIDDEN;
        }
        self.0.push(count);
        Masked::Known(count)
    }
}

fn figure(value: &impl PageValue) -> Figure {
    MetricsPlace::root(value).figure()
}

fn count(value: Masked<u64>) -> String {
    figure(&value).show(Shown::Count)
}

/// A share of people, hidden if either side of it is a small count.
fn share(part: u64, all: u64) -> Masked<f64> {
    match is_small(part) || is_small(all.saturating_sub(part)) {
        true => Masked::HIDDEN,
        false => Masked::Known(two(part as f64 / all.max(1) as f64)),
    }
}

fn percent(value: &impl PageValue) -> String {
    figure(value).show(Shown::Percent)
}

fn of_table(risk: &OriginalRisk) -> String {
    let unit = if risk.has_patients { "patients" } else { "rows" };
    let mut counts = ShownCounts(Vec::new());
    let rows = counts.tell(risk.rows);
    let mut html = format!("<p>{} rows", count(rows));
    if risk.has_patients {
        html += &format!(" of {} patients", count(counts.tell(risk.people)));
    }
    let (unique, of) = risk.unique();
    html +=
        &format!(". On all {} quasi-identifiers, {} {unit} are unique.", risk.quasi.len(), count(counts.tell(unique)));
    html += &format!(" The mean risk of being found is {}.</p>\n", percent(&two(risk.all.mean)));
    let worst = worst_sets(&risk.singling_out);
    let mut groups = Vec::new();
    let mut sets = String::new();
    for (number, &people) in (1..).zip(&risk.singling_out.people) {
        groups.push(Group::of(Name::text(&number.to_string()), [figure(&counts.tell(people))]));
        if let Some((set, _)) = worst.iter().find(|(set, people)| set.len() == number && *people > 0) {
            let named = codes(set.iter().map(|&q| risk.quasi[q].as_str()));
            sets += &format!("<li>{number} known: most are singled out by {named}</li>\n");
        }
    }
    html += &Bars {
        id: "original-risk".into(),
        title: format!("How many {unit} an attacker singles out who knows some of the quasi-identifiers"),
        names: "columns known".into(),
        lengths: if risk.has_patients { "patients" } else { "rows" },
        legend: &[],
        groups,
        full: Some(of as f64),
        shown: Shown::Count,
    }
    .draw();
    if !sets.is_empty() {
        html += &format!("<ul>\n{sets}</ul>\n");
    }
    html + &match &risk.cost.outcome {
        Ok(lost) => format!(
            "<p>k = {} by <code>{}</code> would cost {} of the detail and {} rows.</p>\n",
            risk.cost.k,
            risk.cost.method,
            percent(&two(lost.loss)),
            count(counts.tell(lost.rows))
        ),
        // The reason may name a count.
        Err(_) => format!("<p>k = {} by <code>{}</code> cannot be met.</p>\n", risk.cost.k, risk.cost.method),
    }
}

fn of_codes(known: &[CodesKnown]) -> String {
    let name = |own: &CodesKnown| own.codes.map_or("all".to_string(), |number| number.to_string());
    let bars = |own: &CodesKnown| {
        let [unique, few] = [own.unique, own.fewer_than_k].map(|part| figure(&share(part, own.patients)));
        Group::of(Name::text(&name(own)), [unique, few])
    };
    shares(
        "The share of patients who are found by some of their codes",
        "codes known",
        &["unique", "fewer than k patients have them"],
        known.iter().map(bars).collect(),
    )
}

fn of_events(found: &Sensitivity) -> String {
    let values = found.values.iter().map(|(p, variable, _)| (format!("{p} of each column"), variable[2].share()));
    let events = found.events.iter().map(|(p, own)| (number_of(*p, ["whole event", "whole events"]), own.share()));
    let group = |(name, share): (String, f64)| Group::of(Name::text(&name), [figure(&two(share))]);
    shares(
        "The share of patients for whom fewer than k match, by the values or whole events that are known",
        "known",
        &[],
        values.chain(events).map(group).collect(),
    )
}

fn shares(title: &str, names: &str, legend: &'static [&'static str], groups: Vec<Group>) -> String {
    Bars {
        id: "original-risk".into(),
        title: title.into(),
        names: names.into(),
        lengths: "share of patients",
        legend,
        groups,
        full: Some(1.0),
        shown: Shown::Percent,
    }
    .draw()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_difference_between_shown_counts_is_small(counts in prop::collection::vec(0u64..60, 1..12)) {
            let mut own = ShownCounts(Vec::new());
            let mut shown = vec![0];
            for count in counts {
                if let Masked::Known(count) = own.tell(count) {
                    shown.push(count);
                }
            }
            for a in &shown {
                for b in &shown {
                    prop_assert!(!is_small(a.abs_diff(*b)));
                }
            }
        }
    }

    #[test]
    fn a_share_of_few_people_is_hidden_and_so_is_that_of_all_but_few() {
        for (part, all, expected) in [(5, 400, None), (396, 400, None), (0, 400, Some(0.0)), (100, 300, Some(0.33))] {
            assert_eq!(share(part, all).known(), expected);
        }
    }
}
