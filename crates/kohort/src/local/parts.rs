//! From classes to the plan: which rows of each tuple show which labels.

use super::classes::Grouping;
use super::table::PointTable;
use kohort_core::random::Randomness;
use kohort_core::release::{Plan, Share};

/// The class of rows that are removed.
const REMOVED: u32 = u32::MAX;

/// Makes the plan. Where the rows of a point fall into several classes, it is drawn at random which do:
/// neither their order nor their other columns decide it.
pub fn plan_of(table: &PointTable, grouping: &Grouping, random: &mut Randomness) -> Plan {
    let cohort = table.cohort;
    let mut homes: Vec<Vec<(u32, u64)>> = vec![Vec::new(); table.points.len()];
    for (number, class) in (0..).zip(&grouping.classes) {
        class.members.iter().for_each(|m| homes[m.point as usize].push((number, u64::from(m.rows))));
    }
    for member in &grouping.removed {
        homes[member.point as usize].push((REMOVED, u64::from(member.rows)));
    }
    let mut parts: Vec<Vec<(u32, Share)>> = vec![Vec::new(); cohort.tuples.len()];
    for (point, homes) in (0..).zip(&homes) {
        let tuples = table.tuples(point);
        match homes[..] {
            [(REMOVED, _)] => {}
            [(class, _)] => tuples.iter().for_each(|&t| parts[t as usize].push((class, Share::Whole))),
            _ => {
                let mut left: Vec<u64> = tuples.iter().map(|&t| cohort.tuples.weights[t as usize]).collect();
                for &(class, rows) in homes {
                    let drawn = draw(&mut left, rows, random);
                    for (&tuple, rows) in tuples.iter().zip(drawn) {
                        if rows > 0 && class != REMOVED {
                            parts[tuple as usize].push((class, Share::Rows(rows)));
                        }
                    }
                }
            }
        }
    }
    Plan::coarsened(cohort, grouping.classes.iter().map(|class| table.released(&class.labels)), parts)
}

/// Draws rows without replacement: how many of each tuple.
fn draw(left: &mut [u64], rows: u64, random: &mut Randomness) -> Vec<u64> {
    let mut drawn = vec![0; left.len()];
    let mut all: u64 = left.iter().sum();
    if rows == all {
        return left.iter_mut().map(std::mem::take).collect();
    }
    for _ in 0..rows {
        let mut number = random.below(all);
        all -= 1;
        for (left, drawn) in left.iter_mut().zip(&mut drawn) {
            if number < *left {
                *left -= 1;
                *drawn += 1;
                break;
            }
            number -= *left;
        }
    }
    drawn
}
