//! Puts what is claimed of sensitive values into the codes of the release, with the order or the tree of t-closeness.

use super::claim::damaged;
use crate::Result;
use crate::policy::{Policy, TDistance};
use crate::privacy::{Confidence, Distance, Sensitive, TCloseness};
use crate::release::SensitiveClaim;
use crate::table::Dictionary;
use crate::visible::is_visible;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The most values times steps of a tree of sensitive values.
const LARGEST_TREE: usize = 1 << 24;

/// Where the order and the tree of sensitive values come from.
#[derive(Clone, Copy)]
pub(super) enum Values<'a> {
    /// The certificate lists them: there is no policy.
    AsClaimed,
    /// The policy decides, with this decimal mark: what the certificate lists is not asked.
    OfPolicy(&'a Policy, u8),
}

/// Lists the released values in the order or the tree that the policy gives them. They are sorted, so that
/// the list says nothing about the order of the input.
pub(super) fn spread(claim: &mut SensitiveClaim, policy: &Policy, point: u8, dictionary: &Dictionary) -> Result<()> {
    let Some(t) = &mut claim.t_closeness else { return Ok(()) };
    let column = policy.columns.iter().find(|c| c.name == claim.column);
    let column = column.ok_or_else(|| damaged("a sensitive column of the claim is not in the policy"))?;
    let texts = dictionary.texts();
    (t.order, t.tree) = (None, None);
    match t.distance {
        TDistance::Equal => {}
        TDistance::Ordered => {
            let order = crate::cohort::order(&texts, column.domain.as_deref(), point);
            let order = order.ok_or_else(|| damaged("the policy does not order the values of a sensitive column"))?;
            t.order = Some(order.into_iter().map(|code| texts[code as usize].to_string()).collect());
        }
        TDistance::Hierarchical => {
            let hierarchy = column.rule.apply(&texts, false);
            let levels: Vec<_> = hierarchy.levels.iter().skip(1).map(|level| &level.label_of).collect();
            let kept = steps_that_join(&levels);
            let path = |code: usize| -> Vec<String> {
                let above = hierarchy.levels.iter().skip(1).enumerate().filter(|(step, _)| kept[*step]);
                let above = above.map(|(_, l)| l.labels[l.label_of[code] as usize].text.clone());
                std::iter::once(texts[code].to_string()).chain(above).collect()
            };
            let mut tree: Vec<Vec<String>> = (1..texts.len()).map(path).collect();
            tree.sort();
            t.tree = Some(tree);
        }
    }
    Ok(())
}

/// The claim about a sensitive column, in the codes of the release.
pub(super) fn requirement(claim: &SensitiveClaim, dictionary: &Dictionary) -> Result<Sensitive> {
    let listed = claim.values.as_ref().map(|values| {
        let mut listed = vec![false; dictionary.len()];
        for code in values.iter().filter_map(|v| dictionary.code(v)).filter(|&c| c != 0) {
            listed[code as usize] = true;
        }
        listed
    });
    let t_closeness = claim.t_closeness.as_ref().map(|t| {
        let distance = match (t.distance, &t.order, &t.tree) {
            (TDistance::Ordered, Some(order), None) => Distance::Ordered(codes_in_order(order, dictionary)?),
            (TDistance::Hierarchical, None, Some(tree)) => Distance::Hierarchical(tree_levels(tree, dictionary)?),
            (TDistance::Equal, None, None) => Distance::Equal,
            _ => return Err(damaged("the distance of a sensitive column does not match the values that are listed")),
        };
        Ok(TCloseness { max: t.max, distance })
    });
    Ok(Sensitive {
        confidence: claim.confidence.map(|max| Confidence { max, listed }),
        l_diversity: claim.l_diversity.clone(),
        t_closeness: t_closeness.transpose()?,
    })
}

fn codes_in_order(order: &[String], dictionary: &Dictionary) -> Result<Vec<u32>> {
    let mut codes: Vec<u32> = order.iter().filter_map(|v| dictionary.code(v)).filter(|&c| c != 0).collect();
    let all = codes.len();
    codes.sort_unstable();
    codes.dedup();
    if all != codes.len() || codes.len() + 1 != dictionary.len() {
        return Err(damaged("the order of a sensitive column does not list each of its values once"));
    }
    Ok(order.iter().filter_map(|v| dictionary.code(v)).filter(|&c| c != 0).collect())
}

/// One entry per step above the values: whether it joins anything that the step below keeps apart. The others
/// say nothing, and are not listed. The last step is, where no other is.
fn steps_that_join(levels: &[&Vec<u32>]) -> Vec<bool> {
    let groups = |level: &Vec<u32>| level.iter().skip(1).collect::<BTreeSet<_>>().len();
    let mut below = levels.first().map_or(0, |level| level.len().saturating_sub(1));
    let mut kept: Vec<bool> =
        levels.iter().map(|level| groups(level) < std::mem::replace(&mut below, groups(level))).collect();
    if !kept.contains(&true)
        && let Some(last) = kept.last_mut()
    {
        *last = true;
    }
    kept
}

/// Ancestor numbers by level and value code, from paths. A tree is no deeper than it has labels: what a stranger
/// repeats brings no values nearer.
fn tree_levels(paths: &[Vec<String>], dictionary: &Dictionary) -> Result<Vec<Vec<u32>>> {
    let wrong = || damaged("the tree of a sensitive column does not hold each of its values once, at one depth");
    // A column whose released values are all missing has nothing to differ by.
    if paths.is_empty() && dictionary.len() == 1 {
        return Ok(Vec::new());
    }
    let depth = paths.first().map_or(0, Vec::len);
    if depth < 2 || paths.len() + 1 != dictionary.len() || paths.iter().any(|path| path.len() != depth) {
        return Err(wrong());
    }
    let labels: HashSet<&str> = paths.iter().flatten().map(String::as_str).collect();
    if depth > labels.len() {
        return Err(damaged("the tree of a sensitive column is deeper than it has different labels"));
    }
    if paths.iter().flat_map(|path| &path[1..]).any(|label| !is_visible(label)) {
        return Err(damaged("the tree of a sensitive column has a label that cannot be seen"));
    }
    let mut levels = vec![vec![0u32; dictionary.len()]; depth - 1];
    // From the root down: a node is its parent and its label.
    let mut numbers: Vec<HashMap<(u32, &str), u32>> = vec![HashMap::new(); depth - 1];
    let mut seen = vec![false; dictionary.len()];
    for path in paths {
        let code = dictionary.code(&path[0]).ok_or_else(wrong)? as usize;
        if code == 0 || std::mem::replace(&mut seen[code], true) {
            return Err(wrong());
        }
        let mut parent = 0;
        for level in (0..depth - 1).rev() {
            let next = numbers[level].len() as u32;
            parent = *numbers[level].entry((parent, &path[level + 1])).or_insert(next);
            levels[level][code] = parent;
        }
    }
    // Steps that join nothing measure nothing, however many a stranger lists.
    let kept = steps_that_join(&levels.iter().collect::<Vec<_>>());
    let mut kept = kept.into_iter();
    levels.retain(|_| kept.next() == Some(true));
    match levels.len().saturating_mul(dictionary.len()) <= LARGEST_TREE {
        true => Ok(levels),
        false => Err(damaged("the tree of a sensitive column is larger than can be counted")),
    }
}
