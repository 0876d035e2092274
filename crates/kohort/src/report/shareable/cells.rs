//! Which cells of a table of counts must be hidden, so that none of 1 to 10 people is shown or can be computed.
//!
//! Every reader of the table is assumed to know all its totals, the threshold, and that zeros are shown. A hidden cell is
//! then at least 1, and what it can be is an interval. Safe is a table in which every hidden small cell could as
//! well be 11 or more, and no hidden cell can be one number only.

/// The smallest count that may be shown, zero aside: that of CMS.
pub(crate) const LEAST: u64 = 11;

/// Returns whether a count must not be shown.
pub(crate) fn is_small(count: u64) -> bool {
    (1..LEAST).contains(&count)
}

/// Returns which cells of a list with a known total are hidden; nothing if it cannot be made safe.
pub(crate) fn hide_list(counts: &[u64]) -> Option<Vec<bool>> {
    hide_marked(counts, &counts.iter().map(|&c| is_small(c)).collect::<Vec<_>>())
}

/// The same where it is given which cells must be hidden at least.
pub(crate) fn hide_marked(counts: &[u64], marked: &[bool]) -> Option<Vec<bool>> {
    let mut hidden = marked.to_vec();
    loop {
        let hides = hidden.iter().filter(|h| **h).count() as u64;
        let sum: u64 = counts.iter().zip(&hidden).filter(|(_, h)| **h).map(|(c, _)| c).sum();
        // All but one are at least 1: the one could be the rest.
        if hides == 0 || (hides > 1 && sum > LEAST + hides - 2) {
            return Some(hidden);
        }
        let next = (0..counts.len()).filter(|&i| !hidden[i] && counts[i] > 0).min_by_key(|&i| counts[i])?;
        hidden[next] = true;
    }
}

/// Returns which cells of a table (rows of equal length) whose row and column totals are known are hidden; nothing if
/// it cannot be made safe.
pub(crate) fn hide_table(counts: &[Vec<u64>]) -> Option<Vec<Vec<bool>>> {
    let mut hidden: Vec<Vec<bool>> = counts.iter().map(|row| row.iter().map(|&c| is_small(c)).collect()).collect();
    loop {
        let table = HiddenTable { counts, hidden: &hidden };
        let Some((row, column, lacking)) = table.unsafe_cell() else { return Some(hidden) };
        let cells = table.rectangle(row, column, lacking).or_else(|| table.anything())?;
        cells.into_iter().for_each(|(r, c)| hidden[r][c] = true);
    }
}

/// A table with some cells hidden.
struct HiddenTable<'a> {
    counts: &'a [Vec<u64>],
    hidden: &'a [Vec<bool>],
}

impl HiddenTable<'_> {
    fn width(&self) -> usize {
        self.counts.first().map_or(0, Vec::len)
    }

    /// A hidden cell that is not safe, and how much its interval lacks.
    fn unsafe_cell(&self) -> Option<(usize, usize, u64)> {
        let cells = (0..self.counts.len()).flat_map(|r| (0..self.width()).map(move |c| (r, c)));
        cells.filter(|&(r, c)| self.hidden[r][c]).find_map(|(r, c)| {
            let count = self.counts[r][c];
            let wanted = if is_small(count) { LEAST - count } else { 1 };
            let more = self.can_grow(r, c, wanted);
            let fixed = more == 0 && self.can_shrink(r, c) == 0;
            let lacking = if is_small(count) { wanted - more.min(wanted) } else { u64::from(fixed) };
            (lacking > 0).then_some((r, c, lacking))
        })
    }

    /// Returns for each how much a cell could be larger up to `most`: what can flow from its column back to its row
    /// over the other hidden cells.
    fn can_grow(&self, row: usize, column: usize, most: u64) -> u64 {
        let rows = self.counts.len();
        self.flow(rows + column, row, (row, column), most)
    }

    /// Returns whether a cell could be smaller: the other way round.
    fn can_shrink(&self, row: usize, column: usize) -> u64 {
        let rows = self.counts.len();
        let least = u64::from(self.counts[row][column] > 1);
        self.flow(row, rows + column, (row, column), least)
    }

    /// The largest flow, up to `most`, from one node to another; nodes are rows, then columns. A hidden cell can take
    /// any amount from its row to its column, and all but 1 of its count back; `but` is left out.
    fn flow(&self, from: usize, to: usize, but: (usize, usize), most: u64) -> u64 {
        let (rows, width) = (self.counts.len(), self.width());
        let mut back: Vec<Vec<u64>> =
            self.counts.iter().map(|row| row.iter().map(|c| c.saturating_sub(1)).collect()).collect();
        let mut sent = 0;
        while sent < most {
            // The shortest way on which something is left.
            let mut came: Vec<Option<usize>> = vec![None; rows + width];
            let mut queue = std::collections::VecDeque::from([from]);
            came[from] = Some(from);
            while let Some(node) = queue.pop_front() {
                let others = if node < rows { rows..rows + width } else { 0..rows };
                for other in others {
                    let (r, c) = if node < rows { (node, other - rows) } else { (other, node - rows) };
                    let open = node < rows || back[r][c] > 0;
                    if self.hidden[r][c] && (r, c) != but && open && came[other].is_none() {
                        came[other] = Some(node);
                        queue.push_back(other);
                    }
                }
            }
            if came[to].is_none() {
                break;
            }
            let mut way = vec![to];
            while let Some(node) = came[way[way.len() - 1]].filter(|_| way[way.len() - 1] != from) {
                way.push(node);
            }
            let steps: Vec<(usize, usize)> = way.windows(2).map(|w| (w[1], w[0])).collect();
            let room = |&(a, b): &(usize, usize)| if a < rows { u64::MAX } else { back[b][a - rows] };
            let amount = steps.iter().map(room).min().unwrap_or(0).min(most - sent);
            for &(a, b) in &steps {
                match a < rows {
                    true => back[a][b - rows] += amount,
                    false => back[b][a - rows] -= amount,
                }
            }
            sent += amount;
        }
        sent
    }

    /// The other corners of a rectangle that gives a cell room, at the least cost.
    fn rectangle(&self, row: usize, column: usize, lacking: u64) -> Option<Vec<(usize, usize)>> {
        let mut best: Option<(u64, Vec<(usize, usize)>)> = None;
        for r in (0..self.counts.len()).filter(|&r| r != row) {
            for c in (0..self.width()).filter(|&c| c != column) {
                let corners = [(row, c), (r, column), (r, c)];
                let new: Vec<(usize, usize)> = corners.into_iter().filter(|&(r, c)| !self.hidden[r][c]).collect();
                let room = self.counts[row][c].min(self.counts[r][column]) > lacking;
                let cost: u64 = new.iter().map(|&(r, c)| self.counts[r][c]).sum();
                if !new.is_empty() && room && self.counts[r][c] > 0 && best.as_ref().is_none_or(|b| cost < b.0) {
                    best = Some((cost, new));
                }
            }
        }
        best.map(|(_, cells)| cells)
    }

    /// The smallest cell that is still shown.
    fn anything(&self) -> Option<Vec<(usize, usize)>> {
        let cells = (0..self.counts.len()).flat_map(|r| (0..self.width()).map(move |c| (r, c)));
        let shown = cells.filter(|&(r, c)| !self.hidden[r][c] && self.counts[r][c] > 0);
        shown.min_by_key(|&(r, c)| self.counts[r][c]).map(|cell| vec![cell])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kohort_core::random::Randomness;

    /// Returns what a hidden cell of a table can be, by trying everything: hidden cells are at least 1, and all totals
    /// are known.
    fn intervals(counts: &[Vec<u64>], hidden: &[Vec<bool>]) -> Vec<(u64, u64)> {
        let cells: Vec<(usize, usize)> = (0..counts.len())
            .flat_map(|r| (0..counts[r].len()).map(move |c| (r, c)))
            .filter(|&(r, c)| hidden[r][c])
            .collect();
        let sum = |of: &dyn Fn((usize, usize)) -> bool| -> u64 {
            cells.iter().filter(|&&cell| of(cell)).map(|&(r, c)| counts[r][c]).sum()
        };
        let mut rows: Vec<u64> = (0..counts.len()).map(|row| sum(&|(r, _)| r == row)).collect();
        let mut columns: Vec<u64> = (0..counts[0].len()).map(|column| sum(&|(_, c)| c == column)).collect();
        let mut found = vec![(u64::MAX, 0); cells.len()];
        fn go(
            i: usize,
            cells: &[(usize, usize)],
            rows: &mut [u64],
            columns: &mut [u64],
            now: &mut Vec<u64>,
            found: &mut [(u64, u64)],
        ) {
            let Some(&(r, c)) = cells.get(i) else {
                if rows.iter().all(|r| *r == 0) && columns.iter().all(|c| *c == 0) {
                    for (f, n) in found.iter_mut().zip(now) {
                        *f = (f.0.min(*n), f.1.max(*n));
                    }
                }
                return;
            };
            let last_of_row = cells[i + 1..].iter().all(|cell| cell.0 != r);
            let from = if last_of_row { rows[r].max(1) } else { 1 };
            for value in from..=rows[r].min(columns[c]) {
                rows[r] -= value;
                columns[c] -= value;
                now.push(value);
                go(i + 1, cells, rows, columns, now, found);
                now.pop();
                rows[r] += value;
                columns[c] += value;
            }
        }
        go(0, &cells, &mut rows, &mut columns, &mut Vec::new(), &mut found);
        found
    }

    /// Numbers of a seed.
    fn draws(seed: u64) -> impl FnMut(u64) -> u64 {
        let mut random = Randomness::seeded(seed);
        move |n| random.below(n)
    }

    fn check(counts: &[Vec<u64>], hidden: &[Vec<bool>]) {
        let cells = (0..counts.len()).flat_map(|r| (0..counts[r].len()).map(move |c| (r, c)));
        for (r, c) in cells.clone() {
            assert!(hidden[r][c] || !is_small(counts[r][c]), "a small cell is shown: {counts:?}");
            assert!(!hidden[r][c] || counts[r][c] > 0, "a zero is hidden: {counts:?}");
        }
        let found = intervals(counts, hidden);
        for ((r, c), (low, high)) in cells.filter(|&(r, c)| hidden[r][c]).zip(found) {
            assert!(low < high, "({r}, {c}) can be computed: {counts:?} {hidden:?}");
            assert!(low <= counts[r][c] && counts[r][c] <= high);
            assert!(!is_small(counts[r][c]) || high >= LEAST, "({r}, {c}) is known to be small: {counts:?} {hidden:?}");
        }
    }

    #[test]
    fn no_hidden_cell_of_a_table_can_be_computed() {
        let mut safe = 0;
        for seed in 0..500 {
            let mut draw = draws(seed);
            let (rows, columns) = (2 + draw(2) as usize, 2 + draw(2) as usize);
            let most = [12, 18, 25][draw(3) as usize];
            let counts: Vec<Vec<u64>> = (0..rows).map(|_| (0..columns).map(|_| draw(most)).collect()).collect();
            let Some(hidden) = hide_table(&counts) else { continue };
            // Where too many are hidden there is nothing to try.
            if hidden.iter().flatten().filter(|h| **h).count() <= 6 {
                check(&counts, &hidden);
                safe += 1;
            }
        }
        assert!(safe > 150, "{safe}");
    }

    #[test]
    fn one_hidden_cell_in_a_row_would_be_the_total_minus_the_others() {
        let counts = vec![vec![3, 40, 50], vec![60, 70, 80], vec![90, 20, 30]];
        let hidden = hide_table(&counts).unwrap();
        check(&counts, &hidden);
        assert_eq!(hidden.iter().flatten().filter(|h| **h).count(), 4, "a rectangle");
        assert!(hide_table(&[vec![20, 30], vec![40, 50]]).unwrap().iter().flatten().all(|h| !h), "nothing is small");
        assert_eq!(hide_table(&[vec![5, 0], vec![0, 50]]), None, "its row's total would say it");
    }

    #[test]
    fn no_hidden_cell_of_a_list_can_be_computed() {
        for seed in 0..500 {
            let mut draw = draws(seed);
            let length = 1 + draw(6) as usize;
            let counts: Vec<u64> = (0..length).map(|_| draw(30)).collect();
            if let Some(hidden) = hide_list(&counts) {
                // A list is a table of one row whose columns have no totals.
                let sum: u64 = counts.iter().zip(&hidden).filter(|(_, h)| **h).map(|(c, _)| c).sum();
                let hides = hidden.iter().filter(|h| **h).count() as u64;
                assert!(counts.iter().zip(&hidden).all(|(c, h)| *h || !is_small(*c)));
                assert!(hides == 0 || (hides > 1 && sum - (hides - 1) >= LEAST), "{counts:?} {hidden:?}");
            }
        }
        assert_eq!(hide_list(&[3, 0, 500, 40]), Some(vec![true, false, false, true]));
        assert_eq!(hide_list(&[1; 12]), None, "all of them are 1");
        assert_eq!(hide_list(&[4, 0]), None, "the total would say it");
        assert_eq!(hide_list(&[40, 0]), Some(vec![false, false]));
    }
}
