//! The language of the sources, as far as a program can check it: the first word of doc comments, and the blanks in
//! messages.

use std::fs;
use std::path::{Path, PathBuf};

/// The source files of all crates, with their text.
fn sources() -> Vec<(PathBuf, String)> {
    fn below(folder: &Path, all: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, all);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                all.push((path, text));
            }
        }
    }
    let mut all = Vec::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()).unwrap() {
        let folder = entry.unwrap().path().join("src");
        if folder.exists() {
            below(&folder, &mut all);
        }
    }
    assert!(all.len() > 500, "{} files", all.len());
    all
}

/// The lines that a rule objects to.
fn found(is_wrong: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let before = std::iter::once("").chain(text.lines());
        for (number, (before, line)) in before.zip(text.lines()).enumerate() {
            if is_wrong(before.trim(), line.trim()) {
                wrong.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    wrong
}

/// The text of a line of a doc comment.
fn doc(line: &str) -> Option<&str> {
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim)
}

fn begins_as_a_riddle(before: &str, line: &str) -> bool {
    let begins = doc(before).is_none_or(str::is_empty);
    let first = doc(line).and_then(|text| text.split(|c: char| !c.is_alphabetic()).next());
    begins && first.is_some_and(|word| ["What", "Whether", "Of", "By", "Who", "Whose"].contains(&word))
}

/// A doc comment, and each paragraph of it, begins with a verb or a noun.
#[test]
fn doc_comments_begin_with_what_they_promise() {
    assert!(begins_as_a_riddle("x: u8,", "/// Whether it is there."));
    assert!(begins_as_a_riddle("//!", "//! Of claims: the events."));
    assert!(!begins_as_a_riddle("/// The people", "/// Who are not there."));
    assert!(!begins_as_a_riddle("", "/// Bytes."));
    assert_eq!(found(begins_as_a_riddle), Vec::<String>::new());
}

/// A line that lost the `\` before its line break: blanks in a row behind two words of a text. Lines that begin
/// with `kohort` or `#` are examples in columns.
fn has_a_gap(line: &str) -> bool {
    if ["//", "kohort", "#"].iter().any(|begin| line.starts_with(begin)) {
        return false;
    }
    let Some((text, behind)) = line.split_once("    ") else { return false };
    let text = text.rsplit('"').next().unwrap_or_default();
    text.split_whitespace().count() > 1 && behind.trim_start().starts_with(|c: char| c.is_alphabetic())
}

#[test]
fn no_message_has_a_gap() {
    assert!(has_a_gap("\"moved dates that          you want\","));
    assert!(!has_a_gap("say(\"  claim      at least\");"));
    assert_eq!(found(|_, line| has_a_gap(line)), Vec::<String>::new());
}
