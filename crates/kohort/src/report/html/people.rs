//! Who could be found: by which attacker, by which columns, and who is unique outside.

use super::escape::{code, codes, escape};
use super::number::Shown;
use super::place::Place;
use super::svg::{Bars, Group, Name, gallery, sets};
use super::table::{cards, named, section, table};

/// All of it; nothing where nothing of it was measured.
pub(super) fn people(metrics: &Place) -> String {
    let body = [
        attackers(&metrics.at("models")),
        singling_out(&metrics.at("singling_out")),
        uniqueness(&metrics.at("uniqueness")),
        blanks(&metrics.at("blanks")),
    ]
    .concat();
    if body.is_empty() { body } else { section("Who could find whom", &body) }
}

/// A row of before and after, unless nothing is known.
fn row(name: &str, read: &str, of: &Place, key: &str, shown: Shown) -> Option<Vec<String>> {
    let (before, after) = (of.at("before").at(key), of.at("after").at(key));
    (before.exists() || after.exists()).then(|| vec![named(name, read), before.show(shown), after.show(shown)])
}

/// Prosecutor, journalist and marketer.
fn attackers(models: &Place) -> String {
    let rows = [
        ("prosecutor", "Prosecutor", "Knows that a person is in the file, and looks for them."),
        ("journalist", "Journalist", "Does not know who is in the file; has a registry of the people outside."),
    ];
    let mut all = Vec::new();
    for (key, name, read) in rows {
        let of = |part: &str| format!("{key}.{part}");
        all.extend(row(&format!("{name}, highest risk"), read, models, &of("max"), Shown::Percent));
        all.extend(row(&format!("{name}, mean risk"), "", models, &of("mean"), Shown::Percent));
        all.extend(row(&format!("{name}, people above the threshold"), "", models, &of("above"), Shown::Percent));
    }
    let read = "Looks for everybody: the share of the file that is linked to the right person.";
    all.extend(row("Marketer", read, models, "marketer", Shown::Percent));
    if all.is_empty() {
        return String::new();
    }
    let threshold = models.at("threshold").show(Shown::Percent);
    format!(
        "<h3>By what they are after</h3>\n<p class=\"read\">All know all quasi-identifiers. The threshold is one in k: {threshold}. Where class sizes outside are estimated, the journalist’s risk is an expected one.</p>\n{}",
        table(&["Attacker", "Before", "After"], &all)
    )
}

/// Which columns single people out in the original.
fn singling_out(found: &Place) -> String {
    let numbers = found.at("by_number").elements();
    if numbers.is_empty() {
        return String::new();
    }
    let by_number: Vec<Vec<String>> = numbers
        .iter()
        .map(|n| {
            vec![
                n.at("columns").show(Shown::Count),
                n.at("people").show(Shown::Count),
                n.at("share").show(Shown::Percent),
            ]
        })
        .collect();
    let listed: Vec<Vec<String>> = found
        .at("sets")
        .elements()
        .iter()
        .map(|s| {
            vec![codes(s.at("set").texts()), s.at("people").show(Shown::Count), s.at("share").show(Shown::Percent)]
        })
        .collect();
    let columns: Vec<Vec<String>> = found
        .at("by_column")
        .elements()
        .iter()
        .map(|c| {
            let name = c.at("column").text().map_or(String::new(), code);
            vec![name, c.at("alone").show(Shown::Count), c.at("only_with").show(Shown::Count)]
        })
        .collect();
    let mut html = "<h3>How few columns single people out, in the original</h3>\n".to_string();
    html += &gallery([by_number_picture(&numbers), by_set_picture(&found.at("sets").elements())]);
    html += &table(&["Columns known", "People some such set singles out", "Share"], &by_number);
    if !listed.is_empty() {
        html += &format!(
            "<p class=\"read\">The sets that single most people out, of each number of columns:</p>\n{}",
            cards(&["Columns", "People alone", "Share"], &listed)
        );
    }
    html + &format!(
        "<p class=\"read\">What each column adds: people alone on it, and people alone on all quasi-identifiers together who are not if this one is unknown.</p>\n{}",
        table(&["Column", "Alone on it", "Alone only with it"], &columns)
    )
}

/// How many some set of so many columns singles out.
fn by_number_picture(numbers: &[Place]) -> String {
    let name = |own: &Place| {
        let number = |element: &str| own.at("columns").show_in(element, Shown::Count);
        Name::numbers(number("tspan"), number("span"))
    };
    Bars {
        id: "singled".into(),
        title: "People of the original whom some set of so many columns singles out".into(),
        names: "Columns known".into(),
        lengths: "Share of people",
        legend: &[],
        groups: numbers.iter().map(|own| Group::of(name(own), own, &["share"])).collect(),
        full: Some(1.0),
        shown: Shown::Percent,
    }
    .draw()
}

/// Which sets single out most.
fn by_set_picture(found: &[Place]) -> String {
    let title = "Which columns identify: people of the original who are alone on a set of columns, the worst sets";
    sets("sets", title, "People alone, share", found, "share", Shown::Percent)
}

/// Who is unique in the population.
fn uniqueness(found: &Place) -> String {
    const ROWS: [(&str, &str, &str); 6] = [
        ("sample", "Unique in the file", "Counted."),
        (
            "estimate",
            "Unique in the population, by the rule",
            "Of Dankar, El Emam, Neisa and Roffey: it chooses one of the estimates below.",
        ),
        ("largest", "Unique in the population, largest estimate", "For the careful reader."),
        ("zayatz", "By Zayatz", ""),
        ("pitman", "By Pitman", ""),
        ("snb", "By the slide negative binomial model", ""),
    ];
    let rows: Vec<Vec<String>> =
        ROWS.iter().filter_map(|(key, name, read)| row(name, read, found, key, Shown::Count)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let chosen = found
        .at("before.chosen")
        .text()
        .map_or(String::new(), |name| format!(" The rule took {} before.", escape(name)));
    format!(
        "<h3>Unique outside as well</h3>\n<p class=\"read\">The file holds {} of a population of {} people, and is taken for a random sample of it: who is unique in the file may have doubles outside.{chosen} A dash: no estimate, or nobody is unique in what is released.</p>\n{}",
        found.at("fraction").show(Shown::Percent),
        found.at("population").show(Shown::Count),
        table(&["People", "Before", "After"], &rows)
    )
}

/// The two readings of a blank.
fn blanks(found: &Place) -> String {
    let (own, any) = (found.at("own_value"), found.at("wildcard"));
    if !own.exists() || !any.exists() {
        return String::new();
    }
    let rows = vec![
        vec![
            named("As a value of its own", "A row with a blank matches only rows with the same blank."),
            own.at("fewest").show(Shown::Count),
            own.at("mean").show(Shown::Count),
        ],
        vec![
            named("As any value", "A blank matches whatever is known."),
            any.at("fewest").show(Shown::Count),
            any.at("mean").show(Shown::Count),
        ],
    ];
    format!(
        "<h3>Two readings of a suppressed cell</h3>\n<p class=\"read\">How many match a released row in all quasi-identifiers. The guarantee holds under the first reading, the stronger one.</p>\n{}",
        table(&["A suppressed cell is read", "Fewest", "Mean over rows"], &rows)
    )
}
