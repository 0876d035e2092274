//! HORPART: patients with a frequent code in common come together, until clusters are small.
//!
//! Sensitive codes never decide who is in which cluster (section 7.2 of the paper): no split is made on
//! one, and records that differ in nothing else are dealt evenly. Where a limit on them is asked for
//! (`confidence`), a split that would break it in one of the two parts is not made.

use super::Workers;
use super::rules::{ClusterRules, FREE};
use super::sensitive::Limited;
use kohort_core::codes::Records;
use kohort_core::parallel;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Mutex;

/// Records that are all alike are cut into pieces of about this size.
const ALIKE: usize = 4096;
/// Parts larger than this are for any thread.
const SHARED: usize = 2000;

/// Cuts the records into clusters of fewer than `max_cluster`, none smaller than k (S1). Records
/// are numbered in the order of their codes. Clusters come in the order of their first record.
///
/// Depth can reach the number of records: a stack of our own, no recursion.
/// A run that its caller stops ends with some of them.
pub(crate) fn horpart(records: &Sorted, rules: &ClusterRules, max_cluster: usize, workers: Workers) -> Vec<Vec<u32>> {
    let Workers { threads, progress } = workers;
    let all = RecordsPart { rows: (0..records.len() as u32).collect(), wanted: FREE };
    let open = Mutex::new((vec![all], 0usize));
    let woken = std::sync::Condvar::new();
    let work = || {
        let mut cutter = ChainSplitter::new(records, rules, max_cluster);
        let mut own: Vec<RecordsPart> = Vec::new();
        loop {
            let part = match own.pop() {
                Some(part) => part,
                None => {
                    let Ok(mut state) = open.lock() else { break };
                    loop {
                        if let Some(part) = state.0.pop() {
                            state.1 += 1;
                            break part;
                        }
                        // Nothing is open and nobody works: done.
                        if state.1 == 0 {
                            woken.notify_all();
                            return cutter.clusters;
                        }
                        let Ok(again) = woken.wait(state) else { return cutter.clusters };
                        state = again;
                    }
                }
            };
            let before = cutter.placed;
            match progress.is_cancelled() {
                // What is not cut is dropped, so that every thread comes to its end.
                true => own.clear(),
                false => cutter.cut(part, &mut own),
            }
            progress.advance(cutter.placed - before);
            // Large parts are for everybody.
            if threads > 1
                && own.iter().any(|part| part.rows.len() > SHARED)
                && let Ok(mut state) = open.lock()
            {
                state.0.extend(own.extract_if(.., |part| part.rows.len() > SHARED));
                woken.notify_all();
            }
            if own.is_empty()
                && let Ok(mut state) = open.lock()
            {
                state.1 -= 1;
                woken.notify_all();
            }
        }
        cutter.clusters
    };
    let mut clusters = parallel::workers(threads, work).concat();
    clusters.iter_mut().for_each(|rows| rows.sort_unstable());
    clusters.sort_unstable_by_key(|rows| rows.first().copied());
    clusters
}

/// Records in the order of their codes that are not sensitive: row order changes nothing that follows.
pub(crate) struct Sorted<'a> {
    /// The records.
    pub(crate) records: &'a Records,
    /// For each rank: the record.
    pub(crate) order: Vec<u32>,
}

impl<'a> Sorted<'a> {
    /// Sorts some of them.
    pub(crate) fn new(records: &'a Records, some: &[u32], rules: &ClusterRules) -> Sorted<'a> {
        if !rules.sensitive.is_empty() {
            return Sorted { records, order: order_by_open_codes(records, some, rules) };
        }
        // Most records differ in their first two codes.
        let head = |r: u32| {
            let codes = records.get(r as usize);
            let code = |i: usize| codes.get(i).map_or(0, |&c| u64::from(c) + 1);
            code(0) << 32 | code(1)
        };
        let mut keys: Vec<(u64, u32)> = some.iter().map(|&r| (head(r), r)).collect();
        keys.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| records.get(a.1 as usize).cmp(records.get(b.1 as usize))).then(a.1.cmp(&b.1))
        });
        Sorted { records, order: keys.into_iter().map(|(_, r)| r).collect() }
    }

    /// The codes of the record of a rank.
    pub(crate) fn get(&self, rank: u32) -> &'a [u32] {
        self.records.get(self.order[rank as usize] as usize)
    }

    /// The number of them.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }
}

/// Sorts records by the codes that are not sensitive. Records that differ in nothing else are ordered
/// so that every stretch of them has its share of the sensitive codes (multiples of the golden ratio).
fn order_by_open_codes(records: &Records, some: &[u32], rules: &ClusterRules) -> Vec<u32> {
    let open = |&r: &u32| records.get(r as usize).iter().copied().filter(|&code| !rules.is_sensitive(code));
    let mut order: Vec<u32> = some.to_vec();
    order.sort_unstable_by(|a, b| {
        open(a).cmp(open(b)).then_with(|| records.get(*a as usize).cmp(records.get(*b as usize))).then(a.cmp(b))
    });
    for alike in order.chunk_by_mut(|a, b| open(a).eq(open(b))) {
        let mut spread: Vec<(u64, u32)> =
            alike.iter().enumerate().map(|(i, &r)| ((i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15), r)).collect();
        spread.sort_unstable();
        alike.iter_mut().zip(spread).for_each(|(place, (_, r))| *place = r);
    }
    order
}

/// Records to be split; `wanted` is the constraint whose codes are preferred (the paper's u).
struct RecordsPart {
    rows: Vec<u32>,
    wanted: u32,
}

/// One thread's room.
///
/// A part is split along its whole chain of D2s at once: what is left after each split stays here,
/// so that each record's codes are counted once per chain. Counts only fall on the way.
struct ChainSplitter<'a> {
    records: &'a Sorted<'a>,
    rules: &'a ClusterRules<'a>,
    max_cluster: usize,
    /// For each code: records of what is left that hold it.
    counts: Vec<u32>,
    /// For each code: where its postings start.
    starts: Vec<u32>,
    clusters: Vec<Vec<u32>>,
    /// The number of records in them.
    placed: u64,
    /// The sensitive codes, where a limit on them is asked for.
    limited: Limited,
}

impl<'a> ChainSplitter<'a> {
    fn new(records: &'a Sorted<'a>, rules: &'a ClusterRules<'a>, max_cluster: usize) -> ChainSplitter<'a> {
        let codes = records.records.distinct();
        ChainSplitter {
            records,
            rules,
            max_cluster,
            counts: vec![0; codes],
            starts: vec![0; codes],
            clusters: Vec::new(),
            placed: 0,
            limited: Limited::new(rules, codes),
        }
    }

    fn cut(&mut self, part: RecordsPart, open: &mut Vec<RecordsPart>) {
        if part.rows.len() < self.max_cluster {
            self.placed += part.rows.len() as u64;
            return self.clusters.push(part.rows);
        }
        let k = self.rules.k;
        let rows = part.rows;
        let mut codes: Vec<u32> = Vec::new();
        for &row in &rows {
            for &code in self.records.get(row) {
                let count = &mut self.counts[code as usize];
                if *count == 0 {
                    codes.push(code);
                }
                *count += 1;
            }
        }
        // Which rows hold each code that can still matter.
        codes.sort_unstable();
        let mut total = 0;
        for &code in &codes {
            self.starts[code as usize] = total;
            total += if self.counts[code as usize] >= k { self.counts[code as usize] } else { 0 };
        }
        let mut postings = vec![0u32; total as usize];
        for (i, &row) in rows.iter().enumerate() {
            for &code in self.records.get(row) {
                if self.counts[code as usize] >= k {
                    postings[self.starts[code as usize] as usize] = i as u32;
                    self.starts[code as usize] += 1;
                }
            }
        }
        let posted: Vec<(u32, u32)> = codes
            .iter()
            .map(|&c| (c, if self.counts[c as usize] >= k { self.counts[c as usize] } else { 0 }))
            .collect();
        // Constrained codes are preferred to free ones.
        let mut heaps: [BinaryHeap<(u32, Reverse<u32>)>; 2] = Default::default();
        let splitting = |&&(code, count): &&(u32, u32)| count >= k && !self.rules.is_sensitive(code);
        for &(code, count) in posted.iter().filter(splitting) {
            heaps[usize::from(self.rules.constraint(code).is_none())].push((count, Reverse(code)));
        }
        let mut left = vec![true; rows.len()];
        let mut alive = rows.len();
        let mut wanted = part.wanted;
        let mut refused: Vec<u32> = Vec::new();
        while alive >= self.max_cluster {
            let pick = self
                .preferred(wanted, &codes, &refused, alive)
                .or_else(|| heaps.iter_mut().find_map(|heap| self.most_frequent(heap, alive)));
            let Some(code) = pick else { break };
            let end = self.starts[code as usize] as usize;
            let start = end - posted[codes.binary_search(&code).unwrap_or_default()].1 as usize;
            if refused.contains(&code) {
                continue;
            }
            let of_code = postings[start..end].iter().filter(|&&i| left[i as usize]).map(|&i| rows[i as usize]);
            if !self.limited.allows_split(of_code, self.records, &self.counts, alive) {
                refused.push(code);
                continue;
            }
            let mut with = Vec::with_capacity(self.counts[code as usize] as usize);
            for &i in &postings[start..end] {
                if std::mem::take(&mut left[i as usize]) {
                    with.push(rows[i as usize]);
                    self.records.get(rows[i as usize]).iter().for_each(|&c| self.counts[c as usize] -= 1);
                }
            }
            alive -= with.len();
            open.push(RecordsPart { rows: with, wanted: self.rules.constraint(code).unwrap_or(FREE) });
            wanted = FREE;
        }
        codes.iter().for_each(|&code| self.counts[code as usize] = 0);
        let rest: Vec<u32> = rows.iter().zip(left).filter(|(_, left)| *left).map(|(&row, _)| row).collect();
        self.placed += rest.len() as u64;
        if alive < self.max_cluster { self.clusters.push(rest) } else { self.slice(rest) }
    }

    fn splits(&self, code: u32, alive: usize) -> bool {
        let count = self.counts[code as usize];
        count >= self.rules.k && count as usize + self.rules.k as usize <= alive
    }

    /// The most frequent code of the wanted constraint, if any splits.
    fn preferred(&self, wanted: u32, codes: &[u32], refused: &[u32], alive: usize) -> Option<u32> {
        if wanted == FREE {
            return None;
        }
        let own = codes.iter().copied().filter(|&c| self.rules.constraint(c) == Some(wanted));
        let open = own.filter(|c| !self.rules.is_sensitive(*c) && !refused.contains(c));
        open.filter(|&c| self.splits(c, alive)).min_by_key(|&c| (Reverse(self.counts[c as usize]), c))
    }

    /// The most frequent code of a heap that splits. Counts fall only: an entry that is too high is
    /// put back where it belongs; what nearly all records hold may split later.
    fn most_frequent(&self, heap: &mut BinaryHeap<(u32, Reverse<u32>)>, alive: usize) -> Option<u32> {
        let mut aside = Vec::new();
        let mut found = None;
        while let Some((count, Reverse(code))) = heap.pop() {
            let now = self.counts[code as usize];
            if now < self.rules.k || now as usize == alive {
                continue;
            }
            if now < count {
                heap.push((now, Reverse(code)));
            } else if self.splits(code, alive) {
                found = Some(code);
                break;
            } else {
                aside.push((now, Reverse(code)));
            }
        }
        heap.extend(aside);
        found
    }

    /// No code splits what is left: records that are alike stay together, others are cut in order.
    fn slice(&mut self, mut rows: Vec<u32>) {
        rows.sort_unstable();
        let open = |row: u32| self.records.get(row).iter().filter(|&&code| !self.rules.is_sensitive(code));
        let alike = rows.iter().all(|&row| open(row).eq(open(rows[0])));
        let most = if alike { ALIKE.max(self.max_cluster) } else { self.max_cluster };
        let pieces = rows.len().div_ceil(most - 1);
        let (size, larger) = (rows.len() / pieces, rows.len() % pieces);
        let (mut from, mut cut) = (0, Vec::with_capacity(pieces));
        for piece in 0..pieces {
            let to = from + size + usize::from(piece < larger);
            cut.push(rows[from..to].to_vec());
            from = to;
        }
        self.clusters.extend(self.limited.joined(cut, self.records));
    }
}
