//! `firstlight._core`: the engine for Python, and nothing else. What each function does is said where it is implemented.

mod difference;
mod export;
mod import;

use firstlight_model::folding::{Parts, Tree, COLUMNS};
use firstlight_model::kd::{bundle_kd, phase_kds, BundleKd};
use firstlight_model::profile_tables::{convert, pack};
use firstlight_model::ModelError;
use firstlight_profile::recording::State;
use firstlight_schema::columns::{columns, ColumnKind, TABLES};
use firstlight_schema::interned::read;
use firstlight_schema::table::{write, Values};
use firstlight_schema::TableError;
use pyo3::exceptions::{PyKeyError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::{Path, PathBuf};

fn raised(error: ModelError) -> PyErr {
    match error {
        ModelError::File { .. } | ModelError::Table(TableError::File { .. }) => PyOSError::new_err(error.to_string()),
        ModelError::NotFound { .. } => PyKeyError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// `firstlight_model::profile_tables::convert`.
#[pyfunction]
fn convert_profile<'py>(
    py: Python<'py>,
    profile: PathBuf,
    console: Option<PathBuf>,
    module_symbols: Option<PathBuf>,
    out_dir: PathBuf,
) -> PyResult<Bound<'py, PyDict>> {
    let convert = || convert(&profile, console.as_deref(), module_symbols.as_deref(), &out_dir);
    let summary = py.detach(convert).map_err(raised)?;
    let totals = PyDict::new(py);
    for (name, value) in ["instructions", "virtual_ns", "idle_ns"].into_iter().zip(summary.totals) {
        totals.set_item(name, value)?;
    }
    let invariants = PyDict::new(py);
    for invariant in summary.invariants {
        let figures = PyDict::new(py);
        figures.set_item("holds", invariant.holds)?;
        figures.set_item("value", invariant.value)?;
        figures.set_item("limit", invariant.limit)?;
        figures.set_item("concerns", invariant.concerns.name())?;
        figures.set_item("functions", invariant.functions)?;
        for (name, value) in invariant.figures {
            figures.set_item(name, value)?;
        }
        invariants.set_item(invariant.name, figures)?;
    }
    let versions = PyDict::new(py);
    versions.set_item("clock", summary.clock)?;
    let said = PyDict::new(py);
    said.set_item("totals", totals)?;
    said.set_item("invariants", invariants)?;
    said.set_item("plugin_api", summary.plugin_api)?;
    said.set_item("versions", versions)?;
    said.set_item("state", state_name(summary.state))?;
    Ok(said)
}

fn state_name(state: State) -> &'static str {
    match state {
        State::Running => "running",
        State::Ready => "ready",
        State::Panic => "panic",
        State::Timeout => "timeout",
        State::Stopped => "stopped",
    }
}

/// `firstlight_model::profile_tables::pack`.
#[pyfunction]
fn pack_profile(py: Python<'_>, profile: PathBuf) -> PyResult<()> {
    py.detach(|| pack(&profile)).map_err(raised)
}

/// `firstlight_schema::table::write`; a column that may be null can be left out.
#[pyfunction]
fn write_table(table: &str, columns: &Bound<'_, PyDict>, out_dir: PathBuf) -> PyResult<()> {
    let schema = firstlight_schema::columns::columns(table)
        .ok_or_else(|| raised(TableError::UnknownTable(table.to_owned()).into()))?;
    for (name, _) in columns {
        let name: String = name.extract()?;
        if !schema.iter().any(|known| known.name == name) {
            return Err(PyValueError::new_err(format!("table `{table}` has no column `{name}`")));
        }
    }
    let rows = columns.values().iter().next().map_or(Ok(0), |column| column.len())?;
    let mut values = Vec::with_capacity(schema.len());
    for column in schema {
        let given = columns.get_item(column.name)?;
        let given = match (given, column.kind) {
            (Some(given), ColumnKind::Int64) => Values::Int64(given.extract()?),
            (Some(given), ColumnKind::Text) => Values::Text(given.extract()?),
            (None, _) if !column.nullable => {
                return Err(PyValueError::new_err(format!("table `{table}` needs the column `{}`", column.name)))
            }
            (None, ColumnKind::Int64) => Values::Int64(vec![None; rows]),
            (None, ColumnKind::Text) => Values::Text(vec![None; rows]),
        };
        values.push((column.name, given));
    }
    write(table, values, &out_dir).map_err(|error| raised(error.into()))
}

/// `firstlight_model::kd::bundle_kd`, as columns.
#[pyfunction]
fn kd_table<'py>(
    py: Python<'py>,
    bundle: PathBuf,
    phase: Option<&str>,
    under: Option<&str>,
    per_caller: bool,
    raw_names: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let path: &Path = &bundle;
    let parts = parts(raw_names);
    let table = py.detach(|| bundle_kd(path, phase, under, per_caller, parts)).map_err(raised)?;
    kd_columns(py, &table)
}

/// `firstlight_model::folding`: for every node of the tree its number in the folded one, and whether its total counts
/// there, as the bytes of int64 and of flags; nothing when there is nothing to fold.
#[pyfunction]
fn folded_calls(py: Python<'_>, bundle: PathBuf) -> PyResult<Option<FoldedBytes<'_>>> {
    let fold = || -> Result<_, ModelError> {
        let mut table = read("calls", &COLUMNS, &bundle)?;
        let tree = Tree::of(&mut table, Parts::Folded)?;
        Ok(tree.folded().map(|folded| {
            let number = |place: &usize| i64::try_from(*place).unwrap_or(0).to_le_bytes();
            let places: Vec<u8> = folded.places.iter().flat_map(number).collect();
            let heads: Vec<u8> =
                (0..tree.contexts.len()).map(|row| u8::from(folded.is_outermost(&tree.contexts, row))).collect();
            (places, heads)
        }))
    };
    let folded = py.detach(fold).map_err(raised)?;
    Ok(folded.map(|(places, heads)| (PyBytes::new(py, &places), PyBytes::new(py, &heads))))
}

type FoldedBytes<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// `firstlight_profile::folding::whole_name`.
#[pyfunction]
fn whole_name(function: &str) -> Option<&str> {
    firstlight_profile::folding::whole_name(function)
}

/// `firstlight_model::kd::phase_kds`: for every phase the columns of its table.
#[pyfunction]
fn phase_kd_tables(py: Python<'_>, bundle: PathBuf, raw_names: bool) -> PyResult<Bound<'_, PyDict>> {
    let path: &Path = &bundle;
    let tables = PyDict::new(py);
    for (phase, table) in py.detach(|| phase_kds(path, parts(raw_names))).map_err(raised)? {
        tables.set_item(phase, kd_columns(py, &table)?)?;
    }
    Ok(tables)
}

fn parts(raw_names: bool) -> Parts {
    if raw_names {
        Parts::Apart
    } else {
        Parts::Folded
    }
}

fn kd_columns<'py>(py: Python<'py>, table: &BundleKd) -> PyResult<Bound<'py, PyDict>> {
    let rows = &table.rows;
    let counted = |value: u64| table.instructions.then_some(value);
    let columns = PyDict::new(py);
    columns.set_item("function", rows.iter().map(|row| row.0 .0.as_str()).collect::<Vec<_>>())?;
    columns.set_item("module", rows.iter().map(|row| row.0 .1.as_deref()).collect::<Vec<_>>())?;
    columns.set_item("kind", rows.iter().map(|row| row.0 .2.as_str()).collect::<Vec<_>>())?;
    columns.set_item("count", rows.iter().map(|row| row.1.count).collect::<Vec<_>>())?;
    columns
        .set_item("total_instructions", rows.iter().map(|row| counted(row.1.total_instructions)).collect::<Vec<_>>())?;
    columns.set_item("total_ns", rows.iter().map(|row| row.1.total_ns).collect::<Vec<_>>())?;
    let average = |count: u64, total: Option<i64>| total?.checked_div(i64::try_from(count).ok()?);
    columns.set_item("average_ns", rows.iter().map(|row| average(row.1.count, row.1.total_ns)).collect::<Vec<_>>())?;
    columns
        .set_item("self_instructions", rows.iter().map(|row| counted(row.1.self_instructions)).collect::<Vec<_>>())?;
    columns.set_item("self_ns", rows.iter().map(|row| row.1.self_ns).collect::<Vec<_>>())?;
    columns.set_item("max_sub", rows.iter().map(|row| row.2.as_deref()).collect::<Vec<_>>())?;
    columns.set_item("max_sub_count", rows.iter().map(|row| row.1.max_sub_count).collect::<Vec<_>>())?;
    columns.set_item("doubtful_calls", rows.iter().map(|row| row.1.doubtful).collect::<Vec<_>>())?;
    Ok(columns)
}

/// The columns of every table: name, kind (`int64` or `text`), whether a value may be missing.
#[pyfunction]
fn table_schemas(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let schemas = PyDict::new(py);
    for (table, _) in TABLES {
        let described: Vec<(&str, &str, bool)> = columns(table)
            .unwrap_or(&[])
            .iter()
            .map(|column| {
                let kind = match column.kind {
                    ColumnKind::Int64 => "int64",
                    ColumnKind::Text => "text",
                };
                (column.name, kind, column.nullable)
            })
            .collect();
        schemas.set_item(table, described)?;
    }
    Ok(schemas)
}

/// The module.
#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(convert_profile, module)?)?;
    module.add_function(wrap_pyfunction!(pack_profile, module)?)?;
    module.add_function(wrap_pyfunction!(write_table, module)?)?;
    module.add_function(wrap_pyfunction!(kd_table, module)?)?;
    module.add_function(wrap_pyfunction!(folded_calls, module)?)?;
    module.add_function(wrap_pyfunction!(whole_name, module)?)?;
    module.add_function(wrap_pyfunction!(phase_kd_tables, module)?)?;
    module.add_function(wrap_pyfunction!(table_schemas, module)?)?;
    module.add_function(wrap_pyfunction!(import::record_formats, module)?)?;
    module.add_function(wrap_pyfunction!(import::tell_console, module)?)?;
    module.add_function(wrap_pyfunction!(import::tell_units, module)?)?;
    module.add_class::<import::Records>()?;
    module.add_function(wrap_pyfunction!(export::export_perfetto, module)?)?;
    module.add_function(wrap_pyfunction!(export::export_folded, module)?)?;
    module.add_function(wrap_pyfunction!(export::weighted_stacks, module)?)?;
    module.add_function(wrap_pyfunction!(export::span_lanes, module)?)?;
    module.add_function(wrap_pyfunction!(difference::tree_difference, module)?)?;
    Ok(())
}
