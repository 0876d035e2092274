//! Work in the background: its progress, and a way to stop it.

use crate::answer::{Answer, Fields, capital, explained};
use crate::job::Job;
use crate::page::{Page, Step, button, sentences};
use crate::studio::Studio;
use kohort::report::parts::escape;
use kohort_core::Result;
use kohort_core::error::Kind;
use std::sync::Arc;

/// Shows how far the work is. Without script the page loads itself again.
pub(crate) fn page(studio: &Arc<Studio>) -> Result<Answer> {
    let Some(job) = studio.job() else { return Ok(Answer::See("/")) };
    if let Some(Ok(next)) = job.progressed().end {
        return Ok(Answer::See(next));
    }
    let again = if job.is_running() { "<noscript><meta http-equiv=\"refresh\" content=\"1\"></noscript>" } else { "" };
    let body = format!("{again}<div id=\"job\" data-follow=\"/job/part\">\n{}</div>\n", state(&job));
    Ok(Answer::Page(Page { step: Step::at(job.back), heading: job.title, body, command: None }))
}

/// The part of the page that changes.
pub(crate) fn part(studio: &Arc<Studio>) -> Result<Answer> {
    let Some(job) = studio.job() else { return Ok(Answer::Part(String::new(), Some("/"))) };
    let next = job.progressed().end.and_then(|end| end.ok());
    Ok(Answer::Part(state(&job), next))
}

/// Asks the work to stop.
pub(crate) fn cancel(studio: &Arc<Studio>, _: &Fields) -> Result<Answer> {
    if let Some(job) = studio.job() {
        job.cancel();
    }
    Ok(Answer::See("/job"))
}

/// Asks a method to keep the best result so far.
pub(crate) fn enough(studio: &Arc<Studio>, _: &Fields) -> Result<Answer> {
    if let Some(job) = studio.job() {
        job.keep_best();
    }
    Ok(Answer::See("/job"))
}

fn state(job: &Job) -> String {
    let now = job.progressed();
    match now.end {
        Some(Ok(next)) => format!("<p>Done. <a href=\"{next}\">Show the result</a></p>\n"),
        Some(Err(error)) => {
            let (class, heading) = match error.kind {
                Kind::Cancelled => ("note", "Cancelled. Nothing was published."),
                Kind::Infeasible => ("warning", "No release can meet this policy."),
                Kind::Refused => ("warning bad", "Refused."),
                Kind::Unaccepted => ("warning", "A column is not protected."),
                Kind::Yours | Kind::Machine => ("warning", "This did not work."),
            };
            let message = if error.kind == Kind::Cancelled { String::new() } else { explained(&error) };
            format!(
                "<div class=\"{class}\" role=\"alert\"><p><strong>{heading}</strong></p>{}</div>\n\
                 <p><a class=\"go\" href=\"{}\">Go back</a></p>\n",
                if message.is_empty() { message } else { format!("<p>{}</p>", kohort::report::parts::prose(&message)) },
                job.back
            )
        }
        None => {
            let value = now.share.map_or(String::new(), |share| format!(" value=\"{share:.3}\""));
            let left = now
                .left
                .map_or(String::new(), |left| format!(", about {} left for this step", in_words(left.as_secs())));
            let share = now.share.map_or(String::new(), |share| format!(": {:.0} %", 100.0 * share));
            let cancel = match now.stopping {
                true => "<span>It stops as soon as it can.</span>\n".to_string(),
                false => button("/cancel", "Cancel", &[]),
            };
            let keep = match now.improving && !now.stopping {
                true => button("/enough", "Stop improving and use the best result so far", &[]),
                false => String::new(),
            };
            format!(
                "<p id=\"stage\" role=\"status\">{}{share}{left}</p>\n<progress max=\"1\"{value} aria-labelledby=\"stage\"></progress>\n\
                 {}<div class=\"actions\">{cancel}{keep}</div><p class=\"soft\">You can close this page or go to another one: the work goes on, and its result waits here.</p>\n{}",
                escape(&capital(&now.stage)),
                sentences(&now.notes),
                now.shown
            )
        }
    }
}

fn in_words(seconds: u64) -> String {
    match seconds {
        0..=1 => "a second".into(),
        2..=90 => format!("{seconds} seconds"),
        more => format!("{} minutes", more.div_ceil(60)),
    }
}
