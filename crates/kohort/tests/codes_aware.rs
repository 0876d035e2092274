//! The reader who reasons about the method: every set of records over a few codes is released, and
//! for each release all originals that make it are taken together. Who knows up to m codes of a
//! person then holds each row of each chunk for the person's with some chance; with `aware = true`
//! never above 1/k, without it up to certainty.

use kohort::methods::disassociate::{Asked, Constraints, Params, Subrecords, disassociate};
use kohort_core::records::Records;
use kohort_core::release::{CodeChunk, Node};
use std::collections::BTreeMap;

/// Up to four codes, a bit each.
type Record = u8;

/// An original: its records ascending, in how many orders they can come, and what was released.
struct World {
    records: Vec<Record>,
    orders: u64,
    release: Vec<Node>,
    /// By code of the release: its bit.
    bits: Vec<Record>,
}

fn texts(record: Record) -> Vec<&'static str> {
    ["a", "b", "c", "d"].into_iter().enumerate().filter(|(bit, _)| record >> bit & 1 == 1).map(|(_, t)| t).collect()
}

fn release(records: &[Record], k: u64, m: usize, subrecords: Subrecords, max_cluster: u64) -> World {
    let data = Records::from_texts(records.iter().map(|&r| texts(r)));
    let params = Params { max_cluster: Some(max_cluster), subrecords, ..Params::default() };
    let constraints = Constraints::none();
    let sensitive = vec![false; data.distinct()];
    let asked = Asked { k, m, constraints: &constraints, sensitive: &sensitive };
    let release = disassociate(&data, &asked, &params, 1).nodes;
    let mut orders = (1..=records.len() as u64).product();
    records.chunk_by(|a, b| a == b).for_each(|same| orders /= (1..=same.len() as u64).product::<u64>());
    let bit = |code: u32| 1 << (data.text(code).as_bytes()[0] - b'a');
    World { records: records.to_vec(), orders, release, bits: (0..data.distinct() as u32).map(bit).collect() }
}

impl World {
    fn mask(&self, codes: &[u32]) -> Record {
        codes.iter().fold(0, |mask, &code| mask | self.bits[code as usize])
    }

    /// What a chunk shows, in an order of its own.
    fn chunk(&self, chunk: &CodeChunk) -> String {
        let mut rows: Vec<Record> = chunk.subrecords().map(|s| self.mask(s)).collect();
        rows.sort_unstable();
        format!("{:x}{rows:x?}", self.mask(&chunk.domain))
    }

    /// What a node shows, in an order of its own.
    fn node(&self, node: &Node) -> String {
        let (mut parts, rest) = match node {
            Node::Cluster(c) => {
                let chunks: Vec<String> = c.record_chunks.iter().map(|chunk| self.chunk(chunk)).collect();
                (chunks, format!("{} {:x}", c.size, self.mask(&c.item_chunk)))
            }
            Node::Joint(j) => {
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
    fn chunks<'w>(
        &'w self,
        node: &'w Node,
        path: &str,
        found: &mut Vec<(String, &'w CodeChunk, Vec<u32>)>,
    ) -> Vec<u32> {
        let path = format!("{path}/{}", self.node(node));
        let (own, about) = match node {
            Node::Cluster(c) => (&c.record_chunks, c.records.clone()),
            Node::Joint(j) => {
                (&j.shared_chunks, j.members.iter().flat_map(|member| self.chunks(member, &path, found)).collect())
            }
        };
        for chunk in own {
            found.push((format!("{path}|{}", self.chunk(chunk)), chunk, about.clone()));
        }
        about
    }
}

/// The highest chance with which a row of a chunk is held for a person's, over all originals of so
/// many records, all releases, and everything that may be known, as a fraction.
fn highest(size: usize, k: u64, m: usize, subrecords: Subrecords, max_cluster: u64) -> (u64, u64) {
    let mut worlds: BTreeMap<String, Vec<World>> = BTreeMap::new();
    let mut records: Vec<Record> = vec![1; size];
    loop {
        let world = release(&records, k, m, subrecords, max_cluster);
        worlds.entry(world.text()).or_default().push(world);
        let Some(at) = records.iter().rposition(|&r| r < 15) else { break };
        let next = records[at] + 1;
        records[at..].fill(next);
    }
    let known: Vec<Record> = (0..16u8).filter(|set| set.count_ones() as usize <= m).collect();
    let mut highest = (0, 1);
    for worlds in worlds.values() {
        for &known in &known {
            let (mut people, mut held) = (0, BTreeMap::<(String, Record), (u64, u64)>::new());
            for world in worlds {
                let knows = |record: Record| record & known == known;
                people += world.orders * world.records.iter().filter(|&&r| knows(r)).count() as u64;
                let mut chunks = Vec::new();
                for node in &world.release {
                    world.chunks(node, "", &mut chunks);
                }
                let mut rows: BTreeMap<(String, Record), u64> = BTreeMap::new();
                for (name, chunk, about) in chunks {
                    for row in chunk.subrecords() {
                        *rows.entry((name.clone(), world.mask(row))).or_default() += 1;
                    }
                    let domain = world.mask(&chunk.domain);
                    for record in about.iter().map(|&r| world.records[r as usize]).filter(|&r| knows(r)) {
                        if record & domain != 0 {
                            held.entry((name.clone(), record & domain)).or_default().0 += world.orders;
                        }
                    }
                }
                // The same in every world: they released the same.
                for (row, times) in rows {
                    held.entry(row).or_default().1 = times;
                }
            }
            for (times, rows) in held.into_values() {
                assert!(rows > 0, "whoever has a fragment has a row");
                if times * highest.1 > highest.0 * people * rows {
                    highest = (times, people * rows);
                }
            }
        }
    }
    highest
}

#[test]
fn an_aware_reader_links_nobody_to_a_fragment_beyond_one_in_k() {
    for (size, k, m, max_cluster) in [(4, 2, 1, 4), (4, 2, 2, 8), (5, 2, 2, 4), (5, 2, 2, 8), (6, 3, 2, 6)] {
        let (times, of) = highest(size, k, m, Subrecords::Whole, max_cluster);
        assert!(times > 0 && times * k <= of, "{size} records, k = {k}, m = {m}: {times} / {of}");
    }
}

/// {a, b, c}, {a, b, d}, {a, c, d}: one original alone makes what is released of it.
#[test]
fn without_the_stronger_rule_one_is_certain() {
    let (times, of) = highest(3, 2, 2, Subrecords::UpToM, 4);
    assert_eq!(times, of);
}
