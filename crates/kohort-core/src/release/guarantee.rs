//! The guarantee in plain sentences, for a reader who does not reason about the method and for
//! one who does. Never stronger than what survived attack (see docs/guarantees.md).

use super::certificate::{Claim, KnowsClaim};

/// What is promised, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guarantee {
    /// To a reader who matches what they know against the release.
    pub plain: String,
    /// To a reader who also knows the method and reasons backwards from the release.
    pub aware: String,
}

/// The sentences for a release by this method. Where single cells are suppressed (`suppress`), a
/// suppressed cell matches whatever is known.
pub fn guarantee(method: &str, claim: &Claim, patients: bool) -> Guarantee {
    let k = claim.k.get();
    // Who has several rows has several chances to own a row, but is still one patient among k.
    let (people, link) = if patients {
        ("patients", format!("the person is any one of them with probability at most 1/{k}"))
    } else {
        ("rows", format!("the person is linked to any one row with probability at most 1/{k}"))
    };
    let mut plain = match &claim.knows {
        KnowsClaim::All => format!(
            "Whoever knows all quasi-identifiers of a person finds at least {k} {people} in this file that match, or none; {link}."
        ),
        KnowsClaim::Any(n) => format!(
            "Whoever knows up to {n} of a person's quasi-identifiers finds at least {k} {people} in this file that match, or none."
        ),
        KnowsClaim::Sets(_) => format!(
            "Whoever knows a person's values in one of the listed sets of quasi-identifiers finds at least {k} {people} in this file that match, or none."
        ),
    };
    for sensitive in &claim.sensitive {
        let column = &sensitive.column;
        if let Some(c) = &sensitive.confidence {
            let values = if sensitive.values.is_some() { "any one listed value" } else { "any one value" };
            plain += &format!(
                " Of the {people} that match and have a value in `{column}`, at most the share {c} has {values}."
            );
        }
        if let Some(l) = &sensitive.l_diversity {
            plain += &format!(" Those that match show in `{column}` {}.", l.describe());
        }
        if let Some(t) = &sensitive.t_closeness {
            plain += &format!(
                " Their distribution of `{column}` is no further than {} from that of this whole file.",
                t.max
            );
        }
    }
    // What `specialize` splits may follow the class column, and tells of it to who knows all others.
    let follows = method == "specialize";
    let aware = if follows || claim.knows != KnowsClaim::All || !claim.sensitive.is_empty() {
        "To a reader who also reasons about the method no bound is promised.".to_string()
    } else {
        let cells = match method {
            "suppress" => " What stood in a suppressed cell may be inferred.",
            _ => "",
        };
        format!(
            "To a reader who also reasons about the method the same holds: {link}.{cells} What is learned about sensitive values is not bounded."
        )
    };
    if claim.sensitive.is_empty() {
        plain += " What is learned about sensitive values is not bounded.";
    }
    Guarantee { plain, aware }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::K;

    #[test]
    fn an_aware_reader_is_promised_nothing_beyond_k_over_all_columns() {
        let claim = |knows| Claim { k: K::new(5).unwrap(), knows, sensitive: Vec::new() };
        assert!(guarantee("lattice", &claim(KnowsClaim::All), true).aware.contains("at most 1/5"));
        assert!(guarantee("lattice", &claim(KnowsClaim::Any(2)), true).aware.contains("no bound is promised"));
        assert!(guarantee("lattice", &claim(KnowsClaim::Sets(vec![])), true).aware.contains("no bound is promised"));
        assert!(guarantee("specialize", &claim(KnowsClaim::All), true).aware.contains("no bound is promised"));
        assert!(!guarantee("lattice", &claim(KnowsClaim::Any(2)), true).plain.contains("1/5"));
        let blanked = |knows| guarantee("suppress", &claim(knows), true).aware;
        assert!(blanked(KnowsClaim::All).contains("may be inferred"));
        assert!(blanked(KnowsClaim::Sets(vec![])).contains("no bound is promised"));
    }
}
