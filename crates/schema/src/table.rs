//! Tables in memory, to and from Parquet.

use crate::aliases::{present, renamed};
use crate::columns::{columns, ColumnKind, ColumnSchema, SCHEMA_VERSION};
use crate::hand_over::HandOver;
use crate::phase_names;
use crate::vocabulary::{Mark, ALIASES};
use crate::TableError;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const ROW_GROUP_ROWS: usize = 1 << 20;

// Tables of many rows in the order of their numbers.
const ORDERED: [&str; 4] = ["slice_calls", "slice_threads", "slice_system_calls", "slice_user_functions"];

/// The values of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Values {
    /// Integers; `None` is null.
    Int64(Vec<Option<i64>>),
    /// Text; `None` is null.
    Text(Vec<Option<String>>),
}

impl Values {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Int64(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn has_null(&self) -> bool {
        match self {
            Self::Int64(values) => values.iter().any(Option::is_none),
            Self::Text(values) => values.iter().any(Option::is_none),
        }
    }
}

/// A column of integers without nulls.
pub fn integers(values: impl IntoIterator<Item = u64>) -> Values {
    Values::Int64(values.into_iter().map(|value| i64::try_from(value).ok()).collect())
}

/// A column of text without nulls.
pub fn texts<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Values {
    Values::Text(values.into_iter().map(|value| Some(value.into())).collect())
}

/// The file of a table in a bundle.
pub fn path_of(bundle: &Path, table: &str) -> PathBuf {
    bundle.join(format!("{table}.parquet"))
}

/// Writes a table into a bundle's directory; the same values give the same bytes.
///
/// # Errors
///
/// [`TableError::UnknownTable`], [`TableError::Columns`] when names, kinds, lengths or nulls are not the schema's, and
/// [`TableError::File`] or [`TableError::Parquet`] when it cannot be written.
///
/// ```
/// use firstlight_schema::table::{read, texts, write, Values};
/// let bundle = tempfile::tempdir()?;
/// write("facts", vec![("fact", texts(["kernel.release"])), ("value", texts(["6.1.0"]))], bundle.path())?;
/// let columns = read("facts", bundle.path())?;
/// assert_eq!(columns[1], Values::Text(vec![Some("6.1.0".to_owned())]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(table: &str, values: Vec<(&str, Values)>, bundle: &Path) -> Result<(), TableError> {
    let mut writer = TableWriter::create(table, bundle)?;
    writer.append(values)?;
    writer.close()
}

/// Rows of a batch where a table is written batch by batch: what one takes beside the table stays below some ten MB.
pub const BATCH_ROWS: usize = 1 << 16;

/// Writes a table batch by batch: for tables of millions of rows.
///
/// ```
/// use arrow_array::{ArrayRef, StringArray};
/// use firstlight_schema::table::{read, TableWriter};
/// use std::sync::Arc;
/// let bundle = tempfile::tempdir()?;
/// let mut facts = TableWriter::create("facts", bundle.path())?;
/// let text = |text: &str| -> ArrayRef { Arc::new(StringArray::from(vec![text])) };
/// facts.batch(vec![text("kernel.release"), text("6.1.0")])?;
/// facts.batch(vec![text("kernel.lpj"), text("4000000")])?;
/// facts.close()?;
/// assert_eq!(read("facts", bundle.path())?[0].len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TableWriter {
    table: String,
    schema: &'static [ColumnSchema],
    path: PathBuf,
    arrow: Arc<Schema>,
    writer: ArrowWriter<File>,
}

impl TableWriter {
    /// Begins the file of a table.
    ///
    /// # Errors
    ///
    /// [`TableError::UnknownTable`], and [`TableError::File`] or [`TableError::Parquet`] when it cannot be written.
    pub fn create(table: &str, bundle: &Path) -> Result<Self, TableError> {
        let schema = columns(table).ok_or_else(|| TableError::UnknownTable(table.to_owned()))?;
        let path = path_of(bundle, table);
        let arrow = Arc::new(arrow_schema(schema));
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_size(ROW_GROUP_ROWS)
            .set_created_by("firstlight".to_owned())
            .set_key_value_metadata(Some(vec![KeyValue::new(
                "firstlight.schema".to_owned(),
                SCHEMA_VERSION.to_string(),
            )]));
        for column in schema.iter().filter(|_| ORDERED.contains(&table)) {
            // Numbers in order, of which no value comes often: their distances are what is small.
            let column = ColumnPath::from(column.name);
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
        let properties = properties.build();
        let file = File::create(&path).map_err(|error| TableError::File { path: path.clone(), error })?;
        let writer = ArrowWriter::try_new(file, Arc::clone(&arrow), Some(properties))
            .map_err(|error| TableError::Parquet { path: path.clone(), error: error.to_string() })?;
        Ok(Self { table: table.to_owned(), schema, path, arrow, writer })
    }

    /// Appends rows: the values of each column, in the schema's order.
    ///
    /// # Errors
    ///
    /// [`TableError::Columns`] when names, kinds, lengths or nulls are not the schema's, and [`TableError::Parquet`] when they
    /// cannot be written.
    pub fn append(&mut self, values: Vec<(&str, Values)>) -> Result<(), TableError> {
        check(&self.table, self.schema, &values)?;
        self.batch(values.into_iter().map(|(_, values)| array(values)).collect())
    }

    /// Appends rows: one of Arrow's arrays for each column, in the schema's order.
    ///
    /// # Errors
    ///
    /// [`TableError::Parquet`] when the arrays are not the schema's, or cannot be written.
    pub fn batch(&mut self, arrays: Vec<ArrayRef>) -> Result<(), TableError> {
        let batch = RecordBatch::try_new(Arc::clone(&self.arrow), arrays).map_err(|error| self.damaged(&error))?;
        self.writer.write(&batch).map_err(|error| self.damaged(&error))
    }

    /// Ends the file.
    ///
    /// # Errors
    ///
    /// [`TableError::Parquet`] when it cannot be written.
    pub fn close(self) -> Result<(), TableError> {
        let Self { path, writer, .. } = self;
        writer.close().map(|_| ()).map_err(|error| TableError::Parquet { path, error: error.to_string() })
    }

    fn damaged(&self, error: &dyn std::fmt::Display) -> TableError {
        TableError::Parquet { path: self.path.clone(), error: error.to_string() }
    }
}

/// Writes tables that have no rows.
///
/// # Errors
///
/// What [`write`] says.
pub fn write_empty(tables: &[&str], bundle: &Path) -> Result<(), TableError> {
    for table in tables {
        let schema = columns(table).ok_or_else(|| TableError::UnknownTable((*table).to_owned()))?;
        let empty = |column: &ColumnSchema| match column.kind {
            ColumnKind::Int64 => Values::Int64(Vec::new()),
            ColumnKind::Text => Values::Text(Vec::new()),
        };
        write(table, schema.iter().map(|column| (column.name, empty(column))).collect(), bundle)?;
    }
    Ok(())
}

fn check(table: &str, schema: &[ColumnSchema], values: &[(&str, Values)]) -> Result<(), TableError> {
    let wrong = |what: String| Err(TableError::Columns { table: table.to_owned(), what });
    let expected: Vec<&str> = schema.iter().map(|column| column.name).collect();
    let given: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    if expected != given {
        return wrong(format!("its columns are {}, not {}", expected.join(", "), given.join(", ")));
    }
    let rows = values.first().map_or(0, |(_, values)| values.len());
    for (column, (_, values)) in schema.iter().zip(values) {
        let kind = matches!(values, Values::Int64(_)) == (column.kind == ColumnKind::Int64);
        if !kind || values.len() != rows {
            return wrong(format!("column `{}` has values of another kind or number", column.name));
        }
        if !column.nullable && values.has_null() {
            return wrong(format!("column `{}` must have a value in every row", column.name));
        }
    }
    Ok(())
}

fn arrow_schema(schema: &[ColumnSchema]) -> Schema {
    let field = |column: &ColumnSchema| {
        let kind = match column.kind {
            ColumnKind::Int64 => DataType::Int64,
            ColumnKind::Text => DataType::Utf8,
        };
        Field::new(column.name, kind, column.nullable)
    };
    Schema::new(schema.iter().map(field).collect::<Vec<_>>())
}

fn array(values: Values) -> ArrayRef {
    match values {
        Values::Int64(values) => Arc::new(Int64Array::from(values)),
        Values::Text(values) => Arc::new(StringArray::from(values)),
    }
}

/// How many rows the file of a table has, by its footer alone.
///
/// # Errors
///
/// [`TableError::File`], or [`TableError::Parquet`] when it is damaged.
///
/// ```
/// use firstlight_schema::table::{rows, texts, write};
/// let bundle = tempfile::tempdir()?;
/// write("facts", vec![("fact", texts(["a", "b"])), ("value", texts(["1", "2"]))], bundle.path())?;
/// assert_eq!(rows("facts", bundle.path())?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn rows(table: &str, bundle: &Path) -> Result<u64, TableError> {
    let path = path_of(bundle, table);
    let damaged = |error: String| TableError::Parquet { path: path.clone(), error };
    let file = File::open(&path).map_err(|error| TableError::File { path: path.clone(), error })?;
    let found =
        ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(|error| damaged(error.to_string()))?;
    u64::try_from(found.metadata().file_metadata().num_rows()).map_err(|error| damaged(error.to_string()))
}

/// Reads a table of a bundle: the values of its columns, in the schema's order.
///
/// # Errors
///
/// [`TableError::File`], [`TableError::Parquet`], or [`TableError::Columns`] when the file has other columns.
pub fn read(table: &str, bundle: &Path) -> Result<Vec<Values>, TableError> {
    let schema = columns(table).ok_or_else(|| TableError::UnknownTable(table.to_owned()))?;
    let path = path_of(bundle, table);
    let damaged = |error: &dyn std::fmt::Display| TableError::Parquet { path: path.clone(), error: error.to_string() };
    let file = File::open(&path).map_err(|error| TableError::File { path: path.clone(), error })?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(ParquetRecordBatchReaderBuilder::build)
        .map_err(|error| damaged(&error))?;
    let mut values: Vec<Values> = schema
        .iter()
        .map(|column| match column.kind {
            ColumnKind::Int64 => Values::Int64(Vec::new()),
            ColumnKind::Text => Values::Text(Vec::new()),
        })
        .collect();
    for batch in reader {
        let batch = batch.map_err(|error| damaged(&error))?;
        for (column, values) in schema.iter().zip(&mut values) {
            append(table, column, &batch, values)?;
        }
    }
    rename_phases(table, schema, &mut values, bundle)?;
    Ok(values)
}

/// How the boot of a bundle came from its initramfs to its root file system.
pub(crate) fn hand_over_of(bundle: &Path) -> Result<HandOver, TableError> {
    let columns = read("marks", bundle)?;
    let [Values::Text(marks), .., Values::Text(details)] = columns.as_slice() else { return Ok(HandOver::default()) };
    let all = marks.iter().flatten().zip(details.iter().map(|detail| detail.as_deref().unwrap_or_default()));
    Ok(HandOver::of(all.filter_map(|(mark, detail)| Some((Mark::parse(mark)?, detail)))))
}

/// Gives the phases of an older bundle their present names.
fn rename_phases(table: &str, schema: &[ColumnSchema], values: &mut [Values], bundle: &Path) -> Result<(), TableError> {
    let place = |wanted: &str| schema.iter().position(|column| column.name == wanted);
    let Some((column, kinds)) = phase_names::column_of(table) else { return Ok(()) };
    let kinds = match kinds.and_then(place).and_then(|place| values.get(place)) {
        Some(Values::Text(kinds)) => Some(kinds.clone()),
        _ => None,
    };
    let is_phase = |row: usize| {
        kinds.as_ref().is_none_or(|kinds| phase_names::is_phase(kinds.get(row).and_then(Option::as_deref)))
    };
    let Some(Values::Text(names)) = place(column).and_then(|place| values.get_mut(place)) else { return Ok(()) };
    let mut hand_over = None;
    for (row, name) in names.iter_mut().enumerate() {
        let Some(text) = name.as_deref().filter(|text| HandOver::may_change(text) && is_phase(row)) else { continue };
        let over = match hand_over {
            Some(over) => over,
            None => *hand_over.insert(hand_over_of(bundle)?),
        };
        *name = Some(over.present(text).to_owned());
    }
    Ok(())
}

fn append(table: &str, column: &ColumnSchema, batch: &RecordBatch, values: &mut Values) -> Result<(), TableError> {
    let wrong =
        |what: &str| TableError::Columns { table: table.to_owned(), what: format!("column `{}` {what}", column.name) };
    let array = batch.column_by_name(column.name).ok_or_else(|| wrong("is missing"))?;
    let renamed = renamed(ALIASES, table, column.name);
    match values {
        Values::Int64(values) => {
            let array = array.as_primitive_opt::<Int64Type>().ok_or_else(|| wrong("is not int64"))?;
            values.extend(array.iter());
        }
        // Other writers store text with 64-bit offsets or as views.
        Values::Text(values) => {
            let text = |text: Option<&str>| text.map(|text| present(renamed, text).to_owned());
            if let Some(array) = array.as_string_opt::<i32>() {
                values.extend(array.iter().map(text));
            } else if let Some(array) = array.as_string_opt::<i64>() {
                values.extend(array.iter().map(text));
            } else if let Some(array) = array.as_string_view_opt() {
                values.extend(array.iter().map(text));
            } else if !array.is_empty() {
                return Err(wrong("is not text"));
            }
        }
    }
    Ok(())
}
