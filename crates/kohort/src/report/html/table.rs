//! Tables, lists and sections.

/// A table: headings, and rows of HTML cells. The first cell of a row names it.
pub(super) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    // Side by side on a phone, the cells of so many columns would show a letter on each line.
    of_class(if headings.len() >= 5 { CARDS } else { "" }, headings, rows)
}

/// A table of many columns, which a phone shows as a card for each row.
pub fn cards(headings: &[&str], rows: &[Vec<String>]) -> String {
    of_class(CARDS, headings, rows)
}

const CARDS: &str = " class=\"cards\"";

fn of_class(class: &str, headings: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return NOTHING.into();
    }
    let mut html = format!("<table{class}><thead><tr>");
    headings.iter().for_each(|heading| html += &format!("<th scope=\"col\">{heading}</th>"));
    html += "</tr></thead><tbody>\n";
    for row in rows {
        html += "<tr>";
        for (i, cell) in row.iter().enumerate() {
            let heading = headings.get(i).copied().unwrap_or_default();
            html += &match i {
                0 => format!("<th scope=\"row\">{cell}</th>"),
                _ => format!("<td data-label=\"{heading}\"><div>{cell}</div></td>"),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody></table>\n"
}

/// The first cell of a row: a name, and how to read the number beside it.
pub(super) fn named(name: &str, read: &str) -> String {
    if read.is_empty() { name.to_string() } else { format!("{name}<small>{read}</small>") }
}

/// A list of sentences, already escaped.
pub(super) fn list(sentences: &[String]) -> String {
    let items: String = sentences.iter().map(|s| format!("<li>{s}</li>\n")).collect();
    if items.is_empty() { "<p>None.</p>\n".into() } else { format!("<ul>\n{items}</ul>\n") }
}

/// A section with its heading.
pub(super) fn section(heading: &str, body: &str) -> String {
    format!("<section>\n<h2>{heading}</h2>\n{body}</section>\n")
}

/// The text of a section without content.
pub(super) const NOTHING: &str = "<p class=\"none\">No numbers are available.</p>\n";
