//! Objectives that count classes: what the sizes of one node's classes say about finer and coarser nodes.
//!
//! All records of a class stay or go together, and a class that stays at a node lies inside a class that stays at
//! every coarser node (METHOD.md).

use super::objective::Objective;

/// The cost of a node, and lower bounds on the costs of others.
pub(super) struct ClassBounds {
    /// Holds what the node itself costs.
    pub(super) own: u64,
    /// Holds what every finer node costs at least.
    pub(super) finer: u64,
    /// Holds what every coarser node costs at least.
    pub(super) coarser: u64,
}

impl ClassBounds {
    /// From the size of each class and whether it goes. A class that stays has at least `k` of the `rows` records.
    pub(super) fn of(
        objective: Objective,
        rows: u64,
        k: u64,
        classes: impl Iterator<Item = (u64, bool)>,
    ) -> ClassBounds {
        match objective {
            Objective::Discernibility => discernibility(rows, k, classes),
            _ => class_size(rows, k, classes),
        }
    }
}

/// Records minus classes: it orders nodes as records divided by classes does.
fn class_size(rows: u64, k: u64, classes: impl Iterator<Item = (u64, bool)>) -> ClassBounds {
    let (mut stay, mut parts, mut go, mut gone_rows) = (0, 0, 0, 0);
    for (size, goes) in classes {
        if goes {
            go += 1;
            gone_rows += size;
        } else {
            stay += 1;
            parts += size / k;
        }
    }
    ClassBounds {
        own: rows - stay,
        // A class that stays splits into at most one class for every k of its records; one that goes yields none.
        finer: rows - parts,
        // A coarser class that stays contains a class that stays here, or is made of k records that go here.
        coarser: rows - stay - (gone_rows / k).min(go),
    }
}

/// The sum of squared sizes of the classes that stay, and the table's size for every record that goes. The bound from
/// finer nodes and the bound from coarser nodes add up.
fn discernibility(rows: u64, k: u64, classes: impl Iterator<Item = (u64, bool)>) -> ClassBounds {
    let mut bounds = ClassBounds { own: 0, finer: 0, coarser: 0 };
    for (size, goes) in classes {
        // A record that stays shares its class with at least k, and at least with those it is together with here.
        let least = size.max(k);
        bounds.coarser += size * least;
        bounds.own += size * if goes { rows } else { size };
        // What goes here goes at finer nodes, too, where it is together with fewer.
        bounds.finer += size * if goes { rows.saturating_sub(least) } else { 0 };
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The bounds at a node whose classes are the records with the same key; classes below `k` go.
    fn at(objective: Objective, k: u64, records: &[[u32; 3]], key: impl Fn(&[u32; 3]) -> Vec<u32>) -> ClassBounds {
        let mut sizes: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        records.iter().for_each(|record| *sizes.entry(key(record)).or_default() += 1);
        let classes = sizes.values().map(|&size| (size, size < k));
        ClassBounds::of(objective, records.len() as u64, k, classes)
    }

    proptest! {
        #[test]
        fn no_node_between_two_others_costs_less_than_their_bounds(
            records in prop::collection::vec([0u32..3, 0u32..3, 0u32..4], 1..60),
            k in 1u64..7,
        ) {
            let k = k.min(records.len() as u64);
            for objective in [Objective::Discernibility, Objective::ClassSize] {
                let finest = at(objective, k, &records, |r| r.to_vec());
                let between = at(objective, k, &records, |r| r[..2].to_vec());
                let coarsest = at(objective, k, &records, |r| r[..1].to_vec());
                prop_assert!(finest.coarser <= between.own && coarsest.finer <= between.own);
                prop_assert!(between.coarser <= coarsest.own && between.finer <= finest.own);
                if objective == Objective::Discernibility {
                    prop_assert!(finest.coarser + coarsest.finer <= between.own);
                }
            }
        }
    }
}
