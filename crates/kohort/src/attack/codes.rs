//! Attacks on sets of codes: who has the m codes that are known, which further code do they have,
//! and what is certain because a whole cluster shares it.

use super::{Attack, Attacked, Mean, Scene};
use crate::reconstruct::{ItemMode, read_nodes, reconstruct};
use kohort_core::Result;
use kohort_core::codes::{self, Records};
use kohort_core::random::Randomness;
use kohort_core::release::{Cluster, ClusterNode, CodeChunk, CodesClaim};
use kohort_core::shape::Codes;
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub(super) fn attack(scene: &Scene<Codes>, claim: &CodesClaim) -> Result<Attacked> {
    let records = codes::survey(scene.source, scene.policy)?;
    let (texts, mut nodes) = read_nodes(scene.folder, scene.source.threads())?;
    // Numbers of codes as in the records; a code that only the release has cannot be.
    let number: Vec<u32> = (0..texts.len() as u32)
        .map(|n| records.code(&String::from_utf8_lossy(texts.get(n))).unwrap_or(records.distinct() as u32))
        .collect();
    nodes.iter_mut().for_each(|node| node.renumber(&number));
    let mut random = scene.random()?;
    let m = claim.m;
    let known = draw_known(&records, m, scene.trial.targets, &mut random);
    let mut attacked = Attacked::default();
    if known.is_empty() {
        attacked.notes.push(format!("nobody has {m} codes."));
        return Ok(attacked);
    }
    let plain: Vec<Vec<u32>> = records.iter().map(<[u32]>::to_vec).collect();
    let before = Holders::of(&plain);
    let rebuilt = reconstruct(&nodes, claim.k.get(), ItemMode::Rare, &mut random);
    let (shown, rebuilt): (Vec<&[Box<str>]>, Vec<Vec<u32>>) =
        rebuilt.into_iter().map(|patient| (patient.cells, patient.codes)).unzip();
    let after = Holders::of(&rebuilt);
    let clusters: Vec<SeenCluster> = nodes.iter().flat_map(SeenCluster::all).collect();
    let about = if m == 1 { "one code known".to_string() } else { format!("{m} codes known") };
    let about = if records.demographics.is_some() { format!("quasi-identifiers and {about}") } else { about };
    let supports = records.supports();
    let [mut link, mut alone, mut further, mut certain] = [[Mean::default(); 2]; 4];
    let mut usual = Mean::default();
    for (patient, codes) in &known {
        let own: BTreeSet<u32> = records.get(*patient).iter().copied().collect();
        let right = |guess: Option<u32>| f64::from(u8::from(guess.is_some_and(|code| own.contains(&code))));
        // Whoever knows the quasi-identifiers looks only where they fit.
        let mut found = before.with(codes);
        found.retain(|&record| records.tuple(record) == records.tuple(*patient));
        let mut rebuilt_found = after.with(codes);
        rebuilt_found.retain(|&record| records.may_show(*patient, shown[record]));
        let fitting = clusters.iter().filter(|seen| records.may_show(*patient, &seen.cluster.cells));
        let may: Vec<(&SeenCluster, u64)> =
            fitting.map(|seen| (seen, seen.candidates(codes))).filter(|c| c.1 > 0).collect();
        let candidates: u64 = may.iter().map(|c| c.1).sum();
        for (side, n) in [found.len() as u64, candidates].into_iter().enumerate() {
            link[side].add(if n == 0 { 0.0 } else { 1.0 / n as f64 });
            alone[side].add(f64::from(u8::from(n == 1)));
        }
        if own.len() == codes.len() {
            continue;
        }
        further[0].add(right(most_frequent(&plain, &found, codes)));
        further[1].add(right(most_frequent(&rebuilt, &rebuilt_found, codes)));
        usual.add(right(
            (0..supports.len() as u32).filter(|c| !codes.contains(c)).max_by_key(|&c| supports[c as usize]),
        ));
        let all_have = shared(found.iter().map(|&r| plain[r].iter().copied().collect()));
        certain[0].add(right(all_have.iter().copied().find(|c| !codes.contains(c))));
        let told = shared(may.iter().map(|(seen, _)| seen.implied(codes)));
        certain[1].add(right(told.iter().copied().find(|c| !codes.contains(c))));
    }
    let patients = records.len().max(1) as f64;
    for (name, measure, [before, after], baseline) in [
        ("linkage", "average probability of picking the right record", link, Some(1.0 / patients)),
        ("linkage", "people whom exactly one record matches", alone, Some(0.0)),
        ("inference", "people for whom a further code is guessed correctly", further, usual.get()),
        ("cover", "people for whom a further code is certain", certain, Some(0.0)),
    ] {
        attacked.attacks.push(Attack {
            name,
            about: about.clone(),
            measure,
            targets: after.of,
            before: before.get(),
            after: after.get(),
            baseline,
        });
    }
    Ok(attacked)
}

/// Patients, and m of their codes.
fn draw_known(records: &Records, m: usize, most: u64, random: &mut Randomness) -> Vec<(usize, Vec<u32>)> {
    let enough: Vec<usize> = (0..records.len()).filter(|&r| records.get(r).len() >= m).collect();
    let mut known = Vec::new();
    for i in random.sample(enough.len(), most as usize) {
        let own = records.get(enough[i]);
        let codes: Vec<u32> = random.sample(own.len(), m).into_iter().map(|at| own[at]).collect();
        known.push((enough[i], codes));
    }
    known
}

/// Describes who has a code.
struct Holders(HashMap<u32, Vec<usize>>);

impl Holders {
    fn of(records: &[Vec<u32>]) -> Holders {
        let mut holders: HashMap<u32, Vec<usize>> = HashMap::new();
        for (record, codes) in records.iter().enumerate() {
            codes.iter().for_each(|&code| holders.entry(code).or_default().push(record));
        }
        Holders(holders)
    }

    /// Records with all of these, ascending.
    fn with(&self, codes: &[u32]) -> Vec<usize> {
        let mut lists: Vec<&[usize]> = codes.iter().map(|c| self.0.get(c).map_or(&[][..], Vec::as_slice)).collect();
        lists.sort_by_key(|list| list.len());
        let Some((first, rest)) = lists.split_first() else { return Vec::new() };
        first.iter().copied().filter(|r| rest.iter().all(|list| list.binary_search(r).is_ok())).collect()
    }
}

/// The code that most of these records have, beside those known.
fn most_frequent(records: &[Vec<u32>], some: &[usize], known: &[u32]) -> Option<u32> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    let codes = some.iter().flat_map(|&r| &records[r]).filter(|code| !known.contains(code));
    codes.for_each(|&code| *counts.entry(code).or_default() += 1);
    counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0))).map(|(code, _)| code)
}

/// Returns what is in all of these sets.
fn shared(sets: impl Iterator<Item = BTreeSet<u32>>) -> BTreeSet<u32> {
    sets.reduce(|a, b| a.intersection(&b).copied().collect()).unwrap_or_default()
}

/// A cluster with the chunks it has and shares.
struct SeenCluster<'n> {
    cluster: &'n Cluster,
    chunks: Vec<&'n CodeChunk>,
}

impl<'n> SeenCluster<'n> {
    fn all(node: &'n ClusterNode) -> Vec<SeenCluster<'n>> {
        let mut all = Vec::new();
        node.walk(&mut |cluster, above| {
            let own = cluster.record_chunks.iter();
            all.push(SeenCluster { cluster, chunks: own.chain(above.iter().map(|(chunk, _)| *chunk)).collect() });
        });
        all
    }

    /// Returns how many of its patients may have all of these codes: as many as the rarest part allows.
    fn candidates(&self, codes: &[u32]) -> u64 {
        let size = u64::from(self.cluster.size);
        let mut left: Vec<u32> = codes.iter().copied().filter(|c| !self.cluster.item_chunk.contains(c)).collect();
        let mut most = size;
        for chunk in &self.chunks {
            let part: Vec<u32> = left.iter().copied().filter(|c| chunk.domain.contains(c)).collect();
            if !part.is_empty() {
                left.retain(|c| !part.contains(c));
                most = most.min(chunk.support(&part));
            }
        }
        if left.is_empty() { most } else { 0 }
    }

    /// Codes that a patient of this cluster has for certain, if they have these: those that all have,
    /// and those in every fragment that shows what is known.
    fn implied(&self, codes: &[u32]) -> BTreeSet<u32> {
        let mut implied = BTreeSet::new();
        for chunk in &self.chunks {
            let part: Vec<u32> = codes.iter().copied().filter(|c| chunk.domain.contains(c)).collect();
            let whole = chunk.len() as u64 == u64::from(self.cluster.size);
            if part.is_empty() && !whole {
                continue;
            }
            let fragments = chunk.subrecords().filter(|s| part.iter().all(|c| s.contains(c)));
            implied.extend(shared(fragments.map(|s| s.iter().copied().collect())));
        }
        implied
    }
}
