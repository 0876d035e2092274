//! Lets an engine's workers write a planned release: Kohort hands them the plan as tables, and takes over parts whose
//! counts are exactly those of the plan.

use super::data_file::{PARTS, part_name};
use super::label_levels;
use super::plan::{Part, Plan, Share, SyntheticRecord};
use super::staging::{Staged, Staging};
use super::write::{WorkersCounted, Written};
use crate::cohort::Cohort;
use crate::policy::Policy;
use crate::table::{
    CELLS_TABLE, DEALT, DealtCell, MemoryTable, NAMED_TABLE, NO_CELLS, PLAN_TABLE, PartsJob, Source, SqlTable,
    TextColumn, Tuples, WAYS_TABLE, Ways,
};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;

/// Rows of a part, where the table does not say it.
const PART_ROWS: u64 = 500_000;

/// Writes the rows of a plan into a staging folder, by the workers of the engine that holds the table.
pub(super) fn write(
    source: &Source,
    table: &SqlTable,
    policy: &Policy,
    cohort: &Cohort,
    plan: &Plan,
    staging: Staging,
) -> Result<Staged> {
    if plan.catalog.is_some() {
        return Err(Error::yours(format!(
            "{}: a catalog names classes by the order of rows, which an engine's workers do not have. Remove `catalog`, or let \
             Kohort read the table itself.",
            source.name()
        )));
    }
    source.progress().stage("writing", source.bytes());
    let form = RowOrigins::new(policy, cohort, plan);
    let added = plan.added.len() as u64;
    let released = plan.rows_by_cells(cohort).iter().sum::<u64>() + added;
    let tuple_columns = cohort.columns();
    let own = form.cells.iter().filter_map(|cell| if let DealtCell::Own(c) = cell { Some(*c) } else { None });
    let kept: BTreeSet<usize> = tuple_columns.iter().copied().chain(own).collect();
    let kept: Vec<usize> = kept.into_iter().collect();
    let (ways, tables) = tables(table, policy, cohort, plan)?;
    let job = PartsJob {
        keep: table.sql().keep(&kept, policy.patient())?,
        deal: table.sql().deal(&tuple_columns, policy.patient().is_some(), &form.cells, ways),
        tables,
        added: form.added(cohort, plan)?,
        columns: policy.released().iter().map(|&c| policy.columns[c].name.clone()).collect(),
        counted: form.counted.clone(),
        patients: policy.patient().is_some(),
        rows: cohort.tuples.rows,
        parts: released.div_ceil(table.part_rows().unwrap_or(PART_ROWS)).max(1),
        folder: staging.private(),
    };
    let mut wrote = table.write_parts(&job)?;
    source.progress().go_on()?;
    let together = wrote.together.tuples();
    form.check(cohort, plan, &together)?;
    wrote.parts.sort_by_key(|part| part.number);
    let folder = staging.release().join(PARTS);
    fs::create_dir(&folder).map_err(|e| Error::io(&folder, &e))?;
    let mut parts = Vec::new();
    for (number, part) in (1..).zip(&wrote.parts) {
        let path = staging.release().join(part_name(number));
        // Another file system has no rename.
        let moved = fs::rename(&part.path, &path).or_else(|_| fs::copy(&part.path, &path).map(drop));
        moved.map_err(|e| Error::io(&path, &e))?;
        parts.push(part.rows);
    }
    let beside = label_levels::write(policy, cohort, plan, &staging.release())?.into_iter().collect();
    let written = Written {
        file: PARTS.into(),
        rows: together.rows,
        lines: staging.private().join("rows"),
        columns: job.columns.clone(),
        more: Vec::new(),
        added,
        beside,
        parts,
        workers: Some(Arc::new(WorkersCounted {
            again: wrote
                .again
                .into_iter()
                .filter_map(|(number, counts)| Some((wrote.parts.iter().position(|own| own.number == number)?, counts)))
                .collect(),
            hashes: wrote.parts.into_iter().map(|part| part.sha256).collect(),
            columns: form.counted.iter().map(|&place| (place, job.columns[place].clone())).collect(),
            together,
            alone: wrote.alone.into_iter().map(|(place, sum)| (place, sum.tuples())).collect(),
            formulas: wrote.formulas,
            patients: wrote.patients,
        })),
    };
    Ok(Staged::new(staging, written))
}

/// Where the cells of a released row come from.
struct RowOrigins {
    cells: Vec<DealtCell>,
    /// Places of released columns that the plan decides, or that are in the tuples.
    counted: Vec<usize>,
    /// For each of them: the place among the plan's columns, or in the tuples.
    from: Vec<CellFrom>,
}

#[derive(Clone, Copy)]
enum CellFrom {
    Plan(usize),
    Tuple(usize),
}

impl RowOrigins {
    fn new(policy: &Policy, cohort: &Cohort, plan: &Plan) -> RowOrigins {
        let mut form = RowOrigins { cells: Vec::new(), counted: Vec::new(), from: Vec::new() };
        for (place, column) in policy.released().into_iter().enumerate() {
            let planned = plan.changed.iter().position(|own| own.column == column);
            form.cells.push(planned.map_or(DealtCell::Own(column), DealtCell::Planned));
            let kept = cohort.kept().find(|kept| kept.column == column).map(|kept| CellFrom::Tuple(kept.position));
            if let Some(from) = planned.map(CellFrom::Plan).or(kept) {
                form.counted.push(place);
                form.from.push(from);
            }
        }
        form
    }

    /// The synthetic records of a plan, as they are released.
    fn added(&self, cohort: &Cohort, plan: &Plan) -> Result<Option<MemoryTable>> {
        if plan.added.is_empty() {
            return Ok(None);
        }
        let column = |(i, cell): (usize, &DealtCell)| {
            (
                format!("r{i}"),
                plan.added.iter().map(|own| cell_of_added(cohort, plan, own, *cell)).collect::<TextColumn>(),
            )
        };
        MemoryTable::new("synthetic records", self.cells.iter().enumerate().map(column)).map(Some)
    }

    /// Refuses parts that do not hold exactly the rows of the plan, as far as it decides about them.
    fn check(&self, cohort: &Cohort, plan: &Plan, wrote: &Tuples) -> Result<()> {
        let mut left: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
        for tuple in 0..cohort.tuples.len() {
            for (cells, rows) in plan.rows(cohort, tuple) {
                let labels = plan.row(cells);
                let text = |from: &CellFrom| match *from {
                    CellFrom::Plan(i) => plan.changed[i].labels[labels[i] as usize].text.as_str(),
                    CellFrom::Tuple(i) => cohort.tuples.dictionaries[i].text(cohort.tuples.code(tuple, i)),
                };
                *left.entry(self.from.iter().map(text).collect()).or_default() += rows;
            }
        }
        for own in &plan.added {
            let text = |&place: &usize| cell_of_added(cohort, plan, own, self.cells[place]);
            *left.entry(self.counted.iter().map(text).collect()).or_default() += 1;
        }
        left.retain(|_, rows| *rows > 0);
        let is_planned = |tuple: usize| {
            let cells = wrote.codes(tuple).iter().zip(&wrote.dictionaries).map(|(&code, own)| own.text(code));
            left.get(&cells.collect::<Vec<&str>>()) == Some(&wrote.weights[tuple])
        };
        match left.len() == wrote.len() && (0..wrote.len()).all(is_planned) {
            true => Ok(()),
            false => Err(Error::refused(
                "the parts do not hold the rows of the plan: the table changed between the two passes, or the engine \
                 miscounted. Nothing was published.",
            )),
        }
    }
}

/// A released cell of a synthetic record: one of the plan, or a value that was drawn.
fn cell_of_added<'a>(cohort: &'a Cohort, plan: &'a Plan, own: &SyntheticRecord, cell: DealtCell) -> &'a str {
    match cell {
        DealtCell::Planned(i) => &plan.changed[i].labels[plan.row(own.cells)[i] as usize].text,
        DealtCell::Own(column) => {
            let drawn = cohort.synthetic_values.iter().zip(&own.values).find(|(values, _)| values.column == column);
            drawn.and_then(|(values, &number)| values.values.get(number as usize)).map_or("", String::as_str)
        }
    }
}

/// The plan as tables: what becomes of each tuple, of ranks and of patients in it, and the released cells. Where no tuple
/// goes several ways, there are no ranks and no patients.
fn tables(
    table: &SqlTable,
    policy: &Policy,
    cohort: &Cohort,
    plan: &Plan,
) -> Result<(Ways, Vec<(&'static str, MemoryTable)>)> {
    let names = policy.patient().map(|patient| table.patient_names(&cohort.columns(), patient)).transpose()?;
    let name = |patient: u32| -> Result<&str> {
        let bytes = names.as_ref().map_or(&[][..], |names| names.get(patient));
        std::str::from_utf8(bytes).map_err(|_| Error::machine("the name of a patient is not text."))
    };
    let mut whole = TextColumn::default();
    let mut ways = vec![TextColumn::default(); 4];
    let mut named = vec![TextColumn::default(); 3];
    for t in 0..cohort.tuples.len() {
        let parts = plan.parts.of(t);
        match parts {
            [] => whole.push(NO_CELLS),
            [Part { cells, share: Share::Whole }] => whole.push(&cells.to_string()),
            _ => {
                // Its rows are dealt.
                whole.push(DEALT);
                let (mut first, number) = (1, t.to_string());
                let mut without: BTreeSet<u32> = cohort
                    .tuples
                    .patients
                    .as_ref()
                    .map_or(BTreeSet::new(), |own| own.having(t).iter().copied().collect());
                for part in parts {
                    let (rows, people): (u64, &[u32]) = match &part.share {
                        Share::Whole => (cohort.tuples.weights[t], &[]),
                        Share::Rows(rows) => (*rows, &[]),
                        Share::Patients { single, named } => (*single, named),
                    };
                    let cells = part.cells.to_string();
                    if rows > 0 {
                        let row = [&number, &first.to_string(), &(first + rows - 1).to_string(), &cells];
                        ways.iter_mut().zip(row).for_each(|(column, cell)| column.push(cell));
                    }
                    first += rows;
                    for &patient in people {
                        without.remove(&patient);
                        named
                            .iter_mut()
                            .zip([number.as_str(), name(patient)?, &cells])
                            .for_each(|(column, cell)| column.push(cell));
                    }
                }
                for patient in without {
                    let row = [number.as_str(), name(patient)?, NO_CELLS];
                    named.iter_mut().zip(row).for_each(|(column, cell)| column.push(cell));
                }
            }
        }
    }
    let titled =
        |name: &'static str, titles: &[&str], columns: Vec<TextColumn>| -> Result<(&'static str, MemoryTable)> {
            let titles = titles.iter().map(|title| title.to_string());
            Ok((name, MemoryTable::new(name, titles.zip(columns))?))
        };
    let mut cells = vec![TextColumn::default(); plan.changed.len() + 1];
    let rows = plan.cells.len() / plan.changed.len().max(1);
    for row in 0..rows {
        cells[0].push(&row.to_string());
        for (i, (changed, &label)) in plan.changed.iter().zip(plan.row(row as u32)).enumerate() {
            cells[i + 1].push(&changed.labels[label as usize].text);
        }
    }
    let of_cells: Vec<String> =
        ["cells".to_string()].into_iter().chain((0..plan.changed.len()).map(|i| format!("r{i}"))).collect();
    let of_cells: Vec<&str> = of_cells.iter().map(String::as_str).collect();
    let mut all = vec![
        (PLAN_TABLE, SqlTable::plan_table(&cohort.tuples, Some(("cells", whole)))?),
        titled(CELLS_TABLE, &of_cells, cells)?,
    ];
    if ways[0].is_empty() && named[0].is_empty() {
        return Ok((Ways::One, all));
    }
    all.push(titled(WAYS_TABLE, &["tuple", "first_place", "last_place", "cells"], ways)?);
    all.push(titled(NAMED_TABLE, &["tuple", "p", "cells"], named)?);
    Ok((Ways::Several, all))
}
