//! The order of nodes in a sweep: nodes with similar item chunks become neighbours.
//!
//! Codes are ranked by the number of nodes that have them, most first; nodes are sorted by the best
//! ranks among their codes. In the example of `mod.rs`, flu has rank 0 because two nodes have it, so
//! A and B both begin with rank 0 and become neighbours.

use super::node::JoinNode;

/// The number of ranks that nodes are compared by.
const LEADING: usize = 8;

/// Sorts nodes by the codes of their item chunks.
pub(super) fn by_item_chunks(nodes: Vec<JoinNode>) -> Vec<JoinNode> {
    let most = nodes.iter().flat_map(|n| n.items.codes.last()).max().map_or(0, |&c| c as usize + 1);
    let mut nodes_with = vec![0u32; most];
    nodes.iter().flat_map(|n| &n.items.codes).for_each(|&code| nodes_with[code as usize] += 1);
    let mut ranked: Vec<u32> = (0..most as u32).filter(|&c| nodes_with[c as usize] > 0).collect();
    ranked.sort_unstable_by_key(|&c| (std::cmp::Reverse(nodes_with[c as usize]), c));
    let mut rank = vec![0u32; most];
    ranked.iter().enumerate().for_each(|(i, &c)| rank[c as usize] = i as u32);
    let key = |node: &JoinNode| {
        let mut leading = [u32::MAX; LEADING];
        for &code in &node.items.codes {
            // Insertion into the few smallest ranks.
            let mut own = rank[code as usize];
            for slot in &mut leading {
                if own < *slot {
                    std::mem::swap(slot, &mut own);
                }
            }
        }
        (leading, node.leaves[0])
    };
    let mut keyed: Vec<_> = nodes.into_iter().map(|node| (key(&node), node)).collect();
    keyed.sort_unstable_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, node)| node).collect()
}
