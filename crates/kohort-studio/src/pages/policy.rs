//! The policy as it is written, and its history: every change can be undone.

use crate::answer::{Answer, Fields};
use crate::page::{Page, Step, button, hidden, shell};
use crate::studio::Studio;
use kohort::report::parts::prose;
use kohort_core::{Error, Result};
use std::sync::Arc;

/// Shows the text of the policy and its versions.
pub(crate) fn page(studio: &Arc<Studio>) -> Result<Answer> {
    let opened = studio.opened()?;
    let mut body = String::from(
        "<p class=\"lead\">The policy is the truth: everything that these pages do is a change to this file. You can edit it here or \
         in any editor.</p>\n",
    );
    body += &format!(
        "<form method=\"post\" action=\"/policy\" class=\"stacked\">{}<label for=\"text\">The policy</label>\
         <textarea name=\"text\" id=\"text\" rows=\"28\" spellcheck=\"false\">\n{}</textarea><button>Save</button></form>\n",
        hidden("revision", &opened.revision()),
        escape_text(&opened.text)
    );
    body += "<section><h2>History</h2>\n";
    let (at, last) = (opened.history.at, opened.history.versions.len().saturating_sub(1));
    if at > 0 {
        body += &button("/undo", "Undo the last change", &[]);
    }
    if at < last {
        body += &button("/redo", "Do it again", &[]);
    }
    body += "<ol class=\"history\">\n";
    for (place, version) in opened.history.versions.iter().enumerate().rev() {
        let what = prose(&version.what());
        body += &match place == at {
            true => format!("<li><strong>Version {}: {what}</strong> (now)</li>\n", version.number),
            false => format!(
                "<li>Version {}: {what} {}</li>\n",
                version.number,
                button("/version", &format!("Go back to version {}", version.number), &[("place", &place.to_string())])
            ),
        };
    }
    body += "</ol></section>\n";
    let command = Some(format!("kohort anonymize {}", shell(&opened.name)));
    Ok(Answer::Page(Page { step: Step::Policy, heading: "Policy and history", body, command }))
}

/// Escapes text for a field of several lines. Everything else stays: the field is saved as it is.
fn escape_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Saves the text as it was edited on the page.
pub(crate) fn save(studio: &Arc<Studio>, fields: &Fields) -> Result<Answer> {
    let opened = studio.opened()?;
    let text = fields.0.iter().find(|(name, _)| name == "text").map_or("", |(_, value)| value.as_str());
    let mut text = text.replace("\r\n", "\n");
    if !text.ends_with('\n') {
        text.push('\n');
    }
    if fields.get("revision") != opened.revision() && text != opened.text {
        let body = format!(
            "<p>The policy was changed meanwhile, in another window or in an editor. Nothing was saved yet.</p>\n\
             <form method=\"post\" action=\"/policy\" class=\"inline\">{}<textarea name=\"text\" hidden>\n{}</textarea><button>Use my \
             text</button></form>\n<p><a href=\"/policy\">Keep what is in the file</a></p>\n",
            hidden("revision", &opened.revision()),
            escape_text(&text)
        );
        return Ok(Answer::Question(Page {
            step: Step::Policy,
            heading: "The policy was changed meanwhile",
            body,
            command: None,
        }));
    }
    studio.save(opened, "Edited as text", &text)?;
    Ok(Answer::See("/policy"))
}

/// Takes the last change back.
pub(crate) fn undo(studio: &Arc<Studio>, _: &Fields) -> Result<Answer> {
    let at = studio.opened()?.history.at;
    studio.go_to(at.checked_sub(1).ok_or_else(|| Error::yours("there is nothing to undo."))?)?;
    Ok(Answer::See("/policy"))
}

/// Makes the change again that was taken back.
pub(crate) fn redo(studio: &Arc<Studio>, _: &Fields) -> Result<Answer> {
    let at = studio.opened()?.history.at;
    studio.go_to(at + 1)?;
    Ok(Answer::See("/policy"))
}

/// Goes to a version.
pub(crate) fn version(studio: &Arc<Studio>, fields: &Fields) -> Result<Answer> {
    studio.go_to(fields.number("place").ok_or_else(|| Error::yours("there is no such version."))?)?;
    Ok(Answer::See("/policy"))
}
