//! The frame around every page, and the small parts that pages share.

use kohort::report::parts::{escape, prose};
pub(crate) use kohort_core::number::thousands;

/// A page: its heading, its body, and the command that does the same.
pub(crate) struct Page {
    /// The step it belongs to.
    pub(crate) step: Step,
    /// The heading; also the title of the window, so that no value of the data may be in it.
    pub(crate) heading: &'static str,
    /// HTML.
    pub(crate) body: String,
    /// The command that does the same without the page.
    pub(crate) command: Option<String>,
}

/// The steps of the work, in the order of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Start,
    Columns,
    Hierarchies,
    Risk,
    Explore,
    Release,
    Verify,
    Policy,
}

impl Step {
    const ALL: [(Step, &'static str, &'static str); 8] = [
        (Step::Start, "/", "Start"),
        (Step::Columns, "/columns", "Columns"),
        (Step::Hierarchies, "/hierarchies", "Hierarchies"),
        (Step::Risk, "/risk", "Risk"),
        (Step::Explore, "/explore", "Explore"),
        (Step::Release, "/release", "Release"),
        (Step::Verify, "/verify", "Verify"),
        (Step::Policy, "/policy", "Policy"),
    ];

    /// The step of an address.
    pub(crate) fn at(address: &str) -> Step {
        Step::ALL.iter().find(|(_, own, _)| *own == address).map_or(Step::Start, |(step, _, _)| *step)
    }

    /// Returns whether the step needs an open policy.
    fn needs_policy(self) -> bool {
        !matches!(self, Step::Start | Step::Verify)
    }
}

/// Describes what is around a page: the open policy, and what was just saved.
pub(crate) struct Around {
    /// The name of the open policy.
    pub(crate) policy: Option<String>,
    /// Holds what the last change did, as HTML.
    pub(crate) changed: String,
    /// True if this studio only reads, since another one works in the folder.
    pub(crate) read_only: bool,
    /// True if work is going on in the background.
    pub(crate) working: bool,
}

impl Page {
    /// The whole document.
    pub(crate) fn render(&self, around: &Around) -> String {
        let mut steps = String::new();
        for (step, address, name) in Step::ALL {
            let class = match step {
                Step::Verify => " class=\"first-aside\"",
                Step::Start | Step::Policy => "",
                _ => " class=\"step\"",
            };
            if step.needs_policy() && around.policy.is_none() {
                steps += &format!("<li{class}><span class=\"off\">{name}</span></li>");
            } else {
                let current = if step == self.step { " aria-current=\"page\"" } else { "" };
                steps += &format!("<li{class}><a href=\"{address}\"{current}>{name}</a></li>");
            }
        }
        let mut above = String::new();
        if around.read_only {
            above += "<p class=\"warning\" role=\"status\">Another studio is working in this folder, so this one only \
                      shows. Close the other one and start again to make changes.</p>\n";
        }
        if around.working {
            above += "<p class=\"note\" role=\"status\">Work is going on in the background. <a href=\"/job\">Show its \
                      progress</a></p>\n";
        }
        above += &around.changed;
        let mut below = String::new();
        if let Some(command) = &self.command {
            let lines: Vec<String> = command.lines().map(escape).collect();
            below += &format!(
                "<section class=\"command\"><h2>The same without this page</h2>\n<pre tabindex=\"0\"><code>{}</code></pre></section>\n",
                lines.join("\n")
            );
        }
        let policy = around.policy.as_ref().map_or(String::new(), |name| {
            format!("<p class=\"file\">Policy: <code>{}</code>, saved after every change.</p>", escape(name))
        });
        document(
            self.heading,
            &format!(
                "<header class=\"top\"><p class=\"brand\"><img src=\"/icon.svg\" alt=\"\"><strong>Kohort studio</strong></p>\n\
                 <nav aria-label=\"Steps\"><ol>{steps}</ol></nav>{policy}</header>\n\
                 <main id=\"main\" tabindex=\"-1\">\n<h1>{}</h1>\n{above}{}{below}</main>\n\
                 <footer>Everything stays on this computer: the page is served from it and sends nothing elsewhere.</footer>\n",
                self.heading, self.body
            ),
        )
    }
}

/// A page about something that went wrong, with ways to go on.
pub(crate) fn problem(heading: &str, sentence: &str) -> String {
    document(
        heading,
        &format!(
            "<main id=\"main\" tabindex=\"-1\">\n<h1>{}</h1>\n<p class=\"warning\" role=\"alert\">{}</p>\n\
             <p>Nothing is lost. Go back, or open <a href=\"/\">the start page</a> or <a href=\"/policy\">the policy</a>.</p>\n</main>\n",
            escape(heading),
            prose(sentence)
        ),
    )
}

/// A page of words alone, for those who may not see more.
pub(crate) fn bare(heading: &str, sentence: &str) -> String {
    document(
        heading,
        &format!(
            "<main id=\"main\" tabindex=\"-1\">\n<h1>{}</h1>\n<p>{}</p>\n</main>\n",
            escape(heading),
            prose(sentence)
        ),
    )
}

fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{} – Kohort studio</title>\n<link rel=\"stylesheet\" href=\"/style.css\">\n\
         <link rel=\"icon\" href=\"/icon.svg\" type=\"image/svg+xml\">\n\
         <script type=\"module\" src=\"/studio.js\"></script>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the content</a>\n{body}</body>\n</html>\n",
        escape(title)
    )
}

/// A button in a form of its own.
pub(crate) fn button(action: &str, label: &str, fields: &[(&str, &str)]) -> String {
    let hidden: String = fields.iter().map(|(name, value)| hidden(name, value)).collect();
    format!("<form method=\"post\" action=\"{action}\" class=\"inline\">{hidden}<button>{label}</button></form>\n")
}

/// A field that is sent and not shown.
pub(crate) fn hidden(name: &str, value: &str) -> String {
    format!("<input type=\"hidden\" name=\"{}\" value=\"{}\">", escape(name), escape(value))
}

/// A choice of one among several.
pub(crate) fn select(name: &str, id: &str, label: &str, choices: &[(&str, String)], chosen: &str) -> String {
    let option = |(value, text): &(&str, String)| {
        let mark = if *value == chosen { " selected" } else { "" };
        format!("<option value=\"{}\"{mark}>{}</option>", escape(value), escape(text))
    };
    let options: String = choices.iter().map(option).collect();
    format!("<label for=\"{id}\">{label}</label><select name=\"{}\" id=\"{id}\">{options}</select>", escape(name))
}

/// A choice of one among several that need words. The words are HTML.
pub(crate) fn radios(name: &str, legend: &str, choices: &[(&str, String)], chosen: &str) -> String {
    let one = |(i, (value, words)): (usize, &(&str, String))| {
        let mark = if *value == chosen { " checked" } else { "" };
        format!(
            "<p><input type=\"radio\" name=\"{name}\" id=\"{name}-{i}\" value=\"{}\"{mark}><label for=\"{name}-{i}\">{words}</label></p>\n",
            escape(value)
        )
    };
    let all: String = choices.iter().enumerate().map(one).collect();
    format!("<fieldset class=\"radios\"><legend>{legend}</legend>\n{all}</fieldset>\n")
}

/// A line of text to fill in.
pub(crate) fn input(name: &str, id: &str, label: &str, value: &str, more: &str) -> String {
    format!(
        "<label for=\"{id}\">{label}</label><input name=\"{}\" id=\"{id}\" value=\"{}\" {more}>",
        escape(name),
        escape(value)
    )
}

/// A name as a shell reads it: in quotes if it has characters that a shell takes for something else.
pub(crate) fn shell(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-+=,/:@%".contains(c);
    // A name that begins with a hyphen would be read as an option.
    let name = if name.starts_with('-') { format!("./{name}") } else { name.to_string() };
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name,
        false => format!("'{}'", name.replace('\'', "'\\''")),
    }
}

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    match 100.0 * share {
        0.0 => "0 %".into(),
        little if little < 0.1 => "under 0.1 %".into(),
        much => format!("{much:.1} %"),
    }
}

/// A list of sentences, not yet escaped, each of them once; nothing if there are none.
pub(crate) fn sentences(all: &[String]) -> String {
    let is_first = |(place, sentence): &(usize, &String)| !all[..*place].contains(sentence);
    let item = |(_, sentence): (usize, &String)| format!("<li>{}</li>\n", prose(&crate::answer::capital(sentence)));
    let items: String = all.iter().enumerate().filter(is_first).map(item).collect();
    if items.is_empty() { items } else { format!("<ul>\n{items}</ul>\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_commands_survive_a_shell() {
        assert_eq!(shell("hospital.csv"), "hospital.csv");
        assert_eq!(shell("Krankenhaus Daten (Kopie).csv"), "'Krankenhaus Daten (Kopie).csv'");
        assert_eq!(shell("it's.csv"), "'it'\\''s.csv'");
        assert_eq!(shell("-x.csv"), "./-x.csv");
    }

    #[test]
    fn a_sentence_is_listed_once() {
        let all = ["the dates are read as days.", "14 patients have no events.", "the dates are read as days."];
        assert_eq!(sentences(&all.map(String::from)).matches("<li>").count(), 2);
    }
}
