//! Counts the classes of a release from its bytes, for each set of columns the attacker may know.

use super::ReleaseFolder;
use super::catalog::CatalogRecount;
use super::class_checks::{ClassChecks, Extremes, WholeTable};
use super::formulas::Formulas;
use super::original::line_sums::LineSums;
use super::outside::{Outside, Outsiders};
use crate::classes::{ColumnCodes, KnownPeople, People, any_three, each_set};
use crate::cohort::MOST_SETS_OF_THREE;
use crate::hierarchy::SUPPRESSED;
use crate::policy::{Policy, TDistance};
use crate::privacy::{Confidence, Distance, Knows, Sensitive, Shorter, TCloseness};
use crate::release::{
    Certificate, Claim, ColumnClaim, ColumnLevels, KnowsClaim, SensitiveClaim, SensitiveShown, TableShown,
};
use crate::table::{Chunk, Counting, Dictionary, Keys, Progress, Source, Tuples, count, count_and_sum, open};
use crate::visible::is_visible;
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// Up to how many rows the tuple of each row is remembered for the comparison with the original.
const REMEMBER: u64 = 4_000_000;

/// More cells are not looked at to see whether a detail reveals what it belongs to: no table of Kohort's needs as many.
const MOST_LOOKS: u64 = 1 << 32;

/// More columns are not counted: each needs memory of its own, on every thread.
const MOST_COLUMNS: usize = 1 << 14;

/// The most values times steps of a tree of sensitive values.
const LARGEST_TREE: usize = 1 << 24;

/// The counts over all sets.
#[derive(Debug, Clone, PartialEq)]
pub struct Recount {
    /// Rows of the release.
    pub rows: u64,
    /// Sets of columns counted.
    pub sets: u64,
    /// Classes over all quasi-identifiers together.
    pub classes: u64,
    /// The smallest class of any set, in rows.
    pub smallest_class: u64,
    /// One entry per sensitive column: name, and the extremes over all sets.
    pub sensitive: Vec<(String, Extremes)>,
    /// The counts of the catalog of synthetic records, if there is one.
    pub catalog: Option<CatalogRecount>,
    /// Columns with cells that a spreadsheet would take for formulas.
    pub formulas: Vec<String>,
}

impl Recount {
    /// The recount as the certificate shows it.
    pub fn shown(&self) -> TableShown {
        // Rounded up, so that the text is never below the share itself.
        let share = |(h, n): (u64, u64)| {
            let up = (u128::from(h) * 10_000).div_ceil(u128::from(n.max(1)));
            format!("{}.{:04}", up / 10_000, up % 10_000)
        };
        // What lies within a float's error of a step is that step: 0.07 is not 0.0701, nor 3 values 2.9999.
        // Adding zero makes -0 a 0: which of the two `max` returns depends on how Kohort was built.
        let up = |x: f64| format!("{:.4}", (x * 1e4 - 1e-8).ceil().max(0.0) / 1e4 + 0.0);
        let down = |x: f64| format!("{:.4}", (x * 1e4 + 1e-8).floor() / 1e4);
        let sensitive = self.sensitive.iter().map(|(name, e)| SensitiveShown {
            column: name.clone(),
            highest_confidence: e.confidence.map(share),
            least_diversity: e.diversity.map(down),
            largest_distance: e.distance.map(up),
        });
        TableShown {
            rows: self.rows,
            sets: self.sets,
            classes: self.classes,
            smallest_class: self.smallest_class,
            sensitive: sensitive.collect(),
            catalog: self.catalog.as_ref().map(CatalogRecount::shown),
        }
    }
}

/// A release, read and counted.
pub(super) struct Counted {
    /// The input lines of its rows, where they are known.
    pub(super) lines: Option<LineSums>,
    /// Distinct released rows over quasi-identifiers, details and claimed sensitive columns.
    pub(super) tuples: Tuples,
    /// Where each tuple column stands in the release, and its name.
    pub(super) columns: Vec<(usize, String)>,
    /// How many of them are quasi-identifiers; they come first.
    pub(super) quasi: usize,
    /// How many are details; they come next, then the claimed sensitive ones.
    pub(super) details: usize,
    /// The place of the catalog's column in the tuples, if there is a catalog.
    pub(super) catalogued: Option<usize>,
    /// The sets to be counted, as places among the quasi-identifiers.
    pub(super) sets: KnownSets,
    /// What is claimed of each sensitive column, in the release's codes.
    pub(super) requirements: Vec<Sensitive>,
    pub(super) source: Source,
    /// The claim, completed by the values that are released.
    pub(super) claim: Claim,
    pub(super) recount: Recount,
    /// Released columns that are not quasi-identifiers.
    pub(super) outside: Vec<Outside>,
    /// The groups of released labels that the release lists, by place among the quasi-identifiers.
    pub(super) label_levels: BTreeMap<usize, ColumnLevels>,
}

/// The sets of quasi-identifiers that a claim is about, by their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KnownSets {
    /// These.
    Listed(Vec<Vec<usize>>),
    /// Any three of these columns, which are too many sets to be listed.
    AnyThree(Vec<usize>),
}

impl KnownSets {
    /// How many sets there are.
    pub(super) fn number(&self) -> u64 {
        match self {
            KnownSets::Listed(sets) => sets.len() as u64,
            KnownSets::AnyThree(columns) => Knows::Any(3).number(columns.len(), Shorter::Implied).unwrap_or(u64::MAX),
        }
    }

    /// The sets that are listed.
    pub(super) fn listed(&self) -> &[Vec<usize>] {
        match self {
            KnownSets::Listed(sets) => sets,
            KnownSets::AnyThree(_) => &[],
        }
    }
}

/// Where the order and the tree of sensitive values come from.
#[derive(Clone, Copy)]
pub(super) enum Values<'a> {
    /// The certificate lists them: there is no policy.
    AsClaimed,
    /// The policy decides, with this decimal mark: what the certificate lists is not asked.
    OfPolicy(&'a Policy, u8),
}

/// Reads a release and recounts its claim in rows. `lines`: where private/rows is, if it is needed.
/// With patients as the unit the rows of a class are at least its patients; what is claimed of sensitive values cannot be recounted without them.
pub(super) fn recount(
    release: &ReleaseFolder,
    certificate: &Certificate,
    values: Values,
    lines: Option<&Path>,
    threads: usize,
    progress: &Arc<dyn Progress>,
) -> Result<Counted> {
    let mut claim = certificate.promise.claim.clone();
    let source = open_data(release, certificate, threads, progress)?;
    let of_role = |role: &str| -> Vec<usize> {
        (0..certificate.promise.columns.len()).filter(|&c| certificate.promise.columns[c].role == role).collect()
    };
    let (quasi, details) = (of_role("quasi"), of_role("detail"));
    let mut sensitive = Vec::new();
    // A stranger's lists may be long: none is looked through for every item of another.
    let declared = of_role("sensitive").into_iter().map(|c| (certificate.promise.columns[c].name.as_str(), c));
    let mut declared: HashMap<&str, usize> = declared.collect();
    let catalog = claim.synthetic.as_ref().and_then(|i| i.catalog.as_ref());
    let catalog = catalog.map(|name| declared.get(name.as_str()).copied());
    for s in &claim.sensitive {
        let place = declared.remove(s.column.as_str());
        let wrong = || damaged("a sensitive column of the claim is not declared, or is named twice");
        sensitive.push(place.ok_or_else(wrong)?);
    }
    if quasi.is_empty() {
        return Err(damaged("no quasi-identifier is declared"));
    }
    let mut columns = [&quasi[..], &details, &sensitive].concat();
    let mut catalogued = None;
    if let Some(place) = catalog {
        let place = place.ok_or_else(|| damaged("the column of the catalog is not declared"))?;
        catalogued = Some(columns.iter().position(|&c| c == place).unwrap_or(columns.len()));
        if catalogued == Some(columns.len()) {
            columns.push(place);
        }
    }
    let remember = if lines.is_none() { 0 } else { REMEMBER };
    let counting = Counting { columns: columns.clone(), patient: None, remember };
    let is_kept = |c: &usize| !matches!(certificate.promise.columns[*c].role.as_str(), "quasi" | "detail");
    let kept = (0..certificate.promise.columns.len()).filter(is_kept).collect();
    let mut lines = lines.map(|path| LineSums::open(path, kept, claim.synthetic.is_some())).transpose()?;
    let fingerprint_key = lines.as_ref().map(LineSums::fingerprint_key);
    let formulas = Formulas::new(certificate.promise.columns.len());
    // While a release is made, its hashes are not known yet; what its columns reveal is in the evidence.
    let published = certificate.files.iter().all(|file| !file.sha256.is_empty());
    let outsiders = if published { Outsiders::of(certificate) } else { Outsiders::nobody() };
    let look = |chunk: &Chunk| {
        formulas.look(chunk);
        outsiders.look(chunk);
        fingerprint_key.as_ref().map_or(Vec::new(), |(kept, key)| LineSums::fingerprints(kept, key, chunk))
    };
    let numbers = |prints: Vec<u64>, rows| lines.as_mut().map_or(Ok(Vec::new()), |l| l.take(&prints, rows));
    let counted = count_and_sum(&source, &counting, look, numbers);
    let (tuples, sums) = counted.map_err(|e| match e.message.ends_with("has no rows.") {
        true => Error::refused("the release has no rows."),
        false => e,
    })?;
    lines.as_mut().map_or(Ok(()), |l| l.end(sums))?;
    let rows = certificate.files.iter().find_map(|f| f.rows);
    if rows != Some(tuples.rows) {
        return Err(Error::refused("the number of rows of the data differs from the certificate."));
    }
    let names: Vec<&str> = quasi.iter().map(|&c| certificate.promise.columns[c].name.as_str()).collect();
    let place_of: HashMap<&str, usize> = (0..).zip(&names).map(|(place, name)| (*name, place)).collect();
    let mut left = MOST_LOOKS;
    for (position, &column) in columns[..quasi.len() + details.len()].iter().enumerate() {
        finer_hides(&tuples, &place_of, &certificate.promise.columns[column], position, &mut left)?;
    }
    let shown = |q: usize| (1..tuples.len()).any(|t| tuples.code(t, q) != tuples.code(0, q));
    let differs: Vec<bool> = (0..quasi.len()).map(shown).collect();
    let sets = sets(&claim, &names, &differs, certificate.promise.patients)?;
    if let Values::OfPolicy(policy, point) = values {
        for (i, own) in claim.sensitive.iter_mut().enumerate() {
            spread(own, policy, point, &tuples.dictionaries[quasi.len() + details.len() + i])?;
        }
    }
    let requirements = claim.sensitive.iter().enumerate();
    let requirements = requirements
        .map(|(i, s)| requirement(s, &tuples.dictionaries[quasi.len() + details.len() + i]))
        .collect::<Result<Vec<_>>>()?;
    let columns = columns.iter().map(|&c| (c, certificate.promise.columns[c].name.clone())).collect();
    let (quasi, details) = (quasi.len(), details.len());
    let recount = Recount {
        rows: tuples.rows,
        sets: 0,
        classes: 0,
        smallest_class: 0,
        sensitive: Vec::new(),
        catalog: None,
        formulas: Vec::new(),
    };
    let outside = outsiders.found();
    let mut counted = Counted {
        lines,
        tuples,
        columns,
        quasi,
        details,
        catalogued,
        sets,
        requirements,
        source,
        claim,
        recount,
        outside,
        label_levels: BTreeMap::new(),
    };
    counted.label_levels = super::label_levels::read(release, certificate, &counted)?;
    let required = match certificate.sample {
        // What is claimed was counted on the whole file.
        Some(_) => Required::Nothing,
        None if certificate.promise.patients => Required::KAlone,
        None => Required::Everything,
    };
    counted.recount = counted.check(counted.claim.k.get(), People::rows(&counted.tuples.weights), required)?;
    counted.recount.catalog = super::catalog::recount(release, &counted, &counted.claim)?;
    counted.recount.formulas = formulas.found(certificate.promise.columns.iter().map(|c| &c.name));
    Ok(counted)
}

/// A column must not be shown where one it is declared finer than is suppressed: it would tell it.
fn finer_hides(
    tuples: &Tuples,
    place_of: &HashMap<&str, usize>,
    column: &ColumnClaim,
    position: usize,
    left: &mut u64,
) -> Result<()> {
    if column.of.is_empty() && column.role != "detail" {
        return Ok(());
    }
    let of: Option<BTreeSet<usize>> = column.of.iter().map(|name| place_of.get(name.as_str()).copied()).collect();
    let of =
        of.filter(|of| !of.is_empty()).ok_or_else(|| damaged("a detail column does not name a quasi-identifier"))?;
    let suppressed = |p: usize| tuples.dictionaries[p].code(SUPPRESSED);
    let own = suppressed(position);
    let gone: Vec<(usize, u32)> = of.iter().filter_map(|&q| Some((q, suppressed(q)?))).collect();
    let looks = (gone.len() as u64).saturating_mul(tuples.len() as u64);
    *left = left.checked_sub(looks).ok_or_else(|| damaged("the columns have more details than can be looked at"))?;
    let tells = |t: usize| gone.iter().any(|&(q, star)| tuples.code(t, q) == star);
    match (0..tuples.len()).any(|t| Some(tuples.code(t, position)) != own && tells(t)) {
        true => Err(Error::refused(format!(
            "column `{}`: a detail is released although the column it belongs to is suppressed.",
            column.name
        ))),
        false => Ok(()),
    }
}

/// What is checked of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Required {
    /// Classes are counted, and may be as small as they are.
    Nothing,
    KAlone,
    Everything,
}

impl Counted {
    /// The released tuple of each row: as remembered, or read again.
    pub(super) fn of_row(&mut self) -> Result<Vec<u32>> {
        if let Some(of_row) = self.tuples.of_row.take() {
            return Ok(of_row);
        }
        let columns = self.columns.iter().map(|c| c.0).collect();
        let again = count(&self.source, &Counting { columns, patient: None, remember: u64::MAX })?;
        again.of_row.ok_or_else(|| Error::refused("the release changed while it was read."))
    }

    /// Checks every class of every set; refuses the first set that fails.
    pub(super) fn check(&self, least: u64, people: People, required: Required) -> Result<Recount> {
        let codes = |position: usize| ColumnCodes {
            of: (0..self.tuples.len()).map(|t| self.tuples.code(t, position)).collect(),
            len: self.tuples.dictionaries[position].len(),
        };
        let shown = |position: usize| {
            let codes = codes(position);
            ColumnCodes::occurring(codes.of, codes.len)
        };
        let sensitive = match required {
            Required::Nothing | Required::KAlone => 0..0,
            Required::Everything => self.quasi + self.details..self.quasi + self.details + self.requirements.len(),
        };
        let names: Vec<&str> = sensitive.clone().map(|c| self.columns[c].1.as_str()).collect();
        let known = (0..self.quasi).map(shown).collect();
        let crowd = KnownPeople { known, sensitive: sensitive.map(codes).collect(), people };
        let threads = self.source.threads();
        let requirements = &self.requirements[..crowd.sensitive.len()];
        // The whole release is the class of someone who knows nothing.
        let mut whole = Vec::new();
        let empty = || WholeTable { values: crowd.sensitive.iter().map(|s| vec![0; s.len]).collect() };
        each_set(&crowd, &[Vec::new()], 1, empty, |table| whole = table.values)?;
        // Where nothing is required, no class is too small, and every one is counted.
        let enough = if required == Required::Nothing { 0 } else { least };
        let new = || ClassChecks::new(enough, requirements, &whole);
        let mut checks = new();
        let mut smallest = u64::MAX;
        let failing;
        let listed = match &self.sets {
            KnownSets::Listed(sets) => sets,
            KnownSets::AnyThree(columns) => {
                let found = any_three(&crowd, columns, enough, threads).ok_or_else(too_many_sets)?;
                smallest = found.people;
                // A set that fails is counted once more by itself, to say in what.
                failing = found.failing.map(Vec::from).into_iter().collect();
                &failing
            }
        };
        each_set(&crowd, listed, threads, new, |own| checks.take(own))?;
        if let Some(failure) = checks.failure.filter(|_| required != Required::Nothing) {
            return Err(failure.error(&self.names(&listed[failure.set]), least, &names));
        }
        let sensitive = names.iter().map(|name| name.to_string()).zip(checks.extremes).collect();
        let (sets, classes) = (self.sets.number(), self.classes());
        let (smallest_class, formulas) = (checks.smallest.min(smallest), Vec::new());
        Ok(Recount { rows: self.tuples.rows, sets, classes, smallest_class, sensitive, catalog: None, formulas })
    }

    /// Classes over all quasi-identifiers together.
    fn classes(&self) -> u64 {
        self.class_of_tuple().iter().max().map_or(0, |&last| u64::from(last) + 1)
    }

    /// The class of each tuple over all quasi-identifiers, in the order in which they come in the file.
    pub(super) fn class_of_tuple(&self) -> Vec<u32> {
        let mut keys = Keys::new(self.quasi);
        (0..self.tuples.len()).map(|t| keys.intern(&self.tuples.codes(t)[..self.quasi])).collect()
    }

    fn names(&self, set: &[usize]) -> String {
        set.iter().map(|&q| format!("`{}`", self.columns[q].1)).collect::<Vec<_>>().join(", ")
    }
}

fn damaged(what: &str) -> Error {
    Error::refused(format!("certificate.json: {what}."))
}

/// Opens the data of a release and checks that its columns are those declared, no more and no fewer.
pub(super) fn open_data(
    release: &ReleaseFolder,
    certificate: &Certificate,
    threads: usize,
    progress: &Arc<dyn Progress>,
) -> Result<Source> {
    let data = certificate.files.iter().find(|f| f.rows.is_some()).ok_or_else(|| damaged("no data file is listed"))?;
    if !super::files::DATA.contains(&data.name.as_str()) {
        return Err(damaged("the name of the data file is unknown"));
    }
    if certificate.promise.columns.len() > MOST_COLUMNS {
        return Err(damaged("the release has more columns than can be counted"));
    }
    let mut input = release.input(&data.name);
    input.delimiter = Some(certificate.delimiter);
    let source = open(&input)?.with_threads(threads).with_progress(Arc::clone(progress));
    // A workbook may hold sheets and comments that nobody counts.
    if source.is_in_memory() {
        return Err(Error::refused("the data is neither text nor Parquet."));
    }
    let declared = certificate.promise.columns.iter().map(|c| c.name.as_str());
    if !source.columns().iter().map(String::as_str).eq(declared) {
        return Err(Error::refused("the columns of the data are not those the certificate declares."));
    }
    let known = ["quasi", "detail", "sensitive", "class", "other"];
    if certificate.promise.columns.iter().any(|c| !known.contains(&c.role.as_str())) {
        return Err(damaged("a column has a role that is never released"));
    }
    Ok(source)
}

/// Lists the sets of quasi-identifiers that the claim is about. Where there are too many, columns that
/// show the same in every row (not `differs`) are left out: whoever knows them knows no more.
pub(super) fn sets(claim: &Claim, quasi: &[&str], differs: &[bool], patients: bool) -> Result<KnownSets> {
    let knows = match &claim.knows {
        KnowsClaim::All => Knows::All,
        KnowsClaim::Any(0) => return Err(damaged("the claim is about an attacker who knows nothing")),
        KnowsClaim::Any(n) => Knows::Any(*n),
        KnowsClaim::Sets(sets) => {
            let place_of: HashMap<&str, usize> = (0..).zip(quasi).map(|(place, name)| (*name, place)).collect();
            let place = |name: &String| place_of.get(name.as_str()).copied();
            let sets = sets.iter().map(|s| s.iter().map(place).collect::<Option<Vec<_>>>()).collect::<Option<Vec<_>>>();
            let sets = sets.ok_or_else(|| damaged("the claim names a column that is not a quasi-identifier"))?;
            if sets.iter().any(Vec::is_empty) {
                return Err(damaged("a set of the claim is empty"));
            }
            let mut seen = vec![false; quasi.len()];
            sets.iter().flatten().for_each(|&q| seen[q] = true);
            if sets.is_empty() || seen.contains(&false) {
                return Err(damaged("a quasi-identifier is not in any of the sets of the claim"));
            }
            Knows::Sets(sets)
        }
    };
    let shorter = if patients { crate::cohort::shorter(true, !claim.sensitive.is_empty()) } else { Shorter::Implied };
    match knows.number(quasi.len(), shorter) {
        Some(n) if n <= crate::cohort::MOST_SETS => return Ok(KnownSets::Listed(knows.sets(quasi.len(), shorter))),
        _ => {}
    }
    let different: Vec<usize> = (0..quasi.len()).filter(|&q| differs[q]).collect();
    match (&knows, knows.number(different.len(), shorter)) {
        (Knows::Any(_), Some(n)) if n <= crate::cohort::MOST_SETS => {
            let mut sets = knows.sets(different.len(), shorter);
            sets.iter_mut().flatten().for_each(|q| *q = different[*q]);
            if sets.is_empty() {
                sets.push(Vec::new());
            }
            Ok(KnownSets::Listed(sets))
        }
        // Rows add up, patients and their values need not.
        (Knows::Any(3), Some(n)) if n <= MOST_SETS_OF_THREE && !patients && claim.sensitive.is_empty() => {
            Ok(KnownSets::AnyThree(different))
        }
        _ => Err(too_many_sets()),
    }
}

fn too_many_sets() -> Error {
    damaged("the claim is about more sets of columns than can be counted")
}

/// Lists the released values in the order or the tree that the policy gives them. They are sorted, so that
/// the list says nothing about the order of the input.
fn spread(claim: &mut SensitiveClaim, policy: &Policy, point: u8, dictionary: &Dictionary) -> Result<()> {
    let Some(t) = &mut claim.t_closeness else { return Ok(()) };
    let column = policy.columns.iter().find(|c| c.name == claim.column);
    let column = column.ok_or_else(|| damaged("a sensitive column of the claim is not in the policy"))?;
    let texts = dictionary.texts();
    (t.order, t.tree) = (None, None);
    match t.distance {
        TDistance::Equal => {}
        TDistance::Ordered => {
            let order = crate::cohort::order(&texts, column.domain.as_deref(), point);
            let order = order.ok_or_else(|| damaged("the policy does not order the values of a sensitive column"))?;
            t.order = Some(order.into_iter().map(|code| texts[code as usize].to_string()).collect());
        }
        TDistance::Hierarchical => {
            let hierarchy = column.rule.apply(&texts, false);
            let levels: Vec<_> = hierarchy.levels.iter().skip(1).map(|level| &level.label_of).collect();
            let kept = steps_that_join(&levels);
            let path = |code: usize| -> Vec<String> {
                let above = hierarchy.levels.iter().skip(1).enumerate().filter(|(step, _)| kept[*step]);
                let above = above.map(|(_, l)| l.labels[l.label_of[code] as usize].text.clone());
                std::iter::once(texts[code].to_string()).chain(above).collect()
            };
            let mut tree: Vec<Vec<String>> = (1..texts.len()).map(path).collect();
            tree.sort();
            t.tree = Some(tree);
        }
    }
    Ok(())
}

/// What is claimed of a sensitive column, in the codes of the release.
fn requirement(claim: &SensitiveClaim, dictionary: &Dictionary) -> Result<Sensitive> {
    let listed = claim.values.as_ref().map(|values| {
        let mut listed = vec![false; dictionary.len()];
        for code in values.iter().filter_map(|v| dictionary.code(v)).filter(|&c| c != 0) {
            listed[code as usize] = true;
        }
        listed
    });
    let t_closeness = claim.t_closeness.as_ref().map(|t| {
        let distance = match (t.distance, &t.order, &t.tree) {
            (TDistance::Ordered, Some(order), None) => Distance::Ordered(codes_in_order(order, dictionary)?),
            (TDistance::Hierarchical, None, Some(tree)) => Distance::Hierarchical(tree_levels(tree, dictionary)?),
            (TDistance::Equal, None, None) => Distance::Equal,
            _ => return Err(damaged("the distance of a sensitive column does not match the values that are listed")),
        };
        Ok(TCloseness { max: t.max, distance })
    });
    Ok(Sensitive {
        confidence: claim.confidence.map(|max| Confidence { max, listed }),
        l_diversity: claim.l_diversity.clone(),
        t_closeness: t_closeness.transpose()?,
    })
}

fn codes_in_order(order: &[String], dictionary: &Dictionary) -> Result<Vec<u32>> {
    let mut codes: Vec<u32> = order.iter().filter_map(|v| dictionary.code(v)).filter(|&c| c != 0).collect();
    let all = codes.len();
    codes.sort_unstable();
    codes.dedup();
    if all != codes.len() || codes.len() + 1 != dictionary.len() {
        return Err(damaged("the order of a sensitive column does not list each of its values once"));
    }
    Ok(order.iter().filter_map(|v| dictionary.code(v)).filter(|&c| c != 0).collect())
}

/// One entry per step above the values: whether it joins anything that the step below keeps apart. The others
/// say nothing, and are not listed. The last step is, where no other is.
fn steps_that_join(levels: &[&Vec<u32>]) -> Vec<bool> {
    let groups = |level: &Vec<u32>| level.iter().skip(1).collect::<BTreeSet<_>>().len();
    let mut below = levels.first().map_or(0, |level| level.len().saturating_sub(1));
    let mut kept: Vec<bool> =
        levels.iter().map(|level| groups(level) < std::mem::replace(&mut below, groups(level))).collect();
    if !kept.contains(&true)
        && let Some(last) = kept.last_mut()
    {
        *last = true;
    }
    kept
}

/// Ancestor numbers by level and value code, from paths. A tree is no deeper than it has labels: what a stranger
/// repeats brings no values nearer.
fn tree_levels(paths: &[Vec<String>], dictionary: &Dictionary) -> Result<Vec<Vec<u32>>> {
    let wrong = || damaged("the tree of a sensitive column does not hold each of its values once, at one depth");
    let depth = paths.first().map_or(0, Vec::len);
    // A column in which every released value is missing has no tree.
    if paths.is_empty() && dictionary.len() == 1 {
        return Ok(Vec::new());
    }
    if depth < 2 || paths.len() + 1 != dictionary.len() || paths.iter().any(|path| path.len() != depth) {
        return Err(wrong());
    }
    let labels: HashSet<&str> = paths.iter().flatten().map(String::as_str).collect();
    if depth > labels.len() {
        return Err(damaged("the tree of a sensitive column is deeper than it has different labels"));
    }
    if paths.iter().flat_map(|path| &path[1..]).any(|label| !is_visible(label)) {
        return Err(damaged("the tree of a sensitive column has a label that cannot be seen"));
    }
    let mut levels = vec![vec![0u32; dictionary.len()]; depth - 1];
    // From the root down: a node is its parent and its label.
    let mut numbers: Vec<HashMap<(u32, &str), u32>> = vec![HashMap::new(); depth - 1];
    let mut seen = vec![false; dictionary.len()];
    for path in paths {
        let code = dictionary.code(&path[0]).ok_or_else(wrong)? as usize;
        if code == 0 || std::mem::replace(&mut seen[code], true) {
            return Err(wrong());
        }
        let mut parent = 0;
        for level in (0..depth - 1).rev() {
            let next = numbers[level].len() as u32;
            parent = *numbers[level].entry((parent, &path[level + 1])).or_insert(next);
            levels[level][code] = parent;
        }
    }
    // Steps that join nothing measure nothing, however many a stranger lists.
    let kept = steps_that_join(&levels.iter().collect::<Vec<_>>());
    let mut kept = kept.into_iter();
    levels.retain(|_| kept.next() == Some(true));
    match levels.len().saturating_mul(dictionary.len()) <= LARGEST_TREE {
        true => Ok(levels),
        false => Err(damaged("the tree of a sensitive column is larger than can be counted")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A distance of 0 was written as -0.0000 by builds without optimisation, and refused by others.
    #[test]
    fn no_number_of_a_certificate_is_minus_zero() {
        let none = Extremes { distance: Some(0.0), ..Extremes::default() };
        let recount = Recount {
            rows: 1,
            sets: 1,
            classes: 1,
            smallest_class: 1,
            sensitive: vec![("s".into(), none)],
            catalog: Some(CatalogRecount { groups: 0, rows: 0, highest_posterior: 0.0 }),
            formulas: Vec::new(),
        };
        let shown = recount.shown();
        assert_eq!(shown.sensitive[0].largest_distance.as_deref(), Some("0.0000"));
        assert_eq!(shown.catalog.map(|own| own.highest_posterior).as_deref(), Some("0.0000"));
    }
}
