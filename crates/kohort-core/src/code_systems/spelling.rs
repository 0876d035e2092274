//! One spelling for the codes of a system.

use super::{CodeSystem, icd9, icd10};

impl CodeSystem {
    /// Writes a code in capitals and with its dot: `e119` and `E11.9-` become `E11.9`, `486-` becomes `486`.
    /// The marks of ICD-10 for causes and manifestations (`+`, `*`, `!`) are removed. Returns `None` if the text
    /// does not have the shape of a code.
    pub fn spell(self, text: &str) -> Option<String> {
        let marks = ['-', '.', '+', '*', '!', '#', '†'];
        let code = text.trim().trim_end_matches(|c: char| c.is_whitespace() || marks.contains(&c));
        let category = match self {
            CodeSystem::Icd9 => icd9::category(code),
            CodeSystem::Icd10 => icd10::category(code),
        }?;
        let details = code[category.len()..].trim_start_matches('.').to_ascii_uppercase();
        Some(if details.is_empty() { category } else { format!("{category}.{details}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(system: CodeSystem, spellings: &[&str], expected: &str) {
        for spelling in spellings {
            assert_eq!(system.spell(spelling).as_deref(), Some(expected), "{spelling}");
        }
    }

    #[test]
    fn a_code_has_one_spelling() {
        check(CodeSystem::Icd10, &["E119", "E11.9", "e11.9", " E11.9 ", "E11.9-", "E11.9*", "E11.9+"], "E11.9");
        check(CodeSystem::Icd10, &["E11", "E11.", "E11.-", "e11-"], "E11");
        check(CodeSystem::Icd10, &["S52521A", "S52.521A"], "S52.521A");
        check(CodeSystem::Icd9, &["486", "486-", "486--", "486."], "486");
        check(CodeSystem::Icd9, &["25001", "250.01"], "250.01");
        check(CodeSystem::Icd9, &["V103", "v10.3", "V10.3-"], "V10.3");
        check(CodeSystem::Icd9, &["E8809", "e880.9"], "E880.9");
    }

    #[test]
    fn other_text_has_no_spelling() {
        for text in ["", "-", "unknown", "E", "12", "E11.9 and E11.8", "*", "E1.19"] {
            assert_eq!(CodeSystem::Icd10.spell(text), None, "{text}");
        }
    }

    #[test]
    fn spelling_twice_changes_nothing() {
        for code in ["E119", "S52521A", "C7A00", "Z99"] {
            let once = CodeSystem::Icd10.spell(code).unwrap();
            assert_eq!(CodeSystem::Icd10.spell(&once).as_deref(), Some(once.as_str()));
        }
    }
}
