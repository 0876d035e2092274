//! The pages, one file for each step.

pub(crate) mod columns;
pub(crate) mod explore;
pub(crate) mod hierarchies;
mod more_requirements;
pub(crate) mod policy;
pub(crate) mod release;
pub(crate) mod risk;
pub(crate) mod start;
pub(crate) mod verify;
pub(crate) mod work;

use crate::answer::{Answer, Fields};
use crate::page::{Page, Step, hidden};
use crate::studio::{Edit, Saved, Studio};
use kohort::report::parts::escape;
use kohort_core::Result;
use kohort_core::policy::ADD_CONFIDENCE;

/// A note in the words of the pages, where it names keys of the policy. `limits` says where the risk page has its form.
fn in_page_words(note: &str, limits: &str) -> String {
    match note.strip_suffix(ADD_CONFIDENCE) {
        Some(found) => {
            format!("{found}Limit it {limits}, with the share of people who may have the same sensitive value.")
        }
        None => note.to_string(),
    }
}

/// Changes the policy, then shows a page; asks if somebody else changed the same keys meanwhile.
fn change(
    studio: &Studio,
    fields: &Fields,
    address: &str,
    next: &'static str,
    what: &str,
    edits: &[Edit],
) -> Result<Answer> {
    let meanwhile = match studio.change(fields.get("revision"), what, edits)? {
        Saved::Yes => return Ok(Answer::See(next)),
        Saved::Meanwhile(keys) => keys,
    };
    let rows: Vec<Vec<String>> = meanwhile
        .iter()
        .map(|(path, now)| vec![format!("<code>{}</code>", escape(path)), format!("<code>{}</code>", escape(now))])
        .collect();
    let again: String =
        fields.0.iter().filter(|(name, _)| name != "revision").map(|(name, value)| hidden(name, value)).collect();
    let revision = hidden("revision", &studio.opened()?.revision());
    let body = format!(
        "<p>The policy was changed meanwhile, in another window or in an editor, and your change concerns the same \
         keys. Nothing was saved yet.</p>\n{}\
         <form method=\"post\" action=\"{address}\" class=\"inline\">{again}{revision}<button>Use my change</button></form>\n\
         <p><a href=\"{next}\">Keep what is in the file</a></p>\n",
        kohort::report::parts::cards(&["Key", "In the file now"], &rows)
    );
    Ok(Answer::Question(Page { step: Step::Policy, heading: "The policy was changed meanwhile", body, command: None }))
}
