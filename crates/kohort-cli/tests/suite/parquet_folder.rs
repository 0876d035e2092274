//! A folder of Parquet files, as Spark writes one.

use kohort_core::table::{ColumnType, ParquetWriter};
use std::fs;
use std::path::Path;

/// Writes claims of 1,500 patients into two folders, by year.
pub(crate) fn claims(folder: &Path) {
    let columns: Vec<(String, Option<ColumnType>)> = ["id", "age", "sex", "dx"].map(|name| (name.into(), None)).into();
    for year in [2023usize, 2024] {
        for part in 0..2usize {
            let at = folder.join(format!("year={year}"));
            fs::create_dir_all(&at).unwrap();
            let mut out = ParquetWriter::create(Vec::new(), &columns).unwrap();
            for n in 0..500usize {
                let id = (year * 7 + part * 500 + n) % 1500;
                let cells =
                    [format!("P{id}"), (20 + id % 60).to_string(), ["f", "m"][id % 2].into(), format!("E{}", n % 9)];
                out.row(cells.iter().map(|cell| cell.as_bytes())).unwrap();
            }
            fs::write(at.join(format!("part-{part:05}.parquet")), out.finish().unwrap()).unwrap();
        }
    }
    fs::write(folder.join("_SUCCESS"), "").unwrap();
}
