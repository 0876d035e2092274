//! The people who could be found: by which attacker, by which columns, and who is unique in the population.

use super::escape::{code, escape, names};
use super::number::Shown;
use super::place::{Figure, MetricsPlace, at, figure, of};
use super::svg::{Bars, Group, Name, gallery, sets};
use super::table::{cards, named, section, table};
use crate::evidence::metrics::{
    Blanks, Chances, Matches, Models, SingledByNumber, SingledBySet, SinglingOut, TableMetrics, Unique, Uniqueness,
};

/// All of it.
pub(super) fn people(metrics: &MetricsPlace<TableMetrics>) -> String {
    let body = [
        attackers(&at!(metrics, models)),
        singling_out(&at!(metrics, singling_out)),
        at!(metrics, uniqueness).some().map_or(String::new(), |found| uniqueness(&found)),
        at!(metrics, blanks).some().map_or(String::new(), |found| blanks(&found)),
    ]
    .concat();
    section("Who could be found, and by whom", &body)
}

/// A row of before and after, unless nothing is known.
fn row(name: &str, read: &str, [before, after]: [Figure; 2], shown: Shown) -> Option<Vec<String>> {
    (before.exists() || after.exists()).then(|| vec![named(name, read), before.show(shown), after.show(shown)])
}

/// Prosecutor, journalist and marketer.
fn attackers(models: &MetricsPlace<Models>) -> String {
    let sides = [at!(models, before), at!(models, after)];
    let prosecutor = sides.each_ref().map(|side| Some(at!(side, prosecutor)));
    let journalist = sides.each_ref().map(|side| at!(side, journalist).some());
    let attackers = [
        ("Prosecutor", "Knows that a person is in the file, and looks for them.", prosecutor),
        ("Journalist", "Does not know who is in the file, but has a registry of the population.", journalist),
    ];
    let mut all = Vec::new();
    for (name, read, sides) in attackers {
        let both = |figure: fn(&MetricsPlace<Chances>) -> Figure| sides.each_ref().map(|side| of(side, figure));
        all.extend(row(&format!("{name}, highest risk"), read, both(|own| figure!(own, max)), Shown::Percent));
        all.extend(row(&format!("{name}, mean risk"), "", both(|own| figure!(own, mean)), Shown::Percent));
        let above = both(|own| figure!(own, above));
        all.extend(row(&format!("{name}, people above the threshold"), "", above, Shown::Percent));
    }
    let read = "Tries to link everybody: the share of the file that is linked to the right person.";
    all.extend(row("Marketer", read, sides.each_ref().map(|side| figure!(side, marketer)), Shown::Percent));
    let threshold = figure!(models, threshold).show(Shown::Percent);
    format!(
        "<h3>By the aim of the attacker</h3>\n<p class=\"read\">All three attackers know all quasi-identifiers. The threshold is one in k: {threshold}. Where class sizes in the population are estimated, the journalist’s risk is an expected value.</p>\n{}",
        table(&["Attacker", "Before", "After"], &all)
    )
}

/// Shows which columns single people out in the original.
fn singling_out(found: &MetricsPlace<SinglingOut>) -> String {
    let numbers = at!(found, by_number).elements();
    if numbers.is_empty() {
        return String::new();
    }
    let by_number = numbers.iter().map(|n| {
        vec![
            figure!(n, columns).show(Shown::Count),
            figure!(n, people).show(Shown::Count),
            figure!(n, share).show(Shown::Percent),
        ]
    });
    let sets = at!(found, sets).elements();
    let listed = sets.iter().map(|s| {
        vec![names(&s.value.set), figure!(s, people).show(Shown::Count), figure!(s, share).show(Shown::Percent)]
    });
    let listed: Vec<Vec<String>> = listed.collect();
    let columns = at!(found, by_column).elements();
    let columns = columns.iter().map(|c| {
        vec![code(&c.value.column), figure!(c, alone).show(Shown::Count), figure!(c, only_with).show(Shown::Count)]
    });
    let mut html = "<h3>How few columns single people out, in the original</h3>\n".to_string();
    html += &gallery([by_number_picture(&numbers), by_set_picture(&sets)]);
    html += &table(&["Columns known", "People singled out by some such set", "Share"], &by_number.collect::<Vec<_>>());
    if !listed.is_empty() {
        html += &format!(
            "<p class=\"read\">The sets that single out most people, for each number of columns:</p>\n{}",
            cards(&["Columns", "Unique people", "Share"], &listed)
        );
    }
    html + &format!(
        "<p class=\"read\">What each column adds: people who are unique in it, and people who are unique in all quasi-identifiers together but not without this one.</p>\n{}",
        table(&["Column", "Unique in it", "Unique only with it"], &columns.collect::<Vec<_>>())
    )
}

/// Shows how many some set of so many columns singles out.
fn by_number_picture(numbers: &[MetricsPlace<SingledByNumber>]) -> String {
    let name = |own: &MetricsPlace<SingledByNumber>| {
        let number = |element: &str| figure!(own, columns).show_in(element, Shown::Count);
        Name::numbers(number("tspan"), number("span"))
    };
    Bars {
        id: "singled".into(),
        title: "People of the original who are singled out by some set of this many columns".into(),
        names: "Columns known".into(),
        lengths: "Share of people",
        legend: &[],
        groups: numbers.iter().map(|own| Group::of(name(own), [figure!(own, share)])).collect(),
        full: Some(1.0),
        shown: Shown::Percent,
    }
    .draw()
}

/// Shows which sets single out most.
fn by_set_picture(found: &[MetricsPlace<SingledBySet>]) -> String {
    let title = "Which columns identify: people of the original who are unique in a set of columns, for the worst sets";
    let found: Vec<(&[String], Figure)> = found.iter().map(|s| (&s.value.set[..], figure!(s, share))).collect();
    sets("sets", title, "Unique people, share", &found, Shown::Percent)
}

/// Shows who is unique in the population.
fn uniqueness(found: &MetricsPlace<Uniqueness>) -> String {
    let sides = [Some(at!(found, before)), at!(found, after).some()];
    let both = |figure: fn(&MetricsPlace<Unique>) -> Figure| sides.each_ref().map(|side| of(side, figure));
    let rows = [
        row("Unique in the file", "Counted.", both(|own| figure!(own, sample)), Shown::Count),
        row(
            "Unique in the population, by the rule",
            "Of Dankar, El Emam, Neisa and Roffey: it chooses one of the estimates below.",
            both(|own| figure!(own, estimate)),
            Shown::Count,
        ),
        row(
            "Unique in the population, largest estimate",
            "The most cautious choice.",
            both(|own| figure!(own, largest)),
            Shown::Count,
        ),
        row("By Zayatz", "", both(|own| figure!(own, zayatz)), Shown::Count),
        row("By Pitman", "", both(|own| figure!(own, pitman)), Shown::Count),
        row("By the slide negative binomial model", "", both(|own| figure!(own, snb)), Shown::Count),
    ];
    let rows: Vec<Vec<String>> = rows.into_iter().flatten().collect();
    let chosen = found.value.before.chosen.as_ref();
    let chosen =
        chosen.map_or(String::new(), |name| format!(" Before de-identification, the rule chose {}.", escape(name)));
    format!(
        "<h3>Unique in the population</h3>\n<p class=\"read\">The file holds {} of a population of {} people, and is treated as a random sample of it: a person who is unique in the file may not be unique in the population.{chosen} A dash means that there is no estimate, or that nobody is unique in the release.</p>\n{}",
        figure!(found, fraction).show(Shown::Percent),
        figure!(found, population).show(Shown::Count),
        table(&["People", "Before", "After"], &rows)
    )
}

/// The two interpretations of a suppressed cell.
fn blanks(found: &MetricsPlace<Blanks>) -> String {
    let row = |name: &str, read: &str, own: MetricsPlace<Matches>| {
        vec![named(name, read), figure!(own, fewest).show(Shown::Count), figure!(own, mean).show(Shown::Count)]
    };
    let rows = vec![
        row(
            "As a value of its own",
            "A row with a suppressed cell matches only rows with the same cell suppressed.",
            at!(found, own_value),
        ),
        row("As any value", "A suppressed cell matches every value.", at!(found, wildcard)),
    ];
    format!(
        "<h3>Two interpretations of a suppressed cell</h3>\n<p class=\"read\">How many rows match a released row in all quasi-identifiers. The guarantee holds under the first interpretation, which is stricter.</p>\n{}",
        table(&["A suppressed cell is treated", "Fewest", "Mean over rows"], &rows)
    )
}
