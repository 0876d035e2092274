//! The paper's worked example, Figure 1 to Figure 10, and the examples of the safety rules.

use super::grid::Grid;
use super::horpart::{Sorted, horpart};
use super::leaf::{ChunkedCluster, split};
use super::refine::{JoinLimits, JoinTree, refine};
use super::rules::{ClusterRules, Covers, FREE, Subrecords};
use super::verpart::{leave_none_empty, verpart};
use super::*;
use kohort_core::error::Kind;
use kohort_core::number::Decimal;
use kohort_core::release::{Cluster, CodeChunk};

/// One thread, and nobody is told anything.
const ALONE: Workers = Workers { threads: 1, progress: &Silent };

/// Figure 1.
const FIGURE_1: [&str; 10] = [
    "296.00 296.01 296.02 834.0 944.01",
    "296.00 296.01 296.02 401.0 692.71 695.10 944.01",
    "296.00 296.02 692.71 695.10 834.0",
    "296.00 296.01 401.0 692.71",
    "296.00 296.01 296.02 692.71 695.10",
    "295.04 296.03 404.00 480.1",
    "294.10 296.03 834.0 944.01",
    "294.10 295.04 296.03 480.1",
    "294.10 295.04 404.00",
    "294.10 295.04 296.03 834.0 944.01",
];

/// Figure 3b.
const CONSTRAINTS: [&str; 5] =
    ["294.10 295.04 296.00 296.01 296.02 296.03", "692.71 695.10", "401.0 404.00", "480.1", "834.0 944.01"];

fn records(rows: &[&str]) -> Records {
    Records::from_texts(rows.iter().map(|r| r.split(' ').filter(|c| !c.is_empty())))
}

fn constraints(records: &Records, sets: &[&str]) -> Constraints {
    let set = |s: &&str| s.split(' ').filter_map(|c| records.code(c)).collect();
    Constraints::new(sets.iter().map(set).collect(), records.distinct())
}

fn rules(k: u32, m: usize, constraint_of: &[u32]) -> ClusterRules<'_> {
    let (subrecords, covers) = (Subrecords::UpToM, Covers::Shown);
    ClusterRules { k, m, constraint_of, sensitive: &[], confidence: None, subrecords, covers }
}

/// Subrecords as sorted text, for comparison as multisets.
fn texts(records: &Records, chunk: &CodeChunk) -> Vec<String> {
    let text = |s: &[u32]| s.iter().map(|&c| records.text(c)).collect::<Vec<_>>().join(" ");
    let mut all: Vec<String> = chunk.subrecords().map(text).collect();
    all.sort();
    all
}

fn names(records: &Records, codes: &[u32]) -> String {
    codes.iter().map(|&c| records.text(c)).collect::<Vec<_>>().join(" ")
}

/// The clusters as they are before refining.
fn leaves(records: &Records, rules: &ClusterRules, clusters: &[&[u32]]) -> Vec<ChunkedCluster> {
    let sorted = Sorted { records, order: all(records) };
    clusters.iter().map(|rows| split(&sorted, rows.to_vec(), rules, &mut Vec::new())).collect()
}

fn all(records: &Records) -> Vec<u32> {
    (0..records.len() as u32).collect()
}

#[test]
fn figure_1_becomes_figure_4() {
    let records = records(&FIGURE_1);
    let sets = constraints(&records, &CONSTRAINTS);
    let rules = rules(3, 2, sets.by_code());
    let sorted = Sorted::new(&records, &all(&records), &rules);
    let mut clusters: Vec<Vec<u32>> = horpart(&sorted, &rules, 6, ALONE);
    clusters.iter_mut().flatten().for_each(|row| *row = sorted.order[*row as usize]);
    clusters.iter_mut().for_each(|rows| rows.sort_unstable());
    clusters.sort();
    assert_eq!(clusters, [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]);
    let found = leaves(&records, &rules, &[&clusters[0], &clusters[1]]);
    assert_eq!(names(&records, &found[0].items.codes), "401.0 834.0 944.01");
    assert_eq!(found[0].chunks.len(), 2);
    let whole = "296.00 296.01 296.02";
    assert_eq!(texts(&records, &found[0].chunks[0]), ["296.00 296.01", whole, whole, whole, "296.00 296.02"]);
    let pair = "692.71 695.10";
    assert_eq!(texts(&records, &found[0].chunks[1]), ["692.71", pair, pair, pair]);
    assert_eq!(names(&records, &found[1].items.codes), "404.00 480.1 834.0 944.01");
    assert_eq!(found[1].chunks.len(), 1);
    let whole = "294.10 295.04 296.03";
    let expected = ["294.10 295.04", whole, whole, "294.10 296.03", "295.04 296.03"];
    assert_eq!(texts(&records, &found[1].chunks[0]), expected);
}

#[test]
fn figure_4_is_refined_to_figure_10() {
    let records = records(&FIGURE_1);
    let sets = constraints(&records, &CONSTRAINTS);
    let asked = CodesRequirements { k: 3, m: 2, constraints: &sets, sensitive: &[], confidence: None };
    let params = Params { max_cluster: Some(6), clusters: Formed::Paper, ..Params::default() };
    for threads in [1, 4] {
        let clusters = disassociate(&records, &asked, &params, threads);
        let [ClusterNode::Joint(joint)] = &clusters.nodes[..] else { panic!("one joint cluster") };
        let [shared] = &joint.shared_chunks[..] else { panic!("one shared chunk") };
        let both = "834.0 944.01";
        assert_eq!(texts(&records, shared), ["834.0", both, both, both, "944.01"]);
        let items = |node: &ClusterNode| match node {
            ClusterNode::Cluster(Cluster { item_chunk, size: 5, .. }) => names(&records, item_chunk),
            _ => panic!("two clusters of five"),
        };
        let mut items: Vec<String> = joint.members.iter().map(items).collect();
        items.sort();
        assert_eq!(items, ["401.0", "404.00 480.1"]);
        // Codes with exact counts: 8 of 13 before refining, 10 of 13 after.
        let exact: usize = clusters.nodes[0].chunks().iter().map(|(chunk, ..)| chunk.domain.len()).sum();
        assert_eq!((exact, records.distinct()), (10, 13));
    }
}

/// S1: a code that one patient has makes no cluster of one.
#[test]
fn no_cluster_is_smaller_than_k() {
    let records = records(&["a b x", "a b", "a b", "b c", "b c", "a c"]);
    let rules = rules(3, 2, &[]);
    let clusters = horpart(&Sorted::new(&records, &all(&records), &rules), &rules, 6, ALONE);
    assert!(clusters.iter().all(|rows| rows.len() >= 3), "{clusters:?}");
    let tiny = disassociate_few(&["x"], 3);
    assert!(tiny.is_err_and(|e| e.message.contains("only 1 patient has a code. At least 2 are needed")));
}

fn disassociate_few(rows: &[&str], k: u64) -> Result<Clusters> {
    let text = format!(
        "[input]\ntable = \"t\"\nlayout = \"list\"\nheader = false\n[columns]\ncolumn1 = {{ role = \"codes\", separator = \" \" }}\n[privacy]\nk = {k}\nknows = 2\n[method]\nname = \"disassociate\"\n"
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t"), rows.join("\n") + "\n").unwrap();
    let file = kohort_core::policy::PolicyFile::parse("p.toml", &text, folder.path())?;
    let source = kohort_core::table::open(&file.input)?;
    let policy = file.bind(&source, &crate::methods::Register::built_in())?.codes()?;
    let params = Params::read(&policy)?;
    let records = kohort_core::codes::survey(&source, &policy)?;
    plan(&records, &policy, &params, 1, &Silent)
}

/// S2: chunks a, a, a and b, b over four patients would force one record with both.
#[test]
fn chunks_that_would_force_an_overlap_give_a_code_to_the_item_chunk() {
    let records = records(&["a b", "a", "a", "b"]);
    let rules = rules(2, 2, &[]);
    let grid = Grid::new(records.iter().collect::<Vec<_>>().into_iter(), &mut Vec::new());
    let mut split = verpart(&grid, &rules);
    assert_eq!((split.chunks.len(), split.items.len()), (2, 0));
    leave_none_empty(&grid, &rules, &mut split);
    assert_eq!((split.chunks, split.items), (vec![vec![0]], vec![1]));
}

/// S4: refining on e would leave a patient of the first cluster whom only the shared chunk can fill.
#[test]
fn refining_that_would_empty_an_item_chunk_is_refused() {
    let records = records(&["e", "b", "b", "a e", "a c"]);
    let rules = rules(2, 2, &[]);
    let found = leaves(&records, &rules, &[&[0, 1, 2], &[3, 4]]);
    let limits = JoinLimits { passes: 16, patients: 1000 };
    let trees = refine(&found, &[0, 0, 0, 1, 1], &rules, limits, ALONE);
    assert_eq!(trees.len(), 2);
    assert!(trees.iter().all(|tree| matches!(tree, JoinTree::Leaf(_))));
    assert_eq!([names(&records, &found[0].items.codes), names(&records, &found[1].items.codes)], ["e", "c e"]);
}

/// GUARANTEES.md: S1 to S6 hold, and only one original fits. S7 leaves nothing of it.
#[test]
fn a_reader_who_reasons_about_the_method_needs_whole_subrecords() {
    let records = records(&["a b c", "a b d", "a c d"]);
    let found = leaves(&records, &rules(2, 2, &[]), &[&[0, 1, 2]]);
    let chunks: Vec<String> = found[0].chunks.iter().map(|c| texts(&records, c).join(", ")).collect();
    assert_eq!(chunks, ["a, a b, a b", "c, c", "d, d"]);
    // Of all originals of three records over four codes no other makes this release.
    let all: Vec<String> = (1..16)
        .map(|mask| {
            "abcd".chars().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|(_, c)| format!("{c} ")).collect()
        })
        .collect();
    let release = |rows: [&str; 3]| {
        let records = self::records(&rows.map(str::trim));
        let (none, params) = (Constraints::none(), Params { clusters: Formed::Paper, ..Params::default() });
        let asked = CodesRequirements { k: 2, m: 2, constraints: &none, sensitive: &[], confidence: None };
        let made = disassociate(&records, &asked, &params, 1);
        let mut text: Vec<String> = made
            .nodes
            .iter()
            .flat_map(|node| node.chunks())
            .map(|(chunk, ..)| texts(&records, chunk).join(","))
            .collect();
        text.extend(
            made.nodes
                .iter()
                .flat_map(|node| node.leaves())
                .map(|leaf| format!("{} {}", leaf.size, names(&records, &leaf.item_chunk))),
        );
        text.sort();
        text
    };
    let shown = release(["a b c", "a b d", "a c d"]);
    let mut fitting = 0;
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate().skip(i) {
            fitting += all.iter().skip(j).filter(|c| release([a, b, c]) == shown).count();
        }
    }
    assert_eq!(fitting, 1);
    let aware = ClusterRules { subrecords: Subrecords::Whole, ..rules(2, 2, &[]) };
    for chunk in &leaves(&records, &aware, &[&[0, 1, 2]])[0].chunks {
        for subrecord in chunk.subrecords() {
            assert!(chunk.subrecords().filter(|s| *s == subrecord).count() >= 2);
        }
    }
}

#[test]
fn no_cover_leaves_no_code_that_tells_another() {
    let records = records(&["a b c", "a b", "a b c", "a c", "a"]);
    let avoided = ClusterRules { covers: Covers::Avoided, ..rules(2, 2, &[]) };
    let found = leaves(&records, &avoided, &[&[0, 1, 2, 3, 4]]);
    assert_eq!(names(&records, &found[0].items.codes), "a");
    let chunks: Vec<String> = found[0].chunks.iter().map(|c| texts(&records, c).join(", ")).collect();
    assert_eq!(chunks, ["b c, b, c"].map(|_| "b, b c, b c, c".to_string()));
}

/// The slow definition of VERPART's test: every itemset of at most m codes, counted.
fn is_safe(chunk: &CodeChunk, k: u64, m: usize) -> bool {
    let n = chunk.domain.len();
    (1u32..1 << n).filter(|mask| mask.count_ones() as usize <= m).all(|mask| {
        let set: Vec<u32> = (0..n).filter(|i| mask >> i & 1 == 1).map(|i| chunk.domain[i]).collect();
        let support = chunk.support(&set);
        support == 0 || support >= k
    })
}

#[test]
fn every_chunk_is_safe_by_the_definition() {
    let mut random = kohort_core::random::Randomness::seeded(7);
    let mut draw = |n: u64| random.below(n);
    for round in 0..400u64 {
        let codes = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let dense = 2 + draw(4);
        let rows: Vec<Vec<&str>> =
            (0..4 + draw(40)).map(|_| codes.into_iter().filter(|_| draw(dense) == 0).collect::<Vec<_>>()).collect();
        let records = Records::from_texts(rows);
        let (k, m) = (2 + round % 3, 1 + (round % 4) as usize);
        if (records.len() as u64) < k {
            continue;
        }
        let sets = if draw(2) == 0 { Constraints::siblings(&records, 2) } else { Constraints::none() };
        let asked = CodesRequirements { k, m, constraints: &sets, sensitive: &[], confidence: None };
        for clusters in [Formed::Paper, Formed::Best] {
            let params = Params { clusters, ..Params::default() };
            let made = disassociate(&records, &asked, &params, 1);
            let other = disassociate(&records, &asked, &params, 3);
            assert_eq!(made.nodes, other.nodes, "one thread is as many");
            let mut seen: Vec<u32> = Vec::new();
            for node in &made.nodes {
                node.chunks().iter().for_each(|(chunk, ..)| assert!(is_safe(chunk, k, m)));
                node.leaves().iter().for_each(|leaf| {
                    assert!(u64::from(leaf.size) >= k && leaf.records.len() == leaf.size as usize);
                    seen.extend(&leaf.records);
                });
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..records.len() as u32).collect::<Vec<_>>(), "every record once");
        }
    }
}

#[test]
fn codes_in_no_constraint_are_free() {
    let records = records(&["a b", "b c"]);
    assert_eq!(constraints(&records, &["a c"]).by_code(), [0, FREE, 0]);
}

/// Random records over open codes, and for each whether it has the sensitive code `z`.
fn drawn(draw: &mut dyn FnMut(u64) -> u64, share: u64) -> (Vec<Vec<&'static str>>, Vec<bool>) {
    let codes = ["a", "b", "c", "d", "e", "f", "g"];
    let patients = 30 + draw(60) as usize;
    let rows = (0..patients).map(|_| {
        let mut own: Vec<&str> = codes.into_iter().filter(|_| draw(3) == 0).collect();
        if own.is_empty() {
            own.push("a");
        }
        own
    });
    let rows = rows.collect();
    (rows, (0..patients).map(|_| draw(100) < share).collect())
}

fn with_z(rows: &[Vec<&'static str>], z: &[bool]) -> (Records, Vec<bool>) {
    let with = |(row, z): (&Vec<&'static str>, &bool)| row.iter().copied().chain(z.then_some("z")).collect::<Vec<_>>();
    let records = Records::from_texts(rows.iter().zip(z).map(with));
    let sensitive = records.texts().map(|text| text == "z").collect();
    (records, sensitive)
}

/// P1: section 7.2 ignores sensitive codes during horizontal partitioning. Whoever has the code, each
/// cluster holds patients with the same other codes.
#[test]
fn sensitive_codes_do_not_decide_who_is_in_which_cluster() {
    let mut random = kohort_core::random::Randomness::seeded(11);
    let mut draw = |n: u64| random.below(n);
    for round in 0..60 {
        let (rows, z) = drawn(&mut draw, 20 + round);
        let formed = |z: &[bool]| {
            let (records, sensitive) = with_z(&rows, z);
            let none = Constraints::none();
            let asked = CodesRequirements { k: 3, m: 2, constraints: &none, sensitive: &sensitive, confidence: None };
            let made = disassociate(&records, &asked, &Params { clusters: Formed::Paper, ..Params::default() }, 1);
            let open = |r: &u32| rows[*r as usize].join(" ");
            let mut clusters: Vec<Vec<String>> = (made.nodes.iter().flat_map(|node| node.leaves()))
                .map(|leaf| {
                    let mut own: Vec<String> = leaf.records.iter().map(open).collect();
                    own.sort();
                    own
                })
                .collect();
            clusters.sort();
            clusters
        };
        let mut turned = z.clone();
        turned.rotate_left(1 + draw(20) as usize);
        assert_eq!(formed(&z), formed(&turned), "round {round}");
    }
    // FINDINGS: with 042 sensitive, one cluster was exactly the patients with HIV.
    let rows: Vec<Vec<&str>> = (0..40).map(|i| if i % 3 == 0 { vec!["a"] } else { vec!["a", "b"] }).collect();
    let z: Vec<bool> = (0..40).map(|i| i % 4 == 0).collect();
    let (records, sensitive) = with_z(&rows, &z);
    let none = Constraints::none();
    let asked = CodesRequirements { k: 3, m: 2, constraints: &none, sensitive: &sensitive, confidence: None };
    let made = disassociate(&records, &asked, &Params { max_cluster: Some(11), ..Params::default() }, 1);
    for leaf in made.nodes.iter().flat_map(|node| node.leaves()) {
        assert!(!leaf.records.iter().all(|&r| z[r as usize]));
    }
}

/// P1: with `confidence`, at most that share of the patients of any cluster has a sensitive code.
#[test]
fn no_cluster_holds_more_of_a_sensitive_code_than_the_confidence() {
    let mut random = kohort_core::random::Randomness::seeded(12);
    let mut draw = |n: u64| random.below(n);
    let mut several = 0;
    for round in 0..200 {
        let (rows, z) = drawn(&mut draw, 10 + round % 30);
        let (records, sensitive) = with_z(&rows, &z);
        let max = Decimal::parse(["0.5", "0.3", "0.25"][round as usize % 3], b'.').and_then(Fraction::from_decimal);
        let sets = if draw(2) == 0 {
            Constraints::new(vec![vec![0, 1], vec![2, 3]], records.distinct())
        } else {
            Constraints::none()
        };
        let hits = z.iter().filter(|z| **z).count() as u64;
        if !max.unwrap().allows(hits, rows.len() as u64) {
            assert_eq!(
                sensitive::must_be_feasible(&records, &sensitive, max.unwrap()).unwrap_err().kind,
                Kind::Infeasible
            );
            continue;
        }
        sensitive::must_be_feasible(&records, &sensitive, max.unwrap()).unwrap();
        let asked = CodesRequirements { k: 3, m: 2, constraints: &sets, sensitive: &sensitive, confidence: max };
        let params = Params { clusters: Formed::Paper, ..Params::default() };
        let made = disassociate(&records, &asked, &params, 1);
        let leaves: Vec<&Cluster> = made.nodes.iter().flat_map(|node| node.leaves()).collect();
        several += usize::from(leaves.len() > 1);
        for leaf in &leaves {
            let hits = leaf.records.iter().filter(|&&r| z[r as usize]).count() as u64;
            assert!(max.unwrap().allows(hits, u64::from(leaf.size)), "round {round}");
        }
        assert_eq!(leaves.iter().map(|leaf| leaf.records.len()).sum::<usize>(), rows.len());
    }
    assert!(several > 20, "{several} releases have several clusters");
}
