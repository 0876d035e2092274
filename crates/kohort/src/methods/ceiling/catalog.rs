//! The catalog: which classes are listed together, so that nobody can tell which of their rows are
//! synthetic (Lemma 1), and no row is likelier anybody's than 1/k (which Lemma 1 does not keep).

use kohort_core::number::K;
use kohort_core::privacy::{CatalogGroup, ClassRows, Padding};
use std::collections::BTreeMap;

/// Rows by sensitive value.
pub(super) type RowsByValue = BTreeMap<u32, u64>;

/// A class as the catalog sees it.
#[derive(Debug, Clone, Default)]
pub(super) struct CatalogClass {
    pub(super) real: RowsByValue,
    pub(super) synthetic: RowsByValue,
}

impl CatalogClass {
    fn shown(&self) -> u64 {
        self.real.values().chain(self.synthetic.values()).sum()
    }
}

/// Why there is no catalog.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Unsafe {
    /// No other class conceals the synthetic records of some class.
    NoPartner,
    /// Rows of these classes are likelier than 1/k; the likeliest by this much.
    Likely(Vec<usize>, f64),
}

/// The parameters of a catalog.
pub(super) struct CatalogRules {
    pub(super) k: K,
    pub(super) real_k: u64,
    pub(super) padding: Padding,
}

/// Into how many groups the classes are dealt, the finest first: the more groups, the more a recipient learns from
/// the catalog.
const GROUPS: [usize; 4] = [64, 16, 4, 1];
/// With more classes that hold synthetic records, the grouping of the paper is not tried: its groups grow together.
const MOST_PADDED: usize = 200;

impl CatalogRules {
    /// Groups the classes, each group by class number; classes without any part in it are left out.
    ///
    /// The grouping of the paper is tried first. It conceals synthetic records, but makes groups of few classes, in
    /// which a row whose value is never synthetic is likelier real than the others. Large groups in which every
    /// value is synthetic about equally often are tried next.
    pub(super) fn catalog(&self, classes: &[CatalogClass]) -> Result<Vec<Vec<usize>>, Unsafe> {
        let padded = classes.iter().filter(|class| !class.synthetic.is_empty()).count();
        let paper = if padded <= MOST_PADDED { self.group(classes) } else { None };
        let dealt = GROUPS.iter().filter(|&&groups| groups == 1 || groups <= padded / 2);
        let attempts = paper.into_iter().chain(dealt.filter_map(|&groups| self.deal(classes, groups)));
        let mut least = Unsafe::NoPartner;
        for groups in attempts {
            let why = match self.judge(classes, &groups) {
                Ok(()) => return Ok(groups),
                Err(why) => why,
            };
            let is_less = match (&why, &least) {
                (Unsafe::NoPartner, _) => false,
                (Unsafe::Likely(..), Unsafe::NoPartner) => true,
                (Unsafe::Likely(own, _), Unsafe::Likely(other, _)) => own.len() < other.len(),
            };
            least = if is_less { why } else { least };
        }
        Err(least)
    }

    /// Returns why groups would reveal too much, if they would.
    fn judge(&self, classes: &[CatalogClass], groups: &[Vec<usize>]) -> Result<(), Unsafe> {
        let (mut likely, mut highest) = (Vec::new(), 0f64);
        for members in groups {
            let (_, group) = self.shown(classes, members);
            if !group.conceals() {
                return Err(Unsafe::NoPartner);
            }
            let mut leasts = vec![1, self.real_k];
            leasts.dedup();
            for least in leasts {
                for (found, &class) in group.posteriors(self.k, least).iter().zip(members) {
                    highest = highest.max(found.highest);
                    if !found.holds {
                        likely.push(class);
                    }
                }
            }
        }
        likely.sort_unstable();
        likely.dedup();
        if likely.is_empty() { Ok(()) } else { Err(Unsafe::Likely(likely, highest)) }
    }

    /// Deals all classes that may hold synthetic records into groups, so that synthetic and real records are
    /// shared out evenly. Groups that do not conceal their synthetic records are joined; `None` where that does not
    /// help.
    fn deal(&self, classes: &[CatalogClass], groups: usize) -> Option<Vec<Vec<usize>>> {
        let total = |rows: &RowsByValue| rows.values().sum::<u64>();
        let mut dealt: Vec<(u64, u64, Vec<usize>)> = vec![(0, 0, Vec::new()); groups];
        let mut order: Vec<usize> =
            (0..classes.len()).filter(|&c| self.padding.may_fill(classes[c].shown(), self.k)).collect();
        // First those with most synthetic records, then the largest.
        order.sort_by_key(|&c| {
            (std::cmp::Reverse(total(&classes[c].synthetic)), std::cmp::Reverse(total(&classes[c].real)), c)
        });
        for class in order {
            let (synthetic, real) = (total(&classes[class].synthetic), total(&classes[class].real));
            let least = |(own_synthetic, own_real, members): &&mut (u64, u64, Vec<usize>)| match synthetic {
                0 => (*own_real, members.len()),
                _ => (*own_synthetic, members.len()),
            };
            let own = dealt.iter_mut().min_by_key(least)?;
            own.0 += synthetic;
            own.1 += real;
            own.2.push(class);
        }
        let mut done: Vec<Vec<usize>> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for (_, _, members) in dealt {
            open.extend(members);
            if self.shown(classes, &open).1.conceals() {
                done.push(std::mem::take(&mut open));
            }
        }
        match done.last_mut() {
            Some(last) => last.extend(open),
            None if open.is_empty() => {}
            None => return None,
        }
        // A group without synthetic records says nothing.
        done.retain(|members| members.iter().any(|&c| !classes[c].synthetic.is_empty()));
        done.iter_mut().for_each(|members| members.sort_unstable());
        done.sort();
        Some(done)
    }

    /// A group as its reader sees it: the values named, and what each class shows of them.
    pub(super) fn shown(&self, classes: &[CatalogClass], members: &[usize]) -> (Vec<u32>, CatalogGroup) {
        let mut synthetic = RowsByValue::new();
        for &class in members {
            classes[class].synthetic.iter().for_each(|(&s, n)| *synthetic.entry(s).or_default() += n);
        }
        let values: Vec<u32> = synthetic.keys().copied().collect();
        let own = |&class: &usize| {
            let class = &classes[class];
            let of = |rows: &RowsByValue, s: &u32| rows.get(s).copied().unwrap_or(0);
            let named: Vec<u64> = values.iter().map(|s| of(&class.real, s) + of(&class.synthetic, s)).collect();
            let shown = class.shown();
            let may_hold_synthetic = self.padding.may_fill(shown, self.k);
            ClassRows { others: shown - named.iter().sum::<u64>(), named, may_hold_synthetic }
        };
        let group =
            CatalogGroup { classes: members.iter().map(own).collect(), synthetic: synthetic.into_values().collect() };
        (values, group)
    }

    /// The greedy grouping of the paper, corrected (C-1): the class with most synthetic records first takes the
    /// partner that conceals most of what is not concealed yet.
    fn group(&self, classes: &[CatalogClass]) -> Option<Vec<Vec<usize>>> {
        let mut order: Vec<usize> = (0..classes.len()).filter(|&c| !classes[c].synthetic.is_empty()).collect();
        order.sort_by_key(|&c| std::cmp::Reverse(classes[c].synthetic.values().sum::<u64>()));
        // For an attacker who knows the algorithm, other classes hold no synthetic record and conceal none.
        let partners: Vec<usize> =
            (0..classes.len()).filter(|&c| self.padding.may_fill(classes[c].shown(), self.k)).collect();
        let mut group_of: Vec<Option<usize>> = vec![None; classes.len()];
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for class in order {
            loop {
                let members = group_of[class].map_or(vec![class], |g| groups[g].clone());
                let open = unconcealed(classes, class, &members);
                if open.is_empty() {
                    break;
                }
                let conceals = |c: usize| -> (u64, u64) {
                    let real = |s: &u32| classes[c].real.get(s).copied().unwrap_or(0);
                    open.iter().fold((0, 0), |sum, (s, &n)| (sum.0 + n.min(real(s)), sum.1 + real(s)))
                };
                let size = |c: usize| group_of[c].map_or(1, |g| groups[g].len());
                let candidates = partners.iter().copied().filter(|c| !members.contains(c)).map(|c| (conceals(c), c));
                // Of equal ones that in the smaller group; then that with more real rows like them, among
                // which synthetic ones are less likely to be in this class.
                let key = |&((matched, real), c): &((u64, u64), usize)| {
                    (matched, std::cmp::Reverse(size(c)), real, std::cmp::Reverse(c))
                };
                let partner = candidates.filter(|c| c.0.0 > 0).max_by_key(key)?.1;
                unite(&mut groups, &mut group_of, class, partner);
            }
        }
        let mut all: Vec<Vec<usize>> = groups.into_iter().filter(|g| !g.is_empty()).collect();
        all.iter_mut().for_each(|g| g.sort_unstable());
        all.sort();
        Some(all)
    }
}

/// The synthetic records of a class that real rows of the other classes in its group do not conceal.
fn unconcealed(classes: &[CatalogClass], class: usize, members: &[usize]) -> RowsByValue {
    let others = |s: &u32| -> u64 {
        let others = members.iter().filter(|&&c| c != class);
        others.map(|&c| classes[c].real.get(s).copied().unwrap_or(0)).sum()
    };
    let open = classes[class].synthetic.iter().map(|(&s, &n)| (s, n.saturating_sub(others(&s))));
    open.filter(|o| o.1 > 0).collect()
}

fn unite(groups: &mut Vec<Vec<usize>>, group_of: &mut [Option<usize>], a: usize, b: usize) {
    let into = match group_of[a] {
        Some(group) => group,
        None => {
            groups.push(vec![a]);
            group_of[a] = Some(groups.len() - 1);
            groups.len() - 1
        }
    };
    let moved = match group_of[b] {
        Some(group) => std::mem::take(&mut groups[group]),
        None => vec![b],
    };
    moved.iter().for_each(|&c| group_of[c] = Some(into));
    groups[into].extend(moved);
}
