//! Every set of records over a few codes is disassociated, and every release is read by everyone:
//! who takes recombinations for equally likely, and who takes all originals that make a release
//! together.

use crate::dice::Dice;
use crate::events::release;
use crate::promise;
use crate::recombine::{Codes, Slots};
use crate::tables::Found;
use kohort::methods::disassociate::{CodesRequirements, Constraints, Covers, Formed, Params, Subrecords, disassociate};
use kohort::pipeline::Options;
use kohort::reconstruct::read_nodes;
use kohort_core::codes::Records;
use kohort_core::number::K;
use kohort_core::release::{ClusterNode, CodeChunk, CodesClaim, guarantee_of_codes};
use kohort_core::table::Silent;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;

/// All originals of so many records over so many codes, and how they are released.
#[derive(Debug, Clone)]
pub struct Universe {
    /// The number of codes.
    pub codes: u32,
    /// The number of records.
    pub records: usize,
    /// k.
    pub k: u64,
    /// m.
    pub m: usize,
    /// The method's parameters.
    pub params: Params,
    /// States how likely each record is, in proportion; the first is the empty one.
    pub likely: Vec<f64>,
}

impl Universe {
    /// One in which all records are equally likely.
    pub fn even(codes: u32, records: usize, (k, m): (u64, usize), params: Params) -> Universe {
        Universe { codes, records, k, m, params, likely: vec![1.0; 1 << codes] }
    }

    /// A random one with at most so many originals.
    pub fn random(aware: bool, no_cover: bool, most: u64, dice: &mut Dice) -> Universe {
        loop {
            let (codes, k) = (2 + dice.below(3) as u32, 2 + dice.below(2) as u64);
            let records = k as usize + dice.below(4);
            let max_cluster = dice.one_of(&[None, Some(2 * k), Some(2 * k + 2)]);
            let subrecords = if aware { Subrecords::Whole } else { Subrecords::UpToM };
            let covers = if no_cover { Covers::Avoided } else { Covers::Shown };
            let params = Params { max_cluster, subrecords, covers, ..Params::default() };
            let likely = (0..1 << codes).map(|_| 1.0 + dice.below(3) as f64).collect();
            let universe = Universe { likely, ..Universe::even(codes, records, (k, 1 + dice.below(3)), params) };
            if universe.originals() <= most {
                return universe;
            }
        }
    }

    /// Returns how many originals there are.
    pub fn originals(&self) -> u64 {
        let kinds = (1u64 << self.codes) - 1;
        (0..self.records as u64).fold(1, |count: u64, i| count.saturating_mul(kinds + i).min(1 << 40) / (i + 1))
    }

    /// Returns the claim.
    pub fn claim(&self) -> CodesClaim {
        let k = K::new(self.k).unwrap_or(K::LEAST);
        let (aware, no_cover) = (self.params.subrecords == Subrecords::Whole, self.params.covers == Covers::Avoided);
        CodesClaim { k, m: self.m, aware, no_cover, sensitive: Vec::new(), confidence: None }
    }

    /// Calls `each` with every original: its records, ascending.
    fn each_original(&self, mut each: impl FnMut(&[Codes])) {
        let last = (1 << self.codes) - 1;
        let mut records: Vec<Codes> = vec![1; self.records];
        loop {
            each(&records);
            let Some(at) = records.iter().rposition(|&r| r < last) else { return };
            let next = records[at] + 1;
            records[at..].fill(next);
        }
    }

    fn release(&self, records: &[Codes]) -> World {
        let data = Records::from_texts(records.iter().map(|&r| texts(r)));
        let constraints = Constraints::none();
        let sensitive = vec![false; data.distinct()];
        let asked = CodesRequirements {
            k: self.k,
            m: self.m,
            constraints: &constraints,
            sensitive: &sensitive,
            confidence: None,
        };
        let nodes = disassociate(&data, &asked, &self.params, 1).nodes;
        let bits = (0..data.distinct() as u32).map(|code| bit(data.text(code).as_bytes())).collect();
        self.world(records, nodes, bits)
    }

    /// Returns what the bytes hold that the whole path releases of an original.
    fn by_the_whole_path(&self, records: &[Codes]) -> Result<World, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let at = |name: &str| folder.path().join(name);
        let lines: String = records.iter().map(|&r| texts(r).join(" ") + "\n").collect();
        let Params { clusters, max_cluster, subrecords, covers, .. } = &self.params;
        let mut method =
            format!("aware = {}\nno_cover = {}\n", *subrecords == Subrecords::Whole, *covers == Covers::Avoided);
        method += if *clusters == Formed::Paper { "clusters = \"paper\"\n" } else { "" };
        method += &max_cluster.map_or(String::new(), |most| format!("max_cluster = {most}\n"));
        let policy = format!(
            "[input]\ntable = \"t.csv\"\nlayout = \"list\"\nheader = false\ndelimiter = \",\"\n[columns]\n\
             column1 = {{ role = \"codes\", separator = \" \" }}\n[privacy]\nk = {}\nknows = {}\n\
             [method]\nname = \"disassociate\"\n{method}",
            self.k, self.m
        );
        for (name, text) in [("t.csv", &lines), ("policy.toml", &policy)] {
            fs::write(at(name), text).map_err(|e| e.to_string())?;
        }
        let options = Options { force: false, keep_rows: false, seed: Some(1), threads: 1, progress: Arc::new(Silent) };
        release(&at("policy.toml"), &at("out"), &options).map_err(|e| format!("{e}\n{policy}{lines}"))?;
        let (texts, nodes) = read_nodes(&at("out"), 1).map_err(|e| e.to_string())?;
        let bits = (0..texts.len() as u32).map(|code| bit(texts.get(code))).collect();
        Ok(self.world(records, nodes, bits))
    }

    fn world(&self, records: &[Codes], release: Vec<ClusterNode>, bits: Vec<Codes>) -> World {
        let mut weight: f64 = (1..=records.len()).map(|n| n as f64).product();
        for same in records.chunk_by(|a, b| a == b) {
            weight /= (1..=same.len()).map(|n| n as f64).product::<f64>();
            weight *= self.likely[same[0] as usize].powi(same.len() as i32);
        }
        World { records: records.to_vec(), weight, release, bits }
    }
}

/// The codes of a record.
fn texts(record: Codes) -> Vec<&'static str> {
    let all = ["a", "b", "c", "d", "e", "f", "g", "h"].into_iter().enumerate();
    all.filter(|(bit, _)| record >> bit & 1 == 1).map(|(_, text)| text).collect()
}

/// The bit of a code.
fn bit(text: &[u8]) -> Codes {
    1 << (text[0] - b'a')
}

/// An original: its records, how likely it is, and what was released.
struct World {
    records: Vec<Codes>,
    weight: f64,
    release: Vec<ClusterNode>,
    /// One entry per code of the release: its bit.
    bits: Vec<Codes>,
}

impl World {
    fn mask(&self, codes: &[u32]) -> Codes {
        codes.iter().fold(0, |mask, &code| mask | self.bits[code as usize])
    }

    /// Returns what a chunk shows, in an order of its own.
    fn chunk(&self, chunk: &CodeChunk) -> String {
        let mut rows: Vec<Codes> = chunk.subrecords().map(|s| self.mask(s)).collect();
        rows.sort_unstable();
        format!("{:x}{rows:x?}", self.mask(&chunk.domain))
    }

    /// Returns what a node shows, in an order of its own.
    fn node(&self, node: &ClusterNode) -> String {
        let (mut parts, rest) = match node {
            ClusterNode::Cluster(c) => {
                let chunks: Vec<String> = c.record_chunks.iter().map(|chunk| self.chunk(chunk)).collect();
                (chunks, format!("{} {:x}", c.size, self.mask(&c.item_chunk)))
            }
            ClusterNode::Joint(j) => {
                let members = j.members.iter().map(|member| self.node(member));
                (members.chain(j.shared_chunks.iter().map(|chunk| self.chunk(chunk))).collect(), String::new())
            }
        };
        parts.sort();
        format!("({} {rest})", parts.join(" "))
    }

    fn text(&self) -> String {
        let mut nodes: Vec<String> = self.release.iter().map(|node| self.node(node)).collect();
        nodes.sort();
        nodes.join("\n")
    }

    /// Every chunk under its name, with the records it is about. Chunks that show the same in nodes
    /// that show the same are told apart by nobody: they have one name.
    fn chunks<'w>(&'w self, node: &'w ClusterNode, path: &str, found: &mut Vec<Named<'w>>) -> Vec<u32> {
        let path = format!("{path}/{}", self.node(node));
        let (own, about) = match node {
            ClusterNode::Cluster(c) => (&c.record_chunks, c.records.clone()),
            ClusterNode::Joint(j) => {
                (&j.shared_chunks, j.members.iter().flat_map(|member| self.chunks(member, &path, found)).collect())
            }
        };
        for chunk in own {
            found.push((format!("{path}|{}", self.chunk(chunk)), chunk, about.clone()));
        }
        about
    }
}

/// The first promise to an attacker who does not know the algorithm that the released bytes of one original break, and how many of
/// its nodes are joint, and how many are joint of joint ones.
pub fn plain_of(universe: &Universe, original: &[Codes]) -> Result<(Option<String>, usize, usize), String> {
    let world = universe.by_the_whole_path(original)?;
    let members = |node: &ClusterNode| match node {
        ClusterNode::Joint(joint) => Some(joint.members.iter().any(|m| matches!(m, ClusterNode::Joint(_)))),
        ClusterNode::Cluster(_) => None,
    };
    let joint: Vec<bool> = world.release.iter().filter_map(members).collect();
    let nested = joint.iter().filter(|own| **own).count();
    Ok((plain(universe, &[world]), joint.len(), nested))
}

type Named<'w> = (String, &'w CodeChunk, Vec<u32>);

/// Looks at every original of a universe; one of them also takes the whole path.
pub fn falsify(universe: &Universe, seed: u64) -> Result<Found, String> {
    let mut found = Found::default();
    let by_path = seed % universe.originals();
    let mut failed = None;
    let mut worlds: BTreeMap<String, Vec<World>> = BTreeMap::new();
    universe.each_original(|records| {
        let world = universe.release(records);
        if found.originals == by_path {
            match universe.by_the_whole_path(records) {
                Ok(other) if other.text() == world.text() => found.by_path += 1,
                Ok(other) => failed = Some(format!("the whole path releases {} of {records:x?}", other.text())),
                Err(e) => failed = Some(e),
            }
        }
        found.originals += 1;
        worlds.entry(world.text()).or_default().push(world);
    });
    if let Some(e) = failed {
        return Err(e);
    }
    found.released = found.originals;
    found.releases = worlds.len() as u64;
    let said = guarantee_of_codes(&universe.claim(), &[], true);
    let promised = promise::to_the_aware(&said)?;
    if !said.plain.contains(&format!("non-empty fragment with probability at most 1/{}", universe.k)) {
        return Err(format!("nothing is promised to an attacker who does not know the algorithm: {}", said.plain));
    }
    for (text, worlds) in &worlds {
        // Nobody is told more by one original than by another that was released the same.
        if let Some(what) = plain(universe, worlds) {
            found.broken = Some(format!(
                "to an attacker who does not know the algorithm: {what}\n{}",
                case(universe, text, worlds)
            ));
            return Ok(found);
        }
        let (link, known) = aware(universe, worlds);
        match promised {
            Some(n) => {
                found.of_bound = found.of_bound.max(link * n as f64);
                if link * n as f64 > 1.0 + 1e-9 {
                    let what =
                        format!("to an attacker who knows the algorithm: a link of {link:.4} who knows {known:x}");
                    found.broken = Some(format!("{what}\n{}", case(universe, text, worlds)));
                    return Ok(found);
                }
            }
            None => found.unbounded_link = found.unbounded_link.max(link),
        }
    }
    Ok(found)
}

fn case(universe: &Universe, text: &str, worlds: &[World]) -> String {
    let originals: Vec<&Vec<Codes>> = worlds.iter().map(|w| &w.records).take(3).collect();
    format!("{universe:?}\nrelease {text}\noriginals, a code a bit: {originals:x?}")
}

/// Returns which codes an adversary may know: all sets of at most m.
fn known_sets(universe: &Universe) -> impl Iterator<Item = Codes> {
    let m = universe.m as u32;
    (0..1u32 << universe.codes).filter(move |set| set.count_ones() <= m)
}

/// The first promise to a reader who recombines that a release breaks: a fragment likelier than 1/k
/// in a cluster by itself, or codes of a patient that no data set shows k times.
fn plain(universe: &Universe, worlds: &[World]) -> Option<String> {
    let world = &worlds[0];
    let bit = |code: u32| world.bits[code as usize];
    let clusters: Vec<Slots> = world.release.iter().map(|node| Slots::of(std::slice::from_ref(node), &bit)).collect();
    let asked: BTreeSet<Codes> = known_sets(universe)
        .filter(|&known| known != 0 && worlds.iter().any(|w| w.records.iter().any(|r| r & known == known)))
        .collect();
    for &known in &asked {
        // Guarantee 1 is about what a record shows, and that is found in its own cluster.
        if !clusters.iter().any(|slots| slots.most(known, universe.k as usize) >= universe.k as usize) {
            return Some(format!("no data set that fits has {known:x} {} times", universe.k));
        }
        for (node, slots) in world.release.iter().zip(&clusters) {
            let small = slots.cluster.len() + 2 * slots.items.len() <= 7 && slots.cluster.len() < 6;
            if !matches!(node, ClusterNode::Cluster(_)) || !small {
                continue;
            }
            for chunk in slots.links(known) {
                let highest = chunk[..chunk.len() - 1].iter().fold(0.0, |a: f64, b| a.max(*b));
                if highest * universe.k as f64 > 1.0 + 1e-9 {
                    return Some(format!("a fragment with {highest:.4} who knows {known:x}"));
                }
            }
        }
    }
    None
}

/// Describes what an original shows to who knows it: every chunk, its rows, and the records it is about.
struct Seen<'w> {
    world: &'w World,
    chunks: Vec<(String, Codes, Vec<Codes>, Vec<Codes>)>,
}

impl<'w> Seen<'w> {
    fn of(world: &'w World) -> Seen<'w> {
        let mut chunks = Vec::new();
        world.release.iter().for_each(|node| drop(world.chunks(node, "", &mut chunks)));
        let chunks = chunks.into_iter().map(|(name, chunk, about)| {
            let rows = chunk.subrecords().map(|row| world.mask(row)).collect();
            let about = about.iter().map(|&r| world.records[r as usize]).collect();
            (name, world.mask(&chunk.domain), rows, about)
        });
        Seen { world, chunks: chunks.collect() }
    }
}

/// The highest chance with which a row of a chunk is held for a person's, over all originals that
/// make a release, and everything that may be known.
fn aware(universe: &Universe, worlds: &[World]) -> (f64, Codes) {
    let seen: Vec<Seen> = worlds.iter().map(Seen::of).collect();
    let links = known_sets(universe).map(|known| (link(&seen, known), known));
    links.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
}

/// The same where this is known.
fn link(seen: &[Seen], known: Codes) -> f64 {
    let knows = |record: &&Codes| **record & known == known;
    let (mut people, mut held) = (0.0, BTreeMap::<(&str, Codes), (f64, u64)>::new());
    for Seen { world, chunks } in seen {
        people += world.weight * world.records.iter().filter(knows).count() as f64;
        let mut rows: BTreeMap<(&str, Codes), u64> = BTreeMap::new();
        for (name, domain, own, about) in chunks {
            own.iter().for_each(|&row| *rows.entry((name, row)).or_default() += 1);
            for record in about.iter().filter(knows).filter(|r| **r & domain != 0) {
                held.entry((name, record & domain)).or_default().0 += world.weight;
            }
        }
        // The same in every world: they released the same.
        rows.into_iter().for_each(|(row, times)| held.entry(row).or_default().1 = times);
    }
    let links = held.into_values().map(|(times, rows)| times / people / rows.max(1) as f64);
    links.filter(|_| people > 0.0).fold(0.0, f64::max)
}

/// The chance of the best link for a reader who knows this of a person, where what was released is
/// that of one original: all that make the same are taken together.
pub fn belief(universe: &Universe, original: &[Codes], known: Codes) -> f64 {
    let mut sorted = original.to_vec();
    sorted.sort_unstable();
    let own = universe.release(&sorted).text();
    let mut worlds = Vec::new();
    universe.each_original(|records| {
        let world = universe.release(records);
        if world.text() == own {
            worlds.push(world);
        }
    });
    link(&worlds.iter().map(Seen::of).collect::<Vec<_>>(), known)
}
