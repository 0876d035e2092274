//! Hierarchies for the columns of a policy.

use super::setting::Setting;
use std::collections::{BTreeMap, BTreeSet};

/// The generalizations of a column's values: coarser intervals, shorter prefixes, or parents in a tree.
///
/// ```
/// use kohort::Hierarchy;
/// let age = Hierarchy::intervals([5, 10, 20], 0, 100);
/// let zip = Hierarchy::prefix([4, 3, 2]);
/// let job = Hierarchy::paths([["nurse", "care", "*"], ["doctor", "care", "*"], ["cook", "kitchen", "*"]]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Hierarchy {
    pub(super) kind: HierarchyKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum HierarchyKind {
    /// As a policy writes it.
    Written(Setting),
    /// The text of a hierarchy file.
    Tree(String),
}

impl Hierarchy {
    fn written(setting: Setting) -> Hierarchy {
        Hierarchy { kind: HierarchyKind::Written(setting) }
    }

    /// Numbers in intervals of these widths, from `from` up to but not including `to`; values outside are pooled.
    pub fn intervals<W: Into<Setting>, B: Into<Setting>>(
        widths: impl IntoIterator<Item = W>,
        from: B,
        to: B,
    ) -> Hierarchy {
        numbers("intervals", widths, from, to)
    }

    /// Numbers in the intervals between these cuts, from `from` up to but not including `to`.
    pub fn cuts<C: Into<Setting>, B: Into<Setting>>(cuts: impl IntoIterator<Item = C>, from: B, to: B) -> Hierarchy {
        numbers("cuts", cuts, from, to)
    }

    /// The first characters of a code: of lengths 4, then 3, then 2.
    pub fn prefix(lengths: impl IntoIterator<Item = usize>) -> Hierarchy {
        let lengths: Vec<usize> = lengths.into_iter().collect();
        Hierarchy::written(Setting::keys([("prefix", lengths)]))
    }

    /// Dates in this format (`%Y-%m-%d`): day, month, quarter, year, decade.
    pub fn date(format: &str) -> Hierarchy {
        Hierarchy::written(Setting::keys([("date", format)]))
    }

    /// A hierarchy that is built in (`icd9`, `icd10`, `icd9-procedure`, `pcg`, `cpt`, `place`, `specialty`,
    /// `los`), or a hierarchy file by its path.
    pub fn named(name: &str) -> Hierarchy {
        Hierarchy::written(name.into())
    }

    /// Any hierarchy as a policy writes it.
    pub fn setting(setting: impl Into<Setting>) -> Hierarchy {
        Hierarchy::written(setting.into())
    }

    /// A tree by its leaves: each with its ancestors, the nearest first. All paths have the same length; an uneven
    /// tree repeats a label in neighbouring places.
    pub fn paths<P>(paths: impl IntoIterator<Item = P>) -> Hierarchy
    where
        P: IntoIterator,
        P::Item: AsRef<str>,
    {
        let mut text = String::new();
        for path in paths {
            let labels: Vec<String> = path.into_iter().map(|label| quoted(label.as_ref())).collect();
            text += &labels.join(";");
            text.push('\n');
        }
        Hierarchy { kind: HierarchyKind::Tree(text) }
    }

    /// A tree by the parent of each label: whatever is nobody's parent is a leaf. Paths are made equally long by
    /// repeating the leaf.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// let parents = BTreeMap::from([("nurse", "care"), ("doctor", "care"), ("care", "*"), ("cook", "*")]);
    /// let job = kohort::Hierarchy::parents(&parents);
    /// ```
    pub fn parents<L: AsRef<str> + Ord>(parents: &BTreeMap<L, L>) -> Hierarchy {
        let of: BTreeMap<&str, &str> = parents.iter().map(|(label, up)| (label.as_ref(), up.as_ref())).collect();
        let above: BTreeSet<&str> = of.values().copied().collect();
        let leaves = of.keys().filter(|label| !above.contains(**label));
        let path = |leaf: &&str| -> Vec<String> {
            let mut path = vec![leaf.to_string()];
            let mut label: &str = leaf;
            // A circle would go on for ever; the reader of hierarchies refuses what it is cut to.
            while let Some(up) = of.get(label).filter(|_| path.len() <= of.len()) {
                path.push(up.to_string());
                label = up;
            }
            path
        };
        let mut paths: Vec<Vec<String>> = leaves.map(path).collect();
        let longest = paths.iter().map(Vec::len).max().unwrap_or_default();
        for path in &mut paths {
            let leaf = path[0].clone();
            while path.len() < longest {
                path.insert(0, leaf.clone());
            }
        }
        Hierarchy::paths(paths)
    }
}

fn numbers<V: Into<Setting>, B: Into<Setting>>(
    key: &str,
    values: impl IntoIterator<Item = V>,
    from: B,
    to: B,
) -> Hierarchy {
    let values: Vec<Setting> = values.into_iter().map(Into::into).collect();
    Hierarchy::written(Setting::keys([(key, Setting::from(values)), ("from", from.into()), ("to", to.into())]))
}

/// A label as a hierarchy file writes it.
fn quoted(label: &str) -> String {
    if label.contains([';', ',', '"']) { format!("\"{}\"", label.replace('"', "\"\"")) } else { label.to_string() }
}
