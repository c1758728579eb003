//! Columns that Python takes without a copy, by Arrow's C data interface.

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use firstlight_schema::TableError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;
use std::sync::Arc;

/// A column of integers.
pub fn integers<I: Into<Option<i64>>>(values: impl IntoIterator<Item = I>) -> ArrayRef {
    Arc::new(Int64Array::from_iter(values.into_iter().map(Into::into)))
}

/// A column of counts, which fit an int64; one that does not is null.
pub fn counts(values: impl IntoIterator<Item = Option<u64>>) -> ArrayRef {
    integers(values.into_iter().map(|value| value.and_then(|value| i64::try_from(value).ok())))
}

/// A column of text.
pub fn texts<'a>(values: impl IntoIterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(StringArray::from_iter(values))
}

/// The table of some columns.
pub fn frame(columns: Vec<(&'static str, ArrayRef)>) -> PyResult<PyRecordBatch> {
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)));
    batch.map(PyRecordBatch::new).map_err(|error| {
        let what = error.to_string();
        crate::errors::unreadable(&TableError::Columns { table: "columns".to_owned(), what }.into(), &"the engine")
    })
}
