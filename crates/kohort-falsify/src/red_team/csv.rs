//! Tables as text: cells separated by commas, quoted as in RFC 4180. Read and written here, not by Kohort's code.

/// Reads rows; `None` where a quote stays open, or rows differ in length.
pub fn read(text: &str) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut chars) = (false, text.chars().peekable());
    while let Some(c) = chars.next() {
        match (quoted, c) {
            (true, '"') if chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            (true, '"') => quoted = false,
            (true, c) => cell.push(c),
            (false, '"') if cell.is_empty() => quoted = true,
            (false, ',') => row.push(std::mem::take(&mut cell)),
            (false, '\r') if chars.peek() == Some(&'\n') => {}
            (false, '\n') => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            (false, c) => cell.push(c),
        }
    }
    if quoted {
        return None;
    }
    if !cell.is_empty() || !row.is_empty() {
        row.push(cell);
        rows.push(row);
    }
    let mut rows = rows.into_iter();
    let header = rows.next()?;
    // A line without anything is no row, but for a table of one column.
    let rows: Vec<Vec<String>> = rows.filter(|row| header.len() == 1 || row != &[String::new()]).collect();
    rows.iter().all(|row| row.len() == header.len()).then_some((header, rows))
}

/// Writes rows.
pub fn write(header: &[String], rows: &[Vec<String>]) -> String {
    let cell = |cell: &String| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    };
    let line = |row: &[String]| row.iter().map(cell).collect::<Vec<_>>().join(",") + "\n";
    std::iter::once(line(header)).chain(rows.iter().map(|row| line(row))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let rows = vec![vec!["a".to_string(), "[1,2)".into()], vec!["\"q\"\n".into(), String::new()]];
        let header = vec!["x".to_string(), "y".into()];
        assert_eq!(read(&write(&header, &rows)), Some((header, rows)));
        assert_eq!(read("a,b\n\"x"), None);
        assert_eq!(read("a,b\n1\n"), None);
    }
}
