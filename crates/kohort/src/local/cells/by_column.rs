//! Reads rows of labels column by column.
//!
//! Labels are kept row by row. To read one column of a wide table touches a line of the cache for each row, so as many
//! columns as a line holds are gathered side by side.

use crate::local::tree::Node;
use kohort_core::parallel;

/// The labels in a line of the cache.
const SIDE_BY_SIDE: usize = 64 / size_of::<Node>();

/// Calls `work` with each column below `width` and its labels in these rows. The results are in the order of the columns.
pub(super) fn by_column<'a, R: Send>(
    rows: impl Iterator<Item = &'a [Node]> + Clone + Sync,
    width: usize,
    threads: usize,
    work: impl Fn(usize, Vec<Node>) -> R + Sync,
) -> Vec<R> {
    let most = rows.size_hint().1.unwrap_or(0);
    let blocks = parallel::map(threads, width.div_ceil(SIDE_BY_SIDE), |block| {
        let columns = block * SIDE_BY_SIDE..width.min((block + 1) * SIDE_BY_SIDE);
        let mut gathered: Vec<Vec<Node>> = columns.clone().map(|_| Vec::with_capacity(most)).collect();
        for row in rows.clone() {
            gathered.iter_mut().zip(&row[columns.clone()]).for_each(|(own, &label)| own.push(label));
        }
        columns.zip(gathered).map(|(column, labels)| work(column, labels)).collect::<Vec<R>>()
    });
    blocks.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::by_column;

    #[test]
    fn columns_are_rows_turned_around() {
        for width in [1, 15, 16, 17, 40] {
            let cells: Vec<u32> = (0..3 * width).collect();
            for threads in [1, 2] {
                let found =
                    by_column(cells.chunks(width as usize), width as usize, threads, |column, own| (column, own));
                let expected = (0..width).map(|c| (c as usize, vec![c, width + c, 2 * width + c]));
                assert_eq!(found, expected.collect::<Vec<_>>());
            }
        }
    }
}
