//! The kd table and the folded tree for Python: `firstlight_model::{kd, folding}`.

use crate::errors::unreadable;
use crate::frame::{counts, frame, integers, texts};
use firstlight_model::folding::{Parts, Tree, COLUMNS};
use firstlight_model::kd::{bundle_kd, part_kd, phase_kds, slice_functions as functions_by_slice, BundleKd, PartRow};
use firstlight_model::ModelError;
use firstlight_schema::interned::read;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;
use std::path::PathBuf;

/// `firstlight_model::kd::bundle_kd`.
#[pyfunction]
pub fn kd_table(
    py: Python<'_>,
    bundle: PathBuf,
    phase: Option<&str>,
    under: Option<&str>,
    per_caller: bool,
    raw_names: bool,
) -> PyResult<PyRecordBatch> {
    let table = py.detach(|| bundle_kd(&bundle, phase, under, per_caller, parts(raw_names)));
    kd_frame(&table.map_err(|error| unreadable(&error, &bundle.display()))?)
}

/// `firstlight_model::kd::part_kd`: the rows are node, calls, instructions and nanoseconds of its own.
#[pyfunction]
pub fn part_kd_table(
    py: Python<'_>,
    bundle: PathBuf,
    rows: Vec<(i64, i64, i64, Option<i64>)>,
    under: Option<&str>,
    per_caller: bool,
    raw_names: bool,
) -> PyResult<PyRecordBatch> {
    let count = |figure: i64| u64::try_from(figure).unwrap_or(0);
    let row = |(node, calls, own, own_ns): (i64, i64, i64, Option<i64>)| PartRow {
        node: usize::try_from(node).ok(),
        calls: count(calls),
        own: count(own),
        own_ns,
    };
    let rows: Vec<PartRow> = rows.into_iter().map(row).collect();
    let table = py.detach(|| part_kd(&bundle, &rows, under, per_caller, parts(raw_names)));
    kd_frame(&table.map_err(|error| unreadable(&error, &bundle.display()))?)
}

/// `firstlight_model::kd::slice_functions`: the names of the rows, and what each did in each slice.
#[pyfunction]
pub fn slice_functions(py: Python<'_>, bundle: PathBuf, raw_names: bool) -> PyResult<(PyRecordBatch, PyRecordBatch)> {
    let found = py.detach(|| functions_by_slice(&bundle, parts(raw_names)));
    let (names, rows) = found.map_err(|error| unreadable(&error, &bundle.display()))?;
    let names = frame(vec![
        ("function", texts(names.iter().map(|name| Some(name.0.as_str())))),
        ("module", texts(names.iter().map(|name| name.1.as_deref()))),
        ("kind", texts(names.iter().map(|name| Some(name.2.as_str())))),
    ])?;
    let rows = frame(vec![
        ("slice", integers(rows.iter().map(|row| row.slice))),
        ("row", counts(rows.iter().map(|row| Some(row.row as u64)))),
        ("count", counts(rows.iter().map(|row| Some(row.count)))),
        ("total_instructions", counts(rows.iter().map(|row| Some(row.total_instructions)))),
        ("self_instructions", counts(rows.iter().map(|row| Some(row.self_instructions)))),
    ])?;
    Ok((names, rows))
}

/// `firstlight_model::kd::phase_kds`: for every phase its table.
#[pyfunction]
pub fn phase_kd_tables(py: Python<'_>, bundle: PathBuf, raw_names: bool) -> PyResult<Vec<(String, PyRecordBatch)>> {
    let tables = py.detach(|| phase_kds(&bundle, parts(raw_names)));
    let tables = tables.map_err(|error| unreadable(&error, &bundle.display()))?;
    tables.into_iter().map(|(phase, table)| Ok((phase, kd_frame(&table)?))).collect()
}

/// `firstlight_model::folding`: for every node of the tree its number in the folded one (`place`), and whether its
/// total counts there (`heads`, 0 or 1); nothing when there is nothing to fold.
#[pyfunction]
pub fn folded_calls(py: Python<'_>, bundle: PathBuf) -> PyResult<Option<PyRecordBatch>> {
    let fold = || -> Result<_, ModelError> {
        let mut table = read("calls", &COLUMNS, &bundle)?;
        let tree = Tree::of(&mut table, Parts::Folded)?;
        Ok(tree.folded().map(|folded| {
            let places = integers(folded.places.iter().map(|place| i64::try_from(*place).ok()));
            let heads = (0..tree.contexts.len()).map(|row| i64::from(folded.is_outermost(&tree.contexts, row)));
            vec![("place", places), ("heads", integers(heads))]
        }))
    };
    py.detach(fold).map_err(|error| unreadable(&error, &bundle.display()))?.map(frame).transpose()
}

/// `firstlight_profile::folding::whole_name`.
#[pyfunction]
pub fn whole_name(function: &str) -> Option<&str> {
    firstlight_profile::folding::whole_name(function)
}

fn parts(raw_names: bool) -> Parts {
    if raw_names {
        Parts::Apart
    } else {
        Parts::Folded
    }
}

fn kd_frame(table: &BundleKd) -> PyResult<PyRecordBatch> {
    let rows = &table.rows;
    let counted = |value: u64| table.instructions.then_some(value);
    let average = |count: u64, total: Option<i64>| total?.checked_div(i64::try_from(count).ok()?);
    frame(vec![
        ("function", texts(rows.iter().map(|row| Some(row.0 .0.as_str())))),
        ("module", texts(rows.iter().map(|row| row.0 .1.as_deref()))),
        ("kind", texts(rows.iter().map(|row| Some(row.0 .2.as_str())))),
        ("count", counts(rows.iter().map(|row| Some(row.1.count)))),
        ("total_instructions", counts(rows.iter().map(|row| counted(row.1.total_instructions)))),
        ("total_ns", integers(rows.iter().map(|row| row.1.total_ns))),
        ("average_ns", integers(rows.iter().map(|row| average(row.1.count, row.1.total_ns)))),
        ("self_instructions", counts(rows.iter().map(|row| counted(row.1.self_instructions)))),
        ("self_ns", integers(rows.iter().map(|row| row.1.self_ns))),
        ("max_sub", texts(rows.iter().map(|row| row.2.as_deref()))),
        ("max_sub_count", counts(rows.iter().map(|row| Some(row.1.max_sub_count)))),
        ("doubtful_calls", counts(rows.iter().map(|row| row.1.doubtful))),
    ])
}
