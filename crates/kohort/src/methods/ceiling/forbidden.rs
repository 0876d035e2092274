//! Combinations that no synthetic record may show: a man who gives birth would be recognised as synthetic.
//!
//! The policy lists them; where a column holds the sex and a sensitive one ICD codes, diagnoses of
//! one sex are built in. A list of what cannot be is never complete: the report counts how well
//! synthetic records can be told.

use kohort_core::Result;
use kohort_core::code_systems::CodeSystem;
use kohort_core::hierarchy::Rule;
use kohort_core::policy::{Column, Policy, Role, Section, Value, nearest};
use kohort_core::table::ExcludedCodes;

/// Some values of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The column, by place in the table.
    pub column: usize,
    texts: Vec<String>,
    /// Ranges of codes, where the column holds codes.
    codes: Option<ExcludedCodes>,
}

impl Term {
    fn new(policy: &Policy, column: usize, texts: Vec<String>) -> Term {
        let ranges = texts.iter().filter_map(|t| ExcludedCodes::range(t)).collect();
        let codes = matches!(policy.columns[column].rule, Rule::Codes(_));
        let codes = codes.then_some(ExcludedCodes { ranges, ..ExcludedCodes::default() });
        Term { column, texts, codes }
    }

    /// Returns whether a cell that shows one of these labels (the value and what is above it) is meant.
    pub fn holds(&self, labels: &[&str]) -> bool {
        labels.iter().any(|label| self.texts.iter().any(|t| t == label))
            || labels.first().is_some_and(|own| self.codes.as_ref().is_some_and(|c| c.holds(own.as_bytes())))
    }
}

/// Combinations that cannot be: each is forbidden where all its terms hold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Forbidden {
    /// The combinations.
    pub combinations: Vec<Vec<Term>>,
    /// States how many of them are built in.
    pub built_in: usize,
}

const MALE: [&str; 8] = ["M", "m", "Male", "male", "MALE", "man", "Man", "MAN"];
const FEMALE: [&str; 11] = ["F", "f", "Female", "female", "FEMALE", "woman", "Woman", "WOMAN", "W", "w", "FEM"];
const ICD9_FEMALE: [&str; 14] = [
    "174",
    "179-184",
    "218-221",
    "2331-2333",
    "256",
    "614-629",
    "630-679",
    "V22-V24",
    "V27-V28",
    "7923",
    "7950",
    "7951",
    "V723",
    "V7231",
];
const ICD9_MALE: [&str; 7] = ["175", "185-187", "222", "2334-2336", "257", "600-608", "7922"];
const ICD10_FEMALE: [&str; 12] = [
    "C51-C58",
    "D06",
    "D070-D073",
    "D25-D28",
    "E28",
    "N70-N77",
    "N80-N98",
    "O00-O9A",
    "Z32-Z34",
    "Z36-Z37",
    "Z39",
    "Z3A",
];
const ICD10_MALE: [&str; 5] = ["C60-C63", "D074-D076", "D29", "E29", "N40-N53"];

impl Forbidden {
    /// Those of the policy, and those built in.
    pub fn read(policy: &Policy) -> Result<Forbidden> {
        let section = &policy.method;
        let mut combinations = Vec::new();
        for item in section.list("forbidden")?.unwrap_or_default() {
            let Value::Section(own) = &item.value else {
                return Err(section.wrong(
                    "forbidden",
                    "must be a list of combinations: [{ sex = \"M\", diagnosis = [\"630-679\"] }].",
                ));
            };
            combinations.push(
                own.entries
                    .iter()
                    .map(|(name, item)| term(policy, own, name, &item.value))
                    .collect::<Result<Vec<_>>>()?,
            );
            if combinations.last().is_some_and(Vec::is_empty) {
                return Err(section.wrong("forbidden", "contains an empty combination."));
            }
        }
        let listed = combinations.len();
        combinations.extend(built_in(policy));
        Ok(Forbidden { built_in: combinations.len() - listed, combinations })
    }
}

fn term(policy: &Policy, section: &Section, name: &str, value: &Value) -> Result<Term> {
    let released = policy.released();
    let known = || released.iter().map(|&c| policy.columns[c].name.as_str());
    let Some(&column) = released.iter().find(|&&c| policy.columns[c].name == name) else {
        let hint = nearest(name, known()).map_or(String::new(), |n| format!(" Did you mean `{n}`?"));
        return Err(section.wrong(name, format!("is not a released column.{hint}")));
    };
    if matches!(policy.columns[column].role, Role::Detail { .. }) {
        return Err(section.wrong(name, "is a detail column. Name the column it is a detail of."));
    }
    let texts = match value {
        Value::Text(text) => vec![text.clone()],
        _ => section.texts(name)?.unwrap_or_default(),
    };
    match texts.is_empty() {
        true => Err(section.wrong(name, "does not list any values.")),
        false => Ok(Term::new(policy, column, texts)),
    }
}

/// Diagnoses of one sex with the other sex, for every column of sex and every one of ICD codes, of which
/// at least one is drawn.
fn built_in(policy: &Policy) -> Vec<Vec<Term>> {
    let is_sex = |c: &Column| {
        let name = c.name.to_lowercase();
        ["sex", "gender", "geschlecht", "sexe"]
            .iter()
            .any(|word| name.split(|b: char| !b.is_alphanumeric()).any(|w| w == *word))
    };
    let mut all = Vec::new();
    for sex in policy.released().into_iter().filter(|&c| is_sex(&policy.columns[c])) {
        for codes in policy.released() {
            let Rule::Codes(system) = &policy.columns[codes].rule else { continue };
            let drawn = |c: usize| !matches!(policy.columns[c].role, Role::Quasi | Role::Detail { .. });
            if codes == sex || !(drawn(sex) || drawn(codes)) {
                continue;
            }
            let (female, male): (&[&str], &[&str]) = match system {
                CodeSystem::Icd9 => (&ICD9_FEMALE, &ICD9_MALE),
                CodeSystem::Icd10 => (&ICD10_FEMALE, &ICD10_MALE),
            };
            for (who, what) in [(&MALE[..], female), (&FEMALE[..], male)] {
                let term =
                    |column, texts: &[&str]| Term::new(policy, column, texts.iter().map(|t| t.to_string()).collect());
                all.push(vec![term(sex, who), term(codes, what)]);
            }
        }
    }
    all
}
