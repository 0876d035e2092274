//! Compares a release of codes with its original.

use super::RecountedCodes;
use crate::codes::Records;
use crate::number::Fraction;
use crate::release::{ClusterNode, CodeChunk, CodesClaim, Columns};
use crate::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

/// The result of the comparison with the original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodesCompared {
    /// Patients of the original, those without codes included.
    pub patients: u64,
    /// Patients whose codes are in the release.
    pub matched: u64,
    /// Codes over all patients.
    pub occurrences: u64,
    /// Combinations of up to m codes of a patient that were looked for.
    pub combinations: u64,
    /// States how many patients at least could have one of them.
    pub fewest_candidates: u64,
    /// The highest share of a cluster's patients with one sensitive code, as (patients with it, patients
    /// of the cluster). `None`: nothing is claimed about it, or no list of patients was kept.
    pub highest_share: Option<(u64, u64)>,
    /// Facts that could not be shown.
    pub not_shown: Vec<String>,
}

/// More combinations than this are not looked for one by one.
const MOST_COMBINATIONS: u64 = 5_000_000;

fn differs(what: &str) -> Error {
    Error::refused(format!("the release is not that of this original: {what}."))
}

/// Gives the codes of a release the numbers they have in the original.
fn in_codes_of(read: &mut RecountedCodes, records: &Records) -> Result<()> {
    let mut number = Vec::with_capacity(read.texts.len());
    for n in 0..read.texts.len() as u32 {
        let text = String::from_utf8_lossy(read.texts.get(n));
        number.push(records.code(&text).ok_or_else(|| differs("a code of the release does not occur in it"))?);
    }
    if number.len() != records.distinct() {
        return Err(differs("some of its codes are not in the release"));
    }
    read.nodes.iter_mut().for_each(|node| node.renumber(&number));
    Ok(())
}

/// Cluster by cluster: `lines` names the input lines of the patients of each. Every chunk holds just
/// what its patients have, every item chunk the rest.
pub(super) fn row_by_row(
    mut read: RecountedCodes,
    claim: &CodesClaim,
    records: &Records,
    lines: &Path,
) -> Result<CodesCompared> {
    in_codes_of(&mut read, records)?;
    let mut limited = LimitedCodes::new(claim, records);
    let mut labels = ShownLabels::new(records);
    let text = crate::verify::lines::text(lines)?;
    let mut lines = text.lines();
    let mut used = vec![false; records.len()];
    let mut candidates = Candidates { m: claim.m, left: MOST_COMBINATIONS, ..Candidates::default() };
    for node in &read.nodes {
        compare(node, &mut lines, records, &mut used, &mut Vec::new(), (&mut candidates, &mut limited, &mut labels))?;
    }
    if lines.next().is_some() || used.iter().any(|used| !used) {
        return Err(differs("some of its patients are not in any cluster"));
    }
    let mut not_shown = Vec::new();
    if candidates.left == 0 {
        not_shown.push(format!(
            "more than {MOST_COMBINATIONS} combinations of codes one by one: the others follow from the counts of their chunks"
        ));
    }
    Ok(CodesCompared {
        patients: records.len() as u64 + records.without_codes,
        matched: records.len() as u64,
        occurrences: records.occurrences() as u64,
        combinations: candidates.counted,
        fewest_candidates: candidates.fewest.unwrap_or(read.recount.smallest_support),
        highest_share: limited.highest,
        not_shown,
    })
}

/// Compares a node with its patients, whom it returns.
fn compare<'a>(
    node: &'a ClusterNode,
    lines: &mut std::str::Lines,
    records: &Records,
    used: &mut [bool],
    above: &mut Vec<&'a CodeChunk>,
    (candidates, limited, labels): (&mut Candidates, &mut LimitedCodes, &mut ShownLabels),
) -> Result<Vec<u32>> {
    match node {
        ClusterNode::Cluster(cluster) => {
            let mut rows = Vec::with_capacity(cluster.size as usize);
            for word in lines.next().unwrap_or_default().split_ascii_whitespace() {
                let line: u64 = word.parse().map_err(|_| differs("private/rows is damaged"))?;
                let row = find(records, line).ok_or_else(|| {
                    differs(
                        "private/rows names a line that does not belong \
                     to a patient",
                    )
                })?;
                if std::mem::replace(&mut used[row as usize], true) {
                    return Err(differs("a patient is in two clusters"));
                }
                rows.push(row);
            }
            if rows.len() != cluster.size as usize {
                return Err(differs("a cluster has a different number of patients"));
            }
            if !labels.cover_all(&cluster.cells, &rows) {
                return Err(differs("a label of a cluster is not that of one of its patients"));
            }
            for chunk in &cluster.record_chunks {
                same_subrecords(chunk, &rows, records)?;
            }
            let chunks = || cluster.record_chunks.iter().chain(above.iter().copied());
            let placed = |code: &u32| chunks().any(|chunk| chunk.domain.binary_search(code).is_ok());
            let mut rest: Vec<u32> = rows.iter().flat_map(|&r| records.get(r as usize)).copied().collect();
            rest.sort_unstable();
            rest.dedup();
            rest.retain(|code| !placed(code));
            if rest != cluster.item_chunk {
                return Err(differs(
                    "an item chunk differs from the codes that its patients have besides the other \
                     chunks",
                ));
            }
            limited.count(&rows, records)?;
            candidates.look(&rows, &chunks().collect::<Vec<_>>(), u64::from(cluster.size), records);
            Ok(rows)
        }
        ClusterNode::Joint(joint) => {
            let depth = above.len();
            above.extend(&joint.shared_chunks);
            let mut rows = Vec::new();
            for member in &joint.members {
                rows.extend(compare(member, lines, records, used, above, (candidates, limited, labels))?);
            }
            above.truncate(depth);
            for chunk in &joint.shared_chunks {
                same_subrecords(chunk, &rows, records)?;
            }
            Ok(rows)
        }
    }
}

fn find(records: &Records, line: u64) -> Option<u32> {
    let (mut low, mut high) = (0, records.len());
    while low < high {
        let middle = (low + high) / 2;
        if records.line(middle) < line { low = middle + 1 } else { high = middle }
    }
    (low < records.len() && records.line(low) == line).then_some(low as u32)
}

/// The subrecords of a chunk are its patients' codes of its domain, as a multiset.
fn same_subrecords(chunk: &CodeChunk, rows: &[u32], records: &Records) -> Result<()> {
    let own = |row: &u32| -> Vec<u32> {
        let codes = records.get(*row as usize).iter().copied();
        codes.filter(|code| chunk.domain.binary_search(code).is_ok()).collect()
    };
    let mut original: Vec<Vec<u32>> = rows.iter().map(own).filter(|codes| !codes.is_empty()).collect();
    let mut released: Vec<Vec<u32>> = chunk.subrecords().map(<[u32]>::to_vec).collect();
    released.iter_mut().for_each(|codes| codes.sort_unstable());
    original.sort_unstable();
    released.sort_unstable();
    if original == released { Ok(()) } else { Err(differs("a chunk differs from the codes of its patients")) }
}

/// The labels that clusters show, compared with the quasi-identifiers of patients.
struct ShownLabels<'a> {
    records: &'a Records,
    /// For each column and label: by value, whether it may show this label.
    known: Vec<HashMap<Box<str>, Vec<bool>>>,
}

impl<'a> ShownLabels<'a> {
    fn new(records: &'a Records) -> ShownLabels<'a> {
        let columns = records.demographics.as_ref().map_or(0, |own| own.quasi.len());
        ShownLabels { records, known: vec![HashMap::new(); columns] }
    }

    /// Returns whether these cells are labels of a record, on levels that the policy permits.
    fn cover(&mut self, cells: &[Box<str>], record: u32) -> bool {
        let Some((own, tuple)) = self.records.demographics.as_ref().zip(self.records.tuple(record as usize)) else {
            return cells.is_empty();
        };
        cells.len() == own.quasi.len()
            && cells.iter().enumerate().all(|(q, cell)| {
                let quasi = &own.quasi[q];
                if !self.known[q].contains_key(cell) {
                    let values = 0..own.tuples.dictionaries[q].len() as u32;
                    let by_value = values.map(|value| quasi.label_shown(value, cell).is_some());
                    self.known[q].insert(cell.clone(), by_value.collect());
                }
                self.known[q][cell][own.tuples.code(tuple, q) as usize]
            })
    }

    fn cover_all(&mut self, cells: &[Box<str>], records: &[u32]) -> bool {
        records.iter().all(|&record| self.cover(cells, record))
    }
}

/// The limit on sensitive codes, counted on the patients of each cluster.
struct LimitedCodes {
    max: Option<Fraction>,
    sensitive: Vec<bool>,
    counts: Vec<u64>,
    highest: Option<(u64, u64)>,
}

impl LimitedCodes {
    fn new(claim: &CodesClaim, records: &Records) -> LimitedCodes {
        let sensitive = super::sensitive_codes(records.texts().map(str::as_bytes), &claim.sensitive);
        LimitedCodes { max: claim.confidence, sensitive, counts: vec![0; records.distinct()], highest: None }
    }

    /// Counts the sensitive codes of a cluster's patients; refuses more than is claimed.
    fn count(&mut self, rows: &[u32], records: &Records) -> Result<()> {
        let Some(max) = self.max else { return Ok(()) };
        let of_rows = rows.iter().flat_map(|&row| records.get(row as usize)).map(|&code| code as usize);
        let own: Vec<usize> = of_rows.filter(|&code| self.sensitive[code]).collect();
        own.iter().for_each(|&code| self.counts[code] += 1);
        let hits = own.iter().map(|&code| self.counts[code]).max().unwrap_or(0);
        own.iter().for_each(|&code| self.counts[code] = 0);
        let size = rows.len() as u64;
        if !max.allows(hits, size) {
            return Err(differs("more patients of a cluster have a sensitive code than the certificate allows"));
        }
        let higher =
            |(before, of): (u64, u64)| u128::from(hits) * u128::from(of) > u128::from(before) * u128::from(size);
        if self.highest.is_none_or(higher) {
            self.highest = Some((hits, size));
        }
        Ok(())
    }
}

/// The number of patients who could have what is known of one.
#[derive(Default)]
struct Candidates {
    m: usize,
    left: u64,
    counted: u64,
    fewest: Option<u64>,
}

impl Candidates {
    /// Every combination of m codes of every patient of a cluster: as many patients of it could have
    /// it as its rarest part allows. Parts are laid over one another; codes of the item chunk may be
    /// everybody's.
    fn look(&mut self, rows: &[u32], chunks: &[&CodeChunk], size: u64, records: &Records) {
        if self.left == 0 {
            return;
        }
        let chunks: Vec<Columns> = chunks.iter().map(|chunk| Columns::new(chunk)).collect();
        let mut part = Vec::new();
        for &row in rows {
            let codes = records.get(row as usize);
            let chunk_of: Vec<Option<usize>> =
                codes.iter().map(|&code| chunks.iter().position(|c| c.holds(code))).collect();
            combinations(codes.len(), self.m, &mut |places| {
                if self.left == 0 {
                    return;
                }
                self.left -= 1;
                self.counted += 1;
                let mut found = size;
                for (i, &place) in places.iter().enumerate() {
                    let Some(own) = chunk_of[place] else { continue };
                    if places[..i].iter().any(|&p| chunk_of[p] == Some(own)) {
                        continue;
                    }
                    part.clear();
                    part.extend(places[i..].iter().filter(|&&p| chunk_of[p] == Some(own)).map(|&p| codes[p]));
                    found = found.min(chunks[own].with_all(&part));
                }
                self.fewest = Some(self.fewest.map_or(found, |f| f.min(found)));
            });
        }
    }
}

/// Every choice of `m` of `n` places; all of them where there are no more.
fn combinations(n: usize, m: usize, each: &mut dyn FnMut(&[usize])) {
    let m = m.min(n);
    let mut places: Vec<usize> = (0..m).collect();
    loop {
        each(&places);
        let Some(i) = (0..m).rev().find(|&i| places[i] < n - m + i) else { return };
        places[i] += 1;
        (i + 1..m).for_each(|j| places[j] = places[j - 1] + 1);
    }
}

/// Without a map of patients: every code is as frequent as the release allows, and every combination
/// of m codes of every patient could be k patients' of one cluster.
pub(super) fn as_multisets(mut read: RecountedCodes, claim: &CodesClaim, records: &Records) -> Result<CodesCompared> {
    in_codes_of(&mut read, records)?;
    if read.recount.patients != records.len() as u64 {
        return Err(differs("it has a different number of patients with codes"));
    }
    let supports = records.supports();
    let limited = LimitedCodes::new(claim, records);
    // By code: the least and the most records that may hold it; and the clusters that do.
    let mut bounds = vec![(0u64, 0u64); records.distinct()];
    let mut leaves: Vec<SearchedCluster> = Vec::new();
    let mut columns: HashMap<*const CodeChunk, Rc<Columns>> = HashMap::new();
    let mut holders: Vec<Vec<u32>> = vec![Vec::new(); records.distinct()];
    let mut labels = ShownLabels::new(records);
    may_show(&read.nodes, &mut labels)?;
    for node in &read.nodes {
        for (chunk, ..) in node.chunks() {
            for subrecord in chunk.subrecords() {
                for &code in subrecord {
                    bounds[code as usize].0 += 1;
                    bounds[code as usize].1 += 1;
                }
            }
        }
        node.walk(&mut |cluster, above| {
            let number = leaves.len() as u32;
            let chunks: Vec<&CodeChunk> =
                cluster.record_chunks.iter().chain(above.iter().map(|(chunk, _)| *chunk)).collect();
            for &code in chunks.iter().flat_map(|chunk| &chunk.domain).chain(&cluster.item_chunk) {
                holders[code as usize].push(number);
            }
            for &code in &cluster.item_chunk {
                bounds[code as usize].0 += 1;
                let size = u64::from(cluster.size);
                // Within the limit on sensitive codes, no more than that share of the cluster has it.
                let max = limited.max.filter(|_| limited.sensitive[code as usize]);
                bounds[code as usize].1 += max.map_or(size, |max| max.of(size));
            }
            let chunks = chunks.into_iter().map(|chunk| {
                let key = std::ptr::from_ref(chunk);
                Rc::clone(columns.entry(key).or_insert_with(|| Rc::new(Columns::new(chunk))))
            });
            leaves.push(SearchedCluster {
                chunks: chunks.collect(),
                items: &cluster.item_chunk,
                cells: &cluster.cells,
                size: u64::from(cluster.size),
            });
        });
    }
    for (&(least, most), support) in bounds.iter().zip(supports) {
        if u64::from(support) < least || u64::from(support) > most {
            return Err(differs("a code is more or less frequent in it than the release allows"));
        }
    }
    let (mut seen, mut left) = (HashSet::<(usize, Vec<u32>)>::new(), MOST_COMBINATIONS);
    let mut fewest: Option<u64> = None;
    let mut lacking = false;
    for (number, record) in records.iter().enumerate() {
        let tuple = records.tuple(number).unwrap_or(0);
        combinations(record.len(), claim.m, &mut |places| {
            if left == 0 || lacking {
                return;
            }
            left -= 1;
            let known: Vec<u32> = places.iter().map(|&p| record[p]).collect();
            let known = (tuple, known);
            if seen.contains(&known) {
                return;
            }
            let rarest = known.1.iter().min_by_key(|&&code| holders[code as usize].len());
            let mut best = 0;
            for &leaf in rarest.map_or(&[][..], |&code| &holders[code as usize]) {
                let leaf = &leaves[leaf as usize];
                if labels.cover(leaf.cells, number as u32) {
                    best = best.max(leaf.candidates(&known.1));
                }
                if best >= claim.k.get() {
                    break;
                }
            }
            lacking |= best < claim.k.get();
            fewest = Some(fewest.map_or(best, |f| f.min(best)));
            seen.insert(known);
        });
    }
    if lacking {
        return Err(differs("a combination of a patient's codes could belong to fewer than k patients"));
    }
    let mut not_shown =
        vec!["that every chunk holds the codes of its own patients: no list of patients was kept".to_string()];
    if records.demographics.is_some() {
        not_shown
            .push("that the labels of a cluster are those of its own patients: no list of patients was kept".into());
    }
    if claim.confidence.is_some() {
        not_shown.push("how many patients of each cluster have a sensitive code: no list of patients was kept".into());
    }
    if left == 0 {
        not_shown.push("every combination of codes one by one: there are too many".into());
    }
    Ok(CodesCompared {
        patients: records.len() as u64 + records.without_codes,
        matched: records.len() as u64,
        occurrences: records.occurrences() as u64,
        combinations: seen.len() as u64,
        fewest_candidates: fewest.unwrap_or(0),
        highest_share: None,
        not_shown,
    })
}

/// Refuses labels that more patients show than could: without a list of patients, each combination of labels must be
/// that of as many patients as show it, and every patient must have one.
fn may_show(nodes: &[ClusterNode], labels: &mut ShownLabels) -> Result<()> {
    let records = labels.records;
    let Some(own) = &records.demographics else { return Ok(()) };
    let mut first: Vec<Option<u32>> = vec![None; own.tuples.len()];
    for record in 0..records.len() {
        if let Some(tuple) = records.tuple(record) {
            first[tuple].get_or_insert(record as u32);
        }
    }
    let mut shown: HashMap<&[Box<str>], u64> = HashMap::new();
    for leaf in nodes.iter().flat_map(ClusterNode::leaves) {
        *shown.entry(&leaf.cells).or_default() += u64::from(leaf.size);
    }
    let mut has_label = vec![false; own.tuples.len()];
    for (cells, patients) in shown {
        let mut could = 0;
        for (tuple, record) in first.iter().enumerate().filter_map(|(tuple, record)| record.map(|r| (tuple, r))) {
            if labels.cover(cells, record) {
                could += own.tuples.weights[tuple];
                has_label[tuple] = true;
            }
        }
        if could < patients {
            return Err(differs("fewer of its patients could show some labels than the release has"));
        }
    }
    match has_label.iter().all(|has| *has) {
        true => Ok(()),
        false => Err(differs("the quasi-identifiers of a patient are under no labels of the release")),
    }
}

/// A cluster as its patients may be looked for.
struct SearchedCluster<'a> {
    /// Its chunks, shared ones included.
    chunks: Vec<Rc<Columns<'a>>>,
    items: &'a [u32],
    /// The labels that its patients show.
    cells: &'a [Box<str>],
    size: u64,
}

impl SearchedCluster<'_> {
    /// Returns how many of its patients could have all of `known`.
    fn candidates(&self, known: &[u32]) -> u64 {
        let mut placed = known.iter().filter(|code| self.items.binary_search(code).is_ok()).count();
        let mut found = self.size;
        for chunk in &self.chunks {
            let part: Vec<u32> = known.iter().copied().filter(|&code| chunk.holds(code)).collect();
            if !part.is_empty() {
                placed += part.len();
                found = found.min(chunk.with_all(&part));
            }
        }
        if placed == known.len() { found } else { 0 }
    }
}
