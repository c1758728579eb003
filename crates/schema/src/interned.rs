//! A table read for work on every row: each text once, and a number for it in the rows.

use crate::aliases::{present, renamed};
use crate::columns::{columns, ColumnKind};
use crate::hand_over::HandOver;
use crate::phase_names;
use crate::table::{hand_over_of, path_of};
use crate::vocabulary::ALIASES;
use crate::TableError;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// The number of a text, or [`NO_TEXT`].
pub type TextNumber = u32;

/// Where a row has no text.
pub const NO_TEXT: TextNumber = u32::MAX;

/// The texts of a table, each once, in the order in which they were met.
#[derive(Debug, Default)]
pub struct Texts {
    texts: Vec<Arc<str>>,
    // The default hasher: what boots are called comes from outside, and is not to make look-ups slow.
    numbers: HashMap<Arc<str>, TextNumber>,
}

impl Texts {
    /// The number of *text*, a new one when it is met first.
    pub fn number(&mut self, text: &str) -> TextNumber {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = TextNumber::try_from(self.texts.len()).unwrap_or(NO_TEXT);
        let text: Arc<str> = Arc::from(text);
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    /// The text with a number; nothing for [`NO_TEXT`].
    pub fn get(&self, number: TextNumber) -> Option<&str> {
        self.texts.get(usize::try_from(number).ok()?).map(|text| &**text)
    }

    /// The texts in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

#[derive(Debug)]
enum Values {
    Integers(Vec<Option<i64>>),
    Texts(Vec<TextNumber>),
}

/// The wanted columns of a table.
#[derive(Debug)]
pub struct Interned {
    rows: usize,
    columns: Vec<(&'static str, Values)>,
    /// The texts of all columns.
    pub texts: Texts,
}

impl Interned {
    /// How many rows the table has.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// A column of integers; empty when there is none of this name.
    pub fn integers(&self, column: &str) -> &[Option<i64>] {
        match self.values(column) {
            Some(Values::Integers(values)) => values,
            _ => &[],
        }
    }

    /// A column of texts by their numbers; empty when there is none of this name.
    pub fn numbers(&self, column: &str) -> &[TextNumber] {
        match self.values(column) {
            Some(Values::Texts(values)) => values,
            _ => &[],
        }
    }

    fn values(&self, column: &str) -> Option<&Values> {
        self.columns.iter().find(|(name, _)| *name == column).map(|(_, values)| values)
    }
}

/// Reads some columns of a table; one that an older bundle lacks is null in every row.
///
/// # Errors
///
/// [`TableError::UnknownTable`], [`TableError::File`], [`TableError::Parquet`], or [`TableError::Columns`] when a column
/// holds something else, or may not be missing and is.
///
/// ```
/// use firstlight_schema::interned::read;
/// use firstlight_schema::table::{texts, write};
/// let bundle = tempfile::tempdir()?;
/// write("facts", vec![("fact", texts(["a", "b"])), ("value", texts(["same", "same"]))], bundle.path())?;
/// let table = read("facts", &["value"], bundle.path())?;
/// assert_eq!(table.numbers("value"), [0, 0]);
/// assert_eq!(table.texts.get(0), Some("same"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(table: &str, wanted: &[&str], bundle: &Path) -> Result<Interned, TableError> {
    let schema = columns(table).ok_or_else(|| TableError::UnknownTable(table.to_owned()))?;
    let empty = |kind| match kind {
        ColumnKind::Int64 => Values::Integers(Vec::new()),
        ColumnKind::Text => Values::Texts(Vec::new()),
    };
    let known: Vec<_> = schema.iter().filter(|column| wanted.contains(&column.name)).collect();
    let columns = known.iter().map(|column| (column.name, empty(column.kind))).collect();
    let mut interned = Interned { rows: 0, columns, texts: Texts::default() };
    let path = path_of(bundle, table);
    let damaged = |error: &dyn std::fmt::Display| TableError::Parquet { path: path.clone(), error: error.to_string() };
    let file = File::open(&path).map_err(|error| TableError::File { path: path.clone(), error })?;
    let found = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(|error| damaged(&error))?;
    let present = |name: &str| found.schema().column_with_name(name).map(|(place, _)| place);
    for column in &known {
        if present(column.name).is_none() && !column.nullable {
            let what = format!("column `{}` is missing", column.name);
            return Err(TableError::Columns { table: table.to_owned(), what });
        }
    }
    // Texts are taken as the file's own dictionaries where it has them: each is then hashed once and not once per row.
    let fields: Vec<Field> = found.schema().fields().iter().map(|field| as_dictionary(field)).collect();
    let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields)));
    let mapped =
        ArrowReaderMetadata::try_new(Arc::clone(found.metadata()), options).map_err(|error| damaged(&error))?;
    let roots = known.iter().filter_map(|column| present(column.name));
    let mask = parquet::arrow::ProjectionMask::roots(found.parquet_schema(), roots);
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, mapped)
        .with_projection(mask)
        .with_batch_size(1 << 18)
        .build()
        .map_err(|error| damaged(&error))?;
    for batch in reader {
        append(table, &batch.map_err(|error| damaged(&error))?, &mut interned)?;
    }
    rename_phases(table, &mut interned, bundle)?;
    Ok(interned)
}

/// Gives the phases of an older bundle their present names.
fn rename_phases(table: &str, interned: &mut Interned, bundle: &Path) -> Result<(), TableError> {
    let Some((column, kinds)) = phase_names::column_of(table) else { return Ok(()) };
    let changes = |text: &str| HandOver::may_change(text);
    if !interned.texts.iter().any(changes) {
        return Ok(());
    }
    let is_phase: Vec<bool> = match kinds {
        Some(kinds) => {
            let kind = |number: &TextNumber| phase_names::is_phase(interned.texts.get(*number));
            interned.numbers(kinds).iter().map(kind).collect()
        }
        None => vec![true; interned.rows],
    };
    let Interned { columns, texts, .. } = interned;
    let Some((_, Values::Texts(names))) = columns.iter_mut().find(|(name, _)| *name == column) else { return Ok(()) };
    let mut hand_over = None;
    for (name, _) in names.iter_mut().zip(is_phase).filter(|(_, is_phase)| *is_phase) {
        let Some(old) = texts.get(*name).filter(|text| changes(text)).map(str::to_owned) else { continue };
        let over = match hand_over {
            Some(over) => over,
            None => *hand_over.insert(hand_over_of(bundle)?),
        };
        *name = texts.number(over.present(&old));
    }
    Ok(())
}

fn as_dictionary(field: &Field) -> Field {
    let text = matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let kind = if text {
        DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
    } else {
        field.data_type().clone()
    };
    Field::new(field.name(), kind, field.is_nullable())
}

fn append(table: &str, batch: &RecordBatch, interned: &mut Interned) -> Result<(), TableError> {
    let Interned { rows, columns, texts } = interned;
    *rows = rows.saturating_add(batch.num_rows());
    for (name, values) in columns {
        let wrong =
            |what: &str| TableError::Columns { table: table.to_owned(), what: format!("column `{name}` {what}") };
        let array = batch.column_by_name(name);
        match values {
            Values::Integers(values) => match array {
                Some(array) => {
                    let array = array.as_primitive_opt::<Int64Type>().ok_or_else(|| wrong("is not int64"))?;
                    values.extend(array.iter());
                }
                None => values.resize(*rows, None),
            },
            Values::Texts(values) => match array {
                Some(array) => append_texts(array, texts, values, renamed(ALIASES, table, name))
                    .ok_or_else(|| wrong("is not text"))?,
                None => values.resize(*rows, NO_TEXT),
            },
        }
    }
    Ok(())
}

/// Nothing when the array is not a dictionary of text.
fn append_texts(
    array: &ArrayRef,
    texts: &mut Texts,
    values: &mut Vec<TextNumber>,
    renamed: &[(&str, &str)],
) -> Option<()> {
    // A column of nulls alone has no type of its own in some writers' files.
    if *array.data_type() == DataType::Null {
        values.extend(std::iter::repeat_n(NO_TEXT, array.len()));
        return Some(());
    }
    let dictionary = array.as_dictionary_opt::<Int32Type>()?;
    let own = dictionary.values().as_string_opt::<i32>()?;
    let mut numbered = |text: Option<&str>| text.map_or(NO_TEXT, |text| texts.number(present(renamed, text)));
    let numbers: Vec<TextNumber> = own.iter().map(&mut numbered).collect();
    let number = |key: Option<i32>| -> TextNumber {
        key.and_then(|key| usize::try_from(key).ok()).and_then(|key| numbers.get(key).copied()).unwrap_or(NO_TEXT)
    };
    values.extend(dictionary.keys().iter().map(number));
    Some(())
}
