//! A small reader of HTML, for tests: it takes the page apart and refuses tags that do not match.

use serde_json::Value;
use std::collections::BTreeMap;

/// A page taken apart.
#[derive(Debug, Default)]
pub(super) struct ParsedPage {
    /// Every element with its attributes, in order.
    pub(super) elements: Vec<Element>,
    /// All text that is in no element with `data-metric`, without styles.
    pub(super) prose: String,
}

/// An element.
#[derive(Debug)]
pub(super) struct Element {
    /// Its name.
    pub(super) name: String,
    /// Its attributes, unescaped.
    pub(super) attributes: BTreeMap<String, String>,
    /// The text within it, unescaped.
    pub(super) text: String,
}

/// Takes a page apart.
#[track_caller]
pub(super) fn read(html: &str) -> ParsedPage {
    let mut read = ParsedPage::default();
    let mut open: Vec<usize> = Vec::new();
    let mut rest = html.strip_prefix("<!doctype html>").expect("a page begins with its doctype");
    while !rest.is_empty() {
        let Some(tag) = rest.strip_prefix('<') else {
            let (text, after) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
            take_text(&mut read, &open, text);
            rest = after;
            continue;
        };
        let (tag, after) = tag.split_once('>').expect("a tag ends");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            let last = open.pop().map(|e| read.elements[e].name.as_str());
            assert_eq!(last, Some(name), "the tag that closes is not the one that was open");
            continue;
        }
        let element = element(tag.trim_end_matches('/'));
        let void = tag.ends_with('/') || element.name == "meta";
        let style = element.name == "style";
        read.elements.push(element);
        if style {
            rest = rest.split_once("</style>").expect("styles end").1;
        } else if !void {
            open.push(read.elements.len() - 1);
        }
    }
    assert!(open.is_empty(), "{} tags stay open", open.len());
    read
}

#[track_caller]
fn take_text(read: &mut ParsedPage, open: &[usize], text: &str) {
    assert!(!text.contains('>') && !text.contains('"'), "text that is not escaped: {text}");
    let text = unescape(text);
    for &e in open {
        read.elements[e].text += &text;
    }
    if !open.iter().any(|&e| read.elements[e].attributes.contains_key("data-metric")) {
        read.prose += &text;
    }
}

#[track_caller]
fn element(tag: &str) -> Element {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    assert!(!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()), "no element: <{tag}>");
    let mut attributes = BTreeMap::new();
    while !rest.trim().is_empty() {
        let (key, value) = rest.split_once("=\"").expect("attributes have values in double quotes");
        let (value, after) = value.split_once('"').expect("values end");
        assert!(!value.contains('<'), "a value that is not escaped: {value}");
        assert!(attributes.insert(key.trim().to_string(), unescape(value)).is_none(), "{key} stands twice");
        rest = after;
    }
    Element { name: name.into(), attributes, text: String::new() }
}

#[track_caller]
fn unescape(text: &str) -> String {
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (entity, after) = part.split_once(';').expect("an ampersand is escaped");
        plain.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            other => panic!("unknown entity {other}"),
        });
        plain += after;
    }
    plain
}

/// Shows what stands at a path of metrics.json, as `data-metric` writes it.
pub(super) fn resolve<'a>(metrics: &'a Value, path: &str) -> Option<&'a Value> {
    let mut keys = vec![String::new()];
    let mut chars = path.chars();
    while let Some(c) = chars.next() {
        match c {
            '.' => keys.push(String::new()),
            '\\' => match chars.next()? {
                'u' => {
                    let code: String = chars.by_ref().take(4).collect();
                    keys.last_mut()?.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?)?);
                }
                c => keys.last_mut()?.push(c),
            },
            c => keys.last_mut()?.push(c),
        }
    }
    keys.iter().try_fold(metrics, |value, key| match value {
        Value::Array(elements) => elements.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    })
}
