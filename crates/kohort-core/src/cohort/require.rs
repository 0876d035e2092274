//! The requirements on sensitive columns, in value codes.

use crate::Result;
use crate::hierarchy::{MISSING, Rule};
use crate::number::{Decimal, number_of};
use crate::policy::{Column, Policy, Role, TDistance};
use crate::privacy::{Confidence, Distance, Sensitive, TCloseness};
use crate::table::{Dictionary, Source};
use crate::visible::{alike, other_spelling};

/// Translates the policy's requirements on one sensitive column into its value codes.
pub(super) fn require(
    source: &Source,
    policy: &Policy,
    column: &Column,
    dictionary: &Dictionary,
    notes: &mut Vec<String>,
) -> Result<Sensitive> {
    let privacy = &policy.privacy;
    let Role::Sensitive { values } = &column.role else { return Ok(Sensitive::default()) };
    let listed = values.as_ref().map(|values| {
        let mut listed = vec![false; dictionary.len()];
        for value in values {
            match dictionary.code(value) {
                Some(code) if code != MISSING => listed[code as usize] = true,
                _ => notes.push(format!(
                    "column `{}`: the listed value \"{value}\" does not occur in the data.",
                    column.name
                )),
            }
        }
        no_other_spelling(policy, column, values, (dictionary, &listed))?;
        Ok(listed)
    });
    let listed = listed.transpose()?;
    match alike(dictionary.texts().into_iter().skip(1)) {
        0 => {}
        _ if !privacy.reads_sensitive() => {}
        n => notes.push(format!(
            "column `{}`: {} another one, with other capitals, blanks or accents, and counts as a value of its own. A \
             limit may hold by such spellings alone, so that the release can be verified in part only. Give them one \
             spelling with `recode`.",
            column.name,
            number_of(n, ["value looks like", "values look like"])
        )),
    }
    Ok(Sensitive {
        confidence: privacy.confidence.map(|max| Confidence { max, listed }),
        l_diversity: privacy.l_diversity.clone(),
        t_closeness: match privacy.t_closeness {
            None => None,
            Some((max, distance)) => {
                let point = source.input().decimal;
                Some(TCloseness { max, distance: distance_of(policy, column, dictionary, distance, point)? })
            }
        },
    })
}

/// Refuses a list of values that leaves out another spelling of one of them: no limit would hold for it.
fn no_other_spelling(
    policy: &Policy,
    column: &Column,
    values: &[String],
    (dictionary, listed): (&Dictionary, &[bool]),
) -> Result<()> {
    let texts = dictionary.texts().into_iter().zip(listed).skip(1);
    let left_out = texts.filter(|(_, listed)| !**listed).map(|(text, _)| text);
    match other_spelling(values.iter().map(String::as_str), left_out) {
        None => Ok(()),
        Some(value) => Err(policy.error(format!(
            "`values` of `{}` lists \"{value}\". The data also has another spelling of it, with other capitals, blanks or \
             accents, and the limit would not hold for that one. List both, or give them one spelling with `recode`.",
            column.name
        ))),
    }
}

/// The distance that t-closeness measures for a column.
fn distance_of(
    policy: &Policy,
    column: &Column,
    dictionary: &Dictionary,
    distance: TDistance,
    point: u8,
) -> Result<Distance> {
    let texts = dictionary.texts();
    Ok(match distance {
        TDistance::Equal => Distance::Equal,
        TDistance::Ordered => Distance::Ordered(order(&texts, column.domain.as_deref(), point).ok_or_else(|| {
            policy.error(format!(
                "t_closeness with distance = \"ordered\": the values of `{}` are not numbers. List all of them in \
                 order: domain = [\"least\", …, \"most\"].",
                column.name
            ))
        })?),
        TDistance::Hierarchical => {
            if matches!(column.rule, Rule::Flat) {
                return Err(policy.error(format!(
                    "t_closeness with distance = \"hierarchical\" needs a hierarchy for \
                     `{}`.",
                    column.name
                )));
            }
            let hierarchy = column.rule.apply(&texts, dictionary.missing_occurs);
            if !hierarchy.uncovered.is_empty() {
                return Err(policy.error(format!(
                    "t_closeness with distance = \"hierarchical\": in `{}`, {} not covered by {}.",
                    column.name,
                    number_of(hierarchy.uncovered.len(), ["value is", "values are"]),
                    column.rule_text
                )));
            }
            Distance::Hierarchical(hierarchy.levels.into_iter().skip(1).map(|l| l.label_of).collect())
        }
    })
}

/// Value codes in their order: as the domain lists them, or as numbers with this decimal mark.
pub(crate) fn order(texts: &[&str], domain: Option<&[String]>, point: u8) -> Option<Vec<u32>> {
    let codes = 1..texts.len() as u32;
    match domain {
        Some(domain) => {
            let mut order: Vec<(usize, u32)> = Vec::new();
            for code in codes {
                order.push((domain.iter().position(|d| d == texts[code as usize])?, code));
            }
            order.sort_unstable();
            Some(order.into_iter().map(|o| o.1).collect())
        }
        None => {
            // Values that are written differently but mean the same number are in the order of their texts.
            let mut order: Vec<(Decimal, &str, u32)> = Vec::new();
            for code in codes {
                let text = texts[code as usize];
                order.push((Decimal::of_exact_cell(text, point)?, text, code));
            }
            order.sort_unstable();
            Some(order.into_iter().map(|o| o.2).collect())
        }
    }
}
