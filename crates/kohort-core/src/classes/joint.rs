//! Columns of few labels, joined: one pass over the tuples counts the table of several blocks of
//! columns, and every set within them is a sum over that table.

use super::walk::Walk;
use super::{ColumnCodes, Judge, KnownPeople};
use crate::privacy::Counts;
use std::collections::BTreeMap;

/// The blocks of columns, and the sets to be counted from each table of blocks.
pub(super) struct ColumnBlocks {
    pub(super) jobs: Vec<Job>,
    /// One entry per block: its columns, the last one counts fastest. Behind those that were joined, a block
    /// for each column alone.
    blocks: Vec<Vec<usize>>,
    /// The codes of blocks that were joined.
    joined: Vec<ColumnCodes>,
    /// Labels of each column.
    labels: Vec<usize>,
}

/// Some blocks, and numbers of sets within them that use them all.
pub(super) struct Job {
    blocks: Vec<usize>,
    sets: Vec<usize>,
}

impl ColumnBlocks {
    /// Joins columns where that saves passes: where people add up, and tables over as many blocks
    /// as a set has columns stay below `cells`. Returns the sets that must be counted alone, too.
    pub(super) fn new(crowd: &KnownPeople, sets: &[Vec<usize>], cells: usize) -> (ColumnBlocks, Vec<usize>) {
        let labels: Vec<usize> = crowd.known.iter().map(|c| c.len).collect();
        let longest = sets.iter().map(Vec::len).max().unwrap_or(0);
        // Every cell holds a number for each value of a sensitive column.
        let values = crowd.sensitive.iter().map(|c| c.len.max(1)).max().unwrap_or(1);
        let mut blocks = if sets.len() > 1 { blocks(&labels, longest, cells / values) } else { Vec::new() };
        let joined: Vec<ColumnCodes> = blocks.iter().map(|columns| combine(crowd, columns)).collect();
        let mut block_of = vec![None; labels.len()];
        blocks.iter().enumerate().for_each(|(b, columns)| columns.iter().for_each(|&c| block_of[c] = Some(b)));
        blocks.extend((0..labels.len()).map(|column| vec![column]));
        let table = |own: &[usize]| {
            let size = |b: usize| blocks[b].iter().try_fold(1usize, |size, &c| size.checked_mul(labels[c]));
            own.iter().try_fold(values, |product, &b| product.checked_mul(size(b)?)).unwrap_or(usize::MAX)
        };
        let (mut jobs, mut alone): (BTreeMap<Vec<usize>, Vec<usize>>, Vec<usize>) = (BTreeMap::new(), Vec::new());
        for (number, set) in sets.iter().enumerate() {
            let sorted = |mut blocks: Vec<usize>| {
                blocks.sort_unstable();
                blocks.dedup();
                blocks
            };
            let together = set.iter().map(|&c| block_of[c]).collect::<Option<Vec<usize>>>().map(sorted);
            let singly = sorted(set.iter().map(|&c| joined.len() + c).collect());
            // Without sensitive values a set alone is counted as fast as a table of its columns.
            let most = if crowd.sensitive.is_empty() { 0 } else { dense(crowd) };
            match together.filter(|own| table(own) <= cells) {
                _ if !crowd.people.add_up() => alone.push(number),
                Some(own) => jobs.entry(own).or_default().push(number),
                None if table(&singly) <= most => jobs.entry(singly).or_default().push(number),
                None => alone.push(number),
            }
        }
        let jobs = jobs.into_iter().map(|(blocks, sets)| Job { blocks, sets }).collect();
        (ColumnBlocks { jobs, blocks, joined, labels }, alone)
    }

    pub(super) fn counter<'a>(&'a self, crowd: &'a KnownPeople) -> Counter<'a> {
        let columns: Vec<&ColumnCodes> = self.joined.iter().chain(&crowd.known).collect();
        Counter {
            joint: self,
            crowd,
            walk: Walk::new(columns, crowd.people.tuples(), dense(crowd)),
            tables: Vec::new(),
            class_of: Vec::new(),
            before: Vec::new(),
            sums: Vec::new(),
            sizes: Vec::new(),
            found: Vec::new(),
        }
    }
}

/// No table is larger.
fn dense(crowd: &KnownPeople) -> usize {
    2 * crowd.people.tuples() + (1 << 16)
}

/// Packs columns into blocks of which `longest` make a table of at most `cells`; none if that
/// joins nothing.
fn blocks(labels: &[usize], longest: usize, cells: usize) -> Vec<Vec<usize>> {
    let fits = |size: usize| size.checked_pow(longest as u32).is_some_and(|table| table <= cells);
    let largest = (1..=cells).take_while(|&size| fits(size)).last().unwrap_or(0);
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by_key(|&c| labels[c]);
    let mut blocks: Vec<(usize, Vec<usize>)> = Vec::new();
    for column in order {
        match blocks.last_mut() {
            Some((size, columns)) if *size * labels[column] <= largest => {
                *size *= labels[column];
                columns.push(column);
            }
            _ => blocks.push((labels[column], vec![column])),
        }
    }
    if blocks.len() == labels.len() {
        return Vec::new();
    }
    blocks.into_iter().map(|block| block.1).collect()
}

fn combine(crowd: &KnownPeople, columns: &[usize]) -> ColumnCodes {
    let mut codes = ColumnCodes { of: vec![0; crowd.people.tuples()], len: 1 };
    for &column in columns {
        let own = &crowd.known[column];
        codes.of.iter_mut().zip(&own.of).for_each(|(code, own_code)| *code = *code * own.len as u32 + own_code);
        codes.len *= own.len;
    }
    codes
}

/// Counts one table of blocks after the other.
pub(super) struct Counter<'a> {
    joint: &'a ColumnBlocks,
    crowd: &'a KnownPeople,
    walk: Walk<'a>,
    /// For each sensitive column, or once if there is none: people by cell and value.
    tables: Vec<Vec<u32>>,
    /// One entry per cell of the table: the class of a set it belongs to.
    class_of: Vec<u32>,
    /// The same over fewer columns, while it is made.
    before: Vec<u32>,
    /// People by class of a set and value.
    sums: Vec<u32>,
    /// People by class of a set.
    sizes: Vec<u32>,
    found: Vec<(u32, u64)>,
}

impl Counter<'_> {
    /// Shows the classes of the sets of a job to the judge.
    pub(super) fn count(&mut self, job: &Job, sets: &[Vec<usize>], judge: &mut impl Judge) {
        self.fill(job);
        for &number in &job.sets {
            let classes = self.place(job, &sets[number]);
            self.show(classes, judge);
            judge.end(number);
        }
    }

    /// The table of the job's blocks: the hot loop.
    fn fill(&mut self, job: &Job) {
        let Some((&last, before)) = job.blocks.split_last() else { return self.one_class() };
        let (class, classes, columns) = self.walk.classes_beside(before);
        let (codes, people) = (columns[last], &self.crowd.people.single);
        let cells = classes * codes.len;
        let width = codes.len as u32;
        self.tables.resize(self.crowd.sensitive.len().max(1), Vec::new());
        for table in &mut self.tables {
            table.clear();
        }
        if self.crowd.sensitive.is_empty() {
            let table = &mut self.tables[0];
            table.resize(cells, 0);
            for ((&class, &code), &people) in class.iter().zip(&codes.of).zip(people) {
                table[(class * width + code) as usize] += people;
            }
        }
        for (table, values) in self.tables.iter_mut().zip(&self.crowd.sensitive) {
            table.resize(cells * values.len, 0);
            let most = values.len as u32;
            for (((&class, &code), &people), &value) in class.iter().zip(&codes.of).zip(people).zip(&values.of) {
                table[((class * width + code) * most + value) as usize] += people;
            }
        }
    }

    /// The table over no column at all.
    fn one_class(&mut self) {
        let people = &self.crowd.people.single;
        let table = |values: &ColumnCodes| {
            let mut table = vec![0; values.len];
            values.of.iter().zip(people).for_each(|(&value, people)| table[value as usize] += people);
            table
        };
        self.tables = self.crowd.sensitive.iter().map(table).collect();
        if self.tables.is_empty() {
            self.tables.push(vec![people.iter().sum()]);
        }
    }

    /// Finds the class of each cell over a set of columns; returns how many classes there can be.
    fn place(&mut self, job: &Job, set: &[usize]) -> usize {
        self.class_of.clear();
        self.class_of.push(0);
        // What a label of a column of the set adds to the number of its class.
        let mut weights = vec![0u32; self.joint.labels.len()];
        let mut classes = 1;
        for &column in set {
            // A set that names a column twice has no more classes for it.
            if weights[column] == 0 {
                weights[column] = classes as u32;
                classes *= self.joint.labels[column];
            }
        }
        for &block in &job.blocks {
            for &column in &self.joint.blocks[block] {
                let (labels, weight) = (self.joint.labels[column] as u32, weights[column]);
                std::mem::swap(&mut self.class_of, &mut self.before);
                self.class_of.clear();
                for &class in &self.before {
                    self.class_of.extend((0..labels).map(|label| class + label * weight));
                }
            }
        }
        classes
    }

    /// Sums the tables up to classes.
    fn show(&mut self, classes: usize, judge: &mut impl Judge) {
        let sensitive = &self.crowd.sensitive;
        for (i, table) in self.tables.iter().enumerate() {
            let width = sensitive.get(i).map_or(1, |s| s.len);
            self.sums.clear();
            self.sums.resize(classes * width, 0);
            if width == 1 {
                self.class_of.iter().zip(table).for_each(|(&class, people)| self.sums[class as usize] += people);
            } else {
                for (&class, cell) in self.class_of.iter().zip(table.chunks_exact(width)) {
                    let own = &mut self.sums[class as usize * width..][..width];
                    own.iter_mut().zip(cell).for_each(|(sum, people)| *sum += people);
                }
            }
            if i == 0 {
                self.sizes.clear();
                self.sizes.extend(self.sums.chunks_exact(width).map(|class| class.iter().sum::<u32>()));
                self.sizes.iter().filter(|&&s| s > 0).for_each(|&s| judge.size(u64::from(s)));
            }
            if sensitive.is_empty() {
                return;
            }
            for (class, &size) in self.sums.chunks_exact(width).zip(&self.sizes).filter(|(_, size)| **size > 0) {
                self.found.clear();
                let known = (0u32..).zip(class).skip(1).filter(|(_, people)| **people > 0);
                self.found.extend(known.map(|(value, &people)| (value, u64::from(people))));
                if !self.found.is_empty() {
                    judge.values(i, &Counts { values: &self.found, people: u64::from(size - class[0]) });
                }
            }
        }
    }
}
