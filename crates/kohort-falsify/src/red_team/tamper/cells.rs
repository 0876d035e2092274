//! Changes to the cells, rows and columns of the data. Hashes, counts and sentences are made to fit.

use super::Fit::{All, Hashes, StaysTrue};
use super::{Change, Tampering, way};
use serde_json::json;

/// Changes a cell of a column with this role.
fn cell(c: &mut Change, role: &str, to: impl FnOnce(&str, &mut crate::dice::Dice) -> String) -> bool {
    let Some(column) = c.of_role(role) else { return false };
    c.rows(|rows, dice| {
        let row = dice.below(rows.len());
        let before = rows[row].get(column).cloned().unwrap_or_default();
        let after = to(&before, dice);
        if let Some(own) = rows[row].get_mut(column) {
            own.clone_from(&after);
        }
        after != before
    })
}

/// Exchanges the cells of two rows in a column with this role.
fn exchange(c: &mut Change, role: &str) -> bool {
    let Some(column) = c.of_role(role) else { return false };
    c.rows(|rows, dice| {
        let (a, b) = (dice.below(rows.len()), dice.below(rows.len()));
        let changed = rows[a][column] != rows[b][column];
        let own = rows[a][column].clone();
        rows[a][column] = rows[b][column].clone();
        rows[b][column] = own;
        changed
    })
}

/// Adds a column to the data and to the certificate.
fn column(c: &mut Change, name: &str, role: &str, cell: fn(usize, &[String]) -> String) -> bool {
    let added = c.table(|header, rows, _| {
        header.push(name.to_string());
        rows.iter_mut().enumerate().for_each(|(at, row)| {
            let own = cell(at, row);
            row.push(own);
        });
        true
    });
    added
        && c.value("/counted/columns", |columns, _| {
            columns.as_array_mut().into_iter().for_each(|all| all.push(json!({ "name": name, "role": role })));
        })
}

pub(super) const WAYS: &[Tampering] = &[
    way("a quasi-identifier nobody else has", All, |c| cell(c, "quasi", |_, _| "unique".into())),
    way("a quasi-identifier of another row", All, |c| exchange(c, "quasi")),
    way("a quasi-identifier goes blank", All, |c| cell(c, "quasi", |_, _| String::new())),
    way("a quasi-identifier is suppressed", All, |c| cell(c, "quasi", |_, _| "*".into())),
    way("a quasi-identifier with a space", All, |c| cell(c, "quasi", |own, _| format!("{own} "))),
    way("a quasi-identifier with a character that nobody sees", All, |c| {
        cell(c, "quasi", |own, _| format!("{own}\u{200b}"))
    }),
    way("a quasi-identifier with letters that look alike", All, |c| {
        cell(c, "quasi", |own, _| own.replace('a', "\u{430}").replace('v', "\u{475}"))
    }),
    way("a NUL in a cell", All, |c| cell(c, "quasi", |own, _| format!("{own}\0"))),
    way("a line break in a cell", All, |c| cell(c, "quasi", |own, _| format!("{own}\nx"))),
    way("a quasi-identifier as in the original", All, |c| {
        let Some(column) = c.of_role("quasi") else { return false };
        let Some(value) =
            c.case.and_then(|case| case.rows.first()).and_then(|row| row.quasi.get(column % row.quasi.len())).cloned()
        else {
            return false;
        };
        c.rows(|rows, dice| {
            let row = dice.below(rows.len());
            let changed = rows[row][column] != value;
            rows[row][column] = value;
            changed
        })
    }),
    way("a sensitive value is changed", All, |c| {
        cell(c, "sensitive", |own, dice| dice.one_of(&["1", "2", "3", "4", ""]).replace(own, "9"))
    }),
    way("a sensitive value that no row had", All, |c| cell(c, "sensitive", |_, _| "77".into())),
    way("a sensitive value goes missing", All, |c| cell(c, "sensitive", |_, _| String::new())),
    way("sensitive values are exchanged", All, |c| exchange(c, "sensitive")),
    way("everybody has one sensitive value", All, |c| {
        let Some(column) = c.of_role("sensitive") else { return false };
        c.rows(|rows, _| {
            let own = rows[0][column].clone();
            let changed = rows.iter().any(|row| row[column] != own);
            rows.iter_mut().for_each(|row| row[column].clone_from(&own));
            changed
        })
    }),
    way("one sensitive value in several spellings", All, |c| {
        let Some(column) = c.of_role("sensitive") else { return false };
        c.rows(|rows, _| {
            let forms = ["\u{e9}", "\u{c9}", "\u{e9} ", " \u{e9}", "\u{e9}\u{200b}", "e\u{301}", "E\u{301}"];
            rows.iter_mut().enumerate().for_each(|(at, row)| row[column] = forms[at % forms.len()].into());
            true
        })
    }),
    way("a class has one sensitive value in several spellings", All, |c| {
        let (Some(column), Some(quasi)) = (c.of_role("sensitive"), c.of_role("quasi")) else { return false };
        c.rows(|rows, dice| {
            let (label, mut n) = (rows[dice.below(rows.len())][quasi].clone(), 0);
            for row in rows.iter_mut().filter(|row| row[quasi] == label) {
                row[column] = ["yes", "Yes", "YES", "yes\u{ad}"][n % 4].into();
                n += 1;
            }
            true
        })
    }),
    way("one class has one sensitive value", All, |c| {
        let (Some(column), Some(quasi)) = (c.of_role("sensitive"), c.of_role("quasi")) else { return false };
        c.rows(|rows, dice| {
            let (label, own) = (rows[dice.below(rows.len())][quasi].clone(), rows[0][column].clone());
            let mut changed = false;
            for row in rows.iter_mut().filter(|row| row[quasi] == label) {
                changed |= row[column] != own;
                row[column].clone_from(&own);
            }
            changed
        })
    }),
    way("another column is changed", All, |c| cell(c, "other", |_, _| "w9".into())),
    way("another column names people", All, |c| {
        let Some(column) = c.of_role("other") else { return false };
        c.rows(|rows, _| {
            rows.iter_mut().enumerate().for_each(|(at, row)| row[column] = format!("Ann {at}"));
            true
        })
    }),
    way("a detail is shown", All, |c| cell(c, "detail", |_, _| "0 fine".into())),
    way("every detail is shown", All, |c| {
        let Some(column) = c.of_role("detail") else { return false };
        c.rows(|rows, _| {
            let changed = rows.iter().any(|row| row[column] == "*");
            rows.iter_mut().for_each(|row| row[column] = "0 fine".into());
            changed
        })
    }),
    way("a row is removed", All, |c| {
        c.rows(|rows, dice| {
            rows.remove(dice.below(rows.len()));
            true
        })
    }),
    way("a class is cut below k", All, |c| {
        let Some(quasi) = c.of_role("quasi") else { return false };
        let k = c.release.certificate["counted"]["claim"]["k"].as_u64().unwrap_or(2) as usize;
        c.rows(|rows, dice| {
            let label = rows[dice.below(rows.len())][quasi].clone();
            let mut left = k - 1;
            rows.retain(|row| {
                let stays = row[quasi] != label || left > 0;
                left -= usize::from(row[quasi] == label && left > 0);
                stays
            });
            true
        })
    }),
    way("a row is there twice", All, |c| {
        c.rows(|rows, dice| {
            let row = rows[dice.below(rows.len())].clone();
            rows.insert(dice.below(rows.len()), row);
            true
        })
    }),
    way("a row is made up", All, |c| {
        c.rows(|rows, dice| {
            let row = rows[dice.below(rows.len())].iter().map(|cell| format!("{cell}x")).collect();
            rows.push(row);
            true
        })
    }),
    way("a row of cells of several rows", All, |c| {
        c.rows(|rows, dice| {
            let row = (0..rows[0].len()).map(|column| rows[dice.below(rows.len())][column].clone()).collect();
            rows.push(row);
            true
        })
    }),
    way("one row is left", All, |c| {
        c.rows(|rows, _| {
            rows.truncate(1);
            true
        })
    }),
    way("no row is left", All, |c| {
        c.rows(|rows, _| {
            rows.clear();
            true
        })
    }),
    way("every row many times", All, |c| {
        c.rows(|rows, _| {
            let all = rows.clone();
            (0..5).for_each(|_| rows.extend(all.clone()));
            true
        })
    }),
    way("rows in another order", StaysTrue, |c| {
        // The map of rows and the catalog follow the order.
        c.release.private.clear();
        if c.release.files.contains_key("catalog.csv") {
            return false;
        }
        c.rows(|rows, dice| {
            let at = dice.below(rows.len());
            rows.rotate_left(at);
            at > 0
        })
    }),
    way("rows in the order of the input", All, |c| {
        let lines = c.release.private.get("rows").map(|own| String::from_utf8_lossy(own).into_owned());
        let Some(lines) = lines.filter(|_| !c.release.files.contains_key("catalog.csv")) else { return false };
        let numbers: Vec<u64> = lines.lines().filter_map(|line| line.parse().ok()).collect();
        let mut sorted = Vec::new();
        let done = c.rows(|rows, _| {
            let mut both: Vec<(u64, Vec<String>)> = numbers.iter().copied().zip(rows.clone()).collect();
            both.sort();
            sorted = both.iter().map(|own| own.0).collect();
            *rows = both.into_iter().map(|own| own.1).collect();
            numbers.len() == rows.len()
        });
        let text: String = sorted.iter().map(|line| format!("{line}\n")).collect();
        c.release.private.insert("rows".into(), text.into_bytes());
        done
    }),
    way("a label that the policy does not permit", All, |c| {
        let Some(column) = c.of_role("quasi") else { return false };
        c.rows(|rows, dice| {
            let label =
                dice.one_of(&["a1", "a", "g", "[30,35)", "[0,100)", "[30,60)", "[1,60)", "1234*", "2010-Q1", "2010"]);
            let own = rows[dice.below(rows.len())][column].clone();
            rows.iter_mut().filter(|row| row[column] == own).for_each(|row| row[column] = label.into());
            own != label
        })
    }),
    way("a row with fewer cells", Hashes, |c| c.file("data.csv", |bytes, _| bytes.extend_from_slice(b"x\n"))),
    way("a quote that stays open", Hashes, |c| c.file("data.csv", |bytes, _| bytes.extend_from_slice(b"\"x\n"))),
    way("an empty line", All, |c| c.file("data.csv", |bytes, _| bytes.push(b'\n'))),
    way("a column of names, called other", All, |c| column(c, "full_name", "other", |at, _| format!("Ann {at}"))),
    way("a column of names, called sensitive", All, |c| {
        column(c, "full_name", "sensitive", |at, _| format!("Ann {at}"))
    }),
    way("a column of names, called quasi", All, |c| column(c, "full_name", "quasi", |at, _| format!("Ann {at}"))),
    way("a column more in the data alone", All, |c| {
        c.table(|header, rows, _| {
            header.push("z".into());
            rows.iter_mut().for_each(|row| row.push("1".into()));
            true
        })
    }),
    way("a column less in both", All, |c| {
        let done = c.table(|header, rows, _| {
            header.remove(0);
            rows.iter_mut().for_each(|row| drop(row.remove(0)));
            !header.is_empty()
        });
        done && c.value("/counted/columns", |columns, _| {
            columns.as_array_mut().into_iter().for_each(|all| drop(all.remove(0)));
        })
    }),
    way("a column less in the certificate", All, |c| {
        c.value("/counted/columns", |columns, _| columns.as_array_mut().into_iter().for_each(|all| drop(all.pop())))
    }),
    way("two columns change places in the data", All, |c| {
        c.table(|header, rows, dice| {
            let (a, b) = (dice.below(header.len()), dice.below(header.len()));
            header.swap(a, b);
            rows.iter_mut().for_each(|row| row.swap(a, b));
            a != b
        })
    }),
    way("two names of the header change places", All, |c| {
        c.table(|header, _, dice| {
            let (a, b) = (dice.below(header.len()), dice.below(header.len()));
            header.swap(a, b);
            a != b
        })
    }),
    way("a column has another name in the data", All, |c| {
        c.table(|header, _, dice| {
            let at = dice.below(header.len());
            header[at] += dice.one_of(&["x", " ", "\u{200b}"]);
            true
        })
    }),
    way("two columns of one name", All, |c| {
        let first = c.release.certificate["counted"]["columns"][0]["name"].clone();
        let done = c.table(|header, _, _| {
            let (own, last) = (header[0].clone(), header.len() - 1);
            header[last] = own;
            last > 0
        });
        let last = c.release.certificate["counted"]["columns"].as_array().map_or(0, |all| all.len() - 1);
        done && c.value(&format!("/counted/columns/{last}/name"), |name, _| *name = first)
    }),
];
