//! Sets of columns: a dot for each column of a set, and a bar for what the set does.

use super::{LEFT, WIDTH, axis, figure, shorten};
use crate::report::escape;
use crate::report::html::escape::names;
use crate::report::html::number::Shown;
use crate::report::html::place::Figure;

const HIGH: f64 = 17.0;
/// Between two columns of dots.
const APART: f64 = 17.0;
/// Columns beyond these would leave no room for bars.
const MOST_COLUMNS: usize = 12;
const DIGIT: f64 = 6.4;

/// The sets, in their order, with a number of each; nothing if there is nothing to draw.
pub(in crate::report::html) fn sets(
    id: &str,
    title: &str,
    lengths: &'static str,
    sets: &[(&[String], Figure)],
    shown: Shown,
) -> String {
    let mut columns: Vec<&str> = Vec::new();
    for column in sets.iter().flat_map(|(set, _)| *set) {
        if !columns.contains(&column.as_str()) {
            columns.push(column);
        }
    }
    let longest = sets.iter().filter_map(|(_, figure)| figure.number()).fold(0.0, f64::max);
    if columns.is_empty() || columns.len() > MOST_COLUMNS || longest <= 0.0 {
        return String::new();
    }
    let letters = columns.iter().map(|c| c.chars().count().min(16)).max().unwrap_or(0) as f64;
    let (left, top) = (14.0, 16.0 + letters * 4.6);
    let bars = (left + APART * columns.len() as f64 + 14.0).max(LEFT);
    let digits = sets.iter().map(|(_, figure)| figure.written(shown).chars().count()).max().unwrap_or(0) as f64;
    let scale = (WIDTH - bars - digits * DIGIT - 10.0) / longest;
    let x = |i: usize| left + APART * i as f64;
    let mut drawn = axis(bars, top - 6.0, "start", lengths);
    for (i, column) in columns.iter().enumerate() {
        drawn += &format!(
            "<text class=\"axis\" transform=\"translate({:.1} {:.1}) rotate(-45)\">{}</text>",
            x(i),
            top - 4.0,
            escape(&shorten(column, 16))
        );
    }
    let mut y = top;
    for (set, place) in sets {
        let own: Vec<&str> = set.iter().map(String::as_str).collect();
        let middle = y + HIGH / 2.0;
        let places: Vec<usize> = (0..columns.len()).filter(|&i| own.contains(&columns[i])).collect();
        if let (Some(first), Some(last)) = (places.first(), places.last()) {
            drawn += &format!("<path class=\"line\" d=\"M{:.1} {middle:.1}H{:.1}\"/>", x(*first), x(*last));
        }
        for (i, column) in columns.iter().enumerate() {
            let class = if own.contains(column) { "dot" } else { "dot empty" };
            drawn += &format!("<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{middle:.1}\" r=\"4\"/>", x(i));
        }
        let wide = place.number().map_or(0.0, |n| if n > 0.0 { (n * scale).max(1.5) } else { 0.0 });
        drawn += &format!(
            "<rect class=\"solid\" x=\"{bars:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"11\"/>\
             <text class=\"value\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            middle - 5.5,
            bars + wide + 5.0,
            middle + 4.0,
            if place.number().is_some() { place.show_in("tspan", shown) } else { "–".into() }
        );
        y += HIGH;
    }
    let row = |(set, figure): &(&[String], Figure)| vec![names(set), figure.show(shown)];
    let rows: Vec<Vec<String>> = sets.iter().map(row).collect();
    figure(id, title, y + 6.0, &drawn, &["Columns", lengths], &rows)
}
