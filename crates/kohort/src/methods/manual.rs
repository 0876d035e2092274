//! The register as text: for `--help`, and for the reference of policies.

use super::entry::Entry;
use super::register::Register;

/// Lines of help are at most this wide.
const WIDTH: usize = 96;

/// Every method with its summary, for `--help`.
pub fn overview(register: &Register) -> String {
    table(register, |entry| format!("For {}. {}", entry.shape().name(), entry.summary))
}

/// The parameters of every method, for `--help`.
pub fn parameters(register: &Register) -> String {
    table(register, |entry| entry.params.iter().map(|param| param.key).collect::<Vec<_>>().join(", "))
}

/// A table of the methods with some words about each, in lines of a terminal's width.
fn table(register: &Register, words: impl Fn(&Entry) -> String) -> String {
    let widest = register.entries().iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for entry in register.entries() {
        let mut line = format!("  {:<widest$}  ", entry.name);
        let indent = line.len();
        for word in words(entry).split(' ') {
            if line.len() + word.len() > WIDTH {
                text += &format!("{}\n", line.trim_end());
                line = " ".repeat(indent);
            }
            line += &format!("{word} ");
        }
        text += &format!("{}\n", line.trim_end());
    }
    text
}

/// A method's part of the reference of policies, in Markdown.
pub fn page(entry: &Entry) -> String {
    let knows: Vec<String> = entry.knows.iter().map(|own| format!("`{}`", own.written())).collect();
    let requirements: Vec<String> = entry.requirements.iter().map(|own| format!("`{}`", own.key())).collect();
    let mut text = format!(
        "\n## [method] name = \"{}\"\n\n{}\n\nData: {}. Adversary: {}. Requirements: {}.\n\n\
         | key | means | values | default | example |\n|---|---|---|---|---|\n",
        entry.name,
        entry.summary,
        entry.shape().name(),
        knows.join(", "),
        requirements.join(", ")
    );
    for param in entry.params {
        let cells = [
            format!("`{}`", param.key),
            param.help.to_string(),
            param.kind.describe(),
            param.describe_default(),
            format!("`{} = {}`", param.key, param.example),
        ];
        text += &format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    }
    text
}
