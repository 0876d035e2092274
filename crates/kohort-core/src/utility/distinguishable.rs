//! Measures whether synthetic records can be distinguished from real ones. A tree learns from the released columns
//! which records are synthetic, and predicts it for records it has not seen. An outsider has no such list to
//! learn from; if even that tree cannot distinguish them, nobody can from the columns it uses.

use super::classification::feature;
use super::tree::{DecisionTree, Feature, LearningSample};
use crate::Result;
use crate::release::NO_LINE;
use crate::table::{Source, Texts};
use crate::verify::LineFile;
use std::path::Path;

/// Describes how well synthetic records can be distinguished from real ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distinguishable {
    /// The probability that a synthetic record looks more synthetic than a real one: ½ by guessing, 1 if always.
    pub auc: f64,
    /// Synthetic records that were looked at.
    pub synthetic: u64,
    /// Real ones.
    pub real: u64,
}

/// At most so many rows of either kind are looked at: rows leave in random order, so that the first are
/// as good as any.
const MOST_REAL: usize = 20_000;
const MOST_SYNTHETIC: usize = 10_000;
/// With fewer, random differences would often look like an attack.
const FEWEST: usize = 20;
const FOLDS: usize = 5;

/// Measures it on a release whose rows come from these lines of the original; `None`: too few are synthetic.
pub fn distinguish_synthetic(released: &Source, lines: &Path) -> Result<Option<Distinguishable>> {
    let columns = released.columns().len();
    let mut texts = vec![Texts::default(); columns];
    let mut codes: Vec<Vec<u32>> = vec![Vec::new(); columns];
    let mut is_synthetic: Vec<bool> = Vec::new();
    let (mut real, mut synthetic) = (0, 0);
    let mut file = LineFile::open(lines)?;
    released.scan(
        |_| (),
        |(), chunk| Ok(chunk),
        |chunk| {
            for row in 0..chunk.rows() {
                let nobody = file.next()? == NO_LINE;
                let (seen, most) = if nobody { (&mut synthetic, MOST_SYNTHETIC) } else { (&mut real, MOST_REAL) };
                if *seen < most {
                    *seen += 1;
                    is_synthetic.push(nobody);
                    for (c, (texts, codes)) in texts.iter_mut().zip(&mut codes).enumerate() {
                        codes.push(texts.intern(chunk.cell(row, c)));
                    }
                }
            }
            Ok(())
        },
    )?;
    if synthetic < FEWEST || real < FEWEST {
        return Ok(None);
    }
    let features: Vec<Feature> = texts
        .iter()
        .zip(codes)
        .map(|(texts, codes)| {
            let own: Vec<String> =
                (0..texts.len()).map(|n| String::from_utf8_lossy(texts.get(n as u32)).into_owned()).collect();
            feature(&own.iter().map(String::as_str).collect::<Vec<_>>(), codes)
        })
        .collect();
    let auc = auc(scores(&features, &is_synthetic));
    Ok(Some(Distinguishable { auc, synthetic: synthetic as u64, real: real as u64 }))
}

/// For each row: how synthetic it looks to a tree that has not seen it, and whether it is.
fn scores(features: &[Feature], is_synthetic: &[bool]) -> Vec<(f64, bool)> {
    let class: Vec<u32> = is_synthetic.iter().map(|&i| u32::from(i)).collect();
    // Each kind is dealt to the folds in turn.
    let mut next = [0usize; 2];
    let fold: Vec<usize> = class
        .iter()
        .map(|&c| {
            next[c as usize] += 1;
            next[c as usize] % FOLDS
        })
        .collect();
    let mut scores = Vec::with_capacity(class.len());
    for own in 0..FOLDS {
        // As many real ones as synthetic ones, so that neither is the usual answer.
        let learn = |r: &usize| fold[*r] != own;
        let mut left = (0..class.len()).filter(learn).filter(|&r| is_synthetic[r]).count();
        let weight: Vec<u32> = (0..class.len())
            .map(|r| match (learn(&r), is_synthetic[r]) {
                (false, _) => 0,
                (true, true) => 1,
                (true, false) => {
                    let taken = left > 0;
                    left -= usize::from(taken);
                    u32::from(taken)
                }
            })
            .collect();
        let sample = LearningSample { features, class: &class, classes: 2, weight: &weight };
        let Some(tree) = DecisionTree::learn(&sample) else { continue };
        let rows = (0..class.len()).filter(|&r| fold[r] == own);
        scores.extend(rows.map(|r| (tree.share(features, r, 1), is_synthetic[r])));
    }
    scores
}

/// The area under the curve: the probability that a true one scores above a false one; equal scores count half.
fn auc(mut scores: Vec<(f64, bool)>) -> f64 {
    scores.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut wins) = (0u64, 0.0);
    let all = scores.iter().filter(|s| s.1).count() as u64;
    for equal in scores.chunk_by(|a, b| a.0 == b.0) {
        let real = equal.iter().filter(|s| !s.1).count() as u64;
        let synthetic = equal.len() as u64 - real;
        wins += synthetic as f64 * (below as f64 + real as f64 / 2.0);
        below += real;
    }
    if all == 0 || below == 0 { 0.5 } else { wins / (all as f64 * below as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_is_the_share_of_pairs_in_their_order() {
        assert_eq!(auc(vec![(0.1, false), (0.9, true)]), 1.0);
        assert_eq!(auc(vec![(0.5, false), (0.5, true)]), 0.5);
        assert_eq!(auc(vec![(0.2, true), (0.3, false), (0.4, true), (0.4, false)]), (0.0 + 1.5) / 4.0);
    }

    #[test]
    fn a_column_that_marks_the_synthetic_ones_is_found() {
        let is_synthetic: Vec<bool> = (0..400).map(|r| r % 4 == 0).collect();
        let mark = |marked: bool| {
            let of = (0..400).map(|r| if marked { u32::from(is_synthetic[r]) } else { (r / 7 % 3) as u32 }).collect();
            vec![Feature::Categories { of, len: 3 }]
        };
        assert!(auc(scores(&mark(true), &is_synthetic)) > 0.99);
        let blind = auc(scores(&mark(false), &is_synthetic));
        assert!((blind - 0.5).abs() < 0.1, "{blind}");
    }
}
