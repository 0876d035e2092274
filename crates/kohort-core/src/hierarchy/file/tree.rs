//! Checks that rows of labels are a tree in which every label means one thing.

use crate::{Error, Result};
use std::collections::{HashMap, HashSet};

/// A parent, and the first line that says so.
type Parents<'a> = HashMap<&'a str, (&'a str, usize)>;

/// Refuses cycles, labels with two parents, and labels that mean two sets of leaves.
pub(super) fn check(name: &str, rows: &[Vec<String>]) -> Result<()> {
    no_cycle(name, rows)?;
    one_parent(name, rows)?;
    one_meaning(name, rows)
}

/// Steps from a label to another one above it, line by line.
fn steps(rows: &[Vec<String>]) -> impl Iterator<Item = (usize, &str, &str)> {
    (1..).zip(rows).flat_map(|(line, row)| {
        let pairs = row.windows(2).filter(|pair| pair[0] != pair[1]);
        pairs.map(move |pair| (line, pair[0].as_str(), pair[1].as_str()))
    })
}

/// Removes labels that have no labels below them, again and again. What remains is on a cycle or above one.
fn no_cycle(name: &str, rows: &[Vec<String>]) -> Result<()> {
    let edges: HashSet<(&str, &str)> = steps(rows).map(|(_, low, high)| (low, high)).collect();
    let mut parents: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut children: HashMap<&str, usize> = HashMap::new();
    for (low, high) in edges {
        parents.entry(low).or_default().push(high);
        *children.entry(high).or_default() += 1;
    }
    let mut free: Vec<&str> = parents.keys().copied().filter(|label| !children.contains_key(label)).collect();
    while let Some(label) = free.pop() {
        for &parent in parents.get(label).into_iter().flatten() {
            let left = children.get(parent).map_or(0, |left| left - 1);
            if left > 0 {
                children.insert(parent, left);
            } else {
                children.remove(parent);
                free.push(parent);
            }
        }
    }
    // Every label that is left has a child that is left, so a walk down comes to a label twice.
    let mut child_of: HashMap<&str, (&str, usize)> = HashMap::new();
    for (line, low, high) in steps(rows).filter(|(_, low, _)| children.contains_key(low)) {
        child_of.entry(high).or_insert((low, line));
    }
    let Some((_, start, _)) = steps(rows).find(|(_, low, _)| children.contains_key(low)) else { return Ok(()) };
    let (mut label, mut seen) = (start, HashSet::new());
    while let Some(&(child, line)) = child_of.get(label) {
        if !seen.insert(label) {
            return Err(Error::yours(format!(
                "{name}, line {line}: a cycle: {label:?} is above {child:?} here, but {child:?} is above {label:?} \
                 on this or another line. Correct one of them, or rename it."
            )));
        }
        label = child;
    }
    Ok(())
}

fn one_parent(name: &str, rows: &[Vec<String>]) -> Result<()> {
    let mut parents = Parents::new();
    for (line, label, parent) in steps(rows) {
        let (known, first) = *parents.entry(label).or_insert((parent, line));
        if known != parent {
            return Err(Error::yours(format!(
                "{name}, line {line}: {label:?} belongs to {parent:?} here, but to {known:?} on line {first}. A \
                 label belongs to one group: correct one of the lines, or use different names."
            )));
        }
    }
    Ok(())
}

fn one_meaning(name: &str, rows: &[Vec<String>]) -> Result<()> {
    let columns = rows.first().map_or(0, Vec::len);
    let mut meaning: HashMap<&str, (usize, Vec<usize>)> = HashMap::new();
    for column in 0..columns {
        let mut here: HashMap<&str, Vec<usize>> = HashMap::new();
        for (line, row) in (1..).zip(rows) {
            here.entry(&row[column]).or_default().push(line);
        }
        let mut here: Vec<(&str, Vec<usize>)> = here.into_iter().collect();
        here.sort_by_key(|(_, lines)| lines[0]);
        for (label, lines) in here {
            let (first, known) = meaning.entry(label).or_insert_with(|| (column, lines.clone()));
            if *known != lines {
                let more = |some: &[usize], than: &[usize]| {
                    some.iter().copied().find(|line| than.binary_search(line).is_err())
                };
                let line = more(&lines, known).or_else(|| more(known, &lines)).unwrap_or(lines[0]);
                return Err(Error::yours(format!(
                    "{name}, line {line}: {label:?} in column {} covers other values than in column {}. Each label \
                     must cover one set of values: rename one of them.",
                    column + 1,
                    *first + 1
                )));
            }
        }
    }
    Ok(())
}
