//! A national discharge file for benchmarks: the variables of a public-use file and how many
//! categories each has, no diagnosis that means anything.

use std::io::{self, Write};

use super::CellLines;
use super::random::{AliasTable, RowRandomness};

/// Case-mix groups, and diagnoses in all: about sixteen to a group.
const GROUPS: u32 = 545;
const DIAGNOSES: u32 = 8967;
const BLOCKS: u32 = 195;
const CHAPTERS: u32 = 23;
/// Groups of interventions, and interventions in all.
const INTERVENTIONS: u32 = 569;
const DETAILED: u32 = 8780;

/// Writes `count` discharges: region (4), age group (20), gender, diagnosis (8,967), case-mix group
/// (545), block (195), chapter (23), intervention (8,780) and its group (569, 46 % none).
///
/// Groups are as frequent as Zipf's law says. A diagnosis tells its block and chapter, and nearly
/// always its case-mix group. Same count and seed, same bytes.
pub fn write_national(count: u64, seed: u64, out: &mut dyn Write) -> io::Result<()> {
    let zipf = |n: u32| AliasTable::new((1..=n).map(|rank| 1_000_000 / rank));
    let (groups, interventions) = (zipf(GROUPS), zipf(INTERVENTIONS - 1));
    let (within, region) = (zipf(16), AliasTable::new([310, 480, 205, 5]));
    let ages = AliasTable::new(
        (0..20).map(|age| [60, 12, 10, 20, 45, 60, 62, 45, 38, 42, 50, 58, 66, 70, 76, 80, 78, 62, 40, 26][age]),
    );
    let header = "region,age_group,gender,mrdx,cmg,block,chapter,cci,short_cci\n";
    let mut lines = CellLines::new(out, b',', header);
    for row in 0..count {
        let mut random = RowRandomness::of_row(seed, row);
        lines.cell(["East", "Central", "West", "Territories"][region.draw(&mut random)]);
        let age = ages.draw(&mut random) as u32;
        lines.cell(&format!("{:02}-{:02}", age * 5, age * 5 + 4));
        lines.cell(if random.per_mille(540) { "F" } else { "M" });
        let group = groups.draw(&mut random) as u32;
        let diagnosis = if random.per_mille(30) {
            random.below(DIAGNOSES)
        } else {
            // Spread over all diagnoses, so that groups do not follow chapters by their rank.
            (group * 7919 % GROUPS) * DIAGNOSES / GROUPS + within.draw(&mut random) as u32
        };
        let diagnosis = diagnosis.min(DIAGNOSES - 1);
        let block = diagnosis * BLOCKS / DIAGNOSES;
        lines.cell(&format!("D{diagnosis:04}"));
        lines.cell(&format!("G{group:03}"));
        lines.cell(&format!("B{block:03}"));
        lines.cell(&format!("C{:02}", block * CHAPTERS / BLOCKS));
        if random.per_mille(460) {
            lines.cell("none");
            lines.cell("none");
        } else {
            let short = interventions.draw(&mut random) as u32;
            let detailed =
                short * (DETAILED / INTERVENTIONS) + within.draw(&mut random) as u32 % (DETAILED / INTERVENTIONS);
            lines.cell(&format!("I{detailed:04}"));
            lines.cell(&format!("S{short:03}"));
        }
        lines.end()?;
    }
    lines.finish()
}
