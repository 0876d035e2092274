//! What was asked for, how it was recounted, how the method found it, and how long it took.

use super::escape::{code, escape};
use super::number::Shown;
use super::place::Place;
use super::svg::{Bars, Group, Name, ladder};
use super::table::{cards, named, section, table};
use super::verdict::{knows, unit};
use crate::methods::{DataShape, Register};

/// A row of a table of facts, unless nothing is known.
fn fact(name: &str, read: &str, place: &Place, shown: Shown) -> Option<Vec<String>> {
    place.exists().then(|| vec![named(name, read), place.show(shown)])
}

/// The same for a fact in words.
fn words(name: &str, read: &str, words: Option<String>) -> Option<Vec<String>> {
    words.map(|words| vec![named(name, read), words])
}

fn facts(headings: [&str; 2], rows: impl IntoIterator<Item = Option<Vec<String>>>) -> String {
    table(&headings, &rows.into_iter().flatten().collect::<Vec<_>>())
}

/// What the policy asked for.
pub(super) fn asked(metrics: &Place) -> String {
    let (guarantee, trace) = (metrics.at("guarantee"), metrics.at("trace"));
    let rows = [
        fact(
            "k",
            "Whoever is looked for is one of at least so many who look the same.",
            &guarantee.at("k"),
            Shown::Count,
        ),
        words("Counted in", "What k counts.", unit(metrics).map(String::from)),
        words("Known to the adversary", "What somebody outside is taken to know of a person.", knows(metrics)),
        fact(
            "Rows that may go",
            "At most so many may be suppressed so that the others stay finer.",
            &trace.at("may_suppress"),
            Shown::Count,
        ),
        words("Objective", "What the method makes as small as it can.", trace.at("objective").text().map(code)),
    ];
    let columns = guarantee.at("asked").members();
    let required: Vec<Vec<String>> = columns.iter().map(|(name, asked)| required(name, asked)).collect();
    let mut body = preset(metrics) + &facts(["Asked", "Value"], rows);
    if !required.is_empty() {
        let headings = ["Sensitive column", "Listed values", "Share at most", "Diversity", "Distance at most"];
        body += &cards(&headings, &required);
    }
    section("What was asked", &body)
}

/// Whose number k is, where the policy names a preset.
pub(super) fn preset(metrics: &Place) -> String {
    let preset = metrics.at("guarantee.preset");
    let text = |key: &str| preset.at(key).text();
    let (Some(name), Some(meaning), Some(source)) = (text("name"), text("meaning"), text("source")) else {
        return String::new();
    };
    let risk = text("max_risk").map_or(String::new(), |risk| format!(" (highest risk {})", escape(risk)));
    format!("<p>k is that of the preset {}{risk}. {} Source: {}</p>\n", code(name), escape(meaning), escape(source))
}

/// What was asked of one sensitive column.
fn required(name: &str, asked: &Place) -> Vec<String> {
    let listed = asked.at("values");
    vec![
        code(name),
        if listed.exists() { listed.show(Shown::Count) } else { "all".into() },
        asked.at("confidence").show(Shown::Count),
        asked.at("l_diversity").show(Shown::Count),
        asked.at("t_closeness").show(Shown::Count),
    ]
}

/// How the guarantee was recounted.
pub(super) fn recounted(metrics: &Place) -> String {
    let guarantee = metrics.at("guarantee");
    if !guarantee.exists() {
        return section("How it was recounted", &facts(["Counted", "Number"], []));
    }
    let method = metrics.at("method").text().and_then(|name| Register::built_in().find(name));
    let against = match method.map(|entry| entry.shape()) {
        Some(DataShape::Table) => {
            "Each released row was traced to its own row of the original: every cell that may change is the original value or a coarser label of it, and every other cell is the original."
        }
        _ => "What leaves was compared with the original, row by row.",
    };
    let rows = [
        fact(
            "Sets of columns",
            "Every set that the adversary may know was counted by itself.",
            &guarantee.at("sets"),
            Shown::Count,
        ),
        fact(
            "Classes",
            "Groups of rows that look the same in all quasi-identifiers together.",
            &guarantee.at("classes"),
            Shown::Count,
        ),
        fact(
            "Smallest class",
            "Of all these sets; it must not be smaller than k.",
            &guarantee.at("smallest_class"),
            Shown::Count,
        ),
        fact("k", "What was asked.", &guarantee.at("k"), Shown::Count),
        fact(
            "Rows of the smallest class",
            "As the recipient counts it, who sees rows only.",
            &guarantee.at("compared.smallest_class_in_rows"),
            Shown::Count,
        ),
        fact("Rows of the original", "Read again for the comparison.", &guarantee.at("compared.rows"), Shown::Count),
        fact(
            "Released rows traced",
            "Each to a row of its own in the original.",
            &guarantee.at("compared.matched"),
            Shown::Count,
        ),
    ];
    let body = format!(
        "<p>Nothing leaves before its guarantee was counted again, by code that knows no method, in two ways:</p>\n\
         <ol>\n<li><strong>From the released bytes.</strong> The file that leaves was read back as its recipient \
         will read it, and its classes were counted by the plain definition. The recipient can repeat this with \
         <code>kohort verify</code>.</li>\n<li><strong>Against the original, row by row.</strong> {against}</li>\n\
         </ol>\n{}",
        facts(["Counted", "Number"], rows)
    );
    section("How it was recounted", &body)
}

/// What the method noted of its way.
pub(super) fn trace(metrics: &Place) -> String {
    let read = "Different combinations of values in the original: all that the method looked at.";
    let tuples = fact("Distinct combinations", read, &metrics.at("tuples"), Shown::Count);
    let members = metrics.at("trace").members().into_iter().filter(|(_, place)| place.elements().is_empty());
    let steps = members.map(|(key, place)| {
        let (name, read) = match key {
            "nodes" => ("Ways to combine levels", "Every combination of a level for each column."),
            "counted" => (
                "Combinations counted",
                "All others were decided without counting, by what was known of finer or coarser ones.",
            ),
            "suppressed" => ("Rows suppressed", "By what was chosen."),
            "h" => ("Ceiling", "No record may be made coarser than this."),
            "highest_degree" => {
                return fact(
                    "Degree of the coarsest record",
                    "It must not be above the ceiling.",
                    &place,
                    Shown::Decimals(4),
                );
            }
            "order" => ("Order", "Which combinations come first: those with least to lose, or as the paper has it."),
            "remainder" => ("Records that no blank helps", "They are deleted, or grow a class."),
            "combinations" => ("Combinations of columns", "That the adversary may know."),
            "rounds" => ("Rounds", "Over all combinations, until nothing changed."),
            "steps" => ("Steps", "Ways of blanking that were compared."),
            "blank_cells" => ("Cells left blank", ""),
            "deleted" => ("Rows deleted", "No blank would have helped them."),
            "grown" => ("Classes grown", ""),
            "told_by_others" => ("Cells blanked because another column tells them", ""),
            "padding" => ("Filled", "Up to k exactly, or beyond by chance."),
            "may_add" => ("Rows that might be invented", "As asked."),
            "expected_counterfeits" => ("Invented rows expected", "On average over what chance decides."),
            "refused" => ("Better choices given up", "They could not be filled within what was asked."),
            "forbidden" => ("Forbidden combinations", "No invented row shows them."),
            "forbidden_built_in" => ("Of these built in", "Diagnoses of one sex."),
            "may_suppress" => ("Rows that might go", "As asked."),
            "max_suppressed" => ("Share of rows that might go", "As asked."),
            "objective" => ("Objective", "Of all that meets the guarantee, what is best by it was chosen."),
            "max_steps" => ("Steps asked for", "It stops there."),
            "stopped" => ("It stopped because", ""),
            "invalid" => ("Values left as they are", "To specialize them would break the guarantee."),
            "partitions" => ("Classes", "Over all quasi-identifiers."),
            other => return fact(&escape(&other.replace('_', " ")), "", &place, Shown::Count),
        };
        fact(name, read, &place, Shown::Count)
    });
    let body = facts(["Step", "Value"], std::iter::once(tuples).chain(steps));
    let pictures = ladder(&metrics.at("columns").elements()) + &scores(&metrics.at("trace.steps"));
    section("How the method found it", &(pictures + &body + &specializations(&metrics.at("trace.steps"))))
}

/// More steps than this are in the table alone.
const MOST_STEPS: usize = 40;

/// The way of a method that goes down from the top.
fn scores(steps: &Place) -> String {
    let steps = steps.elements();
    let name = |step: &Place| {
        let column = step.at("column").text().unwrap_or("?");
        let number = |element: &str| step.at("step").show_in(element, Shown::Count);
        let short = escape(&super::escape::shorten(column, 11));
        Name::numbers(format!("{} {short}", number("tspan")), format!("{} {}", number("span"), code(column)))
    };
    Bars {
        id: "steps".into(),
        title: "The way down from *: what each specialization gained, by the objective".into(),
        names: "Step, column".into(),
        lengths: "Score",
        legend: &[],
        groups: steps.iter().take(MOST_STEPS).map(|step| Group::of(name(step), step, &["score"])).collect(),
        full: None,
        shown: Shown::Decimals(4),
    }
    .draw()
}

/// The steps of a method that goes down from the top, one a row.
fn specializations(steps: &Place) -> String {
    let row = |step: &Place| {
        let into: Vec<String> = step.at("into").texts().into_iter().map(code).collect();
        let at = step.at("at").text().map_or(String::new(), |at| format!(" at {}", code(at)));
        let value = step.at("value").text().map_or(String::new(), code);
        vec![
            step.at("step").show(Shown::Count),
            step.at("column").text().map_or(String::new(), code),
            format!("{value}{at} → {}", into.join(", ")),
            step.at("score").show(Shown::Decimals(4)),
            step.at("rows").show(Shown::Count),
            step.at("invalid").show(Shown::Count),
            step.at("suppressed").show(Shown::Count),
        ]
    };
    let rows: Vec<Vec<String>> = steps.elements().iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let headings = ["Step", "Column", "Specialized", "Score", "Rows", "Blocked so far", "Rows suppressed"];
    format!(
        "<details><summary>Step by step</summary>\n<p class=\"read\">After each of these steps the guarantee held: \
         <code>max_steps</code> stops at any of them. This list stays in the house.</p>\n{}</details>\n",
        cards(&headings, &rows)
    )
}

/// How long each stage took.
pub(super) fn timing(metrics: &Place) -> String {
    const STAGES: [(&str, &str); 6] = [
        ("read", "Reading the original; one pass together with counting, so both have the same time."),
        ("count", "Counting its combinations of values."),
        ("method", "Deciding what changes."),
        ("write", "Writing the release."),
        ("verify", "Reading it back and recounting it."),
        ("total", "All of it."),
    ];
    let timing = metrics.at("timing");
    let others = timing.members().into_iter().filter(|(name, _)| STAGES.iter().all(|s| s.0 != *name));
    let others = others.map(|(name, seconds)| fact(&escape(name), "", &seconds, Shown::Seconds));
    let known = STAGES.into_iter().map(|(name, read)| fact(name, read, &timing.at(name), Shown::Seconds));
    section("How long it took", &facts(["Stage", "Time"], known.chain(others)))
}
