//! The tables of a bundle for Python: `firstlight_schema::{columns, table}`.

use crate::errors::{exception, unreadable, unwritable};
use firstlight_schema::columns::{columns, ColumnKind, TABLES};
use firstlight_schema::table::{path_of, rows, write, Values};
use firstlight_schema::{interned, TableError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// `firstlight_schema::table::write`; a column that may be null can be left out.
#[pyfunction]
pub fn write_table(table: &str, rows: &Bound<'_, PyDict>, out_dir: PathBuf) -> PyResult<()> {
    let unwritable = |error: TableError| {
        unwritable(&error.into(), &format!("the table `{table}` cannot be written"), &out_dir.display())
    };
    let wrong = |what: String| {
        exception(
            "FirstlightError",
            &format!("the table `{table}` cannot be written: {what}"),
            &out_dir.display(),
            None,
        )
    };
    let schema = columns(table).ok_or_else(|| unwritable(TableError::UnknownTable(table.to_owned())))?;
    for (name, _) in rows {
        let name: String = name.extract()?;
        if !schema.iter().any(|known| known.name == name) {
            return Err(wrong(format!("it has no column `{name}`")));
        }
    }
    let height = rows.values().iter().next().map_or(Ok(0), |column| column.len())?;
    let mut values = Vec::with_capacity(schema.len());
    for column in schema {
        let given = match (rows.get_item(column.name)?, column.kind) {
            (Some(given), ColumnKind::Int64) => Values::Int64(given.extract()?),
            (Some(given), ColumnKind::Text) => Values::Text(given.extract()?),
            (None, _) if !column.nullable => return Err(wrong(format!("it needs the column `{}`", column.name))),
            (None, ColumnKind::Int64) => Values::Int64(vec![None; height]),
            (None, ColumnKind::Text) => Values::Text(vec![None; height]),
        };
        values.push((column.name, given));
    }
    write(table, values, &out_dir).map_err(unwritable)
}

/// How many rows each table of a bundle has that is there: `firstlight_schema::table::rows`.
#[pyfunction]
pub fn table_rows(bundle: PathBuf) -> PyResult<BTreeMap<&'static str, u64>> {
    let there = TABLES.iter().map(|(table, _)| *table).filter(|table| path_of(&bundle, table).is_file());
    there
        .map(|table| rows(table, &bundle).map(|rows| (table, rows)))
        .collect::<Result<_, _>>()
        .map_err(|error| unreadable(&error.into(), &bundle.display()))
}

/// The first line of a bundle's log with a prefix, and up to `most` lines that end with it; nothing without such a line.
#[pyfunction]
pub fn lines_until(bundle: PathBuf, prefix: &str, most: usize) -> PyResult<Option<Vec<String>>> {
    let log =
        interned::read("log", &["text"], &bundle).map_err(|error| unreadable(&error.into(), &bundle.display()))?;
    let numbers = log.numbers("text");
    let text = |number: &_| log.texts.get(*number).unwrap_or_default();
    Ok(numbers.iter().position(|number| text(number).starts_with(prefix)).map(|last| {
        let first = (last + 1).saturating_sub(most);
        numbers.iter().take(last + 1).skip(first).map(|number| text(number).to_owned()).collect()
    }))
}

/// Name, kind, whether a value may be missing.
type Columns = Vec<(&'static str, &'static str, bool)>;

/// The columns of every table: name, kind (`int64` or `text`), whether a value may be missing.
#[pyfunction]
pub fn table_schemas() -> Vec<(&'static str, Columns)> {
    let kind = |kind: ColumnKind| match kind {
        ColumnKind::Int64 => "int64",
        ColumnKind::Text => "text",
    };
    let described = |table| {
        columns(table).unwrap_or(&[]).iter().map(|column| (column.name, kind(column.kind), column.nullable)).collect()
    };
    TABLES.iter().map(|(table, _)| (*table, described(table))).collect()
}
