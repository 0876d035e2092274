//! Single records of a release that was made in memory: some of them before and after, and who is suppressed.

use crate::count::CountedColumn;
use crate::results::{AffectedGroup, Closer};
use crate::studio::Counted;
use kohort::Release;
use kohort::evidence::Metrics;
use kohort::evidence::metrics::Role;
use kohort_core::Result;
use kohort_core::table::{Chunk, Source, TextColumn, open};
use std::collections::HashMap;
use std::path::Path;

/// Example rows that are shown side by side.
const EXAMPLES: usize = 8;
/// Intervals of a column of numbers, and values of another column, that are compared.
const INTERVALS: usize = 6;
const VALUES: usize = 8;
/// Groups that are listed.
const LISTED: usize = 10;

/// Looks at the rows of a release. Only a single table has them.
pub(crate) fn look(
    policy: &Path,
    release: &Release,
    counted: Option<&Counted>,
    threads: usize,
) -> Result<Option<Closer>> {
    let (Ok(released), Some(lines)) = (release.columns(), release.file("private/rows")) else { return Ok(None) };
    let lines: Vec<u64> = String::from_utf8_lossy(lines).lines().filter_map(|line| line.parse().ok()).collect();
    let rows = released.rows().min(lines.len());
    let file = kohort_core::policy::read(policy)?;
    let source = open(&file.input)?.with_threads(threads);
    let quasi = quasi_identifiers(release.metrics());
    let names: Vec<String> = released.names().to_vec();
    // A column that is suppressed in every row says nothing about who is suppressed.
    let differs = |column: &TextColumn| (0..rows).any(|row| column.get(row) != Some("*"));
    let is_quasi = |name: &str| quasi.iter().any(|own| own == name);
    let of_quasi: Vec<&TextColumn> = released
        .columns()
        .filter(|(name, column)| is_quasi(name) && differs(column))
        .map(|(_, column)| column)
        .collect();
    // The line of each released row, and in the last bit whether one of its cells is suppressed.
    let mut marks: Vec<u64> = (0..rows)
        .map(|row| (lines[row] << 1) | u64::from(of_quasi.iter().any(|column| column.get(row) == Some("*"))))
        .collect();
    marks.sort_unstable();
    let step = (rows / EXAMPLES).max(1);
    let places: Vec<usize> = (0..rows).step_by(step).filter(|&row| lines[row] > 0).take(EXAMPLES).collect();
    let wanted: HashMap<u64, usize> = places.iter().map(|&row| (lines[row], row)).collect();
    let columns: Vec<Option<usize>> =
        names.iter().map(|name| source.columns().iter().position(|c| c == name)).collect();
    let groups = Groups::of(&source, &quasi, counted);
    let mut found = FoundRecords { originals: HashMap::new(), tally: RemovedByGroup::new(&groups) };
    source.scan(
        |_| (),
        |(), chunk| {
            let mut part = FoundRecords { originals: HashMap::new(), tally: RemovedByGroup::new(&groups) };
            for row in 0..chunk.rows() {
                let line = chunk.line(row);
                if let Some(&place) = wanted.get(&line) {
                    part.originals.insert(place, columns.iter().map(|&c| text(&chunk, row, c)).collect());
                }
                let fate = match marks.partition_point(|&mark| mark >> 1 < line) {
                    at if marks.get(at).is_some_and(|mark| mark >> 1 == line) => match marks[at] & 1 {
                        0 => Fate::Released,
                        _ => Fate::Blanked,
                    },
                    _ => Fate::Removed,
                };
                part.tally.add(&groups, &chunk, row, fate);
            }
            Ok(part)
        },
        |part| {
            found.originals.extend(part.originals);
            found.tally.merge(part.tally);
            Ok(())
        },
    )?;
    let pairs = places.iter().filter_map(|&row| {
        let after = released.columns().map(|(_, column)| column.get(row).unwrap_or_default().to_string()).collect();
        Some((found.originals.remove(&row)?, after))
    });
    Ok(Some(Closer {
        names: names.clone(),
        rows: pairs.collect(),
        records: found.tally.records,
        removed: found.tally.removed,
        blanked: found.tally.blanked,
        affected: found.tally.affected(&groups),
    }))
}

fn text(chunk: &Chunk, row: usize, column: Option<usize>) -> String {
    column.map_or(String::new(), |c| String::from_utf8_lossy(chunk.cell(row, c)).into_owned())
}

/// The quasi-identifiers of a release.
fn quasi_identifiers(metrics: &Metrics) -> Vec<String> {
    let Metrics::Table(own) = metrics else { return Vec::new() };
    own.columns.iter().filter(|column| column.role == Role::Quasi).map(|column| column.name.clone()).collect()
}

/// The fate of a record.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Released,
    Blanked,
    Removed,
}

/// The groups of records that are compared: intervals of numbers, or the most frequent values.
struct Groups {
    columns: Vec<GroupedColumn>,
}

struct GroupedColumn {
    name: String,
    column: usize,
    kind: GroupKind,
}

enum GroupKind {
    Intervals(f64, f64),
    Values(Vec<String>),
}

impl Groups {
    fn of(source: &Source, quasi: &[String], counted: Option<&Counted>) -> Groups {
        let table = counted.and_then(|counted| counted.tables.first());
        let grouped = |name: &String| {
            let column = source.columns().iter().position(|own| own == name)?;
            let counted: &CountedColumn = table?.columns.iter().find(|own| own.name == *name)?;
            let kind = match counted.range {
                Some((low, high)) if counted.distinct > VALUES as u64 => GroupKind::Intervals(low, high),
                _ => {
                    let mut values = counted.values.clone();
                    values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
                    GroupKind::Values(values.into_iter().take(VALUES).map(|(value, _)| value).collect())
                }
            };
            Some(GroupedColumn { name: name.clone(), column, kind })
        };
        Groups { columns: quasi.iter().filter_map(grouped).collect() }
    }
}

impl GroupedColumn {
    fn groups(&self) -> usize {
        match &self.kind {
            GroupKind::Intervals(..) => INTERVALS,
            GroupKind::Values(values) => values.len() + 1,
        }
    }

    fn group(&self, cell: &[u8]) -> Option<usize> {
        let text = std::str::from_utf8(cell).ok()?;
        match &self.kind {
            GroupKind::Intervals(low, high) => {
                let number = text.trim().parse::<f64>().ok()?;
                let place = (number - low) / (high - low).max(f64::MIN_POSITIVE) * INTERVALS as f64;
                Some((place.max(0.0) as usize).min(INTERVALS - 1))
            }
            GroupKind::Values(values) => Some(values.iter().position(|own| own == text).unwrap_or(values.len())),
        }
    }

    fn label(&self, group: usize) -> String {
        match &self.kind {
            GroupKind::Intervals(low, high) => {
                let edge = |n: usize| low + (high - low) * n as f64 / INTERVALS as f64;
                let short = |x: f64| if (high - low) >= 12.0 { format!("{x:.0}") } else { format!("{x:.2}") };
                format!("from {} to {}", short(edge(group)), short(edge(group + 1)))
            }
            GroupKind::Values(values) => values.get(group).cloned().unwrap_or_else(|| "less frequent values".into()),
        }
    }
}

struct FoundRecords {
    originals: HashMap<usize, Vec<String>>,
    tally: RemovedByGroup,
}

/// Records, and those that are suppressed, by group.
struct RemovedByGroup {
    records: u64,
    removed: u64,
    blanked: u64,
    groups: Vec<Vec<(u64, u64)>>,
}

impl RemovedByGroup {
    fn new(groups: &Groups) -> RemovedByGroup {
        let groups = groups.columns.iter().map(|column| vec![(0, 0); column.groups()]).collect();
        RemovedByGroup { records: 0, removed: 0, blanked: 0, groups }
    }

    fn add(&mut self, groups: &Groups, chunk: &Chunk, row: usize, fate: Fate) {
        self.records += 1;
        self.removed += u64::from(fate == Fate::Removed);
        self.blanked += u64::from(fate == Fate::Blanked);
        for (column, counts) in groups.columns.iter().zip(&mut self.groups) {
            if let Some(group) = column.group(chunk.cell(row, column.column)) {
                counts[group].0 += 1;
                counts[group].1 += u64::from(fate != Fate::Released);
            }
        }
    }

    fn merge(&mut self, part: RemovedByGroup) {
        self.records += part.records;
        self.removed += part.removed;
        self.blanked += part.blanked;
        for (own, part) in self.groups.iter_mut().flatten().zip(part.groups.iter().flatten()) {
            *own = (own.0 + part.0, own.1 + part.1);
        }
    }

    /// The groups whose share of the suppressed is larger than their share of all, the largest difference first.
    fn affected(&self, groups: &Groups) -> Vec<AffectedGroup> {
        let suppressed = self.removed + self.blanked;
        if suppressed == 0 {
            return Vec::new();
        }
        let mut affected = Vec::new();
        for (column, counts) in groups.columns.iter().zip(&self.groups) {
            for (group, &(all, hit)) in counts.iter().enumerate() {
                let of_all = all as f64 / self.records.max(1) as f64;
                let of_suppressed = hit as f64 / suppressed as f64;
                // Small differences are no finding.
                if of_suppressed > 1.25 * of_all && of_suppressed - of_all > 0.02 {
                    let (column, label) = (column.name.clone(), column.label(group));
                    affected.push(AffectedGroup { column, label, of_all, of_suppressed });
                }
            }
        }
        affected.sort_by(|a, b| (b.of_suppressed - b.of_all).total_cmp(&(a.of_suppressed - a.of_all)));
        affected.truncate(LISTED);
        affected
    }
}
