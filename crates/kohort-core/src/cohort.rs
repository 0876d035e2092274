//! The people of a table as a method sees them: distinct tuples, their hierarchies, and what is
//! required of their sensitive values.

use crate::hierarchy::{Hierarchy, MISSING, Rule, SUPPRESSED};
use crate::number::Decimal;
use crate::policy::{Column, Policy, Role, TDistance, Unmapped};
use crate::privacy::{Confidence, Distance, Knows, Sensitive, Shorter, TCloseness};
use crate::stock::{self, Stock};
use crate::table::{Counting, Dictionary, Source, Tuples, count};
use crate::{Error, Result};

/// Up to how many rows the tuple of each row is remembered: 32 MB.
const REMEMBER: u64 = 8 << 20;

/// A quasi-identifier over its distinct values.
#[derive(Debug, Clone)]
pub struct Quasi {
    /// Its name.
    pub name: String,
    /// Its place in the table.
    pub column: usize,
    /// Its levels.
    pub hierarchy: Hierarchy,
    /// The levels a method may choose, ascending.
    pub levels: Vec<usize>,
    /// What its loss counts.
    pub weight: f64,
}

/// A column whose values are in the tuples and leave as they are.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Its name.
    pub name: String,
    /// Its place in the table.
    pub column: usize,
    /// Its place in the tuples.
    pub position: usize,
}

/// A sensitive column with something required of it.
#[derive(Debug, Clone)]
pub struct Required {
    /// The column.
    pub kept: Kept,
    /// What is required.
    pub requirement: Sensitive,
}

/// What a relational method sees: never a row, never an `other` column.
#[derive(Debug, Clone)]
pub struct Cohort {
    /// Distinct tuples: quasi-identifiers first, then details, then required sensitive columns,
    /// then the class.
    pub tuples: Tuples,
    /// The quasi-identifiers; the i-th stands at place i of the tuples.
    pub quasi: Vec<Quasi>,
    /// Columns finer than a quasi-identifier.
    pub details: Vec<(Kept, Vec<usize>)>,
    /// Sensitive columns with requirements.
    pub required: Vec<Required>,
    /// The column a classification is to foretell: the only one with role class, if it has at
    /// most [`MOST_CLASSES`] values.
    pub class: Option<Kept>,
    /// The sets of quasi-identifiers an adversary may know.
    pub sets: Vec<Vec<usize>>,
    /// Pairs of quasi-identifiers of which the first is declared to be finer than the second.
    pub dependencies: Vec<(usize, usize)>,
    /// Rows that rules of the policy excluded.
    pub excluded: u64,
    /// The sensitive column a catalog is about: in the tuples, whether or not anything is required of it.
    pub catalogued: Option<Kept>,
    /// What rows may show that stand for nobody, where the method adds such: every released column
    /// that is no quasi-identifier and no detail.
    pub stocks: Vec<Stock>,
    /// What the custodian should know.
    pub notes: Vec<String>,
    /// How many threads may work.
    pub threads: usize,
}

impl Cohort {
    /// The table's columns that make a tuple, by place in the tuples.
    pub fn columns(&self) -> Vec<usize> {
        let quasi = self.quasi.iter().map(|q| q.column);
        let details = self.details.iter().map(|(kept, _)| kept.column);
        quasi.chain(details).chain(self.kept().map(|kept| kept.column)).collect()
    }

    /// The same people, against what the adversary of another policy about the same columns knows.
    pub fn know(&mut self, policy: &Policy) -> Result<()> {
        self.sets = known_sets(policy, self.quasi.len())?;
        Ok(())
    }

    /// The columns of the tuples that leave as they are.
    pub fn kept(&self) -> impl Iterator<Item = &Kept> {
        let required = self.required.iter().map(|r| &r.kept);
        let catalogued = self.catalogued.iter().filter(|c| self.required.iter().all(|r| r.kept.column != c.column));
        required.chain(catalogued).chain(&self.class)
    }
}

#[cfg(test)]
impl Cohort {
    /// Tuples whose columns are all quasi-identifiers, generalized by these rules.
    pub(crate) fn of(tuples: Tuples, rule: impl Fn(usize) -> Rule) -> Cohort {
        let quasi = (0..tuples.width()).map(|q| {
            let dictionary = &tuples.dictionaries[q];
            let hierarchy = rule(q).apply(&dictionary.texts(), tuples.frequencies(q)[MISSING as usize] > 0);
            let levels = (0..hierarchy.levels.len()).collect();
            Quasi { name: format!("q{q}"), column: q, hierarchy, levels, weight: 1.0 }
        });
        Cohort {
            quasi: quasi.collect(),
            details: vec![],
            required: vec![],
            class: None,
            sets: vec![(0..tuples.width()).collect()],
            dependencies: vec![],
            excluded: 0,
            catalogued: None,
            stocks: vec![],
            notes: vec![],
            threads: 1,
            tuples,
        }
    }
}

/// A class column with more values is none that a tree could foretell, and would make a tuple of
/// nearly every row: it is not carried.
pub const MOST_CLASSES: usize = 100;

/// Counts the table: one pass.
pub fn survey(source: &Source, policy: &Policy) -> Result<Cohort> {
    let quasi_columns = policy.quasi();
    let details = policy.positions(|r| matches!(r, Role::Detail { .. }));
    let invents = policy.own.invents.as_ref();
    let catalogue = invents.is_some_and(|i| i.catalog);
    let sensitive = if policy.privacy.reads_sensitive() || catalogue {
        policy.positions(|r| matches!(r, Role::Sensitive { .. }))
    } else {
        Vec::new()
    };
    // Before anything is read: what is out of reach is said at once.
    let sets = known_sets(policy, quasi_columns.len())?;
    let mut notes = Vec::new();
    let mut class = only_class(policy, &mut notes);
    let mut columns = [&quasi_columns[..], &details, &sensitive].concat();
    let first_sensitive = quasi_columns.len() + details.len();
    let after_sensitive = columns.len();
    columns.extend(class);
    source.progress().stage("reading", source.bytes());
    let counted = |columns: &[usize]| {
        count(source, &Counting { columns: columns.to_vec(), patient: policy.patient(), remember: REMEMBER })
    };
    let mut tuples = counted(&columns)?;
    if class.is_some() && tuples.dictionaries[after_sensitive].len() > MOST_CLASSES + 1 {
        notes.push(format!(
            "column `{}`: more than {MOST_CLASSES} values, too many for a class: classification is not measured.",
            policy.columns[columns[after_sensitive]].name
        ));
        columns.truncate(after_sensitive);
        class = None;
        tuples = counted(&columns)?;
    }
    for (position, &column) in columns.iter().enumerate() {
        refuse_star(source, column, &tuples.dictionaries[position])?;
    }
    let mut quasi = Vec::new();
    for (position, &column) in quasi_columns.iter().enumerate() {
        quasi.push(generalize(source, column, &policy.columns[column], &tuples.dictionaries[position], &mut notes)?);
    }
    let stocks = match invents {
        None => Vec::new(),
        Some(invents) => stock::stocks(source, policy, invents, &columns, &mut tuples)?,
    };
    let kept = |position: usize| Kept {
        name: policy.columns[columns[position]].name.clone(),
        column: columns[position],
        position,
    };
    let catalogued = catalogue.then(|| kept(first_sensitive)).filter(|_| first_sensitive < after_sensitive);
    let required = (first_sensitive..after_sensitive)
        .filter(|_| policy.privacy.reads_sensitive())
        .map(|position| {
            let column = &policy.columns[columns[position]];
            let requirement = require(source, policy, column, &tuples.dictionaries[position], &mut notes)?;
            Ok(Required { kept: kept(position), requirement })
        })
        .collect::<Result<Vec<_>>>()?;
    let details = (quasi_columns.len()..first_sensitive)
        .map(|position| (kept(position), detail_of(policy, columns[position], &quasi)))
        .collect();
    let class = class.map(|_| kept(after_sensitive));
    let dependencies = (0..quasi.len()).flat_map(|finer| {
        let of = &policy.columns[quasi[finer].column].of;
        let quasi = &quasi;
        (0..quasi.len()).filter(|&q| of.contains(&quasi[q].name)).map(move |coarser| (finer, coarser))
    });
    let dependencies = dependencies.collect();
    let excluded = source.excluded().map_or(0, |e| e.rows);
    if let Some(exclusion) = source.excluded() {
        for (rule, hits) in policy.exclude.iter().zip(&exclusion.hits) {
            let column = &policy.columns[rule.column].name;
            notes.push(format!("excluded: {hits} rows have one of the listed codes in `{column}`."));
        }
    }
    Ok(Cohort {
        tuples,
        quasi,
        details,
        required,
        class,
        sets,
        dependencies,
        excluded,
        catalogued,
        stocks,
        notes,
        threads: source.threads(),
    })
}

/// The column with role class, if there is one and no more.
fn only_class(policy: &Policy, notes: &mut Vec<String>) -> Option<usize> {
    let classes = policy.positions(|r| *r == Role::Class);
    match classes[..] {
        [] => None,
        [one] => Some(one),
        _ => {
            notes.push("several columns have role = \"class\": classification is not measured.".into());
            None
        }
    }
}

/// The sets to be counted. With patients as unit, what is required of sensitive values does not
/// carry over from a set to its subsets, so that all sizes are counted.
fn known_sets(policy: &Policy, quasi: usize) -> Result<Vec<Vec<usize>>> {
    let shorter = shorter(policy.patient().is_some(), policy.privacy.reads_sensitive());
    let knows = &policy.privacy.knows;
    match knows.number(quasi, shorter) {
        Some(n) if n <= MOST_SETS => Ok(knows.sets(quasi, shorter)),
        n => {
            let asked = if let Knows::Any(n) = knows { (*n).min(quasi) } else { quasi };
            let reach =
                (1..asked).rev().find(|&l| Knows::Any(l).number(quasi, shorter).is_some_and(|n| n <= MOST_SETS));
            let count = n.map_or("too many".into(), |n| n.to_string());
            Err(policy.error(format!(
                "`knows` makes {count} sets of quasi-identifiers, more than the {MOST_SETS} that are counted. In reach: knows = {}, or \"all\".",
                reach.unwrap_or(1)
            )))
        }
    }
}

/// More sets than this are not counted.
pub const MOST_SETS: u64 = 1_000_000;

/// Which sets must be counted for these requirements.
pub fn shorter(patients: bool, sensitive: bool) -> Shorter {
    if patients && sensitive { Shorter::Counted } else { Shorter::Implied }
}

fn refuse_star(source: &Source, column: usize, dictionary: &Dictionary) -> Result<()> {
    if dictionary.code(SUPPRESSED).is_none() {
        return Ok(());
    }
    let (rows, lines) = source.find_lines(column, |cell| cell == SUPPRESSED.as_bytes())?;
    Err(star_in_data(source, column, rows, &lines))
}

/// `*` means suppressed in a release: a cell of the data must not say so.
pub(crate) fn star_in_data(source: &Source, column: usize, rows: u64, lines: &[u64]) -> Error {
    Error::yours(format!(
        "{}, column `{}`: `*` stands in {}. In a release it means suppressed: list it under `missing` in [input], or mend the data.",
        source.name(),
        source.columns()[column],
        on_lines(rows, lines)
    ))
}

fn on_lines(rows: u64, lines: &[u64]) -> String {
    let first: Vec<String> = lines.iter().map(u64::to_string).collect();
    match (rows, lines.len() as u64) {
        (1, _) => format!("1 row (line {})", first.join("")),
        (n, shown) if n == shown => format!("{n} rows (lines {})", first.join(", ")),
        (n, _) => format!("{n} rows (first lines {})", first.join(", ")),
    }
}

fn generalize(
    source: &Source,
    column: usize,
    policy: &Column,
    dictionary: &Dictionary,
    notes: &mut Vec<String>,
) -> Result<Quasi> {
    let texts = dictionary.texts();
    let hierarchy = policy.rule.apply(&texts, dictionary.missing_occurs);
    if !hierarchy.uncovered.is_empty() {
        let uncovered: Vec<&str> = hierarchy.uncovered.iter().map(|&c| texts[c as usize]).collect();
        let set: std::collections::BTreeSet<&[u8]> = uncovered.iter().map(|t| t.as_bytes()).collect();
        let (rows, lines) = source.find_lines(column, |cell| set.contains(cell))?;
        let values = if uncovered.len() == 1 { "1 value".into() } else { format!("{} values", uncovered.len()) };
        match policy.unmapped {
            Unmapped::Suppressed => notes.push(format!(
                "column `{}`: {values} in {} not covered by {} leave as *.",
                policy.name,
                on_lines(rows, &lines),
                policy.rule_text
            )),
            Unmapped::Refused => {
                let shown = uncovered.iter().take(20).map(|t| t.to_string()).collect();
                return Err(Error::yours(format!(
                    "{}, column `{}`: {values} in {} not covered by {}. Mend them, extend the hierarchy, list them under `missing` in [input], or accept that they leave as *: unmapped = \"suppress\". (--show-values shows them.)",
                    source.name(),
                    policy.name,
                    on_lines(rows, &lines),
                    policy.rule_text
                ))
                .about(shown));
            }
        }
    }
    Ok(Quasi {
        name: policy.name.clone(),
        column,
        hierarchy,
        levels: policy.levels.clone(),
        weight: policy.weight.to_f64(),
    })
}

fn detail_of(policy: &Policy, column: usize, quasi: &[Quasi]) -> Vec<usize> {
    let Role::Detail { of } = &policy.columns[column].role else { return Vec::new() };
    (0..quasi.len()).filter(|&q| of.contains(&quasi[q].name)).collect()
}

/// What the policy requires of one sensitive column, in its codes.
fn require(
    source: &Source,
    policy: &Policy,
    column: &Column,
    dictionary: &Dictionary,
    notes: &mut Vec<String>,
) -> Result<Sensitive> {
    let privacy = &policy.privacy;
    let Role::Sensitive { values } = &column.role else { return Ok(Sensitive::default()) };
    let listed = values.as_ref().map(|values| {
        let mut listed = vec![false; dictionary.len()];
        for value in values {
            match dictionary.code(value) {
                Some(code) if code != MISSING => listed[code as usize] = true,
                _ => notes.push(format!(
                    "column `{}`: the listed value \"{value}\" does not occur in the data.",
                    column.name
                )),
            }
        }
        listed
    });
    Ok(Sensitive {
        confidence: privacy.confidence.map(|max| Confidence { max, listed }),
        l_diversity: privacy.l_diversity.clone(),
        t_closeness: match privacy.t_closeness {
            None => None,
            Some((max, distance)) => {
                let point = source.input().decimal;
                Some(TCloseness { max, distance: measure(policy, column, dictionary, distance, point)? })
            }
        },
    })
}

fn measure(
    policy: &Policy,
    column: &Column,
    dictionary: &Dictionary,
    distance: TDistance,
    point: u8,
) -> Result<Distance> {
    let texts = dictionary.texts();
    Ok(match distance {
        TDistance::Equal => Distance::Equal,
        TDistance::Ordered => Distance::Ordered(order(&texts, column.domain.as_deref(), point).ok_or_else(|| {
            policy.error(format!(
                "t_closeness by order: the values of `{}` are no numbers. Say domain = [\"least\", …, \"most\"] for that column, with every value.",
                column.name
            ))
        })?),
        TDistance::Hierarchical => {
            if matches!(column.rule, Rule::Flat) {
                return Err(policy.error(format!("t_closeness by hierarchy needs a hierarchy on `{}`.", column.name)));
            }
            let hierarchy = column.rule.apply(&texts, dictionary.missing_occurs);
            if !hierarchy.uncovered.is_empty() {
                return Err(policy.error(format!(
                    "t_closeness by hierarchy: {} values of `{}` are not covered by {}.",
                    hierarchy.uncovered.len(),
                    column.name,
                    column.rule_text
                )));
            }
            Distance::Hierarchical(hierarchy.levels.into_iter().skip(1).map(|l| l.label_of).collect())
        }
    })
}

/// Value codes in their order: as the domain lists them, or as numbers with this decimal mark.
pub(crate) fn order(texts: &[&str], domain: Option<&[String]>, point: u8) -> Option<Vec<u32>> {
    let codes = 1..texts.len() as u32;
    match domain {
        Some(domain) => {
            let mut order: Vec<(usize, u32)> = Vec::new();
            for code in codes {
                order.push((domain.iter().position(|d| d == texts[code as usize])?, code));
            }
            order.sort_unstable();
            Some(order.into_iter().map(|o| o.1).collect())
        }
        None => {
            // Values that are written differently but mean the same number are in the order of their texts.
            let mut order: Vec<(Decimal, &str, u32)> = Vec::new();
            for code in codes {
                let text = texts[code as usize];
                order.push((Decimal::parse(text, point)?, text, code));
            }
            order.sort_unstable();
            Some(order.into_iter().map(|o| o.2).collect())
        }
    }
}
