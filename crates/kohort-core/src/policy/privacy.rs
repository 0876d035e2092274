//! The `[privacy]` section: who attacks, and what must hold.

use super::preset::Preset;
use super::section::{Item, Section, Value, nearest};
use crate::Result;
use crate::number::{Fraction, K};
use crate::privacy::{Knows, LDiversity};
use serde::{Deserialize, Serialize};

/// Describes which distance t-closeness measures by; orders and trees come from the sensitive column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TDistance {
    /// All values equally far apart.
    Equal,
    /// The distance follows the order of the values.
    Ordered,
    /// The distance follows the column's hierarchy.
    Hierarchical,
}

/// Describes what happens where a release and earlier ones together leave fewer than k candidates for somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LedgerRule {
    /// The custodian is told.
    #[default]
    Tell,
    /// The release is not published.
    Refuse,
}

/// Combinations of more codes than this are not counted.
const MOST_KNOWN_CODES: usize = 10;

/// The privacy requirements of a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Privacy {
    /// The least number of people in a class.
    pub k: K,
    /// The preset that says so, if the policy names one.
    pub preset: Option<&'static Preset>,
    /// The sets that the attacker may know, over the quasi-identifiers in table order.
    pub knows: Knows,
    /// The highest confidence in a listed sensitive value.
    pub confidence: Option<Fraction>,
    /// The diversity of sensitive values that a class must show.
    pub l_diversity: Option<LDiversity>,
    /// The maximum distance between a class and the table.
    pub t_closeness: Option<(Fraction, TDistance)>,
    /// Pairs of quasi-identifiers, levels of one variable, that nobody is taken to know together.
    pub not_together: Vec<(usize, usize)>,
    /// Holds what happens where earlier releases in the custodian's ledger reveal too much together with this one.
    pub ledger: LedgerRule,
}

impl Privacy {
    /// Reads the section; `quasi` are the quasi-identifiers' names in table order, `levels` pairs of
    /// them that are levels of one variable, the finer first, `patients` whether a column names them. `k` is used where the section names
    /// none, for questions that need no k.
    pub(super) fn read(
        section: &Section,
        quasi: &[&str],
        levels: &[(usize, usize)],
        patients: bool,
        k: Option<K>,
    ) -> Result<(Privacy, Vec<String>)> {
        section.only(&[
            "k",
            "max_risk",
            "knows",
            "confidence",
            "l_diversity",
            "t_closeness",
            "not_together",
            "power",
            "power_total",
            "power_rule",
            "knowledge",
            "max_high_risk",
            "preset",
            "ledger",
        ])?;
        for later in ["power", "power_total", "power_rule", "knowledge", "max_high_risk"] {
            if section.get(later).is_some() {
                return Err(section.wrong(later, "is for patient histories, not for a table."));
            }
        }
        let (k, preset) = read_k(section, k)?;
        let mut notes = Vec::new();
        let not_together = read_not_together(section, quasi, levels)?;
        // Who knows fewer columns matches more classes. What holds for rows in each holds in all of them; what
        // holds for the values of patients need not, so that every number up to N is counted.
        let asks = |key: &&str| section.get(key).is_some();
        let fewer_implied = !patients || !["confidence", "l_diversity", "t_closeness"].iter().any(asks);
        let mut knows = read_knows(section, quasi, fewer_implied, &mut notes)?;
        if let Knows::Sets(sets) = &mut knows {
            unite(section, sets, levels, &not_together)?;
        }
        let confidence = read_confidence(section)?;
        let (l_diversity, t_closeness) = (read_l(section)?, read_t(section)?);
        let ledger = read_ledger(section)?;
        Ok((Privacy { k, preset, knows, confidence, l_diversity, t_closeness, not_together, ledger }, notes))
    }

    /// Reads the section for sets of codes: k, and as `knows` the number m of codes an attacker may know.
    pub(super) fn read_codes(section: &Section, k: Option<K>) -> Result<Privacy> {
        section.only(&["k", "max_risk", "preset", "knows", "confidence", "ledger"])?;
        let asking = k.is_some();
        let (k, preset) = read_k(section, k)?;
        let confidence = read_confidence(section)?;
        let usual = "2 is usual; 5 models one discharge summary.";
        let m = match section.get("knows").map(|item| &item.value) {
            Some(Value::Number(_)) => section.whole("knows")?.unwrap_or_default(),
            None if asking => 2,
            None => {
                return Err(section.error(
                    section.line,
                    format!(
                        "[privacy] does not set `knows`, the number of a patient's codes that an attacker may \
                         know. It has no default for codes; {usual}"
                    ),
                ));
            }
            Some(_) => return Err(section.wrong("knows", format!("must be a number of codes. {usual}"))),
        };
        match usize::try_from(m) {
            Ok(m @ 1..=MOST_KNOWN_CODES) => Ok(Privacy {
                k,
                preset,
                knows: Knows::Any(m),
                confidence,
                l_diversity: None,
                t_closeness: None,
                not_together: Vec::new(),
                ledger: read_ledger(section)?,
            }),
            Ok(0) => Err(section.wrong("knows", format!("0 means an attacker who knows nothing. {usual}"))),
            _ => Err(section.wrong("knows", format!("must be at most {MOST_KNOWN_CODES}. {usual}"))),
        }
    }

    /// The number of a patient's codes that an attacker may know, where `knows` is a number.
    pub fn known_codes(&self) -> usize {
        match self.knows {
            Knows::Any(m) => m,
            Knows::All | Knows::Sets(_) => MOST_KNOWN_CODES,
        }
    }

    /// Returns whether the policy limits what is revealed about sensitive columns.
    pub fn reads_sensitive(&self) -> bool {
        self.confidence.is_some() || self.l_diversity.is_some() || self.t_closeness.is_some()
    }
}

fn read_confidence(section: &Section) -> Result<Option<Fraction>> {
    let confidence = section.share("confidence")?;
    if confidence.is_some_and(Fraction::is_zero) {
        return Err(
            section.wrong("confidence", "must be above 0: with 0, no person with a listed value could be published.")
        );
    }
    Ok(confidence)
}

/// k, and the preset that says so; where the section names neither, what is used instead.
pub(super) fn read_k(section: &Section, instead: Option<K>) -> Result<(K, Option<&'static Preset>)> {
    if let Some(preset) = Preset::read(section)? {
        return Ok((preset.k(), Some(preset)));
    }
    let k = match (section.whole("k")?, section.share("max_risk")?) {
        (Some(_), Some(_)) => Err(section.wrong("max_risk", "and `k` set the same limit. Keep one of them.")),
        (Some(k), None) => K::new(k).ok_or_else(|| {
            section.wrong(
                "k",
                format!(
                    "{k} protects nobody. The minimum is \
             2; 5 is usual for a trusted recipient, 11 or 20 for the public."
                ),
            )
        }),
        (None, Some(risk)) if risk.is_zero() => Err(section.wrong(
            "max_risk",
            "must be above 0. Usual values are \
             0.2 for a trusted recipient, 0.09 or 0.05 for the public.",
        )),
        (None, Some(risk)) => K::for_risk(risk).ok_or_else(|| {
            section.wrong(
                "max_risk",
                "1 protects nobody. 0.2 is usual for a trusted recipient, 0.09 or 0.05 for the public.",
            )
        }),
        (None, None) => instead.ok_or_else(|| {
            section.error(
                section.line,
                "[privacy] does not set `k` (or `max_risk`, or `preset`), the minimum number of patients who look the \
             same. It has no default; 5 is usual for a trusted recipient, 11 or 20 for the public.",
            )
        }),
    };
    Ok((k?, None))
}

fn read_knows(section: &Section, quasi: &[&str], fewer_implied: bool, notes: &mut Vec<String>) -> Result<Knows> {
    let Some(item) = section.get("knows") else { return Ok(Knows::All) };
    let knows = match &item.value {
        Value::Text(word) if word == "all" => Knows::All,
        Value::Number(_) => {
            let n = section.whole("knows")?.unwrap_or_default() as usize;
            if n == 0 {
                return Err(section.wrong(
                    "knows",
                    "0 means an attacker who knows nothing. Set \"all\", or the number of values they may know.",
                ));
            }
            if n >= quasi.len() && !fewer_implied {
                Knows::Any(quasi.len())
            } else if n >= quasi.len() {
                notes.push(format!(
                    "knows = {n}, but there are only {} quasi-identifiers. The attacker is assumed to know all of \
                     them.",
                    quasi.len()
                ));
                Knows::All
            } else {
                Knows::Any(n)
            }
        }
        Value::List(sets) => read_sets(section, sets, quasi)?,
        Value::Section(generated) => generate(generated, quasi)?,
        _ => {
            return Err(section.wrong(
                "knows",
                "must be \"all\", a number, a list of column sets, or { always = […], one_of = [[…], …] }.",
            ));
        }
    };
    if let Knows::Sets(sets) = &knows
        && let Some(never) = (0..quasi.len()).find(|q| !sets.iter().any(|s| s.contains(q)))
    {
        return Err(section.wrong(
            "knows",
            format!(
                "the quasi-identifier `{}` is not in any of the sets. Add it to one, or give it another role.",
                quasi[never]
            ),
        ));
    }
    Ok(knows)
}

fn position(section: &Section, key: &str, name: &str, quasi: &[&str]) -> Result<usize> {
    quasi.iter().position(|q| *q == name).ok_or_else(|| {
        let hint = nearest(name, quasi.iter().copied()).map_or(String::new(), |n| format!(" Did you mean `{n}`?"));
        section.wrong(key, format!("`{name}` is not a column with role = \"quasi\".{hint}"))
    })
}

/// The columns of one list within the list at `key`.
fn read_names(section: &Section, key: &str, item: &Item, quasi: &[&str]) -> Result<Vec<usize>> {
    let Value::List(names) = &item.value else {
        return Err(section.wrong(key, "must be a list of lists of column names."));
    };
    let mut set = Vec::new();
    for name in names {
        let Value::Text(name) = &name.value else {
            return Err(section.wrong(key, "must be a list of lists of column names."));
        };
        set.push(position(section, key, name, quasi)?);
    }
    set.sort_unstable();
    set.dedup();
    Ok(set)
}

fn read_sets(section: &Section, items: &[Item], quasi: &[&str]) -> Result<Knows> {
    let mut sets = items.iter().map(|item| read_names(section, "knows", item, quasi)).collect::<Result<Vec<_>>>()?;
    sets.retain(|s| !s.is_empty());
    if sets.is_empty() {
        return Err(section.wrong("knows", "does not list any set of columns."));
    }
    let mut distinct: Vec<Vec<usize>> = Vec::new();
    for set in sets {
        if !distinct.contains(&set) {
            distinct.push(set);
        }
    }
    Ok(Knows::Sets(distinct))
}

/// The pairs that nobody knows together: each must be two levels of one variable, so that the
/// assumption cannot take back what the policy says an attacker knows.
fn read_not_together(section: &Section, quasi: &[&str], levels: &[(usize, usize)]) -> Result<Vec<(usize, usize)>> {
    let mut pairs = Vec::new();
    for item in section.list("not_together")?.unwrap_or_default() {
        let set = read_names(section, "not_together", item, quasi)?;
        let [a, b] = set[..] else {
            return Err(section.wrong("not_together", "must be a list of pairs: [[\"mrdx\", \"cmg\"]]."));
        };
        if !levels.contains(&(a, b)) && !levels.contains(&(b, a)) {
            return Err(section.wrong(
                "not_together",
                format!(
                    "`{}` and `{}` are not declared as levels of one variable. Set of = [\"…\"] for the finer \
                     one in [columns].",
                    quasi[a], quasi[b]
                ),
            ));
        }
        pairs.push((a, b));
    }
    Ok(pairs)
}

/// Someone may know two levels of one variable where neither tells the other: sets that hold either
/// also get their union, unless the policy says that nobody knows both (P-3).
fn unite(
    section: &Section,
    sets: &mut Vec<Vec<usize>>,
    levels: &[(usize, usize)],
    not_together: &[(usize, usize)],
) -> Result<()> {
    let mut next = 0;
    while next < sets.len() {
        for &(a, b) in levels.iter().filter(|&&(a, b)| !not_together.contains(&(a.min(b), a.max(b)))) {
            let set = &sets[next];
            if set.contains(&a) == set.contains(&b) {
                continue;
            }
            let mut union = [&set[..], &[if set.contains(&a) { b } else { a }]].concat();
            union.sort_unstable();
            if !sets.contains(&union) {
                sets.push(union);
            }
        }
        if sets.len() > 10_000 {
            return Err(section.wrong(
                "knows",
                "results in more than 10,000 sets, including the unions of levels of \
                 one variable. List pairs that nobody knows together under `not_together`.",
            ));
        }
        next += 1;
    }
    Ok(())
}

/// Every set of `always` with one of each list of `one_of`.
fn generate(section: &Section, quasi: &[&str]) -> Result<Knows> {
    section.only(&["always", "one_of"])?;
    let always = section.texts("always")?.unwrap_or_default();
    let mut sets = vec![always.iter().map(|n| position(section, "always", n, quasi)).collect::<Result<Vec<_>>>()?];
    for choice in section.list("one_of")?.unwrap_or_default() {
        let choices = read_names(section, "one_of", choice, quasi)?;
        if choices.is_empty() || sets.len() * choices.len() > 10_000 {
            return Err(section.wrong("one_of", "must be non-empty lists that result in at most 10,000 sets."));
        }
        sets = sets.iter().flat_map(|set| choices.iter().map(|c| [&set[..], &[*c]].concat())).collect();
    }
    for set in &mut sets {
        set.sort_unstable();
        set.dedup();
    }
    sets.sort();
    sets.dedup();
    if sets.iter().any(Vec::is_empty) {
        return Err(section.wrong("always", "does not name any column."));
    }
    Ok(Knows::Sets(sets))
}

fn read_l(section: &Section) -> Result<Option<LDiversity>> {
    let one_of =
        || section.wrong("l_diversity", "must be one of { distinct = 3 }, { entropy = 3 }, { recursive = [2, 3] }.");
    let l = match section.get("l_diversity").map(|item| &item.value) {
        None => return Ok(None),
        Some(Value::Section(own)) => own,
        Some(_) => return Err(one_of()),
    };
    l.only(&["distinct", "entropy", "recursive"])?;
    let at_least_two = |n: u64| if n >= 2 { Ok(n) } else { Err(section.wrong("l_diversity", "must be at least 2.")) };
    if l.entries.len() != 1 {
        return Err(one_of());
    }
    if let Some(n) = l.whole("distinct")? {
        return Ok(Some(LDiversity::Distinct(at_least_two(n)?)));
    }
    if let Some(n) = l.whole("entropy")? {
        return Ok(Some(LDiversity::Entropy(at_least_two(n)?)));
    }
    let wrong = || {
        section.wrong(
            "l_diversity",
            "`recursive` must be [c, l], where c is above 0 and l is a whole number of \
             at least 2.",
        )
    };
    match l.decimals("recursive")?.as_deref() {
        Some([c, n]) => {
            let n = n.to_whole().and_then(|n| u64::try_from(n).ok()).ok_or_else(wrong)?;
            Ok(Some(LDiversity::Recursive { c: c.to_ratio().ok_or_else(wrong)?, l: at_least_two(n)? }))
        }
        _ => Err(wrong()),
    }
}

pub(super) fn read_ledger(section: &Section) -> Result<LedgerRule> {
    let words = [("tell", LedgerRule::Tell), ("refuse", LedgerRule::Refuse)];
    Ok(section.word("ledger", &words)?.unwrap_or_default())
}

fn read_t(section: &Section) -> Result<Option<(Fraction, TDistance)>> {
    let Some(item) = section.get("t_closeness") else { return Ok(None) };
    let Value::Section(t) = &item.value else {
        return Ok(section.share("t_closeness")?.map(|max| (max, TDistance::Equal)));
    };
    t.only(&["max", "distance"])?;
    let words =
        [("equal", TDistance::Equal), ("ordered", TDistance::Ordered), ("hierarchical", TDistance::Hierarchical)];
    let distance = t.word("distance", &words)?.unwrap_or(TDistance::Equal);
    let max = t
        .share("max")?
        .ok_or_else(|| section.wrong("t_closeness", "needs `max`: { max = 0.2, distance = \"ordered\" }."))?;
    Ok(Some((max, distance)))
}
