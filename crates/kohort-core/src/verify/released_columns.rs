//! Finds the columns of a release that are counted, by what its certificate declares.

use super::claim::damaged;
use crate::Result;
use crate::release::Certificate;
use std::collections::HashMap;

/// The columns that are counted together: quasi-identifiers, then details, then the claimed sensitive ones, then the
/// column of the catalog where it is not among them.
pub(super) struct ReleasedColumns {
    /// Their places in the release.
    pub(super) places: Vec<usize>,
    /// How many are quasi-identifiers.
    pub(super) quasi: usize,
    /// How many are details.
    pub(super) details: usize,
    /// The place of the catalog's column among them, if there is a catalog.
    pub(super) catalogued: Option<usize>,
    /// The columns of the release that no method changes.
    pub(super) kept: Vec<usize>,
}

impl ReleasedColumns {
    /// Reads them from the certificate, whose lists may be a stranger's: none is looked through for every item of
    /// another.
    pub(super) fn of(certificate: &Certificate) -> Result<ReleasedColumns> {
        let (claim, columns) = (&certificate.promise.claim, &certificate.promise.columns);
        let of_role = |role: &str| -> Vec<usize> { (0..columns.len()).filter(|&c| columns[c].role == role).collect() };
        let (quasi, details) = (of_role("quasi"), of_role("detail"));
        if quasi.is_empty() {
            return Err(damaged("no quasi-identifier is declared"));
        }
        let declared = of_role("sensitive").into_iter().map(|c| (columns[c].name.as_str(), c));
        let mut declared: HashMap<&str, usize> = declared.collect();
        let catalog = claim.synthetic.as_ref().and_then(|own| own.catalog.as_ref());
        let catalog = catalog.map(|name| declared.get(name.as_str()).copied());
        let mut places = [&quasi[..], &details].concat();
        for own in &claim.sensitive {
            let place = declared.remove(own.column.as_str());
            let wrong = || damaged("a sensitive column of the claim is not declared, or is named twice");
            places.push(place.ok_or_else(wrong)?);
        }
        let mut catalogued = None;
        if let Some(place) = catalog {
            let place = place.ok_or_else(|| damaged("the column of the catalog is not declared"))?;
            catalogued = Some(places.iter().position(|&c| c == place).unwrap_or(places.len()));
            if catalogued == Some(places.len()) {
                places.push(place);
            }
        }
        let is_kept = |c: &usize| !matches!(columns[*c].role.as_str(), "quasi" | "detail");
        let kept = (0..columns.len()).filter(is_kept).collect();
        Ok(ReleasedColumns { places, quasi: quasi.len(), details: details.len(), catalogued, kept })
    }

    /// The names of the quasi-identifiers, in order.
    pub(super) fn quasi_names<'a>(&self, certificate: &'a Certificate) -> Vec<&'a str> {
        self.places[..self.quasi].iter().map(|&c| certificate.promise.columns[c].name.as_str()).collect()
    }
}
